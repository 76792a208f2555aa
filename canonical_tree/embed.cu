// One leaf, two orders: the same 256 samples added with strides 128, 64, .. 1, or 1, 2, .. 128.
// There is no product to fuse, so the two builds print the same bits.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Sample i, from integer arithmetic: floats between -1 and 1 that use all of their 24 bits.
__device__ float sampleAt(unsigned i) {
    unsigned z = i * 2654435761u;
    z ^= z >> 15;
    z *= 2246822519u;
    z ^= z >> 13;
    return (float)((int)(z >> 8) - (1 << 23)) * (1.0f / (1 << 23));
}

// The sums: out[0] canonical, out[1] ascending. out[2] is not zero if x*x + y was fused.
__global__ void leaf(float x, float y, float* out) {
    __shared__ float slot[256];
    const unsigned t = threadIdx.x;
    slot[t] = sampleAt(t);
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (t < stride) slot[t] += slot[t + stride];
        __syncthreads();
    }
    if (t == 0) out[0] = slot[0];
    __syncthreads();
    slot[t] = sampleAt(t);
    __syncthreads();
    for (unsigned stride = 1; stride < 256; stride *= 2) {
        if (t % (2 * stride) == 0) slot[t] += slot[t + stride];
        __syncthreads();
    }
    if (t > 0) return;
    out[1] = slot[0];
    out[2] = x * x + y;
}

static void check(cudaError_t err) {
    if (err == cudaSuccess) return;
    const bool noDevice = err == cudaErrorNoDevice || err == cudaErrorInsufficientDriver;
    fprintf(stderr, "%s\n", noDevice ? "skipped: no usable CUDA device" : cudaGetErrorString(err));
    exit(noDevice ? 77 : 2);
}

int main() {
    float* out;
    float sum[3];
    check(cudaMalloc(&out, sizeof sum));
    leaf<<<1, 256>>>(1.0f + 1.0f / 4096, -(1.0f + 1.0f / 2048), out);
    check(cudaGetLastError());
    check(cudaMemcpy(sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    unsigned bits[2];
    memcpy(bits, sum, sizeof bits);
    printf("contraction: %s\n", sum[2] != 0.0f ? "fused" : "separate");
    printf("strides 128, 64, .. 1   0x%08x  %.9g\n", bits[0], sum[0]);
    printf("strides 1, 2, .. 128    0x%08x  %.9g\n", bits[1], sum[1]);
}
