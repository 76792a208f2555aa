// One answer, by definition: a sum that threads, grids, chunks and devices cannot change.
//
// An OpenMP sum gives other bits for other thread counts. Here the sum is defined as one tree over
// the samples in order, and whoever computes it, on however many threads, gets the same bits.
//
//   nvcc -std=c++17 -O3 -Xcompiler -fopenmp -o canonical_tree canonical_tree.cu
//   nvcc -std=c++17 -O3 -fmad=false -Xcompiler -fopenmp -o canonical_tree_nofmad canonical_tree.cu
//   ./canonical_tree; ./canonical_tree_nofmad
//
// Without -fopenmp one thread does it all, with the same bits. -DELEMENTS=n changes the size;
// -DCANONICAL_TREE_NO_MAIN leaves main out, for programs that include this file. Exit status:
// 0 all gates passed, 1 a gate failed, 2 the work could not be done, 77 no usable CUDA device.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifndef ELEMENTS
#define ELEMENTS (4 * 1024 * 1024 + 611)  // the last leaf is short, and 16387 leaves are odd
#endif

constexpr size_t kElements = ELEMENTS;
static_assert(kElements >= 1 && kElements < 1ull << 32, "ELEMENTS must be 1 to 2^32 - 1");

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

// tree definition: a block repeated in this lesson's programs; a test holds the copies equal.
constexpr size_t kLeaf = 256;  // samples a leaf: part of the definition, nothing to tune

// The shape of the tree over n samples, in 64 bits and without a sample: its leaves, the nodes
// above count nodes, the values that a work buffer must hold, the samples of one leaf.
static size_t leafCount(size_t n) { return n / kLeaf + (n % kLeaf != 0); }
static size_t pairCount(size_t count) { return count / 2 + count % 2; }
static size_t treeWorkCount(size_t n) { return leafCount(n); }
static size_t leafSize(size_t n, size_t leaf) { return std::min(kLeaf, n - leaf * kLeaf); }

// An operator: op(a, b) combines a node with its right neighbour, op.sample(x) is what a sample is
// before the tree (at n = 1 too). None of them holds a product that could be contracted.
template <typename T>
struct Operator {
    typedef T Type;
    __host__ __device__ T sample(T x) const { return x; }
};
template <typename Op>
using TypeOf = typename Op::Type;

