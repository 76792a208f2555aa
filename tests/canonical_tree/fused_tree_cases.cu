// Every case of the fused tree is compared with a tree written here straight from the definition.
//
//   fused_tree_cases [GROUP ...]
//
// Groups: small leaves powers slots zeros refused captured sizes top big; without one all but big,
// which takes 17 GiB. Prints a line per check with the number of its cases, and on stderr the first
// wrong case of each check. Every check has a fault in faults/ that shows it: fused_tree.bats.
#define FUSED_TREE_NO_MAIN
#include "../../canonical_tree/fused_tree.cu"

#include <initializer_list>
#include <string>

struct Check {
    std::string name;
    int right, wrong;
};
static std::vector<Check> g_checks;
static const char* g_group = "";

// One case of a check of the group that runs; says of the first wrong one what it gave.
static void holds(const std::string& check, bool right, const std::string& gave) {
    const std::string name = g_group + (", " + check);
    size_t c = 0;
    while (c < g_checks.size() && g_checks[c].name != name) ++c;
    if (c == g_checks.size()) g_checks.push_back({name, 0, 0});
    if (right)
        ++g_checks[c].right;
    else if (g_checks[c].wrong++ == 0)
        fprintf(stderr, "wrong: %s: %s\n", name.c_str(), gave.c_str());
}

// The levels above the leaves; each is a new vector.
template <typename Op>
static TypeOf<Op> pairs(Op op, std::vector<TypeOf<Op>> level) {
    while (level.size() > 1) {
        std::vector<TypeOf<Op>> above;
        for (size_t i = 0; i < level.size(); i += 2)
            above.push_back(i + 1 < level.size() ? op(level[i], level[i + 1]) : level[i]);
        level.swap(above);
    }
    return level[0];
}

// The definition, with absent slots marked instead of filled in. A leaf is a vector of present
// flags and values.
template <typename Op>
static TypeOf<Op> reference(Op op, const TypeOf<Op>* in, size_t n) {
    typedef TypeOf<Op> T;
    std::vector<T> level;
    for (size_t first = 0; first < n; first += 256) {
        bool present[256] = {};
        T value[256] = {};
        for (size_t t = 0; t < 256 && first + t < n; ++t) {
            present[t] = true;
            value[t] = op.sample(in[first + t]);
        }
        for (int apart = 128; apart >= 1; apart /= 2)
            for (int t = 0; t < apart; ++t)
                if (present[t + apart]) value[t] = op(value[t], value[t + apart]);
        level.push_back(value[0]);
    }
    return pairs(op, level);
}

