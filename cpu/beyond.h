// What other programs than the lessons use of CUDA: calls of the Runtime API over those of cuda_runtime_api.h, which
// are in C, and device functions. Names, arguments and errors are the CUDA Runtime API's and the CUDA Math API's.
// Included by cuda_runtime.h, at its end.
#ifndef CUDA_CPU_BEYOND_H
#define CUDA_CPU_BEYOND_H

#include <climits>

// By these helpers' headers (NVIDIA's samples have such) tell that the runtime is there.
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__

#ifdef CUDA_CPU_AS_A_CARD
static __attribute__((constructor, unused)) void cuda_cpu_says_it_is_a_card() { cuda_cpu_as_a_card(); }
#endif

// ---- Managed, mapped and registered memory: host and device have one ------------------------------
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };
enum { cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterIoMemory = 4 };
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType { cudaMemLocationTypeInvalid = 0, cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost = 2 };
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

template <typename T>
cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cuda_cpu_report(cudaErrorInvalidValue);
    return cuda_cpu_malloc((void**)p, bytes);
}
// Hints: there is nowhere to move it. Both signatures, that of CUDA 12 and that of 13.
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t, int, cudaStream_t = nullptr) { return cuda_cpu_report(p ? cudaSuccess : cudaErrorInvalidValue); }
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t, cudaMemLocation, unsigned, cudaStream_t = nullptr) { return cuda_cpu_report(p ? cudaSuccess : cudaErrorInvalidValue); }
inline cudaError_t cudaMemAdvise(const void* p, size_t, cudaMemoryAdvise, int) { return cuda_cpu_report(p ? cudaSuccess : cudaErrorInvalidValue); }
inline cudaError_t cudaMemAdvise(const void* p, size_t, cudaMemoryAdvise, cudaMemLocation) { return cuda_cpu_report(p ? cudaSuccess : cudaErrorInvalidValue); }
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* p, size_t = 0, unsigned = cudaMemAttachSingle) { return cuda_cpu_report(p ? cudaSuccess : cudaErrorInvalidValue); }

template <typename T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
    if (!device || !host) return cuda_cpu_report(cudaErrorInvalidValue);
    *device = (T*)host;
    return cudaSuccess;
}
inline cudaError_t cudaHostRegister(void* p, size_t bytes, unsigned) { return cuda_cpu_report(p && bytes ? cudaSuccess : cudaErrorInvalidValue); }
inline cudaError_t cudaHostUnregister(void* p) { return cuda_cpu_report(p ? cudaSuccess : cudaErrorInvalidValue); }

// ---- Pitched and three-dimensional memory: rows padded to 512 bytes, as on an H200 ----------------
struct cudaPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
};
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
typedef struct cuda_cpu_array* cudaArray_t;
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t width, size_t height) { return {p, pitch, width, height}; }
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }

template <typename T>
cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
    if (!pitch) return cuda_cpu_report(cudaErrorInvalidValue);
    *pitch = (width + 511) / 512 * 512;
    return cuda_cpu_malloc((void**)p, *pitch * height);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent) {
    if (!p) return cuda_cpu_report(cudaErrorInvalidValue);
    p->xsize = extent.width;
    p->ysize = extent.height;
    return cudaMallocPitch(&p->ptr, &p->pitch, extent.width, extent.height * extent.depth);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    if (width > to_pitch || width > from_pitch) return cuda_cpu_report(cudaErrorInvalidValue);
    for (size_t y = 0; y < height; ++y) {
        const cudaError_t error = cudaMemcpyAsync((char*)to + y * to_pitch, (const char*)from + y * from_pitch, width, kind, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t cudaMemset2DAsync(void* p, size_t pitch, int byte, size_t width, size_t height, cudaStream_t stream = nullptr) {
    if (width > pitch) return cuda_cpu_report(cudaErrorInvalidValue);
    for (size_t y = 0; y < height; ++y) {
        const cudaError_t error = cudaMemsetAsync((char*)p + y * pitch, byte, width, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemset2D(void* p, size_t pitch, int byte, size_t width, size_t height) { return cudaMemset2DAsync(p, pitch, byte, width, height); }
inline cudaError_t cudaMemset3D(cudaPitchedPtr p, int byte, cudaExtent extent) {
    for (size_t z = 0; z < extent.depth; ++z) {
        const cudaError_t error = cudaMemset2D((char*)p.ptr + z * p.pitch * p.ysize, p.pitch, byte, extent.width, extent.height);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
// Between pitched memory; arrays belong to textures, which are not here.
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream = nullptr) {
    if (!p) return cuda_cpu_report(cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray) return cuda_cpu_report(cudaErrorNotSupported);
    for (size_t z = 0; z < p->extent.depth; ++z) {
        const auto place = [z](const cudaPitchedPtr& m, const cudaPos& at) {
            return (char*)m.ptr + ((at.z + z) * m.ysize + at.y) * m.pitch + at.x;
        };
        const cudaError_t error = cudaMemcpy2DAsync(place(p->dstPtr, p->dstPos), p->dstPtr.pitch, place(p->srcPtr, p->srcPos),
                                                    p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return cudaMemcpy3DAsync(p); }

// ---- Symbols ----------------------------------------------------------------------------------
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) {
    return cudaMemcpyAsync((char*)&symbol + offset, from, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr) {
    return cudaMemcpyAsync(to, (const char*)&symbol + offset, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaGetSymbolAddress(void** p, const T& symbol) {
    if (!p) return cuda_cpu_report(cudaErrorInvalidValue);
    *p = (void*)&symbol;
    return cudaSuccess;
}
template <typename T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
    if (!bytes) return cuda_cpu_report(cudaErrorInvalidValue);
    *bytes = sizeof symbol;
    return cudaSuccess;
}

// ---- One device, and no other -------------------------------------------------------------------
enum { cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16 };
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (!can) return cuda_cpu_report(cudaErrorInvalidValue);
    *can = 0;
    return cuda_cpu_report(device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cuda_cpu_report(cudaErrorInvalidDevice); }
inline cudaError_t cudaDeviceDisablePeerAccess(int peer) { return cuda_cpu_report(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice); }
inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    if (to_device != 0 || from_device != 0) return cuda_cpu_report(cudaErrorInvalidDevice);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t stream) {
    if (to_device != 0 || from_device != 0) return cuda_cpu_report(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) { return wanted ? cudaGetDevice(device) : cuda_cpu_report(cudaErrorInvalidValue); }

// Hints for caches and banks that a CPU has not.
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    if (!config) return cuda_cpu_report(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}
template <typename... P>
cudaError_t cudaFuncSetCacheConfig(void (*)(P...), cudaFuncCache) { return cudaSuccess; }
template <typename... P>
cudaError_t cudaFuncSetSharedMemConfig(void (*)(P...), cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

// ---- Streams and events -------------------------------------------------------------------------
enum { cudaEventInterprocess = 4, cudaEventRecordDefault = 0, cudaEventRecordExternal = 1, cudaEventWaitDefault = 0 };
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) { return cudaEventCreateWithFlags(event, flags); }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) { return cudaStreamCreateWithFlags(stream, flags); }
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* data);
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
    if (!callback || flags != 0) return cuda_cpu_report(cudaErrorInvalidValue);
    const cudaError_t error = cudaStreamQuery(stream); // a stream that lives has done all its work
    if (error == cudaSuccess) callback(stream, cudaSuccess, data);
    return error;
}

// ---- Kernels ----------------------------------------------------------------------------------
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
// What only a compiler for a card knows is 0.
template <typename... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*)(P...)) {
    if (!attributes) return cuda_cpu_report(cudaErrorInvalidValue);
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->maxDynamicSharedSizeBytes = 48 * 1024;
    return cudaSuccess;
}
// By threads and shared memory alone, as for a card of compute capability 9.0 with registers enough.
template <typename... P>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, void (*)(P...), size_t = 0, int limit = 0) {
    if (!grid || !block) return cuda_cpu_report(cudaErrorInvalidValue);
    *block = limit > 0 && limit < 1024 ? limit : 1024;
    int cores = 1;
    const cudaError_t error = cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, 0);
    *grid = cores * (2048 / *block);
    return error;
}
namespace cuda_cpu {
template <typename... P, size_t... I>
cudaError_t launchByPointers(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream, std::index_sequence<I...>) {
    (void)arguments;
    const cudaError_t before = cudaGetLastError();
    const auto body = [kernel](const auto&... a) { kernel(a...); };
    ConfiguredKernel<decltype(body), P...> configured = {{body, configure((const void*)kernel, "kernel", grid, block, shared, stream)}};
    configured(*static_cast<std::remove_reference_t<P>*>(arguments[I])...);
    const cudaError_t error = cudaPeekAtLastError();
    return error != cudaSuccess ? error : cuda_cpu_report(before);
}
}  // namespace cuda_cpu
template <typename... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t shared = 0, cudaStream_t stream = nullptr) {
    return cuda_cpu::launchByPointers(kernel, grid, block, arguments, shared, stream, std::index_sequence_for<P...>());
}

// ---- Atomics ----------------------------------------------------------------------------------
// atomicInc counts up to the limit and then begins at 0; atomicDec counts down from it.
static inline unsigned atomicInc(unsigned* p, unsigned limit) {
    unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, old >= limit ? 0 : old + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
static inline unsigned atomicDec(unsigned* p, unsigned limit) {
    unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, old == 0 || old > limit ? limit : old - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}
CUDA_CPU_EXTREMES(long long)
// A scope says for whom an operation is atomic: here each is for all.
#define CUDA_CPU_SCOPED(name)                                                                         \
    template <typename... A>                                                                          \
    static CUDA_CPU_INLINE auto name##_block(A... a)->decltype(name(a...)) { return name(a...); }      \
    template <typename... A>                                                                          \
    static CUDA_CPU_INLINE auto name##_system(A... a)->decltype(name(a...)) { return name(a...); }
CUDA_CPU_SCOPED(atomicAdd)
CUDA_CPU_SCOPED(atomicSub)
CUDA_CPU_SCOPED(atomicExch)
CUDA_CPU_SCOPED(atomicCAS)
CUDA_CPU_SCOPED(atomicMin)
CUDA_CPU_SCOPED(atomicMax)
CUDA_CPU_SCOPED(atomicInc)
CUDA_CPU_SCOPED(atomicDec)
CUDA_CPU_SCOPED(atomicAnd)
CUDA_CPU_SCOPED(atomicOr)
CUDA_CPU_SCOPED(atomicXor)

// ---- Integers and conversions -------------------------------------------------------------------
static CUDA_CPU_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static CUDA_CPU_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static CUDA_CPU_INLINE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static CUDA_CPU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static CUDA_CPU_INLINE int __mul24(int a, int b) { return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8)); }
static CUDA_CPU_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
static CUDA_CPU_INLINE unsigned __sad(int a, int b, unsigned c) { return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c; }
static CUDA_CPU_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
static CUDA_CPU_INLINE unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1) << (31 - i);
    return reversed;
}
static CUDA_CPU_INLINE unsigned long long __brevll(unsigned long long x) { return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32)); }
// Four bytes of the eight in b and a, each chosen by the low three of four bits of s.
static CUDA_CPU_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    const unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned selector = s >> 4 * i & 7;
        result |= ((unsigned)(bytes >> 8 * selector) & 0xff) << 8 * i;
    }
    return result;
}
static CUDA_CPU_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) { return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32); }
static CUDA_CPU_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) { return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31)); }

