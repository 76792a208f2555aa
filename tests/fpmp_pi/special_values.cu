// What the pairs make of zeros, infinities, NaN, subnormals and overflow, on the device: one line
// an operation, its value at the low, mid and high level of the float pair and for the double pair.
// Status: 0, or 2 where nothing could be run.
#include <cfloat>

#define FPMP_PI_NO_MAIN
#include "../../fpmp_pi/fpmp_pi.cu"

// Infinity, zero, the largest limb and a subnormal arrive in memory, so that nothing is worked out
// when the program is compiled.
template <class P, class T>
__device__ int operate(const T* in, double* out) {
    const P inf = in[0], zero = in[1], largest = in[2], subnormal = in[3], little = in[4];
    int i = 0;
    out[i++] = (double)(inf + 1.0f);
    out[i++] = (double)(1.0f + inf);
    out[i++] = (double)(inf + inf);
    out[i++] = (double)(inf - inf);
    out[i++] = (double)((inf + 1.0f) + zero);  // lo is no NaN that comes back
    out[i++] = (double)(inf * P(2.0f));
    out[i++] = (double)(inf * zero);
    out[i++] = (double)(P(1.0f) / inf);
    out[i++] = (double)(P(1.0f) / inf + 1.0f);
    out[i++] = (double)(inf / P(2.0f));
    out[i++] = (double)(1.0f / zero);
    out[i++] = (double)(1.0f / -zero);
    out[i++] = (double)(zero / zero);
    out[i++] = (double)(largest + largest);
    out[i++] = (double)(P(in[2], in[4]) + little);  // v overflows, and s alone would not
    out[i++] = (double)(-P(in[2], in[4]) - little);
    out[i++] = (double)(largest * largest);
    // A divisor whose low limb is above zero, and one below; both signs.
    out[i++] = (double)(largest / (P(7.0f) / P(10.0f)));
    out[i++] = (double)(-largest / (P(7.0f) / P(10.0f)));
    out[i++] = (double)(largest / (P(2.0f) / P(3.0f)));
    out[i++] = (double)(in[2] / (P(7.0f) / P(10.0f)));
    out[i++] = (double)((inf - inf) + 1.0f);
    out[i++] = (double)(-zero);
    out[i++] = (double)(-zero + -zero);
    out[i++] = (double)(-zero * P(1.0f));
    out[i++] = (double)(subnormal + subnormal) / (double)subnormal;
    out[i++] = (double)(subnormal * P(1.0f)) / (double)subnormal;
    return i;
}
static const char* const kNames[] = {
    "inf+1",   "1+inf",    "inf+inf", "inf-inf", "(inf+1)+0",     "inf*2",      "inf*0",
    "1/inf",   "1/inf+1",  "inf/2",   "1/0",     "1/-0",          "0/0",        "max+max",
    "max+u+u", "-max-u-u", "max*max", "max/.7",  "-max/.7",       "max/.67",    "scalar max/.7",
    "nan+1",   "-0",       "-0+-0",   "-0*1",    "sub+sub(/sub)", "sub*1(/sub)"};
constexpr int kRows = sizeof kNames / sizeof kNames[0];

__global__ void operateAll(const float* floats, const double* doubles, double* out, int* rows) {
    rows[0] = operate<float_pair_low>(floats, out);
    rows[1] = operate<float_pair_mid>(floats, out + kRows);
    rows[2] = operate<float_pair_high>(floats, out + 2 * kRows);
    rows[3] = operate<double_pair>(doubles, out + 3 * kRows);
}

int main() {
    const float floats[] = {INFINITY, 0.0f, FLT_MAX, std::ldexp(3.0f, -148), std::ldexp(1.0f, 102)};
    const double doubles[] = {INFINITY, 0.0, DBL_MAX, std::ldexp(3.0, -1073), std::ldexp(1.0, 969)};
    float* deviceFloats;
    double *deviceDoubles, *deviceOut, out[4 * kRows];
    int *deviceRows, rows[4];
    CUDA_CHECK(cudaMalloc(&deviceFloats, sizeof floats));
    CUDA_CHECK(cudaMalloc(&deviceDoubles, sizeof doubles));
    CUDA_CHECK(cudaMalloc(&deviceOut, sizeof out));
    CUDA_CHECK(cudaMalloc(&deviceRows, sizeof rows));
    CUDA_CHECK(cudaMemcpy(deviceFloats, floats, sizeof floats, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(deviceDoubles, doubles, sizeof doubles, cudaMemcpyHostToDevice));
    operateAll<<<1, 1>>>(deviceFloats, deviceDoubles, deviceOut, deviceRows);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out, deviceOut, sizeof out, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(rows, deviceRows, sizeof rows, cudaMemcpyDeviceToHost));
    for (int i = 0; i < kRows; ++i) {
        printf("%s", kNames[i]);
        for (int level = 0; level < 4; ++level) {
            const double x = rows[level] == kRows ? out[level * kRows + i] : -1;
            if (x != x)
                printf(" nan");  // of either sign
            else
                printf(" %g", x);
        }
        printf("\n");
    }
    CUDA_CHECK(cudaFree(deviceFloats));
    CUDA_CHECK(cudaFree(deviceDoubles));
    CUDA_CHECK(cudaFree(deviceOut));
    CUDA_CHECK(cudaFree(deviceRows));
    return 0;
}
