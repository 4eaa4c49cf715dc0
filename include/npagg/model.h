/*
 * Models: encoder -> inference -> samples -> decoder -> objective as one differentiable function.
 *
 * Set b of a batch is a task: its rows are its context, the first n_ctx[b], then its targets.
 * Parameters are one flat array: encoder, prior, decoder in this order; tensors are named
 * "encoder.mean.0.weight", "prior.logvar", "decoder.sd.2.bias" and so on. A model copies the shapes
 * it is made of, which may be destroyed after.
 *
 * Batches, ownership, errors and threads as in infer.h. noise [B,S,D] is standard normal, which
 * [B,S] the component of each sample (NULL where the sampling does not read it); S is the
 * objective's number of samples.
 */
#ifndef NPAGG_MODEL_H
#define NPAGG_MODEL_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

/*
 * The stages must fit: the same d in encoder, prior and decoder, the same x and y dimensions in
 * encoder and decoder. vmp NULL: defaults. An encoder of sets (npagg_encoder_per_set) gives q:
 * prior and vmp must be NULL, q is mean [D], var [D] as of one Gaussian, and elbo_closed is
 * NPAGG_E_UNSUP. The caller owns *out.
 */
NPAGG_API npagg_status npagg_model_create(npagg_ctx *ctx, const npagg_encoder *encoder,
                                          const npagg_prior *prior, const npagg_vmp *vmp,
                                          const npagg_decoder *decoder,
                                          const npagg_objective *objective, npagg_model **out);

/* NULL is fine. */
NPAGG_API void npagg_model_destroy(npagg_model *model);

/* Number of parameters P; where a stage ("encoder", "prior", "decoder") or a tensor begins, -1 if
 * there is none. */
NPAGG_API int64_t npagg_model_param_count(const npagg_model *model);
NPAGG_API int64_t npagg_model_param_offset(const npagg_model *model, const char *field);

/* Tensor i = 0 .. count-1: its name (valid as long as the model), place and shape; columns is 0 for
 * a vector. */
NPAGG_API int64_t npagg_model_tensor_count(const npagg_model *model);
NPAGG_API const char *npagg_model_tensor_name(const npagg_model *model, int64_t i);
NPAGG_API npagg_status npagg_model_tensor_shape(const npagg_model *model, int64_t i,
                                                int64_t *offset, int64_t *rows, int64_t *columns);

/*
 * Sizes of the model: "d", "k", "q" (reals in a posterior), "x", "y", "samples" (S of its
 * objective), "outputs" (numbers per point and sample in py: 2Y, or Y for bernoulli); and
 * "sampling", its NPAGG_SAMPLE_*. -1 for another name.
 */
NPAGG_API int64_t npagg_model_size(const npagg_model *model, const char *name);

/* params [P]: every stage's own initial values from the seed. */
NPAGG_API npagg_status npagg_model_init_params_f32(npagg_ctx *ctx, const npagg_model *model,
                                                   uint64_t seed, float *params);
NPAGG_API npagg_status npagg_model_init_params_f64(npagg_ctx *ctx, const npagg_model *model,
                                                   uint64_t seed, double *params);

/* loss [B], to be minimised, one per task. x [N,X], y [N,Y], 0 <= n_ctx[b] <= rows of set b. cache
 * may be NULL. */
NPAGG_API npagg_status npagg_model_forward_f32(npagg_ctx *ctx, const npagg_model *model,
                                               const float *params, int64_t n_sets,
                                               const int64_t *offsets, const int64_t *n_ctx,
                                               const float *x, const float *y, const float *noise,
                                               const int32_t *which, float *loss,
                                               npagg_cache *cache);
NPAGG_API npagg_status npagg_model_forward_f64(npagg_ctx *ctx, const npagg_model *model,
                                               const double *params, int64_t n_sets,
                                               const int64_t *offsets, const int64_t *n_ctx,
                                               const double *x, const double *y,
                                               const double *noise, const int32_t *which,
                                               double *loss, npagg_cache *cache);

/* dparams [P] += gradient of sum(dloss * loss), dloss [B]; for the mean over tasks dloss = 1/B. */
NPAGG_API npagg_status npagg_model_backward_f32(npagg_ctx *ctx, const npagg_model *model,
                                                const float *params, int64_t n_sets,
                                                const int64_t *offsets, const int64_t *n_ctx,
                                                const float *x, const float *y, const float *noise,
                                                const int32_t *which, const float *dloss,
                                                float *dparams, npagg_cache *cache);
