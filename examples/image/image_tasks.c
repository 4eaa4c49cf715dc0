#include "image_tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "keyed.h"

void images_choose(const image_set *set, const class_set *classes, int inside, image_choice *out)
{
    *out = (image_choice){set, 0, take((size_t)set->n, sizeof *out->chosen)};
    for (int64_t i = 0; i < set->n; i++)
        if (classes->has[set->labels[i]] == inside)
            out->chosen[out->n++] = i;
}

void images_forget(image_choice *choice)
{
    free(choice->chosen);
    memset(choice, 0, sizeof *choice);
}

/* -1..1 for 0..n-1. */
static float coordinate(int64_t i, int64_t n)
{
    return n > 1 ? (float)(2 * i - (n - 1)) / (float)(n - 1) : 0;
}

void image_point(const image_set *set, int64_t image, int64_t r, int64_t c, float *x, float *y)
{
    x[0] = coordinate(r, set->height);
    x[1] = coordinate(c, set->width);
    *y = (float)set->pixels[(image * set->height + r) * set->width + c] / 255 - 0.5f;
}

/* u, v uniform -> numbers of pixels of a batch. */
static void set_sizes(const image_tasks *t, double u, double v, batch *out)
{
    const int64_t pixels = t->images.set->height * t->images.set->width;
    const int64_t most = t->n_ctx ? TASK_POINTS_AT : TASK_POINTS;
    const int64_t points = pixels < most ? pixels : most;
    const int64_t n_ctx = t->n_ctx ? t->n_ctx : key_integer(u, TASK_LEAST, points - TASK_LEAST);
    batch_set_sizes(out, n_ctx, key_integer(v, TASK_LEAST, points - n_ctx));
}

/* Image `number` in the order of the seed; after the last the next order begins. */
static int64_t pick_image(const image_tasks *t, uint64_t seed, int64_t number)
{
    const int64_t n = t->images.n;
    const int64_t at = key_shuffled(seed, KEY_ORDER, (uint64_t)(number / n), n, number % n);
    return t->images.chosen[at];
}

/* Points of task b, whose pixels u [points] chooses; order [pixels]. */
static void fill_task(const image_tasks *t, int64_t image, const double *u, int64_t b,
                      int64_t *order, batch *out)
{
    const image_set *set = t->images.set;
    const int64_t from = out->offsets[b], n = out->offsets[b + 1] - from;
    key_order(set->height * set->width, n, u, order);
    for (int64_t i = 0; i < n; i++)
        image_point(set, image, order[i] / set->width, order[i] % set->width,
                    out->x + 2 * (from + i), out->y + from + i);
}

static void fill_batch(const image_tasks *t, uint64_t seed, uint64_t index, batch *out)
{
    const image_set *set = t->images.set;
    const int64_t rows = out->offsets[out->tasks], first = (int64_t)index * out->room;
    double *u = take((size_t)rows, sizeof *u);
    int64_t *order = take((size_t)(set->height * set->width), sizeof *order);
    key_uniform(seed, KEY_PLACES, index, rows, u);
    for (int64_t b = 0; b < out->tasks; b++)
        fill_task(t, pick_image(t, seed, first + b), u + out->offsets[b], b, order, out);
    free(order);
    free(u);
}

static void draw_training(const void *self, uint64_t seed, uint64_t index, batch *out)
{
    double u[2];
    key_uniform(seed, KEY_SIZES, index, 2, u);
    set_sizes(self, u[0], u[1], out);
    fill_batch(self, seed, index, out);
}

/*
 * Figures depend much on the sizes, and there are few batches: so sizes follow the additive
 * recurrence of the plastic number, which fills the square evenly for any number of batches, from a
 * random beginning.
 */
static void draw_test(const void *self, uint64_t seed, uint64_t index, batch *out)
{
    const image_tasks *t = self;
    const int64_t left = t->images.n - (int64_t)index * out->room;
    double u[2], whole;
    key_uniform(seed, KEY_SIZES, 0, 2, u);
    out->tasks = left < out->room ? left : out->room;
    set_sizes(t, modf(u[0] + (double)index * 0.7548776662466927, &whole),
              modf(u[1] + (double)index * 0.5698402909980532, &whole), out);
    fill_batch(t, seed, index, out);
}

static int64_t pixel_of(float x, int64_t n)
{
    return (int64_t)(((double)x + 1) / 2 * (double)(n - 1) + 0.5);
}

static void pixelate_task(const image_tasks *t, int64_t image, int severity, int64_t from,
                          int64_t to, batch *out)
{
    const image_set *set = t->images.set;
    for (int64_t i = from; i < to; i++) {
        float x[2];
        const int64_t r = pixel_of(out->x[2 * i], set->height);
        const int64_t c = pixel_of(out->x[2 * i + 1], set->width);
        image_point(set, image, corrupt_place(severity, set->height, r),
                    corrupt_place(severity, set->width, c), x, out->y + i);
    }
}

/* u [2 rows] uniform. */
static void add_noise(int kind, int severity, const double *u, int64_t from, int64_t to, batch *out)
{
    for (int64_t i = from; i < to; i++) {
        const double y = (double)out->y[i] + 0.5;
        out->y[i] = (float)(corrupt_value(kind, severity, y, u[2 * i], u[2 * i + 1]) - 0.5);
    }
}

static void corrupt_batch(const void *self, uint64_t seed, uint64_t index, double level, batch *out)
{
    const image_tasks *t = self;
    const int64_t rows = out->offsets[out->tasks], first = (int64_t)index * out->room;
    double *u = take((size_t)(2 * rows), sizeof *u);
    key_uniform(seed, KEY_OUTLIERS, index, 2 * rows, u);
    for (int64_t b = 0; b < out->tasks; b++) {
        const int64_t from = out->offsets[b], to = from + out->n_ctx[b];
        const int kind = t->kind == CORRUPT_ALL ? (int)(b % CORRUPT_NOISES) : t->kind;
        if (kind == CORRUPT_PIXELATE)
            pixelate_task(t, pick_image(t, seed, first + b), (int)level, from, to, out);
        else
            add_noise(kind, (int)level, u, from, to, out);
    }
    free(u);
}

task_source image_tasks_training(const image_tasks *self)
{
    return (task_source){.self = self,
                         .x_dim = 2,
                         .y_dim = 1,
                         .max_points = TASK_POINTS,
                         .clean_truth = self->kind != CORRUPT_PIXELATE,
                         .draw = draw_training,
                         .corrupt = corrupt_batch};
}

task_source image_tasks_test(const image_tasks *self)
{
    task_source source = image_tasks_training(self);
    source.max_points = self->n_ctx ? TASK_POINTS_AT : TASK_POINTS;
    source.count = self->images.n;
    source.draw = draw_test;
    return source;
}
