// chunkedTree with an initial value, in chunks of many sizes, against the tree without one and one operation.
#include <cuda_runtime.h>

#define CANONICAL_TREE_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

// The tree by the definition over x[first .. first + count - 1].
template <class Op, class T>
static T definition(Op op, const std::vector<T>& x, size_t first, size_t count) {
    std::vector<T> node;
    for (size_t leaf = first; leaf < first + count; leaf += 256) {
        const size_t here = std::min<size_t>(256, first + count - leaf);
        std::vector<T> slot;
        for (size_t t = 0; t < here; ++t) slot.push_back(op.sample(x[leaf + t]));
        for (size_t stride = 128; stride > 0; stride /= 2)
            for (size_t t = 0; t < stride && t + stride < here; ++t) slot[t] = op(slot[t], slot[t + stride]);
        node.push_back(slot[0]);
    }
    while (node.size() > 1) {
        std::vector<T> parent;
        for (size_t i = 0; i + 1 < node.size(); i += 2) parent.push_back(op(node[i], node[i + 1]));
        if (node.size() % 2 != 0) parent.push_back(node.back());
        node = parent;
    }
    return node[0];
}
template <class Op, class T>
static T pairs(Op op, std::vector<T> node) {
    while (node.size() > 1) {
        std::vector<T> parent;
        for (size_t i = 0; i + 1 < node.size(); i += 2) parent.push_back(op(node[i], node[i + 1]));
        if (node.size() % 2 != 0) parent.push_back(node.back());
        node = parent;
    }
    return node[0];
}
// The same in chunks, of which the first or each takes the initial value, and the total again or not.
template <class Op, class T>
static unsigned long long early(Op op, const std::vector<T>& x, size_t chunk, T init, bool each, bool again) {
    std::vector<T> tree;
    for (size_t first = 0; first < x.size(); first += chunk) {
        tree.push_back(definition(op, x, first, std::min(chunk, x.size() - first)));
        if (each || first == 0) tree.back() = op(init, tree.back());
    }
    const T total = pairs(op, tree);
    return canonicalBits(again ? op(init, total) : total);
}

template <class Op, class T>
static void check(Op op, const std::vector<T>& x, const T* init, const char* what) {
    const T tree = definition(op, x, 0, x.size());
    const unsigned long long want = canonicalBits(init != nullptr ? op(*init, tree) : tree);
    for (size_t chunk = 256; chunk <= 4096; chunk *= 2) {
        std::vector<T> work(chunkWorkCount(x.size(), chunk));
        T result = T();
        const auto in = [&x](size_t i) { return x[i]; };
        const char* error = chunkedTree(op, in, x.size(), chunk, init, work.data(), work.size(), &result);
        char input[200], initial[60] = "no initial value";
        if (init != nullptr) snprintf(initial, sizeof initial, "initial value %g", (double)*init);
        snprintf(input, sizeof input, "%s, n = %zu, chunks of %zu, %s", what, x.size(), chunk, initial);
        if (error != nullptr) printf("%s|chunkedTree refuses: %s\n", input, error), exit(1);
        const unsigned long long got = canonicalBits(result);
        if (got == want) continue;
        const char* because = "";
        if (init != nullptr && got == canonicalBits(op(tree, *init))) because = ", as if it were the right operand";
        if (init != nullptr && got == canonicalBits(tree)) because = ", as if there were no initial value";
        if (init != nullptr && got == early(op, x, chunk, *init, false, false)) because = ", as if the first chunk took it";
        if (init != nullptr && got == early(op, x, chunk, *init, true, false)) because = ", as if every chunk took it";
        if (init != nullptr && got == early(op, x, chunk, *init, true, true)) because = ", as if every chunk and the total took it";
        printf("%s|it gives 0x%llx, and must give 0x%llx%s\n", input, got, want, because);
        exit(1);
    }
}

int main() {
    const float one = 1.0f, zero = 0.0f, third = 1.0f / 3;
    const double thirdDouble = 1.0 / 3;
    const unsigned long long number = 0x123456789abcdefULL;
    for (size_t n : {(size_t)1025, (size_t)1, (size_t)200, (size_t)256, (size_t)257, (size_t)513, (size_t)1793, (size_t)8449}) {
        std::vector<float> x, minus(n, -0.0f);
        std::vector<double> d;
        std::vector<unsigned long long> m;
        for (size_t i = 0; i < n; ++i) {
            x.push_back(sampleAt<float>(i));
            d.push_back(sampleAt<double>(i));
            m.push_back(sampleAt<unsigned long long>(i));
        }
        for (const float* init : {(const float*)nullptr, &one, &zero}) check(Sum<float>(), minus, init, "the sum of -0.0 alone");
        for (const float* init : {(const float*)nullptr, &one, &third}) {
            check(Sum<float>(), x, init, "the float sum");
            check(Difference<float>(), x, init, "a - b");
        }
        check(Sum<double>(), d, &thirdDouble, "the double sum");
        check(Mix(), m, &number, "the mix of integers");
    }
    return checkIsDone();
}
