#include "pgm/prior.h"

#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "pgm/znode.h"

const np_znode np_given_node = {0};

/* The one field that a factor noise adds after those of the z-node; no name: none. */
static const np_field noise_fields[NP_NOISE_KINDS] = {
    [NP_NOISE_STUDENT] = {"log_c0", NP_SHAPE_ONE, NP_LOG, 1e-2, 0},
};

static int64_t field_count(const npagg_prior *prior, const np_field *field)
{
    switch (field->shape) {
    case NP_SHAPE_KD:
        return prior->k * prior->d;
    case NP_SHAPE_K:
        return prior->k;
    default:
        return 1;
    }
}

const np_field *np_prior_field(const npagg_prior *prior, int32_t i, int64_t *offset, int64_t *count)
{
    const np_znode *z = prior->z;
    *offset = 0;
    for (int32_t f = 0; f < z->n_fields; f++) {
        *count = field_count(prior, &z->fields[f]);
        if (f == i)
            return &z->fields[f];
        *offset += *count;
    }
    const np_field *last = &noise_fields[prior->noise];
    *count = last->name ? field_count(prior, last) : 0;
    if (i == z->n_fields && last->name)
        return last;
    *offset += *count;
    return NULL;
}

/* K (2 D + 1) + 1 numbers, twice over, must be addressable. */
static npagg_status check_shape(npagg_ctx *ctx, int64_t d, int64_t k, npagg_prior **out)
{
    int64_t kd, bytes;
    NP_REQUIRE(ctx, out, "prior_create: out is NULL");
    if (d < 1)
        return np_fail(ctx, NPAGG_E_ARG, "prior_create: d = %" PRId64 ", want >= 1", d);
    if (k < 1)
        return np_fail(ctx, NPAGG_E_ARG, "prior_create: k = %" PRId64 ", want >= 1", k);
    if (!np_size_mul(k, d, &kd) || !np_size_mul(kd, 8 * (int64_t)sizeof(double), &bytes))
        return np_fail(ctx, NPAGG_E_ARG,
                       "prior_create: k = %" PRId64 " times d = %" PRId64
                       " does not fit into memory addresses",
                       k, d);
    return NPAGG_OK;
}

static npagg_status create(npagg_ctx *ctx, const np_znode *z, np_noise_kind noise, int64_t d,
                           int64_t k, npagg_prior **out)
{
    NP_REQUIRE(ctx, ctx, "prior_create: ctx is NULL");
    NP_TRY(check_shape(ctx, d, k, out));
    npagg_prior *prior = np_memory_get(ctx->mem, sizeof *prior);
    if (!prior)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for a prior");
    *prior = (npagg_prior){ctx->mem, z, noise, d, k};
    *out = prior;
    return NPAGG_OK;
}

npagg_status npagg_prior_create_gaussian(npagg_ctx *ctx, int64_t d, npagg_prior **out)
{
    return create(ctx, &np_gaussian_node, NP_NOISE_GAUSSIAN, d, 1, out);
}

npagg_status npagg_prior_create_mixture(npagg_ctx *ctx, int64_t d, int64_t k, npagg_prior **out)
{
    return create(ctx, &np_mixture_node, NP_NOISE_GAUSSIAN, d, k, out);
}

npagg_status npagg_prior_create_student(npagg_ctx *ctx, int64_t d, npagg_prior **out)
{
    return create(ctx, &np_hierarchy_node, NP_NOISE_STUDENT, d, 1, out);
}

void npagg_prior_destroy(npagg_prior *prior)
{
    if (prior)
        np_memory_free(prior->mem, prior, sizeof *prior);
}

npagg_status npagg_prior_set_robust(npagg_prior *prior, int32_t on)
{
    if (!prior || on < 0 || on > 1)
        return NPAGG_E_ARG;
    prior->noise = on ? NP_NOISE_STUDENT : NP_NOISE_GAUSSIAN;
    return NPAGG_OK;
}

int64_t npagg_prior_param_count(const npagg_prior *prior)
{
    if (!prior)
        return -1;
    int64_t offset, count;
    int32_t i = 0;
    while (np_prior_field(prior, i, &offset, &count))
        i++;
    return offset;
}

int64_t npagg_prior_param_offset(const npagg_prior *prior, const char *field)
{
    int64_t offset, count;
    const np_field *f;
    for (int32_t i = 0; prior && field && (f = np_prior_field(prior, i, &offset, &count)); i++)
        if (strcmp(f->name, field) == 0)
            return offset;
    return -1;
}

int64_t npagg_prior_posterior_count(const npagg_prior *prior)
{
    if (!prior)
        return -1;
    return 2 * prior->k * prior->d + (prior->z->has_logw ? prior->k : 0);
}

int64_t npagg_prior_posterior_offset(const npagg_prior *prior, const char *field)
{
    if (!prior || !field)
        return -1;
    if (strcmp(field, "mean") == 0)
        return 0;
    if (strcmp(field, "var") == 0)
        return prior->k * prior->d;
    return prior->z->has_logw && strcmp(field, "logw") == 0 ? 2 * prior->k * prior->d : -1;
}
