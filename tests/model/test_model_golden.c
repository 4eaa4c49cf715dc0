/*
 * Whole models against an independent implementation: losses and the gradient of every weight
 * (model_*), and forty steps of Adam (train_*). Every such file of the golden directory is run.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "golden_model.h"

static const char *path;
static char kind[8];
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

static void *get(int64_t n, size_t size)
{
    void *p = calloc((size_t)n + 1, size);
    TEST_ASSERT_NOT_NULL(p);
    return p;
}

/* A batch of the file in both precisions. */
typedef struct {
    int64_t b, n, s, d;
    int64_t *offsets, *n_ctx;
    int32_t *which;
    double *dloss, *loss;
    float *dloss32, *loss32;
} batch;

static int64_t *integers(const char *name, int64_t n)
{
    int64_t *out = get(n, sizeof *out);
    const double *x = golden_array(g, name, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = (int64_t)x[i];
    return out;
}

static batch batch_create(void)
{
    batch t = {(int64_t)golden_scalar(g, "B"),
               0,
               (int64_t)golden_scalar(g, "S"),
               (int64_t)golden_scalar(g, "D"),
               NULL,
               NULL,
               NULL,
               NULL,
               NULL,
               NULL,
               NULL};
    int64_t count;
    t.offsets = integers("offsets", t.b + 1);
    t.n_ctx = integers("n_ctx", t.b);
    t.n = t.offsets[t.b];
    t.which = get(t.b * t.s, sizeof *t.which);
    const double *which = golden_find(g, "which", &count);
    for (int64_t i = 0; which && i < t.b * t.s; i++)
        t.which[i] = (int32_t)which[i];
    t.dloss = get(t.b, sizeof(double));
    t.loss = get(t.b, sizeof(double));
    t.dloss32 = get(t.b, sizeof(float));
    t.loss32 = get(t.b, sizeof(float));
    for (int64_t i = 0; i < t.b; i++)
        t.dloss32[i] = (float)(t.dloss[i] = 1.0 / (double)t.b);
    return t;
}

static void batch_destroy(batch *t)
{
    free(t->offsets);
    free(t->n_ctx);
    free(t->which);
    free(t->dloss);
    free(t->loss);
    free(t->dloss32);
    free(t->loss32);
}

static float *to_float(int64_t n, const double *x)
{
    float *y = get(n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

/* Mean loss; grad [P] is set. All arrays double, floats inside. */
static double step32(const npagg_model *model, const double *params, batch *t, const double *x,
                     const double *y, const double *eps, double *grad)
{
    const int64_t p = npagg_model_param_count(model);
    float *p32 = to_float(p, params), *x32 = to_float(t->n, x), *y32 = to_float(t->n, y);
    float *eps32 = to_float(t->b * t->s * t->d, eps), *g32 = get(p, sizeof *g32);
    double mean = 0;
    ASSERT_OK(ctx, npagg_model_step_f32(ctx, model, p32, t->b, t->offsets, t->n_ctx, x32, y32,
                                        eps32, t->which, t->dloss32, t->loss32, g32));
    for (int64_t i = 0; i < p; i++)
        grad[i] = (double)g32[i];
    for (int64_t b = 0; b < t->b; b++)
        mean += (double)t->loss32[b] / (double)t->b;
    free(p32);
    free(x32);
    free(y32);
    free(eps32);
    free(g32);
    return mean;
}

static double step64(const npagg_model *model, const double *params, batch *t, const double *x,
                     const double *y, const double *eps, double *grad)
{
    double mean = 0;
    memset(grad, 0, (size_t)npagg_model_param_count(model) * sizeof *grad);
    ASSERT_OK(ctx, npagg_model_step_f64(ctx, model, params, t->b, t->offsets, t->n_ctx, x, y, eps,
                                        t->which, t->dloss, t->loss, grad));
    for (int64_t b = 0; b < t->b; b++)
        mean += t->loss[b] / (double)t->b;
    return mean;
}

typedef double (*step_fn)(const npagg_model *model, const double *params, batch *t, const double *x,
                          const double *y, const double *eps, double *grad);

typedef struct {
    const double *got;
    double tol;
    int64_t seen;
} comparison;

static void compare_tensor(const char *name, int64_t n, const double *want, int64_t offset,
                           void *arg)
{
    comparison *c = arg;
    check_all_close(n, want, c->got + offset, c->tol, 0, name, __LINE__);
    c->seen += n;
}

static void check_loss(golden_loss which, step_fn step, double tol)
{
    const char *const losses[] = {"loss_iwae_all", "loss_elbo_tgt"};
    const char *const prefixes[] = {"g_iwae_", "g_elbo_"};
    npagg_model *model = golden_model_create(ctx, g, kind, which);
    const int64_t p = npagg_model_param_count(model);
    double *params = get(p, sizeof *params), *grad = get(p, sizeof *grad);
    batch t = batch_create();
    golden_model_params(ctx, model, g, "", params);
    const double loss =
        step(model, params, &t, golden_array(g, "x", t.n), golden_array(g, "y", t.n),
             golden_array(g, "eps", t.b * t.s * t.d), grad);
    ASSERT_CLOSE(golden_scalar(g, losses[which]), loss, tol, 0);
    comparison c = {grad, tol, 0};
    golden_model_each(model, g, prefixes[which], 1, params, compare_tensor, &c);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(p, c.seen, "every parameter has a gradient in the file");
    batch_destroy(&t);
    free(params);
    free(grad);
    npagg_model_destroy(model);
}

static void test_model_f64(void)
{
    check_loss(GOLDEN_IWAE_ALL, step64, 1e-11);
    check_loss(GOLDEN_ELBO_TGT, step64, 1e-11);
}

static void test_model_f32(void)
{
    check_loss(GOLDEN_IWAE_ALL, step32, 1e-4);
    check_loss(GOLDEN_ELBO_TGT, step32, 1e-4);
}

/* Adam on the networks; the prior stays as it is. */
static void adam(const npagg_model *model, int64_t t, int64_t steps, const double *grad, double *m,
                 double *v, double *params)
{
    const double rate =
        golden_scalar(g, "lr") / 2 * (1 + cos(acos(-1) * (double)t / (double)steps));
    const int64_t from = npagg_model_param_offset(model, "prior");
    const int64_t to = npagg_model_param_offset(model, "decoder");
    for (int64_t i = 0; i < npagg_model_param_count(model); i++) {
        if (i >= from && i < to)
            continue;
        m[i] = 0.9 * m[i] + 0.1 * grad[i];
        v[i] = 0.999 * v[i] + 0.001 * grad[i] * grad[i];
        const double mean = m[i] / (1 - pow(0.9, (double)t + 1));
        const double size = sqrt(v[i] / (1 - pow(0.999, (double)t + 1)));
        params[i] -= rate * mean / (size + 1e-8);
    }
}

static void train(step_fn step, double loss_tol, double weight_tol)
{
    npagg_model *model = golden_model_create(ctx, g, kind, GOLDEN_IWAE_ALL);
    const int64_t p = npagg_model_param_count(model), steps = (int64_t)golden_scalar(g, "T");
    double *params = get(p, sizeof *params), *grad = get(3 * p, sizeof *grad);
    double *losses = get(steps, sizeof *losses);
    batch t = batch_create();
    const int64_t e = t.b * t.s * t.d;
    const double *x = golden_array(g, "x", steps * t.n), *y = golden_array(g, "y", steps * t.n);
    const double *eps = golden_array(g, "eps", steps * e);
    golden_model_params(ctx, model, g, "init_", params);
    for (int64_t i = 0; i < steps; i++) {
        losses[i] = step(model, params, &t, x + i * t.n, y + i * t.n, eps + i * e, grad);
        adam(model, i, steps, grad, grad + p, grad + 2 * p, params);
    }
    ASSERT_ALL_CLOSE(steps, golden_array(g, "losses", steps), losses, loss_tol, 0);
    comparison c = {params, weight_tol, 0};
    if (weight_tol > 0)
        golden_model_each(model, g, "final_", 0, params, compare_tensor, &c);
    const int64_t prior =
        npagg_model_param_offset(model, "decoder") - npagg_model_param_offset(model, "prior");
    TEST_ASSERT_EQUAL_INT64(weight_tol > 0 ? p - prior : 0, c.seen);
    batch_destroy(&t);
    free(params);
    free(grad);
    free(losses);
    npagg_model_destroy(model);
}

static void test_train_f64(void)
{
    train(step64, 1e-9, 1e-9);
}

static void test_train_f32(void)
{
    train(step32, 1e-3, 0);
}

static void run(UnityTestFunction test, const char *precision, const char *file)
{
    char name[256];
    snprintf(name, sizeof name, "test_%s_of_%.*s_is_reproduced", precision,
             (int)(strrchr(file, '.') - file), file);
    UnityDefaultTestRun(test, name, __LINE__);
}

static int is_ours(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return (strncmp(name, "model_", 6) == 0 || strncmp(name, "train_", 6) == 0) &&
           strstr(name, ".txt");
}

/* model_rba.txt, or model_rba_more.txt: the word after the first underscore. */
static void run_file(const char *directory, const char *name)
{
    char full[4096];
    const int training = strncmp(name, "train_", 6) == 0;
    snprintf(full, sizeof full, "%s/%s", directory, name);
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(name + 6, "_."), name + 6);
    path = full;
    run(training ? test_train_f64 : test_model_f64, "f64", name);
    run(training ? test_train_f32 : test_model_f32, "f32", name);
}

static int run_directory(const char *directory)
{
    struct dirent **entries;
    const int n = scandir(directory, &entries, is_ours, alphasort);
    for (int i = 0; i < n; i++) {
        run_file(directory, entries[i]->d_name);
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
