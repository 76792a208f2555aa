// The surface of a wider type, before its price is measured: what converts, what is computed.
// Every operation is done twice, on the host and in a kernel: both are printed, the bits equal.
//
//   nvcc -std=c++17 -O3 -o fpmp_tour fpmp_tour.cu
//   nvcc -std=c++17 -O3 -fmad=false -o fpmp_tour_nofmad fpmp_tour.cu
//   ./fpmp_tour; ./fpmp_tour_nofmad
//
// -DPI_FP_T=type and -DPI_FP_HEADER='<...>' as for fpmp_pi.cu; <cuda/fpmp_math> brings exp and sin.
// CCCL's float pairs divide from a device's own approximation: its types are gated near, not equal.
// Exit status: 0 all gates passed, 1 a gate failed, 2 the work could not be done, 77 no device.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
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
#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)

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

// The rest of the surface. The value with |lo| at most half an ulp of hi: low's operations let it
// go.
template <class T, Accuracy A>
HD Pair<T, A> renormalize(Pair<T, A> x) {
    Pair<T, A> y(x.h, x.lo());
    if (y.l != 0) twoSum(x.h, x.l, y.h, y.l);
    return y;
}
template <class T, Accuracy A>
HD bool operator==(Pair<T, A> x, Pair<T, A> y) {
    return renormalize(x).h == renormalize(y).h && renormalize(x).l == renormalize(y).l;
}
template <class T, Accuracy A>
HD bool operator<(Pair<T, A> x, Pair<T, A> y) {
    const Pair<T, A> a = renormalize(x), b = renormalize(y);
    return a.h < b.h || (a.h == b.h && a.l < b.l);
}
// s = sqrt(x.h), then what s*s leaves of x, over 2 s: SQRTDWtoDW of Lefevre, Louvet, Muller, Picot
// and Rideau, ACM TOMS 49(1), 2023, with 1/s rounded before the last division: 5u^2.
template <class T, Accuracy A>
HD Pair<T, A> sqrt(Pair<T, A> x) {
    const T s = std::sqrt(x.h);  // correctly rounded on every device
    if (s == 0) return x.l == 0 ? x : sqrt(Pair<T, A>(x.l, 0));  // a low pair, cancelled
    const T rest = addRn(fmaRn(-s, s, x.h), x.l);
    return settle<A, Pair<T, A>>(s, mulRn(rest, mulRn(T(0.5), reciprocal(s, true))), s);
}
template <class T, Accuracy A>
HD Pair<T, A> rsqrt(Pair<T, A> x) {
    return 1.0f / sqrt(x);
}
// Not one rounding, as a scalar's fma: a product at the pair's level, then a sum at the high one.
template <class T, Accuracy A>
HD Pair<T, A> fma(Pair<T, A> x, Pair<T, A> y, Pair<T, A> z) {
    return add<kHigh>(x * y, z);
}
// x + y with the accuracy named in the call: of the pairs here, and of CCCL's.
template <Accuracy A, template <class, auto> class P, class T, auto B>
HD P<T, B> addAt(P<T, B> x, P<T, B> y) {
    using Level = decltype(B);
    if constexpr (std::is_same_v<Level, Accuracy>)
        return add<A>(x, y);
    else
        return add < A == kLow ? Level::low : A == kMid ? Level::mid : Level::high > (x, y);
}

// What a type has; what it has not is left out by name.
template <class Type, class = void>
constexpr bool kLimbs = false;
template <class Type>
constexpr bool kLimbs<Type, std::void_t<decltype(std::declval<Type>().lo())>> = true;
#define HAS(f)                                                                      \
    template <class Type, class = void>                                             \
    constexpr bool kHas_##f = false;                                                \
    template <class Type>                                                           \
    constexpr bool kHas_##f<Type, std::void_t<decltype(f(std::declval<Type>()))>> = \
        std::is_class_v<Type>&& std::is_same_v<decltype(f(std::declval<Type>())), Type>;
HAS(sqrt)
HAS(exp)
HAS(sin)
// row(name, is it there, what it is). p and q nearly cancel: only the high level keeps all bits.
// clang-format off
#define OPERATIONS(row)                                                                           \
    row("a", true, a) row("b", true, b) row("p", true, p) row("q", true, q) row("-a", true, -a)   \
    row("a+b", true, a + b) row("a-b", true, a - b) row("a*b", true, a * b)                       \
    row("a/b", true, a / b) row("a+2.0f", true, a + 2.0f) row("2.0f-a", true, 2.0f - a)           \
    row("a*3.0f", true, a * 3.0f) row("3.0f/a", true, 3.0f / a)                                   \
    row("add<low>(p,q)", kLimbs<Type>, addAt<kLow>(p, q))                                            \
    row("add<mid>(p,q)", kLimbs<Type>, addAt<kMid>(p, q))                                            \
    row("add<high>(p,q)", kLimbs<Type>, addAt<kHigh>(p, q))                                          \
    row("s=p+a+q", true, p + a + q) row("renormalize(s)", kLimbs<Type>, renormalize(p + a + q))      \
    row("a<b", true, static_cast<Type>(a < b ? 1.0f : 0.0f))                                         \
    row("p==-q", true, static_cast<Type>(p == -q ? 1.0f : 0.0f))                                     \
    row("sqrt(a)", kHas_sqrt<Type>, sqrt(a)) row("rsqrt(a)", kLimbs<Type>, rsqrt(a))                    \
    row("fma(a,b,q)", kLimbs<Type>, fma(a, b, q))                                                    \
    row("exp(a)", kHas_exp<Type>, exp(a)) row("sin(a)", kHas_sin<Type>, sin(a))                         \
    row("inf+1.0f", true, inf + 1.0f) row("1.0f/inf", true, 1.0f / inf)                           \
    row("1.0f/(a-a)", true, 1.0f / (a - a)) row("zero+zero", true, zero + zero)
