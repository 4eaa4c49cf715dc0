#include "io/safetensors.h"

#include <inttypes.h>
#include <string.h>

#include "io/header.h"

const np_dtype np_dtypes[] = {
    {"F32", 4}, {"F64", 8},     {"F16", 2},     {"BF16", 2}, {"BOOL", 1}, {"U8", 1},
    {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"U16", 2},  {"I16", 2},  {"U32", 4},
    {"I32", 4}, {"U64", 8},     {"I64", 8},     {"C64", 8},  {"", 0},
};

/* The length of the header, which fits into the file. */
static npagg_status read_length(npagg_ctx *ctx, const np_input *input, int64_t *length)
{
    unsigned char bytes[8];
    uint64_t n = 0;
    const char *label = input->label.text;
    if (input->bytes < 8)
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: %" PRId64 " bytes are no safetensors file", label,
                       input->bytes);
    NP_TRY(np_input_read(ctx, input, 0, 8, bytes));
    for (int i = 7; i >= 0; i--)
        n = n << 8 | bytes[i];
    if (n > (uint64_t)NP_HEADER_MAX)
        return np_fail(ctx, NPAGG_E_FORMAT,
                       "%s: header of %" PRIu64 " bytes, want at most %" PRId64, label, n,
                       NP_HEADER_MAX);
    if (n > (uint64_t)(input->bytes - 8))
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: header of %" PRIu64 " bytes in a file of %" PRId64,
                       label, n, input->bytes);
    *length = (int64_t)n;
    return NPAGG_OK;
}

static npagg_status read_header(npagg_ctx *ctx, np_safetensors *file, int64_t length,
                                np_buffer *text)
{
    if (np_buffer_reserve(ctx->mem, text, (size_t)length + 1))
        return np_fail(ctx, NPAGG_E_NOMEM, "%s: no memory for a header of %" PRId64 " bytes",
                       file->input.label.text, length);
    NP_TRY(np_input_read(ctx, &file->input, 8, length, text->base));
    return np_header_parse(ctx, file, length, text->base);
}

static npagg_status open_checked(npagg_ctx *ctx, np_safetensors *file)
{
    int64_t length = 0;
    np_buffer text = {0};
    NP_TRY(read_length(ctx, &file->input, &length));
    file->data_at = 8 + length;
    const npagg_status status = read_header(ctx, file, length, &text);
    np_buffer_free(ctx->mem, &text);
    NP_TRY(status);
    return np_header_check(ctx, file, file->input.bytes - file->data_at);
}

npagg_status np_safetensors_open(npagg_ctx *ctx, const char *path, np_safetensors *file)
{
    *file = (np_safetensors){.mem = ctx->mem};
    npagg_status status = np_input_open(ctx, path, &file->input);
    if (status == NPAGG_OK)
        status = open_checked(ctx, file);
    if (status != NPAGG_OK)
        np_safetensors_close(file);
    return status;
}

void np_safetensors_close(np_safetensors *file)
{
    np_input_close(&file->input);
    json_decref(file->header);
    np_buffer_free(file->mem, &file->table);
    file->header = file->metadata = NULL;
    file->entries = NULL;
    file->count = 0;
}

const np_entry *np_safetensors_find(const np_safetensors *file, const char *name)
{
    for (int64_t i = 0; i < file->count; i++)
        if (strcmp(file->entries[i].name, name) == 0)
            return &file->entries[i];
    return NULL;
}

const char *np_safetensors_text(const np_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(file->metadata, key));
}

npagg_status np_safetensors_check(npagg_ctx *ctx, const np_safetensors *file, const np_entry *entry)
{
    if (entry->dtype == NP_DTYPE_F32 || entry->dtype == NP_DTYPE_F64)
        return NPAGG_OK;
    return np_fail(ctx, NPAGG_E_FORMAT, "%s: tensor '%s' is %s, want F32 or F64",
                   file->input.label.text, np_brief_of(entry->name).text, entry->dtype->name);
}
