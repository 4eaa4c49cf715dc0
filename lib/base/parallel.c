#include "base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct worker {
    np_pool *pool;
    pthread_t thread;
    int32_t index; /* 1..threads-1 */
} worker;

/* A round: all workers take items off `next` until none is left. */
struct np_pool {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    int64_t round;  /* counts rounds; a worker waits for it to change */
    int32_t active; /* workers still in this round */
    int32_t quit;
    int32_t threads;
    int32_t started; /* workers that run */
    pid_t owner;     /* the process that has them: a fork does not */
    np_task_fn task;
    void *arg;
    int64_t n;
    _Atomic int64_t next;
    worker workers[];
};

static size_t pool_size(int32_t threads)
{
    return sizeof(np_pool) + (size_t)threads * sizeof(worker);
}

static void take_items(np_pool *pool, int32_t index)
{
    for (;;) {
        int64_t item = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (item >= pool->n)
            return;
        pool->task(pool->arg, item, index);
    }
}

static void *run_worker(void *arg)
{
    worker *self = arg;
    np_pool *pool = self->pool;
    int64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->quit)
            pthread_cond_wait(&pool->start, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        take_items(pool, self->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->active == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void begin_round(np_pool *pool, int64_t n, np_task_fn task, void *arg)
{
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->arg = arg;
    pool->n = n;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->active = pool->started;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
}

static void end_round(np_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->active > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* The pool whose workers there are; NULL also in the child of a fork. */
static np_pool *find_pool(const npagg_ctx *ctx)
{
    return ctx && ctx->pool && ctx->pool->owner == getpid() ? ctx->pool : NULL;
}

void np_parallel(npagg_ctx *ctx, int64_t n, np_task_fn task, void *arg)
{
    np_pool *pool = find_pool(ctx);
    int cancel;
    if (!pool || n <= 1) {
        for (int64_t i = 0; i < n; i++)
            task(arg, i, 0);
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the round must end */
    begin_round(pool, n, task, arg);
    take_items(pool, 0);
    end_round(pool);
    pthread_setcancelstate(cancel, &cancel);
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
        *w = (worker){.pool = pool, .index = i};
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
    pthread_mutex_lock(&pool->lock);
    pool->quit = 1;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
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
