#include "golden_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/*
 * Of an mba file, mix_mean, mix_var, logq_z and g2_* are compared in test_posterior_golden and
 * logC is not given out by the library; of an rba file, b_tilde, the *_half and *_terms arrays and
 * mu_step, var_step are not given out by it.
 */
const dialect dialects[DIALECTS] = {
    {"ba_", GAUSSIAN, 0, 0, "mu0", "S0", "logZ", "w_logZ", NULL, {"g"}},
    {"mba_", MIXTURE, 0, 0, "mu_k", "S_k", "logZ", "w_logZ", "w_pi", {"g", "gpi"}},
    {"rba_", STUDENT, 1, 0, NULL, NULL, "elbo", "w_elbo", NULL, {"g", "gz"}},
    {"rmba_", MIXTURE, 1, 1, "mu_k", "S_k", "bound", "w_bound", "w_logw", {"g", "gz"}},
    {"wba_", MIXTURE, 0, 1, "mu_k", "S_k", "bound", "w_bound", "w_logw", {"g", "gz"}},
};

const dialect *dialect_of(const char *file_name)
{
    for (int i = 0; i < DIALECTS; i++)
        if (strncmp(file_name, dialects[i].prefix, strlen(dialects[i].prefix)) == 0)
            return &dialects[i];
    return NULL;
}

static void join_name(char full[OUTPUT_NAME], const char *gradient, const char *name)
{
    snprintf(full, OUTPUT_NAME, "%s%s%s", gradient, *gradient ? "_" : "", name);
}

const output *outputs_find(const outputs *out, const char *gradient, const char *name)
{
    char full[OUTPUT_NAME];
    join_name(full, gradient, name);
    for (int a = 0; a < out->count; a++)
        if (strcmp(out->list[a].name, full) == 0)
            return &out->list[a];
    return NULL;
}

/* Room for one more array [n] of the list. */
static double *add_output(outputs *out, const char *gradient, const char *name, int64_t n)
{
    TEST_ASSERT_LESS_THAN_INT(MAX_OUTPUTS, out->count);
    output *o = &out->list[out->count];
    join_name(o->name, gradient, name);
    o->n = n;
    o->x = calloc((size_t)n + 1, sizeof *o->x);
    TEST_ASSERT_NOT_NULL(o->x);
    out->count++;
    return o->x;
}

static void add_copy(outputs *out, const char *gradient, const char *name, int64_t n,
                     const double *x)
{
    double *y = add_output(out, gradient, name, n);
    if (n > 0)
        memcpy(y, x, (size_t)n * sizeof *y);
}

void outputs_clear(outputs *out)
{
    while (out->count > 0)
        free(out->list[--out->count].x);
}

double output_largest(const output *o)
{
    double max = 0;
    for (int64_t i = 0; i < o->n; i++)
        max = fmax(max, fabs(o->x[i]));
    return max;
}

/* --- the problem of a file --- */

/* Where a field of the parameters begins. */
static double *param(const golden_case *c, const char *field)
{
    return c->problem->params + npagg_prior_param_offset(c->prior, field);
}

static void load_params(const golden_case *c, const golden *file)
{
    const problem *p = c->problem;
    int64_t kd = p->k * p->d;
    if (p->kind == STUDENT) {
        *param(c, "log_a0") = log(golden_scalar(file, "a0"));
        *param(c, "log_b0") = log(golden_scalar(file, "b0"));
    } else {
        const double *var = golden_array(file, c->dialect->var, kd);
        memcpy(param(c, "mean"), golden_array(file, c->dialect->mean, kd), (size_t)kd * 8);
        for (int64_t j = 0; j < kd; j++)
            param(c, "logvar")[j] = log(var[j]);
    }
    if (p->kind == MIXTURE)
        memcpy(param(c, "logits"), golden_array(file, "logit_pi", p->k), (size_t)p->k * 8);
    if (p->robust)
        *param(c, "log_c0") = log(golden_scalar(file, "c0"));
}

