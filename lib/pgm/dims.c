/*
 * NP_DIMS_TABLE is the table this compilation makes. A loop marked simd has no dependence between
 * its turns but the reduction it names.
 */
#include "pgm/dims.h"

#include <math.h>
#include <string.h>

#include "base/size.h"

static int tame(int64_t n, const double *x, double top_x, const double *y, double top_y)
{
    int64_t wild = 0;
#pragma omp simd reduction(+ : wild)
    for (int64_t j = 0; j < n; j++) {
        wild += fabs(x[j]) <= top_x ? 0 : 1;
        wild += fabs(y[j]) <= top_y ? 0 : 1;
    }
    return wild == 0;
}

static int within(int64_t n, double ratio, const double *E_0, const double *E, const double *V)
{
    int64_t apart = 0;
#pragma omp simd reduction(+ : apart)
    for (int64_t j = 0; j < n; j++) {
        const double e = E[j] - E_0[j];
        apart += e * e <= ratio * V[j] ? 0 : 1;
    }
    return apart == 0;
}

/*
 * exp(x) = 2^k exp(r), |r| <= log(2) / 2. k is x / log(2) rounded by the addition of 1.5 2^52,
 * which leaves it in the last bits; k log(2) is taken off in two parts, the first of which is
 * exact. The series ends where the next term, r^14 / 14!, is 4e-18.
 */
static inline double exponential_of(double x)
{
    const double round = 0x1.8p52, log_2_high = 0x1.62e42feep-1, log_2_low = 0x1.a39ef35793c76p-33;
    const double t = x * 1.4426950408889634 + round, k = t - round;
    const double r = (x - k * log_2_high) - k * log_2_low;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = 1 + (r + r * r * p);
    int64_t bits, shift;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&shift, &t, sizeof shift);
    bits += (int64_t)((uint64_t)shift << 52);
    memcpy(&p, &bits, sizeof p);
    return p;
}

static void exponential(int64_t n, double *x)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        x[j] = exponential_of(x[j]);
}

static void recentre(int64_t d, const double *a, const double *b, const double *centre, double *L,
                     double *h)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        L[j] = a[j];
        h[j] = b[j] + centre[j] * a[j];
    }
}

static void move(int64_t d, const double *dL, const double *dh, const double *E,
                 const double *centre, double *out)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++)
        out[j] = dL[j] - dh[j] * (E[j] - centre[j]);
}

static void add_moments(int64_t d, const double *a, const double *b, const double *E,
                        const double *centre, double *dE, double *dV)
{
    const int moved = E != centre;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        dE[j] -= moved ? b[j] - (E[j] - centre[j]) * a[j] : b[j];
        dV[j] += 0.5 * a[j];
    }
}

static void add(int64_t n, const double *x, double *y)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        y[j] += x[j];
}

static void negative_over(int64_t n, const double *x, double *y)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        y[j] = -y[j] / x[j];
}

static void average(int64_t d, const double *L, const double *h, double *mid)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++)
        mid[j] = L[j] > 0 ? h[j] / L[j] : 0;
}

static void component(const np_component *c, double *mean, double *var)
{
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h;
#pragma omp simd
    for (int64_t j = 0; j < c->d; j++) {
        const double by = 1 / (1 + L[j] * s[j]), r = h[j] - L[j] * mu[j];
        var[j] = s[j] * by;
        mean[j] = mu[j] + s[j] * (r * by);
    }
}

/* x = 2^exponent mantissa, with a mantissa of 1 .. 2, for normal numbers. */
static inline int64_t split(double x, double *mantissa)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int64_t exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(mantissa, &bits, sizeof bits);
    return exponent;
}

enum { FACTORS = 512 }; /* mantissas whose product cannot overflow */

