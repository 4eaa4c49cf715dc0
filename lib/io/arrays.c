/* Parameters and extra arrays of a model <-> a checkpoint, in either precision. */
#include <inttypes.h>
#include <npagg/checkpoint.h>
#include <string.h>

#include "base/ctx.h"
#include "base/real.h"
#include "base/size.h"
#include "io/checkpoint.h"
#include "io/metadata.h"

enum { MAX_NAME = 200 };

static const np_dtype *own_dtype(void)
{
    return NP_REAL_BITS == 32 ? NP_DTYPE_F32 : NP_DTYPE_F64;
}

static void list_pieces(const npagg_model *model, const real *params, np_piece *pieces)
{
    for (int64_t i = 0; i < model->n_tensors; i++) {
        const np_tensor *tensor = &model->tensors[i];
        pieces[i] = (np_piece){
            .name = tensor->name,
            .dtype = own_dtype(),
            .rows = tensor->rows,
            .columns = tensor->columns,
            .data = params + tensor->offset,
        };
    }
}

npagg_status NP_REAL(npagg_model_save)(npagg_ctx *ctx, const npagg_model *model, const real *params,
                                       const char *path)
{
    NP_REQUIRE(ctx, ctx, "model_save: ctx is NULL");
    NP_REQUIRE(ctx, model, "model_save: model is NULL");
    NP_REQUIRE(ctx, params, "model_save: params is NULL");
    NP_REQUIRE(ctx, path, "model_save: path is NULL");
    np_arena arena = {0};
    NP_TAKE(&arena, model->n_tensors, np_piece);
    NP_TRY(np_scratch_begin(ctx, &arena));
    np_piece *pieces = NP_TAKE(&arena, model->n_tensors, np_piece);
    list_pieces(model, params, pieces);
    json_t *metadata = np_metadata_save(model);
    if (!metadata)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for a checkpoint's metadata");
    const npagg_status status =
        np_safetensors_save(ctx, path, metadata, model->n_tensors, pieces, NULL);
    json_decref(metadata);
    return status;
}

/* All of it into scratch, and then to the caller. */
static npagg_status load_params(npagg_ctx *ctx, const np_checkpoint *checkpoint,
                                const npagg_model *model, real *params)
{
    np_arena arena = {0};
    NP_TRY(np_checkpoint_check(ctx, checkpoint, model));
    NP_TAKE(&arena, model->p, real);
    NP_TRY(np_scratch_begin(ctx, &arena));
    real *loaded = NP_TAKE(&arena, model->p, real);
    for (int64_t i = 0; i < model->n_tensors; i++) {
        const np_tensor *tensor = &model->tensors[i];
        const np_entry *entry = np_safetensors_find(&checkpoint->file, tensor->name);
        NP_TRY(
            NP_REAL(np_safetensors_read)(ctx, &checkpoint->file, entry, loaded + tensor->offset));
    }
    memcpy(params, loaded, (size_t)model->p * sizeof *params);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_model_load_params)(npagg_ctx *ctx, const npagg_model *model,
                                              const char *path, real *params)
{
    np_checkpoint checkpoint;
    NP_REQUIRE(ctx, ctx, "model_load_params: ctx is NULL");
    NP_REQUIRE(ctx, model, "model_load_params: model is NULL");
    NP_REQUIRE(ctx, path, "model_load_params: path is NULL");
    NP_REQUIRE(ctx, params, "model_load_params: params is NULL");
    NP_TRY(np_checkpoint_open(ctx, path, &checkpoint));
    const npagg_status status = load_params(ctx, &checkpoint, model, params);
    np_checkpoint_close(&checkpoint);
    return status;
}

static npagg_status check_extra(npagg_ctx *ctx, const char *path, const char *name, int64_t n,
                                const real *array)
{
    int64_t bytes;
    NP_REQUIRE(ctx, ctx, "model extra: ctx is NULL");
    NP_REQUIRE(ctx, path, "model extra: path is NULL");
    NP_REQUIRE(ctx, name, "model extra: name is NULL");
    if (n < 0 || !np_size_mul(n, (int64_t)sizeof *array, &bytes))
        return np_fail(ctx, NPAGG_E_ARG, "model extra: n = %" PRId64 ", want a size >= 0", n);
    NP_REQUIRE(ctx, array || n == 0, "model extra: array is NULL");
    const size_t length = strlen(name);
    if (length < 1 || length > MAX_NAME)
        return np_fail(ctx, NPAGG_E_ARG, "model extra: name of %zu bytes, want 1 to %d", length,
                       MAX_NAME);
    for (const char *c = name; *c; c++)
        NP_REQUIRE(ctx, *c >= 0x20 && *c <= 0x7e, "model extra: name is not printable ASCII");
    NP_REQUIRE(ctx, strcmp(name, "__metadata__") != 0, "model extra: name is __metadata__");
    return NPAGG_OK;
}

static npagg_status save_extra(npagg_ctx *ctx, const np_checkpoint *checkpoint, const char *path,
                               const char *name, int64_t n, const real *array)
{
    const np_piece piece = {.name = name, .dtype = own_dtype(), .rows = n, .data = array};
    for (int64_t i = 0; i < checkpoint->model->n_tensors; i++)
        if (strcmp(checkpoint->model->tensors[i].name, name) == 0)
            return np_fail(ctx, NPAGG_E_ARG, "model extra: '%s' is a tensor of the model", name);
    return np_checkpoint_add(ctx, checkpoint, path, &piece);
}

npagg_status NP_REAL(npagg_model_save_extra)(npagg_ctx *ctx, const char *path, const char *name,
                                             int64_t n, const real *array)
{
    np_checkpoint checkpoint;
    NP_TRY(check_extra(ctx, path, name, n, array));
    NP_TRY(np_checkpoint_open(ctx, path, &checkpoint));
    const npagg_status status = save_extra(ctx, &checkpoint, path, name, n, array);
    np_checkpoint_close(&checkpoint);
    return status;
}

static npagg_status load_extra(npagg_ctx *ctx, const np_safetensors *file, const char *name,
                               int64_t n, real *array)
{
    np_arena arena = {0};
    const np_entry *entry = np_safetensors_find(file, name);
    if (!entry)
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: no tensor '%s'", file->input.label.text,
                       np_brief_of(name).text);
    if (entry->count != n)
        return np_fail(ctx, NPAGG_E_FORMAT,
                       "%s: tensor '%s' has %" PRId64 " numbers, want %" PRId64,
                       file->input.label.text, np_brief_of(name).text, entry->count, n);
    NP_TRY(np_safetensors_check(ctx, file, entry));
    NP_TAKE(&arena, n, real);
    NP_TRY(np_scratch_begin(ctx, &arena));
    real *loaded = NP_TAKE(&arena, n, real);
    NP_TRY(NP_REAL(np_safetensors_read)(ctx, file, entry, loaded));
    if (n > 0)
        memcpy(array, loaded, (size_t)n * sizeof *array);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_model_load_extra)(npagg_ctx *ctx, const char *path, const char *name,
                                             int64_t n, real *array)
{
    np_checkpoint checkpoint;
    NP_TRY(check_extra(ctx, path, name, n, array));
    NP_TRY(np_checkpoint_open(ctx, path, &checkpoint));
    const npagg_status status = load_extra(ctx, &checkpoint.file, name, n, array);
    np_checkpoint_close(&checkpoint);
    return status;
}
