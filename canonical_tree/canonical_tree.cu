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
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifndef ELEMENTS
#define ELEMENTS (4 * 1024 * 1024 + 611)  // the last leaf is short, and 16387 leaves are odd
#endif

constexpr size_t kElements = ELEMENTS;
static_assert(kElements >= 1 && kElements < 1ull << 32, "ELEMENTS must be 1 to 2^32 - 1");
constexpr size_t kLeaf = 256;  // samples per leaf: part of the definition, nothing to tune
static_assert(kLeaf % 32 == 0 && kLeaf <= 1024, "a block takes a leaf: whole warps, not too many");
static_assert((kLeaf & (kLeaf - 1)) == 0, "a leaf's strides are its half, and half of that, ...");

// helpers: the same in every lesson; their bodies are at the end of the file.
#define CUDA_CHECK(call) checkCuda((call), #call, __FILE__, __LINE__)
static void checkCuda(cudaError_t err, const char* call, const char* file, int line);
static void printHead(const char* program, int revision, int argc);
static void gate(bool ok, const char* name, const char* format, ...);
static int finish();
constexpr unsigned long long kFnvOffset = 14695981039346656037ULL;
static unsigned long long fnv1a(unsigned long long hash, unsigned long long value, int bytes);
// end helpers

// An operator: op(a, b) combines a node with its right neighbour, op.sample(x) is what a sample is
// before the tree (at n = 1 too). None of them holds a product that could be contracted.
template <typename T>
struct Operator {
    typedef T Type;
    __host__ __device__ T sample(T x) const { return x; }
};
template <typename Op>
using TypeOf = typename Op::Type;

// The definition of the tree over n samples in order:
// - Leaves of 256 samples; the last may be shorter. In a leaf, slot t takes in slot t + 128, then
//   t + 64, ... t + 1. A slot past the end is absent, not zero.
// - The leaves' values, in order, are combined pairwise; an odd last one goes up unchanged; again,
//   until one is left. At every node the left operand is the earlier one.
// Here on the device, below on the host.

// snippet: levels
// One block per leaf: leaf b goes to leaf[b]. Every thread comes to every barrier.
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

// The last step: an initial value is combined once, last, on the left.
template <typename Op, typename T>
__global__ void storeTree(Op op, const T* tree, bool hasInit, T init, T* result) {
    *result = hasInit ? op(init, *tree) : *tree;
}

// The shape of the tree over n samples, in 64 bits and without a sample: its leaves, the nodes
// above count nodes, the values that a work buffer must hold, the samples of one leaf.
inline size_t leafCount(size_t n) { return n / kLeaf + (n % kLeaf != 0); }
inline size_t pairCount(size_t count) { return count / 2 + count % 2; }
inline size_t treeWorkCount(size_t n) { return leafCount(n); }
inline size_t leafSize(size_t n, size_t leaf) { return std::min(kLeaf, n - leaf * kLeaf); }

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
    const int asked = threads != nullptr ? std::max(1, *threads) : 1;
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