/* x [B,n] into its place in the posteriors q [B,Q]. */
static void load_posterior(const golden_case *c, const char *field, int64_t n, const double *x,
                           double *q)
{
    const problem *p = c->problem;
    int64_t begin = npagg_prior_posterior_offset(c->prior, field);
    for (int64_t b = 0; b < p->n_sets; b++)
        memcpy(q + b * p->q + begin, x + b * n, (size_t)n * sizeof *x);
}

/* dq [B,Q], dlogz [B]; w_pi weighs the weights, not their logs: dlogw = w_pi post_pi. */
static void load_cotangents(const golden_case *c, const golden *file)
{
    problem *p = c->problem;
    int64_t bk = p->n_sets * p->k, kd = p->k * p->d;
    load_posterior(c, "mean", kd, golden_array(file, "w_mu", bk * p->d), p->dq);
    load_posterior(c, "var", kd, golden_array(file, "w_var", bk * p->d), p->dq);
    if (p->kind == MIXTURE) {
        int64_t begin = npagg_prior_posterior_offset(c->prior, "logw");
        load_posterior(c, "logw", p->k, golden_array(file, c->dialect->dlogw, bk), p->dq);
        if (strcmp(c->dialect->dlogw, "w_pi") == 0)
            for (int64_t j = 0; j < bk; j++)
                p->dq[j / p->k * p->q + begin + j % p->k] *= golden_array(file, "post_pi", bk)[j];
    }
    memcpy(p->dlogz, golden_array(file, c->dialect->dlogz, p->n_sets), (size_t)p->n_sets * 8);
}

static void load_rows(const golden_case *c, const golden *file)
{
    problem *p = c->problem;
    int64_t nd = p->n * p->d;
    memcpy(p->m, golden_array(file, "m", nd), (size_t)nd * sizeof *p->m);
    memcpy(p->v, golden_array(file, "V", nd), (size_t)nd * sizeof *p->v);
    if (p->weight)
        memcpy(p->weight, golden_array(file, "weight", p->n), (size_t)p->n * sizeof *p->weight);
}

void golden_case_load(golden_case *c, const dialect *how, const golden *file, int as_gaussian)
{
    int64_t n_sets = (int64_t)golden_scalar(file, "B"), d = (int64_t)golden_scalar(file, "D");
    int64_t k = (int64_t)golden_scalar_or(file, "K", 1);
    const double *offsets = golden_array(file, "offsets", n_sets + 1);
    test_rng rng = {1};
    *c = (golden_case){.dialect = how};
    int64_t *sizes = calloc((size_t)n_sets + 1, sizeof *sizes);
    TEST_ASSERT_NOT_NULL(sizes);
    for (int64_t b = 0; b < n_sets; b++)
        sizes[b] = (int64_t)(offsets[b + 1] - offsets[b]);
    c->problem = problem_create(&rng, as_gaussian ? GAUSSIAN : how->kind, how->robust, d, k, n_sets,
                                sizes, how->weighted);
    free(sizes);
    c->problem->max_iters = (int32_t)golden_scalar_or(file, "steps", 1);
    ASSERT_OK(NULL, npagg_ctx_create(&c->ctx));
    c->prior = problem_prior(c->ctx, c->problem);
    load_params(c, file);
    load_rows(c, file);
    load_cotangents(c, file);
}

void golden_case_clear(golden_case *c)
{
    problem_destroy(c->problem);
    npagg_prior_destroy(c->prior);
    npagg_ctx_destroy(c->ctx);
    *c = (golden_case){0};
}

/* --- what the file says --- */

/* scale [n] times the array "gradient_theirs", the scalar of that name if n is 1 and it is one. */
static void want_param(const golden *file, const char *gradient, const char *theirs,
                       const char *ours, int64_t n, const double *scale, outputs *out)
{
    char name[64];
    int64_t count;
    snprintf(name, sizeof name, "%s_%s", gradient, theirs);
    int is_scalar = n == 1 && !golden_find(file, name, &count);
    double scalar = is_scalar ? golden_scalar(file, name) : 0;
    const double *g = is_scalar ? &scalar : golden_array(file, name, n);
    double *want = add_output(out, gradient, ours, n);
    for (int64_t j = 0; j < n; j++)
        want[j] = (scale ? scale[j] : 1) * g[j];
}

