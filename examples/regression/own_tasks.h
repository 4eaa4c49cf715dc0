/* Tasks of a CSV file as a source to train and evaluate on, in units that a network likes. */
#ifndef OWN_TASKS_H
#define OWN_TASKS_H

#include "batch.h"
#include "csv_file.h"

/* What a column of one task is moved and divided by: none, mean and standard deviation, or median
 * and 1.4826 times the median distance from it, which outliers do not move. */
enum { SCALE_NONE, SCALE_MOMENTS, SCALE_ROBUST };

typedef struct {
    csv_file file;
    float *x, *y;           /* [points,X], [points,Y], in the network's units */
    double *x_mid, *x_unit; /* [tasks,X] original = mid + unit * scaled */
    double *y_mid, *y_unit; /* [tasks,Y] */
    int64_t max_points;     /* that a batch takes of a task */
} own_tasks;

/* x of each task goes to [-2, 2] unless the scale is none. 0, or -1 after a complaint. */
int own_tasks_load(const char *path, int scale, int64_t max_points, own_tasks *out);
void own_tasks_destroy(own_tasks *t);

/*
 * Draws tasks with replacement, and of each a random context and random targets: of n points, at
 * most max_points, 3..n-1 are context, 1..the rest targets.
 */
task_source own_tasks_source(const own_tasks *self);

#endif /* OWN_TASKS_H */
