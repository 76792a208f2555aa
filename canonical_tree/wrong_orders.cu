// Wrong orders, and the inputs that show them: six that real programs use in place of the tree.
//
// A check is worth what its input can show. On lesson 1's input most wrong orders give the tree's
// own bits; on this lesson's samples each of them shows, and the gates ask for exactly that.
//
//   nvcc -std=c++17 -O3 -Xcompiler -fopenmp -o wrong_orders wrong_orders.cu
//   nvcc -std=c++17 -O3 -fmad=false -Xcompiler -fopenmp -o wrong_orders_nofmad wrong_orders.cu
//   ./wrong_orders; ./wrong_orders_nofmad
//
// The definition comes from canonical_tree.cu, which lies beside this file; -DELEMENTS=n changes
// the size, -DWRONG_ORDERS_NO_MAIN leaves main out. Exit status as there.
#define CANONICAL_TREE_NO_MAIN
#include "canonical_tree.cu"

// The definition, and orders that are not the tree.
enum Order { kTree, kAscending, kOddMerged, kHalfApart, kLeftFold, kChunkFold, kThreeLeaves };
constexpr const char* kOrderNames[] = {
    "the canonical tree",    "strides 1, 2, .. 128", "odd node merged left", "node i with i + half",
    "samples left to right", "chunks left to right", "chunks of 3 leaves"};

// Combines v[0] .. v[count - 1] from left to right.
template <typename Op, typename T = TypeOf<Op>>
T leftFold(Op op, const T* v, size_t count) {
    T fold = v[0];
    for (size_t i = 1; i < count; ++i) fold = op(fold, v[i]);
    return fold;
}

// The levels of the tree, but an odd last node goes into its left neighbour instead of up.
template <typename Op, typename T = TypeOf<Op>>
T oddMerged(Op op, T* node, size_t count) {
    for (; count > 1; count /= 2) {
        for (size_t i = 0; i < count / 2; ++i) node[i] = op(node[2 * i], node[2 * i + 1]);
        if (count % 2 != 0) node[count / 2 - 1] = op(node[count / 2 - 1], node[count - 1]);
    }
    return node[0];
}

// Levels that combine node i with node i + half, as the strides in a leaf do.
template <typename Op, typename T = TypeOf<Op>>
T halfApart(Op op, T* node, size_t count) {
    for (; count > 1; count = pairCount(count))
        for (size_t i = 0; i < count / 2; ++i) node[i] = op(node[i], node[i + pairCount(count)]);
    return node[0];
}

// x[0] .. x[n - 1] in that order.
template <typename Op, typename T = TypeOf<Op>>
T inOrder(Order order, Op op, const std::vector<T>& x, size_t n) {
    std::vector<T> sample(n), leaf(leafCount(n));
    for (size_t i = 0; i < n; ++i) sample[i] = op.sample(x[i]);
    if (order == kLeftFold) return leftFold(op, sample.data(), n);
    // Neighbours first, then theirs, ..: the pairwise rule over the samples themselves.
    if (order == kAscending) return hostPairs(op, sample.data(), n);
    const ArrayInput<T> in = {x.data()};
    for (size_t i = 0; i < leaf.size(); ++i) leaf[i] = hostLeaf(op, in, i * kLeaf, leafSize(n, i));
    if (order == kOddMerged) return oddMerged(op, leaf.data(), leaf.size());
    if (order == kHalfApart) return halfApart(op, leaf.data(), leaf.size());
    if (order == kChunkFold) return leftFold(op, leaf.data(), leaf.size());
    if (order == kTree) return hostPairs(op, leaf.data(), leaf.size());
    const size_t chunks = (leaf.size() - 1) / 3 + 1;  // of three leaves
    for (size_t c = 0; c < chunks; ++c)
        leaf[c] = leftFold(op, &leaf[3 * c], std::min((size_t)3, leaf.size() - 3 * c));
    return hostPairs(op, leaf.data(), chunks);
}

// With 2^k leaves no node is odd: merging them is the tree itself there.
static bool isTree(Order order, size_t n) {
    return order == kTree || (order == kOddMerged && isChunk(leafCount(n) * kLeaf));
}

// The five subjects: four operators that round, and one that hides nothing.
enum Subject { kFloatSum, kFloatDifference, kDoubleSum, kDoubleDifference, kMix, kSubjects };

