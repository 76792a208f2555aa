// The CPU default's cuda_runtime.h: what a lesson's unmodified .cu needs of CUDA, in C++17 over the
// runtime in C beside it. README.md says what is covered. A call that is not here does not compile.
#ifndef CUDA_CPU_RUNTIME_H
#define CUDA_CPU_RUNTIME_H

#include "cuda_runtime_api.h"
#include "engine.h"

// The C headers and <new> are what nvcc's own header brings in, and code may rest on it.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#ifndef CUDA_CPU_FMAD
#error "CUDA_CPU_FMAD must be 1 (device code contracted, as nvcc does by default) or 0 (-fmad=false)"
#endif

// ---- Qualifiers -------------------------------------------------------------------------------
// Device functions alone are contracted, the command line says -ffp-contract=off. cu_rewrite puts
// CUDA_CPU_FN before every device function and CUDA_CPU_BODY at the head of its body: g++ takes the
// attribute, clang the pragma, and neither the other's.
#if CUDA_CPU_FMAD && defined(__clang__)
#define CUDA_CPU_FN
#define CUDA_CPU_BODY _Pragma("clang fp contract(fast)")
#elif CUDA_CPU_FMAD
#define CUDA_CPU_FN __attribute__((optimize("fp-contract=fast")))
#define CUDA_CPU_BODY
#else
#define CUDA_CPU_FN
#define CUDA_CPU_BODY
#endif
// Before each kernel's closing brace.
#define CUDA_CPU_END                                                              \
    {                                                                             \
        static const cuda_cpu_place cuda_cpu_end = {__FILE__, __LINE__};           \
        cuda_cpu_end_of_kernel(&cuda_cpu_end);                                     \
    }

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#if CUDA_CPU_FMAD && !defined(__clang__)
// g++ refuses to inline by force across functions whose optimisation attributes differ.
#define __forceinline__ inline
#else
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define CUDA_CPU_INLINE inline __attribute__((always_inline))

// Static shared memory: a worker runs one block at a time, so the worker's own copy is the block's.
// AddressSanitizer sees no overrun of a thread-local array, so there each block gets it from the heap.
#ifdef CUDA_CPU_ASAN
#define CUDA_CPU_SHARED(type, name)    \
    static const char name##_key = 0; \
    type& name = *static_cast<type*>(cuda_cpu_static_shared(&name##_key, sizeof(type)))
#else
// As bytes, since a type with a constructor of its own (an empty one is all that nvcc takes) is refused there.
#define CUDA_CPU_SHARED(type, name)                                                     \
    static __thread char name##_cuda_cpu_bytes[sizeof(type)] __attribute__((aligned(alignof(type) > 16 ? alignof(type) : 16))); \
    type& name = *reinterpret_cast<type*>(name##_cuda_cpu_bytes)
#endif

// ---- Vector types -----------------------------------------------------------------------------
#include "vectors.h"

constexpr int warpSize = 32;

// ---- Runtime API: what is a template or has default arguments; the rest is in cuda_runtime_api.h ---
template <typename T>
cudaError_t cudaMalloc(T** p, size_t bytes) { return cuda_cpu_malloc((void**)p, bytes); }
template <typename T>
cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t) { return cuda_cpu_malloc((void**)p, bytes); }
template <typename T>
cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned = 0) { return cuda_cpu_malloc_host((void**)p, bytes); }
template <typename T>
cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned) { return cuda_cpu_malloc_host((void**)p, bytes); }
template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpy((char*)&symbol + offset, from, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpy(to, (const char*)&symbol + offset, bytes, kind);
}
template <typename... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), enum cudaFuncAttribute attribute, int value) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;  // a hint
    return cuda_cpu_set_shared_limit((const void*)kernel, value < 0 ? (size_t)-1 : (size_t)value);
}
template <typename... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*)(P...), int threads, size_t shared) {
    if (!blocks || threads < 1) return cudaErrorInvalidValue;
    const size_t by_threads = 2048 / (size_t)threads, by_shared = shared ? 233472 / shared : 32;
    const size_t fit = by_threads < by_shared ? by_threads : by_shared;
    *blocks = threads > 1024 ? 0 : (int)(fit < 32 ? fit : 32);
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event) { return cudaEventRecord(event, nullptr); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) { return cudaStreamWaitEvent(stream, event, 0); }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind) { return cudaMemcpyAsync(to, from, bytes, kind, nullptr); }
inline cudaError_t cudaMemsetAsync(void* p, int byte, size_t bytes) { return cudaMemsetAsync(p, byte, bytes, nullptr); }
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0) { return cudaGraphInstantiateWithFlags(exec, graph, flags); }
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t) { return cudaGraphInstantiateWithFlags(exec, graph, 0); }

