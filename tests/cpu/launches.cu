// Every way to write a launch that the rewriter knows, and every launch that a card refuses.
#include <string>
#include <vector>

#include "check.cu"

__device__ int g_sink;
static int sink() {
    const int value = g_sink;
    g_sink = 0;
    return value;
}

__global__ void none() { assert(gridDim.x > 0); atomicAdd(&g_sink, 1); }
__global__ void add(int a, int b) { atomicAdd(&g_sink, a + b); }
__global__ void pointers(const int* p, float* q, unsigned long long bits) {
    if (p == nullptr && q == nullptr) atomicAdd(&g_sink, (int)bits);
}
struct Config {
    int a = 5;
    float b = 2.0f;
};
__global__ void byValue(Config c, const Config d) { atomicAdd(&g_sink, c.a + d.a); }
template <int kN, typename T>
__global__ void scaled(T x) { atomicAdd(&g_sink, kN * (int)x); }
template <typename T, typename U>
__global__ void deduced(T x, const U* y) { atomicAdd(&g_sink, (int)(sizeof(T) + sizeof(U) + (y != nullptr))); (void)x; }
template <bool kOn>
__global__ void flag(int n) { atomicAdd(&g_sink, kOn ? n : -n); }
template <typename T>
__launch_bounds__(64) __global__ void bounded(T x) { atomicAdd(&g_sink, (int)x); }
__global__ void __launch_bounds__(256, 2) boundedAfter(int x) { atomicAdd(&g_sink, x); }
static __global__ void internal(int x) { atomicAdd(&g_sink, x); }
namespace outer {
namespace inner {
__global__ void named(int x) { atomicAdd(&g_sink, x); }
template <typename T>
__global__ void namedTemplate(T x) { atomicAdd(&g_sink, (int)x); }
}  // namespace inner
}  // namespace outer

template <typename T>
static void fromTemplate(T x) {
    scaled<2, T><<<1, 1>>>(x);
    deduced<<<1, 1>>>(x, &x);
}
struct Launcher {
    int n;
    void go() const { add<<<n, 1>>>(n, this->n); }
};
struct Holder {
    void (*kernel)(int, int);
};
// Chevrons where there is no launch: none<<<1, 1>>>() in a comment, and shifts.
/* add<<<2, 2>>>(1, 1); */
struct Stream {
    int total = 0;
};
static Stream& operator<<(Stream& s, int x) {
    s.total += x;
    return s;
}
template <typename T>
static Stream& operator<<(Stream& s, const std::vector<T>& v) {
    for (T x : v) s << (int)x;
    return s;
}

static void refused(dim3 grid, dim3 block, size_t shared, cudaError_t want) {
    none<<<grid, block, shared>>>();
    EXPECT(cudaPeekAtLastError() == want);
    EXPECT(cudaPeekAtLastError() == want);
    EXPECT(cudaGetLastError() == want);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(sink() == 0);
}

