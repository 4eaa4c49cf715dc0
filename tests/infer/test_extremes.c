/* Variances from 1e-18 to 1e18, of points and of priors, give finite values and finite gradients.
 */
#include "check.h"
#include "extremes.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

/* One draw for every pair of spreads. */
static void check_spreads(test_rng *rng, const flavour *kind, int64_t d, int64_t k, int32_t mode,
                          int precision)
{
    const int64_t sizes[] = {1, 0, 5};
    for (int pair = 0; pair < SPREADS * SPREADS; pair++) {
        problem *p = problem_create(rng, kind->kind, kind->robust, d, k, 3, sizes, 0);
        p->max_iters = 3;
        p->grad = mode;
        extremes_draw(rng, p, pair / SPREADS, pair % SPREADS);
        extremes_check(ctx, p, precision);
        problem_destroy(p);
    }
}

static void check_sizes(const flavour *kind, int32_t mode, int precision)
{
    const int64_t dims[] = {1, 2, 8, 33}, components[] = {1, 2, 5};
    test_rng rng = {43 + (uint64_t)mode};
    for (int i = 0; i < 12; i++)
        if (kind->kind == MIXTURE || i % 3 == 0)
            for (int draw = 0; draw < 3; draw++)
                check_spreads(&rng, kind, dims[i / 3], components[i % 3], mode, precision);
}

static void test_infer_f32_of_mixtures_is_finite_at_the_extremes(void)
{
    check_sizes(&flavours[2], NPAGG_GRAD_UNROLL, 32);
}

static void test_infer_f32_of_robust_mixtures_is_finite_at_the_extremes(void)
{
    check_sizes(&flavours[3], NPAGG_GRAD_UNROLL, 32);
}

static void test_infer_f32_of_gaussians_is_finite_at_the_extremes(void)
{
    check_sizes(&flavours[0], NPAGG_GRAD_UNROLL, 32);
    check_sizes(&flavours[1], NPAGG_GRAD_UNROLL, 32);
}

static void test_infer_f32_of_hierarchies_is_finite_at_the_extremes(void)
{
    check_sizes(&flavours[4], NPAGG_GRAD_UNROLL, 32);
    check_sizes(&flavours[5], NPAGG_GRAD_UNROLL, 32);
}

static void test_infer_f32_is_finite_at_the_extremes_in_every_gradient_mode(void)
{
    for (int32_t mode = 1; mode < GRAD_MODES; mode++) {
        check_sizes(&flavours[1], mode, 32);
        check_sizes(&flavours[3], mode, 32);
        check_sizes(&flavours[5], mode, 32);
    }
}

static void test_infer_f64_is_finite_at_the_extremes(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        check_sizes(&flavours[i], NPAGG_GRAD_UNROLL, 64);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_f32_of_mixtures_is_finite_at_the_extremes);
    RUN_TEST(test_infer_f32_of_robust_mixtures_is_finite_at_the_extremes);
    RUN_TEST(test_infer_f32_of_gaussians_is_finite_at_the_extremes);
    RUN_TEST(test_infer_f32_of_hierarchies_is_finite_at_the_extremes);
    RUN_TEST(test_infer_f32_is_finite_at_the_extremes_in_every_gradient_mode);
    RUN_TEST(test_infer_f64_is_finite_at_the_extremes);
    return UNITY_END();
}
