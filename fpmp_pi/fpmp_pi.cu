// What a wider type costs: pi by the midpoint rule in double, in float, in a type of your choice.
//
// pi is the integral of 4/(1 + x*x) over [0, 1], here in 2^26 terms. Everything stays in the type
// under test, the last sum on the host included: digits and time are the type's own.
//
//   nvcc -std=c++17 -O3 -o fpmp_pi fpmp_pi.cu
//   nvcc -std=c++17 -O3 -fmad=false -o fpmp_pi_nofmad fpmp_pi.cu
//   ./fpmp_pi; ./fpmp_pi_nofmad
//
// -DPI_FP_T=type: float_pair_low, float_pair_mid (default), float_pair_high, double_pair, or one of
// the header -DPI_FP_HEADER='<...>'. -DPI_LOG2_TERMS=n: 2^n terms. Exit status: 0 all gates passed,
// 1 a gate failed, 2 the work could not be done, 77 no usable CUDA device.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>
#ifdef PI_FP_HEADER
#include PI_FP_HEADER
namespace cuda::experimental {}
namespace cuda {
using namespace experimental;
}
#endif

#ifndef PI_FP_T
#define PI_FP_T float_pair_mid
#endif
#ifndef PI_LOG2_TERMS
#define PI_LOG2_TERMS 26
#endif

constexpr int kLog2Terms = PI_LOG2_TERMS;
constexpr int kBlocks = 512;  // fixed, like kThreads: they decide what a partial sums
constexpr int kThreads = 256;
constexpr int kPartials = kBlocks * kThreads;
constexpr int kTermsPerThread = (int)((1LL << kLog2Terms) / kPartials);
constexpr float kStep = 1.0f / (1LL << kLog2Terms);  // h, exact
static_assert(kLog2Terms >= 17 && kLog2Terms <= 34,
              "PI_LOG2_TERMS must be 17 to 34: a term per thread at least, and counts in 32 bits");
static_assert(kThreads % 32 == 0 && kThreads <= 1024,
              "a block is whole warps of 32 threads, at most 1,024 in all");
static_assert((kPartials & (kPartials - 1)) == 0, "a power of two, or dx = T h is not exact");
static_assert(kTermsPerThread * kStep * kPartials == 1, "every term belongs to one thread");

// helpers: the same in every lesson; their bodies are at the end of the file.
#define CUDA_CHECK(call) checkCuda((call), #call, __FILE__, __LINE__)
static void checkCuda(cudaError_t err, const char* call, const char* file, int line);
static void printHead(const char* program, int revision, int argc);
static void gate(bool ok, const char* name, const char* format, ...);
static int finish();
constexpr unsigned long long kFnvOffset = 14695981039346656037ULL;
static unsigned long long fnv1a(unsigned long long hash, unsigned long long value, int bytes);
// end helpers

// snippet: kernel
// Thread t sums the terms at x = (t + 0.5) h and every dx = T h from there, for T threads. Unrolled
// and counted in 32 bits: a 64-bit index compared at every term costs every type time.
template <class T>
__global__ void sumTerms(T* partials) {
    const int t = blockIdx.x * kThreads + threadIdx.x;
    T x = static_cast<T>((t + 0.5f) * kStep);  // 18 significant bits, exact
    const T dx = static_cast<T>(kPartials * kStep);
    T sum = static_cast<T>(0.0f);
#pragma unroll 8
    for (int i = 0; i < kTermsPerThread; ++i) {
        sum = sum + 4.0f / (1.0f + x * x);
        x = x + dx;
    }
    partials[t] = sum;
}
// end snippet

// pair types: a pair is the unevaluated sum hi + lo of two floats or two doubles; u is 2^-24 or
// 2^-53. Its bits are the same on every device and in both builds: each step is one correctly
// rounded operation that no compiler may contract. On a card that is an _rn intrinsic.
#define HD __host__ __device__ inline
#ifdef __CUDA_ARCH__
HD float addRn(float a, float b) { return __fadd_rn(a, b); }
HD double addRn(double a, double b) { return __dadd_rn(a, b); }
HD float mulRn(float a, float b) { return __fmul_rn(a, b); }
HD double mulRn(double a, double b) { return __dmul_rn(a, b); }
HD float fmaRn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
HD double fmaRn(double a, double b, double c) { return __fma_rn(a, b, c); }
HD double reciprocalRn(double b) { return __drcp_rn(b); }
#else
// In host code gcc on AArch64 fuses a product with the sum after it; not through a volatile.
template <class T>
HD T stored(T x) {
    volatile T kept = x;
    return kept;
}
HD float addRn(float a, float b) { return stored(a + b); }
HD double addRn(double a, double b) { return stored(a + b); }
HD float mulRn(float a, float b) { return stored(a * b); }
HD double mulRn(double a, double b) { return stored(a * b); }
HD float fmaRn(float a, float b, float c) { return stored(std::fma(a, b, c)); }
HD double fmaRn(double a, double b, double c) { return stored(std::fma(a, b, c)); }
HD double reciprocalRn(double b) { return stored(1.0 / b); }
#endif
enum Accuracy { kLow, kMid, kHigh };

