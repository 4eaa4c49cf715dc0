/* log p(y | py) of a range of points, for callers that have a batch in parts. */
#ifndef NP_LIKELIHOOD_H
#define NP_LIKELIHOOD_H

#include "base/real.h"
#include "decode/decoder.h"

typedef struct NP_REAL(np_loglik) {
    npagg_ctx *ctx;
    const npagg_decoder *decoder;
    int64_t n, n_samples;
    int64_t y_dim, outputs; /* from decoder, by begin */
    const real *py, *y;     /* [N,S,outputs], [N,Y] */
    real *loglik;           /* [N,S] */
    const real *dloglik;    /* [N,S]: backward */
    real *dpy, *dy;         /* each may be NULL */
} NP_REAL(np_loglik);
#define np_loglik NP_REAL(np_loglik)

/* Checks all but py, which may be filled later. */
npagg_status NP_REAL(np_loglik_begin)(np_loglik *job);

/* Of points first .. end - 1: whether py are parameters of distributions; loglik =; dpy, dy +=. */
int NP_REAL(np_loglik_is_good)(const np_loglik *job, int64_t first, int64_t end);
void NP_REAL(np_loglik_forward)(const np_loglik *job, int64_t first, int64_t end);
void NP_REAL(np_loglik_backward)(const np_loglik *job, int64_t first, int64_t end);

#endif /* NP_LIKELIHOOD_H */
