#include "extremes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "check.h"

#define TINIEST 1e-18
#define HUGEST 1e18
#define REACH 10 /* |m|, |mu|, |dq|, |dlogz| */

static double draw_variance(test_rng *rng, int spread)
{
    switch (spread) {
    case ALL_TINY:
        return TINIEST;
    case ALL_HUGE:
        return HUGEST;
    case TINY_OR_HUGE:
        return rng_int(rng, 0, 1) ? TINIEST : HUGEST;
    case TINY_ONE_OR_HUGE:
        return pow(10, 18 * (double)rng_int(rng, -1, 1));
    default:
        return pow(10, rng_uniform(rng, -18, 18));
    }
}

/* All at the ends, or anywhere between them: the whole array one way. */
static void draw_reach(test_rng *rng, int64_t n, double *x)
{
    const int ends = (int)rng_int(rng, 0, 1);
    for (int64_t i = 0; i < n; i++)
        x[i] =
            ends ? REACH * (double)(2 * rng_int(rng, 0, 1) - 1) : rng_uniform(rng, -REACH, REACH);
}

void extremes_draw(test_rng *rng, problem *p, int v_spread, int s_spread)
{
    const int64_t kd = p->k * p->d;
    for (int64_t i = 0; i < p->n * p->d; i++)
        p->v[i] = draw_variance(rng, v_spread);
    draw_reach(rng, p->n * p->d, p->m);
    draw_reach(rng, p->n_sets * p->q, p->dq);
    draw_reach(rng, p->n_sets, p->dlogz);
    if (p->kind != STUDENT) {
        draw_reach(rng, kd, p->params);
        for (int64_t i = kd; i < 2 * kd; i++)
            p->params[i] = log(draw_variance(rng, s_spread));
    }
    if (p->kind == MIXTURE)
        draw_reach(rng, p->k, p->params + 2 * kd);
}

static void check_finite(const inference *f, const char *name, const void *array, int64_t n)
{
    char text[200];
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(inference_get(f, array, i))) {
            snprintf(text, sizeof text, "%s[%" PRId64 "] = %g; D %" PRId64 ", Q %" PRId64, name, i,
                     inference_get(f, array, i), f->d, f->q);
            TEST_FAIL_MESSAGE(text);
        }
}

void extremes_check(npagg_ctx *ctx, const problem *p, int precision)
{
    inference *f = inference_create(ctx, p, precision);
    inference_run_once(ctx, f);
    check_finite(f, "q", f->post, f->n_sets * f->q);
    check_finite(f, "logz", f->logz, f->n_sets);
    check_finite(f, "weights", f->w, f->n);
    check_finite(f, "dm", f->dm, f->n * f->d);
    check_finite(f, "dv", f->dv, f->n * f->d);
    check_finite(f, "dweight", f->dweight, f->n);
    check_finite(f, "dparams", f->dparams, f->p);
    inference_destroy(f);
}
