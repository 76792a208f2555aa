// double's partials, as their hash.
#define FPMP_PI_NO_MAIN
#include "fpmp_pi.cu"

int main() {
    const size_t bytes = sizeof(double) * kPartials;
    std::vector<double> partials(kPartials);
    double* device;
    CUDA_CHECK(cudaMalloc(&device, bytes));
    sumTerms<double><<<kBlocks, kThreads>>>(device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(partials.data(), device, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    unsigned long long hash = kFnvOffset, bits;
    for (double partial : partials) {
        memcpy(&bits, &partial, sizeof bits);
        hash = fnv1a(hash, bits, 8);
    }
    printf("0x%016llx\n", hash);
    return 0;
}
