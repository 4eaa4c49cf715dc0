/*
 * Every golden file of the directory NPAGG_GOLDEN_DIR, by default tests/golden, or of the
 * directories given as arguments; and of NPAGG_GOLDEN_EXTRA_DIR, if it is set. Files of kinds that
 * are not aggregation are left out. With -v it prints the largest error of each array beside what
 * is allowed.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "disturbed.h"
#include "golden_case.h"
#include "rounding.h"

/* Tolerances: docs/testing.md. */
#define F64_TOLERANCE 1e-11
#define F32_INPUTS 2 /* changes more, if the inputs had to be rounded first */

static int verbose;
static int files_seen[DIALECTS];

/* What the test at hand is about, and what it has to free whatever happens. */
static const char *path;
static const dialect *how;
static golden *file;
static golden_case current;
static problem *rounded;
static outputs want, got, exact;

void setUp(void)
{
}

void tearDown(void)
{
    outputs_clear(&want);
    outputs_clear(&got);
    outputs_clear(&exact);
    problem_destroy(rounded);
    rounded = NULL;
    golden_case_clear(&current);
    golden_destroy(file);
    file = NULL;
}

static const output *find_output(const outputs *list, const char *name)
{
    const output *found = outputs_find(list, "", name);
    TEST_ASSERT_NOT_NULL_MESSAGE(found, name);
    return found;
}

static double largest_error(const output *a, const output *b)
{
    double max = 0;
    for (int64_t i = 0; i < a->n; i++)
        max = fmax(max, fabs(a->x[i] - b->x[i]));
    return max;
}

/* |got_i - want_i| <= allowed for every i of one array. */
static void compare(const char *what, const output *wanted, const output *found, double allowed)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", what, wanted->name);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(wanted->n, found->n, name);
    if (verbose)
        fprintf(stderr, "%s: %s: %.3g of %.3g allowed, ratio %.3g\n", Unity.CurrentTestName, name,
                largest_error(wanted, found), allowed,
                allowed > 0 ? largest_error(wanted, found) / allowed : 0);
    check_all_close(wanted->n, wanted->x, found->x, 0, allowed, name, __LINE__);
}

static void load(int as_gaussian)
{
    char error[512];
    tearDown();
    file = golden_load(path, error, sizeof error);
    if (!file)
        TEST_FAIL_MESSAGE(error);
    golden_case_load(&current, how, file, as_gaussian);
    golden_case_want(&current, file, &want);
}

/* Every array to F64_TOLERANCE of its largest entry; an array of zeros is zeros to the bit. */
static void compare_f64(int as_gaussian)
{
    load(as_gaussian);
    golden_case_run(&current, current.problem, 64, &got);
    for (int a = 0; a < want.count; a++)
        compare("f64", &want.list[a], find_output(&got, want.list[a].name),
                F64_TOLERANCE * output_largest(&want.list[a]));
    TEST_ASSERT_EQUAL_INT(want.count, got.count);
}

static void compare_f32(int as_gaussian)
{
    double change[MAX_OUTPUTS];
    load(as_gaussian);
    rounded = rounding_inputs(current.problem);
    golden_case_run(&current, rounded, 32, &got);
    golden_case_run(&current, rounded, 64, &exact);
    rounding_change(&current, rounded, &exact, change);
    for (int a = 0; a < exact.count; a++) {
        const output *e = &exact.list[a], *w = find_output(&want, e->name);
        double allowed = rounding_allowed(e, change[a]);
        compare("f32 against f64", e, &got.list[a], allowed);
        compare("f32 against the file", w, &got.list[a], allowed + F32_INPUTS * change[a]);
    }
}

/* A mixture of one component is run as the gaussian prior, too. */
static int has_one_component(void)
{
    return how->kind == MIXTURE && golden_scalar(file, "K") == 1;
}

static void test_f64(void)
{
    compare_f64(0);
    if (has_one_component())
        compare_f64(1);
}

static void test_f32(void)
{
    compare_f32(0);
    if (has_one_component())
        compare_f32(1);
}

static void test_golden_directory_has_files_of_every_kind(void)
{
    for (int i = 0; i < DIALECTS; i++)
        TEST_ASSERT_GREATER_THAN_INT_MESSAGE(0, files_seen[i], dialects[i].prefix);
}

/* Else the bound of the float32 tests would not know of the roundings inside. */
static void test_golden_disturbed_kernels_reach_the_library(void)
{
    const int64_t size = 3;
    test_rng rng = {5};
    current.dialect = dialect_of("ba_");
    current.problem = problem_create(&rng, GAUSSIAN, 0, 2, 1, 1, &size, 0);
    ASSERT_OK(NULL, npagg_ctx_create(&current.ctx));
    current.prior = problem_prior(current.ctx, current.problem);
    golden_case_run(&current, current.problem, 64, &exact);
    disturbed_begin(1);
    golden_case_run(&current, current.problem, 64, &got);
    disturbed_end();
    double change = largest_error(find_output(&exact, "mean"), find_output(&got, "mean"));
    TEST_ASSERT_TRUE(change > 0.1 * UNIT_ROUNDOFF && change < 100 * UNIT_ROUNDOFF);
}

static int is_ours(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".txt") == 0 && dialect_of(entry->d_name);
}

/* Runs one test function on the file at hand, under a name that says which. */
static void run(UnityTestFunction test, const char *precision, const char *file_name)
{
    char name[256];
    int length = (int)(strrchr(file_name, '.') - file_name);
    snprintf(name, sizeof name, "test_infer_%s_reproduces_%.*s", precision, length, file_name);
    UnityDefaultTestRun(test, name, __LINE__);
}

static void run_file(const char *directory, const char *file_name)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", directory, file_name);
    path = full;
    how = dialect_of(file_name);
    files_seen[how - dialects]++;
    run(test_f64, "f64", file_name);
    run(test_f32, "f32", file_name);
}

/* Every file of the directory, sorted by name; 0 if it cannot be read. */
static int run_directory(const char *directory)
{
    struct dirent **entries;
    int n = scandir(directory, &entries, is_ours, alphasort);
    for (int i = 0; i < n; i++) {
        run_file(directory, entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    else
        fprintf(stderr, "test_golden: cannot read the directory %s\n", directory);
    return n >= 0;
}

int main(int argc, char **argv)
{
    const char *tree = getenv("NPAGG_GOLDEN_DIR"), *extra = getenv("NPAGG_GOLDEN_EXTRA_DIR");
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    int readable = 1, first = verbose ? 2 : 1;
    UNITY_BEGIN();
    for (int i = first; i < argc; i++)
        readable &= run_directory(argv[i]);
    if (first == argc)
        readable &= run_directory(tree ? tree : "tests/golden");
    if (extra && *extra)
        readable &= run_directory(extra);
    RUN_TEST(test_golden_directory_has_files_of_every_kind);
    RUN_TEST(test_golden_disturbed_kernels_reach_the_library);
    return UNITY_END() > 0 || !readable;
}
