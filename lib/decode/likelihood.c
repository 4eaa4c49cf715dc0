/*
 * log p(y | py), in double.
 *   gaussian    -1/2 (log 2 pi + 2 log sd + r^2),  r = (y - mean) / sd
 *   bernoulli   y a - log(1 + e^a),  a the logit: y log p + (1 - y) log(1 - p) without forming p
 */
#include <inttypes.h>
#include <math.h>

#include "base/parallel.h"
#include "base/size.h"
#include "decode/likelihood.h"
#include "kernel/special.h"
#include "nn/finite.h"

enum { POINTS = 256 }; /* of one item of work */

static int is_gaussian(const np_loglik *job)
{
    return job->decoder->likelihood == NPAGG_LIKELIHOOD_GAUSSIAN;
}

static npagg_status check_job(np_loglik *job)
{
    npagg_ctx *ctx = job->ctx;
    int64_t rows, cells, bytes;
    NP_REQUIRE(ctx, ctx, "loglik: ctx is NULL");
    NP_REQUIRE(ctx, job->decoder, "loglik: decoder is NULL");
    if (job->n < 0)
        return np_fail(ctx, NPAGG_E_ARG, "loglik: n = %" PRId64 ", want >= 0", job->n);
    if (job->n_samples < 1)
        return np_fail(ctx, NPAGG_E_ARG, "loglik: n_samples = %" PRId64 ", want >= 1",
                       job->n_samples);
    job->y_dim = job->decoder->y_dim;
    job->outputs = npagg_decoder_output_count(job->decoder);
    if (!np_size_mul(job->n, job->n_samples, &rows) || !np_size_mul(rows, job->outputs, &cells) ||
        !np_size_mul(cells, (int64_t)sizeof(double), &bytes))
        return np_fail(ctx, NPAGG_E_ARG, "loglik: py does not fit into memory addresses");
    NP_REQUIRE(ctx, job->py || job->n == 0, "loglik: py is NULL");
    NP_REQUIRE(ctx, job->y || job->n == 0, "loglik: y is NULL");
    return NPAGG_OK;
}

/* Number `at` of py is no parameter of a distribution. */
static npagg_status refuse_py(const np_loglik *job, int64_t at, const char *want)
{
    const int64_t row = at / job->outputs;
    return np_fail(job->ctx, NPAGG_E_NUMERIC,
                   "py[%" PRId64 ",%" PRId64 ",%" PRId64 "] = %g, want %s", row / job->n_samples,
                   row % job->n_samples, at % job->outputs, (double)job->py[at], want);
}

static npagg_status check_y(const np_loglik *job)
{
    const int64_t yd = job->y_dim;
    NP_TRY(NP_REAL(np_finite_check)(job->ctx, "y", job->n, yd, job->y));
    for (int64_t i = 0; i < job->n * yd && !is_gaussian(job); i++)
        if (job->y[i] < 0 || job->y[i] > 1)
            return np_fail(job->ctx, NPAGG_E_NUMERIC, "y[%" PRId64 ",%" PRId64 "] = %g, want 0..1",
                           i / yd, i % yd, (double)job->y[i]);
    return NPAGG_OK;
}

/* The first number of py in rows first .. end - 1 that has to be positive and is not, or -1. */
static int64_t find_sd(const np_loglik *job, int64_t first, int64_t end)
{
    const int64_t yd = job->y_dim;
    for (int64_t r = first; r < end && is_gaussian(job); r++)
        for (int64_t j = yd; j < 2 * yd; j++)
            if (!(job->py[r * 2 * yd + j] > 0))
                return r * 2 * yd + j;
    return -1;
}

static npagg_status check_values(const np_loglik *job)
{
    const int64_t rows = job->n * job->n_samples;
    NP_TRY(check_y(job));
    const int64_t bad = NP_REAL(np_finite_find)(job->ctx, rows * job->outputs, job->py);
    if (bad >= 0)
        return refuse_py(job, bad, "finite");
    const int64_t sd = find_sd(job, 0, rows);
    return sd < 0 ? NPAGG_OK : refuse_py(job, sd, "> 0");
}

npagg_status NP_REAL(np_loglik_begin)(np_loglik *job)
{
    NP_TRY(check_job(job));
    return check_y(job);
}

int NP_REAL(np_loglik_is_good)(const np_loglik *job, int64_t first, int64_t end)
{
    const int64_t from = first * job->n_samples, to = end * job->n_samples, w = job->outputs;
    return NP_REAL(np_finite_find)(job->ctx, (to - from) * w, job->py + from * w) < 0 &&
           find_sd(job, from, to) < 0;
}

static double gaussian_logp(int64_t yd, const real *py, const real *y)
{
    double sum = 0;
    for (int64_t j = 0; j < yd; j++) {
        const double sd = (double)py[yd + j], r = ((double)y[j] - (double)py[j]) / sd;
        sum -= 0.5 * (NP_LOG_2PI + r * r) + log(sd);
    }
    return sum;
}

