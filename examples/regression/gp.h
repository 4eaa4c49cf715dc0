/* Functions drawn from Gaussian processes, with the kernels of the paper's 1-D experiments. */
#ifndef GP_H
#define GP_H

#include <stdint.h>

enum { GP_RBF, GP_MATERN };

typedef struct {
    int kind;
    double height, length; /* standard deviation s and length l */
    double noise;          /* variance that is added to the diagonal */
} gp_kernel;

/*
 * RBF: s^2 exp(-d^2 / 2 l^2) with s uniform in [0.1, 1), l uniform in [0.1, 0.6), noise 0.02^2.
 * Matern-5/2: s^2 (1 + r + r^2/3) exp(-r), r = sqrt(5) d / l, with s = 1, l = 0.25, noise 1e-5.
 * u, v are uniform in (0, 1); Matern does not need them.
 */
gp_kernel gp_kernel_draw(int kind, double u, double v);

/* k(x, x') without noise, d = |x - x'|. */
double gp_covariance(const gp_kernel *kernel, double d);

/* y [n] = L e at the places x [n], where L L' is the covariance; e [n] standard normal, work
 * [n,n]. */
void gp_draw(const gp_kernel *kernel, int64_t n, const float *x, const double *e, double *work,
             float *y);

#endif /* GP_H */
