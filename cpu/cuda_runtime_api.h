/*
 * The runtime API in C, for cuda_runtime.h and for the runtime behind it. The file's name matters too:
 * CCCL's headers, compiled as plain C++, look for it with __has_include and take a toolkit's own where
 * one is in reach, whose dim3 and other types then meet ours.
 */
#ifndef CUDA_CPU_RUNTIME_API_H
#define CUDA_CPU_RUNTIME_API_H

#include <stddef.h>

#define CUDART_VERSION 13000

/* ---- Errors ----------------------------------------------------------------------------------- */
/* Names and numbers are the CUDA Runtime API's. */
#define CUDA_CPU_ERRORS(X)                                                                        \
    X(cudaSuccess, 0, "no error")                                                                 \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                               \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                              \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                         \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                   \
    X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                               \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                      \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
    X(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.") \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                             \
    X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                     \
    X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")       \
    X(cudaErrorNotReady, 600, "device not ready")                                                 \
    X(cudaErrorNotSupported, 801, "operation not supported")                                      \
    X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
    X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture") \
    X(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences") \
    X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began") \
    X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                  \
    X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream") \
    X(cudaErrorStreamCaptureImplicit, 906, "operation would make the legacy stream depend on a capturing blocking stream") \
    X(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream") \
    X(cudaErrorUnknown, 999, "unknown error")
enum cudaError {
#define CUDA_CPU_ERROR(name, number, text) name = (number),
    CUDA_CPU_ERRORS(CUDA_CPU_ERROR)
#undef CUDA_CPU_ERROR
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

/* ---- Runtime API ------------------------------------------------------------------------------ */
/* Every call returns cudaSuccess or an error that cudaGetLastError then returns too. Streams run what */
/* is put into them at once; that is one of the orders that a stream allows. */
typedef struct cuda_cpu_stream* cudaStream_t;
typedef struct cuda_cpu_event* cudaEvent_t;
typedef struct cuda_cpu_graph* cudaGraph_t;
typedef struct cuda_cpu_graph_exec* cudaGraphExec_t;
typedef struct cuda_cpu_graph_node* cudaGraphNode_t;
#define CUDART_CB
typedef void (*cudaHostFn_t)(void* data);

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
};
/* It frees what a graph allocates; no graph here does. */
enum { cudaGraphInstantiateFlagAutoFreeOnLaunch = 1 };
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
/* Attributes of a device: name, number, and the member of cudaDeviceProp that it tells. */
#define CUDA_CPU_ATTRIBUTES(X)                                           \
    X(MaxThreadsPerBlock, 1, maxThreadsPerBlock)                          \
    X(MaxBlockDimX, 2, maxThreadsDim[0])                                  \
    X(MaxBlockDimY, 3, maxThreadsDim[1])                                  \
    X(MaxBlockDimZ, 4, maxThreadsDim[2])                                  \
    X(MaxGridDimX, 5, maxGridSize[0])                                     \
    X(MaxGridDimY, 6, maxGridSize[1])                                     \
    X(MaxGridDimZ, 7, maxGridSize[2])                                     \
    X(MaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                      \
    X(TotalConstantMemory, 9, totalConstMem)                              \
    X(WarpSize, 10, warpSize)                                             \
    X(MaxPitch, 11, memPitch)                                             \
    X(MaxRegistersPerBlock, 12, regsPerBlock)                             \
    X(ClockRate, 13, clockRate)                                           \
    X(TextureAlignment, 14, textureAlignment)                             \
    X(GpuOverlap, 15, deviceOverlap)                                      \
    X(MultiProcessorCount, 16, multiProcessorCount)                       \
    X(KernelExecTimeout, 17, kernelExecTimeoutEnabled)                    \
    X(Integrated, 18, integrated)                                         \
    X(CanMapHostMemory, 19, canMapHostMemory)                             \
    X(ComputeMode, 20, computeMode)                                       \
    X(ConcurrentKernels, 31, concurrentKernels)                           \
    X(EccEnabled, 32, ECCEnabled)                                         \
    X(PciBusId, 33, pciBusID)                                             \
    X(PciDeviceId, 34, pciDeviceID)                                       \
    X(TccDriver, 35, tccDriver)                                           \
    X(MemoryClockRate, 36, memoryClockRate)                               \
    X(GlobalMemoryBusWidth, 37, memoryBusWidth)                           \
    X(L2CacheSize, 38, l2CacheSize)                                       \
    X(MaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)       \
    X(AsyncEngineCount, 40, asyncEngineCount)                             \
    X(UnifiedAddressing, 41, unifiedAddressing)                           \
    X(PciDomainId, 50, pciDomainID)                                       \
    X(ComputeCapabilityMajor, 75, major)                                  \
    X(ComputeCapabilityMinor, 76, minor)                                  \
    X(StreamPrioritiesSupported, 78, streamPrioritiesSupported)           \
    X(MaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)   \
    X(MaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)           \
    X(ManagedMemory, 83, managedMemory)                                   \
    X(PageableMemoryAccess, 88, pageableMemoryAccess)                     \
    X(ConcurrentManagedAccess, 89, concurrentManagedAccess)               \
    X(ComputePreemptionSupported, 90, computePreemptionSupported)         \
    X(CooperativeLaunch, 95, cooperativeLaunch)                           \
    X(MaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)           \
    X(MaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)
enum cudaDeviceAttr {
#define CUDA_CPU_ATTRIBUTE(name, number, member) cudaDevAttr##name = (number),
    CUDA_CPU_ATTRIBUTES(CUDA_CPU_ATTRIBUTE)
#undef CUDA_CPU_ATTRIBUTE
};

/* The limits are those of cards of compute capability 9.0; multiProcessorCount is the number of cores that this */
/* process may use. major 0, which no card has, says that this is the CPU default; a program that was built as its */
/* user's own (-DCUDA_CPU_AS_A_CARD) sees 9.0. Clocks and bus width, by which programs divide, are nominal. */
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem, memPitch,
        textureAlignment, texturePitchAlignment, surfaceAlignment;
    int major, minor, multiProcessorCount, warpSize;
    int maxThreadsPerBlock, maxThreadsPerMultiProcessor, maxThreadsDim[3], maxGridSize[3], maxBlocksPerMultiProcessor;
    int regsPerBlock, regsPerMultiprocessor, l2CacheSize, persistingL2CacheMaxSize, concurrentKernels, integrated;
    int canMapHostMemory, clockRate, memoryClockRate, memoryBusWidth, deviceOverlap, asyncEngineCount, computeMode, ECCEnabled;
    int kernelExecTimeoutEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, unifiedAddressing, managedMemory;
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, streamPrioritiesSupported;
    int cooperativeLaunch, globalL1CacheSupported, localL1CacheSupported, isMultiGpuBoard, multiGpuBoardGroupID;
    int maxTexture1D, maxTexture1DLinear, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3];
    int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio;
};

#ifdef __cplusplus
extern "C" {
#endif
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device);
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);

cudaError_t cudaFree(void* p);
cudaError_t cudaFreeHost(void* p);
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void* p, int byte, size_t bytes);
cudaError_t cudaMemsetAsync(void* p, int byte, size_t bytes, cudaStream_t stream);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

/* Graphs are recorded lists: captured in the order of the calls, which is one that the events allow. */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

cudaError_t cuda_cpu_malloc(void** p, size_t bytes);
cudaError_t cuda_cpu_malloc_host(void** p, size_t bytes);
cudaError_t cuda_cpu_set_shared_limit(const void* kernel, size_t bytes);
void cuda_cpu_as_a_card(void);                     /* from now on the device says that it is of compute capability 9.0 */
cudaError_t cuda_cpu_report(cudaError_t error);    /* returns it, and keeps it for cudaGetLastError */
#ifdef __cplusplus
}
#endif

#endif
