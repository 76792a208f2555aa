// 1e8 + 1 - 1e8 + 1 is 2. One after the other, floats give 1: near 1e8 they are 8 apart, and the
// first 1 is lost. The tree adds 1e8 and -1e8 first and loses nothing. Nothing is multiplied, so
// both builds, with and without -fmad=false, print the same bits: the control for that flag.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kThreads = 4;

// out[0]: the sum in sequence, out[1]: by the tree, slot t and slot t + 2, then t + 1.
// out[2] is 0 unless x*x + y is fused.
__global__ void sums(const float* in, float* out, float x, float y) {
    __shared__ float slot[kThreads];
    slot[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x > 0) return;
    out[0] = ((in[0] + in[1]) + in[2]) + in[3];
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
    const float in[kThreads] = {1e8f, 1.0f, -1e8f, 1.0f};
    float* device;  // the input, then three results
    check(cudaMalloc(&device, sizeof(float) * (kThreads + 3)));
    float out[3];
    unsigned bits[3];
    check(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    sums<<<1, kThreads>>>(device, device + kThreads, 1.0f + 1.0f / 4096, -(1.0f + 1.0f / 2048));
    check(cudaGetLastError());
    check(cudaMemcpy(out, device + kThreads, sizeof out, cudaMemcpyDeviceToHost));
    memcpy(bits, out, sizeof bits);
    printf("contraction: %s\n", out[2] != 0.0f ? "fused" : "separate");
    printf("in sequence: 0x%08x  %.9g\n", bits[0], out[0]);
    printf("tree:        0x%08x  %.9g\n", bits[1], out[1]);
    return 0;
}