// snippet: twosum
// s + e = a + b exactly, whichever is larger (D. Knuth, The Art of Computer Programming 2, 4.2.2).
template <class T>
HD void twoSum(T a, T b, T& s, T& e) {
    s = addRn(a, b);
    const T bPart = addRn(s, -a);
    const T aPart = addRn(s, -bPart);
    e = addRn(addRn(a, -aPart), addRn(b, -bPart));
}
// end snippet

// s + c as a pair, exact for |c| <= |s| (T. Dekker, Numer. Math. 18, 1971); low leaves the limbs as
// they are. With an infinite s, h is NaN: mid keeps the NaN, high takes ifInfinite.
template <Accuracy A, class P, class T>
HD P joinLimbs(T s, T c, T ifInfinite) {
    if (A == kLow) return P(s, c);
    const T h = addRn(s, c);
    return P(A == kHigh && h != h ? ifInfinite : h, addRn(c, -addRn(h, -s)));
}

// Algorithms and bounds on the relative error: JMP is Joldes, Muller and Popescu, ACM TOMS 44(2),
// 2017; MR, better bounds, Muller and Rideau, ACM TOMS 48(1), 2022. Low is mid without the last
// step (pair arithmetic, Lange and Rump, ACM TOMS 46(3), 2020): no bound holds once lo has grown.
// Sum. High: JMP 6, 3u^2 + 13u^3. Mid: JMP 5, the same for equal signs, none under cancellation.
template <Accuracy A, class P>
HD P add(P x, P y) {
    decltype(x.h) s, e, t, rest;
    twoSum(x.h, y.h, s, e);
    if (A != kHigh) return joinLimbs<A, P>(s, addRn(addRn(x.l, y.l), e), s);
    twoSum(x.l, y.l, t, rest);
    const auto c = addRn(e, t);
    const auto v = addRn(s, c);
    // 2s: with c, v may overflow where s does not.
    return joinLimbs<A, P>(v, addRn(rest, addRn(c, -addRn(v, -s))), addRn(s, s));
}
// Sum with a scalar: JMP 4, 2u^2.
template <Accuracy A, class P, class T>
HD P add(P x, T y) {
    T s, e;
    twoSum(x.h, y, s, e);
    return joinLimbs<A, P>(s, addRn(x.l, e), s);
}
// Product; p + e is x.h * y.h exactly. High: JMP 12, 4u^2. Mid: JMP 11 in two FMAs, 5u^2 (both MR).
template <Accuracy A, class P>
HD P mul(P x, P y) {
    const auto p = mulRn(x.h, y.h);
    const auto e = fmaRn(x.h, y.h, -p);
    if (A != kHigh) return joinLimbs<A, P>(p, fmaRn(x.l, y.h, fmaRn(x.h, y.l, e)), p);
    const auto cross = fmaRn(x.l, y.h, fmaRn(x.h, y.l, mulRn(x.l, y.l)));
    return joinLimbs<A, P>(p, addRn(e, cross), p);
}

// 1/b, correctly rounded. Float: from any r within an ulp of it, r + r(1 - b r) in two FMAs is that
// (P. Markstein, IBM J. R&D 34(1), 1990), so the card's approximation leaves no trace; a test walks
// all floats with |b| in [2^-126, 2^126]. Beyond them a card starts from 0 or infinity, and no bits
// are promised. With b = 0 or infinite, rest is NaN and so is 1/b, unless rest is taken as 1.
HD float reciprocal(float b, bool allowInfinity) {
    float r = 1.0f / b;
#if defined(__CUDA_ARCH__) && defined(__NVCC__)  // as an instruction: __fdividef also scales
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
#endif
    const float rest = fmaRn(-b, r, 1.0f);
    return fmaRn(r, allowInfinity ? fminf(rest, 1.0f) : rest, r);
}
HD double reciprocal(double b, bool) { return reciprocalRn(b); }

