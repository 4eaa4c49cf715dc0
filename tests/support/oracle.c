#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define LOG_2PI 1.83787706640934548356066L

/* One set on its way through the sweeps; the arrays are the oracle's. */
typedef struct {
    const problem *p;
    int64_t first, n;  /* its rows */
    double a0, b0, c0; /* NaN where the prior has none */
    double ealpha;     /* E[alpha] = a / b */
    long double a, b;
    double *w;                     /* [n] */
    double *mean, *var, *logw;     /* [K,D], [K,D], [K] (logw has one entry 0 for K = 1) */
    double *prior_logw, *evidence; /* [K] */
    double *E, *V;                 /* [D] */
} set;

/* Recurrence up to 20, then the asymptotic series: below 1e-19 relative to log x. */
static long double digamma(long double x)
{
    static const long double c[] = {1.L / 12,  -1.L / 120,     1.L / 252, -1.L / 240,
                                    1.L / 132, -691.L / 32760, 1.L / 12};
    long double shift = 0, series = 0;
    for (; x < 20; x++)
        shift -= 1 / x;
    for (int j = 6; j >= 0; j--)
        series = (series + c[j]) / (x * x);
    return shift + logl(x) - 0.5L / x - series;
}

/* KL(Gamma(a, b) || Gamma(a0, b0)). */
static long double kl_gamma(long double a, long double b, long double a0, long double b0)
{
    return (a - a0) * digamma(a) - lgammal(a) + lgammal(a0) + a0 * logl(b / b0) + a * (b0 - b) / b;
}

static long double kl_normal(long double mean, long double var, long double mean0, long double var0)
{
    return 0.5L * (logl(var0 / var) + var / var0 - 1 + (mean - mean0) * (mean - mean0) / var0);
}

static double log_sum_exp(int64_t n, const double *x)
{
    double top = -INFINITY;
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, x[i]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i] - top);
    return top + (double)logl(sum);
}

static double multiplicity(const set *s, int64_t i)
{
    return s->p->weight ? s->p->weight[s->first + i] : 1;
}

static double prior_mean(const set *s, int64_t kj)
{
    return s->p->kind == STUDENT ? 0 : s->p->params[kj];
}

static double prior_var(const set *s, int64_t kj)
{
    return s->p->kind == STUDENT ? 1 / s->ealpha : exp(s->p->params[s->p->k * s->p->d + kj]);
}

/* The set's rows as one factor N(z_j | mbar, 1 / L): (S1), (S2). */
static void merge_rows(const set *s, int64_t j, double *L, double *mbar)
{
    long double lambda = 0, h = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (multiplicity(s, i) == 0)
            continue;
        int64_t at = (s->first + i) * s->p->d + j;
        long double precision = (long double)(multiplicity(s, i) * s->w[i]) / s->p->v[at];
        lambda += precision;
        h += precision * s->p->m[at];
    }
    *L = (double)lambda;
    *mbar = lambda > 0 ? (double)(h / lambda) : 0;
}

/* Dimension j of every component: posterior, and the log density of the merged factor under it. */
static void update_dimension(set *s, int64_t j)
{
    double L, mbar;
    merge_rows(s, j, &L, &mbar);
    for (int64_t k = 0; k < s->p->k; k++) {
        int64_t kj = k * s->p->d + j;
        double mu = prior_mean(s, kj), var = prior_var(s, kj);
        s->var[kj] = 1 / (1 / var + L);
        s->mean[kj] = s->var[kj] * (mu / var + L * mbar);
        if (L > 0)
            s->evidence[k] -= 0.5 * (log1p(L * var) + (mbar - mu) * (mbar - mu) / (var + 1 / L));
    }
}

static void update_moments(set *s)
{
    for (int64_t j = 0; j < s->p->d; j++) {
        long double mean = 0, var = 0;
        for (int64_t k = 0; k < s->p->k; k++)
            mean += exp(s->logw[k]) * (long double)s->mean[k * s->p->d + j];
        for (int64_t k = 0; k < s->p->k; k++) {
            long double apart = s->mean[k * s->p->d + j] - mean;
            var += exp(s->logw[k]) * (s->var[k * s->p->d + j] + apart * apart);
        }
        s->E[j] = (double)mean;
        s->V[j] = (double)var;
    }
}

/* Section 2: posterior of z under the weights as they are. */
static void update_z(set *s)
{
    int64_t n_comp = s->p->k;
    memset(s->evidence, 0, (size_t)n_comp * sizeof *s->evidence);
    for (int64_t j = 0; j < s->p->d; j++)
        update_dimension(s, j);
    for (int64_t k = 0; k < n_comp; k++)
        s->evidence[k] += s->prior_logw[k];
    double total = log_sum_exp(n_comp, s->evidence);
    for (int64_t k = 0; k < n_comp; k++)
        s->logw[k] = s->evidence[k] - total;
    update_moments(s);
}

