// The surface of a wider type, before its price is measured: what converts, what is computed.
// Every operation is done twice, on the host and in a kernel: both are printed, the bits equal.
//
//   nvcc -std=c++17 -O3 -o fpmp_tour fpmp_tour.cu
//   nvcc -std=c++17 -O3 -fmad=false -o fpmp_tour_nofmad fpmp_tour.cu
//   ./fpmp_tour; ./fpmp_tour_nofmad
//
// The pair types are fpmp_pi.cu's, which this program includes: keep both in one folder.
// -DPI_FP_T=type and -DPI_FP_HEADER='<...>' as there; <cuda/fpmp_math> brings exp and sin.
// CCCL's float pairs divide from a device's own approximation: its types are gated near, not equal.
// Exit status: 0 all gates passed, 1 a gate failed, 2 the work could not be done, 77 no device.
#define FPMP_PI_NO_MAIN
#include "fpmp_pi.cu"

// What a type has. What it has not is left out by name.
template <class T, class = void>
constexpr bool kHasLimbs = false;
template <class T>
constexpr bool kHasLimbs<T, std::void_t<decltype(std::declval<T>().lo())>> = true;
// A result of another type would be a conversion's, as to double.
template <class T, class Result>
constexpr bool kOwnResult = std::is_class_v<T>&& std::is_same_v<T, Result>;
template <class T, class = void>
constexpr bool kHasSqrt = false;
template <class T>
constexpr bool kHasSqrt<T, std::void_t<decltype(sqrt(std::declval<T>()))>> =
    kOwnResult<T, decltype(sqrt(std::declval<T>()))>;
template <class T, class = void>
constexpr bool kHasExpAndSin = false;
template <class T>
constexpr bool kHasExpAndSin<
    T, std::void_t<decltype(exp(std::declval<T>())), decltype(sin(std::declval<T>()))>> =
    kOwnResult<T, decltype(exp(std::declval<T>()))>;

constexpr int kMostRows = 64;

// Writes down results in the order of the calls: on the host with their names, in a kernel without.
template <class T>
struct Recorder {
    T* results;
    const char** names;    // null in the kernel
    const char** leftOut;  // null in the kernel
    int count, leftOutCount;

    HD void operator()(const char* name, T result) {
        if (names != nullptr) names[count] = name;
        results[count] = result;
        ++count;
    }
    HD void leaveOut(const char* name) {
        if (leftOut != nullptr) leftOut[leftOutCount] = name;
        ++leftOutCount;
    }
};

template <class T>
struct Inputs {
    T a, b;
    T p, q;  // they nearly cancel: only the high level keeps all bits of p + q
    T one;   // p and one differ in the low limb alone
    T inf, negativeZero;
    T control;  // another on the device than on the host
};

// All operations. The inputs come from memory: else the compiler would work out the results.
template <class T>
HD void operate(const Inputs<T>& in, Recorder<T>& record);

template <class T>
__global__ void operateOnDevice(const Inputs<T>* in, T* results, int* count) {
    Recorder<T> record = {results, nullptr, nullptr, 0, 0};
    operate(*in, record);
    *count = record.count;
}

// The rest of the pairs' surface. First the value with |lo| at most half an ulp of hi, which low's
// operations do not keep up.
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
HD bool operator!=(Pair<T, A> x, Pair<T, A> y) {
    return !(x == y);
}
template <class T, Accuracy A>
HD bool operator<(Pair<T, A> x, Pair<T, A> y) {
    const Pair<T, A> a = renormalize(x);
    const Pair<T, A> b = renormalize(y);
    return a.h < b.h || (a.h == b.h && a.l < b.l);
}
template <class T, Accuracy A>
HD bool operator<=(Pair<T, A> x, Pair<T, A> y) {
    return x < y || x == y;  // !(y < x) would be true for a NaN
}
template <class T, Accuracy A>
HD bool operator>(Pair<T, A> x, Pair<T, A> y) {
    return y < x;
}
template <class T, Accuracy A>
HD bool operator>=(Pair<T, A> x, Pair<T, A> y) {
    return y <= x;
}
// s = sqrt(x.h), then what s*s leaves of x, over 2 s: SQRTDWtoDW of Lefevre, Louvet, Muller, Picot
// and Rideau, ACM TOMS 49(1), 2023, with 1/s rounded before the last division: 5u^2.
template <class T, Accuracy A>
HD Pair<T, A> sqrt(Pair<T, A> x) {
    if (x.h == 0 && x.l != 0) x = Pair<T, A>(x.l, 0);  // a low pair, cancelled
    const T s = std::sqrt(x.h);                        // correctly rounded on every device
    if (s == 0) return x;
    const T rest = addRn(fmaRn(-s, s, x.h), x.l);
    return joinLimbs<A, Pair<T, A>>(s, mulRn(rest, mulRn(T(0.5), reciprocal(s, true))), s);
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
    if constexpr (std::is_same_v<Level, Accuracy>) {
        return add<A>(x, y);
    } else {
        constexpr Level level = A == kLow ? Level::low : A == kMid ? Level::mid : Level::high;
        return add<level>(x, y);
    }
}

