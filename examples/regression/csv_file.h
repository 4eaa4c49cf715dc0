/*
 * Tasks from a CSV file: a header "task,x...,y..." (columns whose names begin with x, then columns
 * whose names begin with y), then a line per point. Lines of a task stand together.
 */
#ifndef CSV_FILE_H
#define CSV_FILE_H

#include <stdint.h>

enum { CSV_COLUMNS = 64, CSV_LEAST = 4 /* points of a task */ };

typedef struct {
    int64_t tasks, points, x_dim, y_dim;
    int64_t *offsets;  /* [tasks+1] */
    int64_t *lines;    /* [tasks] where they begin in the file */
    char **names;      /* [tasks] */
    double *x, *y;     /* [points,X], [points,Y] */
    uint64_t checksum; /* of the numbers, 53 bits */
} csv_file;

/* 0, or -1 after a complaint that names file and line. */
int csv_file_load(const char *path, csv_file *out);
void csv_file_destroy(csv_file *f);

#endif /* CSV_FILE_H */
