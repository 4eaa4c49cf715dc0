/* A bad value is refused by name, index and value, wherever it hides; behind a mask it is fine. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "stand.h"

enum { ROW = 7, COLUMN = 2 }; /* of the last set */

static stand *s;

void setUp(void)
{
}

void tearDown(void)
{
    stand_end(&s);
}

/* The good inference with one entry of the named array changed; the entry is put back after. */
static void refuse_value(void *array, int64_t i, double value, const char *where, const char *what)
{
    const double before = inference_get(s->good, array, i);
    inference bad = *s->good;
    ASSERT_OK(s->ctx, inference_forward(s->ctx, s->good, s->cache));
    inference_put(s->good, array, i, value);
    inference_poison(&bad);
    ASSERT_FAILS(s->ctx, NPAGG_E_NUMERIC, where, inference_forward(s->ctx, &bad, s->cache));
    ASSERT_ERROR_HAS(s->ctx, what);
    ASSERT_UNTOUCHED(&bad);
    ASSERT_CACHE_EMPTY(s->ctx, s->cache);
    inference_put(s->good, array, i, before);
    ASSERT_STILL_GOOD(s);
}

static void refuse_bad_rows(void)
{
    const int64_t cell = ROW * s->good->d + COLUMN;
    refuse_value(s->good->v, cell, 0, "v[7,2] = 0", "> 0");
    refuse_value(s->good->v, cell, -0.2, "v[7,2] = -0.2", "> 0");
    refuse_value(s->good->v, cell, (double)NAN, "v[7,2] = ", "nan");
    refuse_value(s->good->v, cell, (double)INFINITY, "v[7,2] = inf", "finite");
    refuse_value(s->good->v, cell, -(double)INFINITY, "v[7,2] = -inf", "> 0");
    refuse_value(s->good->m, cell, (double)NAN, "m[7,2] = ", "nan");
    refuse_value(s->good->m, cell, (double)INFINITY, "m[7,2] = inf", "finite");
    refuse_value(s->good->m, cell, -(double)INFINITY, "m[7,2] = -inf", "finite");
    refuse_value(s->good->weight, ROW, -0.5, "weight[7] = -0.5", ">= 0");
    refuse_value(s->good->weight, ROW, (double)NAN, "weight[7] = ", "nan");
    refuse_value(s->good->weight, ROW, (double)INFINITY, "weight[7] = inf", "finite");
}

static void test_infer_names_the_bad_value_for_every_prior_and_precision(void)
{
    for (int i = 0; i < 2 * FLAVOURS; i++) {
        s = stand_create(&flavours[i / 2], i % 2 ? 32 : 64, NPAGG_GRAD_UNROLL);
        refuse_bad_rows();
        tearDown();
    }
}

static void test_infer_names_the_bad_value_in_every_gradient_mode(void)
{
    for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
        s = stand_create(&flavours[5], 32, mode);
        refuse_bad_rows();
        tearDown();
    }
}

static void test_infer_names_the_bad_value_of_the_very_first_and_last_row(void)
{
    s = stand_create(&flavours[1], 64, NPAGG_GRAD_UNROLL);
    refuse_value(s->good->v, 0, -3, "v[0,0] = -3", "> 0");
    refuse_value(s->good->m, 8 * 5 + 4, (double)INFINITY, "m[8,4] = inf", "finite");
    refuse_value(s->good->weight, 0, -1, "weight[0] = -1", ">= 0");
    refuse_value(s->good->weight, 8, -1, "weight[8] = -1", ">= 0");
}

static void test_infer_without_a_cache_refuses_the_same_values(void)
{
    s = stand_create(&flavours[4], 32, NPAGG_GRAD_UNROLL);
    inference bad = *s->good;
    inference_put(&bad, bad.v, 3 * 5 + 1, -0.25);
    inference_poison(&bad);
    ASSERT_FAILS(s->ctx, NPAGG_E_NUMERIC, "v[3,1] = -0.25", inference_forward(s->ctx, &bad, NULL));
    ASSERT_UNTOUCHED(&bad);
    bad.logz = NULL;
    ASSERT_FAILS(s->ctx, NPAGG_E_NUMERIC, "v[3,1] = -0.25", inference_forward(s->ctx, &bad, NULL));
    ASSERT_UNTOUCHED(&bad);
}

/* Refused, or finite throughout: a call that succeeds never hands out a NaN or an infinity. */
static void refuse_or_be_finite(void *array, int64_t i, double value)
{
    const double before = inference_get(s->good, array, i);
    inference_put(s->good, array, i, value);
    inference_poison(s->good);
    npagg_status status = inference_forward(s->ctx, s->good, s->cache);
    TEST_ASSERT_TRUE(status == NPAGG_OK || status == NPAGG_E_NUMERIC);
    if (status == NPAGG_OK) {
        for (int64_t j = 0; j < s->good->n_sets * s->good->q; j++)
            TEST_ASSERT_TRUE(isfinite(inference_get(s->good, s->good->post, j)));
        for (int64_t j = 0; j < s->good->n_sets; j++)
            TEST_ASSERT_TRUE(isfinite(inference_get(s->good, s->good->logz, j)));
    } else {
        ASSERT_UNTOUCHED(s->good);
    }
    inference_put(s->good, array, i, before);
    ASSERT_STILL_GOOD(s);
}

