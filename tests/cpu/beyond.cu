// What no lesson uses: the calls and device functions of cpu/beyond.h.
#include <climits>
#include <cstring>

#include "check.cu"

// ---- Managed, mapped, registered ----------------------------------------------------------------
__managed__ int g_managed = 3;
__global__ void increment(int* p, int by) { p[threadIdx.x] += by; }

static void sharedByHostAndDevice() {
    int *managed, *host, *device, other[4] = {5, 6, 7, 8};
    CHECKED(cudaMallocManaged(&managed, 4 * sizeof *managed, cudaMemAttachGlobal));
    for (int i = 0; i < 4; ++i) managed[i] = i;
    CHECKED(cudaMemPrefetchAsync(managed, 16, 0));
    CHECKED(cudaMemPrefetchAsync(managed, 16, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
    const cudaMemoryAdvise advice = cudaMemAdviseSetReadMostly;
    const cudaMemLocationType place = cudaMemLocationTypeHost;
    CHECKED(cudaMemAdvise(managed, 16, advice, cudaCpuDeviceId));
    CHECKED(cudaMemAdvise(managed, 16, cudaMemAdviseUnsetReadMostly, cudaMemLocation{place, 0}));
    CHECKED(cudaStreamAttachMemAsync(nullptr, managed));
    increment<<<1, 4>>>(managed, 10);
    increment<<<1, 1>>>(&g_managed, 1);
    CHECKED(cudaDeviceSynchronize());
    EXPECT(managed[0] == 10 && managed[3] == 13 && g_managed == 4);
    CHECKED(cudaFree(managed));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMallocManaged(&managed, 4, 77));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemPrefetchAsync(nullptr, 16, cudaInvalidDeviceId));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemPrefetchAsync(nullptr, 16, cudaMemLocation{cudaMemLocationTypeInvalid, 0}, 0));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemAdvise(nullptr, 16, cudaMemAdviseSetPreferredLocation, 0));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemAdvise(nullptr, 16, cudaMemAdviseSetAccessedBy, cudaMemLocation{}));
    EXPECT_CALL(cudaErrorInvalidValue, cudaStreamAttachMemAsync(nullptr, nullptr, 0, cudaMemAttachSingle));
    static_assert(cudaMemAdviseUnsetPreferredLocation == 4 && cudaMemAdviseUnsetAccessedBy == 6 && cudaMemAttachHost == 2, "as in CUDA");

    CHECKED(cudaHostAlloc(&host, 16, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    memset(host, 0, 16);
    CHECKED(cudaHostGetDevicePointer(&device, host, 0));
    increment<<<1, 4>>>(device, 2);
    EXPECT(host[0] == 2 && host[3] == 2);
    EXPECT_CALL(cudaErrorInvalidValue, cudaHostGetDevicePointer(&device, nullptr, 0));
    CHECKED(cudaFreeHost(host));
    CHECKED(cudaHostRegister(other, sizeof other, cudaHostRegisterDefault));
    CHECKED(cudaHostUnregister(other));
    EXPECT_CALL(cudaErrorInvalidValue, cudaHostRegister(other, 0, cudaHostRegisterMapped));
    EXPECT_CALL(cudaErrorInvalidValue, cudaHostUnregister(nullptr));
    static_assert(cudaHostRegisterPortable == 1 && cudaHostRegisterIoMemory == 4, "as in CUDA");
}

// ---- Pitched and three-dimensional ------------------------------------------------------------------
static void rows() {
    char *device, host[3][5], back[3][6] = {};
    size_t pitch = 0;
    CHECKED(cudaMallocPitch(&device, &pitch, 513, 3));
    EXPECT(pitch == 1024);
    CHECKED(cudaFree(device));
    CHECKED(cudaMallocPitch(&device, &pitch, 5, 3));
    EXPECT(pitch == 512);
    for (int i = 0; i < 15; ++i) host[i / 5][i % 5] = (char)(i + 1);
    CHECKED(cudaMemset(device, 99, 3 * pitch));
    CHECKED(cudaMemcpy2D(device, pitch, host, 5, 5, 3, cudaMemcpyHostToDevice));
    EXPECT(device[pitch] == 6 && device[5] == 99);
    CHECKED(cudaMemcpy2DAsync(back, 6, device, pitch, 4, 3, cudaMemcpyDeviceToHost));
    EXPECT(back[0][0] == 1 && back[2][3] == 14 && back[0][4] == 0);
    CHECKED(cudaMemset2D(device, pitch, 7, 2, 2));
    EXPECT(device[pitch + 1] == 7 && device[pitch + 2] == 8 && device[2 * pitch] == 11);
    CHECKED(cudaMemset2DAsync(device, pitch, 8, 1, 3, nullptr));
    EXPECT(device[2 * pitch] == 8 && device[1] == 7);
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemcpy2D(back, 6, device, pitch, 7, 3, cudaMemcpyDeviceToHost));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemset2D(device, 4, 7, 5, 2));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMallocPitch(&device, nullptr, 5, 3));
    CHECKED(cudaFree(device));
}

