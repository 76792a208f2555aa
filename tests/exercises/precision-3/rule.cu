// Exercise precision-3: the rule of the submission, asked with values of the checker's own.
#define PRECISION_REDUCTION_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

static double fromBits(unsigned long long bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void expect(bool want, double got, double wanted, double allowed, const char* what) {
    if (passes(got, wanted, allowed) == want) return;
    printf("passes(%g, %g, %g)|%s %s\n", got, wanted, allowed, what,
           want ? "must pass" : "must not pass");
    exit(1);
}

int main() {
    const double inf = fromBits(0x7ff0000000000000ULL);
    const double nan = fromBits(0x7ff8000000000000ULL);
    const double scale[] = {1.0, 1.0 / 1073741824, 33554432.0};  // exact, so that a limit is one
    for (double s : scale) {
        expect(true, s, s, 0.0, "an exact sum");
        expect(true, -3.5 * s, -3.25 * s, 0.25 * s, "an error as large as is allowed");
        expect(true, 0.0, 0.0, s, "0 for 0");
        expect(false, -3.5 * s, -3.25 * s, 0.249 * s, "a larger error");
        expect(false, -3.25 * s, -3.5 * s, 0.249 * s, "a larger error");
        expect(false, -s, s, s, "a swapped sign");
        expect(false, s, nan, s, "a NaN reference");
        expect(false, nan, s, s, "a NaN sum");
        expect(false, -nan, s, s, "a NaN sum");
        expect(false, s, s, nan, "a NaN tolerance");
        expect(false, nan, nan, nan, "a NaN everywhere");
        // A finite input, whose float sum becomes infinite or a NaN on the way.
        expect(false, inf, s, s, "an infinite sum");
        expect(false, inf, inf, s, "infinity for infinity");
        expect(false, -inf, -inf, s, "infinity for infinity");
        expect(false, inf, -inf, inf, "an infinite tolerance");
        expect(false, s, 2 * s, inf, "an infinite tolerance");
        expect(false, s, s, inf, "an infinite tolerance");
    }
    expect(false, nan, 0.0, 1e300, "a NaN sum");
    return checkIsDone();
}