// Quotient: q = x.h / y.h through the reciprocal r, then what q leaves of x, times r: JMP 17 with r
// for both its divisions, 21u^2, or 14u^2 for a scalar x. High leaves out a c that is not finite.
template <Accuracy A, class P, class T>
HD P div(T x, T xLow, P y) {
    const T r = reciprocal(y.h, A == kHigh);
    const T q = mulRn(x, r);
    const T rest = fmaRn(-q, y.h, x);
    const T c = mulRn(fmaRn(-q, y.l, xLow == 0 ? rest : addRn(rest, xLow)), r);
    if (A == kLow) return P(q, c);
    return joinLimbs<kMid, P>(q, A == kHigh && !(fabs(c) < T(INFINITY)) ? T(0) : c, q);
}

// Does one limb T hold every S? Else a conversion must be spelled out, for it may lose bits.
template <class S, class T, bool kYes>
using Fits =
    std::enable_if_t<std::is_arithmetic_v<S> &&
                     (std::numeric_limits<S>::digits <= std::numeric_limits<T>::digits) == kYes>;

template <class T, Accuracy A>
struct Pair {
    T h, l;  // as computed; read through hi() and lo()
    Pair() = default;
    HD explicit Pair(T high, T low) : h(high), l(low) {}
    template <class S, Fits<S, T, true>* = nullptr>
    HD Pair(S s) : h(s), l(0) {}
    template <class S, Fits<S, T, false>* = nullptr, Fits<S, double, true>* = nullptr>
    HD explicit Pair(S s) : h((T)s), l((T)addRn((double)s, -(double)h)) {}
    template <class S, Accuracy B>
    HD explicit Pair(Pair<S, B> p) : Pair(Pair((double)p.hi()) + (T)p.lo()) {}
    HD T hi() const { return h; }
    HD T lo() const { return h - h == 0 ? l : 0; }  // beside an infinity or a NaN, l says nothing
    HD explicit operator double() const { return lo() == 0 ? h : addRn((double)h, (double)l); }
    HD Pair operator-() const { return Pair(-h, -l); }
    HD friend Pair operator+(Pair x, Pair y) { return add<A>(x, y); }
    HD friend Pair operator-(Pair x, Pair y) { return add<A>(x, -y); }
    HD friend Pair operator*(Pair x, Pair y) { return mul<A>(x, y); }
    HD friend Pair operator/(Pair x, Pair y) { return div<A>(x.h, x.l, y); }
    // Scalars become pairs above; on the left these two save the steps of the limb that is 0.
    template <class S, class = Fits<S, T, true>>
    HD friend Pair operator+(S x, Pair y) {
        return add<A>(y, (T)x);
    }
    template <class S, class = Fits<S, T, true>>
    HD friend Pair operator/(S x, Pair y) {
        return div<A>((T)x, (T)0, y);
    }
};

using float_pair_low = Pair<float, kLow>;
using float_pair_mid = Pair<float, kMid>;
using float_pair_high = Pair<float, kHigh>;
using double_pair = Pair<double, kMid>;
// end pair types

#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)  // a type's own spelling, commas included

#ifndef FPMP_PI_NO_MAIN  // programs that include this one have a main of their own
// The rounding error of a + b, by twoSum and by the same steps in plain operators. Under
// -ffast-math a compiler may work out that it is 0, and then it reorders this program's other sums
// as well.
HD void errorsOfSum(float a, float b, float* errors) {
    float s;
    twoSum(a, b, s, errors[0]);
    s = a + b;
    const float bPart = s - a;
    const float aPart = s - bPart;
    errors[1] = (a - aPart) + (b - bPart);
}
__global__ void errorsOnDevice(float a, float b, float* errors) { errorsOfSum(a, b, errors); }

static void gateErrorOfSum(const float* errors, float expected, const char* name) {
    gate(errors[0] == expected && errors[1] == expected, name,
         "%g by twoSum, %g by plain operators, not %g: the compiler reassociated it (-ffast-math?)",
         errors[0], errors[1], expected);
}
static void gateErrorsOfSums() {
    volatile float a = 1.0f;
    volatile float b = 1.5f / (1 << 25);  // a + b rounds to a, a - b does not: the error is b
    float onHost[2];
    float onDevice[2] = {NAN, NAN};
    float* deviceErrors;
    errorsOfSum(a, b, onHost);
    gateErrorOfSum(onHost, b, "two-sum keeps its error on the host");
    CUDA_CHECK(cudaMalloc(&deviceErrors, sizeof onDevice));
    errorsOnDevice<<<1, 1>>>(a, b, deviceErrors);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(onDevice, deviceErrors, sizeof onDevice, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(deviceErrors));
    gateErrorOfSum(onDevice, b, "two-sum keeps its error on the device");
}

