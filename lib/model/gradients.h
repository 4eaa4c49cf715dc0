/* Gradients of what a flow keeps, and the parts of the road up. */
#ifndef NP_GRADIENTS_H
#define NP_GRADIENTS_H

#include "model/flow.h"

/* Gradients of what the flow keeps, all starting at 0. NULL where the flow has none. */
typedef struct NP_REAL(np_gradients) {
    real *params;           /* [P] */
    real *m, *v;            /* as those of the flow */
    real *q_c, *q_ct;       /* [B,Q] */
    real *logz_c, *logz_ct; /* [B] */
    real *mean, *var;       /* [B,D] */
    double *overlap;        /* [B] */
    real *z, *logw;         /* [B,S,D], [B,S] */
    real *logq_c, *logq_ct; /* [B,S] */
    real *kl;               /* [B] */
    real *py, *loglik;      /* [points,S,2Y], [points,S] */
    double *worth;          /* [workers,3,S] */
} NP_REAL(np_gradients);
#define np_gradients NP_REAL(np_gradients)

/* All in the context's stage memory. */
npagg_status NP_REAL(np_gradients_begin)(const np_flow *f, np_gradients *g);

/* dparams [P] += those of the parameters. */
void NP_REAL(np_gradients_end)(const np_flow *f, const np_gradients *g, real *dparams);

/* Task b, from its loss to what its samples are worth: logw, logq, loglik, kl. */
void NP_REAL(np_flow_value_backward)(const np_flow *f, const np_gradients *g, int64_t b,
                                     double dloss, int32_t worker);

/* From those of q_C and q_CT to those of the parameters, of an encoder of sets. */
npagg_status NP_REAL(np_flow_encode_sets_backward)(const np_flow *f, const np_gradients *g);

/* From the gradients of z and of the densities to those of the parameters. */
npagg_status NP_REAL(np_flow_sampled_backward)(const np_flow *f, const np_gradients *g);

#endif /* NP_GRADIENTS_H */
