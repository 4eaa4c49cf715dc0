#include "corruption.h"

#include <math.h>

/* c by severity. */
static const double levels[CORRUPT_NOISES][SEVERITY_MOST] = {
    [CORRUPT_GAUSSIAN] = {0.04, 0.06, 0.08, 0.09, 0.10},
    [CORRUPT_SHOT] = {500, 250, 100, 75, 50},
    [CORRUPT_IMPULSE] = {0.01, 0.02, 0.03, 0.05, 0.07},
    [CORRUPT_SPECKLE] = {0.06, 0.10, 0.12, 0.16, 0.20},
};

/* Percent of the side that is left. */
static const int64_t shares[SEVERITY_MOST] = {95, 90, 85, 75, 65};

/* Box and Muller's. */
static double normal(double u, double v)
{
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The smallest k with P(K <= k) >= u; rate <= 500, whose exp(-rate) is a normal number. */
static double poisson(double rate, double u)
{
    double p = exp(-rate), sum = p, k = 0;
    const double last = rate + 20 * sqrt(rate) + 20;
    while (sum < u && k < last) {
        k++;
        p *= rate / k;
        sum += p;
    }
    return k;
}

static double disturb(int kind, double c, double x, double u, double v)
{
    switch (kind) {
    case CORRUPT_GAUSSIAN:
        return x + c * normal(u, v);
    case CORRUPT_SHOT:
        return poisson(x * c, u) / c;
    case CORRUPT_IMPULSE:
        return u < c ? (v < 0.5 ? 0 : 1) : x;
    default:
        return x + x * c * normal(u, v);
    }
}

double corrupt_value(int kind, int severity, double x, double u, double v)
{
    if (severity == 0)
        return x;
    const double y = disturb(kind, levels[kind][severity - 1], x, u, v);
    return y < 0 ? 0 : y > 1 ? 1 : y;
}

/* The middle of pixel i of n, on a side of m: floor((i + 1/2) m / n). */
static int64_t nearest(int64_t i, int64_t n, int64_t m)
{
    return (2 * i + 1) * m / (2 * n);
}

int64_t corrupt_place(int severity, int64_t n, int64_t i)
{
    if (severity == 0)
        return i;
    const int64_t small = n * shares[severity - 1] / 100, m = small > 0 ? small : 1;
    return nearest(nearest(i, n, m), m, n);
}