/* A component of at most so many dimensions; gives -2 times its log evidence. */
static double piece_evidence(const np_component *c, const double *mid, double *mean, double *var)
{
    const double log_2 = 0.69314718055994530942;
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h;
    double sum = 0, product = 1;
    int64_t exponents = 0;
#pragma omp simd reduction(* : product) reduction(+ : sum, exponents)
    for (int64_t j = 0; j < c->d; j++) {
        const double t = 1 + L[j] * s[j], by = 1 / t, delta = (h[j] - L[j] * mu[j]) * by;
        double mantissa;
        exponents += split(t, &mantissa);
        product *= mantissa;
        sum += delta * (mid[j] - mu[j]) + 0 * t; /* NaN if t is no number or infinite */
        var[j] = s[j] * by;
        mean[j] = mu[j] + s[j] * delta;
    }
    return (log(product) + log_2 * (double)exponents) + sum;
}

/* Dimensions j .. of a component, at most FACTORS of them. */
static np_component take_piece(const np_component *c, int64_t j)
{
    return (np_component){np_min(FACTORS, c->d - j), c->mu + j, c->s + j, c->L + j, c->h + j};
}

static double component_evidence(const np_component *c, const double *mid, double *mean,
                                 double *var)
{
    double sum = 0;
    for (int64_t j = 0; j < c->d; j += FACTORS) {
        const np_component piece = take_piece(c, j);
        sum += piece_evidence(&piece, mid + j, mean + j, var + j);
    }
    return -0.5 * sum;
}

/* Twice the divergence of such a component. */
static double piece_kl(const np_component *c)
{
    const double log_2 = 0.69314718055994530942;
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h;
    double sum = 0, product = 1;
    int64_t exponents = 0;
#pragma omp simd reduction(* : product) reduction(+ : sum, exponents)
    for (int64_t j = 0; j < c->d; j++) {
        const double Ls = L[j] * s[j], t = 1 + Ls, by = 1 / t, delta = (h[j] - L[j] * mu[j]) * by;
        double mantissa;
        exponents += split(t, &mantissa);
        product *= mantissa;
        sum += s[j] * delta * delta - Ls * by; /* NaN if t is no number or infinite */
    }
    return (log(product) + log_2 * (double)exponents) + sum;
}

static double component_kl(const np_component *c)
{
    double sum = 0;
    for (int64_t j = 0; j < c->d; j += FACTORS) {
        const np_component piece = take_piece(c, j);
        sum += piece_kl(&piece);
    }
    return 0.5 * sum;
}

static void component_kl_backward(const np_component *c, double g, double *dmean, double *dvar,
                                  double *dmu, double *dprec)
{
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h, half = 0.5 * g;
    const int64_t d_mu = dmu ? c->d : 0, d_mean = dmean ? c->d : 0;
#pragma omp simd
    for (int64_t j = 0; j < d_mu; j++) {
        const double Ls = L[j] * s[j], by = 1 / (1 + Ls), delta = (h[j] - L[j] * mu[j]) * by;
        const double shift = s[j] * delta;
        dmu[j] += g * delta;
        dprec[j] += half * (Ls * (s[j] * by) - shift * shift);
    }
#pragma omp simd
    for (int64_t j = 0; j < d_mean; j++) {
        dmean[j] -= g * ((h[j] - L[j] * mu[j]) / (1 + L[j] * s[j]));
        dvar[j] += half * L[j];
    }
}

static void component_backward(const np_component *c, const double *E, const np_component_grad *g)
{
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h;
    const double *dmean = g->dmean, *dvar = g->dvar, dl = g->dl, half = 0.5 * dl;
    double *dL = g->dL, *dh = g->dh, *dmu = g->dmu, *dprec = g->dprec;
#pragma omp simd
    for (int64_t j = 0; j < c->d; j++) {
        const double Ls = L[j] * s[j], by = 1 / (1 + Ls), delta = (h[j] - L[j] * mu[j]) * by;
        const double var = s[j] * by, shift = s[j] * delta, x = (mu[j] + shift) - E[j];
        const double p = dmean[j] * var, q = dvar[j] * var, y = half * x;
        dh[j] += (p + y) + y;
        dL[j] -= var * (q + half) + x * (p + y);
        dmu[j] += dmean[j] * by + dl * delta;
        dprec[j] += var * (half * Ls - q) - shift * (p + half * shift);
    }
}

