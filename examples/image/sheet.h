/* Numbers for a sheet of completions of one image: --sheet PREFIX. */
#ifndef SHEET_H
#define SHEET_H

#include "examine.h"
#include "image_set.h"

typedef struct {
    const char *prefix;
    int64_t image;          /* of the test set, from 1 */
    const image_set *set;   /* the test set */
    const real_list *sizes; /* of contexts, a row each */
    int kind, severity;     /* corruption; severity > 0: the rows once more with it */
} sheet;

/*
 * What all models make of the image. Columns: the context; mean, sd, two samples of each model, and
 * for robust ones the weights E[beta_i] relative to the largest; the image. PREFIX.csv has a line
 * for every pixel of the sheet: x, y, what it is (0 nothing, 1 grey, 2 missing, 3 sd, 4 weight), the
 * value. PREFIX-labels.csv: x, y, what is labelled (column, model, row), text. Returns the exit
 * status.
 */
int sheet_write(const examiner *e, const sheet *s);

#endif /* SHEET_H */
