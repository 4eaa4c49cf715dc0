#define NP_REAL_BITS 64

#include "disturbed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "rounding.h"

static int active;
static uint64_t seed;

/* +u or -u, a pure function of the number and the seed. */
static double rounding_of(double x)
{
    test_rng rng;
    memcpy(&rng.state, &x, sizeof rng.state);
    rng.state ^= seed;
    return rng_int(&rng, 0, 1) ? UNIT_ROUNDOFF : -UNIT_ROUNDOFF;
}

static double disturb(double x)
{
    return x * (1 + rounding_of(x));
}

/* A sum whose terms have this size in all. */
static double disturb_sum(double sum, double size)
{
    return sum + rounding_of(sum) * size;
}

static const double *row_m(const np_block *k, int64_t i)
{
    return k->m + k->row[i] * k->d;
}

/* 1/v, left where it is wanted if it was not known. */
static double lam_of(const np_block *k, int64_t i, int64_t j)
{
    if (k->lam)
        return k->lam[i * k->d + j];
    const double lam = 1 / k->v[k->row[i] * k->d + j];
    if (k->store)
        k->store[i * k->d + j] = lam;
    return lam;
}

static void sums(const np_block *k, const double *c, const double *centre, double *L, double *h)
{
    for (int64_t j = 0; j < k->d; j++) {
        double sum_L = 0, sum_h = 0, size_L = 0, size_h = 0;
        for (int64_t i = 0; i < k->n; i++) {
            const double x = disturb(c[i]) * lam_of(k, i, j);
            const double y = x * (row_m(k, i)[j] - disturb(centre[j]));
            sum_L += x;
            sum_h += y;
            size_L += fabs(x);
            size_h += fabs(y);
        }
        L[j] += disturb_sum(sum_L, size_L);
        h[j] += disturb_sum(sum_h, size_h);
    }
}

/* As sums, about the block's first row; what it sees is undisturbed. */
static void first(const np_block *k, const double *c, np_range *range, double *L, double *h)
{
    double *nowhere = calloc(2 * (size_t)k->d, sizeof *nowhere);
    np_kernels_ref_f64.first(k, c, range, nowhere, nowhere + k->d);
    free(nowhere);
    for (int64_t j = 0; j < k->d; j++) {
        const double about = row_m(k, 0)[j];
        double sum_L = 0, sum_h = 0, size_L = 0, size_h = 0;
        for (int64_t i = 0; i < k->n; i++) {
            const double x = disturb(c[i]) / k->v[k->row[i] * k->d + j];
            const double y = x * (row_m(k, i)[j] - about);
            sum_L += x;
            sum_h += y;
            size_L += fabs(x);
            size_h += fabs(y);
        }
        sum_L = disturb_sum(sum_L, size_L);
        L[j] += sum_L;
        h[j] += disturb_sum(sum_h, size_h) + about * sum_L;
    }
}

static void quad(const np_block *k, const double *E, const double *V, double *q)
{
    for (int64_t i = 0; i < k->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < k->d; j++) {
            const double x = row_m(k, i)[j] - disturb(E[j]);
            sum += lam_of(k, i, j) * (x * x + disturb(V[j]));
        }
        q[i] = disturb(sum);
    }
}

static void dot(const np_block *k, const double *E, const double *dL, const double *dh, double *s)
{
    for (int64_t i = 0; i < k->n; i++) {
        double sum = 0, size = 0;
        for (int64_t j = 0; j < k->d; j++) {
            const double x = row_m(k, i)[j] - disturb(E[j]), lam = lam_of(k, i, j);
            sum += lam * (disturb(dL[j]) + disturb(dh[j]) * x);
            size += lam * (fabs(dL[j]) + fabs(dh[j] * x));
        }
        s[i] = disturb_sum(sum, size);
    }
}

/* L and h from the rows of a visit that count, each with its lam and g. */
static void add_rows(const np_pairs *k, const double *c, const np_visit *visit)
{
    for (int64_t j = 0; visit->L && j < k->d; j++) {
        double sum_L = 0, sum_h = 0, size_L = 0, size_h = 0;
        for (int64_t i = 0; i < k->n; i++) {
            const double x = disturb(c[i]) * k->lam[i * k->d + j];
            const double y = disturb(c[i]) * k->g[i * k->d + j];
            sum_L += x;
            sum_h += y;
            size_L += fabs(x);
            size_h += fabs(y);
        }
        visit->L[j] += disturb_sum(sum_L, size_L);
        visit->h[j] += disturb_sum(sum_h, size_h);
    }
}

/* What all rows count, and their sums. */
static int weigh_rows(const np_pairs *k, const double *s, const np_visit *visit)
{
    const np_kernels *exact = &np_kernels_ref_f64;
    for (int64_t i = 0; i < k->n; i++) {
        const double one = 1, *omega = visit->omega ? &visit->omega[i] : &one;
        visit->s[i] = s[i] + (visit->q_0 ? visit->q_0[i] : 0);
        if (visit->w) {
            *visit->slopes +=
                exact->slopes(1, visit->top, omega, &visit->w[i], &s[i], &visit->c[i]);
            continue;
        }
        exact->weights(1, visit->top, visit->base, &visit->s[i], &visit->c[i]);
        visit->c[i] *= *omega;
    }
    add_rows(k, visit->c, visit);
    return 1;
}

static double visit_row(const np_block *k, int64_t i, const double *E, const double *a,
                        const double *b, double *lam, double *g)
{
    double sum = 0, size = 0;
    for (int64_t j = 0; j < k->d; j++) {
        const double x = row_m(k, i)[j] - disturb(E[j]), y = b ? disturb(b[j]) : x;
        lam[j] = lam_of(k, i, j);
        g[j] = disturb(lam[j] * x);
        sum += lam[j] * (disturb(a[j]) + x * y);
        size += lam[j] * (fabs(a[j]) + fabs(x * y));
    }
    return disturb_sum(sum, size);
}

