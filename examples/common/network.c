#include "network.h"

#include <string.h>

#include "complain.h"

enum { MOST_HIDDEN = 32 };

/* widths [layers-1], all the same. */
static int64_t fill_widths(int64_t layers, int64_t width, int64_t *widths)
{
    for (int64_t i = 0; i + 1 < layers; i++)
        widths[i] = width;
    return layers - 1;
}

/* The baselines: all layers as wide as each other, before the mean and behind it. */
static npagg_status create_pooled(npagg_ctx *ctx, const settings *s, network *net)
{
    int64_t pre[MOST_HIDDEN + 1], post[MOST_HIDDEN];
    const int64_t n_post = fill_widths(s->pooled_layers, s->hidden, post);
    const int64_t n_pre = fill_widths(s->layers + 1, s->hidden, pre);
    if (s->model == MODEL_NP)
        return npagg_encoder_create_mean(ctx, s->x_dim, s->y_dim, s->latent, n_pre, pre, n_post,
                                         post, &net->encoder);
    return npagg_encoder_create_attention(ctx, s->x_dim, s->y_dim, s->latent, n_pre - 2, pre,
                                          s->heads, n_post, post, &net->encoder);
}

static npagg_status create_encoder(npagg_ctx *ctx, const settings *s, network *net)
{
    int64_t widths[MOST_HIDDEN];
    if (model_is_pooled(s->model))
        return create_pooled(ctx, s, net);
    const int64_t n = fill_widths(s->layers, s->hidden, widths);
    return npagg_encoder_create_mlp(ctx, s->x_dim, s->y_dim, s->latent, n, widths, &net->encoder);
}

static npagg_status create_decoder(npagg_ctx *ctx, const settings *s, network *net)
{
    int64_t widths[MOST_HIDDEN];
    const int64_t n = fill_widths(s->decoder_layers, s->decoder_hidden, widths);
    npagg_status status =
        npagg_decoder_create_mlp(ctx, s->x_dim, s->y_dim, s->latent, n, widths, &net->decoder);
    return status ? status : npagg_decoder_set_sd_floor(net->decoder, s->sd_floor);
}

static npagg_status create_prior(npagg_ctx *ctx, const settings *s, network *net)
{
    npagg_status status;
    if (model_is_pooled(s->model))
        return NPAGG_OK;
    if (s->model == MODEL_BA)
        return npagg_prior_create_gaussian(ctx, s->latent, &net->prior);
    if (s->model == MODEL_RBA)
        return npagg_prior_create_student(ctx, s->latent, &net->prior);
    status = npagg_prior_create_mixture(ctx, s->latent, s->components, &net->prior);
    if (!status && model_is_robust(s->model))
        status = npagg_prior_set_robust(net->prior, 1);
    return status;
}

static npagg_status create_vmp(npagg_ctx *ctx, const settings *s, network *net)
{
    static const int32_t grads[] = {NPAGG_GRAD_UNROLL, NPAGG_GRAD_IMPLICIT, NPAGG_GRAD_LAST_STEP};
    if (model_is_pooled(s->model))
        return NPAGG_OK;
    npagg_status status = npagg_vmp_create(ctx, &net->vmp);
    if (!status)
        status = npagg_vmp_set_max_iters(net->vmp, (int32_t)s->vmp_steps);
    return status ? status : npagg_vmp_set_grad(net->vmp, grads[s->grad]);
}

/* All of them per point, so that losses and rates compare. */
static npagg_status create_objective(npagg_ctx *ctx, const settings *s, network *net)
{
    static const int32_t kinds[] = {NPAGG_OBJECTIVE_ELBO, NPAGG_OBJECTIVE_IWAE, NPAGG_OBJECTIVE_ML};
    npagg_status status = npagg_objective_create(ctx, kinds[s->objective], &net->objective);
    if (!status)
        status = npagg_objective_set_normalise(net->objective, NPAGG_NORMALISE_POINTS);
    return status ? status : npagg_objective_set_samples(net->objective, s->samples);
}

static npagg_status create_model(npagg_ctx *ctx, network *net)
{
    npagg_status status = npagg_model_create(ctx, net->encoder, net->prior, net->vmp, net->decoder,
                                             net->objective, &net->model);
    if (status)
        return status;
    net->p = npagg_model_param_count(net->model);
    if (net->prior) {
        net->prior_from = npagg_model_param_offset(net->model, "prior");
        net->prior_to = net->prior_from + npagg_prior_param_count(net->prior);
    }
    return NPAGG_OK;
}

int network_create(npagg_ctx *ctx, const settings *s, network *out)
{
    memset(out, 0, sizeof *out);
    if (create_encoder(ctx, s, out) || create_decoder(ctx, s, out) || create_prior(ctx, s, out) ||
        create_vmp(ctx, s, out) || create_objective(ctx, s, out) || create_model(ctx, out)) {
        network_destroy(out);
        return complain("the model cannot be made: %s", npagg_ctx_error(ctx));
    }
    return 0;
}

int64_t network_parameters(const network *net)
{
    return net->p - (net->prior_to - net->prior_from);
}

void network_destroy(network *net)
{
    npagg_encoder_destroy(net->encoder);
    npagg_prior_destroy(net->prior);
    npagg_vmp_destroy(net->vmp);
    npagg_decoder_destroy(net->decoder);
    npagg_objective_destroy(net->objective);
    npagg_model_destroy(net->model);
    memset(net, 0, sizeof *net);
}
