// What no other program here calls: vector types, min and max, loads and stores, fences; and that every copy,
// fill and query of the runtime does what it says, for sizes that are no multiple of a word too.
#include <cstring>

#include "check.cu"

__global__ void vectors() {
    const uint3 u3 = make_uint3(1, 2, 3);
    const int3 i3 = make_int3(-1, -2, -3);
    const float3 f3 = make_float3(1.5f, 2.5f, 3.5f);
    EXPECT(u3.x == 1 && u3.y == 2 && u3.z == 3);
    EXPECT(i3.x == -1 && i3.y == -2 && i3.z == -3);
    EXPECT(f3.x == 1.5f && f3.y == 2.5f && f3.z == 3.5f);
#define EXPECT_PAIR(type, size) \
    { \
        const type v = make_##type(3, 4); \
        EXPECT(v.x == 3 && v.y == 4 && sizeof v == size && alignof(type) == size); \
    }
    EXPECT_PAIR(int2, 8)
    EXPECT_PAIR(uint2, 8)
    EXPECT_PAIR(float2, 8)
    EXPECT_PAIR(double2, 16)
    EXPECT_PAIR(longlong2, 16)
    EXPECT_PAIR(ulonglong2, 16)
#define EXPECT_FOUR(type, size) \
    { \
        const type v = make_##type(3, 4, 5, 6); \
        EXPECT(v.x == 3 && v.y == 4 && v.z == 5 && v.w == 6 && sizeof v == size && alignof(type) == 16); \
    }
    EXPECT_FOUR(int4, 16)
    EXPECT_FOUR(uint4, 16)
    EXPECT_FOUR(float4, 16)
    EXPECT_FOUR(double4, 32)
    const dim3 three(7, 8, 9), two(7, 8), back = (uint3)three;
    EXPECT(two.z == 1 && back.x == 7 && back.y == 8 && back.z == 9);
}

template <typename T>
__device__ void extremes(T low, T high) {
    EXPECT(min(low, high) == low && min(high, low) == low);
    EXPECT(max(low, high) == high && max(high, low) == high);
}
__global__ void numbers() {
    extremes<int>(-3, 2);
    extremes<unsigned>(3, 0x80000000u);
    extremes<long>(-3, 1L << 40);
    extremes<unsigned long>(3, ~0UL);
    extremes<long long>(-3, 1LL << 40);
    extremes<unsigned long long>(3, ~0ULL);
    extremes<float>(-1.5f, 1.0f);
    extremes<double>(-1.5, 1e300);
    EXPECT(min(3, 2.5) == 2.5 && min(1, 2.5) == 1.0 && max(1, 2.5) == 2.5 && max(-1, 0.5f) == 0.5f);
    EXPECT(rsqrtf(16.0f) == 0.25f && rsqrt(1e200) == 1e-100 && __fdividef(3.0f, 8.0f) == 0.375f);
}

__global__ void loadsAndStores(const double* in, double* out) {
    EXPECT(__ldg(in) == 1.0 && __ldcs(in + 1) == 2.0 && __ldcg(in + 2) == 3.0 && __ldca(in + 3) == 4.0);
    __stcs(out + 1, 5.0);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
}

__constant__ unsigned char c_bytes[16];
__device__ unsigned char g_bytes[16];

