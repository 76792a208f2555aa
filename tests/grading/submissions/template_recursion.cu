// Lets the compiler make types without an end.
template <int kDepth, unsigned long kPath>
struct Tree {
    static constexpr unsigned long kSum = Tree<kDepth - 1, 2 * kPath>::kSum + Tree<kDepth - 1, 2 * kPath + 1>::kSum;
};
template <unsigned long kPath>
struct Tree<0, kPath> {
    static constexpr unsigned long kSum = kPath;
};
int main() { return Tree<40, 1>::kSum == 7; }
