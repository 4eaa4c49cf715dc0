/* Rows that are asked for ahead, one by one, and rows that are not give the same bits: which of the
 * two it is depends on the number of threads. The including file sets NP_REAL_BITS. */
#ifndef KERNEL_FAR_H
#define KERNEL_FAR_H

#include "kernel_bench.h"

/* All that a kernel without a visit leaves. */
typedef struct {
    double *L, *h, *sum_L, *sum_h, *quad, *dot;
    np_range range;
    real *dm, *dv, *flat_dm, *flat_dv;
} leavings;

static double *zeros(int64_t n)
{
    double *x = new_doubles(n);
    memset(x, 0, (size_t)n * sizeof *x);
    return x;
}

static real *copy_of(int64_t n, const real *from)
{
    real *x = new_reals(n);
    memcpy(x, from, (size_t)n * sizeof *x);
    return x;
}

static leavings run_kernels(const bench *k, int64_t ahead, int32_t inner, const real *before)
{
    const np_kernels *t = k->variant->table;
    const np_term *u = &k->terms[0];
    const int64_t n = k->block.n, d = k->block.d, size = k->rows * d;
    np_block block = k->block;
    np_term flat = *u;
    leavings x = {
        .L = zeros(d),
        .h = zeros(d),
        .sum_L = zeros(d),
        .sum_h = zeros(d),
        .quad = zeros(n),
        .dot = zeros(n),
        .range = {1, 1, 0, 0},
        .dm = copy_of(size, before),
        .dv = copy_of(size, before),
        .flat_dm = copy_of(size, before),
        .flat_dv = copy_of(size, before),
    };
    block.ahead = ahead;
    block.inner = inner;
    flat.a = flat.b = NULL;
    t->first(&block, k->c, &x.range, x.L, x.h);
    t->sums(&block, k->c, u->E, x.sum_L, x.sum_h);
    t->quad(&block, u->E, u->V, x.quad);
    t->dot(&block, u->E, u->dL, u->dh, x.dot);
    t->push(&block, 3, k->terms, k->c, x.dm, x.dv);
    t->push(&block, 1, &flat, k->c, x.flat_dm, x.flat_dv);
    return x;
}

static void check_far_into(bench *k, int32_t inner)
{
    const int64_t n = k->block.n, d = k->block.d, size = k->rows * d;
    const int64_t wide = (int64_t)sizeof(double), narrow = (int64_t)sizeof(real);
    const real *before = draw_coefficients(size);
    const leavings a = run_kernels(k, 0, 0, before), b = run_kernels(k, 16384, inner, before);
    check_same_bits(d * wide, a.L, b.L, k->name, __LINE__);
    check_same_bits(d * wide, a.h, b.h, k->name, __LINE__);
    check_same_bits(d * wide, a.sum_L, b.sum_L, k->name, __LINE__);
    check_same_bits(d * wide, a.sum_h, b.sum_h, k->name, __LINE__);
    check_same_bits(n * wide, a.quad, b.quad, k->name, __LINE__);
    check_same_bits(n * wide, a.dot, b.dot, k->name, __LINE__);
    check_same_bits(size * narrow, a.dm, b.dm, k->name, __LINE__);
    check_same_bits(size * narrow, a.dv, b.dv, k->name, __LINE__);
    check_same_bits(size * narrow, a.flat_dm, b.flat_dm, k->name, __LINE__);
    check_same_bits(size * narrow, a.flat_dv, b.flat_dv, k->name, __LINE__);
    TEST_ASSERT_TRUE(a.range.v_min == b.range.v_min && a.range.v_max == b.range.v_max &&
                     a.range.m_max == b.range.m_max && a.range.bad == b.range.bad);
}

static void check_far(bench *k)
{
    check_far_into(k, 0);
    check_far_into(k, 1);
}

#endif /* KERNEL_FAR_H */
