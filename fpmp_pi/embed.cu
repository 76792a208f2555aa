// What a pair of floats is made of: a sum and a product, each with what its rounding lost.
// Their bits are the same in both builds; those of the plain x*x + y are not.
//
//   nvcc -std=c++17 -O2 embed.cu            and            nvcc -std=c++17 -O2 -fmad=false embed.cu
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// s + e = a + b exactly, in six additions (Knuth). Nothing here is a product: no step can be fused.
__device__ void twoSum(float a, float b, float* s, float* e) {
    *s = a + b;
    const float bPart = *s - a;
    const float aPart = *s - bPart;
    *e = (a - aPart) + (b - bPart);
}

// p + e = a * b exactly: a*b - p fits a float, and the FMA rounds once.
__device__ void twoProduct(float a, float b, float* p, float* e) {
    *p = __fmul_rn(a, b);  // never fused with what uses it
    *e = __fmaf_rn(a, b, -*p);
}

__global__ void compute(float x, float y, float* out) {
    twoSum(x, y, &out[0], &out[1]);
    twoProduct(x, x, &out[2], &out[3]);
    out[4] = x * x + y;           // one rounding where the compiler contracts it, else two
    out[5] = __fmaf_rn(x, x, y);  // always one
}

static void check(cudaError_t err) {
    if (err == cudaSuccess) return;
    const bool noDevice = err == cudaErrorNoDevice || err == cudaErrorInsufficientDriver;
    fprintf(stderr, "%s\n", noDevice ? "skipped: no usable CUDA device" : cudaGetErrorString(err));
    exit(noDevice ? 77 : 2);
}

int main() {
    const char* names[] = {"x + y", "its error", "x * x", "its error", "x*x + y", "fma(x,x,y)"};
    float* device;
    float out[6];
    check(cudaMalloc(&device, sizeof out));
    compute<<<1, 1>>>(1.3f, 1.0f / 3, device);
    check(cudaGetLastError());
    check(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    printf("x = 1.3f, y = 1.0f/3\n");
    for (int i = 0; i < 6; ++i) {
        unsigned bits;
        memcpy(&bits, &out[i], sizeof bits);
        printf("%-10s  0x%08x  %.9g\n", names[i], bits, out[i]);
    }
    printf("x*x + y is %s\n", out[4] == out[5] ? "fused" : "separate");
    return 0;
}
