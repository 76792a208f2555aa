// Times one launch of the tree's first pass of day68_reproducibility (1,024 blocks of 256 threads over
// 4,194,915 floats, nine barriers per block), beside a plain C loop on the host that has the same partials.
// Prints: milliseconds, median and least of kTimed after a warm-up, of both. Status 1: partials differ.
#define REPRODUCIBILITY_NO_MAIN
#include "../../day68_reproducibility/reproducibility.cu"

#include <algorithm>
#include <chrono>
#include <vector>

#include "times.h"

#ifdef BENCH_SMALL  // for a test: does it still build and run?
constexpr int kTimed = 3;
constexpr int kWarmUp = 1;
#else
constexpr int kTimed = 31;
constexpr int kWarmUp = 3;
#endif

// One block's partial: the threads' sums side by side, so that a compiler can use vectors, then the tree.
static float blockOnHost(const float* in, int block, bool fused) {
    float slot[kThreads] = {};
    for (int first = block * kThreads; first < kElements; first += kBlocks * kThreads) {
        const int count = std::min(kThreads, (int)kElements - first);
        const float* x = in + first;
        if (fused)
            for (int t = 0; t < count; ++t) slot[t] += std::fma(x[t], x[t], 0.25f);
        else
            for (int t = 0; t < count; ++t) slot[t] += x[t] * x[t] + 0.25f;
    }
    for (int s = kThreads / 2; s > 0; s /= 2)
        for (int t = 0; t < s; ++t) slot[t] += slot[t + s];
    return slot[0];
}

static void onHost(const float* in, float* partials, bool fused) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int b = 0; b < kBlocks; ++b) partials[b] = blockOnHost(in, b, fused);
}

static void print(const char* what, const std::vector<double>& ms) {
    printf("%-34s median %8.3f ms   least %8.3f ms\n", what, median(ms), least(ms));
}

int main() {
    static float in[kElements];
    static float partials[kBlocks];
    static float host[kBlocks];
    std::vector<double> launch;
    std::vector<double> loop;
    cudaEvent_t start;
    cudaEvent_t end;
    float rest;
    fillInput(in);
    CUDA_CHECK(cudaMalloc(&g_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&g_partials, sizeof partials));
    CUDA_CHECK(cudaMemcpy(g_in, in, sizeof in, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&end));
    probeContraction<<<1, 1>>>(1.0f + 1.0f / 4096, -(1.0f + 1.0f / 2048), g_partials);
    CUDA_CHECK(cudaMemcpy(&rest, g_partials, sizeof rest, cudaMemcpyDeviceToHost));

    for (int r = -kWarmUp; r < kTimed; ++r) {
        float ms;
        CUDA_CHECK(cudaEventRecord(start));
        sumSquaresPerBlock<false><<<kBlocks, kThreads>>>(g_in, kElements, g_partials);
        CUDA_CHECK(cudaEventRecord(end));
        CUDA_CHECK(cudaEventSynchronize(end));
        CUDA_CHECK(cudaEventElapsedTime(&ms, start, end));
        const auto before = std::chrono::steady_clock::now();
        onHost(in, host, rest != 0.0f);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
        if (r < 0) continue;
        launch.push_back(ms);
        loop.push_back(took.count());
    }
    CUDA_CHECK(cudaMemcpy(partials, g_partials, sizeof partials, cudaMemcpyDeviceToHost));
    print("one launch of the first pass", launch);
    print("a plain loop on the host", loop);
    if (memcmp(partials, host, sizeof partials) != 0) {
        fprintf(stderr, "the loop's partials differ from the kernel's\n");
        return 1;
    }
    return 0;
}
