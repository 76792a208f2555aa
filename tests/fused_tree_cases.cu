// Every case of the fused tree is compared with a tree written here straight from the definition.
// Arguments name the groups of cases; prints how many trees agreed, and on stderr those that did
// not.
//
//   cases GROUP ...    groups: small leaves powers slots zeros refused captured sizes big
#define FUSED_TREE_NO_MAIN
#include "../canonical_tree/fused_tree.cu"

#include <cmath>
#include <initializer_list>
#include <string>

static long long g_agreed = 0;
static int g_differ = 0;
static const char* g_group = "";

static void differ(const std::string& what) {
    if (g_differ++ < 20) fprintf(stderr, "%s: %s\n", g_group, what.c_str());
}

// The definition, with absent slots marked instead of filled in. A leaf is a vector of present
// flags and values; a level is a new vector.
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
    while (level.size() > 1) {
        std::vector<T> above;
        for (size_t i = 0; i < level.size(); i += 2)
            above.push_back(i + 1 < level.size() ? op(level[i], level[i + 1]) : level[i]);
        level.swap(above);
    }
    return level[0];
}

// Device memory for one group; freed at its end. The work buffer has exactly the asked capacity and
// is poisoned with NaN or all ones before each tree.
template <typename Op>
struct Device {
    typedef TypeOf<Op> T;
    size_t most;
    T *in, *work, *result;
    explicit Device(size_t n) : most(n) {
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
    T tree(size_t n, int steps) {
        T got;
        CUDA_CHECK(cudaMemset(work, 0xff, sizeof(T) * std::min<size_t>(fusedWorkCount(n), 64)));
        CUDA_CHECK(cudaMemset(result, 0xff, sizeof(T)));
        const char* error = fusedTree(Op(), in, n, work, fusedWorkCount(n), result, 0, steps);
        if (error != nullptr) differ("n = " + std::to_string(n) + " refused: " + error);
        CUDA_CHECK(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
        return got;
    }
    // Compares the tree over x[0] .. x[n - 1], which lie on the device, at the given steps.
    void check(const T* x, size_t n, std::initializer_list<int> steps, const char* what = "") {
        const unsigned long long want = canonicalBits(reference(Op(), x, n));
        for (int s : steps) {
            const unsigned long long got = canonicalBits(tree(n, s));
            char line[200];
            snprintf(line, sizeof line, "%sn = %zu, steps = %d: 0x%llx, want 0x%llx", what, n, s,
                     got, want);
            if (got == want)
                ++g_agreed;
            else
                differ(line);
        }
    }
};

template <typename T>
static std::vector<T> samples(size_t n) {
    std::vector<T> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = sampleAt<T>(i);
    return x;
}

// Every n from 1 to 1,025.
template <typename Op>
static void small(std::initializer_list<int> steps) {
    const auto x = samples<TypeOf<Op>>(1025);
    Device<Op> d(x.size());
    d.put(x);
    for (size_t n = 1; n <= x.size(); ++n) d.check(x.data(), n, steps);
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
        while (level.size() > 1) {
            for (size_t i = 0; i < level.size() / 2; ++i)
                level[i] = level[2 * i] + level[2 * i + 1];
            if (level.size() % 2 != 0) level[level.size() / 2] = level.back();
            level.resize((level.size() + 1) / 2);
        }
        const int steps = leaves % 2 == 0 ? 1 : 4;
        if (canonicalBits(d.tree(n, steps)) == canonicalBits(level[0]))
            ++g_agreed;
        else
            differ(std::to_string(leaves) + " leaves, n = " + std::to_string(n) +
                   ", steps = " + std::to_string(steps));
    }
}

// Around every power of two to 2^20, and around blocks' borders.
template <typename Op>
static void powers(size_t most) {
    const auto x = samples<TypeOf<Op>>(most + 1);
    Device<Op> d(x.size());
    d.put(x);
    for (size_t p = 2048; p <= most; p *= 2)
        for (size_t n : {p - 1, p, p + 1}) d.check(x.data(), n, {1, 2, 4});
    for (size_t n : {8191, 8192, 8193, 24575, 24577, 32769, 131071, 131073})
        d.check(x.data(), n, {1, 2, 4});
}

// A special value at every slot of the second leaf, which the tree meets in every lane and
// register.
template <typename Op>
static void slots(TypeOf<Op> special, TypeOf<Op> other, const char* what) {
    auto x = samples<TypeOf<Op>>(700);
    x[3] = other;
    Device<Op> d(x.size());
    for (size_t slot = 0; slot < 256; ++slot) {
        const TypeOf<Op> kept = x[256 + slot];
        x[256 + slot] = special;
        d.put(x);
        d.check(x.data(), x.size(), {1}, what);
        x[256 + slot] = kept;
    }
}
template <typename T>
static void allSlots() {
    const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
    const T least = std::numeric_limits<T>::denorm_min();
    slots<Sum<T>>(nan, T(1), "sum, NaN: ");
    slots<Sum<T>>(inf, T(1), "sum, infinity: ");
    slots<Sum<T>>(inf, -inf, "sum, both infinities: ");
    slots<Max<T>>(nan, inf, "max, NaN beside infinity: ");
    slots<Max<T>>(inf, T(1), "max, infinity: ");
    slots<All<T>>(T(0), nan, "all, one zero: ");
    slots<All<T>>(T(-0.0), least, "all, one -0.0: ");
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
        const auto checkAll = [&](const char* what) {
            sum.put(x);
            max.put(x);
            all.put(x);
            sum.check(x.data(), n, {1, 4}, what);
            max.check(x.data(), n, {1, 4}, what);
            all.check(x.data(), n, {1, 4}, what);
        };
        checkAll("all -0.0: ");
        if (canonicalBits(sum.tree(n, 2)) != canonicalBits(T(-0.0))) differ("-0.0s give no -0.0");
        x[n / 2] = T(0);
        checkAll("one +0.0: ");
        for (T value : {-inf, least, T(-1)}) {
            x.assign(n, value);
            checkAll("one value only: ");
        }
    }
}

