/*
 * Moments and densities of mixture posteriors against an independent implementation: mix_mean,
 * mix_var, logq_z and the gradients g2_* of every mba_* golden file, through inference and density
 * together, in f64.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "golden.h"

static const char *path;
static golden *g;
static npagg_ctx *ctx;

void setUp(void)
{
    char error[512];
    g = golden_load(path, error, sizeof error);
    TEST_ASSERT_NOT_NULL_MESSAGE(g, error);
    TEST_ASSERT_EQUAL(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    golden_destroy(g);
    npagg_ctx_destroy(ctx);
}

static double *get(int64_t n)
{
    double *p = calloc((size_t)n + 1, sizeof *p);
    TEST_ASSERT_NOT_NULL(p);
    return p;
}

/* The file's mixture and what is computed of it. */
typedef struct {
    int64_t b, d, k, n, q;
    int64_t offsets[64];
    npagg_prior *prior;
    npagg_cache *cache;
    double *params, *post, *logz;
    double *dpost, *dz, *dparams, *dm, *dv;
} mixture;

static void read_params(mixture *c)
{
    const int64_t kd = c->k * c->d;
    const double *mu = golden_array(g, "mu_k", kd), *s = golden_array(g, "S_k", kd);
    const double *logits = golden_array(g, "logit_pi", c->k);
    for (int64_t j = 0; j < kd; j++) {
        c->params[j] = mu[j];
        c->params[kd + j] = log(s[j]);
    }
    memcpy(c->params + 2 * kd, logits, (size_t)c->k * sizeof(double));
}

static mixture mixture_create(void)
{
    mixture c = {.b = (int64_t)golden_scalar(g, "B"), .d = (int64_t)golden_scalar(g, "D")};
    int64_t count;
    TEST_ASSERT_NOT_NULL(golden_find(g, "logit_pi", &c.k));
    const double *offsets = golden_find(g, "offsets", &count);
    for (int64_t i = 0; i <= c.b; i++)
        c.offsets[i] = (int64_t)offsets[i];
    c.n = c.offsets[c.b];
    ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, c.d, c.k, &c.prior));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &c.cache));
    c.q = npagg_prior_posterior_count(c.prior);
    c.params = get(npagg_prior_param_count(c.prior));
    c.dparams = get(npagg_prior_param_count(c.prior));
    c.post = get(c.b * c.q);
    c.dpost = get(c.b * c.q);
    c.logz = get(c.b);
    c.dz = get(c.b * c.d);
    c.dm = get(c.n * c.d);
    c.dv = get(c.n * c.d);
    read_params(&c);
    return c;
}

static void mixture_destroy(mixture *c)
{
    double *const arrays[] = {c->params, c->post,    c->logz, c->dpost,
                              c->dz,     c->dparams, c->dm,   c->dv};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    npagg_cache_destroy(c->cache);
    npagg_prior_destroy(c->prior);
}

static void infer(mixture *c)
{
    const int64_t cells = c->n * c->d;
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, c->prior, NULL, c->params, c->b, c->offsets,
                                           golden_array(g, "m", cells), golden_array(g, "V", cells),
                                           NULL, c->post, c->logz, c->cache));
}

static void check_values(const mixture *c)
{
    const int64_t bd = c->b * c->d;
    double *mean = get(bd), *var = get(bd), *logq = get(c->b);
    ASSERT_OK(ctx, npagg_posterior_moments_f64(ctx, c->prior, c->b, c->post, mean, var));
    ASSERT_OK(ctx, npagg_posterior_logpdf_f64(ctx, c->prior, c->b, 1, c->post,
                                              golden_array(g, "z", bd), logq));
    ASSERT_ALL_CLOSE(bd, golden_array(g, "mix_mean", bd), mean, 1e-11, 0);
    ASSERT_ALL_CLOSE(bd, golden_array(g, "mix_var", bd), var, 1e-11, 0);
    ASSERT_ALL_CLOSE(c->b, golden_array(g, "logq_z", c->b), logq, 1e-11, 0);
    free(mean);
    free(var);
    free(logq);
}

