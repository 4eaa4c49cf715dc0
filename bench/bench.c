/*
 * Times rows of work and prints a JSON line for each.
 *
 *   npagg-bench --list
 *   npagg-bench --row NAME [--row NAME ...] [--threads N] [--blocks N] [--seconds S]
 *   npagg-bench --row NAME --runs N       one run, then N more: for perf and callgrind
 *   npagg-bench --row NAME --cpu-time     processor time: one thread, a machine with other work
 *   npagg-bench --row NAME --peak         memory: of the caller's arrays, before, at most
 *   npagg-bench --row NAME --dump FOLDER  one run, its inputs and results as raw arrays
 *   npagg-bench --serve                   commands from the input, for bench/run.sh:
 *       set NAME        sets up a row
 *       block N S       a block on N threads of about S seconds
 *       end             frees the row
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"
#include "work.h"

enum { MOST_BLOCKS = 10000, MOST_ROWS = 256 };

typedef struct options {
    const char *row[MOST_ROWS];
    int rows;
    int32_t threads;
    int64_t blocks, runs;
    double seconds;
    const char *dump;
    int peak, serve, list;
} options;

static void stop(const char *text, const char *what)
{
    fprintf(stderr, "npagg-bench: %s%s\n", text, what);
    exit(2);
}

static row parse_row(const char *name)
{
    row r;
    if (!row_parse(name, &r))
        stop("no such row: ", name);
    return r;
}

static void run_blocks(work *w, const options *o)
{
    static double took[MOST_BLOCKS];
    int64_t calls = 0;
    for (int64_t i = 0; i < o->blocks; i++) {
        const timing_block block = timing_run(w, o->seconds);
        took[i] = 1e6 * block.seconds;
        calls += block.calls;
    }
    printf("{\"row\": \"%s\", \"threads\": %d, \"blocks\": %" PRId64 ", \"calls\": %" PRId64,
           w->row.name, (int)o->threads, o->blocks, calls);
    printf(", \"median_us\": %.3f", timing_quantile(took, o->blocks, 0.5));
    printf(", \"q1_us\": %.3f", timing_quantile(took, o->blocks, 0.25));
    printf(", \"q3_us\": %.3f", timing_quantile(took, o->blocks, 0.75));
    printf(", \"min_us\": %.3f}\n", took[0]);
    fflush(stdout);
}

/* Twice: the second run must not need more. */
static void print_peak(work *w, const options *o)
{
    const int64_t before = timing_memory("VmRSS");
    w->run(w);
    const int64_t first = timing_memory("VmHWM");
    w->run(w);
    printf("{\"row\": \"%s\", \"threads\": %d, \"arrays_kb\": %zu, \"before_kb\": %" PRId64
           ", \"first_kb\": %" PRId64 ", \"peak_kb\": %" PRId64 "}\n",
           w->row.name, (int)o->threads, w->array_bytes / 1024, before, first,
           timing_memory("VmHWM"));
}

/* Seen by callgrind (--toggle-collect), so it has a name of its own in the program. */
void run_counted(work *w, int64_t runs);
__attribute__((noinline)) void run_counted(work *w, int64_t runs)
{
    for (int64_t i = 0; i < runs; i++)
        w->run(w);
}

static void run_row(const char *name, const options *o)
{
    const row r = parse_row(name);
    work *w = work_create(&r, o->threads);
    if (o->peak) {
        print_peak(w, o);
    } else if (o->dump) {
        w->run(w);
        w->dump(w, o->dump);
    } else if (o->runs) {
        w->run(w);
        run_counted(w, o->runs);
    } else {
        run_blocks(w, o);
    }
    w->destroy(w);
}

static void serve_set(work **w, const char *name)
{
    const row r = parse_row(name);
    if (*w)
        (*w)->destroy(*w);
    *w = work_create(&r, 1);
    (*w)->run(*w);
    printf("{\"row\": \"%s\"}\n", name);
}

static void serve_block(work *w, int32_t *threads, int32_t n, double seconds)
{
    if (!w)
        stop("block before set", "");
    if (n != *threads)
        work_check(w->ctx, npagg_ctx_set_threads(w->ctx, n));
    *threads = n;
    const timing_block block = timing_run(w, seconds);
    printf("{\"seconds\": %.9g, \"calls\": %" PRId64 "}\n", block.seconds, block.calls);
}

/* Between commands the program sleeps in fgets. */
static void serve(void)
{
    work *w = NULL;
    char line[256], name[64];
    int32_t threads = 1;
    int n;
    double seconds;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "set %63s", name) == 1) {
            serve_set(&w, name);
            threads = 1;
        } else if (sscanf(line, "block %d %lf", &n, &seconds) == 2) {
            serve_block(w, &threads, n, seconds);
        } else {
            if (w)
                w->destroy(w);
            w = NULL;
            printf("{}\n");
        }
        fflush(stdout);
    }
    if (w)
        w->destroy(w);
}

/* 1 if the option took its argument. */
static int take_option(options *o, const char *name, const char *value)
{
    if (!value)
        stop("this wants a value: ", name);
    if (strcmp(name, "--row") == 0 && o->rows < MOST_ROWS)
        o->row[o->rows++] = value;
    else if (strcmp(name, "--threads") == 0)
        o->threads = atoi(value);
    else if (strcmp(name, "--blocks") == 0)
        o->blocks = atoi(value);
    else if (strcmp(name, "--runs") == 0)
        o->runs = atoi(value);
    else if (strcmp(name, "--seconds") == 0)
        o->seconds = atof(value);
    else if (strcmp(name, "--dump") == 0)
        o->dump = value;
    else
        stop("no such option, see bench/bench.c: ", name);
    return 1;
}

static options parse_options(int argc, char **argv)
{
    options o = {.threads = 2, .blocks = 9, .seconds = 0.05};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            o.list = 1;
        else if (strcmp(argv[i], "--serve") == 0)
            o.serve = 1;
        else if (strcmp(argv[i], "--peak") == 0)
            o.peak = 1;
        else if (strcmp(argv[i], "--cpu-time") == 0)
            timing_set_cpu();
        else
            i += take_option(&o, argv[i], argv[i + 1]);
    }
    if (o.blocks < 1 || o.blocks > MOST_BLOCKS)
        stop("--blocks is from 1 to 10000", "");
    return o;
}

int main(int argc, char **argv)
{
    const options o = parse_options(argc, argv);
    if (o.list)
        row_list();
    if (o.serve)
        serve();
    for (int i = 0; i < o.rows; i++)
        run_row(o.row[i], &o);
    if (!o.list && !o.serve && !o.rows)
        stop("nothing to do; try --list", "");
    return 0;
}