// ---- Launches ---------------------------------------------------------------------------------
namespace cuda_cpu {

template <typename... P>
struct Signature {
    const void* kernel;
};
template <typename... P>
Signature<P...> signature(void (*kernel)(P...)) { return {(const void*)kernel}; }

// The arguments, copied once a launch. std::tuple would do, but its accessors are functions without
// the contraction attribute, which g++ does not inline into those that have it.
template <size_t I, typename T>
struct Argument {
    T value;
};
template <typename Indices, typename... P>
struct Arguments;
template <size_t... I, typename... P>
struct Arguments<std::index_sequence<I...>, P...> : Argument<I, P>... {
    explicit Arguments(P... p) : Argument<I, P>{p}... {}
    template <typename Body>
    CUDA_CPU_FN CUDA_CPU_INLINE void call(const Body& body) const {
        body(static_cast<const Argument<I, P>&>(*this).value...);
    }
};

template <typename Body, typename... P>
struct Closure {
    Body body;
    Arguments<std::index_sequence_for<P...>, P...> arguments;

    // Runs threads of the block one after the other. A thread that waits at a barrier leaves this loop
    // on its fiber, and the rest are started in the same way on others: a kernel that never waits
    // needs no fiber but this one.
    CUDA_CPU_FN static void threads() {
        unsigned next = cuda_cpu_first_thread();
        const Closure& closure = *static_cast<const Closure*>(cuda_cpu_block.launch->closure);
        do {
            cuda_cpu_begin_thread(next);
            closure.arguments.call(closure.body);
            next = cuda_cpu_end_thread(next);
        } while (cuda_cpu_more_threads(next));
        cuda_cpu_leave();
    }
    // Null without memory. By malloc: `new` would throw through C, or call the program's new_handler under a lock.
    static void* clone(const void* self) {
        void* memory;
        if (posix_memalign(&memory, alignof(Closure) < sizeof(void*) ? sizeof(void*) : alignof(Closure), sizeof(Closure)) != 0)
            return nullptr;
        return new (memory) Closure(*static_cast<const Closure*>(self));
    }
    static void destroy(void* self) {
        static_cast<Closure*>(self)->~Closure();
        free(self);
    }
};

template <typename Body>
struct Configured {
    Body body;
    cuda_cpu_launch launch;

    template <typename... P>
    void run(P... p) {
        const Closure<Body, P...> closure = {body, Arguments<std::index_sequence_for<P...>, P...>(p...)};
        launch.closure = &closure;
        launch.threads = &Closure<Body, P...>::threads;
        launch.clone = &Closure<Body, P...>::clone;
        launch.destroy = &Closure<Body, P...>::destroy;
        cuda_cpu_run(&launch);
    }
};
// Called with the kernel's own parameter types, so that NULL, 0 and {} convert as in a call.
template <typename Body, typename... P>
struct ConfiguredKernel : Configured<Body> {
    void operator()(P... p) { this->template run<P...>(p...); }
};
// A template kernel named without its arguments: they follow from what it is called with.
template <typename Body>
struct ConfiguredTemplate : Configured<Body> {
    template <typename... P>
    void operator()(P... p) { this->template run<P...>(p...); }
};

inline cuda_cpu_launch configure(const void* kernel, const char* name, dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    cuda_cpu_launch launch = {};
    launch.grid = grid;
    launch.block = block;
    launch.shared_bytes = shared;
    launch.stream = stream;
    launch.kernel = kernel;
    launch.name = name;
    return launch;
}

template <typename Body, typename... P>
struct Kernel {
    const void* address;
    const char* name;
    Body body;
    ConfiguredKernel<Body, P...> launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) const {
        return {{body, configure(address, name, grid, block, shared, stream)}};
    }
};
template <typename Body, typename... P>
Kernel<Body, P...> kernel(Signature<P...> signature, const char* name, Body body) { return {signature.kernel, name, body}; }

