/*
 * Every kernel table against the definitions in kernel/kernel.h, computed here with long double
 * sums. Included by one test program per precision, which sets NP_REAL_BITS.
 */
#ifndef KERNEL_AGREEMENT_H
#define KERNEL_AGREEMENT_H

#include "kernel_bench.h"

/* --- sums --- */

/* 1/v to the bit, where it was to be left. */
static void expect_stored(const bench *k)
{
    if (k->stored)
        check_same_bits(k->block.n * k->block.d * (int64_t)sizeof(real), k->lam, k->stored, k->name,
                        __LINE__);
}

/* h is wanted about e; `about` is what the rows were compared with, `before` the roundings to real of
 * what was summed. */
static void expect_sums(const bench *k, int64_t j, double about, double e, double before, double L0,
                        double h0, double L, double h)
{
    const double roundings = (double)k->block.n + 8;
    long double want_L = L0, want_h = h0;
    double size_L = fabs(L0), size_h = fabs(h0);
    for (int64_t i = 0; i < k->block.n; i++) {
        const long double x = (long double)k->c[i] * lam_of(k, i, j), m = m_of(k, i, j);
        want_L += x;
        want_h += x * (m - e);
        size_L += (double)fabsl(x);
        size_h += (double)(fabsl(x) * (fabsl(m) + fabs(about)));
    }
    expect(k, "L", j, want_L, L, roundings * k->variant->unit * size_L);
    expect(k, "h", j, want_h, h, (roundings * k->variant->unit + before * REAL_UNIT) * size_h);
}

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

/* --- visit, visit_pairs --- */

/* A visit with guarded room and what its weigh was told. */
typedef struct {
    const bench *k;
    np_visit visit;
    int counts;          /* what weigh answers */
    int64_t seen;        /* rows that were weighed, in order */
    double *s, *L0, *h0; /* [n], [d], [d] */
} tour;

static int weigh_tour(void *self, int64_t i, int64_t n, const double *s, real *c)
{
    tour *t = self;
    TEST_ASSERT_TRUE_MESSAGE(i == t->seen && n >= 1 && n <= NP_VISIT_ROWS, t->k->name);
    for (int64_t r = 0; r < n; r++) {
        t->s[i + r] = s[r];
        c[r] = t->k->c[i + r];
    }
    t->seen += n;
    return t->counts;
}

/* Room for all rows, or for some; no room for lam if nobody needs it. */
static void begin_tour(tour *t, const bench *k, int all, int counts)
{
    const int64_t n = k->block.n, d = k->block.d, rows = all && n > 0 ? n : NP_VISIT_ROWS;
    *t = (tour){.k = k, .counts = counts, .s = new_doubles(n)};
    t->L0 = draw_doubles(d, 0);
    t->h0 = draw_doubles(d, 0);
    t->visit = (np_visit){
        .weigh = weigh_tour,
        .self = t,
        .L = new_doubles(d),
        .h = new_doubles(d),
        .rows = rows,
        .lam = k->block.lam ? NULL : new_reals(rows * d),
        .g = new_reals(rows * d),
        .stage = new_reals(6 * d),
    };
    memcpy(t->visit.L, t->L0, (size_t)d * sizeof(double));
    memcpy(t->visit.h, t->h0, (size_t)d * sizeof(double));
}

/* Every row was weighed; L and h have the sums about E, or what they had. */
static void expect_tour(const tour *t, const double *E)
{
    const bench *k = t->k;
    const int64_t d = k->block.d;
    TEST_ASSERT_EQUAL_INT64_MESSAGE(k->block.n, t->seen, k->name);
    if (!t->counts) {
        check_same_bits(d * (int64_t)sizeof(double), t->L0, t->visit.L, k->name, __LINE__);
        check_same_bits(d * (int64_t)sizeof(double), t->h0, t->visit.h, k->name, __LINE__);
    }
    for (int64_t j = 0; t->counts && j < d; j++)
        expect_sums(k, j, E[j], E[j], 1, t->L0[j], t->h0[j], t->visit.L[j], t->visit.h[j]);
}

/* What is left in the room of all rows: 1/v to the bit, and lam (m - E). */
static void expect_room(const tour *t, const double *E)
{
    const bench *k = t->k;
    const int64_t n = k->block.n, d = k->block.d;
    if (t->visit.rows < n)
        return;
    if (!k->block.lam)
        check_same_bits(n * d * (int64_t)sizeof(real), k->lam, t->visit.lam, k->name, __LINE__);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            const double lam = lam_of(k, i, j), m = m_of(k, i, j);
            expect(k, "g", i * d + j, (long double)lam * ((long double)m - E[j]),
                   (double)t->visit.g[i * d + j], 4 * REAL_UNIT * lam * (fabs(m) + fabs(E[j])));
        }
}

