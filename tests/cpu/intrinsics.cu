// The rounding intrinsics of the CPU default against the host's own arithmetic, which is never contracted.
// -DFUSED=1 or 0 says what plain operators do; -DSTRIDE=n looks at every n-th significand alone.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "check.cu"

#ifndef STRIDE
#define STRIDE 1
#endif
constexpr int kPairs = 20000;

static uint64_t g_random = 88172645463325252ULL;
static uint64_t random64() {
    g_random ^= g_random << 13;
    g_random ^= g_random >> 7;
    return g_random ^= g_random << 17;
}

template <typename T>
struct Sum {
    T s, e;
};

// Knuth's two-sum and the two-product by FMA (The Art of Computer Programming 2, 4.2.2; Ogita, Rump and
// Oishi, SIAM J. Sci. Comput. 26(6), 2005), from the intrinsics.
struct Protected {
    static __device__ float add(float a, float b) { return __fadd_rn(a, b); }
    static __device__ float sub(float a, float b) { return __fsub_rn(a, b); }
    static __device__ float mul(float a, float b) { return __fmul_rn(a, b); }
    static __device__ float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
    static __device__ double add(double a, double b) { return __dadd_rn(a, b); }
    static __device__ double sub(double a, double b) { return __dsub_rn(a, b); }
    static __device__ double mul(double a, double b) { return __dmul_rn(a, b); }
    static __device__ double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
};
template <typename T>
__device__ Sum<T> twoSum(T a, T b) {
    const T s = Protected::add(a, b), bb = Protected::sub(s, a);
    return {s, Protected::add(Protected::sub(a, Protected::sub(s, bb)), Protected::sub(b, bb))};
}
template <typename T>
__device__ Sum<T> twoProduct(T a, T b) {
    const T p = Protected::mul(a, b);
    return {p, Protected::fma(a, b, -p)};
}

template <typename T>
struct Case {
    T a, b, c;
    Sum<T> sum, product;  // of a and b
    Sum<T> chain;         // of a*b and c
    T plain;              // a*b + c by operators
};
template <typename T>
__global__ void transforms(Case<T>* cases) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= kPairs) return;
    Case<T>& k = cases[i];
    k.sum = twoSum(k.a, k.b);
    k.product = twoProduct(k.a, k.b);
    k.chain = twoSum(Protected::mul(k.a, k.b), k.c);
    k.plain = k.a * k.b + k.c;
}

// Integers in floating point, so that 128-bit integers can tell what is exact.
template <typename T>
static T randomInteger(int shift) {
    const int digits = sizeof(T) == 4 ? 24 : 53;
    const T m = (T)(int64_t)(random64() >> (64 - digits));
    return std::ldexp(random64() % 2 ? m : -m, shift);
}
template <typename T>
static void runTransforms() {
    typedef __int128 Integer;
    Case<T>* cases;
    CHECKED(cudaMallocHost(&cases, kPairs * sizeof *cases));
    for (int i = 0; i < kPairs; ++i) {
        const int far = (int)(random64() % (sizeof(T) == 4 ? 30 : 12));
        cases[i].a = randomInteger<T>(far);
        cases[i].b = randomInteger<T>(0);
        cases[i].c = randomInteger<T>((int)(random64() % (sizeof(T) == 4 ? 40 : 60)));
    }
    transforms<<<(kPairs + 255) / 256, 256>>>(cases);
    CHECKED(cudaGetLastError());
    int plainDiffers = 0;
    for (int i = 0; i < kPairs; ++i) {
        const Case<T>& k = cases[i];
        EXPECT((Integer)k.sum.s + (Integer)k.sum.e == (Integer)k.a + (Integer)k.b);
        EXPECT((Integer)k.product.s + (Integer)k.product.e == (Integer)k.a * (Integer)k.b);
        volatile T p = k.a * k.b, s = p + k.c;
        EXPECT(k.sum.s == k.a + k.b && k.product.s == p && k.chain.s == s);
        EXPECT((Integer)k.chain.s + (Integer)k.chain.e == (Integer)(T)p + (Integer)k.c);
        plainDiffers += k.plain != s;
    }
    // Or the test would say nothing of the protection.
    if (FUSED) EXPECT(plainDiffers > kPairs / 10);
    else EXPECT(plainDiffers == 0);
    CHECKED(cudaFreeHost(cases));
}

