/* Threads and batches once more, at the sizes where each set is cut into several chunks. */
#include "check.h"
#include "inference.h"

enum { SETS = 6 };

void setUp(void)
{
}

void tearDown(void)
{
}

static problem *draw(const flavour *kind, int32_t mode)
{
    const int64_t sizes[SETS] = {40, 45000, 0, 30000, 7, 3000};
    test_rng rng = {37};
    problem *p = problem_create(&rng, kind->kind, kind->robust, 24, kind->k, SETS, sizes, 1);
    p->max_iters = 3;
    p->grad = mode;
    return p;
}

static void compare_on(int32_t threads, int64_t sets, const inference *want, inference *got)
{
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, threads));
    inference_run_once(ctx, got);
    ASSERT_SAME_OUTPUTS(want, got);
    for (int64_t b = 0; b < sets; b++) {
        inference *alone = inference_pick(want, 1, &b);
        inference_run_once(ctx, alone);
        ASSERT_SAME_SET(want, b, alone, 0);
        inference_destroy(alone);
    }
    npagg_ctx_destroy(ctx);
}

static void compare_flavours(int precision)
{
    const int32_t threads[] = {2, 3, 7};
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    for (int i = 0; i < FLAVOURS * GRAD_MODES; i++) {
        problem *p = draw(&flavours[i / GRAD_MODES], i % GRAD_MODES);
        inference *want = inference_create(ctx, p, precision);
        inference *got = inference_create(ctx, p, precision);
        problem_destroy(p);
        inference_run_once(ctx, want);
        for (int t = 0; t < 3; t++)
            compare_on(threads[t], SETS, want, got);
        inference_destroy(want);
        inference_destroy(got);
    }
    npagg_ctx_destroy(ctx);
}

static void test_infer_f32_of_large_sets_gives_the_same_bits_on_threads_and_alone(void)
{
    compare_flavours(32);
}

static void test_infer_f64_of_large_sets_gives_the_same_bits_on_threads_and_alone(void)
{
    compare_flavours(64);
}

/* The smaller set has more chunks than the larger one: from about there on chunks grow with the
 * set. */
static void test_infer_of_very_large_sets_gives_the_same_bits_on_threads_and_alone(void)
{
    const int64_t sizes[] = {2097151, 2100000};
    test_rng rng = {41};
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    problem *p = problem_create(&rng, STUDENT, 1, 1, 1, 2, sizes, 1);
    p->max_iters = 2;
    inference *want = inference_create(ctx, p, 32), *got = inference_create(ctx, p, 32);
    problem_destroy(p);
    inference_run_once(ctx, want);
    compare_on(2, 2, want, got);
    inference_destroy(want);
    inference_destroy(got);
    npagg_ctx_destroy(ctx);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_f32_of_large_sets_gives_the_same_bits_on_threads_and_alone);
    RUN_TEST(test_infer_f64_of_large_sets_gives_the_same_bits_on_threads_and_alone);
    RUN_TEST(test_infer_of_very_large_sets_gives_the_same_bits_on_threads_and_alone);
    return UNITY_END();
}
