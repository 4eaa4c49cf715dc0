/* Numbers for a picture of one task: --predict PREFIX. */
#ifndef PICTURE_H
#define PICTURE_H

#include "examine.h"
#include "own_tasks.h"

enum { PICTURE_GRID = 401 };

typedef struct {
    const char *prefix;
    int64_t task;           /* of the file, from 1; or number of the function */
    int64_t n_ctx, samples; /* context points of a drawn function; curves */
} picture;

/*
 * PREFIX-context.csv: x, y, y before corruption, E[beta_i]. PREFIX-curve.csv: x, mean, sd, the
 * function (if it was drawn), means of samples of z. In the units of the file. own NULL: a function
 * of this kernel (read after the file is, whose option it may be). Returns the exit status.
 */
int picture_write(const examiner *e, const picture *p, const own_tasks *own, const int64_t *kernel);

#endif /* PICTURE_H */
