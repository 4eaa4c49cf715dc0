/* Gaussian factors: every weight is 1, the sums of the first sweep serve all, and so do closed
 * forms in them. */
#include <string.h>

#include "kernel/special.h"
#include "pgm/factors.h"

static void forward(const np_pgm *pgm, const np_rows *rows, const np_sweep *sweep)
{
    const size_t bytes = (size_t)pgm->d * sizeof(double);
    if (sweep->next_L && sweep->next_L != sweep->L) {
        memcpy(sweep->next_L, sweep->L, bytes);
        memcpy(sweep->next_h, sweep->h, bytes);
    }
    for (int64_t i = 0; sweep->w && i < rows->n; i++)
        sweep->w[i] = !rows->weight || rows->weight[i] != 0;
}

/* sum_i omega_i q_i = quad + sum_d L ((h/L - E)^2 + V) */
static double bound(const np_pgm *pgm, const np_sweep *sweep)
{
    const double *E = sweep->post->E, *V = sweep->post->V;
    double q = sweep->stats->quad;
    for (int64_t j = 0; j < pgm->d; j++) {
        const double L = sweep->L[j], r = sweep->h[j] - L * E[j];
        q += L > 0 ? r * (r / L) + L * V[j] : 0;
    }
    return 0.5 * (sweep->stats->logs - q - sweep->stats->count * (double)pgm->d * NP_LOG_2PI);
}

static void bound_backward(const np_pgm *pgm, const np_rows *rows, const np_sweep *sweep, double g,
                           real *dd, np_dpost *dpost, double *grad)
{
    (void)grad;
    for (int64_t i = 0; i < rows->n; i++)
        dd[i] = np_saturate(-g * (rows->weight ? (double)rows->weight[i] : 1));
    for (int64_t j = 0; dpost && j < pgm->d; j++) {
        dpost->E[j] += g * (sweep->h[j] - sweep->L[j] * sweep->post->E[j]);
        dpost->V[j] -= 0.5 * g * sweep->L[j];
    }
}

static double log_factor(const np_pgm *pgm, double q)
{
    return -0.5 * (q + (double)pgm->d * NP_LOG_2PI);
}

static void pull(const np_pgm *pgm, const np_rows *rows, const np_pull *p)
{
    (void)pgm;
    if (p->dweight)
        NP_REAL(np_factors_dweight)(rows, p->back, p->dweight);
}

const np_noise NP_REAL(np_gaussian_noise) = {0,          forward, bound, bound_backward,
                                             log_factor, pull,    NULL};
