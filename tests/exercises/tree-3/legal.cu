// Which chunks the lesson's own program takes, and which node a border cuts, against the answers.
//   legal CHUNK yes|no ... cut FIRST LAST
#include <cuda_runtime.h>

#define CANONICAL_TREE_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

// The smallest node over leaves that has some on both sides of a border: its first leaf and its last.
static void smallestCut(size_t leaves, size_t border, size_t* first, size_t* last) {
    for (size_t width = 2;; width *= 2)
        for (*first = 0; *first < leaves; *first += width) {
            *last = std::min(*first + width, leaves) - 1;
            if (*first < border && border <= *last) return;
        }
}

int main(int argc, char** argv) {
    constexpr size_t n = 40000;
    std::vector<float> work(1000);
    int i = 1;
    for (; i + 1 < argc && strcmp(argv[i], "cut") != 0; i += 2) {
        const size_t chunk = strtoul(argv[i], nullptr, 10);
        float result;
        const bool legal = chunkedTree(Sum<float>(), [](size_t s) { return sampleAt<float>(s); }, n, chunk,
                                       (const float*)nullptr, work.data(), work.size(), &result) == nullptr;
        if (strcmp(argv[i + 1], legal ? "yes" : "no") == 0) continue;
        if (legal)
            printf("chunks of %zu samples|the program takes them\n", chunk);
        else
            printf("chunks of %zu samples|the program refuses them: a leaf or a node is cut\n", chunk);
        return 1;
    }
    size_t first, last;
    smallestCut(leafCount(2560), 1280 / kLeaf, &first, &last);
    if (i + 2 < argc && strtoul(argv[i + 1], nullptr, 10) == first && strtoul(argv[i + 2], nullptr, 10) == last) return checkIsDone();
    puts("2,560 samples in chunks of 1,280, the smallest node that is cut|it has another first or last leaf");
    return 1;
}
