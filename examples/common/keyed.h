/*
 * Random numbers as a function of (seed, purpose, step): nothing is carried from step to step, so a
 * run that resumes needs to know its step only.
 */
#ifndef KEYED_H
#define KEYED_H

#include <stdint.h>

/* What the numbers are for. The order is part of what a seed means: add at the end. */
enum {
    KEY_TRAIN = 1, /* seed of the tasks to train on */
    KEY_TEST,      /* seed of the tasks to evaluate on */
    KEY_LATENT,    /* samples of z in training */
    KEY_TEST_LATENT,
    KEY_TEST_CHOICE, /* components of these samples */
    KEY_SIZES,       /* numbers of points */
    KEY_FUNCTION,    /* what a task's function is like */
    KEY_PLACES,      /* x */
    KEY_VALUES,      /* y given x */
    KEY_OUTLIERS,    /* corruption of y */
    KEY_ORDER,       /* which tasks and points of a file */
};

/* A seed for this purpose: distinct for distinct (seed, purpose), and unrelated to the seed's own
 * streams, of which npagg_model_init_params takes some. */
uint64_t key_seed(uint64_t seed, uint64_t purpose);

/* out [n]: uniform in (0, 1); standard normal. */
void key_uniform(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, double *out);
void key_normal(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, double *out);
void key_normal_f32(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, float *out);

/* u uniform in (0, 1) -> an integer uniform in lo..hi. */
int64_t key_integer(double u, int64_t lo, int64_t hi);

/* order [n]: a random order of 0..n-1 of which the first k count; u [k] uniform. */
void key_order(int64_t n, int64_t k, const double *u, int64_t *order);

/* Where i of 0..n-1 goes in a random order of them: a bijection, by (seed, purpose, step), without a
 * table. */
int64_t key_shuffled(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, int64_t i);

/* Student-t with nu degrees of freedom from two uniforms in (0, 1). */
double key_student(double nu, double u, double v);

#endif /* KEYED_H */