// An order shows on an input if it shows on the floats, on the doubles and on the integers.
static bool showsOnAll(const bool* same) {
    const bool floats = !same[kFloatSum] || !same[kFloatDifference];
    const bool doubles = !same[kDoubleSum] || !same[kDoubleDifference];
    return floats && doubles && !same[kMix];
}

// The input of lesson 1: thousandths from 1 to 2.
static std::vector<float> lesson1Input(size_t n) {
    std::vector<float> x(n);
    for (size_t i = 0; i < n; ++i) {
        volatile float product = (float)(i % 1000) * 0.001f;  // never fused
        x[i] = 1.0f + product;
    }
    return x;
}

#ifndef WRONG_ORDERS_NO_MAIN
constexpr size_t kSlots = 1793;                         // eight leaves, the last of one sample
constexpr size_t kInput = std::max(kElements, kSlots);  // no gate without an input

template <typename T>
std::vector<T> samples(size_t n) {
    std::vector<T> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = sampleAt<T>(i);
    return x;
}

static const char* word(bool same) { return same ? "same" : "other"; }

// Each order's distance from the known answers, in ulps: the tree must have none, and each other
// order must show.
static void tableOrders() {
    const std::vector<float> floats = samples<float>(kInput);
    const std::vector<double> doubles = samples<double>(kInput);
    const std::vector<Mix::Type> integers = samples<Mix::Type>(kInput);
    char wrongKnown[64] = "", hidden[64] = "";
    unsigned long long hash = kFnvOffset;
    puts("order                        n  float sum  float a-b  double sum  double a-b  mix");
    for (const KnownAnswer& k : kKnownAnswers) {
        if (k.n > kInput) continue;
        const unsigned long long mixed = canonicalBits(inOrder(kTree, Mix(), integers, k.n));
        for (int o = kTree; o <= kThreeLeaves; ++o) {
            const Order order = (Order)o;
            if (order != kTree && isTree(order, k.n)) continue;
            const unsigned long long want[kSubjects] = {k.floatSum, k.floatDifference, k.doubleSum,
                                                        k.doubleDifference, mixed};
            const unsigned long long bits[kSubjects] = {
                canonicalBits(inOrder(order, Sum<float>(), floats, k.n)),
                canonicalBits(inOrder(order, Difference<float>(), floats, k.n)),
                canonicalBits(inOrder(order, Sum<double>(), doubles, k.n)),
                canonicalBits(inOrder(order, Difference<double>(), doubles, k.n)),
                canonicalBits(inOrder(order, Mix(), integers, k.n))};
            bool same[kSubjects], all = true;
            for (int s = 0; s < kSubjects; ++s) {
                same[s] = bits[s] == want[s];
                all = all && same[s];
                hash = fnv1a(hash, bits[s], 8);
            }
            printf("%-22s %7zu  %9lld  %-9s  %10lld  %-10s  %s\n", kOrderNames[order], k.n,
                   (long long)(bits[kFloatSum] - want[kFloatSum]), word(same[kFloatDifference]),
                   (long long)(bits[kDoubleSum] - want[kDoubleSum]), word(same[kDoubleDifference]),
                   word(same[kMix]));
            char* first = order == kTree ? wrongKnown : hidden;
            const bool right = order == kTree ? all : showsOnAll(same);
            if (!right && first[0] == '\0')
                snprintf(first, sizeof wrongKnown, "%s, n = %zu", kOrderNames[order], k.n);
        }
    }
    printf("run hash: 0x%016llx\n\n", hash);
    gate(wrongKnown[0] == '\0', "the known answers", "first: %s", wrongKnown);
    gate(hidden[0] == '\0', "each wrong order shows", "first that does not: %s", hidden);
}

