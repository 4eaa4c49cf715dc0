/*
 * Measures what the machine can do at most; JSON lines.
 *
 *   npagg-limits [--seconds S] [--threads N]     S per try, on 1 and on N threads
 *   npagg-limits --only layer ...                BLIS alone
 *   npagg-limits --serve [--threads N]           commands from the input, for bench/run.sh:
 *       set KIND BYTES COUNTED   read, copy, memcpy or update, with arrays of so many bytes together
 *       block N S                about S seconds of it on the N threads; the time for COUNTED bytes
 *       end                      frees the arrays
 *
 * cache bytes of the second level; a megabyte if the system does not say
 * fma   multiply-adds of floats in registers        GFLOP/s
 * layer BLIS's three products of a layer in x out, in tiles of so many rows   GFLOP/s
 * read, copy, memcpy, update                        GB/s; bytes: of all arrays of all threads
 * exchange  a number that threads hand to each other, a cache line each time   hand-overs per us
 *
 * Each is the best of several tries: a limit is not a mean.
 */
#include "limits.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, TRIES = 5 };

typedef double (*limit_fn)(limit_job *job);

typedef struct limit_thread {
    limit_job job;
    limit_fn fn;
    pthread_t thread;
    atomic_int *waiting;
    double work; /* flops or bytes of a repeat */
} limit_thread;

static volatile double sink; /* so that nothing is optimised away */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All begin together. */
static void *run_thread(void *arg)
{
    limit_thread *t = arg;
    atomic_fetch_sub(t->waiting, 1);
    while (atomic_load(t->waiting) > 0)
        ;
    const double start = now();
    t->work = t->fn(&t->job);
    t->job.seconds = now() - start;
    return NULL;
}

/* Work per second of all threads, by the slowest; seconds: its time. */
static double run_threads(limit_thread *t, int threads, double *seconds)
{
    atomic_int waiting = threads;
    double work = 0;
    for (int i = 0; i < threads; i++) {
        t[i].waiting = &waiting;
        if (pthread_create(&t[i].thread, NULL, run_thread, &t[i]))
            exit(1);
    }
    *seconds = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i].thread, NULL);
        work += t[i].work * (double)t[i].job.repeats;
        *seconds = t[i].job.seconds > *seconds ? t[i].job.seconds : *seconds;
        sink += t[i].job.result;
    }
    return work / *seconds;
}

static void set_repeats(limit_thread *t, int threads, int64_t repeats)
{
    for (int i = 0; i < threads; i++)
        t[i].job.repeats = repeats;
}

/* Repeats until a try takes its time, then the best of the tries. */
static double measure_best(limit_thread *t, int threads, double wanted)
{
    double seconds = 0, best = 0;
    int64_t repeats = 1;
    for (;; repeats *= 2) {
        set_repeats(t, threads, repeats);
        if (run_threads(t, threads, &seconds) == 0 || seconds > wanted / 2)
            break;
    }
    for (int i = 0; i < TRIES; i++) {
        const double rate = run_threads(t, threads, &seconds);
        best = rate > best ? rate : best;
    }
    return best;
}

static float *create_array(int64_t n)
{
    const size_t bytes = ((size_t)n * sizeof(float) + 1024) / 64 * 64;
    float *array = aligned_alloc(64, bytes);
    if (!array)
        exit(1);
    memset(array, 0, bytes);
    return array;
}

/* Arrays of so many numbers for each thread. */
static void create_threads(limit_thread *t, int threads, limit_fn fn, int64_t ab, int64_t c)
{
    for (int i = 0; i < threads; i++) {
        t[i] = (limit_thread){.fn = fn, .job.count = ab};
        t[i].job.a = create_array(ab);
        t[i].job.b = create_array(ab);
        t[i].job.c = create_array(c);
    }
}

static void destroy_threads(limit_thread *t, int threads)
{
    for (int i = 0; i < threads; i++) {
        free(t[i].job.a);
        free(t[i].job.b);
        free(t[i].job.c);
    }
}

