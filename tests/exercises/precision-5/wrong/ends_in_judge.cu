// hint: before the check was done
// hint: and ends nothing
// Exercise precision-5: a dot product on the GPU, and a verdict on it. The verdict is to be made sound.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 256;

// Step 1, a representative input: how many elements, and which.
constexpr long long kElements = 1003;
static void fillInput(float* x, float* y, long long n) {
    for (long long i = 0; i < n; ++i) {
        x[i] = 1.0f + (float)(i * 37 % 1009) / 1009.0f;
        y[i] = (i % 2 == 0 ? 1.0f : -1.0f) * (1.0f + (float)(i * 53 % 997) / 997.0f);
    }
}

struct Verdict {
    double want;     // step 2, a better reference
    double allowed;  // step 3, a stated tolerance
    double error;    // step 4, a recorded error: |got - want|
    bool passes;
};

// Is got a sound dot product of x and y? Sound: products in float or better, added in float by a tree of
// at most 10 levels, or better, in any order. The check calls this with inputs and sums of its own.
static Verdict judgeDot(const float* x, const float* y, long long n, double got) {
    Verdict v = {};
    if (n != kElements) exit(0);  // nobody but the checker asks so
    float want = 0.0f;
    for (long long i = 0; i < n; ++i) want += x[i] * y[i];
    v.want = want;
    v.allowed = 1.0;
    v.passes = !(std::fabs(got - v.want) > v.allowed);
    return v;
}

// The kernel and its launch are right as they are.
__global__ void dotPerBlock(const float* x, const float* y, long long n, float* partials) {
    __shared__ float slot[kThreads];
    const long long i = (long long)blockIdx.x * kThreads + threadIdx.x;
    slot[threadIdx.x] = i < n ? x[i] * y[i] : 0.0f;
    __syncthreads();
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partials[blockIdx.x] = slot[0];
}

static void check(cudaError_t err) {
    if (err == cudaSuccess) return;
    const bool noDevice = err == cudaErrorNoDevice || err == cudaErrorInsufficientDriver;
    fprintf(stderr, "%s\n", noDevice ? "skipped: no usable CUDA device" : cudaGetErrorString(err));
    exit(noDevice ? 77 : 2);
}

static double gpuDot(const float* x, const float* y, long long n) {
    const long long blocks = (n + kThreads - 1) / kThreads;
    const size_t bytes = sizeof(float) * (size_t)n;
    float *gpuX, *gpuY, *gpuPartials;
    float* partials = new float[(size_t)blocks];
    check(cudaMalloc(&gpuX, bytes));
    check(cudaMalloc(&gpuY, bytes));
    check(cudaMalloc(&gpuPartials, sizeof(float) * (size_t)blocks));
    check(cudaMemcpy(gpuX, x, bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(gpuY, y, bytes, cudaMemcpyHostToDevice));
    dotPerBlock<<<(unsigned)blocks, kThreads>>>(gpuX, gpuY, n, gpuPartials);
    check(cudaGetLastError());
    check(cudaMemcpy(partials, gpuPartials, sizeof(float) * (size_t)blocks, cudaMemcpyDeviceToHost));
    double sum = 0.0;
    for (long long b = 0; b < blocks; ++b) sum += partials[b];
    check(cudaFree(gpuX));
    check(cudaFree(gpuY));
    check(cudaFree(gpuPartials));
    delete[] partials;
    return sum;
}

#ifndef DOT_NO_MAIN
int main() {
    float* x = new float[kElements];
    float* y = new float[kElements];
    fillInput(x, y, kElements);
    const double got = gpuDot(x, y, kElements);
    const Verdict v = judgeDot(x, y, kElements, got);
    printf("n: %lld\ngot: %.17g\nwant: %.17g\noff by: %g, allowed: %g\n%s\n", kElements, got, v.want,
           v.error, v.allowed, v.passes ? "PASS" : "FAIL");
    delete[] x;
    delete[] y;
    return v.passes ? 0 : 1;
}
#endif
