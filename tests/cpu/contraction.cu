// Which functions does this build contract? -DFUSED=1 or 0 says what device code must do; host code never is.
#include "check.cu"

// x*x = 1 + 2^-11 + 2^-24: rounded, x*x + y is zero; fused, the last term is left.
#define X (1.0f + 1.0f / 4096)
#define Y (-(1.0f + 1.0f / 2048))

__device__ float helper(float x, float y) { return x * x + y; }
template <typename T>
__device__ T templateHelper(T x, T y) {
    return x * x + y;
}
struct Value {
    float x;
    __device__ explicit Value(float v) : x(v) {}
    __device__ Value(float a, float b, float c) : x(0.0f) { x = a * b + c; }
    __device__ float member(float y) const { return x * x + y; }
    static __device__ float staticMember(float x, float y) { return x * x + y; }
    template <typename T>
    __device__ T memberTemplate(T y) const {
        return x * x + y;
    }
    __device__ float operator()(float y) const { return x * x + y; }
    __device__ Value& operator+=(float y) {
        x = x * x + y;
        return *this;
    }
    friend __device__ float operator<<(const Value& a, float y) { return a.x * a.x + y; }
};
__device__ Value operator+(const Value& a, float y) { return Value(a.x * a.x + y); }
template <int kN>
struct Nested {
    struct Inner {
        static __device__ float go(float x, float y) {
            float sum = y;
            for (int i = 0; i < kN; ++i) {
                if (i == 0) sum += x * x;
            }
            return sum;
        }
    };
};
__device__ __forceinline__ float forced(float x, float y) { return x * x + y; }
static __device__ inline float fused3(float x, float y, float z) { return z - x * y; }

enum { kKernel, kHelper, kTemplate, kMember, kStatic, kMemberTemplate, kCall, kAssign, kFriend, kOperator, kConstructor, kNested, kForced, kMinus, kCount };
static const char* const kNames[kCount] = {"kernel", "helper", "template", "member", "static member", "member template",
                                           "operator()", "operator+=", "friend operator", "operator+", "constructor",
                                           "nested class", "__forceinline__", "difference"};
// Each has its own operands: a compiler may leave a product unfused that several sums use.
__global__ void all(const float* x, const float* y, float* out) {
    out[kKernel] = x[kKernel] * x[kKernel] + y[kKernel];
    out[kHelper] = helper(x[kHelper], y[kHelper]);
    out[kTemplate] = templateHelper(x[kTemplate], y[kTemplate]);
    out[kMember] = Value(x[kMember]).member(y[kMember]);
    out[kStatic] = Value::staticMember(x[kStatic], y[kStatic]);
    out[kMemberTemplate] = Value(x[kMemberTemplate]).memberTemplate(y[kMemberTemplate]);
    out[kCall] = Value(x[kCall])(y[kCall]);
    Value w(x[kAssign]);
    out[kAssign] = (w += y[kAssign]).x;
    out[kFriend] = Value(x[kFriend]) << y[kFriend];
    out[kOperator] = (Value(x[kOperator]) + y[kOperator]).x;
    out[kConstructor] = Value(x[kConstructor], x[kConstructor], y[kConstructor]).x;
    out[kNested] = Nested<2>::Inner::go(x[kNested], y[kNested]);
    out[kForced] = forced(x[kForced], y[kForced]);
    out[kMinus] = fused3(x[kMinus], x[kMinus], -y[kMinus]);
}
template <typename T>
__global__ void kernelTemplate(T x, T y, T* out) {
    *out = x * x + y;
}
__global__ void elementwise(const float* in, float* out, int n) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = in[i] * in[i] + 3.0f;
}

float hostFunction(float x, float y) { return x * x + y; }
template <typename T>
__host__ T hostTemplate(T x, T y) {
    return x * x + y;
}
struct Host {
    float x;
    float member(float y) const { return x * x + y; }
};

int main() {
    volatile float vx = X, vy = Y;
    const float x = vx, y = vy;
    float *out, in[300], elements[300], ys[kCount];
    for (float& each : ys) each = y;
    for (float& each : in) each = x;
    CHECKED(cudaMallocHost(&out, (kCount + 1) * sizeof *out));
    all<<<1, 1>>>(in, ys, out);
    kernelTemplate<<<1, 1>>>(x, y, out + kCount);
    elementwise<<<3, 128>>>(in, elements, 300);
    CHECKED(cudaGetLastError());
    for (int i = 0; i < kCount; ++i) {
        if ((out[i] != 0.0f) == FUSED) continue;
        fprintf(stderr, "%s: %s\n", kNames[i], FUSED ? "not fused" : "fused");
        EXPECT((out[i] != 0.0f) == FUSED);
    }
    EXPECT((out[kCount] != 0.0f) == FUSED);
    EXPECT(hostFunction(x, y) == 0.0f);
    EXPECT(hostTemplate(x, y) == 0.0f);
    EXPECT(Host{x}.member(y) == 0.0f);
    EXPECT(x * x + y == 0.0f);
    for (int i = 0; i < 300; ++i) EXPECT(in[i] * in[i] + y == 0.0f);
    CHECKED(cudaFreeHost(out));
    return report();
}