// pi as a double-double: a reference in double could not rank the types above double.
constexpr double kPiHi = 3.14159265358979311600;
constexpr double kPiLo = 1.22464679914735317722e-16;
using Limbs = Pair<double, kHigh>;  // a value as a double and what that leaves

template <class T>
Limbs limbsOf(const T& x) {
    const double high = static_cast<double>(x);
    return Limbs(high, static_cast<double>(x - static_cast<T>(high)));
}
// Correct decimal digits of h x. The scaling and, near pi, the first difference are exact.
static double digitsOf(Limbs x) {
    const double error = (x.h * kStep - kPiHi) + (x.l * kStep - kPiLo);
    return -std::log10(std::fabs(error) / kPiHi);
}

struct Row {  // what one type gave
    const char* type;
    double value, digits;
    double partialsDigits;     // of the partials, summed exactly
    int untimed, timed, same;  // launches; same: timed ones with the first one's partials
    double ms, speed;          // the median; speed against double's
    unsigned long long hash;
};

constexpr int kLaunches = 5;  // timed ones: their median is right even if two were disturbed
static int g_launches = 0;
static cudaEvent_t g_start, g_stop;

// One launch between two events: its time in ms, and the partials.
template <class T>
float launch(T* device, std::vector<T>& partials) {
    const size_t bytes = sizeof(T) * kPartials;
    float ms;
    ++g_launches;
    CUDA_CHECK(cudaMemset(device, 0xff, bytes));  // NaNs: nothing stale may pass
    CUDA_CHECK(cudaEventRecord(g_start));
    sumTerms<T><<<kBlocks, kThreads>>>(device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(g_stop));
    CUDA_CHECK(cudaEventSynchronize(g_stop));
    CUDA_CHECK(cudaEventElapsedTime(&ms, g_start, g_stop));
    CUDA_CHECK(cudaMemcpy(partials.data(), device, bytes, cudaMemcpyDeviceToHost));
    return ms;
}

// snippet: measure
// Measures one type. The first launch is not timed: it loads the module, tens of milliseconds.
template <class T>
Row measure(const char* type) {
    Row row = {};
    row.type = type;
    const size_t bytes = sizeof(T) * kPartials;
    std::vector<T> first(kPartials);
    T* device;
    CUDA_CHECK(cudaMalloc(&device, bytes));
    g_launches = 0;
    launch(device, first);
    row.untimed = g_launches;
    // Compared once before the launches, with one bit flipped, of a pair the low limb's last: a
    // comparison that misses this one counts one launch too many.
    std::vector<T> again = first;
    const size_t lastLimb = std::is_class_v<T> ? sizeof(T) / 2 : 0;
    ((unsigned char*)&again[kPartials - 1])[lastLimb] ^= 1;
    float ms[kLaunches];
    for (int i = -1; i < kLaunches; ++i) {
        if (i >= 0) ms[i] = launch(device, again);
        if (memcmp(again.data(), first.data(), bytes) == 0) ++row.same;
    }
    row.timed = g_launches - row.untimed;
    CUDA_CHECK(cudaFree(device));
    std::sort(ms, ms + kLaunches);
    row.ms = ms[kLaunches / 2];
    T total = static_cast<T>(0.0f);
    Limbs exact = 0.0;
    for (const T& partial : again) {
        total = total + partial;
        exact = exact + limbsOf(partial).h + limbsOf(partial).l;
    }
    row.value = static_cast<double>(total) * kStep;
    row.digits = digitsOf(limbsOf(total));
    row.partialsDigits = digitsOf(exact);
    const unsigned char* byte = (const unsigned char*)again.data();  // of a pair: hi, then lo
    row.hash = kFnvOffset;
    for (size_t i = 0; i < bytes; ++i) row.hash = fnv1a(row.hash, byte[i], 1);
    return row;
}
// end snippet

