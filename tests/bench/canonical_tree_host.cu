// Benchmark of the canonical tree on the host: beside OpenMP's own sum of the same 2^28 floats,
// which lie in memory and in no cache. Host code alone: run_canonical_tree.sh compiles it for the
// CPU whatever the device, and without contraction (there is none here), since the CPU default's
// fused build inlines no operator into host code. The two take turns; each row is a median over
// kRounds.
#define CANONICAL_TREE_NO_MAIN
#include "../../canonical_tree/canonical_tree.cu"

#include <memory>

#include "times.h"

#ifdef BENCH_SMALL  // for a test: does it still build and run?
constexpr int kRounds = 3;
constexpr size_t kSizes[] = {1u << 10, 1u << 12, 1u << 14, 1u << 16};
#else
constexpr int kRounds = 15;
constexpr size_t kSizes[] = {1u << 22, 1u << 24, 1u << 26, 1u << 28};
#endif

static float plainSum(const float* in, size_t n, int threads) {
    float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
    for (size_t i = 0; i < n; ++i) sum += in[i];
    return sum;
}

template <typename F>
static double milliseconds(F run) {
    const double start = omp_get_wtime();
    run();
    return 1e3 * (omp_get_wtime() - start);
}

int main() {
    const size_t most = kSizes[3];
    std::unique_ptr<float[]> samples(new float[most]);
    float* in = samples.get();
    // By both threads, so that on a machine with several memory nodes each has its share.
#pragma omp parallel for num_threads(2)
    for (size_t i = 0; i < most; ++i) in[i] = sampleAt<float>(i);
    std::vector<float> work(treeWorkCount(most));
    const int cores = std::min(2, omp_get_num_procs());
    volatile float sink;  // or the plain sum, which nobody reads, is left out
    unsigned long long bits = 0;

    printf(
        "         n threads  plain ms   tree ms  plain GB/s  tree GB/s  plain/tree  tree bits\n");
    for (size_t n : kSizes) {
        for (int threads = 1; threads <= cores; ++threads) {
            std::vector<double> plainTimes, tree;
            for (int round = -2; round < kRounds; ++round) {
                const double p = milliseconds([&] { sink = plainSum(in, n, threads); });
                float result;
                int ran = threads;
                const double t = milliseconds([&] {
                    hostTree(
                        Sum<float>(), [in](size_t i) { return in[i]; }, n, nullptr, work.data(),
                        work.size(), &result, &ran);
                });
                if (ran != threads) {
                    fprintf(stderr, "%d threads ran, not %d\n", ran, threads);
                    return 2;
                }
                if ((round > -2 || threads > 1) && canonicalBits(result) != bits) {
                    fprintf(stderr, "n = %zu: the tree's bits moved with the threads\n", n);
                    return 1;
                }
                bits = canonicalBits(result);
                if (round < 0) continue;
                plainTimes.push_back(p);
                tree.push_back(t);
            }
            const double p = median(plainTimes), t = median(tree), mb = 1e-6 * (double)(n * sizeof *in);
            printf("%10zu %7d %9.2f %9.2f %11.2f %10.2f %11.3f  0x%08llx\n", n, threads, p, t,
                   mb / p, mb / t, p / t, bits);
        }
    }
    (void)sink;
    return 0;
}
