/* Sizes and offsets that make no sense, or whose products overflow, are refused before any work. */
#include <string.h>

#include "check.h"
#include "stand.h"

static stand *s;

void setUp(void)
{
    s = stand_create(&flavours[2], 32, NPAGG_GRAD_UNROLL);
}

void tearDown(void)
{
    stand_end(&s);
}

typedef npagg_status (*create_fn)(npagg_ctx *ctx, int64_t d, int64_t k, npagg_prior **out);

static npagg_status create_gaussian(npagg_ctx *ctx, int64_t d, int64_t k, npagg_prior **out)
{
    (void)k;
    return npagg_prior_create_gaussian(ctx, d, out);
}

static npagg_status create_student(npagg_ctx *ctx, int64_t d, int64_t k, npagg_prior **out)
{
    (void)k;
    return npagg_prior_create_student(ctx, d, out);
}

static const create_fn creators[] = {create_gaussian, npagg_prior_create_mixture, create_student};

static void refuse_prior(create_fn create, int64_t d, int64_t k, const char *text)
{
    npagg_prior *out = s->good->prior;
    const int64_t blocks = s->meter.blocks;
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, text, create(s->ctx, d, k, &out));
    TEST_ASSERT_EQUAL_PTR(s->good->prior, out);
    TEST_ASSERT_EQUAL_INT64(blocks, s->meter.blocks);
}

static void test_prior_of_no_dimensions_is_refused(void)
{
    for (int i = 0; i < 3; i++) {
        refuse_prior(creators[i], 0, 2, "d = 0");
        refuse_prior(creators[i], -1, 2, "d = -1");
        refuse_prior(creators[i], INT64_MIN, 2, "d = -9223372036854775808");
    }
    ASSERT_STILL_GOOD(s);
}

static void test_prior_of_no_components_is_refused(void)
{
    refuse_prior(npagg_prior_create_mixture, 3, 0, "k = 0");
    refuse_prior(npagg_prior_create_mixture, 3, -4, "k = -4");
    refuse_prior(npagg_prior_create_mixture, 3, INT64_MIN, "k = -9223372036854775808");
    ASSERT_STILL_GOOD(s);
}

static void test_prior_whose_counts_overflow_is_refused(void)
{
    refuse_prior(create_gaussian, INT64_MAX, 1, "9223372036854775807");
    refuse_prior(create_student, INT64_MAX, 1, "9223372036854775807");
    refuse_prior(npagg_prior_create_mixture, INT64_MAX, 1, "9223372036854775807");
    refuse_prior(npagg_prior_create_mixture, 1, INT64_MAX, "9223372036854775807");
    refuse_prior(npagg_prior_create_mixture, (int64_t)1 << 32, (int64_t)1 << 31, "4294967296");
    refuse_prior(npagg_prior_create_mixture, (int64_t)1 << 20, (int64_t)1 << 43, "1048576");
    ASSERT_STILL_GOOD(s);
}

/* Counts that fit int64_t although no array of them fits memory: refused at the latest by forward.
 */
static void test_infer_with_a_prior_beyond_memory_is_refused(void)
{
    const int64_t sizes[] = {(int64_t)1 << 50, (int64_t)1 << 58, (int64_t)1 << 60};
    const int64_t no_points[2] = {0, 0};
    double unread = 3;
    for (int i = 0; i < 3; i++) {
        npagg_prior *prior = NULL;
        npagg_status status = npagg_prior_create_student(s->ctx, sizes[i], &prior);
        if (status == NPAGG_OK)
            status = npagg_infer_forward_f64(s->ctx, prior, NULL, s->good->params, 1, no_points,
                                             NULL, NULL, NULL, &unread, NULL, NULL);
        TEST_ASSERT_TRUE(status == NPAGG_E_ARG || status == NPAGG_E_NOMEM);
        TEST_ASSERT_EQUAL_DOUBLE(3, unread);
        npagg_prior_destroy(prior);
    }
    ASSERT_STILL_GOOD(s);
}

