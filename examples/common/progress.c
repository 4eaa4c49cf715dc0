#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 24, LEAST_BAR = 4 };

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
static void format_time(double seconds, size_t size, char *out)
{
    const long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%ld:%02ld", s / 60, s % 60);
}

static int terminal_columns(void)
{
    struct winsize window;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col ? window.ws_col : 80;
}

static void print_bar(const progress *p, int64_t done, int width)
{
    const int full = p->total > 0 ? (int)(width * done / p->total) : width;
    fputs(" [", stderr);
    for (int i = 0; i < width; i++)
        fputs(i < full ? "━" : "·", stderr);
    fputs("]", stderr);
}

/* A line that wraps cannot be redrawn: the bar has what the text leaves of it, and a text that is
 * too long is cut. */
static void redraw_line(const progress *p, int64_t done, const char *text)
{
    const int room = terminal_columns() - 1;
    const int title = (int)strlen(p->title), left = room - title - (int)strlen(text) - 3;
    fprintf(stderr, "\r%.*s", room, p->title);
    if (left >= LEAST_BAR)
        print_bar(p, done, left < BAR ? left : BAR);
    fprintf(stderr, "%.*s\033[K", room > title ? room - title : 0, text);
}

/* when: "2:03 left", "took 2:03". */
static void print_line(const progress *p, int64_t done, const char *when, const char *figures)
{
    char text[320];
    snprintf(text, sizeof text, " %lld/%lld%s%s, %.1f/s, %s%s%s", (long long)done,
             (long long)p->total, p->terminal ? "" : " ", p->terminal ? "" : p->unit,
             progress_speed(p, done), when, *figures ? ", " : "", figures);
    if (p->terminal)
        redraw_line(p, done, text);
    else
        fprintf(stderr, "%s%s\n", p->title, text);
}

void progress_show(progress *p, int64_t done, const char *figures)
{
    const double speed = progress_speed(p, done);
    char time[32], when[48];
    if (p->quiet)
        return;
    format_time(speed > 0 ? (double)(p->total - done) / speed : 0, sizeof time, time);
    snprintf(when, sizeof when, "%s left", time);
    print_line(p, done, when, figures);
    fflush(stderr);
    p->shown = progress_clock();
}

void progress_end(progress *p, int64_t done, const char *figures)
{
    char time[32], when[48];
    if (p->quiet)
        return;
    format_time(progress_clock() - p->began, sizeof time, time);
    snprintf(when, sizeof when, "took %s", time);
    print_line(p, done, when, figures);
    if (p->terminal)
        fputc('\n', stderr);
}
