/* One stage after the other: how it is written, and right below how it is read. */
#include "io/metadata.h"

#include <inttypes.h>

#include <npagg/decoder.h>
#include <npagg/encoder.h>

#include "io/fields.h"
#include "pgm/znode.h"

/* In the order of their numbers in the public headers. */
static const char *const encoder_kinds[] = {"mlp", "mean", "attention", NULL};
static const char *const activations[] = {"relu", "gelu", "tanh", "softplus", "sigmoid", NULL};
static const char *const prior_kinds[] = {"gaussian", "mixture", "hierarchy", "none", NULL};
static const char *const grads[] = {"unroll", "last_step", "implicit", NULL};
static const char *const decoder_kinds[] = {"mlp", NULL};
static const char *const likelihoods[] = {"gaussian", "bernoulli", NULL};
static const char *const objectives[] = {"elbo", "elbo_closed", "iwae", "ml", NULL};
static const char *const points[] = {"target", "all", NULL};
static const char *const normalisations[] = {"none", "points", NULL};
static const char *const samplings[] = {"stratified", "chosen", "pathwise", NULL};
static const char *const divergences[] = {"closed", "sampled", "matched", "auto", NULL};

enum { NO_PRIOR = 3 }; /* of prior_kinds: the encoder gives the posterior */

/* What is being read, and the stages read so far. */
typedef struct parts {
    npagg_ctx *ctx;
    const np_safetensors *file;
    npagg_encoder *encoder;
    npagg_prior *prior;
    npagg_vmp *vmp;
    npagg_decoder *decoder;
    npagg_objective *objective;
} parts;

_Static_assert(NP_MAX_HIDDEN <= NP_LIST_MAX, "widths fit into a list of fields");

/* The sizes that encoders and decoders share. */
typedef struct sizes {
    int64_t x_dim, y_dim, d, n_hidden, widths[NP_MAX_HIDDEN];
} sizes;

static npagg_status get_integer(const parts *p, const char *key, int64_t *value)
{
    return np_fields_get_integer(p->ctx, p->file, key, value);
}

static npagg_status get_word(const parts *p, const char *key, const char *const *names,
                             int32_t *value)
{
    return np_fields_get_word(p->ctx, p->file, key, names, value);
}

static npagg_status get_decimal(const parts *p, const char *key, double *value)
{
    return np_fields_get_decimal(p->ctx, p->file, key, value);
}

static npagg_status get_widths(const parts *p, const char *key, sizes *s)
{
    return np_fields_get_list(p->ctx, p->file, key, NP_MAX_HIDDEN, &s->n_hidden, s->widths);
}

static npagg_status accept(const parts *p, const char *key, npagg_status status)
{
    return np_fields_accept(p->ctx, p->file, key, status);
}

static void save_encoder(const npagg_encoder *encoder, np_fields *fields)
{
    np_fields_put(fields, "encoder.kind", encoder_kinds[encoder->kind]);
    np_fields_put_integer(fields, "encoder.x_dim", encoder->x_dim);
    np_fields_put_integer(fields, "encoder.y_dim", encoder->y_dim);
    np_fields_put_integer(fields, "encoder.d", encoder->d);
    np_fields_put_list(fields, "encoder.widths", encoder->n_hidden, encoder->widths);
    if (np_encoder_is_per_set(encoder))
        np_fields_put_list(fields, "encoder.post_widths", encoder->n_post, encoder->post_widths);
    if (encoder->kind == NP_ENCODER_ATTENTION)
        np_fields_put_integer(fields, "encoder.heads", encoder->n_heads);
    np_fields_put(fields, "encoder.activation", activations[encoder->activation]);
    np_fields_put_decimal(fields, "encoder.var_lo", encoder->var_lo);
    np_fields_put_decimal(fields, "encoder.var_hi", encoder->var_hi);
    np_fields_put_integer(fields, "encoder.trunk", encoder->trunk);
}

