/*
 * How far a long loop is, on stderr: a bar that is redrawn on a terminal, else a plain line every
 * few seconds.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

typedef struct {
    const char *title, *unit; /* "ba", "steps" */
    int64_t first, total;     /* counts from first (where a run was resumed) to total */
    int quiet, terminal;
    double began, shown;
} progress;

/* Seconds of a clock that only goes forward. */
double progress_clock(void);

void progress_begin(progress *p, const char *title, const char *unit, int64_t first, int64_t total,
                    int quiet);

/* 1 if it is time to show something: five times a second on a terminal, else every five seconds. */
int progress_due(const progress *p, int64_t done);

/* Shows the state with these further figures, "loss -0.1". */
void progress_show(progress *p, int64_t done, const char *figures);

/* The last state, with the time it took, as a line that stays. */
void progress_end(progress *p, int64_t done, const char *figures);

/* Units per second since the beginning. */
double progress_speed(const progress *p, int64_t done);

#endif /* PROGRESS_H */
