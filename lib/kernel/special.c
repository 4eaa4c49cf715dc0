#include "kernel/special.h"

double np_lgamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* psi(x) - log(x) for x >= 10, by Stirling's series: -1/2x - sum B_2k / (2k x^2k). */
static double digamma_tail(double x)
{
    const double y = 1 / (x * x);
    const double sum =
        1.0 / 12 -
        y * (1.0 / 120 -
             y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12)))));
    return -0.5 / x - y * sum;
}

double np_digamma(double x)
{
    double sum = 0;
    for (; x < 10; x++)
        sum -= 1 / x;
    return sum + log(x) + digamma_tail(x);
}

/* lnGamma(x) - (x - 1/2) log x + x - 1/2 log 2 pi for x >= 10: sum B_2k / (2k (2k-1) x^(2k-1)). */
static double lgamma_tail(double x)
{
    const double y = 1 / (x * x);
    return (1.0 / 12 -
            y * (1.0 / 360 -
                 y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * 691.0 / 360360))))) /
           x;
}

double np_lgamma_rise(double c, double a)
{
    if (c < 10)
        return np_lgamma(c + a) - np_lgamma(c) - a * log(c);
    return (c + a - 0.5) * log1p(a / c) - a + (lgamma_tail(c + a) - lgamma_tail(c));
}

double np_lgamma_rise_slope(double c, double a)
{
    if (c < 10)
        return np_digamma(c + a) - np_digamma(c) - a / c;
    return (log1p(a / c) - a / c) + (digamma_tail(c + a) - digamma_tail(c));
}

/* The product of factors stays within reach of a double; one logarithm settles many of them. */
double np_log_sum(int64_t n, const double *x)
{
    double sum = 0, product = 1;
    for (int64_t j = 0; j < n; j++) {
        if (!(x[j] > 0x1p-400 && x[j] < 0x1p400)) {
            sum += log(x[j]);
            continue;
        }
        product *= x[j];
        if (!(product > 0x1p-500 && product < 0x1p500)) {
            sum += log(product);
            product = 1;
        }
    }
    return sum + log(product);
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
