// Exercise precision-4: sums of every length from 1 to 513, right after blocks full of other values, which
// is what shared memory then holds. The values are whole numbers, whose sums are exact in any order.
#define PRECISION_REDUCTION_NO_MAIN
#include SUBMISSION

#include "check_is_done.h"

constexpr int kLongest = 513;
constexpr int kDirt = 16 * kThreads;

static float valueAt(unsigned i) {
    i = i * 2654435761u + 12345u;
    i ^= i >> 15;
    return (float)(int)(i % 4001u) - 2000.0f;
}

static void expect(double got, double want, int n, const char* type) {
    if (got == want) return;
    const char* what = std::isnan(got) ? "a slot that nobody wrote is in it" : "not the sum of all";
    printf("%d elements, %s|%s: %.17g, want %.17g\n", n, type, what, got, want);
    exit(1);
}

int main() {
    static float in[kLongest];
    static float dirt[kDirt];
    for (unsigned i = 0; i < kLongest; ++i) in[i] = valueAt(i);
    for (int i = 0; i < kDirt; ++i) dirt[i] = NAN;
    // The order is a part of the lesson: a NaN in every block first, then the lengths, short and long.
    for (int step = 0; step < kLongest; ++step) {
        const int n = 1 + step * 100 % kLongest;
        gpuSum<float>(dirt, kDirt);
        gpuSum<double>(dirt, kDirt);
        const double want = (double)integerSum(in, n);
        expect(gpuSum<float>(in, n), want, n, "float");
        expect(gpuSum<double>(in, n), want, n, "double");
    }
    return checkIsDone();
}
