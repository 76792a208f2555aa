// Memory, streams, events and graphs of the CPU default: what works, and what is refused. An H200
// under CUDA 13.0 gave the same answers, except where it says what device it is, where the answer
// here is cudaErrorNotSupported, and for handles that were destroyed, which crash there.
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "check.cu"

__global__ void addTo(const int* from, int* to, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) to[i] += from[i];
}
__constant__ int c_table[4];
__device__ int g_cell = 3;
__global__ void readSymbols(int* out) { *out = c_table[0] + c_table[3] + g_cell; }

constexpr int kN = 1000;

static void memory() {
    int *a, *b, host[kN];
    CHECKED(cudaMalloc(&a, sizeof host));
    EXPECT((size_t)a % 256 == 0);
    CHECKED(cudaMallocHost(&b, sizeof host));
    for (int i = 0; i < kN; ++i) host[i] = i;
    CHECKED(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    CHECKED(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(b, host, sizeof host) == 0);
    CHECKED(cudaMemset(a, 1, sizeof host));
    CHECKED(cudaMemcpy(b, a, sizeof host, cudaMemcpyDefault));
    EXPECT(b[kN - 1] == 0x01010101);
    EXPECT_CALL(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, b, 4, (cudaMemcpyKind)7));
    EXPECT_CALL(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, b, 4, (cudaMemcpyKind)-1));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemcpy(nullptr, b, 4, cudaMemcpyHostToDevice));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemcpy(a, nullptr, 4, cudaMemcpyHostToDevice));
    EXPECT_CALL(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 4));
    CHECKED(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    CHECKED(cudaMemset(nullptr, 0, 0));
    EXPECT_CALL(cudaErrorInvalidValue, cudaFree(a + 1));
    EXPECT_CALL(cudaErrorInvalidValue, cudaFree(b));  // from cudaMallocHost
    EXPECT_CALL(cudaErrorInvalidValue, cudaFreeHost(a));
    int* const freed = a;
    CHECKED(cudaFree(a));
    EXPECT_CALL(cudaErrorInvalidValue, cudaFree(freed));
    CHECKED(cudaFreeHost(b));
    CHECKED(cudaFree(nullptr));
    void* none = &a;
    CHECKED(cudaMalloc(&none, 0));
    EXPECT(none == nullptr);
    EXPECT_CALL(cudaErrorMemoryAllocation, cudaMalloc(&none, (size_t)1 << 60));
    EXPECT(none == nullptr);
    EXPECT_CALL(cudaErrorInvalidValue, cudaMalloc((void**)nullptr, 4));

    const int table[4] = {10, 20, 30, 40}, five = 5;
    int *out, got;
    CHECKED(cudaMalloc(&out, sizeof *out));
    CHECKED(cudaMemcpyToSymbol(c_table, table, sizeof table));
    CHECKED(cudaMemcpyToSymbol(g_cell, &five, sizeof five));
    readSymbols<<<1, 1>>>(out);
    CHECKED(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == 55);
    CHECKED(cudaMemcpyFromSymbol(&got, c_table, sizeof got, 2 * sizeof got));
    EXPECT(got == 30);
    CHECKED(cudaFree(out));

    size_t free_bytes = 0, total = 0;
    CHECKED(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(free_bytes > 0 && free_bytes <= total);
    free_bytes = total = 0;
    CHECKED(cudaMemGetInfo(&free_bytes, nullptr));
    CHECKED(cudaMemGetInfo(nullptr, &total));
    EXPECT(free_bytes > 0 && free_bytes <= total);
}

static void device() {
    int count = 0, device = 7, value = 0;
    cudaDeviceProp prop;
    CHECKED(cudaGetDeviceCount(&count));
    CHECKED(cudaGetDevice(&device));
    EXPECT(count == 1 && device == 0);
    CHECKED(cudaSetDevice(0));
    EXPECT_CALL(cudaErrorInvalidDevice, cudaSetDevice(1));
    EXPECT_CALL(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, 1));
    CHECKED(cudaGetDeviceProperties(&prop, 0));
    EXPECT(prop.major == 0 && prop.minor == 0 && prop.warpSize == 32 && prop.multiProcessorCount >= 1);
    EXPECT(strcmp(prop.name, "CPU default") == 0);
    CHECKED(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    EXPECT(value == 1024);
    EXPECT_CALL(cudaErrorNotSupported, cudaDeviceGetAttribute(&value, (cudaDeviceAttr)3000, 0));
    EXPECT(std::string(cudaGetErrorName(cudaErrorNoDevice)) == "cudaErrorNoDevice");
    EXPECT(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
    EXPECT(std::string(cudaGetErrorName((cudaError_t)12345)) == "unrecognized error code");
    // The last error belongs to the thread that met it.
    (void)cudaFree(&count);
    std::thread([] { EXPECT(cudaPeekAtLastError() == cudaSuccess); }).join();
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

static void countCall(void* data) { ++*(int*)data; }

static void streamsAndEvents() {
    int *a, *b, host[kN], calls = 0;
    CHECKED(cudaMalloc(&a, sizeof host));
    CHECKED(cudaMalloc(&b, sizeof host));
    for (int i = 0; i < kN; ++i) host[i] = i;
    cudaStream_t s, t;
    cudaEvent_t start, end, plain;
    CHECKED(cudaStreamCreate(&s));
    CHECKED(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECKED(cudaEventCreate(&start));
    CHECKED(cudaEventCreate(&end));
    CHECKED(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    CHECKED(cudaEventRecord(start, s));
    CHECKED(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, s));
    CHECKED(cudaMemsetAsync(b, 0, sizeof host, s));
    addTo<<<4, 256, 0, s>>>(a, b, kN);
    CHECKED(cudaEventRecord(plain, s));
    CHECKED(cudaStreamWaitEvent(t, plain, 0));
    addTo<<<4, 256, 0, t>>>(a, b, kN);
    CHECKED(cudaLaunchHostFunc(t, countCall, &calls));
    usleep(20000);
    CHECKED(cudaMemcpyAsync(host, b, sizeof host, cudaMemcpyDeviceToHost, t));
    CHECKED(cudaEventRecord(end, t));
    CHECKED(cudaStreamSynchronize(t));
    CHECKED(cudaEventSynchronize(end));
    CHECKED(cudaStreamSynchronize(0));
    CHECKED(cudaStreamQuery(s));
    CHECKED(cudaEventQuery(start));
    for (int i = 0; i < kN; ++i) EXPECT(host[i] == 2 * i);
    EXPECT(calls == 1);
    float ms = -1.0f;
    CHECKED(cudaEventElapsedTime(&ms, start, end));
    EXPECT(ms >= 20.0f && ms < 20000.0f);  // milliseconds: 20 were slept
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, plain));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, plain, end));
    EXPECT_CALL(cudaErrorInvalidValue, cudaEventElapsedTime(nullptr, start, end));
    cudaEvent_t never;
    CHECKED(cudaEventCreate(&never));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, never));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, never, end));
    CHECKED(cudaEventDestroy(never));
    cudaStream_t gone = s;
    CHECKED(cudaStreamDestroy(s));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamDestroy(gone));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(gone));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventRecord(end, gone));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(gone, end, 0));
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamBeginCapture(gone, cudaStreamCaptureModeGlobal));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamIsCapturing(gone, &status));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamEndCapture(gone, &graph));
    addTo<<<1, 1, 0, gone>>>(a, b, 0);
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaPeekAtLastError());
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaMemsetAsync(a, 0, 4, (cudaStream_t)plain));  // no stream at all
    CHECKED(cudaStreamDestroy(t));
    CHECKED(cudaEventDestroy(start));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventRecord(start, 0));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventDestroy(start));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventQuery(start));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(0, start, 0));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, end));
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, end, start));
    CHECKED(cudaEventDestroy(end));
    CHECKED(cudaEventDestroy(plain));
    EXPECT_CALL(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
    EXPECT_CALL(cudaErrorInvalidValue, cudaEventCreate(nullptr));
    CHECKED(cudaFree(a));
    CHECKED(cudaFree(b));
    CHECKED(cudaDeviceSynchronize());
}

