#include "golden.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unity.h>

#define MAX_WORD 64

/* A scalar is an array of one value that says so. */
typedef struct entry {
    struct entry *next;
    char name[MAX_WORD];
    int is_scalar;
    int64_t count;
    double values[];
} entry;

struct golden {
    char path[256];
    entry *entries;
};

/* Where the reader is, and room for the one word it looks at. */
typedef struct {
    const char *path, *at, *end;
    int line;
    char word[MAX_WORD];
    char *error;
    size_t error_size;
} reader;

/* Says what is wrong and returns 0, the failure of every read_* function below. */
static int fail(reader *r, const char *format, ...)
{
    char what[192];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(r->error, r->error_size, "%s:%d: %s", r->path, r->line, what);
    return 0;
}

static void skip_blanks(reader *r)
{
    for (; r->at < r->end && (isspace((unsigned char)*r->at) || *r->at == '#'); r->at++) {
        if (*r->at == '#')
            while (r->at + 1 < r->end && r->at[1] != '\n')
                r->at++;
        r->line += *r->at == '\n';
    }
}

static int read_word(reader *r, const char *wanted)
{
    skip_blanks(r);
    size_t n = 0;
    for (; r->at < r->end && !isspace((unsigned char)*r->at); r->at++, n++) {
        if (n + 1 == sizeof r->word)
            return fail(r, "a word of more than %d characters, want %s", MAX_WORD - 1, wanted);
        r->word[n] = *r->at;
    }
    r->word[n] = '\0';
    return n > 0 || fail(r, "the file ends, want %s", wanted);
}

static int read_number(reader *r, const char *wanted, double *x)
{
    char *rest;
    if (!read_word(r, wanted))
        return 0;
    *x = strtod(r->word, &rest);
    return *rest == '\0' || fail(r, "\"%s\" is no number, want %s", r->word, wanted);
}

static int read_int(reader *r, const char *wanted, int64_t lo, int64_t hi, int64_t *x)
{
    double value;
    if (!read_number(r, wanted, &value))
        return 0;
    if (!(value >= (double)lo && value <= (double)hi && value == floor(value)))
        return fail(r, "%s is %s, want an integer in %" PRId64 "..%" PRId64, wanted, r->word, lo,
                    hi);
    *x = (int64_t)value;
    return 1;
}

static entry *find(const golden *g, const char *name, int is_scalar)
{
    entry *e = g->entries;
    while (e && (e->is_scalar != is_scalar || strcmp(e->name, name) != 0))
        e = e->next;
    return e;
}

/* A new entry [count], already owned by g. */
static entry *add_entry(reader *r, golden *g, const char *name, int is_scalar, int64_t count)
{
    if (find(g, name, is_scalar))
        return fail(r, "%s is here twice", name), NULL;
    entry *e = malloc(sizeof *e + (size_t)count * sizeof e->values[0]);
    if (!e)
        return fail(r, "no memory for the %" PRId64 " values of %s", count, name), NULL;
    snprintf(e->name, sizeof e->name, "%s", name);
    e->is_scalar = is_scalar;
    e->count = count;
    e->next = g->entries;
    g->entries = e;
    return e;
}

static int read_scalar(reader *r, golden *g)
{
    double value;
    char name[MAX_WORD];
    if (!read_word(r, "the name of a scalar"))
        return 0;
    memcpy(name, r->word, sizeof name);
    if (!read_number(r, name, &value))
        return 0;
    entry *e = add_entry(r, g, name, 1, 1);
    if (e)
        e->values[0] = value;
    return e != NULL;
}

/* "f64|i64 NDIM D0 D1 ..": a value takes at least two characters, so the file bounds the count. */
static int read_shape(reader *r, int *is_int, int64_t *count)
{
    int64_t n_dims, d = 0, most = (int64_t)(r->end - r->at);
    if (!read_word(r, "f64 or i64"))
        return 0;
    *is_int = strcmp(r->word, "i64") == 0;
    if (!*is_int && strcmp(r->word, "f64") != 0)
        return fail(r, "type \"%s\", want f64 or i64", r->word);
    if (!read_int(r, "the number of dimensions", 0, GOLDEN_MAX_DIMS, &n_dims))
        return 0;
    for (*count = 1; n_dims > 0; n_dims--, *count *= d)
        if (!read_int(r, "a dimension", 0, *count ? most / *count : most, &d))
            return 0;
    return 1;
}

