#include "prefetch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "complain.h"
#include "keyed.h"

enum { SLOTS = 2 };

/* Slot i % SLOTS holds step i. The consumer has one while the thread fills the other. */
struct prefetch {
    task_source source;
    uint64_t seed;
    int64_t noise;
    step_input slot[SLOTS];
    int64_t drawn, taken; /* steps before these have been */
    int background, stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static void draw_input(prefetch *p, int64_t step)
{
    step_input *in = &p->slot[step % SLOTS];
    p->source.draw(p->source.self, key_seed(p->seed, KEY_TRAIN), (uint64_t)step, in->tasks);
    key_normal_f32(p->seed, KEY_LATENT, (uint64_t)step, p->noise, in->noise);
}

static void *draw_ahead(void *arg)
{
    prefetch *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (p->drawn > p->taken) { /* the other slot is in use */
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        draw_input(p, p->drawn);
        pthread_mutex_lock(&p->lock);
        p->drawn++;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The thread takes no signals: they are the main thread's. */
static int start_thread(prefetch *p)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int failed = pthread_create(&p->thread, NULL, draw_ahead, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return !failed;
}

prefetch *prefetch_create(const task_source *source, uint64_t seed, int64_t tasks, int64_t noise,
                          int64_t first, int background)
{
    prefetch *p = take(1, sizeof *p);
    p->source = *source;
    p->seed = seed;
    p->noise = noise;
    p->drawn = p->taken = first;
    for (int i = 0; i < SLOTS; i++) {
        p->slot[i].tasks = batch_create(source, tasks);
        p->slot[i].noise = take((size_t)noise, sizeof(float));
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->background = background && start_thread(p);
    return p;
}

void prefetch_destroy(prefetch *p)
{
    if (!p)
        return;
    if (p->background) {
        pthread_mutex_lock(&p->lock);
        p->stop = 1;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    for (int i = 0; i < SLOTS; i++) {
        batch_destroy(p->slot[i].tasks);
        free(p->slot[i].noise);
    }
    free(p);
}

const step_input *prefetch_next(prefetch *p)
{
    if (!p->background) {
        draw_input(p, p->taken);
        return &p->slot[p->taken++ % SLOTS];
    }
    pthread_mutex_lock(&p->lock);
    while (p->drawn <= p->taken)
        pthread_cond_wait(&p->changed, &p->lock);
    const step_input *in = &p->slot[p->taken++ % SLOTS];
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return in;
}