// Every size and place in the first words: what is copied or filled is all of it and nothing beside.
static void bytes() {
    unsigned char from[16], host[16], *device;
    for (int i = 0; i < 16; ++i) from[i] = (unsigned char)(i + 1);
    CHECKED(cudaMalloc(&device, sizeof host));
    for (size_t at = 0; at < 4; ++at) {
        for (size_t size = 1; size <= 12; ++size) {
            unsigned char copied[16] = {}, filled[16] = {};
            memcpy(copied + at, from, size);
            memset(filled + at, 0xab, size);
            CHECKED(cudaMemset(device, 0, sizeof host));
            CHECKED(cudaMemcpy(device + at, from, size, cudaMemcpyHostToDevice));
            CHECKED(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
            EXPECT(memcmp(host, copied, sizeof host) == 0);
            CHECKED(cudaMemset(device, 0, sizeof host));
            CHECKED(cudaMemset(device + at, 0xab, size));
            CHECKED(cudaMemcpy(host, device, sizeof host, cudaMemcpyHostToHost));
            EXPECT(memcmp(host, filled, sizeof host) == 0);
            // To a symbol and from it, with an offset.
            CHECKED(cudaMemset(c_bytes, 0, sizeof c_bytes));
            CHECKED(cudaMemcpyToSymbol(c_bytes, from, size, at));
            EXPECT(memcmp(c_bytes, copied, sizeof copied) == 0);
            CHECKED(cudaMemcpyToSymbol(g_bytes, from, sizeof from));
            memset(host, 0, sizeof host);
            CHECKED(cudaMemcpyFromSymbol(host, g_bytes, size, at));
            EXPECT(memcmp(host, from + at, size) == 0 && host[size] == 0);
        }
    }
    CHECKED(cudaFree(device));
}

__global__ void none() {}

static void queries() {
    cudaDeviceProp prop;
    int value = -1;
    CHECKED(cudaGetDeviceProperties(&prop, 0));
    EXPECT(prop.sharedMemPerBlock == 48 * 1024 && prop.sharedMemPerBlockOptin == 227 * 1024);
    EXPECT(prop.sharedMemPerMultiprocessor == 228 * 1024 && prop.maxThreadsPerMultiProcessor == 2048);
    EXPECT(prop.maxThreadsPerBlock == 1024 && prop.totalGlobalMem > 0 && prop.concurrentKernels == 1);
    EXPECT(prop.maxThreadsDim[0] == 1024 && prop.maxThreadsDim[1] == 1024 && prop.maxThreadsDim[2] == 64);
    EXPECT(prop.maxGridSize[0] == 2147483647 && prop.maxGridSize[1] == 65535 && prop.maxGridSize[2] == 65535);
    EXPECT(prop.regsPerBlock == 65536 && prop.integrated == 1 && prop.canMapHostMemory == 1);
#define EXPECT_ATTRIBUTE(attribute, want) \
    value = -1; \
    CHECKED(cudaDeviceGetAttribute(&value, attribute, 0)); \
    EXPECT(value == want);
    EXPECT_ATTRIBUTE(cudaDevAttrMaxThreadsPerBlock, 1024)
    EXPECT_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlock, 48 * 1024)
    EXPECT_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 * 1024)
    EXPECT_ATTRIBUTE(cudaDevAttrWarpSize, warpSize)
    EXPECT_ATTRIBUTE(cudaDevAttrMultiProcessorCount, prop.multiProcessorCount)
    EXPECT_ATTRIBUTE(cudaDevAttrComputeCapabilityMajor, 0)
    EXPECT_ATTRIBUTE(cudaDevAttrComputeCapabilityMinor, 0)
    EXPECT_CALL(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1));
    value = -1;
    CHECKED(cudaDriverGetVersion(&value));
    EXPECT(value == 0);
    CHECKED(cudaRuntimeGetVersion(&value));
    EXPECT(value == CUDART_VERSION);
    EXPECT_CALL(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGetDevice(nullptr));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGetDeviceProperties(nullptr, 0));
    EXPECT_CALL(cudaErrorInvalidValue, cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    EXPECT_CALL(cudaErrorInvalidValue, cudaDriverGetVersion(nullptr));
    EXPECT_CALL(cudaErrorInvalidValue, cudaRuntimeGetVersion(nullptr));

    // A multiprocessor of compute capability 9.0: 2,048 threads, 32 blocks, 228 KB.
    CHECKED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, none, 256, 0));
    EXPECT(value == 8);
    CHECKED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, none, 32, 0));
    EXPECT(value == 32);
    CHECKED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, none, 256, 100 * 1024));
    EXPECT(value == 2);
    CHECKED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, none, 1025, 0));
    EXPECT(value == 0);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, none, 0, 0) == cudaErrorInvalidValue);
    CHECKED(cudaFuncSetAttribute(none, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    EXPECT_CALL(cudaErrorInvalidValue, cudaFuncSetAttribute(none, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
}

static void allocations() {
    int *device, *host, *other, *freed;
    CHECKED(cudaMallocAsync(&device, 64, nullptr));
    freed = device;
    CHECKED(cudaFreeAsync(device, nullptr));
    EXPECT_CALL(cudaErrorInvalidValue, cudaFreeAsync(freed, nullptr));
    CHECKED(cudaHostAlloc(&host, 64, cudaHostAllocPortable | cudaHostAllocMapped));
    EXPECT_CALL(cudaErrorInvalidValue, cudaFree(host));
    CHECKED(cudaFreeHost(host));
    CHECKED(cudaHostAlloc(&host, 64, cudaHostAllocDefault));
    CHECKED(cudaMalloc(&other, 64));
    CHECKED(cudaDeviceReset());  // frees them all
    EXPECT_CALL(cudaErrorInvalidValue, cudaFreeHost(host));
    EXPECT_CALL(cudaErrorInvalidValue, cudaFree(other));
}

static void withoutStream() {
    int *device, host[3] = {1, 2, 3};
    cudaEvent_t event;
    CHECKED(cudaMalloc(&device, sizeof host));
    CHECKED(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDefault));
    EXPECT_CALL(cudaErrorInvalidValue, cudaEventCreateWithFlags(&event, 64));
    CHECKED(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice));
    CHECKED(cudaMemsetAsync(device + 1, 0xff, sizeof *device));
    float milliseconds = -1.0f;
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, event, event));  // not recorded
    CHECKED(cudaEventRecord(event));
    CHECKED(cudaEventElapsedTime(&milliseconds, event, event));
    EXPECT(milliseconds == 0.0f);
    CHECKED(cudaStreamWaitEvent(nullptr, event));
    EXPECT_CALL(cudaErrorInvalidValue, cudaStreamWaitEvent(nullptr, event, 1));
    CHECKED(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 1 && host[1] == -1 && host[2] == 3);
    EXPECT_CALL(cudaErrorInvalidValue, cudaLaunchHostFunc(nullptr, nullptr, nullptr));
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[3] = {nullptr, nullptr, (cudaGraphNode_t)&host};
    size_t count = 3;
    EXPECT_CALL(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 2));
    CHECKED(cudaStreamCreate(&stream));
    EXPECT_CALL(cudaErrorInvalidValue, cudaStreamBeginCapture(stream, (cudaStreamCaptureMode)3));
    CHECKED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_CALL(cudaErrorIllegalState, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECKED(cudaMemsetAsync(device, 0, sizeof *device, stream));
    CHECKED(cudaMemsetAsync(device, 7, sizeof *device, stream));
    CHECKED(cudaStreamEndCapture(stream, &graph));
    EXPECT_CALL(cudaErrorIllegalState, cudaStreamEndCapture(stream, &graph));
    EXPECT(graph == nullptr);
    CHECKED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECKED(cudaMemsetAsync(device, 0, sizeof *device, stream));
    CHECKED(cudaMemsetAsync(device, 7, sizeof *device, stream));
    CHECKED(cudaStreamEndCapture(stream, &graph));
    CHECKED(cudaGraphGetNodes(graph, nodes, &count));
    EXPECT(count == 2 && nodes[0] && nodes[1] && nodes[0] != nodes[1] && !nodes[2]);
    CHECKED(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECKED(cudaGraphLaunch(exec, nullptr));
    CHECKED(cudaMemcpy(host, device, sizeof *host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 0x07070707);
    CHECKED(cudaGraphExecDestroy(exec));
    CHECKED(cudaGraphDestroy(graph));
    CHECKED(cudaStreamDestroy(stream));
    CHECKED(cudaEventDestroy(event));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(nullptr, event));
    CHECKED(cudaFree(device));
}

// Names, numbers and words are the CUDA Runtime API's.
static void errors() {
#define EXPECT_ERROR(name, number) EXPECT((int)name == number && strcmp(cudaGetErrorName(name), #name) == 0);
    EXPECT_ERROR(cudaSuccess, 0)
    EXPECT_ERROR(cudaErrorInvalidValue, 1)
    EXPECT_ERROR(cudaErrorMemoryAllocation, 2)
    EXPECT_ERROR(cudaErrorInvalidConfiguration, 9)
    EXPECT_ERROR(cudaErrorInvalidMemcpyDirection, 21)
    EXPECT_ERROR(cudaErrorInsufficientDriver, 35)
    EXPECT_ERROR(cudaErrorNoDevice, 100)
    EXPECT_ERROR(cudaErrorInvalidDevice, 101)
    EXPECT_ERROR(cudaErrorNoKernelImageForDevice, 209)
    EXPECT_ERROR(cudaErrorUnsupportedPtxVersion, 222)
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, 400)
    EXPECT_ERROR(cudaErrorIllegalState, 401)
    EXPECT_ERROR(cudaErrorNotReady, 600)
    EXPECT_ERROR(cudaErrorNotSupported, 801)
    EXPECT_ERROR(cudaErrorUnknown, 999)
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, 900)
    EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, 901)
    EXPECT_ERROR(cudaErrorStreamCaptureMerge, 902)
    EXPECT_ERROR(cudaErrorStreamCaptureUnmatched, 903)
    EXPECT_ERROR(cudaErrorStreamCaptureUnjoined, 904)
    EXPECT_ERROR(cudaErrorStreamCaptureIsolation, 905)
    EXPECT_ERROR(cudaErrorStreamCaptureImplicit, 906)
    EXPECT_ERROR(cudaErrorCapturedEvent, 907)
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    EXPECT(strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code") == 0);
}

int main() {
    const double in[4] = {1.0, 2.0, 3.0, 4.0};
    double out[3] = {0.0, 0.0, 0.0};
    vectors<<<1, 1>>>();
    numbers<<<1, 1>>>();
    loadsAndStores<<<1, 1>>>(in, out);
    CHECKED(cudaGetLastError());
    EXPECT(out[0] == 0.0 && out[1] == 5.0 && out[2] == 0.0);
    bytes();
    queries();
    allocations();
    withoutStream();
    errors();
    return report();
}
