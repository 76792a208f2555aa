#include <cuda_runtime.h>
#define HD __host__ __device__
template <typename T> struct vec { T x; };
template <typename T, int kN>
__global__ void __launch_bounds__(256) k(T* p, const float (&a)[3]) {
    __shared__ alignas(16) vec<float> a1[4], b;
    __shared__ __align__(8) T c[2][3];
    static __shared__ int* q;
    extern __shared__
        T d[];
    a1[0].x = c[1][2] = d[0] = *p;
    __syncthreads();
}
HD inline float f(float x) { return x < 1 ? x * x + 1 : x; }
struct V {
    float x, y{1};
    __device__ V(float a) : x{a}, y(a < 2 ? a : 2) { x = a; }
    __device__ V& operator<<(int n) { return *this; }
    __device__ float operator()(float a) const noexcept { return a * x + y; }
    __device__ auto g() const -> decltype(x * 2);
};
