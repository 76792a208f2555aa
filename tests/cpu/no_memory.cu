// Every allocation of the API refused in turn, with the linker's --wrap: the call returns
// cudaErrorMemoryAllocation, and what was there before goes on as if it had not been made.
#include <cerrno>

#include "check.cu"

static bool g_refuse;               // does an allocation count?
static int g_asked, g_refused = 0;  // how many have; which of them is refused

static bool refused() { return g_refuse && g_asked++ == g_refused; }

extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t n, size_t bytes);
void* __real_realloc(void* p, size_t bytes);
int __real_posix_memalign(void** p, size_t alignment, size_t bytes);
void* __wrap_malloc(size_t bytes) { return refused() ? nullptr : __real_malloc(bytes); }
void* __wrap_calloc(size_t n, size_t bytes) { return refused() ? nullptr : __real_calloc(n, bytes); }
void* __wrap_realloc(void* p, size_t bytes) { return refused() ? nullptr : __real_realloc(p, bytes); }
int __wrap_posix_memalign(void** p, size_t alignment, size_t bytes) {
    return refused() ? ENOMEM : __real_posix_memalign(p, alignment, bytes);
}
}

__global__ void add(int* to, int n) { *to += n; }

static int g_errors;
static bool ok(cudaError_t error) {
    if (error == cudaSuccess) return true;
    EXPECT(error == cudaErrorMemoryAllocation && cudaGetLastError() == error);
    ++g_errors;
    return false;
}

// At most one call fails, and the rest is done without what it would have made.
static void everyObject() {
    int *device = nullptr, *host = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    g_asked = g_errors = 0;
    g_refuse = true;
    EXPECT(ok(cudaMalloc(&device, sizeof *device)) == (device != nullptr));
    EXPECT(ok(cudaMallocHost(&host, sizeof *host)) == (host != nullptr));
    EXPECT(ok(cudaEventCreate(&event)) == (event != nullptr));
    EXPECT(ok(cudaStreamCreate(&stream)) == (stream != nullptr));
    size_t want = 0, nodes = 0;
    if (device && stream && ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal))) {
        want += ok(cudaMemsetAsync(device, 0, sizeof *device, stream));
        for (int i = 0; i < 20; ++i) {
            add<<<1, 1, 0, stream>>>(device, 1);
            want += ok(cudaPeekAtLastError());
        }
        EXPECT(ok(cudaStreamEndCapture(stream, &graph)) == (graph != nullptr));
    }
    if (graph) EXPECT(ok(cudaGraphInstantiate(&exec, graph, 0)) == (exec != nullptr));
    g_refuse = false;
    if (graph) {
        CHECKED(cudaGraphGetNodes(graph, nullptr, &nodes));
        EXPECT(nodes == want);
        CHECKED(cudaGraphDestroy(graph));
    }
    if (exec) {
        CHECKED(cudaMemset(device, 0, sizeof *device));
        CHECKED(cudaGraphLaunch(exec, stream));
        CHECKED(cudaGraphExecDestroy(exec));
    }
    CHECKED(cudaFree(device));
    CHECKED(cudaFreeHost(host));
    if (event) CHECKED(cudaEventDestroy(event));
    if (stream) CHECKED(cudaStreamDestroy(stream));
}

int main() {
    int* p;
    CHECKED(cudaMalloc(&p, sizeof *p));
    add<<<1, 1>>>(p, 1);  // what runs kernels has its memory from here on
    CHECKED(cudaFree(p));
    g_refuse = true;
    EXPECT_CALL(cudaErrorMemoryAllocation, cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    g_refuse = false;
    CHECKED(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    for (;; ++g_refused) {
        everyObject();
        if (g_asked <= g_refused) break;
        EXPECT(g_errors == 1);
    }
    EXPECT(g_errors == 0);
    EXPECT(g_refused > 25);
    return report();
}
