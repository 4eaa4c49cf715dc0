#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "complain.h"
#include "option_values.h"

void options_begin(option_set *set, const char *program, const char *usage)
{
    memset(set, 0, sizeof *set);
    set->program = program;
    set->usage = usage;
}

/* The table is sized by who writes the program; more than fits is a mistake there. */
static option *add_option(option_set *set, const char *name, int kind, void *value)
{
    if (set->count == OPTIONS_MOST)
        abort();
    option *o = &set->list[set->count++];
    memset(o, 0, sizeof *o);
    o->name = name;
    o->kind = kind;
    o->value = value;
    return o;
}

void options_heading(option_set *set, const char *text)
{
    add_option(set, text, OPTION_HEADING, NULL);
}

static void add_number(option_set *set, const char *name, int kind, void *value, double lo,
                       double hi, int keep, const char *argument, const char *help)
{
    option *o = add_option(set, name, kind, value);
    o->lo = lo;
    o->hi = hi;
    o->keep = keep;
    o->argument = argument;
    o->help = help;
}

void options_integer(option_set *set, const char *name, int64_t *value, double lo, double hi,
                     int keep, const char *argument, const char *help)
{
    add_number(set, name, OPTION_INTEGER, value, lo, hi, keep, argument, help);
}

void options_real(option_set *set, const char *name, double *value, double lo, double hi, int keep,
                  const char *argument, const char *help)
{
    add_number(set, name, OPTION_REAL, value, lo, hi, keep, argument, help);
}

void options_choice(option_set *set, const char *name, int64_t *value, const char *const *words,
                    int keep, const char *help)
{
    option *o = add_option(set, name, OPTION_CHOICE, value);
    o->words = words;
    o->keep = keep;
    o->help = help;
}

void options_flag(option_set *set, const char *name, int64_t *value, int keep, const char *help)
{
    option *o = add_option(set, name, OPTION_FLAG, value);
    o->keep = keep;
    o->help = help;
}

void options_text(option_set *set, const char *name, const char **value, const char *argument,
                  const char *help)
{
    option *o = add_option(set, name, OPTION_TEXT, value);
    o->argument = argument;
    o->help = help;
}

void options_reals(option_set *set, const char *name, real_list *value, double lo, double hi,
                   const char *argument, const char *help)
{
    add_number(set, name, OPTION_REALS, value, lo, hi, KEEP_NOT, argument, help);
}

void options_hidden(option_set *set, const char *name, int64_t *value, int keep)
{
    add_number(set, name, OPTION_INTEGER, value, 0, 9007199254740992.0, keep, "", NULL);
}

/* The option called name [n]; NULL if there is none. */
static option *find_option(const option_set *set, const char *name, size_t n)
{
    for (int i = 0; i < set->count; i++) {
        const option *o = &set->list[i];
        if (o->help && strlen(o->name) == n && !strncmp(o->name, name, n))
            return (option *)o;
    }
    return NULL;
}

/* Reads argv[*i], and the value behind it. */
static int read_option(option_set *set, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *value = strchr(name, '=');
    const size_t n = value ? (size_t)(value - name) : strlen(name);
    option *o = find_option(set, name, n);
    if (!o) {
        snprintf(set->error, sizeof set->error, "--%.*s: no such option; --help lists them", (int)n,
                 name);
        return -1;
    }
    if (o->kind == OPTION_FLAG && value) {
        snprintf(set->error, sizeof set->error, "--%s takes no value", o->name);
        return -1;
    }
    if (value)
        value++;
    else if (o->kind != OPTION_FLAG && ++*i < argc)
        value = argv[*i];
    if (o->kind != OPTION_FLAG && !value) {
        snprintf(set->error, sizeof set->error, "--%s: its value is missing", o->name);
        return -1;
    }
    o->given = 1;
    return option_read(o, value, set->error, sizeof set->error);
}

int options_parse(option_set *set, int argc, char **argv)
{
    set->files = take((size_t)argc, sizeof *set->files);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return 1;
        if (!strncmp(argv[i], "--", 2)) {
            if (read_option(set, argc, argv, &i))
                return -1;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            snprintf(set->error, sizeof set->error, "%s: no such option; --help lists them",
                     argv[i]);
            return -1;
        } else {
            set->files[set->n_files++] = argv[i];
        }
    }
    return 0;
}

