/* Kernels over plain arrays against their definitions. The including file sets NP_REAL_BITS. */
#ifndef KERNEL_NUMBERS_H
#define KERNEL_NUMBERS_H

#include "kernel_bench.h"

/* Numbers of all sizes, up to those that only a double can hold. */
static void check_narrow(bench *k)
{
    const int64_t n = k->block.d;
    double *x = new_doubles(n);
    real *out = new_reals(n);
    for (int64_t j = 0; j < n; j++)
        x[j] = rng_normal(&rng) * exp(rng_uniform(&rng, -700, 700));
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, k->variant->table->narrow(n, x, out), k->name);
    for (int64_t j = 0; j < n; j++) {
        const real want = np_saturate(x[j]);
        check_same_bits(sizeof(real), &want, &out[j], k->name, __LINE__);
    }
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        x[(n - 1 + b * 7) % n] = bad[b];
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, k->variant->table->narrow(n, x, out), k->name);
        x[(n - 1 + b * 7) % n] = 1;
    }
}

/* --- logs, log1p --- */

/* Roundings of each product, of the logarithm of each tile, and of the sum of these. */
static void expect_logs(const bench *k, const double *out)
{
    const int64_t d = k->block.d;
    for (int64_t i = 0; i < k->block.n; i++) {
        long double want = 0, size = 1;
        for (int64_t j = 0; j < d; j++) {
            const long double x = logl((long double)k->lam[i * d + j]);
            want += x;
            size += fabsl(x);
        }
        expect(k, "log", i, want, out[i], 0x1p-52 * ((double)d + 2 * (double)size));
    }
}

/* As they are drawn, and with a number in every second row that is not normal. */
static void check_logs(bench *k)
{
    const int64_t n = k->block.n, d = k->block.d;
    double *out = new_doubles(n);
    k->block.lam = k->lam;
    k->variant->table->logs(&k->block, out);
    expect_logs(k, out);
    for (int64_t i = 0; i < n; i += 2)
        k->lam[i * d + i % d] = (real)(NP_REAL_BITS == 32 ? 0x1.8p-130 : 0x1.8p-1030);
    k->variant->table->logs(&k->block, out);
    expect_logs(k, out);
}

static void check_log1p(bench *k)
{
    const int64_t n = k->block.d;
    double *x = new_doubles(n), *out = new_doubles(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = i % 7 == 3 ? 0 : exp(rng_uniform(&rng, i % 2 ? -700 : -2, i % 2 ? 700 : 2));
    x[n / 2] = -0x1p-54;
    k->variant->table->log1p(n, x, out);
    for (int64_t i = 0; i < n; i++) {
        const long double want = log1pl((long double)x[i]);
        expect(k, "log1p", i, want, out[i], 2 * 0x1p-52 * (double)fabsl(want));
    }
    x[n / 2] = n % 2 ? (double)NAN : (double)INFINITY;
    k->variant->table->log1p(n, x, out);
    TEST_ASSERT_FALSE_MESSAGE(isfinite(out[n / 2]), k->name);
}

/* --- tame, within --- */

/* Each number in turn is one that does not pass. Doubles are always tame. */
static void check_tame(bench *k)
{
    const int64_t n = k->block.d;
    const real bad[] = {(real)0x1.1p20, (real)-0x1.1p20, (real)INFINITY, (real)NAN};
    real *x = new_reals(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = i % 2 ? (real)0x1p20 : (real)-0x1p20;
    TEST_ASSERT_TRUE_MESSAGE(k->variant->table->tame(n, x), k->name);
    for (int64_t i = 0; i < n; i++) {
        const real good = x[i];
        x[i] = bad[i % 4];
        TEST_ASSERT_EQUAL_INT_MESSAGE(NP_REAL_BITS == 64, k->variant->table->tame(n, x), k->name);
        x[i] = good;
    }
}

static void check_within(bench *k)
{
    const int64_t n = k->block.d;
    const real *y = draw_coefficients(n);
    real *x = new_reals(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = 2 * y[i];
    TEST_ASSERT_TRUE_MESSAGE(k->variant->table->within(n, 2, x, y), k->name);
    for (int64_t i = 0; i < n; i++) {
        const real good = x[i];
        x[i] = i % 2 ? (real)NAN : good + (real)fabs((double)good) / 4 + 1;
        TEST_ASSERT_FALSE_MESSAGE(k->variant->table->within(n, 2, x, y), k->name);
        x[i] = good;
    }
}

/* --- widen, accumulate, weights, slopes --- */

static void check_widen(bench *k)
{
    const int64_t n = k->block.d;
    const real *x = draw_coefficients(n);
    double *out = new_doubles(n);
    k->variant->table->widen(n, x, out);
    for (int64_t j = 0; j < n; j++)
        TEST_ASSERT_TRUE_MESSAGE(out[j] == (double)x[j], k->name);
}

static void check_accumulate(bench *k)
{
    const int64_t n = k->block.d;
    const real *start = draw_coefficients(n);
    double *x = new_doubles(n);
    real *y = new_reals(n);
    for (int64_t j = 0; j < n; j++) {
        x[j] = rng_normal(&rng) * exp(rng_uniform(&rng, -700, 700));
        y[j] = start[j];
    }
    k->variant->table->accumulate(n, x, y);
    for (int64_t j = 0; j < n; j++) {
        const real want = np_saturate((double)start[j] + x[j]);
        check_same_bits(sizeof(real), &want, &y[j], k->name, __LINE__);
    }
}

static void check_weights(bench *k)
{
    const int64_t n = k->block.d;
    const double *q = draw_doubles(n, 1), top = 3.5, base = 0.25;
    real *w = new_reals(n);
    k->variant->table->weights(n, top, base, q, w);
    for (int64_t i = 0; i < n; i++) {
        const long double want = top / (base + 0.5L * q[i]);
        expect(k, "w", i, want, (double)w[i], (REAL_UNIT + 4 * 0x1p-53) * (double)want);
    }
}

static void check_slopes(bench *k)
{
    const int64_t n = k->block.d;
    const real *omega = draw_coefficients(n), *w = draw_coefficients(n);
    const double *s = draw_doubles(n, 0), top = 3.5;
    real *dd = new_reals(n);
    const double got = k->variant->table->slopes(n, top, omega, w, s, dd);
    long double sum = 0;
    double size = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double y = (long double)omega[i] * s[i] * w[i] / top;
        sum += y * (1 - (long double)w[i]);
        size += (double)fabsl(y) * (1 + fabs((double)w[i]));
        expect(k, "dd", i, -y * w[i], (double)dd[i],
               (REAL_UNIT + 6 * 0x1p-53) * (double)fabsl(y * w[i]));
    }
    expect(k, "sum", 0, sum, got, ((double)n + 8) * 0x1p-53 * size);
}

#endif /* KERNEL_NUMBERS_H */
