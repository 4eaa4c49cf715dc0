/*
 * Settings as strings by key in a checkpoint's metadata.
 *
 * Putting notes a failure and goes on; getting stops with NPAGG_E_FORMAT and the key in the text.
 */
#ifndef NP_FIELDS_H
#define NP_FIELDS_H

#include "base/ctx.h"
#include "io/safetensors.h"

enum { NP_LIST_MAX = 64 }; /* numbers in a list that is put */

typedef struct np_fields {
    json_t *object; /* NULL: no memory */
    int failed;
} np_fields;

void np_fields_put(np_fields *fields, const char *key, const char *value);
void np_fields_put_integer(np_fields *fields, const char *key, int64_t value);
void np_fields_put_decimal(np_fields *fields, const char *key, double value);
void np_fields_put_list(np_fields *fields, const char *key, int64_t n, const int64_t *values);

npagg_status np_fields_get(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                           const char **value);
npagg_status np_fields_get_integer(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                   int64_t *value);
npagg_status np_fields_get_int32(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                 int32_t *value);
npagg_status np_fields_get_decimal(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                   double *value);

/* The place of the value in names, which ends with NULL. */
npagg_status np_fields_get_word(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                const char *const *names, int32_t *value);

/* values [*n], at most `room` of them. */
npagg_status np_fields_get_list(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                int64_t room, int64_t *n, int64_t *values);

/* Makes a setter's NPAGG_E_ARG for this key, or a constructor's with its own text, one of the file.
 */
npagg_status np_fields_accept(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                              npagg_status status);
npagg_status np_fields_accept_all(npagg_ctx *ctx, const np_safetensors *file, npagg_status status);

#endif /* NP_FIELDS_H */