// Correct digits at 2^26 terms; more than float has would be as wrong as less.
constexpr struct {
    const char* type;
    double least, most;
} kDigits[] = {{"double", 14.5, 15.1},          {"float", 2.9, 3.2},
               {"float_pair_low", 8.4, 9.0},    {"float_pair_mid", 11.9, 12.2},
               {"float_pair_high", 12.6, 12.9}, {"double_pair", 17.2, 17.5}};

static void gateRow(const Row& row, const Row& ofDouble) {
    char name[200];
    snprintf(name, sizeof name, "%s: constant partials", row.type);
    gate(row.same == row.timed && row.value == row.value, name,
         "%d of %d launches compared equal to the first; value %g", row.same, row.timed, row.value);
    snprintf(name, sizeof name, "%s: a warm-up, then 5 launches", row.type);
    gate(row.untimed >= 1 && row.timed >= 5, name, "%d untimed, %d timed", row.untimed, row.timed);
    snprintf(name, sizeof name, "%s: a time, and the speed from it", row.type);
    gate(row.ms > 0 && std::fabs(row.speed * row.ms - ofDouble.ms) <= 1e-6 * ofDouble.ms, name,
         "%g ms, %g times double's speed, whose time is %g ms", row.ms, row.speed, ofDouble.ms);
    for (const auto& range : kDigits) {
        if (kLog2Terms != 26 || strcmp(row.type, range.type) != 0) continue;
        snprintf(name, sizeof name, "%s: %.1f to %.1f digits", row.type, range.least, range.most);
        gate(row.digits >= range.least && row.digits <= range.most, name, "%.4f", row.digits);
    }
    // Up to 2^26 terms double's partials are the same with contraction and without.
    if (kLog2Terms <= 26 && strcmp(row.type, "cuda::fp64emu") == 0)
        gate(row.hash == ofDouble.hash, "cuda::fp64emu: double's partials",
             "0x%016llx, double's are 0x%016llx", row.hash, ofDouble.hash);
}

#ifndef PI_FP_TYPES  // PI_FP_HEADER may name several types: row(A) row(B) ...
#define PI_FP_TYPES(row) row(PI_FP_T)
#endif
#define TYPE(...) {TEXT(__VA_ARGS__), measure<__VA_ARGS__>},
static const struct {
    const char* name;
    Row (*measure)(const char* name);
} kTypes[] = {TYPE(double) TYPE(float) PI_FP_TYPES(TYPE)};
constexpr int kTypeCount = sizeof kTypes / sizeof kTypes[0];

// Where type i stands first: double and float may be asked for again.
static int firstOf(int i) {
    for (int j = 0; j < i; ++j)
        if (kTypes[j].measure == kTypes[i].measure) return j;
    return i;
}

int main(int argc, char**) {
    printHead("fpmp_pi/fpmp_pi", 2, argc);
    printf("type:");
    for (int i = 2; i < kTypeCount; ++i) printf(" %s", kTypes[i].name);
    printf("\nn: %lld\n\n", 1LL << kLog2Terms);
    printf("pi = sum of h * 4/(1 + x*x) at x = (i + 0.5) h, h = 2^-%d, all in the type;\n",
           kLog2Terms);
    printf("%d blocks of %d threads, %d terms each. gained: digits over double's; alone: digits\n",
           kBlocks, kThreads, kTermsPerThread);
    printf("of the partials, summed exactly; ms: the median of the timed launches.\n\n");
    printf("%-24s %-20s %6s %6s %6s %8s %9s %8s  %s\n", "type", "value", "digits", "gained",
           "alone", "launches", "ms", "speed", "partials hash");
    Row rows[kTypeCount];
    CUDA_CHECK(cudaEventCreate(&g_start));
    CUDA_CHECK(cudaEventCreate(&g_stop));
    for (int i = 0; i < kTypeCount; ++i) {
        rows[i] = firstOf(i) < i ? rows[firstOf(i)] : kTypes[i].measure(kTypes[i].name);
        Row& row = rows[i];
        row.speed = rows[0].ms / row.ms;
        if (firstOf(i) < i) continue;
        printf("%-24s %#-20.17g %6.2f %+6.2f %6.2f %6d+%d %9.4f %7.3fx  0x%016llx\n", row.type,
               row.value, row.digits, row.digits - rows[0].digits, row.partialsDigits, row.untimed,
               row.timed, row.ms, row.speed, row.hash);
    }
    CUDA_CHECK(cudaEventDestroy(g_start));
    CUDA_CHECK(cudaEventDestroy(g_stop));
    printf("\n");
    for (int i = 1; i < kTypeCount; ++i) {
        const double gained = rows[i].digits - rows[0].digits;
        if (firstOf(i) == i)
            printf("%s is %.3f times as fast as double, with %.2f digits %s.\n", rows[i].type,
                   rows[i].speed, std::fabs(gained), gained < 0 ? "fewer" : "more");
    }
    printf("\npartials hash: 0x%016llx\n\n", rows[kTypeCount - 1].hash);  // the asked type's
    gateErrorsOfSums();
    for (int i = 0; i < kTypeCount; ++i)
        if (firstOf(i) == i) gateRow(rows[i], rows[0]);
    return finish();
}
#endif  // FPMP_PI_NO_MAIN