/* What is to be found in the room of all rows is left there. */
static int visit(const np_block *k, const double *E, const double *a, const double *b,
                 const np_visit *visit)
{
    const size_t cells = (size_t)(k->n * k->d);
    double s[NP_BLOCK_ROWS], *lam = calloc(2 * cells, sizeof *lam), *g = lam + cells;
    for (int64_t i = 0; i < k->n; i++)
        s[i] = visit_row(k, i, E, a, b, lam + i * k->d, g + i * k->d);
    const np_pairs pairs = {k->n, k->d, lam, g};
    if (visit->rows >= k->n) {
        memcpy(visit->g, g, cells * sizeof *g);
        if (!k->lam)
            memcpy(visit->lam, lam, cells * sizeof *lam);
    }
    const int summed = weigh_rows(&pairs, s, visit);
    free(lam);
    return summed;
}

static int visit_pairs(const np_pairs *k, const double *a, const double *b, const np_visit *visit)
{
    double s[NP_BLOCK_ROWS];
    for (int64_t i = 0; i < k->n; i++) {
        double sum = 0, size = 0;
        for (int64_t j = 0; j < k->d; j++) {
            const double x = k->lam[i * k->d + j] * disturb(a[j]),
                         y = k->g[i * k->d + j] * disturb(b[j]);
            sum += x + y;
            size += fabs(x) + fabs(y);
        }
        s[i] = disturb_sum(sum, size);
    }
    return weigh_rows(k, s, visit);
}

static void pair_quad(int64_t d, const double *E, const double *V, const double *centre,
                      const double *V_0, double *a, double *b)
{
    np_kernels_ref_f64.pair_quad(d, E, V, centre, V_0, a, b);
}

static void pair_dot(int64_t d, const double *E, const double *dL, const double *dh,
                     const double *centre, double *a, double *b)
{
    np_kernels_ref_f64.pair_dot(d, E, dL, dh, centre, a, b);
}

/* Both gradients of one number, and the sizes of what they are made of. */
typedef struct {
    double m, lam, size_m, size_lam;
} pushed;

static void add_term(const np_term *t, int64_t i, int64_t j, double m, pushed *p)
{
    const double a = t->a ? disturb(t->a[i]) : 1, b = t->b ? disturb(t->b[i]) : 0,
                 x = m - disturb(t->E[j]);
    const double dL = disturb(t->dL[j]), dh = disturb(t->dh[j]), V = disturb(t->V[j]);
    p->m += a * dh + b * x;
    p->lam += a * (dL + dh * x) + 0.5 * b * (x * x + V);
    p->size_m += fabs(a * dh) + fabs(b * x);
    p->size_lam += fabs(a) * (fabs(dL) + fabs(dh * x)) + 0.5 * fabs(b) * (x * x + V);
}

static void push(const np_block *k, int64_t n_terms, const np_term *terms, const double *c,
                 double *dm, double *dv)
{
    for (int64_t i = 0; i < k->n; i++)
        for (int64_t j = 0; j < k->d; j++) {
            const int64_t at = k->row[i] * k->d + j;
            const double lam = lam_of(k, i, j);
            pushed p = {0};
            for (int64_t t = 0; t < n_terms; t++)
                add_term(&terms[t], i, j, k->m[at], &p);
            if (dm)
                dm[at] += lam * disturb_sum(p.m, p.size_m);
            if (dv)
                dv[at] -= lam * disturb_sum(lam * p.lam + c[i], lam * p.size_lam + fabs(c[i]));
        }
}

static int narrow(int64_t n, const double *x, double *out)
{
    return np_kernels_ref_f64.narrow(n, x, out);
}

static void widen(int64_t n, const double *x, double *out)
{
    np_kernels_ref_f64.widen(n, x, out);
}

static int tame(int64_t n, const double *x)
{
    return np_kernels_ref_f64.tame(n, x);
}

static int within(int64_t n, double ratio, const double *x, const double *y)
{
    return np_kernels_ref_f64.within(n, ratio, x, y);
}

static void accumulate(int64_t n, const double *x, double *y)
{
    np_kernels_ref_f64.accumulate(n, x, y);
}

/* What comes out is disturbed where it is used. */
static void weights(int64_t n, double top, double base, const double *q, double *w)
{
    np_kernels_ref_f64.weights(n, top, base, q, w);
}

static double slopes(int64_t n, double top, const double *omega, const double *w, const double *s,
                     double *dd)
{
    return np_kernels_ref_f64.slopes(n, top, omega, w, s, dd);
}

/* In double, of 1/v as it is stored. */
static void logs(const np_block *k, double *out)
{
    np_kernels_ref_f64.logs(k, out);
}

static void log_of_one_and(int64_t n, const double *x, double *out)
{
    np_kernels_ref_f64.log1p(n, x, out);
}

static const np_kernels disturbed_kernels = {
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
    .widen = widen,
    .tame = tame,
    .within = within,
    .accumulate = accumulate,
    .weights = weights,
    .slopes = slopes,
    .logs = logs,
    .log1p = log_of_one_and,
};

void disturbed_begin(uint64_t with)
{
    active = 1;
    seed = with;
}

void disturbed_end(void)
{
    active = 0;
}

const np_kernels *__real_np_kernels_choose_f64(uint32_t cpu);
const np_kernels *__wrap_np_kernels_choose_f64(uint32_t cpu);

const np_kernels *__wrap_np_kernels_choose_f64(uint32_t cpu)
{
    return active ? &disturbed_kernels : __real_np_kernels_choose_f64(cpu);
}
