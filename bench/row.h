/*
 * Rows of the benchmark. A row's name says all about it, here and in peer_torch.py:
 *
 *   ba-16x47x128           aggregation: 16 sets of 47 points, D = 128; forward and backward
 *   mba5-16x47x128         the same with a mixture of 5; rba5: rBA with 5 sweeps
 *   ...-logz               with the evidence, and a gradient that comes through it
 *   ...-fwd                forward only, nothing kept
 *   ...-idle               forward only, each call after a pause in which all threads sleep
 *   step-1d-ba-s5          training step: losses, gradients, Adam; 16 tasks, 24 + 14 points, S = 5
 *   step-image-rba5-s5     the same with 100 images, 100 + 50 pixels
 */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <stdint.h>

typedef enum row_prior { ROW_BA, ROW_MBA, ROW_RBA } row_prior;
typedef enum row_part { ROW_BOTH, ROW_LOGZ, ROW_FORWARD, ROW_IDLE } row_part;

typedef struct row {
    char name[64];
    row_prior prior;
    int64_t count; /* K of mBA, sweeps of rBA, else 1 */
    int64_t sets, points, d;
    row_part part;
    int32_t is_step, is_image;
    int64_t context, samples; /* of a step: points = context + targets */
} row;

/* 1 if name is a row. */
int row_parse(const char *name, row *out);

/* Rows that bench/run.sh measures: one JSON line each, group and name. */
void row_list(void);

#endif /* BENCH_ROW_H */
