// The canonical tree in CUDA graphs: captured once, launched a hundred times, the same bits.
//
// Three graphs: the tree of canonical_tree.cu, launched over changing input; a fork and a join,
// where two streams fill the input before the tree; and one in which the host computes the tree.
//
//   nvcc -std=c++17 -O3 -o tree_in_graph tree_in_graph.cu
//   nvcc -std=c++17 -O3 -fmad=false -o tree_in_graph_nofmad tree_in_graph.cu
//   ./tree_in_graph; ./tree_in_graph_nofmad
//
// The definition, the operators and the samples are canonical_tree.cu's, which must stand beside
// this file. -DELEMENTS=n changes the size of the second and third graph. Exit status: 0 all gates
// passed, 1 a gate failed, 2 the work could not be done, 77 no usable CUDA device.
#define CANONICAL_TREE_NO_MAIN
#include "canonical_tree.cu"

static_assert(kElements >= 2, "each stream of the fork fills a half: ELEMENTS must be 2 or more");
constexpr size_t kSmall = 33 * kLeaf + 1;  // the size of the first graph: 34 leaves, the last of 1
constexpr int kSmallLaunches = 100;
constexpr int kLargeLaunches = 2;  // of the second and third graph

// Sample i of a launch: other samples for each, and in every second one a zero, for all's sake.
template <typename T>
__host__ __device__ T inputSample(size_t launch, size_t n, size_t i) {
    return launch % 2 == 1 && i == launch * 661 % n ? T(0) : sampleAt<T>(launch * n + i);
}

// A graph's arguments are fixed when it is captured, so the launch's number stands in memory.
template <typename T>
__global__ void fillInput(const size_t* launch, size_t n, size_t first, size_t end, T* in) {
    const size_t i = first + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end) in[i] = inputSample<T>(*launch, n, i);
}

template <typename T>
__global__ void readTotal(const T* total, T* seen) {
    *seen = *total;
}

// What a graph works on.
template <typename T>
struct Buffers {
    size_t n;        // samples
    size_t* launch;  // on the device, as the five below: the launch's number
    T* in;
    T* work0;
    T* work1;
    T* total;
    T* hostIn;  // in pinned host memory, as the two below: for the tree on the host
    T* hostTotal;
    T* seen;  // what the graph's last kernel read of the total
};
static cudaStream_t g_stream;
static cudaStream_t g_other;

template <typename T>
void fill(const Buffers<T>& b, size_t first, size_t end, cudaStream_t stream) {
    const unsigned blocks = (unsigned)leafCount(end - first);
    fillInput<<<blocks, (unsigned)kLeaf, 0, stream>>>(b.launch, b.n, first, end, b.in);
}

// Graph 1: the tree, and a kernel that reads its total.
template <typename Op>
void treeAlone(Op op, Buffers<TypeOf<Op>>& b) {
    const char* error =
        deviceTree(op, b.in, b.n, nullptr, b.work0, b.work1, treeWorkCount(b.n), b.total, g_stream);
    if (error != nullptr) {
        fprintf(stderr, "deviceTree: %s\n", error);
        exit(2);
    }
    readTotal<<<1, 1, 0, g_stream>>>(b.total, b.seen);
}

// Graph 2: two streams fill a half each. Events, not pointers, say that the tree waits for both.
// snippet: forkJoin
template <typename Op>
void forkJoin(Op op, Buffers<TypeOf<Op>>& b) {
    cudaEvent_t fork, join;
    CUDA_CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventRecord(fork, g_stream));
    CUDA_CHECK(cudaStreamWaitEvent(g_other, fork, 0));
    fill(b, 0, b.n / 2, g_stream);
    fill(b, b.n / 2, b.n, g_other);
    CUDA_CHECK(cudaEventRecord(join, g_other));
    CUDA_CHECK(cudaStreamWaitEvent(g_stream, join, 0));
    treeAlone(op, b);
    CUDA_CHECK(cudaEventDestroy(fork));
    CUDA_CHECK(cudaEventDestroy(join));
}
// end snippet

