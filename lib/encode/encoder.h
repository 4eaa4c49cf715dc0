/* Inside of an encoder: its shape and settings. A plain struct, so a model keeps a copy. */
#ifndef NP_ENCODER_H
#define NP_ENCODER_H

#include <npagg/encoder.h>

#include "base/ctx.h"
#include "nn/net.h"

#define NP_ENCODER_STREAM 1 /* of the random numbers that fill its parameters */

/* Which encoder: index of the tables in encoder_kind.h. All but the first are of whole sets. */
typedef enum np_encoder_kind {
    NP_ENCODER_MLP,
    NP_ENCODER_MEAN,
    NP_ENCODER_ATTENTION
} np_encoder_kind;

struct npagg_encoder {
    np_memory mem;
    np_encoder_kind kind;
    int64_t x_dim, y_dim, d;
    int64_t n_hidden, widths[NP_MAX_HIDDEN];    /* of a set's: all layers before the mean */
    int64_t n_post, post_widths[NP_MAX_HIDDEN]; /* those behind it, but the last */
    int64_t n_heads;                            /* of the attention */
    int32_t activation, trunk;
    double var_lo, var_hi;
};

/*
 * Its networks. mlp: mean, var; or trunk, mean, var. mean: pre, then those behind the mean: joint,
 * mean, sd. attention: pre, query, key, value, fc, norm1, norm2, and the same three.
 */
np_nets np_encoder_nets(const npagg_encoder *encoder);

/* R: numbers that an encoder of sets takes the mean of. */
int64_t np_encoder_pooled(const npagg_encoder *encoder);

/* 1: one posterior per set, 0: one factor per point. */
int np_encoder_is_per_set(const npagg_encoder *encoder);

/* 1 with tensor i of its parameters, 0 past the last. */
int np_encoder_tensor(const npagg_encoder *encoder, int64_t i, np_tensor *out);

/* Whether both compute the same function of parameters and points. */
int np_encoder_is_same(const npagg_encoder *a, const npagg_encoder *b);

#endif /* NP_ENCODER_H */
