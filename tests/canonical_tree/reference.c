/* A plain reading of the definition, top down: a node's value is asked for, and it asks for those
 * below it. Slow, without a buffer that is written twice, and on purpose in nothing like the
 * lesson's loops. Compiled with -ffp-contract=off, like every host file. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

static float float_sum(float a, float b) { return a + b; }
static float float_difference(float a, float b) { return a - b; }
static double double_sum(double a, double b) { return a + b; }
static double double_difference(double a, double b) { return a - b; }

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t scrambled = (a ^ (a >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t left = (scrambled << 7) | (scrambled >> 57);
    uint64_t right = b + ((b << 23) | (b >> 41));
    return left ^ right;
}

/* How many nodes stand on a level above n samples; level 0 are the leaves. */
static uint64_t nodes(uint64_t n, int level) {
    uint64_t count = (n + 255) / 256;
    for (; level > 0; level--) count = (count + 1) / 2;
    return count;
}

#define T float
#define OP float_sum
#define FN(name) float_sum_##name
#include "reference_tree.inc"
#undef T
#undef OP
#undef FN

#define T float
#define OP float_difference
#define FN(name) float_difference_##name
#include "reference_tree.inc"
#undef T
#undef OP
#undef FN

#define T double
#define OP double_sum
#define FN(name) double_sum_##name
#include "reference_tree.inc"
#undef T
#undef OP
#undef FN

#define T double
#define OP double_difference
#define FN(name) double_difference_##name
#include "reference_tree.inc"
#undef T
#undef OP
#undef FN

#define T uint64_t
#define OP mix
#define FN(name) mix_##name
#include "reference_tree.inc"
#undef T
#undef OP
#undef FN

static uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static uint64_t double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

uint32_t ref_float_sum(enum ref_order order, const float *x, uint64_t n) {
    return float_bits(float_sum_in(order, x, n));
}
uint32_t ref_float_difference(enum ref_order order, const float *x, uint64_t n) {
    return float_bits(float_difference_in(order, x, n));
}
uint64_t ref_double_sum(enum ref_order order, const double *x, uint64_t n) {
    return double_bits(double_sum_in(order, x, n));
}
uint64_t ref_double_difference(enum ref_order order, const double *x, uint64_t n) {
    return double_bits(double_difference_in(order, x, n));
}
uint64_t ref_mix(enum ref_order order, const uint64_t *x, uint64_t n) { return mix_in(order, x, n); }

static uint32_t scrambled(uint64_t i) {
    uint32_t z = (uint32_t)i * UINT32_C(2654435761);
    z = z ^ (z >> 15);
    z = z * UINT32_C(2246822519);
    return z ^ (z >> 13);
}
float ref_float_sample(uint64_t i) {
    int32_t centered = (int32_t)(scrambled(i) >> 8) - 8388608;
    return (float)centered / 8388608.0f;
}
double ref_double_sample(uint64_t i) { return (double)ref_float_sample(i) / 3.0; }
uint64_t ref_integer_sample(uint64_t i) {
    return scrambled(i) * UINT64_C(0x9e3779b97f4a7c15) + i;
}
