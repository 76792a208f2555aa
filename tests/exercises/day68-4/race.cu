// Exercise day68-4: each kernel of the lesson once, with few blocks. Whether threads race, or a barrier is
// not reached by all, is seen by the CPU default's checks; the values are compared elsewhere.
#define REPRODUCIBILITY_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

int main() {
    constexpr int kLength = 20011;
    constexpr int kFewBlocks = 16;
    static float in[kLength];
    for (int i = 0; i < kLength; ++i) in[i] = 1.0f + (float)(i % 1000) * 0.001f;
    float* gpuIn;
    float* gpuPartials;
    float* gpuTotal;
    CUDA_CHECK(cudaMalloc(&gpuIn, sizeof in));
    CUDA_CHECK(cudaMalloc(&gpuPartials, sizeof(float) * kFewBlocks));
    CUDA_CHECK(cudaMalloc(&gpuTotal, sizeof(float)));
    CUDA_CHECK(cudaMemcpy(gpuIn, in, sizeof in, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(gpuTotal, 0, sizeof(float)));
    sumSquaresAtomic<<<kFewBlocks, kThreads>>>(gpuIn, kLength, gpuTotal);
    CUDA_CHECK(cudaDeviceSynchronize());
    sumSquaresPerBlock<true><<<kFewBlocks, kThreads>>>(gpuIn, kLength, gpuPartials);
    CUDA_CHECK(cudaDeviceSynchronize());
    sumPartials<<<1, kThreads>>>(gpuPartials, kFewBlocks, gpuTotal);
    CUDA_CHECK(cudaDeviceSynchronize());
    return checkIsDone();
}
