/* Writing: the header is made of the pieces, then every piece is copied in turn. */
#include <string.h>

#include "base/ctx.h"
#include "base/size.h"
#include "io/safetensors.h"

enum { CHUNK = 16384 };

static json_t *describe_shape(const np_piece *piece)
{
    if (piece->entry)
        return json_incref(piece->entry->shape);
    if (piece->columns == 0)
        return json_pack("[I]", (json_int_t)piece->rows);
    return json_pack("[I, I]", (json_int_t)piece->rows, (json_int_t)piece->columns);
}

static int64_t count_bytes(const np_piece *piece)
{
    if (piece->entry)
        return piece->entry->end - piece->entry->begin;
    return piece->rows * (piece->columns ? piece->columns : 1) * piece->dtype->bytes;
}

/* The header as JSON, or NULL without memory. */
static json_t *describe_pieces(json_t *metadata, int64_t count, const np_piece *pieces)
{
    json_t *header = json_object();
    int failed = json_object_set(header, "__metadata__", metadata);
    int64_t begin = 0;
    for (int64_t i = 0; i < count; i++) {
        const np_piece *piece = &pieces[i];
        const int64_t end = begin + count_bytes(piece);
        const np_dtype *dtype = piece->entry ? piece->entry->dtype : piece->dtype;
        json_t *entry =
            json_pack("{s: s, s: o, s: [I, I]}", "dtype", dtype->name, "shape",
                      describe_shape(piece), "data_offsets", (json_int_t)begin, (json_int_t)end);
        failed |=
            json_object_set_new(header, piece->entry ? piece->entry->name : piece->name, entry);
        begin = end;
    }
    if (!failed)
        return header;
    json_decref(header);
    return NULL;
}

/* Its length, then itself, then spaces so that the data begins at a multiple of 8. */
static npagg_status write_text(npagg_ctx *ctx, np_output *output, size_t length, char *text)
{
    unsigned char bytes[8];
    const size_t padded = (length + 7) & ~(size_t)7;
    if ((int64_t)padded > NP_HEADER_MAX)
        return np_fail(ctx, NPAGG_E_ARG, "%s: header of %zu bytes, want at most %lld",
                       output->label.text, padded, (long long)NP_HEADER_MAX);
    memset(text + length, ' ', padded - length);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)padded >> (8 * i));
    NP_TRY(np_output_write(ctx, output, 8, bytes));
    return np_output_write(ctx, output, (int64_t)padded, text);
}

static npagg_status write_header(npagg_ctx *ctx, np_output *output, const json_t *header)
{
    np_buffer text = {0};
    npagg_status status = NPAGG_E_NOMEM;
    const size_t flags = JSON_COMPACT | JSON_ENSURE_ASCII;
    const size_t length = json_dumpb(header, NULL, 0, flags);
    if (length > 0 && np_buffer_reserve(ctx->mem, &text, length + 8) == 0 &&
        json_dumpb(header, text.base, length, flags) == length)
        status = write_text(ctx, output, length, text.base);
    else
        np_fail(ctx, status, "%s: no memory for the header", output->label.text);
    np_buffer_free(ctx->mem, &text);
    return status;
}

/* n numbers of `size` bytes, as this machine has them -> little-endian. */
static void pack(int64_t n, int32_t size, const unsigned char *data, unsigned char *bytes)
{
    for (int64_t i = 0; i < n; i++, data += size, bytes += size) {
        uint64_t bits;
        uint32_t half;
        memcpy(&half, data, sizeof half);
        bits = half;
        if (size == 8)
            memcpy(&bits, data, sizeof bits);
        for (int32_t b = 0; b < size; b++)
            bytes[b] = (unsigned char)(bits >> (8 * b));
    }
}

static npagg_status write_array(npagg_ctx *ctx, np_output *output, const np_piece *piece)
{
    unsigned char bytes[CHUNK];
    const int32_t size = piece->dtype->bytes;
    const int64_t total = count_bytes(piece);
    for (int64_t at = 0, n; at < total; at += n) {
        n = np_min(total - at, CHUNK);
        pack(n / size, size, (const unsigned char *)piece->data + at, bytes);
        NP_TRY(np_output_write(ctx, output, n, bytes));
    }
    return NPAGG_OK;
}

static npagg_status copy_entry(npagg_ctx *ctx, np_output *output, const np_safetensors *source,
                               const np_entry *entry)
{
    unsigned char bytes[CHUNK];
    for (int64_t at = entry->begin, n; at < entry->end; at += n) {
        n = np_min(entry->end - at, CHUNK);
        NP_TRY(np_input_read(ctx, &source->input, source->data_at + at, n, bytes));
        NP_TRY(np_output_write(ctx, output, n, bytes));
    }
    return NPAGG_OK;
}

static npagg_status write_all(npagg_ctx *ctx, np_output *output, const json_t *header,
                              int64_t count, const np_piece *pieces, const np_safetensors *source)
{
    NP_TRY(write_header(ctx, output, header));
    for (int64_t i = 0; i < count; i++)
        NP_TRY(pieces[i].entry ? copy_entry(ctx, output, source, pieces[i].entry)
                               : write_array(ctx, output, &pieces[i]));
    return np_output_commit(ctx, output);
}

npagg_status np_safetensors_save(npagg_ctx *ctx, const char *path, json_t *metadata, int64_t count,
                                 const np_piece *pieces, const np_safetensors *source)
{
    np_output output;
    json_t *header = describe_pieces(metadata, count, pieces);
    if (!header)
        return np_fail(ctx, NPAGG_E_NOMEM, "%s: no memory for the header", np_label_of(path).text);
    npagg_status status = np_output_open(ctx, path, &output);
    if (status == NPAGG_OK)
        status = write_all(ctx, &output, header, count, pieces, source);
    np_output_close(&output);
    json_decref(header);
    return status;
}
