/* The models of the golden files model_* and train_*, and their parameters by the files' names. */
#ifndef GOLDEN_MODEL_H
#define GOLDEN_MODEL_H

#include <npagg/npagg.h>

#include "golden.h"

typedef enum { GOLDEN_IWAE_ALL, GOLDEN_ELBO_TGT } golden_loss;

/* The file's model; kind is "ba", "mba" or "rba". The caller destroys it. */
npagg_model *golden_model_create(npagg_ctx *ctx, const golden *g, const char *kind,
                                 golden_loss loss);

/* params [P]: the initial values, with every tensor that the file has under prefix + its name. */
void golden_model_params(npagg_ctx *ctx, const npagg_model *model, const golden *g,
                         const char *prefix, double *params);

/*
 * Calls check for each tensor that the file has as prefix + name: want from the file, as a gradient
 * of the flat array if `gradient` (the files' are of variances, not logs), and where it begins in
 * the flat array.
 */
typedef void (*golden_tensor_fn)(const char *name, int64_t n, const double *want, int64_t offset,
                                 void *arg);
void golden_model_each(const npagg_model *model, const golden *g, const char *prefix, int gradient,
                       const double *params, golden_tensor_fn check, void *arg);

#endif /* GOLDEN_MODEL_H */
