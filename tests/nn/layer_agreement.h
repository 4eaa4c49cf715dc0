/* Layers in one precision against plain loops and differences; included with NP_REAL_BITS defined.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "check.h"
#include "nn/activation.h"
#include "nn/chunk.h"
#include "nn/finite.h"
#include "nn/mlp.h"
#include "numbers.h"

void setUp(void)
{
}

void tearDown(void)
{
}

#define EPS (NP_REAL_BITS == 32 ? 1e-6 : 1e-14)

static real apply(int32_t activation, real x)
{
    real pre;
    NP_REAL(np_activation_forward)(activation, 1, &x, &pre);
    return x;
}

static real slope(int32_t activation, real x)
{
    real y = x, pre, g = 1;
    NP_REAL(np_activation_forward)(activation, 1, &y, &pre);
    NP_REAL(np_activation_backward)(activation, 1, &y, &pre, &g);
    return g;
}

static void test_activations_are_their_formulas(void)
{
    for (int32_t f = 0; f <= NPAGG_ACTIVATION_SIGMOID; f++)
        for (double x = -8; x <= 8; x += 0.25) {
            const double at = x + 0.0625;
            ASSERT_CLOSE(plain_activation(f, at), (double)apply(f, (real)at), EPS, EPS / 10);
        }
}

static void test_slopes_of_activations_are_differences(void)
{
    const double h = 1e-5;
    for (int32_t f = 0; f <= NPAGG_ACTIVATION_SIGMOID; f++)
        for (double x = -8; x <= 8; x += 0.25) {
            const double at = x + 0.0625;
            const double want =
                (plain_activation(f, at + h) - plain_activation(f, at - h)) / (2 * h);
            ASSERT_CLOSE(want, (double)slope(f, (real)at), 0, NP_REAL_BITS == 32 ? 1e-6 : 1e-9);
        }
}

/* Small values keep their digits, large ones overflow nowhere. */
static void test_activations_are_safe_far_out(void)
{
    const double far[] = {20, 40, 80, 90, 700, 800, 1e5, 1e20, 1e38};
    for (int32_t f = 0; f <= NPAGG_ACTIVATION_SIGMOID; f++) {
        const int grows = f == NPAGG_ACTIVATION_RELU || f == NPAGG_ACTIVATION_GELU ||
                          f == NPAGG_ACTIVATION_SOFTPLUS;
        for (int i = 0; i < 9; i++) {
            ASSERT_CLOSE(grows ? far[i] : 1, (double)apply(f, (real)far[i]), 1e-6, 0);
            ASSERT_CLOSE(grows ? 1 : 0, (double)slope(f, (real)far[i]), 0, 1e-6);
            ASSERT_CLOSE(f == NPAGG_ACTIVATION_TANH ? -1 : 0, (double)apply(f, (real)-far[i]), 0,
                         1e-6);
            ASSERT_CLOSE(0, (double)slope(f, (real)-far[i]), 0, 1e-6);
        }
    }
    ASSERT_CLOSE(exp(-60), (double)apply(NPAGG_ACTIVATION_SIGMOID, -60), 1e-5, 0);
    ASSERT_CLOSE(exp(-60), (double)apply(NPAGG_ACTIVATION_SOFTPLUS, -60), 1e-5, 0);
    ASSERT_CLOSE(exp(-60), (double)slope(NPAGG_ACTIVATION_SOFTPLUS, -60), 1e-5, 0);
    ASSERT_CLOSE(-6 * 0.5 * erfc(6 / sqrt(2)), (double)apply(NPAGG_ACTIVATION_GELU, -6), 1e-4, 0);
}

