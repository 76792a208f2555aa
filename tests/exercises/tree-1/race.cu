// Exercise tree-1: the tree on the device, over few leaves of which the last is short, for SANITIZE=thread. Whether
// the bits are right is seen elsewhere.
#define CANONICAL_TREE_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

int main() {
    constexpr size_t kMost = 1025;
    static float x[kMost];
    for (size_t i = 0; i < kMost; ++i) x[i] = sampleAt<float>(i);
    float *in, *work0, *work1, *result;
    for (float** buffer : {&in, &work0, &work1, &result}) CUDA_CHECK(cudaMalloc(buffer, sizeof x));
    CUDA_CHECK(cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice));
    for (size_t n : {(size_t)1, (size_t)44, (size_t)200, (size_t)300, kMost}) {
        const char* error = deviceTree(Sum<float>(), (const float*)in, n, (const float*)nullptr, work0, work1, kMost,
                                       result, (cudaStream_t)0);
        CUDA_CHECK(cudaDeviceSynchronize());
        if (error != nullptr) return 1;
    }
    return checkIsDone();
}
