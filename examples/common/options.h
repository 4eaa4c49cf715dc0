/*
 * Options of a program: "--name value" or "--name=value", with a type, a range and a line of help
 * each, written to variables of the caller's.
 *
 * Some make up what a run is: these are kept with its checkpoints as numbers, and compared when it
 * goes on.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_MOST = 64, OPTIONS_KEPT = 2 * OPTIONS_MOST, OPTIONS_REALS = 32 };

/* How strictly an option belongs to a run. */
enum {
    KEEP_NOT,
    KEEP_LENGTH, /* a run that is resumed has it as it was, or more of it */
    KEEP_RUN,    /* a run that is resumed has it as it was */
    KEEP_SHAPE,  /* so has whatever uses the parameters */
};

typedef struct {
    int count;
    double at[OPTIONS_REALS];
} real_list;

typedef struct {
    const char *name, *argument, *help; /* help NULL: not for users, only kept */
    int kind, keep, given;
    void *value;
    double lo, hi;
    const char *const *words; /* of a choice, NULL at the end */
} option;

typedef struct {
    const char *program, *usage;
    option list[OPTIONS_MOST];
    int count;
    const char **files; /* arguments that are no options */
    int n_files;
    int longer; /* options_restore found a length that is larger than the kept one */
    char error[512];
} option_set;

/* usage: the text that --help begins with. */
void options_begin(option_set *set, const char *program, const char *usage);

/* A heading in the help; then options. *value holds the default. */
void options_heading(option_set *set, const char *text);
void options_integer(option_set *set, const char *name, int64_t *value, double lo, double hi,
                     int keep, const char *argument, const char *help);
void options_real(option_set *set, const char *name, double *value, double lo, double hi, int keep,
                  const char *argument, const char *help);
void options_choice(option_set *set, const char *name, int64_t *value, const char *const *words,
                    int keep, const char *help);
void options_flag(option_set *set, const char *name, int64_t *value, int keep, const char *help);
void options_text(option_set *set, const char *name, const char **value, const char *argument,
                  const char *help);
/* Numbers with commas between them. */
void options_reals(option_set *set, const char *name, real_list *value, double lo, double hi,
                   const char *argument, const char *help);
/* A number that is kept with the others and is no option. */
void options_hidden(option_set *set, const char *name, int64_t *value, int keep);

/* 0, or -1 with set->error; 1 if --help was asked for. */
int options_parse(option_set *set, int argc, char **argv);
void options_help(const option_set *set);

int options_given(const option_set *set, const char *name);

/* No two options name the same file, and none a file among the arguments, so that nothing that is
 * read is overwritten (--checkpoint may name an argument). -1 with set->error. */
int options_distinct(option_set *set);

/* out [OPTIONS_KEPT]: pairs of a number that stands for the name, and the value; 0 where there are
 * no more. So options may come and go, and what an older file lacks has its default. */
void options_keep(const option_set *set, double *out);

/*
 * Takes the kept values, in [OPTIONS_KEPT], for a run that goes on (strict is KEEP_RUN) or for a use
 * of its parameters (KEEP_SHAPE). Those that were given must be the same if they are kept at least as
 * strictly as that, else they stay as given; of a length a run may be given more. A file without one
 * of the hidden options is another program's. -1 with set->error, which names `file`.
 */
int options_restore(option_set *set, const double *in, int strict, const char *file);

#endif /* OPTIONS_H */
