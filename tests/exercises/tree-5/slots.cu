// Max by itself, on all pairs of the values that decide, and in trees with a NaN or a zero in every slot: on the
// host, on the device, in chunks.
#include <cuda_runtime.h>

#include <limits>

#define CANONICAL_TREE_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

template <class T>
static const char* spelled(T x, char* text) {
    if (x != x) return "NaN";
    snprintf(text, 40, x == 0 && std::signbit(x) ? "-0.0" : "%.9g", (double)x);
    return strcmp(text, "0") == 0 ? "+0.0" : text;
}

// What max is: NaN if one is there, else the larger one, -0.0 below +0.0.
template <class T>
static T wanted(T a, T b) {
    if (a != a || b != b) return (T)NAN;
    if (a == b) return std::signbit(a) ? b : a;
    return b < a ? a : b;
}
template <class T>
static void isMax(T a, T b, T got, const char* type, const char* where) {
    const T want = wanted(a, b);
    char texts[4][40];
    if (canonicalBits(got) == canonicalBits(want)) return;
    printf("%s, max(%s, %s)%s|it is %s, and must be %s\n", type, spelled(a, texts[0]), spelled(b, texts[1]), where,
           spelled(got, texts[2]), spelled(want, texts[3]));
    exit(1);
}

template <class T>
__global__ void onDevice(const T* in, int count, T* out) {
    const int i = threadIdx.x;
    for (int j = 0; j < count; ++j) out[i * count + j] = Max<T>()(in[i], in[j]);
}
template <class T>
static void pairsOf(const char* type) {
    const T tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max();
    const std::vector<T> x = {(T)NAN, 0, (T)-0.0, 1, -1, 2, -2, tiny, -tiny, huge, -huge, (T)INFINITY, (T)-INFINITY, (T)-NAN};
    const int count = (int)x.size();
    std::vector<T> out(count * count);
    T *in, *result;
    CUDA_CHECK(cudaMalloc(&in, sizeof(T) * count));
    CUDA_CHECK(cudaMalloc(&result, sizeof(T) * out.size()));
    CUDA_CHECK(cudaMemcpy(in, x.data(), sizeof(T) * count, cudaMemcpyHostToDevice));
    onDevice<T><<<1, count>>>(in, count, result);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), result, sizeof(T) * out.size(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            isMax(x[i], x[j], Max<T>()(x[i], x[j]), type, "");
            isMax(x[i], x[j], out[i * count + j], type, " on the device");
        }
}

constexpr size_t kMost = 300;
static void *g_in, *g_work0, *g_work1, *g_result;

// The maximum of x in three schedules: the host tree, the device, chunks of one leaf.
template <class T>
static void trees(const std::vector<T>& x, const char* type, const char* what, size_t slot, T want) {
    const Max<T> op;
    const auto in = [&x](size_t i) { return x[i]; };
    std::vector<T> work(16);
    T result[3] = {};
    const char* names[] = {"host tree", "device tree", "chunks of 256"};
    hostTree(op, in, x.size(), (const T*)nullptr, work.data(), work.size(), &result[0], (int*)nullptr);
    CUDA_CHECK(cudaMemcpy(g_in, x.data(), sizeof(T) * x.size(), cudaMemcpyHostToDevice));
    deviceTree(op, (const T*)g_in, x.size(), (const T*)nullptr, (T*)g_work0, (T*)g_work1, kMost, (T*)g_result, (cudaStream_t)0);
    CUDA_CHECK(cudaMemcpy(&result[1], g_result, sizeof(T), cudaMemcpyDeviceToHost));
    chunkedTree(op, in, x.size(), (size_t)256, (const T*)nullptr, work.data(), work.size(), &result[2]);
    char texts[2][40];
    for (int i = 0; i < 3; ++i)
        if (canonicalBits(result[i]) != canonicalBits(want)) {
            printf("%s, %s in slot %zu of %zu, %s|max is %s, and must be %s\n", type, what, slot, x.size(), names[i],
                   spelled(result[i], texts[0]), spelled(want, texts[1]));
            exit(1);
        }
}
template <class T>
static void slotsOf(const char* type) {
    for (size_t slot = 0; slot < kMost; ++slot) {
        std::vector<T> x(kMost, (T)-0.0);
        x[slot] = 0;
        trees(x, type, "+0.0 among -0.0s", slot, T(0));
        x[slot] = (T)NAN;
        trees(x, type, "NaN among -0.0s", slot, (T)NAN);
        x.assign(kMost, -3);
        x[slot] = -2;
        trees(x, type, "-2 among -3s", slot, T(-2));
        x[slot] = (T)NAN;
        x[(slot + 77) % kMost] = (T)INFINITY;
        trees(x, type, "NaN beside an infinity", slot, (T)NAN);
    }
}

int main() {
    for (void** buffer : {&g_in, &g_work0, &g_work1, &g_result}) CUDA_CHECK(cudaMalloc(buffer, kMost * 8));
    pairsOf<float>("float");
    pairsOf<double>("double");
    slotsOf<float>("float");
    slotsOf<double>("double");
    const unsigned long long high = ~0ULL, low = 1;
    if (Max<unsigned long long>()(high, low) != high || Max<unsigned long long>()(low, high) != high) {
        puts("64-bit integers, max(1, 2^64 - 1)|the larger one is not taken");
        return 1;
    }
    return checkIsDone();
}
