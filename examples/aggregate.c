/* What three priors make of the same five points in the plane, the last of them an outlier. */
#include <math.h>
#include <npagg/npagg.h>
#include <stdio.h>

static int show(npagg_ctx *ctx, npagg_cache *cache, const char *name, npagg_prior *prior)
{
    const int64_t offsets[] = {0, 5}; /* one set, of five points N(m_i, v_i) */
    const double m[] = {1.0, 2.0, 1.3, 1.8, 0.8, 2.1, 1.1, 2.2, 9.0, -7.0};
    const double v[] = {0.1, 0.1, 0.2, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.1};
    double params[10], q[10], w[5]; /* 10: two components, each a mean, a variance and a weight */
    int failed =
        npagg_prior_init_params_f64(ctx, prior, 1, params) ||
        npagg_infer_forward_f64(ctx, prior, NULL, params, 1, offsets, m, v, NULL, q, NULL, cache) ||
        npagg_infer_weights_f64(ctx, cache, w);
    int64_t var = npagg_prior_posterior_offset(prior, "var"); /* "mean" [K,2] is before it, at 0 */
    int64_t logw = npagg_prior_posterior_offset(prior, "logw"); /* -1 unless a mixture */
    for (int64_t j = 0; !failed && j < var; j += 2)
        printf(
            "%-8s %.2f of mean (%4.2f, %4.2f), sd (%.2f, %.2f); E[beta] %.2f %.2f %.2f %.2f %.3f\n",
            name, logw < 0 ? 1.0 : exp(q[logw + j / 2]), q[j], q[j + 1], sqrt(q[var + j]),
            sqrt(q[var + j + 1]), w[0], w[1], w[2], w[3], w[4]);
    npagg_prior_destroy(prior);
    return failed;
}

int main(void)
{
    npagg_ctx *ctx = NULL;
    npagg_cache *cache = NULL;
    npagg_prior *prior;
    int failed =
        npagg_ctx_create(&ctx) || npagg_cache_create(ctx, &cache) ||
        npagg_prior_create_gaussian(ctx, 2, &prior) || show(ctx, cache, "gaussian", prior) ||
        npagg_prior_create_mixture(ctx, 2, 2, &prior) || show(ctx, cache, "mixture", prior) ||
        npagg_prior_create_student(ctx, 2, &prior) || show(ctx, cache, "student", prior);
    if (failed)
        fprintf(stderr, "aggregate: %s\n", npagg_ctx_error(ctx));
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
    return failed;
}