template <typename Body>
struct TemplateKernel {
    const char* name;
    Body body;
    ConfiguredTemplate<Body> launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) const {
        return {{body, configure(nullptr, name, grid, block, shared, stream)}};
    }
};
template <typename Body>
TemplateKernel<Body> templateKernel(const char* name, Body body) { return {name, body}; }

}  // namespace cuda_cpu

// The kernel is called by its name inside a lambda, so that it is inlined into the block's loop.
#define CUDA_CPU_KERNEL(...)                              \
    ::cuda_cpu::kernel(::cuda_cpu::signature(__VA_ARGS__), #__VA_ARGS__, \
                       [=](const auto&... cuda_cpu_a) CUDA_CPU_FN { (__VA_ARGS__)(cuda_cpu_a...); })
#define CUDA_CPU_KERNEL_DEDUCED(...) \
    ::cuda_cpu::templateKernel(#__VA_ARGS__, [=](const auto&... cuda_cpu_a) CUDA_CPU_FN { __VA_ARGS__(cuda_cpu_a...); })

// ---- Barriers, warps, fences ------------------------------------------------------------------
#define CUDA_CPU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE() /* of the call */
static CUDA_CPU_INLINE void __syncthreads(CUDA_CPU_HERE) { cuda_cpu_barrier(file, line); }
static inline int __syncthreads_count(int p, CUDA_CPU_HERE) { return cuda_cpu_barrier_reduce(p, CUDA_CPU_COUNT, file, line); }
static inline int __syncthreads_and(int p, CUDA_CPU_HERE) { return cuda_cpu_barrier_reduce(p, CUDA_CPU_AND, file, line); }
static inline int __syncthreads_or(int p, CUDA_CPU_HERE) { return cuda_cpu_barrier_reduce(p, CUDA_CPU_OR, file, line); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __trap() { abort(); }

namespace cuda_cpu {
template <typename T>
inline T exchange(unsigned mask, T value, unsigned source) {
    static_assert(std::is_arithmetic<T>::value && sizeof(T) <= 8, "a warp shuffle moves 32 or 64 bits");
    uint64_t bits = 0;
    uint32_t ballot;
    memcpy(&bits, &value, sizeof value);
    bits = cuda_cpu_exchange(mask, bits, source, &ballot);
    memcpy(&value, &bits, sizeof value);
    return value;
}
inline unsigned lane() { return ::cuda_cpu_block.running->thread.linear % 32; }
}  // namespace cuda_cpu

static inline unsigned __ballot_sync(unsigned mask, int predicate) {
    uint32_t ballot;
    cuda_cpu_exchange(mask, predicate != 0, cuda_cpu::lane(), &ballot);
    return ballot;
}
static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
static inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { __ballot_sync(mask, 1); }
static inline unsigned __activemask() { return cuda_cpu_active_mask(); }
// width splits the warp into groups that keep to themselves; a source outside of the own group is the
// lane itself.
template <typename T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const unsigned lane = cuda_cpu::lane(), w = (unsigned)width;
    return cuda_cpu::exchange(mask, value, (lane & ~(w - 1)) | ((unsigned)source & (w - 1)));
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = cuda_cpu::lane(), in_group = lane & ((unsigned)width - 1);
    return cuda_cpu::exchange(mask, value, in_group < delta ? lane : lane - delta);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = cuda_cpu::lane(), in_group = lane & ((unsigned)width - 1);
    return cuda_cpu::exchange(mask, value, in_group + delta >= (unsigned)width ? lane : lane + delta);
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    const unsigned lane = cuda_cpu::lane(), other = lane ^ (unsigned)bits, w = (unsigned)width;
    return cuda_cpu::exchange(mask, value, (other & ~(w - 1)) > (lane & ~(w - 1)) ? lane : other);
}

// What cu_rewrite makes of assignments to elements of something volatile: `left op= value` and `left = value`.
#define CUDA_CPU_LOCKSTEP_SET(left, ...)               \
    __extension__({                                    \
        const auto cuda_cpu_value = (__VA_ARGS__);     \
        cuda_cpu_lockstep();                           \
        (left) = cuda_cpu_value;                       \
        cuda_cpu_lockstep();                           \
    })
#define CUDA_CPU_LOCKSTEP(left, op, ...) CUDA_CPU_LOCKSTEP_SET(left, (left)op(__VA_ARGS__))

// ---- Atomics ----------------------------------------------------------------------------------
#define CUDA_CPU_ATOMICS(T)                                                                                     \
    static inline T atomicAdd(T* p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }                 \
    static inline T atomicExch(T* p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }               \
    static inline T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }                 \
    static inline T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }                   \
    static inline T atomicXor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }                 \
    static inline T atomicCAS(T* p, T expected, T v) {                                                          \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                \
        return expected;                                                                                        \
    }
