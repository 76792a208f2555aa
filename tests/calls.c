/*
 * Stands between a program and the CPU default, for tests/calls.bats: a program that is built with -DNAME=seen_NAME
 * for each call below finds these here. In the environment of a run:
 *   CALLS=FILE    a line per call: `launch NUMBER NAME`, `record EVENT`, `synchronize EVENT`, `time START STOP`, and
 *                 `make KIND` and `free KIND` for memory, host memory, streams, events, graphs and executable graphs
 *   REFUSE=N      launch N, counted from 1, asks for a block of 2,048 threads: it is refused, and nothing runs
 *   TIMES='7 1'   what cudaEventElapsedTime gives, one number after the other; after the last one, what it measured
 */
#include <stdio.h>
#include <stdlib.h>

#include "cuda_runtime_api.h"
#include "engine.h"

static FILE *calls;
static int refused;
static char *times;

__attribute__((constructor)) static void read_settings(void) {
    const char *path = getenv("CALLS");
    const char *number = getenv("REFUSE");

    if (path && (calls = fopen(path, "w"))) setvbuf(calls, NULL, _IOLBF, 0);
    if (number) refused = atoi(number);
    times = getenv("TIMES");
}

/* ---- What is made and freed -------------------------------------------------------------------- */

static cudaError_t note(const char *what, const char *kind, cudaError_t error) {
    if (calls && error == cudaSuccess) fprintf(calls, "%s %s\n", what, kind);
    return error;
}

cudaError_t seen_cuda_cpu_malloc(void **p, size_t bytes) { return note("make", "memory", cuda_cpu_malloc(p, bytes)); }
cudaError_t seen_cudaFree(void *p) { return p ? note("free", "memory", cudaFree(p)) : cudaFree(p); }
cudaError_t seen_cuda_cpu_malloc_host(void **p, size_t bytes) { return note("make", "host memory", cuda_cpu_malloc_host(p, bytes)); }
cudaError_t seen_cudaFreeHost(void *p) { return p ? note("free", "host memory", cudaFreeHost(p)) : cudaFreeHost(p); }
cudaError_t seen_cudaStreamCreate(cudaStream_t *stream) { return note("make", "stream", cudaStreamCreate(stream)); }
cudaError_t seen_cudaStreamDestroy(cudaStream_t stream) { return note("free", "stream", cudaStreamDestroy(stream)); }
cudaError_t seen_cudaEventCreate(cudaEvent_t *event) { return note("make", "event", cudaEventCreate(event)); }
cudaError_t seen_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    return note("make", "event", cudaEventCreateWithFlags(event, flags));
}
cudaError_t seen_cudaEventDestroy(cudaEvent_t event) { return note("free", "event", cudaEventDestroy(event)); }
cudaError_t seen_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    return note("make", "graph", cudaStreamEndCapture(stream, graph));
}
cudaError_t seen_cudaGraphDestroy(cudaGraph_t graph) { return note("free", "graph", cudaGraphDestroy(graph)); }
cudaError_t seen_cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    return note("make", "executable graph", cudaGraphInstantiateWithFlags(exec, graph, flags));
}
cudaError_t seen_cudaGraphExecDestroy(cudaGraphExec_t exec) { return note("free", "executable graph", cudaGraphExecDestroy(exec)); }

/* ---- Launches and times ------------------------------------------------------------------------ */

void seen_cuda_cpu_run(const struct cuda_cpu_launch *launch) {
    static int launches;
    struct cuda_cpu_launch larger = *launch;

    launches++;
    if (calls) fprintf(calls, "launch %d %s\n", launches, launch->name);
    if (launches == refused) larger.block.x = 2048;
    cuda_cpu_run(&larger);
}

/* Events are numbered in the order of their first use. */
static int number_of(cudaEvent_t event) {
    static cudaEvent_t seen[64];
    int i = 0;

    while (i < 63 && seen[i] && seen[i] != event) i++;
    seen[i] = event;
    return i + 1;
}

cudaError_t seen_cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (calls) fprintf(calls, "record %d\n", number_of(event));
    return cudaEventRecord(event, stream);
}

cudaError_t seen_cudaEventSynchronize(cudaEvent_t event) {
    if (calls) fprintf(calls, "synchronize %d\n", number_of(event));
    return cudaEventSynchronize(event);
}

cudaError_t seen_cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    const cudaError_t error = cudaEventElapsedTime(milliseconds, start, stop);

    if (calls) fprintf(calls, "time %d %d\n", number_of(start), number_of(stop));
    if (error == cudaSuccess && times && *times) *milliseconds = strtof(times, &times);
    return error;
}
