/* Sweeps over rows against their definitions. The including file sets NP_REAL_BITS. */
#ifndef KERNEL_VISIT_H
#define KERNEL_VISIT_H

#include "kernel_expect.h"

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

/* Whether 1/v is known makes no difference to the bits, nor does the room, nor whether rows are
 * asked for ahead. */
static void check_visit_of_known_rows(bench *k)
{
    const np_term *u = &k->terms[0];
    const int64_t n = k->block.n, d = k->block.d;
    tour t[2];
    for (int known = 0; known < 2; known++) {
        k->block.lam = known ? k->lam : NULL;
        k->block.ahead = known ? 0 : k->block.ahead;
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

#endif /* KERNEL_VISIT_H */
