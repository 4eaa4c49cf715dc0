/* The header of a safetensors file: text -> entries, with every check that needs no data. */
#ifndef NP_HEADER_H
#define NP_HEADER_H

#include "base/ctx.h"
#include "io/safetensors.h"

/* file->header from text [length]. */
npagg_status np_header_parse(npagg_ctx *ctx, np_safetensors *file, int64_t length,
                             const char *text);

/* file->metadata and file->entries from file->header; data_bytes follow it in the file. */
npagg_status np_header_check(npagg_ctx *ctx, np_safetensors *file, int64_t data_bytes);

#endif /* NP_HEADER_H */