template <typename T>
struct Sum : Operator<T> {
    static_assert(T(-1) > T(0) || T(0.5) > T(0), "integers are summed unsigned, modulo 2^w");
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct Max : Operator<T> {  // NaN wins and -0.0 < +0.0, or the order would decide
    __host__ __device__ T operator()(T a, T b) const {
        if (a != a || b != b) return a != a ? a : b;
        if (a == 0 && b == 0) return a + b;  // -0.0 only if both are
        return a < b ? b : a;
    }
};
template <typename T>
struct All : Operator<T> {  // 1 if no sample is zero, else 0; NaN is not zero
    __host__ __device__ T sample(T x) const { return x != 0 ? T(1) : T(0); }
    __host__ __device__ T operator()(T a, T b) const { return a != 0 && b != 0 ? T(1) : T(0); }
};

// snippet: leaf
// The leaf over in(first) .. in(first + count - 1), count <= 256; a slot past the end is absent.
template <typename Op, typename In>
TypeOf<Op> hostLeaf(Op op, In in, size_t first, size_t count) {
    TypeOf<Op> slot[kLeaf];
    for (size_t t = 0; t < count; ++t) slot[t] = op.sample(in(first + t));
    for (size_t stride = kLeaf / 2; stride > 0; stride /= 2)
        for (size_t t = 0; t < stride && t + stride < count; ++t)
            slot[t] = op(slot[t], slot[t + stride]);
    return slot[0];
}
// end snippet

// snippet: pairs
// Combines count nodes pairwise, in place, until one is left; an odd last one goes up unchanged.
template <typename Op>
TypeOf<Op> hostPairs(Op op, TypeOf<Op>* node, size_t count) {
    for (; count > 1; count = pairCount(count)) {
        for (size_t i = 0; i < count / 2; ++i) node[i] = op(node[2 * i], node[2 * i + 1]);
        if (count % 2 != 0) node[count / 2] = node[count - 1];
    }
    return node[0];
}
// end snippet
// end tree definition

// host tree: one block too, for the benchmark, which takes it out.
#ifdef _OPENMP
// How many threads to ask OpenMP for, at most `asked`. GNU's ends the program if it cannot start
// one (there may be a limit on processes), so before a team grows, twice as many are started here,
// all alive at once, where a failure is an exception. Twice, since a joined thread counts for a
// moment longer. Nothing helps if another program takes the place in that moment.
static int startableThreads(int asked) {
    static thread_local int team = 1;  // OpenMP keeps its last team; a smaller one ends the rest
    if (asked == 1) return 1;          // starts none, and ends none
    if (asked > team) {
        std::mutex door;
        std::vector<std::thread> crew;
        door.lock();
        try {
            while (crew.size() < 2 * ((size_t)asked - 1))
                crew.emplace_back([&door] { std::lock_guard<std::mutex> through(door); });
        } catch (...) {  // no more than these
        }
        door.unlock();
        for (std::thread& t : crew) t.join();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        asked = 1 + (int)(crew.size() / 2);
    }
    return team = asked;
}
#endif

// A whole leaf: hostLeaf's tree, with constant lengths, which compilers vectorise.
template <size_t kStride, typename Op>
void foldSlots(Op op, TypeOf<Op>* slot) {
    for (size_t t = 0; t < kStride; ++t) slot[t] = op(slot[t], slot[t + kStride]);
    if constexpr (kStride > 1) foldSlots<kStride / 2>(op, slot);
}
template <typename Op, typename In>
TypeOf<Op> wholeLeaf(Op op, In in, size_t first) {
    constexpr size_t kHalf = kLeaf / 2;
    TypeOf<Op> slot[kHalf];
    for (size_t t = 0; t < kHalf; ++t)
        slot[t] = op(op.sample(in(first + t)), op.sample(in(first + t + kHalf)));
    foldSlots<kHalf / 2>(op, slot);
    return slot[0];
}

// The tree over in(0) .. in(n - 1), in any callable, on the host: *result is the tree, or op(*init,
// tree) if init is not null. work holds capacity values, of which treeWorkCount(n) are used.
// *threads: how many are asked for and, afterwards, how many ran; null means one. The bits do not
// depend on it. Returns null, or the rule that was broken: nothing was computed then.
template <typename Op, typename In>
const char* hostTree(Op op, In in, size_t n, const TypeOf<Op>* init, TypeOf<Op>* work,
                     size_t capacity, TypeOf<Op>* result, int* threads) {
    if (n == 0) return "n is 0: a tree over no sample has no value";
    if (work == nullptr || result == nullptr) return "the work or the result pointer is null";
    if (capacity < treeWorkCount(n)) return "the work buffer is too small: see treeWorkCount(n)";
    constexpr size_t kGroup = 256;  // leaves a thread takes: a subtree, so it pairs them at once
    const size_t leaves = leafCount(n), groups = (leaves + kGroup - 1) / kGroup;
    int ran = 1;
#ifdef _OPENMP
    const int asked = threads != nullptr ? startableThreads(std::max(1, *threads)) : 1;
#pragma omp parallel for num_threads(asked) schedule(static)
#endif
    for (long long group = 0; group < (long long)groups; ++group) {
        const size_t from = (size_t)group * kGroup, to = std::min(from + kGroup, leaves);
        for (size_t leaf = from; leaf < to; ++leaf) {
            const size_t first = leaf * kLeaf, count = leafSize(n, leaf);
            work[leaf] = count < kLeaf ? hostLeaf(op, in, first, count) : wholeLeaf(op, in, first);
        }
        hostPairs(op, work + from, to - from);  // the group's value is work[from] then
#ifdef _OPENMP
        if (group == 0) ran = omp_get_num_threads();  // one thread alone has group 0
#endif
    }
    for (size_t group = 1; group < groups; ++group) work[group] = work[group * kGroup];
    if (threads != nullptr) *threads = ran;
    const TypeOf<Op> tree = hostPairs(op, work, groups);
    *result = init != nullptr ? op(*init, tree) : tree;
    return nullptr;
}
// end host tree

// snippet: chunks
// A chunk of 256*2^q samples is a subtree; any other has leaves or pairs across its borders.
static bool isChunk(size_t chunk) { return chunk >= kLeaf && (chunk & (chunk - 1)) == 0; }
static size_t chunkWorkCount(size_t n, size_t chunk) {
    return isChunk(chunk) ? n / chunk + (n % chunk != 0) + leafCount(std::min(n, chunk)) : 0;
}

// hostTree chunk by chunk: each chunk's result, then the same pairwise rule over the results.
template <typename Op, typename In>
const char* chunkedTree(Op op, In in, size_t n, size_t chunk, const TypeOf<Op>* init,
                        TypeOf<Op>* work, size_t capacity, TypeOf<Op>* result) {
    if (n == 0) return "n is 0: a tree over no sample has no value";
    if (!isChunk(chunk)) return "the chunk is not 256*2^q samples: it is no subtree of the tree";
    if (work == nullptr || result == nullptr) return "the work or the result pointer is null";
    if (capacity < chunkWorkCount(n, chunk)) return "the work buffer is too small";
    const size_t chunks = (n - 1) / chunk + 1;
    for (size_t c = 0; c < chunks; ++c) {
        const size_t first = c * chunk, count = std::min(chunk, n - first);
        const auto chunkIn = [in, first](size_t i) { return in(first + i); };
        hostTree(op, chunkIn, count, nullptr, work + chunks, leafCount(count), work + c, nullptr);
    }
    const TypeOf<Op> tree = hostPairs(op, work, chunks);
    *result = init != nullptr ? op(*init, tree) : tree;  // once and last
    return nullptr;
}
// end snippet

// level tree: repeated likewise.
// snippet: levels
// One block a leaf: leaf b goes to leaf[b]. Every thread comes to every barrier.
template <typename Op>
__global__ void leafLevel(Op op, const TypeOf<Op>* in, size_t n, TypeOf<Op>* leaf) {
    __shared__ TypeOf<Op> slot[kLeaf];
    const size_t first = blockIdx.x * kLeaf, left = n - first, t = threadIdx.x;
    const size_t count = left < kLeaf ? left : kLeaf;
    if (t < count) slot[t] = op.sample(in[first + t]);
    __syncthreads();
    for (size_t stride = kLeaf / 2; stride > 0; stride /= 2) {
        if (t < stride && t + stride < count) slot[t] = op(slot[t], slot[t + stride]);
        __syncthreads();
    }
    if (t == 0) leaf[blockIdx.x] = slot[0];
}

// One pairwise level, from count nodes to pairCount(count); an odd last one goes up unchanged.
template <typename Op>
__global__ void pairLevel(Op op, const TypeOf<Op>* node, size_t count, TypeOf<Op>* parent) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count / 2) parent[i] = op(node[2 * i], node[2 * i + 1]);
    if (i == count / 2 && count % 2 != 0) parent[i] = node[count - 1];
}
// end snippet