static void want_hyper(const golden *file, const char *gradient, const char *theirs,
                       const char *ours, outputs *out)
{
    double value = golden_scalar(file, theirs);
    want_param(file, gradient, theirs, ours, 1, &value, out);
}

static void want_gradients(const golden_case *c, const golden *file, const char *gradient,
                           outputs *out)
{
    const problem *p = c->problem;
    int64_t nd = p->n * p->d, kd = p->k * p->d;
    if (strcmp(gradient, "gpi") != 0) {
        want_param(file, gradient, "m", "m", nd, NULL, out);
        want_param(file, gradient, "V", "v", nd, NULL, out);
    }
    if (p->weight)
        want_param(file, gradient, "weight", "weight", p->n, NULL, out);
    if (p->kind == STUDENT) {
        want_hyper(file, gradient, "a0", "log_a0", out);
        want_hyper(file, gradient, "b0", "log_b0", out);
    } else {
        const double *var = golden_array(file, c->dialect->var, kd);
        want_param(file, gradient, c->dialect->mean, "mean", kd, NULL, out);
        want_param(file, gradient, c->dialect->var, "logvar", kd, var, out);
    }
    if (p->kind == MIXTURE)
        want_param(file, gradient, "logit_pi", "logits", p->k, NULL, out);
    if (p->robust)
        want_hyper(file, gradient, "c0", "log_c0", out);
}

/* E[beta_i]: c_tilde / d_tilde, or as the file says, or 1. */
static void want_weights(const golden_case *c, const golden *file, outputs *out)
{
    const problem *p = c->problem;
    double *w = add_output(out, "", "w", p->n);
    for (int64_t i = 0; i < p->n; i++)
        if (p->kind == STUDENT)
            w[i] = golden_scalar(file, "c_tilde") / golden_array(file, "d_tilde", p->n)[i];
        else
            w[i] = c->dialect->weighted ? golden_array(file, "beta", p->n)[i] : 1;
}

void golden_case_want(const golden_case *c, const golden *file, outputs *out)
{
    const problem *p = c->problem;
    int64_t bk = p->n_sets * p->k, t = p->max_iters;
    const double *trace = golden_array(file, c->dialect->logz, p->n_sets * t);
    add_copy(out, "", "mean", bk * p->d, golden_array(file, "post_mu", bk * p->d));
    add_copy(out, "", "var", bk * p->d, golden_array(file, "post_var", bk * p->d));
    if (p->kind == MIXTURE)
        add_copy(out, "", "logw", bk, golden_array(file, "log_post_pi", bk));
    add_copy(out, "", "trace", p->n_sets * t, trace);
    double *logz = add_output(out, "", "logz", p->n_sets);
    for (int64_t b = 0; b < p->n_sets; b++)
        logz[b] = trace[b * t + t - 1];
    want_weights(c, file, out);
    for (const char *const *gradient = c->dialect->gradients; *gradient; gradient++)
        want_gradients(c, file, *gradient, out);
}

/* --- what the library says --- */

static void got_posterior(const golden_case *c, const double *q, const char *field, int64_t n,
                          outputs *out)
{
    const problem *p = c->problem;
    int64_t begin = npagg_prior_posterior_offset(c->prior, field);
    double *x = add_output(out, "", field, p->n_sets * n);
    for (int64_t b = 0; b < p->n_sets; b++)
        memcpy(x + b * n, q + b * p->q + begin, (size_t)n * sizeof *x);
}

static float *rounded(int64_t n, const double *x)
{
    float *y = x ? calloc((size_t)n + 1, sizeof *y) : NULL;
    for (int64_t i = 0; y && i < n; i++)
        y[i] = (float)x[i];
    return y;
}

static npagg_status forward_f32(const golden_case *c, const npagg_vmp *vmp, const problem *p,
                                double *q, double *logz, npagg_cache *cache)
{
    float *params = rounded(p->p, p->params), *weight = rounded(p->n, p->weight);
    float *m = rounded(p->n * p->d, p->m), *v = rounded(p->n * p->d, p->v);
    npagg_status status =
        npagg_infer_forward_f32(c->ctx, c->prior, vmp, params, p->n_sets, p->offsets, m, v, weight,
                                (float *)q, (float *)logz, cache);
    free(params);
    free(weight);
    free(m);
    free(v);
    return status;
}

