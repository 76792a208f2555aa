// Barriers, warp functions, shared memory and grids of the CPU default.
#include <unistd.h>

#include <thread>
#include <vector>

#include "check.cu"

__device__ unsigned linearThread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ unsigned blockThreads() { return blockDim.x * blockDim.y * blockDim.z; }

// A barrier that lets anyone through early shows a neighbour's value of another round.
__global__ void neighbours(int rounds) {
    __shared__ int slot[1024];
    const unsigned t = linearThread(), n = blockThreads();
    for (int r = 0; r < rounds; ++r) {
        slot[t] = r * 1024 + (int)t;
        __syncthreads();
        EXPECT(slot[(t + 1) % n] == r * 1024 + (int)((t + 1) % n));
        EXPECT(slot[n - 1 - t] == r * 1024 + (int)(n - 1 - t));
        __syncthreads();
    }
}

__global__ void votes() {
    const unsigned t = linearThread(), n = blockThreads();
    EXPECT(__syncthreads_count(t % 3 == 0) == (int)((n + 2) / 3));
    EXPECT(__syncthreads_count(7) == (int)n);
    EXPECT(__syncthreads_and(2) != 0);
    EXPECT((__syncthreads_and(t != n - 1) != 0) == false);
    EXPECT(__syncthreads_or(0) == 0);
    EXPECT(__syncthreads_or(t == n - 1) != 0);
    EXPECT(__syncthreads_count(t == 0) == 1);
}

// Every round one more thread has returned, the lowest or the highest first.
__global__ void earlyReturn(bool lowest) {
    const int n = (int)blockThreads(), t = (int)linearThread();
    const int rank = lowest ? t : n - 1 - t;
    for (int r = 0; r < n; ++r) {
        if (rank < r) return;
        EXPECT(__syncthreads_count(1) == n - r);
    }
}

__global__ void halfReturns(int* out) {
    __shared__ int slot[256];
    if (threadIdx.x % 2) return;
    slot[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = slot[254 - threadIdx.x];
}

template <typename T>
__device__ T valueOf(unsigned lane) { return (T)(lane + 1) * (T)(sizeof(T) == 8 ? 5000000000.0 : 3.0); }

// Against the rule as the CUDA C++ Programming Guide states it.
template <typename T>
__global__ void shuffles() {
    const int lane = (int)linearThread() % 32;
    const T mine = valueOf<T>((unsigned)lane);
    for (int width = 1; width <= 32; width *= 2) {
        const int first = lane / width * width, last = first + width - 1;
        for (int k = 0; k <= 32; ++k) {
            EXPECT(__shfl_sync(0xffffffffu, mine, k, width) == valueOf<T>((unsigned)(first + k % width)));
            EXPECT(__shfl_up_sync(0xffffffffu, mine, (unsigned)k, width) ==
                   valueOf<T>((unsigned)(lane - k < first ? lane : lane - k)));
            EXPECT(__shfl_down_sync(0xffffffffu, mine, (unsigned)k, width) ==
                   valueOf<T>((unsigned)(lane + k > last ? lane : lane + k)));
            if (k < 32)
                EXPECT(__shfl_xor_sync(0xffffffffu, mine, k, width) ==
                       valueOf<T>((unsigned)((lane ^ k) > last ? lane : lane ^ k)));
        }
    }
    EXPECT(__shfl_sync(0xffffffffu, mine, 5) == valueOf<T>(5));
}

// Lanes that have left count for nothing: neither their votes nor their arrival.
__global__ void leavers(unsigned left) {
    const unsigned t = linearThread(), lane = t % 32;
    const unsigned size = min(32u, blockThreads() - t / 32 * 32);
    const unsigned whole = size == 32 ? ~0u : (1u << size) - 1;
    if (lane < left) return;
    const unsigned there = whole & ~((1u << left) - 1);
    EXPECT(__ballot_sync(0xffffffffu, 1) == there);
    EXPECT(__ballot_sync(0xffffffffu, lane % 2) == (there & 0xaaaaaaaau));
    EXPECT(__all_sync(0xffffffffu, lane >= left));
    EXPECT(!__all_sync(0xffffffffu, lane > left));
    EXPECT(__any_sync(0xffffffffu, lane == left));
    EXPECT(!__any_sync(0xffffffffu, lane < left));
    EXPECT(__activemask() == there);
    __syncwarp();  // nobody leaves before all have asked
}

// The first wait of the block is this question.
__global__ void activeFirst() {
    if (threadIdx.x < 3) return;
    EXPECT(__activemask() == ~7u);
    __syncwarp();
}

__global__ void masks() {
    const unsigned lane = threadIdx.x;
    // Two halves that never meet, one far more often.
    const unsigned mine = lane % 2 ? 0xaaaaaaaau : 0x55555555u;
    for (unsigned r = 0; r < (lane % 2 ? 2u : 40u); ++r)
        EXPECT(__ballot_sync(mine, lane + r) == (mine & (r == 0 ? ~1u : ~0u)));
    __syncwarp();
    // Of a lane that takes no part: the own value.
    if (lane % 2 == 0) EXPECT(__shfl_sync(0x55555555u, lane, 7) == lane);
    __syncwarp();
    // Two masks with the same lowest lane, the second's other lane first.
    if (lane == 3) EXPECT(__shfl_sync(0x9u, 30, 0) == 70);
    if (lane == 1 || lane == 2) EXPECT(__ballot_sync(0x7u, lane == 2) == 4u);
    if (lane == 0) {
        EXPECT(__ballot_sync(0x7u, 0) == 4u);
        EXPECT(__shfl_sync(0x9u, 70, 3) == 30);
    }
}

// One warp is at a barrier while another still exchanges.
__global__ void warpThenBlock() {
    __shared__ float total[32];
    float x = (float)threadIdx.x;
    if (threadIdx.x / 32 % 2)
        for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    if (threadIdx.x % 32 == 0) total[threadIdx.x / 32] = x;
    __syncthreads();
    const int w = (int)threadIdx.x / 32;
    EXPECT(total[w] == (w % 2 ? 32.0f * 32 * w + 496.0f : 32.0f * w));
}

// A lane waits in a warp function when the first thread comes to another barrier than the last one: none diverges.
__global__ void exchangeThenBarrier() {
    __syncthreads();
    if (threadIdx.x >= 32) EXPECT(__ballot_sync(0xffffffffu, 1) == ~0u);
    __syncthreads();
}

__global__ void dynamicShared(int n, int front) {
    extern __shared__ __align__(16) unsigned char bytes[];
    float* a = (float*)(bytes + front);
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) a[i] = (float)(i + (int)blockIdx.x);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) EXPECT(a[n - 1 - i] == (float)(n - 1 - i + (int)blockIdx.x));
}
template <typename T>
__global__ void dynamicOf(T first) {
    extern __shared__ T values[];
    values[threadIdx.x] = first + (T)threadIdx.x;
    __syncthreads();
    EXPECT(values[blockDim.x - 1 - threadIdx.x] == first + (T)(blockDim.x - 1 - threadIdx.x));
}

