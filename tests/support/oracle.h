/*
 * The whole forward again in plain loops, one set after the other, all sums and bounds in long
 * double: what the library is compared with. Where it can it uses the textbook form (precisions
 * add, evidence of a merged factor, bound term by term with its digammas) and not that of the
 * library.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "problem.h"

typedef struct {
    double *q, *logz; /* [B,Q], [B] */
    double *E, *V;    /* [B,D] moments (M1) of q */
    double *w;        /* [N] E[beta_i] after the last sweep */
    double *trace;    /* [B,max_iters]: logz after each sweep that was run */
    double *residual; /* [B] */
    int32_t *iters;   /* [B] */
} oracle;

oracle *oracle_run(const problem *p);

/* One z-update with the weights that the moments E, V [B,D] give, then logz of its result. */
oracle *oracle_run_from(const problem *p, const double *E, const double *V);

void oracle_destroy(oracle *o);

/* sum(dq * q) + sum(dlogz * logz). */
double oracle_loss(const problem *p, const oracle *o);

#endif /* ORACLE_H */
