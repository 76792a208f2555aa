// Exercise day68-5: 256 floats, one of them subnormal and the others 0, summed in three ways. The
// arguments are the three totals' bits that were answered, in hexadecimal: global, shared, tree. The
// first that is wrong is named. A card gives the same bits as the CPU default.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kThreads = 256;
constexpr int kPlace = 77;  // of the subnormal: any

__global__ void addGlobally(const float* in, float* total) { atomicAdd(total, in[threadIdx.x]); }

__global__ void addShared(const float* in, float* total) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    atomicAdd(&sum, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *total = sum;
}

__global__ void addByTree(const float* in, float* total) {
    __shared__ float slot[kThreads];
    slot[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) *total = slot[0];
}

static void check(cudaError_t err) {
    if (err == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(err));
    exit(2);
}

int main(int argc, char** argv) {
    static const char* const kWays[] = {"global atomic", "shared atomic", "tree"};
    float in[kThreads] = {};
    in[kPlace] = 1e-40f;
    float* gpuIn;
    float* gpuTotals;
    check(cudaMalloc(&gpuIn, sizeof in));
    check(cudaMalloc(&gpuTotals, 3 * sizeof(float)));
    check(cudaMemcpy(gpuIn, in, sizeof in, cudaMemcpyHostToDevice));
    check(cudaMemset(gpuTotals, 0, 3 * sizeof(float)));
    addGlobally<<<1, kThreads>>>(gpuIn, gpuTotals);
    addShared<<<1, kThreads>>>(gpuIn, gpuTotals + 1);
    addByTree<<<1, kThreads>>>(gpuIn, gpuTotals + 2);
    check(cudaGetLastError());
    unsigned bits[3];
    check(cudaMemcpy(bits, gpuTotals, sizeof bits, cudaMemcpyDeviceToHost));
    check(cudaFree(gpuIn));
    check(cudaFree(gpuTotals));
    if (argc != 4) {  // by hand: what runs
        for (int way = 0; way < 3; ++way) printf("%s: 0x%08x\n", kWays[way], bits[way]);
        return 2;
    }
    for (int way = 0; way < 3; ++way) {
        if (strtoul(argv[way + 1], nullptr, 16) == bits[way]) continue;
        printf("%s|the total has other bits than 0x%08lx\n", kWays[way],
               strtoul(argv[way + 1], nullptr, 16));
        return 1;
    }
    return 0;
}
