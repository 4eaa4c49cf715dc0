/*
 * What one does with a posterior: q [B,Q] as npagg_infer_forward gives it, laid out by the prior.
 *
 * Samples come with log weights: an average over q(z) is sum_s exp(logw_s) f(z_s), the weights of a
 * set adding up to 1. Noise and the component of each sample are arguments; nothing random happens
 * inside. Mixtures are worked on in log space and in double. Each function has a backward that adds
 * to its gradients, each of which may be NULL. A number that is not finite, or var <= 0, is
 * NPAGG_E_NUMERIC in forward; backward does not check values.
 *
 * Gradients take the log weights of a mixture as free variables. npagg_infer_backward, which knows
 * that they add up to one, drops whatever is a multiple of the weights.
 */
#ifndef NPAGG_POSTERIOR_H
#define NPAGG_POSTERIOR_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

/* Which component sample s has, and what its gradient reaches. One component: all three are the
 * same. */
#define NPAGG_SAMPLE_STRATIFIED                                                                    \
    0 /* s mod K, needs S >= K; exact gradient, also of the mixing weights */
#define NPAGG_SAMPLE_CHOSEN 1   /* which[b,s]; weight 1/S; gradient to that component only */
#define NPAGG_SAMPLE_PATHWISE 2 /* as chosen, gradient shared by responsibility: less variance */

/*
 * noise [B,S,D] standard normal; which [B,S] in 0..K-1, not read if stratified or K = 1 (then it
 * may be NULL)
 * -> z [B,S,D] = mean_k + sqrt(var_k) noise, logw [B,S] (may be NULL).
 */
NPAGG_API npagg_status npagg_posterior_sample_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                  int32_t mode, int64_t n_sets, int64_t n_samples,
                                                  const float *q, const float *noise,
                                                  const int32_t *which, float *z, float *logw);
NPAGG_API npagg_status npagg_posterior_sample_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                  int32_t mode, int64_t n_sets, int64_t n_samples,
                                                  const double *q, const double *noise,
                                                  const int32_t *which, double *z, double *logw);
/* dz [B,S,D], dlogw [B,S] (each may be NULL) -> dq [B,Q]. */
NPAGG_API npagg_status npagg_posterior_sample_backward_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                           int32_t mode, int64_t n_sets,
                                                           int64_t n_samples, const float *q,
                                                           const float *noise, const int32_t *which,
                                                           const float *dz, const float *dlogw,
                                                           float *dq);
NPAGG_API npagg_status npagg_posterior_sample_backward_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                           int32_t mode, int64_t n_sets,
                                                           int64_t n_samples, const double *q,
                                                           const double *noise,
                                                           const int32_t *which, const double *dz,
                                                           const double *dlogw, double *dq);

/* u [B,S] uniform in [0, 1) -> which [B,S], drawn by the mixing weights. */
NPAGG_API npagg_status npagg_posterior_choose_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                  int64_t n_sets, int64_t n_samples, const float *q,
                                                  const float *u, int32_t *which);
NPAGG_API npagg_status npagg_posterior_choose_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                  int64_t n_sets, int64_t n_samples,
                                                  const double *q, const double *u, int32_t *which);

/* z [B,S,D] -> logq [B,S], the log density of q at z. */
NPAGG_API npagg_status npagg_posterior_logpdf_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                  int64_t n_sets, int64_t n_samples, const float *q,
                                                  const float *z, float *logq);
NPAGG_API npagg_status npagg_posterior_logpdf_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                  int64_t n_sets, int64_t n_samples,
                                                  const double *q, const double *z, double *logq);
NPAGG_API npagg_status npagg_posterior_logpdf_backward_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                           int64_t n_sets, int64_t n_samples,
                                                           const float *q, const float *z,
                                                           const float *dlogq, float *dq,
                                                           float *dz);
NPAGG_API npagg_status npagg_posterior_logpdf_backward_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                           int64_t n_sets, int64_t n_samples,
                                                           const double *q, const double *z,
                                                           const double *dlogq, double *dq,
                                                           double *dz);