static void refuse_or_be_finite_at(double smallest, double largest)
{
    const int64_t cell = ROW * s->good->d + COLUMN;
    refuse_or_be_finite(s->good->v, cell, smallest);
    refuse_or_be_finite(s->good->v, cell, smallest * 1e6);
    refuse_or_be_finite(s->good->v, cell, largest);
    refuse_or_be_finite(s->good->m, cell, largest);
    refuse_or_be_finite(s->good->m, cell, -largest);
    refuse_or_be_finite(s->good->weight, ROW, largest);
    refuse_or_be_finite(s->good->weight, ROW, smallest);
    for (int64_t i = 0; i < s->good->p; i++) {
        refuse_or_be_finite(s->good->params, i, log(largest));
        refuse_or_be_finite(s->good->params, i, 1.1 * log(largest));
        refuse_or_be_finite(s->good->params, i, log(smallest));
        refuse_or_be_finite(s->good->params, i, 1.1 * log(smallest));
        refuse_or_be_finite(s->good->params, i, largest);
    }
}

static void test_infer_of_the_largest_and_smallest_numbers_is_refused_or_finite(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        s = stand_create(&flavours[i], 32, NPAGG_GRAD_UNROLL);
        refuse_or_be_finite_at((double)FLT_TRUE_MIN, (double)FLT_MAX);
        stand_end(&s);
        s = stand_create(&flavours[i], 64, NPAGG_GRAD_UNROLL);
        refuse_or_be_finite_at(DBL_TRUE_MIN, DBL_MAX);
        tearDown();
    }
}

/* Sets of 1, 66000 and 3 rows: the large one is worked on in several chunks. */
static problem *large_problem(int with_weight)
{
    const int64_t sizes[] = {1, 66000, 3};
    test_rng rng = {3};
    return problem_create(&rng, STUDENT, 1, 3, 1, 3, sizes, with_weight);
}

static void test_infer_names_the_bad_value_in_a_later_chunk_of_a_large_set(void)
{
    const int32_t threads[] = {1, 2, 7};
    for (int i = 0; i < 3; i++) {
        s = stand_create_of(large_problem(0), 32);
        ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, threads[i]));
        refuse_value(s->good->v, 65999 * 3 + 1, -0.2, "v[65999,1] = -0.2", "> 0");
        refuse_value(s->good->m, 10001 * 3, (double)NAN, "m[10001,0] = ", "nan");
        refuse_value(s->good->v, 66003 * 3 + 2, 0, "v[66003,2] = 0", "> 0");
        tearDown();
    }
}

/* Which of several it names is free, but it must be one of them. */
static void test_infer_with_many_bad_values_names_one_of_them(void)
{
    s = stand_create_of(large_problem(0), 64);
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 7));
    for (int64_t i = 100; i < s->good->n; i++)
        inference_put(s->good, s->good->v, i * 3 + 1, -(double)i);
    inference_poison(s->good);
    ASSERT_FAILS(s->ctx, NPAGG_E_NUMERIC, "v[", inference_forward(s->ctx, s->good, NULL));
    long row = -1;
    double value = 0;
    TEST_ASSERT_EQUAL_INT(
        2, sscanf(strstr(npagg_ctx_error(s->ctx), "v["), "v[%ld,1] = %lf", &row, &value));
    TEST_ASSERT_TRUE(row >= 100 && row < s->good->n && value == -(double)row);
    ASSERT_UNTOUCHED(s->good);
}

static void fill_masked_rows(const inference *f, double m, double v)
{
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; inference_get(f, f->weight, i) == 0 && j < f->d; j++) {
            inference_put(f, f->m, i * f->d + j, m);
            inference_put(f, f->v, i * f->d + j, v);
        }
}

static void test_infer_behind_a_mask_takes_any_value(void)
{
    const double odd[][2] = {{(double)NAN, -1}, {(double)INFINITY, (double)NAN}, {1e30, 0}};
    for (int i = 0; i < FLAVOURS; i++) {
        s = stand_create(&flavours[i], 32, NPAGG_GRAD_UNROLL);
        for (int j = 0; j < 3; j++) {
            fill_masked_rows(s->good, odd[j][0], odd[j][1]);
            ASSERT_STILL_GOOD(s);
        }
        tearDown();
    }
}

static void test_infer_behind_a_mask_in_a_large_set_takes_any_value(void)
{
    s = stand_create_of(large_problem(1), 32);
    fill_masked_rows(s->good, -(double)INFINITY, -7);
    ASSERT_STILL_GOOD(s);
}

