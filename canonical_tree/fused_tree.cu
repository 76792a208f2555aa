// The canonical tree at memory speed: one pass over the samples, the bits of the definition.
//
// A warp takes four leaves at once, eight samples of each a lane: strides 128, 64 and 32 are
// operations inside a lane, 16 to 1 go by shuffles, and one node a block is all that is stored.
// The operator's identity stands in for absent samples, so that every subtree is a full one.
//
//   nvcc -std=c++17 -O3 -o fused_tree fused_tree.cu
//   nvcc -std=c++17 -O3 -fmad=false -o fused_tree_nofmad fused_tree.cu
//   ./fused_tree; ./fused_tree_nofmad
//
// -DFUSED_TREE_NO_MAIN leaves main out, for programs that include this file. Exit status: 0 all
// gates passed, 1 a gate failed, 2 the work could not be done, 77 no usable CUDA device.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

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

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kLane = kLeaf / 32;       // samples of a leaf that one lane holds
constexpr int kAtOnce = 4;              // leaves in flight a warp: enough to keep the memory busy
constexpr int kMaxSteps = 32 / kWarps;  // a block's nodes, one a warp and step, must fit one warp
constexpr size_t kSpan = kAtOnce * kLeaf;  // samples a warp and step
static_assert((kAtOnce & (kAtOnce - 1)) == 0, "a warp's leaves must be one whole subtree");