// To integers: rounded to nearest even, towards zero, up or down; what does not fit becomes the nearest that does, and
// a NaN 0 from float to 32 bits, and else the highest bit alone, as an H200 was seen to give.
namespace cuda_cpu {
template <typename To, typename From>
static CUDA_CPU_INLINE To integer(From rounded) {
    if (rounded != rounded) return sizeof(To) == 4 && sizeof(From) == 4 ? 0 : (To)(1ULL << (8 * sizeof(To) - 1));
    const From limit = (From)((To)~(To)0 < 0 ? (To)((1ULL << (8 * sizeof(To) - 1)) - 1) : (To)~(To)0);
    if (rounded >= limit) return (To)~(To)0 < 0 ? (To)((1ULL << (8 * sizeof(To) - 1)) - 1) : (To)~(To)0;
    const To lowest = (To)~(To)0 < 0 ? (To)(1ULL << (8 * sizeof(To) - 1)) : 0;
    return rounded <= (From)lowest ? lowest : (To)rounded;
}
}  // namespace cuda_cpu
#define CUDA_CPU_TO_INTEGER(name, From, To)                                                                              \
    static CUDA_CPU_INLINE To __##name##_rn(From x) { return cuda_cpu::integer<To>(std::nearbyint(x)); }                      \
    static CUDA_CPU_INLINE To __##name##_rz(From x) { return cuda_cpu::integer<To>(std::trunc(x)); }                          \
    static CUDA_CPU_INLINE To __##name##_ru(From x) { return cuda_cpu::integer<To>(std::ceil(x)); }                           \
    static CUDA_CPU_INLINE To __##name##_rd(From x) { return cuda_cpu::integer<To>(std::floor(x)); }