/* (R1) E[sum_d (m_i - z)^2 / v_i]. */
static long double square_distance(const set *s, int64_t i)
{
    long double q = 0;
    for (int64_t j = 0; j < s->p->d; j++) {
        int64_t at = (s->first + i) * s->p->d + j;
        long double apart = (long double)s->p->m[at] - s->E[j];
        q += (apart * apart + s->V[j]) / s->p->v[at];
    }
    return q;
}

/* sum_d E[z^2]. */
static long double square_norm(const set *s)
{
    long double norm = 0;
    for (int64_t j = 0; j < s->p->d; j++)
        norm += (long double)s->E[j] * s->E[j] + s->V[j];
    return norm;
}

static void update_alpha(set *s)
{
    if (s->p->kind != STUDENT)
        return;
    s->a = s->a0 + 0.5L * s->p->d;
    s->b = s->b0 + 0.5L * square_norm(s);
    s->ealpha = (double)(s->a / s->b);
}

static void update_beta(set *s)
{
    for (int64_t i = 0; s->p->robust && i < s->n; i++)
        if (multiplicity(s, i) != 0)
            s->w[i] = (double)((s->c0 + 0.5L * s->p->d) / (s->c0 + 0.5L * square_distance(s, i)));
}

/* E[log N(m_i | z, v_i / beta_i)] - KL(q(beta_i) || p(beta_i)). */
static long double bound_of_row(const set *s, int64_t i)
{
    long double d = s->p->d, dist = square_distance(s, i), logs = 0;
    for (int64_t j = 0; j < s->p->d; j++)
        logs += LOG_2PI + logl(s->p->v[(s->first + i) * s->p->d + j]);
    if (!s->p->robust)
        return -0.5L * (logs + dist);
    long double shape = s->c0 + 0.5L * d, rate = s->c0 + 0.5L * dist;
    long double elog = digamma(shape) - logl(rate);
    return 0.5L * (d * elog - logs - shape / rate * dist) - kl_gamma(shape, rate, s->c0, s->c0);
}

/* E[log p(z | alpha)] + entropy of q(z) - KL(q(alpha) || p(alpha)). */
static long double bound_of_hierarchy(const set *s)
{
    long double elog = digamma(s->a) - logl(s->b);
    long double sum = 0.5L * (s->p->d * (elog + 1) - s->a / s->b * square_norm(s));
    for (int64_t j = 0; j < s->p->d; j++)
        sum += 0.5L * logl(s->V[j]);
    return sum - kl_gamma(s->a, s->b, s->a0, s->b0);
}

/* -KL(q(z, k) || p(z, k)). */
static long double bound_of_mixture(const set *s)
{
    long double sum = 0;
    for (int64_t k = 0; k < s->p->k; k++) {
        long double kl = s->logw[k] - s->prior_logw[k];
        for (int64_t j = k * s->p->d; j < (k + 1) * s->p->d; j++)
            kl += kl_normal(s->mean[j], s->var[j], prior_mean(s, j), prior_var(s, j));
        sum -= expl(s->logw[k]) * kl;
    }
    return sum;
}

static double bound(const set *s)
{
    long double sum = s->p->kind == STUDENT ? bound_of_hierarchy(s) : bound_of_mixture(s);
    for (int64_t i = 0; i < s->n; i++)
        if (multiplicity(s, i) != 0)
            sum += multiplicity(s, i) * bound_of_row(s, i);
    return (double)sum;
}

/* The set starts with w_i = 1 and E[alpha] = 1. */
static set set_begin(const problem *p, oracle *o, int64_t b)
{
    int64_t kd = p->k * p->d, first = p->offsets[b], n_hyper = p->robust;
    set s = {.p = p, .first = first, .n = p->offsets[b + 1] - first, .ealpha = 1};
    n_hyper += p->kind == STUDENT ? 2 : 0;
    s.a0 = p->kind == STUDENT ? exp(p->params[p->p - n_hyper]) : NAN;
    s.b0 = p->kind == STUDENT ? exp(p->params[p->p - n_hyper + 1]) : NAN;
    s.c0 = p->robust ? exp(p->params[p->p - 1]) : NAN;
    s.w = o->w + first;
    for (int64_t i = 0; i < s.n; i++)
        s.w[i] = multiplicity(&s, i) == 0 ? 0 : 1;
    s.mean = o->q + b * p->q;
    s.var = s.mean + kd;
    s.E = o->E + b * p->d;
    s.V = o->V + b * p->d;
    s.logw = calloc(3 * (size_t)p->k, sizeof(double));
    TEST_ASSERT_NOT_NULL(s.logw);
    s.prior_logw = s.logw + p->k;
    s.evidence = s.logw + 2 * p->k;
    const double *logits = p->params + 2 * kd;
    for (int64_t k = 0; p->kind == MIXTURE && k < p->k; k++)
        s.prior_logw[k] = logits[k] - log_sum_exp(p->k, logits);
    return s;
}

