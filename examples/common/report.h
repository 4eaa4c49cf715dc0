/* Results of models at corruption levels, as a table on stdout and as CSV. */
#ifndef REPORT_H
#define REPORT_H

#include "evaluate.h"

typedef struct {
    char name[32];    /* "rba", "rba-2" if there is another */
    const char *file; /* of the checkpoint */
    settings s;
    int64_t step;
    scores at[OPTIONS_REALS]; /* per level */
} result;

/* The averages of a result at one level. */
typedef struct {
    average ctx_ll, tgt_ll, ctx_rmse, tgt_rmse;
} figures;

figures figures_of(const scores *s);

/* For each level a line per result; the difference to the first result is over the same tasks. */
void report_print(const real_list *levels, int n, const result *results);

/* 0, or -1 after a complaint. */
int report_write(const char *path, const char *data, const real_list *levels, int n,
                 const result *results);
int report_write_tasks(const char *path, const real_list *levels, int n, const result *results);

#endif /* REPORT_H */
