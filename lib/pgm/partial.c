#include <string.h>

#include "pgm/partial.h"

void np_partial_clear(np_partial *p, int64_t d)
{
    memset(p->L, 0, (size_t)d * sizeof(double));
    memset(p->h, 0, (size_t)d * sizeof(double));
    *p = (np_partial){.L = p->L, .h = p->h};
}

np_partial np_partial_take(np_arena *arena, int64_t d)
{
    return (np_partial){.L = NP_TAKE(arena, d, double), .h = NP_TAKE(arena, d, double)};
}

/* sum_d L_a L_b / (L_a + L_b) (mean_a - mean_b)^2 */
static double between(const np_partial *a, const np_partial *b, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        if (!(a->L[j] > 0 && b->L[j] > 0))
            continue;
        const double x = a->h[j] / a->L[j] - b->h[j] / b->L[j];
        sum += x * x * (a->L[j] * (b->L[j] / (a->L[j] + b->L[j])));
    }
    return sum;
}

void np_partial_merge(const np_dims *dims, int64_t d, const np_partial *b, int centred,
                      np_partial *a)
{
    a->quad += b->quad + (centred ? between(a, b, d) : 0);
    dims->add(d, b->L, a->L);
    dims->add(d, b->h, a->h);
    a->count += b->count;
    a->logs += b->logs;
    a->extra[0] += b->extra[0];
    a->extra[1] += b->extra[1];
    a->wild |= b->wild;
    a->bad |= b->bad;
    a->stale |= b->stale;
}
