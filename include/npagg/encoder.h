/*
 * Encoders: points (x, y) -> Gaussian factors (m_i, v_i), or sets of points -> posteriors.
 *
 * The mlp encoder has two networks on [x, y] (x first), one for m and one for v:
 *   m = net(x, y),   v = lo + (hi - lo) sigmoid(net(x, y))
 * or, as a trunk, one network whose last layer has two heads. Between linear layers is an
 * activation.
 *
 * The encoders of sets are the usual neural process, to compare with: they need no prior and no
 * message passing, m and v are q(z) of the set itself.
 *   mean       r_i = pre(x_i, y_i), the layers of pre_widths, R = the last of them
 *   attention  u_i = activation(pre(x_i, y_i)); q, k, v = W_q u, W_k u, W_v u without bias, R
 *              numbers each, in n_heads equal parts: a_i = sum_j softmax_j(q_i . k_j / sqrt(R)) v_j
 *              over the points j of the set; o = norm1(q + a), r = norm2(o + relu(fc o)), where
 *              norm makes mean 0 and variance 1 of a row (+ 1e-5), times gain plus bias
 *   then both  s = activation(joint(mean of r_i over the set)), 0 for the mean of an empty set;
 *              m = net(s), v = (a + (b - a) sigmoid(net(s)))^2 with a^2 = lo, b^2 = hi: two
 *              networks of the layers post_widths[0] -> .. -> post_widths[n_post-1] -> d; joint is
 *              R -> post_widths[0]
 *
 * Parameters are one flat array; tensors are named by net, layer and kind, weights [out,in], biases
 * [out]: "mean.0.weight", "mean.0.bias", "mean.1.weight" ... "var.0.weight" ...; with a trunk
 * "trunk.0.weight" ... and one layer "mean.0", "var.0" each. Those of sets, in this order:
 * "pre.0.weight", "pre.0.bias" ...; of attention "query.weight", "key.weight", "value.weight",
 * "fc.weight" [R,R], "fc.bias", "norm1.gain", "norm1.bias", "norm2.gain", "norm2.bias" [R]; then
 * "joint.0.weight", "joint.0.bias", "mean.0.weight" ... "sd.0.weight" ...
 *
 * Setters and look-ups take no context: out of range is NPAGG_E_ARG and changes nothing, an unknown
 * field is -1. Batches, ownership and errors as in infer.h. A set has the same bits in any batch.
 */
#ifndef NPAGG_ENCODER_H
#define NPAGG_ENCODER_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

/* Activations between linear layers. */
#define NPAGG_ACTIVATION_RELU 0
#define NPAGG_ACTIVATION_GELU 1 /* exact: x Phi(x) */
#define NPAGG_ACTIVATION_TANH 2
#define NPAGG_ACTIVATION_SOFTPLUS 3
#define NPAGG_ACTIVATION_SIGMOID 4

/*
 * x_dim >= 0 and y_dim >= 1 inputs, d >= 1 latent dimensions, n_hidden = 0..32 hidden layers of
 * widths [n_hidden] >= 1 (copied). The caller owns *out.
 */
NPAGG_API npagg_status npagg_encoder_create_mlp(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim,
                                                int64_t d, int64_t n_hidden, const int64_t *widths,
                                                npagg_encoder **out);

/*
 * Encoders of sets: n_pre, n_post = 1..32 layers of pre_widths [n_pre], post_widths [n_post] >= 1
 * (copied). Default lo = 1e-8, hi = 1: a standard deviation from 1e-4 to 1. There is no trunk.
 */
NPAGG_API npagg_status npagg_encoder_create_mean(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim,
                                                 int64_t d, int64_t n_pre,
                                                 const int64_t *pre_widths, int64_t n_post,
                                                 const int64_t *post_widths, npagg_encoder **out);

/* The same with n_heads >= 1, a divisor of the last of pre_widths. */
NPAGG_API npagg_status npagg_encoder_create_attention(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim,
                                                      int64_t d, int64_t n_pre,
                                                      const int64_t *pre_widths, int64_t n_heads,
                                                      int64_t n_post, const int64_t *post_widths,
                                                      npagg_encoder **out);

/* NULL is fine. */
NPAGG_API void npagg_encoder_destroy(npagg_encoder *encoder);

/* NPAGG_ACTIVATION_*, default relu. That behind fc is always relu. */
NPAGG_API npagg_status npagg_encoder_set_activation(npagg_encoder *encoder, int32_t activation);

/* 0 < lo < hi, both finite, in float too if that is used; default 1e-4 and 1, of sets 1e-8 and 1.
 */
NPAGG_API npagg_status npagg_encoder_set_var_range(npagg_encoder *encoder, double lo, double hi);

/* 1: one trunk of all hidden layers (at least one) with two linear heads; default 0. Changes the
 * parameters. mlp only. */
NPAGG_API npagg_status npagg_encoder_set_trunk(npagg_encoder *encoder, int32_t on);

/* 1: m, v are [B,D] and already a posterior (encoders of whole sets); 0: one factor per point. -1
 * for NULL. */
NPAGG_API int32_t npagg_encoder_per_set(const npagg_encoder *encoder);

NPAGG_API int64_t npagg_encoder_param_count(const npagg_encoder *encoder);
NPAGG_API int64_t npagg_encoder_param_offset(const npagg_encoder *encoder, const char *field);

/* params: weights and biases uniform in +-1/sqrt(in), from the seed, the same numbers everywhere;
 * gains 1 and biases 0 of norms. */
NPAGG_API npagg_status npagg_encoder_init_params_f32(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                     uint64_t seed, float *params);
NPAGG_API npagg_status npagg_encoder_init_params_f64(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                     uint64_t seed, double *params);

/* x [N,X], y [N,Y] -> m, v [N,D], of sets [B,D]. cache may be NULL if no backward follows. */
NPAGG_API npagg_status npagg_encoder_forward_f32(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                 const float *params, int64_t n_sets,
                                                 const int64_t *offsets, const float *x,
                                                 const float *y, float *m, float *v,
                                                 npagg_cache *cache);
NPAGG_API npagg_status npagg_encoder_forward_f64(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                 const double *params, int64_t n_sets,
                                                 const int64_t *offsets, const double *x,
                                                 const double *y, double *m, double *v,
                                                 npagg_cache *cache);

/* Gradients, added to dparams [P], dx [N,X], dy [N,Y]; each may be NULL, and so may dm or dv [N,D],
 * of sets [B,D]. */
NPAGG_API npagg_status npagg_encoder_backward_f32(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                  const float *params, int64_t n_sets,
                                                  const int64_t *offsets, const float *x,
                                                  const float *y, const float *dm, const float *dv,
                                                  float *dparams, float *dx, float *dy,
                                                  npagg_cache *cache);
NPAGG_API npagg_status npagg_encoder_backward_f64(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                  const double *params, int64_t n_sets,
                                                  const int64_t *offsets, const double *x,
                                                  const double *y, const double *dm,
                                                  const double *dv, double *dparams, double *dx,
                                                  double *dy, npagg_cache *cache);

NPAGG_END_DECLS

#endif /* NPAGG_ENCODER_H */
