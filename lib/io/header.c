#include "io/header.h"

#include <inttypes.h>
#include <string.h>

#include "base/size.h"

enum { MAX_RANK = 32, MAX_DEPTH = 3 };

static npagg_status refuse(npagg_ctx *ctx, const np_safetensors *file, const char *name,
                           const char *what)
{
    return np_fail(ctx, NPAGG_E_FORMAT, "%s: tensor '%s': %s", file->input.label.text,
                   np_brief_of(name).text, what);
}

/*
 * Arrays are shapes and offsets. A long one would cost jansson many times the memory of the file.
 */
static npagg_status check_arrays(npagg_ctx *ctx, const np_safetensors *file, int64_t length,
                                 const char *text)
{
    int inside = 0, commas = 0, quoted = 0;
    for (int64_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && (text[i] == '[' || text[i] == ']'))
            inside = text[i] == '[', commas = 0;
        else if (!quoted && inside && text[i] == ',' && ++commas >= MAX_RANK)
            return np_fail(ctx, NPAGG_E_FORMAT,
                           "%s: header has an array of more than %d numbers at byte %" PRId64,
                           file->input.label.text, MAX_RANK, i);
    }
    return NPAGG_OK;
}

/* jansson nests as deep as 2048 calls, too much for the stack of some threads. */
static npagg_status check_depth(npagg_ctx *ctx, const np_safetensors *file, int64_t length,
                                const char *text)
{
    int depth = 0, quoted = 0;
    for (int64_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && (text[i] == '{' || text[i] == '['))
            depth++;
        else if (!quoted && (text[i] == '}' || text[i] == ']'))
            depth--;
        if (depth > MAX_DEPTH)
            return np_fail(ctx, NPAGG_E_FORMAT,
                           "%s: header is nested more than %d deep at byte %" PRId64,
                           file->input.label.text, MAX_DEPTH, i);
    }
    return NPAGG_OK;
}

/*
 * jansson 2.14 loses bytes, and then its assertions fail, if a string cannot grow while it is being
 * read. So its allocator is asked before for about as much as all of the header can need.
 */
static int has_memory(int64_t length)
{
    enum { PIECES = 16 };
    void *pieces[PIECES];
    int n = 0;
    json_malloc_t get;
    json_free_t give;
    json_get_alloc_funcs(&get, &give);
    while (n < PIECES && (pieces[n] = get((size_t)length)))
        n++;
    const int enough = n == PIECES;
    while (n > 0)
        give(pieces[--n]);
    return enough;
}

npagg_status np_header_parse(npagg_ctx *ctx, np_safetensors *file, int64_t length, const char *text)
{
    json_error_t error = {.position = 0};
    const char *label = file->input.label.text;
    if (length < 2 || text[0] != '{')
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: header is no JSON object: want '{' first", label);
    NP_TRY(check_depth(ctx, file, length, text));
    NP_TRY(check_arrays(ctx, file, length, text));
    const int memory = has_memory(length);
    if (memory)
        file->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (file->header)
        return NPAGG_OK;
    const enum json_error_code code = json_error_code(&error);
    if (!memory || code == json_error_unknown || code == json_error_out_of_memory)
        return np_fail(ctx, NPAGG_E_NOMEM, "%s: no memory for the header", label);
    return np_fail(ctx, NPAGG_E_FORMAT, "%s: header is not good JSON at byte %d: %s", label,
                   error.position, np_brief_of(error.text).text);
}

static npagg_status check_metadata(npagg_ctx *ctx, np_safetensors *file)
{
    json_t *metadata = json_object_get(file->header, "__metadata__");
    const char *label = file->input.label.text;
    if (metadata && !json_is_object(metadata))
        return np_fail(ctx, NPAGG_E_FORMAT, "%s: __metadata__ is no object", label);
    for (void *it = json_object_iter(metadata); it; it = json_object_iter_next(metadata, it))
        if (!json_is_string(json_object_iter_value(it)))
            return np_fail(ctx, NPAGG_E_FORMAT, "%s: metadata '%s' is no string", label,
                           np_brief_of(json_object_iter_key(it)).text);
    file->metadata = metadata;
    return NPAGG_OK;
}

