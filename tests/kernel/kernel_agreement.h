/*
 * Every kernel table against the definitions in kernel/kernel.h, computed here with long double
 * sums. Included by one test program per precision, which sets NP_REAL_BITS.
 */
#ifndef KERNEL_AGREEMENT_H
#define KERNEL_AGREEMENT_H

#include "kernel_expect.h"
#include "kernel_far.h"
#include "kernel_numbers.h"
#include "kernel_visit.h"

/* --- sums --- */

static void check_sums(bench *k)
{
    const int64_t d = k->block.d;
    const double *L0 = draw_doubles(d, 0), *h0 = draw_doubles(d, 0);
    double *L = new_doubles(d), *h = new_doubles(d);
    memcpy(L, L0, (size_t)d * sizeof *L);
    memcpy(h, h0, (size_t)d * sizeof *h);
    k->variant->table->sums(&k->block, k->c, k->terms[0].E, L, h);
    for (int64_t j = 0; j < d; j++)
        expect_sums(k, j, k->terms[0].E[j], k->terms[0].E[j], 0, L0[j], h0[j], L[j], h[j]);
    expect_stored(k);
}

/* --- first --- */

static void expect_range(const bench *k, const np_range *range)
{
    TEST_ASSERT_EQUAL_INT32_MESSAGE(0, range->bad, k->name);
    for (int64_t i = 0; i < k->block.n; i++)
        for (int64_t j = 0; j < k->block.d; j++) {
            TEST_ASSERT_TRUE_MESSAGE(fabs(m_of(k, i, j)) <= range->m_max, k->name);
            TEST_ASSERT_TRUE_MESSAGE(1 / lam_of(k, i, j) >= range->v_min * (1 - 1e-6), k->name);
            TEST_ASSERT_TRUE_MESSAGE(1 / lam_of(k, i, j) <= range->v_max * (1 + 1e-6), k->name);
        }
}

static void check_first(bench *k)
{
    const int64_t d = k->block.d;
    const double *L0 = draw_doubles(d, 0), *h0 = draw_doubles(d, 0);
    double *L = new_doubles(d), *h = new_doubles(d);
    np_range range = {INFINITY, 0, 0, 0};
    memcpy(L, L0, (size_t)d * sizeof *L);
    memcpy(h, h0, (size_t)d * sizeof *h);
    k->variant->table->first(&k->block, k->c, &range, L, h);
    for (int64_t j = 0; j < d; j++)
        expect_sums(k, j, k->block.n > 0 ? m_of(k, 0, j) : 0, 0, 0, L0[j], h0[j], L[j], h[j]);
    expect_range(k, &range);
    expect_stored(k);
}

/* Rows that are alike give their own m to the last bit of a sum in double. */
static void check_first_of_equal_rows(bench *k)
{
    const int64_t d = k->block.d;
    double *L = new_doubles(d), *h = new_doubles(d);
    np_range range = {INFINITY, 0, 0, 0};
    memset(L, 0, (size_t)d * sizeof *L);
    memset(h, 0, (size_t)d * sizeof *h);
    for (int64_t i = 1; i < k->block.n; i++)
        memcpy(k->m + k->block.row[i] * d, k->m + k->block.row[0] * d, (size_t)d * sizeof(real));
    k->variant->table->first(&k->block, k->c, &range, L, h);
    for (int64_t j = 0; j < d && k->block.n > 0; j++)
        expect(k, "h", j, (long double)m_of(k, 0, j) * L[j], h[j],
               2 * 0x1p-53 * fabs(m_of(k, 0, j) * L[j]));
}

static int32_t first_says_bad(bench *k)
{
    static double L[1025], h[1025];
    np_range range = {INFINITY, 0, 0, 0};
    k->variant->table->first(&k->block, k->c, &range, L, h);
    return range.bad;
}

