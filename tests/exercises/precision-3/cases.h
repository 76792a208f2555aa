// Exercise precision-3: three more cases in the program's own table, by what TENTHS_REL_TOL stands for.
// The first has a NaN in its input, the second an infinity; the third is finite, and its sum is not.
static float nanCaseAt(long long i) { return i == 2 ? __builtin_nanf("") : 1.0f; }
static float infinityCaseAt(long long i) { return i == 1 ? __builtin_inff() : 1.0f; }
static float overflowCaseAt(long long i) { return i % 2 == 1 ? -3e38f : 3e38f; }
#define MANY_TENTHS 1003
#define TENTHS_REL_TOL 1e-7, false, eighthAt}, \
    {"a NaN", 300, 1e-6, 0, false, nanCaseAt}, \
    {"an infinity", 3, 1e-6, 0, false, infinityCaseAt}, \
    {"a finite input", 4, 1e-6, 0, false, overflowCaseAt}, \
    {"tenths", 700, 1e-4, 1e-7
