/*
 * A device that is watched, and may have a flaw: stands between a program and the CPU default.
 *
 * tools/judge.sh builds the runtime's objects once more with the calls below renamed (-DcudaMemcpy=unwatched_cudaMemcpy
 * ...), so that a program finds these here instead; no option of a linker is needed. In the environment of a run:
 *   WATCH_MULTIPROCESSORS=N   how many the device reports
 *   WATCH_LOG=FILE            a line per call is added to it: `launch NAME GRIDxBLOCK`, `record EVENT`, `synchronize`,
 *                             `copy KIND BYTES`, `read time`; EVENT counts from 1 in the order of first use
 *   WATCH_FLAW=KIND           what the host reads of the device is off: copies to the host of 4 bytes and more, from the
 *                             first launch on that is not the one in each lesson's head. `Third`: copies of one size are
 *                             counted, and each number 1, 4, 7, ... is meant; so one run of many differs from the others.
 *     bit     the lowest bit of the last 8 bytes (of all, where there are fewer) is flipped; third
 *     every   the same in every copy
 *     partial the same in copies of more than 8 bytes: of an array, and of no single value; third
 *     low     the lowest bit of the last 4 bytes, a float's or that of a pair's low limb; third
 *     far     of the first float the bit worth 2^-15 of 1.0; third
 *     near    of the first float the bit worth 2^-10 of 1.0; of the first double the same; every copy
 *     close   of the first float the bit worth 2^-17 of 1.0; every copy
 *     nan     the last 8 bytes (or 4) are ones, which is NaN in every type; every copy
 *     one     the last 4 bytes are 1.0f; every copy
 *     clock   every time between two events is 0
 *     blank   no kernel runs but the head's, and a time is 1 ms: so the lesson's own size costs nothing. What is copied
 *             is all ones, NaN in every type
 *     flat    the same, but the floats that are copied are 1600 and 1616 in turn. 2^17 of them have the sum, exact in
 *             float, of which fpmp_pi makes a pi of 3.5 digits, more than its limits for float allow; of other types
 *             the number is far off
 * The variables are taken out of the environment before the program's main, which has no business with them.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime_api.h"
#include "internal.h"

cudaError_t unwatched_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t unwatched_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t unwatched_cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
cudaError_t unwatched_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
cudaError_t unwatched_cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t unwatched_cudaEventSynchronize(cudaEvent_t event);
cudaError_t unwatched_cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t unwatched_cudaDeviceSynchronize(void);
cudaError_t unwatched_cudaStreamSynchronize(cudaStream_t stream);
void unwatched_cuda_cpu_run(const struct cuda_cpu_launch *launch);

enum { SIZES = 256, EVENTS = 256 };

static char flaw[16];
static int multiprocessors;
static int still;    /* does no kernel run but the head's? */
static int computed; /* has a kernel been launched that is not the head's probe? */
static FILE *calls;

__attribute__((constructor)) static void read_settings(void) {
    const char *kind = getenv("WATCH_FLAW");
    const char *count = getenv("WATCH_MULTIPROCESSORS");
    const char *path = getenv("WATCH_LOG");

    if (kind) snprintf(flaw, sizeof flaw, "%s", kind);
    still = !strcmp(flaw, "blank") || !strcmp(flaw, "flat");
    if (count) multiprocessors = atoi(count);
    /* Line by line: a program may end in any way. */
    if (path && (calls = fopen(path, "ae"))) setvbuf(calls, NULL, _IOLBF, 0);
    unsetenv("WATCH_FLAW");
    unsetenv("WATCH_MULTIPROCESSORS");
    unsetenv("WATCH_LOG");
}

/* ---- The flaw --------------------------------------------------------------------------------- */

/* How many copies of this many bytes were there before? */
static unsigned long number_of_copy(size_t bytes) {
    static struct {
        size_t bytes;
        unsigned long copies;
    } of[SIZES];
    int i = 0;

    while (i < SIZES - 1 && of[i].bytes != bytes && of[i].copies) i++;
    of[i].bytes = bytes;
    return of[i].copies++;
}