// snippet: chunks
// A chunk of 256*2^q samples is a subtree; any other has leaves or pairs across its borders.
inline bool isChunk(size_t chunk) { return chunk >= kLeaf && (chunk & (chunk - 1)) == 0; }
inline size_t chunkWorkCount(size_t n, size_t chunk) {
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

// snippet: pieces
// For data that arrives in pieces: add() takes the trees over the chunks, in order, and finish()
// gives the tree over all. All chunks have one legal size; only the last may be shorter. It counts
// in binary: node[k] is the tree over 2^k chunks and is there if bit k of `chunks` is 1, and a new
// chunk is carried up like a 1. So one node per level is kept, however many chunks there were.
template <typename Op>
struct PieceTree {
    TypeOf<Op> node[64];
    unsigned long long chunks = 0;

    void add(Op op, TypeOf<Op> tree) {
        int level = 0;
        for (; (chunks >> level & 1) != 0; ++level) tree = op(node[level], tree);
        node[level] = tree;
        ++chunks;
    }
    TypeOf<Op> finish(Op op) const {  // after one chunk at least
        int level = 0;
        while ((chunks >> level & 1) == 0) ++level;
        TypeOf<Op> tree = node[level];  // the last, odd node; on its left stand only larger ones
        for (++level; level < 64; ++level)
            if ((chunks >> level & 1) != 0) tree = op(node[level], tree);
        return tree;
    }
};
// end snippet

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
template <typename T>
struct Difference : Operator<T> {  // neither associates nor commutes
    __host__ __device__ T operator()(T a, T b) const { return a - b; }
};
struct Mix : Operator<unsigned long long> {  // likewise, and rounds nothing: all changes show
    __host__ __device__ Type operator()(Type a, Type b) const {
        a = (a ^ a >> 29) * 0x9e3779b97f4a7c15ULL;
        return (a << 7 | a >> 57) ^ (b + (b << 23 | b >> 41));
    }
};

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

// An array as the callable that the trees take.
template <typename T>
struct ArrayInput {
    const T* x;
    T operator()(size_t i) const { return x[i]; }
};

// The bits of a result; of a NaN the canonical ones, since payloads differ from machine to machine.
template <typename T>
unsigned long long canonicalBits(T x) {
    unsigned long long bits = 0;
    if (x != x) return sizeof x == sizeof(float) ? 0x7fc00000 : 0x7ff8000000000000;
    memcpy(&bits, &x, sizeof x);  // little-endian, as every host of CUDA is
    return bits;
}

// Known answers over samples 0 .. n - 1: three separate readings of the definition agreed on them.
struct KnownAnswer {
    size_t n;
    unsigned long long floatSum, floatDifference, doubleSum, doubleDifference;
};
constexpr KnownAnswer kKnownAnswers[] = {
    {1025, 0xc152ee96, 0xc20c838a, 0xc01193e1cd555553, 0xc0276b4199555555},
    {1793, 0xc12b6d6c, 0xc1e1a36a, 0xc00c923c85555555, 0xc022cd9e39555555},
    {4194915, 0x43c91abb, 0xc2c19544, 0x4060c23ab8400001, 0xc04021c6d1aaaaa8},
};

#ifndef CANONICAL_TREE_NO_MAIN
// Where a thread cannot be started, GNU's OpenMP ends the program: so no more than 8 here.
constexpr int kThreadCounts[] = {1, 2, 3, 4, 8};
constexpr unsigned kGrids[] = {64, 256, 1024};
constexpr size_t kSmallSizes[] = {1, 2, 255, 256, 257, 511, 513, 1025, 1281, 1793, 8449};
constexpr size_t kSamples = std::max(kElements, (size_t)8449);  // the gates need the small sizes
static const size_t kWork = treeWorkCount(kSamples);
static void *g_in, *g_work0, *g_work1, *g_result;  // on the device, for each type in turn

// A way to the tree, and its number: of threads asked for, or of samples per chunk.
enum Way { kDefinition, kHost, kDevice, kChunks, kPieces };
struct Path {
    Way way;
    size_t number;
};
constexpr const char* kPathNames[] = {"the definition", "host, %zu asked", "device, level by level",
                                      "chunks of %zu", "in pieces of %zu"};

template <typename T>
const T* samples() {
    static std::vector<T> x;
    while (x.size() < kSamples) x.push_back(sampleAt<T>(x.size()));
    return x.data();
}

// The bits of the tree over x[0] .. x[n - 1] by a path; *ran: how many threads ran, on the host.
template <typename Op, typename T = TypeOf<Op>>
unsigned long long treeBits(Op op, const T* x, size_t n, const TypeOf<Op>* init, Path path,
                            int* ran = nullptr) {
    const ArrayInput<T> in = {x};
    std::vector<T> work(std::max(treeWorkCount(n), chunkWorkCount(n, path.number)));
    T* w = work.data();
    T result = T();
    const char* error = nullptr;
    if (path.way == kHost) {
        int threads = (int)path.number;
        error = hostTree(op, in, n, init, w, work.size(), &result, &threads);
        if (ran != nullptr) *ran = threads;
    } else if (path.way == kDevice) {
        CUDA_CHECK(cudaMemcpy(g_in, x, sizeof(T) * n, cudaMemcpyHostToDevice));
        error = deviceTree(op, (T*)g_in, n, init, (T*)g_work0, (T*)g_work1, kWork, (T*)g_result, 0);
        CUDA_CHECK(cudaMemcpy(&result, g_result, sizeof(T), cudaMemcpyDeviceToHost));
    } else if (path.way == kChunks) {
        error = chunkedTree(op, in, n, path.number, init, w, work.size(), &result);
    } else if (path.way == kPieces) {
        PieceTree<Op> pieces;
        for (size_t first = 0; first < n && error == nullptr; first += path.number) {
            const ArrayInput<T> piece = {x + first};
            const size_t count = std::min(path.number, n - first);
            error = hostTree(op, piece, count, nullptr, w, work.size(), &result, nullptr);
            pieces.add(op, result);
        }
        result = pieces.finish(op);
    } else {  // as the definition reads
        for (size_t leaf = 0; leaf < leafCount(n); ++leaf)
            w[leaf] = hostLeaf(op, in, leaf * kLeaf, leafSize(n, leaf));
        result = hostPairs(op, w, leafCount(n));
    }
    if (error != nullptr) {
        fprintf(stderr, "n = %zu: %s\n", n, error);
        exit(2);
    }
    return canonicalBits(result);
}

// The trees over the first n samples by four operators that round and by one that hides nothing.
struct Row {
    unsigned long long bits[5];
};
static Row treeRow(size_t n, Path path, int* ran = nullptr) {
    return {{treeBits(Sum<float>(), samples<float>(), n, nullptr, path, ran),
             treeBits(Difference<float>(), samples<float>(), n, nullptr, path, ran),
             treeBits(Sum<double>(), samples<double>(), n, nullptr, path, ran),
             treeBits(Difference<double>(), samples<double>(), n, nullptr, path, ran),
             treeBits(Mix(), samples<Mix::Type>(), n, nullptr, path, ran)}};
}

// The name of the first row that is not as wanted, for its gate.
struct FirstWrong {
    char name[48];
    void keep(bool right, const char* row) {
        if (!right && name[0] == '\0') snprintf(name, sizeof name, "%s", row);
    }
};

static void printRow(const char* name, size_t number, const Row& row, const Row& want,
                     FirstWrong* wrong) {
    char text[24] = "-";
    const bool same = memcmp(row.bits, want.bits, sizeof row.bits) == 0;
    if (number > 0) snprintf(text, sizeof text, "%zu", number);
    printf("%-22s %7s  0x%08llx  0x%08llx  0x%016llx  0x%016llx  %s\n", name, text, row.bits[0],
           row.bits[1], row.bits[2], row.bits[3], same ? "same" : "different");
    wrong->keep(same, name);
}

// A grid-stride sum per thread: the grid decides which samples meet.
__global__ void strideSums(const float* in, size_t n, float* sums) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (size_t i = thread; i < n; i += (size_t)gridDim.x * blockDim.x) sum += in[i];
    sums[thread] = sum;
}

