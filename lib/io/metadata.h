/*
 * The shape of a model <-> strings by key, as other programs may read and write them too:
 *
 *   npagg.format "1", npagg.version "0.1.0" (for people)
 *   encoder.  kind x_dim y_dim d widths activation var_lo var_hi trunk
 *             and, of encoders of sets, whose widths are those before the mean: post_widths, heads
 *   prior.    kind d k robust; of a model with an encoder of sets: kind "none" and no more, no vmp
 *   vmp.      max_iters tolerance grad
 *   decoder.  kind x_dim y_dim d widths activation likelihood sd_floor
 *   objective.  kind points normalise samples sampling kl
 *
 * Values are words ("gelu"), integers ("64"), lists of them ("64,64,64"), flags ("0", "1") and
 * decimals ("1e-4"), the point never a comma. All keys but the version must be there.
 */
#ifndef NP_METADATA_H
#define NP_METADATA_H

#include "io/safetensors.h"
#include "model/model.h"

/* Version of the format, "npagg.format": this one and all before are read. */
#define NP_FORMAT 1

/* A JSON object of strings, or NULL without memory. */
json_t *np_metadata_save(const npagg_model *model);

/* The caller owns *out. */
npagg_status np_metadata_load(npagg_ctx *ctx, const np_safetensors *file, npagg_model **out);

#endif /* NP_METADATA_H */