static void flip(unsigned char *to, size_t bytes, size_t bit) {
    if (bit / 8 < bytes) to[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static void damage(unsigned char *to, size_t bytes) {
    const size_t tail = bytes < 8 ? bytes : 8;
    const float one = 1.0f;

    if (!*flaw || bytes < 4 || !computed) return;
    if (!strcmp(flaw, "blank")) memset(to, 0xff, bytes);
    if (!strcmp(flaw, "flat")) {
        const float turns[] = {1600.0f, 1616.0f};

        for (size_t at = 0; at < bytes; at++) to[at] = ((const unsigned char *)turns)[at % sizeof turns];
    }
    if (!strcmp(flaw, "nan")) memset(to + bytes - tail, 0xff, tail);
    if (!strcmp(flaw, "one")) memcpy(to + bytes - sizeof one, &one, sizeof one);
    if (!strcmp(flaw, "every")) flip(to, bytes, 8 * (bytes - tail));
    if (!strcmp(flaw, "near")) {
        flip(to, bytes, 13);      /* of a float's 23 bits of fraction */
        flip(to, bytes, 32 + 10); /* of a double's 52; in an array of floats 2^-13 of the second */
    }
    if (!strcmp(flaw, "close")) flip(to, bytes, 6);
    if (number_of_copy(bytes) % 3 != 1) return;
    if (!strcmp(flaw, "bit") || (!strcmp(flaw, "partial") && bytes > 8)) flip(to, bytes, 8 * (bytes - tail));
    if (!strcmp(flaw, "low")) flip(to, bytes, 8 * (bytes - 4));
    if (!strcmp(flaw, "far")) flip(to, bytes, 8);
}

/* ---- The calls -------------------------------------------------------------------------------- */

static const char *name_of_kind(enum cudaMemcpyKind kind) {
    switch (kind) {
    case cudaMemcpyHostToHost: return "HostToHost";
    case cudaMemcpyHostToDevice: return "HostToDevice";
    case cudaMemcpyDeviceToHost: return "DeviceToHost";
    case cudaMemcpyDeviceToDevice: return "DeviceToDevice";
    case cudaMemcpyDefault: return "Default";
    }
    return "none";
}

static cudaError_t copied(cudaError_t error, void *to, size_t bytes, enum cudaMemcpyKind kind) {
    if (calls) fprintf(calls, "copy %s %zu\n", name_of_kind(kind), bytes);
    if (error == cudaSuccess && kind == cudaMemcpyDeviceToHost) damage(to, bytes);
    return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return copied(unwatched_cudaMemcpy(to, from, bytes, kind), to, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copied(unwatched_cudaMemcpyAsync(to, from, bytes, kind, stream), to, bytes, kind);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) {
    const cudaError_t error = unwatched_cudaGetDeviceProperties(prop, device);

    if (error == cudaSuccess && multiprocessors > 0) prop->multiProcessorCount = multiprocessors;
    return error;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device) {
    const cudaError_t error = unwatched_cudaDeviceGetAttribute(value, attr, device);

    if (error == cudaSuccess && multiprocessors > 0 && attr == cudaDevAttrMultiProcessorCount) *value = multiprocessors;
    return error;
}

static int number_of_event(cudaEvent_t event) {
    static cudaEvent_t seen[EVENTS];
    int i = 0;

    while (i < EVENTS - 1 && seen[i] && seen[i] != event) i++;
    seen[i] = event;
    return i + 1;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (calls) fprintf(calls, "record %d\n", number_of_event(event));
    return unwatched_cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (calls) fprintf(calls, "synchronize\n");
    return unwatched_cudaEventSynchronize(event);
}

cudaError_t cudaDeviceSynchronize(void) {
    if (calls) fprintf(calls, "synchronize\n");
    return unwatched_cudaDeviceSynchronize();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (calls) fprintf(calls, "synchronize\n");
    return unwatched_cudaStreamSynchronize(stream);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    const cudaError_t error = unwatched_cudaEventElapsedTime(milliseconds, start, end);

    if (calls) fprintf(calls, "read time\n");
    if (error == cudaSuccess && !strcmp(flaw, "clock")) *milliseconds = 0;
    if (error == cudaSuccess && still) *milliseconds = 1;
    return error;
}

void cuda_cpu_run(const struct cuda_cpu_launch *launch) {
    const uint3 g = launch->grid, b = launch->block;

    if (calls)
        fprintf(calls, "launch %s %llux%u\n", launch->name ? launch->name : "?",
                (unsigned long long)g.x * g.y * g.z, b.x * b.y * b.z);
    if (!launch->name || strcmp(launch->name, "probeContraction") != 0) computed = 1;
    if (still && computed) return;
    unwatched_cuda_cpu_run(launch);
}
