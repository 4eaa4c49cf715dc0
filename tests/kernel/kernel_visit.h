/* Sweeps over rows against their definitions. The including file sets NP_REAL_BITS. */
#ifndef KERNEL_VISIT_H
#define KERNEL_VISIT_H

#include "kernel_expect.h"

/* A visit with guarded arrays, and the sums it adds to. */
typedef struct {
    const bench *k;
    np_visit visit;
    double *L0, *h0, slopes; /* [d], [d] */
} tour;

/* What a row counts, (R2), (R4) or (A9). */
typedef enum { WEIGH, WEIGH_MORE, SLOPES, SLOPES_WEIGHTED, RULES } rule;

static real *draw_positive(int64_t n)
{
    real *x = new_reals(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = (real)exp(rng_uniform(&rng, -3, 3));
    return x;
}

/* Room for all rows, or for some; no room for lam if nobody needs it. */
static void begin_tour(tour *t, const bench *k, int all, rule how)
{
    const int64_t n = k->block.n, d = k->block.d, rows = all && n > 0 ? n : NP_VISIT_ROWS;
    *t = (tour){.k = k};
    t->L0 = draw_doubles(d, 0);
    t->h0 = draw_doubles(d, 0);
    t->visit = (np_visit){
        .top = (how >= SLOPES ? 1e4 : 0.5) * (double)d + 1, /* so that float will do */
        .base = 1 + (double)(n % 3),
        .omega = how == WEIGH_MORE || how == SLOPES_WEIGHTED ? draw_positive(n) : NULL,
        .w = how == SLOPES || how == SLOPES_WEIGHTED ? draw_positive(n) : NULL,
        .q_0 = how == WEIGH_MORE ? draw_doubles(n, 1) : NULL,
        .s = new_doubles(n),
        .c = new_reals(n),
        .slopes = how == SLOPES || how == SLOPES_WEIGHTED ? &t->slopes : NULL,
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

/* c of a row, from the s that the visit has left; the sum gets its share of `slopes`. */
static void expect_counted(const tour *t, int64_t i, long double *sum, double *size)
{
    const np_visit *v = &t->visit;
    const long double s = v->s[i], omega = v->omega ? v->omega[i] : 1;
    long double want = omega * v->top / (v->base + s / 2);
    if (v->w) {
        const long double w = v->w[i], y = omega * s * w / v->top;
        want = -y * w;
        *sum += y * (1 - w);
        *size += (double)(fabsl(y) * (1 + w));
    }
    expect(t->k, "c", i, want, (double)v->c[i],
           (2 * REAL_UNIT + 8 * 0x1p-53) * (double)fabsl(want));
}

/* Every row counts what the rule says; L and h have the sums about E. */
static void expect_tour(const tour *t, const double *E, int summed)
{
    const bench *k = t->k;
    const int64_t n = k->block.n, d = k->block.d;
    long double sum = 0;
    double size = 0;
    for (int64_t i = 0; i < n; i++) {
        expect_counted(t, i, &sum, &size);
        k->c[i] = t->visit.c[i];
    }
    expect(k, "slopes", 0, sum, t->slopes, (double)(n + 8) * 0x1p-53 * size);
    for (int64_t j = 0; summed && j < d; j++)
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
        const double more = t->visit.q_0 ? t->visit.q_0[i] : 0;
        long double want = more;
        double size = more;
        for (int64_t j = 0; j < k->block.d; j++) {
            const long double lam = lam_of(k, i, j), x = (long double)m_of(k, i, j) - E[j];
            const double reach = fabs(m_of(k, i, j)) + fabs(E[j]);
            want += lam * (a[j] + (b ? b[j] : x) * x);
            size += lam_of(k, i, j) * (fabs(a[j]) + (b ? fabs(b[j]) : reach) * reach);
        }
        expect(k, "s", i, want, t->visit.s[i], roundings_of_dims(k) * k->variant->unit * size);
    }
}

static void check_visit(bench *k)
{
    const np_term *u = &k->terms[0];
    for (int way = 0; way < 2 * RULES; way++) {
        const rule how = (rule)(way % RULES);
        const double *a = how >= SLOPES ? u->dL : u->V, *b = how >= SLOPES ? u->dh : NULL;
        tour t;
        begin_tour(&t, k, way / RULES, how);
        poison_stack();
        const int summed = k->variant->table->visit(&k->block, u->E, a, b, &t.visit);
        TEST_ASSERT_TRUE_MESSAGE(summed, k->name);
        expect_tour(&t, u->E, 1);
        expect_room(&t, u->E);
        expect_visited(&t, u->E, a, b);
    }
}

/* Without sums nothing but s and c is computed. */
static void check_visit_without_sums(bench *k)
{
    const np_term *u = &k->terms[0];
    tour t;
    begin_tour(&t, k, 1, WEIGH);
    t.visit.L = t.visit.h = NULL;
    k->variant->table->visit(&k->block, u->E, u->V, NULL, &t.visit);
    expect_visited(&t, u->E, u->V, NULL);
    expect_tour(&t, u->E, 0);
}

/* A row counts so much that float sums will not do: nothing is summed, but c is there. The
 * reference sums whatever it is. */
static void check_visit_beyond_float(bench *k)
{
    const np_term *u = &k->terms[0];
    const int64_t d = k->block.d;
    const int can = NP_REAL_BITS == 64 || k->variant->table == &NP_REAL(np_kernels_ref);
    for (int64_t i = 0; i < k->block.n; i += 1 + k->block.n / 3) {
        tour t;
        begin_tour(&t, k, 0, WEIGH_MORE);
        ((real *)t.visit.omega)[i] = 0x1p80f;
        const int summed = k->variant->table->visit(&k->block, u->E, u->V, NULL, &t.visit);
        TEST_ASSERT_EQUAL_INT_MESSAGE(can, summed, k->name);
        expect_tour(&t, u->E, 0);
        if (can)
            continue;
        check_same_bits(d * (int64_t)sizeof(double), t.L0, t.visit.L, k->name, __LINE__);
        check_same_bits(d * (int64_t)sizeof(double), t.h0, t.visit.h, k->name, __LINE__);
    }
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
        begin_tour(&t[known], k, known, SLOPES);
        if (known) {
            t[1].visit.w = t[0].visit.w;
            memcpy(t[1].visit.L, t[0].L0, (size_t)d * sizeof(double));
            memcpy(t[1].visit.h, t[0].h0, (size_t)d * sizeof(double));
        }
        k->variant->table->visit(&k->block, u->E, u->dL, u->dh, &t[known].visit);
    }
    check_same_bits(n * (int64_t)sizeof(double), t[0].visit.s, t[1].visit.s, k->name, __LINE__);
    check_same_bits(n * (int64_t)sizeof(real), t[0].visit.c, t[1].visit.c, k->name, __LINE__);
    check_same_bits((int64_t)sizeof(double), &t[0].slopes, &t[1].slopes, k->name, __LINE__);
    check_same_bits(d * (int64_t)sizeof(double), t[0].visit.L, t[1].visit.L, k->name, __LINE__);
    check_same_bits(d * (int64_t)sizeof(double), t[0].visit.h, t[1].visit.h, k->name, __LINE__);
}

/* With this floor and grow a centre is stale once some q_0 is more than the rest of that row's s. */
static int32_t says_stale(const bench *k, const double *q_0, tour *t)
{
    const np_term *u = &k->terms[0];
    int32_t stale = 0;
    t->visit.q_0 = q_0;
    t->visit.floor = 0;
    t->visit.grow = 0.5;
    t->visit.stale = &stale;
    k->variant->table->visit(&k->block, u->E, u->V, NULL, &t->visit);
    return stale;
}

static void check_stale(bench *k)
{
    double *q_0 = new_doubles(k->block.n);
    tour t;
    begin_tour(&t, k, 0, WEIGH);
    for (int64_t i = 0; i < k->block.n; i++)
        q_0[i] = 0;
    TEST_ASSERT_EQUAL_INT32_MESSAGE(0, says_stale(k, q_0, &t), k->name);
    for (int64_t i = 0; i < k->block.n; i++) {
        const double rest = t.visit.s[i];
        q_0[i] = 0.99 * rest;
        TEST_ASSERT_EQUAL_INT32_MESSAGE(0, says_stale(k, q_0, &t), k->name);
        q_0[i] = 1.01 * rest;
        TEST_ASSERT_EQUAL_INT32_MESSAGE(1, says_stale(k, q_0, &t), k->name);
        q_0[i] = (double)NAN;
        TEST_ASSERT_EQUAL_INT32_MESSAGE(1, says_stale(k, q_0, &t), k->name);
        q_0[i] = 0;
    }
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

static void expect_pairs(const tour *t, const np_pairs *pairs, const real *a, const real *b)
{
    const bench *k = t->k;
    const int64_t d = k->block.d;
    for (int64_t i = 0; i < k->block.n; i++) {
        const double more = t->visit.q_0 ? t->visit.q_0[i] : 0;
        long double want = more;
        double size = more;
        for (int64_t j = 0; j < d; j++) {
            const double x = (double)pairs->lam[i * d + j], y = (double)pairs->g[i * d + j];
            want += (long double)x * a[j] + (long double)y * b[j];
            size += fabs(x * (double)a[j]) + fabs(y * (double)b[j]);
        }
        expect(k, "s", i, want, t->visit.s[i], roundings_of_dims(k) * k->variant->unit * size);
    }
}

/* b is such that weights stay positive. */
static void check_visit_pairs(bench *k)
{
    const double *E = k->terms[0].E;
    const int64_t d = k->block.d;
    const np_pairs pairs = draw_pairs(k, E);
    for (int how = 0; how < RULES; how++) {
        real *a = how >= SLOPES ? draw_coefficients(d) : draw_positive(d);
        real *b = draw_coefficients(d);
        tour t;
        for (int64_t j = 0; how < SLOPES && j < d; j++)
            b[j] = 0;
        begin_tour(&t, k, 0, (rule)how);
        const int summed = k->variant->table->visit_pairs(&pairs, a, b, &t.visit);
        TEST_ASSERT_TRUE_MESSAGE(summed, k->name);
        expect_tour(&t, E, 1);
        expect_pairs(&t, &pairs, a, b);
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