// The tree as the definition reads, on one thread of the host.
template <typename Op, typename In>
TypeOf<Op> treeOnHost(Op op, size_t n, In in) {
    std::vector<TypeOf<Op>> node(leafCount(n));
    for (size_t leaf = 0; leaf < node.size(); ++leaf)
        node[leaf] = hostLeaf(op, in, leaf * kLeaf, leafSize(n, leaf));
    return hostPairs(op, node.data(), node.size());
}

// What graph 3's host node calls, on a thread of CUDA's, which may not call CUDA.
template <typename Op>
void CUDART_CB computeOnHost(void* data) {
    const Buffers<TypeOf<Op>>& b = *(Buffers<TypeOf<Op>>*)data;
    *b.hostTotal = treeOnHost(Op(), b.n, [&b](size_t i) { return b.hostIn[i]; });
}

// Graph 3: the input goes to the host, the host computes the tree, its total goes back.
template <typename Op>
void hostNode(Op, Buffers<TypeOf<Op>>& b) {
    const size_t size = sizeof(TypeOf<Op>);
    fill(b, 0, b.n, g_stream);
    CUDA_CHECK(cudaMemcpyAsync(b.hostIn, b.in, size * b.n, cudaMemcpyDeviceToHost, g_stream));
    CUDA_CHECK(cudaLaunchHostFunc(g_stream, computeOnHost<Op>, &b));
    CUDA_CHECK(cudaMemcpyAsync(b.total, b.hostTotal, size, cudaMemcpyHostToDevice, g_stream));
    readTotal<<<1, 1, 0, g_stream>>>(b.total, b.seen);
}

template <typename T>
void allocate(Buffers<T>* b, size_t n) {
    const size_t work = sizeof(T) * treeWorkCount(n);
    b->n = n;
    CUDA_CHECK(cudaMalloc(&b->launch, sizeof(size_t)));
    CUDA_CHECK(cudaMalloc(&b->in, sizeof(T) * n));
    CUDA_CHECK(cudaMalloc(&b->work0, work));
    CUDA_CHECK(cudaMalloc(&b->work1, work));
    CUDA_CHECK(cudaMalloc(&b->total, sizeof(T)));
    CUDA_CHECK(cudaMallocHost(&b->hostIn, sizeof(T) * n));
    CUDA_CHECK(cudaMallocHost(&b->hostTotal, sizeof(T)));
    CUDA_CHECK(cudaMallocHost(&b->seen, sizeof(T)));
}

// NaN, or ones, in all that a launch must write anew: a graph that did nothing would show it.
template <typename T>
void poison(const Buffers<T>& b) {
    const size_t work = sizeof(T) * treeWorkCount(b.n);
    CUDA_CHECK(cudaMemset(b.in, 0xff, sizeof(T) * b.n));
    CUDA_CHECK(cudaMemset(b.work0, 0xff, work));
    CUDA_CHECK(cudaMemset(b.work1, 0xff, work));
    CUDA_CHECK(cudaMemset(b.total, 0xff, sizeof(T)));
    memset((void*)b.hostIn, 0xff, sizeof(T) * b.n);
    memset((void*)b.hostTotal, 0xff, sizeof(T));
    memset((void*)b.seen, 0xff, sizeof(T));
}

template <typename T>
void release(const Buffers<T>& b) {
    CUDA_CHECK(cudaFree(b.launch));
    CUDA_CHECK(cudaFree(b.in));
    CUDA_CHECK(cudaFree(b.work0));
    CUDA_CHECK(cudaFree(b.work1));
    CUDA_CHECK(cudaFree(b.total));
    CUDA_CHECK(cudaFreeHost(b.hostIn));
    CUDA_CHECK(cudaFreeHost(b.hostTotal));
    CUDA_CHECK(cudaFreeHost(b.seen));
}

static unsigned long long g_runHash = kFnvOffset;