/* Puts each bad number once into each of the last columns, at a row that depends on the column. */
static void check_bad(bench *k)
{
    const real bad_v[] = {0, -1, NAN, INFINITY, -INFINITY, NP_REAL_BITS == 32 ? 1e-45f : 4e-324};
    const real bad_m[] = {NAN, INFINITY, -INFINITY};
    if (k->block.n == 0 || k->block.n > 8)
        return;
    for (int64_t j = k->block.d > 20 ? k->block.d - 20 : 0; j < k->block.d; j++) {
        int64_t at = k->block.row[j % k->block.n] * k->block.d + j;
        real v = k->v[at], m = k->m[at];
        for (int b = 0; b < 6; b++) {
            k->v[at] = bad_v[b];
            TEST_ASSERT_EQUAL_INT32_MESSAGE(1, first_says_bad(k), k->name);
        }
        k->v[at] = v;
        for (int b = 0; b < 3; b++) {
            k->m[at] = bad_m[b];
            TEST_ASSERT_EQUAL_INT32_MESSAGE(1, first_says_bad(k), k->name);
        }
        k->m[at] = m;
    }
    TEST_ASSERT_EQUAL_INT32_MESSAGE(0, first_says_bad(k), k->name);
}

/* --- quad, dot --- */

static void check_quad(bench *k)
{
    const double *E = k->terms[0].E, *V = k->terms[0].V;
    double *q = new_doubles(k->block.n);
    k->variant->table->quad(&k->block, E, V, q);
    expect_stored(k);
    for (int64_t i = 0; i < k->block.n; i++) {
        long double want = 0;
        double size = 0;
        for (int64_t j = 0; j < k->block.d; j++) {
            const long double m = m_of(k, i, j), lam = lam_of(k, i, j), x = m - E[j];
            const double reach = fabs(m_of(k, i, j)) + fabs(E[j]);
            want += lam * (x * x + V[j]);
            size += lam_of(k, i, j) * (reach * reach + V[j]);
        }
        expect(k, "q", i, want, q[i], roundings_of_dims(k) * k->variant->unit * size);
    }
}

static void check_dot(bench *k)
{
    const np_term *t = &k->terms[0];
    double *s = new_doubles(k->block.n);
    k->variant->table->dot(&k->block, t->E, t->dL, t->dh, s);
    expect_stored(k);
    for (int64_t i = 0; i < k->block.n; i++) {
        long double want = 0;
        double size = 0;
        for (int64_t j = 0; j < k->block.d; j++) {
            const long double lam = lam_of(k, i, j), x = (long double)m_of(k, i, j) - t->E[j];
            const double reach = fabs(m_of(k, i, j)) + fabs(t->E[j]);
            want += lam * (t->dL[j] + t->dh[j] * x);
            size += lam_of(k, i, j) * (fabs(t->dL[j]) + fabs(t->dh[j]) * reach);
        }
        expect(k, "s", i, want, s[i], roundings_of_dims(k) * k->variant->unit * size);
    }
}

/* --- push --- */

typedef struct {
    long double want_m, want_v; /* what is added to dm, dv */
    double size_m, size_v;
} push_entry;

/* Kernels take all terms about the E of the first: what they add up is as large as the ways from m
 * to that, and on to the E of the term. */
static push_entry define_push(const bench *k, int64_t n_terms, int64_t i, int64_t j)
{
    const double lam = lam_of(k, i, j), m = m_of(k, i, j), C = (double)(real)k->terms[0].E[j];
    long double gm = 0, gl = 0;
    double size_m = 0, size_l = 0;
    for (int64_t t = 0; t < n_terms; t++) {
        const np_term *u = &k->terms[t];
        const double a = u->a ? (double)u->a[i] : 1, b = u->b ? (double)u->b[i] : 0,
                     reach = fabs(m - C) + fabs(C - u->E[j]);
        const long double x = (long double)m - u->E[j];
        gm += a * (long double)u->dh[j] + b * x;
        gl += a * (u->dL[j] + u->dh[j] * x) + 0.5L * b * (x * x + u->V[j]);
        size_m += fabs(a * u->dh[j]) + fabs(b) * reach;
        size_l += fabs(a) * (fabs(u->dL[j]) + fabs(u->dh[j]) * reach) +
                  0.5 * fabs(b) * (reach * reach + u->V[j]);
    }
    const double c = (double)k->c[i];
    return (push_entry){lam * gm, -lam * (lam * gl + c), lam * size_m,
                        lam * (lam * size_l + fabs(c))};
}