static void print_fma(int threads, double seconds)
{
    static const struct {
        const char *name;
        limit_fn fn;
    } isa[] = {{"avx2", limit_fma_avx2}, {"avx512", limit_fma_avx512}};
    limit_thread t[MOST_THREADS];
    for (int i = 0; i < 2; i++) {
        create_threads(t, threads, isa[i].fn, 0, 0);
        const double rate = measure_best(t, threads, seconds);
        printf("{\"limit\": \"fma\", \"isa\": \"%s\", \"threads\": %d, \"gflops\": %.2f}\n",
               isa[i].name, threads, 1e-9 * rate);
        destroy_threads(t, threads);
    }
}

static void print_layer(int threads, double seconds, int64_t rows, int64_t in, int64_t out)
{
    limit_thread t[MOST_THREADS];
    create_threads(t, threads, limit_layer, rows * (in > out ? in : out), 3 * in * out);
    for (int i = 0; i < threads; i++) {
        t[i].job.rows = rows;
        t[i].job.in = in;
        t[i].job.out = out;
    }
    const double rate = measure_best(t, threads, seconds);
    printf("{\"limit\": \"layer\", \"in\": %" PRId64 ", \"out\": %" PRId64 ", \"rows\": %" PRId64
           ", \"threads\": %d, \"gflops\": %.2f}\n",
           in, out, rows, threads, 1e-9 * rate);
    destroy_threads(t, threads);
}

/* The layers of the paper's models that have most of the multiplications. */
static void print_layers(int threads, double seconds)
{
    static const int64_t shape[][2] = {{128, 128}, {64, 64}, {64, 128}};
    for (int i = 0; i < 3; i++)
        for (int64_t rows = 64; rows <= 1024; rows *= 2)
            print_layer(threads, seconds, rows, shape[i][0], shape[i][1]);
}

static void set_loop(limit_thread *t, int threads, limit_fn fn, int64_t count)
{
    for (int i = 0; i < threads; i++) {
        t[i].fn = fn;
        t[i].job.count = count;
    }
}

enum { LOOPS = 4 };

static const struct {
    const char *name;
    limit_fn fn;
    int arrays;
} loops[LOOPS] = {{"read", limit_read, 1},
                  {"copy", limit_copy, 2},
                  {"memcpy", limit_memcpy, 2},
                  {"update", limit_update, 2}};

/* bytes: of the arrays that a loop uses, all threads together. */
static void print_stream(limit_thread *t, int threads, double seconds, int loop, int64_t bytes)
{
    const int64_t count = bytes / loops[loop].arrays / threads / (int64_t)sizeof(float);
    set_loop(t, threads, loops[loop].fn, count);
    const double rate = measure_best(t, threads, seconds);
    printf("{\"limit\": \"%s\", \"bytes\": %" PRId64 ", \"threads\": %d, \"gbs\": %.2f}\n",
           loops[loop].name, bytes, threads, 1e-9 * rate);
    fflush(stdout);
}

/* From what fits in a first-level cache to what fits in none. */
static void print_streams(int threads, double seconds)
{
    const int64_t least = INT64_C(1) << 15, most = INT64_C(1) << 30;
    limit_thread t[MOST_THREADS];
    create_threads(t, threads, limit_read, most / threads / (int64_t)sizeof(float), 0);
    for (int64_t bytes = least; bytes <= most; bytes *= 2)
        for (int loop = 0; loop < LOOPS; loop++)
            print_stream(t, threads, seconds, loop, bytes);
    destroy_threads(t, threads);
}

/* Turns of all threads; on lines of its own. */
static struct {
    _Alignas(128) _Atomic int64_t turn;
    char apart[128];
} baton;

