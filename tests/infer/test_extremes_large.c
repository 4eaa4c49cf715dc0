/* The extremes again, up to D = 65,536 and K = 256: the largest takes about 3 GB. */
#include <math.h>

#include "check.h"
#include "extremes.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 2));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static void check_one(uint64_t seed, int robust, int64_t d, int64_t k, int v_spread, int s_spread)
{
    const int64_t sizes[] = {3, 2};
    test_rng rng = {seed};
    problem *p = problem_create(&rng, MIXTURE, robust, d, k, 2, sizes, 0);
    p->max_iters = 3;
    extremes_draw(&rng, p, v_spread, s_spread);
    extremes_check(ctx, p, 32);
    problem_destroy(p);
}

static void test_infer_f32_of_the_largest_mixture_is_finite_at_the_extremes(void)
{
    check_one(1, 0, 65536, 256, LOG_UNIFORM, LOG_UNIFORM);
    check_one(2, 0, 65536, 256, TINY_OR_HUGE, TINY_OR_HUGE);
}

static void test_infer_f32_of_the_largest_robust_mixture_is_finite_at_the_extremes(void)
{
    check_one(3, 1, 65536, 256, LOG_UNIFORM, LOG_UNIFORM);
    check_one(4, 1, 65536, 256, TINY_OR_HUGE, TINY_OR_HUGE);
}

static void test_infer_f32_of_wide_mixtures_is_finite_for_every_pair_of_spreads(void)
{
    for (int pair = 0; pair < SPREADS * SPREADS; pair++)
        for (int robust = 0; robust < 2; robust++) {
            check_one(5, robust, 65536, 1, pair / SPREADS, pair % SPREADS);
            check_one(6, robust, 20011, 3, pair / SPREADS, pair % SPREADS);
        }
}

static void test_infer_f32_of_many_components_is_finite_for_every_pair_of_spreads(void)
{
    for (int pair = 0; pair < SPREADS * SPREADS; pair++)
        for (int robust = 0; robust < 2; robust++) {
            check_one(7, robust, 1, 256, pair / SPREADS, pair % SPREADS);
            check_one(8, robust, 129, 256, pair / SPREADS, pair % SPREADS);
            check_one(9, robust, 1000, 100, pair / SPREADS, pair % SPREADS);
        }
}

/* Sizes from 1 to the limits, log-uniform, with any pair of spreads. */
static void test_infer_f32_of_random_mixtures_is_finite_at_the_extremes(void)
{
    test_rng rng = {10};
    for (int i = 0; i < 400; i++) {
        const int64_t d = (int64_t)exp2(rng_uniform(&rng, 0, 12));
        const int64_t k = (int64_t)exp2(rng_uniform(&rng, 0, 8));
        check_one(1000 + (uint64_t)i, i % 2, d, k, (int)rng_int(&rng, 0, SPREADS - 1),
                  (int)rng_int(&rng, 0, SPREADS - 1));
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_f32_of_the_largest_mixture_is_finite_at_the_extremes);
    RUN_TEST(test_infer_f32_of_the_largest_robust_mixture_is_finite_at_the_extremes);
    RUN_TEST(test_infer_f32_of_wide_mixtures_is_finite_for_every_pair_of_spreads);
    RUN_TEST(test_infer_f32_of_many_components_is_finite_for_every_pair_of_spreads);
    RUN_TEST(test_infer_f32_of_random_mixtures_is_finite_at_the_extremes);
    return UNITY_END();
}
