// Every operation of every pair type, handed in against the repository's, on the device: limbs of a few
// special values and of many pairs from integer arithmetic, cancelling ones among them.
#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

#define FPMP_PI_NO_MAIN
namespace repository {
#include "repository.cu"  // check.sh puts it beside the copy of this file that is built
}
#undef CUDA_CHECK
#undef HD
#undef TEXT_
#undef TEXT
namespace handed_in {
#include SUBMISSION
}
#include "check_is_done.h"

constexpr int kTrials = 20000;
constexpr const char* kOperations[] = {"x + y",     "x - y",    "x * y",     "x / y",     "x + 1/3",
                                       "1/3 + x",   "x * 1/3",  "1/3 / x",   "-x",        "1 / x",
                                       "(double)x", "T(1.0/3)", "low of x",  "mid of x",  "high of x",
                                       "pair of doubles of x",  "x / 3", "x / y + 1"};
constexpr int kOperationCount = sizeof kOperations / sizeof kOperations[0];

template <class T>
struct Result {
    T hi, lo;
};
template <class T, class P>
__device__ Result<T> limbs(P p) {
    return {(T)p.hi(), (T)p.lo()};
}

// A pair type handed in and the same one in the repository, over the same limbs.
template <class T, class P, class Low, class Mid, class High, class Doubles>
__global__ void operations(const T* in, Result<T>* out, int trials) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= trials) return;
    const P x(in[4 * t], in[4 * t + 1]), y(in[4 * t + 2], in[4 * t + 3]);
    const T third = T(1) / T(3);
    Result<T>* r = out + (size_t)t * kOperationCount;
    int i = 0;
    r[i++] = limbs<T>(x + y);
    r[i++] = limbs<T>(x - y);
    r[i++] = limbs<T>(x * y);
    r[i++] = limbs<T>(x / y);
    r[i++] = limbs<T>(x + third);
    r[i++] = limbs<T>(third + x);
    r[i++] = limbs<T>(x * third);
    r[i++] = limbs<T>(third / x);
    r[i++] = limbs<T>(-x);
    r[i++] = limbs<T>(P(1.0f) / x);
    r[i++] = {(T)(double)x, (T)((double)x - (double)(T)(double)x)};
    r[i++] = limbs<T>(P(1.0 / 3));
    r[i++] = limbs<T>(Low(x));
    r[i++] = limbs<T>(Mid(x));
    r[i++] = limbs<T>(High(x));
    r[i++] = limbs<T>(Doubles(x));
    r[i++] = limbs<T>(x / 3.0f);
    r[i++] = limbs<T>(x / y + P(1.0f));  // a fused build may take a product of the one into a sum of the other
}

static unsigned long long g_state = 1;
static unsigned long long next() {
    unsigned long long z = g_state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}
template <class T>
T fraction() {  // in [-1, 1], all bits in use
    return (T)((double)(long long)next() * 0x1p-63);
}

template <class T>
static std::vector<T> inputs() {
    constexpr T kUnit = std::numeric_limits<T>::epsilon() / 2;
    const T special[] = {0, -T(0), 1, -1, T(INFINITY), -T(INFINITY), T(NAN), std::numeric_limits<T>::max(),
                         -std::numeric_limits<T>::max(), std::numeric_limits<T>::min() * 4, T(0.7), 1 + 2 * kUnit};
    std::vector<T> in;
    for (T x : special)
        for (T y : special) in.insert(in.end(), {x, 0, y, 0});
    // v overflows here in the accurate sum, and s alone does not.
    const T largest = std::numeric_limits<T>::max();
    const T quarter = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits - 2);
    in.insert(in.end(), {largest, quarter, quarter, 0, -largest, -quarter, -quarter, 0});
    while (in.size() < 4 * (size_t)kTrials) {
        const int exponent = (int)(next() % 40) - 20;
        const T x = std::ldexp(fraction<T>(), exponent), xLow = x * kUnit * fraction<T>();
        T y = std::ldexp(fraction<T>(), (int)(next() % 40) - 20), yLow = y * kUnit * fraction<T>();
        if (next() % 4 == 0) y = -x, yLow = xLow * fraction<T>();  // x + y cancels
        if (next() % 8 == 0) yLow = y * fraction<T>() / 8;         // limbs as low may leave them
        in.insert(in.end(), {x, xLow, y, yLow});
    }
    return in;
}

// A NaN is shown without its sign.
template <class T>
static double shown(T x) {
    return x != x ? std::fabs((double)NAN) : (double)x;
}

template <class T>
static bool same(T a, T b) {
    return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0;
}

template <class T, class P, class Low, class Mid, class High, class Doubles>
static std::vector<Result<T>> run(const std::vector<T>& in) {
    T* deviceIn;
    Result<T>* deviceOut;
    std::vector<Result<T>> out((size_t)kTrials * kOperationCount);
    cudaMalloc(&deviceIn, in.size() * sizeof(T));
    cudaMalloc(&deviceOut, out.size() * sizeof out[0]);
    cudaMemcpy(deviceIn, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice);
    operations<T, P, Low, Mid, High, Doubles><<<(kTrials + 255) / 256, 256>>>(deviceIn, deviceOut, kTrials);
    cudaMemcpy(out.data(), deviceOut, out.size() * sizeof out[0], cudaMemcpyDeviceToHost);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return out;
}

#define LEVELS(where) where::float_pair_low, where::float_pair_mid, where::float_pair_high, where::double_pair
template <class T, class HandedIn, class Repository>
static void compare(const char* type) {
    const std::vector<T> in = inputs<T>();
    const auto got = run<T, HandedIn, LEVELS(handed_in)>(in), want = run<T, Repository, LEVELS(repository)>(in);
    for (int operation = 0; operation < kOperationCount; ++operation)
        for (int t = 0; t < kTrials; ++t) {
            const size_t i = (size_t)t * kOperationCount + operation;
            if (same(got[i].hi, want[i].hi) && same(got[i].lo, want[i].lo)) continue;
            printf("%s, x = (%.9g, %.9g), y = (%.9g, %.9g)|%s is (%.9g, %.9g), and must be (%.9g, %.9g)\n", type,
                   (double)in[4 * t], (double)in[4 * t + 1], (double)in[4 * t + 2], (double)in[4 * t + 3],
                   kOperations[operation], shown(got[i].hi), shown(got[i].lo), shown(want[i].hi), shown(want[i].lo));
            exit(1);
        }
}

int main() {
    compare<float, handed_in::float_pair_low, repository::float_pair_low>("float_pair_low");
    compare<float, handed_in::float_pair_mid, repository::float_pair_mid>("float_pair_mid");
    compare<float, handed_in::float_pair_high, repository::float_pair_high>("float_pair_high");
    compare<double, handed_in::double_pair, repository::double_pair>("double_pair");
    return checkIsDone();
}
