/* Loops over dimensions, for every instruction set that this machine has. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "check.h"
#include "pgm/dims.h"
#include "problem.h"

enum { MOST = 300, MOST_KL = 1100 };

static const np_dims *tables[3];
static int n_tables;

void setUp(void)
{
    const uint32_t masks[] = {0, NP_CPU_AVX2_FMA, NP_CPU_AVX2_FMA | NP_CPU_AVX512};
    n_tables = 0;
    for (int i = 0; i < 3; i++)
        if ((masks[i] & ~np_cpu_mask()) == 0)
            tables[n_tables++] = np_dims_choose(masks[i]);
}

void tearDown(void)
{
}

static void draw(test_rng *rng, int64_t n, double *x)
{
    for (int64_t j = 0; j < n; j++)
        x[j] = rng_normal(rng) * exp(rng_uniform(rng, -3, 3));
}

static void check_exponential(const np_dims *dims, int64_t n, double reach)
{
    test_rng rng = {11};
    double x[MOST], y[MOST];
    for (int64_t j = 0; j < n; j++)
        x[j] = y[j] = rng_uniform(&rng, -reach, reach);
    dims->exponential(n, y);
    for (int64_t j = 0; j < n; j++) {
        const long double want = expl((long double)x[j]);
        TEST_ASSERT_TRUE(fabsl((long double)y[j] - want) <= 2 * 0x1p-52L * want);
    }
}

static void test_dims_exponential_is_right_to_two_units(void)
{
    for (int t = 0; t < n_tables; t++)
        for (int64_t n = 0; n <= MOST; n += n < 20 ? 1 : 67) {
            check_exponential(tables[t], n, 708.3);
            check_exponential(tables[t], n, 20);
            check_exponential(tables[t], n, 0.5);
        }
}

static void test_dims_exponential_of_zero_is_one_and_ends_are_normal(void)
{
    for (int t = 0; t < n_tables; t++) {
        double x[] = {0, -0.0, 708.3, -708.3};
        tables[t]->exponential(4, x);
        TEST_ASSERT_TRUE(x[0] == 1 && x[1] == 1);
        TEST_ASSERT_TRUE(isnormal(x[2]) && isnormal(x[3]));
    }
}

static void test_dims_recentre_moves_sums_to_zero(void)
{
    test_rng rng = {5};
    double a[MOST], b[MOST], centre[MOST], L[MOST], h[MOST];
    for (int t = 0; t < n_tables; t++)
        for (int64_t d = 1; d <= MOST; d += d < 20 ? 1 : 67) {
            draw(&rng, d, a);
            draw(&rng, d, b);
            draw(&rng, d, centre);
            tables[t]->recentre(d, a, b, centre, L, h);
            ASSERT_SAME_BITS(d * (int64_t)sizeof *a, a, L);
            for (int64_t j = 0; j < d; j++)
                ASSERT_CLOSE(b[j] + centre[j] * a[j], h[j], 0,
                             0x1p-51 * (fabs(b[j]) + fabs(centre[j] * a[j])));
        }
}

static void test_dims_add_moments_adds_about_another_centre(void)
{
    test_rng rng = {6};
    double a[MOST], b[MOST], E[MOST], centre[MOST], dE[MOST], dV[MOST];
    for (int t = 0; t < n_tables; t++)
        for (int64_t d = 1; d <= MOST; d += d < 20 ? 1 : 67) {
            draw(&rng, d, a);
            draw(&rng, d, b);
            draw(&rng, d, E);
            draw(&rng, d, centre);
            for (int64_t j = 0; j < d; j++)
                dE[j] = 1, dV[j] = 2;
            tables[t]->add_moments(d, a, b, E, centre, dE, dV);
            for (int64_t j = 0; j < d; j++) {
                const double size = 1 + fabs(b[j]) + (fabs(E[j]) + fabs(centre[j])) * fabs(a[j]);
                ASSERT_CLOSE(1 - b[j] + (E[j] - centre[j]) * a[j], dE[j], 0, 0x1p-50 * size);
                ASSERT_CLOSE(2 + 0.5 * a[j], dV[j], 0x1p-51, 0x1p-51);
            }
        }
}

static void test_dims_move_centres_a_gradient_elsewhere(void)
{
    test_rng rng = {7};
    double dL[MOST], dh[MOST], E[MOST], centre[MOST], out[MOST];
    for (int t = 0; t < n_tables; t++)
        for (int64_t d = 1; d <= MOST; d += d < 20 ? 1 : 67) {
            draw(&rng, d, dL);
            draw(&rng, d, dh);
            draw(&rng, d, E);
            draw(&rng, d, centre);
            tables[t]->move(d, dL, dh, E, centre, out);
            for (int64_t j = 0; j < d; j++)
                ASSERT_CLOSE(dL[j] - dh[j] * (E[j] - centre[j]), out[j], 0,
                             0x1p-50 *
                                 (fabs(dL[j]) + fabs(dh[j]) * (fabs(E[j]) + fabs(centre[j]))));
        }
}

/* alpha and L of all sizes. */
static void check_shrink(const np_dims *dims, test_rng *rng, int64_t d)
{
    double L[MOST], h[MOST], mean[MOST], var[MOST];
    const double alpha = exp(rng_uniform(rng, -20, 20));
    long double squares = 0;
    draw(rng, d, L);
    draw(rng, d, h);
    for (int64_t j = 0; j < d; j++)
        L[j] = fabs(L[j]);
    const double got = dims->shrink(d, alpha, L, h, mean, var);
    for (int64_t j = 0; j < d; j++) {
        const double v = 1 / (alpha + L[j]);
        ASSERT_CLOSE(v, var[j], 0x1p-51, 0);
        ASSERT_CLOSE(h[j] * v, mean[j], 0x1p-51, 0);
        squares += (long double)mean[j] * mean[j] + var[j];
    }
    ASSERT_CLOSE((double)squares, got, 40 * 0x1p-53, 0);
}

