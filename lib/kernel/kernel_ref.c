/* Reference kernels: plain C, double arithmetic in both precisions. Built without contraction. */
#include "kernel/kernel.h"

#include <math.h>
#include <stddef.h>

#include "base/cpu.h"

static const real *row_m(const np_block *k, int64_t i)
{
    return k->m + k->row[i] * k->d;
}

static const real *row_lam(const np_block *k, int64_t i)
{
    return k->lam + i * k->d;
}

static void widen(np_range *range, double m, double v, double lam)
{
    if (!(v > 0 && v <= (double)NP_REAL_MAX && lam <= (double)NP_REAL_MAX &&
          fabs(m) <= (double)NP_REAL_MAX))
        range->bad = 1;
    range->v_min = v < range->v_min ? v : range->v_min;
    range->v_max = v > range->v_max ? v : range->v_max;
    range->m_max = fabs(m) > range->m_max ? fabs(m) : range->m_max;
}

static void fill(const np_block *k, const real *v, real *lam, np_range *range)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m_i = row_m(k, i), *v_i = v + k->row[i] * k->d;
        for (int64_t j = 0; j < k->d; j++) {
            real *out = &lam[i * k->d + j];
            *out = 1 / v_i[j];
            if (range)
                widen(range, (double)m_i[j], (double)v_i[j], (double)*out);
        }
    }
}

static void sums(const np_block *k, const real *c, const double *centre, double *L, double *h)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m = row_m(k, i), *lam = row_lam(k, i);
        for (int64_t j = 0; j < k->d; j++) {
            const double x = (double)c[i] * (double)lam[j];
            L[j] += x;
            h[j] += x * ((double)m[j] - centre[j]);
        }
    }
}

static void quad(const np_block *k, const double *E, const double *V, double *q)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m = row_m(k, i), *lam = row_lam(k, i);
        double sum = 0;
        for (int64_t j = 0; j < k->d; j++) {
            const double x = (double)m[j] - E[j];
            sum += (double)lam[j] * (x * x + V[j]);
        }
        q[i] = sum;
    }
}

static void dot(const np_block *k, const double *E, const double *dL, const double *dh, double *s)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m = row_m(k, i), *lam = row_lam(k, i);
        double sum = 0;
        for (int64_t j = 0; j < k->d; j++)
            sum += (double)lam[j] * (dL[j] + dh[j] * ((double)m[j] - E[j]));
        s[i] = sum;
    }
}

static void push_row(const np_block *k, int64_t i, int64_t n_terms, const np_term *terms,
                     const real *c, real *dm, real *dv)
{
    const real *m = row_m(k, i), *lam = row_lam(k, i);
    for (int64_t j = 0; j < k->d; j++) {
        const double l = (double)lam[j];
        double gm = 0, gl = 0;
        for (int64_t t = 0; t < n_terms; t++) {
            const np_term *u = &terms[t];
            const double a = (double)u->a[i], b = (double)u->b[i], x = (double)m[j] - u->E[j];
            gm += a * u->dh[j] + b * x;
            gl += a * (u->dL[j] + u->dh[j] * x) + 0.5 * b * (x * x + u->V[j]);
        }
        if (dm)
            dm[j] = np_saturate((double)dm[j] + l * gm);
        if (dv)
            dv[j] = np_saturate((double)dv[j] - l * (l * gl + (double)c[i]));
    }
}

static void push(const np_block *k, int64_t n_terms, const np_term *terms, const real *c, real *dm,
                 real *dv)
{
    for (int64_t i = 0; i < k->n; i++) {
        const int64_t at = k->row[i] * k->d;
        push_row(k, i, n_terms, terms, c, dm ? dm + at : NULL, dv ? dv + at : NULL);
    }
}

const np_kernels NP_REAL(np_kernels_ref) = {fill, sums, quad, dot, push};

const np_kernels *NP_REAL(np_kernels_choose)(uint32_t cpu)
{
#ifdef NP_HAVE_AVX2
    if (cpu & NP_CPU_AVX2_FMA)
        return &NP_REAL(np_kernels_avx2);
#endif
    (void)cpu;
    return &NP_REAL(np_kernels_ref);
}
