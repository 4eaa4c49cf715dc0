/*
 * The special functions against values computed with 60 digits. u = 2^-53.
 *
 * Allowed errors are a few roundings of what has to be added up: of the result itself, of a in
 * lnGamma(c+a) - lnGamma(c) - a log c, of a/c in its slope, and of numbers of order one where c
 * < 10.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "kernel/special.h"
#include "problem.h"

#define U 0x1p-53
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct {
    double x, want;
} point;

typedef struct {
    double c, a, rise, slope;
} rise_point;

static const point digammas[] = {
    {1e-12, -1000000000000.5773},
    {1e-06, -1000000.5772140201},
    {0.001, -1000.5755719318103},
    {0.125, -8.388492663295855},
    {0.5, -1.9635100260214235},
    {1.0, -0.57721566490153287},
    {1.4616321449683622, -9.2412655217294273e-17},
    {1.5, 0.03648997397857652},
    {2.0, 0.42278433509846713},
    {3.7, 1.1671535393615113},
    {6.5, 1.7929113303999329},
    {9.999, 2.2516474172057355},
    {10.0, 2.2517525890667209},
    {10.5, 2.3030010342976865},
    {17.25, 2.818546676986557},
    {64.0, 4.1510502388042365},
    {500.5, 6.2146082650887413},
    {1000000.0, 13.815510057964191},
    {1000000000000000.0, 34.538776394910684},
};

static const point lgammas[] = {
    {1e-12, 27.631021115927972},     {0.001, 6.9071788853838534},
    {0.5, 0.57236494292470008},      {1.5, -0.12078223763524522},
    {3.7, 1.4280723266653881},       {10.0, 12.801827480081469},
    {64.0, 201.00931639928152},      {500.5, 2608.2229044109868},
    {1000000.0, 12815504.569147611}, {1000000000000000.0, 33538776394910668},
};

static const rise_point rises[] = {
    {1e-06, 0.5, -6.3353917223501535, 499998.61370892875},
    {1e-06, 2.5, 21.007949987791058, -1499998.7196288491},
    {1e-06, 64.0, 1071.3864862792959, -62999995.271735728},
    {1e-06, 500.0, 9499.0556255767297, -498999993.20917821},
    {0.01, 0.5, -1.7439209671181752, 48.645897933705101},
    {0.01, 2.5, 7.2051845024210746, -148.73106609694028},
    {0.01, 64.0, 491.18223971420935, -6295.2879068386646},
    {0.01, 500.0, 4903.1635996554878, -49893.225486757226},
    {0.3, 0.5, -0.34175191425526996, 0.87084898882732786},
    {0.3, 2.5, 2.4308368079845115, -3.9902621222837835},
    {0.3, 64.0, 278.21380048643294, -205.67504568481891},
    {0.3, 500.0, 3207.8706269314398, -1656.9499342592658},
    {1.0, 0.5, -0.12078223763524522, 0.11370563888010939},
    {1.0, 2.5, 1.2009736023470743, -0.81962769445322392},
    {1.0, 64.0, 205.1681994826412, -59.256109096294232},
    {1.0, 500.0, 2611.330458460156, -493.20717657000949},
    {4.5, 0.5, -0.027721438882633637, 0.0061356309611604598},
    {4.5, 2.5, 0.36532114922697362, -0.071642146816617319},
    {4.5, 64.0, 121.13015978328737, -11.391576432789311},
    {4.5, 500.0, 1878.6048600102563, -106.27740560536772},
    {9.5, 0.5, -0.013151840019046446, 0.0013831337164031535},
    {9.5, 2.5, 0.18474492856037947, -0.018234091163979622},
    {9.5, 64.0, 85.349898435416137, -4.6441127219216378},
    {9.5, 500.0, 1526.8996643735384, -48.596868646396089},
    {20.0, 0.5, -0.0062493494456914234, 0.00031240246549753124},
    {20.0, 2.5, 0.090763924724306194, -0.0043954818226476762},
    {20.0, 64.0, 55.826383600772076, -1.7456713844635159},
    {20.0, 500.0, 1192.5771454388585, -21.717657027313503},
    {99.0, 0.5, -0.0012626208950293433, 1.275363798145514e-05},
    {99.0, 2.5, 0.018813050499468329, -0.00018876655153843438},
    {99.0, 64.0, 17.02710148305135, -0.14584590943311831},
    {99.0, 500.0, 577.38413353930923, -3.2461392518225352},
    {100.0, 0.5, -0.0012499947918229047, 1.249984375781167e-05},
    {100.0, 2.5, 0.018626159212966825, -0.00018503465125480994},
    {100.0, 64.0, 16.882510339099429, -0.14334730374432858},
    {100.0, 500.0, 574.15910736053934, -3.2040657623366915},
    {300.0, 0.5, -0.00041666647376607509, 1.3888869598872598e-06},
    {300.0, 2.5, 0.0062361543563342094, -2.0741172669861943e-05},
    {300.0, 64.0, 6.2904525084225895, -0.019668603084186397},
    {300.0, 500.0, 284.17281417186149, -0.68479495127168966},
    {1000.0, 0.5, -0.00012499999479166822, 1.2499998437500781e-07},
    {1000.0, 2.5, 0.0018737511705952715, -1.8725035105076058e-06},
    {1000.0, 64.0, 1.9746332303070275, -0.0019345241690222523},
    {1000.0, 500.0, 107.99490183041667, -0.094368178928879345},
    {100000.0, 0.5, -1.2499999999947917e-06, 1.2499999999843751e-11},
    {100000.0, 2.5, 1.8749875001171863e-05, -1.8749750003515575e-10},
    {100000.0, 64.0, 0.020155734154236101, -2.0151469662192621e-07},
    {100000.0, 500.0, 1.2454280845254415, -1.2433613256323367e-05},
    {100000000.0, 0.5, -1.25e-09, 1.25e-17},
    {100000000.0, 2.5, 1.8749999875000002e-08, -1.8749999750000004e-16},
    {100000000.0, 64.0, 2.0159995732801355e-05, -2.0159991465604063e-13},
    {100000000.0, 500.0, 0.0012474979229176876, -1.2474958458405625e-11},
    {1000000000000.0, 0.5, -1.25e-13, 1.2499999999999999e-25},
    {1000000000000.0, 2.5, 1.8749999999987499e-12, -1.8749999999974999e-24},
    {1000000000000.0, 64.0, 2.0159999999573279e-09, -2.0159999999146562e-21},
    {1000000000000.0, 500.0, 1.2474999997922911e-07, -1.2474999995845825e-19},
};

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_stirling_psi_is_digamma_without_its_log(void)
{
    for (int i = 0; i < COUNT(digammas); i++) {
        const point *p = &digammas[i];
        const double log_x = log(p->x);
        ASSERT_CLOSE(p->want, log_x + np_stirling_psi(p->x), 8 * U, U * (16 + 2 * fabs(log_x)));
    }
}

static void test_stirling_is_what_stirlings_formula_leaves(void)
{
    for (int i = 0; i < COUNT(lgammas); i++) {
        const double x = lgammas[i].x, a = (x - 0.5) * log(x), half = 0.5 * NP_LOG_2PI;
        const double got = a - x + half + np_stirling(x);
        ASSERT_CLOSE(lgammas[i].want, got, 0, 4 * U * (fabs(a) + x + half + fabs(lgammas[i].want)));
    }
}

static void test_lgamma_rise_does_not_cancel(void)
{
    for (int i = 0; i < COUNT(rises); i++) {
        const rise_point *p = &rises[i];
        const double others = p->a + (p->c < 10 ? 1 : 0);
        ASSERT_CLOSE(p->rise, np_lgamma_rise(p->c, p->a), 8 * U, 8 * U * others);
    }
}

static void test_lgamma_rise_slope_does_not_cancel(void)
{
    for (int i = 0; i < COUNT(rises); i++) {
        const rise_point *p = &rises[i];
        const double others = p->a / p->c + (p->c < 10 ? 1 : 0);
        ASSERT_CLOSE(p->slope, np_lgamma_rise_slope(p->c, p->a), 8 * U, 8 * U * others);
    }
}

/* Sums of logarithms in long double: the product that is kept must neither over- nor underflow. */
static void check_log_sum(int64_t n, const double *x)
{
    long double want = 0, size = 0;
    for (int64_t j = 0; j < n; j++) {
        want += logl(x[j]);
        size += fabsl(logl(x[j]));
    }
    ASSERT_CLOSE((double)want, np_log_sum(n, x), 0, U * (double)(n + 2) * (double)(size + 1));
}

