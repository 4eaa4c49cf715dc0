#include "encode/encoder.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "nn/hidden.h"

static npagg_status check_shape(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim, int64_t d)
{
    if (x_dim < 0)
        return np_fail(ctx, NPAGG_E_ARG, "encoder_create: x_dim = %" PRId64 ", want >= 0", x_dim);
    if (y_dim < 1)
        return np_fail(ctx, NPAGG_E_ARG, "encoder_create: y_dim = %" PRId64 ", want >= 1", y_dim);
    if (d < 1)
        return np_fail(ctx, NPAGG_E_ARG, "encoder_create: d = %" PRId64 ", want >= 1", d);
    return NPAGG_OK;
}

npagg_status npagg_encoder_create_mlp(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim, int64_t d,
                                      int64_t n_hidden, const int64_t *widths, npagg_encoder **out)
{
    NP_REQUIRE(ctx, ctx, "encoder_create: ctx is NULL");
    NP_REQUIRE(ctx, out, "encoder_create: out is NULL");
    NP_TRY(check_shape(ctx, x_dim, y_dim, d));
    NP_TRY(np_hidden_check(ctx, "encoder_create", x_dim, y_dim, n_hidden, widths, d));
    npagg_encoder *encoder = np_memory_get(ctx->mem, sizeof *encoder);
    if (!encoder)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for an encoder");
    *encoder = (npagg_encoder){
        .mem = ctx->mem,
        .kind = NP_ENCODER_MLP,
        .x_dim = x_dim,
        .y_dim = y_dim,
        .d = d,
        .n_hidden = n_hidden,
        .activation = NPAGG_ACTIVATION_RELU,
        .var_lo = 1e-4,
        .var_hi = 1,
    };
    for (int64_t l = 0; l < n_hidden; l++)
        encoder->widths[l] = widths[l];
    *out = encoder;
    return NPAGG_OK;
}

void npagg_encoder_destroy(npagg_encoder *encoder)
{
    if (encoder)
        np_memory_free(encoder->mem, encoder, sizeof *encoder);
}

npagg_status npagg_encoder_set_activation(npagg_encoder *encoder, int32_t activation)
{
    if (!encoder || !np_activation_is_known(activation))
        return NPAGG_E_ARG;
    encoder->activation = activation;
    return NPAGG_OK;
}

npagg_status npagg_encoder_set_var_range(npagg_encoder *encoder, double lo, double hi)
{
    if (!encoder || !(lo > 0) || !(hi > lo) || !isfinite(hi))
        return NPAGG_E_ARG;
    encoder->var_lo = lo;
    encoder->var_hi = hi;
    return NPAGG_OK;
}

npagg_status npagg_encoder_set_trunk(npagg_encoder *encoder, int32_t on)
{
    if (!encoder || on < 0 || on > 1 || (on && encoder->n_hidden == 0))
        return NPAGG_E_ARG;
    encoder->trunk = on;
    return NPAGG_OK;
}

int32_t npagg_encoder_per_set(const npagg_encoder *encoder)
{
    return encoder ? 0 : -1;
}

np_nets np_encoder_nets(const npagg_encoder *e)
{
    np_nets nets = {0};
    const int64_t in = e->x_dim + e->y_dim;
    int64_t from = in, hidden = e->n_hidden;
    if (e->trunk) {
        np_nets_add(&nets, "trunk", in, hidden, e->widths, e->d, e->activation);
        np_nets_cut(&nets);
        from = e->widths[hidden - 1];
        hidden = 0;
    }
    np_nets_add(&nets, "mean", from, hidden, e->widths, e->d, e->activation);
    np_nets_add(&nets, "var", from, hidden, e->widths, e->d, e->activation);
    return nets;
}

int np_encoder_tensor(const npagg_encoder *encoder, int64_t i, np_tensor *out)
{
    const np_nets nets = np_encoder_nets(encoder);
    return np_nets_tensor(&nets, i, out);
}

int64_t npagg_encoder_param_count(const npagg_encoder *encoder)
{
    return encoder ? np_encoder_nets(encoder).params : -1;
}

int64_t npagg_encoder_param_offset(const npagg_encoder *encoder, const char *field)
{
    if (!encoder || !field)
        return -1;
    const np_nets nets = np_encoder_nets(encoder);
    return np_nets_offset(&nets, field);
}

int np_encoder_is_same(const npagg_encoder *a, const npagg_encoder *b)
{
    return a->kind == b->kind && a->x_dim == b->x_dim && a->y_dim == b->y_dim && a->d == b->d &&
           a->n_hidden == b->n_hidden &&
           memcmp(a->widths, b->widths, (size_t)a->n_hidden * sizeof(int64_t)) == 0 &&
           a->activation == b->activation && a->trunk == b->trunk && a->var_lo == b->var_lo &&
           a->var_hi == b->var_hi;
}
