/* What the operations share: checks, the walk over sets, and q's way into double and back. */
#include "posterior/posterior.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/parallel.h"
#include "base/size.h"

/* B Q and B S D numbers can be addressed. */
static npagg_status check_sizes(const np_posterior *op)
{
    int64_t per_set, count;
    if (op->n_sets < 0)
        return np_fail(op->ctx, NPAGG_E_ARG, "%s: n_sets = %" PRId64 ", want >= 0", op->name,
                       op->n_sets);
    if (op->n_samples < 0)
        return np_fail(op->ctx, NPAGG_E_ARG, "%s: n_samples = %" PRId64 ", want >= 0", op->name,
                       op->n_samples);
    if (!np_size_mul(op->n_samples, op->d, &per_set) ||
        !np_size_mul(op->n_sets, np_max(per_set, op->count), &count) ||
        !np_size_mul(count, (int64_t)sizeof(real), &count))
        return np_fail(op->ctx, NPAGG_E_ARG,
                       "%s: n_sets = %" PRId64 " with n_samples = %" PRId64
                       " does not fit into memory addresses",
                       op->name, op->n_sets, op->n_samples);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_posterior_begin)(npagg_ctx *ctx, const npagg_prior *prior, const char *name,
                                         int64_t n_sets, int64_t n_samples, np_posterior *op)
{
    if (!ctx || !prior)
        return np_fail(ctx, NPAGG_E_ARG, "%s: %s is NULL", name, ctx ? "prior" : "ctx");
    *op = (np_posterior){
        .ctx = ctx,
        .name = name,
        .d = prior->d,
        .k = prior->k,
        .count = npagg_prior_posterior_count(prior),
        .has_logw = prior->z->has_logw,
        .n_sets = n_sets,
        .n_samples = n_samples,
    };
    return check_sizes(op);
}

npagg_status NP_REAL(np_posterior_check_array)(const np_posterior *op, const char *name,
                                               const void *array, int64_t per_set)
{
    if (!array && op->n_sets > 0 && per_set > 0)
        return np_fail(op->ctx, NPAGG_E_ARG, "%s: %s is NULL", op->name, name);
    return NPAGG_OK;
}

static int all_finite(int64_t n, const real *x)
{
    int finite = 1;
    for (int64_t j = 0; j < n; j++)
        finite &= fabs((double)x[j]) <= (double)NP_REAL_MAX;
    return finite;
}

static int all_positive(int64_t n, const real *x)
{
    int positive = 1;
    for (int64_t j = 0; j < n; j++)
        positive &= x[j] > 0;
    return positive;
}

/* The text for the first bad number of set b. */
static npagg_status explain_q(const np_posterior *op, const char *name, int64_t b, const real *q)
{
    const int64_t kd = op->k * op->d;
    int64_t j = 0;
    while (all_finite(1, q + j) && (j < kd || j >= 2 * kd || q[j] > 0))
        j++;
    if (j >= 2 * kd)
        return np_fail(op->ctx, NPAGG_E_NUMERIC,
                       "%s: %s[%" PRId64 "] logw[%" PRId64 "] = %g, want finite", op->name, name, b,
                       j - 2 * kd, (double)q[j]);
    const int is_var = j >= kd;
    const int64_t at = is_var ? j - kd : j;
    return np_fail(op->ctx, NPAGG_E_NUMERIC,
                   "%s: %s[%" PRId64 "] %s[%" PRId64 ",%" PRId64 "] = %g, want %s", op->name, name,
                   b, is_var ? "var" : "mean", at / op->d, at % op->d, (double)q[j],
                   is_var && !(q[j] > 0) ? "> 0" : "finite");
}

npagg_status NP_REAL(np_posterior_check_q)(const np_posterior *op, const char *name, const real *q)
{
    const int64_t kd = op->k * op->d;
    NP_TRY(NP_REAL(np_posterior_check_array)(op, name, q, op->count));
    for (int64_t b = 0; b < op->n_sets; b++) {
        const real *q_b = q + b * op->count;
        if (!all_finite(op->count, q_b) || !all_positive(kd, q_b + kd))
            return explain_q(op, name, b, q_b);
    }
    return NPAGG_OK;
}

static npagg_status explain_row(const np_posterior *op, const char *name, int64_t row,
                                int64_t columns, const real *x)
{
    char column[32] = "";
    int64_t j = 0;
    while (all_finite(1, x + j))
        j++;
    if (columns > 0)
        snprintf(column, sizeof column, ",%" PRId64, j);
    return np_fail(op->ctx, NPAGG_E_NUMERIC, "%s: %s[%" PRId64 ",%" PRId64 "%s] = %g, want finite",
                   op->name, name, row / op->n_samples, row % op->n_samples, column, (double)x[j]);
}

npagg_status NP_REAL(np_posterior_check_finite)(const np_posterior *op, const char *name,
                                                const real *x, int64_t columns)
{
    const int64_t width = np_max(columns, 1);
    NP_TRY(NP_REAL(np_posterior_check_array)(op, name, x, op->n_samples));
    for (int64_t row = 0; row < op->n_sets * op->n_samples; row++)
        if (!all_finite(width, x + row * width))
            return explain_row(op, name, row, columns, x + row * width);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_posterior_check_mode)(const np_posterior *op, const char *name)
{
    if (op->mode < 0 || op->mode > 2)
        return np_fail(op->ctx, NPAGG_E_ARG, "%s: %s = %d, want 0..2", op->name, name,
                       (int)op->mode);
    return NPAGG_OK;
}

typedef struct walk {
    const np_posterior *op;
    np_posterior_fn fn;
    np_slate *slates;
} walk;

static void run_set(void *arg, int64_t b, int32_t worker)
{
    const walk *w = arg;
    w->fn(w->op, b, &w->slates[worker]);
}

npagg_status NP_REAL(np_posterior_run)(const np_posterior *op, np_posterior_fn fn)
{
    np_arena scratch = {0};
    const int32_t workers = np_threads(op->ctx);
    np_slates_take(&scratch, op->d, op->k, workers);
    NP_TRY(np_scratch_begin(op->ctx, &scratch));
    walk w = {op, fn, np_slates_take(&scratch, op->d, op->k, workers)};
    np_parallel(op->ctx, op->n_sets, run_set, &w);
    return NPAGG_OK;
}

void NP_REAL(np_posterior_load)(const np_posterior *op, const real *q, int64_t b, np_post *post)
{
    const int64_t kd = op->k * op->d;
    q += b * op->count;
    NP_REAL(np_widen)(kd, q, post->mean);
    NP_REAL(np_widen)(kd, q + kd, post->var);
    if (op->has_logw)
        NP_REAL(np_widen)(op->k, q + 2 * kd, post->logw);
    else
        post->logw[0] = 0;
}

void NP_REAL(np_posterior_density)(const np_posterior *op, const real *q, int64_t b,
                                   np_density *q_b)
{
    NP_REAL(np_posterior_load)(op, q, b, &q_b->post);
    np_density_begin(q_b);
}

void NP_REAL(np_posterior_add)(const np_posterior *op, const np_dpost *dpost, int64_t b, real *dq)
{
    const int64_t kd = op->k * op->d;
    if (!dq)
        return;
    dq += b * op->count;
    NP_REAL(np_add)(kd, dpost->mean, dq);
    NP_REAL(np_add)(kd, dpost->var, dq + kd);
    if (op->has_logw)
        NP_REAL(np_add)(op->k, dpost->logw, dq + 2 * kd);
}