template <typename Op, typename T>
__global__ void storeTree(Op op, const T* tree, bool hasInit, T init, T* result) {
    *result = hasInit ? op(init, *tree) : *tree;
}

// Enqueues the tree over in[0] .. in[n - 1] on stream: *result is there once the stream has run.
// init is null or a value on the host, read now; all else is device memory. Each work buffer holds
// capacity values, of which treeWorkCount(n) are used: a level reads one and writes the other, as
// in place a block would read what another wrote. Returns null, or the rule that was broken or an
// error that CUDA still held (nothing was computed then), or CUDA's error from a launch.
template <typename Op>
const char* deviceTree(Op op, const TypeOf<Op>* in, size_t n, const TypeOf<Op>* init,
                       TypeOf<Op>* work0, TypeOf<Op>* work1, size_t capacity, TypeOf<Op>* result,
                       cudaStream_t stream) {
    if (n == 0) return "n is 0: a tree over no sample has no value";
    if (!in || !work0 || !work1 || !result) return "a device pointer is null";
    if (capacity < treeWorkCount(n)) return "a work buffer is too small: see treeWorkCount(n)";
    if (leafCount(n) > 0x7fffffff) return "more than 2^31 - 1 leaves: more than a grid has blocks";
    if (cudaPeekAtLastError() != cudaSuccess) return cudaGetErrorString(cudaPeekAtLastError());
    leafLevel<<<(unsigned)leafCount(n), (unsigned)kLeaf, 0, stream>>>(op, in, n, work0);
    for (size_t count = leafCount(n); count > 1; count = pairCount(count)) {
        const unsigned blocks = (unsigned)leafCount(pairCount(count));
        pairLevel<<<blocks, (unsigned)kLeaf, 0, stream>>>(op, work0, count, work1);
        std::swap(work0, work1);
    }
    storeTree<<<1, 1, 0, stream>>>(op, work0, init != nullptr, init ? *init : TypeOf<Op>(), result);
    const cudaError_t err = cudaPeekAtLastError();
    return err == cudaSuccess ? nullptr : cudaGetErrorString(err);
}
// end level tree

