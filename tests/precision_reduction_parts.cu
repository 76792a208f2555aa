// Stands behind a copy of the lesson whose main is called lessonMain: checks its parts one by one.
// Prints `all parts right`, or a line on stderr for each that is not.
#include <climits>

static int g_wrong = 0;

static void right(bool ok, const char* what) {
    if (ok) return;
    fprintf(stderr, "wrong: %s\n", what);
    ++g_wrong;
}

// Nothing here is allocated: 2^31 floats would be 8 GiB.
static void checkLengths() {
    const long long wrap = 1LL << 31, most = 2147483647LL * 256;
    for (long long n : {1LL, wrap - 1, wrap, wrap + 1, most})
        right(refusalOfLength(n).empty(), "a length that the index holds is refused");
    for (long long n : {LLONG_MIN, -wrap, -1LL, 0LL, most + 1, LLONG_MAX})
        right(!refusalOfLength(n).empty(), "a length that the index cannot hold is accepted");
    right(blocksFor(wrap - 1) == 8388608 && blocksFor(wrap) == 8388608, "blocks up to 2^31");
    right(blocksFor(wrap + 1) == 8388609, "blocks for 2^31 + 1");
    right(blocksFor(most) == 2147483647, "blocks for the longest input");
}

static void checkInputs() {
    const float inf = HUGE_VALF, nan = std::nanf(""), least = 1e-45f, most = 3.4028235e38f;
    for (float x : {inf, -inf, nan, -nan})
        right(refusalOfInput({1.0f, 2.0f, x, x}) == "element 2 is not finite",
              "the first element that is not finite is not named");
    right(refusalOfInput({0.0f, -0.0f, least, most, -most}).empty(), "a finite input is refused");
}

static void checkRule() {
    const double inf = HUGE_VAL, nan = std::nan("");
    for (double bad : {inf, -inf, nan, -1.0, -1e-300}) {
        right(!refusalOfTolerances(bad, 0.0).empty(), "a bad abs_tol is accepted");
        right(!refusalOfTolerances(0.0, bad).empty(), "a bad rel_tol is accepted");
    }
    right(refusalOfTolerances(0.0, 0.0).empty(), "tolerances of zero are refused");
    right(allowedError(0.5, 0.25, -8.0) == 2.5, "abs_tol + rel_tol * |want|");
    right(passes(-8.0, -5.5, allowedError(0.5, 0.25, -8.0)), "an error as large as is allowed");
    for (double bad : {inf, -inf, nan})
        for (double allowed : {0.0, 1e300}) {
            right(!passes(bad, 1.0, allowed) && !passes(1.0, bad, allowed), "not finite, passes");
            right(!passes(bad, bad, allowed), "not finite on both sides, passes");
        }
    right(!passes(1.0, 2.0, allowedError(0.0, 1e308, 1e10)), "a tolerance that overflows");
}

// Exercise 4: every length around one and two blocks, exact in both accumulators.
static void checkFill() {
    for (int n = 1; n <= 513; ++n) {
        const std::vector<float> in((size_t)n, 0.125f);
        right(gpuSum<float>(in) == n * 0.125 && gpuSum<double>(in) == n * 0.125, "zero fill");
    }
}

// Exercise 5: the products of a dot product, taken through the lesson's four steps.
static float mixed(unsigned i) {  // a whole number from -4095 to 4095: products are exact floats
    i *= 2654435761u;
    i ^= i >> 15;
    i *= 2246822519u;
    i ^= i >> 13;
    return (float)((int)(i % 8191) - 4095);
}

// What the tree may cost: eight additions, each off by at most 2^-24 of the terms' magnitudes.
static double allowedForDot(const std::vector<float>& products) {
    std::vector<float> magnitudes;
    for (float p : products) magnitudes.push_back(std::fabs(p));
    return allowedError(8.0 / 16777216.0 * (double)integerSum(magnitudes), 0.0, 0.0);
}

static void checkDot() {
    std::vector<float> far, near;
    for (unsigned i = 0; i < 1000; ++i) far.push_back(std::fabs(mixed(2 * i) * mixed(2 * i + 1)));
    near.assign(far.begin(), far.begin() + 500);
    for (unsigned i = 0; i < 500; ++i) near.push_back(-far[(i * 17 + 3) % 500]);  // all of them
    const std::vector<float> zero = near;
    near.push_back(1e6f);
    for (const std::vector<float>& products : {far, near, zero}) {
        const double want = (double)integerSum(products), allowed = allowedForDot(products);
        const double got = gpuSum<float>(products);
        right(got != want, "this input does not make the float tree round: it shows nothing");
        right(passes(got, want, allowed) && passes(gpuSum<double>(products), want, allowed),
              "a sound dot product is refused");
        right(!passes(got - products.back(), want, allowed), "a dropped element passes");
        right(want == 0.0 || !passes(-got, want, allowed), "a swapped sign passes");
        right(want == 0.0 || !passes(0.0, want, allowed), "all zeros pass");
        right(!passes(std::nan(""), want, allowed), "a NaN passes");
    }
    right(integerSum(near) == 1000000 && integerSum(zero) == 0, "the sums near zero");
    // The usual wrong answers: a relative tolerance alone refuses a sound sum near zero, and an
    // absolute one that fits one input lets all zeros pass on a smaller one.
    right(!passes(gpuSum<float>(zero), 0.0, allowedError(0.0, 1e-6, 0.0)), "relative alone");
    right(passes(0.0, (double)integerSum(near) / 1e6, allowedForDot(near)), "absolute alone");
}

int main() {
    checkLengths();
    checkInputs();
    checkRule();
    checkFill();
    checkDot();
    if (g_wrong == 0) puts("all parts right");
    return g_wrong == 0 ? 0 : 1;
}
