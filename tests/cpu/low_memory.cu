// For runs with little memory: every allocation of the CPU default's runtime, and no new_handler of its
// own. Status 0, or 2 with one line on stderr.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECKED(call) checked((call), #call, __LINE__)
static void checked(cudaError_t error, const char* call, int line) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "low_memory.cu:%d: %s: %s\n", line, call, cudaGetErrorName(error));
    exit(2);
}

struct Parameters {
    float values[256];
};

constexpr int kBlock = 512;
constexpr int kElements = 1 << 22;

// A barrier, so that each thread has a stack; static and dynamic shared memory.
__global__ void sum(const float* x, float* partials) {
    __shared__ float s[kBlock];
    extern __shared__ float more[];
    float mine = 0;
    for (int i = blockIdx.x * kBlock + threadIdx.x; i < kElements; i += gridDim.x * kBlock) mine += x[i];
    s[threadIdx.x] = mine;
    more[threadIdx.x] = 1;
    __syncthreads();
    for (int half = kBlock / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partials[blockIdx.x] = s[0] * more[0];
}

__global__ void record(Parameters p, float* out) { *out = p.values[1]; }

int main() {
    constexpr int kGrid = 64;
    float *x, *partials, *pinned;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECKED(cudaMallocHost(&pinned, kElements * sizeof *pinned));
    for (int i = 0; i < kElements; ++i) pinned[i] = 1;
    CHECKED(cudaMalloc(&x, kElements * sizeof *x));
    CHECKED(cudaMalloc(&partials, kGrid * sizeof *partials));
    CHECKED(cudaMemcpy(x, pinned, kElements * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<kGrid, kBlock, 40000>>>(x, partials);
    CHECKED(cudaGetLastError());
    CHECKED(cudaDeviceSynchronize());
    for (int i = 0; i < kGrid; ++i)
        if (partials[i] != kElements / kGrid) return 3;
    CHECKED(cudaStreamCreate(&stream));
    CHECKED(cudaEventCreate(&event));
    CHECKED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 20000; ++i) {
        Parameters p = {};
        p.values[1] = i;
        record<<<1, 1, 0, stream>>>(p, partials);
        CHECKED(cudaGetLastError());
    }
    CHECKED(cudaStreamEndCapture(stream, &graph));
    CHECKED(cudaGraphInstantiate(&exec, graph));
    CHECKED(cudaGraphLaunch(exec, stream));
    if (partials[0] != 19999) return 3;
    CHECKED(cudaGraphExecDestroy(exec));
    CHECKED(cudaGraphDestroy(graph));
    CHECKED(cudaEventDestroy(event));
    CHECKED(cudaStreamDestroy(stream));
    CHECKED(cudaFree(x));
    CHECKED(cudaFree(partials));
    CHECKED(cudaFreeHost(pinned));
    printf("done\n");
}
