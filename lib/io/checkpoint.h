/* An opened checkpoint: a file, and the model that its metadata says, whose tensors are all there.
 */
#ifndef NP_CHECKPOINT_H
#define NP_CHECKPOINT_H

#include "io/safetensors.h"
#include "model/model.h"

typedef struct np_checkpoint {
    np_safetensors file;
    npagg_model *model;
} np_checkpoint;

/* After a failure there is nothing to close. */
npagg_status np_checkpoint_open(npagg_ctx *ctx, const char *path, np_checkpoint *checkpoint);
void np_checkpoint_close(np_checkpoint *checkpoint);

/* The file has the tensors of this model and its own model has no others. */
npagg_status np_checkpoint_check(npagg_ctx *ctx, const np_checkpoint *checkpoint,
                                 const npagg_model *model);

/* Replaces the file by one with this array besides those it has, or instead of one of its name. */
npagg_status np_checkpoint_add(npagg_ctx *ctx, const np_checkpoint *checkpoint, const char *path,
                               const np_piece *piece);

#endif /* NP_CHECKPOINT_H */
