// The canonical tree at memory speed: one pass over the samples, the bits of the definition.
//
// A warp takes four leaves at once, eight samples of each per lane: strides 128, 64 and 32 are
// operations inside a lane, 16 to 1 go by shuffles, and one node per block is all that is stored.
// The operator's identity stands in for absent samples, so that every subtree is a full one.
//
//   nvcc -std=c++17 -O3 -o fused_tree fused_tree.cu
//   nvcc -std=c++17 -O3 -fmad=false -o fused_tree_nofmad fused_tree.cu
//   ./fused_tree; ./fused_tree_nofmad
//
// The definition, the operators and the samples are canonical_tree.cu's, which must stand beside
// this file. -DFUSED_TREE_NO_MAIN leaves main out, for programs that include this one. Exit status:
// 0 all gates passed, 1 a gate failed, 2 the work could not be done, 77 no usable CUDA device.
#define CANONICAL_TREE_NO_MAIN
#include "canonical_tree.cu"

#include <limits>

constexpr int kThreads = 256;  // per block
constexpr int kWarps = kThreads / 32;
constexpr int kLane = kLeaf / 32;       // samples of a leaf that one lane holds
constexpr int kAtOnce = 4;              // leaves in flight per warp: they keep the memory busy
constexpr int kMaxSteps = 32 / kWarps;  // a block's nodes, one per warp and step, must fit one warp
constexpr size_t kSpan = kAtOnce * kLeaf;  // samples per warp and step
static_assert(kThreads % 32 == 0 && kThreads <= 1024,
              "a block is whole warps, at most 1,024 threads");
static_assert((kAtOnce & (kAtOnce - 1)) == 0, "a warp's leaves must be one whole subtree");

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

// 32 neighbouring nodes, one per lane, pairwise; lane 0 gets their subtree.
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

static size_t blockCount(size_t n, int steps) { return (n - 1) / (kSpan * kWarps * steps) + 1; }

