// The same four blocks of 256 floats, the same tree, two builds: with and without -fmad=false the
// total is another bit pattern, because x*x + 0.25f is rounded once or twice. Prints the bits.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kBlocks = 4;
constexpr int kThreads = 256;
constexpr int kElements = kBlocks * kThreads;

// Each block adds its 256 terms, slot t and slot t + 128, then t + 64, ... t + 1.
__global__ void blockSums(const float* in, float* partials) {
    __shared__ float slot[kThreads];
    const float x = in[blockIdx.x * kThreads + threadIdx.x];
    slot[threadIdx.x] = x * x + 0.25f;
    __syncthreads();
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partials[blockIdx.x] = slot[0];
}

// The four partials by the same tree. The second output is 0 unless x*x + y is fused.
__global__ void total(const float* partials, float* out, float x, float y) {
    out[0] = (partials[0] + partials[2]) + (partials[1] + partials[3]);
    out[1] = x * x + y;
}

static void check(cudaError_t err) {
    if (err == cudaSuccess) return;
    const bool noDevice = err == cudaErrorNoDevice || err == cudaErrorInsufficientDriver;
    fprintf(stderr, "%s\n", noDevice ? "skipped: no usable CUDA device" : cudaGetErrorString(err));
    exit(noDevice ? 77 : 2);
}

int main() {
    static float in[kElements];
    for (int i = 0; i < kElements; ++i) {
        volatile float product = (float)(i % 1000) * 0.001f;  // rounded, whatever the host's flags
        in[i] = 1.0f + product;
    }
    float* device;  // the input, then 4 partials, then 2 results
    check(cudaMalloc(&device, sizeof(float) * (kElements + kBlocks + 2)));
    float* partials = device + kElements;
    float out[kBlocks + 2];
    unsigned bits[kBlocks + 2];
    check(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    blockSums<<<kBlocks, kThreads>>>(device, partials);
    total<<<1, 1>>>(partials, partials + kBlocks, 1.0f + 1.0f / 4096, -(1.0f + 1.0f / 2048));
    check(cudaGetLastError());
    check(cudaMemcpy(out, partials, sizeof out, cudaMemcpyDeviceToHost));
    memcpy(bits, out, sizeof bits);
    printf("contraction: %s\n", out[kBlocks + 1] != 0.0f ? "fused" : "separate");
    for (int b = 0; b < kBlocks; ++b) printf("block %d: 0x%08x  %.9g\n", b, bits[b], out[b]);
    printf("total:   0x%08x  %.9g\n", bits[kBlocks], out[kBlocks]);
    return 0;
}
