#include "plain_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* pre of every point of the set: to [n,R]; returns the parameters behind it. */
static const double *run_pre(const encoder_case *c, int64_t b, double *to)
{
    const encoder_shape *s = c->shape;
    const int64_t r = s->widths[s->n_hidden - 1];
    const double *params = NULL;
    int64_t width[5] = {c->x_dim + c->y_dim};
    double in[16] = {0};
    for (int64_t l = 0; l < s->n_hidden; l++)
        width[l + 1] = s->widths[l];
    for (int64_t i = c->offsets[b] - 1; i < c->offsets[b + 1]; i++) {
        double waste[256];
        params = c->params; /* once more than there are points, for an empty set's sake */
        for (int64_t j = 0; j < c->x_dim && i >= c->offsets[b]; j++)
            in[j] = c->x[i * c->x_dim + j];
        for (int64_t j = 0; j < c->y_dim && i >= c->offsets[b]; j++)
            in[c->x_dim + j] = c->y[i * c->y_dim + j];
        plain_mlp(&params, s->n_hidden, width, s->activation, s->kind == ATTENTION, in,
                  i < c->offsets[b] ? waste : to + (i - c->offsets[b]) * r);
    }
    return params;
}

/* to [n,R] = x [n,R] times the transpose of w [R,R]. */
static void multiply(int64_t n, int64_t r, const double *x, const double *w, double *to)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < r; j++) {
            long double sum = 0;
            for (int64_t l = 0; l < r; l++)
                sum += (long double)x[i * r + l] * w[j * r + l];
            to[i * r + j] = (double)sum;
        }
}

static long double score(int64_t r, int64_t w, const double *q, const double *k)
{
    long double sum = 0;
    for (int64_t l = 0; l < w; l++)
        sum += (long double)q[l] * k[l];
    return sum / sqrtl((long double)r);
}

/* a [w] of one point and head: q is its own, k and v are [n,R] from the head's columns on. */
static void attend(int64_t n, int64_t r, int64_t w, const double *q, const double *k,
                   const double *v, double *a)
{
    long double most = -INFINITY, sum = 0, out[256] = {0};
    for (int64_t j = 0; j < n; j++)
        most = fmaxl(most, score(r, w, q, k + j * r));
    for (int64_t j = 0; j < n; j++) {
        const long double e = expl(score(r, w, q, k + j * r) - most);
        sum += e;
        for (int64_t l = 0; l < w; l++)
            out[l] += e * v[j * r + l];
    }
    for (int64_t l = 0; l < w; l++)
        a[l] = (double)(out[l] / sum);
}

/* One row. */
static void normalise(int64_t r, const double *gain, const double *bias, double *x)
{
    long double mean = 0, var = 0;
    for (int64_t j = 0; j < r; j++)
        mean += (long double)x[j] / r;
    for (int64_t j = 0; j < r; j++)
        var += (x[j] - mean) * (x[j] - mean) / r;
    for (int64_t j = 0; j < r; j++)
        x[j] = (double)(gain[j] * (x[j] - mean) / sqrtl(var + 1e-5L) + bias[j]);
}

/* x [R] becomes norm2(o + relu(fc o)) with o = norm1(x); p: fc, norm1, norm2. */
static void feed(int64_t r, const double *p, double *x)
{
    const double *norm1 = p + r * r + r, *norm2 = norm1 + 2 * r;
    double f[256];
    normalise(r, norm1, norm1 + r, x);
    multiply(1, r, x, p, f);
    for (int64_t j = 0; j < r; j++)
        x[j] += fmax(0, f[j] + p[r * r + j]);
    normalise(r, norm2, norm2 + r, x);
}

/* rows [n,R] through attention and what follows it; returns the parameters behind. */
static const double *run_attention(const encoder_case *c, int64_t n, const double *p, double *rows)
{
    const int64_t r = c->shape->widths[c->shape->n_hidden - 1], heads = c->shape->n_heads;
    const int64_t w = r / heads;
    double *q = zeros_of(n * r), *k = zeros_of(n * r), *v = zeros_of(n * r);
    multiply(n, r, rows, p, q);
    multiply(n, r, rows, p + r * r, k);
    multiply(n, r, rows, p + 2 * r * r, v);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t at = 0; at < r; at += w)
            attend(n, r, w, q + i * r + at, k + at, v + at, rows + i * r + at);
        for (int64_t j = 0; j < r; j++)
            rows[i * r + j] += q[i * r + j];
        feed(r, p + 3 * r * r, rows + i * r);
    }
    free(q);
    free(k);
    free(v);
    return p + 4 * r * r + 5 * r;
}

static void run_heads(const encoder_case *c, const double *p, const double *pooled, double *m,
                      double *v)
{
    const encoder_shape *s = c->shape;
    int64_t width[6] = {s->widths[s->n_hidden - 1], s->post_widths[0]};
    double joint[256];
    plain_mlp(&p, 1, width, s->activation, 1, pooled, joint);
    for (int64_t l = 0; l < s->n_post; l++)
        width[l] = s->post_widths[l];
    width[s->n_post] = c->d;
    plain_mlp(&p, s->n_post, width, s->activation, 0, joint, m);
    plain_mlp(&p, s->n_post, width, s->activation, 0, joint, v);
    for (int64_t j = 0; j < c->d; j++) {
        const double sd = sqrt(c->lo) + (sqrt(c->hi) - sqrt(c->lo)) / (1 + exp(-v[j]));
        v[j] = sd * sd;
    }
}

void plain_set(const encoder_case *c, int64_t b, double *m, double *v)
{
    const int64_t n = c->offsets[b + 1] - c->offsets[b];
    const int64_t r = c->shape->widths[c->shape->n_hidden - 1];
    double *rows = zeros_of(n * r), *pooled = zeros_of(r);
    TEST_ASSERT_TRUE(r <= 256 && c->x_dim + c->y_dim <= 16);
    const double *p = run_pre(c, b, rows);
    if (c->shape->kind == ATTENTION)
        p = run_attention(c, n, p, rows);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < r; j++)
            pooled[j] += rows[i * r + j] / (double)n;
    run_heads(c, p, pooled, m, v);
    free(rows);
    free(pooled);
}
