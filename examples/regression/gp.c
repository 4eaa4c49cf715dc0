/*
 * All of it is + - * / and sqrt without fused operations (the build says so), so that a seed gives
 * the same tasks on every machine; and loops over neighbouring numbers, which compilers vectorise:
 * that is why there is an exponential of our own, and a Cholesky factorisation, for which LAPACKE
 * would be one more dependency in the place of these twelve lines.
 */
#include "gp.h"

#include <math.h>
#include <string.h>

gp_kernel gp_kernel_draw(int kind, double u, double v)
{
    if (kind == GP_MATERN)
        return (gp_kernel){GP_MATERN, 1, 0.25, 1e-5};
    return (gp_kernel){GP_RBF, 0.1 + 0.9 * u, 0.1 + 0.5 * v, 0.02 * 0.02};
}

/*
 * exp(x) for x <= 0 to some 1e-15, relative; below -80 it is exp(-80), which is nothing beside the
 * noise. x = k log 2 + r, |r| <= log(2)/2: 2^k by its bits, exp(r) by its series.
 */
static inline double exp_falling(double x)
{
    const double shift = 0x1.8p52; /* adding it rounds to an integer, in the low bits */
    x = x < -80 ? -80 : x;
    const double shifted = x * 1.4426950408889634 + shift, k = shifted - shift;
    const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double sum = 1.0 / 6227020800.0, power;
    int64_t bits;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = ((sum * r + 0.5) * r + 1) * r + 1;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int64_t)((uint64_t)(bits + 1023) << 52);
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

static inline double covariance_rbf(double height, double length, double d)
{
    const double r = d / length;
    return height * height * exp_falling(-0.5 * r * r);
}

static inline double covariance_matern(double height, double length, double d)
{
    const double r = 2.23606797749978969641 * fabs(d) / length;
    return height * height * (1 + r + r * r / 3) * exp_falling(-r);
}

double gp_covariance(const gp_kernel *kernel, double d)
{
    return kernel->kind == GP_RBF ? covariance_rbf(kernel->height, kernel->length, d)
                                  : covariance_matern(kernel->height, kernel->length, d);
}

/* Row i of the upper triangle of the covariance. */
static void fill_row(const gp_kernel *kernel, int64_t i, int64_t n, const float *x, double *row)
{
    const double at = (double)x[i], height = kernel->height, length = kernel->length;
    if (kernel->kind == GP_RBF)
        for (int64_t j = i; j < n; j++)
            row[j] = covariance_rbf(height, length, (double)x[j] - at);
    else
        for (int64_t j = i; j < n; j++)
            row[j] = covariance_matern(height, length, (double)x[j] - at);
    row[i] += kernel->noise;
}

/* In place: a = U' U, U the upper triangle, row by row. */
static void factorise(int64_t n, double *a)
{
    for (int64_t j = 0; j < n; j++) {
        double *row = a + j * n;
        for (int64_t k = 0; k < j; k++) {
            const double *above = a + k * n, factor = above[j];
            for (int64_t i = j; i < n; i++)
                row[i] -= factor * above[i];
        }
        const double inverse = 1 / sqrt(row[j]);
        for (int64_t i = j; i < n; i++)
            row[i] *= inverse;
    }
}

void gp_draw(const gp_kernel *kernel, int64_t n, const float *x, const double *e, double *work,
             float *y)
{
    double sum[n];
    for (int64_t i = 0; i < n; i++) {
        fill_row(kernel, i, n, x, work + i * n);
        sum[i] = 0;
    }
    factorise(n, work);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k; i < n; i++)
            sum[i] += work[k * n + i] * e[k];
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)sum[i];
}
