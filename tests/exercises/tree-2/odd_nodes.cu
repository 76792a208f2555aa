// hostPairs at every number of nodes to 100, by itself and in the host tree, against the definition, which is
// written out here once more; then the known answers.
#include <cuda_runtime.h>

#define CANONICAL_TREE_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

enum Odd { kUp, kIntoLeft, kWithZero, kWithItself, kDropped };

template <class Op, class T>
static T definition(Op op, std::vector<T> node, Odd odd) {
    while (node.size() > 1) {
        std::vector<T> parent;
        const T last = node.back();
        for (size_t i = 0; i + 1 < node.size(); i += 2) parent.push_back(op(node[i], node[i + 1]));
        if (node.size() % 2 != 0) {
            if (odd == kUp) parent.push_back(last);
            if (odd == kIntoLeft) parent.back() = op(parent.back(), last);
            if (odd == kWithZero) parent.push_back(op(last, T()));
            if (odd == kWithItself) parent.push_back(op(last, last));
        }
        node = parent;
    }
    return node[0];
}

template <class Op, class T>
static void check(Op op, const std::vector<T>& node, const char* what) {
    std::vector<T> work = node;
    const unsigned long long got = canonicalBits(hostPairs(op, work.data(), work.size())),
                             want = canonicalBits(definition(op, node, kUp));
    if (got == want) return;
    const char* because = "";
    if (got == canonicalBits(definition(op, node, kDropped))) because = ", as if an odd node were dropped";
    if (got == canonicalBits(definition(op, node, kWithItself))) because = ", as if an odd node were combined with itself";
    if (got == canonicalBits(definition(op, node, kWithZero))) because = ", as if an odd node were combined with a zero";
    if (got == canonicalBits(definition(op, node, kIntoLeft))) because = ", as if an odd node went into its left neighbour";
    printf("%s, %zu nodes|hostPairs gives 0x%llx, the definition 0x%llx%s\n", what, node.size(), got, want, because);
    exit(1);
}
template <class Op, class T = TypeOf<Op>>
static std::vector<T> samples(Op, size_t n) {
    std::vector<T> x;
    for (size_t i = 0; i < n; ++i) x.push_back(sampleAt<T>(i));
    return x;
}

static void knownAnswer(size_t n, const char* what, unsigned long long got, unsigned long long want) {
    if (got == want) return;
    printf("%s, n = %zu|the host tree gives 0x%llx, the known answer is 0x%llx\n", what, n, got, want);
    exit(1);
}
template <class Op, class T = TypeOf<Op>>
static unsigned long long tree(Op op, size_t n) {
    std::vector<T> work(treeWorkCount(n));
    T result = T();
    const char* error = hostTree(op, [](size_t i) { return sampleAt<T>(i); }, n, (const T*)nullptr, work.data(),
                                 work.size(), &result, (int*)nullptr);
    if (error != nullptr) printf("n = %zu|hostTree refuses: %s\n", n, error), exit(1);
    return canonicalBits(result);
}

int main() {
    for (size_t nodes = 1; nodes <= 100; ++nodes) {
        check(Mix(), samples(Mix(), nodes), "the mix of integers");
        check(Difference<float>(), samples(Difference<float>(), nodes), "a - b");
        check(Sum<double>(), samples(Sum<double>(), nodes), "the double sum");
        check(Sum<float>(), std::vector<float>(nodes, -0.0f), "the sum of -0.0 alone");
    }
    // Three separate readings of the definition agreed on these, as canonical_tree.cu has them.
    const struct {
        size_t n;
        unsigned long long sum, difference;
    } known[] = {{1025, 0xc152ee96, 0xc20c838a}, {1793, 0xc12b6d6c, 0xc1e1a36a}, {4194915, 0x43c91abb, 0xc2c19544}};
    for (const auto& k : known) {
        knownAnswer(k.n, "the float sum", tree(Sum<float>(), k.n), k.sum);
        knownAnswer(k.n, "a - b", tree(Difference<float>(), k.n), k.difference);
    }
    return checkIsDone();
}
