/* Built with -fno-math-errno, without which no compiler makes a vector loop of sqrtf. */
#include "adam.h"

#include <float.h>
#include <math.h>

double cosine_rate(double top, int64_t t, int64_t n)
{
    return t >= n ? 0 : top / 2 * (1 + cos(3.141592653589793 * (double)t / (double)n));
}

/* The corrections 1 - beta^(t+1) of both averages go into the rate and epsilon. */
void adam_step(int64_t n, int64_t t, double rate, const float *g, float *m, float *v, float *p)
{
    const double c1 = 1 - pow(0.9, (double)t + 1), c2 = sqrt(1 - pow(0.999, (double)t + 1));
    const float step = (float)(rate * c2 / c1), epsilon = (float)(1e-8 * c2);
    for (int64_t i = 0; i < n; i++) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * (g[i] * g[i]);
        p[i] -= step * m[i] / (sqrtf(v[i]) + epsilon);
    }
}

int all_finite(int64_t n, const float *x)
{
    int bad = 0;
    for (int64_t i = 0; i < n; i++)
        bad |= !(fabsf(x[i]) <= FLT_MAX);
    return !bad;
}
