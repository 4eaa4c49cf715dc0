/*
 * Unrolled gradients of q at sizes where kernels block, vectorise and split sets into chunks: slope
 * along a random direction against a central difference, 1e-6.
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

static void check_size(prior_kind kind, int robust, int64_t d, int64_t n_sets, const int64_t *sizes)
{
    test_rng rng = {(uint64_t)(100 * (int)kind + 10 * robust + d)};
    for (int weighted = 0; weighted < 2; weighted++) {
        problem *p = problem_create(&rng, kind, robust, d, 5, n_sets, sizes, weighted);
        drop(&p->dlogz);
        result *r = problem_run(ctx, p, 64, 0);
        check_directions(&rng, p, r, loss_of_library, ctx, 1e-4, 1e-6);
        result_destroy(r);
        problem_destroy(p);
    }
}

/* Two ragged batches with odd widths, and one set of many chunks. */
static void check_prior(prior_kind kind, int robust)
{
    check_size(kind, robust, 129, 3, (const int64_t[]){300, 0, 5000});
    check_size(kind, robust, 1000, 2, (const int64_t[]){33, 257});
    check_size(kind, robust, 16, 2, (const int64_t[]){20000, 7});
}

static void test_large_gradient_of_gaussian_is_its_difference(void)
{
    check_prior(GAUSSIAN, 0);
}

static void test_large_gradient_of_robust_gaussian_is_its_difference(void)
{
    check_prior(GAUSSIAN, 1);
}

static void test_large_gradient_of_mixture_is_its_difference(void)
{
    check_prior(MIXTURE, 0);
}

static void test_large_gradient_of_robust_mixture_is_its_difference(void)
{
    check_prior(MIXTURE, 1);
}

static void test_large_gradient_of_hierarchy_is_its_difference(void)
{
    check_prior(STUDENT, 0);
}

static void test_large_gradient_of_student_is_its_difference(void)
{
    check_prior(STUDENT, 1);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_large_gradient_of_gaussian_is_its_difference);
    RUN_TEST(test_large_gradient_of_robust_gaussian_is_its_difference);
    RUN_TEST(test_large_gradient_of_mixture_is_its_difference);
    RUN_TEST(test_large_gradient_of_robust_mixture_is_its_difference);
    RUN_TEST(test_large_gradient_of_hierarchy_is_its_difference);
    RUN_TEST(test_large_gradient_of_student_is_its_difference);
    return UNITY_END();
}