int main() {
    none<<<1, 1>>>();
    EXPECT(sink() == 1);
    none<<<dim3(2, 3), dim3(4)>>>();
    EXPECT(sink() == 24);
    add<<<2, 1>>>(3, 4);
    EXPECT(sink() == 14);
    add<<<
        // a comment with >>> in it
        2,
        1
        >>>(
            3 /* and >>> here */,
            4
        );
    EXPECT(sink() == 14);
    pointers<<<1, 1>>>(NULL, 0, 3);
    pointers<<<1, 1>>>(0, nullptr, 'x' == 120 ? 4 : 0);
    pointers<<<1, 1>>>({}, {}, {});
    EXPECT(sink() == 7);
    byValue<<<1, 1>>>({}, Config{});
    EXPECT(sink() == 10);

    scaled<3, int><<<1, 2>>>(5);
    scaled<3><<<1, 2>>>(5.0f);
    scaled<(7 > 3 ? 1 : 2), double><<<1, 1>>>(4.0);
    scaled<1, std::vector<std::vector<int>>::value_type::value_type><<<1, 1>>>(1);
    EXPECT(sink() == 30 + 30 + 4 + 1);
    deduced<<<1, 1>>>(1.0, (const char*)nullptr);
    deduced<double, char><<<1, 1>>>(1, NULL);
    EXPECT(sink() == 18);
    const int one = 1;
    flag<true><<<one, one>>>(5);
    flag<(1 < 0)><<<1, 1>>>(2);
    EXPECT(sink() == 3);
    bounded<<<1, 1>>>(2.0f);
    boundedAfter<<<1, 1>>>(3);
    internal<<<1, 1>>>(4);
    outer::inner::named<<<1, 1>>>(5);
    ::outer::inner::named<<<1, 1>>>(6);
    outer::inner::namedTemplate<<<1, 1>>>(7.0);
    outer::inner::namedTemplate<int><<<1, 1>>>(8);
    EXPECT(sink() == 35);
    fromTemplate(6L);
    EXPECT(sink() == 12 + 17);
    Launcher{2}.go();
    EXPECT(sink() == 8);

    void (*pointer)(int, int) = add;
    pointer<<<1, 1>>>(1, 2);
    (pointer)<<<1, 1>>>(1, 2);
    (*pointer)<<<1, 1>>>(1, 2);
    (add)<<<1, 1>>>(1, 2);
    (scaled<2, int>)<<<1, 1>>>(3);
    const Holder holder = {add}, *at = &holder;
    holder.kernel<<<1, 1>>>(1, 2);
    (at->kernel)<<<1, 1>>>(1, 2);
    void (*table[2])(int) = {internal, scaled<4, int>};
    for (int i = 0; i < 2; ++i) table[i]<<<1, 1>>>(1);
    const auto chosen = one ? flag<true> : flag<false>;
    chosen<<<1, 1>>>(9);
    EXPECT(sink() == 18 + 6 + 1 + 4 + 9);
    auto inLambda = [&](int n) { add<<<1, n>>>(n, 0); };
    inLambda(2);
    if (one) none<<<1, 1>>>(), none<<<1, 1>>>();
    EXPECT(sink() == 6);
    int grid[2] = {1, 2};
    none<<<grid[1], grid[0] << 1, sizeof(grid) >> 1>>>();
    none<<<dim3{2, 2}, 1, 0, 0>>>();
    EXPECT(sink() == 8);

    EXPECT(std::string("none<<<1, 1>>>()").size() == 16);
    EXPECT(std::string(R"x(add<<<1, 1>>>(") )x").size() == 17);
    const char quote = '"', escaped = '\'', wide = (char)u'<';
    add<<<1, 1>>>(quote, escaped);  // a character that is read wrong hides the launch after it
    add<<<1, 1>>>(wide, 1'000'000 + 0xff'ff);
    EXPECT(sink() == 34 + 39 + 60 + 1000000 + 65535);
    Stream s;
    s << 1 << (2 << 3) << std::vector<int>{1, 2, 3};
    operator<<(s, 1);
    operator<<<int>(s, std::vector<int>{4});
    internal<<<1, 1>>>(s.total);
    EXPECT(sink() == 28);

    refused(dim3(0), dim3(1), 0, cudaErrorInvalidValue);
    refused(dim3(1, 0), dim3(1), 0, cudaErrorInvalidValue);
    refused(dim3(1, 1, 0), dim3(1), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(0), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(32, 0), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(32, 1, 0), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(1025), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(32, 33), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(1, 1, 65), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(0x80000000u, 2), 0, cudaErrorInvalidValue);  // 0 threads in 32 bits
    refused(dim3(1), dim3(2, 0x80000000u), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(65536, 65536), 0, cudaErrorInvalidValue);  // their product is 0 in 32 bits
    refused(dim3(1, 65536), dim3(1), 0, cudaErrorInvalidValue);
    refused(dim3(1, 1, 65536), dim3(1), 0, cudaErrorInvalidValue);
    refused(dim3(0x80000000u), dim3(1), 0, cudaErrorInvalidValue);
    refused(dim3(1), dim3(1), 48 * 1024 + 1, cudaErrorInvalidValue);
    refused(dim3(1), dim3(1), (size_t)-1, cudaErrorInvalidValue);
    none<<<1, 1024>>>();
    none<<<1, dim3(4, 4, 64)>>>();
    none<<<1, 1, 48 * 1024>>>();
    CHECKED(cudaGetLastError());
    EXPECT(sink() == 2049);
    return report();
}