static npagg_status create_of_sets(parts *p, int32_t kind, const sizes *s)
{
    sizes post;
    int64_t heads;
    NP_TRY(get_widths(p, "encoder.post_widths", &post));
    if (kind == NP_ENCODER_MEAN)
        return npagg_encoder_create_mean(p->ctx, s->x_dim, s->y_dim, s->d, s->n_hidden, s->widths,
                                         post.n_hidden, post.widths, &p->encoder);
    NP_TRY(get_integer(p, "encoder.heads", &heads));
    return npagg_encoder_create_attention(p->ctx, s->x_dim, s->y_dim, s->d, s->n_hidden, s->widths,
                                          heads, post.n_hidden, post.widths, &p->encoder);
}

static npagg_status create_encoder(parts *p, int32_t kind)
{
    sizes s;
    NP_TRY(get_integer(p, "encoder.x_dim", &s.x_dim));
    NP_TRY(get_integer(p, "encoder.y_dim", &s.y_dim));
    NP_TRY(get_integer(p, "encoder.d", &s.d));
    NP_TRY(get_widths(p, "encoder.widths", &s));
    if (kind != NP_ENCODER_MLP)
        return create_of_sets(p, kind, &s);
    return npagg_encoder_create_mlp(p->ctx, s.x_dim, s.y_dim, s.d, s.n_hidden, s.widths,
                                    &p->encoder);
}

static npagg_status load_encoder(parts *p)
{
    int32_t kind, activation, trunk;
    double lo, hi;
    NP_TRY(get_word(p, "encoder.kind", encoder_kinds, &kind));
    NP_TRY(np_fields_accept_all(p->ctx, p->file, create_encoder(p, kind)));
    NP_TRY(get_word(p, "encoder.activation", activations, &activation));
    NP_TRY(accept(p, "encoder.activation", npagg_encoder_set_activation(p->encoder, activation)));
    NP_TRY(get_decimal(p, "encoder.var_lo", &lo));
    NP_TRY(get_decimal(p, "encoder.var_hi", &hi));
    NP_TRY(accept(p, "encoder.var_lo", npagg_encoder_set_var_range(p->encoder, lo, hi)));
    NP_TRY(np_fields_get_int32(p->ctx, p->file, "encoder.trunk", &trunk));
    return accept(p, "encoder.trunk", npagg_encoder_set_trunk(p->encoder, trunk));
}

static int kind_of_prior(const npagg_prior *prior)
{
    static const np_znode *const nodes[] = {&np_gaussian_node, &np_mixture_node,
                                            &np_hierarchy_node};
    int kind = 0;
    while (kind < NO_PRIOR && prior->z != nodes[kind])
        kind++;
    return kind;
}

static void save_prior(const npagg_prior *prior, np_fields *fields)
{
    const int kind = kind_of_prior(prior);
    np_fields_put(fields, "prior.kind", prior_kinds[kind]);
    if (kind == NO_PRIOR)
        return;
    np_fields_put_integer(fields, "prior.d", prior->d);
    np_fields_put_integer(fields, "prior.k", prior->k);
    np_fields_put_integer(fields, "prior.robust", prior->noise == NP_NOISE_STUDENT);
}

static npagg_status create_prior(parts *p, int32_t kind)
{
    int64_t d, k;
    NP_TRY(get_integer(p, "prior.d", &d));
    NP_TRY(get_integer(p, "prior.k", &k));
    if (kind == 1)
        return npagg_prior_create_mixture(p->ctx, d, k, &p->prior);
    NP_TRY(accept(p, "prior.k", k == 1 ? NPAGG_OK : NPAGG_E_ARG));
    return kind == 0 ? npagg_prior_create_gaussian(p->ctx, d, &p->prior)
                     : npagg_prior_create_student(p->ctx, d, &p->prior);
}

