// The parts of the lesson one by one: what no output of the program shows. Each gate here is a fact
// that the program or its page states.
#define PRECISION_REDUCTION_NO_MAIN
#include "../../precision_reduction/precision_reduction.cu"

#include <climits>
#include <string>
#include <vector>

static double gpuFloat(const std::vector<float>& in) {
    return gpuSum<float>(in.data(), (long long)in.size());
}
static double gpuDouble(const std::vector<float>& in) {
    return gpuSum<double>(in.data(), (long long)in.size());
}
static double exactSum(const std::vector<float>& in) {
    return (double)integerSum(in.data(), (long long)in.size());
}

// By its bits: under -ffast-math a compiler may take std::nan("") to be anything else.
static double fromBits(unsigned long long value) {
    volatile unsigned long long bits = value;
    const unsigned long long copy = bits;
    double x;
    memcpy(&x, &copy, sizeof x);
    return x;
}
static const double kInf = fromBits(0x7ff0000000000000ULL);
static const double kNan = fromBits(0x7ff8000000000000ULL);

static std::string refusal(long long n, double absTol, double relTol) {
    Result r = {};
    refuseCase({"", n, absTol, relTol, false, tenthAt}, &r);
    return r.refusal;
}

static std::string refusalOfInput(const std::vector<float>& in) {
    Result r = {};
    refuseInput(in.data(), (long long)in.size(), &r);
    return r.refusal;
}

// Nothing here is allocated: 2^31 floats would be 8 GiB.
static void checkLengths() {
    const long long wrap = 1LL << 31;
    const long long most = 2147483647LL * 256;
    for (long long n : {1LL, wrap - 1, wrap, wrap + 1, most})
        gate(refusal(n, 0.0, 0.0) == "", "a length that the index holds", "%lld is refused", n);
    for (long long n : {LLONG_MIN, -wrap, -1LL, most + 1, LLONG_MAX})
        gate(refusal(n, 0.0, 0.0) == "the index cannot hold a length of " + std::to_string(n) +
                                         ", only 1 to 549755813632",
             "a length that the index cannot hold", "%lld is not refused", n);
    gate(refusal(0, 0.0, 0.0) == "the input is empty", "an empty input", "is not refused");
    gate(blocksFor(wrap - 1) == 8388608, "blocks for 2^31 - 1", "%lld", blocksFor(wrap - 1));
    gate(blocksFor(wrap) == 8388608, "blocks for 2^31", "%lld", blocksFor(wrap));
    gate(blocksFor(wrap + 1) == 8388609, "blocks for 2^31 + 1", "%lld", blocksFor(wrap + 1));
    gate(blocksFor(most) == 2147483647, "blocks for the longest input", "%lld", blocksFor(most));
    gate(blocksFor(1000003) == 3907, "blocks for many tenths", "%lld", blocksFor(1000003));
}

static void checkInputs() {
    const float least = 1e-45f;
    const float most = 3.4028235e38f;
    for (double bad : {kInf, -kInf, kNan, -kNan}) {
        const float x = (float)bad;
        gate(refusalOfInput({1.0f, 2.0f, x, x}) == "element 2 is not finite",
             "the first element that is not finite is named", "%g", bad);
        gate(refusalOfInput({x}) == "element 0 is not finite", "the only element is bad", "%g",
             bad);
    }
    gate(refusalOfInput({0.0f, -0.0f, least, most, -most}) == "", "finite inputs", "refused");
}

static void checkTolerances() {
    const std::string reason = "a tolerance is negative or not finite";
    for (double bad : {kInf, -kInf, kNan, -1.0, -1e-300}) {
        gate(refusal(1, bad, 0.0) == reason, "a bad abs_tol", "%g is not refused", bad);
        gate(refusal(1, 0.0, bad) == reason, "a bad rel_tol", "%g is not refused", bad);
    }
    gate(refusal(1, 0.0, 0.0) == "", "tolerances of zero", "refused");
}

static void checkRule() {
    const double allowed = allowedError(0.5, 0.25, -8.0);
    gate(allowed == 2.5, "abs_tol + rel_tol * |want|", "%g", allowed);
    gate(passes(-8.0, -5.5, 2.5), "an error as large as is allowed, from below", "refused");
    gate(passes(-5.5, -8.0, 2.5), "an error as large as is allowed, from above", "refused");
    gate(!passes(-5.4, -8.0, 2.5), "a larger error, from above", "passes");
    gate(!passes(-8.0, -5.4, 2.5), "a larger error, from below", "passes");
    for (double bad : {kInf, -kInf, kNan})
        for (double tolerance : {0.0, 1e300}) {
            gate(!passes(bad, 1.0, tolerance), "a sum that is not finite", "%g passes", bad);
            gate(!passes(1.0, bad, tolerance), "a reference that is not finite", "%g passes", bad);
            gate(!passes(bad, bad, tolerance), "neither is finite", "%g passes", bad);
        }
    for (double bad : {kInf, -kInf, kNan})
        gate(!passes(1.0, 1.0, bad), "a tolerance that is not finite", "%g passes", bad);
    gate(!passes(1.0, 2.0, allowedError(0.0, 1e308, 1e10)), "a tolerance that overflows", "passes");
}

static float notANumberAt(long long i) { return i == 1 ? (float)kNan : 1.0f; }

