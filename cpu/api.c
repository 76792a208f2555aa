/*
 * The CUDA Runtime API of the CPU default. Work put into a stream runs at once, so a stream is empty
 * whenever it is asked; under capture it is recorded instead. Calls may come from several threads.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_runtime_api.h"
#include "internal.h"

enum {
    SHARED_BYTES = 48 * 1024,        /* of a block, without asking */
    SHARED_BYTES_OPTIN = 227 * 1024, /* after cudaFuncSetAttribute; a card of compute capability 9.0 */
    MAX_STREAMS = 32                 /* in one capture */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over all tables and objects here */
static __thread cudaError_t last_error;

/* Remembers an error for cudaGetLastError. */
static cudaError_t report(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

cudaError_t cuda_cpu_report(cudaError_t error) { return report(error); }

/* For the ends of functions that hold the lock. */
static cudaError_t unlocked(cudaError_t error) {
    pthread_mutex_unlock(&lock);
    return report(error);
}

const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define CUDA_CPU_ERROR(name, number, text) \
    case name: return #name;
        CUDA_CPU_ERRORS(CUDA_CPU_ERROR)
#undef CUDA_CPU_ERROR
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define CUDA_CPU_ERROR(name, number, text) \
    case name: return text;
        CUDA_CPU_ERRORS(CUDA_CPU_ERROR)
#undef CUDA_CPU_ERROR
    }
    return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

/* ---- Work: what a stream runs and a graph records -------------------------------------------- */

enum work_kind { WORK_KERNEL, WORK_COPY, WORK_SET, WORK_HOST };

struct work {
    enum work_kind kind;
    struct cuda_cpu_launch launch;
    void *to;
    const void *from;
    size_t bytes;
    int byte;
    cudaHostFn_t function;
    void *data;
};

static void run_work(const struct work *work) {
    switch (work->kind) {
    case WORK_KERNEL: cuda_cpu_execute(&work->launch); break;
    case WORK_COPY: memmove(work->to, work->from, work->bytes); break;
    case WORK_SET: memset(work->to, work->byte, work->bytes); break;
    case WORK_HOST: work->function(work->data); break;
    }
}

/* A captured list, shared by the graph and what was instantiated from it. */
struct work_list {
    unsigned references;
    size_t count, room;
    struct work *works;
};

static void release_list(struct work_list *list) {
    if (--list->references) return;
    for (size_t i = 0; i < list->count; i++)
        if (list->works[i].kind == WORK_KERNEL) list->works[i].launch.destroy((void *)(uintptr_t)list->works[i].launch.closure);
    free(list->works);
    free(list);
}

static bool append(struct work_list *list, const struct work *work) {
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        struct work *more = realloc(list->works, room * sizeof *more);
        if (!more) return false;
        list->works = more;
        list->room = room;
    }
    struct work *mine = &list->works[list->count];
    *mine = *work;
    if (work->kind == WORK_KERNEL && !(mine->launch.closure = work->launch.clone(work->launch.closure))) return false;
    list->count++;
    return true;
}

/* ---- Objects: handles are checked against the list of those that live ------------------------- */

enum object_kind { STREAM, EVENT, GRAPH, GRAPH_EXEC };

struct object {
    enum object_kind kind;
    struct object *next;
};
static struct object *objects;

static void *make_object(enum object_kind kind, size_t bytes) {
    struct object *o = calloc(1, bytes);
    if (!o) return NULL;
    o->kind = kind;
    o->next = objects;
    objects = o;
    return o;
}

static bool lives(const void *handle, enum object_kind kind) {
    for (const struct object *o = objects; o; o = o->next)
        if (o == handle) return o->kind == kind;
    return false;
}

static void free_object(void *handle) {
    for (struct object **o = &objects; *o; o = &(*o)->next) {
        if (*o != handle) continue;
        *o = (*o)->next;
        free(handle);
        return;
    }
}

/*
 * Which work of a capture is ordered before which is kept in vector clocks: clock[s] is how much of
 * stream s lies before a point. A capture may end when its first stream is after all of it.
 */
struct clock {
    size_t of[MAX_STREAMS];
};