static void test_dims_shrink_is_the_posterior_and_its_squares(void)
{
    test_rng rng = {8};
    for (int t = 0; t < n_tables; t++)
        for (int64_t d = 1; d <= MOST; d += d < 20 ? 1 : 67)
            check_shrink(tables[t], &rng, d);
}

/* A component and what (R8) and (A12) have for it, number by number. */
static void draw_component(test_rng *rng, int64_t d, double *mu, double *s, double *L, double *h)
{
    draw(rng, d, mu);
    draw(rng, d, s);
    draw(rng, d, L);
    draw(rng, d, h);
    for (int64_t j = 0; j < d; j++) {
        s[j] = fabs(s[j]) + 0x1p-20;
        L[j] = j % 5 == 2 ? 0 : fabs(L[j]);
        h[j] = L[j] > 0 ? h[j] : 0;
    }
}

static void check_component_kl(const np_dims *dims, test_rng *rng, int64_t d)
{
    double mu[MOST_KL], s[MOST_KL], L[MOST_KL], h[MOST_KL];
    const np_component c = {d, mu, s, L, h};
    long double want = 0, size = 0;
    draw_component(rng, d, mu, s, L, h);
    for (int64_t j = 0; j < d; j++) {
        const long double t = 1 + (long double)L[j] * s[j],
                          delta = (h[j] - (long double)L[j] * mu[j]) / t;
        const double reach = fabs(h[j]) + L[j] * fabs(mu[j]);
        want += 0.5L * (logl(t) + 1 / t - 1 + s[j] * delta * delta);
        size += logl(t) + 1 + s[j] * (reach / t) * (reach / t);
    }
    ASSERT_CLOSE((double)want, dims->component_kl(&c), 0, 0x1p-49 * (double)size);
    L[d / 2] = (double)INFINITY;
    TEST_ASSERT_FALSE(isfinite(dims->component_kl(&c)));
}