// clang-format on

// All operations, on inputs from memory: or the compiler would work out the kernel's results
// itself.
template <class Type>
HD void operate(const Type* in, Type* out) {
    const Type a = in[0], b = in[1], p = in[2], q = in[3], inf = in[4], zero = in[5];
#define DO(name, has, ...)                 \
    if constexpr (has) *out = __VA_ARGS__; \
    ++out;
    OPERATIONS(DO)
}
template <class Type>
__global__ void operateOnDevice(const Type* in, Type* out) {
    operate(in, out);
}
// The limbs as doubles, every NaN the same one; a type without limbs has its value and 0.
template <class Type>
void limbsOf(const Type& x, double* limbs) {
    limbs[0] = static_cast<double>(x), limbs[1] = 0.0;
    if constexpr (kLimbs<Type>) limbs[0] = (double)x.hi(), limbs[1] = (double)x.lo();
    for (int i = 0; i < 2; ++i) limbs[i] = limbs[i] == limbs[i] ? limbs[i] : NAN;
}

int main(int argc, char**) {
    using Type = PI_FP_T;
#define NAME(name, has, ...) name,
#define FLAG(name, has, ...) has,
    const char* const names[] = {OPERATIONS(NAME)};
    const bool flags[] = {OPERATIONS(FLAG)};
    constexpr int kRows = sizeof flags;
    const bool own = std::strstr(TEXT(PI_FP_T), "::") == nullptr;  // not a header's
    printHead("fpmp_pi/fpmp_tour", 1, argc);
    printf("type: %s\n\n%-24s is\n", TEXT(PI_FP_T), "conversion");
    const char* const how[] = {"none", "explicit", "implicit"};
#define CONVERSION(From, To)               \
    printf("%-24s %s\n", #From " to " #To, \
           how[std::is_constructible_v<To, From> + std::is_convertible_v<From, To>]);
    CONVERSION(float, Type)
    CONVERSION(double, Type)
    CONVERSION(Type, double)
    CONVERSION(Type, float)
    CONVERSION(Type, float_pair_low)
    // tiny is half an ulp of a limb near 1: p + q = tiny + 1.5 tiny^2 fits a pair and no limb.
    const double tiny = std::ldexp(1.0, kLimbs<Type> && sizeof(Type) > 8 ? -54 : -25);
    const Type one = static_cast<Type>(1.0f);
    const Type in[] = {static_cast<Type>(0.1),
                       one / static_cast<Type>(3.0f),
                       one + static_cast<Type>(tiny),
                       static_cast<Type>(-1.0f) + static_cast<Type>(1.5 * tiny * tiny),
                       static_cast<Type>(INFINITY),
                       static_cast<Type>(-0.0f)};
    std::vector<Type> host(kRows, one), device(kRows, one);
    operate(in, host.data());
    Type *deviceIn, *deviceOut;
    CUDA_CHECK(cudaMalloc(&deviceIn, sizeof in));
    CUDA_CHECK(cudaMalloc(&deviceOut, sizeof(Type) * kRows));
    CUDA_CHECK(cudaMemset(deviceOut, 0, sizeof(Type) * kRows));  // rows that are left out
    CUDA_CHECK(cudaMemcpy(deviceIn, in, sizeof in, cudaMemcpyHostToDevice));
    operateOnDevice<<<1, 1>>>(deviceIn, deviceOut);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(device.data(), deviceOut, sizeof(Type) * kRows, cudaMemcpyDeviceToHost));
    for (Type* p : {deviceIn, deviceOut}) CUDA_CHECK(cudaFree(p));
    printf("\n%-16s %-7s %24s %24s\n", "operation", "where", kLimbs<Type> ? "hi" : "value",
           kLimbs<Type> ? "lo" : "-");
    int done = 0, same = 0, near = 0;
    unsigned long long bits[2], hash = kFnvOffset;  // the device's
    for (int i = 0; i < kRows; ++i) {
        if (!flags[i]) continue;
        double limbs[2][2];
        limbsOf(host[i], limbs[0]);
        limbsOf(device[i], limbs[1]);
        for (int where = 0; where < 2; ++where) {
            printf("%-16s %-7s %24.17g", names[i], where ? "device" : "host", limbs[where][0]);
            printf(kLimbs<Type> ? " %24.17g\n" : "\n", limbs[where][1]);
        }
        ++done;
        same += memcmp(limbs[0], limbs[1], sizeof limbs[0]) == 0;
        const double want = limbs[0][0], tolerance = 1e-6 * std::fabs(want);
        near += !std::isfinite(want) || std::fabs(limbs[1][0] - want) <= tolerance;
        memcpy(bits, limbs[1], sizeof bits);
        for (unsigned long long limb : bits) hash = fnv1a(hash, limb, 8);
    }
    printf("\nleft out:");
    for (int i = 0; i < kRows; ++i)
        if (!flags[i]) printf(" %s", names[i]);
    printf("\n(exp and sin are CCCL's alone: done well, they are longer than this file)\n");
    printf("same bits on host and device: %d of %d\n\nrun hash: 0x%016llx\n\n", same, done, hash);
    const char* name = own ? "host and device: the same bits" : "host and device: near";
    gate((own ? same : near) == done, name, "in %d of %d", own ? same : near, done);
    return finish();
}
