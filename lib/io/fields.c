#include "io/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/decimal.h"

void np_fields_put(np_fields *fields, const char *key, const char *value)
{
    fields->failed |= json_object_set_new(fields->object, key, json_string(value)) != 0;
}

void np_fields_put_integer(np_fields *fields, const char *key, int64_t value)
{
    char text[NP_DECIMAL_SIZE];
    snprintf(text, sizeof text, "%" PRId64, value);
    np_fields_put(fields, key, text);
}

void np_fields_put_decimal(np_fields *fields, const char *key, double value)
{
    char text[NP_DECIMAL_SIZE];
    np_decimal_print(value, text);
    np_fields_put(fields, key, text);
}

/* "64,64,32" */
void np_fields_put_list(np_fields *fields, const char *key, int64_t n, const int64_t *values)
{
    char text[NP_LIST_MAX * 21 + 1] = "";
    size_t used = 0;
    for (int64_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, i ? "," : "",
                                 values[i]);
    np_fields_put(fields, key, text);
}

static npagg_status refuse(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                           const char *want)
{
    const char *value = np_safetensors_text(file, key);
    return np_fail(ctx, NPAGG_E_FORMAT, "%s: metadata '%s' = '%s', want %s", file->input.label.text,
                   key, np_brief_of(value).text, want);
}

npagg_status np_fields_get(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                           const char **value)
{
    *value = np_safetensors_text(file, key);
    if (*value)
        return NPAGG_OK;
    return np_fail(ctx, NPAGG_E_FORMAT, "%s: metadata '%s' is missing", file->input.label.text,
                   key);
}

npagg_status np_fields_get_integer(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                   int64_t *value)
{
    const char *text;
    NP_TRY(np_fields_get(ctx, file, key, &text));
    return np_integer_read(text, value) ? NPAGG_OK : refuse(ctx, file, key, "an integer");
}

npagg_status np_fields_get_int32(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                 int32_t *value)
{
    int64_t wide;
    NP_TRY(np_fields_get_integer(ctx, file, key, &wide));
    if (wide < INT32_MIN || wide > INT32_MAX)
        return refuse(ctx, file, key, "an integer of 32 bits");
    *value = (int32_t)wide;
    return NPAGG_OK;
}

npagg_status np_fields_get_decimal(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                   double *value)
{
    const char *text;
    NP_TRY(np_fields_get(ctx, file, key, &text));
    return np_decimal_read(text, value) ? NPAGG_OK : refuse(ctx, file, key, "a number");
}

npagg_status np_fields_get_word(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                const char *const *names, int32_t *value)
{
    const char *text;
    NP_TRY(np_fields_get(ctx, file, key, &text));
    for (*value = 0; names[*value]; ++*value)
        if (strcmp(names[*value], text) == 0)
            return NPAGG_OK;
    return refuse(ctx, file, key, "a word that this version knows");
}

/* One item of a list; NULL if it is no integer, else what follows it. */
static const char *read_item(const char *text, int64_t *value)
{
    char item[NP_DECIMAL_SIZE];
    const size_t length = strcspn(text, ",");
    if (length >= sizeof item || strcmp(text + length, ",") == 0)
        return NULL;
    memcpy(item, text, length);
    item[length] = '\0';
    return np_integer_read(item, value) ? text + length + (text[length] == ',') : NULL;
}

npagg_status np_fields_get_list(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                                int64_t room, int64_t *n, int64_t *values)
{
    const char *text;
    NP_TRY(np_fields_get(ctx, file, key, &text));
    for (*n = 0; *text; ++*n) {
        if (*n == room)
            return refuse(ctx, file, key, "a shorter list");
        if (!(text = read_item(text, &values[*n])))
            return refuse(ctx, file, key, "integers with commas between them");
    }
    return NPAGG_OK;
}

npagg_status np_fields_accept(npagg_ctx *ctx, const np_safetensors *file, const char *key,
                              npagg_status status)
{
    return status == NPAGG_E_ARG ? refuse(ctx, file, key, "a value in its range") : status;
}

npagg_status np_fields_accept_all(npagg_ctx *ctx, const np_safetensors *file, npagg_status status)
{
    char text[sizeof ctx->error];
    if (status != NPAGG_E_ARG && status != NPAGG_E_UNSUP)
        return status;
    memcpy(text, ctx->error, sizeof text);
    return np_fail(ctx, NPAGG_E_FORMAT, "%s: no such model: %.150s", file->input.label.text, text);
}
