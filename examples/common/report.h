/* Results of models at corruption levels, as a table on stdout and as CSV. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "evaluate.h"
#include "views.h"

typedef struct {
    char name[32];    /* "rba", "rba-2" if there is another */
    char data[4096];  /* what it was evaluated on */
    const char *file; /* of the checkpoint */
    settings s;
    int64_t step, parameters; /* parameters of encoder and decoder */
    scores at[VIEWS_MOST];    /* per view */
} result;

/* The averages of a result at one level. */
typedef struct {
    average ctx_ll, tgt_ll, ctx_rmse, tgt_rmse;
} figures;

figures figures_of(const scores *s);

/* "  mean ± error", and ",mean,error" in a file; an error that is not known is left out. */
void report_average(average a);
void report_write_average(FILE *file, average a);

/* What it is called in tables. */
const char *report_corruption(const view_list *views, const view *v);

/* For each view a line per result; the difference to the first result is over the same tasks. */
void report_print(const view_list *views, int n, const result *results);

/* Tables have columns for the group and for what the model is made of if there are groups. 0, or -1
 * after a complaint. */
int report_write(const char *path, const view_list *views, int n, const result *results);
int report_write_tasks(const char *path, const view_list *views, int n, const result *results);

#endif /* REPORT_H */