static int read_array(reader *r, golden *g)
{
    const int64_t most = INT64_C(1) << 53;
    int64_t count = 0, integer = 0;
    int is_int;
    char name[MAX_WORD];
    if (!read_word(r, "the name of an array"))
        return 0;
    memcpy(name, r->word, sizeof name);
    if (!read_shape(r, &is_int, &count))
        return 0;
    entry *e = add_entry(r, g, name, 0, count);
    for (int64_t i = 0; e && i < count; i++) {
        if (!is_int && !read_number(r, name, &e->values[i]))
            return 0;
        if (is_int && !read_int(r, name, -most, most, &integer))
            return 0;
        if (is_int)
            e->values[i] = (double)integer;
    }
    return e != NULL;
}

static int read_end(reader *r)
{
    skip_blanks(r);
    return r->at == r->end || fail(r, "there is something after end");
}

/* One statement after another up to `end`. */
static int read_statements(reader *r, golden *g)
{
    while (read_word(r, "case, scalar, array or end")) {
        int good = 0;
        if (strcmp(r->word, "end") == 0)
            return read_end(r);
        else if (strcmp(r->word, "case") == 0)
            good = read_word(r, "the name of the case");
        else if (strcmp(r->word, "scalar") == 0)
            good = read_scalar(r, g);
        else if (strcmp(r->word, "array") == 0)
            good = read_array(r, g);
        else
            fail(r, "\"%s\", want case, scalar, array or end", r->word);
        if (!good)
            return 0;
    }
    return 0;
}

golden *golden_parse(const char *path, const char *text, size_t length, char *error, size_t size)
{
    reader r = {
        .path = path,
        .at = text,
        .end = text + length,
        .line = 1,
        .error = error,
        .error_size = size,
    };
    golden *g = calloc(1, sizeof *g);
    if (!g)
        return fail(&r, "no memory"), NULL;
    snprintf(g->path, sizeof g->path, "%s", path);
    if (read_statements(&r, g))
        return g;
    golden_destroy(g);
    return NULL;
}

/* The whole file as text the caller frees, or NULL. */
static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = malloc((size_t)size + 1);
    if (text)
        *length = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

golden *golden_load(const char *path, char *error, size_t size)
{
    size_t length = 0;
    char *text = read_file(path, &length);
    if (!text) {
        snprintf(error, size, "%s: cannot be read", path);
        return NULL;
    }
    golden *g = golden_parse(path, text, length, error, size);
    free(text);
    return g;
}

void golden_destroy(golden *g)
{
    if (!g)
        return;
    while (g->entries) {
        entry *e = g->entries;
        g->entries = e->next;
        free(e);
    }
    free(g);
}

double golden_scalar_or(const golden *g, const char *name, double otherwise)
{
    const entry *e = find(g, name, 1);
    return e ? e->values[0] : otherwise;
}

const double *golden_find(const golden *g, const char *name, int64_t *count)
{
    const entry *e = find(g, name, 0);
    if (e)
        *count = e->count;
    return e ? e->values : NULL;
}

double golden_scalar(const golden *g, const char *name)
{
    char message[384];
    snprintf(message, sizeof message, "%s: no scalar %s", g->path, name);
    const entry *e = find(g, name, 1);
    TEST_ASSERT_NOT_NULL_MESSAGE(e, message);
    return e->values[0];
}

const double *golden_array(const golden *g, const char *name, int64_t n)
{
    char message[384];
    snprintf(message, sizeof message, "%s: array %s", g->path, name);
    const entry *e = find(g, name, 0);
    TEST_ASSERT_NOT_NULL_MESSAGE(e, message);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(n, e->count, message);
    return e->values;
}
