/* Gradients add; each output is its own choice; a cache serves many backwards; NaN stays in its
 * set. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "stand.h"

static stand *s;

void setUp(void)
{
}

void tearDown(void)
{
    stand_end(&s);
}

/* Every prior, gradient mode and precision in turn. */
enum { CASES = FLAVOURS * GRAD_MODES * 2 };

static void begin_case(int i)
{
    stand_end(&s);
    s = stand_create(&flavours[i / GRAD_MODES % FLAVOURS], i < CASES / 2 ? 32 : 64, i % GRAD_MODES);
}

/* The same with variances so small that float arithmetic will not do and the reference steps in. */
static void begin_wild_case(int i)
{
    begin_case(i);
    const int64_t cells = s->good->n * s->good->d;
    for (int64_t j = 0; j < cells; j++) {
        const double v = 1e-9 * inference_get(s->good, s->good->v, j);
        inference_put(s->good, s->good->v, j, v);
        inference_put(s->want, s->want->v, j, v);
    }
    inference_run_once(s->ctx, s->want);
}

static double epsilon(void)
{
    return s->good->precision == 32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* The gradients are the last four arrays of the block of outputs. */
static unsigned char *gradients(const inference *f)
{
    return f->dm;
}

static size_t gradient_bytes(const inference *f)
{
    return f->out_bytes - (size_t)(gradients(f) - f->out);
}

static int64_t gradient_count(const inference *f)
{
    return (int64_t)(gradient_bytes(f) / f->real);
}

static void double_gradients(void)
{
    inference_run(s->ctx, s->good, s->cache);
    ASSERT_OK(s->ctx, inference_backward(s->ctx, s->good, s->cache));
    for (int64_t j = 0; j < gradient_count(s->good); j++) {
        const double once = inference_get(s->want, gradients(s->want), j);
        ASSERT_CLOSE(2 * once, inference_get(s->good, gradients(s->good), j), 4 * epsilon(),
                     4 * epsilon());
    }
}

static void test_infer_backward_twice_doubles_the_gradients(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        double_gradients();
        begin_wild_case(i);
        double_gradients();
    }
}

static void test_infer_backward_adds_to_what_is_there(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        inference_run(s->ctx, s->good, s->cache);
        for (int64_t j = 0; j < gradient_count(s->good); j++)
            inference_put(s->good, gradients(s->good), j, 3 - (double)(j % 7));
        ASSERT_OK(s->ctx, inference_backward(s->ctx, s->good, s->cache));
        for (int64_t j = 0; j < gradient_count(s->good); j++) {
            const double want = inference_get(s->want, gradients(s->want), j) + 3 - (double)(j % 7);
            ASSERT_CLOSE(want, inference_get(s->good, gradients(s->good), j), 4 * epsilon(),
                         8 * epsilon());
        }
    }
}

/* Masked rows keep their old content to the bit, whatever it is. */
static void test_infer_backward_leaves_gradients_of_masked_rows_to_the_bit(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        const inference *f = s->good;
        inference_run(s->ctx, f, s->cache);
        inference_poison(f);
        ASSERT_OK(s->ctx, inference_backward(s->ctx, f, s->cache));
        const unsigned char *dm = (unsigned char *)f->dm + 5 * (size_t)f->d * f->real;
        const unsigned char *dv = (unsigned char *)f->dv + 5 * (size_t)f->d * f->real;
        const unsigned char *dweight = (unsigned char *)f->dweight + 5 * f->real;
        for (size_t j = 0; j < (size_t)f->d * f->real; j++)
            TEST_ASSERT_TRUE(dm[j] == 0xA5 && dv[j] == 0xA5);
        for (size_t j = 0; j < f->real; j++)
            TEST_ASSERT_EQUAL_HEX8(0xA5, dweight[j]);
    }
}

