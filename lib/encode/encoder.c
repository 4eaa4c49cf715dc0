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

/* A new encoder with the fields of `shape`, and the defaults. */
static npagg_status create(npagg_ctx *ctx, const npagg_encoder *shape, npagg_encoder **out)
{
    npagg_encoder *encoder = np_memory_get(ctx->mem, sizeof *encoder);
    if (!encoder)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for an encoder");
    *encoder = *shape;
    encoder->mem = ctx->mem;
    encoder->activation = NPAGG_ACTIVATION_RELU;
    encoder->var_lo = np_encoder_is_per_set(shape) ? 1e-8 : 1e-4;
    encoder->var_hi = 1;
    *out = encoder;
    return NPAGG_OK;
}

static void copy_widths(int64_t n, const int64_t *from, int64_t *to)
{
    for (int64_t l = 0; l < n; l++)
        to[l] = from[l];
}

npagg_status npagg_encoder_create_mlp(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim, int64_t d,
                                      int64_t n_hidden, const int64_t *widths, npagg_encoder **out)
{
    NP_REQUIRE(ctx, ctx, "encoder_create: ctx is NULL");
    NP_REQUIRE(ctx, out, "encoder_create: out is NULL");
    NP_TRY(check_shape(ctx, x_dim, y_dim, d));
    NP_TRY(np_hidden_check(ctx, "encoder_create", x_dim, y_dim, n_hidden, widths, d));
    npagg_encoder shape = {
        .kind = NP_ENCODER_MLP, .x_dim = x_dim, .y_dim = y_dim, .d = d, .n_hidden = n_hidden};
    copy_widths(n_hidden, widths, shape.widths);
    return create(ctx, &shape, out);
}

/* All networks of an encoder of sets together: each has at most a quarter of what there is. */
static int fits(const npagg_encoder *e)
{
    const int64_t r = np_encoder_pooled(e), joint = e->post_widths[0];
    int64_t in;
    return np_size_add(e->x_dim, e->y_dim, &in) &&
           np_widths_fit(4, in, e->n_hidden - 1, e->widths, r) &&
           np_widths_fit(4 * 5, r, 0, NULL, r) && np_widths_fit(4, r, 0, NULL, joint) &&
           np_widths_fit(4 * 2, joint, e->n_post - 1, e->post_widths + 1, e->d);
}

static npagg_status create_of_sets(npagg_ctx *ctx, npagg_encoder *shape, const int64_t *pre_widths,
                                   const int64_t *post_widths, npagg_encoder **out)
{
    static const char *const pre[2] = {"pre_widths", "n_pre"};
    static const char *const post[2] = {"post_widths", "n_post"};
    NP_REQUIRE(ctx, ctx, "encoder_create: ctx is NULL");
    NP_REQUIRE(ctx, out, "encoder_create: out is NULL");
    NP_TRY(check_shape(ctx, shape->x_dim, shape->y_dim, shape->d));
    NP_TRY(np_widths_check(ctx, "encoder_create", pre, 1, shape->n_hidden, pre_widths));
    NP_TRY(np_widths_check(ctx, "encoder_create", post, 1, shape->n_post, post_widths));
    copy_widths(shape->n_hidden, pre_widths, shape->widths);
    copy_widths(shape->n_post, post_widths, shape->post_widths);
    NP_REQUIRE(ctx, fits(shape),
               "encoder_create: the number of parameters does not fit into memory addresses");
    const int64_t r = np_encoder_pooled(shape), heads = shape->n_heads;
    if (shape->kind == NP_ENCODER_ATTENTION && (heads < 1 || r % heads != 0))
        return np_fail(ctx, NPAGG_E_ARG,
                       "encoder_create: n_heads = %" PRId64
                       ", want >= 1 and a divisor of the last of pre_widths, %" PRId64,
                       heads, r);
    return create(ctx, shape, out);
}