/* How KL(q || p) of two posteriors of one prior is computed. */
#define NPAGG_KL_CLOSED 0  /* one component; NPAGG_E_UNSUP for more */
#define NPAGG_KL_SAMPLED 1 /* sum_s exp(logw_s) (log q(z_s) - log p(z_s)), z ~ q */
#define NPAGG_KL_MATCHED 2 /* upper bound: sum_k w_k (log w_k/w'_k + KL of component k) */

/* kl [B]. z [B,S,D] and logw [B,S] from q's samples, S >= 1, for NPAGG_KL_SAMPLED; else they are
 * not read: n_samples = 0 and NULL. */
NPAGG_API npagg_status npagg_posterior_kl_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                              int32_t kind, int64_t n_sets, int64_t n_samples,
                                              const float *q, const float *p, const float *z,
                                              const float *logw, float *kl);
NPAGG_API npagg_status npagg_posterior_kl_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                              int32_t kind, int64_t n_sets, int64_t n_samples,
                                              const double *q, const double *p, const double *z,
                                              const double *logw, double *kl);
NPAGG_API npagg_status npagg_posterior_kl_backward_f32(
    npagg_ctx *ctx, const npagg_prior *prior, int32_t kind, int64_t n_sets, int64_t n_samples,
    const float *q, const float *p, const float *z, const float *logw, const float *dkl, float *dq,
    float *dp, float *dz, float *dlogw);
NPAGG_API npagg_status npagg_posterior_kl_backward_f64(
    npagg_ctx *ctx, const npagg_prior *prior, int32_t kind, int64_t n_sets, int64_t n_samples,
    const double *q, const double *p, const double *z, const double *logw, const double *dkl,
    double *dq, double *dp, double *dz, double *dlogw);

/*
 * mean, var [B,D] of q, each may be NULL; so may dmean and dvar. The gradient of the log weights
 * leaves out the multiple of the weights that no normalised ones could tell.
 */
NPAGG_API npagg_status npagg_posterior_moments_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                   int64_t n_sets, const float *q, float *mean,
                                                   float *var);
NPAGG_API npagg_status npagg_posterior_moments_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                   int64_t n_sets, const double *q, double *mean,
                                                   double *var);
NPAGG_API npagg_status npagg_posterior_moments_backward_f32(npagg_ctx *ctx,
                                                            const npagg_prior *prior,
                                                            int64_t n_sets, const float *q,
                                                            const float *dmean, const float *dvar,
                                                            float *dq);
NPAGG_API npagg_status npagg_posterior_moments_backward_f64(npagg_ctx *ctx,
                                                            const npagg_prior *prior,
                                                            int64_t n_sets, const double *q,
                                                            const double *dmean, const double *dvar,
                                                            double *dq);

/*
 * entropy [B]: closed form for one component (n_samples = 0, z and logw NULL are fine), -sum_s
 * exp(logw_s) log q(z_s), S >= 1, for mixtures.
 */
NPAGG_API npagg_status npagg_posterior_entropy_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                   int64_t n_sets, int64_t n_samples,
                                                   const float *q, const float *z,
                                                   const float *logw, float *entropy);
NPAGG_API npagg_status npagg_posterior_entropy_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                   int64_t n_sets, int64_t n_samples,
                                                   const double *q, const double *z,
                                                   const double *logw, double *entropy);
NPAGG_API npagg_status npagg_posterior_entropy_backward_f32(
    npagg_ctx *ctx, const npagg_prior *prior, int64_t n_sets, int64_t n_samples, const float *q,
    const float *z, const float *logw, const float *dentropy, float *dq, float *dz, float *dlogw);
NPAGG_API npagg_status npagg_posterior_entropy_backward_f64(
    npagg_ctx *ctx, const npagg_prior *prior, int64_t n_sets, int64_t n_samples, const double *q,
    const double *z, const double *logw, const double *dentropy, double *dq, double *dz,
    double *dlogw);

NPAGG_END_DECLS

#endif /* NPAGG_POSTERIOR_H */