// An operator's identity e: op(x, e) has x's bits, so a slot that holds e counts as absent. For a
// sum it is -0.0, since -0.0 + +0.0 is +0.0. An operator without one, as a - b, does not compile.
template <typename T>
T identityOf(Sum<T>) {
    return T(-0.0);
}
template <typename T>
T identityOf(All<T>) {
    return T(1);
}
template <typename T>
T identityOf(Max<T>) {
    typedef std::numeric_limits<T> Limits;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

// snippet: warp
// One warp's subtree over the kAtOnce leaves from in[0] on, of which `left` samples exist; lane 0
// gets it. Every loop has constant bounds: indexed by a variable, v would move to slow memory.
template <bool kWhole, typename Op>
__device__ TypeOf<Op> warpSubtree(Op op, TypeOf<Op> identity, const TypeOf<Op>* in, size_t left) {
    TypeOf<Op> v[kAtOnce][kLane];
    for (int l = 0; l < kAtOnce; ++l)
        for (int k = 0; k < kLane; ++k) {
            const size_t i = kLeaf * l + 32 * k + threadIdx.x % 32;
            v[l][k] = kWhole || i < left ? op.sample(in[i]) : identity;
        }
    for (int l = 0; l < kAtOnce; ++l)
        for (int s = kLane / 2; s > 0; s /= 2)  // strides 128, 64, 32
            for (int k = 0; k < s; ++k) v[l][k] = op(v[l][k], v[l][k + s]);
    for (int s = 16; s > 0; s /= 2)  // strides 16 to 1; what the upper lanes get is not used
        for (int l = 0; l < kAtOnce; ++l)
            v[l][0] = op(v[l][0], __shfl_down_sync(0xffffffffu, v[l][0], s));
    for (int s = 1; s < kAtOnce; s *= 2)  // leaves pairwise
        for (int l = 0; l < kAtOnce; l += 2 * s) v[l][0] = op(v[l][0], v[l + s][0]);
    return v[0][0];
}
// end snippet

// 32 neighbouring nodes, one a lane, pairwise; lane 0 gets their subtree.
template <typename Op>
__device__ TypeOf<Op> warpPairs(Op op, TypeOf<Op> v) {
    for (int s = 1; s < 32; s *= 2) v = op(v, __shfl_down_sync(0xffffffffu, v, s));
    return v;
}

// The pass: block b takes its steps * kWarps * kAtOnce leaves, one subtree, to node[b].
template <typename Op>
__global__ void __launch_bounds__(kThreads, 1)
    fusedPass(Op op, TypeOf<Op> identity, const TypeOf<Op>* __restrict__ in, size_t n, int steps,
              TypeOf<Op>* node) {
    __shared__ TypeOf<Op> slot[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int step = 0; step < steps; ++step) {
        const size_t span = ((size_t)blockIdx.x * steps + step) * kWarps + warp;
        const size_t first = span * kSpan, left = first < n ? n - first : 0;
        TypeOf<Op> v = identity;  // of a warp that has no sample
        if (left >= kSpan) v = warpSubtree<true>(op, identity, in + first, left);
        if (left > 0 && left < kSpan) v = warpSubtree<false>(op, identity, in + first, left);
        if (lane == 0) slot[step * kWarps + warp] = v;
    }
    __syncthreads();
    if (warp > 0) return;
    const TypeOf<Op> v = warpPairs(op, lane < steps * kWarps ? slot[lane] : identity);
    if (lane == 0) node[blockIdx.x] = v;
}

// The levels above, in one block. A warp takes 128 nodes to one, which goes behind all of them.
template <typename Op>
__global__ void __launch_bounds__(1024)
    fusedTop(Op op, TypeOf<Op> identity, TypeOf<Op>* node, size_t count, TypeOf<Op>* result) {
    while (count > 1) {
        const auto at = [=](size_t i) { return i < count ? node[i] : identity; };
        const size_t groups = (count + 127) / 128, lane = threadIdx.x % 32;
        for (size_t g = threadIdx.x / 32; g < groups; g += blockDim.x / 32) {
            const size_t i = 128 * g + 4 * lane;
            const TypeOf<Op> v = op(op(at(i), at(i + 1)), op(at(i + 2), at(i + 3)));
            const TypeOf<Op> pairs = warpPairs(op, v);
            if (lane == 0) node[count + g] = pairs;
        }
        __syncthreads();
        node += count;
        count = groups;
    }
    if (threadIdx.x == 0) *result = *node;
}

static size_t blockCount(size_t n, int steps) { return (n - 1) / (kSpan * kWarps * steps) + 1; }

// The values that fusedTree's work buffer must hold for n samples: the nodes of all rounds.
static size_t fusedWorkCount(size_t n) {
    size_t count = n == 0 ? 0 : blockCount(n, 1), values = count;
    for (; count > 1; values += count) count = (count + 127) / 128;
    return values;
}

// Enqueues the tree over in[0] .. in[n - 1] on stream: *result is there once the stream has run.
// All pointers are to device memory; work holds capacity values, of which fusedWorkCount(n) are
// used. A block takes 1, 2 or 4 steps: fewer mean more blocks to share a small n, more mean fewer
// nodes on top of a large one, and the bits are the same. Returns null, or the rule that was broken
// or an error that CUDA still held (nothing was computed then), or CUDA's error from a launch.
template <typename Op>
const char* fusedTree(Op op, const TypeOf<Op>* in, size_t n, TypeOf<Op>* work, size_t capacity,
                      TypeOf<Op>* result, cudaStream_t stream, int steps = 2) {
    if (n == 0) return "n is 0: a tree over no sample has no value";
    if (!in || !work || !result) return "a device pointer is null";
    if (capacity < fusedWorkCount(n)) return "the work buffer is too small: see fusedWorkCount(n)";
    if (steps < 1 || kMaxSteps % steps != 0) return "a block takes 1, 2 or 4 steps: whole subtrees";
    const size_t blocks = blockCount(n, steps);
    const int topThreads = blocks < 1024 ? 256 : 1024;
    if (blocks > 0x7fffffff) return "more than 2^31 - 1 blocks: more than a grid has";
    if (cudaPeekAtLastError() != cudaSuccess) return cudaGetErrorString(cudaPeekAtLastError());
    fusedPass<<<(unsigned)blocks, kThreads, 0, stream>>>(op, identityOf(op), in, n, steps, work);
    fusedTop<<<1, topThreads, 0, stream>>>(op, identityOf(op), work, blocks, result);
    const cudaError_t err = cudaPeekAtLastError();
    return err == cudaSuccess ? nullptr : cudaGetErrorString(err);
}

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

#ifndef FUSED_TREE_NO_MAIN
constexpr size_t kLargest = kKnownAnswers[2].n;
static void *g_in, *g_work, *g_result;  // on the device, for every type in turn
static unsigned long long g_runHash = kFnvOffset;

struct PaddedSum : Sum<float> {};  // planted: absent samples count as +0.0
static float identityOf(PaddedSum) { return 0.0f; }

template <typename Op>
unsigned long long fusedBits(Op op, size_t n, int steps) {
    TypeOf<Op> tree, *in = (TypeOf<Op>*)g_in, *work = (TypeOf<Op>*)g_work;
    const size_t capacity = fusedWorkCount(kLargest);
    const char* error = fusedTree(op, in, n, work, capacity, (TypeOf<Op>*)g_result, 0, steps);
    if (error != nullptr) fprintf(stderr, "fusedTree, n = %zu: %s\n", n, error), exit(2);
    CUDA_CHECK(cudaMemcpy(&tree, g_result, sizeof tree, cudaMemcpyDeviceToHost));
    return canonicalBits(tree);
}

// One row: an operator at every size, by small and large blocks, against the known answer where
// there is one, else the definition. Returns the first n that differs, or 0.
template <typename Op>
size_t compare(const char* name, unsigned long long KnownAnswer::*answer) {
    std::vector<TypeOf<Op>> samples(kLargest), node(treeWorkCount(kLargest));
    for (size_t i = 0; i < kLargest; ++i) samples[i] = sampleAt<TypeOf<Op>>(i);
    const auto in = [&samples](size_t i) { return samples[i]; };
    const size_t bytes = sizeof samples[0] * kLargest;
    CUDA_CHECK(cudaMemcpy(g_in, samples.data(), bytes, cudaMemcpyHostToDevice));
    std::vector<size_t> sizes;
    for (size_t n = 1; n <= 2 * kLeaf + 1; ++n) sizes.push_back(n);
    for (const KnownAnswer& k : kKnownAnswers) sizes.push_back(k.n);
    unsigned long long hash = kFnvOffset, bits = 0;
    size_t wrong = 0;
    for (size_t n : sizes) {
        for (size_t leaf = 0; leaf < leafCount(n); ++leaf)
            node[leaf] = hostLeaf(Op(), in, leaf * kLeaf, leafSize(n, leaf));
        unsigned long long want = canonicalBits(hostPairs(Op(), node.data(), leafCount(n)));
        for (const KnownAnswer& k : kKnownAnswers) want = answer && k.n == n ? k.*answer : want;
        for (int steps : {1, kMaxSteps}) {
            bits = fusedBits(Op(), n, steps);
            if (bits != want && wrong == 0) wrong = n;
        }
        hash = fnv1a(hash, bits, (int)sizeof samples[0]);
    }
    g_runHash = fnv1a(g_runHash, hash, 8);
    printf("%-11s %5zu  0x%016llx  0x%016llx\n", name, sizes.size(), bits, hash);
    return wrong;
}

int main(int argc, char**) {
    printHead("canonical_tree/fused_tree", 1, argc);
    printf(
        "n: %zu\n\nOne pass over the samples by blocks of %d and of %d leaves, for n from 1 to\n",
        kLargest, kWarps * kAtOnce, kMaxSteps * kWarps * kAtOnce);
    printf("%zu, %zu, %zu and %zu, against the definition.\n\n", 2 * kLeaf + 1, kKnownAnswers[0].n,
           kKnownAnswers[1].n, kLargest);
    for (void** p : {&g_in, &g_work, &g_result}) CUDA_CHECK(cudaMalloc(p, 8 * kLargest));
    printf("operator    sizes  bits at the last n  hash over all sizes\n");
    const char* rows[] = {"sum float", "sum double", "sum uint32", "max float", "all float"};
    size_t wrong[] = {compare<Sum<float>>(rows[0], &KnownAnswer::floatSum),
                      compare<Sum<double>>(rows[1], &KnownAnswer::doubleSum),
                      compare<Sum<unsigned>>(rows[2], nullptr),
                      compare<Max<float>>(rows[3], nullptr), compare<All<float>>(rows[4], nullptr)};
    const std::vector<float> zeros(1000, -0.0f);  // ragged: 24 slots of the last leaf are absent
    CUDA_CHECK(cudaMemcpy(g_in, zeros.data(), 4 * zeros.size(), cudaMemcpyHostToDevice));
    const unsigned long long tree = fusedBits(Sum<float>(), 1000, 1);
    const unsigned long long padded = fusedBits(PaddedSum(), 1000, 1);
    printf("\n1,000 times -0.0: 0x%08llx; filled up with +0.0: 0x%08llx\n\nrun hash: 0x%016llx\n\n",
           tree, padded, g_runHash);
    for (int r = 0; r < 5; ++r) gate(wrong[r] == 0, rows[r], "first at n = %zu", wrong[r]);
    gate(tree == 0x80000000, "all -0.0 gives -0.0", "0x%08llx", tree);
    gate(padded == 0, "planted: +0.0 is no identity", "0x%08llx, want 0", padded);
    for (void* p : {g_in, g_work, g_result}) CUDA_CHECK(cudaFree(p));
    return finish();
}
#endif
