#include "kernel/special.h"

/* From here on the asymptotic series are good to rounding. */
static const double far_out = 10;

/* sum_k B_2k / (2k (2k-1) x^(2k-1)) */
static double stirling_series(double x)
{
    static const double c[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
    const double y = 1 / (x * x);
    double sum = 0;
    for (int k = 7; k >= 0; k--)
        sum = sum * y + c[k];
    return sum / x;
}

/* -1/2x - sum_k B_2k / (2k x^2k) */
static double psi_series(double x)
{
    static const double c[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
    const double y = 1 / (x * x);
    double sum = 0;
    for (int k = 7; k >= 0; k--)
        sum = sum * y + c[k];
    return -0.5 / x - sum * y;
}

double np_stirling(double x)
{
    if (x >= far_out)
        return stirling_series(x);
    int sign; /* lgamma would write a global */
    return lgamma_r(x, &sign) - ((x - 0.5) * log(x) - x + 0.5 * NP_LOG_2PI);
}

/* psi(x) = psi(x + 1) - 1/x until the series holds. */
double np_stirling_psi(double x)
{
    double sum = 0, y = x;
    for (; y < far_out; y++)
        sum -= 1 / y;
    return sum + log(y / x) + psi_series(y);
}

double np_lgamma_rise(double c, double a)
{
    return (c + a - 0.5) * log1p(a / c) - a + (np_stirling(c + a) - np_stirling(c));
}

double np_lgamma_rise_slope(double c, double a)
{
    return (log1p(a / c) - a / c) + (np_stirling_psi(c + a) - np_stirling_psi(c));
}

double np_log_sum(int64_t n, const double *x)
{
    np_log_product p = {0, 1};
    for (int64_t j = 0; j < n; j++)
        np_log_add(&p, x[j]);
    return np_log_total(&p);
}

double np_log_sum_exp(int64_t n, const double *x)
{
    double top = x[0], sum = 0;
    for (int64_t j = 1; j < n; j++)
        top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < n; j++)
        sum += exp(x[j] - top);
    return top + log(sum);
}