static void sums_backward(const np_component *c, const double *E, const np_component_grad *g)
{
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h;
    const double *dmean = g->dmean, *dvar = g->dvar, half = 0.5 * g->dl;
    double *dL = g->dL, *dh = g->dh;
#pragma omp simd
    for (int64_t j = 0; j < c->d; j++) {
        const double by = 1 / (1 + L[j] * s[j]), delta = (h[j] - L[j] * mu[j]) * by;
        const double var = s[j] * by, x = (mu[j] + s[j] * delta) - E[j];
        const double p = dmean[j] * var, q = dvar[j] * var, y = half * x;
        dh[j] += (p + y) + y;
        dL[j] -= var * (q + half) + x * (p + y);
    }
}

/* In pieces: the squares are alike, and so would be their rounding errors. */
static double shrink(int64_t d, double alpha, const double *L, const double *h, double *mean,
                     double *var)
{
    enum { PIECE = 64 };
    double squares = 0;
    for (int64_t j0 = 0; j0 < d; j0 += PIECE) {
        const int64_t end = np_min(d, j0 + PIECE);
        double piece = 0;
#pragma omp simd reduction(+ : piece)
        for (int64_t j = j0; j < end; j++) {
            const double v = 1 / (alpha + L[j]), x = h[j] * v;
            var[j] = v;
            mean[j] = x;
            piece += x * x + v;
        }
        squares += piece;
    }
    return squares;
}

static double shrink_backward(int64_t d, const double *mean, const double *var, const double *dmean,
                              const double *dvar, double *dL, double *dh)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < d; j++) {
        const double gh = dmean[j] * var[j], gL = -dvar[j] * var[j] * var[j];
        dh[j] = gh;
        dL[j] = gL;
        sum += gL - gh * mean[j];
    }
    return sum;
}

static void squares_backward(int64_t d, double db, const double *E, double *dE, double *dV)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        dE[j] += db * E[j];
        dV[j] += 0.5 * db;
    }
}

static void add_shift(int64_t d, double w, const double *mean, const double *base, double *E)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++)
        E[j] += w * (mean[j] - base[j]);
}

static void add_spread(int64_t d, double w, const double *mean, const double *var, const double *E,
                       double *V)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        const double x = mean[j] - E[j];
        V[j] += w * (var[j] + x * x);
    }
}

static double moments_backward(int64_t d, double w, const double *mean, const double *var,
                               const double *E, const double *dE, const double *dV, double *dmean,
                               double *dvar)
{
    double dlogw = 0;
#pragma omp simd reduction(+ : dlogw)
    for (int64_t j = 0; j < d; j++) {
        const double x = mean[j] - E[j];
        dmean[j] += w * (dE[j] + 2 * dV[j] * x);
        dvar[j] += w * dV[j];
        dlogw += x * dE[j] + dV[j] * (var[j] + x * x);
    }
    return w * dlogw;
}

static double residual(int64_t d, const double *E, const double *V, const double *E_before,
                       const double *V_before)
{
    double shift = 0, high = 1, low = 1;
#pragma omp simd reduction(max : shift, high) reduction(min : low)
    for (int64_t j = 0; j < d; j++) {
        const double x = E[j] - E_before[j], s = x * x / V[j], r = V[j] / V_before[j];
        shift = s > shift ? s : shift;
        high = r > high ? r : high;
        low = r < low ? r : low;
    }
    return fmax(sqrt(shift), fmax(log(high), -log(low)));
}

const np_dims NP_DIMS_TABLE = {
    .tame = tame,
    .within = within,
    .add = add,
    .negative_over = negative_over,
    .exponential = exponential,
    .recentre = recentre,
    .move = move,
    .add_moments = add_moments,
    .average = average,
    .component = component,
    .component_evidence = component_evidence,
    .component_kl = component_kl,
    .component_kl_backward = component_kl_backward,
    .component_backward = component_backward,
    .sums_backward = sums_backward,
    .shrink = shrink,
    .shrink_backward = shrink_backward,
    .squares_backward = squares_backward,
    .add_shift = add_shift,
    .add_spread = add_spread,
    .moments_backward = moments_backward,
    .residual = residual,
};