// Captures what enqueue(op, b) enqueues, once, and launches it on ever new input, all else
// poisoned. Each launch must give the host's bits; the first also *known, where known is not null.
// Returns the first launch that did not, or -1.
template <typename Op>
int launchMany(const char* name, Op op, void (*enqueue)(Op, Buffers<TypeOf<Op>>&), size_t n,
               int launches, const unsigned long long* known) {
    typedef TypeOf<Op> T;
    const bool fillsItself = enqueue != treeAlone<Op>;
    Buffers<T> b;
    allocate(&b, n);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA_CHECK(cudaStreamBeginCapture(g_stream, cudaStreamCaptureModeGlobal));
    enqueue(op, b);
    CUDA_CHECK(cudaStreamEndCapture(g_stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    unsigned long long first = 0;
    unsigned long long hash = kFnvOffset;
    int same = 0;
    int firstWrong = -1;
    for (int launch = 0; launch < launches; ++launch) {
        const size_t number = (size_t)launch;
        poison(b);
        CUDA_CHECK(cudaMemcpy(b.launch, &number, sizeof number, cudaMemcpyHostToDevice));
        if (!fillsItself) fill(b, 0, n, g_stream);
        CUDA_CHECK(cudaGraphLaunch(exec, g_stream));
        CUDA_CHECK(cudaStreamSynchronize(g_stream));
        const auto in = [=](size_t i) { return inputSample<T>(number, n, i); };
        const unsigned long long bits = canonicalBits(*b.seen);
        bool right = bits == canonicalBits(treeOnHost(op, n, in));
        if (right) ++same;
        if (launch == 0) {
            first = bits;
            if (known != nullptr && bits != *known) right = false;
        }
        if (!right && firstWrong < 0) firstWrong = launch;
        hash = fnv1a(hash, bits, 8);
    }
    printf("%-26s %7zu  %8d  %4d  0x%016llx  0x%016llx\n", name, n, launches, same, first, hash);
    g_runHash = fnv1a(g_runHash, hash, 8);
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    CUDA_CHECK(cudaGraphDestroy(graph));
    release(b);
    return firstWrong;
}

int main(int argc, char**) {
    printHead("canonical_tree/tree_in_graph", 1, argc);
    printf("n: %zu\n\n", kElements);
    puts("Each graph is captured once and launched again and again. Before a launch its input is\n"
         "changed, and its output and work buffers are poisoned. 'same' counts the launches that\n"
         "gave the host's bits; the first of the long ones must give the known answer.\n");
    CUDA_CHECK(cudaStreamCreate(&g_stream));
    CUDA_CHECK(cudaStreamCreate(&g_other));
    const KnownAnswer& known = kKnownAnswers[2];
    const bool isKnown = kElements == known.n;
    const unsigned long long* floatSum = isKnown ? &known.floatSum : nullptr;
    const unsigned long long* doubleSum = isKnown ? &known.doubleSum : nullptr;
    constexpr int kRows = 8;
    const char* names[kRows] = {"tree, float sum",          "tree, float max",
                                "tree, float all",          "tree, integer mix",
                                "fork and join, float sum", "fork and join, double sum",
                                "host node, float sum",     "host node, double sum"};
    int wrong[kRows];
    printf("graph                            n  launches  same  first bits          hash of all\n");
    const Sum<float> floats;
    const Sum<double> doubles;
    wrong[0] = launchMany(names[0], floats, treeAlone, kSmall, kSmallLaunches, nullptr);
    wrong[1] = launchMany(names[1], Max<float>(), treeAlone, kSmall, kSmallLaunches, nullptr);
    wrong[2] = launchMany(names[2], All<float>(), treeAlone, kSmall, kSmallLaunches, nullptr);
    wrong[3] = launchMany(names[3], Mix(), treeAlone, kSmall, kSmallLaunches, nullptr);
    wrong[4] = launchMany(names[4], floats, forkJoin, kElements, kLargeLaunches, floatSum);
    wrong[5] = launchMany(names[5], doubles, forkJoin, kElements, kLargeLaunches, doubleSum);
    wrong[6] = launchMany(names[6], floats, hostNode, kElements, kLargeLaunches, floatSum);
    wrong[7] = launchMany(names[7], doubles, hostNode, kElements, kLargeLaunches, doubleSum);
    printf("\nrun hash: 0x%016llx\n\n", g_runHash);
    for (int r = 0; r < kRows; ++r) gate(wrong[r] < 0, names[r], "first: launch %d", wrong[r]);
    CUDA_CHECK(cudaStreamDestroy(g_stream));
    CUDA_CHECK(cudaStreamDestroy(g_other));
    return finish();
}