/* loss2 = <w_mu,post_mu> + <w_var,post_var> + <w_pi,post_pi> + <w_logZ,logZ> + <w_logq,logq_z> */
static void go_back(mixture *c)
{
    const int64_t kd = c->k * c->d, cells = c->n * c->d;
    const double *w_mu = golden_array(g, "w_mu", c->b * kd);
    const double *w_var = golden_array(g, "w_var", c->b * kd);
    const double *w_pi = golden_array(g, "w_pi", c->b * c->k);
    for (int64_t b = 0; b < c->b; b++) {
        double *dq = c->dpost + b * c->q;
        const double *logw = c->post + b * c->q + 2 * kd;
        memcpy(dq, w_mu + b * kd, (size_t)kd * sizeof(double));
        memcpy(dq + kd, w_var + b * kd, (size_t)kd * sizeof(double));
        for (int64_t k = 0; k < c->k; k++)
            dq[2 * kd + k] = w_pi[b * c->k + k] * exp(logw[k]);
    }
    ASSERT_OK(ctx, npagg_posterior_logpdf_backward_f64(
                       ctx, c->prior, c->b, 1, c->post, golden_array(g, "z", c->b * c->d),
                       golden_array(g, "w_logq", c->b), c->dpost, c->dz));
    ASSERT_OK(ctx, npagg_infer_backward_f64(
                       ctx, c->prior, NULL, c->params, c->b, c->offsets,
                       golden_array(g, "m", cells), golden_array(g, "V", cells), NULL, c->dpost,
                       golden_array(g, "w_logZ", c->b), c->dparams, c->dm, c->dv, NULL, c->cache));
}

static void check_gradients(const mixture *c)
{
    const int64_t kd = c->k * c->d, cells = c->n * c->d;
    double *dlogs = get(kd);
    const double *ds = golden_array(g, "g2_S_k", kd), *s = golden_array(g, "S_k", kd);
    for (int64_t j = 0; j < kd; j++)
        dlogs[j] = s[j] * ds[j];
    ASSERT_ALL_CLOSE(cells, golden_array(g, "g2_m", cells), c->dm, 1e-11, 0);
    ASSERT_ALL_CLOSE(cells, golden_array(g, "g2_V", cells), c->dv, 1e-11, 0);
    ASSERT_ALL_CLOSE(c->b * c->d, golden_array(g, "g2_z", c->b * c->d), c->dz, 1e-11, 0);
    ASSERT_ALL_CLOSE(kd, golden_array(g, "g2_mu_k", kd), c->dparams, 1e-11, 0);
    ASSERT_ALL_CLOSE(kd, dlogs, c->dparams + kd, 1e-11, 0);
    ASSERT_ALL_CLOSE(c->k, golden_array(g, "g2_logit_pi", c->k), c->dparams + 2 * kd, 1e-11, 0);
    free(dlogs);
}

static void test_file(void)
{
    mixture c = mixture_create();
    infer(&c);
    check_values(&c);
    go_back(&c);
    check_gradients(&c);
    mixture_destroy(&c);
}

static int is_ours(const struct dirent *entry)
{
    return strncmp(entry->d_name, "mba_", 4) == 0 && strstr(entry->d_name, ".txt");
}

static int run_directory(const char *directory)
{
    struct dirent **entries;
    const int n = scandir(directory, &entries, is_ours, alphasort);
    for (int i = 0; i < n; i++) {
        char full[4096], name[256];
        snprintf(full, sizeof full, "%s/%s", directory, entries[i]->d_name);
        snprintf(name, sizeof name, "test_density_of_%.*s_is_reproduced",
                 (int)(strrchr(entries[i]->d_name, '.') - entries[i]->d_name), entries[i]->d_name);
        path = full;
        UnityDefaultTestRun(test_file, name, __LINE__);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n;
}

int main(void)
{
    const char *tree = getenv("NPAGG_GOLDEN_DIR"), *extra = getenv("NPAGG_GOLDEN_EXTRA_DIR");
    UNITY_BEGIN();
    int found = run_directory(tree ? tree : "tests/golden");
    if (extra && *extra)
        found += run_directory(extra);
    return UNITY_END() > 0 || found < 1;
}
