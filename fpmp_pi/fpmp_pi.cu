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
#include <string>
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
#ifndef PI_FP_TYPES  // PI_FP_HEADER may name several types: row(A) row(B) ...
#define PI_FP_TYPES(row) row(PI_FP_T)
#endif
#ifndef PI_LOG2_TERMS
#define PI_LOG2_TERMS 26
#endif

constexpr int kLog2Terms = PI_LOG2_TERMS;
constexpr int kBlocks = 512, kThreads = 256;  // fixed: they decide which terms a partial sums
constexpr int kPartials = kBlocks * kThreads;
constexpr int kLaunches = 5;  // timed ones: their median stands two disturbed ones
// pi as a double-double: a reference in double could not rank the types above double.
constexpr double kPiHi = 3.14159265358979311600, kPiLo = 1.22464679914735317722e-16;
constexpr struct {
    const char* type;
    double least, most;  // correct digits at 2^26 terms; more than float has would be wrong as well
} kWanted[] = {{"double", 14.5, 15.1},          {"float", 2.9, 3.2},
               {"float_pair_low", 8.4, 9.0},    {"float_pair_mid", 11.9, 12.2},
               {"float_pair_high", 12.6, 12.9}, {"double_pair", 17.2, 17.5}};

static_assert(PI_LOG2_TERMS >= 17 && PI_LOG2_TERMS <= 34,
              "PI_LOG2_TERMS must be 17 to 34: a term a thread at least, and counts in 32 bits");
constexpr int kTermsPerThread = (int)((1LL << kLog2Terms) / kPartials);
constexpr float kStep = 1.0f / (1LL << kLog2Terms);  // h, exact

// shared helpers: this block stands in every lesson program, and a test holds the copies equal.
#define CUDA_CHECK(call) checkCuda((call), #call, __FILE__, __LINE__)

// Ends the program unless err is cudaSuccess: status 77 where there is no usable device, else 2.
static void checkCuda(cudaError_t err, const char* call, const char* file, int line) {
    if (err == cudaSuccess) return;
    fflush(stdout);
    if (err == cudaErrorNoDevice || err == cudaErrorInsufficientDriver) {
        fprintf(stderr, "skipped: no usable CUDA device (error %d: %s); try: make run DEVICE=cpu\n",
                (int)err, cudaGetErrorString(err));
        exit(77);
    }
    fprintf(stderr, "%s:%d: %s: error %d (%s): %s\n", file, line, call, (int)err,
            cudaGetErrorName(err), cudaGetErrorString(err));
    if (err == cudaErrorNoKernelImageForDevice || err == cudaErrorUnsupportedPtxVersion)
        fprintf(stderr,
                "This build does not fit this card or its driver. Build for the card itself, "
                "whose sm_NN `make doctor` names: make run ARCH=sm_NN\n");
    exit(2);
}

// FNV-1a over the low bytes of value, least significant first; a hash starts as kFnvOffset.
constexpr unsigned long long kFnvOffset = 14695981039346656037ULL;
static unsigned long long fnv1a(unsigned long long hash, unsigned long long value, int bytes) {
    for (int i = 0; i < bytes; ++i) hash = (hash ^ (value >> 8 * i & 0xff)) * 1099511628211ULL;
    return hash;
}

static int g_passed = 0, g_failed = 0;