// Device memory for one check. The work buffer has exactly the asked capacity; it and the result
// are poisoned with NaN or all ones before each tree.
template <typename Op>
struct Device {
    typedef TypeOf<Op> T;
    T *in, *work, *result;
    explicit Device(size_t n) {
        CUDA_CHECK(cudaMalloc(&in, sizeof(T) * n));
        CUDA_CHECK(cudaMalloc(&work, sizeof(T) * fusedWorkCount(n)));
        CUDA_CHECK(cudaMalloc(&result, sizeof(T)));
    }
    ~Device() {
        for (T* p : {in, work, result}) CUDA_CHECK(cudaFree(p));
    }
    void put(const std::vector<T>& x) {
        CUDA_CHECK(cudaMemcpy(in, x.data(), sizeof(T) * x.size(), cudaMemcpyHostToDevice));
    }
    // Compares the tree over the first n samples on the device with `want`, at the given steps.
    void compare(const char* check, size_t n, std::initializer_list<int> steps, T want,
                 const char* what = "") {
        for (int s : steps) {
            T got;
            CUDA_CHECK(cudaMemset(work, 0xff, sizeof(T) * std::min<size_t>(fusedWorkCount(n), 64)));
            CUDA_CHECK(cudaMemset(result, 0xff, sizeof(T)));
            const char* error = fusedTree(Op(), in, n, work, fusedWorkCount(n), result, 0, s);
            CUDA_CHECK(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
            char gave[200];
            snprintf(gave, sizeof gave, "%sn = %zu, steps = %d: 0x%llx, want 0x%llx %s", what, n, s,
                     canonicalBits(got), canonicalBits(want), error != nullptr ? error : "");
            holds(check, error == nullptr && canonicalBits(got) == canonicalBits(want), gave);
        }
    }
};

template <typename T>
static std::vector<T> samples(size_t n) {
    std::vector<T> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = sampleAt<T>(i);
    return x;
}

// An operator with a sample() that cannot be left out or applied twice.
struct Squares : Sum<unsigned> {
    __host__ __device__ unsigned sample(unsigned x) const { return x * x; }
};

// Every n from 1 to 1,025.
template <typename Op>
static void small(const char* check, std::initializer_list<int> steps) {
    const auto x = samples<TypeOf<Op>>(1025);
    Device<Op> d(x.size());
    d.put(x);
    for (size_t n = 1; n <= x.size(); ++n) d.compare(check, n, steps, reference(Op(), x.data(), n));
}
static void allSmall() {
    small<Sum<float>>("sum float", {1, 2, 4});
    small<Sum<double>>("sum double", {1, 4});
    small<Sum<unsigned>>("sum uint32", {1});
    small<Sum<unsigned long long>>("sum uint64", {1});
    small<Squares>("sum of squares", {1});
    small<Max<float>>("max float", {1});
    small<Max<double>>("max double", {1});
    small<Max<unsigned>>("max uint32", {1});
    small<All<float>>("all float", {1});
}

// Every leaf count from 1 to 1,025, the last leaf ragged; the reference takes each whole leaf once.
static void leafCounts() {
    typedef Sum<float> Op;
    const auto x = samples<float>(1025 * 256);
    Device<Op> d(x.size());
    d.put(x);
    std::vector<float> whole;
    for (size_t leaf = 0; leaf < 1025; ++leaf)
        whole.push_back(reference(Op(), &x[leaf * 256], 256));
    for (size_t leaves = 1; leaves <= 1025; ++leaves) {
        const size_t last = 1 + leaves * 37 % 256, n = (leaves - 1) * 256 + last;
        std::vector<float> level(whole.begin(), whole.begin() + (long)leaves);
        level.back() = reference(Op(), &x[n - last], last);
        d.compare("sum float", n, {leaves % 2 == 0 ? 1 : 4}, pairs(Op(), level));
    }
}

// Around every power of two to 2^20, and around blocks' borders.
template <typename Op>
static void powers(const char* check) {
    const size_t most = 1 << 20;
    const auto x = samples<TypeOf<Op>>(most + 1);
    std::vector<size_t> sizes = {24575, 24577};
    for (size_t p = 2048; p <= most; p *= 2) sizes.insert(sizes.end(), {p - 1, p, p + 1});
    Device<Op> d(x.size());
    d.put(x);
    for (size_t n : sizes) d.compare(check, n, {1, 2, 4}, reference(Op(), x.data(), n));
}
static void allPowers() {
    powers<Sum<float>>("sum float");
    powers<Sum<double>>("sum double");
}

// A special value at every slot of the second leaf, which the tree meets in every lane and
// register.
template <typename Op>
static void slots(const char* check, TypeOf<Op> special, TypeOf<Op> other, const char* what) {
    auto x = samples<TypeOf<Op>>(700);
    x[3] = other;
    Device<Op> d(x.size());
    for (size_t slot = 0; slot < 256; ++slot) {
        const TypeOf<Op> kept = x[256 + slot];
        x[256 + slot] = special;
        d.put(x);
        d.compare(check, x.size(), {1}, reference(Op(), x.data(), x.size()), what);
        x[256 + slot] = kept;
    }
}
template <typename T>
static void slotsOf() {
    const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
    const T least = std::numeric_limits<T>::denorm_min();
    slots<Sum<T>>("sum", nan, T(1), "NaN: ");
    slots<Sum<T>>("sum", inf, T(1), "infinity: ");
    slots<Sum<T>>("sum", inf, -inf, "both infinities: ");
    slots<Max<T>>("max", nan, inf, "NaN beside infinity: ");
    slots<Max<T>>("max", inf, T(1), "infinity: ");
    slots<All<T>>("all", T(0), nan, "one zero: ");
    slots<All<T>>("all", T(-0.0), least, "one -0.0: ");
}
static void allSlots() {
    slotsOf<float>();
    slotsOf<double>();
}

// Signs of zero, subnormals, and inputs of one value that an identity must not touch.
template <typename T>
static void zeros() {
    const T inf = std::numeric_limits<T>::infinity(), least = std::numeric_limits<T>::denorm_min();
    for (size_t n : {1, 2, 255, 256, 257, 1000, 8193, 33000}) {
        std::vector<T> x(n, T(-0.0));
        Device<Sum<T>> sum(n);
        Device<Max<T>> max(n);
        Device<All<T>> all(n);
        const auto compareAll = [&](const char* what) {
            sum.put(x);
            max.put(x);
            all.put(x);
            sum.compare("sum", n, {1, 4}, reference(Sum<T>(), x.data(), n), what);
            max.compare("max", n, {1, 4}, reference(Max<T>(), x.data(), n), what);
            all.compare("all", n, {1, 4}, reference(All<T>(), x.data(), n), what);
        };
        compareAll("all -0.0: ");
        x[n / 2] = T(0);
        compareAll("one +0.0: ");
        for (T value : {-inf, least, T(-1)}) {
            x.assign(n, value);
            compareAll("one value only: ");
        }
    }
}
static void allZeros() {
    zeros<float>();
    zeros<double>();
    const int least = std::numeric_limits<int>::lowest();
    Device<Max<int>> max(1000);
    max.put(std::vector<int>(1000, least));
    for (size_t n : {1, 255, 1000}) max.compare("max int", n, {1, 4}, least);
}

// Refused with a reason. The calls go into a capture: what one of them enqueues is counted there,
// and never runs with its bad pointers.
static void refusals() {
    Device<Sum<float>> d(1000);
    const Sum<float> op;
    const size_t enough = fusedWorkCount(1000);
    const size_t rounds = 8192 * 200, beyond = ((size_t)1 << 44) + 1;  // one step: 2^31 + 1 blocks
    float* const null = nullptr;
    void* huge;
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    size_t nodes = 0;
    const auto refused = [&](const char* rule, const char* error) {
        holds(rule, error != nullptr && strstr(error, rule) != nullptr, error ? error : "accepted");
        cudaGetLastError();  // of a launch that should not have been
    };
    CUDA_CHECK(cudaStreamCreate(&stream));
    const char* earlier = cudaGetErrorString(cudaMalloc(&huge, (size_t)1 << 60));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    refused(earlier, fusedTree(op, d.in, 9, d.work, enough, d.result, stream));
    refused("n is 0", fusedTree(op, d.in, 0, d.work, enough, d.result, stream));
    refused("pointer is null", fusedTree(op, null, 9, d.work, enough, d.result, stream));
    refused("pointer is null", fusedTree(op, d.in, 9, null, enough, d.result, stream));
    refused("pointer is null", fusedTree(op, d.in, 9, d.work, enough, null, stream));
    refused("buffer is too small", fusedTree(op, d.in, 1000, d.work, enough - 1, d.result, stream));
    refused("buffer is too small",
            fusedTree(op, d.in, rounds, d.work, fusedWorkCount(rounds) - 1, d.result, stream));
    for (int steps : {3, 8, -1})
        refused("1, 2 or 4 steps", fusedTree(op, d.in, 9, d.work, enough, d.result, stream, steps));
    refused("2^31 - 1 blocks",
            fusedTree(op, d.in, beyond, d.work, ~(size_t)0, d.result, stream, 1));
    if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) {
        CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
        CUDA_CHECK(cudaGraphDestroy(graph));
    }
    holds("nothing is enqueued", graph != nullptr && nodes == 0, std::to_string(nodes) + " nodes");
    // While a stream is captured, nothing may go into the default one: CUDA refuses the launch.
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const char* error = fusedTree(op, d.in, 9, d.work, enough, d.result, 0);
    holds("a launch's error", error != nullptr, "no error");
    cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    CUDA_CHECK(cudaStreamDestroy(stream));
}

