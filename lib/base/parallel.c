/*
 * Rounds: the caller opens one, and all workers that are there in time take items until none is
 * left: each from its own share first, which is the same from round to round so that what it worked
 * on is in its cache, and then from the others'. The caller closes the round and waits for those
 * that are still at work. A worker that comes too late has missed it and nobody waits for it.
 *
 * Who waits looks on for a few microseconds, since the next round of a training loop is never far,
 * and then sleeps. `sleepers` and `patient` say that somebody does; they are set before the last
 * look at `state`, which is changed before they are read, so that no wake-up is lost.
 */
#include "base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NANOSECONDS 30000

typedef struct worker {
    np_pool *pool;
    pthread_t thread;
    int32_t index;      /* 0 is the caller */
    int64_t begin, end; /* of its share */
    char apart[64];
    _Atomic int64_t next;
} worker;

/* state: the round's number, whether it is open, workers in it. */
#define ROUND_SHIFT 32
#define ROUND_OPEN (UINT64_C(1) << 31)
#define ROUND_ACTIVE (ROUND_OPEN - 1)

struct np_pool {
    _Atomic uint64_t state;
    np_task_fn task;
    void *arg;
    int32_t back; /* shares are taken from their ends */
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    atomic_int sleepers; /* workers that want to be told of a round */
    atomic_int patient;  /* the caller wants to be told of the end */
    atomic_int quit;
    int32_t threads;
    int32_t started; /* workers that run */
    pid_t owner;     /* the process that has them: a fork does not */
    worker workers[];
};

static size_t pool_size(int32_t threads)
{
    return sizeof(np_pool) + (size_t)threads * sizeof(worker);
}

static void take_items(np_pool *pool, int32_t index)
{
    for (int32_t k = 0; k < pool->threads; k++) {
        worker *w = &pool->workers[(index + k) % pool->threads];
        int64_t item;
        while ((item = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed)) < w->end)
            pool->task(pool->arg, pool->back ? w->begin + w->end - 1 - item : item, index);
    }
}

static void rest(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
}

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether ready(pool, seen) came true within the time of a spin. */
static int spin(np_pool *pool, int (*ready)(np_pool *, uint64_t), uint64_t seen)
{
    enum { LOOKS = 16 };
    const int64_t begin = nanoseconds();
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (ready(pool, seen))
                return 1;
            rest();
        }
    } while (nanoseconds() - begin < SPIN_NANOSECONDS);
    return 0;
}

/* For a worker: a round other than the last it has seen is open, or there will be none. */
static int has_round(np_pool *pool, uint64_t seen)
{
    const uint64_t state = atomic_load(&pool->state);
    return ((state & ROUND_OPEN) && state >> ROUND_SHIFT != seen) || atomic_load(&pool->quit);
}

static void await_round(np_pool *pool, uint64_t seen)
{
    if (spin(pool, has_round, seen))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!has_round(pool, seen))
        pthread_cond_wait(&pool->start, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

/* Joins the open round, whose number goes to *seen; 0 if it was closed in the meantime. */
static int join_round(np_pool *pool, uint64_t *seen)
{
    uint64_t state = atomic_load(&pool->state);
    do {
        if (!(state & ROUND_OPEN) || state >> ROUND_SHIFT == *seen)
            return 0;
    } while (!atomic_compare_exchange_weak(&pool->state, &state, state + 1));
    *seen = state >> ROUND_SHIFT;
    return 1;
}

static void leave_round(np_pool *pool)
{
    atomic_fetch_sub(&pool->state, 1);
    if (!atomic_load(&pool->patient))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
}

static void *run_worker(void *arg)
{
    worker *self = arg;
    np_pool *pool = self->pool;
    uint64_t seen = 0;
    for (;;) {
        await_round(pool, seen);
        if (atomic_load(&pool->quit))
            return NULL;
        if (!join_round(pool, &seen))
            continue;
        take_items(pool, self->index);
        leave_round(pool);
    }
}

static void wake_workers(np_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
}

/* Items 0..n-1 in as many shares as there are threads. */
static int64_t share_end(const np_pool *pool, int64_t n, int32_t i)
{
    const int64_t each = n / pool->threads, more = n % pool->threads;
    return each * (i + 1) + (i + 1 < more ? i + 1 : more);
}

/* Nobody is in a round: the last one has ended. */
static void begin_round(np_pool *pool, int64_t n, int32_t back, np_task_fn task, void *arg)
{
    pool->task = task;
    pool->arg = arg;
    pool->back = back;
    for (int32_t i = 0; i < pool->threads; i++) {
        worker *w = &pool->workers[i];
        w->begin = i == 0 ? 0 : share_end(pool, n, i - 1);
        w->end = share_end(pool, n, i);
        atomic_store_explicit(&w->next, w->begin, memory_order_relaxed);
    }
    const uint64_t number = (uint32_t)((atomic_load(&pool->state) >> ROUND_SHIFT) + 1);
    atomic_store(&pool->state, number << ROUND_SHIFT | ROUND_OPEN);
    if (atomic_load(&pool->sleepers) > 0)
        wake_workers(pool);
}

/* For the caller: the round is closed and everybody has left it. */
static int is_over(np_pool *pool, uint64_t seen)
{
    (void)seen;
    return (atomic_load(&pool->state) & ROUND_ACTIVE) == 0;
}

static void end_round(np_pool *pool)
{
    atomic_fetch_and(&pool->state, ~ROUND_OPEN);
    if (is_over(pool, 0) || spin(pool, is_over, 0))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->patient, 1);
    while (!is_over(pool, 0))
        pthread_cond_wait(&pool->done, &pool->lock);
    atomic_store(&pool->patient, 0);
    pthread_mutex_unlock(&pool->lock);
}

