// Exercise precision-5: asks judgeDot of the submission for verdicts on inputs and sums of the checker's own.
// The argument is a number from which the inputs are made.
#define DOT_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

constexpr int kMost = 1000;
static float g_x[kMost], g_y[kMost], g_p[kMost];
static unsigned g_state;
static char g_input[96];

static unsigned next() {  // xorshift
    g_state ^= g_state << 13;
    g_state ^= g_state >> 17;
    g_state ^= g_state << 5;
    return g_state;
}
// From 0.5 to 1, with 23 bits: products round in float.
static float magnitude() { return std::ldexp(8388608.0f + (float)(next() >> 9), -24); }

static void refuse(const char* input, const char* reason) {
    printf("%s|%s\n", input, reason);
    exit(1);
}
static void expect(bool want, long long n, double got, const char* what) {
    if (judgeDot(g_x, g_y, n, got).passes == want) return;
    char reason[128];
    snprintf(reason, sizeof reason, "%s %s", what, want ? "does not pass" : "passes");
    refuse(g_input, reason);
}

// Exact enough: products are exact in double, and a two-sum keeps what each addition loses.
static double exactDot(long long n) {
    double sum = 0.0, lost = 0.0;
    for (long long i = 0; i < n; ++i) {
        const double p = (double)g_x[i] * g_y[i];
        const double s = sum + p;
        const double t = s - sum;
        lost += (sum - (s - t)) + (p - t);
        sum = s;
    }
    return sum + lost;
}
template <typename T>
static double tree(long long n, int threads, bool neighbours) {
    double sum = 0.0;
    for (long long first = 0; first < n; first += threads) {
        T slot[512];
        for (int t = 0; t < threads; ++t) slot[t] = first + t < n ? (T)g_x[first + t] * (T)g_y[first + t] : (T)0;
        if (neighbours)
            for (int s = 1; s < threads; s *= 2)
                for (int t = 0; t + s < threads; t += 2 * s) slot[t] += slot[t + s];
        else
            for (int s = threads / 2; s > 0; s /= 2)
                for (int t = 0; t < s; ++t) slot[t] += slot[t + s];
        sum += slot[0];
    }
    return sum;
}

static void checkReference(long long n) {
    double size = 0.0;
    for (long long i = 0; i < n; ++i) size += std::fabs((double)g_x[i] * g_y[i]);
    const double off = std::fabs(judgeDot(g_x, g_y, n, 0.0).want - exactDot(n));
    if (!(off <= 1e-12 * size)) refuse(g_input, "the reference is no better than a float sum");
}

static void checkInput(int kind, int scale) {
    static const char* const kKinds[] = {"all positive", "both signs, near 0", "both signs, the sum is 0"};
    const long long n = 300 + next() % 701;
    snprintf(g_input, sizeof g_input, "%lld products of about 2^%d, %s", n, 2 * scale, kKinds[kind]);
    for (long long i = 0; i < n; ++i) {
        const bool back = kind > 0 && i % 2 == 1 && (kind == 2 || i + 2 < n);  // the negative of the one before
        g_x[i] = back ? -g_x[i - 1] : std::ldexp(magnitude(), scale);
        g_y[i] = back ? g_y[i - 1] : std::ldexp(magnitude(), scale);
        if (kind == 2 && n % 2 == 1 && i == n - 1) g_x[i] = 0.0f;
    }
    // Other places, or neighbours cancel at once and nothing rounds.
    for (long long i = n - 1; i > 0; --i) {
        const long long j = next() % (i + 1);
        const float x = g_x[i], y = g_y[i];
        g_x[i] = g_x[j], g_y[i] = g_y[j];
        g_x[j] = x, g_y[j] = y;
    }
    const double want = exactDot(n);
    checkReference(n);
    expect(true, n, want, "the exact sum");
    expect(true, n, tree<double>(n, 256, false), "a sound sum, a tree in double,");
    for (int threads : {128, 256, 512}) {
        expect(true, n, tree<float>(n, threads, false), "a sound sum, a tree in float,");
        expect(true, n, tree<float>(n, threads, true), "a sound sum, a tree in float,");
    }
    long long last = n - 1;
    while (g_x[last] == 0.0f) --last;
    const double p = (double)g_x[last] * g_y[last];
    expect(false, n, want - p, "a dropped element");
    expect(false, n, want + p, "an element added twice");
    expect(false, n, want - 2 * p, "an element with a swapped sign");
    if (want != 0.0) expect(false, n, -want, "a swapped sign");
    if (want != 0.0) expect(false, n, 0.0, "all zeros");
    expect(false, n, NAN, "a NaN");
    expect(false, n, HUGE_VAL, "an infinity");
    expect(false, n, -HUGE_VAL, "an infinity");
    const double got = want + p / 4;
    if (!(std::fabs(judgeDot(g_x, g_y, n, got).error - std::fabs(got - want)) <= 1e-9 * std::fabs(p)))
        refuse(g_input, "the error is not recorded");
    g_y[last] = NAN;
    expect(false, n, want, "a NaN in the input");
    expect(false, n, NAN, "a NaN for a NaN");
}

static void checkOwnInput() {
    const char* const own = "the program's own input";
    if (kElements < 2 || kElements > 100000000) refuse(own, "the input has no sensible length");
    float* x = new float[kElements];
    float* y = new float[kElements];
    fillInput(x, y, kElements);
    bool positive = false, negative = false;
    double sum = 0.0;
    for (long long i = 0; i < kElements; ++i) {
        const double p = (double)x[i] * y[i];
        positive |= p > 0.0;
        negative |= p < 0.0;
        sum += p;
    }
    if (kElements % kThreads == 0) refuse(own, "the input has no block that is not full");
    if (!positive || !negative) refuse(own, "the input has products of one sign alone");
    if (gpuDot(x, y, kElements) == sum) refuse(own, "the input rounds nowhere");
    if (!judgeDot(x, y, kElements, gpuDot(x, y, kElements)).passes) refuse(own, "the GPU's sum does not pass");
    delete[] x;
    delete[] y;
}

int main(int argc, char** argv) {
    g_state = 2463534242u + (argc > 1 ? (unsigned)strtoul(argv[1], nullptr, 10) : 0u);
    if (g_state == 0) g_state = 1;
    checkOwnInput();
    for (int round = 0; round < 3; ++round)
        for (int kind : {2, 1, 0})
            for (int scale : {0, 14, -14}) checkInput(kind, scale);
    return checkIsDone();
}