// The symptom: bits that move with the threads, in OpenMP's own sum, or with the grid.
static void tableContrast() {
    std::vector<float> x(kElements, NAN);  // a sample left out shows
    for (size_t i = 0; i < kElements; ++i) {
        volatile float product = (float)(i % 1000) * 0.001f;  // lesson 1's input, never fused
        x[i] = 1.0f + product;
    }
    puts("not gated              threads  float sum");
    for (int asked : kThreadCounts) {
        float sum = 0.0f;
        int ran = 1;
#ifdef _OPENMP
#pragma omp parallel for num_threads(asked) reduction(+ : sum)
#endif
        for (long long i = 0; i < (long long)kElements; ++i) {
            sum += x[(size_t)i];
#ifdef _OPENMP
            if (i == 0) ran = omp_get_num_threads();
#endif
        }
        printf("omp reduction, %d asked  %6d  0x%08llx\n", asked, ran, canonicalBits(sum));
    }
    const size_t all = kElements * sizeof(float);
    CUDA_CHECK(cudaMemcpy(g_in, samples<float>(), all, cudaMemcpyHostToDevice));
    for (unsigned blocks : kGrids) {
        x.resize(blocks * kLeaf);
        const size_t bytes = x.size() * sizeof(float);
        float* sums;
        CUDA_CHECK(cudaMalloc(&sums, bytes));
        strideSums<<<blocks, (unsigned)kLeaf>>>((float*)g_in, kElements, sums);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(x.data(), sums, bytes, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaFree(sums));
        printf("grid-stride, %4u blocks      -  0x%08llx\n", blocks,
               treeBits(Sum<float>(), x.data(), x.size(), nullptr, {kDefinition, 0}));
    }
}

