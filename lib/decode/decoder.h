/* Inside of a decoder: its shape and settings. A plain struct, so a model keeps a copy. */
#ifndef NP_DECODER_H
#define NP_DECODER_H

#include <npagg/decoder.h>

#include "base/ctx.h"
#include "nn/net.h"

#define NP_DECODER_STREAM 2 /* of the random numbers that fill its parameters */

struct npagg_decoder {
    np_memory mem;
    int64_t x_dim, y_dim, d;
    int64_t n_hidden, widths[NP_MAX_HIDDEN];
    int32_t activation, likelihood;
    double sd_floor;
};

/* Its networks: mean, sd; or mean alone for Bernoulli. */
np_nets np_decoder_nets(const npagg_decoder *decoder);

/* 1 with tensor i of its parameters, 0 past the last. */
int np_decoder_tensor(const npagg_decoder *decoder, int64_t i, np_tensor *out);

/* Whether both compute the same function of parameters, z and x. */
int np_decoder_is_same(const npagg_decoder *a, const npagg_decoder *b);

#endif /* NP_DECODER_H */
