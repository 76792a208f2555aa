// Checks of what canonical_tree.cu and wrong_orders.cu define, by name, against the reference in C.
// Prints what it did, and the first thing that is wrong. Each text begins in its own way, and a
// fault in faults/ must bring it out. -DCHECK=name builds one check alone, in a part of the time.
#define WRONG_ORDERS_NO_MAIN
#include "../../canonical_tree/wrong_orders.cu"

#include "reference.c"  // C that C++ reads too, so that one compile has all

#include <functional>
#include <string>
#include <thread>

[[noreturn]] static void wrong(const char* format, ...) {
    va_list args;
    va_start(args, format);
    fputs("wrong: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

// Holds bits against those wanted; what: of which values.
static void is(unsigned long long got, unsigned long long want, const char* what, size_t n) {
    if (got != want) wrong("%s, n = %zu: 0x%llx, not 0x%llx", what, n, got, want);
}

// On the device, of the sizes a check needs.
static void *g_in, *g_work0, *g_work1, *g_result;
static size_t g_capacity;
constexpr size_t kSweep = 1025;  // every leaf count up to this

static void checkTree(const char* error) {
    if (error != nullptr) wrong("the tree could not be computed: %s", error);
}
template <typename Op>
auto sampleOf(Op) {
    return [](size_t i) { return sampleAt<TypeOf<Op>>(i); };
}
template <typename T>
__global__ void fillSamples(T* in, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) in[i] = sampleAt<T>(i);
}
template <typename T>
void fill(size_t n) {
    fillSamples<<<(unsigned)leafCount(n), (unsigned)kLeaf>>>((T*)g_in, n);
    CUDA_CHECK(cudaGetLastError());
}

// The bits of hostTree over n samples, or with a chunk those of chunkedTree.
template <typename Op>
unsigned long long hostBits(Op op, size_t n, size_t chunk, int* threads) {
    std::vector<TypeOf<Op>> work(chunk ? chunkWorkCount(n, chunk) : treeWorkCount(n));
    TypeOf<Op>*w = work.data(), result;
    checkTree(chunk ? chunkedTree(op, sampleOf(op), n, chunk, nullptr, w, work.size(), &result)
                    : hostTree(op, sampleOf(op), n, nullptr, w, work.size(), &result, threads));
    return canonicalBits(result);
}

// The bits of deviceTree over the n values in g_in.
template <typename Op>
unsigned long long deviceBits(Op op, size_t n, const TypeOf<Op>* init) {
    typedef TypeOf<Op> T;
    T result;
    checkTree(
        deviceTree(op, (T*)g_in, n, init, (T*)g_work0, (T*)g_work1, g_capacity, (T*)g_result, 0));
    CUDA_CHECK(cudaMemcpy(&result, g_result, sizeof result, cudaMemcpyDeviceToHost));
    return canonicalBits(result);
}

// A subject: a lesson's operator over the samples, and the same in the reference.
static std::vector<float> g_floats;
static std::vector<double> g_doubles;
static std::vector<unsigned long long> g_integers;
static unsigned long long reference(Sum<float>, ref_order order, size_t n) {
    return ref_float_sum(order, g_floats.data(), n);
}
static unsigned long long reference(Difference<float>, ref_order order, size_t n) {
    return ref_float_difference(order, g_floats.data(), n);
}
static unsigned long long reference(Sum<double>, ref_order order, size_t n) {
    return ref_double_sum(order, g_doubles.data(), n);
}
static unsigned long long reference(Difference<double>, ref_order order, size_t n) {
    return ref_double_difference(order, g_doubles.data(), n);
}
static unsigned long long reference(Mix, ref_order order, size_t n) {
    return ref_mix(order, (const uint64_t*)g_integers.data(), n);
}
template <typename Check>
static void eachSubject(Check check) {
    check(Sum<float>(), "float sum");
    check(Difference<float>(), "float a-b");
    check(Sum<double>(), "double sum");
    check(Difference<double>(), "double a-b");
    check(Mix(), "mix");
}

static void makeSamples(size_t n) {
    for (size_t i = 0; i < n; ++i) {
        g_floats.push_back(ref_float_sample(i));
        g_doubles.push_back(ref_double_sample(i));
        g_integers.push_back(ref_integer_sample(i));
    }
    const size_t most = std::max(n, kSweep * kLeaf);
    g_capacity = leafCount(most);
    CUDA_CHECK(cudaMalloc(&g_in, most * 8));
    for (void** buffer : {&g_work0, &g_work1, &g_result})
        CUDA_CHECK(cudaMalloc(buffer, g_capacity * 8));
}

// n of a ragged last leaf and so many leaves.
static size_t ragged(size_t leaves) { return (leaves - 1) * kLeaf + 1 + leaves * 37 % kLeaf; }

// Sizes where a level appears or an odd node does.
static std::vector<size_t> aroundPowers() {
    std::vector<size_t> sizes;
    for (size_t power = 1; power <= (size_t)1 << 20; power *= 2)
        for (size_t n : {power - 1, power, power + 1, power + kLeaf, power + kLeaf + 1})
            if (n > 0) sizes.push_back(n);
    return sizes;
}

static void samples() {
    makeSamples(70000);
    for (size_t i = 0; i < g_floats.size(); ++i)
        if (canonicalBits(g_floats[i]) != canonicalBits(sampleAt<float>(i)) ||
            canonicalBits(g_doubles[i]) != canonicalBits(sampleAt<double>(i)) ||
            g_integers[i] != sampleAt<unsigned long long>(i))
            wrong("sample %zu", i);
    // In double the product is exact, and so is the sum: one rounding each, as in float.
    const std::vector<float> lesson1 = lesson1Input(3000);
    for (size_t i = 0; i < lesson1.size(); ++i)
        if (lesson1[i] != (float)(1.0 + (float)((double)(i % 1000) * 0.001f)))
            wrong("lesson 1's sample %zu", i);
}

static void hostSizes() {
    makeSamples((1 << 20) + 1000);
    const auto compare = [](auto op, const char* name, size_t n) {
        const unsigned long long got = hostBits(op, n, 0, nullptr),
                                 want = reference(op, REF_TREE, n);
        if (got != want)
            wrong("hostTree, %s, n = %zu: 0x%llx, reference 0x%llx", name, n, got, want);
    };
    for (size_t n = 1; n <= 1025; ++n)
        eachSubject([=](auto op, const char* name) { compare(op, name, n); });
    for (size_t n : aroundPowers())
        eachSubject([=](auto op, const char* name) { compare(op, name, n); });
    for (size_t leaves = 1; leaves <= kSweep; ++leaves)
        eachSubject([=](auto op, const char* name) { compare(op, name, ragged(leaves)); });
}

static void deviceSizes() {
    makeSamples((1 << 20) + 1000);
    fill<Mix::Type>(g_integers.size());
    const auto compare = [](size_t n) {
        const unsigned long long got = deviceBits(Mix(), n, nullptr),
                                 want = hostBits(Mix(), n, 0, nullptr);
        if (got != want) wrong("deviceTree, n = %zu: 0x%llx, host 0x%llx", n, got, want);
    };
    for (size_t n = 1; n <= 1025; ++n) compare(n);
    // A leaf costs a CPU, so there the longer trees take their whole leaves from one launch.
    cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    const size_t direct = prop.major == 0 ? 128 : kSweep;
    for (size_t leaves = 1; leaves <= direct; ++leaves) compare(ragged(leaves));
    Mix::Type *in = (Mix::Type*)g_in, *leaf, got;
    CUDA_CHECK(cudaMalloc(&leaf, sizeof got * kSweep));
    leafLevel<<<(unsigned)kSweep, (unsigned)kLeaf>>>(Mix(), in, kSweep * kLeaf, leaf);
    for (size_t leaves = 1; leaves <= kSweep; ++leaves) {
        Mix::Type *work0 = (Mix::Type*)g_work0, *work1 = (Mix::Type*)g_work1;
        const size_t last = leaves - 1, n = ragged(leaves);
        CUDA_CHECK(cudaMemcpy(work0, leaf, sizeof got * last, cudaMemcpyDeviceToDevice));
        leafLevel<<<1, (unsigned)kLeaf>>>(Mix(), in + last * kLeaf, n - last * kLeaf, work0 + last);
        for (size_t count = leaves; count > 1; count = pairCount(count)) {
            pairLevel<<<(unsigned)leafCount(pairCount(count)), (unsigned)kLeaf>>>(Mix(), work0,
                                                                                  count, work1);
            std::swap(work0, work1);
        }
        CUDA_CHECK(cudaMemcpy(&got, work0, sizeof got, cudaMemcpyDeviceToHost));
        if (got != hostBits(Mix(), n, 0, nullptr))
            wrong("its kernels, %zu leaves, n = %zu", leaves, n);
    }
    CUDA_CHECK(cudaFree(leaf));
    for (size_t n : aroundPowers())
        if (n < 70000 || n == (1 << 20) - 1 || n == (1 << 20) + 1)
            compare(n);  // a leaf costs a CPU
}

// The lesson's known answers, by the reference; its own wrong orders, by the reference's. That each
// of these shows is for the program's gate.
static void orders() {
    makeSamples(kKnownAnswers[2].n);
    const ref_order byIndex[] = {REF_TREE,      REF_ASCENDING, REF_ODD_MERGED,  REF_HALF_APART,
                                 REF_LEFT_FOLD, REF_LEAF_FOLD, REF_THREE_LEAVES};
    for (const KnownAnswer& k : kKnownAnswers) {
        if (k.floatSum != reference(Sum<float>(), REF_TREE, k.n) ||
            k.floatDifference != reference(Difference<float>(), REF_TREE, k.n) ||
            k.doubleSum != reference(Sum<double>(), REF_TREE, k.n) ||
            k.doubleDifference != reference(Difference<double>(), REF_TREE, k.n))
            wrong("a known answer at n = %zu is not the reference's", k.n);
        for (int order = kTree; order <= kThreeLeaves; ++order) {
            eachSubject([&](auto op, const char* name) {
                const unsigned long long want = reference(op, byIndex[order], k.n);
                std::vector<TypeOf<decltype(op)>> x(k.n);
                for (size_t i = 0; i < k.n; ++i) x[i] = sampleOf(op)(i);
                const unsigned long long got = canonicalBits(inOrder((Order)order, op, x, k.n));
                if (got != want)
                    wrong("inOrder, %s, %s, n = %zu: 0x%llx, reference 0x%llx", kOrderNames[order],
                          name, k.n, got, want);
            });
            const bool noOddNode = order == kOddMerged && k.n == 1793;  // eight leaves
            if ((order == kTree || noOddNode) != isTree((Order)order, k.n))
                wrong("isTree, %s, n = %zu", kOrderNames[order], k.n);
        }
    }
}

static void chunks() {
    makeSamples(70000);
    for (size_t chunk = 0; chunk <= 5000; ++chunk) {
        bool legal = false;
        for (size_t q = 0; q < 8; ++q) legal |= chunk == (size_t)256 << q;
        unsigned long long work[512], result = 42;
        for (unsigned long long& w : work) w = 43;
        const char* error =
            chunkedTree(Mix(), sampleOf(Mix()), 70000, chunk, nullptr, work, 512, &result);
        if ((error == nullptr) != legal)
            wrong("chunk of %zu: %s", chunk, error ? error : "accepted");
        if (!legal && (!strstr(error, "256*2^q") || result != 42 || work[0] != 43))
            wrong("not the rule, or something was written: chunk %zu: %s", chunk, error);
    }
    for (size_t n : {(size_t)1, (size_t)256, (size_t)257, (size_t)1025, (size_t)1793, (size_t)65536,
                     (size_t)65537, (size_t)69999})
        for (size_t chunk = 256; chunk != 0; chunk *= chunk < 4 * n ? 2 : (size_t)1 << 32)
            eachSubject([=](auto op, const char* name) {
                if (hostBits(op, n, chunk, nullptr) != reference(op, REF_TREE, n))
                    wrong("chunkedTree, %s, n = %zu, chunk %zu", name, n, chunk);
            });
    // One value less than a chunk size needs is refused before anything is written.
    for (size_t chunk = 256; chunk <= 131072; chunk *= 2) {
        std::vector<unsigned long long> work(chunkWorkCount(69999, chunk), 43);
        unsigned long long result = 42;
        const char* error = chunkedTree(Mix(), sampleOf(Mix()), 69999, chunk, nullptr, work.data(),
                                        work.size() - 1, &result);
        bool untouched = result == 42;
        for (unsigned long long w : work) untouched &= w == 43;
        if (!error || !strstr(error, "too small") || !untouched)
            wrong("a value too few, chunk %zu: %s", chunk, error ? error : "accepted");
    }
}

// Data that arrives in pieces: every number of chunks to 200, the last one shorter, and sizes of
// more than a leaf; no more nodes than levels are written.
static void pieces() {
    makeSamples(70000);
    const auto compare = [](auto op, const char* name, size_t n, size_t chunk) {
        typedef TypeOf<decltype(op)> T;
        std::vector<T> work(leafCount(chunk));
        PieceTree<decltype(op)> pieces;
        for (T& node : pieces.node) node = T(42);
        size_t chunks = 0;
        for (size_t first = 0; first < n; first += chunk, ++chunks) {
            const auto in = [=](size_t i) { return sampleOf(op)(first + i); };
            const size_t count = std::min(chunk, n - first);
            T tree;
            checkTree(hostTree(op, in, count, nullptr, work.data(), work.size(), &tree, nullptr));
            pieces.add(op, tree);
        }
        const unsigned long long got = canonicalBits(pieces.finish(op)),
                                 want = reference(op, REF_TREE, n);
        if (got != want)
            wrong("PieceTree, %s, n = %zu in pieces of %zu: 0x%llx, reference 0x%llx", name, n,
                  chunk, got, want);
        for (int level = 0; level < 64; ++level)
            if (chunks >> level == 0 && pieces.node[level] != T(42))
                wrong("a node too many: %zu chunks, level %d", chunks, level);
    };
    for (size_t leaves = 1; leaves <= 200; ++leaves)
        eachSubject([=](auto op, const char* name) { compare(op, name, ragged(leaves), kLeaf); });
    for (size_t chunk = 2 * kLeaf; chunk <= 131072; chunk *= 2)
        for (size_t n : {(size_t)1, chunk - 1, chunk, chunk + 1, (size_t)65537, (size_t)69999})
            if (n < 70000)
                eachSubject([=](auto op, const char* name) { compare(op, name, n, chunk); });
}

// The rule of the gate "each wrong order shows", for all that can be the same or not.
static void shows() {
    for (int mask = 0; mask < 32; ++mask) {
        bool same[kSubjects];
        for (int s = 0; s < kSubjects; ++s) same[s] = (mask >> s & 1) != 0;
        const bool floats = (mask & 3) != 3, doubles = (mask & 12) != 12, integers = mask < 16;
        if (showsOnAll(same) != (floats && doubles && integers))
            wrong("showsOnAll, mask %d of float sum, a-b, double sum, a-b, mix the same", mask);
    }
}

// op over x on the host, in chunks of one leaf and on the device: all must give the same; returns
// the bits.
template <typename Op>
unsigned long long everywhere(Op op, const std::vector<TypeOf<Op>>& x, const TypeOf<Op>* init) {
    typedef TypeOf<Op> T;
    std::vector<T> work(chunkWorkCount(x.size(), kLeaf));
    T host, chunked;
    const auto in = [&x](size_t i) { return x[i]; };
    CUDA_CHECK(cudaMemcpy(g_in, x.data(), sizeof(T) * x.size(), cudaMemcpyHostToDevice));
    checkTree(hostTree(op, in, x.size(), init, work.data(), work.size(), &host, nullptr));
    checkTree(chunkedTree(op, in, x.size(), kLeaf, init, work.data(), work.size(), &chunked));
    const unsigned long long bits = canonicalBits(host), device = deviceBits(op, x.size(), init);
    if (bits != canonicalBits(chunked) || bits != device)
        wrong("everywhere, n = %zu: host 0x%llx, chunks 0x%llx, device 0x%llx", x.size(), bits,
              canonicalBits(chunked), device);
    return bits;
}

// An initial value is the left operand, once and last; these operators do not commute.
static void initials() {
    makeSamples(4000);
    const auto check = [](auto op, const char* name) {
        typedef TypeOf<decltype(op)> T;
        const T init = sampleOf(op)(3999);
        for (size_t n : {(size_t)1, (size_t)257, (size_t)1793}) {
            std::vector<T> x(n), work(treeWorkCount(n));
            T tree;
            for (size_t i = 0; i < n; ++i) x[i] = sampleOf(op)(i);
            checkTree(hostTree(op, sampleOf(op), n, nullptr, work.data(), n, &tree, nullptr));
            const unsigned long long want = canonicalBits(op(init, tree));
            if (want == canonicalBits(op(tree, init))) wrong("it commutes: %s, n = %zu", name, n);
            if (everywhere(op, x, &init) != want) wrong("init, %s, n = %zu", name, n);
        }
    };
    check(Difference<float>(), "float a-b");
    check(Difference<double>(), "double a-b");
    check(Mix(), "mix");
}

template <typename T>
static void zerosOf(unsigned long long minus) {
    const T zero = 0, minusZero = -zero;
    for (size_t n = 1; n <= 1025; n += n < 260 ? 1 : 51) {
        std::vector<T> x(n, minusZero);
        is(everywhere(Sum<T>(), x, nullptr), minus, "sum of -0.0", n);
        is(everywhere(Sum<T>(), x, &zero), 0, "sum of -0.0, init +0.0", n);
        is(everywhere(Sum<T>(), x, &minusZero), minus, "sum of -0.0, init -0.0", n);
        is(everywhere(Max<T>(), x, nullptr), minus, "max of -0.0", n);
        is(everywhere(Max<T>(), x, &zero), 0, "max of -0.0, init +0.0", n);
        is(everywhere(All<T>(), x, nullptr), 0, "all of -0.0", n);
        x[n / 2] = zero;
        is(everywhere(Sum<T>(), x, nullptr), 0, "sum of -0.0 and a +0.0", n);
        is(everywhere(Max<T>(), x, nullptr), 0, "max of -0.0 and a +0.0", n);
    }
}
static void zeros() {
    makeSamples(2048);
    zerosOf<float>(0x80000000);
    zerosOf<double>(0x8000000000000000);
}

template <typename T>
static void specialsOf(unsigned long long nan, unsigned long long inf,
                       unsigned long long minusInf) {
    const T infinity = (T)INFINITY, notANumber = (T)NAN, plain = T(-2);
    const unsigned long long two = canonicalBits(plain);
    const struct {
        const char* what;
        T fill, first, second;  // among fill, one of each
        unsigned long long sum, max;
    } cases[] = {{"NaN", plain, notANumber, plain, nan, nan},
                 {"-NaN", plain, -notANumber, plain, nan, nan},
                 {"NaN and inf", plain, notANumber, infinity, nan, nan},
                 {"inf", plain, plain, infinity, inf, inf},
                 {"inf and -inf", plain, -infinity, infinity, nan, inf},
                 {"-inf", plain, -infinity, plain, minusInf, two},
                 {"-inf, all", -infinity, -infinity, -infinity, minusInf, minusInf}};
    for (size_t n : {(size_t)256, (size_t)300})
        for (size_t slot = 0; slot < n; ++slot)
            for (const auto& c : cases) {
                std::vector<T> x(n, c.fill);
                x[slot] = c.first;
                x[(slot + 77) % n] = c.second;
                if (everywhere(Sum<T>(), x, nullptr) != c.sum)
                    wrong("sum with %s, slot %zu of %zu", c.what, slot, n);
                if (everywhere(Max<T>(), x, nullptr) != c.max)
                    wrong("max with %s, slot %zu of %zu", c.what, slot, n);
            }
    const unsigned long long one = canonicalBits(T(1));
    is(everywhere(Max<T>(), {plain}, &notANumber), nan, "max of one -2, init NaN", 1);
    is(everywhere(All<T>(), {T(7)}, nullptr), one, "all of one 7", 1);
    is(everywhere(All<T>(), {notANumber}, nullptr), one, "all of one NaN", 1);
}
static void specials() {
    makeSamples(2048);
    specialsOf<float>(0x7fc00000, 0x7f800000, 0xff800000);
    specialsOf<double>(0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000);
}

// Subnormals: whole multiples of the least one, whose sum counts in the last bits of a float.
static void subnormals() {
    makeSamples(2048);
    std::vector<float> x;
    unsigned count = 0;
    for (unsigned i = 0; i < 1793; ++i) {
        const unsigned bits = i % 97 + 1;
        float value;
        memcpy(&value, &bits, sizeof value);
        x.push_back(value);
        count += bits;
        is(everywhere(Max<float>(), x, nullptr), std::min(i + 1, 97u), "max of subnormals", i + 1);
        if (i % 50 != 0) continue;
        is(everywhere(Sum<float>(), x, nullptr), count, "sum of subnormals", i + 1);
        is(everywhere(All<float>(), x, nullptr), 0x3f800000, "all of subnormals", i + 1);
    }
}

// Integer sums modulo 2^w, max and all: exactly associative, so a plain loop says what is right.
template <typename T>
static void integersOf() {
    T sum = 0, most = 0;
    std::vector<T> x;
    for (size_t i = 0; i < 1793; ++i) {
        x.push_back((T)ref_integer_sample(i) | 1);  // sample 0 is 0
        sum = (T)(sum + x.back());
        most = std::max(most, x.back());
        if (i % 50 != 0) continue;
        is(everywhere(Sum<T>(), x, nullptr), sum, "integer sum", i + 1);
        is(everywhere(Max<T>(), x, nullptr), most, "integer max", i + 1);
    }
    is(everywhere(All<T>(), x, nullptr), 1, "integer all", x.size());
    for (size_t slot = 0; slot < x.size(); slot += 13) {
        std::vector<T> y = x;
        y[slot] = 0;
        is(everywhere(All<T>(), y, nullptr), 0, "integer all with a zero", y.size());
    }
}
static void integers() {
    makeSamples(2048);
    integersOf<unsigned>();
    integersOf<unsigned long long>();
}

static void threads() {
    const size_t n = 4294967;  // 66 groups of leaves: work for each of 64 threads
    makeSamples(n);
    const unsigned long long want = reference(Mix(), REF_TREE, n);
    int most = 0;
    for (int asked : {1, 64, 2, 3, 4, 5, 8, 16, 33, 64, 1, 0, -1}) {
        int ran = asked;
        if (hostBits(Mix(), n, 0, &ran) != want) wrong("threads asked: %d, and other bits", asked);
        if (ran < 1 || ran > std::max(asked, 1))
            wrong("threads that ran: %d, asked %d", ran, asked);
        most = std::max(most, ran);
    }
    printf("at most %d threads ran\n", most);
    // They are counted where a single group of leaves is shared out, too.
    for (int asked : {2, 3}) {
        int few = asked, many = asked;
        hostBits(Mix(), 257, 0, &few);
        hostBits(Mix(), n, 0, &many);
        if (few != many) wrong("threads that ran for one group: %d, for 66 groups %d", few, many);
    }
}

static void refusals() {
    makeSamples(2048);
    float work[8], result;
    float *in = (float*)g_in, *w = (float*)g_work0, *r = (float*)g_result, *null = nullptr;
    const auto host = sampleOf(Sum<float>());
    const Sum<float> op;
    const float mark = 42.0f;
    const auto refused = [&](const char* what, const char* rule,
                             const std::function<const char*()>& call) {
        for (float& value : work) value = mark;
        result = mark;
        std::vector<float> device(8, mark);
        for (float* p : {w, r})
            CUDA_CHECK(cudaMemcpy(p, device.data(), 32, cudaMemcpyHostToDevice));
        const char* error = call();
        if (error == nullptr || strstr(error, rule) == nullptr)
            wrong("not refused: %s: '%s' expected, got '%s'", what, rule,
                  error ? error : "no error");
        printf("%s: %s\n", what, error);
        bool untouched = result == mark;
        for (float value : work) untouched &= value == mark;
        for (const float* p : {w, r}) {
            CUDA_CHECK(cudaMemcpy(device.data(), p, 32, cudaMemcpyDeviceToHost));
            for (float value : device) untouched &= value == mark;
        }
        if (!untouched) wrong("something was written: %s", what);
    };
    const auto hostOf = [&](size_t n, float* buffer, size_t capacity, float* to) {
        return hostTree(op, host, n, nullptr, buffer, capacity, to, nullptr);
    };
    refused("hostTree, n", "n is 0", [&] { return hostOf(0, work, 8, &result); });
    refused("hostTree, work", "null", [&] { return hostOf(9, null, 8, &result); });
    refused("hostTree, result", "null", [&] { return hostOf(9, work, 8, null); });
    refused("hostTree, capacity", "too small", [&] { return hostOf(1025, work, 4, &result); });

    const auto chunkedOf = [&](size_t n, size_t chunk, float* buffer, size_t capacity, float* to) {
        return chunkedTree(op, host, n, chunk, nullptr, buffer, capacity, to);
    };
    refused("chunkedTree, n", "n is 0", [&] { return chunkedOf(0, 256, work, 8, &result); });
    refused("chunkedTree, chunk", "256*2^q", [&] { return chunkedOf(9, 768, work, 8, &result); });
    refused("chunkedTree, work", "null", [&] { return chunkedOf(9, 256, null, 8, &result); });
    refused("chunkedTree, result", "null", [&] { return chunkedOf(9, 256, work, 8, null); });
    refused("chunkedTree, capacity", "too small",
            [&] { return chunkedOf(1025, 256, work, 5, &result); });

    const auto deviceOf = [&](const float* x, size_t n, float* work0, float* work1, size_t capacity,
                              float* to) {
        return deviceTree(op, x, n, nullptr, work0, work1, capacity, to, 0);
    };
    refused("deviceTree, n", "n is 0", [&] { return deviceOf(in, 0, w, w + 8, 8, r); });
    refused("deviceTree, in", "null", [&] { return deviceOf(null, 9, w, w + 8, 8, r); });
    refused("deviceTree, work0", "null", [&] { return deviceOf(in, 9, null, w, 8, r); });
    refused("deviceTree, work1", "null", [&] { return deviceOf(in, 9, w, null, 8, r); });
    refused("deviceTree, result", "null", [&] { return deviceOf(in, 9, w, w + 8, 8, null); });
    refused("deviceTree, capacity", "too small",
            [&] { return deviceOf(in, 1025, w, w + 8, 4, r); });
    // Samples in as many leaves as a grid has blocks, and one more.
    const size_t most = (size_t)0x7fffffff * kLeaf;
    refused("deviceTree, leaves", "2^31 - 1",
            [&] { return deviceOf(in, most + 1, w, w + 8, most, r); });
}

// CUDA's errors are returned: one that was there before, with nothing computed, and a launch's own.
static void errors() {
    makeSamples(2048);
    const Sum<float> op;
    const auto tree = [&](size_t n) {
        return deviceTree(op, (float*)g_in, n, nullptr, (float*)g_work0, (float*)g_work1,
                          treeWorkCount(n), (float*)g_result, 0);
    };
    fill<float>(1025);
    CUDA_CHECK(cudaMemset(g_result, 0xff, 4));
    void* none;
    const cudaError_t earlier = cudaMalloc(&none, (size_t)1 << 60);
    const char* error = tree(1025);
    if (earlier == cudaSuccess || !error || strcmp(error, cudaGetErrorString(earlier)) != 0)
        wrong("an earlier error was not returned: %s", error ? error : "none");
    cudaGetLastError();
    unsigned bits;
    CUDA_CHECK(cudaMemcpy(&bits, g_result, 4, cudaMemcpyDeviceToHost));
    if (bits != 0xffffffff) wrong("something was computed after an earlier error");
    // As many leaves as a grid has blocks break no rule: what comes back is the earlier error.
    cudaMalloc(&none, (size_t)1 << 60);
    error = tree((size_t)0x7fffffff * kLeaf);
    if (!error || strcmp(error, cudaGetErrorString(earlier)) != 0)
        wrong("2^31 - 1 leaves are refused: %s", error ? error : "accepted");
    cudaGetLastError();
    // While a stream is captured, nothing may go into the default one.
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    error = tree(1025);
    if (!error) wrong("a launch's error was not returned");
    printf("%s\n", error);
    cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    CUDA_CHECK(cudaStreamDestroy(stream));
    checkTree(tree(1025));
    CUDA_CHECK(cudaMemcpy(&bits, g_result, 4, cudaMemcpyDeviceToHost));
    if (bits != kKnownAnswers[0].floatSum) wrong("the tree after the errors: 0x%x", bits);
}

// A level reads one work buffer and writes the other: after two levels, neither is as it was.
static void buffers() {
    makeSamples(2048);
    fill<Mix::Type>(1025);
    for (void* work : {g_work0, g_work1}) CUDA_CHECK(cudaMemset(work, 0xff, 8 * 5));
    deviceBits(Mix(), 1025, nullptr);
    for (void* work : {g_work0, g_work1}) {
        Mix::Type first;
        CUDA_CHECK(cudaMemcpy(&first, work, 8, cudaMemcpyDeviceToHost));
        if (first == ~0ULL) wrong("a work buffer is unused");
    }
}

// More than 2^32 samples on the host, from a callable: their indices add up to a known sum.
static void indexSum(size_t chunk) {
    typedef Sum<unsigned long long> Op;
    const size_t n = ((size_t)1 << 32) + 257;
    const auto in = [](size_t i) { return (unsigned long long)i; };
    std::vector<unsigned long long> work(chunk ? chunkWorkCount(n, chunk) : treeWorkCount(n));
    unsigned long long *w = work.data(), sum = 0;
    int ran = (int)std::thread::hardware_concurrency();
    checkTree(chunk ? chunkedTree(Op(), in, n, chunk, nullptr, w, work.size(), &sum)
                    : hostTree(Op(), in, n, nullptr, w, work.size(), &sum, &ran));
    if (sum != (n - 1) / 2 * n) wrong("the sum of 2^32 + 257 indices, chunk %zu: %llu", chunk, sum);
}
static void hostIndices() { indexSum(0); }
static void chunkIndices() { indexSum((size_t)1 << 31); }

// The shape of trees that fit no memory here.
static void indices() {
    struct Shape {
        size_t n, leaves, last;
        int levels;
    };
    const size_t one = 1;
    const Shape shapes[] = {{1, 1, 1, 0},
                            {(one << 31) - 1, one << 23, 255, 23},
                            {one << 31, one << 23, 256, 23},
                            {(one << 31) + 1, (one << 23) + 1, 1, 24},
                            {(one << 32) - 1, one << 24, 255, 24},
                            {(one << 32) + 1, (one << 24) + 1, 1, 25},
                            {((one << 31) - 1) * 256, (one << 31) - 1, 256, 31},
                            {(one << 40) + 1, (one << 32) + 1, 1, 33},
                            {~(size_t)0, one << 56, 255, 56}};
    for (const Shape& s : shapes) {
        int levels = 0;
        for (size_t count = leafCount(s.n); count > 1; ++levels) {
            const size_t above = pairCount(count);
            if (above < count / 2 || above > count / 2 + 1)
                wrong("nodes above %zu: %zu", count, above);
            count = above;
        }
        if (leafCount(s.n) != s.leaves || treeWorkCount(s.n) != s.leaves || levels != s.levels)
            wrong("the shape of %zu samples: %zu leaves, %d levels", s.n, leafCount(s.n), levels);
        if (leafSize(s.n, s.leaves - 1) != s.last || (s.leaves > 1 && leafSize(s.n, 0) != kLeaf))
            wrong("the last leaf of %zu samples: %zu", s.n, leafSize(s.n, s.leaves - 1));
        for (size_t chunk = kLeaf; chunk != 0; chunk *= 2) {
            const size_t count = (s.n - 1) / chunk + 1;
            if (chunkWorkCount(s.n, chunk) != count + leafCount(std::min(s.n, chunk)))
                wrong("the buffer for %zu samples, chunk %zu: %zu", s.n, chunk,
                      chunkWorkCount(s.n, chunk));
        }
    }
    if (leafCount(0) != 0 || pairCount(1) != 1 || pairCount(~(size_t)0) != one << 63)
        wrong("counts of 0, 1 or 2^64 - 1");
}

// More than 2^32 samples for once: only where a card and a host have the memory (17 GB on the
// card).
static void large() {
    const size_t n = ((size_t)1 << 32) + 257;
    g_capacity = leafCount(n);
    CUDA_CHECK(cudaMalloc(&g_in, n * sizeof(float)));
    for (void** buffer : {&g_work0, &g_work1, &g_result})
        CUDA_CHECK(cudaMalloc(buffer, g_capacity * sizeof(float)));
    int ran = (int)std::thread::hardware_concurrency();
    fill<float>(n);
    const unsigned long long sum = deviceBits(Sum<float>(), n, nullptr),
                             difference = deviceBits(Difference<float>(), n, nullptr);
    printf("n = %zu: sum 0x%08llx, a-b 0x%08llx\n", n, sum, difference);
    if (sum != hostBits(Sum<float>(), n, 0, &ran) ||
        difference != hostBits(Difference<float>(), n, 0, &ran))
        wrong("the card and the host differ");
    printf("the host agrees, on %d threads\n", ran);
}

#ifdef CHECK
int main() {
    CHECK();
    puts("right");
}
#else
int main(int argc, char** argv) {
    const struct {
        const char* name;
        void (*check)();
    } checks[] = {{"samples", samples},
                  {"hostSizes", hostSizes},
                  {"deviceSizes", deviceSizes},
                  {"orders", orders},
                  {"chunks", chunks},
                  {"zeros", zeros},
                  {"specials", specials},
                  {"subnormals", subnormals},
                  {"integers", integers},
                  {"threads", threads},
                  {"refusals", refusals},
                  {"indices", indices},
                  {"large", large},
                  {"pieces", pieces},
                  {"initials", initials},
                  {"errors", errors},
                  {"buffers", buffers},
                  {"hostIndices", hostIndices},
                  {"shows", shows},
                  {"chunkIndices", chunkIndices}};
    for (const auto& c : checks)
        if (argc == 2 && strcmp(argv[1], c.name) == 0) {
            c.check();
            printf("right: %s\n", c.name);
            return 0;
        }
    fprintf(stderr, "usage: %s CHECK\n", argv[0]);
    return 2;
}
#endif