/* Into all four arrays, or into either pair of them. */
static void check_component_kl_backward(const np_dims *dims, test_rng *rng, int64_t d, int pairs)
{
    double mu[MOST], s[MOST], L[MOST], h[MOST], dmean[MOST], dvar[MOST], dmu[MOST], dprec[MOST];
    const np_component c = {d, mu, s, L, h};
    const double g = 1.7;
    draw_component(rng, d, mu, s, L, h);
    for (int64_t j = 0; j < d; j++)
        dmean[j] = dvar[j] = dmu[j] = dprec[j] = 1;
    dims->component_kl_backward(&c, g, pairs & 1 ? dmean : NULL, pairs & 1 ? dvar : NULL,
                                pairs & 2 ? dmu : NULL, pairs & 2 ? dprec : NULL);
    for (int64_t j = 0; j < d; j++) {
        const double t = 1 + L[j] * s[j], delta = (h[j] - L[j] * mu[j]) / t, x = s[j] * delta,
                     reach = (fabs(h[j]) + L[j] * fabs(mu[j])) / t, square = L[j] * s[j] * s[j] / t;
        const double mean = pairs & 1 ? g : 0, prior = pairs & 2 ? g : 0;
        ASSERT_CLOSE(1 - mean * delta, dmean[j], 0, 0x1p-49 * (1 + g * reach));
        ASSERT_CLOSE(1 + 0.5 * mean * L[j], dvar[j], 0x1p-50, 0);
        ASSERT_CLOSE(1 + prior * delta, dmu[j], 0, 0x1p-49 * (1 + g * reach));
        ASSERT_CLOSE(1 + 0.5 * prior * (square - x * x), dprec[j], 0,
                     0x1p-48 * (1 + g * (square + s[j] * reach * s[j] * reach)));
    }
}

static void test_dims_component_kl_is_a_divergence_and_its_gradient(void)
{
    test_rng rng = {9};
    for (int t = 0; t < n_tables; t++) {
        for (int64_t d = 1; d <= MOST_KL; d += d < 20 ? 1 : 67)
            check_component_kl(tables[t], &rng, d);
        for (int64_t d = 1; d <= MOST; d += d < 20 ? 1 : 67)
            for (int pairs = 1; pairs <= 3; pairs++)
                check_component_kl_backward(tables[t], &rng, d, pairs);
    }
}

static void test_dims_tame_sees_every_number_of_both_vectors(void)
{
    double x[MOST], y[MOST];
    for (int t = 0; t < n_tables; t++)
        for (int64_t d = 1; d <= MOST; d += d < 20 ? 1 : 67) {
            for (int64_t j = 0; j < d; j++)
                x[j] = -2, y[j] = 3;
            TEST_ASSERT_TRUE(tables[t]->tame(d, x, 2, y, 3));
            for (int64_t j = 0; j < d; j++) {
                x[j] = j % 2 ? (double)NAN : -2.1;
                TEST_ASSERT_FALSE(tables[t]->tame(d, x, 2, y, 3));
                x[j] = -2;
                y[j] = j % 2 ? 3.1 : -(double)INFINITY;
                TEST_ASSERT_FALSE(tables[t]->tame(d, x, 2, y, 3));
                y[j] = 3;
            }
        }
}

/* Each number in turn is one that does not pass. */
static void check_each(const np_dims *dims, int64_t n, double odd_x, double odd_y)
{
    double x[MOST] = {0}, y[MOST] = {0}, V[MOST] = {0};
    for (int64_t j = 0; j < n; j++) {
        x[j] = 4;
        y[j] = 1.5; /* (4 - 1.5)^2 <= 2 V */
        V[j] = 3.125;
    }
    TEST_ASSERT_TRUE(dims->within(n, 2, y, x, V));
    for (int64_t j = 0; j < n; j++) {
        x[j] = odd_x;
        TEST_ASSERT_FALSE(dims->within(n, 2, y, x, V));
        x[j] = 4;
        y[j] = odd_y;
        TEST_ASSERT_FALSE(dims->within(n, 2, y, x, V));
        y[j] = 1.5;
    }
}

static void test_dims_within_sees_every_number(void)
{
    for (int t = 0; t < n_tables; t++)
        for (int64_t n = 1; n <= MOST; n += n < 20 ? 1 : 67) {
            check_each(tables[t], n, 5.5, 0.25);
            check_each(tables[t], n, (double)NAN, (double)NAN);
        }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_dims_exponential_is_right_to_two_units);
    RUN_TEST(test_dims_exponential_of_zero_is_one_and_ends_are_normal);
    RUN_TEST(test_dims_recentre_moves_sums_to_zero);
    RUN_TEST(test_dims_add_moments_adds_about_another_centre);
    RUN_TEST(test_dims_move_centres_a_gradient_elsewhere);
    RUN_TEST(test_dims_shrink_is_the_posterior_and_its_squares);
    RUN_TEST(test_dims_component_kl_is_a_divergence_and_its_gradient);
    RUN_TEST(test_dims_tame_sees_every_number_of_both_vectors);
    RUN_TEST(test_dims_within_sees_every_number);
    return UNITY_END();
}
