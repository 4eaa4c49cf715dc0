/* Adam over one flat array, and the cosine schedule of its rate. */
#ifndef ADAM_H
#define ADAM_H

#include <stdint.h>

/* rate at step t = 0, 1, ... of a schedule of n steps: top / 2 (1 + cos(pi t / n)); 0 after it. */
double cosine_rate(double top, int64_t t, int64_t n);

/*
 * Step t = 0, 1, ...: p, m, v [n] given g [n]. m, v are 0 at first. Betas 0.9 and 0.999, epsilon
 * 1e-8, no clipping, no decay.
 */
void adam_step(int64_t n, int64_t t, double rate, const float *g, float *m, float *v, float *p);

/* 1 if all of x [n] is finite. */
int all_finite(int64_t n, const float *x);

#endif /* ADAM_H */
