/* (O1)-(O4) of one task. */
#include <float.h>
#include <math.h>

#include "objective/objective.h"

/* log w_s + log p_s, and for iwae + log q_C - log q_CT. */
static double log_term(const npagg_objective *objective, const np_worth *worth, int64_t s)
{
    const double ratio = objective->kind == NPAGG_OBJECTIVE_IWAE ? worth->ratio[s] : 0;
    const double term = worth->logw[s] + worth->loglik[s] + ratio;
    return term < -DBL_MAX ? -DBL_MAX : term; /* hopeless samples still have a mean */
}

/* (O3), (O4) */
static double log_mean(const npagg_objective *objective, const np_worth *worth)
{
    double top = -INFINITY, sum = 0;
    for (int64_t s = 0; s < worth->s; s++)
        top = fmax(top, log_term(objective, worth, s));
    for (int64_t s = 0; s < worth->s; s++)
        sum += exp(log_term(objective, worth, s) - top);
    return top + log(sum);
}

static int is_elbo(const npagg_objective *objective)
{
    return objective->kind == NPAGG_OBJECTIVE_ELBO ||
           objective->kind == NPAGG_OBJECTIVE_ELBO_CLOSED;
}

double np_objective_forward(const npagg_objective *objective, const np_worth *worth)
{
    if (!is_elbo(objective))
        return log_mean(objective, worth);
    double sum = -worth->kl;
    for (int64_t s = 0; s < worth->s; s++)
        sum += exp(worth->logw[s]) * worth->loglik[s];
    return sum;
}

/* The share of each sample in the logarithm of their mean. */
static void log_mean_backward(const npagg_objective *objective, const np_worth *worth, double g,
                              np_dworth *dworth)
{
    const double value = log_mean(objective, worth);
    for (int64_t s = 0; s < worth->s; s++) {
        const double share = g * exp(log_term(objective, worth, s) - value);
        dworth->logw[s] = share;
        dworth->loglik[s] = share;
        dworth->ratio[s] = objective->kind == NPAGG_OBJECTIVE_IWAE ? share : 0;
    }
    dworth->kl = 0;
}

void np_objective_backward(const npagg_objective *objective, const np_worth *worth, double g,
                           np_dworth *dworth)
{
    if (!is_elbo(objective)) {
        log_mean_backward(objective, worth, g, dworth);
        return;
    }
    for (int64_t s = 0; s < worth->s; s++) {
        const double w = g * exp(worth->logw[s]);
        dworth->loglik[s] = w;
        dworth->logw[s] = w * worth->loglik[s];
        dworth->ratio[s] = 0;
    }
    dworth->kl = -g;
}
