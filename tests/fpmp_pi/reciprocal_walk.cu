// The float pairs' reciprocal against the correctly rounded one, over every float b: on a card
// __frcp_rn, on a CPU 1/b.
//
// -DSTRIDE=n walks every n-th bit pattern, from another start in each span. Prints how many differ
// with |b| in [2^-126, 2^126], where none may, and how many beyond, where the lesson promises
// nothing. Status: 0 none differed in the range, 1 some did or too few were walked, 2 where
// nothing could be run.
#define FPMP_PI_NO_MAIN
#include "../../fpmp_pi/fpmp_pi.cu"

#ifndef STRIDE
#define STRIDE 1
#endif

constexpr unsigned kSpan = 1u << 14;  // bit patterns per thread
constexpr unsigned kWalkThreads = 256;
constexpr unsigned kWalkBlocks = (1u << 18) / kWalkThreads;
// 252 exponents of 2^23 floats and 2^126, both signs; a stride may leave out one more.
constexpr unsigned long long kLeastWalked = 2 * (252ULL * (1u << 23) + 1) / STRIDE - 1;

struct Count {
    unsigned walked, inside, beyond;
    unsigned first;  // the first pattern that differs inside, or 0
};

__device__ float floatOf(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// Each thread has its own span and its own counts: the host adds them in 64 bits.
__global__ void walk(Count* counts) {
    const unsigned t = blockIdx.x * kWalkThreads + threadIdx.x;
    Count c = {0, 0, 0, 0};
    for (unsigned i = t % STRIDE; i < kSpan; i += STRIDE) {
        const unsigned bits = t * kSpan + i;
        const unsigned magnitude = bits & 0x7fffffffu;
        const float b = floatOf(bits);
        const bool inside = magnitude >= 0x00800000u && magnitude <= 0x7e800000u;
        const bool same = reciprocal(b, false) == __frcp_rn(b);
        c.walked += inside;
        c.inside += inside && !same;
        c.beyond += !inside && !same && b == b;
        if (inside && !same && c.first == 0) c.first = bits;
    }
    counts[t] = c;
}

int main() {
    static Count counts[kWalkBlocks * kWalkThreads];
    Count* device;
    CUDA_CHECK(cudaMalloc(&device, sizeof counts));
    walk<<<kWalkBlocks, kWalkThreads>>>(device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(counts, device, sizeof counts, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    unsigned long long walked = 0;
    unsigned long long inside = 0;
    unsigned long long beyond = 0;
    unsigned first = 0;
    for (const Count& c : counts) {
        walked += c.walked;
        inside += c.inside;
        beyond += c.beyond;
        if (first == 0) first = c.first;
    }
    printf("walked %llu\ndiffer %llu\nbeyond %llu\n", walked, inside, beyond);
    if (inside != 0) printf("first 0x%08x\n", first);
    if (walked < kLeastWalked) printf("at least %llu must be walked\n", kLeastWalked);
    return inside == 0 && walked >= kLeastWalked ? 0 : 1;
}