// helper bodies: the same in every lesson.

// Ends the program unless err is cudaSuccess: status 77 where there is no usable device, else 2.
static void checkCuda(cudaError_t err, const char* call, const char* file, int line) {
    if (err == cudaSuccess) return;
    fflush(stdout);
    if (err == cudaErrorNoDevice || err == cudaErrorInsufficientDriver) {
        fprintf(stderr, "skipped: no usable CUDA device (error %d: %s)\n", (int)err,
                cudaGetErrorString(err));
        exit(77);
    }
    fprintf(stderr, "%s:%d: %s: error %d (%s): %s\n", file, line, call, (int)err,
            cudaGetErrorName(err), cudaGetErrorString(err));
    if (err == cudaErrorNoKernelImageForDevice || err == cudaErrorUnsupportedPtxVersion)
        fprintf(stderr, "This build does not fit the card or its driver: name the card's own "
                        "architecture when you build, -arch=sm_NN\n");
    exit(2);
}

// Without this, an allocation that fails would abort the program with status 134.
static void outOfHostMemory() {
    fflush(stdout);
    fprintf(stderr, "out of host memory\n");
    exit(2);
}

// No macro says whether device code is contracted; the last bits of this product do.
__global__ void probeContraction(float x, float y, float* out) { *out = x * x + y; }

// The head of the output: what runs, on what, and whether its device code is contracted.
static void printHead(const char* program, int revision, int argc) {
    std::set_new_handler(outOfHostMemory);
    if (argc > 1) {
        fprintf(stderr, "%s takes no arguments; -D macros at the build change it\n", program);
        exit(2);
    }
    int device;
    cudaDeviceProp prop;
    float* out;
    float rest;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaGetDeviceProperties(&prop, device));
    CUDA_CHECK(cudaMalloc(&out, sizeof rest));
    // x*x = 1 + 2^-11 + 2^-24: rounded, the last term is gone; fused, it is all that is left.
    probeContraction<<<1, 1>>>(1.0f + 1.0f / 4096, -(1.0f + 1.0f / 2048), out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&rest, out, sizeof rest, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(out));
    printf("program: %s\nrevision: %d\ndevice: %s, ", program, revision, prop.name);
    if (prop.major == 0)  // no card has 0: this is the CPU default
        printf("%d cores\n", prop.multiProcessorCount);
    else
        printf("compute capability %d.%d, %d multiprocessors\n", prop.major, prop.minor,
               prop.multiProcessorCount);
    printf("contraction: %s\n", rest != 0.0f ? "fused" : "separate");
}

static int g_passed = 0;
static int g_failed = 0;

// A gate: ok must hold. State ok as `x <= limit`, so that a NaN in x fails it.
static void gate(bool ok, const char* name, const char* format, ...) {
    printf("gate: %-48s %s\n", name, ok ? "passed" : "FAILED");
    if (ok) {
        ++g_passed;
        return;
    }
    ++g_failed;
    va_list args;
    va_start(args, format);
    fprintf(stderr, "gate failed: %s: ", name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

// The last line and the exit status; a verdict that could not be written is no pass.
static int finish() {
    if (g_failed == 0) printf("gates passed: %d\n", g_passed);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "the output could not be written\n");
        return 2;
    }
    if (g_failed != 0) fprintf(stderr, "%d gate(s) failed\n", g_failed);
    return g_failed == 0 ? 0 : 1;
}

// FNV-1a over the low bytes of value, least significant first; a hash starts as kFnvOffset.
static unsigned long long fnv1a(unsigned long long hash, unsigned long long value, int bytes) {
    for (int i = 0; i < bytes; ++i) hash = (hash ^ (value >> 8 * i & 0xff)) * 1099511628211ULL;
    return hash;
}
// end helper bodies
