/* Passes over the rows that are the same for every kind of factor. */
#ifndef NP_FACTORS_H
#define NP_FACTORS_H

#include "pgm/noise.h"

typedef enum np_evidence { NP_EVIDENCE_NONE, NP_EVIDENCE_LOGS, NP_EVIDENCE_QUAD } np_evidence;

/*
 * (S1), (S2) with all weights 1, and for the evidence count and logs, or these and quad. Looks at
 * every number on the way: bad if one is not allowed or a sum overflows, wild if float kernels will
 * not do.
 */
np_partial *NP_REAL(np_factors_sums)(const np_rows *rows, np_evidence evidence);

/* dweight [n] += g times the bracket of (R8) at q(z). */
void NP_REAL(np_factors_bracket)(const np_pgm *pgm, const np_rows *rows, const np_noise *noise,
                                 const np_post *post, double g, real *dweight);

/* s_i = sum_d lam (dL + dh (m - E)) for every row; dweight [n] += s. */
void NP_REAL(np_factors_dweight)(const np_rows *rows, const np_back *back, real *dweight);

/* The last pass of backward: gradients of m and v from all sweeps at once. */
typedef struct NP_REAL(np_push) {
    int64_t n;             /* sweeps */
    const np_back *back;   /* [n] */
    real **w;              /* [n]: the weights whose sums entered each; NULL: 1 */
    real **dd;             /* [n]: what (A10) starts from at each; NULL: 0, but see slope */
    const np_pgm *pgm;     /* for: */
    const np_noise *slope; /* not NULL: dd from the second on are computed again, not read */
    double g;              /* gradient of the evidence or bound */
    real *dm, *dv;         /* [n,d]: added to; either may be NULL */
} NP_REAL(np_push);
#define np_push NP_REAL(np_push)

void NP_REAL(np_factors_push)(const np_rows *rows, const np_push *push);

#endif /* NP_FACTORS_H */