// All of it goes into the stream that was given: captured there, it runs when the graph does.
static void captured() {
    const size_t n = 20000;  // two rounds
    Device<Sum<float>> d(n);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    auto x = samples<float>(n);
    d.put(x);
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const char* error =
        fusedTree(Sum<float>(), d.in, n, d.work, fusedWorkCount(n), d.result, stream);
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    holds("accepted", error == nullptr && ended == cudaSuccess, error != nullptr ? error : "");
    if (error != nullptr || ended != cudaSuccess) return;
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 2; ++launch) {
        x[7] = (float)launch;
        d.put(x);
        float got;
        CUDA_CHECK(cudaMemset(d.result, 0xff, sizeof got));
        CUDA_CHECK(cudaGraphLaunch(exec, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        CUDA_CHECK(cudaMemcpy(&got, d.result, sizeof got, cudaMemcpyDeviceToHost));
        const float want = reference(Sum<float>(), x.data(), n);
        holds("launches", canonicalBits(got) == canonicalBits(want),
              "launch " + std::to_string(launch));
    }
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
}

// 64-bit counts where 32 bits would wrap, without a sample in memory.
static void sizes() {
    const size_t two31 = (size_t)1 << 31, two32 = (size_t)1 << 32;
    const struct {
        size_t n, one, four;
    } blocks[] = {{1, 1, 1},
                  {8192, 1, 1},
                  {8193, 2, 1},
                  {two31 - 1, 262144, 65536},
                  {two31, 262144, 65536},
                  {two31 + 1, 262145, 65537},
                  {two32, 524288, 131072},
                  {two32 + 1, 524289, 131073}};
    for (const auto& b : blocks) {
        holds("blocks", blockCount(b.n, 1) == b.one && blockCount(b.n, 4) == b.four,
              "n = " + std::to_string(b.n));
        size_t need = 0;  // as the rounds of fusedTop use it, from either number of blocks
        for (size_t count : {b.one, b.four}) {
            size_t values = count;
            for (; count > 1; values += count) count = count / 128 + (count % 128 != 0);
            need = std::max(need, values);
        }
        holds("work", fusedWorkCount(b.n) == need, "n = " + std::to_string(b.n));
    }
}

// The levels above alone. 32 warps take 4,096 nodes; above that, some take more groups than one.
static void top() {
    for (size_t count : {4096, 4097, 5000, 9000}) {
        const std::vector<float> level = samples<float>(count);
        const size_t bytes = sizeof(float) * count;
        float *node, *result, got;
        CUDA_CHECK(cudaMalloc(&node, 2 * bytes));
        CUDA_CHECK(cudaMalloc(&result, sizeof got));
        CUDA_CHECK(cudaMemset(node, 0xff, 2 * bytes));
        CUDA_CHECK(cudaMemcpy(node, level.data(), bytes, cudaMemcpyHostToDevice));
        fusedTop<<<1, 1024>>>(Sum<float>(), identityOf(Sum<float>()), node, count, result);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
        holds("sum float", canonicalBits(got) == canonicalBits(pairs(Sum<float>(), level)),
              std::to_string(count) + " nodes");
        for (float* p : {node, result}) CUDA_CHECK(cudaFree(p));
    }
}

// More than 2^32 samples on a card: against the leaves of the definition, from samples that are
// computed anew on the host, so that no host memory of that size is needed.
__global__ void fillSamples(float* in, size_t n) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        in[i] = sampleAt<float>(i);
}
static void big() {
    const size_t n = ((size_t)1 << 32) + 1234567;
    Device<Sum<float>> d(n);
    fillSamples<<<4096, 256>>>(d.in, n);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> node((n + 255) / 256);
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
    for (long long leaf = 0; leaf < (long long)node.size(); ++leaf) {
        float x[256];
        const size_t first = (size_t)leaf * 256, count = std::min<size_t>(256, n - first);
        for (size_t t = 0; t < count; ++t) x[t] = sampleAt<float>(first + t);
        node[(size_t)leaf] = reference(Sum<float>(), x, count);
    }
    for (size_t count = node.size(); count > 1; count = (count + 1) / 2) {
        for (size_t i = 0; i < count / 2; ++i) node[i] = node[2 * i] + node[2 * i + 1];
        if (count % 2 != 0) node[count / 2] = node[count - 1];
    }
    d.compare("sum float", n, {1, 2, 4}, node[0]);
}

int main(int argc, char** argv) {
    const struct {
        const char* name;
        void (*run)();
    } groups[] = {{"small", allSmall},    {"leaves", leafCounts},
                  {"powers", allPowers},  {"slots", allSlots},
                  {"zeros", allZeros},    {"refused", refusals},
                  {"captured", captured}, {"sizes", sizes},
                  {"top", top},           {"big", big}};
    int known = 0;
    int wrong = 0;
    for (const auto& group : groups) {
        bool chosen = argc == 1 && group.run != big;
        for (int a = 1; a < argc; ++a)
            if (strcmp(argv[a], group.name) == 0) chosen = ++known;
        g_group = group.name;
        if (chosen) group.run();
    }
    if (known != argc - 1) {
        fprintf(stderr, "usage: fused_tree_cases [GROUP ...]: an unknown group\n");
        return 2;
    }
    for (const Check& check : g_checks) {
        printf("%s: %d right, %d wrong\n", check.name.c_str(), check.right, check.wrong);
        wrong += check.wrong;
    }
    return wrong == 0 ? 0 : 1;
}