/* The pool whose workers there are; NULL also in the child of a fork. */
static np_pool *find_pool(const npagg_ctx *ctx)
{
    return ctx && ctx->pool && ctx->pool->owner == getpid() ? ctx->pool : NULL;
}

static void run_items(npagg_ctx *ctx, int64_t n, int32_t back, np_task_fn task, void *arg)
{
    np_pool *pool = n > 1 ? find_pool(ctx) : NULL;
    int cancel;
    if (!pool) {
        for (int64_t i = 0; i < n; i++)
            task(arg, back ? n - 1 - i : i, 0);
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the round must end */
    begin_round(pool, n, back, task, arg);
    take_items(pool, 0);
    end_round(pool);
    pthread_setcancelstate(cancel, &cancel);
}

void np_parallel(npagg_ctx *ctx, int64_t n, np_task_fn task, void *arg)
{
    run_items(ctx, n, 0, task, arg);
}

void np_parallel_back(npagg_ctx *ctx, int64_t n, np_task_fn task, void *arg)
{
    run_items(ctx, n, 1, task, arg);
}

enum { ZERO_BLOCK = 1 << 18 }; /* bytes */

typedef struct zero_job {
    char *to;
    size_t n;
} zero_job;

static void zero_block(void *arg, int64_t item, int32_t index)
{
    const zero_job *job = arg;
    const size_t at = (size_t)item * ZERO_BLOCK, left = job->n - at;
    (void)index;
    memset(job->to + at, 0, left < ZERO_BLOCK ? left : ZERO_BLOCK);
}

void np_parallel_zero(npagg_ctx *ctx, void *to, size_t n)
{
    zero_job job = {to, n};
    np_parallel(ctx, (int64_t)((n + ZERO_BLOCK - 1) / ZERO_BLOCK), zero_block, &job);
}

int32_t np_threads(const npagg_ctx *ctx)
{
    const np_pool *pool = find_pool(ctx);
    return pool ? pool->threads : 1;
}

/* Signals are the host's: no worker takes one but those that its own faults would raise. */
static void block_signals(sigset_t *host)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t mask;
    sigfillset(&mask);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&mask, faults[i]);
    pthread_sigmask(SIG_SETMASK, &mask, host);
}

static void start_workers(np_pool *pool)
{
    sigset_t host;
    block_signals(&host);
    for (int32_t i = 1; i < pool->threads; i++) {
        worker *w = &pool->workers[i];
        w->pool = pool;
        w->index = i;
        if (pthread_create(&w->thread, NULL, run_worker, w))
            break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &host, NULL);
}

npagg_status np_pool_create(npagg_ctx *ctx, int32_t threads, np_pool **out)
{
    np_pool *pool = np_memory_get(ctx->mem, pool_size(threads));
    if (!pool)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for %d threads", (int)threads);
    pool->threads = threads;
    pool->owner = getpid();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    start_workers(pool);
    if (pool->started < threads - 1) {
        int32_t got = pool->started + 1;
        np_pool_destroy(ctx->mem, pool);
        return np_fail(ctx, NPAGG_E_UNSUP, "the system gave %d of %d threads", (int)got,
                       (int)threads);
    }
    *out = pool;
    return NPAGG_OK;
}

static void stop_workers(np_pool *pool)
{
    atomic_store(&pool->quit, 1);
    wake_workers(pool);
    for (int32_t i = 1; i <= pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
}

void np_pool_destroy(np_memory mem, np_pool *pool)
{
    if (!pool)
        return;
    if (pool->owner == getpid())
        stop_workers(pool);
    np_memory_free(mem, pool, pool_size(pool->threads));
}