/* Given g = dloglik: dmean += g r / sd, dsd += g (r^2 - 1) / sd, dy -= g r / sd. */
static void gaussian_backward(int64_t yd, const real *py, const real *y, double g, real *dpy,
                              real *dy)
{
    for (int64_t j = 0; j < yd; j++) {
        const double sd = (double)py[yd + j], r = ((double)y[j] - (double)py[j]) / sd;
        if (dpy) {
            dpy[j] = np_saturate((double)dpy[j] + g * r / sd);
            dpy[yd + j] = np_saturate((double)dpy[yd + j] + g * (r * r - 1) / sd);
        }
        if (dy)
            dy[j] = np_saturate((double)dy[j] - g * r / sd);
    }
}

static double bernoulli_logp(int64_t yd, const real *py, const real *y)
{
    double sum = 0;
    for (int64_t j = 0; j < yd; j++) {
        const double a = (double)py[j], t = (double)y[j];
        sum += (a > 0 ? (t - 1) * a : t * a) - log1p(exp(-fabs(a)));
    }
    return sum;
}

/* da += g (y - sigmoid(a)), dy += g a. */
static void bernoulli_backward(int64_t yd, const real *py, const real *y, double g, real *dpy,
                               real *dy)
{
    for (int64_t j = 0; j < yd; j++) {
        const double a = (double)py[j], e = exp(-fabs(a)), t = (double)y[j];
        const double left = a > 0 ? (t - 1) + e / (1 + e) : t - e / (1 + e);
        if (dpy)
            dpy[j] = np_saturate((double)dpy[j] + g * left);
        if (dy)
            dy[j] = np_saturate((double)dy[j] + g * a);
    }
}

void NP_REAL(np_loglik_forward)(const np_loglik *job, int64_t first, int64_t end)
{
    const int64_t s = job->n_samples, yd = job->y_dim;
    for (int64_t r = first * s; r < end * s; r++) {
        const real *py = job->py + r * job->outputs, *y = job->y + r / s * yd;
        job->loglik[r] =
            np_saturate(is_gaussian(job) ? gaussian_logp(yd, py, y) : bernoulli_logp(yd, py, y));
    }
}

static void run_points(void *arg, int64_t item, int32_t worker)
{
    const np_loglik *job = arg;
    (void)worker;
    NP_REAL(np_loglik_forward)(job, item * POINTS, np_min(job->n, (item + 1) * POINTS));
}

npagg_status NP_REAL(npagg_decoder_loglik)(npagg_ctx *ctx, const npagg_decoder *decoder, int64_t n,
                                           int64_t n_samples, const real *py, const real *y,
                                           real *loglik)
{
    np_loglik job = {
        .ctx = ctx, .decoder = decoder, .n = n, .n_samples = n_samples, .py = py, .y = y};
    NP_TRY(check_job(&job));
    NP_REQUIRE(ctx, loglik || n == 0, "loglik: loglik is NULL");
    NP_TRY(check_values(&job));
    job.loglik = loglik;
    np_parallel(ctx, n / POINTS + (n % POINTS != 0), run_points, &job);
    return NPAGG_OK;
}

void NP_REAL(np_loglik_backward)(const np_loglik *job, int64_t first, int64_t end)
{
    const int64_t s = job->n_samples, yd = job->y_dim;
    for (int64_t r = first * s; r < end * s; r++) {
        const real *py = job->py + r * job->outputs, *y = job->y + r / s * yd;
        real *dpy = job->dpy ? job->dpy + r * job->outputs : NULL;
        real *dy = job->dy ? job->dy + r / s * yd : NULL;
        const double g = (double)job->dloglik[r];
        if (is_gaussian(job))
            gaussian_backward(yd, py, y, g, dpy, dy);
        else
            bernoulli_backward(yd, py, y, g, dpy, dy);
    }
}

static void push_points(void *arg, int64_t item, int32_t worker)
{
    const np_loglik *job = arg;
    (void)worker;
    NP_REAL(np_loglik_backward)(job, item * POINTS, np_min(job->n, (item + 1) * POINTS));
}

npagg_status NP_REAL(npagg_decoder_loglik_backward)(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                    int64_t n, int64_t n_samples, const real *py,
                                                    const real *y, const real *dloglik, real *dpy,
                                                    real *dy)
{
    np_loglik job = {
        .ctx = ctx, .decoder = decoder, .n = n, .n_samples = n_samples, .py = py, .y = y};
    NP_TRY(check_job(&job));
    NP_REQUIRE(ctx, dloglik || n == 0, "loglik: dloglik is NULL");
    job.dloglik = dloglik;
    job.dpy = dpy;
    job.dy = dy;
    np_parallel(ctx, n / POINTS + (n % POINTS != 0), push_points, &job);
    return NPAGG_OK;
}
