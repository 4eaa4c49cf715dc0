#include "model/model.h"

#include <inttypes.h>
#include <npagg/decoder.h>
#include <npagg/encoder.h>
#include <npagg/posterior.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "pgm/znode.h"

static npagg_status check_match(npagg_ctx *ctx, const char *what, int64_t got, const char *of,
                                int64_t want)
{
    if (got == want)
        return NPAGG_OK;
    return np_fail(ctx, NPAGG_E_ARG, "model_create: %s = %" PRId64 ", want %" PRId64 " as %s", what,
                   got, want, of);
}

static npagg_status check_stages(npagg_ctx *ctx, const npagg_encoder *encoder,
                                 const npagg_prior *prior, const npagg_decoder *decoder)
{
    const char *of = np_encoder_is_per_set(encoder) ? "the encoder" : "the prior";
    NP_TRY(check_match(ctx, "encoder d", encoder->d, of, prior->d));
    NP_TRY(check_match(ctx, "decoder d", decoder->d, of, prior->d));
    NP_TRY(check_match(ctx, "decoder x_dim", decoder->x_dim, "the encoder", encoder->x_dim));
    return check_match(ctx, "decoder y_dim", decoder->y_dim, "the encoder", encoder->y_dim);
}

/* The posterior is exact and log Z is its evidence. */
static int has_evidence(const npagg_prior *prior)
{
    return prior->noise == NP_NOISE_GAUSSIAN && !prior->z->has_hyper && prior->z != &np_given_node;
}

/* Which KL divergence the objective means for this prior. */
static npagg_status settle_kl(npagg_ctx *ctx, const npagg_objective *objective,
                              const npagg_prior *prior, int32_t *kl)
{
    *kl = objective->kl;
    if (objective->kind == NPAGG_OBJECTIVE_ELBO_CLOSED) {
        *kl = NP_KL_EVIDENCE;
        if (!has_evidence(prior))
            return np_fail(
                ctx, NPAGG_E_UNSUP,
                "model_create: elbo_closed wants a gaussian or mixture prior that is not "
                "robust");
    }
    if (objective->kind == NPAGG_OBJECTIVE_ELBO && *kl == NPAGG_KL_AUTO)
        *kl = prior->k == 1         ? NPAGG_KL_CLOSED
              : has_evidence(prior) ? NP_KL_EVIDENCE
                                    : NPAGG_KL_SAMPLED;
    if (objective->kind == NPAGG_OBJECTIVE_ELBO && *kl == NPAGG_KL_CLOSED && prior->k > 1)
        return np_fail(ctx, NPAGG_E_UNSUP,
                       "model_create: the closed KL wants one component, the prior has %" PRId64,
                       prior->k);
    return NPAGG_OK;
}

static npagg_status check_samples(npagg_ctx *ctx, const npagg_objective *objective,
                                  const npagg_prior *prior)
{
    if (objective->sampling == NPAGG_SAMPLE_STRATIFIED && objective->samples < prior->k)
        return np_fail(ctx, NPAGG_E_ARG,
                       "model_create: %" PRId64 " samples, want at least %" PRId64
                       ", one per component, for stratified sampling",
                       objective->samples, prior->k);
    return NPAGG_OK;
}

/* Field i of the prior as a tensor. */
static int prior_tensor(const npagg_prior *prior, int64_t i, np_tensor *out)
{
    int64_t count;
    const np_field *field = np_prior_field(prior, (int32_t)i, &out->offset, &count);
    if (!field)
        return 0;
    snprintf(out->name, sizeof out->name, "%s", field->name);
    out->rows = field->shape == NP_SHAPE_KD ? prior->k : count;
    out->columns = field->shape == NP_SHAPE_KD ? prior->d : 0;
    return 1;
}

/* Tensor i of a stage, in that stage's own numbering. */
static int stage_tensor(const npagg_model *model, int stage, int64_t i, np_tensor *out)
{
    switch (stage) {
    case 0:
        return np_encoder_tensor(&model->encoder, i, out);
    case 1:
        return prior_tensor(&model->prior, i, out);
    default:
        return np_decoder_tensor(&model->decoder, i, out);
    }
}

/* The stages between encoder and decoder: *out is the prior, or what stands for it. */
static npagg_status find_prior(npagg_ctx *ctx, const npagg_encoder *encoder,
                               const npagg_prior *prior, const npagg_vmp *vmp, npagg_prior *out)
{
    if (!np_encoder_is_per_set(encoder)) {
        NP_REQUIRE(ctx, prior, "model_create: prior is NULL, an encoder of points wants one");
        *out = *prior;
        return NPAGG_OK;
    }
    NP_REQUIRE(ctx, !prior, "model_create: prior is given, want NULL with an encoder of sets");
    NP_REQUIRE(ctx, !vmp, "model_create: vmp is given, want NULL with an encoder of sets");
    *out = (npagg_prior){.z = &np_given_node, .d = encoder->d, .k = 1};
    return NPAGG_OK;
}

static const char *const stage_names[3] = {"encoder", "prior", "decoder"};

