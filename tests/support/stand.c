#include "stand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

stand *stand_create_of(problem *p, int precision)
{
    stand *s = calloc(1, sizeof *s);
    TEST_ASSERT_NOT_NULL(s);
    meter_init(&s->meter);
    s->ctx = meter_ctx(&s->meter);
    ASSERT_OK(s->ctx, npagg_cache_create(s->ctx, &s->cache));
    s->problem = p;
    s->good = inference_create(s->ctx, p, precision);
    s->want = inference_create(s->ctx, p, precision);
    inference_run_once(s->ctx, s->want);
    return s;
}

stand *stand_create(const flavour *kind, int precision, int32_t grad)
{
    const int64_t sizes[] = {3, 0, 4, 2};
    test_rng rng = {2};
    problem *p = problem_create(&rng, kind->kind, kind->robust, 5, kind->k, 4, sizes, 1);
    p->max_iters = 4;
    p->tol = 0;
    p->grad = grad;
    return stand_create_of(p, precision);
}

void stand_end(stand **owner)
{
    stand *s = *owner;
    if (!s)
        return;
    *owner = NULL;
    inference_destroy(s->good);
    inference_destroy(s->want);
    problem_destroy(s->problem);
    npagg_cache_destroy(s->cache);
    npagg_ctx_destroy(s->ctx);
    const meter left = s->meter;
    free(s);
    ASSERT_BALANCED(&left);
}

long count_threads(void)
{
    char line[256];
    long n = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Threads: %ld", &n);
    if (file)
        fclose(file);
    return n;
}

void stand_check_text(const npagg_ctx *ctx, const char *text, int line)
{
    char message[512];
    const char *error = npagg_ctx_error(ctx);
    snprintf(message, sizeof message, "\"%s\" is not in \"%s\"", text, error);
    UNITY_TEST_ASSERT(strstr(error, text), (UNITY_LINE_TYPE)line, message);
}

void stand_check_empty(npagg_ctx *ctx, const npagg_cache *cache, int line)
{
    double x = 7;
    float y = 7;
    int32_t i = 7;
    UNITY_TEST_ASSERT(npagg_cache_bytes(cache) == 0, (UNITY_LINE_TYPE)line, "cache_bytes > 0");
    check_status(ctx, NPAGG_E_STATE, npagg_infer_iters(ctx, cache, &i), "", "iters", line);
    check_status(ctx, NPAGG_E_STATE, npagg_infer_weights_f32(ctx, cache, &y), "", "weights", line);
    check_status(ctx, NPAGG_E_STATE, npagg_infer_weights_f64(ctx, cache, &x), "", "weights", line);
    check_status(ctx, NPAGG_E_STATE, npagg_infer_trace(ctx, cache, 0, &x), "", "trace", line);
    check_status(ctx, NPAGG_E_STATE, npagg_infer_residual(ctx, cache, &x), "", "residual", line);
    check_status(ctx, NPAGG_E_STATE, npagg_infer_grad_iters(ctx, cache, &i), "", "grad_iters",
                 line);
    UNITY_TEST_ASSERT(x == 7 && y == 7 && i == 7, (UNITY_LINE_TYPE)line, "a look-up wrote");
}

void stand_check_good(const stand *s, int line)
{
    inference_run(s->ctx, s->good, s->cache);
    inference_check_same(s->want, s->good, line);
}

static void check_refusal(const stand *s, const inference *bad, npagg_status want, npagg_status got,
                          const char *one, const char *two, int line)
{
    check_status(s->ctx, want, got, one, "the bad call", line);
    stand_check_text(s->ctx, two, line);
    inference_check_poison(bad, line);
    stand_check_empty(s->ctx, s->cache, line);
    stand_check_good(s, line);
}

void stand_refuse_forward(const stand *s, const inference *bad, npagg_status status,
                          const char *one, const char *two, int line)
{
    check_status(s->ctx, NPAGG_OK, inference_forward(s->ctx, s->good, s->cache), "", "good", line);
    inference_poison(bad);
    npagg_status got = inference_forward(s->ctx, bad, s->cache);
    check_refusal(s, bad, status, got, one, two, line);
}

void stand_refuse_backward(const stand *s, const inference *bad, npagg_status status,
                           const char *one, const char *two, int line)
{
    check_status(s->ctx, NPAGG_OK, inference_forward(s->ctx, s->good, s->cache), "", "good", line);
    inference_poison(bad);
    npagg_status got = inference_backward(s->ctx, bad, s->cache);
    check_refusal(s, bad, status, got, one, two, line);
}
