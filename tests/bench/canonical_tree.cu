// Benchmark of the canonical tree on a card: fused against level by level, CUB and a plain copy,
// all in one run on the same data. `make bench LESSON=canonical_tree` builds and runs it; not a
// test.
//
// Every time is a median of kRounds launches between two events. Methods take turns within a round,
// so that a clock that drifts meets them all. "memory": each launch reads another stretch of a
// buffer of at least 4 GiB, so the L2 cache holds none of it; "cache": the same stretch again and
// again, for sizes that a cache may hold. Before anything is timed, all trees' bits must agree.
//
// With a CCCL of 3.1 or later at hand this file is compiled a second time, with its headers and
// -DBENCH_GPU_TO_GPU=2, to an object of CUB's gpu_to_gpu sum alone, and linked to the first, built
// with -DBENCH_GPU_TO_GPU=1: the toolkit's own CUB must not meet another CCCL in one object.
#ifndef BENCH_GPU_TO_GPU
#define BENCH_GPU_TO_GPU 0
#endif

#include <cuda_runtime.h>

#include <cub/device/device_reduce.cuh>

// CUB's sum with the same bits on every card. It takes its own temporary memory at every call.
cudaError_t gpuToGpuSum(const float* in, float* out, size_t n);
cudaError_t gpuToGpuSum(const double* in, double* out, size_t n);

#if BENCH_GPU_TO_GPU == 2
#if CCCL_VERSION < 3001000
#error "CUB's gpu_to_gpu needs CCCL 3.1 or later: CCCL= names an older one"
#endif
template <typename T>
static cudaError_t sumOnAnyCard(const T* in, T* out, size_t n) {
    const auto env = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
    return cub::DeviceReduce::Sum(in, out, (long long)n, env);
}
cudaError_t gpuToGpuSum(const float* in, float* out, size_t n) { return sumOnAnyCard(in, out, n); }
cudaError_t gpuToGpuSum(const double* in, double* out, size_t n) {
    return sumOnAnyCard(in, out, n);
}
#else

#include <functional>
#include <utility>

#define FUSED_TREE_NO_MAIN
#include "../../canonical_tree/fused_tree.cu"
#include "times.h"

constexpr int kRounds = 25;
constexpr size_t kSizes[] = {(1u << 22) + 611, 1u << 24, 1u << 28, 1u << 30};
constexpr size_t kBuffer = (size_t)1 << 30;      // values: 4 or 8 GiB, many times any L2
constexpr size_t kCacheBytes = (size_t)1 << 27;  // up to here "cache" is measured too

template <typename T>
__global__ void fillSamples(T* in, size_t n) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        in[i] = sampleAt<T>(i);
}

template <typename T>
struct Method {
    const char* name;
    std::function<void(const T* in, size_t n)> run;
    std::vector<float> ms;
};

static void mustBeNull(const char* error) {
    if (error == nullptr) return;
    fprintf(stderr, "a tree refused its work: %s\n", error);
    exit(2);
}

// Times every method over n samples; stretches is how many disjoint ones to go through.
template <typename T>
static void timeAll(std::vector<Method<T>>& methods, const T* in, size_t n, size_t stretches) {
    static cudaEvent_t start = nullptr, stop = nullptr;
    if (start == nullptr) {
        CUDA_CHECK(cudaEventCreate(&start));
        CUDA_CHECK(cudaEventCreate(&stop));
    }
    const size_t apart = (n + 1023) / 1024 * 1024;
    size_t launch = 0;
    for (Method<T>& m : methods) m.ms.clear();
    for (int round = -3; round < kRounds; ++round) {
        for (Method<T>& m : methods) {
            const T* at = in + launch++ % stretches * apart;
            float ms;
            CUDA_CHECK(cudaEventRecord(start));
            m.run(at, n);
            CUDA_CHECK(cudaEventRecord(stop));
            CUDA_CHECK(cudaGetLastError());
            CUDA_CHECK(cudaEventSynchronize(stop));
            CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
            if (round >= 0) m.ms.push_back(ms);
        }
    }
}

template <typename T>
static void printAll(const char* type, const char* from, const std::vector<Method<T>>& methods,
                     size_t n) {
    double cub = 0;
    for (const Method<T>& m : methods)
        if (strcmp(m.name, "cub_sum") == 0) cub = median(m.ms);
    for (const Method<T>& m : methods) {
        const double ms = median(m.ms);
        printf("%-6s %10zu %-6s %-14s %9.5f %9.5f %8.0f", type, n, from, m.name, ms, least(m.ms),
               (double)(n * sizeof(T)) * 1e-6 / ms);
        printf(cub > 0 ? " %8.3f\n" : "        -\n", cub / ms);
    }
}

