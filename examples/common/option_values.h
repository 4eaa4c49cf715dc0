/* The value of one option: from text, to text, as a number. */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include "options.h"

enum {
    OPTION_HEADING,
    OPTION_INTEGER, /* int64_t */
    OPTION_REAL,    /* double */
    OPTION_CHOICE,  /* int64_t, the index of the word */
    OPTION_FLAG,    /* int64_t */
    OPTION_TEXT,    /* const char * */
    OPTION_REALS,   /* real_list */
};

/* 0, or -1 with what was got and what was wanted. text is NULL for a flag. */
int option_read(option *o, const char *text, char *error, size_t size);

/* Its lines of --help. */
void option_describe(const option *o);

/* Kinds with one number only. option_accepts: 1 if the number may be its value; 0 may always, as
 * "depends on others". */
int option_accepts(const option *o, double number);
double option_number(const option *o);
void option_set_number(option *o, double number);
void option_print(const option *o, double number, char *out, size_t size);

#endif /* OPTION_VALUES_H */
