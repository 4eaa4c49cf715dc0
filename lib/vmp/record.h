/*
 * What an inference leaves behind: in a cache for backward and the look-ups, or in scratch for the
 * call alone.
 *
 * Of each sweep only its sums, hyper-parameter and weights are kept, O(N + D); components are
 * computed again. Sweep t is in slot (t - 1) mod `slots`: all sweeps to unroll them, the last two
 * otherwise.
 */
#ifndef NP_RECORD_H
#define NP_RECORD_H

#include "pgm/partial.h"
#include "pgm/znode.h"

#define NP_IMPLICIT_TRACE 128 /* bounds per set that implicit mode keeps */

/* What is known of a set. All that one worker writes while others have the next sets. */
typedef struct np_course {
    _Alignas(NP_APART) np_partial stats; /* scalars only */
    int32_t iters;                       /* sweeps taken */
    int32_t wild, bad;                   /* as np_partial has them */
    int32_t grad_iters;
    double residual[2]; /* of the last sweep, of the one before */
    double bound;       /* the last one */
} np_course;

typedef struct np_record {
    /* the shape of the call */
    const np_znode *z;
    np_noise_kind noise;
    int64_t d, k, p, n_sets, n;
    int32_t has_weight, evidence; /* weight was given; logz was */
    int32_t max_iters, grad;      /* settings */
    double tol;
    int32_t slots;        /* sweeps that are kept */
    int64_t hyper_slots;  /* as many, and in small batches more, to keep sets apart */
    int32_t weight_slots; /* those of w: 0 if all weights are 1 */
    int32_t last_weights; /* w has those after the last sweep */
    int64_t logw_slots;   /* log weights of a mixture per sweep: K, or 0 */
    int64_t mean_slots;   /* E of a mixture that one sweep gives: D, or 0 */
    int64_t trace_room;   /* bounds per set */
    size_t real_size;
    int32_t implicit_done; /* grad_iters is filled */

    double *value;     /* [P]: the prior's, as np_pgm has them */
    int64_t *offsets;  /* [B+1] */
    int64_t *ends;     /* [B] */
    np_course *course; /* [B] */
    double *hyper;     /* [B,hyper_slots]: what entered each sweep */
    double *sums;      /* [B,slots,2,D] */
    double *logw;      /* [B,slots,K]: they cost logarithms, so they are not computed again */
    double *mean;      /* [B,D] if any: saves backward the components */
    double *trace;     /* [B,trace_room]: the first bounds of each set */
    void *w;           /* [weight_slots,N] real */
} np_record;

/* Takes the record itself and its arrays from the arena, given its shape; NULL while measuring. */
np_record *np_record_take(np_arena *arena, const np_record *shape);

/* The slot of sweep t = 1.. where there are so many. */
static inline int64_t np_record_slot(int64_t slots, int32_t t)
{
    return t <= slots ? t - 1 : (t - 1) % slots;
}

/* L of sweep t = 1.. of set b; h is D further on. */
double *np_record_sums(const np_record *rec, int64_t b, int32_t t);
double *np_record_logw(const np_record *rec, int64_t b, int32_t t); /* [K], or NULL */
double *np_record_mean(const np_record *rec, int64_t b);            /* [D], or NULL */
double *np_record_hyper(const np_record *rec, int64_t b, int32_t t);

#endif /* NP_RECORD_H */