npagg_status npagg_encoder_create_mean(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim, int64_t d,
                                       int64_t n_pre, const int64_t *pre_widths, int64_t n_post,
                                       const int64_t *post_widths, npagg_encoder **out)
{
    npagg_encoder shape = {.kind = NP_ENCODER_MEAN,
                           .x_dim = x_dim,
                           .y_dim = y_dim,
                           .d = d,
                           .n_hidden = n_pre,
                           .n_post = n_post};
    return create_of_sets(ctx, &shape, pre_widths, post_widths, out);
}

npagg_status npagg_encoder_create_attention(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim, int64_t d,
                                            int64_t n_pre, const int64_t *pre_widths,
                                            int64_t n_heads, int64_t n_post,
                                            const int64_t *post_widths, npagg_encoder **out)
{
    npagg_encoder shape = {.kind = NP_ENCODER_ATTENTION,
                           .x_dim = x_dim,
                           .y_dim = y_dim,
                           .d = d,
                           .n_hidden = n_pre,
                           .n_post = n_post,
                           .n_heads = n_heads};
    return create_of_sets(ctx, &shape, pre_widths, post_widths, out);
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
    if (!encoder || on < 0 || on > 1 ||
        (on && (encoder->n_hidden == 0 || np_encoder_is_per_set(encoder))))
        return NPAGG_E_ARG;
    encoder->trunk = on;
    return NPAGG_OK;
}

int32_t npagg_encoder_per_set(const npagg_encoder *encoder)
{
    return encoder ? np_encoder_is_per_set(encoder) : -1;
}

int np_encoder_is_per_set(const npagg_encoder *encoder)
{
    return encoder->kind != NP_ENCODER_MLP;
}

int64_t np_encoder_pooled(const npagg_encoder *encoder)
{
    return encoder->widths[encoder->n_hidden - 1];
}

static np_nets mlp_nets(const npagg_encoder *e)
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

static void add_attention(np_nets *nets, int64_t r)
{
    np_nets_activate(nets);
    np_nets_add_one(nets, "query", NP_NET_MATRIX, r, r);
    np_nets_add_one(nets, "key", NP_NET_MATRIX, r, r);
    np_nets_add_one(nets, "value", NP_NET_MATRIX, r, r);
    np_nets_add_one(nets, "fc", NP_NET_LAYER, r, r);
    np_nets_add_one(nets, "norm1", NP_NET_NORM, r, r);
    np_nets_add_one(nets, "norm2", NP_NET_NORM, r, r);
}

static np_nets nets_of_sets(const npagg_encoder *e)
{
    np_nets nets = {0};
    const int64_t r = np_encoder_pooled(e), *post = e->post_widths, hidden = e->n_post - 1;
    np_nets_add(&nets, "pre", e->x_dim + e->y_dim, e->n_hidden - 1, e->widths, r, e->activation);
    if (e->kind == NP_ENCODER_ATTENTION)
        add_attention(&nets, r);
    np_nets_add(&nets, "joint", r, 0, NULL, post[0], e->activation);
    np_nets_activate(&nets);
    np_nets_add(&nets, "mean", post[0], hidden, post + 1, e->d, e->activation);
    np_nets_add(&nets, "sd", post[0], hidden, post + 1, e->d, e->activation);
    return nets;
}

np_nets np_encoder_nets(const npagg_encoder *encoder)
{
    return np_encoder_is_per_set(encoder) ? nets_of_sets(encoder) : mlp_nets(encoder);
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
           a->n_hidden == b->n_hidden && a->n_post == b->n_post && a->n_heads == b->n_heads &&
           memcmp(a->widths, b->widths, sizeof a->widths) == 0 &&
           memcmp(a->post_widths, b->post_widths, sizeof a->post_widths) == 0 &&
           a->activation == b->activation && a->trunk == b->trunk && a->var_lo == b->var_lo &&
           a->var_hi == b->var_hi;
}