// The values that fusedTree's work buffer must hold for n samples: the nodes of all rounds.
static size_t fusedWorkCount(size_t n) {
    size_t count = n == 0 ? 0 : blockCount(n, 1);
    size_t values = count;
    while (count > 1) {
        count = (count + 127) / 128;
        values += count;
    }
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

#ifndef FUSED_TREE_NO_MAIN
constexpr size_t kLargest = kKnownAnswers[2].n;
static void* g_in;  // on the device, for every type in turn
static void* g_work;
static void* g_result;
static unsigned long long g_runHash = kFnvOffset;

// The bits of the fused tree over the first n samples on the device.
template <typename Op>
unsigned long long fusedBits(Op op, size_t n, int steps) {
    typedef TypeOf<Op> T;
    T tree;
    const char* error =
        fusedTree(op, (T*)g_in, n, (T*)g_work, fusedWorkCount(kLargest), (T*)g_result, 0, steps);
    if (error != nullptr) {
        fprintf(stderr, "fusedTree, n = %zu: %s\n", n, error);
        exit(2);
    }
    CUDA_CHECK(cudaMemcpy(&tree, g_result, sizeof tree, cudaMemcpyDeviceToHost));
    return canonicalBits(tree);
}

// The bits that the definition gives; node is memory for its leaves.
template <typename Op>
unsigned long long definedBits(Op op, const TypeOf<Op>* x, size_t n, TypeOf<Op>* node) {
    const auto in = [x](size_t i) { return x[i]; };
    for (size_t leaf = 0; leaf < leafCount(n); ++leaf)
        node[leaf] = hostLeaf(op, in, leaf * kLeaf, leafSize(n, leaf));
    return canonicalBits(hostPairs(op, node, leafCount(n)));
}

// The sizes that are compared: every one up to kSmall, then those with known answers.
constexpr int kSmall = 2 * (int)kLeaf + 1;
constexpr int kSizes = kSmall + 3;
static size_t sizeAt(int s) { return s < kSmall ? (size_t)s + 1 : kKnownAnswers[s - kSmall].n; }

// One row: an operator at every size, by the smallest and the largest blocks, against the known
// answer (a member of KnownAnswer) where there is one, else against the definition. Returns the
// first n that differs, or 0.
template <typename Op>
size_t compareSizes(const char* name, unsigned long long KnownAnswer::*answer) {
    typedef TypeOf<Op> T;
    std::vector<T> samples(kLargest);
    std::vector<T> node(treeWorkCount(kLargest));
    for (size_t i = 0; i < kLargest; ++i) samples[i] = sampleAt<T>(i);
    CUDA_CHECK(cudaMemcpy(g_in, samples.data(), sizeof(T) * kLargest, cudaMemcpyHostToDevice));
    unsigned long long hash = kFnvOffset;
    unsigned long long bits = 0;
    size_t firstWrong = 0;
    for (int s = 0; s < kSizes; ++s) {
        const size_t n = sizeAt(s);
        unsigned long long want = definedBits(Op(), samples.data(), n, node.data());
        for (const KnownAnswer& known : kKnownAnswers)
            if (answer != nullptr && known.n == n) want = known.*answer;
        for (int steps : {1, kMaxSteps}) {
            bits = fusedBits(Op(), n, steps);
            if (bits != want && firstWrong == 0) firstWrong = n;
        }
        hash = fnv1a(hash, bits, (int)sizeof(T));
    }
    g_runHash = fnv1a(g_runHash, hash, 8);
    printf("%-11s %5d  0x%016llx  0x%016llx\n", name, kSizes, bits, hash);
    return firstWrong;
}

template <typename Op>
unsigned long long bitsOf(Op op, const std::vector<float>& x) {
    CUDA_CHECK(cudaMemcpy(g_in, x.data(), sizeof(float) * x.size(), cudaMemcpyHostToDevice));
    return fusedBits(op, x.size(), 1);
}

// What a wrong maximum shows: NaN must win, and +0.0 over -0.0, from every place. Slot 0 is the
// left operand at every node, the last slot the right one, the middle one is both. The wanted bits
// are written down, since the definition on the host has the same operator, with the same faults.
static void tableMax() {
    constexpr size_t n = 1793;  // eight leaves, the last of one sample
    constexpr size_t kSlots[] = {0, n / 2, n - 1};
    const float infinity = std::numeric_limits<float>::infinity();
    const struct {
        const char* name;
        float one;
        float others;
        unsigned long long want;
    } rows[] = {
        {"NaN, else infinity", std::numeric_limits<float>::quiet_NaN(), infinity, 0x7fc00000},
        {"+0.0, else -0.0", 0.0f, -0.0f, 0},
        {"-0.0, else +0.0", -0.0f, 0.0f, 0},
        {"-0.0 alone", -0.0f, -0.0f, 0x80000000},
        {"-infinity alone", -infinity, -infinity, 0xff800000}};
    const char* wrongRow = nullptr;
    size_t wrongSlot = 0;
    printf("\nmax of %zu floats    at slot %-4zu  at slot %-4zu  at slot %-4zu  wanted\n", n,
           kSlots[0], kSlots[1], kSlots[2]);
    for (const auto& row : rows) {
        printf("%-19s", row.name);
        for (size_t slot : kSlots) {
            std::vector<float> x(n, row.others);
            x[slot] = row.one;
            const unsigned long long bits = bitsOf(Max<float>(), x);
            printf("  0x%08llx  ", bits);
            if (bits != row.want && wrongRow == nullptr) {
                wrongRow = row.name;
                wrongSlot = slot;
            }
        }
        printf("  0x%08llx\n", row.want);
    }
    puts("");
    gate(wrongRow == nullptr, "max: NaN and signs of zero", "first: %s, slot %zu", wrongRow,
         wrongSlot);
}

struct PaddedSum : Sum<float> {};  // planted: absent samples count as +0.0
static float identityOf(PaddedSum) { return 0.0f; }

// Absent samples: a sum of -0.0 over a ragged leaf keeps its sign, and a wrong identity loses it.
static void tableAbsent() {
    const std::vector<float> zeros(1000, -0.0f);  // 24 slots of the last leaf are absent
    const unsigned long long tree = bitsOf(Sum<float>(), zeros);
    const unsigned long long padded = bitsOf(PaddedSum(), zeros);
    printf("\n1,000 times -0.0: 0x%08llx; filled up with +0.0: 0x%08llx\n\n", tree, padded);
    gate(tree == 0x80000000, "all -0.0 gives -0.0", "0x%08llx", tree);
    gate(padded == 0, "planted: +0.0 is no identity", "0x%08llx, want 0", padded);
}

int main(int argc, char**) {
    printHead("canonical_tree/fused_tree", 2, argc);
    printf("n: %zu\n\n", kLargest);
    printf("One pass over the samples by blocks of %d and of %d leaves, for n from 1 to\n",
           kWarps * kAtOnce, kMaxSteps * kWarps * kAtOnce);
    printf("%d, %zu, %zu and %zu, against the definition.\n\n", kSmall, kKnownAnswers[0].n,
           kKnownAnswers[1].n, kLargest);
    const size_t bytes = sizeof(double) * kLargest;
    CUDA_CHECK(cudaMalloc(&g_in, bytes));
    CUDA_CHECK(cudaMalloc(&g_work, sizeof(double) * fusedWorkCount(kLargest)));
    CUDA_CHECK(cudaMalloc(&g_result, sizeof(double)));
    const char* names[] = {"sum float", "sum double", "sum uint32", "max float", "all float"};
    printf("operator    sizes  bits at the last n  hash over all sizes\n");
    const size_t firstWrong[] = {compareSizes<Sum<float>>(names[0], &KnownAnswer::floatSum),
                                 compareSizes<Sum<double>>(names[1], &KnownAnswer::doubleSum),
                                 compareSizes<Sum<unsigned>>(names[2], nullptr),
                                 compareSizes<Max<float>>(names[3], nullptr),
                                 compareSizes<All<float>>(names[4], nullptr)};
    printf("\nrun hash: 0x%016llx\n\n", g_runHash);
    for (int r = 0; r < 5; ++r)
        gate(firstWrong[r] == 0, names[r], "first at n = %zu", firstWrong[r]);
    tableMax();
    tableAbsent();
    CUDA_CHECK(cudaFree(g_in));
    CUDA_CHECK(cudaFree(g_work));
    CUDA_CHECK(cudaFree(g_result));
    return finish();
}
#endif
