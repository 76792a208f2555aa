// Order decides the bits: the same 4,194,915 floats summed by atomics and by a fixed tree.
//
// Three kernels sum x*x + 0.25f, a hundred times each. Atomics add the blocks' totals in the order
// in which the blocks happen to finish, the tree in an order written down here. The control, whose
// sums are exact, shows that order is all the atomics lose.
//
//   nvcc -std=c++17 -O3 -o reproducibility reproducibility.cu
//   nvcc -std=c++17 -O3 -fmad=false -o reproducibility_nofmad reproducibility.cu
//   ./reproducibility; ./reproducibility_nofmad
//
// -DELEMENTS=n, -DBLOCKS=n, -DRUNS=n change the problem. Exit status: 0 all gates passed, 1 a gate
// failed, 2 the work could not be done, 77 no usable CUDA device.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#ifndef ELEMENTS
#define ELEMENTS (4 * 1024 * 1024 + 611)  // not a multiple of the grid: the last stride is ragged
#endif
#ifndef BLOCKS
#define BLOCKS 1024  // fixed: a grid derived from the card makes the bits a property of the card
#endif
#ifndef RUNS
#define RUNS 100
#endif

constexpr long long kElements = ELEMENTS;
constexpr long long kFewer = 5;  // the second table sums this many elements fewer
constexpr int kBlocks = BLOCKS;
constexpr int kThreads = 256;
constexpr int kRuns = RUNS;
constexpr int kFewRuns = kRuns < 5 ? kRuns : 5;
constexpr int kGrids[] = {256, 512, 1024, 2048};
constexpr int kMaxPartials = kBlocks > 2048 ? kBlocks : 2048;
constexpr double kRelTol = 1e-5;

static_assert((kThreads & (kThreads - 1)) == 0, "the halving tree needs a power of two of threads");
static_assert(kElements > kFewer, "ELEMENTS must be above 5: the second table sums 5 fewer");
static_assert(kElements <= 5592405,
              "ELEMENTS must be at most 5592405: above, the control's sum passes 2^22 and is no "
              "longer exact in any order");
static_assert(BLOCKS >= 1 && BLOCKS <= 65536, "BLOCKS must be 1 to 65536: one partial sum a block");
static_assert(RUNS >= 2 && RUNS <= 10000,
              "RUNS must be 2 to 10000: one run cannot differ from itself");

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

// snippet: term
// The one expression of this lesson that contraction changes: x*x rounded first, or not.
__device__ float term(float x) { return x * x + 0.25f; }
// end snippet

// One thread's share: samples t, t + T, t + 2T, ... for T threads in the grid. c is Kahan's
// compensation (CACM 8(1), 1965): what the last addition lost. 64 bits: i + stride may pass 2^31.
template <bool kKahan>
__device__ float threadSum(const float* in, long long n) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f, c = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        if (kKahan) {
            const float y = term(in[i]) - c;
            const float next = sum + y;
            c = (next - sum) - y;
            sum = next;
        } else {
            sum += term(in[i]);
        }
    }
    return sum;
}

// snippet: blockTree
// Sums one value a thread over the block, always by the same tree: slot t takes in slot t + 128,
// then t + 64, ... t + 1. Every thread of the block calls it; thread 0 gets the sum.
__device__ float blockTree(float value) {
    __shared__ float slot[kThreads];
    slot[threadIdx.x] = value;
    __syncthreads();
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    return slot[0];
}
// end snippet