// Finite, and 0 in sequence. The tree's first step in float makes it Inf and -Inf, then a NaN.
static float overflowAt(long long i) { return i % 2 == 1 ? -3e38f : 3e38f; }

static void checkBadCases() {
    const unsigned long long before = g_partialsHash;
    const Result nan = sumCase({"nan", 3, 1e-6, 0.0, false, notANumberAt});
    gate(std::string(nan.refusal) == "element 1 is not finite", "a NaN in the input",
         "not refused");
    gate(g_partialsHash == before, "a refused case is not summed", "the hash moved");
    const Result overflow = sumCase({"overflow", 4, 1e-6, 0.0, false, overflowAt});
    gate(overflow.refusal[0] == '\0', "finite input", "%s", overflow.refusal);
    gate(!isFinite(overflow.got[1]), "the float tree overflows", "%g", overflow.got[1]);
    gate(!passes(overflow.got[1], overflow.want, overflow.allowed), "its NaN", "passes");
    gate(passes(overflow.got[2], overflow.want, overflow.allowed), "the double tree", "refused");
}

// Exercise 4: every length around one and two blocks, exact in both accumulators.
static void checkFill() {
    int wrong = 0;
    for (int n = 1; n <= 513; ++n) {
        const std::vector<float> in((size_t)n, 0.125f);
        const bool exact = gpuFloat(in) == n * 0.125 && gpuDouble(in) == n * 0.125;
        if (!exact && wrong == 0) wrong = n;
    }
    gate(wrong == 0, "zero fill", "%d elements are not exact", wrong);
}

// What the page says of other orders.
static void checkOrders() {
    gate(gpuFloat({1e8f, -1e8f, 1.0f, 1.0f}) == 0.0, "1e8, -1e8, 1, 1: the tree gives 0", "no");
    gate(gpuFloat({1e8f, 1.0f, 1.0f, -1e8f}) == 0.0, "1e8, 1, 1, -1e8: the tree gives 0", "no");
    const float kept[] = {1e8f, -1e8f, 1.0f, 1.0f};
    const float lost[] = {1e8f, 1.0f, 1.0f, -1e8f};
    gate(sequentialSum<float>(kept, 4) == 2.0f, "1e8, -1e8, 1, 1: the loop gives 2", "no");
    gate(sequentialSum<float>(lost, 4) == 0.0f, "1e8, 1, 1, -1e8: the loop gives 0", "no");
    char stored[32];
    snprintf(stored, sizeof stored, "%.15f", tenthAt(0));
    gate(std::string(stored) == "0.100000001490116", "0.1f as it is stored", "%s", stored);
    std::vector<float> moved(512, 1.0f);
    moved[0] = 18014398509481984.0f;
    moved[1] = -moved[0];
    gate(gpuFloat(moved) == 256.0, "-2^54 in element 1: float tree", "%g", gpuFloat(moved));
    gate(gpuDouble(moved) == 506.0, "-2^54 in element 1: double tree", "%g", gpuDouble(moved));
    gate(sequentialSum<double>(moved.data(), 512) == 510.0, "-2^54 in element 1: the loop", "no");
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
    return allowedError(8.0 / 16777216.0 * exactSum(magnitudes), 0.0, 0.0);
}

static void checkDot() {
    std::vector<float> far;
    for (unsigned i = 0; i < 1000; ++i) far.push_back(std::fabs(mixed(2 * i) * mixed(2 * i + 1)));
    std::vector<float> near(far.begin(), far.begin() + 500);
    for (unsigned i = 0; i < 500; ++i) near.push_back(-far[(i * 17 + 3) % 500]);  // all of them
    const std::vector<float> zero = near;
    near.push_back(1e6f);
    for (const std::vector<float>& products : {far, near, zero}) {
        const double want = exactSum(products);
        const double allowed = allowedForDot(products);
        const double got = gpuFloat(products);
        gate(got != want, "dot: the float tree rounds, else the input shows nothing", "%g", got);
        gate(passes(got, want, allowed), "dot: a sound float sum", "refused");
        gate(passes(gpuDouble(products), want, allowed), "dot: a sound double sum", "refused");
        gate(!passes(got - products.back(), want, allowed), "dot: a dropped element", "passes");
        gate(want == 0.0 || !passes(-got, want, allowed), "dot: a swapped sign", "passes");
        gate(want == 0.0 || !passes(0.0, want, allowed), "dot: all zeros", "pass");
        gate(!passes(kNan, want, allowed), "dot: a NaN", "passes");
    }
    gate(exactSum(near) == 1000000, "dot: the sum near zero", "%g", exactSum(near));
    gate(exactSum(zero) == 0, "dot: the sum that is zero", "%g", exactSum(zero));
    // The usual wrong answers: a relative tolerance alone refuses a sound sum near zero, and an
    // absolute one that fits one input lets all zeros pass on a smaller one.
    gate(!passes(gpuFloat(zero), 0.0, allowedError(0.0, 1e-6, 0.0)), "dot: relative alone", "fits");
    gate(passes(0.0, exactSum(near) / 1e6, allowedForDot(near)), "dot: absolute alone", "refuses");
}

int main(int argc, char**) {
    printHead("tests/precision_reduction/parts", 1, argc);
    checkLengths();
    checkInputs();
    checkTolerances();
    checkRule();
    checkBadCases();
    checkFill();
    checkOrders();
    checkDot();
    return finish();
}
