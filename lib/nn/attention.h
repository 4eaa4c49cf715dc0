/*
 * Attention among the points of one set, one head of it: columns head w .. head w + w - 1 of arrays
 * [n,R] with w = R / heads,
 *   p_ij = softmax over j of q_i . k_j / sqrt(R),   a_i = sum_j p_ij v_j
 * Query rows go in blocks, and p is computed again for backward: so a head of n points needs O(n)
 * memory. The bits depend on nothing but the set.
 */
#ifndef NP_ATTENTION_H
#define NP_ATTENTION_H

#include "nn/lanes.h"
#include "nn/linear.h"

typedef struct NP_REAL(np_attention) {
    const np_linear *linear;
    const np_lanes *lanes;
    int64_t width, heads; /* R and its number of equal parts */
} NP_REAL(np_attention);
#define np_attention NP_REAL(np_attention)

/* Numbers of room that sets of at most n points need, NP_GEMM_SLACK included. */
int64_t NP_REAL(np_attention_room)(const np_attention *at, int64_t n);

/* q, k, v [n,R] -> a [n,R]; stats [n,heads,2] is for backward. */
void NP_REAL(np_attention_forward)(const np_attention *at, int64_t head, int64_t n, const real *q,
                                   const real *k, const real *v, real *a, real *stats, real *room);

/* dq, dk, dv [n,R] += from da [n,R]. */
void NP_REAL(np_attention_backward)(const np_attention *at, int64_t head, int64_t n, const real *q,
                                    const real *k, const real *v, const real *a, const real *stats,
                                    const real *da, real *dq, real *dk, real *dv, real *room);

#endif /* NP_ATTENTION_H */