struct Streams {
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    Streams(unsigned flags = cudaStreamDefault) {
        CHECKED(cudaStreamCreateWithFlags(&s, flags));
        CHECKED(cudaStreamCreateWithFlags(&t, flags));
        CHECKED(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
        CHECKED(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    }
    ~Streams() {
        CHECKED(cudaStreamDestroy(s));
        CHECKED(cudaStreamDestroy(t));
        CHECKED(cudaEventDestroy(fork));
        CHECKED(cudaEventDestroy(join));
    }
    void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) const { CHECKED(cudaStreamBeginCapture(s, mode)); }
    void end(cudaError_t want) const {
        cudaGraph_t graph = (cudaGraph_t)this;
        EXPECT_CALL(want, cudaStreamEndCapture(s, &graph));
        EXPECT((graph != nullptr) == (want == cudaSuccess));
        if (graph) CHECKED(cudaGraphDestroy(graph));
        cudaStreamCaptureStatus status;
        CHECKED(cudaStreamIsCapturing(s, &status));
        EXPECT(status == cudaStreamCaptureStatusNone);
    }
    // From here on `to` is in the capture that `from` is in, after what `from` has done.
    void after(cudaStream_t to, cudaEvent_t event, cudaStream_t from) const {
        CHECKED(cudaEventRecord(event, from));
        CHECKED(cudaStreamWaitEvent(to, event, 0));
    }
    cudaStreamCaptureStatus status() const {
        cudaStreamCaptureStatus status;
        CHECKED(cudaStreamIsCapturing(s, &status));
        return status;
    }
};

// One graph of every kind of node over two streams: run again it must see new input, not the old.
static void graphs() {
    Streams x;
    int *a, *b, *c, *host, calls = 0;
    const size_t bytes = kN * sizeof *a;
    CHECKED(cudaMalloc(&a, bytes));
    CHECKED(cudaMalloc(&b, bytes));
    CHECKED(cudaMalloc(&c, bytes));
    CHECKED(cudaMallocHost(&host, bytes));
    CHECKED(cudaMemset(b, 0x7f, bytes));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    x.begin();
    EXPECT(x.status() == cudaStreamCaptureStatusActive);
    CHECKED(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, x.s));
    CHECKED(cudaEventRecord(x.fork, x.s));
    CHECKED(cudaStreamWaitEvent(x.t, x.fork, 0));
    CHECKED(cudaMemsetAsync(b, 0, bytes, x.s));
    addTo<<<4, 256, 0, x.s>>>(a, b, kN);
    CHECKED(cudaMemsetAsync(c, 0, bytes, x.t));
    addTo<<<4, 256, 0, x.t>>>(a, c, kN);
    CHECKED(cudaLaunchHostFunc(x.t, countCall, &calls));
    CHECKED(cudaEventRecord(x.join, x.t));
    CHECKED(cudaStreamWaitEvent(x.s, x.join, 0));
    addTo<<<4, 256, 0, x.s>>>(c, b, kN);
    CHECKED(cudaMemcpyAsync(host, b, bytes, cudaMemcpyDeviceToHost, x.s));
    CHECKED(cudaPeekAtLastError());
    CHECKED(cudaStreamEndCapture(x.s, &graph));
    EXPECT(x.status() == cudaStreamCaptureStatusNone);
    size_t nodes = 0;
    CHECKED(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 8 && calls == 0);
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphGetNodes(graph, nullptr, nullptr));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphInstantiate(nullptr, graph, 0));
    int first;
    CHECKED(cudaMemcpy(&first, b, sizeof first, cudaMemcpyDeviceToHost));
    EXPECT(first == 0x7f7f7f7f);  // captured, not run
    CHECKED(cudaGraphInstantiate(&exec, graph, 0));
    CHECKED(cudaGraphDestroy(graph));  // the exec lives on
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphDestroy(graph));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphGetNodes(graph, nullptr, &nodes));
    for (int round = 1; round <= 3; ++round) {
        for (int i = 0; i < kN; ++i) host[i] = round * i;
        CHECKED(cudaGraphLaunch(exec, round == 2 ? x.t : x.s));
        CHECKED(cudaStreamSynchronize(x.s));
        for (int i = 0; i < kN; ++i) EXPECT(host[i] == 2 * round * i);
        EXPECT(calls == round);
    }
    EXPECT_CALL(cudaErrorInvalidResourceHandle, cudaGraphLaunch(exec, (cudaStream_t)x.fork));
    CHECKED(cudaGraphExecDestroy(exec));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphLaunch(exec, x.s));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphExecDestroy(exec));
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
    EXPECT(exec == nullptr);
    CHECKED(cudaFree(a));
    CHECKED(cudaFree(b));
    CHECKED(cudaFree(c));
    CHECKED(cudaFreeHost(host));
}

