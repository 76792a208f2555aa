// Warp-synchronous code: written for lanes that run in lock-step, with `volatile` in place of __syncwarp. The first
// kernel is the classic tail of a reduction; the sums are a card's.
#include "check.cu"

template <int kSize>
__device__ void reduceWarp(volatile int* s, int t) {
    if (kSize >= 64) s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}
__global__ void reduce(int* out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x + 64] = 1000000;
    __syncthreads();
    if (threadIdx.x < 32) reduceWarp<64>(s, threadIdx.x);
    if (threadIdx.x == 0) *out = s[0];
}
// An inclusive scan: with lanes one after the other each would read what the one before has written.
__global__ void scan(float* out) {
    volatile __shared__ float s[32];
    const unsigned t = threadIdx.x;
    s[t] = t;
    for (unsigned by = 1; by < 32; by *= 2)
        if (t >= by) s[t] = s[t] + s[t - by];
        else s[t] *= 1;
    out[t] = s[t];
}
__global__ void chained(int* out) {
    extern __shared__ int all[];
    volatile int* s = all;
    int mine = threadIdx.x;
    s[threadIdx.x] = mine;
    if (threadIdx.x < 16) {
        s[threadIdx.x] = mine = mine + s[threadIdx.x + 16];
        s[threadIdx.x] = mine = mine + s[threadIdx.x + 8];
        s[threadIdx.x] = mine = mine + s[threadIdx.x + 4];
        s[threadIdx.x] = mine = mine + s[threadIdx.x + 2];
        s[threadIdx.x] = mine = mine + s[threadIdx.x + 1];
    }
    __syncthreads();
    if (threadIdx.x == 31) *out = s[0];
}
// A path that half of the lanes take, and lanes that have left.
__global__ void half(int* out) {
    volatile __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 40) return;
    if (threadIdx.x % 2 == 0) {
        s[threadIdx.x] += s[(threadIdx.x + 2) % 40];
        s[threadIdx.x] += s[(threadIdx.x + 4) % 40];
    }
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

int main() {
    int *sum, *halves;
    float* sums;
    CHECKED(cudaMallocManaged(&sum, sizeof *sum));
    CHECKED(cudaMallocManaged(&halves, 40 * sizeof *halves));
    CHECKED(cudaMallocManaged(&sums, 32 * sizeof *sums));
    reduce<<<3, 64>>>(sum);
    EXPECT(*sum == 2016);
    scan<<<2, 32>>>(sums);
    for (int i = 0; i < 32; ++i) EXPECT(sums[i] == i * (i + 1) / 2);
    chained<<<1, 32, 64 * sizeof(int)>>>(sum);
    EXPECT(*sum == 496);
    half<<<1, 64>>>(halves);
    EXPECT(halves[1] == 1 && halves[0] == 0 + 2 + 4 + 6 && halves[20] == 20 + 22 + 24 + 26);
    CHECKED(cudaFree(sum));
    CHECKED(cudaFree(halves));
    CHECKED(cudaFree(sums));
    return report();
}