static int64_t param(const char *field, int64_t i)
{
    const int64_t first = npagg_prior_param_offset(s->good->prior, field);
    TEST_ASSERT_GREATER_OR_EQUAL_INT64(0, first);
    return first + i;
}

static void refuse_bad_param(const char *field, int64_t i, int exponential)
{
    void *params = s->good->params;
    refuse_value(params, param(field, i), (double)NAN, field, "nan");
    refuse_value(params, param(field, i), (double)INFINITY, field, "inf");
    refuse_value(params, param(field, i), -(double)INFINITY, field, "-inf");
    if (exponential) {
        refuse_value(params, param(field, i), 800, field, "800");
        refuse_value(params, param(field, i), -800, field, "-800");
    }
}

static void refuse_bad_params(prior_kind kind, int robust)
{
    if (kind == STUDENT) {
        refuse_bad_param("log_a0", 0, 1);
        refuse_bad_param("log_b0", 0, 1);
    } else {
        refuse_bad_param("mean", 4, 0);
        refuse_bad_param("logvar", 3, 1);
    }
    if (kind == MIXTURE)
        refuse_bad_param("logits", 2, 0);
    if (robust)
        refuse_bad_param("log_c0", 0, 1);
}

static void test_infer_names_the_bad_parameter_of_every_prior(void)
{
    for (int i = 0; i < 2 * FLAVOURS; i++) {
        s = stand_create(&flavours[i / 2], i % 2 ? 32 : 64, NPAGG_GRAD_IMPLICIT);
        refuse_bad_params(flavours[i / 2].kind, flavours[i / 2].robust);
        tearDown();
    }
}

static npagg_status constrain(const inference *f, void *out)
{
    return f->precision == 32 ? npagg_prior_constrained_f32(s->ctx, f->prior, f->params, out)
                              : npagg_prior_constrained_f64(s->ctx, f->prior, f->params, out);
}

static void refuse_constrained(int64_t i, double value, const char *field)
{
    const double before = inference_get(s->good, s->good->params, i);
    inference_put(s->good, s->good->params, i, value);
    inference_poison(s->good);
    ASSERT_FAILS(s->ctx, NPAGG_E_NUMERIC, field, constrain(s->good, s->good->dparams));
    ASSERT_UNTOUCHED(s->good);
    inference_put(s->good, s->good->params, i, before);
    ASSERT_OK(s->ctx, constrain(s->good, s->good->dparams));
}

static void test_constrained_parameters_that_are_no_numbers_are_refused(void)
{
    for (int precision = 32; precision <= 64; precision += 32) {
        s = stand_create(&flavours[3], precision, NPAGG_GRAD_UNROLL);
        refuse_constrained(param("mean", 2), (double)NAN, "mean");
        refuse_constrained(param("logvar", 14), 800, "logvar");
        refuse_constrained(param("logvar", 14), -800, "logvar");
        refuse_constrained(param("logvar", 0), -(double)INFINITY, "logvar");
        refuse_constrained(param("logits", 1), (double)INFINITY, "logits");
        refuse_constrained(param("log_c0", 0), 800, "log_c0");
        tearDown();
    }
}

/* In place, a refusal must leave the parameters themselves as they were. */
static void test_constrained_in_place_leaves_bad_parameters_alone(void)
{
    s = stand_create(&flavours[5], 64, NPAGG_GRAD_UNROLL);
    double params[3] = {0.5, -0.5, 900};
    const double before[3] = {0.5, -0.5, 900};
    TEST_ASSERT_EQUAL_INT64(3, s->good->p);
    ASSERT_FAILS(s->ctx, NPAGG_E_NUMERIC, "log_c0",
                 npagg_prior_constrained_f64(s->ctx, s->good->prior, params, params));
    ASSERT_SAME_BITS(sizeof params, before, params);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_names_the_bad_value_for_every_prior_and_precision);
    RUN_TEST(test_infer_names_the_bad_value_in_every_gradient_mode);
    RUN_TEST(test_infer_names_the_bad_value_of_the_very_first_and_last_row);
    RUN_TEST(test_infer_without_a_cache_refuses_the_same_values);
    RUN_TEST(test_infer_of_the_largest_and_smallest_numbers_is_refused_or_finite);
    RUN_TEST(test_infer_names_the_bad_value_in_a_later_chunk_of_a_large_set);
    RUN_TEST(test_infer_with_many_bad_values_names_one_of_them);
    RUN_TEST(test_infer_behind_a_mask_takes_any_value);
    RUN_TEST(test_infer_behind_a_mask_in_a_large_set_takes_any_value);
    RUN_TEST(test_infer_names_the_bad_parameter_of_every_prior);
    RUN_TEST(test_constrained_parameters_that_are_no_numbers_are_refused);
    RUN_TEST(test_constrained_in_place_leaves_bad_parameters_alone);
    return UNITY_END();
}
