// What the pairs make of zeros, infinities, NaN, subnormals, overflow, limbs far apart, and of each
// other's values, on the device: one line an operation, its value at the low, mid and high level of
// the float pair and for the double pair, which is mid. A line that is not as it must be ends in what it
// must be. Status: 0 all are right, 1 one is not, 2 where nothing could be run.
#include <cfloat>

#define main tourMain  // the tour has the comparisons, sqrt and rsqrt
#include "../../fpmp_pi/fpmp_tour.cu"
#undef main

static const struct {
    const char* name;
    const char* expected;
} kRows[] = {
    {"inf+1", "inf nan inf nan"},
    {"1+inf", "inf nan inf nan"},
    {"inf+inf", "inf nan inf nan"},
    {"inf-inf", "nan nan nan nan"},
    {"(inf+1)+0", "inf nan inf nan"},
    {"inf*2", "inf nan inf nan"},
    {"inf*0", "nan nan nan nan"},
    {"1/inf", "nan nan 0 nan"},
    {"1/inf+1", "nan nan 1 nan"},
    {"inf/2", "inf nan inf nan"},
    {"1/0", "nan nan inf nan"},
    {"1/-0", "nan nan -inf nan"},
    {"0/0", "nan nan nan nan"},
    {"max+max", "inf nan inf nan"},
    {"max+u+u", "3.40282e+38 inf inf inf"},
    {"-max-u-u", "-3.40282e+38 -inf -inf -inf"},
    {"max*max", "inf nan inf nan"},
    {"max/.7", "inf nan inf nan"},
    {"-max/.7", "-inf nan -inf nan"},
    {"max/.67", "inf nan inf nan"},
    {"scalar max/.7", "inf nan inf nan"},
    {"nan+1", "nan nan nan nan"},
    {"-0", "-0 -0 -0 -0"},
    {"-0+-0", "-0 0 0 0"},
    {"-0*1", "-0 0 0 0"},
    {"sub+sub(/sub)", "2 2 2 2"},
    {"sub*1(/sub)", "1 1 1 1"},
    {"sqrt(0)", "0 0 0 0"},
    {"sqrt(-0)", "-0 -0 -0 -0"},
    {"sqrt(-0,0)", "-0 -0 -0 -0"},
    {"sqrt(0,u*u)(/u)", "1 1 1 1"},
    {"nan==nan", "0 0 0 0"},
    {"nan!=nan", "1 1 1 1"},
    {"nan<=nan", "0 0 0 0"},
    {"nan>=nan", "0 0 0 0"},
    {"(1,eps)==1+eps", "1 1 1 1"},
    {"(1,eps)<1+eps", "0 0 0 0"},
    {"(1,eps)<=1+eps", "1 1 1 1"},
    {"(1,eps)>=1+eps", "1 1 1 1"},
    {"1<(1,eps*eps)", "1 1 1 1"},
    {"converted to low", "1 1 1 1"},
    {"converted to mid", "1 1 1 1"},
    {"converted to high", "1 1 1 1"},
    {"to double pair", "1 1 1 1"},
    {"from double", "1 1 1 1"},
};
constexpr int kRowCount = sizeof kRows / sizeof kRows[0];

// Are both limbs of p there after the conversion? Of a pair of doubles, as many bits as fit.
template <class To, class P>
HD double converts(P p) {
    const To q(p);
    const double rest = (double)p.hi() - (double)q.hi() + (double)p.lo();
    return (double)q.lo() == (double)static_cast<decltype(q.l)>(rest) && q.lo() != 0;
}

