/*
 * Arrays of doubles, and copies of them in the precision of a call: what tests of stages with many
 * arrays share.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

#include "problem.h"

double *zeros_of(int64_t n);
double *normals_of(test_rng *rng, int64_t n);
double *copy_of_numbers(int64_t n, const double *x);

/* Rounds x [n] to float. */
void round_numbers(int64_t n, double *x);

/* A new array in precision 32 or 64 from x [n], NULL from NULL; and back into x, freeing it. */
void *native_create(int precision, int64_t n, const double *x);
void native_take(int precision, int64_t n, void *native, double *x);

/* [n_sets+1] from sizes [n_sets]. */
int64_t *offsets_of(int64_t n_sets, const int64_t *sizes);

/*
 * One network in plain loops, in double: from x [width[0]] through `layers` layers with the
 * activation between them (and after the last one, if ends_active) to y. *params moves behind its
 * parameters.
 */
void plain_mlp(const double **params, int64_t layers, const int64_t *width, int32_t activation,
               int ends_active, const double *x, double *y);
double plain_activation(int32_t activation, double x);

/* (f(x + h) - f(x - h)) / 2h in entry i of x [.], which is as before afterwards. */
typedef double (*number_fn)(void *user);
double difference_in(double *x, double h, number_fn f, void *user);

#endif /* NUMBERS_H */
