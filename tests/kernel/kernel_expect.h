/* What sums over rows are to be. The including file sets NP_REAL_BITS. */
#ifndef KERNEL_EXPECT_H
#define KERNEL_EXPECT_H

#include "kernel_bench.h"

/* 1/v to the bit, where it was to be left. */
static void expect_stored(const bench *k)
{
    if (k->stored)
        check_same_bits(k->block.n * k->block.d * (int64_t)sizeof(real), k->lam, k->stored, k->name,
                        __LINE__);
}

/* h is wanted about e; `about` is what the rows were compared with, `before` the roundings to real of
 * what was summed. */
static void expect_sums(const bench *k, int64_t j, double about, double e, double before, double L0,
                        double h0, double L, double h)
{
    const double roundings = (double)k->block.n + 8;
    long double want_L = L0, want_h = h0;
    double size_L = fabs(L0), size_h = fabs(h0);
    for (int64_t i = 0; i < k->block.n; i++) {
        const long double x = (long double)k->c[i] * lam_of(k, i, j), m = m_of(k, i, j);
        want_L += x;
        want_h += x * (m - e);
        size_L += (double)fabsl(x);
        size_h += (double)(fabsl(x) * (fabsl(m) + fabs(about)));
    }
    expect(k, "L", j, want_L, L, roundings * k->variant->unit * size_L);
    expect(k, "h", j, want_h, h, (roundings * k->variant->unit + before * REAL_UNIT) * size_h);
}

#endif /* KERNEL_EXPECT_H */