static void set_end(set *s)
{
    if (s->p->kind == MIXTURE)
        memcpy(s->var + s->p->k * s->p->d, s->logw, (size_t)s->p->k * sizeof *s->logw);
    free(s->logw);
}

static double residual(int64_t d, const double *E, const double *V, const double *E0,
                       const double *V0)
{
    double largest = 0;
    for (int64_t j = 0; j < d; j++) {
        largest = fmax(largest, fabs(E[j] - E0[j]) / sqrt(V[j]));
        largest = fmax(largest, fabs(log(V[j] / V0[j])));
    }
    return largest;
}

static void run_sweeps(set *s, oracle *o, int64_t b)
{
    const problem *p = s->p;
    int exact = p->kind != STUDENT && !p->robust;
    size_t bytes = (size_t)p->d * sizeof(double);
    double *E0 = malloc(bytes), *V0 = malloc(bytes);
    TEST_ASSERT_NOT_NULL(E0);
    TEST_ASSERT_NOT_NULL(V0);
    o->residual[b] = exact ? 0 : INFINITY;
    for (int32_t t = 0; t < (exact ? 1 : p->max_iters); t++) {
        memcpy(E0, s->E, bytes);
        memcpy(V0, s->V, bytes);
        update_z(s);
        update_alpha(s);
        update_beta(s);
        o->iters[b] = t + 1;
        o->logz[b] = o->trace[b * p->max_iters + t] = bound(s);
        if (t > 0)
            o->residual[b] = residual(p->d, s->E, s->V, E0, V0);
        if (t > 0 && p->tol > 0 && o->residual[b] <= p->tol)
            break;
    }
    free(E0);
    free(V0);
}

static oracle *oracle_create(const problem *p)
{
    oracle *o = calloc(1, sizeof *o);
    TEST_ASSERT_NOT_NULL(o);
    size_t n_sets = (size_t)p->n_sets, nd = n_sets * (size_t)p->d;
    o->q = calloc(n_sets * (size_t)p->q + 1, sizeof *o->q);
    o->logz = calloc(n_sets + 1, sizeof *o->logz);
    o->E = calloc(nd + 1, sizeof *o->E);
    o->V = calloc(nd + 1, sizeof *o->V);
    o->w = calloc((size_t)p->n + 1, sizeof *o->w);
    o->trace = calloc(n_sets * (size_t)p->max_iters + 1, sizeof *o->trace);
    o->residual = calloc(n_sets + 1, sizeof *o->residual);
    o->iters = calloc(n_sets + 1, sizeof *o->iters);
    TEST_ASSERT_TRUE(o->q && o->logz && o->E && o->V && o->w && o->trace && o->residual &&
                     o->iters);
    return o;
}

oracle *oracle_run(const problem *p)
{
    oracle *o = oracle_create(p);
    for (int64_t b = 0; b < p->n_sets; b++) {
        set s = set_begin(p, o, b);
        run_sweeps(&s, o, b);
        set_end(&s);
    }
    return o;
}

oracle *oracle_run_from(const problem *p, const double *E, const double *V)
{
    oracle *o = oracle_create(p);
    for (int64_t b = 0; b < p->n_sets; b++) {
        set s = set_begin(p, o, b);
        memcpy(s.E, E + b * p->d, (size_t)p->d * sizeof *E);
        memcpy(s.V, V + b * p->d, (size_t)p->d * sizeof *V);
        update_alpha(&s);
        update_beta(&s);
        update_z(&s);
        update_alpha(&s);
        update_beta(&s);
        o->logz[b] = bound(&s);
        set_end(&s);
    }
    return o;
}

void oracle_destroy(oracle *o)
{
    if (!o)
        return;
    free(o->q);
    free(o->logz);
    free(o->E);
    free(o->V);
    free(o->w);
    free(o->trace);
    free(o->residual);
    free(o->iters);
    free(o);
}

double oracle_loss(const problem *p, const oracle *o)
{
    double loss = 0;
    for (int64_t j = 0; p->dq && j < p->n_sets * p->q; j++)
        loss += p->dq[j] * o->q[j];
    for (int64_t b = 0; p->dlogz && b < p->n_sets; b++)
        loss += p->dlogz[b] * o->logz[b];
    return loss;
}
