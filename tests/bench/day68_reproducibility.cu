// Times one launch of the tree's first pass of day68_reproducibility (1,024 blocks of 256 threads over
// 4,194,915 floats, nine barriers a block), beside a plain C loop on the host that has the same partials.
// Prints: milliseconds, median and least of kRuns after a warm-up, of both. Status 1: partials differ.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kElements = 4194915, kBlocks = 1024, kThreads = 256, kRuns = 31, kWarmUp = 3;

static void check(cudaError_t err, int line) {
    if (err == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s\n", __FILE__, line, cudaGetErrorString(err));
    exit(2);
}
#define CHECK(call) check((call), __LINE__)

__global__ void firstPass(const float* in, long long n, float* partials) {
    __shared__ float slot[kThreads];
    const long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) sum += in[i] * in[i] + 0.25f;
    slot[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned s = kThreads / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) slot[threadIdx.x] += slot[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) partials[blockIdx.x] = slot[0];
}
__global__ void probe(float x, float y, float* out) { *out = x * x + y; }

// One block's partial: the threads' sums side by side, so that a compiler can use vectors, then the tree.
static float blockOnHost(const float* in, int block, bool fused) {
    float slot[kThreads] = {};
    for (int first = block * kThreads; first < kElements; first += kBlocks * kThreads) {
        const int count = std::min(kThreads, kElements - first);
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

static void print(const char* what, std::vector<double> ms) {
    std::sort(ms.begin(), ms.end());
    printf("%-34s median %8.3f ms   least %8.3f ms\n", what, ms[ms.size() / 2], ms[0]);
}

int main() {
    std::vector<float> in(kElements), partials(kBlocks), host(kBlocks);
    for (int i = 0; i < kElements; ++i) in[(size_t)i] = 1.0f + (float)(i % 1000) / 1000;
    float *deviceIn, *devicePartials, rest;
    cudaEvent_t start, end;
    CHECK(cudaMalloc(&deviceIn, sizeof(float) * kElements));
    CHECK(cudaMalloc(&devicePartials, sizeof(float) * kBlocks));
    CHECK(cudaMemcpy(deviceIn, in.data(), sizeof(float) * kElements, cudaMemcpyHostToDevice));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    probe<<<1, 1>>>(1.0f + 1.0f / 4096, -(1.0f + 1.0f / 2048), devicePartials);
    CHECK(cudaMemcpy(&rest, devicePartials, sizeof rest, cudaMemcpyDeviceToHost));

    std::vector<double> launch, loop;
    for (int r = -kWarmUp; r < kRuns; ++r) {
        float ms;
        CHECK(cudaEventRecord(start));
        firstPass<<<kBlocks, kThreads>>>(deviceIn, kElements, devicePartials);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, start, end));
        const auto before = std::chrono::steady_clock::now();
        onHost(in.data(), host.data(), rest != 0.0f);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
        if (r < 0) continue;
        launch.push_back(ms);
        loop.push_back(took.count());
    }
    CHECK(cudaMemcpy(partials.data(), devicePartials, sizeof(float) * kBlocks, cudaMemcpyDeviceToHost));
    print("one launch of the first pass", launch);
    print("a plain loop on the host", loop);
    if (memcmp(partials.data(), host.data(), sizeof(float) * kBlocks) != 0) {
        fprintf(stderr, "the loop's partials differ from the kernel's\n");
        return 1;
    }
    return 0;
}