// Kernel 1. Thread 0 of each block adds the block's sum to the total when the block gets there.
__global__ void sumSquaresAtomic(const float* in, long long n, float* total) {
    const float sum = blockTree(threadSum<false>(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// Kernel 2. A better sum in each thread, and the same arrival order at the end.
__global__ void sumSquaresKahanAtomic(const float* in, long long n, float* total) {
    const float sum = blockTree(threadSum<true>(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// Kernel 3, first pass. What goes to atomicAdd above is stored here, each partial in its own place.
template <bool kKahan>
__global__ void sumSquaresPerBlock(const float* in, long long n, float* partials) {
    const float sum = blockTree(threadSum<kKahan>(in, n));
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// Kernel 3, second pass: one block folds the partials, each thread every 256th, then the same tree.
__global__ void sumPartials(const float* partials, int count, float* total) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += kThreads) sum += partials[i];
    sum = blockTree(sum);
    if (threadIdx.x == 0) *total = sum;
}

// What each thread has before the block's tree, to see what Kahan does to it.
template <bool kKahan>
__global__ void storeThreadSums(const float* in, long long n, float* sums) {
    sums[(long long)blockIdx.x * blockDim.x + threadIdx.x] = threadSum<kKahan>(in, n);
}

static unsigned bitsOf(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// The volatile rounds the product on every host; gcc on AArch64 would make it an fma by default,
// and so other inputs.
static std::vector<float> makeInput() {
    std::vector<float> in((size_t)kElements);
    for (long long i = 0; i < kElements; ++i) {
        volatile float product = (float)(i % 1000) * 0.001f;
        in[(size_t)i] = 1.0f + product;
    }
    return in;
}

// The reference: sum of f over samples first, first + stride, ... below n, in double with Kahan.
// x*x + 0.25 of a float in [1, 2) is exact in double, so contraction has nothing to change here.
static double reference(const std::vector<float>& in, long long n, long long first,
                        long long stride) {
    double sum = 0.0, c = 0.0;
    for (long long i = first; i < n; i += stride) {
        const double x = in[(size_t)i];
        const double y = (x * x + 0.25) - c;
        const double next = sum + y;
        c = (next - sum) - y;
        sum = next;
    }
    return sum;
}

static double relErr(double got, double want) { return std::fabs(got - want) / std::fabs(want); }

static float *g_in, *g_control, *g_partials, *g_total, *g_threadSums;  // on the device

enum Method { kAtomic, kKahanAtomic, kTree, kKahanTree };

struct Run {  // one run's total; for the trees also what was folded into it
    float total;
    unsigned long long partialsHash;  // in block order
    double partialsSum;               // exact: 1,024 floats of like size fit in 53 bits
};

struct Series {  // what repeated runs of one method over the same samples gave
    Run first;
    int runs;
    double maxRelErr;
    unsigned long long runHash;
    std::set<unsigned> totals;  // the bit patterns seen
    std::set<unsigned long long> partials;
};

static Run sumOnce(Method method, const float* in, long long n, int blocks) {
    Run run = {0.0f, kFnvOffset, 0.0};
    CUDA_CHECK(cudaMemset(g_total, 0, sizeof(float)));  // before every run: the atomics add to it
    if (method == kAtomic) sumSquaresAtomic<<<blocks, kThreads>>>(in, n, g_total);
    if (method == kKahanAtomic) sumSquaresKahanAtomic<<<blocks, kThreads>>>(in, n, g_total);
    if (method == kTree) sumSquaresPerBlock<false><<<blocks, kThreads>>>(in, n, g_partials);
    if (method == kKahanTree) sumSquaresPerBlock<true><<<blocks, kThreads>>>(in, n, g_partials);
    CUDA_CHECK(cudaGetLastError());
    if (method == kTree || method == kKahanTree) {
        std::vector<float> partials(blocks);
        sumPartials<<<1, kThreads>>>(g_partials, blocks, g_total);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(partials.data(), g_partials, sizeof(float) * blocks,
                              cudaMemcpyDeviceToHost));
        for (float p : partials) {
            run.partialsHash = fnv1a(run.partialsHash, bitsOf(p), 4);
            run.partialsSum += p;
        }
    }
    CUDA_CHECK(cudaMemcpy(&run.total, g_total, sizeof(float), cudaMemcpyDeviceToHost));
    return run;
}

static Series sumMany(Method method, const float* in, long long n, int blocks, int runs,
                      double want) {
    Series s = {{}, runs, 0.0, kFnvOffset, {}, {}};
    for (int i = 0; i < runs; ++i) {
        const Run run = sumOnce(method, in, n, blocks);
        const double err = relErr(run.total, want);
        if (i == 0) s.first = run;
        if (err > s.maxRelErr || std::isnan(err)) s.maxRelErr = err;  // a NaN stays in
        s.totals.insert(bitsOf(run.total));
        s.partials.insert(run.partialsHash);
        s.runHash = fnv1a(s.runHash, bitsOf(run.total), 4);
    }
    return s;
}

// Mean relative error of the threads' own sums, before any of them meets another.
template <bool kKahan>
static double threadError(const std::vector<float>& in) {
    const long long threads = (long long)kBlocks * kThreads;
    const long long used = threads < kElements ? threads : kElements;  // the rest have no sample
    std::vector<float> sums(threads);
    storeThreadSums<kKahan><<<kBlocks, kThreads>>>(g_in, kElements, g_threadSums);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(
        cudaMemcpy(sums.data(), g_threadSums, sizeof(float) * threads, cudaMemcpyDeviceToHost));
    double errors = 0.0;
    for (long long t = 0; t < used; ++t)
        errors += relErr(sums[t], reference(in, kElements, t, threads));
    return errors / used;
}

static void printSeries(const char* name, const Series& s, double threadErr, double want) {
    printf("%-21s %4d %8d  0x%08x  %11.3e  0x%016llx  %10.2e", name, s.runs, (int)s.totals.size(),
           bitsOf(s.first.total), s.maxRelErr, s.runHash, threadErr);
    if (s.first.partialsSum != 0.0) printf("  %12.2e", relErr(s.first.partialsSum, want));
    printf("\n");
}

static void gateSeries(const std::string& name, const Series& s, bool constant) {
    if (constant)
        gate(s.totals.size() == 1 && s.partials.size() == 1, (name + ": one bit pattern").c_str(),
             "%d patterns of the total and %d of the partials in %d runs", (int)s.totals.size(),
             (int)s.partials.size(), s.runs);
    gate(s.maxRelErr <= kRelTol, (name + ": near the reference").c_str(),
         "largest relative distance %.3e, want at most %.0e", s.maxRelErr, kRelTol);
}

static void toDevice(float** device, const std::vector<float>& host) {
    const size_t bytes = sizeof(float) * host.size();
    CUDA_CHECK(cudaMalloc(device, bytes));
    CUDA_CHECK(cudaMemcpy(*device, host.data(), bytes, cudaMemcpyHostToDevice));
}

int main(int argc, char**) {
    printHead("day68_reproducibility/reproducibility", 1, argc);
    printf("n: %lld\n\nSum of x*x + 0.25f, in[i] = 1.0f + (i mod 1000) * 0.001f, by %d blocks\n",
           kElements, kBlocks);
    printf("of %d threads. The control sums in[i] = i mod 2, which is exact in any order.\n\n",
           kThreads);

    const std::vector<float> in = makeInput();
    std::vector<float> control(in.size());
    for (size_t i = 0; i < control.size(); ++i) control[i] = (float)(i & 1);
    toDevice(&g_in, in);
    toDevice(&g_control, control);
    CUDA_CHECK(cudaMalloc(&g_partials, sizeof(float) * kMaxPartials));
    CUDA_CHECK(cudaMalloc(&g_total, sizeof(float)));
    CUDA_CHECK(cudaMalloc(&g_threadSums, sizeof(float) * kBlocks * kThreads));

    const double want = reference(in, kElements, 0, 1);
    // Quarters counted in integers: i mod 2 is 1 for n/2 samples, and every sample adds 0.25.
    const float controlWant = (float)(4 * (kElements / 2) + kElements) / 4.0f;
    const double plainErr = threadError<false>(in), kahanErr = threadError<true>(in);
    printf("reference: %.6f, control: %.2f\n\n", want, controlWant);

    const Series atomic = sumMany(kAtomic, g_in, kElements, kBlocks, kRuns, want);
    const Series kahan = sumMany(kKahanAtomic, g_in, kElements, kBlocks, kRuns, want);
    const Series tree = sumMany(kTree, g_in, kElements, kBlocks, kRuns, want);
    const Series kahanTree = sumMany(kKahanTree, g_in, kElements, kBlocks, kFewRuns, want);
    const Series exact = sumMany(kAtomic, g_control, kElements, kBlocks, kRuns, controlWant);
    printf("kernel                runs distinct  first bits  max rel err  run hash            "
           "thread err  partials err\n");
    printSeries("sumSquaresAtomic", atomic, plainErr, want);
    printSeries("sumSquaresKahanAtomic", kahan, kahanErr, want);
    printSeries("tree", tree, plainErr, want);
    printSeries("treeOverKahan", kahanTree, kahanErr, want);
    printSeries("control", exact, 0.0, controlWant);
    printf(
        "thread err: mean relative error of the threads' own sums, before any tree.\n"
        "partials err: relative error of the exact sum of the blocks' partials.\n"
        "Not gated: bits in the atomic rows. Blocks arrive in any order; one pattern is luck.\n\n");

    const long long fewer = kElements - kFewer;
    const double wantFewer = reference(in, fewer, 0, 1);
    printf("The tree over %lld elements fewer, %lld; reference: %.6f\n", kFewer, fewer, wantFewer);
    printf("blocks  runs  distinct  total bits  total         partials hash\n");
    std::vector<Series> grids;
    for (int blocks : kGrids) {
        const Series s = sumMany(kTree, g_in, fewer, blocks, kFewRuns, wantFewer);
        printf("%-6d  %4d %9d  0x%08x  %-12.2f  0x%016llx\n", blocks, s.runs, (int)s.totals.size(),
               bitsOf(s.first.total), s.first.total, s.first.partialsHash);
        grids.push_back(s);
    }
    printf("\nrun hash: 0x%016llx\npartials hash: 0x%016llx\n\n", tree.runHash,
           tree.first.partialsHash);

    gateSeries("sumSquaresAtomic", atomic, false);
    gateSeries("sumSquaresKahanAtomic", kahan, false);
    gateSeries("tree", tree, true);
    gateSeries("treeOverKahan", kahanTree, true);
    gateSeries("control", exact, true);
    gate(exact.first.total == controlWant, "control: the exact total", "%.9g, want %.9g",
         exact.first.total, controlWant);
    for (size_t g = 0; g < grids.size(); ++g)
        gateSeries("fewer, " + std::to_string(kGrids[g]) + " blocks", grids[g], true);
    for (float* p : {g_in, g_control, g_partials, g_total, g_threadSums}) CUDA_CHECK(cudaFree(p));
    return finish();
}
