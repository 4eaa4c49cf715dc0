/*
 * Unrolled gradients of every prior are central differences of the forward, to 1e-7 of the largest
 * entry of each array: sets of 3, 0, 6 and 1 points, T = 1, 2, 5, all cotangents, row weights.
 */
#include "check.h"
#include "difference.h"

static npagg_ctx *ctx;

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

/* The gradient of q, of log Z, and of both at once. */
static void check_cotangents(const problem *p)
{
    for (int which = 1; which <= 3; which++) {
        problem *c = problem_copy(p);
        if (!(which & 1))
            drop(&c->dq);
        if (!(which & 2))
            drop(&c->dlogz);
        result *r = problem_run(ctx, c, 64, 0);
        check_gradient(c, r, loss_of_library, ctx, 1e-7);
        result_destroy(r);
        problem_destroy(c);
    }
}

static void check_prior(prior_kind kind, int robust, int64_t k, uint64_t seed)
{
    static const int32_t sweeps[] = {1, 2, 5};
    static const int64_t sizes[] = {3, 0, 6, 1};
    test_rng rng = {seed};
    for (int weighted = 0; weighted < 2; weighted++)
        for (int draw = 0; draw < 15; draw++) {
            int64_t d = 1 + draw / 3;
            problem *p = problem_create(&rng, kind, robust, d, k, 4, sizes, weighted);
            p->max_iters = sweeps[draw % 3];
            check_cotangents(p);
            problem_destroy(p);
        }
}

static void test_unrolled_gradient_of_gaussian_is_its_difference(void)
{
    check_prior(GAUSSIAN, 0, 1, 1);
}

static void test_unrolled_gradient_of_robust_gaussian_is_its_difference(void)
{
    check_prior(GAUSSIAN, 1, 1, 2);
}

static void test_unrolled_gradient_of_mixture_is_its_difference(void)
{
    for (int64_t k = 1; k <= 3; k++)
        check_prior(MIXTURE, 0, k, 2 + (uint64_t)k);
}

static void test_unrolled_gradient_of_robust_mixture_is_its_difference(void)
{
    for (int64_t k = 1; k <= 3; k++)
        check_prior(MIXTURE, 1, k, 5 + (uint64_t)k);
}

static void test_unrolled_gradient_of_hierarchy_is_its_difference(void)
{
    check_prior(STUDENT, 0, 1, 9);
}

static void test_unrolled_gradient_of_student_is_its_difference(void)
{
    check_prior(STUDENT, 1, 1, 10);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_unrolled_gradient_of_gaussian_is_its_difference);
    RUN_TEST(test_unrolled_gradient_of_robust_gaussian_is_its_difference);
    RUN_TEST(test_unrolled_gradient_of_mixture_is_its_difference);
    RUN_TEST(test_unrolled_gradient_of_robust_mixture_is_its_difference);
    RUN_TEST(test_unrolled_gradient_of_hierarchy_is_its_difference);
    RUN_TEST(test_unrolled_gradient_of_student_is_its_difference);
    return UNITY_END();
}