/* s of a visit is quad (b NULL) or dot. */
static void expect_visited(const tour *t, const double *E, const double *a, const double *b)
{
    const bench *k = t->k;
    for (int64_t i = 0; i < k->block.n; i++) {
        long double want = 0;
        double size = 0;
        for (int64_t j = 0; j < k->block.d; j++) {
            const long double lam = lam_of(k, i, j), x = (long double)m_of(k, i, j) - E[j];
            const double reach = fabs(m_of(k, i, j)) + fabs(E[j]);
            want += lam * (a[j] + (b ? b[j] : x) * x);
            size += lam_of(k, i, j) * (fabs(a[j]) + (b ? fabs(b[j]) : reach) * reach);
        }
        expect(k, "s", i, want, t->s[i], roundings_of_dims(k) * k->variant->unit * size);
    }
}

static void check_visit(bench *k)
{
    const np_term *u = &k->terms[0];
    for (int way = 0; way < 4; way++) {
        const double *a = way % 2 ? u->dL : u->V, *b = way % 2 ? u->dh : NULL;
        tour t;
        begin_tour(&t, k, way / 2, (k->block.n + way) % 5 != 0);
        poison_stack();
        k->variant->table->visit(&k->block, u->E, a, b, &t.visit);
        expect_tour(&t, u->E);
        expect_room(&t, u->E);
        expect_visited(&t, u->E, a, b);
    }
}

/* Without sums nothing but s is computed. */
static void check_visit_without_sums(bench *k)
{
    const np_term *u = &k->terms[0];
    tour t;
    begin_tour(&t, k, 1, 1);
    t.visit.L = t.visit.h = NULL;
    k->variant->table->visit(&k->block, u->E, u->V, NULL, &t.visit);
    expect_visited(&t, u->E, u->V, NULL);
}

/* Whether 1/v is known makes no difference to the bits, nor does the room. */
static void check_visit_of_known_rows(bench *k)
{
    const np_term *u = &k->terms[0];
    const int64_t n = k->block.n, d = k->block.d;
    tour t[2];
    for (int known = 0; known < 2; known++) {
        k->block.lam = known ? k->lam : NULL;
        begin_tour(&t[known], k, known, 1);
        if (known) {
            memcpy(t[1].visit.L, t[0].L0, (size_t)d * sizeof(double));
            memcpy(t[1].visit.h, t[0].h0, (size_t)d * sizeof(double));
        }
        k->variant->table->visit(&k->block, u->E, u->dL, u->dh, &t[known].visit);
    }
    check_same_bits(n * (int64_t)sizeof(double), t[0].s, t[1].s, k->name, __LINE__);
    check_same_bits(d * (int64_t)sizeof(double), t[0].visit.L, t[1].visit.L, k->name, __LINE__);
    check_same_bits(d * (int64_t)sizeof(double), t[0].visit.h, t[1].visit.h, k->name, __LINE__);
}