// Every path over the same samples; a size of chunks that is refused; the definition where its
// answers are known.
static void tablePaths() {
    std::vector<Path> paths;
    for (int threads : kThreadCounts) paths.push_back({kHost, (size_t)threads});
    paths.push_back({kDevice, 0});
    for (size_t chunk = kLeaf; chunk == kLeaf || chunk / 2 < kElements; chunk *= 2)
        paths.push_back({kChunks, chunk});
    paths.push_back({kPieces, kLeaf});
    paths.push_back({kPieces, 256 * kLeaf});
    const Row want = treeRow(kElements, {kDefinition, 0});
    FirstWrong wrong = {}, wrongKnown = {};
    unsigned long long hash = kFnvOffset;
    char name[48];
    puts(
        "\npath                   threads  float sum   float a-b   double sum          double a-b  "
        "        bits");
    for (const Path& path : paths) {
        int ran = 0;
        const Row row = treeRow(kElements, path, &ran);
        snprintf(name, sizeof name, kPathNames[path.way], path.number);
        printRow(name, (size_t)ran, row, want, &wrong);
        for (unsigned long long bits : row.bits) hash = fnv1a(hash, bits, 8);
    }
    float work[64], result;
    const char* refused = chunkedTree(Sum<float>(), ArrayInput<float>{samples<float>()}, 8449,
                                      3 * kLeaf, nullptr, work, 64, &result);
    printf("chunks of %zu: %s\n", 3 * kLeaf, refused != nullptr ? refused : "accepted");
    printf("run hash: 0x%016llx\n", hash);

    puts(
        "\nknown answers          threads  float sum   float a-b   double sum          double a-b  "
        "        bits");
    for (const KnownAnswer& k : kKnownAnswers) {
        if (k.n > kSamples) continue;
        const Row row = treeRow(k.n, {kDefinition, 0});
        const Row known = {
            {k.floatSum, k.floatDifference, k.doubleSum, k.doubleDifference, row.bits[4]}};
        snprintf(name, sizeof name, "the first %zu", k.n);
        printRow(name, 0, row, known, &wrongKnown);
    }
    puts("");
    gate(wrong.name[0] == '\0', "the same bits on every path", "first: %s", wrong.name);
    gate(refused != nullptr, "a chunk of three leaves is refused", "it was accepted");
    gate(wrongKnown.name[0] == '\0', "the known answers", "first: %s", wrongKnown.name);
}