// A gate: ok must hold. State ok as `x <= limit`, so that a NaN in x fails it.
static void gate(bool ok, const char* name, const char* format, ...) {
    printf("gate: %-48s %s\n", name, ok ? "passed" : "FAILED");
    ++(ok ? g_passed : g_failed);
    if (ok) return;
    va_list args;
    va_start(args, format);
    fprintf(stderr, "gate failed: %s: ", name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

// No macro tells whether device code is contracted; the last bits of this product do.
__global__ void probeContraction(float x, float y, float* out) { *out = x * x + y; }

// The head of the output: what runs, on what, and whether its device code is contracted.
static void printHead(const char* program, int revision, int argc) {
    if (argc > 1) {
        fprintf(stderr, "%s takes no arguments; -D macros at the build change it\n", program);
        exit(2);
    }
    int device;
    cudaDeviceProp prop;
    float *out, rest;
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
// end shared helpers

// pair types: this block stands in fpmp_pi.cu and fpmp_tour.cu, and a test holds the copies equal.
// A pair is the unevaluated sum hi + lo of two floats or two doubles; u is 2^-24 or 2^-53. Its bits
// are the same on every device and in both builds: each step is one correctly rounded operation
// that no compiler may contract, on a card an _rn intrinsic, in host code a plain operator whose
// result goes through a volatile, because gcc on AArch64 fuses a product with the sum after it.
#define HD __host__ __device__ inline
#ifdef __CUDA_ARCH__
#define ROUNDED(device, host) return device
#else
#define ROUNDED(device, host)     \
    volatile auto rounded = host; \
    return rounded
#endif
HD float addRn(float a, float b) { ROUNDED(__fadd_rn(a, b), a + b); }
HD double addRn(double a, double b) { ROUNDED(__dadd_rn(a, b), a + b); }
HD float mulRn(float a, float b) { ROUNDED(__fmul_rn(a, b), a * b); }
HD double mulRn(double a, double b) { ROUNDED(__dmul_rn(a, b), a * b); }
HD float fmaRn(float a, float b, float c) { ROUNDED(__fmaf_rn(a, b, c), std::fma(a, b, c)); }
HD double fmaRn(double a, double b, double c) { ROUNDED(__fma_rn(a, b, c), std::fma(a, b, c)); }
enum Accuracy { kLow, kMid, kHigh };

// s + e = a + b exactly, whichever is larger (D. Knuth, The Art of Computer Programming 2, 4.2.2).
template <class T>
HD void twoSum(T a, T b, T& s, T& e) {
    s = addRn(a, b);
    const T bPart = addRn(s, -a), aPart = addRn(s, -bPart);
    e = addRn(addRn(a, -aPart), addRn(b, -bPart));
}

// s + c as a pair, exact for |c| <= |s| (T. Dekker, Numer. Math. 18, 1971); low leaves the limbs as
// they are. With an infinite s, c is NaN: high gives `plain` (2s where c may overflow), mid NaN.
template <Accuracy A, class P, class T>
HD P settle(T s, T c, T plain) {
    if (A == kLow) return P(s, c);
    const T h = addRn(s, c);
    return P(A == kHigh && h != h ? plain : h, addRn(c, -addRn(h, -s)));
}

// Algorithms and bounds on the relative error: JMP is Joldes, Muller and Popescu, ACM TOMS 44(2),
// 2017; MR, better bounds, Muller and Rideau, ACM TOMS 48(1), 2022. Low is mid without the last
// step (pair arithmetic, Lange and Rump, ACM TOMS 46(3), 2020): no bound holds once lo has grown.
// Sum. High: JMP 6, 3u^2 + 13u^3. Mid: JMP 5, the same for equal signs, none under cancellation.
template <Accuracy A, class P>
HD P add(P x, P y) {
    decltype(x.h) s, e, t, rest;
    twoSum(x.h, y.h, s, e);
    if (A != kHigh) return settle<A, P>(s, addRn(addRn(x.l, y.l), e), s);
    twoSum(x.l, y.l, t, rest);
    const auto c = addRn(e, t), v = addRn(s, c);
    return settle<A, P>(v, addRn(rest, addRn(c, -addRn(v, -s))), addRn(s, s));
}
// Sum with a scalar: JMP 4, 2u^2.
template <Accuracy A, class P, class T>
HD P add(P x, T y) {
    T s, e;
    twoSum(x.h, y, s, e);
    return settle<A, P>(s, addRn(x.l, e), s);
}
// Product; p + e is x.h * y.h exactly. High: JMP 12, 4u^2 (MR). Mid: JMP 11 in two FMAs, 6u^2.
template <Accuracy A, class P>
HD P mul(P x, P y) {
    const auto p = mulRn(x.h, y.h), e = fmaRn(x.h, y.h, -p);
    if (A != kHigh) return settle<A, P>(p, fmaRn(x.l, y.h, fmaRn(x.h, y.l, e)), p);
    const auto cross = fmaRn(x.l, y.h, fmaRn(x.h, y.l, mulRn(x.l, y.l)));
    return settle<A, P>(p, addRn(e, cross), p);
}

// 1/b, correctly rounded. Float: from any r within an ulp of it, r + r(1 - b r) in two FMAs is that
// (P. Markstein, IBM J. R&D 34(1), 1990), so the card's approximation leaves no trace; a test walks
// all floats with |b| in [2^-126, 2^126]. Beyond them a card starts from 0 or infinity, and no bits
// are promised. With b = 0 or infinite, rest is NaN and so 1/b; keepStart makes it 1, and 1/b r.
HD float reciprocal(float b, bool keepStart) {
    float r = 1.0f / b;
#if defined(__CUDA_ARCH__) && defined(__NVCC__)  // as an instruction: __fdividef also scales
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
#endif
    const float rest = fmaRn(-b, r, 1.0f);
    return fmaRn(r, keepStart ? fminf(rest, 1.0f) : rest, r);
}
HD double reciprocal(double b, bool) { ROUNDED(__drcp_rn(b), 1.0 / b); }

// Quotient: q = x.h / y.h through the reciprocal r, then what q leaves of x, times r: JMP 17 with r
// for both its divisions, 21u^2, or 14u^2 for a scalar x. High leaves out a c that is not finite.
template <Accuracy A, class P, class T>
HD P div(T x, T xLow, P y) {
    const T r = reciprocal(y.h, A == kHigh), q = mulRn(x, r), rest = fmaRn(-q, y.h, x);
    const T c = mulRn(fmaRn(-q, y.l, xLow == 0 ? rest : addRn(rest, xLow)), r);
    if (A == kLow) return P(q, c);
    return settle<kMid, P>(q, A == kHigh && !(fabs(c) < T(INFINITY)) ? T(0) : c, q);
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
    std::string type;
    double value, digits, aloneDigits, ms;
    int untimed, timed;  // launches before the first timed one, and timed ones
    bool constant;       // every launch gave the same partials
    unsigned long long hash;
};

static int g_launches = 0;
static cudaEvent_t g_start, g_stop;
// One launch between two events: its time in ms, and the partials.
template <class T>
float launch(T* device, std::vector<T>& partials) {
    float ms;
    ++g_launches;
    CUDA_CHECK(cudaMemset(device, 0xff, sizeof(T) * kPartials));  // NaNs: nothing stale may pass
    CUDA_CHECK(cudaEventRecord(g_start));
    sumTerms<T><<<kBlocks, kThreads>>>(device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(g_stop));
    CUDA_CHECK(cudaEventSynchronize(g_stop));
    CUDA_CHECK(cudaEventElapsedTime(&ms, g_start, g_stop));
    CUDA_CHECK(cudaMemcpy(partials.data(), device, sizeof(T) * kPartials, cudaMemcpyDeviceToHost));
    return ms;
}

// snippet: measure
// Measures one type. The first launch is not timed: it loads the module, tens of milliseconds.
template <class T>
Row measure(const char* type) {
    Row row = {type, 0, 0, 0, 0, 0, 0, true, kFnvOffset};
    std::vector<T> partials(kPartials), again(kPartials);
    std::vector<float> ms;
    T* device;
    CUDA_CHECK(cudaMalloc(&device, sizeof(T) * kPartials));
    g_launches = 0;
    launch(device, partials);
    row.untimed = g_launches;
    for (row.timed = 0; row.timed < kLaunches; ++row.timed) {
        ms.push_back(launch(device, again));
        if (memcmp(again.data(), partials.data(), sizeof(T) * kPartials) != 0) row.constant = false;
    }
    CUDA_CHECK(cudaFree(device));
    std::sort(ms.begin(), ms.end());
    row.ms = ms[ms.size() / 2];
    T total = static_cast<T>(0.0f);
    Limbs exact = 0.0;
    for (const T& partial : again) {
        total = total + partial;
        exact = exact + limbsOf(partial).h + limbsOf(partial).l;
    }
    row.value = static_cast<double>(total) * kStep;
    row.digits = digitsOf(limbsOf(total));
    row.aloneDigits = digitsOf(exact);
    const unsigned char* bytes = (const unsigned char*)again.data();  // of a pair: hi, then lo
    for (size_t i = 0; i < sizeof(T) * kPartials; ++i) row.hash = fnv1a(row.hash, bytes[i], 1);
    return row;
}
// end snippet

static void gateRow(const Row& row, unsigned long long doubleHash) {
    const std::string& type = row.type;
    const bool number = row.value == row.value;
    gate(row.constant && number, (type + ": constant partials").c_str(), "other bits, or NaN");
    gate(row.untimed >= 1 && row.timed >= 5, (type + ": a warm-up, then 5 launches").c_str(),
         "%d untimed, %d timed", row.untimed, row.timed);
    for (const auto& w : kWanted)
        if (kLog2Terms == 26 && type == w.type)
            gate(row.digits >= w.least && row.digits <= w.most, (type + ": digits").c_str(),
                 "%.4f, want %.1f to %.1f", row.digits, w.least, w.most);
    // Up to 2^26 terms double's partials are the same with contraction and without.
    if (kLog2Terms <= 26 && type == "cuda::fp64emu")
        gate(row.hash == doubleHash, "cuda::fp64emu: double's partials",
             "0x%016llx, double's are 0x%016llx", row.hash, doubleHash);
}
#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)
#define NAME(...) printf(" %s", TEXT(__VA_ARGS__));
#define ROW(...)                                                                                   \
    subject = std::is_floating_point<__VA_ARGS__>::value ? sizeof(__VA_ARGS__) != 8 : rows.size(); \
    if (subject > 1) add(measure<__VA_ARGS__>(TEXT(__VA_ARGS__)));

int main(int argc, char**) {
    printHead("fpmp_pi/fpmp_pi", 1, argc);
    printf("type:");
    PI_FP_TYPES(NAME)
    printf("\nn: %lld\n\npi = sum of h * 4/(1 + x*x) at x = (i + 0.5) h, h = 2^-%d, all in the "
           "type;\n",
           1LL << kLog2Terms, kLog2Terms);
    printf("%d blocks of %d threads, %d terms each. gained: digits over double's; alone: digits\n",
           kBlocks, kThreads, kTermsPerThread);
    printf("of the partials, summed exactly; ms: the median of the timed launches.\n\n");
    printf("%-24s %-18s %6s %6s %6s %8s %9s %8s  %s\n", "type", "value", "digits", "gained",
           "alone", "launches", "ms", "speed", "partials hash");
    std::vector<Row> rows;
    size_t subject = 0;  // the row of the type asked for, of the last where there are several
    const auto add = [&rows](const Row& row) {
        rows.push_back(row);
        printf("%-24s %-18.16f %6.2f %+6.2f %6.2f %6d+%d %9.4f %7.3fx  0x%016llx\n",
               row.type.c_str(), row.value, row.digits, row.digits - rows[0].digits,
               row.aloneDigits, row.untimed, row.timed, row.ms, rows[0].ms / row.ms, row.hash);
    };
    CUDA_CHECK(cudaEventCreate(&g_start));
    CUDA_CHECK(cudaEventCreate(&g_stop));
    add(measure<double>("double"));
    add(measure<float>("float"));
    PI_FP_TYPES(ROW)
    CUDA_CHECK(cudaEventDestroy(g_start));
    CUDA_CHECK(cudaEventDestroy(g_stop));
    printf("\npartials hash: 0x%016llx\n\n", rows[subject].hash);
    for (const Row& row : rows) gateRow(row, rows[0].hash);
    return finish();
}
