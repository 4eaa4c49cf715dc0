/*
 * What the regression trainer draws: functions have the covariance that they should, sizes and
 * places the ranges, corruption the distribution. Frequencies are held against probabilities within
 * four standard errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gp.h"
#include "keyed.h"
#include "simulated.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static double matern(double height, double length, double d)
{
    const double r = sqrt(5.0) * fabs(d) / length;
    return height * height * (1 + r + r * r / 3) * exp(-r);
}

static void test_kernels_are_those_of_the_paper(void)
{
    const gp_kernel rbf = gp_kernel_draw(GP_RBF, 0.25, 0.5),
                    fixed = gp_kernel_draw(GP_MATERN, 0, 0);
    ASSERT_CLOSE(0.325, rbf.height, 1e-15, 0);
    ASSERT_CLOSE(0.35, rbf.length, 1e-15, 0);
    ASSERT_CLOSE(0.0004, rbf.noise, 1e-15, 0);
    ASSERT_CLOSE(1, fixed.height, 0, 0);
    ASSERT_CLOSE(0.25, fixed.length, 0, 0);
    ASSERT_CLOSE(1e-5, fixed.noise, 1e-15, 0);
    for (double d = -2; d <= 2; d += 0.01) {
        const double want = 0.325 * 0.325 * exp(-d * d / (2 * 0.35 * 0.35));
        ASSERT_CLOSE(want, gp_covariance(&rbf, d), 1e-14, 1e-34);
        ASSERT_CLOSE(matern(1, 0.25, d), gp_covariance(&fixed, d), 1e-14, 1e-34);
    }
}

static void test_far_apart_values_are_unrelated(void)
{
    const gp_kernel narrow = gp_kernel_draw(GP_RBF, 1, 0);
    ASSERT_CLOSE(0, gp_covariance(&narrow, 4), 0, 1e-33);
}

/* Mean of y_i y_j over draws at fixed places, against the kernel. */
static void check_covariance(int kind)
{
    enum { N = 6, DRAWS = 20000 };
    const float x[N] = {-1.9f, 0.3f, 0.35f, 0.7f, -1.2f, 0.0f};
    const gp_kernel kernel = gp_kernel_draw(kind, 0.6, 0.8);
    double e[N], work[N * N], sum[N][N];
    float y[N];
    memset(sum, 0, sizeof sum);
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        key_normal(3, KEY_VALUES, draw, N, e);
        gp_draw(&kernel, N, x, e, work, y);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                sum[i][j] += (double)y[i] * (double)y[j] / DRAWS;
    }
    const double variance = gp_covariance(&kernel, 0) + kernel.noise;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double d = (double)x[i] - (double)x[j];
            const double want = gp_covariance(&kernel, d) + (i == j ? kernel.noise : 0);
            const double error = sqrt((variance * variance + want * want) / DRAWS);
            ASSERT_CLOSE(want, sum[i][j], 0, 4 * error);
        }
}

static void test_rbf_functions_have_the_kernel_as_covariance(void)
{
    check_covariance(GP_RBF);
}

static void test_matern_functions_have_the_kernel_as_covariance(void)
{
    check_covariance(GP_MATERN);
}

static void test_heights_and_lengths_fill_their_ranges(void)
{
    enum { DRAWS = 40000 };
    double *u = malloc(2 * DRAWS * sizeof *u), height = 0, length = 0;
    key_uniform(5, KEY_FUNCTION, 0, 2 * DRAWS, u);
    for (int i = 0; i < DRAWS; i++) {
        const gp_kernel k = gp_kernel_draw(GP_RBF, u[2 * i], u[2 * i + 1]);
        TEST_ASSERT_TRUE(k.height >= 0.1 && k.height < 1 && k.length >= 0.1 && k.length < 0.6);
        height += k.height / DRAWS;
        length += k.length / DRAWS;
    }
    ASSERT_CLOSE(0.55, height, 0, 4 * 0.9 / sqrt(12.0 * DRAWS));
    ASSERT_CLOSE(0.35, length, 0, 4 * 0.5 / sqrt(12.0 * DRAWS));
    free(u);
}

static void test_sizes_are_uniform_in_the_ranges_of_the_paper(void)
{
    enum { DRAWS = 8800 };
    const simulated self = {GP_RBF};
    const task_source source = simulated_source(&self);
    batch *b = batch_create(&source, 2);
    int seen[50] = {0};
    double share = 0; /* of the range that the number of targets is in */
    for (uint64_t i = 0; i < DRAWS; i++) {
        source.draw(source.self, 7, i, b);
        const int64_t c = b->n_ctx[0], t = b->offsets[1] - c;
        TEST_ASSERT_TRUE(c >= 3 && c <= 46 && t >= 3 && t <= 49 - c);
        TEST_ASSERT_TRUE(b->n_ctx[1] == c && b->offsets[2] == 2 * (c + t));
        for (int64_t j = 0; j < b->offsets[2]; j++)
            TEST_ASSERT_TRUE(b->x[j] >= -2 && b->x[j] <= 2);
        seen[c]++;
        share += ((double)(t - 3) + 0.5) / (double)(47 - c) / DRAWS;
    }
    for (int c = 3; c <= 46; c++)
        ASSERT_CLOSE(DRAWS / 44.0, seen[c], 0, 4 * sqrt(DRAWS / 44.0));
    ASSERT_CLOSE(0.5, share, 0, 4 / sqrt(12.0 * DRAWS));
    batch_destroy(b);
}

