#include "part.cu"
#include <math.h>
__global__ void k(int*) {}
template <typename T> __global__ void t(T) {}
int main() {
    k<<<1, 2>>>(NULL);
    t<int><<<dim3(1, 2), 3, sizeof(int[4]), 0>>>(3);
    t<<<(1 < 2), f(1 >> 1)>>>(1.0f);
    table[i]<<<1, 1>>>();
    (flag ? k : other)<<<
        1,
        1
    >>>(0);
    ns::k<vec<float>, (3 > 2)><<<g, b>>>(p->q);
    int x = 1 << 2 << 3 >> 1;
    auto lambda = [=] __device__(int a) -> int { return a < 3; };
}
