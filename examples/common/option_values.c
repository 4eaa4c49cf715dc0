#include "option_values.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse_value(const option *o, const char *text, char *error, size_t size)
{
    const char *what = o->kind == OPTION_INTEGER ? "a whole number" : "a number";
    const char *list = o->kind == OPTION_REALS ? " (with commas between several)" : "";
    snprintf(error, size, "--%s %s: want %s from %.12g to %.12g%s", o->name, text, what, o->lo,
             o->hi, list);
    return -1;
}

static int read_integer(option *o, const char *text, char *error, size_t size)
{
    char *end;
    errno = 0;
    const long long x = strtoll(text, &end, 10);
    if (end == text || *end || errno || (double)x < o->lo || (double)x > o->hi)
        return refuse_value(o, text, error, size);
    *(int64_t *)o->value = x;
    return 0;
}

/* A number at *text, which is moved behind it; NaN if there is none in range. */
static double scan_real(const option *o, const char **text)
{
    char *end;
    const double x = strtod(*text, &end);
    if (end == *text || !(x >= o->lo && x <= o->hi))
        return NAN;
    *text = end;
    return x;
}

static int read_real(option *o, const char *text, char *error, size_t size)
{
    const char *at = text;
    const double x = scan_real(o, &at);
    if (isnan(x) || *at)
        return refuse_value(o, text, error, size);
    *(double *)o->value = x;
    return 0;
}

static int read_reals(option *o, const char *text, char *error, size_t size)
{
    real_list list = {0};
    for (const char *at = text;; at++) {
        const double x = scan_real(o, &at);
        if (isnan(x) || (*at && *at != ',') || list.count == OPTIONS_REALS)
            return refuse_value(o, text, error, size);
        list.at[list.count++] = x;
        if (!*at)
            break;
    }
    *(real_list *)o->value = list;
    return 0;
}

/* "a, b or c" */
static void join_words(const option *o, char *out, size_t size)
{
    size_t n = 0;
    for (int i = 0; o->words[i] && n < size; i++) {
        const char *before = i == 0 ? "" : o->words[i + 1] ? ", " : " or ";
        n += (size_t)snprintf(out + n, size - n, "%s%s", before, o->words[i]);
    }
}

static int read_choice(option *o, const char *text, char *error, size_t size)
{
    char all[128];
    for (int i = 0; o->words[i]; i++)
        if (!strcmp(o->words[i], text)) {
            *(int64_t *)o->value = i;
            return 0;
        }
    join_words(o, all, sizeof all);
    snprintf(error, size, "--%s %s: want %s", o->name, text, all);
    return -1;
}

static int read_text(option *o, const char *text, char *error, size_t size)
{
    if (!*text) {
        snprintf(error, size, "--%s: want the name of a file, got nothing", o->name);
        return -1;
    }
    *(const char **)o->value = text;
    return 0;
}

int option_read(option *o, const char *text, char *error, size_t size)
{
    switch (o->kind) {
    case OPTION_INTEGER:
        return read_integer(o, text, error, size);
    case OPTION_REAL:
        return read_real(o, text, error, size);
    case OPTION_REALS:
        return read_reals(o, text, error, size);
    case OPTION_CHOICE:
        return read_choice(o, text, error, size);
    case OPTION_TEXT:
        return read_text(o, text, error, size);
    default:
        *(int64_t *)o->value = 1;
        return 0;
    }
}

int option_accepts(const option *o, double number)
{
    int words = 0;
    while (o->words && o->words[words])
        words++;
    if (o->kind == OPTION_REAL)
        return number >= o->lo && number <= o->hi;
    if (!(fabs(number) <= 9007199254740992.0) || number != floor(number))
        return 0;
    if (o->kind == OPTION_INTEGER)
        return number == 0 || (number >= o->lo && number <= o->hi);
    return number >= 0 && number < (o->kind == OPTION_CHOICE ? words : 2);
}

double option_number(const option *o)
{
    return o->kind == OPTION_REAL ? *(double *)o->value : (double)*(int64_t *)o->value;
}

void option_set_number(option *o, double number)
{
    if (o->kind == OPTION_REAL)
        *(double *)o->value = number;
    else
        *(int64_t *)o->value = (int64_t)number;
}

void option_print(const option *o, double number, char *out, size_t size)
{
    if (o->kind == OPTION_CHOICE)
        snprintf(out, size, "%s", o->words[(int)number]);
    else if (o->kind == OPTION_FLAG)
        snprintf(out, size, "%s", number != 0 ? "on" : "off");
    else
        snprintf(out, size, "%.12g", number);
}

/* "--model ba|mba": what stands in the left column. */
static void print_name(const option *o, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "--%s", o->name);
    if (o->argument)
        snprintf(out + n, size - n, " %s", o->argument);
    for (int i = 0; o->words && o->words[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? "|" : " ", o->words[i]);
}

static void print_reals(const real_list *list)
{
    for (int i = 0; i < list->count; i++)
        printf("%s%g", i ? "," : " [", list->at[i]);
    printf("]");
}

/* A number that is 0 depends on others or means none, and the help says so. */
static void print_default(const option *o)
{
    char text[64];
    const int number = o->kind == OPTION_INTEGER || o->kind == OPTION_REAL;
    if (o->kind == OPTION_REALS && ((const real_list *)o->value)->count)
        print_reals(o->value);
    else if (o->kind == OPTION_CHOICE || (number && option_number(o) != 0)) {
        option_print(o, option_number(o), text, sizeof text);
        printf(" [%s]", text);
    }
}

void option_describe(const option *o)
{
    char name[128];
    if (o->kind == OPTION_HEADING)
        printf("\n%s\n", o->name);
    if (!o->help)
        return;
    print_name(o, name, sizeof name);
    printf("  %-25s ", name);
    if (strlen(name) > 25)
        printf("\n%28s", "");
    printf("%s", o->help);
    print_default(o);
    printf("\n");
}
