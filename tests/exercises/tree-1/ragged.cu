// deviceTree at ragged sizes against the definition, which is written out here once more; of bits that are
// wrong it says what the absent slots were taken for.
#include <cuda_runtime.h>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define CANONICAL_TREE_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

enum Absent { kAbsent, kPlusZero, kMinusZero, kLastSample };

// The tree over x by the definition, or with the absent slots of the last leaf filled up.
template <class Op, class T>
static T definition(Op op, std::vector<T> x, Absent absent) {
    if (absent != kAbsent) {
        const T filling = absent == kLastSample ? x.back() : absent == kPlusZero ? T(0) : (T)-0.0;
        while (x.size() % 256 != 0) x.push_back(filling);
    }
    std::vector<T> node;
    for (size_t first = 0; first < x.size(); first += 256) {
        const size_t count = std::min<size_t>(256, x.size() - first);
        std::vector<T> slot;
        for (size_t t = 0; t < count; ++t) slot.push_back(op.sample(x[first + t]));
        for (size_t stride = 128; stride > 0; stride /= 2)
            for (size_t t = 0; t < stride && t + stride < count; ++t) slot[t] = op(slot[t], slot[t + stride]);
        node.push_back(slot[0]);
    }
    while (node.size() > 1) {
        std::vector<T> parent;
        for (size_t i = 0; i + 1 < node.size(); i += 2) parent.push_back(op(node[i], node[i + 1]));
        if (node.size() % 2 != 0) parent.push_back(node.back());
        node = parent;
    }
    return node[0];
}

constexpr size_t kMost = 1100;
// The samples end where readable memory ends.
static unsigned char* g_end;
static char g_input[200];
static void readPastTheEnd(int) {
    char line[300];
    const int length = snprintf(line, sizeof line, "%s|a thread reads or writes past the last sample\n", g_input);
    if (write(1, line, (size_t)length) < 0) _exit(2);
    _exit(1);
}
static void* g_in;
static void *g_work0, *g_work1, *g_result;

template <class Op, class T>
static void check(Op op, const std::vector<T>& x, const char* what) {
    T result = T();
    snprintf(g_input, sizeof g_input, "%s, n = %zu", what, x.size());
    g_in = g_end - sizeof(T) * x.size();
    memcpy(g_in, x.data(), sizeof(T) * x.size());
    const char* error = deviceTree(op, (const T*)g_in, x.size(), (const T*)nullptr, (T*)g_work0, (T*)g_work1, kMost,
                                   (T*)g_result, (cudaStream_t)0);
    CUDA_CHECK(cudaMemcpy(&result, g_result, sizeof result, cudaMemcpyDeviceToHost));
    if (error != nullptr) {
        printf("%s, n = %zu|deviceTree refuses: %s\n", what, x.size(), error);
        exit(1);
    }
    const unsigned long long got = canonicalBits(result), want = canonicalBits(definition(op, x, kAbsent));
    if (got == want) return;
    const char* because = "";
    if (got == canonicalBits(definition(op, x, kLastSample))) because = ", as if the last sample filled the leaf up";
    if (got == canonicalBits(definition(op, x, kMinusZero))) because = ", as if -0.0 filled the leaf up";
    if (got == canonicalBits(definition(op, x, kPlusZero))) because = ", as if +0.0 filled the leaf up";
    printf("%s, n = %zu|the device gives 0x%llx, the definition 0x%llx%s\n", what, x.size(), got, want, because);
    exit(1);
}
template <class Op, class T = TypeOf<Op>>
static std::vector<T> samples(Op, size_t n) {
    std::vector<T> x;
    for (size_t i = 0; i < n; ++i) x.push_back(sampleAt<T>(i));
    return x;
}

int main() {
    const size_t room = 65536;  // whole pages on every machine
    g_end = (unsigned char*)mmap(nullptr, 2 * room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g_end == MAP_FAILED) return 2;
    g_end += room;
    if (mprotect(g_end, room, PROT_NONE) != 0) return 2;
    for (void** buffer : {&g_work0, &g_work1, &g_result}) CUDA_CHECK(cudaMalloc(buffer, kMost * 8));
    struct sigaction action = {};
    action.sa_handler = readPastTheEnd;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
    std::vector<size_t> sizes;
    for (size_t n = 1; n <= 513; ++n) sizes.push_back(n);
    for (size_t n = 520; n <= kMost; n += 29) sizes.push_back(n);
    for (size_t n : sizes) check(Sum<float>(), std::vector<float>(n, -0.0f), "the sum of -0.0 alone");
    for (size_t n : sizes) {
        check(Sum<float>(), samples(Sum<float>(), n), "the float sum of the lesson's samples");
        check(Difference<float>(), samples(Difference<float>(), n), "a - b over the lesson's samples");
        check(Max<float>(), std::vector<float>(n, -2.0f), "max of -2 alone");
        check(All<float>(), std::vector<float>(n, 2.0f), "all of 2 alone");
        check(Mix(), samples(Mix(), n), "the mix of the lesson's integers");
        check(Sum<double>(), samples(Sum<double>(), n), "the double sum of the lesson's samples");
    }
    return checkIsDone();
}