static void test_infer_backward_after_backward_gives_the_same_bits(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        inference_run(s->ctx, s->good, s->cache);
        for (int again = 0; again < 3; again++) {
            memset(gradients(s->good), 0, gradient_bytes(s->good));
            ASSERT_OK(s->ctx, inference_backward(s->ctx, s->good, s->cache));
            ASSERT_SAME_OUTPUTS(s->want, s->good);
        }
    }
}

/* Runs backward with the chosen outputs only: those as ever, the others as before. */
static void choose_outputs(int chosen)
{
    inference part = *s->good;
    void **outputs[] = {&part.dm, &part.dv, &part.dweight, &part.dparams};
    const void *want[] = {s->want->dm, s->want->dv, s->want->dweight, s->want->dparams};
    const int64_t nd = part.n * part.d, sizes[] = {nd, nd, part.n, part.p};
    memset(gradients(s->good), 0, gradient_bytes(s->good));
    unsigned char zero[1024] = {0};
    void *all[4];
    for (int j = 0; j < 4; j++) {
        all[j] = *outputs[j];
        if (!(chosen >> j & 1))
            *outputs[j] = NULL;
    }
    ASSERT_OK(s->ctx, inference_backward(s->ctx, &part, s->cache));
    for (int j = 0; j < 4; j++)
        ASSERT_SAME_BITS(sizes[j] * (int64_t)part.real, chosen >> j & 1 ? want[j] : zero, all[j]);
}

static void test_infer_backward_gives_each_output_alone(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        inference_run(s->ctx, s->good, s->cache);
        for (int chosen = 0; chosen < 16; chosen++)
            choose_outputs(chosen);
    }
}

static void test_infer_backward_is_the_sum_over_its_two_sources(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        inference part = *s->good;
        inference_run(s->ctx, s->good, s->cache);
        memset(gradients(s->good), 0, gradient_bytes(s->good));
        part.dlogz = NULL;
        ASSERT_OK(s->ctx, inference_backward(s->ctx, &part, s->cache));
        part.dlogz = s->good->dlogz, part.dq = NULL;
        ASSERT_OK(s->ctx, inference_backward(s->ctx, &part, s->cache));
        /* The implicit solve of each source stops at its own 1e-5 or 1e-10. */
        const double tol =
            i % GRAD_MODES == NPAGG_GRAD_IMPLICIT ? sqrt(epsilon()) : 100 * epsilon();
        for (int64_t j = 0; j < gradient_count(s->good); j++)
            ASSERT_CLOSE(inference_get(s->want, gradients(s->want), j),
                         inference_get(s->good, gradients(s->good), j), tol, 20 * tol);
    }
}

static void test_infer_backward_of_no_source_adds_nothing(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        inference none = *s->good;
        inference_run(s->ctx, s->good, s->cache);
        memset(gradients(s->good), 0, gradient_bytes(s->good));
        none.dq = none.dlogz = NULL;
        ASSERT_OK(s->ctx, inference_backward(s->ctx, &none, s->cache));
        for (int64_t j = 0; j < gradient_count(&none); j++)
            TEST_ASSERT_TRUE(inference_get(&none, gradients(&none), j) == 0);
    }
}

static void test_infer_backward_of_weights_that_are_not_given_is_that_of_ones(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        inference ones = *s->good, none = *s->want;
        for (int64_t j = 0; j < ones.n; j++) {
            inference_put(&ones, ones.weight, j, 1);
            for (int64_t k = j * ones.d; j % 4 == 1 && k < (j + 1) * ones.d; k++) {
                inference_put(&ones, ones.m, k, 0.25), inference_put(&none, none.m, k, 0.25);
                inference_put(&ones, ones.v, k, 0.75), inference_put(&none, none.v, k, 0.75);
            }
        }
        none.weight = NULL;
        inference_run(s->ctx, &ones, s->cache);
        inference_run(s->ctx, &none, s->cache);
        ASSERT_SAME_OUTPUTS(&ones, &none);
    }
}

