/* Reference kernels: plain C, double arithmetic in both precisions. Built without contraction. */
#include "kernel/kernel.h"

#include <math.h>
#include <stddef.h>

#include "base/cpu.h"
#include "kernel/special.h"
#include "kernel/tame.h"

static const real *row_m(const np_block *k, int64_t i)
{
    return k->m + k->row[i] * k->d;
}

/* Left where it is wanted if it was not known. */
static double lam_of(const np_block *k, int64_t i, int64_t j)
{
    if (k->lam)
        return (double)k->lam[i * k->d + j];
    const real lam = 1 / k->v[k->row[i] * k->d + j];
    if (k->store)
        k->store[i * k->d + j] = lam;
    return (double)lam;
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

/* One dimension. */
static void first_look(const np_block *k, int64_t j, const real *c, np_range *range, double *L,
                       double *h)
{
    const double first = (double)row_m(k, 0)[j];
    double sum_L = 0, sum_h = 0;
    for (int64_t i = 0; i < k->n; i++) {
        const double m = (double)row_m(k, i)[j], lam = lam_of(k, i, j), x = (double)c[i] * lam;
        widen(range, m, (double)k->v[k->row[i] * k->d + j], lam);
        sum_L += x;
        sum_h += x * (m - first);
    }
    *L += sum_L;
    *h += sum_h + first * sum_L;
}

static void first(const np_block *k, const real *c, np_range *range, double *L, double *h)
{
    np_block fresh = *k;
    fresh.lam = NULL;
    for (int64_t j = 0; k->n > 0 && j < k->d; j++)
        first_look(&fresh, j, c, range, &L[j], &h[j]);
}

static void sums(const np_block *k, const real *c, const double *centre, double *L, double *h)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m = row_m(k, i);
        for (int64_t j = 0; j < k->d; j++) {
            const double x = (double)c[i] * lam_of(k, i, j);
            L[j] += x;
            h[j] += x * ((double)m[j] - centre[j]);
        }
    }
}

static void quad(const np_block *k, const double *E, const double *V, double *q)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m = row_m(k, i);
        double sum = 0;
        for (int64_t j = 0; j < k->d; j++) {
            const double x = (double)m[j] - E[j];
            sum += lam_of(k, i, j) * (x * x + V[j]);
        }
        q[i] = sum;
    }
}

static void dot(const np_block *k, const double *E, const double *dL, const double *dh, double *s)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m = row_m(k, i);
        double sum = 0;
        for (int64_t j = 0; j < k->d; j++)
            sum += lam_of(k, i, j) * (dL[j] + dh[j] * ((double)m[j] - E[j]));
        s[i] = sum;
    }
}

static void weights(int64_t n, double top, double base, const double *q, real *w)
{
    for (int64_t i = 0; i < n; i++)
        w[i] = np_saturate(top / (base + 0.5 * q[i]));
}

static double slopes(int64_t n, double top, const real *omega, const real *w, const double *s,
                     real *dd)
{
    const double by = 1 / top;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)w[i], y = (double)omega[i] * s[i] * (by * x);
        dd[i] = np_saturate(-y * x);
        sum += y * (1 - x);
    }
    return sum;
}

/* Row i, given the sum over its dimensions: what it counts, and its share of the sums over rows. */
static void count_row(int64_t d, int64_t i, double s, const real *lam, const real *g,
                      const np_visit *visit)
{
    const real omega = visit->omega ? visit->omega[i] : 1;
    real c;
    if (visit->w) {
        *visit->slopes += slopes(1, visit->top, &omega, &visit->w[i], &s, &c);
    } else {
        const double q_0 = visit->q_0 ? visit->q_0[i] : 0;
        s += q_0;
        if (visit->q_0 && visit->stale)
            *visit->stale |= !(visit->floor + 0.5 * q_0 <= visit->grow * (visit->floor + 0.5 * s));
        weights(1, visit->top, visit->base, &s, &c);
        c = np_saturate((double)omega * (double)c);
    }
    visit->s[i] = s;
    visit->c[i] = c;
    for (int64_t j = 0; visit->L && j < d; j++) {
        visit->L[j] += (double)c * (double)lam[j];
        visit->h[j] += (double)c * (double)g[j];
    }
}

/* One row: lam and g into the room, then its sums. */
static void visit_row(const np_block *k, int64_t i, const double *E, const double *a,
                      const double *b, const np_visit *visit)
{
    const int64_t at = i % visit->rows * k->d;
    const real *m = row_m(k, i);
    real *g = visit->g + at;
    double s = 0;
    for (int64_t j = 0; j < k->d; j++) {
        const double x = (double)m[j] - E[j], lam = lam_of(k, i, j);
        if (!k->lam)
            visit->lam[at + j] = (real)lam;
        g[j] = (real)(lam * x);
        s += lam * (a[j] + (b ? b[j] : x) * x);
    }
    count_row(k->d, i, s, k->lam ? k->lam + i * k->d : visit->lam + at, g, visit);
}