static void expect_push(const bench *k, int64_t n_terms, const real *before, const real *dm,
                        const real *dv)
{
    const double roundings = 8 + 8 * (double)n_terms;
    for (int64_t i = 0; i < k->block.n; i++)
        for (int64_t j = 0; j < k->block.d; j++) {
            const int64_t at = k->block.row[i] * k->block.d + j;
            const push_entry e = define_push(k, n_terms, i, j);
            const long double m = before[at] + e.want_m, v = before[at] + e.want_v;
            const double unit = roundings * k->variant->unit;
            expect(k, "dm", at, m, (double)dm[at],
                   unit * e.size_m + 2 * REAL_UNIT * (double)(fabsl(m) + fabs(before[at])));
            expect(k, "dv", at, v, (double)dv[at],
                   unit * e.size_v + 2 * REAL_UNIT * (double)(fabsl(v) + fabs(before[at])));
        }
}

/* Rows that are not in the block have NaN in m and v; their gradients must not move. */
static void expect_others_untouched(const bench *k, const real *before, const real *after)
{
    const int64_t d = k->block.d;
    for (int64_t row = 0, i = 0; row < k->rows; row++) {
        if (i < k->block.n && k->block.row[i] == row)
            i++;
        else
            check_same_bits(d * (int64_t)sizeof(real), before + row * d, after + row * d, k->name,
                            __LINE__);
    }
}

static void check_push_of(bench *k, int64_t n_terms)
{
    const int64_t size = k->rows * k->block.d;
    const size_t bytes = (size_t)size * sizeof(real);
    real *before = draw_coefficients(size), *out[4];
    for (int i = 0; i < 4; i++) {
        out[i] = new_reals(size);
        memcpy(out[i], before, bytes);
    }
    k->variant->table->push(&k->block, n_terms, k->terms, k->c, out[0], out[1]);
    expect_stored(k);
    k->variant->table->push(&k->block, n_terms, k->terms, k->c, out[2], NULL);
    k->variant->table->push(&k->block, n_terms, k->terms, k->c, NULL, out[3]);
    expect_push(k, n_terms, before, out[0], out[1]);
    expect_others_untouched(k, before, out[0]);
    expect_others_untouched(k, before, out[1]);
    check_same_bits((int64_t)bytes, out[0], out[2], "dm without dv", __LINE__);
    check_same_bits((int64_t)bytes, out[1], out[3], "dv without dm", __LINE__);
}

static void check_push(bench *k)
{
    k->terms[k->block.d % 3].b = NULL;
    k->terms[k->block.d % 4].a = k->terms[k->block.n % 4].a = NULL;
    check_push_of(k, (k->block.n + k->block.d) % (NP_PUSH_TERMS + 1));
}

/* Without sweeps all rows count the same. */
static void check_push_of_equal_weights(bench *k)
{
    const int64_t n_terms = 1 + (k->block.n + k->block.d) % 2;
    for (int64_t t = 0; t < n_terms; t++)
        k->terms[t].a = k->terms[t].b = NULL;
    check_push_of(k, n_terms);
}

/* --- the tests --- */

static void test_kernel_first_finds_every_bad_number(void)
{
    for_every_size(check_bad);
}

static void test_kernel_sums_are_the_sums(void)
{
    for_every_size(check_sums);
}

static void test_kernel_first_sums_about_zero_and_sees_the_range(void)
{
    for_every_size(check_first);
}

static void test_kernel_first_of_equal_rows_is_exact(void)
{
    for_every_size(check_first_of_equal_rows);
}

static void test_kernel_quad_is_the_sum_over_dimensions(void)
{
    for_every_size(check_quad);
}

static void test_kernel_dot_is_the_sum_over_dimensions(void)
{
    for_every_size(check_dot);
}

static void test_kernel_visit_weighs_every_row_and_sums_what_it_counts(void)
{
    for_every_size(check_visit);
}

static void test_kernels_have_the_same_bits_where_rows_are_asked_for_ahead(void)
{
    for_every_size(check_far);
}

static void test_kernel_visit_has_the_same_bits_where_rows_are_known(void)
{
    for_every_size(check_visit_of_known_rows);
}

static void test_kernel_visit_needs_no_place_for_sums(void)
{
    for_every_size(check_visit_without_sums);
}

static void test_kernel_visit_sums_nothing_if_float_will_not_do(void)
{
    for_every_size(check_visit_beyond_float);
}

static void test_kernel_visit_notes_every_row_whose_centre_is_stale(void)
{
    for_every_size(check_stale);
}

static void test_kernel_visit_of_pairs_weighs_every_row_and_sums_what_it_counts(void)
{
    for_every_size(check_visit_pairs);
}

static void test_kernel_vectors_of_pairs_are_rounded_once(void)
{
    for_every_size(check_pair_vectors);
}