// A graph that runs is whole until its end, though another thread destroys what it was launched from.
static void destroyLaunched(void* exec) {
    std::thread([exec] { CHECKED(cudaGraphExecDestroy((cudaGraphExec_t)*(void**)exec)); }).join();
}
static void graphDestroyedWhileItRuns() {
    Streams x;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int calls = 0, *p;
    CHECKED(cudaMalloc(&p, sizeof *p));
    CHECKED(cudaMemset(p, 0, sizeof *p));
    x.begin();
    CHECKED(cudaLaunchHostFunc(x.s, destroyLaunched, &exec));
    addTo<<<1, 1, 0, x.s>>>(p, p, 0);
    CHECKED(cudaLaunchHostFunc(x.s, countCall, &calls));
    CHECKED(cudaStreamEndCapture(x.s, &graph));
    CHECKED(cudaGraphInstantiate(&exec, graph, 0));
    CHECKED(cudaGraphDestroy(graph));
    CHECKED(cudaGraphLaunch(exec, x.s));
    EXPECT(calls == 1);
    EXPECT_CALL(cudaErrorInvalidValue, cudaGraphExecDestroy(exec));
    CHECKED(cudaFree(p));
}

// Who is after whom goes on from stream to stream, and a stream may wait for several others.
static void captureOrder() {
    Streams x, y;
    int* p;
    CHECKED(cudaMalloc(&p, 64));
    const auto put = [&](cudaStream_t s) { CHECKED(cudaMemsetAsync(p, 0, 4, s)); };
    x.begin();  // x.s waits for y.s alone, which is after x.t
    put(x.s);
    x.after(x.t, x.fork, x.s);
    put(x.t);
    x.after(y.s, x.join, x.t);
    put(y.s);
    x.after(x.s, y.join, y.s);
    x.end(cudaSuccess);
    x.begin();  // y.s has done nothing since the join, x.t has
    x.after(x.t, x.fork, x.s);
    x.after(y.s, x.join, x.t);
    put(x.t);
    put(y.s);
    x.after(x.s, y.join, y.s);
    x.end(cudaErrorStreamCaptureUnjoined);
    x.begin();  // two that know nothing of each other, one after the other
    x.after(x.t, x.fork, x.s);
    x.after(y.s, x.fork, x.s);
    put(x.t);
    put(y.s);
    x.after(x.s, x.join, x.t);
    x.after(x.s, y.join, y.s);
    x.end(cudaSuccess);
    x.begin();  // the third stream is not joined
    x.after(x.t, x.fork, x.s);
    x.after(y.s, x.fork, x.s);
    put(y.s);
    x.after(x.s, x.join, x.t);
    x.end(cudaErrorStreamCaptureUnjoined);
    // All are out of the capture now, and what they are given runs.
    int got = 1;
    CHECKED(cudaMemsetAsync(p, 9, sizeof got, y.s));
    CHECKED(cudaStreamSynchronize(y.s));
    CHECKED(cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == 0x09090909);
    CHECKED(cudaFree(p));
}