template <class T>
HD T truth(bool holds) {
    return static_cast<T>(holds ? 1.0f : 0.0f);
}

// The rows of the comparisons that the low limb decides, and what each must give.
constexpr struct {
    const char* name;
    bool holds;
} kComparisons[] = {{"p==1", false}, {"p!=1", true}, {"p<1", false},
                    {"p<=1", false}, {"p>1", true},  {"p>=1", true}};

template <class T>
HD void operate(const Inputs<T>& in, Recorder<T>& record) {
    const T a = in.a;
    const T b = in.b;
    const T p = in.p;
    const T q = in.q;
    const T one = in.one;
    record("control", in.control);
    record("a", a);
    record("b", b);
    record("p", p);
    record("q", q);
    record("-a", -a);
    record("a+b", a + b);
    record("a-b", a - b);
    record("a*b", a * b);
    record("a/b", a / b);
    record("a+2.0f", a + 2.0f);
    record("2.0f-a", 2.0f - a);
    record("a*3.0f", a * 3.0f);
    record("3.0f/a", 3.0f / a);
    record("p+a+q", p + a + q);
    record("a<b", truth<T>(a < b));
    record("p==1", truth<T>(p == one));
    record("p!=1", truth<T>(p != one));
    record("p<1", truth<T>(p < one));
    record("p<=1", truth<T>(p <= one));
    record("p>1", truth<T>(p > one));
    record("p>=1", truth<T>(p >= one));
    record("inf+1.0f", in.inf + 1.0f);
    record("1.0f/inf", 1.0f / in.inf);
    record("1.0f/(a-a)", 1.0f / (a - a));
    record("-0+-0", in.negativeZero + in.negativeZero);
    if constexpr (kHasLimbs<T>) {
        record("add<low>(p,q)", addAt<kLow>(p, q));
        record("add<mid>(p,q)", addAt<kMid>(p, q));
        record("add<high>(p,q)", addAt<kHigh>(p, q));
        record("renormalize(add<low>)", renormalize(addAt<kLow>(p, q)));
        record("rsqrt(a)", rsqrt(a));
        record("fma(a,b,q)", fma(a, b, q));
    } else {
        record.leaveOut("add<low>(p,q)");
        record.leaveOut("add<mid>(p,q)");
        record.leaveOut("add<high>(p,q)");
        record.leaveOut("renormalize(add<low>)");
        record.leaveOut("rsqrt(a)");
        record.leaveOut("fma(a,b,q)");
    }
    if constexpr (kHasSqrt<T>) {
        record("sqrt(a)", sqrt(a));
    } else {
        record.leaveOut("sqrt(a)");
    }
    if constexpr (kHasExpAndSin<T>) {
        record("exp(a)", exp(a));
        record("sin(a)", sin(a));
    } else {
        record.leaveOut("exp(a)");
        record.leaveOut("sin(a)");
    }
}

// The limbs as doubles, every NaN the same one; a type without limbs has its value and 0.
struct HiLo {
    double hi, lo;
};
template <class T>
HiLo hiLoOf(const T& x) {
    HiLo limbs = {static_cast<double>(x), 0.0};
    if constexpr (kHasLimbs<T>) limbs = {(double)x.hi(), (double)x.lo()};
    if (limbs.hi != limbs.hi) limbs.hi = NAN;
    if (limbs.lo != limbs.lo) limbs.lo = NAN;
    return limbs;
}
static void printRow(const char* name, const char* where, HiLo limbs, bool showLo) {
    printf("%-22s %-7s %24.17g", name, where, limbs.hi);
    if (showLo) printf(" %24.17g", limbs.lo);
    printf("\n");
}

template <class From, class To>
void showConversion(const char* name) {
    const char* how = "none";
    if (std::is_constructible_v<To, From>) how = "explicit";
    if (std::is_convertible_v<From, To>) how = "implicit";
    printf("%-24s %s\n", name, how);
}

static int indexOf(const char* name, const char* const* names, int count) {
    for (int i = 0; i < count; ++i)
        if (strcmp(names[i], name) == 0) return i;
    fprintf(stderr, "no row %s\n", name);
    exit(2);
}

// Without these two gates a comparison of the high limbs alone would pass, as would a renormalize
// that does nothing: on host and device alike.
static void gateLimbs(const char* where, const HiLo* limbs, const char* const* names, int count) {
    char name[100];
    snprintf(name, sizeof name, "%s: comparisons see the low limb", where);
    const char* wrong = "none";
    for (const auto& comparison : kComparisons) {
        const double got = limbs[indexOf(comparison.name, names, count)].hi;
        if (got != (comparison.holds ? 1.0 : 0.0)) wrong = comparison.name;
    }
    gate(strcmp(wrong, "none") == 0, name, "%s is wrong", wrong);
    snprintf(name, sizeof name, "%s: renormalize joins the limbs", where);
    const HiLo apart = limbs[indexOf("add<low>(p,q)", names, count)];
    const HiLo joined = limbs[indexOf("renormalize(add<low>)", names, count)];
    gate(joined.hi == apart.hi + apart.lo && joined.lo == 0, name, "%.17g %.17g from %.17g %.17g",
         joined.hi, joined.lo, apart.hi, apart.lo);
}