static npagg_status load_prior(parts *p)
{
    int32_t kind, robust;
    NP_TRY(get_word(p, "prior.kind", prior_kinds, &kind));
    if (kind == NO_PRIOR)
        return NPAGG_OK;
    NP_TRY(np_fields_accept_all(p->ctx, p->file, create_prior(p, kind)));
    NP_TRY(np_fields_get_int32(p->ctx, p->file, "prior.robust", &robust));
    return accept(p, "prior.robust", npagg_prior_set_robust(p->prior, robust));
}

static void save_vmp(const npagg_vmp *vmp, np_fields *fields)
{
    np_fields_put_integer(fields, "vmp.max_iters", vmp->max_iters);
    np_fields_put_decimal(fields, "vmp.tolerance", vmp->tol);
    np_fields_put(fields, "vmp.grad", grads[vmp->grad]);
}

static npagg_status load_vmp(parts *p)
{
    int32_t max_iters, grad;
    double tol;
    if (!p->prior)
        return NPAGG_OK;
    NP_TRY(npagg_vmp_create(p->ctx, &p->vmp));
    NP_TRY(np_fields_get_int32(p->ctx, p->file, "vmp.max_iters", &max_iters));
    NP_TRY(accept(p, "vmp.max_iters", npagg_vmp_set_max_iters(p->vmp, max_iters)));
    NP_TRY(get_decimal(p, "vmp.tolerance", &tol));
    NP_TRY(accept(p, "vmp.tolerance", npagg_vmp_set_tolerance(p->vmp, tol)));
    NP_TRY(get_word(p, "vmp.grad", grads, &grad));
    return accept(p, "vmp.grad", npagg_vmp_set_grad(p->vmp, grad));
}

static void save_decoder(const npagg_decoder *decoder, np_fields *fields)
{
    np_fields_put(fields, "decoder.kind", decoder_kinds[0]);
    np_fields_put_integer(fields, "decoder.x_dim", decoder->x_dim);
    np_fields_put_integer(fields, "decoder.y_dim", decoder->y_dim);
    np_fields_put_integer(fields, "decoder.d", decoder->d);
    np_fields_put_list(fields, "decoder.widths", decoder->n_hidden, decoder->widths);
    np_fields_put(fields, "decoder.activation", activations[decoder->activation]);
    np_fields_put(fields, "decoder.likelihood", likelihoods[decoder->likelihood]);
    np_fields_put_decimal(fields, "decoder.sd_floor", decoder->sd_floor);
}

static npagg_status create_decoder(parts *p)
{
    sizes s;
    NP_TRY(get_integer(p, "decoder.x_dim", &s.x_dim));
    NP_TRY(get_integer(p, "decoder.y_dim", &s.y_dim));
    NP_TRY(get_integer(p, "decoder.d", &s.d));
    NP_TRY(get_widths(p, "decoder.widths", &s));
    return npagg_decoder_create_mlp(p->ctx, s.x_dim, s.y_dim, s.d, s.n_hidden, s.widths,
                                    &p->decoder);
}

static npagg_status load_decoder(parts *p)
{
    int32_t kind, activation, likelihood;
    double floor;
    NP_TRY(get_word(p, "decoder.kind", decoder_kinds, &kind));
    NP_TRY(np_fields_accept_all(p->ctx, p->file, create_decoder(p)));
    NP_TRY(get_word(p, "decoder.activation", activations, &activation));
    NP_TRY(accept(p, "decoder.activation", npagg_decoder_set_activation(p->decoder, activation)));
    NP_TRY(get_word(p, "decoder.likelihood", likelihoods, &likelihood));
    NP_TRY(accept(p, "decoder.likelihood", npagg_decoder_set_likelihood(p->decoder, likelihood)));
    NP_TRY(get_decimal(p, "decoder.sd_floor", &floor));
    return accept(p, "decoder.sd_floor", npagg_decoder_set_sd_floor(p->decoder, floor));
}

