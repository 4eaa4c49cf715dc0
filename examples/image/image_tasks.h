/*
 * Images as tasks: places x = (row, column) in [-1, 1], values y in [-0.5, 0.5], pixels drawn
 * without replacement, one number of context and of target pixels for a batch.
 */
#ifndef IMAGE_TASKS_H
#define IMAGE_TASKS_H

#include "batch.h"
#include "classes.h"
#include "corruption.h"
#include "image_set.h"

enum {
    TASK_LEAST = 3,       /* context pixels, target pixels */
    TASK_POINTS = 199,    /* at most, context and targets */
    TASK_POINTS_AT = 500, /* the same where the size of the context is given */
    CORRUPT_ALL = CORRUPT_PIXELATE + 1,
};

/* Some images of a set. */
typedef struct {
    const image_set *set;
    int64_t n, *chosen; /* [n] */
} image_choice;

/* The images whose label is (inside 1) or is not (0) one of the classes. */
void images_choose(const image_set *set, const class_set *classes, int inside, image_choice *out);
void images_forget(image_choice *choice);

typedef struct {
    image_choice images;
    int64_t n_ctx; /* of every task; 0: N_c uniform in 3..196, N_t in 3..199 - N_c */
    int kind;      /* CORRUPT_*; ALL: image i of a batch has noise i % CORRUPT_NOISES */
} image_tasks;

/* Endless: every image once, in random order, then again in another. */
task_source image_tasks_training(const image_tasks *self);

/* Every image once, in random order. The numbers of pixels are spread evenly over what training
 * draws them from. */
task_source image_tasks_test(const image_tasks *self);

/* x [2], y of pixel (r, c). */
void image_point(const image_set *set, int64_t image, int64_t r, int64_t c, float *x, float *y);

#endif /* IMAGE_TASKS_H */
