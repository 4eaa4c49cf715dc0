/* Functions of a number that libm does not have, or not as accurately as we need them. All in
 * double. */
#ifndef NP_SPECIAL_H
#define NP_SPECIAL_H

#include <math.h>
#include <stdint.h>

#define NP_LOG_2PI 1.8378770664093454836

/* Logarithm of the gamma function for x > 0; unlike lgamma it touches no global. */
double np_lgamma(double x);

/* Its derivative for x > 0. */
double np_digamma(double x);

/* lnGamma(c + a) - lnGamma(c) - a log c, without cancellation for large c. c, a > 0. */
double np_lgamma_rise(double c, double a);

/* Its derivative in c: psi(c + a) - psi(c) - a / c. */
double np_lgamma_rise_slope(double c, double a);

/* sum_j log x_j for positive x [n], by the logarithm of products. */
double np_log_sum(int64_t n, const double *x);

/* log sum_j exp(x_j) of x [n], n >= 1. */
double np_log_sum_exp(int64_t n, const double *x);

#endif /* NP_SPECIAL_H */