// The same orders on lesson 1's input: as floats most hide, and the same floats as doubles add up
// exactly, so there all do. And on operators that need no order.
static void tableInputsThatHide() {
    const std::vector<float> samplesFloat = samples<float>(kInput);
    const std::vector<unsigned> integers = samples<unsigned>(kElements);
    const std::vector<float> floats = lesson1Input(kElements);
    const std::vector<double> doubles(floats.begin(), floats.end());
    bool exact = true;
    unsigned long long tree[5] = {};
    puts("\norder, where it hides   lesson 1's floats  as doubles  unsigned sum  max   all");
    for (int o = kTree; o <= kThreeLeaves; ++o) {
        const Order order = (Order)o;
        const unsigned long long bits[5] = {
            canonicalBits(inOrder(order, Sum<float>(), floats, kElements)),
            canonicalBits(inOrder(order, Sum<double>(), doubles, kElements)),
            canonicalBits(inOrder(order, Sum<unsigned>(), integers, kElements)),
            canonicalBits(inOrder(order, Max<float>(), samplesFloat, kElements)),
            canonicalBits(inOrder(order, All<float>(), samplesFloat, kElements))};
        if (order == kTree) memcpy(tree, bits, sizeof tree);
        printf("%-22s  %-17s  %-10s  %-12s  %-4s  %s\n", kOrderNames[order],
               word(bits[0] == tree[0]), word(bits[1] == tree[1]), word(bits[2] == tree[2]),
               word(bits[3] == tree[3]), word(bits[4] == tree[4]));
        exact = exact && bits[2] == tree[2] && bits[3] == tree[3] && bits[4] == tree[4];
    }
    puts("");
    gate(exact, "unsigned sum, max and all need no order", "see 'other' in their columns");
}

// Two wrong maxima that programs use.
struct GreaterMax : Operator<float> {
    __host__ __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
struct DroppingMax : Operator<float> {  // as fmax does, it drops a NaN
    __host__ __device__ float operator()(float a, float b) const { return a > b || b != b ? a : b; }
};

// The first sample is the left operand of every node above it, the last one the right operand, and
// the middle one is both in turn: a max that looks at one of its operands alone fails somewhere.
constexpr size_t kSlot[] = {0, 3 * kLeaf + kLeaf / 2, kSlots - 1};

// Prints the max of -0.0s and one NaN, then one +0.0, in each slot; returns how many are wrong.
template <typename Op>
int maxRow(const char* name, Op op) {
    int wrong = 0;
    printf("%-22s", name);
    for (float odd : {NAN, 0.0f})
        for (size_t slot : kSlot) {
            std::vector<float> x(kSlots, -0.0f);
            x[slot] = odd;
            const unsigned long long bits = canonicalBits(inOrder(kTree, op, x, kSlots));
            if (bits != canonicalBits(odd)) ++wrong;
            printf("  0x%08llx", bits);
        }
    puts("");
    return wrong;
}

// The sum of -0.0s is -0.0, unless the last leaf is filled up with zeros; on most other inputs
// these change nothing.
static void tableValues() {
    puts("\none among -0.0s         NaN: first  middle      last        +0.0: first middle      "
         "last");
    const int wrongMax = maxRow("max", Max<float>());
    const int wrongGreater = maxRow("wrong: a > b ? a : b", GreaterMax());
    const int wrongDropping = maxRow("wrong: drops NaN", DroppingMax());
    puts("\nsum of 1793             of -0.0s    of samples");
    unsigned long long sums[2][2];
    for (int padded = 0; padded < 2; ++padded) {
        std::vector<float> zeros(kSlots, -0.0f), x = samples<float>(kSlots);
        zeros.resize(padded ? 2048 : kSlots, 0.0f);
        x.resize(zeros.size(), 0.0f);
        sums[padded][0] = canonicalBits(inOrder(kTree, Sum<float>(), zeros, zeros.size()));
        sums[padded][1] = canonicalBits(inOrder(kTree, Sum<float>(), x, x.size()));
        printf("%-22s  0x%08llx  0x%08llx\n", padded ? "wrong: padded with 0" : "absent slots",
               sums[padded][0], sums[padded][1]);
    }
    puts("");
    gate(wrongMax == 0, "max: NaN wins and -0.0 < +0.0, in every slot", "%d of 6 slots", wrongMax);
    gate(wrongGreater != 0 && wrongDropping != 0, "each wrong max shows",
         "one is right everywhere");
    gate(sums[0][0] == 0x80000000 && sums[1][0] == 0, "padding with zeros shows",
         "0x%08llx without, 0x%08llx with it", sums[0][0], sums[1][0]);
}

int main(int argc, char**) {
    printHead("canonical_tree/wrong_orders", 1, argc);
    printf("n: %zu\n\n", kElements);
    puts("For a sum: its distance from the known answer in ulps; else whether the bits are the "
         "tree's.\nEach wrong order must show on floats, on doubles and on integers.\n");
    tableOrders();
    tableInputsThatHide();
    tableValues();
    return finish();
}
#endif
