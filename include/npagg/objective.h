/*
 * Objectives: what a model's loss is. C is the context of a task, T its targets, q_C and q_CT the
 * posteriors given C and given both. Losses are the negative of these, one per task:
 *
 *   elbo         E_{q_CT} sum log p(y|x,z) - KL(q_CT || q_C)
 *   elbo_closed  the same by the evidences, Gaussian factors only: E_{q_CT}[sum log p - sum_t log
 * N(z | m_t, v_t)]
 *                + log Z_CT - log Z_C
 *   iwae         log sum_s w_s p(y|x,z_s) q_C(z_s) / q_CT(z_s),  z_s ~ q_CT
 *   ml           log sum_s w_s p(y|x,z_s),  z_s ~ q_C
 *
 * Out of range is NPAGG_E_ARG and changes nothing.
 */
#ifndef NPAGG_OBJECTIVE_H
#define NPAGG_OBJECTIVE_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

#define NPAGG_OBJECTIVE_ELBO 0
#define NPAGG_OBJECTIVE_ELBO_CLOSED 1
#define NPAGG_OBJECTIVE_IWAE 2
#define NPAGG_OBJECTIVE_ML 3

#define NPAGG_POINTS_TARGET 0 /* p is over the targets */
#define NPAGG_POINTS_ALL 1    /* over context and targets */

#define NPAGG_NORMALISE_NONE 0
#define NPAGG_NORMALISE_POINTS                                                                     \
    1 /* the loss is divided by the number of points that p is over, if there are any */

/* Besides NPAGG_KL_* of posterior.h. One component: closed. Mixture with Gaussian factors: by the
 * evidences, exact. Mixture with robust factors: sampled. */
#define NPAGG_KL_AUTO 3

/* kind NPAGG_OBJECTIVE_*. The caller owns *out. */
NPAGG_API npagg_status npagg_objective_create(npagg_ctx *ctx, int32_t kind, npagg_objective **out);

/* NULL is fine. */
NPAGG_API void npagg_objective_destroy(npagg_objective *objective);

/* NPAGG_POINTS_*; default all for iwae, target for the others. */
NPAGG_API npagg_status npagg_objective_set_points(npagg_objective *objective, int32_t points);

/* NPAGG_NORMALISE_*; default points for iwae, none for the others. */
NPAGG_API npagg_status npagg_objective_set_normalise(npagg_objective *objective, int32_t normalise);

/* Samples of z per task, S >= 1; default 5. */
NPAGG_API npagg_status npagg_objective_set_samples(npagg_objective *objective, int64_t n_samples);

/* NPAGG_SAMPLE_* of posterior.h; default stratified, which needs S >= K. */
NPAGG_API npagg_status npagg_objective_set_sampling(npagg_objective *objective, int32_t mode);

/* NPAGG_KL_* for elbo; default auto. */
NPAGG_API npagg_status npagg_objective_set_kl(npagg_objective *objective, int32_t kind);

NPAGG_END_DECLS

#endif /* NPAGG_OBJECTIVE_H */