// telling input: repeated likewise.
// Sample i: on these another order gives other bits, where small integers or thousandths add up
// nearly or wholly exactly. From integer arithmetic; the product is exact, the division rounds.
template <typename T>
__host__ __device__ T sampleAt(size_t i) {
    unsigned z = (unsigned)i * 2654435761u;
    z ^= z >> 15;
    z *= 2246822519u;
    z ^= z >> 13;
    if (T(0.5) == T(0)) return (T)(z * 0x9e3779b97f4a7c15ULL + i);  // T is an integer
    const float x = (float)((int)(z >> 8) - (1 << 23)) * (1.0f / (1 << 23));
    return sizeof(T) == sizeof(float) ? (T)x : (T)((double)x / 3.0);
}

// The bits of a result; of a NaN the canonical ones, since payloads differ from machine to machine.
template <typename T>
unsigned long long canonicalBits(T x) {
    unsigned long long bits = 0;
    if (x != x) return sizeof x == sizeof(float) ? 0x7fc00000 : 0x7ff8000000000000;
    memcpy(&bits, &x, sizeof x);  // little-endian, as every host of CUDA is
    return bits;
}
// end telling input

// known answers: repeated likewise. Over samples 0 .. n - 1; three separate readings of the
// definition agreed on them.
struct KnownAnswer {
    size_t n;
    unsigned long long floatSum, floatDifference, doubleSum, doubleDifference;
};
constexpr KnownAnswer kKnownAnswers[] = {
    {1025, 0xc152ee96, 0xc20c838a, 0xc01193e1cd555553, 0xc0276b4199555555},
    {1793, 0xc12b6d6c, 0xc1e1a36a, 0xc00c923c85555555, 0xc022cd9e39555555},
    {4194915, 0x43c91abb, 0xc2c19544, 0x4060c23ab8400001, 0xc04021c6d1aaaaa8},
};
// end known answers

// integer mix: repeated likewise. It neither associates nor commutes, and rounds nothing.
struct Mix : Operator<unsigned long long> {
    __host__ __device__ Type operator()(Type a, Type b) const {
        a = (a ^ a >> 29) * 0x9e3779b97f4a7c15ULL;
        return (a << 7 | a >> 57) ^ (b + (b << 23 | b >> 41));
    }
};
// end integer mix

template <typename T>
struct Difference : Operator<T> {  // neither associates nor commutes
    __host__ __device__ T operator()(T a, T b) const { return a - b; }
};

#ifndef CANONICAL_TREE_NO_MAIN
constexpr int kThreadCounts[] = {1, 2, 3, 4, 8, 64};
constexpr unsigned kGrids[] = {64, 256, 1024};
constexpr size_t kMost = std::max(kElements, kGrids[2] * kLeaf);
static void *g_in, *g_work0, *g_work1, *g_result;  // on the device, for each type in turn

// A way to compute the tree: on the host by so many threads or in such chunks, else on the device.
struct Path {
    int threads;
    size_t chunk;
};
constexpr Path kPaths[] = {{1, 0}, {0, 0}, {0, kLeaf}};