static void test_negative_number_of_sets_is_refused(void)
{
    inference bad = *s->good;
    bad.n_sets = -1;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "n_sets = -1", ">= 0");
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, "n_sets = -1", ">= 0");
    bad.n_sets = INT64_MIN;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "n_sets = -9223372036854775808", ">= 0");
}

/* The offsets array ends long before such an index, so it must not be read. */
static void test_number_of_sets_that_overflows_is_refused(void)
{
    inference bad = *s->good;
    const int64_t many[] = {INT64_MAX, INT64_MAX / 8 + 1, INT64_MAX / 8, INT64_MAX / 16};
    for (int i = 0; i < 4; i++) {
        bad.n_sets = many[i];
        ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "n_sets", "");
        ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, "n_sets", "");
    }
}

static void refuse_offsets(const int64_t *offsets, const char *one, const char *two)
{
    inference bad = *s->good;
    int64_t copy[5];
    memcpy(copy, offsets, sizeof copy);
    bad.offsets = copy;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, one, two);
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, one, two);
}

static void test_offsets_that_do_not_start_at_zero_are_refused(void)
{
    refuse_offsets((const int64_t[]){1, 3, 3, 7, 9}, "offsets[0] = 1", "want 0");
    refuse_offsets((const int64_t[]){-2, 3, 3, 7, 9}, "offsets[0] = -2", "want 0");
}

static void test_offsets_that_fall_are_refused(void)
{
    refuse_offsets((const int64_t[]){0, 3, 2, 7, 9}, "offsets[2] = 2", ">= 3");
    refuse_offsets((const int64_t[]){0, 3, 3, 7, 6}, "offsets[4] = 6", ">= 7");
    refuse_offsets((const int64_t[]){0, -1, 3, 7, 9}, "offsets[1] = -1", ">= 0");
    refuse_offsets((const int64_t[]){0, 3, 3, 7, INT64_MIN}, "offsets[4]", ">= 7");
}

static void test_offsets_whose_size_in_bytes_overflows_are_refused(void)
{
    refuse_offsets((const int64_t[]){0, 3, 3, 7, INT64_MAX}, "offsets[4] = 9223372036854775807",
                   "");
    refuse_offsets((const int64_t[]){0, 3, 3, 7, INT64_MAX / 5}, "offsets[4]", "");
    refuse_offsets((const int64_t[]){0, 3, 3, 7, INT64_MAX / 20}, "offsets[4]", "");
}

/* 2^55 rows of 5 floats fit an address but no machine: memory or sizes, but no look at the rows. */
static void test_offsets_beyond_memory_are_refused_without_reading_rows(void)
{
    inference bad = *s->good;
    int64_t offsets[] = {0, 3, 3, 7, (int64_t)1 << 55};
    bad.offsets = offsets;
    inference_poison(&bad);
    npagg_status status = inference_forward(s->ctx, &bad, s->cache);
    TEST_ASSERT_TRUE(status == NPAGG_E_ARG || status == NPAGG_E_NOMEM);
    ASSERT_UNTOUCHED(&bad);
    ASSERT_CACHE_EMPTY(s->ctx, s->cache);
    ASSERT_STILL_GOOD(s);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_prior_of_no_dimensions_is_refused);
    RUN_TEST(test_prior_of_no_components_is_refused);
    RUN_TEST(test_prior_whose_counts_overflow_is_refused);
    RUN_TEST(test_infer_with_a_prior_beyond_memory_is_refused);
    RUN_TEST(test_negative_number_of_sets_is_refused);
    RUN_TEST(test_number_of_sets_that_overflows_is_refused);
    RUN_TEST(test_offsets_that_do_not_start_at_zero_are_refused);
    RUN_TEST(test_offsets_that_fall_are_refused);
    RUN_TEST(test_offsets_whose_size_in_bytes_overflows_are_refused);
    RUN_TEST(test_offsets_beyond_memory_are_refused_without_reading_rows);
    return UNITY_END();
}
