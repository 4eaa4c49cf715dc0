#include "row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No number of a name, and no number of elements, is larger. */
static const int64_t MOST = INT64_C(1) << 36;

/* Takes a word off *at. */
static int take_word(const char **at, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return 0;
    *at += n;
    return 1;
}

static int take_number(const char **at, int64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return *out >= 1 && *out <= MOST;
}

static int take_prior(const char **at, row *r)
{
    r->count = 1;
    if (take_word(at, "ba"))
        return r->prior = ROW_BA, 1;
    if (take_word(at, "mba"))
        return r->prior = ROW_MBA, take_number(at, &r->count);
    if (take_word(at, "rba"))
        return r->prior = ROW_RBA, take_number(at, &r->count);
    return 0;
}

static int take_part(const char **at, row *r)
{
    r->part = ROW_BOTH;
    if (take_word(at, "-logz"))
        r->part = ROW_LOGZ;
    else if (take_word(at, "-fwd"))
        r->part = ROW_FORWARD;
    else if (take_word(at, "-idle"))
        r->part = ROW_IDLE;
    return **at == 0;
}

static int parse_aggregation(const char *at, row *r)
{
    return take_prior(&at, r) && take_word(&at, "-") && take_number(&at, &r->sets) &&
           take_word(&at, "x") && take_number(&at, &r->points) && take_word(&at, "x") &&
           take_number(&at, &r->d) && take_part(&at, r) && r->sets * r->points <= MOST / r->d;
}

/* The paper's protocols at their mean sizes. */
static int parse_step(const char *at, row *r)
{
    r->is_step = 1;
    r->is_image = take_word(&at, "image-");
    if (!r->is_image && !take_word(&at, "1d-"))
        return 0;
    r->sets = r->is_image ? 100 : 16;
    r->context = r->is_image ? 100 : 24;
    r->points = r->context + (r->is_image ? 50 : 14);
    r->d = 128;
    return take_prior(&at, r) && take_word(&at, "-s") && take_number(&at, &r->samples) && *at == 0;
}

int row_parse(const char *name, row *out)
{
    *out = (row){0};
    if (strlen(name) >= sizeof out->name)
        return 0;
    strcpy(out->name, name);
    if (take_word(&name, "step-"))
        return parse_step(name, out);
    return parse_aggregation(name, out);
}

static void print_row(const char *group, const char *name)
{
    printf("{\"group\": \"%s\", \"row\": \"%s\"}\n", group, name);
}

/* One row per prior. */
static void print_priors(const char *group, const char *shape)
{
    static const char *prior[] = {"ba", "mba5", "rba5"};
    char name[64];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s-%s", prior[i], shape);
        print_row(group, name);
    }
}

static void print_shapes(const char *group, const char *format, const int64_t *number)
{
    char name[64];
    for (; *number; number++) {
        snprintf(name, sizeof name, format, *number);
        print_row(group, name);
    }
}

static void print_scaling(void)
{
    static const int64_t n[] = {1000,   3000,    10000,   30000,    100000,
                                300000, 1000000, 3000000, 10000000, 0};
    static const int64_t few[] = {1, 2, 5, 10, 20, 50, 0};
    static const int64_t d[] = {8, 16, 32, 64, 128, 256, 512, 1024, 0};
    print_shapes("points", "ba-1x%" PRId64 "x16", n);
    print_shapes("points", "rba5-1x%" PRId64 "x16", n);
    print_shapes("components", "mba%" PRId64 "-16x47x128", few);
    print_shapes("sweeps", "rba%" PRId64 "-16x47x128", few);
    print_shapes("dimensions", "ba-16x47x%" PRId64, d);
    print_shapes("dimensions", "rba5-16x47x%" PRId64, d);
}

void row_list(void)
{
    print_priors("aggregation", "16x47x128");
    print_priors("aggregation", "100x197x128");
    print_priors("aggregation", "1x10000x128");
    print_row("aggregation", "ba-1x1000000x128");
    print_row("aggregation", "rba5-1x200000x128");
    print_row("aggregation", "rba5-1x1000000x128");
    print_priors("logz", "16x47x128-logz");
    print_priors("logz", "100x197x128-logz");
    print_priors("forward", "16x47x128-fwd");
    print_priors("forward", "100x197x128-fwd");
    print_priors("forward", "1x1000000x128-fwd");
    print_row("step", "step-1d-ba-s5");
    print_row("step", "step-1d-mba5-s10");
    print_row("step", "step-1d-rba5-s5");
    print_row("step", "step-image-ba-s5");
    print_row("step", "step-image-mba5-s10");
    print_row("step", "step-image-rba5-s5");
    print_priors("posterior", "1x10x128-fwd");
    print_priors("posterior", "1x10x128-idle");
    print_scaling();
}