static void boxes() {
    cudaPitchedPtr box, none = {};
    const cudaExtent extent = make_cudaExtent(4, 3, 2);
    EXPECT(extent.width == 4 && extent.height == 3 && extent.depth == 2);
    CHECKED(cudaMalloc3D(&box, extent));
    EXPECT(box.pitch == 512 && box.xsize == 4 && box.ysize == 3);
    char* const device = (char*)box.ptr;
    CHECKED(cudaMemset(device, 0, 6 * box.pitch));
    CHECKED(cudaMemset3D(box, 5, make_cudaExtent(4, 2, 2)));
    EXPECT(device[3] == 5 && device[4] == 0 && device[box.pitch * 4 + 3] == 5 && device[box.pitch * 2] == 0);
    char host[8] = {};
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    const cudaPos from = make_cudaPos(2, 1, 1);
    copy.srcPos = from;
    copy.dstPtr = make_cudaPitchedPtr(host, 4, 4, 2);
    copy.extent = make_cudaExtent(2, 2, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECKED(cudaMemcpy3D(&copy));
    EXPECT(host[0] == 5 && host[1] == 5 && host[2] == 0 && host[4] == 0);
    copy.dstPos = make_cudaPos(1, 0, 0);
    device[box.pitch * 4 + 2] = 6;
    CHECKED(cudaMemcpy3DAsync(&copy));
    EXPECT(host[1] == 6 && host[2] == 5);
    copy.srcArray = (cudaArray_t)host;
    EXPECT_CALL(cudaErrorNotSupported, cudaMemcpy3D(&copy));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemcpy3D(nullptr));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMalloc3D(nullptr, extent));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemset3D(none, 5, extent));
    CHECKED(cudaFree(device));
}

// ---- Symbols, one device, hints -----------------------------------------------------------------
__device__ int g_symbol[4];
static void symbols() {
    const int in[2] = {8, 9};
    int out[4] = {};
    void* address = nullptr;
    size_t bytes = 0;
    CHECKED(cudaMemcpyToSymbolAsync(g_symbol, in, sizeof in, sizeof(int)));
    CHECKED(cudaMemcpyFromSymbolAsync(out, g_symbol, sizeof out));
    EXPECT(out[0] == 0 && out[1] == 8 && out[2] == 9 && out[3] == 0);
    CHECKED(cudaGetSymbolAddress(&address, g_symbol));
    CHECKED(cudaGetSymbolSize(&bytes, g_symbol));
    EXPECT(address == g_symbol && bytes == 16);
    EXPECT_CALL(cudaErrorInvalidValue, cudaGetSymbolAddress(nullptr, g_symbol));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGetSymbolSize(nullptr, g_symbol));
}

