/* A set gives the same bits alone, in any batch, and at any place in it. */
#include <math.h>

#include "check.h"
#include "inference.h"

enum { SETS = 6 };

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

/* Sets of these sizes, the last of which is one worker's or everybody's, depending on how many
 * others there are; with weights every fourth row is masked. */
static inference *draw(const flavour *kind, int32_t mode, int precision, int with_weight)
{
    const int64_t sizes[SETS] = {33, 1, 0, 70000, 64, 9000};
    test_rng rng = {23};
    problem *p =
        problem_create(&rng, kind->kind, kind->robust, 2, kind->k, SETS, sizes, with_weight);
    p->max_iters = 3;
    p->grad = mode;
    inference *f = inference_create(ctx, p, precision);
    problem_destroy(p);
    return f;
}

/* Runs the listed sets as a batch of their own and compares each with where it was in `whole`. */
static void compare_batch(const inference *whole, int64_t n_sets, const int64_t *which)
{
    inference *part = inference_pick(whole, n_sets, which);
    inference_run_once(ctx, part);
    for (int64_t b = 0; b < n_sets; b++)
        ASSERT_SAME_SET(whole, which[b], part, b);
    inference_destroy(part);
}

static void compare_batches(const inference *whole)
{
    const int64_t reversed[SETS] = {5, 4, 3, 2, 1, 0}, some[] = {4, 0, 2}, twice[] = {1, 4, 1, 5};
    inference_run_once(ctx, whole);
    for (int64_t b = 0; b < SETS; b++)
        compare_batch(whole, 1, &b);
    compare_batch(whole, SETS, reversed);
    compare_batch(whole, 3, some);
    compare_batch(whole, 4, twice);
}

static void compare_flavours(int precision, int with_weight)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
            inference *whole = draw(&flavours[i], mode, precision, with_weight);
            compare_batches(whole);
            inference_destroy(whole);
        }
}

static void test_infer_f32_of_a_set_does_not_depend_on_its_batch(void)
{
    compare_flavours(32, 0);
}

static void test_infer_f64_of_a_set_does_not_depend_on_its_batch(void)
{
    compare_flavours(64, 0);
}

static void test_infer_f32_of_a_masked_set_does_not_depend_on_its_batch(void)
{
    compare_flavours(32, 1);
}

static void test_infer_f64_of_a_masked_set_does_not_depend_on_its_batch(void)
{
    compare_flavours(64, 1);
}

/* Numbers near the ends of float take other roads through the kernels: for their own set only. */
static void test_infer_of_a_set_does_not_depend_on_wild_neighbours(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        inference *whole = draw(&flavours[i], NPAGG_GRAD_UNROLL, 32, 0);
        for (int64_t at = whole->offsets[4] * whole->d; at < whole->offsets[5] * whole->d; at++) {
            inference_put(whole, whole->v, at, at % 2 ? 1e-18 : 1e18);
            inference_put(whole, whole->m, at, at % 3 ? 1e9 : -1e9);
        }
        compare_batches(whole);
        inference_destroy(whole);
    }
}

/* One wild row in the last chunk of the large set: all of that set, alone or not, the same way. */
static void test_infer_of_a_large_set_with_a_wild_row_does_not_depend_on_its_batch(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        inference *whole = draw(&flavours[i], NPAGG_GRAD_UNROLL, 32, 0);
        inference_put(whole, whole->v, (whole->offsets[4] - 2) * whole->d, 1e-12);
        compare_batches(whole);
        inference_destroy(whole);
    }
}

static void test_infer_of_a_set_that_falls_back_does_not_depend_on_its_batch(void)
{
    const int64_t sizes[SETS] = {33, 1, 0, 70000, 64, 3};
    test_rng rng = {29};
    for (int precision = 32; precision <= 64; precision += 32) {
        problem *p = problem_create(&rng, STUDENT, 1, 2, 1, SETS, sizes, 1);
        problem_leave_fixed_point(p);
        p->grad = NPAGG_GRAD_IMPLICIT;
        inference *whole = inference_create(ctx, p, precision);
        compare_batches(whole);
        inference_destroy(whole);
        problem_destroy(p);
    }
}

static void test_infer_stopping_by_tolerance_does_not_depend_on_the_batch(void)
{
    const int64_t sizes[SETS] = {33, 1, 0, 70000, 64, 3};
    test_rng rng = {31};
    problem *p = problem_create(&rng, STUDENT, 1, 2, 1, SETS, sizes, 1);
    p->max_iters = 60;
    p->tol = 1e-5;
    for (p->grad = 0; p->grad < GRAD_MODES; p->grad++) {
        inference *whole = inference_create(ctx, p, 64);
        compare_batches(whole);
        inference_destroy(whole);
    }
    problem_destroy(p);
}

static void test_infer_of_a_masked_row_leaves_its_gradients_alone(void)
{
    for (int i = 0; i < FLAVOURS * GRAD_MODES; i++) {
        inference *f = draw(&flavours[i / GRAD_MODES], i % GRAD_MODES, 32, 1);
        inference_run_once(ctx, f);
        for (int64_t row = 1; row < f->n; row += 4) {
            TEST_ASSERT_TRUE(inference_get(f, f->weight, row) == 0);
            TEST_ASSERT_TRUE(inference_get(f, f->w, row) == 0);
            TEST_ASSERT_TRUE(inference_get(f, f->dweight, row) == 0);
            for (int64_t j = row * f->d; j < (row + 1) * f->d; j++) {
                TEST_ASSERT_TRUE(inference_get(f, f->dm, j) == 0);
                TEST_ASSERT_TRUE(inference_get(f, f->dv, j) == 0);
            }
        }
        inference_destroy(f);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_f32_of_a_set_does_not_depend_on_its_batch);
    RUN_TEST(test_infer_f64_of_a_set_does_not_depend_on_its_batch);
    RUN_TEST(test_infer_f32_of_a_masked_set_does_not_depend_on_its_batch);
    RUN_TEST(test_infer_f64_of_a_masked_set_does_not_depend_on_its_batch);
    RUN_TEST(test_infer_of_a_set_does_not_depend_on_wild_neighbours);
    RUN_TEST(test_infer_of_a_large_set_with_a_wild_row_does_not_depend_on_its_batch);
    RUN_TEST(test_infer_of_a_set_that_falls_back_does_not_depend_on_its_batch);
    RUN_TEST(test_infer_stopping_by_tolerance_does_not_depend_on_the_batch);
    RUN_TEST(test_infer_of_a_masked_row_leaves_its_gradients_alone);
    return UNITY_END();
}
