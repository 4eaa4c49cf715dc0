/* Numbers in a checkpoint's metadata: exact, short, and the same in every locale. */
#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "folder.h"
#include "io/decimal.h"
#include "problem.h"

void setUp(void)
{
}

void tearDown(void)
{
    setlocale(LC_ALL, "C");
}

static void check_round_trip(double x)
{
    char text[NP_DECIMAL_SIZE];
    double back = -1;
    np_decimal_print(x, text);
    TEST_ASSERT_TRUE_MESSAGE(np_decimal_read(text, &back), text);
    ASSERT_SAME_BITS(sizeof x, &x, &back);
}

static void check_round_trips(void)
{
    const double ends[] = {0,        -0.0,    1,      -1,          0.1,  1e-4, DBL_MAX,
                           -DBL_MAX, DBL_MIN, 5e-324, DBL_EPSILON, 1e22, 1e23};
    test_rng rng = {3};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        check_round_trip(ends[i]);
    for (int i = 0; i < 20000; i++) {
        const double scale = rng_uniform(&rng, -300, 300);
        char power[32];
        double factor = 1;
        snprintf(power, sizeof power, "1e%d", (int)scale);
        sscanf(power, "%lf", &factor);
        check_round_trip(rng_normal(&rng) * factor);
    }
}

static void test_decimals_read_back_as_the_same_bits(void)
{
    check_round_trips();
}

static void check_text(const char *want, double x)
{
    char text[NP_DECIMAL_SIZE];
    np_decimal_print(x, text);
    TEST_ASSERT_EQUAL_STRING(want, text);
}

static void check_texts(void)
{
    check_text("0", 0);
    check_text("1", 1);
    check_text("1e-4", 1e-4);
    check_text("1e-1", 0.1);
    check_text("-125e-3", -0.125);
    check_text("1e2", 100);
}

static void test_decimals_are_as_short_as_can_be(void)
{
    check_texts();
}

static void test_decimals_are_the_same_where_the_point_is_a_comma(void)
{
    folder f;
    char point[32];
    folder_create(&f);
    const int there = set_comma_locale(&f);
    snprintf(point, sizeof point, "%.1f", 1.5);
    if (there && strcmp(point, "1,5") == 0) {
        check_round_trips();
        check_texts();
    }
    setlocale(LC_ALL, "C");
    folder_destroy(&f);
    if (!there)
        TEST_IGNORE_MESSAGE("no locale with a decimal comma here");
    TEST_ASSERT_EQUAL_STRING("1,5", point);
}

static void test_decimals_may_be_written_by_others(void)
{
    const struct {
        const char *text;
        double value;
    } good[] = {{"0.0001", 1e-4}, {"1E-4", 1e-4}, {"1e+2", 100}, {"-0.5", -0.5},
                {"007", 7},       {"1.50e1", 15}, {"0.0", 0},    {"1e-400", 0}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double x = -1;
        TEST_ASSERT_TRUE_MESSAGE(np_decimal_read(good[i].text, &x), good[i].text);
        TEST_ASSERT_TRUE_MESSAGE(x == good[i].value, good[i].text);
    }
}

static void test_text_that_is_no_decimal_is_refused(void)
{
    const char *bad[] = {
        "",    " 1",  "1 ",    "+1",      "-",      "--1",
        ".5",  "5.",  "1,5",   "1e",      "1e+",    "e5",
        "nan", "inf", "0x1p3", "1e999",   "1.e5",   "1e5.0",
        "1e-", "1_0", "1.2.3", "1e99999", "-1e999", "1000000000000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double x = 42;
        TEST_ASSERT_FALSE_MESSAGE(np_decimal_read(bad[i], &x), bad[i]);
        TEST_ASSERT_TRUE(x == 42);
    }
}

static void test_integers_are_digits_that_fit(void)
{
    int64_t x = 0;
    TEST_ASSERT_TRUE(np_integer_read("9223372036854775807", &x));
    TEST_ASSERT_EQUAL_INT64(INT64_MAX, x);
    TEST_ASSERT_TRUE(np_integer_read("-12", &x));
    TEST_ASSERT_EQUAL_INT64(-12, x);
    const char *bad[] = {
        "",     "-",  "9223372036854775808", "99999999999999999999", "1.0", "+1", " 1", "1 ",
        "0x10", "1e3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TEST_ASSERT_FALSE_MESSAGE(np_integer_read(bad[i], &x), bad[i]);
    TEST_ASSERT_EQUAL_INT64(-12, x);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_decimals_read_back_as_the_same_bits);
    RUN_TEST(test_decimals_are_as_short_as_can_be);
    RUN_TEST(test_decimals_are_the_same_where_the_point_is_a_comma);
    RUN_TEST(test_decimals_may_be_written_by_others);
    RUN_TEST(test_text_that_is_no_decimal_is_refused);
    RUN_TEST(test_integers_are_digits_that_fit);
    return UNITY_END();
}
