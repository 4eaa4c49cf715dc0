/*
 * Encoders: points (x, y) -> Gaussian factors (m_i, v_i).
 *
 * The mlp encoder has two networks on [x, y] (x first), one for m and one for v:
 *   m = net(x, y),   v = lo + (hi - lo) sigmoid(net(x, y))
 * or, as a trunk, one network whose last layer has two heads. Between linear layers is an
 * activation.
 *
 * Parameters are one flat array; tensors are named by net, layer and kind, weights [out,in], biases
 * [out]: "mean.0.weight", "mean.0.bias", "mean.1.weight" ... "var.0.weight" ...; with a trunk
 * "trunk.0.weight" ... and one layer "mean.0", "var.0" each.
 *
 * Setters and look-ups take no context: out of range is NPAGG_E_ARG and changes nothing, an unknown
 * field is -1. Batches, ownership and errors as in infer.h.
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

/* NULL is fine. */
NPAGG_API void npagg_encoder_destroy(npagg_encoder *encoder);

/* NPAGG_ACTIVATION_*, default relu. */
NPAGG_API npagg_status npagg_encoder_set_activation(npagg_encoder *encoder, int32_t activation);

/* 0 < lo < hi, both finite, in float too if that is used; default 1e-4 and 1. */
NPAGG_API npagg_status npagg_encoder_set_var_range(npagg_encoder *encoder, double lo, double hi);

/* 1: one trunk of all hidden layers (at least one) with two linear heads; default 0. Changes the
 * parameters. */
NPAGG_API npagg_status npagg_encoder_set_trunk(npagg_encoder *encoder, int32_t on);

/* 1: m, v are [B,D] and already a posterior (encoders of whole sets); 0: one factor per point. -1
 * for NULL. */
NPAGG_API int32_t npagg_encoder_per_set(const npagg_encoder *encoder);

NPAGG_API int64_t npagg_encoder_param_count(const npagg_encoder *encoder);
NPAGG_API int64_t npagg_encoder_param_offset(const npagg_encoder *encoder, const char *field);

/* params: weights and biases uniform in +-1/sqrt(in), from the seed, the same numbers everywhere.
 */
NPAGG_API npagg_status npagg_encoder_init_params_f32(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                     uint64_t seed, float *params);
NPAGG_API npagg_status npagg_encoder_init_params_f64(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                     uint64_t seed, double *params);

/* x [N,X], y [N,Y] -> m, v [N,D]. cache may be NULL if no backward follows. */
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

/* Gradients, added to dparams [P], dx [N,X], dy [N,Y]; each may be NULL, and so may dm or dv [N,D].
 */
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
