// What "close enough" has to mean: five sums by a fixed tree, each judged by a stated tolerance.
//
// Each total is compared with a better reference, and the same rule must refuse it with one element
// left out: a check that cannot fail proves nothing.
//
//   nvcc -std=c++17 -O3 -o precision_reduction precision_reduction.cu
//   nvcc -std=c++17 -O3 -fmad=false -o precision_reduction_nofmad precision_reduction.cu
//   ./precision_reduction; ./precision_reduction_nofmad
//
// -DPARTIAL_BLOCK=n, -DMANY_TENTHS=n, -DTENTHS_ABS_TOL=x, -DTENTHS_REL_TOL=x change these cases.
// Exit status: 0 all gates passed, 1 a gate failed, 2 the work could not be done or a case was
// refused, 77 no usable CUDA device.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#ifndef PARTIAL_BLOCK
#define PARTIAL_BLOCK 257  // one full block, and a second with one element
#endif
#ifndef MANY_TENTHS
#define MANY_TENTHS 1000003
#endif
#ifndef TENTHS_ABS_TOL
#define TENTHS_ABS_TOL 1e-4
#endif
#ifndef TENTHS_REL_TOL
#define TENTHS_REL_TOL 1e-7
#endif

constexpr int kThreads = 256;
// A grid holds at most 2^31 - 1 blocks. A larger count would lose its high bits, and elements would
// drop out of the sum without any error.
constexpr long long kMaxElements = 2147483647LL * kThreads;

static_assert((kThreads & (kThreads - 1)) == 0, "the halving tree needs a power of two of threads");
static_assert(kThreads % 32 == 0 && kThreads <= 1024, "whole warps of 32, at most 1,024 threads");

// helpers: the same in every lesson; their bodies are at the end of the file.
#define CUDA_CHECK(call) checkCuda((call), #call, __FILE__, __LINE__)
static void checkCuda(cudaError_t err, const char* call, const char* file, int line);
static void printHead(const char* program, int revision, int argc);
static void gate(bool ok, const char* name, const char* format, ...);
static int finish();
constexpr unsigned long long kFnvOffset = 14695981039346656037ULL;
static unsigned long long fnv1a(unsigned long long hash, unsigned long long value, int bytes);
// end helpers

// snippet: sumPerBlock
// One element per thread, one partial per block: slot t takes in slot t + 128, then t + 64, ...
// t + 1. Slots past the end hold zero, which moves no sum. The index has 64 bits: in int it would
// wrap at 2^31 elements.
template <typename Acc>
__global__ void sumPerBlock(const float* in, long long n, Acc* partials) {
    __shared__ Acc slot[kThreads];
    const long long i = (long long)blockIdx.x * kThreads + threadIdx.x;
    slot[threadIdx.x] = i < n ? (Acc)in[i] : (Acc)0;
    __syncthreads();
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partials[blockIdx.x] = slot[0];
}
// end snippet

static long long blocksFor(long long n) { return (n + kThreads - 1) / kThreads; }

// Over the bits of all partials and of all totals.
static unsigned long long g_partialsHash = kFnvOffset;
static unsigned long long g_runHash = kFnvOffset;

template <typename T>
static unsigned long long addBits(unsigned long long hash, T value) {
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    return fnv1a(hash, bits, sizeof value);
}

// The sum of n floats: blocks in Acc on the device, then their partials in block order in double
// on the host, where a float sum could lose what the tree had kept.
template <typename Acc>
static double gpuSum(const float* in, long long n) {
    const long long blocks = blocksFor(n);
    const size_t inBytes = sizeof(float) * (size_t)n;
    const size_t bytes = sizeof(Acc) * (size_t)blocks;
    float* gpuIn;
    Acc* gpuPartials;
    CUDA_CHECK(cudaMalloc(&gpuIn, inBytes));
    CUDA_CHECK(cudaMalloc(&gpuPartials, bytes));
    CUDA_CHECK(cudaMemcpy(gpuIn, in, inBytes, cudaMemcpyHostToDevice));
    sumPerBlock<Acc><<<(unsigned)blocks, kThreads>>>(gpuIn, n, gpuPartials);
    CUDA_CHECK(cudaGetLastError());
    Acc* partials = new Acc[(size_t)blocks];
    CUDA_CHECK(cudaMemcpy(partials, gpuPartials, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(gpuIn));
    CUDA_CHECK(cudaFree(gpuPartials));
    double sum = 0.0;
    for (long long b = 0; b < blocks; ++b) {
        g_partialsHash = addBits(g_partialsHash, partials[b]);
        sum += partials[b];
    }
    g_runHash = addBits(g_runHash, sum);
    delete[] partials;
    return sum;
}

// The sum in T, first to last. Volatile: not even -ffast-math may reorder the additions.
template <typename T>
static T sequentialSum(const float* in, long long n) {
    volatile T sum = 0;
    for (long long i = 0; i < n; ++i) sum = sum + in[i];
    return sum;
}

// The exact sum of whole numbers below 2^63 in all, in any order.
static long long integerSum(const float* in, long long n) {
    long long sum = 0;
    for (long long i = 0; i < n; ++i) sum += (long long)in[i];
    return sum;
}

// Looks at the exponent: under -ffast-math a compiler may take std::isfinite to be true.
static bool isFinite(double x) {
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits >> 52 & 0x7ff) != 0x7ff;
}

