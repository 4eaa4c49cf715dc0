/*
 * Inside of a prior: a z-node and a factor-noise node, each with the fields it adds to the flat
 * parameter array. The tables say all that layout, initial values, constraints and the chain rule
 * need, so a new node brings its own.
 */
#ifndef NP_PRIOR_H
#define NP_PRIOR_H

#include <npagg/prior.h>

#include "base/ctx.h"

/* How a field's number x becomes the value that the formulas use, and which gradient a node gives
 * for it. */
typedef enum np_transform {
    NP_PLAIN,  /* x;          gradient of x */
    NP_LOGVAR, /* s = exp x;  gradient of 1/s */
    NP_LOGITS, /* log pi = x - logsumexp x;  gradient of log pi */
    NP_LOG     /* a = exp x;  gradient of a */
} np_transform;

typedef enum np_shape { NP_SHAPE_KD, NP_SHAPE_K, NP_SHAPE_ONE } np_shape;

typedef struct np_field {
    const char *name;
    np_shape shape;
    np_transform transform;
    double start;    /* initial value: for NP_LOG the value divided by D, else x itself */
    double start_sd; /* plus a normal of this standard deviation, from the seed */
} np_field;

typedef struct np_znode np_znode;

/* Which factor noise; the fields of each are in prior.c, the rest in noise.h. */
typedef enum np_noise_kind { NP_NOISE_GAUSSIAN, NP_NOISE_STUDENT, NP_NOISE_KINDS } np_noise_kind;

struct npagg_prior {
    np_memory mem;
    const np_znode *z;
    np_noise_kind noise;
    int64_t d, k;
};

/* Field i of the prior with its place in the array; NULL past the last, when *offset is the number
 * of parameters. */
const np_field *np_prior_field(const npagg_prior *prior, int32_t i, int64_t *offset,
                               int64_t *count);

#endif /* NP_PRIOR_H */