struct Pair {
    float hi, lo;
    __host__ __device__ Pair() {}
    __host__ __device__ Pair(float h, float l) : hi(h), lo(l) {}
};
__device__ float helperWithShared(int round) {
    __shared__ float kept;
    __syncthreads();
    if (threadIdx.x == 0) kept = (float)round;
    __syncthreads();
    return kept;
}
template <typename T, int kN>
__global__ void staticForms() {
    __shared__ T one, many[kN], square[4][kN];
    __shared__ alignas(64) char aligned[64];
    static __shared__ volatile int stat;
    __shared__ Pair pairs[kN];
    const int t = (int)threadIdx.x;
    EXPECT((size_t)aligned % 64 == 0);
    if (t == 0) one = (T)9, stat = 4;
    many[t] = (T)t;
    for (int r = 0; r < 4; ++r) square[r][t] = (T)(10 * r + t);
    pairs[t] = Pair((float)t, 1.0f);
    __syncthreads();
    EXPECT(one == (T)9 && stat == 4 && many[kN - 1 - t] == (T)(kN - 1 - t));
    for (int r = 0; r < 4; ++r) EXPECT(square[r][kN - 1 - t] == (T)(10 * r + kN - 1 - t));
    EXPECT(pairs[kN - 1 - t].hi == (float)(kN - 1 - t));
    for (int r = 0; r < 3; ++r) EXPECT(helperWithShared(r) == (float)r);
}

__global__ void visit(int* count) {
    const dim3 g = gridDim, b = blockDim;
    EXPECT(blockIdx.x < g.x && blockIdx.y < g.y && blockIdx.z < g.z);
    EXPECT(threadIdx.x < b.x && threadIdx.y < b.y && threadIdx.z < b.z);
    const size_t block = blockIdx.x + (size_t)g.x * (blockIdx.y + (size_t)g.y * blockIdx.z);
    atomicAdd(&count[block * (b.x * b.y * b.z) + linearThread()], 1);
}

static void runVisit(dim3 grid, dim3 block) {
    const size_t n = (size_t)grid.x * grid.y * grid.z * block.x * block.y * block.z;
    int* count;
    CHECKED(cudaMalloc(&count, n * sizeof *count));
    CHECKED(cudaMemset(count, 0, n * sizeof *count));
    visit<<<grid, block>>>(count);
    CHECKED(cudaGetLastError());
    std::vector<int> got(n);
    CHECKED(cudaMemcpy(got.data(), count, n * sizeof *count, cudaMemcpyDeviceToHost));
    for (int c : got) EXPECT(c == 1);
    CHECKED(cudaFree(count));
}

// Lanes return while the others of their warp already wait in an exchange, and threads while the
// others wait at a barrier: those that stay are all that counts.
__global__ void leaveWaiting() {
    if (threadIdx.x % 32 >= 16) return;
    EXPECT(__popc(__ballot_sync(0xffffffffu, 1)) == 16);
    EXPECT(__syncthreads_and(1) == 1);
    EXPECT(__syncthreads_and(threadIdx.x != 3) == 0);
    EXPECT(__syncthreads_count(1) == (int)blockDim.x / 2);
}
__global__ void staysSmall() {}

