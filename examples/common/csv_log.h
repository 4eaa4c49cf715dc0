/* A CSV file that grows with a run and is cut back when the run goes on from an earlier step. */
#ifndef CSV_LOG_H
#define CSV_LOG_H

#include <stdint.h>
#include <stdio.h>

/*
 * Opens the file to append rows, whose first columns are the step and the seconds so far. step < 0:
 * begins anew with this header. Else keeps its rows up to the step. *seconds: of the last row kept,
 * or 0. NULL after a complaint.
 */
FILE *csv_log_open(const char *path, const char *header, int64_t step, double *seconds);

#endif /* CSV_LOG_H */
