/*
 * How well a posterior explains factors that are Gaussian: A_b = sum_i E_q[log N(z | m_i, v_i)]
 * over rows offsets[b] .. ends[b]-1, with q's mean and var [B,D]. (O2), and the closed form of the
 * KL divergence of MATHS 7.
 */
#ifndef NP_OVERLAP_H
#define NP_OVERLAP_H

#include "vmp/run.h"

typedef struct NP_REAL(np_overlap) {
    const real *mean, *var; /* [B,D] */
    double *value;          /* [B]: forward, out */
    /* backward */
    const double *dvalue; /* [B] */
    real *dmean, *dvar;   /* [B,D]: added to */
} NP_REAL(np_overlap);
#define np_overlap NP_REAL(np_overlap)

/* run has sizes, rows, and a record of inference over them; backward adds to run->dm, dv. */
npagg_status NP_REAL(np_overlap_forward)(np_run *run, np_overlap *overlap);
npagg_status NP_REAL(np_overlap_backward)(np_run *run, np_overlap *overlap);

#endif /* NP_OVERLAP_H */