CUDA_CPU_TO_INTEGER(float2int, float, int)
CUDA_CPU_TO_INTEGER(float2uint, float, unsigned)
CUDA_CPU_TO_INTEGER(float2ll, float, long long)
CUDA_CPU_TO_INTEGER(float2ull, float, unsigned long long)
CUDA_CPU_TO_INTEGER(double2int, double, int)
CUDA_CPU_TO_INTEGER(double2uint, double, unsigned)
CUDA_CPU_TO_INTEGER(double2ll, double, long long)
CUDA_CPU_TO_INTEGER(double2ull, double, unsigned long long)
// From integers and to float, to nearest even.
static CUDA_CPU_INLINE float __int2float_rn(int x) { return (float)x; }
static CUDA_CPU_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
static CUDA_CPU_INLINE float __ll2float_rn(long long x) { return (float)x; }
static CUDA_CPU_INLINE float __ull2float_rn(unsigned long long x) { return (float)x; }
static CUDA_CPU_INLINE double __int2double_rn(int x) { return x; }
static CUDA_CPU_INLINE double __uint2double_rn(unsigned x) { return x; }
static CUDA_CPU_INLINE double __ll2double_rn(long long x) { return (double)x; }
static CUDA_CPU_INLINE double __ull2double_rn(unsigned long long x) { return (double)x; }
static CUDA_CPU_INLINE float __double2float_rn(double x) { return (float)x; }

// ---- Functions whose last bits are a card's own: here the host's library rounds better or otherwise ---------------
// Macros, as glibc has functions of its own of these names; exp10 and sincosf are glibc's.
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __sincosf sincosf
#define __powf powf
static CUDA_CPU_INLINE float fdividef(float a, float b) { return a / b; }
static CUDA_CPU_INLINE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
static CUDA_CPU_INLINE float sinpif(float x) { return (float)sin(M_PI * fmod(x, 2.0)); }
static CUDA_CPU_INLINE float cospif(float x) { return (float)cos(M_PI * fmod(x, 2.0)); }
static CUDA_CPU_INLINE double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
static CUDA_CPU_INLINE double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
static CUDA_CPU_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static CUDA_CPU_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }

// ---- Time: nanoseconds in place of a card's clocks ------------------------------------------------
static inline long long clock64() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
static inline void __nanosleep(unsigned) {}
#endif
