/* Inside of a model: copies of its stages, and where their parameters are. */
#ifndef NP_MODEL_H
#define NP_MODEL_H

#include <npagg/model.h>

#include "base/tensor.h"
#include "decode/decoder.h"
#include "encode/encoder.h"
#include "objective/objective.h"
#include "pgm/prior.h"
#include "vmp/vmp.h"

/* How the KL divergence of an elbo is computed, besides NPAGG_KL_*: exactly, by the evidences. */
#define NP_KL_EVIDENCE 4

struct npagg_model {
    np_memory mem;
    npagg_encoder encoder;
    npagg_prior prior;
    npagg_vmp vmp;
    npagg_decoder decoder;
    npagg_objective objective;
    int32_t kl; /* NPAGG_KL_* or NP_KL_EVIDENCE; auto is settled */
    int64_t prior_at, decoder_at, p;
    int64_t n_tensors;
    np_tensor tensors[]; /* [n_tensors] */
};

#endif /* NP_MODEL_H */