static void test_log_sum_of_products_is_the_sum_of_logs(void)
{
    static const double spreads[] = {1e-9, 1, 100, 700};
    double x[1025];
    test_rng rng = {3};
    for (int s = 0; s < COUNT(spreads); s++)
        for (int64_t n = 0; n <= 1025; n = 2 * n + 1) {
            for (int64_t j = 0; j < n; j++)
                x[j] = exp(rng_uniform(&rng, -spreads[s], spreads[s]));
            check_log_sum(n, x);
        }
}

static void test_log_sum_of_one_sided_products_is_the_sum_of_logs(void)
{
    static const double values[] = {5e-324, 1e-300, 1e-150, 1e-9, 1e9, 1e150, 1.7e308};
    double x[100];
    for (int k = 0; k < COUNT(values); k++) {
        for (int j = 0; j < COUNT(x); j++)
            x[j] = values[k];
        check_log_sum(COUNT(x), x);
    }
}

static void test_log_sum_of_nothing_is_zero(void)
{
    ASSERT_CLOSE(0, np_log_sum(0, NULL), 0, 0);
}

static void test_log_sum_exp_neither_overflows_nor_underflows(void)
{
    const double shifts[] = {-1e300, -800, 0, 800, 1e5, 1e300};
    for (int i = 0; i < COUNT(shifts); i++) {
        const double one = shifts[i], two[] = {shifts[i], shifts[i]};
        ASSERT_CLOSE(one, np_log_sum_exp(1, &one), 0, 0);
        ASSERT_CLOSE(one + log(2), np_log_sum_exp(2, two), 2 * U, 2 * U);
    }
}

static void test_log_sum_exp_leaves_out_what_is_far_below(void)
{
    const double x[] = {-INFINITY, 3, -1e300, 2};
    ASSERT_CLOSE(log(exp(3) + exp(2)), np_log_sum_exp(COUNT(x), x), 4 * U, 0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_stirling_psi_is_digamma_without_its_log);
    RUN_TEST(test_stirling_is_what_stirlings_formula_leaves);
    RUN_TEST(test_lgamma_rise_does_not_cancel);
    RUN_TEST(test_lgamma_rise_slope_does_not_cancel);
    RUN_TEST(test_log_sum_of_products_is_the_sum_of_logs);
    RUN_TEST(test_log_sum_of_one_sided_products_is_the_sum_of_logs);
    RUN_TEST(test_log_sum_of_nothing_is_zero);
    RUN_TEST(test_log_sum_exp_neither_overflows_nor_underflows);
    RUN_TEST(test_log_sum_exp_leaves_out_what_is_far_below);
    return UNITY_END();
}