// The bits of the tree over x[0] .. x[n - 1] by a path; path->threads becomes how many ran.
template <typename Op, typename T = TypeOf<Op>>
unsigned long long treeBits(Path* path, Op op, const std::vector<T>& x, size_t n,
                            const TypeOf<Op>* init = nullptr) {
    T result, *in = (T*)g_in;
    std::vector<T> work(std::max(treeWorkCount(n), chunkWorkCount(n, path->chunk)));
    const auto at = [&x](size_t i) { return x[i]; };
    const char* error;
    if (path->threads > 0) {
        error = hostTree(op, at, n, init, work.data(), work.size(), &result, &path->threads);
    } else if (path->chunk > 0) {
        error = chunkedTree(op, at, n, path->chunk, init, work.data(), work.size(), &result);
    } else {
        CUDA_CHECK(cudaMemcpy(in, x.data(), sizeof(T) * n, cudaMemcpyHostToDevice));
        error = deviceTree(op, in, n, init, (T*)g_work0, (T*)g_work1, kMost, (T*)g_result, 0);
        CUDA_CHECK(cudaMemcpy(&result, g_result, sizeof(T), cudaMemcpyDeviceToHost));
    }
    if (error != nullptr) fprintf(stderr, "n = %zu: %s\n", n, error), exit(2);
    return canonicalBits(result);
}

// The definition, and orders that programs use and that are not the tree.
enum Order { kTree, kAscending, kOddMerged, kHalfApart, kLeftFold, kChunkFold, kThreeLeaves };
constexpr const char* kOrders[] = {
    "the canonical tree",    "strides 1, 2, .. 128", "odd node merged left", "node i with i + half",
    "samples left to right", "chunks left to right", "chunks of 3 leaves"};

template <typename Op, typename T = TypeOf<Op>>
unsigned long long orderBits(int order, Op op, const std::vector<T>& x, size_t n) {
    const bool samples = order == kAscending || order == kLeftFold, apart = order == kHalfApart;
    const auto at = [&x](size_t i) { return x[i]; };
    size_t count = samples ? n : leafCount(n);
    std::vector<T> v(count);
    for (size_t i = 0; i < count; ++i)
        v[i] = samples ? op.sample(x[i]) : hostLeaf(op, at, i * kLeaf, leafSize(n, i));
    // Runs of so many are combined from left to right; then the levels, by a wrong rule or right.
    const size_t run = order == kThreeLeaves ? 3 : order < kLeftFold ? 1 : count;
    for (size_t i = 0; i < count; ++i) v[i / run] = i % run == 0 ? v[i] : op(v[i / run], v[i]);
    count = (count - 1) / run + 1;
    while (count > 1 && (apart || order == kOddMerged)) {
        const size_t half = apart ? pairCount(count) : count / 2;
        for (size_t i = 0; i < count / 2; ++i)
            v[i] = apart ? op(v[i], v[i + half]) : op(v[2 * i], v[2 * i + 1]);
        if (!apart && count % 2 != 0) v[half - 1] = op(v[half - 1], v[count - 1]);
        count = half;
    }
    return canonicalBits(hostPairs(op, v.data(), count));
}

template <typename T>
const std::vector<T>& telling() {
    static std::vector<T> x;
    while (x.size() < kMost) x.push_back(sampleAt<T>(x.size()));
    return x;
}

// The bits over telling samples by four operators that round, and by one that hides nothing.
typedef std::vector<unsigned long long> Row;
template <typename Bits>
Row rowOf(Bits bits) {
    return {bits(Sum<float>(), telling<float>()), bits(Difference<float>(), telling<float>()),
            bits(Sum<double>(), telling<double>()), bits(Difference<double>(), telling<double>()),
            bits(Mix(), telling<Mix::Type>())};
}

// Where a path leaves the definition over n samples: with the leaves before that index it is right.
static std::string whereFirst(Path path, size_t n) {
    size_t right = 0, wrong = leafCount(n);  // so many leaves from the start on
    while (wrong - right > 1) {
        // One by one first: a wrong shape can come right again for longer ones. Then by halves.
        const size_t leaves = right < 64 ? right + 1 : (right + wrong) / 2, m = leaves * kLeaf;
        const Row got = rowOf([&](auto op, auto& x) { return treeBits(&path, op, x, m); });
        const Row want = rowOf([&](auto op, auto& x) { return orderBits(kTree, op, x, m); });
        (got == want ? right : wrong) = leaves;
    }
    return "n = " + std::to_string(n) + ", from index " + std::to_string(right * kLeaf) + " on";
}

// A grid-stride sum a thread: the grid decides which samples meet.
__global__ void strideSums(const float* in, size_t n, float* sums) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (size_t i = thread; i < n; i += (size_t)gridDim.x * blockDim.x) sum += in[i];
    sums[thread] = sum;
}