/* rows: threads; count: this one's number; in: turns of earlier calls. */
static double limit_exchange(limit_job *job)
{
    for (int64_t i = 0; i < job->repeats; i++) {
        const int64_t mine = job->in + job->count + i * job->rows;
        while (atomic_load_explicit(&baton.turn, memory_order_acquire) != mine)
            ;
        atomic_store_explicit(&baton.turn, mine + 1, memory_order_release);
    }
    job->in += job->repeats * job->rows;
    return 1;
}

/* What cores that share a cache do in 20 to 50 ns takes others 200 and more. */
static void print_exchange(int threads, double seconds)
{
    limit_thread t[MOST_THREADS];
    create_threads(t, threads, limit_exchange, 0, 0);
    for (int i = 0; i < threads; i++) {
        t[i].job.rows = threads;
        t[i].job.count = i;
    }
    const double rate = measure_best(t, threads, seconds);
    printf("{\"limit\": \"exchange\", \"threads\": %d, \"per_us\": %.3f}\n", threads, 1e-6 * rate);
    destroy_threads(t, threads);
}

static void print_cache(void)
{
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    printf("{\"limit\": \"cache\", \"level\": 2, \"threads\": 1, \"bytes\": %ld}\n",
           bytes > 0 ? bytes : 1L << 20);
}

/* A loop that takes turns with what it is the limit of. */
typedef struct stream {
    limit_thread t[MOST_THREADS];
    int threads; /* 0: none is set */
    double counted;
} stream;

static void set_stream(stream *s, int threads, const char *name, int64_t bytes, double counted)
{
    for (int i = 0; i < LOOPS; i++)
        if (strcmp(name, loops[i].name) == 0) {
            const int64_t count = bytes / loops[i].arrays / threads / (int64_t)sizeof(float);
            create_threads(s->t, threads, loops[i].fn, count, 0);
            s->threads = threads;
            s->counted = counted;
            return;
        }
    exit(2);
}

static void end_stream(stream *s)
{
    destroy_threads(s->t, s->threads);
    s->threads = 0;
}

/* A try that is not counted tells how many repeats there are to be. */
static double time_stream(stream *s, double wanted)
{
    double seconds;
    set_repeats(s->t, s->threads, 1);
    run_threads(s->t, s->threads, &seconds);
    set_repeats(s->t, s->threads, 1 + (int64_t)(wanted / (seconds + 1e-9)));
    return s->counted / run_threads(s->t, s->threads, &seconds);
}

static void serve(int threads)
{
    stream s = {.threads = 0};
    char line[256], name[64];
    double wanted, counted;
    int64_t bytes;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "set %63s %" SCNd64 " %lf", name, &bytes, &counted) == 3) {
            end_stream(&s);
            set_stream(&s, threads, name, bytes, counted);
            printf("{}\n");
        } else if (sscanf(line, "block %*d %lf", &wanted) == 1 && s.threads > 0) {
            printf("{\"seconds\": %.9g}\n", time_stream(&s, wanted));
        } else {
            end_stream(&s);
            printf("{}\n");
        }
        fflush(stdout);
    }
    end_stream(&s);
}

int main(int argc, char **argv)
{
    double seconds = 0.02;
    int most = 2, only_layer = 0, serving = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--serve") == 0)
            serving = 1;
        else if (i + 1 == argc)
            return 2;
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--threads") == 0)
            most = atoi(argv[++i]);
        else if (strcmp(argv[i], "--only") == 0)
            only_layer = strcmp(argv[++i], "layer") == 0;
        else
            return 2;
    }
    if (most < 1 || most > MOST_THREADS)
        return 2;
    if (serving) {
        serve(most);
        return 0;
    }
    if (!only_layer)
        print_cache();
    for (int threads = 1; threads <= most; threads = threads < most ? most : most + 1) {
        print_layers(threads, seconds);
        if (only_layer)
            continue;
        print_fma(threads, seconds);
        print_streams(threads, seconds);
        if (threads > 1)
            print_exchange(threads, seconds);
    }
    return 0;
}