static int visit(const np_block *k, const double *E, const double *a, const double *b,
                 const np_visit *visit)
{
    for (int64_t i = 0; i < k->n; i++)
        visit_row(k, i, E, a, b, visit);
    return 1;
}

static int visit_pairs(const np_pairs *k, const real *a, const real *b, const np_visit *visit)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *lam = k->lam + i * k->d, *g = k->g + i * k->d;
        double s = 0;
        for (int64_t j = 0; j < k->d; j++)
            s += (double)lam[j] * (double)a[j] + (double)g[j] * (double)b[j];
        count_row(k->d, i, s, lam, g, visit);
    }
    return 1;
}

static void pair_quad(int64_t d, const double *E, const double *V, const double *centre,
                      const double *V_0, real *a, real *b)
{
    for (int64_t j = 0; j < d; j++) {
        const double e = E[j] - centre[j];
        a[j] = (real)(e * e + (V[j] - V_0[j]));
        b[j] = (real)(-2 * e);
    }
}

static void pair_dot(int64_t d, const double *E, const double *dL, const double *dh,
                     const double *centre, real *a, real *b)
{
    for (int64_t j = 0; j < d; j++) {
        a[j] = (real)(dL[j] - dh[j] * (E[j] - centre[j]));
        b[j] = (real)dh[j];
    }
}

static void push_row(const np_block *k, int64_t i, int64_t n_terms, const np_term *terms,
                     const real *c, real *dm, real *dv)
{
    const real *m = row_m(k, i);
    for (int64_t j = 0; j < k->d; j++) {
        const double l = lam_of(k, i, j);
        double gm = 0, gl = 0;
        for (int64_t t = 0; t < n_terms; t++) {
            const np_term *u = &terms[t];
            const double a = u->a ? (double)u->a[i] : 1, x = (double)m[j] - u->E[j];
            const double b = u->b ? (double)u->b[i] : 0, square = u->b ? x * x + u->V[j] : 0;
            gm += a * u->dh[j] + b * x;
            gl += a * (u->dL[j] + u->dh[j] * x) + 0.5 * b * square;
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

static int narrow(int64_t n, const double *x, real *out)
{
    int finite = 1;
    for (int64_t j = 0; j < n; j++) {
        finite &= isfinite(x[j]) != 0;
        out[j] = np_saturate(x[j]);
    }
    return finite;
}

static void widen_numbers(int64_t n, const real *x, double *out)
{
    for (int64_t j = 0; j < n; j++)
        out[j] = (double)x[j];
}

static int tame(int64_t n, const real *x)
{
    return np_tame_rows(n, x);
}

static int within(int64_t n, real ratio, const real *x, const real *y)
{
    int32_t apart = 0;
    for (int64_t i = 0; i < n; i++)
        apart |= x[i] <= ratio * y[i] ? 0 : 1;
    return !apart;
}

static void accumulate(int64_t n, const double *x, real *y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = np_saturate((double)y[j] + x[j]);
}

static void logs(const np_block *k, double *out)
{
    for (int64_t i = 0; i < k->n; i++) {
        np_log_product p = {0, 1};
        for (int64_t j = 0; j < k->d; j++)
            np_log_add(&p, (double)k->lam[i * k->d + j]);
        out[i] = np_log_total(&p);
    }
}

static void log_of_one_and(int64_t n, const double *x, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = log1p(x[i]);
}

const np_kernels NP_REAL(np_kernels_ref) = {
    .first = first,
    .sums = sums,
    .quad = quad,
    .dot = dot,
    .visit = visit,
    .visit_pairs = visit_pairs,
    .pair_quad = pair_quad,
    .pair_dot = pair_dot,
    .push = push,
    .narrow = narrow,
    .widen = widen_numbers,
    .tame = tame,
    .within = within,
    .accumulate = accumulate,
    .weights = weights,
    .slopes = slopes,
    .logs = logs,
    .log1p = log_of_one_and,
};

const np_kernels *NP_REAL(np_kernels_choose)(uint32_t cpu)
{
#ifdef NP_HAVE_AVX512
    if ((cpu & NP_CPU_AVX512) && (cpu & NP_CPU_AVX2_FMA))
        return &NP_REAL(np_kernels_avx512);
#endif
#ifdef NP_HAVE_AVX2
    if (cpu & NP_CPU_AVX2_FMA)
        return &NP_REAL(np_kernels_avx2);
#endif
    (void)cpu;
    return &NP_REAL(np_kernels_ref);
}