template <typename T>
static void bench(const char* type) {
    T *in, *copy, *work0, *work1, *result;
    void* temporary = nullptr;
    size_t temporaryBytes = 0;
    const size_t capacity = leafCount(kBuffer);
    CUDA_CHECK(cudaMalloc(&in, sizeof(T) * kBuffer));
    CUDA_CHECK(cudaMalloc(&copy, sizeof(T) * kBuffer));
    CUDA_CHECK(cudaMalloc(&work0, sizeof(T) * capacity));
    CUDA_CHECK(cudaMalloc(&work1, sizeof(T) * capacity));
    CUDA_CHECK(cudaMalloc(&result, sizeof(T)));
    CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, temporaryBytes, in, result, (int)kBuffer));
    CUDA_CHECK(cudaMalloc(&temporary, temporaryBytes));
    fillSamples<<<4096, kThreads>>>(in, kBuffer);
    CUDA_CHECK(cudaDeviceSynchronize());

    const auto fused = [=](int steps) {
        return [=](const T* at, size_t n) {
            mustBeNull(fusedTree(Sum<T>(), at, n, work0, capacity, result, 0, steps));
        };
    };
    std::vector<Method<T>> methods;
    const auto add = [&](const char* name, std::function<void(const T*, size_t)> run) {
        methods.push_back({name, run, {}});
    };
    add("fused", fused(2));
    add("cub_sum", [=](const T* at, size_t n) {
        size_t bytes = temporaryBytes;
        CUDA_CHECK(cub::DeviceReduce::Sum(temporary, bytes, at, result, (int)n));
    });
    if (BENCH_GPU_TO_GPU)
        add("cub_gpu_to_gpu",
            [=](const T* at, size_t n) { CUDA_CHECK(gpuToGpuSum(at, result, n)); });
    add("levels", [=](const T* at, size_t n) {
        mustBeNull(deviceTree(Sum<T>(), at, n, nullptr, work0, work1, capacity, result, 0));
    });
    add("fused_1_step", fused(1));
    add("fused_4_steps", fused(4));
    std::vector<Method<T>> copies;  // timed apart: its writes would burden the next one's reads
    copies.push_back({"copy",
                      [=](const T* at, size_t n) {
                          CUDA_CHECK(
                              cudaMemcpyAsync(copy, at, sizeof(T) * n, cudaMemcpyDeviceToDevice));
                      },
                      {}});

    for (size_t n : kSizes) {
        T want = 0;
        for (const char* name : {"levels", "fused", "fused_1_step", "fused_4_steps"}) {
            T got;
            for (const Method<T>& m : methods)
                if (strcmp(m.name, name) == 0) m.run(in, n);
            CUDA_CHECK(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
            if (strcmp(name, "levels") == 0) want = got;
            if (canonicalBits(got) == canonicalBits(want)) continue;
            fprintf(stderr, "%s: %s over %zu samples: 0x%llx, level by level 0x%llx\n", type, name,
                    n, canonicalBits(got), canonicalBits(want));
            exit(1);
        }
        const size_t stretches = kBuffer / ((n + 1023) / 1024 * 1024);
        timeAll(methods, in, n, stretches);
        printAll(type, "memory", methods, n);
        timeAll(copies, in, n, stretches);
        printAll(type, "memory", copies, n);
        if (n * sizeof(T) > kCacheBytes) continue;
        timeAll(methods, in, n, 1);
        printAll(type, "cache", methods, n);
    }
    for (void* p : {(void*)in, (void*)copy, (void*)work0, (void*)work1, (void*)result, temporary})
        CUDA_CHECK(cudaFree(p));
}

int main(int argc, char**) {
    printHead("bench/canonical_tree", 1, argc);
    printf("cub: %d.%d.%d\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    printf("gpu_to_gpu: %s\n\n", BENCH_GPU_TO_GPU ? "measured" : "left out: no CCCL was given");
    printf("GB/s counts the samples once; a copy also writes as many bytes.\n\n");
    printf("type            n from   method         median ms   best ms     GB/s  cub/this\n");
    bench<float>("float");
    bench<double>("double");
    return 0;
}
#endif
