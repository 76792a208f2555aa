// Included by the CPU default's test programs, whose kernels run as host code and may report by
// themselves: EXPECT(condition) anywhere, and report() at the end.
#include <cuda_runtime.h>

#include <cstdio>

static int g_failures;

static void expect(bool ok, const char* what, const char* file, int line) {
    if (ok) return;
    // A wrong runtime fails in every thread; a few lines tell as much.
    if (__atomic_add_fetch(&g_failures, 1, __ATOMIC_RELAXED) <= 20)
        fprintf(stderr, "%s:%d: %s\n", file, line, what);
}
#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define EXPECT_CALL(want, ...) expectCall(want, __VA_ARGS__, #__VA_ARGS__, __FILE__, __LINE__)
#define CHECKED(...) EXPECT_CALL(cudaSuccess, __VA_ARGS__)

// The call's own result and, where it failed, what cudaGetLastError keeps of it.
static void expectCall(cudaError_t want, cudaError_t got, const char* call, const char* file, int line) {
    if (got == want && cudaGetLastError() == want) return;
    __atomic_add_fetch(&g_failures, 1, __ATOMIC_RELAXED);
    fprintf(stderr, "%s:%d: %s: got %s, want %s\n", file, line, call, cudaGetErrorName(got), cudaGetErrorName(want));
}

static int report() {
    if (g_failures) fprintf(stderr, "%d failure(s)\n", g_failures);
    return g_failures != 0;
}
