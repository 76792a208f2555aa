/* The canonical tree once more, read from its definition and not from the lesson: see reference.c. */
#ifndef CANONICAL_TREE_REFERENCE_H
#define CANONICAL_TREE_REFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The tree, and the orders that are taken for it. */
enum ref_order {
    REF_TREE,
    REF_ASCENDING,    /* strides 1, 2, ... 128 in a leaf */
    REF_ODD_MERGED,   /* an odd last node goes into its left neighbour */
    REF_HALF_APART,   /* a level pairs node i with node i + half */
    REF_LEFT_FOLD,    /* sample after sample */
    REF_LEAF_FOLD,    /* leaf result after leaf result */
    REF_THREE_LEAVES  /* chunks of three leaves, each by the rule, then the rule over them */
};

/* ref_SUBJECT(order, x, n): the bits of x[0] .. x[n - 1], n >= 1, combined in that order by a sum,
 * a difference or the integer mix. No NaN is made canonical here. */
uint32_t ref_float_sum(enum ref_order order, const float *x, uint64_t n);
uint32_t ref_float_difference(enum ref_order order, const float *x, uint64_t n);
uint64_t ref_double_sum(enum ref_order order, const double *x, uint64_t n);
uint64_t ref_double_difference(enum ref_order order, const double *x, uint64_t n);
uint64_t ref_mix(enum ref_order order, const uint64_t *x, uint64_t n);

/* Sample i of the lesson's input. */
float ref_float_sample(uint64_t i);
double ref_double_sample(uint64_t i);
uint64_t ref_integer_sample(uint64_t i);

#ifdef __cplusplus
}
#endif
#endif