// Launches of two host threads: the second waits for the end of the first.
__global__ void untilOther(int* count, const int* started) {
    atomicAdd(&count[blockIdx.x], 1);
    while (__atomic_load_n(started, __ATOMIC_ACQUIRE) < 2) usleep(1000);
    if (blockIdx.x == 0) usleep(20000);
}
static void launchesAtOnce() {
    constexpr int kBlocks = 300;
    int started = 0, count[2][kBlocks] = {};
    std::thread host[2];
    for (int i = 0; i < 2; ++i) {
        host[i] = std::thread([&, i] {
            __atomic_add_fetch(&started, 1, __ATOMIC_RELEASE);
            untilOther<<<kBlocks, 1>>>(count[i], &started);
            CHECKED(cudaGetLastError());
        });
    }
    for (std::thread& one : host) one.join();
    for (const auto& mine : count)
        for (int c : mine) EXPECT(c == 1);
}

int main() {
    for (dim3 block : {dim3(1), dim3(33), dim3(256), dim3(1024), dim3(16, 16), dim3(8, 8, 4), dim3(1, 1, 64), dim3(7, 5, 3)}) {
        neighbours<<<40, block>>>(6);
        votes<<<9, block>>>();
        CHECKED(cudaGetLastError());
    }
    for (bool lowest : {true, false})
        for (int threads : {1, 32, 70, 256}) earlyReturn<<<5, threads>>>(lowest);
    earlyReturn<<<3, dim3(4, 4, 4)>>>(true);
    int *out, got[256];
    CHECKED(cudaMalloc(&out, sizeof got));
    CHECKED(cudaMemset(out, 0xff, sizeof got));
    halfReturns<<<1, 256>>>(out);
    CHECKED(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; ++i) EXPECT(got[i] == (i % 2 ? -1 : 254 - i));
    CHECKED(cudaFree(out));

    shuffles<int><<<2, 64>>>();
    shuffles<unsigned><<<2, 64>>>();
    shuffles<long long><<<2, 64>>>();
    shuffles<unsigned long long><<<2, 64>>>();
    shuffles<float><<<2, 64>>>();
    shuffles<double><<<2, dim3(8, 8)>>>();
    for (unsigned left : {0u, 1u, 5u}) {
        leavers<<<3, 32>>>(left);
        leavers<<<3, 128>>>(left);
        leavers<<<3, 40>>>(left);
    }
    activeFirst<<<3, 32>>>();
    leaveWaiting<<<3, 32>>>();
    leaveWaiting<<<3, 128>>>();
    masks<<<4, 32>>>();
    warpThenBlock<<<6, 256>>>();
    exchangeThenBarrier<<<3, 64>>>();

    dynamicShared<<<12, 128, 4000>>>(996, 16);
    dynamicShared<<<3, 32, 48 * 1024>>>(48 * 256, 0);
    dynamicShared<<<3, 32, 48 * 1024 + 4>>>(48 * 256 + 1, 0);
    EXPECT_CALL(cudaErrorInvalidValue, cudaPeekAtLastError());
    CHECKED(cudaFuncSetAttribute(dynamicShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    dynamicShared<<<3, 32, 100 * 1024>>>(100 * 256, 0);
    CHECKED(cudaGetLastError());
    staysSmall<<<1, 1, 48 * 1024 + 4>>>();  // the limit was raised for another kernel
    EXPECT_CALL(cudaErrorInvalidValue, cudaPeekAtLastError());
    dynamicShared<<<3, 32, 100 * 1024 + 4>>>(1, 0);
    EXPECT_CALL(cudaErrorInvalidValue, cudaPeekAtLastError());
    EXPECT_CALL(cudaErrorInvalidValue,
                cudaFuncSetAttribute(dynamicShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    CHECKED(cudaFuncSetAttribute(dynamicShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 50 * 1024));
    dynamicShared<<<3, 32, 100 * 1024>>>(1, 0);  // lowered again
    EXPECT_CALL(cudaErrorInvalidValue, cudaPeekAtLastError());
    dynamicOf<<<4, 64, 64 * sizeof(double)>>>(3.0);
    dynamicOf<int><<<4, 64, 64 * sizeof(int)>>>(3);
    CHECKED(cudaFuncSetAttribute(dynamicOf<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
    dynamicOf<float><<<4, 64, 60 * 1024>>>(3.0f);
    dynamicOf<<<4, 64, 60 * 1024>>>(3.0f);
    staticForms<float, 64><<<9, 64>>>();
    staticForms<double, 100><<<9, 100>>>();
    CHECKED(cudaGetLastError());

    runVisit(dim3(1000), dim3(64));
    runVisit(dim3(7, 5), dim3(3, 4));
    runVisit(dim3(3, 4, 5), dim3(4, 3, 2));
    runVisit(dim3(1, 300), dim3(1));
    runVisit(dim3(16411), dim3(1));  // a prime: blocks that are taken together are not all of one number
    launchesAtOnce();
    return report();
}
