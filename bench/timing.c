#include "timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SINGLE = 4096 };
static const struct timespec PAUSE = {0, 1000000}; /* long enough for any worker to fall asleep */

static clockid_t clock_id = CLOCK_MONOTONIC;

void timing_set_cpu(void)
{
    clock_id = CLOCK_PROCESS_CPUTIME_ID;
}

double timing_now(void)
{
    struct timespec t;
    clock_gettime(clock_id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double timing_quantile(double *value, int64_t n, double share)
{
    qsort(value, (size_t)n, sizeof *value, compare);
    const double at = share * (double)(n - 1);
    const int64_t i = (int64_t)at, next = i + 1 < n ? i + 1 : i;
    return value[i] + (at - (double)i) * (value[next] - value[i]);
}

/* Calls in batches that double, so that the clock costs nothing where a call is short. */
static timing_block time_together(work *w, double seconds)
{
    int64_t calls = 0, batch = 1;
    const double start = timing_now();
    double now = start;
    while (calls == 0 || (now - start) * (double)(calls + batch) / (double)calls < 1.1 * seconds) {
        for (int64_t i = 0; i < batch; i++)
            w->run(w);
        calls += batch;
        batch = calls < 1024 ? calls : 1024;
        now = timing_now();
        if ((now - start) * 2 > seconds)
            batch = (batch + 7) / 8;
    }
    return (timing_block){(now - start) / (double)calls, calls};
}

/* Each call after a pause: what a program pays that calls now and then. */
static timing_block time_alone(work *w, double seconds)
{
    static double took[MOST_SINGLE];
    const double pause = 1e-9 * (double)PAUSE.tv_nsec;
    int64_t calls = 0;
    while (calls < 5 || (calls < MOST_SINGLE && (double)calls * pause < seconds)) {
        nanosleep(&PAUSE, NULL);
        const double start = timing_now();
        w->run(w);
        took[calls++] = timing_now() - start;
    }
    return (timing_block){timing_quantile(took, calls, 0.5), calls};
}

timing_block timing_run(work *w, double seconds)
{
    w->begin(w);
    w->run(w);
    return w->row.part == ROW_IDLE ? time_alone(w, seconds) : time_together(w, seconds);
}

int64_t timing_memory(const char *field)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    int64_t kb = -1;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            sscanf(line + strlen(field), ": %" SCNd64, &kb);
    if (file)
        fclose(file);
    return kb;
}
