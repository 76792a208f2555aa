// Atomics of the CPU default: exact counts under contention, and what a card does to subnormals.
#include <sched.h>

#include <cmath>

#include "check.cu"

constexpr int kBlocks = 64, kThreads = 256, kTotal = kBlocks * kThreads;

// Blocks start together: on an idle machine one thread could run them all before another wakes. By the
// compiler's own atomics: they meet whatever is wrong with those that are tested.
__device__ int arrived;
__device__ void meet() {
    if (threadIdx.x == 0) __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
    for (int i = 0; threadIdx.x == 0 && i < 20000 && __atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2; ++i) sched_yield();
    __syncthreads();
}

template <typename T>
struct Cells {
    T add, max, min, all, any, odd, cas, last, seen;
};

template <typename T>
__global__ void contend(Cells<T>* c) {
    const T i = (T)(blockIdx.x * blockDim.x + threadIdx.x);
    meet();
    atomicAdd(&c->add, i);
    atomicMax(&c->max, i);
    atomicMin(&c->min, i);
    atomicAnd(&c->all, (T) ~(T)(1u << (threadIdx.x % 8)));
    atomicOr(&c->any, (T)(1u << (threadIdx.x % 16)));
    atomicXor(&c->odd, i + 1);
    for (T old = c->cas, seen;; old = seen) {  // a multiplication of a lock-free kind
        seen = atomicCAS(&c->cas, old, (T)(old + 3));
        if (seen == old) break;
    }
    // Every value that is put in comes out once: the sum of what came out and the last is what went in.
    atomicAdd(&c->seen, atomicExch(&c->last, i));
}

template <typename T>
static void runContend() {
    const Cells<T> zero = {0, 0, (T)1000000, (T)~(T)0, 0, 0, 0, 0, 0};
    Cells<T>*device, c;
    CHECKED(cudaMalloc(&device, sizeof c));
    CHECKED(cudaMemcpy(device, &zero, sizeof c, cudaMemcpyHostToDevice));
    contend<<<kBlocks, kThreads>>>(device);
    CHECKED(cudaGetLastError());
    CHECKED(cudaMemcpy(&c, device, sizeof c, cudaMemcpyDeviceToHost));
    CHECKED(cudaFree(device));
    arrived = 0;
    const T sum = (T)((long long)kTotal * (kTotal - 1) / 2);
    EXPECT(c.add == sum);
    EXPECT(c.max == (T)(kTotal - 1));
    EXPECT(c.min == 0);
    EXPECT(c.all == (T)~(T)0xff);
    EXPECT(c.any == (T)0xffff);
    EXPECT(c.odd == (T)kTotal);  // of 1 to a power of two: that power alone
    EXPECT(c.cas == (T)(3 * kTotal));
    EXPECT((T)(c.seen + c.last) == sum);
}

__global__ void subtract(int* i, unsigned* u) {
    atomicSub(i, 2);
    atomicSub(u, 1u);
}

// Quarters of small integers: exact in any order.
__global__ void addFloats(float* f, double* d, float* last, double* seen) {
    __shared__ float block;
    __shared__ double blockDouble;
    if (threadIdx.x == 0) block = 0.0f, blockDouble = 0.0;
    __syncthreads();
    atomicAdd(&block, 0.25f);
    atomicAdd(&blockDouble, 0.5);
    __syncthreads();
    if (threadIdx.x == 0) EXPECT(block == kThreads * 0.25f && blockDouble == kThreads * 0.5);
    meet();
    for (int i = 0; i < 20; ++i) atomicAdd(f, 0.25f), atomicAdd(f, -0.25f);
    for (int i = 0; i < 20; ++i) atomicAdd(d, 0.25), atomicAdd(d, -0.25);
    atomicAdd(f, 0.25f);
    atomicAdd(d, 0.25);
    atomicAdd(seen, (double)atomicExch(last, 1.0f));
}

