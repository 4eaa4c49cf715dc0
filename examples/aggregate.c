/* What three priors make of the same five factors N(z | m_i, v_i), the last one an outlier. */
#include <npagg/npagg.h>
#include <stdio.h>

int main(void)
{
    const int64_t offsets[] = {0, 5}; /* one set, of five points */
    const double m[] = {1.0, 1.3, 0.8, 1.1, 9.0}, v[] = {0.1, 0.2, 0.1, 0.1, 0.1};
    const char *name[] = {"gaussian", "mixture", "student"};
    double params[8], q[8], w[5];
    npagg_ctx *ctx;
    npagg_cache *cache;
    npagg_prior *prior[3]; /* z has one dimension; the mixture has two components */
    if (npagg_ctx_create(&ctx) || npagg_cache_create(ctx, &cache) ||
        npagg_prior_create_gaussian(ctx, 1, &prior[0]) ||
        npagg_prior_create_mixture(ctx, 1, 2, &prior[1]) ||
        npagg_prior_create_student(ctx, 1, &prior[2]))
        return 1;
    for (int i = 0; i < 3; i++) {
        if (npagg_prior_init_params_f64(ctx, prior[i], 1, params) ||
            npagg_infer_forward_f64(ctx, prior[i], NULL, params, 1, offsets, m, v, NULL, q, NULL,
                                    cache) ||
            npagg_infer_weights_f64(ctx, cache, w))
            return fprintf(stderr, "%s\n", npagg_ctx_error(ctx)), 1;
        printf("%-8s mean %.2f, var %.3f, E[beta] %.2f %.2f %.2f %.2f %.3f\n", name[i], q[0],
               q[npagg_prior_posterior_offset(prior[i], "var")], w[0], w[1], w[2], w[3], w[4]);
        npagg_prior_destroy(prior[i]);
    }
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
    return 0;
}
