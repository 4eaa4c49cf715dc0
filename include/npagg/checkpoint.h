/*
 * Checkpoints: a model's shape and parameters in one safetensors file, which any language reads.
 *
 * One tensor per named parameter (npagg_model_tensor_name), the shape of the model in the file's
 * metadata. A file is written beside its final name, flushed and renamed: a crash at any point
 * leaves the old file whole, and maybe a file ".npagg-*.tmp" beside it. A symbolic link is followed
 * and stays; a file that is replaced keeps its permissions. Reading trusts nothing: what does not
 * fit is NPAGG_E_FORMAT with a text that says what and where; NPAGG_E_IO if the system says no.
 *
 * The JSON library inside, jansson, allocates by itself (json_set_alloc_funcs).
 */
#ifndef NPAGG_CHECKPOINT_H
#define NPAGG_CHECKPOINT_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

/* Writes the model with params [P], and no extra arrays: those come after. */
NPAGG_API npagg_status npagg_model_save_f32(npagg_ctx *ctx, const npagg_model *model,
                                            const float *params, const char *path);
NPAGG_API npagg_status npagg_model_save_f64(npagg_ctx *ctx, const npagg_model *model,
                                            const double *params, const char *path);

/* A model of the shape that the file says. The caller owns *out. */
NPAGG_API npagg_status npagg_model_load(npagg_ctx *ctx, const char *path, npagg_model **out);

/* params [P] from a file with the same tensors; a file of the other precision is converted, numbers
 * beyond the largest float to that. Settings without parameters, as the objective, may differ. */
NPAGG_API npagg_status npagg_model_load_params_f32(npagg_ctx *ctx, const npagg_model *model,
                                                   const char *path, float *params);
NPAGG_API npagg_status npagg_model_load_params_f64(npagg_ctx *ctx, const npagg_model *model,
                                                   const char *path, double *params);

/*
 * Extra arrays in the same file (optimiser state, step counts), by a name of 1 to 200 bytes of
 * printable ASCII that is not one of the model's tensors. save_extra copies the file with the
 * array added or replaced, as safely as save does; load_extra wants exactly n numbers and converts
 * precision as above.
 *
 * Each call is safe by itself, and model_save drops the extras that a file had. For a checkpoint
 * whose parts belong together write all of them to a new name and rename that over the old file.
 * Two writers of one file at a time may lose an array, never the file.
 */
NPAGG_API npagg_status npagg_model_save_extra_f32(npagg_ctx *ctx, const char *path,
                                                  const char *name, int64_t n, const float *array);
NPAGG_API npagg_status npagg_model_save_extra_f64(npagg_ctx *ctx, const char *path,
                                                  const char *name, int64_t n, const double *array);
NPAGG_API npagg_status npagg_model_load_extra_f32(npagg_ctx *ctx, const char *path,
                                                  const char *name, int64_t n, float *array);
NPAGG_API npagg_status npagg_model_load_extra_f64(npagg_ctx *ctx, const char *path,
                                                  const char *name, int64_t n, double *array);

NPAGG_END_DECLS

#endif /* NPAGG_CHECKPOINT_H */