static void save_objective(const npagg_objective *objective, np_fields *fields)
{
    np_fields_put(fields, "objective.kind", objectives[objective->kind]);
    np_fields_put(fields, "objective.points", points[objective->points]);
    np_fields_put(fields, "objective.normalise", normalisations[objective->normalise]);
    np_fields_put_integer(fields, "objective.samples", objective->samples);
    np_fields_put(fields, "objective.sampling", samplings[objective->sampling]);
    np_fields_put(fields, "objective.kl", divergences[objective->kl]);
}

static npagg_status load_objective(parts *p)
{
    int32_t kind, over, normalise, sampling, kl;
    int64_t samples;
    NP_TRY(get_word(p, "objective.kind", objectives, &kind));
    NP_TRY(npagg_objective_create(p->ctx, kind, &p->objective));
    NP_TRY(get_word(p, "objective.points", points, &over));
    NP_TRY(accept(p, "objective.points", npagg_objective_set_points(p->objective, over)));
    NP_TRY(get_word(p, "objective.normalise", normalisations, &normalise));
    NP_TRY(
        accept(p, "objective.normalise", npagg_objective_set_normalise(p->objective, normalise)));
    NP_TRY(get_integer(p, "objective.samples", &samples));
    NP_TRY(accept(p, "objective.samples", npagg_objective_set_samples(p->objective, samples)));
    NP_TRY(get_word(p, "objective.sampling", samplings, &sampling));
    NP_TRY(accept(p, "objective.sampling", npagg_objective_set_sampling(p->objective, sampling)));
    NP_TRY(get_word(p, "objective.kl", divergences, &kl));
    return accept(p, "objective.kl", npagg_objective_set_kl(p->objective, kl));
}

json_t *np_metadata_save(const npagg_model *model)
{
    np_fields fields = {.object = json_object()};
    np_fields_put_integer(&fields, "npagg.format", NP_FORMAT);
    np_fields_put(&fields, "npagg.version", npagg_version());
    save_encoder(&model->encoder, &fields);
    save_prior(&model->prior, &fields);
    if (kind_of_prior(&model->prior) != NO_PRIOR)
        save_vmp(&model->vmp, &fields);
    save_decoder(&model->decoder, &fields);
    save_objective(&model->objective, &fields);
    if (!fields.failed)
        return fields.object;
    json_decref(fields.object);
    return NULL;
}

static npagg_status check_format(npagg_ctx *ctx, const np_safetensors *file)
{
    int64_t format;
    const char *label = file->input.label.text;
    if (!file->metadata)
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: no __metadata__: not a checkpoint of npagg",
                       label);
    NP_TRY(np_fields_get_integer(ctx, file, "npagg.format", &format));
    if (format < 1)
        return np_fields_accept(ctx, file, "npagg.format", NPAGG_E_ARG);
    if (format > NP_FORMAT)
        return np_fail(ctx, NPAGG_E_FORMAT,
                       "%s: format %" PRId64 " is of a later version, this one reads up to %d",
                       label, format, NP_FORMAT);
    return NPAGG_OK;
}

static npagg_status load_parts(parts *p, npagg_model **out)
{
    NP_TRY(load_encoder(p));
    NP_TRY(load_prior(p));
    NP_TRY(load_vmp(p));
    NP_TRY(load_decoder(p));
    NP_TRY(load_objective(p));
    return np_fields_accept_all(
        p->ctx, p->file,
        npagg_model_create(p->ctx, p->encoder, p->prior, p->vmp, p->decoder, p->objective, out));
}

npagg_status np_metadata_load(npagg_ctx *ctx, const np_safetensors *file, npagg_model **out)
{
    parts p = {.ctx = ctx, .file = file};
    NP_TRY(check_format(ctx, file));
    const npagg_status status = load_parts(&p, out);
    npagg_encoder_destroy(p.encoder);
    npagg_prior_destroy(p.prior);
    npagg_vmp_destroy(p.vmp);
    npagg_decoder_destroy(p.decoder);
    npagg_objective_destroy(p.objective);
    return status;
}