#define CUDA_CPU_EXTREMES(T)                                                                                    \
    static inline T atomicMax(T* p, T v) {                                                                      \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                           \
        while (old < v && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
        }                                                                                                       \
        return old;                                                                                             \
    }                                                                                                           \
    static inline T atomicMin(T* p, T v) {                                                                      \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                           \
        while (v < old && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
        }                                                                                                       \
        return old;                                                                                             \
    }
CUDA_CPU_ATOMICS(int)
CUDA_CPU_ATOMICS(unsigned)
CUDA_CPU_ATOMICS(unsigned long long)
CUDA_CPU_EXTREMES(int)
CUDA_CPU_EXTREMES(unsigned)
CUDA_CPU_EXTREMES(unsigned long long)
static inline int atomicSub(int* p, int v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }
static inline unsigned atomicSub(unsigned* p, unsigned v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }

namespace cuda_cpu {
template <typename T>
inline bool subnormal(T x) { return std::fpclassify(x) == FP_SUBNORMAL; }
// A card's float atomics on global memory flush subnormals, in and out, to zeros of their sign.
inline float flushed(float x) { return subnormal(x) ? std::copysign(0.0f, x) : x; }
}  // namespace cuda_cpu
static inline float atomicAdd(float* p, float v) {
    float old, sum;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do {
        sum = old + v;
        if ((cuda_cpu::subnormal(old) || cuda_cpu::subnormal(v) || cuda_cpu::subnormal(sum)) && !cuda_cpu_is_shared(p))
            sum = cuda_cpu::flushed(cuda_cpu::flushed(old) + cuda_cpu::flushed(v));
    } while (!__atomic_compare_exchange(p, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
static inline double atomicAdd(double* p, double v) {
    double old, sum;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do {
        sum = old + v;
    } while (!__atomic_compare_exchange(p, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
static inline float atomicExch(float* p, float v) {
    float old;
    __atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);
    return old;
}

// ---- Rounding intrinsics ----------------------------------------------------------------------
// Each rounds once and is never contracted with a neighbour. After inlining, a compiler sees plain
// operators: g++ fuses them into the caller's expression whatever this function's own options are, so
// operands and results pass through an empty asm that it cannot look into. One of a product's operands
// too: found to be the same as a plain a * b beside it, it would keep that one from being fused.
namespace cuda_cpu {
#if defined(__x86_64__)
#define CUDA_CPU_OPAQUE "+x"
#else
#define CUDA_CPU_OPAQUE "+w"
#endif
template <typename T>
static CUDA_CPU_INLINE T opaque(T x) {
    __asm__("" : CUDA_CPU_OPAQUE(x));
    return x;
}
}  // namespace cuda_cpu
static CUDA_CPU_INLINE float __fadd_rn(float a, float b) { return cuda_cpu::opaque(cuda_cpu::opaque(a) + cuda_cpu::opaque(b)); }
static CUDA_CPU_INLINE float __fsub_rn(float a, float b) { return cuda_cpu::opaque(cuda_cpu::opaque(a) - cuda_cpu::opaque(b)); }
static CUDA_CPU_INLINE float __fmul_rn(float a, float b) { return cuda_cpu::opaque(cuda_cpu::opaque(a) * b); }
static CUDA_CPU_INLINE float __fdiv_rn(float a, float b) { return a / b; }
static CUDA_CPU_INLINE float __frcp_rn(float a) { return 1.0f / a; }
static CUDA_CPU_INLINE float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
static CUDA_CPU_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static CUDA_CPU_INLINE double __dadd_rn(double a, double b) { return cuda_cpu::opaque(cuda_cpu::opaque(a) + cuda_cpu::opaque(b)); }
static CUDA_CPU_INLINE double __dsub_rn(double a, double b) { return cuda_cpu::opaque(cuda_cpu::opaque(a) - cuda_cpu::opaque(b)); }
static CUDA_CPU_INLINE double __dmul_rn(double a, double b) { return cuda_cpu::opaque(cuda_cpu::opaque(a) * b); }
static CUDA_CPU_INLINE double __ddiv_rn(double a, double b) { return a / b; }
static CUDA_CPU_INLINE double __drcp_rn(double a) { return 1.0 / a; }
static CUDA_CPU_INLINE double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
static CUDA_CPU_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
// Two roundings in double before the one to float could in theory go wrong; for every float they do not:
// a test holds all significands of two binades, which is all there is, against exact integers.
static CUDA_CPU_INLINE float __frsqrt_rn(float a) { return (float)(1.0 / __builtin_sqrt((double)a)); }
// A card's approximation (2 ulp); here the quotient itself.
static CUDA_CPU_INLINE float __fdividef(float a, float b) { return a / b; }
static CUDA_CPU_INLINE float rsqrtf(float a) { return 1.0f / __builtin_sqrtf(a); }
static CUDA_CPU_INLINE double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }

// ---- Bits -------------------------------------------------------------------------------------
namespace cuda_cpu {
template <typename To, typename From>
static CUDA_CPU_INLINE To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
}  // namespace cuda_cpu
static CUDA_CPU_INLINE int __float_as_int(float x) { return cuda_cpu::bits<int>(x); }
static CUDA_CPU_INLINE unsigned __float_as_uint(float x) { return cuda_cpu::bits<unsigned>(x); }
static CUDA_CPU_INLINE float __int_as_float(int x) { return cuda_cpu::bits<float>(x); }
static CUDA_CPU_INLINE float __uint_as_float(unsigned x) { return cuda_cpu::bits<float>(x); }
static CUDA_CPU_INLINE long long __double_as_longlong(double x) { return cuda_cpu::bits<long long>(x); }
static CUDA_CPU_INLINE double __longlong_as_double(long long x) { return cuda_cpu::bits<double>(x); }
static CUDA_CPU_INLINE int __double2hiint(double x) { return (int)(cuda_cpu::bits<unsigned long long>(x) >> 32); }
static CUDA_CPU_INLINE int __double2loint(double x) { return (int)cuda_cpu::bits<unsigned long long>(x); }
static CUDA_CPU_INLINE double __hiloint2double(int hi, int lo) { return cuda_cpu::bits<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo); }
static CUDA_CPU_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
static CUDA_CPU_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static CUDA_CPU_INLINE int __ffs(int x) { return __builtin_ffs(x); }
static CUDA_CPU_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
static CUDA_CPU_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static CUDA_CPU_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }

template <typename T>
static CUDA_CPU_INLINE T __ldg(const T* p) { return *p; }
template <typename T>
static CUDA_CPU_INLINE T __ldcs(const T* p) { return *p; }
template <typename T>
static CUDA_CPU_INLINE T __ldcg(const T* p) { return *p; }
template <typename T>
static CUDA_CPU_INLINE T __ldca(const T* p) { return *p; }
template <typename T>
static CUDA_CPU_INLINE void __stcs(T* p, T v) { *p = v; }

// nvcc offers min and max without std::, for equal and for mixed types.
#define CUDA_CPU_MINMAX(T)                                                 \
    static CUDA_CPU_INLINE T min(T a, T b) { return b < a ? b : a; }        \
    static CUDA_CPU_INLINE T max(T a, T b) { return a < b ? b : a; }
CUDA_CPU_MINMAX(int)
CUDA_CPU_MINMAX(unsigned)
CUDA_CPU_MINMAX(long)
CUDA_CPU_MINMAX(unsigned long)
CUDA_CPU_MINMAX(long long)
CUDA_CPU_MINMAX(unsigned long long)
static CUDA_CPU_INLINE float min(float a, float b) { return fminf(a, b); }
static CUDA_CPU_INLINE float max(float a, float b) { return fmaxf(a, b); }
static CUDA_CPU_INLINE double min(double a, double b) { return fmin(a, b); }
static CUDA_CPU_INLINE double max(double a, double b) { return fmax(a, b); }
#define CUDA_CPU_MIXED(A, B)                                                                                         \
    std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value && !std::is_same<A, B>::value, \
                     std::common_type_t<A, B>>
template <typename A, typename B>
static CUDA_CPU_INLINE CUDA_CPU_MIXED(A, B) min(A a, B b) { return min((std::common_type_t<A, B>)a, (std::common_type_t<A, B>)b); }
template <typename A, typename B>
static CUDA_CPU_INLINE CUDA_CPU_MIXED(A, B) max(A a, B b) { return max((std::common_type_t<A, B>)a, (std::common_type_t<A, B>)b); }

#include "beyond.h"
#endif
