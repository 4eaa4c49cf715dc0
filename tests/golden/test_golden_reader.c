/* The reader of the golden files: what it reads, and what it says of files that are not right. */
#include <string.h>

#include "check.h"
#include "golden.h"

static golden *file;
static char error[256];

void setUp(void)
{
    error[0] = '\0';
}

void tearDown(void)
{
    golden_destroy(file);
    file = NULL;
}

static void parse(const char *text)
{
    file = golden_parse("f", text, strlen(text), error, sizeof error);
}

static void expect_error(const char *text, const char *message)
{
    parse(text);
    TEST_ASSERT_NULL(file);
    TEST_ASSERT_EQUAL_STRING(message, error);
}

static void test_golden_reads_scalars_and_arrays_in_any_order(void)
{
    int64_t n = 0;
    parse("# a\ncase x\nscalar a 2.5\narray b f64 2 2 2\n1 -2e3\n3 # c\n4\nscalar c 7\nend\n");
    TEST_ASSERT_EQUAL_STRING("", error);
    TEST_ASSERT_NOT_NULL(file);
    ASSERT_CLOSE(2.5, golden_scalar(file, "a"), 0, 0);
    ASSERT_CLOSE(7, golden_scalar(file, "c"), 0, 0);
    ASSERT_CLOSE(-2000, golden_array(file, "b", 4)[1], 0, 0);
    ASSERT_CLOSE(4, golden_find(file, "b", &n)[3], 0, 0);
    TEST_ASSERT_EQUAL_INT64(4, n);
}

static void test_golden_does_not_find_what_is_not_there(void)
{
    int64_t n = 5;
    parse("scalar a 1\nend");
    TEST_ASSERT_NULL(golden_find(file, "a", &n));
    ASSERT_CLOSE(3, golden_scalar_or(file, "b", 3), 0, 0);
    TEST_ASSERT_EQUAL_INT64(5, n);
}

static void test_golden_reads_an_empty_array(void)
{
    parse("array a f64 2 0 5\narray b i64 1 2\n0 0\nend");
    TEST_ASSERT_NOT_NULL(golden_array(file, "a", 0));
    ASSERT_CLOSE(0, golden_array(file, "b", 2)[1], 0, 0);
}

static void test_golden_of_a_cut_file_says_where_it_ends(void)
{
    expect_error("", "f:1: the file ends, want case, scalar, array or end");
    expect_error("scalar a 1\n", "f:2: the file ends, want case, scalar, array or end");
    expect_error("array a f64 1 3\n1\n2\n", "f:4: the file ends, want a");
    expect_error("scalar a", "f:1: the file ends, want a");
}

static void test_golden_of_a_wrong_word_names_it(void)
{
    expect_error("scalar a 1\nvector b\nend", "f:2: \"vector\", want case, scalar, array or end");
    expect_error("scalar a 1x\nend", "f:1: \"1x\" is no number, want a");
    expect_error("array a f32 1 1\n0\nend", "f:1: type \"f32\", want f64 or i64");
    expect_error("array a i64 1 1\n0.5\nend",
                 "f:2: a is 0.5, want an integer in -9007199254740992..9007199254740992");
    expect_error("end\nscalar", "f:2: there is something after end");
}

static void test_golden_of_a_shape_larger_than_the_file_is_an_error(void)
{
    expect_error("array a f64 2 4000 3\n1 2\nend",
                 "f:1: a dimension is 4000, want an integer in 0..21");
    expect_error("array a f64 1 -1\nend", "f:1: a dimension is -1, want an integer in 0..13");
    expect_error("array a f64 9\nend",
                 "f:1: the number of dimensions is 9, want an integer in 0..8");
}

static void test_golden_of_a_name_given_twice_is_an_error(void)
{
    expect_error("scalar a 1\nscalar a 2\nend", "f:2: a is here twice");
}

static void test_golden_of_no_file_is_an_error(void)
{
    file = golden_load("no/such/file", error, sizeof error);
    TEST_ASSERT_NULL(file);
    TEST_ASSERT_EQUAL_STRING("no/such/file: cannot be read", error);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_golden_reads_scalars_and_arrays_in_any_order);
    RUN_TEST(test_golden_does_not_find_what_is_not_there);
    RUN_TEST(test_golden_reads_an_empty_array);
    RUN_TEST(test_golden_of_a_cut_file_says_where_it_ends);
    RUN_TEST(test_golden_of_a_wrong_word_names_it);
    RUN_TEST(test_golden_of_a_shape_larger_than_the_file_is_an_error);
    RUN_TEST(test_golden_of_a_name_given_twice_is_an_error);
    RUN_TEST(test_golden_of_no_file_is_an_error);
    return UNITY_END();
}