// As many streams as a capture here can hold, and one more: a refusal, not a write past the table.
static void streamsOfACapture() {
    constexpr int kStreams = 32;
    cudaStream_t s[kStreams + 1];
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    for (cudaStream_t& one : s) CHECKED(cudaStreamCreate(&one));
    CHECKED(cudaEventCreate(&fork));
    CHECKED(cudaEventCreate(&join));
    CHECKED(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
    CHECKED(cudaEventRecord(fork, s[0]));
    for (int i = 1; i < kStreams; ++i) CHECKED(cudaStreamWaitEvent(s[i], fork, 0));
    EXPECT_CALL(cudaErrorNotSupported, cudaStreamWaitEvent(s[kStreams], fork, 0));
    int calls = 0;
    for (int i = 1; i < kStreams; ++i) {
        CHECKED(cudaLaunchHostFunc(s[i], countCall, &calls));
        CHECKED(cudaEventRecord(join, s[i]));
        CHECKED(cudaStreamWaitEvent(s[0], join, 0));
    }
    CHECKED(cudaLaunchHostFunc(s[kStreams], countCall, &calls));  // not in the capture: it runs
    EXPECT(calls == 1);
    CHECKED(cudaStreamEndCapture(s[0], &graph));
    size_t nodes = 0;
    CHECKED(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == kStreams - 1);
    CHECKED(cudaGraphDestroy(graph));
    for (cudaStream_t one : s) CHECKED(cudaStreamDestroy(one));
    CHECKED(cudaEventDestroy(fork));
    CHECKED(cudaEventDestroy(join));
}

static void captureErrors() {
    int* p;
    CHECKED(cudaMalloc(&p, 64));
    cudaGraph_t graph;
    {  // EndCapture without Begin, Begin twice, the default stream
        Streams x;
        EXPECT_CALL(cudaErrorIllegalState, cudaStreamEndCapture(x.s, &graph));
        x.begin();
        EXPECT_CALL(cudaErrorIllegalState, cudaStreamBeginCapture(x.s, cudaStreamCaptureModeGlobal));
        x.end(cudaSuccess);
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
        EXPECT_CALL(cudaErrorIllegalState, cudaStreamEndCapture(0, &graph));
        x.begin();
        CHECKED(cudaStreamEndCapture(x.s, nullptr));  // over, and its graph is nobody's
        EXPECT(x.status() == cudaStreamCaptureStatusNone);
        EXPECT_CALL(cudaErrorIllegalState, cudaStreamEndCapture(x.s, &graph));
    }
    {  // work in a forked stream that nobody waits for
        Streams x;
        x.begin();
        CHECKED(cudaEventRecord(x.fork, x.s));
        CHECKED(cudaStreamWaitEvent(x.t, x.fork, 0));
        addTo<<<1, 1, 0, x.t>>>(p, p, 0);
        x.end(cudaErrorStreamCaptureUnjoined);
        // and work after the join is as lost
        x.begin();
        CHECKED(cudaEventRecord(x.fork, x.s));
        CHECKED(cudaStreamWaitEvent(x.t, x.fork, 0));
        addTo<<<1, 1, 0, x.t>>>(p, p, 0);
        CHECKED(cudaEventRecord(x.join, x.t));
        addTo<<<1, 1, 0, x.t>>>(p, p, 0);
        CHECKED(cudaStreamWaitEvent(x.s, x.join, 0));
        x.end(cudaErrorStreamCaptureUnjoined);
    }
    {  // ended in the stream that was forked
        Streams x;
        x.begin();
        CHECKED(cudaEventRecord(x.fork, x.s));
        CHECKED(cudaStreamWaitEvent(x.t, x.fork, 0));
        EXPECT_CALL(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(x.t, &graph));
        x.end(cudaErrorStreamCaptureInvalidated);
    }
    {  // a forked stream that is destroyed leaves the capture; with the first one the capture is over
        Streams x;
        int* q;
        x.begin();
        x.after(x.t, x.fork, x.s);
        CHECKED(cudaStreamDestroy(x.t));
        EXPECT(x.status() == cudaStreamCaptureStatusActive);
        x.end(cudaSuccess);
        CHECKED(cudaStreamCreate(&x.t));
        x.begin();
        x.after(x.t, x.fork, x.s);
        CHECKED(cudaStreamDestroy(x.s));
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
        CHECKED(cudaStreamIsCapturing(x.t, &status));
        EXPECT(status == cudaStreamCaptureStatusNone);
        CHECKED(cudaMemset(p, 0, 4));
        CHECKED(cudaMalloc(&q, 64));
        CHECKED(cudaFree(q));
        CHECKED(cudaStreamCreate(&x.s));
    }
    {  // calls that wait, or allocate; and the spoilt end
        Streams x;
        int* q;
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(x.s));
        EXPECT(x.status() == cudaStreamCaptureStatusInvalidated);
        addTo<<<1, 1, 0, x.s>>>(p, p, 0);
        EXPECT_CALL(cudaErrorStreamCaptureInvalidated, cudaPeekAtLastError());
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize());
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaMalloc(&q, 64));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaFree(p));
        x.end(cudaErrorStreamCaptureInvalidated);
        CHECKED(cudaEventRecord(x.join, x.s));
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaEventQuery(x.join));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(x.s));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin(cudaStreamCaptureModeRelaxed);
        CHECKED(cudaMalloc(&q, 64));
        CHECKED(cudaFree(q));
        x.end(cudaSuccess);
    }
    {  // the default stream waits for blocking streams alone
        Streams x, free(cudaStreamNonBlocking);
        x.begin();
        addTo<<<1, 1>>>(p, p, 0);
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaPeekAtLastError());
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaMemset(p, 0, 4));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaMemcpy(p, p, 4, cudaMemcpyDeviceToDevice));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaStreamSynchronize(0));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaEventRecord(free.join, 0));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        CHECKED(cudaEventRecord(x.fork, x.s));
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaStreamWaitEvent(0, x.fork, 0));
        x.end(cudaErrorStreamCaptureInvalidated);
        free.begin();
        addTo<<<1, 1>>>(p, p, 0);
        CHECKED(cudaGetLastError());
        free.end(cudaSuccess);
        free.begin();
        free.after(x.t, free.fork, free.s);  // a blocking stream comes in
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaMemset(p, 0, 4));
        free.end(cudaErrorStreamCaptureInvalidated);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
        CHECKED(cudaStreamIsCapturing(0, &status));
        EXPECT(status == cudaStreamCaptureStatusNone);
        EXPECT_CALL(cudaErrorInvalidValue, cudaStreamIsCapturing(x.s, nullptr));
    }
    {  // an event from outside; two captures that meet
        Streams x, y;
        CHECKED(cudaEventRecord(x.fork, x.t));
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(x.s, x.fork, 0));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        y.begin();
        CHECKED(cudaEventRecord(y.fork, y.s));
        EXPECT_CALL(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(x.s, y.fork, 0));
        x.end(cudaErrorStreamCaptureInvalidated);
        y.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        CHECKED(cudaEventRecord(x.fork, x.s));
        EXPECT_CALL(cudaErrorCapturedEvent, cudaEventSynchronize(x.fork));
        EXPECT_CALL(cudaErrorStreamCaptureInvalidated, cudaEventRecord(x.join, x.s));  // spoilt by that
        EXPECT_CALL(cudaErrorInvalidValue, cudaStreamWaitEvent(x.t, x.fork, 0));
        x.end(cudaErrorStreamCaptureInvalidated);
    }
    {  // an event that a capture recorded is a point in time again when it is recorded outside
        Streams x;
        cudaEvent_t before, after;
        float ms = -1.0f;
        CHECKED(cudaEventCreate(&before));
        CHECKED(cudaEventCreate(&after));
        for (cudaEvent_t event : {before, after}) CHECKED(cudaEventRecord(event, x.s));
        for (cudaEvent_t event : {before, after}) {
            x.begin();
            CHECKED(cudaEventRecord(event, x.s));
            x.end(cudaSuccess);
            EXPECT_CALL(cudaErrorInvalidValue, cudaEventSynchronize(event));
            EXPECT_CALL(cudaErrorInvalidValue, cudaStreamWaitEvent(x.t, event, 0));
            EXPECT_CALL(cudaErrorInvalidValue, cudaEventElapsedTime(&ms, before, after));
            CHECKED(cudaEventRecord(event, x.s));
            CHECKED(cudaEventSynchronize(event));
            CHECKED(cudaStreamWaitEvent(x.t, event, 0));
            CHECKED(cudaEventElapsedTime(&ms, before, after));
        }
        CHECKED(cudaEventDestroy(before));
        CHECKED(cudaEventDestroy(after));
    }
    {  // what a recorded list cannot do says so
        Streams x;
        cudaGraphExec_t exec;
        x.begin();
        addTo<<<1, 1, 0, x.s>>>(p, p, 0);
        CHECKED(cudaStreamEndCapture(x.s, &graph));
        EXPECT_CALL(cudaErrorNotSupported, cudaGraphInstantiateWithFlags(&exec, graph, 4));  // launched by a kernel
        CHECKED(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureUnsupported, cudaGraphLaunch(exec, x.s));
        x.end(cudaErrorStreamCaptureInvalidated);
        x.begin();
        EXPECT_CALL(cudaErrorStreamCaptureImplicit, cudaGraphLaunch(exec, 0));
        x.end(cudaErrorStreamCaptureInvalidated);
        CHECKED(cudaGraphExecDestroy(exec));
        CHECKED(cudaGraphDestroy(graph));
    }
    CHECKED(cudaFree(p));
}

int main() {
    memory();
    device();
    streamsAndEvents();
    graphs();
    graphDestroyedWhileItRuns();
    captureOrder();
    streamsOfACapture();
    captureErrors();
    return report();
}