int options_given(const option_set *set, const char *name)
{
    const option *o = find_option(set, name, strlen(name));
    return o && o->given;
}

void options_help(const option_set *set)
{
    fputs(set->usage, stdout);
    for (int i = 0; i < set->count; i++)
        option_describe(&set->list[i]);
}

static int same_file(const char *a, const char *b)
{
    struct stat one, two;
    if (!strcmp(a, b))
        return 1;
    return !stat(a, &one) && !stat(b, &two) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* The file that an option names; NULL if it does not. */
static const char *named_file(const option *o)
{
    return o->kind == OPTION_TEXT && o->given && strcmp(o->argument, "PREFIX")
               ? *(const char **)o->value
               : NULL;
}

int options_distinct(option_set *set)
{
    for (int i = 0; i < set->count; i++) {
        const option *o = &set->list[i];
        const char *path = named_file(o);
        for (int j = 0; j < i && path; j++)
            if (named_file(&set->list[j]) && same_file(path, named_file(&set->list[j]))) {
                snprintf(set->error, sizeof set->error, "--%s and --%s are the same file, %s",
                         set->list[j].name, o->name, path);
                return -1;
            }
        for (int j = 0; j < set->n_files && path && strcmp(o->name, "checkpoint"); j++)
            if (same_file(path, set->files[j])) {
                snprintf(set->error, sizeof set->error, "--%s is a FILE that is read, %s", o->name,
                         path);
                return -1;
            }
    }
    return 0;
}

/* FNV-1a of the name, in 32 bits: a double holds it. */
static double name_number(const char *name)
{
    uint32_t sum = 2166136261u;
    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619u;
    return (double)sum;
}

void options_keep(const option_set *set, double *out)
{
    memset(out, 0, OPTIONS_KEPT * sizeof *out);
    for (int i = 0; i < set->count; i++)
        if (set->list[i].keep != KEEP_NOT) {
            *out++ = name_number(set->list[i].name);
            *out++ = option_number(&set->list[i]);
        }
}

/* The value that was kept for the option; NULL if there is none. */
static const double *find_kept(const option *o, const double *in)
{
    for (int i = 0; i < OPTIONS_KEPT; i += 2)
        if (in[i] == name_number(o->name))
            return in + i + 1;
    return NULL;
}

static int refuse_kept(option_set *set, const option *o, double kept, const char *file)
{
    char got[64], want[64];
    option_print(o, option_number(o), got, sizeof got);
    option_print(o, kept, want, sizeof want);
    snprintf(set->error, sizeof set->error, "--%s is %s, but %s in %s", o->name, got, want, file);
    return -1;
}

/* Whether an option that was given may have another value than the kept one. */
static int may_differ(const option *o, double kept, int strict)
{
    if (o->keep == KEEP_LENGTH && strict == KEEP_RUN)
        return option_number(o) > kept;
    return o->keep < strict;
}

int options_restore(option_set *set, const double *in, int strict, const char *file)
{
    for (int i = 0; i < set->count; i++) {
        option *o = &set->list[i];
        const double *kept = o->keep == KEEP_NOT ? NULL : find_kept(o, in);
        if (!kept && o->keep != KEEP_NOT && !o->help) {
            snprintf(set->error, sizeof set->error, "%s is no checkpoint of %s: it has no %s", file,
                     set->program, o->name);
            return -1;
        }
        if (!kept)
            continue;
        if (!option_accepts(o, *kept)) {
            snprintf(set->error, sizeof set->error, "%s: --%s is %g there", file, o->name, *kept);
            return -1;
        }
        if (o->given && *kept != option_number(o) && !may_differ(o, *kept, strict))
            return refuse_kept(set, o, *kept, file);
        set->longer |= o->given && o->keep == KEEP_LENGTH && *kept < option_number(o);
        if (!o->given)
            option_set_number(o, *kept);
    }
    return 0;
}
