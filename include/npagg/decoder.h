/*
 * Decoders: a latent z and a place x -> the distribution of y there.
 *
 * The mlp decoder has two networks on [z, x] (z first):
 *   gaussian    y ~ N(net(z, x), sd^2),  sd = floor + (1 - floor) softplus(net(z, x))
 *   bernoulli   one network, whose output is the logit of y in [0, 1]
 * Tensors are named as in encoder.h, with nets "mean" and "sd"; bernoulli has "mean" only.
 *
 * py is the distribution per point and sample: [N,S,2Y], mean then sd, or logits [N,S,Y].
 * Setters and look-ups take no context: out of range is NPAGG_E_ARG and changes nothing, an unknown
 * field is -1. Batches, ownership and errors as in infer.h.
 */
#ifndef NPAGG_DECODER_H
#define NPAGG_DECODER_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

#define NPAGG_LIKELIHOOD_GAUSSIAN 0
#define NPAGG_LIKELIHOOD_BERNOULLI 1

/* x_dim >= 0, y_dim >= 1, d >= 1; hidden layers as in encoder.h. The caller owns *out. */
NPAGG_API npagg_status npagg_decoder_create_mlp(npagg_ctx *ctx, int64_t x_dim, int64_t y_dim,
                                                int64_t d, int64_t n_hidden, const int64_t *widths,
                                                npagg_decoder **out);

/* NULL is fine. */
NPAGG_API void npagg_decoder_destroy(npagg_decoder *decoder);

/* NPAGG_ACTIVATION_* of encoder.h, default relu. */
NPAGG_API npagg_status npagg_decoder_set_activation(npagg_decoder *decoder, int32_t activation);

/* NPAGG_LIKELIHOOD_*, default gaussian. Changes the parameters. */
NPAGG_API npagg_status npagg_decoder_set_likelihood(npagg_decoder *decoder, int32_t likelihood);

/* Smallest sd, 0 <= floor < 1, default 0.1. */
NPAGG_API npagg_status npagg_decoder_set_sd_floor(npagg_decoder *decoder, double floor);

NPAGG_API int64_t npagg_decoder_param_count(const npagg_decoder *decoder);
NPAGG_API int64_t npagg_decoder_param_offset(const npagg_decoder *decoder, const char *field);

/* Numbers per point and sample in py: 2Y, or Y for bernoulli; -1 for NULL. */
NPAGG_API int64_t npagg_decoder_output_count(const npagg_decoder *decoder);

/* As npagg_encoder_init_params. */
NPAGG_API npagg_status npagg_decoder_init_params_f32(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                     uint64_t seed, float *params);
NPAGG_API npagg_status npagg_decoder_init_params_f64(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                     uint64_t seed, double *params);

/* x [N,X], z [B,S,D], n_samples = S >= 1 -> py [N,S,2Y] or [N,S,Y]. cache may be NULL. */
NPAGG_API npagg_status npagg_decoder_forward_f32(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                 const float *params, int64_t n_sets,
                                                 const int64_t *offsets, int64_t n_samples,
                                                 const float *x, const float *z, float *py,
                                                 npagg_cache *cache);
NPAGG_API npagg_status npagg_decoder_forward_f64(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                 const double *params, int64_t n_sets,
                                                 const int64_t *offsets, int64_t n_samples,
                                                 const double *x, const double *z, double *py,
                                                 npagg_cache *cache);

/* Gradients, added to dparams [P], dx [N,X], dz [B,S,D]; each may be NULL. */
NPAGG_API npagg_status npagg_decoder_backward_f32(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                  const float *params, int64_t n_sets,
                                                  const int64_t *offsets, int64_t n_samples,
                                                  const float *x, const float *z, const float *dpy,
                                                  float *dparams, float *dx, float *dz,
                                                  npagg_cache *cache);
NPAGG_API npagg_status npagg_decoder_backward_f64(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                  const double *params, int64_t n_sets,
                                                  const int64_t *offsets, int64_t n_samples,
                                                  const double *x, const double *z,
                                                  const double *dpy, double *dparams, double *dx,
                                                  double *dz, npagg_cache *cache);

/*
 * loglik [N,S] = sum over y's dimensions of log p(y | py), y [N,Y]. Bernoulli: y log p + (1 - y)
 * log(1 - p) for y in [0, 1]. The backward adds to dpy and dy; each may be NULL.
 */
NPAGG_API npagg_status npagg_decoder_loglik_f32(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                int64_t n, int64_t n_samples, const float *py,
                                                const float *y, float *loglik);
NPAGG_API npagg_status npagg_decoder_loglik_f64(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                int64_t n, int64_t n_samples, const double *py,
                                                const double *y, double *loglik);
NPAGG_API npagg_status npagg_decoder_loglik_backward_f32(npagg_ctx *ctx,
                                                         const npagg_decoder *decoder, int64_t n,
                                                         int64_t n_samples, const float *py,
                                                         const float *y, const float *dloglik,
                                                         float *dpy, float *dy);
NPAGG_API npagg_status npagg_decoder_loglik_backward_f64(npagg_ctx *ctx,
                                                         const npagg_decoder *decoder, int64_t n,
                                                         int64_t n_samples, const double *py,
                                                         const double *y, const double *dloglik,
                                                         double *dpy, double *dy);

NPAGG_END_DECLS

#endif /* NPAGG_DECODER_H */
