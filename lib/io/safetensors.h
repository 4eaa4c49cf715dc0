/*
 * The safetensors format: 8 bytes with the length of the header, little-endian; the header, a JSON
 * object {name: {"dtype", "shape", "data_offsets": [begin, end]}} with strings by name in
 * "__metadata__"; then the numbers, little-endian and row-major, without gaps.
 *
 * This knows nothing of models. What does not fit is NPAGG_E_FORMAT with the path in the text.
 */
#ifndef NP_SAFETENSORS_H
#define NP_SAFETENSORS_H

#include <jansson.h>

#include <npagg/types.h>

#include "base/memory.h"
#include "io/file.h"

/* A longer header is refused. */
#define NP_HEADER_MAX (INT64_C(100) << 20)

typedef struct np_dtype {
    char name[8];
    int32_t bytes; /* of one number */
} np_dtype;

/* Types that files may have; the first two can be read as numbers. */
extern const np_dtype np_dtypes[];
#define NP_DTYPE_F32 (&np_dtypes[0])
#define NP_DTYPE_F64 (&np_dtypes[1])

/* An array in a file. No more bytes than its text in the header has. */
typedef struct np_entry {
    const char *name;
    const np_dtype *dtype;
    json_t *shape;
    int64_t count;      /* of numbers */
    int64_t begin, end; /* bytes, from where the data begins */
} np_entry;

/* A file whose whole header has been checked. */
typedef struct np_safetensors {
    np_input input;
    np_memory mem;
    int64_t data_at;  /* where the data begins */
    json_t *header;   /* owns the names */
    json_t *metadata; /* strings by name; NULL if there are none */
    np_buffer table;
    int64_t count;
    np_entry *entries; /* [count], in the order of their data */
} np_safetensors;

/* After a failure there is nothing to close. */
npagg_status np_safetensors_open(npagg_ctx *ctx, const char *path, np_safetensors *file);
void np_safetensors_close(np_safetensors *file);

/* NULL if there is none of this name. */
const np_entry *np_safetensors_find(const np_safetensors *file, const char *name);
const char *np_safetensors_text(const np_safetensors *file, const char *key);

/* Numbers that can be read: F32 or F64. */
npagg_status np_safetensors_check(npagg_ctx *ctx, const np_safetensors *file,
                                  const np_entry *entry);

/* out [entry->count]; a number beyond the largest float becomes that, infinities and NaN stay. */
npagg_status np_safetensors_read_f32(npagg_ctx *ctx, const np_safetensors *file,
                                     const np_entry *entry, float *out);
npagg_status np_safetensors_read_f64(npagg_ctx *ctx, const np_safetensors *file,
                                     const np_entry *entry, double *out);

/* An array to be written: of another file, or one of the caller's in F32 or F64. */
typedef struct np_piece {
    const np_entry *entry; /* NULL: the caller's, described by what follows */
    const char *name;
    const np_dtype *dtype;
    int64_t rows, columns; /* columns 0: a vector of `rows` numbers */
    const void *data;
} np_piece;

/* Replaces the file at path; entries are those of `source`. Sizes of pieces must not overflow. */
npagg_status np_safetensors_save(npagg_ctx *ctx, const char *path, json_t *metadata, int64_t count,
                                 const np_piece *pieces, const np_safetensors *source);

#endif /* NP_SAFETENSORS_H */
