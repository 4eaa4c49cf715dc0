#include "pgm/params.h"

#include <inttypes.h>
#include <math.h>

#include "base/rng.h"
#include "kernel/kernel.h"
#include "kernel/special.h"

static int is_log(const np_field *field)
{
    return field->transform == NP_LOG || field->transform == NP_LOGVAR;
}

/* Within these exp(x) and its inverse are normal numbers of the caller's precision. */
static const double log_limit = NP_REAL_BITS == 32 ? 87.3 : 708.3;

/* The first of n numbers that is beyond `most` or NaN. */
static int64_t find_wild(int64_t n, const double *x, double most)
{
    int64_t i = 0;
    while (i < n && fabs(x[i]) <= most)
        i++;
    return i;
}

/* x -> value of one field; the index of the first number that has none, or -1. */
static int64_t constrain(const np_dims *dims, const np_kernels *kernels, const np_field *field,
                         int64_t n, const real *x, double *value)
{
    const double most = is_log(field) ? log_limit : (double)NP_REAL_MAX;
    kernels->widen(n, x, value);
    if (!dims->tame(n, value, most, value, most))
        return find_wild(n, value, most);
    if (is_log(field))
        dims->exponential(n, value);
    if (field->transform == NP_LOGITS) {
        const double sum = np_log_sum_exp(n, value);
        for (int64_t i = 0; i < n; i++)
            value[i] -= sum;
    }
    return -1;
}

static npagg_status explain(npagg_ctx *ctx, const np_field *field, int64_t at, int64_t i, double x)
{
    const char *within = NP_REAL_BITS == 32 ? "-87.3 .. 87.3" : "-708.3 .. 708.3";
    return np_fail(ctx, NPAGG_E_NUMERIC, "params[%" PRId64 "] (%s[%" PRId64 "]) = %g, want %s", at,
                   field->name, i, x, is_log(field) ? within : "finite");
}

npagg_status NP_REAL(np_pgm_load)(npagg_ctx *ctx, const npagg_prior *prior, const real *params,
                                  double *value, np_pgm *pgm)
{
    const np_dims *dims = np_dims_choose(ctx->cpu);
    const np_kernels *kernels = NP_REAL(np_kernels_choose)(ctx->cpu);
    int64_t offset, count;
    const np_field *field;
    for (int32_t i = 0; (field = np_prior_field(prior, i, &offset, &count)); i++) {
        const int64_t bad = constrain(dims, kernels, field, count, params + offset, value + offset);
        if (bad >= 0)
            return explain(ctx, field, offset + bad, bad, (double)params[offset + bad]);
    }
    *pgm = (np_pgm){prior, prior->d, prior->k, offset, value, dims};
    return NPAGG_OK;
}

/* Gradient of logits, whose values are log pi. */
static void chain_logits(int64_t n, const double *log_pi, double *g)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += g[i];
    for (int64_t i = 0; i < n; i++)
        g[i] -= exp(log_pi[i]) * total;
}

/* From the gradient that np_transform names to that of x, in place. */
static void chain_field(const np_dims *dims, np_transform transform, int64_t n, const double *value,
                        double *g)
{
    if (transform == NP_LOGVAR)
        dims->negative_over(n, value, g);
    else if (transform == NP_LOGITS)
        chain_logits(n, value, g);
    else if (transform == NP_LOG)
        for (int64_t i = 0; i < n; i++)
            g[i] *= value[i];
}

void NP_REAL(np_pgm_chain)(const npagg_ctx *ctx, const np_pgm *pgm, double *grad, real *dparams)
{
    int64_t offset, count;
    const np_field *field;
    for (int32_t f = 0; (field = np_prior_field(pgm->prior, f, &offset, &count)); f++)
        chain_field(pgm->dims, field->transform, count, pgm->value + offset, grad + offset);
    NP_REAL(np_kernels_choose)(ctx->cpu)->accumulate(pgm->p, grad, dparams);
}

npagg_status NP_REAL(npagg_prior_init_params)(npagg_ctx *ctx, const npagg_prior *prior,
                                              uint64_t seed, real *params)
{
    NP_REQUIRE(ctx, ctx, "prior_init_params: ctx is NULL");
    NP_REQUIRE(ctx, prior, "prior_init_params: prior is NULL");
    NP_REQUIRE(ctx, params, "prior_init_params: params is NULL");
    int64_t offset, count;
    const np_field *field;
    for (int32_t f = 0; (field = np_prior_field(prior, f, &offset, &count)); f++) {
        const double scaled = field->start * (double)prior->d;
        const double x = field->transform == NP_LOG ? log(scaled) : field->start;
        for (int64_t i = 0; i < count; i++) {
            const double noise = field->start_sd > 0
                                     ? np_rng_normal(seed ^ NP_RNG_INIT, 0, (uint64_t)(offset + i))
                                     : 0;
            params[offset + i] = (real)(x + field->start_sd * noise);
        }
    }
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_prior_constrained)(npagg_ctx *ctx, const npagg_prior *prior,
                                              const real *params, real *out)
{
    NP_REQUIRE(ctx, ctx, "prior_constrained: ctx is NULL");
    NP_REQUIRE(ctx, prior, "prior_constrained: prior is NULL");
    NP_REQUIRE(ctx, params, "prior_constrained: params is NULL");
    NP_REQUIRE(ctx, out, "prior_constrained: out is NULL");
    np_pgm pgm;
    np_arena arena = {0};
    const int64_t p = npagg_prior_param_count(prior);
    NP_TAKE(&arena, p, double);
    NP_TRY(np_scratch_begin(ctx, &arena));
    double *value = NP_TAKE(&arena, p, double);
    NP_TRY(NP_REAL(np_pgm_load)(ctx, prior, params, value, &pgm));
    int64_t offset, count;
    const np_field *field;
    for (int32_t f = 0; (field = np_prior_field(prior, f, &offset, &count)); f++)
        for (int64_t i = offset; i < offset + count; i++)
            out[i] = np_saturate(field->transform == NP_LOGITS ? exp(value[i]) : value[i]);
    return NPAGG_OK;
}