// snippet: rule
// How far a sum may be from want. Through the volatile, no host compiler makes an fma of it.
static double allowedError(double absTol, double relTol, double want) {
    volatile double relative = relTol * std::fabs(want);
    return absTol + relative;
}

// Says what must hold, not what must not: `!(error > allowed)` is true for a NaN.
static bool passes(double got, double want, double allowed) {
    return isFinite(got) && isFinite(want) && isFinite(allowed) && std::fabs(got - want) <= allowed;
}
// end snippet

struct Case {
    const char* name;
    long long n;
    double absTol;
    double relTol;
    bool exact;                // whole numbers, judged against their integer sum
    float (*at)(long long i);  // the input, element by element
};

static float cancellationAt(long long i) {
    const float input[] = {1e8f, 1.0f, -1e8f, 1.0f};
    return input[i];
}

static float zeroAt(long long i) {
    const float input[] = {1e8f, 1.0f, -1e8f, -1.0f};
    return input[i];
}

static float eighthAt(long long) { return 0.125f; }
static float tenthAt(long long) { return 0.1f; }

// Breaks the reference: added to 2^54 in sequence, 127 ones are lost, in double too. The tree adds
// elements 0 and 128 first and loses none. That is luck: only a sum that cannot round may judge.
static float brokenReferenceAt(long long i) {
    const float pow54 = 18014398509481984.0f;
    if (i == 0) return pow54;
    return i == 128 ? -pow54 : 1.0f;
}

// 1e-6: exact in the tree's order, and a lost element moves these sums by 0.125 at least.
static const Case kCases[] = {
    {"cancellation", 4, 1e-6, 0, false, cancellationAt},
    {"zero", 4, 1e-6, 0, false, zeroAt},
    {"partial block", PARTIAL_BLOCK, 1e-6, 0, false, eighthAt},
    {"many tenths", MANY_TENTHS, TENTHS_ABS_TOL, TENTHS_REL_TOL, false, tenthAt},
    {"broken reference", 512, 1e-6, 0, true, brokenReferenceAt},
};
constexpr int kCaseCount = sizeof kCases / sizeof kCases[0];

// The three sums of a case. The first is reported, the others are judged.
static const char* const kSums[] = {"CPU float", "GPU float", "GPU double"};

struct Result {
    char refusal[96];  // why the case was not summed; else empty
    double reference;
    double want;
    double allowed;
    double last;    // the last element of the input
    double got[3];  // as in kSums
};

// Writes why a case is refused, if it is, before anything is allocated for it.
static void refuseCase(const Case& c, Result* r) {
    const size_t size = sizeof r->refusal;
    if (c.n == 0)
        snprintf(r->refusal, size, "the input is empty");
    else if (c.n < 0 || c.n > kMaxElements)
        snprintf(r->refusal, size, "the index cannot hold a length of %lld, only 1 to %lld", c.n,
                 kMaxElements);
    else if (!(isFinite(c.absTol) && isFinite(c.relTol) && c.absTol >= 0.0 && c.relTol >= 0.0))
        snprintf(r->refusal, size, "a tolerance is negative or not finite");
}

// Writes which element is the first NaN or infinity, if one is.
static void refuseInput(const float* in, long long n, Result* r) {
    for (long long i = 0; i < n; ++i) {
        if (isFinite(in[i])) continue;
        snprintf(r->refusal, sizeof r->refusal, "element %lld is not finite", i);
        return;
    }
}

static Result sumCase(const Case& c) {
    Result r = {};
    refuseCase(c, &r);
    if (r.refusal[0] != '\0') return r;
    float* in = new float[(size_t)c.n];
    for (long long i = 0; i < c.n; ++i) in[i] = c.at(i);
    refuseInput(in, c.n, &r);
    if (r.refusal[0] == '\0') {
        r.reference = sequentialSum<double>(in, c.n);
        r.want = c.exact ? (double)integerSum(in, c.n) : r.reference;
        r.allowed = allowedError(c.absTol, c.relTol, r.want);
        r.last = in[c.n - 1];
        r.got[0] = sequentialSum<float>(in, c.n);
        r.got[1] = gpuSum<float>(in, c.n);
        r.got[2] = gpuSum<double>(in, c.n);
    }
    delete[] in;
    return r;
}

#ifndef PRECISION_REDUCTION_NO_MAIN
// At the default lengths. No kernel of this lesson's own multiplies: one value for both builds.
constexpr unsigned long long kPartialsHash = 0x072bf91ee536fa29ULL;