static npagg_status check_dtype(npagg_ctx *ctx, const np_safetensors *file, np_entry *entry,
                                const json_t *value)
{
    const char *dtype = json_string_value(json_object_get(value, "dtype"));
    if (!json_object_get(value, "dtype"))
        return refuse(ctx, file, entry->name, "no dtype");
    if (!dtype)
        return refuse(ctx, file, entry->name, "dtype is no string");
    for (entry->dtype = np_dtypes; entry->dtype->bytes; entry->dtype++)
        if (strcmp(entry->dtype->name, dtype) == 0)
            return NPAGG_OK;
    return np_fail(ctx, NPAGG_E_FORMAT, "%s: tensor '%s': dtype '%.12s' is unknown",
                   file->input.label.text, np_brief_of(entry->name).text, np_brief_of(dtype).text);
}

/* entry->count, such that count times the size of a number fits. */
static npagg_status check_shape(npagg_ctx *ctx, const np_safetensors *file, np_entry *entry,
                                const json_t *value)
{
    int64_t bytes = entry->dtype->bytes;
    entry->shape = json_object_get(value, "shape");
    if (!entry->shape)
        return refuse(ctx, file, entry->name, "no shape");
    if (!json_is_array(entry->shape))
        return refuse(ctx, file, entry->name, "shape is no array");
    for (size_t i = 0; i < json_array_size(entry->shape); i++) {
        const json_t *size = json_array_get(entry->shape, i);
        if (!json_is_integer(size))
            return refuse(ctx, file, entry->name, "a size in its shape is no integer");
        if (json_integer_value(size) < 0)
            return refuse(ctx, file, entry->name, "a size in its shape is negative");
        if (!np_size_mul(bytes, json_integer_value(size), &bytes))
            return refuse(ctx, file, entry->name, "its shape is too large for any file");
    }
    entry->count = bytes / entry->dtype->bytes;
    return NPAGG_OK;
}

static npagg_status read_offsets(npagg_ctx *ctx, const np_safetensors *file, np_entry *entry,
                                 const json_t *value)
{
    const json_t *offsets = json_object_get(value, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (!offsets)
        return refuse(ctx, file, entry->name, "no data_offsets");
    if (!json_is_array(offsets))
        return refuse(ctx, file, entry->name, "data_offsets is no array");
    if (json_array_size(offsets) != 2)
        return refuse(ctx, file, entry->name, "data_offsets are not two");
    if (!json_is_integer(begin) || !json_is_integer(end))
        return refuse(ctx, file, entry->name, "data_offsets are no integers");
    entry->begin = json_integer_value(begin);
    entry->end = json_integer_value(end);
    return NPAGG_OK;
}

static npagg_status check_offsets(npagg_ctx *ctx, const np_safetensors *file, np_entry *entry,
                                  const json_t *value, int64_t data_bytes)
{
    NP_TRY(read_offsets(ctx, file, entry, value));
    const char *label = file->input.label.text;
    const np_brief name = np_brief_of(entry->name);
    const int64_t want = entry->count * entry->dtype->bytes;
    if (entry->begin < 0)
        return refuse(ctx, file, entry->name, "data_offsets begin below 0");
    if (entry->begin > entry->end)
        return refuse(ctx, file, entry->name, "data_offsets end before they begin");
    if (entry->end > data_bytes)
        return np_fail(ctx, NPAGG_E_FORMAT,
                       "%s: tensor '%s' ends at byte %" PRId64 " of the data, the file at %" PRId64,
                       label, name.text, entry->end, data_bytes);
    if (entry->end - entry->begin != want)
        return np_fail(ctx, NPAGG_E_FORMAT,
                       "%s: tensor '%s' has %" PRId64 " bytes, want %" PRId64 " for its shape",
                       label, name.text, entry->end - entry->begin, want);
    return NPAGG_OK;
}

static npagg_status check_entry(npagg_ctx *ctx, const np_safetensors *file, const char *name,
                                const json_t *value, int64_t data_bytes, np_entry *entry)
{
    *entry = (np_entry){.name = name};
    if (!json_is_object(value))
        return refuse(ctx, file, name, "no object");
    NP_TRY(check_dtype(ctx, file, entry, value));
    NP_TRY(check_shape(ctx, file, entry, value));
    return check_offsets(ctx, file, entry, value, data_bytes);
}

static int is_before(const np_entry *a, const np_entry *b)
{
    return a->begin < b->begin || (a->begin == b->begin && a->end < b->end);
}

/* The heap below `root` in entries [n], largest on top. */
static void sift_down(np_entry *entries, int64_t root, int64_t n)
{
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && is_before(&entries[child], &entries[child + 1]))
            child++;
        if (!is_before(&entries[root], &entries[child]))
            return;
        const np_entry swap = entries[root];
        entries[root] = entries[child];
        entries[child] = swap;
    }
}

