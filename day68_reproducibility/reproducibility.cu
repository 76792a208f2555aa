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
#include <new>

#ifndef ELEMENTS
#define ELEMENTS (4 * 1024 * 1024 + 611)  // not a multiple of the threads: a ragged last stride
#endif
#ifndef BLOCKS
#define BLOCKS 1024  // fixed: a grid derived from the card makes the bits a property of the card
#endif
#ifndef RUNS
#define RUNS 100
#endif

constexpr long long kElements = ELEMENTS;
constexpr int kBlocks = BLOCKS;
constexpr int kThreads = 256;
constexpr int kRuns = RUNS;

static_assert((kThreads & (kThreads - 1)) == 0, "the halving tree needs a power of two of threads");
static_assert(kThreads % 32 == 0 && kThreads <= 1024,
              "a block must be whole warps of 32 threads, at most 1,024 threads in all");
static_assert(kElements > 5, "ELEMENTS must be above 5: the second table sums 5 fewer");
static_assert(kElements <= 5592405, "ELEMENTS must be at most 5592405: above, the control's sum "
                                    "passes 2^22 and is no longer exact in any order");
static_assert(BLOCKS >= 1 && BLOCKS <= 65536, "BLOCKS must be 1 to 65536: one partial per block");
static_assert(RUNS >= 2 && RUNS <= 10000, "RUNS must be 2 to 10000: one run cannot differ");

// helpers: the same in every lesson; their bodies are at the end of the file.
#define CUDA_CHECK(call) checkCuda((call), #call, __FILE__, __LINE__)
static void checkCuda(cudaError_t err, const char* call, const char* file, int line);
static void printHead(const char* program, int revision, int argc);
static void gate(bool ok, const char* name, const char* format, ...);
static int finish();
constexpr unsigned long long kFnvOffset = 14695981039346656037ULL;
static unsigned long long fnv1a(unsigned long long hash, unsigned long long value, int bytes);
// end helpers

// snippet: term
// The one expression of this lesson that contraction changes: x*x rounded first, or not.
__device__ float term(float x) { return x * x + 0.25f; }
// end snippet

// What a thread and a block sum; their bodies follow the kernels.
template <bool kKahan>
__device__ float threadSum(const float* in, long long n);
__device__ float blockTree(float value);

// snippet: sumSquaresAtomic
// Kernel 1. Thread 0 of each block adds the block's sum to the total when the block gets there.
// atomicAdd is relaxed: it orders nothing else. That is legal and no race: each addition is done
// whole, none is lost, and the host reads the total after the kernel. Only the order is left open.
__global__ void sumSquaresAtomic(const float* in, long long n, float* total) {
    const float sum = blockTree(threadSum<false>(in, n));
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
// end snippet

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

// snippet: sumPartials
// Kernel 3, second pass: one block adds the partials, each thread every 256th, then the same tree.
__global__ void sumPartials(const float* partials, int count, float* total) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += kThreads) sum += partials[i];
    sum = blockTree(sum);
    if (threadIdx.x == 0) *total = sum;
}
// end snippet

// One thread's share: samples t, t + T, t + 2T, ... for T threads in the grid. c is Kahan's
// compensation (CACM 8(1), 1965): what the last addition lost. 64 bits: i + stride may pass 2^31.
template <bool kKahan>
__device__ float threadSum(const float* in, long long n) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    float c = 0.0f;
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
// Sums one value per thread over the block, always by the same tree: slot t takes in slot t + 128,
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

// What each thread has before the block's tree, to see what Kahan does to it.
template <bool kKahan>
__global__ void storeThreadSums(const float* in, long long n, float* sums) {
    sums[(long long)blockIdx.x * blockDim.x + threadIdx.x] = threadSum<kKahan>(in, n);
}

// The volatile rounds the product on every host; gcc on AArch64 would make it an fma by default,
// and so other inputs.
static void fillInput(float* in) {
    for (long long i = 0; i < kElements; ++i) {
        volatile float product = (float)(i % 1000) * 0.001f;
        in[i] = 1.0f + product;
    }
}