static void test_kernel_push_adds_to_the_rows_of_the_block_only(void)
{
    for_every_size(check_push);
}

static void test_kernel_push_of_equal_weights_agrees_with_its_definition(void)
{
    for_every_size(check_push_of_equal_weights);
}

static void test_kernel_narrow_saturates_and_finds_what_is_not_finite(void)
{
    for_every_size(check_narrow);
}

static void test_kernel_logs_are_sums_of_logarithms(void)
{
    for_every_size(check_logs);
}

static void test_kernel_log1p_is_right_to_two_units(void)
{
    for_every_size(check_log1p);
}

static void test_kernel_tame_sees_every_number(void)
{
    for_every_size(check_tame);
}

static void test_kernel_within_sees_every_number(void)
{
    for_every_size(check_within);
}

static void test_kernel_widen_changes_nothing(void)
{
    for_every_size(check_widen);
}

static void test_kernel_accumulate_adds_and_saturates(void)
{
    for_every_size(check_accumulate);
}

static void test_kernel_weights_are_rounded_once(void)
{
    for_every_size(check_weights);
}

static void test_kernel_slopes_are_rounded_once_and_summed(void)
{
    for_every_size(check_slopes);
}

static void test_kernel_choice_for_no_cpu_feature_is_the_reference(void)
{
    TEST_ASSERT_EQUAL_PTR(&NP_REAL(np_kernels_ref), NP_REAL(np_kernels_choose)(0));
}

static void test_kernel_choice_for_this_machine_is_the_last_table_it_can_run(void)
{
    const np_kernels *best = NULL;
    for (size_t f = 0; f < sizeof variants / sizeof variants[0]; f++)
        if ((variants[f].cpu & ~np_cpu_mask()) == 0)
            best = variants[f].table;
    TEST_ASSERT_EQUAL_PTR(best, NP_REAL(np_kernels_choose)(np_cpu_mask()));
}

void setUp(void)
{
}

void tearDown(void)
{
    guarded_destroy_all();
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_kernel_first_finds_every_bad_number);
    RUN_TEST(test_kernel_sums_are_the_sums);
    RUN_TEST(test_kernel_first_sums_about_zero_and_sees_the_range);
    RUN_TEST(test_kernel_first_of_equal_rows_is_exact);
    RUN_TEST(test_kernel_quad_is_the_sum_over_dimensions);
    RUN_TEST(test_kernel_dot_is_the_sum_over_dimensions);
    RUN_TEST(test_kernel_visit_weighs_every_row_and_sums_what_it_counts);
    RUN_TEST(test_kernels_have_the_same_bits_where_rows_are_asked_for_ahead);
    RUN_TEST(test_kernel_visit_has_the_same_bits_where_rows_are_known);
    RUN_TEST(test_kernel_visit_needs_no_place_for_sums);
    RUN_TEST(test_kernel_visit_sums_nothing_if_float_will_not_do);
    RUN_TEST(test_kernel_visit_notes_every_row_whose_centre_is_stale);
    RUN_TEST(test_kernel_visit_of_pairs_weighs_every_row_and_sums_what_it_counts);
    RUN_TEST(test_kernel_vectors_of_pairs_are_rounded_once);
    RUN_TEST(test_kernel_push_adds_to_the_rows_of_the_block_only);
    RUN_TEST(test_kernel_push_of_equal_weights_agrees_with_its_definition);
    RUN_TEST(test_kernel_narrow_saturates_and_finds_what_is_not_finite);
    RUN_TEST(test_kernel_logs_are_sums_of_logarithms);
    RUN_TEST(test_kernel_log1p_is_right_to_two_units);
    RUN_TEST(test_kernel_tame_sees_every_number);
    RUN_TEST(test_kernel_within_sees_every_number);
    RUN_TEST(test_kernel_widen_changes_nothing);
    RUN_TEST(test_kernel_accumulate_adds_and_saturates);
    RUN_TEST(test_kernel_weights_are_rounded_once);
    RUN_TEST(test_kernel_slopes_are_rounded_once_and_summed);
    RUN_TEST(test_kernel_choice_for_no_cpu_feature_is_the_reference);
    RUN_TEST(test_kernel_choice_for_this_machine_is_the_last_table_it_can_run);
    return UNITY_END();
}

#endif /* KERNEL_AGREEMENT_H */
