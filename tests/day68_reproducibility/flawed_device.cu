// The whole lesson on a device with one flaw: what do its gates and its last lines say? FLAW names it:
//   list              no flaw; each runtime call on stderr, "call NUMBER LINE NAME"
//   call N CODE       runtime call N answers with this error
//   launch N          an impossible launch follows runtime call N, as if the lesson's own were one
//   bit R             the total of each series' run R (0, 1, ...) is read with its lowest bit flipped
//   times R FACTOR    or multiplied by FACTOR, which may be nan
//   partial R         or the last partial is read with its lowest bit flipped
//   samples           after every run a sample changes, so that no two runs have one total
//   memory            the host has no memory left
//   full              what is printed up to the first total is lost, as on a disk that was full for a while
#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static char g_kind[16];  // of the flaw
static int g_at;
static double g_value;
static char* volatile g_memory;

static bool flawIs(const char* kind) { return strcmp(g_kind, kind) == 0; }

__global__ void nothing() {}

// Every runtime call of the lesson passes through here with its result.
static cudaError_t answer(cudaError_t err, int line, const char* name) {
    static int calls;
    if (++calls == 1) {
        const char* flaw = getenv("FLAW");
        if (flaw) sscanf(flaw, "%15s %d %lf", g_kind, &g_at, &g_value);
    }
    if (flawIs("list")) fprintf(stderr, "call %d %d %s\n", calls, line, name);
    if (flawIs("memory")) g_memory = new char[SIZE_MAX / 4];
    if (flawIs("launch") && calls == g_at) nothing<<<1, 2048>>>();
    if (flawIs("call") && calls == g_at) return (cudaError_t)(int)g_value;
    return err;
}

static void flipLowestBit(void* number) { *(unsigned char*)number ^= 1; }

static void loseOutput() {
    const int out = dup(STDOUT_FILENO);
    const int full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(full);
    close(out);
}

// RUNS is at most 5, so every series has as many. Read are, in this order: the head's probe, the
// threads' sums, and after each run the partials, if it has some, and the total.
static cudaError_t flawedCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    static void* samples[2];
    static int inputs;
    static int totals;
    const cudaError_t err = cudaMemcpy(to, from, bytes, kind);
    if (kind == cudaMemcpyHostToDevice) samples[inputs++] = to;
    if (kind == cudaMemcpyHostToDevice || inputs < 2 || bytes > 2048 * sizeof(float)) return err;
    const bool now = totals % RUNS == g_at;
    if (bytes > sizeof(float)) {
        if (now && flawIs("partial")) flipLowestBit((char*)to + bytes - sizeof(float));
        return err;
    }
    if (now && flawIs("bit")) flipLowestBit(to);
    if (now && flawIs("times")) *(float*)to *= (float)g_value;
    if (totals == 0 && flawIs("full")) loseOutput();
    ++totals;
    if (!flawIs("samples")) return err;
    const float sample = 1.0f + 8.0f * totals;
    for (void* p : samples) cudaMemcpy(p, &sample, sizeof sample, cudaMemcpyHostToDevice);
    return err;
}

#define cudaGetDevice(...) answer(cudaGetDevice(__VA_ARGS__), __LINE__, "cudaGetDevice")
#define cudaGetDeviceProperties(...) \
    answer(cudaGetDeviceProperties(__VA_ARGS__), __LINE__, "cudaGetDeviceProperties")
#define cudaMalloc(...) answer(cudaMalloc(__VA_ARGS__), __LINE__, "cudaMalloc")
#define cudaMemset(...) answer(cudaMemset(__VA_ARGS__), __LINE__, "cudaMemset")
#define cudaMemcpy(...) answer(flawedCopy(__VA_ARGS__), __LINE__, "cudaMemcpy")
#define cudaFree(...) answer(cudaFree(__VA_ARGS__), __LINE__, "cudaFree")
#define cudaGetLastError() answer(cudaGetLastError(), __LINE__, "cudaGetLastError")
#include "../../day68_reproducibility/reproducibility.cu"

static_assert(RUNS <= 5 && BLOCKS * kThreads > 2048, "see flawedCopy");