int main(int argc, char**) {
    using Type = PI_FP_T;
    constexpr bool limbsToo = kHasLimbs<Type>;
    const char* const typeName = TEXT(PI_FP_T);
    const bool own = strstr(typeName, "::") == nullptr;  // not a header's
    printHead("fpmp_pi/fpmp_tour", 2, argc);
    printf("type: %s\n\n%-24s is\n", typeName, "conversion");
    showConversion<float, Type>("float to Type");
    showConversion<double, Type>("double to Type");
    showConversion<Type, double>("Type to double");
    showConversion<Type, float>("Type to float");
    showConversion<Type, float_pair_low>("Type to float_pair_low");

    // tiny is half an ulp of a limb near 1: p + q = tiny + 1.5 tiny^2 fits a pair and no limb.
    const double tiny = std::ldexp(1.0, limbsToo && sizeof(Type) > 8 ? -54 : -25);
    const Type one = static_cast<Type>(1.0f);
    Inputs<Type> in;
    in.a = static_cast<Type>(0.1);
    in.b = one / static_cast<Type>(3.0f);
    in.p = one + static_cast<Type>(tiny);
    in.q = static_cast<Type>(-1.0f) + static_cast<Type>(1.5 * tiny * tiny);
    in.one = one;
    in.inf = static_cast<Type>(INFINITY);
    in.negativeZero = static_cast<Type>(-0.0f);
    in.control = one;

    const char* names[kMostRows];
    const char* leftOut[kMostRows];
    std::vector<Type> host(kMostRows, one);
    Recorder<Type> record = {host.data(), names, leftOut, 0, 0};
    operate(in, record);

    // The control differs in the low limb where bits are compared, else clearly.
    in.control = own && limbsToo ? in.p : in.a;
    const size_t bytes = sizeof(Type) * kMostRows;
    std::vector<Type> device(kMostRows, one);
    int deviceCount;
    Inputs<Type>* deviceIn;
    Type* deviceResults;
    int* deviceCounter;
    CUDA_CHECK(cudaMalloc(&deviceIn, sizeof in));
    CUDA_CHECK(cudaMalloc(&deviceResults, bytes));
    CUDA_CHECK(cudaMalloc(&deviceCounter, sizeof deviceCount));
    CUDA_CHECK(cudaMemcpy(deviceIn, &in, sizeof in, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(deviceResults, 0xff, bytes));
    operateOnDevice<<<1, 1>>>(deviceIn, deviceResults, deviceCounter);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(device.data(), deviceResults, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&deviceCount, deviceCounter, sizeof deviceCount, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(deviceIn));
    CUDA_CHECK(cudaFree(deviceResults));
    CUDA_CHECK(cudaFree(deviceCounter));

    printf("\n%-22s %-7s %24s %24s\n", "operation", "where", limbsToo ? "hi" : "value",
           limbsToo ? "lo" : "-");
    HiLo onHost[kMostRows];
    HiLo onDevice[kMostRows];
    int sameCount = 0;  // in all bits
    int nearCount = 0;
    bool controlDiffers = false;
    unsigned long long hash = kFnvOffset;  // the device's
    for (int i = 0; i < record.count; ++i) {
        onHost[i] = hiLoOf(host[i]);
        onDevice[i] = hiLoOf(device[i]);
        printRow(names[i], "host", onHost[i], limbsToo);
        printRow(names[i], "device", onDevice[i], limbsToo);
        const bool sameBits = memcmp(&onHost[i], &onDevice[i], sizeof onHost[i]) == 0;
        const double distance = std::fabs(onDevice[i].hi - onHost[i].hi);
        const bool isNear =
            sameBits || !std::isfinite(onHost[i].hi) || distance <= 1e-6 * std::fabs(onHost[i].hi);
        if (strcmp(names[i], "control") == 0) {
            controlDiffers = own ? !sameBits : !isNear;
        } else {
            sameCount += sameBits;
            nearCount += isNear;
        }
        unsigned long long bits[2];
        memcpy(bits, &onDevice[i], sizeof bits);
        hash = fnv1a(hash, bits[0], 8);
        hash = fnv1a(hash, bits[1], 8);
    }
    printf("\nleft out:");
    for (int i = 0; i < record.leftOutCount; ++i) printf(" %s", leftOut[i]);
    printf("\n(exp and sin are CCCL's alone: done well, they are longer than this file)\n");
    const int compared = record.count - 1;  // all but the control
    printf("same bits on host and device: %d of %d\n\n", sameCount, compared);
    printf("run hash: 0x%016llx\n\n", hash);
    const char* name = own ? "host and device: the same bits" : "host and device: near";
    const int agree = own ? sameCount : nearCount;
    gate(agree == compared && deviceCount == record.count, name, "in %d of %d", agree, compared);
    gate(controlDiffers, "host and device: the control differs",
         "a comparison that calls it equal may have looked at one side alone");
    if (limbsToo) {
        gateLimbs("host", onHost, names, record.count);
        gateLimbs("device", onDevice, names, record.count);
    }
    return finish();
}