struct capture {
    struct capture *next;
    unsigned long long number;
    enum cudaStreamCaptureMode mode;
    struct work_list *list;
    bool invalid;
    unsigned stream_count;
    struct cuda_cpu_stream *streams[MAX_STREAMS]; /* the first one is where it began */
    struct clock clocks[MAX_STREAMS];
};
static struct capture *captures;
static unsigned long long capture_number;

struct cuda_cpu_stream {
    struct object object;
    unsigned flags;
    struct capture *capture;
    unsigned index; /* in the capture */
};

struct cuda_cpu_event {
    struct object object;
    unsigned flags;
    bool recorded;
    struct timespec at;
    unsigned long long capture; /* the number of the capture it was last recorded in, or 0 */
    struct clock clock;
};

struct cuda_cpu_graph {
    struct object object;
    struct work_list *list;
};

struct cuda_cpu_graph_exec {
    struct object object;
    struct work_list *list;
};

static struct capture *find_capture(unsigned long long number) {
    struct capture *c = captures;
    while (c && c->number != number) c = c->next;
    return c;
}

/* What it has recorded is the caller's. */
static struct work_list *end_capture(struct capture *c) {
    struct work_list *const list = c->list;
    for (unsigned i = 0; i < c->stream_count; i++) c->streams[i]->capture = NULL;
    struct capture **at = &captures;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    free(c);
    return list;
}

/* A call that a capture forbids also spoils it. Relaxed captures allow it. */
static cudaError_t forbidden_in_capture(void) {
    cudaError_t error = cudaSuccess;
    for (struct capture *c = captures; c; c = c->next) {
        if (c->mode == cudaStreamCaptureModeRelaxed) continue;
        c->invalid = true;
        error = cudaErrorStreamCaptureUnsupported;
    }
    return error;
}

/* The default stream waits for every blocking stream, and so for one that is only being recorded. */
static cudaError_t default_stream_in_capture(void) {
    for (struct capture *c = captures; c; c = c->next) {
        for (unsigned i = 0; i < c->stream_count; i++) {
            if (c->streams[i]->flags & cudaStreamNonBlocking) continue;
            c->invalid = true;
            return cudaErrorStreamCaptureImplicit;
        }
    }
    return cudaSuccess;
}

