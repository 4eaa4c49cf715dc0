/* Functions of a number that libm does not have, or not as accurately as we need them. All in
 * double. */
#ifndef NP_SPECIAL_H
#define NP_SPECIAL_H

#include <math.h>
#include <stdint.h>

#define NP_LOG_2PI 1.8378770664093454836

/*
 * What Stirling's formula leaves of lnGamma and its derivative psi, for x > 0. Differences of gamma
 * functions in terms of these do not cancel. lnGamma(x) = (x - 1/2) log x - x + 1/2 log 2 pi +
 * np_stirling(x) psi(x) = log x + np_stirling_psi(x)
 */
double np_stirling(double x);
double np_stirling_psi(double x);

/* lnGamma(c + a) - lnGamma(c) - a log c, and its derivative in c; c, a > 0. */
double np_lgamma_rise(double c, double a);
double np_lgamma_rise_slope(double c, double a);

/* A sum of logarithms of positive numbers, by the logarithms of products: one settles many. */
typedef struct np_log_product {
    double sum, product; /* starts as {0, 1} */
} np_log_product;

static inline void np_log_add(np_log_product *p, double x)
{
    if (!(x > 0x1p-400 && x < 0x1p400)) {
        p->sum += log(x);
        return;
    }
    p->product *= x;
    if (!(p->product > 0x1p-500 && p->product < 0x1p500)) {
        p->sum += log(p->product);
        p->product = 1;
    }
}

static inline double np_log_total(const np_log_product *p)
{
    return p->sum + log(p->product);
}

/* sum_j log x_j for positive x [n]. */
double np_log_sum(int64_t n, const double *x);

/* log sum_j exp(x_j) of x [n], n >= 1. */
double np_log_sum_exp(int64_t n, const double *x);

#endif /* NP_SPECIAL_H */