static void printCase(const Case& c, const Result& r) {
    const long long lastBlock = c.n - (blocksFor(c.n) - 1) * kThreads;
    printf("%-16s  %8lld  %10lld  %-7g  %-7g  %-18.17g  %-6g  %s\n", c.name, c.n, lastBlock,
           c.absTol, c.relTol, r.reference, std::fabs(r.reference - r.want),
           c.exact ? "integers" : "reference");
}

static void printSums(const char* name, const Result& r) {
    for (int s = 0; s < 3; ++s) {
        const double error = std::fabs(r.got[s] - r.want);
        const char* verdict = passes(r.got[s], r.want, r.allowed) ? "PASS" : "FAIL";
        printf("%-16s  %-10s  %-22.17g  %-22.17g  %s\n", name, kSums[s], r.got[s], error,
               s == 0 ? "reported" : verdict);
    }
}

// Both sums pass, and the wanted sum without its last element does not: a tolerance that hides a
// whole element says nothing.
static void gateCase(const char* name, const Result& r) {
    char gateName[64];
    for (int s = 1; s < 3; ++s) {
        snprintf(gateName, sizeof gateName, "%s: %s", name, kSums[s]);
        gate(passes(r.got[s], r.want, r.allowed), gateName, "%.17g, want %.17g within %g", r.got[s],
             r.want, r.allowed);
    }
    snprintf(gateName, sizeof gateName, "%s: a dropped element", name);
    gate(!passes(r.want - r.last, r.want, r.allowed), gateName,
         "the allowed error %g hides an element of %g", r.allowed, r.last);
}

// The rule's own control. One gate per verdict, so that no other verdict can hide it.
static void gateRule() {
    const double inf = HUGE_VAL;
    const double nan = std::nan("");
    gate(passes(1.5, 1.0, 0.5), "rule: the limit itself passes", "it does not");
    gate(passes(0.0, 0.0, 0.0), "rule: 0 passes for 0", "it does not");
    gate(!passes(nan, 1.0, 0.5), "rule: a NaN sum does not pass", "it does");
    gate(!passes(1.0, nan, 0.5), "rule: a NaN reference does not pass", "it does");
    gate(!passes(1.0, 1.0, nan), "rule: a NaN tolerance does not pass", "it does");
    gate(!passes(inf, 1.0, 0.5), "rule: an infinite sum does not pass", "it does");
    gate(!passes(inf, inf, 0.5), "rule: infinity for infinity does not pass", "it does");
    gate(!passes(1.0, 2.0, inf), "rule: an infinite tolerance does not pass", "it does");
}

int main(int argc, char**) {
    printHead("precision_reduction/precision_reduction", 2, argc);
    printf("n: %lld %lld\n\n", (long long)PARTIAL_BLOCK, (long long)MANY_TENTHS);
    printf("Sums of floats in blocks of %d threads, by one tree, in float or in double; the host\n"
           "adds the partials in double. Passes: off by at most abs_tol + rel_tol * |want|.\n\n",
           kThreads);

    Result results[kCaseCount];
    int refused = 0;
    printf("case              elements  last block  abs_tol  rel_tol  double reference    off by  "
           "judged by\n");
    for (int i = 0; i < kCaseCount; ++i) {
        results[i] = sumCase(kCases[i]);
        if (results[i].refusal[0] == '\0')
            printCase(kCases[i], results[i]);
        else
            ++refused;
    }

    printf("\ncase              sum         value                   off by                  "
           "verdict\n");
    for (int i = 0; i < kCaseCount; ++i) {
        if (results[i].refusal[0] == '\0') {
            printSums(kCases[i].name, results[i]);
        } else {
            printf("%-16s  REFUSED: %s\n", kCases[i].name, results[i].refusal);
            fprintf(stderr, "refused: %s: %s\n", kCases[i].name, results[i].refusal);
        }
    }
    printf("Not gated: the CPU's float sums and the reference's own error: their order is one of "
           "many.\n\nrun hash: 0x%016llx\npartials hash: 0x%016llx\n\n",
           g_runHash, g_partialsHash);

    gateRule();
    for (int i = 0; i < kCaseCount; ++i)
        if (results[i].refusal[0] == '\0') gateCase(kCases[i].name, results[i]);
    if (PARTIAL_BLOCK == 257 && MANY_TENTHS == 1000003 && refused == 0)
        gate(g_partialsHash == kPartialsHash, "partials hash", "0x%016llx, want 0x%016llx",
             g_partialsHash, kPartialsHash);
    else
        printf("Not gated: the partials hash, pinned for n: 257 1000003 alone.\n");
    if (refused == 0) return finish();
    fprintf(stderr, "%d case(s) refused\n", refused);
    return 2;  // no "gates passed": not every case was judged
}
#endif

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