static void test_a_batch_is_a_function_of_seed_and_index(void)
{
    const simulated self = {GP_MATERN};
    const task_source source = simulated_source(&self);
    batch *a = batch_create(&source, 3), *b = batch_create(&source, 3);
    source.draw(source.self, 7, 11, a);
    source.draw(source.self, 7, 12, b);
    source.draw(source.self, 7, 11, b);
    const int64_t bytes = a->offsets[3] * (int64_t)sizeof(float);
    ASSERT_SAME_BITS(bytes, a->x, b->x);
    ASSERT_SAME_BITS(bytes, a->y, b->y);
    source.draw(source.self, 8, 11, b);
    TEST_ASSERT_TRUE(memcmp(a->x, b->x, 6 * sizeof(float)) != 0);
    batch_destroy(a);
    batch_destroy(b);
}

/* P(T <= t) by Simpson's rule over [0, |t|]. */
static double student_cdf(double nu, double t)
{
    enum { PIECES = 20000 };
    const double top = exp(lgamma((nu + 1) / 2) - lgamma(nu / 2)) / sqrt(nu * acos(-1));
    const double h = fabs(t) / PIECES;
    double sum = 0;
    for (int i = 0; i <= PIECES; i++) {
        const double x = h * i, density = top * pow(1 + x * x / nu, -(nu + 1) / 2);
        sum += density * (i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2);
    }
    return 0.5 + (t < 0 ? -1 : 1) * sum * h / 3;
}

static void test_outliers_have_the_quantiles_of_student_t(void)
{
    enum { DRAWS = 200000 };
    const double at[] = {-20, -5, -2, -1, -0.3, 0, 0.3, 1, 2, 5, 20};
    double *u = malloc(2 * DRAWS * sizeof *u);
    key_uniform(9, KEY_OUTLIERS, 1, 2 * DRAWS, u);
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        const double want = student_cdf(2.1, at[k]);
        double below = 0;
        for (int i = 0; i < DRAWS; i++)
            below += key_student(2.1, u[2 * i], u[2 * i + 1]) <= at[k];
        ASSERT_CLOSE(want, below / DRAWS, 0, 4 * sqrt(want * (1 - want) / DRAWS));
    }
    free(u);
}

static void test_corruption_scales_with_its_level_and_leaves_the_targets(void)
{
    const simulated self = {GP_RBF};
    const task_source source = simulated_source(&self);
    batch *clean = batch_create(&source, 4), *one = batch_create(&source, 4),
          *two = batch_create(&source, 4);
    source.draw(source.self, 1, 5, clean);
    source.draw(source.self, 1, 5, one);
    source.draw(source.self, 1, 5, two);
    source.corrupt(source.self, 1, 5, 0.1, one);
    source.corrupt(source.self, 1, 5, 0.2, two);
    for (int64_t b = 0; b < 4; b++)
        for (int64_t i = clean->offsets[b]; i < clean->offsets[b + 1]; i++) {
            const double by = (double)one->y[i] - (double)clean->y[i];
            const int context = i < clean->offsets[b] + clean->n_ctx[b];
            TEST_ASSERT_TRUE(context ? by != 0 : by == 0);
            ASSERT_CLOSE(2 * by, (double)two->y[i] - (double)clean->y[i], 1e-5, 1e-6);
        }
    batch_destroy(clean);
    batch_destroy(one);
    batch_destroy(two);
}

static void test_keys_of_seeds_and_purposes_differ(void)
{
    for (uint64_t a = 0; a < 40; a++)
        for (uint64_t b = a + 1; b < 40; b++)
            TEST_ASSERT_TRUE(key_seed(a / 8, a % 8) != key_seed(b / 8, b % 8));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_kernels_are_those_of_the_paper);
    RUN_TEST(test_far_apart_values_are_unrelated);
    RUN_TEST(test_rbf_functions_have_the_kernel_as_covariance);
    RUN_TEST(test_matern_functions_have_the_kernel_as_covariance);
    RUN_TEST(test_heights_and_lengths_fill_their_ranges);
    RUN_TEST(test_sizes_are_uniform_in_the_ranges_of_the_paper);
    RUN_TEST(test_a_batch_is_a_function_of_seed_and_index);
    RUN_TEST(test_outliers_have_the_quantiles_of_student_t);
    RUN_TEST(test_corruption_scales_with_its_level_and_leaves_the_targets);
    RUN_TEST(test_keys_of_seeds_and_purposes_differ);
    return UNITY_END();
}