NPAGG_API npagg_status npagg_model_backward_f64(npagg_ctx *ctx, const npagg_model *model,
                                                const double *params, int64_t n_sets,
                                                const int64_t *offsets, const int64_t *n_ctx,
                                                const double *x, const double *y,
                                                const double *noise, const int32_t *which,
                                                const double *dloss, double *dparams,
                                                npagg_cache *cache);

/* Both at once, without a cache: loss [B], dparams [P] +=. */
NPAGG_API npagg_status npagg_model_step_f32(npagg_ctx *ctx, const npagg_model *model,
                                            const float *params, int64_t n_sets,
                                            const int64_t *offsets, const int64_t *n_ctx,
                                            const float *x, const float *y, const float *noise,
                                            const int32_t *which, const float *dloss, float *loss,
                                            float *dparams);
NPAGG_API npagg_status npagg_model_step_f64(npagg_ctx *ctx, const npagg_model *model,
                                            const double *params, int64_t n_sets,
                                            const int64_t *offsets, const int64_t *n_ctx,
                                            const double *x, const double *y, const double *noise,
                                            const int32_t *which, const double *dloss, double *loss,
                                            double *dparams);

/*
 * Predictions at xt [M,X] from context xc, yc, in sets by tgt_offsets and ctx_offsets [B+1] of the
 * same n_sets. z ~ q_C, n_samples = S of this call, noise [B,S,D]; which [B,S], needed for mixtures
 * (npagg_model_infer and npagg_posterior_choose make it). Out, each may be NULL: mean, sd [M,Y] of
 * the predictive mixture over samples; samples [M,S,2Y] (bernoulli [M,S,Y]), the decoder's py per
 * sample; loglik [M] = log mean_s p(yt | xt, z_s), which needs yt [M,Y]; weight [Nc] = E[beta_i], 1
 * without Student-t factors.
 */
NPAGG_API npagg_status npagg_model_predict_f32(
    npagg_ctx *ctx, const npagg_model *model, const float *params, int64_t n_sets,
    const int64_t *ctx_offsets, const float *xc, const float *yc, const int64_t *tgt_offsets,
    const float *xt, const float *yt, int64_t n_samples, const float *noise, const int32_t *which,
    float *mean, float *sd, float *samples, float *loglik, float *weight);
NPAGG_API npagg_status npagg_model_predict_f64(npagg_ctx *ctx, const npagg_model *model,
                                               const double *params, int64_t n_sets,
                                               const int64_t *ctx_offsets, const double *xc,
                                               const double *yc, const int64_t *tgt_offsets,
                                               const double *xt, const double *yt,
                                               int64_t n_samples, const double *noise,
                                               const int32_t *which, double *mean, double *sd,
                                               double *samples, double *loglik, double *weight);

/* q [B,Q] given the context alone, as the model's inference makes it. */
NPAGG_API npagg_status npagg_model_infer_f32(npagg_ctx *ctx, const npagg_model *model,
                                             const float *params, int64_t n_sets,
                                             const int64_t *offsets, const float *x, const float *y,
                                             float *q);
NPAGG_API npagg_status npagg_model_infer_f64(npagg_ctx *ctx, const npagg_model *model,
                                             const double *params, int64_t n_sets,
                                             const int64_t *offsets, const double *x,
                                             const double *y, double *q);

/*
 * u [B,S] uniform in [0, 1) -> which [B,S], drawn by the mixing weights in q [B,Q]; all 0 for one
 * component.
 */
NPAGG_API npagg_status npagg_model_choose_f32(npagg_ctx *ctx, const npagg_model *model,
                                              int64_t n_sets, int64_t n_samples, const float *q,
                                              const float *u, int32_t *which);
NPAGG_API npagg_status npagg_model_choose_f64(npagg_ctx *ctx, const npagg_model *model,
                                              int64_t n_sets, int64_t n_samples, const double *q,
                                              const double *u, int32_t *which);

/*
 * out [n]: standard normals of a (seed, stream), and uniforms in (0, 1): the same bits everywhere.
 * Normals, uniforms and what init_params draws are independent of each other, so one seed serves a
 * whole run, with the step as the stream.
 */
NPAGG_API npagg_status npagg_noise_fill_f32(uint64_t seed, uint64_t stream, int64_t n, float *out);
NPAGG_API npagg_status npagg_noise_fill_f64(uint64_t seed, uint64_t stream, int64_t n, double *out);
NPAGG_API npagg_status npagg_uniform_fill_f32(uint64_t seed, uint64_t stream, int64_t n,
                                              float *out);
NPAGG_API npagg_status npagg_uniform_fill_f64(uint64_t seed, uint64_t stream, int64_t n,
                                              double *out);

NPAGG_END_DECLS

#endif /* NPAGG_MODEL_H */