enum { kNeighbours = 14 };
template <typename T>
struct Neighbours {
    volatile T a, b, c, d;  // read anew each time: a product that two cases share might not be fused for that alone
    T out[kNeighbours];
};
template <typename P, typename T>
__global__ void neighbours(Neighbours<T>* all) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= kPairs) return;
    Neighbours<T>& n = all[i];
    n.out[0] = P::mul(n.a, n.b) + n.c;
    n.out[1] = n.c + P::mul(n.a, n.b);
    n.out[2] = P::mul(n.a, n.b) - n.c;
    n.out[3] = n.c - P::mul(n.a, n.b);
    n.out[4] = P::add(n.a * n.b, n.c);
    n.out[5] = P::add(n.c, n.a * n.b);
    n.out[6] = P::sub(n.a * n.b, n.c);
    n.out[7] = P::sub(n.c, n.a * n.b);
    n.out[8] = P::mul(n.a, n.b) + P::mul(n.c, n.d);
    n.out[9] = P::add(P::mul(n.a, n.b), n.c);
    n.out[10] = P::sub(P::mul(n.a, n.b), P::mul(n.c, n.d));
    n.out[11] = n.c * n.d + P::mul(n.a, n.b);  // what is plain from here on is contracted
    n.out[12] = P::add(n.a, n.b) * n.c + n.d;
    n.out[13] = n.d - P::sub(n.a, n.b) * n.c;
}
template <typename T>
static void runNeighbours() {
    Neighbours<T>* all;
    CHECKED(cudaMallocHost(&all, kPairs * sizeof *all));
    for (int i = 0; i < kPairs; ++i)
        for (volatile T* x : {&all[i].a, &all[i].b, &all[i].c, &all[i].d}) *x = randomInteger<T>(sizeof(T) == 4 ? -24 : -53);
    neighbours<Protected><<<(kPairs + 255) / 256, 256>>>(all);
    CHECKED(cudaGetLastError());
    for (int i = 0; i < kPairs; ++i) {
        const T a = all[i].a, b = all[i].b, c = all[i].c, d = all[i].d;
        volatile T ab = a * b, cd = c * d, sum = a + b, difference = a - b, sumC = sum * c, differenceC = difference * c;
        const T want[kNeighbours] = {ab + c, c + ab, ab - c, c - ab, ab + c, c + ab, ab - c, c - ab, ab + cd, ab + c, ab - cd,
                                     FUSED ? std::fma(c, d, (T)ab) : ab + cd, FUSED ? std::fma((T)sum, c, d) : sumC + d,
                                     FUSED ? std::fma(-(T)difference, c, d) : d - differenceC};
        for (int j = 0; j < kNeighbours; ++j) {
            if (all[i].out[j] == want[j]) continue;
            fprintf(stderr, "neighbour %d: got %a, want %a\n", j, (double)all[i].out[j], (double)want[j]);
            EXPECT(all[i].out[j] == want[j]);
        }
    }
    CHECKED(cudaFreeHost(all));
}

__global__ void onceRounded(float a, float b, double x, double y) {
    volatile float quotient = a / b, reciprocal = 1.0f / a;
    volatile double quotient2 = x / y, reciprocal2 = 1.0 / x;
    EXPECT(__fdiv_rn(a, b) == quotient && __frcp_rn(a) == reciprocal && __fsqrt_rn(a) == std::sqrt(a));
    EXPECT(__ddiv_rn(x, y) == quotient2 && __drcp_rn(x) == reciprocal2 && __dsqrt_rn(x) == std::sqrt(x));
    EXPECT(__fmaf_rn(a, b, a) == std::fma(a, b, a) && __fma_rn(x, y, x) == std::fma(x, y, x));
    EXPECT(__int_as_float(__float_as_int(a)) == a && __uint_as_float(__float_as_uint(b)) == b);
    EXPECT(__longlong_as_double(__double_as_longlong(x)) == x);
    EXPECT(__hiloint2double(__double2hiint(y), __double2loint(y)) == y);
}
__global__ void integers() {
    EXPECT(__popc(0xf0f0u) == 8 && __popcll(~0ULL) == 64 && __ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1LL << 40) == 41);
    EXPECT(__clz(0) == 32 && __clz(1) == 31 && __clzll(0) == 64 && __clzll(1) == 63);
    EXPECT(min(3, 4) == 3 && max(3u, 4u) == 4u && min(3, 4LL) == 3 && max(2.0f, 3) == 3.0f && min(1u, 2ULL) == 1u);
    EXPECT(min(NAN, 1.0f) == 1.0f && max(1.0, (double)NAN) == 1.0);
}

// y = Y * 2^-24 is nearest to 1/sqrt(a), a = A * 2^-k, when (2Y-1)^2 * A <= 2^(50+k) <= (2Y+1)^2 * A. All floats
// have the significands and the parity of the exponent of two binades.
__global__ void reciprocalRoots() {
    typedef unsigned __int128 Integer;
    const unsigned bits = 0x3f800000u + (blockIdx.x * blockDim.x + threadIdx.x) * STRIDE;
    if (bits >= 0x40800000u) return;
    const float y = __frsqrt_rn(__uint_as_float(bits));
    const uint64_t a = (bits & 0x7fffff) | 0x800000, twice = 2 * (uint64_t)((double)y * 16777216.0);
    const Integer one = (Integer)1 << (50 + (bits < 0x40000000u ? 23 : 22));
    if (!((Integer)(twice - 1) * (twice - 1) * a <= one && one <= (Integer)(twice + 1) * (twice + 1) * a)) {
        fprintf(stderr, "__frsqrt_rn(%a) = %a\n", (double)__uint_as_float(bits), (double)y);
        EXPECT(!"correctly rounded");
    }
}

int main() {
    runTransforms<float>();
    runTransforms<double>();
    runNeighbours<float>();
    runNeighbours<double>();
    for (int i = 1; i < 2000; ++i) {
        const float a = (float)(random64() % 1000000 + 1), b = randomInteger<float>(0) + 0.5f;
        onceRounded<<<1, 1>>>(a, b, a + 1.0 / i, b * 3.1);
    }
    integers<<<1, 1>>>();
    reciprocalRoots<<<(1 << 24) / 256 / STRIDE + 1, 256>>>();
    CHECKED(cudaGetLastError());
    return report();
}
