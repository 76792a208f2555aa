// The float pairs' reciprocal against the correctly rounded one, over every float b: on a card
// __frcp_rn, on a CPU 1/b. pair_types.inc is the marked block of fpmp_pi.cu.
//
// -DSTRIDE=n walks every n-th bit pattern, from another start in each span. Prints how many differ
// with |b| in [2^-126, 2^126], where none may, and how many beyond, where the block promises
// nothing. Status: 0 none differed in the range, 1 some did, 2 where nothing could be run.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "pair_types.inc"

#ifndef STRIDE
#define STRIDE 1
#endif

constexpr unsigned kSpan = 1u << 14;  // bit patterns a thread
constexpr unsigned kThreads = 256, kBlocks = (1u << 18) / kThreads;

struct Count {
    unsigned walked, inside, beyond, first;  // first: the first pattern that differs inside, or 0
};

__device__ float floatOf(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// Each thread its own span and its own counts: the host adds them in 64 bits.
__global__ void walk(Count* counts) {
    const unsigned t = blockIdx.x * kThreads + threadIdx.x;
    Count c = {0, 0, 0, 0};
    for (unsigned i = t % STRIDE; i < kSpan; i += STRIDE) {
        const unsigned bits = t * kSpan + i, magnitude = bits & 0x7fffffffu;
        const float b = floatOf(bits);
        const float got = reciprocal(b, false), want = __frcp_rn(b);
        const bool inside = magnitude >= 0x00800000u && magnitude <= 0x7e800000u;
        const bool same = got == want;
        c.walked += inside;
        c.inside += inside && !same;
        c.beyond += !inside && !same && b == b;
        if (inside && !same && c.first == 0) c.first = bits;
    }
    counts[t] = c;
}

static void check(cudaError_t err) {
    if (err == cudaSuccess) return;
    fprintf(stderr, "reciprocal_walk: %s\n", cudaGetErrorString(err));
    exit(2);
}

int main() {
    static Count counts[kBlocks * kThreads];
    Count* device;
    check(cudaMalloc(&device, sizeof counts));
    walk<<<kBlocks, kThreads>>>(device);
    check(cudaGetLastError());
    check(cudaMemcpy(counts, device, sizeof counts, cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    unsigned long long walked = 0, inside = 0, beyond = 0;
    unsigned first = 0;
    for (const Count& c : counts) {
        walked += c.walked, inside += c.inside, beyond += c.beyond;
        if (first == 0) first = c.first;
    }
    printf("walked %llu\ndiffer %llu\nbeyond %llu\n", walked, inside, beyond);
    if (inside != 0) printf("first 0x%08x\n", first);
    return inside == 0 && walked != 0 ? 0 : 1;
}
