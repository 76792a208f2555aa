// The kernel's index beyond 2^32, without 16 GiB of floats: its two blocks take themselves for
// those on both sides of element 2^32. CPU default only, since kernel and host share an address
// space there.
#include <cuda_runtime.h>

#include <sys/mman.h>

#define PRECISION_REDUCTION_NO_MAIN
constexpr unsigned kFirstBlock = (1u << 24) - 1;
#define blockIdx dim3(blockIdx.x + kFirstBlock)
#include "../../precision_reduction/precision_reduction.cu"
#undef blockIdx

// 512 floats can be used about element 0 and about element 2^32; between them are addresses alone.
// A 32-bit index wraps to the first of the two, which holds zeros.
static float* onesAbout2to32() {
    const size_t page = 65536;  // a multiple of every page size
    const size_t distance = sizeof(float) << 32;
    void* const all =
        mmap(nullptr, distance + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const zeros = (char*)all;
    char* const ones = zeros + distance;
    if (all == MAP_FAILED || mprotect(zeros, 2 * page, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(ones, 2 * page, PROT_READ | PROT_WRITE) != 0) {
        perror("address space of 16 GiB");
        exit(2);
    }
    float* const element0 = (float*)(zeros + page);
    for (long long i = (1LL << 32) - 256; i < (1LL << 32) + 256; ++i) element0[i] = 1.0f;
    return element0;
}

int main(int argc, char**) {
    printHead("tests/precision_reduction/index_64_bits", 1, argc);
    float* const in = onesAbout2to32();
    // In the same address space, so that the partials of the blocks before have addresses too.
    double* const partials = (double*)(in + (1LL << 32) + 1024);
    sumPerBlock<double><<<2, kThreads>>>(in, (1LL << 32) + 3, partials - kFirstBlock);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    gate(partials[0] == 256.0, "the block before element 2^32", "%g, want 256", partials[0]);
    gate(partials[1] == 3.0, "three elements from 2^32 on", "%g, want 3", partials[1]);
    return finish();
}