static npagg_status forward_f64(const golden_case *c, const npagg_vmp *vmp, const problem *p,
                                double *q, double *logz, npagg_cache *cache)
{
    return npagg_infer_forward_f64(c->ctx, c->prior, vmp, p->params, p->n_sets, p->offsets, p->m,
                                   p->v, p->weight, q, logz, cache);
}

/* bound [B,T] after each sweep; q and logz of this forward are of no interest. */
static void got_trace(const golden_case *c, const problem *p, int precision, outputs *out)
{
    npagg_vmp *vmp = problem_vmp(c->ctx, p);
    npagg_cache *cache = NULL;
    double *q = calloc((size_t)(p->n_sets * p->q) + 1, sizeof *q);
    double *logz = calloc((size_t)p->n_sets + 1, sizeof *logz);
    double *trace = add_output(out, "", "trace", p->n_sets * p->max_iters);
    ASSERT_OK(c->ctx, npagg_cache_create(c->ctx, &cache));
    ASSERT_OK(c->ctx, (precision == 32 ? forward_f32 : forward_f64)(c, vmp, p, q, logz, cache));
    for (int64_t b = 0; b < p->n_sets; b++)
        ASSERT_OK(c->ctx, npagg_infer_trace(c->ctx, cache, b, trace + b * p->max_iters));
    npagg_cache_destroy(cache);
    npagg_vmp_destroy(vmp);
    free(logz);
    free(q);
}

static void got_params(const golden_case *c, const double *dparams, const char *gradient,
                       outputs *out)
{
    static const char *const fields[] = {"mean", "logvar", "log_a0", "log_b0", "logits", "log_c0"};
    const problem *p = c->problem;
    const int64_t sizes[] = {p->k * p->d, p->k * p->d, 1, 1, p->k, 1};
    for (int f = 0; f < 6; f++) {
        int64_t begin = npagg_prior_param_offset(c->prior, fields[f]);
        if (begin >= 0)
            add_copy(out, gradient, fields[f], sizes[f], dparams + begin);
    }
}

static void got_gradients(const golden_case *c, const result *r, const char *gradient, outputs *out)
{
    const problem *p = c->problem;
    if (strcmp(gradient, "gpi") != 0) {
        add_copy(out, gradient, "m", p->n * p->d, r->dm);
        add_copy(out, gradient, "v", p->n * p->d, r->dv);
    }
    if (p->weight)
        add_copy(out, gradient, "weight", p->n, r->dweight);
    got_params(c, r->dparams, gradient, out);
}

/* The part of the loss a gradient is of: gz without the evidence, gpi the mixing weights alone. */
static problem *loss_part(const golden_case *c, const problem *whole, const char *gradient)
{
    problem *p = problem_copy(whole);
    if (strcmp(gradient, "g") == 0)
        return p;
    free(p->dlogz);
    p->dlogz = NULL;
    if (strcmp(gradient, "gpi") == 0)
        for (int64_t j = 0; j < p->n_sets * p->q; j++)
            if (p->kind != MIXTURE || j % p->q < npagg_prior_posterior_offset(c->prior, "logw"))
                p->dq[j] = 0;
    return p;
}

static void got_values(const golden_case *c, const result *r, outputs *out)
{
    const problem *p = c->problem;
    got_posterior(c, r->q, "mean", p->k * p->d, out);
    got_posterior(c, r->q, "var", p->k * p->d, out);
    if (p->kind == MIXTURE)
        got_posterior(c, r->q, "logw", p->k, out);
    add_copy(out, "", "logz", p->n_sets, r->logz);
    add_copy(out, "", "w", p->n, r->w);
}

void golden_case_run(const golden_case *c, const problem *p, int precision, outputs *out)
{
    got_trace(c, p, precision, out);
    for (const char *const *gradient = c->dialect->gradients; *gradient; gradient++) {
        problem *part = loss_part(c, p, *gradient);
        result *r = problem_run(c->ctx, part, precision, 0);
        if (gradient == c->dialect->gradients)
            got_values(c, r, out);
        got_gradients(c, r, *gradient, out);
        result_destroy(r);
        problem_destroy(part);
    }
}
