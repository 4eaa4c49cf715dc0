#include "decode/decoder.h"

#include <inttypes.h>
#include <string.h>

#include "nn/hidden.h"

static npagg_status check_shape(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim, int64_t d)
{
    if (x_dim < 0)
        return np_fail(ctx, NPAGG_E_ARG, "decoder_create: x_dim = %" PRId64 ", want >= 0", x_dim);
    if (y_dim < 1)
        return np_fail(ctx, NPAGG_E_ARG, "decoder_create: y_dim = %" PRId64 ", want >= 1", y_dim);
    if (d < 1)
        return np_fail(ctx, NPAGG_E_ARG, "decoder_create: d = %" PRId64 ", want >= 1", d);
    return NPAGG_OK;
}

npagg_status npagg_decoder_create_mlp(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim, int64_t d,
                                      int64_t n_hidden, const int64_t *widths, npagg_decoder **out)
{
    NP_REQUIRE(ctx, ctx, "decoder_create: ctx is NULL");
    NP_REQUIRE(ctx, out, "decoder_create: out is NULL");
    NP_TRY(check_shape(ctx, x_dim, y_dim, d));
    NP_TRY(np_hidden_check(ctx, "decoder_create", d, x_dim, n_hidden, widths, y_dim));
    npagg_decoder *decoder = np_memory_get(ctx->mem, sizeof *decoder);
    if (!decoder)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for a decoder");
    *decoder = (npagg_decoder){
        .mem = ctx->mem,
        .x_dim = x_dim,
        .y_dim = y_dim,
        .d = d,
        .n_hidden = n_hidden,
        .activation = NPAGG_ACTIVATION_RELU,
        .likelihood = NPAGG_LIKELIHOOD_GAUSSIAN,
        .sd_floor = 0.1,
    };
    for (int64_t l = 0; l < n_hidden; l++)
        decoder->widths[l] = widths[l];
    *out = decoder;
    return NPAGG_OK;
}

void npagg_decoder_destroy(npagg_decoder *decoder)
{
    if (decoder)
        np_memory_free(decoder->mem, decoder, sizeof *decoder);
}

npagg_status npagg_decoder_set_activation(npagg_decoder *decoder, int32_t activation)
{
    if (!decoder || !np_activation_is_known(activation))
        return NPAGG_E_ARG;
    decoder->activation = activation;
    return NPAGG_OK;
}

npagg_status npagg_decoder_set_likelihood(npagg_decoder *decoder, int32_t likelihood)
{
    if (!decoder || likelihood < NPAGG_LIKELIHOOD_GAUSSIAN ||
        likelihood > NPAGG_LIKELIHOOD_BERNOULLI)
        return NPAGG_E_ARG;
    decoder->likelihood = likelihood;
    return NPAGG_OK;
}

npagg_status npagg_decoder_set_sd_floor(npagg_decoder *decoder, double floor)
{
    if (!decoder || !(floor >= 0) || !(floor < 1))
        return NPAGG_E_ARG;
    decoder->sd_floor = floor;
    return NPAGG_OK;
}

np_nets np_decoder_nets(const npagg_decoder *d)
{
    np_nets nets = {0};
    const int64_t in = d->d + d->x_dim;
    np_nets_add(&nets, "mean", in, d->n_hidden, d->widths, d->y_dim, d->activation);
    if (d->likelihood == NPAGG_LIKELIHOOD_GAUSSIAN)
        np_nets_add(&nets, "sd", in, d->n_hidden, d->widths, d->y_dim, d->activation);
    return nets;
}

int np_decoder_tensor(const npagg_decoder *decoder, int64_t i, np_tensor *out)
{
    const np_nets nets = np_decoder_nets(decoder);
    return np_nets_tensor(&nets, i, out);
}

int64_t npagg_decoder_param_count(const npagg_decoder *decoder)
{
    return decoder ? np_decoder_nets(decoder).params : -1;
}

int64_t npagg_decoder_param_offset(const npagg_decoder *decoder, const char *field)
{
    if (!decoder || !field)
        return -1;
    const np_nets nets = np_decoder_nets(decoder);
    return np_nets_offset(&nets, field);
}

int64_t npagg_decoder_output_count(const npagg_decoder *decoder)
{
    if (!decoder)
        return -1;
    return decoder->likelihood == NPAGG_LIKELIHOOD_GAUSSIAN ? 2 * decoder->y_dim : decoder->y_dim;
}

int np_decoder_is_same(const npagg_decoder *a, const npagg_decoder *b)
{
    return a->x_dim == b->x_dim && a->y_dim == b->y_dim && a->d == b->d &&
           a->n_hidden == b->n_hidden &&
           memcmp(a->widths, b->widths, (size_t)a->n_hidden * sizeof(int64_t)) == 0 &&
           a->activation == b->activation && a->likelihood == b->likelihood &&
           a->sd_floor == b->sd_floor;
}