static void oneDevice() {
    int can = 7, device = 7, from[2] = {1, 2}, to[2] = {};
    CHECKED(cudaSetDeviceFlags(cudaDeviceScheduleAuto | cudaDeviceMapHost));
    static_assert(cudaDeviceScheduleSpin == 1 && cudaDeviceScheduleYield == 2 && cudaDeviceScheduleBlockingSync == 4 && cudaDeviceLmemResizeToMax == 16, "as in CUDA");
    CHECKED(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(can == 0);
    EXPECT_CALL(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_CALL(cudaErrorInvalidValue, cudaDeviceCanAccessPeer(nullptr, 0, 0));
    EXPECT_CALL(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_CALL(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(1));
    EXPECT_CALL(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
    CHECKED(cudaMemcpyPeer(to, 0, from, 0, sizeof(int)));
    CHECKED(cudaMemcpyPeerAsync(to + 1, 0, from + 1, 0, sizeof(int), nullptr));
    EXPECT(to[0] == 1 && to[1] == 2);
    EXPECT_CALL(cudaErrorInvalidDevice, cudaMemcpyPeer(to, 1, from, 0, 4));
    EXPECT_CALL(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(to, 0, from, 1, 4, nullptr));
    cudaDeviceProp wanted;
    memset(&wanted, 0, sizeof wanted);
    CHECKED(cudaChooseDevice(&device, &wanted));
    EXPECT(device == 0);
    EXPECT_CALL(cudaErrorInvalidValue, cudaChooseDevice(&device, nullptr));
    static_assert(cudaErrorPeerAccessNotEnabled == 705 && cudaErrorHostMemoryAlreadyRegistered == 712 && cudaErrorHostMemoryNotRegistered == 713, "as in CUDA");

    cudaSharedMemConfig banks = cudaSharedMemBankSizeEightByte;
    const cudaFuncCache none = cudaFuncCachePreferNone;
    CHECKED(cudaDeviceSetCacheConfig(none));
    CHECKED(cudaFuncSetCacheConfig(increment, cudaFuncCachePreferShared));
    CHECKED(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeDefault));
    CHECKED(cudaFuncSetSharedMemConfig(increment, cudaSharedMemBankSizeEightByte));
    CHECKED(cudaDeviceGetSharedMemConfig(&banks));
    EXPECT(banks == cudaSharedMemBankSizeFourByte);
    static_assert(cudaFuncCachePreferL1 == 2 && cudaFuncCachePreferEqual == 3, "as in CUDA");
    EXPECT_CALL(cudaErrorInvalidValue, cudaDeviceGetSharedMemConfig(nullptr));
    CHECKED(cudaProfilerStart());
    CHECKED(cudaProfilerStop());
}

// What an attribute tells is the property; one for each that a program may ask.
static void attributes() {
    cudaDeviceProp prop;
    int value = 0;
    CHECKED(cudaGetDeviceProperties(&prop, 0));
#define EXPECT_ATTRIBUTE(name, number, member)               \
    EXPECT(cudaDevAttr##name == number);                      \
    CHECKED(cudaDeviceGetAttribute(&value, cudaDevAttr##name, 0)); \
    EXPECT(value == (int)prop.member);
    CUDA_CPU_ATTRIBUTES(EXPECT_ATTRIBUTE)
    EXPECT(prop.maxThreadsDim[2] == 64 && prop.maxGridSize[1] == 65535 && prop.totalConstMem == 65536 && prop.clockRate > 0);
    EXPECT(prop.managedMemory == 1 && prop.unifiedAddressing == 1 && prop.cooperativeLaunch == 0 && prop.memoryBusWidth > 0);
    static_assert(sizeof(cudaComputeMode) == sizeof prop.computeMode && cudaComputeModeDefault == 0 && cudaComputeModeExclusive == 1 && cudaComputeModeProhibited == 2 && cudaComputeModeExclusiveProcess == 3, "as in CUDA");
    EXPECT(prop.major == 0);
    cuda_cpu_as_a_card();
    CHECKED(cudaGetDeviceProperties(&prop, 0));
    EXPECT(prop.major == 9 && prop.minor == 0);
    EXPECT(cuda_cpu_report(cudaErrorNotReady) == cudaErrorNotReady && cudaGetLastError() == cudaErrorNotReady);
}

// ---- Streams, kernels -------------------------------------------------------------------------------
static void add(cudaStream_t, cudaError_t status, void* data) { *(int*)data += status == cudaSuccess ? 1 : 100; }
static void streams() {
    cudaStream_t stream;
    cudaEvent_t event;
    int least = 7, greatest = 7, called = 0;
    CHECKED(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least == 0 && greatest == -5);
    CHECKED(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    const cudaStreamCallback_t callback = add;
    CHECKED(cudaStreamAddCallback(stream, callback, &called, 0));
    EXPECT(called == 1);
    EXPECT_CALL(cudaErrorInvalidValue, cudaStreamAddCallback(stream, nullptr, &called, 0));
    EXPECT_CALL(cudaErrorInvalidValue, cudaStreamAddCallback(stream, add, &called, 1));
    CHECKED(cudaStreamDestroy(stream));
    EXPECT_CALL(cudaErrorInvalidValue, cudaEventCreate(&event, cudaEventDisableTiming | cudaEventInterprocess));
    CHECKED(cudaEventCreate(&event, cudaEventDisableTiming));
    CHECKED(cudaEventRecord(event));
    CHECKED(cudaEventDestroy(event));
    static_assert(cudaEventRecordDefault == 0 && cudaEventRecordExternal == 1 && cudaEventWaitDefault == 0, "as in CUDA");
}

__global__ void write(int* out, int a, double b, uchar3 c) { out[blockIdx.x] = a + (int)b + c.z; }
static void kernels() {
    cudaFuncAttributes attributes;
    int grid = 0, block = 0, out[2] = {}, *p = out, a = 1;
    double b = 20;
    uchar3 c = make_uchar3(0, 0, 200);
    CHECKED(cudaFuncGetAttributes(&attributes, write));
    EXPECT(attributes.maxThreadsPerBlock == 1024 && attributes.maxDynamicSharedSizeBytes == 49152 && attributes.numRegs == 0);
    EXPECT_CALL(cudaErrorInvalidValue, cudaFuncGetAttributes(nullptr, write));
    CHECKED(cudaOccupancyMaxPotentialBlockSize(&grid, &block, write, 0, 0));
    EXPECT(grid >= 2 && block == 1024);
    CHECKED(cudaOccupancyMaxPotentialBlockSize(&grid, &block, write, 0, 256));
    EXPECT(grid >= 8 && block == 256);
    EXPECT_CALL(cudaErrorInvalidValue, cudaOccupancyMaxPotentialBlockSize(nullptr, &block, write));
    void* arguments[] = {&p, &a, &b, &c};
    CHECKED(cudaLaunchKernel(write, dim3(2), dim3(1), arguments));
    EXPECT(out[0] == 221 && out[1] == 221);
    EXPECT_CALL(cudaErrorInvalidValue, cudaLaunchKernel(write, dim3(2), dim3(2000), arguments, 0, nullptr));
    // An error of before is kept.
    (void)cudaSetDevice(3);
    EXPECT(cudaLaunchKernel(write, dim3(1), dim3(1), arguments) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
}

// ---- Device functions ---------------------------------------------------------------------------
__global__ void atomics(unsigned* u, long long* l) {
    atomicInc(&u[0], 9);
    atomicDec(&u[1], 9);
    atomicMin(&l[0], (long long)threadIdx.x - 5);
    atomicMax(&l[1], (long long)threadIdx.x - 5);
    atomicAdd_block(&u[2], 2u);
    atomicAdd_system(&u[2], 1u);
    atomicSub_block(&u[3], 1u);
    atomicSub_system(&u[3], 1u);
    atomicMin_block(&u[4], threadIdx.x + 3);
    atomicMin_system(&u[4], threadIdx.x + 4);
    atomicMax_block(&u[5], threadIdx.x);
    atomicMax_system(&u[5], threadIdx.x + 1);
    atomicAnd_block(&u[6], ~(1u << threadIdx.x));
    atomicAnd_system(&u[6], ~(1u << (threadIdx.x + 16)));
    atomicOr_block(&u[7], 1u << threadIdx.x);
    atomicOr_system(&u[7], 1u << (threadIdx.x + 16));
    atomicXor_block(&u[8], 1u << threadIdx.x);
    atomicXor_system(&u[8], 1u << (threadIdx.x + 16));
    if (threadIdx.x == 0) {
        EXPECT(atomicExch_block(&u[9], 5u) == 0 && atomicExch_system(&u[9], 6u) == 5);
        EXPECT(atomicCAS_block(&u[10], 0u, 7u) == 0 && atomicCAS_system(&u[10], 0u, 8u) == 7 && u[10] == 7);
        EXPECT(atomicInc_block(&u[11], 3u) == 0 && atomicInc_system(&u[11], 1u) == 1 && u[11] == 0);
        EXPECT(atomicDec_block(&u[11], 3u) == 0 && atomicDec_system(&u[11], 2u) == 3 && u[11] == 2);
    }
}
static void theAtomics() {
    unsigned u[12] = {0, 0, 0, 50, 1000, 0, ~0u};
    long long l[2] = {1LL << 40, -(1LL << 40)};
    atomics<<<1, 12>>>(u, l);
    CHECKED(cudaDeviceSynchronize());
    EXPECT(u[0] == 2 && u[1] == 8);  // 12 steps of a counter from 0 to 9, up and down
    EXPECT(l[0] == -5 && l[1] == 6);
    EXPECT(u[2] == 36 && u[3] == 26 && u[4] == 3 && u[5] == 12);
    EXPECT(u[6] == 0xf000f000u && u[7] == 0x0fff0fffu && u[8] == 0x0fff0fffu && u[9] == 6);
}

__global__ void integers() {
    EXPECT(__mulhi(-3, 1 << 30) == -1 && __mulhi(1 << 30, 1 << 30) == 1 << 28);
    EXPECT(__umulhi(~0u, 2) == 1 && __umul64hi(~0ull, 4) == 3);
    EXPECT(__mul64hi(-3, 1LL << 62) == -1 && __mul64hi(1LL << 40, 1LL << 40) == 1LL << 16);
    EXPECT(__mul24(0x1000003, 5) == 15 && __mul24(0xffffff, 7) == -7 && __umul24(0x1000003, 5) == 15);
    EXPECT(__sad(-3, 4, 10) == 17 && __sad(4, -3, 1) == 8 && __usad(3, 9, 1) == 7 && __usad(9, 3, 2) == 8);
    EXPECT(__brev(0x80000001u) == 0x80000001u && __brev(6) == 0x60000000u && __brevll(3) == 0xc000000000000000ull);
    EXPECT(__byte_perm(0x33221100, 0x77665544, 0x7410) == 0x77441100 && __byte_perm(0x80, 0, 0x0008) == 0x80808080);
    EXPECT(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(2, 1, 1) == 0x80000001u);
}
__global__ void conversions() {
    EXPECT(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.5f) == -2 && __float2int_ru(2.1f) == 3 && __float2int_rd(-2.1f) == -3);
    EXPECT(__float2int_rn(3e9f) == INT_MAX && __float2int_rz(-3e9f) == INT_MIN && __float2int_rn(NAN) == 0);
    EXPECT(__float2uint_rn(3.5f) == 4 && __float2uint_rz(3e9f) == 3000000000u && __float2uint_ru(1e10f) == UINT_MAX && __float2uint_rd(-1.5f) == 0);
    EXPECT(__float2ll_rn(-0x1.8p40f) == -(3LL << 39) && __float2ll_rz(1e30f) == LLONG_MAX && __float2ll_ru(0.5f) == 1 && __float2ll_rd(NAN) == LLONG_MIN);
    EXPECT(__float2ull_rn(0x1p63f) == 1ULL << 63 && __float2ull_rz(2.9f) == 2 && __float2ull_ru(1e30f) == ULLONG_MAX && __float2ull_rd(3.9f) == 3);
    EXPECT(__double2int_rn(-1.5) == -2 && __double2int_rz(1.9) == 1 && __double2int_ru(-1.9) == -1 && __double2int_rd(1e300) == INT_MAX && __double2int_rn(NAN) == INT_MIN && __double2uint_rz(NAN) == 0x80000000u);
    EXPECT(__double2uint_rn(0.5) == 0 && __double2uint_rz(4294967295.5) == UINT_MAX && __double2uint_ru(7.5) == 8 && __double2uint_rd(7.5) == 7);
    EXPECT(__double2ll_rn(2.5) == 2 && __double2ll_rz(-2.5) == -2 && __double2ll_ru(0x1p63) == LLONG_MAX && __double2ll_rd(-0x1p63) == LLONG_MIN);
    EXPECT(__double2ull_rn(3.5) == 4 && __double2ull_rz(-1.0) == 0 && __double2ull_ru(0x1p64) == ULLONG_MAX && __double2ull_rd(5.5) == 5);
    EXPECT(__int2float_rn(16777217) == 16777216.0f && __uint2float_rn(16777219) == 16777220.0f);
    EXPECT(__ll2float_rn(-(1LL << 40) - 1) == -0x1p40f && __ull2float_rn(~0ULL) == 0x1p64f);
    EXPECT(__int2double_rn(-7) == -7.0 && __uint2double_rn(~0u) == 4294967295.0 && __double2float_rn(1 + 0x1p-24 + 0x1p-50) == 1 + 0x1p-23f);
    EXPECT(__ll2double_rn((1LL << 53) + 1) == 0x1p53 && __ull2double_rn(3) == 3.0);
}
// Last bits are the host library's, so these are only near.
__device__ bool near(double got, double want) { return fabs(got - want) <= 1e-6 * fabs(want) + 1e-12; }
__global__ void functions() {
    float s = 0, c = 0;
    __sincosf(0.5f, &s, &c);
    EXPECT(near(s, sin(0.5)) && near(c, cos(0.5)) && near(__sinf(0.5f), sin(0.5)) && near(__cosf(0.5f), cos(0.5)) && near(__tanf(0.5f), tan(0.5)));
    EXPECT(near(__expf(2), exp(2)) && near(__exp10f(2), 100) && near(exp10(3), 1000) && near(exp10f(-1), 0.1));
    EXPECT(near(__logf(3), log(3)) && near(__log2f(8), 3) && near(__log10f(1000), 3) && near(__powf(3, 4), 81));
    EXPECT(fdividef(3, 8) == 0.375f && __saturatef(-1) == 0 && __saturatef(0.25f) == 0.25f && __saturatef(7) == 1 && __saturatef(NAN) == 0);
    EXPECT(near(sinpif(0.25f), sqrt(0.5)) && near(cospif(0.25f), sqrt(0.5)) && near(sinpi(1e9 + 0.5), 1) && near(cospi(1e9 + 1), -1));
    EXPECT(near(rcbrtf(8), 0.5) && near(rcbrt(64), 0.25));
    const long long before = clock64();
    __nanosleep(1);
    EXPECT(before > 0 && clock64() >= before);
}

#define EXPECT_VECTORS(name, size2, size4)                                                                     \
    {                                                                                                          \
        const name##1 a = make_##name##1(3);                                                                   \
        const name##2 b = make_##name##2(3, 4);                                                                \
        const name##3 c = make_##name##3(3, 4, 5);                                                             \
        const name##4 d = make_##name##4(3, 4, 5, 6);                                                          \
        EXPECT(a.x == 3 && b.x == 3 && b.y == 4 && c.x == 3 && c.y == 4 && c.z == 5);                          \
        EXPECT(d.x == 3 && d.y == 4 && d.z == 5 && d.w == 6 && sizeof c == 3 * sizeof a);                      \
        EXPECT(sizeof b == 2 * sizeof a && alignof(name##2) == size2 && sizeof d == 4 * sizeof a && alignof(name##4) == size4); \
    }
__global__ void vectors() {
    EXPECT_VECTORS(char, 2, 4)
    EXPECT_VECTORS(uchar, 2, 4)
    EXPECT_VECTORS(short, 4, 8)
    EXPECT_VECTORS(ushort, 4, 8)
    EXPECT_VECTORS(int, 8, 16)
    EXPECT_VECTORS(uint, 8, 16)
    EXPECT_VECTORS(long, 16, 16)
    EXPECT_VECTORS(ulong, 16, 16)
    EXPECT_VECTORS(longlong, 16, 16)
    EXPECT_VECTORS(ulonglong, 16, 16)
    EXPECT_VECTORS(float, 8, 16)
    EXPECT_VECTORS(double, 16, 16)
    EXPECT(make_char1(-1).x == -1);
}

int main() {
    sharedByHostAndDevice();
    rows();
    boxes();
    symbols();
    oneDevice();
    attributes();
    streams();
    kernels();
    theAtomics();
    integers<<<1, 1>>>();
    conversions<<<1, 1>>>();
    functions<<<1, 1>>>();
    vectors<<<1, 1>>>();
    CHECKED(cudaDeviceSynchronize());
    return report();
}
