/* The library against the same mathematics in plain loops, in both precisions. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "claim.h"
#include "difference.h"
#include "oracle.h"

static npagg_ctx *ctx;

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

/* Compares everything a forward gives but the trace. */
static void check_forward(const problem *p, int precision)
{
    double tol = rounding(p, precision);
    oracle *o = oracle_run(p);
    result *r = problem_run(ctx, p, precision, 1);
    check_posterior(p, o->q, r->q, tol);
    check_logz(p, o->logz, r->logz, tol);
    check_all_close(p->n, o->w, r->w, tol, 0, describe(p, "w"), __LINE__);
    for (int64_t b = 0; b < p->n_sets; b++) {
        TEST_ASSERT_EQUAL_INT32(o->iters[b], r->iters[b]);
        check_close(o->residual[b], r->residual[b], 0, 10 * tol, describe(p, "residual"), __LINE__);
    }
    oracle_destroy(o);
    result_destroy(r);
}

static void claim_forward(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                          int precision)
{
    (void)c;
    problem *p = draw_problem(rng, f, n, d, precision, (int)rng_int(rng, 0, 1));
    drop(&p->dq);
    drop(&p->dlogz);
    p->max_iters = (int32_t)rng_int(rng, 1, 8);
    check_forward(p, precision);
    problem_destroy(p);
}

static void test_forward_is_that_of_plain_loops(void)
{
    claim_for_all(ctx, 1, claim_forward);
}

/* The paper's prior, where the hyper-priors know nothing and the sweeps converge slowly. */
static void claim_paper(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                        int precision)
{
    (void)c;
    problem *p = draw_problem(rng, f, n, d, precision, (int)rng_int(rng, 0, 1));
    drop(&p->dq);
    drop(&p->dlogz);
    p->params[0] = p->params[1] = log(1e-6 * (double)d);
    if (p->robust)
        p->params[2] = log(1e-2 * (double)d);
    if (precision == 32)
        problem_round(p);
    check_forward(p, precision);
    problem_destroy(p);
}

static void test_forward_with_the_papers_student_is_that_of_plain_loops(void)
{
    claim_for_kind(ctx, 2, STUDENT, claim_paper);
}

static void check_trace(const problem *p)
{
    inference *f = inference_create(ctx, p, 64);
    oracle *o = oracle_run(p);
    npagg_cache *cache = NULL;
    double *trace = calloc((size_t)p->max_iters, sizeof *trace);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, inference_forward(ctx, f, cache));
    for (int64_t b = 0; b < p->n_sets; b++) {
        ASSERT_OK(ctx, npagg_infer_trace(ctx, cache, b, trace));
        for (int32_t t = 0; t < o->iters[b]; t++)
            check_close(o->trace[b * p->max_iters + t], trace[t], 1e-12, 1e-12,
                        describe(p, "trace"), __LINE__);
    }
    free(trace);
    npagg_cache_destroy(cache);
    oracle_destroy(o);
    inference_destroy(f);
}

static void test_trace_is_that_of_plain_loops(void)
{
    test_rng rng = {3};
    for (int draws = 0; draws < 20; draws++)
        for (int f = 0; f < FLAVOURS; f++) {
            problem *p = draw_problem(&rng, &flavours[f], rng_int(&rng, 0, 20),
                                      rng_int(&rng, 1, 20), 64, draws % 2);
            check_trace(p);
            problem_destroy(p);
        }
}

/* Float gradients against double ones of the same numbers: rounding of the sweeps and of the sums.
 */
static void claim_float_gradient(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n,
                                 int64_t d, int precision)
{
    if (precision == 64)
        return;
    problem *p = draw_problem(rng, f, n, d, 32, (int)rng_int(rng, 0, 1));
    p->grad = (int32_t)rng_int(rng, 0, GRAD_MODES - 1);
    result *wide = problem_run(c, p, 64, 0), *narrow = problem_run(c, p, 32, 0);
    check_same_gradient(p, wide, narrow, 5 * rounding(p, 32));
    result_destroy(wide);
    result_destroy(narrow);
    problem_destroy(p);
}

static void test_float_gradient_is_the_double_gradient(void)
{
    claim_for_all(ctx, 4, claim_float_gradient);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_forward_is_that_of_plain_loops);
    RUN_TEST(test_forward_with_the_papers_student_is_that_of_plain_loops);
    RUN_TEST(test_trace_is_that_of_plain_loops);
    RUN_TEST(test_float_gradient_is_the_double_gradient);
    return UNITY_END();
}