// The symptom: bits that move with the threads, in OpenMP's own sum, or with the grid.
static void tableContrast() {
    std::vector<float> x(kElements);
    for (size_t i = 0; i < kElements; ++i) {
        volatile float product = (float)(i % 1000) * 0.001f;  // day68's input, never fused
        x[i] = 1.0f + product;
    }
    puts("not gated              threads  float sum");
    for (int asked : kThreadCounts) {
        float sum = 0.0f;
        int ran = 1;
#ifdef _OPENMP
        ran = startableThreads(asked);
#pragma omp parallel for num_threads(ran) reduction(+ : sum)
#endif
        for (long long i = 0; i < (long long)kElements; ++i) sum += x[(size_t)i];
        printf("omp reduction, %2d asked %6d  0x%08llx\n", asked, ran, canonicalBits(sum));
    }
    CUDA_CHECK(cudaMemcpy(g_in, telling<float>().data(), 4 * kElements, cudaMemcpyHostToDevice));
    for (unsigned blocks : kGrids) {
        x.resize(blocks * kLeaf);
        strideSums<<<blocks, (unsigned)kLeaf>>>((float*)g_in, kElements, (float*)g_work0);
        CUDA_CHECK(cudaMemcpy(x.data(), g_work0, 4 * x.size(), cudaMemcpyDeviceToHost));
        printf("grid-stride, %4u blocks      -  0x%08llx\n", blocks,
               orderBits(kTree, Sum<float>(), x, x.size()));
    }
}

// Every path over the same samples. Returns the first that has not the definition's bits.
static std::string tablePaths() {
    std::vector<Path> paths;
    for (int threads : kThreadCounts) paths.push_back({threads, 0});
    paths.push_back({0, 0});
    for (size_t chunk = kLeaf; chunk == kLeaf || chunk / 2 < kElements; chunk *= 2)
        paths.push_back({0, chunk});
    const Row want = rowOf([](auto op, auto& x) { return orderBits(kTree, op, x, kElements); });
    puts("\npath                 threads  float sum   float a-b   double sum          double a-b  "
         "        bits");
    std::string first;
    unsigned long long hash = kFnvOffset;
    for (const Path& path : paths) {
        Path ran;
        const Row row =
            rowOf([&](auto op, auto& x) { return treeBits(&(ran = path), op, x, kElements); });
        const std::string name = path.threads > 0
                                     ? "host, " + std::to_string(path.threads) + " asked"
                                 : path.chunk > 0 ? "chunks of " + std::to_string(path.chunk)
                                                  : "device, level by level";
        const std::string count = path.threads > 0 ? std::to_string(ran.threads) : "-";
        printf("%-22s %5s  0x%08llx  0x%08llx  0x%016llx  0x%016llx  %s\n", name.c_str(),
               count.c_str(), row[0], row[1], row[2], row[3], row == want ? "same" : "different");
        for (unsigned long long bits : row) hash = fnv1a(hash, bits, 8);
        if (first.empty() && row != want) first = name + ", " + whereFirst(path, kElements);
    }
    printf("run hash: 0x%016llx\n", hash);
    return first;
}

// Each order's distance from the known answers, in ulps: the tree must have none, and each other
// order one on the floats, on the doubles and on the integers.
static void tableOrders(std::string* unknown, std::string* blind) {
    puts("\norder                        n  float sum  float a-b  double sum  double a-b  mix");
    for (const KnownAnswer& k : kKnownAnswers) {
        Row want = {k.floatSum, k.floatDifference, k.doubleSum, k.doubleDifference, 0};
        for (int order = kTree; order <= kThreeLeaves && k.n <= kElements; ++order) {
            // Above 2^k leaves no node is odd: that order is the tree itself there.
            if (order == kOddMerged && isChunk(leafCount(k.n) * kLeaf)) continue;
            const Row row = rowOf([&](auto op, auto& x) { return orderBits(order, op, x, k.n); });
            if (order == kTree) want[4] = row[4];
            const auto same = [&](int s) { return row[s] == want[s]; };
            const auto word = [&](int s) { return same(s) ? "same" : "other"; };
            printf("%-22s %7zu  %9lld  %-9s  %10lld  %-10s  %s\n", kOrders[order], k.n,
                   (long long)(row[0] - want[0]), word(1), (long long)(row[2] - want[2]), word(3),
                   word(4));
            const bool shows = !(same(0) && same(1)) && !(same(2) && same(3)) && !same(4);
            std::string* first = order == kTree ? unknown : blind;
            if (first->empty() && (order == kTree ? row != want : !shows))
                *first = kOrders[order] + (", n = " + std::to_string(k.n));
        }
    }
}