// The inputs arrive in memory, so that nothing is worked out when the program is compiled.
template <class P, class T>
__device__ int specialValues(const T* in, double* out) {
    const P inf = in[0], zero = in[1], largest = in[2], subnormal = in[3], little = in[4];
    const T one = in[5], eps = in[6], u = in[7];
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
    out[i++] = (double)sqrt(zero);
    out[i++] = (double)sqrt(-zero);
    out[i++] = (double)sqrt(P(-in[1]));  // the low limb is 0, and not -0
    out[i++] = (double)sqrt(P(in[1], u * u)) / (double)u;  // what a low pair is after cancellation
    const P nan = inf - inf;
    out[i++] = nan == nan;
    out[i++] = nan != nan;
    out[i++] = nan <= nan;
    out[i++] = nan >= nan;
    const P apart(one, eps);  // as low's operations may leave it
    out[i++] = apart == P(one + eps);
    out[i++] = apart < P(one + eps);
    out[i++] = apart <= P(one + eps);
    out[i++] = apart >= P(one + eps);
    out[i++] = P(one) < P(one, eps * eps);
    const P third = P(one) / P(3.0f);
    out[i++] = converts<float_pair_low>(third);
    out[i++] = converts<float_pair_mid>(third);
    out[i++] = converts<float_pair_high>(third);
    out[i++] = (double)double_pair(third) == (double)third;
    out[i++] = (double)(P(0.1) - P((T)0.1)) == (double)(T)(0.1 - (double)(T)0.1);
    return i;
}

__global__ void allSpecialValues(const float* floats, const double* doubles, double* out, int* rows) {
    rows[0] = specialValues<float_pair_low>(floats, out);
    rows[1] = specialValues<float_pair_mid>(floats, out + kRowCount);
    rows[2] = specialValues<float_pair_high>(floats, out + 2 * kRowCount);
    rows[3] = specialValues<double_pair>(doubles, out + 3 * kRowCount);
}

int main() {
    const float floats[] = {INFINITY,
                            0.0f,
                            FLT_MAX,
                            std::ldexp(3.0f, -148),
                            std::ldexp(1.0f, 102),
                            1.0f,
                            FLT_EPSILON,
                            FLT_EPSILON / 2};
    const double doubles[] = {INFINITY,
                              0.0,
                              DBL_MAX,
                              std::ldexp(3.0, -1073),
                              std::ldexp(1.0, 969),
                              1.0,
                              DBL_EPSILON,
                              DBL_EPSILON / 2};
    float* deviceFloats;
    double *deviceDoubles, *deviceOut, out[4 * kRowCount];
    int *deviceRows, rows[4];
    CUDA_CHECK(cudaMalloc(&deviceFloats, sizeof floats));
    CUDA_CHECK(cudaMalloc(&deviceDoubles, sizeof doubles));
    CUDA_CHECK(cudaMalloc(&deviceOut, sizeof out));
    CUDA_CHECK(cudaMalloc(&deviceRows, sizeof rows));
    CUDA_CHECK(cudaMemcpy(deviceFloats, floats, sizeof floats, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(deviceDoubles, doubles, sizeof doubles, cudaMemcpyHostToDevice));
    allSpecialValues<<<1, 1>>>(deviceFloats, deviceDoubles, deviceOut, deviceRows);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out, deviceOut, sizeof out, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(rows, deviceRows, sizeof rows, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int level = 0; level < 4; ++level) {
        if (rows[level] == kRowCount) continue;
        printf("level %d has %d rows, not %d\n", level, rows[level], kRowCount);
        right = false;
    }
    for (int i = 0; i < kRowCount; ++i) {
        char line[200] = "";
        for (int level = 0; level < 4; ++level) {
            const double x = out[level * kRowCount + i];
            const size_t length = strlen(line);
            if (level > 0) strcat(line, " ");
            if (x != x)
                strcat(line, "nan");  // of either sign
            else
                snprintf(line + strlen(line), sizeof line - length - 1, "%g", x);
        }
        const bool same = strcmp(line, kRows[i].expected) == 0;
        printf("%s: %s%s%s\n", kRows[i].name, line, same ? "" : "; it must be ",
               same ? "" : kRows[i].expected);
        right = right && same;
    }
    CUDA_CHECK(cudaFree(deviceFloats));
    CUDA_CHECK(cudaFree(deviceDoubles));
    CUDA_CHECK(cudaFree(deviceOut));
    CUDA_CHECK(cudaFree(deviceRows));
    return right ? 0 : 1;
}