// The reference: sum of f over samples first, first + stride, ... below n, in double with Kahan.
// x*x + 0.25 of a float in [1, 2) is exact in double, so contraction has nothing to change here.
static double reference(const float* in, long long n, long long first, long long stride) {
    double sum = 0.0;
    double c = 0.0;
    for (long long i = first; i < n; i += stride) {
        const double x = in[i];
        const double y = (x * x + 0.25) - c;
        const double next = sum + y;
        c = (next - sum) - y;
        sum = next;
    }
    return sum;
}

// What the reference loses of 2^50 + 0.25 and a thousand times 0.3125. Doubles near 2^50 are 0.25
// apart: without the compensation each 0.3125 adds 0.25 only.
static double referenceLoss() {
    float x[1001];
    x[0] = 33554432.0f;
    for (int i = 1; i <= 1000; ++i) x[i] = 0.25f;
    return 1125899906842936.75 - reference(x, 1001, 0, 1);
}

static double relErr(double got, double want) { return std::fabs(got - want) / std::fabs(want); }

static unsigned bitsOf(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static int compareBits(const void* a, const void* b) {
    const unsigned long long x = *(const unsigned long long*)a;
    const unsigned long long y = *(const unsigned long long*)b;
    return (x > y) - (x < y);
}

// How many different values there are. Sorts them.
static int countDistinct(unsigned long long* values, int count) {
    qsort(values, count, sizeof *values, compareBits);
    int distinct = 1;
    for (int i = 1; i < count; ++i) distinct += values[i] != values[i - 1];
    return distinct;
}

constexpr int kFewRuns = kRuns < 5 ? kRuns : 5;
constexpr int kFewer = 5;  // the second table sums this many elements fewer, by these grids
constexpr int kGrids[] = {256, 512, 1024, 2048};
static const char* const kGridNames[] = {"fewer, 256 blocks", "fewer, 512 blocks",
                                         "fewer, 1024 blocks", "fewer, 2048 blocks"};
constexpr int kMaxPartials = kBlocks > 2048 ? kBlocks : 2048;
constexpr double kRelTol = 1e-5;
// Kahan about halves a thread's error, if it has samples enough; removed, it changes nothing.
constexpr double kKahanShare = 0.6;
constexpr bool kKahanShows = kElements >= 16LL * kBlocks * kThreads;

static float *g_in, *g_control, *g_partials, *g_total, *g_threadSums;  // on the device

enum Method { kAtomic, kKahanAtomic, kTree, kKahanTree };

struct Run {  // one run's total; for the trees also the partials it was made of
    float total;
    unsigned long long partialsHash;  // in block order
    double partialsSum;               // exact: 1,024 floats of like size fit in 53 bits
};

struct Series {  // what repeated runs of one method over the same samples gave
    const char* name;
    int runs;
    Run first;
    int totals;    // how many different bit patterns of the total
    int partials;  // and of all partials, by their hash
    double maxRelErr;
    unsigned long long runHash;
};

static Run sumOnce(Method method, const float* in, long long n, int blocks) {
    static float partials[kMaxPartials];
    Run run = {0.0f, kFnvOffset, 0.0};
    CUDA_CHECK(cudaMemset(g_total, 0, sizeof(float)));  // before every run: the atomics add to it
    if (method == kAtomic) sumSquaresAtomic<<<blocks, kThreads>>>(in, n, g_total);
    if (method == kKahanAtomic) sumSquaresKahanAtomic<<<blocks, kThreads>>>(in, n, g_total);
    if (method == kTree) sumSquaresPerBlock<false><<<blocks, kThreads>>>(in, n, g_partials);
    if (method == kKahanTree) sumSquaresPerBlock<true><<<blocks, kThreads>>>(in, n, g_partials);
    CUDA_CHECK(cudaGetLastError());
    if (method == kTree || method == kKahanTree) {
        const size_t bytes = sizeof(float) * blocks;
        sumPartials<<<1, kThreads>>>(g_partials, blocks, g_total);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(partials, g_partials, bytes, cudaMemcpyDeviceToHost));
        for (int b = 0; b < blocks; ++b) {
            run.partialsHash = fnv1a(run.partialsHash, bitsOf(partials[b]), 4);
            run.partialsSum += partials[b];
        }
    }
    CUDA_CHECK(cudaMemcpy(&run.total, g_total, sizeof(float), cudaMemcpyDeviceToHost));
    return run;
}