static int64_t stage_at(const npagg_model *model, int stage)
{
    const int64_t at[3] = {0, model->prior_at, model->decoder_at};
    return at[stage];
}

static int has_stage(const npagg_model *model, int stage)
{
    return stage != 1 || model->prior.z != &np_given_node;
}

/* Their number; fills tensors if not NULL. */
static int64_t list_tensors(const npagg_model *model, np_tensor *tensors)
{
    int64_t n = 0;
    np_tensor t;
    for (int stage = 0; stage < 3; stage++)
        for (int64_t i = 0; stage_tensor(model, stage, i, &t); i++, n++)
            if (tensors) {
                tensors[n] = t;
                tensors[n].offset += stage_at(model, stage);
                snprintf(tensors[n].name, sizeof t.name, "%s.%.50s", stage_names[stage], t.name);
            }
    return n;
}

static size_t model_size(int64_t n_tensors)
{
    return sizeof(npagg_model) + (size_t)n_tensors * sizeof(np_tensor);
}

static npagg_status build(npagg_ctx *ctx, const npagg_model *parts, npagg_model **out)
{
    const int64_t n = list_tensors(parts, NULL);
    npagg_model *model = np_memory_get(ctx->mem, model_size(n));
    if (!model)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for a model");
    memcpy(model, parts, sizeof *model);
    model->mem = ctx->mem;
    model->n_tensors = n;
    list_tensors(model, model->tensors);
    *out = model;
    return NPAGG_OK;
}

npagg_status npagg_model_create(npagg_ctx *ctx, const npagg_encoder *encoder,
                                const npagg_prior *prior, const npagg_vmp *vmp,
                                const npagg_decoder *decoder, const npagg_objective *objective,
                                npagg_model **out)
{
    NP_REQUIRE(ctx, ctx, "model_create: ctx is NULL");
    NP_REQUIRE(ctx, encoder, "model_create: encoder is NULL");
    NP_REQUIRE(ctx, decoder, "model_create: decoder is NULL");
    NP_REQUIRE(ctx, objective, "model_create: objective is NULL");
    NP_REQUIRE(ctx, out, "model_create: out is NULL");
    npagg_model parts = {
        .encoder = *encoder,
        .vmp = np_vmp_settings(vmp),
        .decoder = *decoder,
        .objective = *objective,
    };
    NP_TRY(find_prior(ctx, encoder, prior, vmp, &parts.prior));
    NP_TRY(check_stages(ctx, encoder, &parts.prior, decoder));
    NP_TRY(check_samples(ctx, objective, &parts.prior));
    NP_TRY(settle_kl(ctx, objective, &parts.prior, &parts.kl));
    parts.prior_at = npagg_encoder_param_count(encoder);
    parts.decoder_at = parts.prior_at + npagg_prior_param_count(&parts.prior);
    parts.p = parts.decoder_at + npagg_decoder_param_count(decoder);
    return build(ctx, &parts, out);
}

void npagg_model_destroy(npagg_model *model)
{
    if (model)
        np_memory_free(model->mem, model, model_size(model->n_tensors));
}

int64_t npagg_model_param_count(const npagg_model *model)
{
    return model ? model->p : -1;
}

int64_t npagg_model_param_offset(const npagg_model *model, const char *field)
{
    if (!model || !field)
        return -1;
    for (int stage = 0; stage < 3; stage++)
        if (strcmp(field, stage_names[stage]) == 0)
            return has_stage(model, stage) ? stage_at(model, stage) : -1;
    for (int64_t i = 0; i < model->n_tensors; i++)
        if (strcmp(field, model->tensors[i].name) == 0)
            return model->tensors[i].offset;
    return -1;
}

int64_t npagg_model_tensor_count(const npagg_model *model)
{
    return model ? model->n_tensors : -1;
}

static int has_tensor(const npagg_model *model, int64_t i)
{
    return model && i >= 0 && i < model->n_tensors;
}

const char *npagg_model_tensor_name(const npagg_model *model, int64_t i)
{
    return has_tensor(model, i) ? model->tensors[i].name : NULL;
}

npagg_status npagg_model_tensor_shape(const npagg_model *model, int64_t i, int64_t *offset,
                                      int64_t *rows, int64_t *columns)
{
    if (!has_tensor(model, i) || !offset || !rows || !columns)
        return NPAGG_E_ARG;
    *offset = model->tensors[i].offset;
    *rows = model->tensors[i].rows;
    *columns = model->tensors[i].columns;
    return NPAGG_OK;
}

int64_t npagg_model_size(const npagg_model *model, const char *name)
{
    if (!model || !name)
        return -1;
    const struct {
        const char *name;
        int64_t size;
    } sizes[] = {
        {"d", model->prior.d},
        {"k", model->prior.k},
        {"q", npagg_prior_posterior_count(&model->prior)},
        {"samples", model->objective.samples},
        {"sampling", model->objective.sampling},
        {"outputs", npagg_decoder_output_count(&model->decoder)},
        {"x", model->encoder.x_dim},
        {"y", model->encoder.y_dim},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(name, sizes[i].name) == 0)
            return sizes[i].size;
    return -1;
}
