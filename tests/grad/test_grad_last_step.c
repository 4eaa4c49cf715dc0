/*
 * Last-step gradients: the adjoint of one z-update from weights that know m, v and the parameters,
 * but not that q(z) of the sweep before depends on them too.
 */
#include <math.h>

#include "check.h"
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

typedef struct {
    prior_kind kind;
    int robust;
    int64_t k;
} model;

static const model iterated[] = {
    {GAUSSIAN, 1, 1}, {MIXTURE, 1, 1}, {MIXTURE, 1, 3}, {STUDENT, 0, 1}, {STUDENT, 1, 1}};
static const model exact[] = {{GAUSSIAN, 0, 1}, {MIXTURE, 0, 3}};

static problem *draw(test_rng *rng, const model *m, int32_t sweeps, int weighted)
{
    static const int64_t sizes[] = {3, 0, 6, 1};
    problem *p =
        problem_create(rng, m->kind, m->robust, rng_int(rng, 1, 5), m->k, 4, sizes, weighted);
    p->max_iters = sweeps;
    p->grad = NPAGG_GRAD_LAST_STEP;
    return p;
}

static void check_equals_unrolled(problem *p)
{
    result *last = problem_run(ctx, p, 64, 0);
    p->grad = NPAGG_GRAD_UNROLL;
    result *unrolled = problem_run(ctx, p, 64, 0);
    check_same_gradient(p, unrolled, last, 1e-14);
    result_destroy(last);
    result_destroy(unrolled);
    problem_destroy(p);
}

static void test_last_step_of_one_sweep_is_unrolled(void)
{
    test_rng rng = {1};
    for (int j = 0; j < 5; j++)
        for (int weighted = 0; weighted < 2; weighted++)
            check_equals_unrolled(draw(&rng, &iterated[j], 1, weighted));
}

static void test_last_step_of_an_exact_prior_is_unrolled(void)
{
    test_rng rng = {2};
    for (int j = 0; j < 2; j++)
        for (int weighted = 0; weighted < 2; weighted++)
            check_equals_unrolled(draw(&rng, &exact[j], 5, weighted));
}

/* user is the oracle after the last sweep but one, whose moments stay while p moves. */
static double loss_from_frozen(void *user, const problem *p)
{
    const oracle *before = user;
    oracle *after = oracle_run_from(p, before->E, before->V);
    double loss = oracle_loss(p, after);
    oracle_destroy(after);
    return loss;
}

static void check_is_frozen(problem *p)
{
    result *r = problem_run(ctx, p, 64, 0);
    p->max_iters--;
    oracle *before = oracle_run(p);
    p->max_iters++;
    check_gradient(p, r, loss_from_frozen, before, 1e-7);
    oracle_destroy(before);
    result_destroy(r);
}

static void check_cotangents(problem *p)
{
    check_is_frozen(p);
    problem *without = problem_copy(p);
    drop(&without->dlogz);
    check_is_frozen(without);
    problem_destroy(without);
    drop(&p->dq);
    check_is_frozen(p);
    problem_destroy(p);
}

static void test_last_step_is_the_derivative_with_q_of_the_sweep_before_frozen(void)
{
    test_rng rng = {3};
    for (int j = 0; j < 5; j++)
        for (int weighted = 0; weighted < 2; weighted++)
            for (int32_t sweeps = 2; sweeps <= 5; sweeps += 3)
                check_cotangents(draw(&rng, &iterated[j], sweeps, weighted));
}

/* Else freezing would be no freezing, and the test above would show nothing. */
static void test_last_step_differs_from_unrolled_after_two_sweeps(void)
{
    test_rng rng = {4};
    problem *p = draw(&rng, &iterated[4], 2, 0);
    result *last = problem_run(ctx, p, 64, 0);
    p->grad = NPAGG_GRAD_UNROLL;
    result *unrolled = problem_run(ctx, p, 64, 0);
    double largest = 0, apart = 0;
    for (int64_t j = 0; j < p->n * p->d; j++) {
        largest = fmax(largest, fabs(unrolled->dm[j]));
        apart = fmax(apart, fabs(unrolled->dm[j] - last->dm[j]));
    }
    TEST_ASSERT_TRUE(apart > 1e-3 * largest);
    result_destroy(last);
    result_destroy(unrolled);
    problem_destroy(p);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_last_step_of_one_sweep_is_unrolled);
    RUN_TEST(test_last_step_of_an_exact_prior_is_unrolled);
    RUN_TEST(test_last_step_is_the_derivative_with_q_of_the_sweep_before_frozen);
    RUN_TEST(test_last_step_differs_from_unrolled_after_two_sweeps);
    return UNITY_END();
}