/* Runs the work, or records it where the stream is being captured. */
static cudaError_t put(cudaStream_t stream, const struct work *work) {
    pthread_mutex_lock(&lock);
    if (!stream) {
        const cudaError_t error = default_stream_in_capture();
        if (error != cudaSuccess) return unlocked(error);
    } else if (!lives(stream, STREAM)) {
        return unlocked(cudaErrorInvalidResourceHandle);
    } else if (stream->capture) {
        struct capture *c = stream->capture;
        if (c->invalid) return unlocked(cudaErrorStreamCaptureInvalidated);
        if (!append(c->list, work)) return unlocked(cudaErrorMemoryAllocation);
        c->clocks[stream->index].of[stream->index]++;
        return unlocked(cudaSuccess);
    }
    pthread_mutex_unlock(&lock);
    run_work(work);
    return cudaSuccess;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static struct shared_limit {
    struct shared_limit *next;
    const void *kernel;
    size_t bytes;
} *shared_limits;

cudaError_t cuda_cpu_set_shared_limit(const void *kernel, size_t bytes) {
    if (bytes > SHARED_BYTES_OPTIN) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    struct shared_limit *l = shared_limits;
    while (l && l->kernel != kernel) l = l->next;
    if (!l) {
        l = malloc(sizeof *l);
        if (!l) return unlocked(cudaErrorMemoryAllocation);
        l->kernel = kernel;
        l->next = shared_limits;
        shared_limits = l;
    }
    l->bytes = bytes;
    return unlocked(cudaSuccess);
}

/* A template kernel launched without its arguments has no address here (null): the largest limit stands for its own. */
static size_t shared_limit(const void *kernel) {
    size_t bytes = SHARED_BYTES;
    pthread_mutex_lock(&lock);
    for (struct shared_limit *l = shared_limits; l; l = l->next)
        if ((!kernel || l->kernel == kernel) && l->bytes > bytes) bytes = l->bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

void cuda_cpu_run(const struct cuda_cpu_launch *launch) {
    const uint3 g = launch->grid, b = launch->block;
    cuda_cpu_refuse_in_kernel();
    if (!g.x || !g.y || !g.z || g.x > 2147483647u || g.y > 65535 || g.z > 65535 || !b.x || !b.y || !b.z || b.x > 1024 ||
        b.y > 1024 || b.z > 64 || b.x * b.y * b.z > 1024) {
        report(cudaErrorInvalidValue); /* as CUDA 13 reports all of these; measured, see README.md */
        return;
    }
    if (launch->shared_bytes > SHARED_BYTES && launch->shared_bytes > shared_limit(launch->kernel)) {
        report(cudaErrorInvalidValue);
        return;
    }
    const struct work work = {.kind = WORK_KERNEL, .launch = *launch};
    put(launch->stream, &work);
}

/* ---- Device ---------------------------------------------------------------------------------- */

cudaError_t cudaGetDeviceCount(int *count) {
    if (!count) return report(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    if (!device) return report(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return report(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
#ifndef _SC_AVPHYS_PAGES
#define _SC_AVPHYS_PAGES _SC_PHYS_PAGES
#endif
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (free_bytes) *free_bytes = page * (size_t)sysconf(_SC_AVPHYS_PAGES);
    if (total_bytes) *total_bytes = page * (size_t)sysconf(_SC_PHYS_PAGES);
    return cudaSuccess;
}

static bool as_a_card;
void cuda_cpu_as_a_card(void) { as_a_card = true; }

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) {
    if (!prop) return report(cudaErrorInvalidValue);
    if (device != 0) return report(cudaErrorInvalidDevice);
    memset(prop, 0, sizeof *prop);
    snprintf(prop->name, sizeof prop->name, "CPU default");
    cudaMemGetInfo(NULL, &prop->totalGlobalMem);
    prop->multiProcessorCount = (int)cuda_cpu_cores();
    prop->warpSize = 32;
    prop->sharedMemPerBlock = SHARED_BYTES;
    prop->sharedMemPerBlockOptin = SHARED_BYTES_OPTIN;
    prop->sharedMemPerMultiprocessor = 228 * 1024;
    prop->maxThreadsPerBlock = 1024;
    prop->maxThreadsPerMultiProcessor = 2048;
    prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = 1024;
    prop->maxThreadsDim[2] = 64;
    prop->maxGridSize[0] = 2147483647;
    prop->maxGridSize[1] = prop->maxGridSize[2] = 65535;
    prop->maxBlocksPerMultiProcessor = 32;
    prop->regsPerBlock = prop->regsPerMultiprocessor = 65536;
    prop->totalConstMem = 65536;
    prop->memPitch = 2147483647;
    prop->textureAlignment = prop->surfaceAlignment = 512;
    prop->texturePitchAlignment = 32;
    prop->clockRate = prop->memoryClockRate = 1000000; /* kHz */
    prop->memoryBusWidth = 64;
    prop->major = as_a_card ? 9 : 0;
    prop->deviceOverlap = prop->asyncEngineCount = prop->unifiedAddressing = prop->managedMemory = 1;
    prop->pageableMemoryAccess = prop->concurrentManagedAccess = 1;
    prop->concurrentKernels = 1;
    prop->integrated = 1;
    prop->canMapHostMemory = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device) {
    struct cudaDeviceProp prop;
    if (!value) return report(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetDeviceProperties(&prop, device);
    if (error != cudaSuccess) return error;
    switch (attr) {
#define CUDA_CPU_ATTRIBUTE(name, number, member) \
    case cudaDevAttr##name: *value = (int)prop.member; return cudaSuccess;
        CUDA_CPU_ATTRIBUTES(CUDA_CPU_ATTRIBUTE)
#undef CUDA_CPU_ATTRIBUTE
    }
    return report(cudaErrorNotSupported);
}

cudaError_t cudaDriverGetVersion(int *version) {
    if (!version) return report(cudaErrorInvalidValue);
    *version = 0; /* no driver */
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    if (!version) return report(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
    pthread_mutex_lock(&lock);
    return unlocked(forbidden_in_capture());
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct allocation {
    struct allocation *next;
    uintptr_t hidden; /* its address, complemented: or LeakSanitizer would find it here, and no missing cudaFree */
    bool host;
};
static void *address_of(const struct allocation *a) { return (void *)~a->hidden; }
static struct allocation *allocations;

static cudaError_t allocate(void **p, size_t bytes, bool host) {
    if (!p) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    const cudaError_t error = forbidden_in_capture();
    if (error != cudaSuccess) return unlocked(error);
    *p = NULL;
    if (bytes == 0) return unlocked(cudaSuccess);
    struct allocation *a = malloc(sizeof *a);
    if (!a || posix_memalign(p, 256, bytes) != 0) {
        free(a);
        return unlocked(cudaErrorMemoryAllocation);
    }
    a->hidden = ~(uintptr_t)*p;
    a->host = host;
    a->next = allocations;
    allocations = a;
    return unlocked(cudaSuccess);
}

static cudaError_t release(void *p, bool host) {
    if (!p) return cudaSuccess;
    pthread_mutex_lock(&lock);
    const cudaError_t error = forbidden_in_capture();
    if (error != cudaSuccess) return unlocked(error);
    for (struct allocation **a = &allocations; *a; a = &(*a)->next) {
        if (address_of(*a) != p || (*a)->host != host) continue;
        struct allocation *gone = *a;
        *a = gone->next;
        free(address_of(gone));
        free(gone);
        return unlocked(cudaSuccess);
    }
    return unlocked(cudaErrorInvalidValue); /* not from cudaMalloc, or freed already */
}

cudaError_t cuda_cpu_malloc(void **p, size_t bytes) { return allocate(p, bytes, false); }
cudaError_t cuda_cpu_malloc_host(void **p, size_t bytes) { return allocate(p, bytes, true); }
cudaError_t cudaFree(void *p) { return release(p, false); }
cudaError_t cudaFreeHost(void *p) { return release(p, true); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) {
    (void)stream;
    return release(p, false);
}

cudaError_t cudaDeviceReset(void) {
    pthread_mutex_lock(&lock);
    for (struct allocation *a = allocations, *next; a; a = next) {
        next = a->next;
        free(address_of(a));
        free(a);
    }
    allocations = NULL;
    return unlocked(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    if ((unsigned)kind > cudaMemcpyDefault) return report(cudaErrorInvalidMemcpyDirection);
    if (bytes == 0) return cudaSuccess;
    if (!to || !from) return report(cudaErrorInvalidValue);
    const struct work work = {.kind = WORK_COPY, .to = to, .from = from, .bytes = bytes};
    return put(stream, &work);
}

cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream) {
    if (bytes == 0) return cudaSuccess;
    if (!p) return report(cudaErrorInvalidValue);
    const struct work work = {.kind = WORK_SET, .to = p, .byte = byte, .bytes = bytes};
    return put(stream, &work);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

cudaError_t cudaMemset(void *p, int byte, size_t bytes) { return cudaMemsetAsync(p, byte, bytes, NULL); }

/* ---- Streams and events ---------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    if (!stream || flags > cudaStreamNonBlocking) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    *stream = make_object(STREAM, sizeof **stream);
    if (!*stream) return unlocked(cudaErrorMemoryAllocation);
    (*stream)->flags = flags;
    return unlocked(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    pthread_mutex_lock(&lock);
    if (!lives(stream, STREAM)) return unlocked(cudaErrorInvalidResourceHandle);
    struct capture *c = stream->capture;
    if (c && stream->index == 0)
        release_list(end_capture(c)); /* the capture goes with the stream where it began */
    else if (c)
        c->streams[stream->index] = c->streams[0]; /* what this one has done stays in the capture */
    free_object(stream);
    return unlocked(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    pthread_mutex_lock(&lock);
    if (stream && !lives(stream, STREAM)) return unlocked(cudaErrorInvalidResourceHandle);
    if (stream && stream->capture) {
        stream->capture->invalid = true;
        return unlocked(cudaErrorStreamCaptureUnsupported);
    }
    return unlocked(stream ? cudaSuccess : default_stream_in_capture());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    if (!function) return report(cudaErrorInvalidValue);
    const struct work work = {.kind = WORK_HOST, .function = function, .data = data};
    return put(stream, &work);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    if (!event || flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming)) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    *event = make_object(EVENT, sizeof **event);
    if (!*event) return unlocked(cudaErrorMemoryAllocation);
    (*event)->flags = flags;
    return unlocked(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    pthread_mutex_lock(&lock);
    if (!lives(event, EVENT)) return unlocked(cudaErrorInvalidResourceHandle);
    free_object(event);
    return unlocked(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    pthread_mutex_lock(&lock);
    if (!lives(event, EVENT) || (stream && !lives(stream, STREAM))) return unlocked(cudaErrorInvalidResourceHandle);
    if (stream && stream->capture) {
        if (stream->capture->invalid) return unlocked(cudaErrorStreamCaptureInvalidated);
        event->capture = stream->capture->number;
        event->clock = stream->capture->clocks[stream->index];
        return unlocked(cudaSuccess);
    }
    const cudaError_t error = stream ? cudaSuccess : default_stream_in_capture();
    if (error != cudaSuccess) return unlocked(error);
    event->capture = 0;
    event->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return unlocked(cudaSuccess);
}

/* An event that a capture recorded last stands for no point in time, and for nothing once the capture is over. */
static cudaError_t captured_event(const struct cuda_cpu_event *event) {
    return find_capture(event->capture) ? cudaErrorCapturedEvent : cudaErrorInvalidValue;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    pthread_mutex_lock(&lock);
    if (!lives(event, EVENT)) return unlocked(cudaErrorInvalidResourceHandle);
    if (event->capture) {
        forbidden_in_capture();
        return unlocked(captured_event(event));
    }
    return unlocked(forbidden_in_capture());
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    pthread_mutex_lock(&lock);
    if (!milliseconds) return unlocked(cudaErrorInvalidValue);
    if (!lives(start, EVENT) || !lives(end, EVENT)) return unlocked(cudaErrorInvalidResourceHandle);
    if (!start->recorded || !end->recorded || (start->flags | end->flags) & cudaEventDisableTiming)
        return unlocked(cudaErrorInvalidResourceHandle);
    if (start->capture) return unlocked(captured_event(start));
    if (end->capture) return unlocked(captured_event(end));
    const double seconds =
        (double)(end->at.tv_sec - start->at.tv_sec) + 1e-9 * (double)(end->at.tv_nsec - start->at.tv_nsec);
    *milliseconds = (float)(1e3 * seconds);
    return unlocked(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    if (flags) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    if (!lives(event, EVENT) || (stream && !lives(stream, STREAM))) return unlocked(cudaErrorInvalidResourceHandle);
    if (!event->capture) { /* what it stands for has run */
        if (stream && stream->capture) {
            stream->capture->invalid = true;
            return unlocked(cudaErrorStreamCaptureIsolation);
        }
        return unlocked(cudaSuccess);
    }
    struct capture *c = find_capture(event->capture);
    if (!c || c->invalid) return unlocked(cudaErrorInvalidValue);
    if (!stream) {
        c->invalid = true;
        return unlocked(cudaErrorStreamCaptureImplicit);
    }
    if (!stream->capture) { /* a fork: the stream joins the capture here */
        if (c->stream_count == MAX_STREAMS) return unlocked(cudaErrorNotSupported);
        stream->capture = c;
        stream->index = c->stream_count;
        c->clocks[stream->index] = event->clock;
        c->streams[c->stream_count++] = stream;
    } else if (stream->capture != c) {
        stream->capture->invalid = c->invalid = true;
        return unlocked(cudaErrorStreamCaptureMerge);
    } else {
        struct clock *mine = &c->clocks[stream->index];
        for (unsigned i = 0; i < MAX_STREAMS; i++)
            if (event->clock.of[i] > mine->of[i]) mine->of[i] = event->clock.of[i];
    }
    return unlocked(cudaSuccess);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    if (!stream) return unlocked(cudaErrorStreamCaptureUnsupported); /* the default stream cannot be captured */
    if (!lives(stream, STREAM)) return unlocked(cudaErrorInvalidResourceHandle);
    if (stream->capture) return unlocked(cudaErrorIllegalState);
    struct capture *c = calloc(1, sizeof *c);
    struct work_list *list = calloc(1, sizeof *list);
    if (!c || !list) {
        free(c);
        free(list);
        return unlocked(cudaErrorMemoryAllocation);
    }
    list->references = 1;
    c->number = ++capture_number;
    c->mode = mode;
    c->list = list;
    c->streams[0] = stream;
    c->stream_count = 1;
    c->next = captures;
    captures = c;
    stream->capture = c;
    stream->index = 0;
    return unlocked(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    if (graph) *graph = NULL;
    pthread_mutex_lock(&lock);
    if (!stream) return unlocked(cudaErrorIllegalState); /* the default stream is never captured */
    if (!lives(stream, STREAM)) return unlocked(cudaErrorInvalidResourceHandle);
    struct capture *c = stream->capture;
    if (!c) return unlocked(cudaErrorIllegalState);
    if (stream->index != 0) {
        c->invalid = true;
        return unlocked(cudaErrorStreamCaptureUnmatched);
    }
    cudaError_t error = c->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    for (unsigned i = 0; i < c->stream_count && error == cudaSuccess; i++)
        if (c->clocks[0].of[i] < c->clocks[i].of[i]) error = cudaErrorStreamCaptureUnjoined;
    struct work_list *list = end_capture(c);
    if (error == cudaSuccess && graph) {
        *graph = make_object(GRAPH, sizeof **graph);
        if (*graph) {
            (*graph)->list = list;
            return unlocked(cudaSuccess);
        }
        error = cudaErrorMemoryAllocation;
    }
    release_list(list);
    return unlocked(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    if (!status) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    if (stream && !lives(stream, STREAM)) return unlocked(cudaErrorInvalidResourceHandle);
    const struct capture *c = stream ? stream->capture : NULL;
    *status = !c           ? cudaStreamCaptureStatusNone
              : c->invalid ? cudaStreamCaptureStatusInvalidated
                           : cudaStreamCaptureStatusActive;
    return unlocked(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    if (!count) return report(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    if (!lives(graph, GRAPH)) return unlocked(cudaErrorInvalidValue);
    if (nodes) /* a node's handle is its place in the list; nothing takes one */
        for (size_t i = 0; i < *count; i++)
            nodes[i] = i < graph->list->count ? (cudaGraphNode_t)(void *)&graph->list->works[i] : NULL;
    *count = graph->list->count;
    return unlocked(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    if (!exec) return report(cudaErrorInvalidValue);
    *exec = NULL;
    if (flags > cudaGraphInstantiateFlagAutoFreeOnLaunch) return report(cudaErrorNotSupported);
    pthread_mutex_lock(&lock);
    if (!lives(graph, GRAPH)) return unlocked(cudaErrorInvalidValue);
    *exec = make_object(GRAPH_EXEC, sizeof **exec);
    if (!*exec) return unlocked(cudaErrorMemoryAllocation);
    (*exec)->list = graph->list;
    graph->list->references++;
    return unlocked(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    pthread_mutex_lock(&lock);
    if (!lives(exec, GRAPH_EXEC)) return unlocked(cudaErrorInvalidValue);
    if (stream && !lives(stream, STREAM)) return unlocked(cudaErrorInvalidResourceHandle);
    if (stream && stream->capture) { /* a graph in a graph */
        stream->capture->invalid = true;
        return unlocked(cudaErrorStreamCaptureUnsupported);
    }
    const cudaError_t error = stream ? cudaSuccess : default_stream_in_capture();
    if (error != cudaSuccess) return unlocked(error);
    struct work_list *list = exec->list;
    list->references++; /* another thread may destroy the graph meanwhile */
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < list->count; i++) run_work(&list->works[i]);
    pthread_mutex_lock(&lock);
    release_list(list);
    return unlocked(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    pthread_mutex_lock(&lock);
    if (!lives(graph, GRAPH)) return unlocked(cudaErrorInvalidValue);
    release_list(graph->list);
    free_object(graph);
    return unlocked(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    pthread_mutex_lock(&lock);
    if (!lives(exec, GRAPH_EXEC)) return unlocked(cudaErrorInvalidValue);
    release_list(exec->list);
    free_object(exec);
    return unlocked(cudaSuccess);
}
