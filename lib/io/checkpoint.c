#include "io/checkpoint.h"

#include <inttypes.h>
#include <npagg/checkpoint.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "io/metadata.h"

static int64_t size_of_axis(const json_t *shape, size_t axis)
{
    return (int64_t)json_integer_value(json_array_get(shape, axis));
}

static int has_shape(const np_entry *entry, const np_tensor *tensor)
{
    const size_t rank = tensor->columns ? 2 : 1;
    return json_array_size(entry->shape) == rank && size_of_axis(entry->shape, 0) == tensor->rows &&
           (rank == 1 || size_of_axis(entry->shape, 1) == tensor->columns);
}

/* "[3,4]", as far as there is room. */
static np_brief describe_shape(const json_t *shape)
{
    np_brief brief = {"["};
    size_t used = 1;
    for (size_t i = 0; i < json_array_size(shape) && used < sizeof brief.text - 24; i++)
        used += (size_t)snprintf(brief.text + used, sizeof brief.text - used, "%s%" PRId64,
                                 i ? "," : "", size_of_axis(shape, i));
    snprintf(brief.text + used, sizeof brief.text - used, "]");
    return brief;
}

static np_brief describe_tensor(const np_tensor *tensor)
{
    np_brief brief;
    if (tensor->columns)
        snprintf(brief.text, sizeof brief.text, "[%" PRId64 ",%" PRId64 "]", tensor->rows,
                 tensor->columns);
    else
        snprintf(brief.text, sizeof brief.text, "[%" PRId64 "]", tensor->rows);
    return brief;
}

static npagg_status check_tensor(npagg_ctx *ctx, const np_safetensors *file,
                                 const np_tensor *tensor)
{
    const char *label = file->input.label.text;
    const np_entry *entry = np_safetensors_find(file, tensor->name);
    if (!entry)
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: tensor '%s' of the model is missing", label,
                       tensor->name);
    if (!has_shape(entry, tensor))
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: tensor '%s' has shape %s, the model's has %s",
                       label, tensor->name, describe_shape(entry->shape).text,
                       describe_tensor(tensor).text);
    return np_safetensors_check(ctx, file, entry);
}

static npagg_status check_tensors(npagg_ctx *ctx, const np_safetensors *file,
                                  const npagg_model *model)
{
    for (int64_t i = 0; i < model->n_tensors; i++)
        NP_TRY(check_tensor(ctx, file, &model->tensors[i]));
    return NPAGG_OK;
}

static npagg_status open_model(npagg_ctx *ctx, np_checkpoint *checkpoint)
{
    NP_TRY(np_metadata_load(ctx, &checkpoint->file, &checkpoint->model));
    return check_tensors(ctx, &checkpoint->file, checkpoint->model);
}

npagg_status np_checkpoint_open(npagg_ctx *ctx, const char *path, np_checkpoint *checkpoint)
{
    checkpoint->model = NULL;
    NP_TRY(np_safetensors_open(ctx, path, &checkpoint->file));
    const npagg_status status = open_model(ctx, checkpoint);
    if (status != NPAGG_OK)
        np_checkpoint_close(checkpoint);
    return status;
}

void np_checkpoint_close(np_checkpoint *checkpoint)
{
    np_safetensors_close(&checkpoint->file);
    npagg_model_destroy(checkpoint->model);
    checkpoint->model = NULL;
}

npagg_status np_checkpoint_check(npagg_ctx *ctx, const np_checkpoint *checkpoint,
                                 const npagg_model *model)
{
    const npagg_model *own = checkpoint->model;
    NP_TRY(check_tensors(ctx, &checkpoint->file, model));
    for (int64_t i = 0; i < own->n_tensors; i++)
        if (npagg_model_param_offset(model, own->tensors[i].name) < 0)
            return np_fail(ctx, NPAGG_E_FORMAT, "%s: tensor '%s' is in the file's model only",
                           checkpoint->file.input.label.text, own->tensors[i].name);
    return NPAGG_OK;
}

/* Wide numbers first: then all arrays lie at multiples of their numbers' size. */
static int64_t order_pieces(const np_safetensors *file, const np_piece *added, np_piece *pieces)
{
    int64_t n = 0;
    for (int32_t bytes = 8; bytes > 0; bytes /= 2) {
        for (int64_t i = 0; i < file->count; i++) {
            const np_entry *entry = &file->entries[i];
            if (entry->dtype->bytes == bytes && strcmp(entry->name, added->name) != 0)
                pieces[n++] = (np_piece){.entry = entry};
        }
        if (added->dtype->bytes == bytes)
            pieces[n++] = *added;
    }
    return n;
}

npagg_status np_checkpoint_add(npagg_ctx *ctx, const np_checkpoint *checkpoint, const char *path,
                               const np_piece *piece)
{
    np_arena arena = {0};
    const np_safetensors *file = &checkpoint->file;
    NP_TAKE(&arena, file->count + 1, np_piece);
    NP_TRY(np_scratch_begin(ctx, &arena));
    np_piece *pieces = NP_TAKE(&arena, file->count + 1, np_piece);
    const int64_t count = order_pieces(file, piece, pieces);
    return np_safetensors_save(ctx, path, file->metadata, count, pieces, file);
}

npagg_status npagg_model_load(npagg_ctx *ctx, const char *path, npagg_model **out)
{
    np_checkpoint checkpoint;
    NP_REQUIRE(ctx, ctx, "model_load: ctx is NULL");
    NP_REQUIRE(ctx, path, "model_load: path is NULL");
    NP_REQUIRE(ctx, out, "model_load: out is NULL");
    NP_TRY(np_checkpoint_open(ctx, path, &checkpoint));
    *out = checkpoint.model;
    checkpoint.model = NULL;
    np_checkpoint_close(&checkpoint);
    return NPAGG_OK;
}