/* Entry 2 of the posterior mean, and 2 is also its dimension, of set 2 of 4. */
static void test_infer_backward_keeps_a_nan_in_its_own_set(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        const inference *f = s->good;
        inference_put(f, f->dq, 2 * f->q + 2, (double)NAN);
        inference_run(s->ctx, f, s->cache);
        for (int64_t b = 0; b < 4; b++)
            if (b != 2)
                ASSERT_SAME_SET(s->want, b, f, b);
        for (int64_t row = 3; row < 7; row++) {
            if (row == 5) /* masked */
                continue;
            TEST_ASSERT_TRUE(isnan(inference_get(f, f->dm, row * f->d + 2)));
            TEST_ASSERT_TRUE(isnan(inference_get(f, f->dv, row * f->d + 2)));
            TEST_ASSERT_TRUE(isnan(inference_get(f, f->dweight, row)));
        }
    }
}

static void test_infer_backward_keeps_a_nan_of_logz_in_its_own_set(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        const inference *f = s->good;
        inference_put(f, f->dlogz, 2, (double)NAN);
        inference_run(s->ctx, f, s->cache);
        for (int64_t b = 0; b < 4; b++)
            if (b != 2)
                ASSERT_SAME_SET(s->want, b, f, b);
        TEST_ASSERT_TRUE(isnan(inference_get(f, f->dm, 3 * f->d)));
        TEST_ASSERT_TRUE(isnan(inference_get(f, f->dv, 6 * f->d + 4)));
    }
}

static void test_infer_of_no_sets_touches_nothing(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        inference none = *s->good;
        none.n_sets = 0;
        inference_poison(&none);
        ASSERT_OK(s->ctx, inference_forward(s->ctx, &none, s->cache));
        ASSERT_UNTOUCHED(&none);
        ASSERT_OK(s->ctx, inference_weights(s->ctx, &none, s->cache));
        ASSERT_UNTOUCHED(&none);
        memset(none.dparams, 0, (size_t)none.p * none.real);
        ASSERT_OK(s->ctx, inference_backward(s->ctx, &none, s->cache));
        for (int64_t j = 0; j < none.p; j++)
            TEST_ASSERT_TRUE(inference_get(&none, none.dparams, j) == 0);
    }
}

static void test_infer_of_empty_sets_reads_no_rows(void)
{
    for (int i = 0; i < CASES; i++) {
        begin_case(i);
        const int64_t empty = 1;
        inference *alone = inference_pick(s->want, 1, &empty), bare = *alone;
        bare.m = bare.v = bare.weight = NULL;
        inference_run(s->ctx, &bare, s->cache);
        ASSERT_SAME_SET(s->want, 1, &bare, 0);
        bare.dm = bare.dv = bare.dweight = NULL;
        ASSERT_OK(s->ctx, inference_backward(s->ctx, &bare, s->cache));
        inference_destroy(alone);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_backward_twice_doubles_the_gradients);
    RUN_TEST(test_infer_backward_adds_to_what_is_there);
    RUN_TEST(test_infer_backward_leaves_gradients_of_masked_rows_to_the_bit);
    RUN_TEST(test_infer_backward_after_backward_gives_the_same_bits);
    RUN_TEST(test_infer_backward_gives_each_output_alone);
    RUN_TEST(test_infer_backward_is_the_sum_over_its_two_sources);
    RUN_TEST(test_infer_backward_of_no_source_adds_nothing);
    RUN_TEST(test_infer_backward_of_weights_that_are_not_given_is_that_of_ones);
    RUN_TEST(test_infer_backward_keeps_a_nan_in_its_own_set);
    RUN_TEST(test_infer_backward_keeps_a_nan_of_logz_in_its_own_set);
    RUN_TEST(test_infer_of_no_sets_touches_nothing);
    RUN_TEST(test_infer_of_empty_sets_reads_no_rows);
    return UNITY_END();
}