static Series sumMany(const char* name, Method method, const float* in, int runs, double want,
                      long long n = kElements, int blocks = kBlocks) {
    static unsigned long long totals[kRuns];
    static unsigned long long partials[kRuns];
    Series s = {name, runs, {}, 0, 0, 0.0, kFnvOffset};
    // snippet: runHash
    for (int i = 0; i < runs; ++i) {
        const Run run = sumOnce(method, in, n, blocks);
        const double err = relErr(run.total, want);
        if (i == 0) s.first = run;
        if (err > s.maxRelErr || std::isnan(err)) s.maxRelErr = err;  // a NaN stays in
        totals[i] = bitsOf(run.total);
        partials[i] = run.partialsHash;
        s.runHash = fnv1a(s.runHash, totals[i], 4);
    }
    s.totals = countDistinct(totals, runs);
    s.partials = countDistinct(partials, runs);
    // end snippet
    return s;
}

// Mean relative error of the threads' own sums, before any of them meets another.
template <bool kKahan>
static double threadError(const float* in) {
    const long long threads = (long long)kBlocks * kThreads;
    const long long used = threads < kElements ? threads : kElements;  // the rest have no sample
    float* sums = new float[threads];
    storeThreadSums<kKahan><<<kBlocks, kThreads>>>(g_in, kElements, g_threadSums);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(sums, g_threadSums, sizeof(float) * threads, cudaMemcpyDeviceToHost));
    double errors = 0.0;
    for (long long t = 0; t < used; ++t)
        errors += relErr(sums[t], reference(in, kElements, t, threads));
    delete[] sums;
    return errors / used;
}

static void printSeries(const Series& s, double threadErr, double want) {
    printf("%-21s %4d %8d  0x%08x  %11.3e  0x%016llx  %10.2e", s.name, s.runs, s.totals,
           bitsOf(s.first.total), s.maxRelErr, s.runHash, threadErr);
    if (s.first.partialsSum != 0.0) printf("  %12.2e", relErr(s.first.partialsSum, want));
    printf("\n");
}

// Gates are branches and never assert(): a release build defines NDEBUG, which deletes those.
static void gateSeries(const Series& s, bool constant) {
    char name[64];
    snprintf(name, sizeof name, "%s: one bit pattern", s.name);
    if (constant)
        gate(s.totals == 1 && s.partials == 1, name,
             "%d patterns of the total and %d of the partials in %d runs", s.totals, s.partials,
             s.runs);
    snprintf(name, sizeof name, "%s: near the reference", s.name);
    gate(s.maxRelErr <= kRelTol, name, "largest relative distance %.3e, want at most %.0e",
         s.maxRelErr, kRelTol);
}