// What an order could change: operators that are exactly associative, against the left fold, then
// signs of zero, NaN and an initial value. Returns the first row that is not as wanted.
static std::string tableOperators() {
    constexpr size_t n = 1793;  // eight leaves, the last of one sample
    std::string first;
    printf("\n%zu samples           host        device      chunks      wanted\n", n);
    const auto row = [&](const char* name, auto op, auto& x, size_t count, unsigned long long want,
                         const TypeOf<decltype(op)>* init = nullptr) {
        printf("%-22s", name);
        for (Path path : kPaths) {
            const unsigned long long bits = treeBits(&path, op, x, count, init);
            printf(" 0x%08llx ", bits);
            if (first.empty() && bits != want) first = name + (", n = " + std::to_string(count));
        }
        printf(" 0x%08llx\n", want);
    };
    const auto exact = [&](const char* name, auto op, auto& x) {
        row(name, op, x, n, orderBits(kLeftFold, op, x, n));
    };
    exact("sum, unsigned", Sum<unsigned>(), telling<unsigned>());
    exact("max", Max<float>(), telling<float>());
    exact("all", All<float>(), telling<float>());
    const float zero = 0.0f, one = 1.0f;
    std::vector<float> x(n, -0.0f);
    row("sum, all -0.0", Sum<float>(), x, n, 0x80000000);
    row("the same, init +0.0", Sum<float>(), x, n, 0, &zero);
    row("the same, init 1", Sum<float>(), x, n, 0x3f800000, &one);  // once, not in every chunk
    row("max, all -0.0", Max<float>(), x, n, 0x80000000);
    x[n - 1] = 0.0f;
    row("max, the last +0.0", Max<float>(), x, n, 0);
    x[n - 1] = NAN;
    row("max, the last NaN", Max<float>(), x, n, 0x7fc00000);
    x.assign(n, -0.0f);
    x.resize(2048, 0.0f);
    row("wrong: padded with 0", Sum<float>(), x, 2048, 0);  // the sign of the sum is lost
    return first;
}

int main(int argc, char**) {
    printHead("canonical_tree/canonical_tree", 1, argc);
    printf("n: %zu\n\n", kElements);
    puts("One tree over the samples in order: leaves of 256 (slot t with t + 128, then t + 64, .. "
         "t + 1),\nthen neighbours pairwise, an odd last node unchanged. Samples come from integer "
         "arithmetic.\nThe column 'bits' compares the four before it and a 64-bit integer mix.\n");
    for (void** p : {&g_in, &g_work0, &g_work1, &g_result}) CUDA_CHECK(cudaMalloc(p, 8 * kMost));
    tableContrast();
    const std::string paths = tablePaths(), operators = tableOperators();
    std::string unknown, blind, sizes;
    tableOrders(&unknown, &blind);
    for (size_t n : {1, 2, 255, 256, 257, 511, 513, 1025, 1281, 8449})  // the tests have many more
        for (Path path : kPaths)
            if (sizes.empty() && treeBits(&path, Mix(), telling<Mix::Type>(), n) !=
                                     orderBits(kTree, Mix(), telling<Mix::Type>(), n))
                sizes = whereFirst(path, n);
    puts("");
    gate(paths.empty(), "the same bits on every path", "first: %s", paths.c_str());
    gate(unknown.empty(), "the known answers", "first: %s", unknown.c_str());
    gate(blind.empty(), "each wrong order shows", "first not: %s", blind.c_str());
    gate(operators.empty(), "operators, zeros, NaN, initial value", "first: %s", operators.c_str());
    gate(sizes.empty(), "host = device = chunks at small sizes", "first: %s", sizes.c_str());
    for (void* p : {g_in, g_work0, g_work1, g_result}) CUDA_CHECK(cudaFree(p));
    return finish();
}
#endif