/* Heap sort; qsort would allocate behind the back of the context. */
static void sort_entries(np_entry *entries, int64_t n)
{
    for (int64_t root = n / 2 - 1; root >= 0; root--)
        sift_down(entries, root, n);
    for (int64_t last = n - 1; last > 0; last--) {
        const np_entry top = entries[0];
        entries[0] = entries[last];
        entries[last] = top;
        sift_down(entries, 0, last);
    }
}

/* The sorted entries fill the data, each beginning where the one before ends. */
static npagg_status check_layout(npagg_ctx *ctx, const np_safetensors *file, int64_t data_bytes)
{
    int64_t end = 0;
    const char *label = file->input.label.text;
    for (int64_t i = 0; i < file->count; i++) {
        const np_entry *entry = &file->entries[i];
        const np_brief name = np_brief_of(entry->name);
        if (entry->begin < end)
            return np_fail(ctx, NPAGG_E_FORMAT, "%s: tensors '%s' and '%s' overlap", label,
                           np_brief_of(file->entries[i - 1].name).text, name.text);
        if (entry->begin > end)
            return np_fail(ctx, NPAGG_E_FORMAT,
                           "%s: %" PRId64 " bytes before tensor '%s' belong to none", label,
                           entry->begin - end, name.text);
        end = entry->end;
    }
    if (end < data_bytes)
        return np_fail(ctx, NPAGG_E_FORMAT,
                       "%s: %" PRId64 " bytes after the last tensor belong to none", label,
                       data_bytes - end);
    return NPAGG_OK;
}

/* Checks every entry; fills entries if not NULL. */
static npagg_status check_entries(npagg_ctx *ctx, const np_safetensors *file, int64_t data_bytes,
                                  np_entry *entries)
{
    np_entry one;
    json_t *header = file->header;
    for (void *it = json_object_iter(header); it; it = json_object_iter_next(header, it)) {
        const json_t *value = json_object_iter_value(it);
        if (value != file->metadata)
            NP_TRY(check_entry(ctx, file, json_object_iter_key(it), value, data_bytes,
                               entries ? entries++ : &one));
    }
    return NPAGG_OK;
}

/* All entries are good before there is a table, so that junk does not get one. */
npagg_status np_header_check(npagg_ctx *ctx, np_safetensors *file, int64_t data_bytes)
{
    NP_TRY(check_metadata(ctx, file));
    NP_TRY(check_entries(ctx, file, data_bytes, NULL));
    const size_t count = json_object_size(file->header) - (file->metadata != NULL);
    if (np_buffer_reserve(ctx->mem, &file->table, count * sizeof *file->entries))
        return np_fail(ctx, NPAGG_E_NOMEM, "%s: no memory for the names of %zu tensors",
                       file->input.label.text, count);
    file->entries = (np_entry *)file->table.base;
    file->count = (int64_t)count;
    NP_TRY(check_entries(ctx, file, data_bytes, file->entries));
    sort_entries(file->entries, file->count);
    return check_layout(ctx, file, data_bytes);
}