#ifndef REPRODUCIBILITY_NO_MAIN
int main(int argc, char**) {
    printHead("day68_reproducibility/reproducibility", 2, argc);
    printf("n: %lld\n\nSum of x*x + 0.25f, in[i] = 1.0f + (i mod 1000) * 0.001f, by %d blocks\n",
           kElements, kBlocks);
    printf("of %d threads. The control sums in[i] = i mod 2, which is exact in any order.\n",
           kThreads);
    if (kElements % ((long long)kBlocks * kThreads) == 0)
        printf("The last stride is not ragged: every thread has the same number of samples.\n");

    float* in = new float[kElements];
    float* control = new float[kElements];
    fillInput(in);
    for (long long i = 0; i < kElements; ++i) control[i] = (float)(i & 1);
    const size_t bytes = sizeof(float) * kElements;
    CUDA_CHECK(cudaMalloc(&g_in, bytes));
    CUDA_CHECK(cudaMalloc(&g_control, bytes));
    CUDA_CHECK(cudaMemcpy(g_in, in, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(g_control, control, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&g_partials, sizeof(float) * kMaxPartials));
    CUDA_CHECK(cudaMalloc(&g_total, sizeof(float)));
    CUDA_CHECK(cudaMalloc(&g_threadSums, sizeof(float) * kBlocks * kThreads));

    const double want = reference(in, kElements, 0, 1);
    const double lost = referenceLoss();
    // Quarters counted in integers: i mod 2 is 1 for n/2 samples, and every sample adds 0.25.
    const float controlWant = (float)(4 * (kElements / 2) + kElements) / 4.0f;
    const double plainErr = threadError<false>(in);
    const double kahanErr = threadError<true>(in);
    printf("\nreference: %.6f, control: %.2f\n\n", want, controlWant);

    const Series atomic = sumMany("sumSquaresAtomic", kAtomic, g_in, kRuns, want);
    const Series kahan = sumMany("sumSquaresKahanAtomic", kKahanAtomic, g_in, kRuns, want);
    const Series tree = sumMany("tree", kTree, g_in, kRuns, want);
    const Series kahanTree = sumMany("treeOverKahan", kKahanTree, g_in, kFewRuns, want);
    const Series exact = sumMany("control", kAtomic, g_control, kRuns, controlWant);
    printf("kernel                runs distinct  first bits  max rel err  run hash            "
           "thread err  partials err\n");
    printSeries(atomic, plainErr, want);
    printSeries(kahan, kahanErr, want);
    printSeries(tree, plainErr, want);
    printSeries(kahanTree, kahanErr, want);
    printSeries(exact, 0.0, controlWant);
    printf(
        "thread err: mean relative error of the threads' own sums, before any tree.\n"
        "partials err: relative error of the exact sum of the blocks' partials.\n"
        "Not gated: bits in the atomic rows. Blocks arrive in any order; one pattern is luck.\n");
    if (!kKahanShows) printf("Not gated: thread err. A thread has fewer than 16 samples here.\n");

    const long long fewer = kElements - kFewer;
    const double wantFewer = reference(in, fewer, 0, 1);
    Series grids[4];
    printf("\nThe tree over %d elements fewer, %lld; reference: %.6f\n", kFewer, fewer, wantFewer);
    printf("blocks  runs  distinct  total bits  total         partials hash\n");
    for (int g = 0; g < 4; ++g) {
        const Series s = sumMany(kGridNames[g], kTree, g_in, kFewRuns, wantFewer, fewer, kGrids[g]);
        printf("%-6d  %4d %9d  0x%08x  %-12.2f  0x%016llx\n", kGrids[g], s.runs, s.totals,
               bitsOf(s.first.total), s.first.total, s.first.partialsHash);
        grids[g] = s;
    }
    printf("\nrun hash: 0x%016llx\npartials hash: 0x%016llx\n\n", tree.runHash,
           tree.first.partialsHash);

    gateSeries(atomic, false);
    gateSeries(kahan, false);
    gateSeries(tree, true);
    gateSeries(kahanTree, true);
    gateSeries(exact, true);
    gate(exact.first.total == controlWant, "control: the exact total", "%.9g, want %.9g",
         exact.first.total, controlWant);
    for (const Series& s : grids) gateSeries(s, true);
    // -ffast-math allows a compiler to see that (next - sum) - y is 0 and to drop it.
    gate(lost == 0.0, "reference: its compensation is there", "%g of 312.75 lost", lost);
    if (kKahanShows)
        gate(kahanErr <= kKahanShare * plainErr, "Kahan: its compensation is there",
             "thread err %.2e, want at most %.1f of %.2e", kahanErr, kKahanShare, plainErr);
    delete[] in;
    delete[] control;
    for (float* p : {g_in, g_control, g_partials, g_total, g_threadSums}) CUDA_CHECK(cudaFree(p));
    return finish();
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