// Every path at sizes where a leaf or a level appears; the tests have many more.
static void gateSmallSizes() {
    const Path paths[] = {{kHost, 1}, {kDevice, 0}, {kChunks, kLeaf}, {kPieces, kLeaf}};
    const Mix::Type* x = samples<Mix::Type>();
    size_t firstWrong = 0;
    for (size_t n : kSmallSizes) {
        const unsigned long long want = treeBits(Mix(), x, n, nullptr, {kDefinition, 0});
        for (const Path& path : paths)
            if (firstWrong == 0 && treeBits(Mix(), x, n, nullptr, path) != want) firstWrong = n;
    }
    gate(firstWrong == 0, "host = device = chunks = pieces at small sizes", "first: n = %zu",
         firstWrong);
}

// Three paths to the bits of op over x, and those wanted.
template <typename Op, typename T = TypeOf<Op>>
void valueRow(const char* name, Op op, const std::vector<T>& x, const TypeOf<Op>* init,
              unsigned long long want, FirstWrong* wrong) {
    const Path paths[] = {{kHost, 1}, {kDevice, 0}, {kChunks, kLeaf}};
    printf("%-22s", name);
    for (const Path& path : paths) {
        const unsigned long long bits = treeBits(op, x.data(), x.size(), init, path);
        printf("  0x%08llx", bits);
        wrong->keep(bits == want, name);
    }
    printf("  0x%08llx\n", want);
}

// Signs of zero, an initial value, NaN: what padding, a second initial value or a max that looks at
// one of its operands alone would change.
static void tableValues() {
    constexpr size_t n = 1793;  // eight leaves, the last of one sample
    const std::vector<float> minus(n, -0.0f);
    const float zero = 0.0f, one = 1.0f;
    FirstWrong wrong = {};
    printf("\n%zu samples            host        device      chunks      wanted\n", n);
    valueRow("sum, all -0.0", Sum<float>(), minus, nullptr, 0x80000000, &wrong);
    valueRow("the same, init +0.0", Sum<float>(), minus, &zero, 0, &wrong);
    valueRow("the same, init 1", Sum<float>(), minus, &one, 0x3f800000, &wrong);
    valueRow("max, all -0.0", Max<float>(), minus, nullptr, 0x80000000, &wrong);
    // The first sample is the left operand of every node above it, the last one the right operand,
    // and the middle one is both in turn.
    const struct {
        const char *zero, *nan;
        size_t slot;
    } rows[] = {{"max, the first +0.0", "max, the first NaN", 0},
                {"max, a middle +0.0", "max, a middle NaN", 3 * kLeaf + kLeaf / 2},
                {"max, the last +0.0", "max, the last NaN", n - 1}};
    for (const auto& row : rows) {
        std::vector<float> x = minus;
        x[row.slot] = 0.0f;
        valueRow(row.zero, Max<float>(), x, nullptr, 0, &wrong);
        x[row.slot] = NAN;
        valueRow(row.nan, Max<float>(), x, nullptr, 0x7fc00000, &wrong);
    }
    puts("");
    gate(wrong.name[0] == '\0', "zeros, NaN, initial value", "first: %s", wrong.name);
}

int main(int argc, char**) {
    printHead("canonical_tree/canonical_tree", 2, argc);
    printf("n: %zu\n\n", kElements);
    puts("One tree over the samples in order: leaves of 256 (slot t with t + 128, then t + 64, .. "
         "t + 1),\nthen neighbours pairwise, an odd last node unchanged. Samples come from integer "
         "arithmetic.\nThe column 'bits' compares the four before it and a 64-bit integer mix.");
    if (kElements % kLeaf == 0) puts("ELEMENTS is a multiple of 256: here no leaf is short.");
    puts("");
    CUDA_CHECK(cudaMalloc(&g_in, kSamples * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&g_work0, kWork * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&g_work1, kWork * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&g_result, sizeof(double)));
    tableContrast();
    tablePaths();
    gateSmallSizes();
    tableValues();
    CUDA_CHECK(cudaFree(g_in));
    CUDA_CHECK(cudaFree(g_work0));
    CUDA_CHECK(cudaFree(g_work1));
    CUDA_CHECK(cudaFree(g_result));
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