// Refused with a reason, and nothing written.
static void refusals() {
    Device<Sum<float>> d(1000);
    const Sum<float> op;
    const size_t enough = fusedWorkCount(1000);
    const float* none = nullptr;
    const float mark = 42.0f;
    for (float* p : {d.result, d.work})
        CUDA_CHECK(cudaMemcpy(p, &mark, sizeof mark, cudaMemcpyHostToDevice));
    const size_t rounds = 8192 * 200, beyond = ((size_t)1 << 44) + 1;  // one step: 2^31 + 1 blocks
    const struct {
        const char *error, *rule;
    } refused[] = {
        {fusedTree(op, d.in, 0, d.work, enough, d.result, 0), "n is 0"},
        {fusedTree(op, none, 9, d.work, enough, d.result, 0), "pointer is null"},
        {fusedTree(op, d.in, 9, (float*)nullptr, enough, d.result, 0), "pointer is null"},
        {fusedTree(op, d.in, 9, d.work, enough, (float*)nullptr, 0), "pointer is null"},
        {fusedTree(op, d.in, 1000, d.work, enough - 1, d.result, 0), "work buffer"},
        {fusedTree(op, d.in, rounds, d.work, fusedWorkCount(rounds) - 1, d.result, 0),
         "work buffer"},
        {fusedTree(op, d.in, beyond, d.work, ~(size_t)0, d.result, 0, 1), "2^31 - 1 blocks"},
        {fusedTree(op, d.in, 9, d.work, enough, d.result, 0, 3), "1, 2 or 4 steps"},
        {fusedTree(op, d.in, 9, d.work, enough, d.result, 0, 8), "1, 2 or 4 steps"},
        {fusedTree(op, d.in, 9, d.work, enough, d.result, 0, -1), "1, 2 or 4 steps"},
    };
    for (const auto& r : refused) {
        if (r.error == nullptr || strstr(r.error, r.rule) == nullptr)
            differ(std::string("not refused for: ") + r.rule);
        ++g_agreed;
    }
    const auto untouched = [&] {
        float after[2];
        CUDA_CHECK(cudaMemcpy(&after[0], d.result, sizeof mark, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(&after[1], d.work, sizeof mark, cudaMemcpyDeviceToHost));
        return after[0] == mark && after[1] == mark;
    };
    if (!untouched()) differ("a refused call wrote something");
    // An error that CUDA still held.
    void* huge;
    const cudaError_t earlier = cudaMalloc(&huge, (size_t)1 << 60);
    const char* error = fusedTree(op, d.in, 1000, d.work, enough, d.result, 0);
    cudaGetLastError();
    if (earlier == cudaSuccess || !error || strcmp(error, cudaGetErrorString(earlier)) != 0)
        differ("an earlier error was not returned");
    if (!untouched()) differ("something was computed after an earlier error");
    ++g_agreed;
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
    if (error != nullptr) differ(error);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 2; ++launch) {
        x[7] = (float)launch;
        d.put(x);
        float got;
        CUDA_CHECK(cudaMemset(d.result, 0xff, sizeof got));
        CUDA_CHECK(cudaGraphLaunch(exec, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        CUDA_CHECK(cudaMemcpy(&got, d.result, sizeof got, cudaMemcpyDeviceToHost));
        if (canonicalBits(got) == canonicalBits(reference(Sum<float>(), x.data(), n)))
            ++g_agreed;
        else
            differ("launch " + std::to_string(launch));
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
        if (blockCount(b.n, 1) != b.one || blockCount(b.n, 4) != b.four)
            differ("blocks for n = " + std::to_string(b.n));
        size_t need = 0;  // as the rounds of fusedTop use it, from either number of blocks
        for (size_t count : {b.one, b.four}) {
            size_t values = count;
            for (; count > 1; values += count) count = count / 128 + (count % 128 != 0);
            need = std::max(need, values);
        }
        if (fusedWorkCount(b.n) < need) differ("work for n = " + std::to_string(b.n));
        g_agreed += 2;
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
    for (int steps : {1, 2, 4}) {
        const float got = d.tree(n, steps);
        printf("n = %zu, %d steps: 0x%08llx, host 0x%08llx\n", n, steps, canonicalBits(got),
               canonicalBits(node[0]));
        if (canonicalBits(got) == canonicalBits(node[0]))
            ++g_agreed;
        else
            differ("more than 2^32 samples");
    }
}

int main(int argc, char** argv) {
    int known = 0;
    for (int a = 1; a < argc; ++a) {
        g_group = argv[a];
        const std::string group = argv[a];
        const auto is = [&](const char* name) { return group == name && ++known; };
        if (is("small")) {
            small<Sum<float>>({1, 2, 4});
            small<Sum<double>>({1, 4});
            small<Sum<unsigned>>({1});
            small<Sum<unsigned long long>>({1});
            small<Max<float>>({1});
            small<Max<double>>({1});
            small<Max<unsigned>>({1});
            small<Max<int>>({1});
            small<All<float>>({1});
        }
        if (is("leaves")) leafCounts();
        if (is("powers")) {
            powers<Sum<float>>(1 << 20);
            powers<Sum<double>>(1 << 20);
            powers<Max<float>>(1 << 17);
            powers<Sum<unsigned long long>>(1 << 17);
        }
        if (is("slots")) {
            allSlots<float>();
            allSlots<double>();
        }
        if (is("zeros")) {
            zeros<float>();
            zeros<double>();
        }
        if (is("refused")) refusals();
        if (is("captured")) captured();
        if (is("sizes")) sizes();
        if (is("big")) big();
    }
    if (known != argc - 1 || argc < 2) {
        fprintf(stderr, "usage: cases GROUP ...: an unknown group\n");
        return 2;
    }
    printf("agreed: %lld, different: %d\n", g_agreed, g_differ);
    return g_differ == 0 ? 0 : 1;
}