static real *draw(test_rng *rng, int64_t n)
{
    real *x = calloc((size_t)n, sizeof *x);
    TEST_ASSERT_NOT_NULL(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (real)rng_normal(rng);
    return x;
}

enum { N = 5, IN = 7, OUT = 19, WIDE = IN + 2 };

/* The three products of a linear layer whose W is part of a wider matrix, entry by entry. */
static void check_linear(const real *w, const real *b, const real *x, const real *g, const real *y,
                         const real *dx, const real *dw, const real *db)
{
    for (int i = 0; i < N; i++)
        for (int o = 0; o < OUT; o++) {
            double sum = (double)b[o];
            for (int j = 0; j < IN; j++)
                sum += (double)w[o * WIDE + j] * (double)x[i * IN + j];
            ASSERT_CLOSE(sum, (double)y[i * OUT + o], 0, 10 * EPS);
        }
    for (int j = 0; j < IN; j++) {
        for (int i = 0; i < N; i++) {
            double sum = 1;
            for (int o = 0; o < OUT; o++)
                sum += (double)w[o * WIDE + j] * (double)g[i * OUT + o];
            ASSERT_CLOSE(sum, (double)dx[i * IN + j], 0, 10 * EPS);
        }
        for (int o = 0; o < OUT; o++) {
            double sum = 1, bias = 1;
            for (int i = 0; i < N; i++) {
                sum += (double)x[i * IN + j] * (double)g[i * OUT + o];
                bias += (double)g[i * OUT + o];
            }
            ASSERT_CLOSE(sum, (double)dw[o * WIDE + j], 0, 10 * EPS);
            ASSERT_CLOSE(bias, (double)db[o], 0, 10 * EPS);
        }
    }
}

static void compare_linear(const np_linear *linear)
{
    test_rng rng = {4};
    real *w = draw(&rng, OUT * WIDE), *b = draw(&rng, OUT), *x = draw(&rng, N * IN);
    real *g = draw(&rng, N * OUT), *y = draw(&rng, N * OUT);
    real part[OUT * IN], wt[IN * OUT], dx[N * IN], dw[OUT * WIDE], db[OUT];
    for (int i = 0; i < OUT * IN; i++)
        part[i] = w[i / IN * WIDE + i % IN];
    for (int i = 0; i < OUT * WIDE; i++)
        dw[i] = 1;
    for (int i = 0; i < OUT; i++)
        db[i] = 1;
    for (int i = 0; i < N * IN; i++)
        dx[i] = 1;
    NP_REAL(np_linear_turn)(IN, OUT, part, wt);
    linear->forward(N, IN, OUT, wt, b, 0, x, y);
    linear->backward(N, IN, OUT, w, WIDE, g, 1, NULL, dx);
    linear->backward_params(N, IN, OUT, x, g, dw, WIDE, db);
    check_linear(w, b, x, g, y, dx, dw, db);
    free(w);
    free(b);
    free(x);
    free(g);
    free(y);
}

static void test_linear_is_its_formula_both_ways(void)
{
    compare_linear(NP_REAL(np_linear_choose)(0));
    compare_linear(NP_REAL(np_linear_choose)(np_cpu_mask() & NP_CPU_AVX2_FMA));
    compare_linear(NP_REAL(np_linear_choose)(np_cpu_mask()));
}

/* relu in the same call is relu afterwards, both ways. */
static void check_relu(const np_linear *linear)
{
    test_rng rng = {6};
    real *wt = draw(&rng, IN * OUT), *x = draw(&rng, N * IN + 16), *g = draw(&rng, N * OUT + 16);
    real y[N * OUT + 16], plain[N * OUT + 16], dx[N * IN + 16], dplain[N * IN + 16];
    linear->forward(N, IN, OUT, wt, NULL, 0, x, plain);
    linear->forward(N, IN, OUT, wt, NULL, 1, x, y);
    for (int i = 0; i < N * OUT; i++)
        TEST_ASSERT_TRUE(y[i] == (plain[i] < 0 ? 0 : plain[i]));
    linear->backward(N, IN, OUT, wt, IN, g, 0, NULL, dplain);
    linear->backward(N, IN, OUT, wt, IN, g, 0, x, dx);
    for (int i = 0; i < N * IN; i++)
        TEST_ASSERT_TRUE(dx[i] == (x[i] > 0 ? dplain[i] : 0));
    free(wt);
    free(x);
    free(g);
}

static void test_linear_with_relu_is_both_in_turn(void)
{
    check_relu(NP_REAL(np_linear_choose)(0));
    check_relu(NP_REAL(np_linear_choose)(np_cpu_mask() & NP_CPU_AVX2_FMA));
    check_relu(NP_REAL(np_linear_choose)(np_cpu_mask()));
}

static void test_tensors_of_networks_follow_each_other(void)
{
    const int64_t widths[] = {4, 6};
    np_nets nets = {0};
    np_tensor t;
    int64_t at = 0;
    np_nets_add(&nets, "one", 3, 2, widths, 5, 0);
    np_nets_cut(&nets);
    np_nets_add(&nets, "two", 6, 0, NULL, 5, 0);
    for (int64_t i = 0; np_nets_tensor(&nets, i, &t); i++) {
        TEST_ASSERT_EQUAL_INT64(at, t.offset);
        TEST_ASSERT_EQUAL_INT64(at, np_nets_offset(&nets, t.name));
        at += t.columns ? t.rows * t.columns : t.rows;
    }
    TEST_ASSERT_EQUAL_INT64(nets.params, at);
    TEST_ASSERT_EQUAL_INT64(3 * 4 + 4 + 4 * 6 + 6 + 6 * 5 + 5, at);
    TEST_ASSERT_EQUAL_INT(1, np_nets_tensor(&nets, 4, &t));
    TEST_ASSERT_EQUAL_STRING("two.0.weight", t.name);
    TEST_ASSERT_EQUAL_INT64(5, t.rows);
    TEST_ASSERT_EQUAL_INT64(6, t.columns);
    TEST_ASSERT_EQUAL_INT(0, np_nets_tensor(&nets, 6, &t));
    TEST_ASSERT_EQUAL_INT(0, np_nets_tensor(&nets, -1, &t));
}

static void test_chunks_cover_all_tiles_once(void)
{
    for (int64_t tiles = 1; tiles < 300; tiles++) {
        const int64_t chunks = np_chunk_count(tiles);
        TEST_ASSERT_EQUAL_INT64(0, np_chunk_first(tiles, chunks, 0));
        TEST_ASSERT_EQUAL_INT64(tiles, np_chunk_first(tiles, chunks, chunks));
        for (int64_t c = 0; c < chunks; c++)
            TEST_ASSERT_TRUE(np_chunk_first(tiles, chunks, c) <
                             np_chunk_first(tiles, chunks, c + 1));
    }
}

static void test_finite_finds_the_first_bad_number(void)
{
    enum { COUNT = 3000 };
    const int at[] = {0, 1023, 1024, 2047, 2999};
    real *x = calloc(COUNT, sizeof *x);
    npagg_ctx *ctx = NULL;
    TEST_ASSERT_NOT_NULL(x);
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    x[5] = NP_REAL_MAX;
    x[6] = -NP_REAL_MAX;
    TEST_ASSERT_EQUAL_INT64(-1, NP_REAL(np_finite_find)(ctx, COUNT, x));
    for (int i = 4; i >= 0; i--) {
        x[at[i]] = (real)(i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY);
        TEST_ASSERT_EQUAL_INT64(at[i], NP_REAL(np_finite_find)(ctx, COUNT, x));
    }
    npagg_ctx_destroy(ctx);
    free(x);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_activations_are_their_formulas);
    RUN_TEST(test_slopes_of_activations_are_differences);
    RUN_TEST(test_activations_are_safe_far_out);
    RUN_TEST(test_linear_is_its_formula_both_ways);
    RUN_TEST(test_linear_with_relu_is_both_in_turn);
    RUN_TEST(test_tensors_of_networks_follow_each_other);
    RUN_TEST(test_chunks_cover_all_tiles_once);
    RUN_TEST(test_finite_finds_the_first_bad_number);
    return UNITY_END();
}
