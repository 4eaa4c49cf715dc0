#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 24 };

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *p, const char *title, const char *unit, int64_t first, int64_t total,
                    int quiet)
{
    p->title = title;
    p->unit = unit;
    p->first = first;
    p->total = total;
    p->quiet = quiet;
    p->terminal = isatty(STDERR_FILENO);
    p->began = p->shown = progress_clock();
}

int progress_due(const progress *p, int64_t done)
{
    const double pause = p->terminal ? 0.2 : 5;
    return !p->quiet && done > p->first && progress_clock() - p->shown >= pause;
}

double progress_speed(const progress *p, int64_t done)
{
    const double seconds = progress_clock() - p->began;
    return seconds > 0 ? (double)(done - p->first) / seconds : 0;
}

/* "1:02:03" or "2:03". */
static void print_time(double seconds)
{
    const long s = (long)(seconds + 0.5);
    if (s >= 3600)
        fprintf(stderr, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        fprintf(stderr, "%ld:%02ld", s / 60, s % 60);
}

static void print_bar(const progress *p, int64_t done)
{
    const int full = p->total > 0 ? (int)(BAR * done / p->total) : BAR;
    fputs(" [", stderr);
    for (int i = 0; i < BAR; i++)
        fputs(i < full ? "━" : "·", stderr);
    fputs("]", stderr);
}

static void print_counts(const progress *p, int64_t done)
{
    fprintf(stderr, "%s", p->title);
    if (p->terminal)
        print_bar(p, done);
    fprintf(stderr, " %lld/%lld %s, %.1f/s", (long long)done, (long long)p->total, p->unit,
            progress_speed(p, done));
}

void progress_show(progress *p, int64_t done, const char *figures)
{
    const double speed = progress_speed(p, done);
    if (p->quiet)
        return;
    fputs(p->terminal ? "\r" : "", stderr);
    print_counts(p, done);
    fputs(", ", stderr);
    print_time(speed > 0 ? (double)(p->total - done) / speed : 0);
    fprintf(stderr, " left%s%s%s", *figures ? ", " : "", figures, p->terminal ? "\033[K" : "\n");
    fflush(stderr);
    p->shown = progress_clock();
}

void progress_end(progress *p, int64_t done, const char *figures)
{
    if (p->quiet)
        return;
    fputs(p->terminal ? "\r" : "", stderr);
    print_counts(p, done);
    fputs(", took ", stderr);
    print_time(progress_clock() - p->began);
    fprintf(stderr, "%s%s%s\n", *figures ? ", " : "", figures, p->terminal ? "\033[K" : "");
}
