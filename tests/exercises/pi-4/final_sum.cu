// Runs the handed-in program and works out the last sum of its own partials in the type, in double and in
// other types: what the printed value was summed in.
#include <cuda_runtime.h>

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define main submittedMain
#include SUBMISSION
#undef main

#include "check_is_done.h"

[[noreturn]] static void wrong(const char* format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    exit(1);
}

static FILE* g_table;

// The value that the program printed for a type.
static double printed(const char* type) {
    char line[400], name[40];
    double value;
    rewind(g_table);
    while (fgets(line, sizeof line, g_table) != nullptr)
        if (strstr(line, " 0x") != nullptr && sscanf(line, "%39s %lf", name, &value) == 2 && strcmp(name, type) == 0) return value;
    wrong("2^%d terms, %s|there is no row for it in the table", kLog2Terms, type);
}

template <class Sum, class T>
static Sum to(const T& x) {
    if constexpr (std::is_same_v<Sum, float>) return (float)(double)x;  // a pair does not become a float
    else return static_cast<Sum>(x);
}
template <class Sum, class T>
static double sumIn(const std::vector<T>& partials) {
    Sum total = static_cast<Sum>(0.0f);
    for (const T& partial : partials) total = total + to<Sum>(partial);
    return static_cast<double>(total) * kStep;
}

template <class T>
static void check(const char* type) {
    std::vector<T> partials(kPartials);
    T* device;
    CUDA_CHECK(cudaMalloc(&device, sizeof(T) * kPartials));
    sumTerms<T><<<kBlocks, kThreads>>>(device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(partials.data(), device, sizeof(T) * kPartials, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    const double value = printed(type), own = sumIn<T>(partials);
    if (value == own) return;
    const char* summedIn = "is not the sum of the partials in the type itself";
    if (value == sumIn<double>(partials)) summedIn = "is what a sum in double gives";
    if (value == sumIn<float>(partials)) summedIn = "is what a sum in float gives";
    if (value == sumIn<float_pair_high>(partials)) summedIn = "is what a sum in float_pair_high gives";
    if (value == sumIn<float_pair_mid>(partials)) summedIn = "is what a sum in float_pair_mid gives";
    wrong("2^%d terms, %s|the value %.17g %s; in the type it is %.17g", kLog2Terms, type, value, summedIn, own);
}

int main() {
    char name[] = "fpmp_pi", *arguments[] = {name, nullptr};
    g_table = tmpfile();
    const int out = dup(1);
    fflush(stdout);
    dup2(fileno(g_table), 1);
    submittedMain(1, arguments);
    fflush(stdout);
    dup2(out, 1);
    check<float_pair_low>("float_pair_low");
    check<double>("double");
    check<float>("float");
    check<float_pair_mid>("float_pair_mid");
    check<float_pair_high>("float_pair_high");
    check<double_pair>("double_pair");
    return checkIsDone();
}
