#include "vmp/krylov.h"

#include <math.h>
#include <string.h>

enum { MAX = NP_KRYLOV_MAX, SMALL = MAX * (MAX + 1) + 3 * (MAX + 1) };

/* The parts of np_krylov.small: columns of the Hessenberg matrix, rotations, right-hand side. */
typedef struct least_squares {
    double *H, *cosine, *sine, *rhs;
} least_squares;

np_krylov np_krylov_take(np_arena *arena, int64_t n)
{
    np_krylov room = {.n = n};
    room.basis = NP_TAKE2(arena, n, MAX + 1, double);
    room.small = NP_TAKE(arena, SMALL, double);
    return room;
}

static least_squares parts(const np_krylov *room)
{
    double *p = room->small + MAX * (MAX + 1);
    return (least_squares){room->small, p, p + (MAX + 1), p + 2 * (MAX + 1)};
}

static double inner(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void add_scaled(int64_t n, double a, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

static void scale(int64_t n, double a, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a * x[i];
}

/* Modified Gram-Schmidt: vector k + 1 against those before it; its column of H. */
static void orthogonalise(const np_krylov *room, int32_t k, double *column)
{
    const int64_t n = room->n;
    double *w = room->basis + (k + 1) * n;
    for (int32_t i = 0; i <= k; i++) {
        const double *v = room->basis + i * n;
        column[i] = inner(n, w, v);
        add_scaled(n, -column[i], v, w);
    }
    column[k + 1] = sqrt(inner(n, w, w));
    if (column[k + 1] > 0)
        scale(n, 1 / column[k + 1], w, w);
}

/* Rotates column k to upper triangular form; the residual that is left. */
static double rotate(least_squares *ls, int32_t k, double *column)
{
    for (int32_t i = 0; i < k; i++) {
        const double a = column[i], b = column[i + 1];
        column[i] = ls->cosine[i] * a + ls->sine[i] * b;
        column[i + 1] = ls->cosine[i] * b - ls->sine[i] * a;
    }
    const double r = hypot(column[k], column[k + 1]);
    ls->cosine[k] = r > 0 ? column[k] / r : 1;
    ls->sine[k] = r > 0 ? column[k + 1] / r : 0;
    column[k] = r;
    ls->rhs[k + 1] = -ls->sine[k] * ls->rhs[k];
    ls->rhs[k] *= ls->cosine[k];
    return fabs(ls->rhs[k + 1]);
}

/* x from the first n_columns columns; 0 if they are singular. */
static int combine(const np_krylov *room, const least_squares *ls, int32_t n_columns, double *x)
{
    memset(x, 0, (size_t)room->n * sizeof(double));
    for (int32_t i = n_columns - 1; i >= 0; i--) {
        double y = ls->rhs[i];
        for (int32_t k = i + 1; k < n_columns; k++)
            y -= ls->H[k * (MAX + 1) + i] * ls->rhs[k];
        ls->rhs[i] = y / ls->H[i * (MAX + 1) + i];
        if (!isfinite(ls->rhs[i]))
            return 0;
    }
    for (int32_t i = 0; i < n_columns; i++)
        add_scaled(room->n, ls->rhs[i], room->basis + i * room->n, x);
    return 1;
}

int32_t np_krylov_solve(const np_krylov *room, np_linear_fn fn, void *arg, const double *b,
                        double tol, double *x)
{
    const int64_t n = room->n;
    const double size = sqrt(inner(n, b, b));
    least_squares ls = parts(room);
    memset(x, 0, (size_t)n * sizeof(double));
    if (size == 0)
        return 0;
    if (!isfinite(size))
        return -1;
    scale(n, 1 / size, b, room->basis);
    ls.rhs[0] = size;
    for (int32_t k = 0; k < MAX; k++) {
        double *column = ls.H + k * (MAX + 1);
        fn(arg, room->basis + k * n, room->basis + (k + 1) * n);
        orthogonalise(room, k, column);
        const double left = rotate(&ls, k, column);
        if (left <= tol * size)
            return combine(room, &ls, k + 1, x) ? k + 1 : -1;
    }
    return -1;
}