__global__ void oldValues(int* p) {
    EXPECT(atomicAdd(p, 5) == 0);
    EXPECT(atomicSub(p, 1) == 5);
    EXPECT(atomicMax(p, 9) == 4);
    EXPECT(atomicMax(p, 3) == 9);
    EXPECT(atomicMin(p, -7) == 9);
    EXPECT(atomicCAS(p, 0, 1) == -7);
    EXPECT(atomicCAS(p, -7, 6) == -7);
    EXPECT(atomicAnd(p, 3) == 6);
    EXPECT(atomicOr(p, 8) == 2);
    EXPECT(atomicXor(p, 3) == 10);
    EXPECT(atomicExch(p, 77) == 9);
    EXPECT(*p == 77);
}

__global__ void oldSums(float* f, double* d) {
    *f = 1.5f, *d = 2.5;
    EXPECT(atomicAdd(f, 2.0f) == 1.5f && *f == 3.5f);
    EXPECT(atomicAdd(d, 2.0) == 2.5 && *d == 4.5);
}

__device__ bool same(float a, float b) { return __float_as_uint(a) == __float_as_uint(b); }

__device__ void subnormalCase(float* p, bool flushes, float start, float add, float kept) {
    *p = start;
    EXPECT(same(atomicAdd(p, add), start));
    const float flushed = std::fpclassify(kept) == FP_SUBNORMAL ? std::copysign(0.0f, kept) : kept;
    if (same(*p, flushes ? flushed : kept)) return;
    fprintf(stderr, "%s memory: %a + %a gave %a\n", flushes ? "global" : "shared", start, add, *p);
    EXPECT(same(*p, flushes ? flushed : kept));
}
__device__ void subnormalCases(float* p, bool flushes) {
    const float tiny = 1e-40f, least = 1.17549435e-38f;
    subnormalCase(p, flushes, 0.0f, tiny, tiny);
    subnormalCase(p, flushes, -0.0f, -tiny, -tiny);
    subnormalCase(p, flushes, least, -tiny, flushes ? least : least - tiny);
    subnormalCase(p, flushes, 1.5f * least, -least, 0.5f * least);
    subnormalCase(p, flushes, -1.5f * least, least, -0.5f * least);
    subnormalCase(p, flushes, tiny, 1.0f, 1.0f);
    subnormalCase(p, flushes, 2.0f * least, -least, least);
}
__global__ void subnormals(float* global, double* globalDouble) {
    __shared__ float fixed, other[4];
    extern __shared__ float dynamic[];
    subnormalCases(global, true);
    subnormalCases(&fixed, false);
    subnormalCases(&other[3], false);
    subnormalCases(&dynamic[0], false);
    subnormalCases(&dynamic[7], false);
    *globalDouble = 0.0;
    atomicAdd(globalDouble, 1e-310);
    EXPECT(*globalDouble == 1e-310);
}

int main() {
    runContend<int>();
    runContend<unsigned>();
    runContend<unsigned long long>();

    struct Sums {
        int i;
        unsigned u;
        float f, last;
        double d, seen;
    } *device, got;
    CHECKED(cudaMalloc(&device, sizeof got));
    CHECKED(cudaMemset(device, 0, sizeof got));
    subtract<<<kBlocks, kThreads>>>(&device->i, &device->u);
    addFloats<<<kBlocks, kThreads>>>(&device->f, &device->d, &device->last, &device->seen);
    CHECKED(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got.i == -2 * kTotal && got.u == 0u - (unsigned)kTotal);
    EXPECT(got.f == kTotal * 0.25f && got.d == kTotal * 0.25);
    EXPECT(got.last == 1.0f && got.seen == kTotal - 1);
    CHECKED(cudaMemset(device, 0, sizeof got));
    oldValues<<<1, 1>>>(&device->i);
    oldSums<<<1, 1>>>(&device->f, &device->d);
    subnormals<<<1, 1, 8 * sizeof(float)>>>(&device->f, &device->d);
    CHECKED(cudaGetLastError());
    CHECKED(cudaFree(device));
    return report();
}