/* Rows about E, as a visit leaves them. */
static np_pairs draw_pairs(const bench *k, const double *E)
{
    const int64_t n = k->block.n, d = k->block.d;
    real *g = new_reals(n * d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            g[i * d + j] = (real)(lam_of(k, i, j) * (m_of(k, i, j) - E[j]));
    return (np_pairs){n, d, k->lam, g};
}

static void check_visit_pairs(bench *k)
{
    const double *E = k->terms[0].E;
    const int64_t d = k->block.d;
    const np_pairs pairs = draw_pairs(k, E);
    const real *a = draw_coefficients(d), *b = draw_coefficients(d);
    tour t;
    begin_tour(&t, k, 0, (k->block.n + d) % 5 != 0);
    k->variant->table->visit_pairs(&pairs, a, b, &t.visit);
    expect_tour(&t, E);
    for (int64_t i = 0; i < k->block.n; i++) {
        long double want = 0;
        double size = 0;
        for (int64_t j = 0; j < d; j++) {
            const double x = (double)pairs.lam[i * d + j], y = (double)pairs.g[i * d + j];
            want += (long double)x * a[j] + (long double)y * b[j];
            size += fabs(x * (double)a[j]) + fabs(y * (double)b[j]);
        }
        expect(k, "s", i, want, t.s[i], roundings_of_dims(k) * k->variant->unit * size);
    }
}

/* The vectors of pairs are rounded to real once; e, its square, the difference of the V and the sum
 * in double. */
static void check_pair_vectors(bench *k)
{
    const np_term *u = &k->terms[0], *c = &k->terms[1];
    const int64_t d = k->block.d;
    real *a = new_reals(d), *b = new_reals(d);
    const double unit = REAL_UNIT + 4 * 0x1p-53;
    k->variant->table->pair_quad(d, u->E, u->V, c->E, c->V, a, b);
    for (int64_t j = 0; j < d; j++) {
        const long double e = (long double)u->E[j] - c->E[j];
        const double size = (double)(e * e) + u->V[j] + c->V[j];
        expect(k, "a", j, e * e + u->V[j] - c->V[j], (double)a[j], unit * size);
        expect(k, "b", j, -2 * e, (double)b[j], unit * 2 * (double)fabsl(e));
    }
    k->variant->table->pair_dot(d, u->E, u->dL, u->dh, c->E, a, b);
    for (int64_t j = 0; j < d; j++) {
        const long double e = (long double)u->E[j] - c->E[j];
        const double size = fabs(u->dL[j]) + (double)fabsl(u->dh[j] * e);
        expect(k, "a", j, u->dL[j] - u->dh[j] * e, (double)a[j], unit * size);
        expect(k, "b", j, u->dh[j], (double)b[j], unit * fabs(u->dh[j]));
    }
}

/* --- push --- */

typedef struct {
    long double want_m, want_v; /* what is added to dm, dv */
    double size_m, size_v;
} push_entry;

static push_entry define_push(const bench *k, int64_t n_terms, int64_t i, int64_t j)
{
    const double lam = lam_of(k, i, j), m = m_of(k, i, j);
    long double gm = 0, gl = 0;
    double size_m = 0, size_l = 0;
    for (int64_t t = 0; t < n_terms; t++) {
        const np_term *u = &k->terms[t];
        const double a = (double)u->a[i], b = u->b ? (double)u->b[i] : 0,
                     reach = fabs(m) + fabs(u->E[j]);
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

static void check_push(bench *k)
{
    const int64_t size = k->rows * k->block.d,
                  n_terms = (k->block.n + k->block.d) % (NP_PUSH_TERMS + 1);
    const size_t bytes = (size_t)size * sizeof(real);
    real *before = draw_coefficients(size), *out[4];
    k->terms[k->block.d % 3].b = NULL;
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

/* --- narrow --- */

/* Numbers of all sizes, up to those that only a double can hold. */
static void check_narrow(bench *k)
{
    const int64_t n = k->block.d;
    double *x = new_doubles(n);
    real *out = new_reals(n);
    for (int64_t j = 0; j < n; j++)
        x[j] = rng_normal(&rng) * exp(rng_uniform(&rng, -700, 700));
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, k->variant->table->narrow(n, x, out), k->name);
    for (int64_t j = 0; j < n; j++) {
        const real want = np_saturate(x[j]);
        check_same_bits(sizeof(real), &want, &out[j], k->name, __LINE__);
    }
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        x[(n - 1 + b * 7) % n] = bad[b];
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, k->variant->table->narrow(n, x, out), k->name);
        x[(n - 1 + b * 7) % n] = 1;
    }
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

static void test_kernel_visit_weighs_every_row_and_sums_what_counts(void)
{
    for_every_size(check_visit);
}

static void test_kernel_visit_has_the_same_bits_where_rows_are_known(void)
{
    for_every_size(check_visit_of_known_rows);
}

static void test_kernel_visit_needs_no_place_for_sums(void)
{
    for_every_size(check_visit_without_sums);
}

static void test_kernel_visit_of_pairs_weighs_every_row_and_sums_what_counts(void)
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

static void test_kernel_narrow_saturates_and_finds_what_is_not_finite(void)
{
    for_every_size(check_narrow);
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
    RUN_TEST(test_kernel_visit_weighs_every_row_and_sums_what_counts);
    RUN_TEST(test_kernel_visit_has_the_same_bits_where_rows_are_known);
    RUN_TEST(test_kernel_visit_needs_no_place_for_sums);
    RUN_TEST(test_kernel_visit_of_pairs_weighs_every_row_and_sums_what_counts);
    RUN_TEST(test_kernel_vectors_of_pairs_are_rounded_once);
    RUN_TEST(test_kernel_push_adds_to_the_rows_of_the_block_only);
    RUN_TEST(test_kernel_narrow_saturates_and_finds_what_is_not_finite);
    RUN_TEST(test_kernel_choice_for_no_cpu_feature_is_the_reference);
    RUN_TEST(test_kernel_choice_for_this_machine_is_the_last_table_it_can_run);
    return UNITY_END();
}

#endif /* KERNEL_AGREEMENT_H */
