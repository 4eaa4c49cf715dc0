/* Log-likelihoods and their gradients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numbers.h"

static npagg_ctx *ctx;
static npagg_decoder *decoder;

enum { N = 5, S = 3, Y = 2 };

static void make(int32_t likelihood)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, 1, Y, 1, 0, NULL, &decoder));
    ASSERT_OK(ctx, npagg_decoder_set_likelihood(decoder, likelihood));
}

void setUp(void)
{
}

void tearDown(void)
{
    npagg_decoder_destroy(decoder);
    npagg_ctx_destroy(ctx);
}

typedef struct {
    double py[N * S * 2 * Y], y[N * Y], dloglik[N * S];
} batch;

static batch draw(int32_t likelihood, uint64_t seed)
{
    batch b;
    test_rng rng = {seed};
    const int64_t outputs = likelihood ? Y : 2 * Y;
    for (int64_t i = 0; i < N * S * 2 * Y; i++) {
        const int is_sd = !likelihood && i % outputs >= Y;
        b.py[i] = is_sd ? rng_uniform(&rng, 0.2, 2) : 2 * rng_normal(&rng);
    }
    for (int64_t i = 0; i < N * Y; i++)
        b.y[i] = likelihood ? rng_uniform(&rng, 0, 1) : rng_normal(&rng);
    for (int64_t i = 0; i < N * S; i++)
        b.dloglik[i] = rng_normal(&rng);
    if (likelihood)
        b.y[0] = 0, b.y[1] = 1;
    return b;
}

/* The textbook form of one number. */
static double plain(int32_t likelihood, const double *py, int64_t j, double y)
{
    if (likelihood) {
        const double p = 1 / (1 + exp(-py[j]));
        return y * log(p) + (1 - y) * log(1 - p);
    }
    const double sd = py[Y + j], pi = 3.14159265358979323846;
    return -log(sd * sqrt(2 * pi)) - (y - py[j]) * (y - py[j]) / (2 * sd * sd);
}

static void check_values(int32_t likelihood)
{
    make(likelihood);
    const batch b = draw(likelihood, 1);
    const int64_t outputs = npagg_decoder_output_count(decoder);
    double got[N * S];
    ASSERT_OK(ctx, npagg_decoder_loglik_f64(ctx, decoder, N, S, b.py, b.y, got));
    for (int64_t r = 0; r < N * S; r++) {
        double want = 0;
        for (int64_t j = 0; j < Y; j++)
            want += plain(likelihood, b.py + r * outputs, j, b.y[r / S * Y + j]);
        ASSERT_CLOSE(want, got[r], 1e-13, 1e-13);
    }
    float *py = native_create(32, N * S * outputs, b.py), *y = native_create(32, N * Y, b.y);
    float single[N * S];
    ASSERT_OK(ctx, npagg_decoder_loglik_f32(ctx, decoder, N, S, py, y, single));
    for (int64_t r = 0; r < N * S; r++)
        ASSERT_CLOSE(got[r], (double)single[r], 1e-5, 1e-5);
    free(py);
    free(y);
}

static void test_gaussian_loglik_is_the_textbooks(void)
{
    check_values(NPAGG_LIKELIHOOD_GAUSSIAN);
}

static void test_bernoulli_loglik_is_the_textbooks(void)
{
    check_values(NPAGG_LIKELIHOOD_BERNOULLI);
}

static double loss(void *user)
{
    const batch *b = user;
    double loglik[N * S], sum = 0;
    ASSERT_OK(ctx, npagg_decoder_loglik_f64(ctx, decoder, N, S, b->py, b->y, loglik));
    for (int i = 0; i < N * S; i++)
        sum += b->dloglik[i] * loglik[i];
    return sum;
}

static void check_gradients(int32_t likelihood)
{
    make(likelihood);
    batch b = draw(likelihood, 2);
    for (int64_t i = 0; i < N * Y; i++)
        b.y[i] = likelihood ? 0.1 + 0.8 * b.y[i] : b.y[i];
    const int64_t n = N * S * npagg_decoder_output_count(decoder);
    double dpy[N * S * 2 * Y] = {0}, dy[N * Y] = {0}, want[N * S * 2 * Y];
    ASSERT_OK(ctx, npagg_decoder_loglik_backward_f64(ctx, decoder, N, S, b.py, b.y, b.dloglik, dpy,
                                                     NULL));
    ASSERT_OK(
        ctx, npagg_decoder_loglik_backward_f64(ctx, decoder, N, S, b.py, b.y, b.dloglik, NULL, dy));
    for (int64_t i = 0; i < n; i++)
        want[i] = difference_in(&b.py[i], 1e-5, loss, &b);
    ASSERT_ALL_CLOSE(n, want, dpy, 1e-7, 0);
    for (int64_t i = 0; i < N * Y; i++)
        want[i] = difference_in(&b.y[i], 1e-5, loss, &b);
    ASSERT_ALL_CLOSE(N * Y, want, dy, 1e-7, 0);
    ASSERT_OK(ctx,
              npagg_decoder_loglik_backward_f64(ctx, decoder, N, S, b.py, b.y, b.dloglik, dpy, dy));
    for (int64_t i = 0; i < N * Y; i++)
        ASSERT_CLOSE(2 * want[i], dy[i], 0, 1e-5);
}

static void test_gaussian_loglik_gradients_are_differences(void)
{
    check_gradients(NPAGG_LIKELIHOOD_GAUSSIAN);
}

static void test_bernoulli_loglik_gradients_are_differences(void)
{
    check_gradients(NPAGG_LIKELIHOOD_BERNOULLI);
}

static void test_bernoulli_loglik_of_sure_logits_is_exact(void)
{
    make(NPAGG_LIKELIHOOD_BERNOULLI);
    const float logits[] = {1e30f, -1e30f, 60, -60, 1e30f, -1e30f}, y[] = {1, 0, 1, 0, 0, 1};
    const double want[] = {0, -2 * exp(-60), -2e30};
    float got[3], dpy[6] = {0}, dy[6] = {0}, one[] = {1, 1, 1};
    ASSERT_OK(ctx, npagg_decoder_loglik_f32(ctx, decoder, 3, 1, logits, y, got));
    for (int i = 0; i < 3; i++)
        ASSERT_CLOSE(want[i], (double)got[i], 1e-6, 0);
    ASSERT_OK(ctx, npagg_decoder_loglik_backward_f32(ctx, decoder, 3, 1, logits, y, one, dpy, dy));
    const double slope[] = {0, 0, exp(-60), -exp(-60), -1, 1};
    for (int i = 0; i < 6; i++)
        ASSERT_CLOSE(slope[i], (double)dpy[i], 1e-6, 1e-46);
}

static void test_loglik_of_bad_numbers_is_refused(void)
{
    make(NPAGG_LIKELIHOOD_GAUSSIAN);
    batch b = draw(0, 3);
    double out[N * S];
    for (int i = 0; i < N * S; i++)
        out[i] = 77;
    b.y[3] = NAN;
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "y[1,1] = nan",
                 npagg_decoder_loglik_f64(ctx, decoder, N, S, b.py, b.y, out));
    b.y[3] = 0;
    b.py[4 * 4 + 1] = INFINITY;
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "py[1,1,1] = inf, want finite",
                 npagg_decoder_loglik_f64(ctx, decoder, N, S, b.py, b.y, out));
    b.py[4 * 4 + 1] = 0;
    b.py[4 * 5 + 2] = 0;
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "py[1,2,2] = 0, want > 0",
                 npagg_decoder_loglik_f64(ctx, decoder, N, S, b.py, b.y, out));
    ASSERT_OK(ctx, npagg_decoder_set_likelihood(decoder, NPAGG_LIKELIHOOD_BERNOULLI));
    b.y[3] = 1.5;
    for (int i = 0; i < N * Y; i++)
        b.y[i] = i == 3 ? 1.5 : 0.5;
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "y[1,1] = 1.5, want 0..1",
                 npagg_decoder_loglik_f64(ctx, decoder, N, S, b.py, b.y, out));
    for (int i = 0; i < N * S; i++)
        TEST_ASSERT_TRUE(out[i] == 77);
}

static void test_loglik_without_a_needed_argument_names_it(void)
{
    make(NPAGG_LIKELIHOOD_GAUSSIAN);
    const batch b = draw(0, 4);
    double out[N * S];
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "decoder is NULL",
                 npagg_decoder_loglik_f64(ctx, NULL, N, S, b.py, b.y, out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "py is NULL",
                 npagg_decoder_loglik_f64(ctx, decoder, N, S, NULL, b.y, out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "y is NULL",
                 npagg_decoder_loglik_f64(ctx, decoder, N, S, b.py, NULL, out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "loglik is NULL",
                 npagg_decoder_loglik_f64(ctx, decoder, N, S, b.py, b.y, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n = -1",
                 npagg_decoder_loglik_f64(ctx, decoder, -1, S, b.py, b.y, out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_samples = 0",
                 npagg_decoder_loglik_f64(ctx, decoder, N, 0, b.py, b.y, out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit",
                 npagg_decoder_loglik_f64(ctx, decoder, INT64_MAX / 4, 4, b.py, b.y, out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "dloglik is NULL",
                 npagg_decoder_loglik_backward_f64(ctx, decoder, N, S, b.py, b.y, NULL, out, NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG,
                            npagg_decoder_loglik_f64(NULL, decoder, N, S, b.py, b.y, out));
    ASSERT_OK(ctx, npagg_decoder_loglik_f64(ctx, decoder, 0, S, NULL, NULL, NULL));
}

/* More points than one item of work, on several threads. */
static void test_loglik_gives_the_same_bits_on_any_number_of_threads(void)
{
    enum { MANY = 2000 };
    make(NPAGG_LIKELIHOOD_GAUSSIAN);
    test_rng rng = {5};
    double *py = normals_of(&rng, MANY * S * 2 * Y), *y = normals_of(&rng, MANY * Y);
    double *want = zeros_of(MANY * S), *got = zeros_of(MANY * S);
    double *dwant = zeros_of(MANY * Y), *dgot = zeros_of(MANY * Y);
    for (int64_t i = 0; i < MANY * S * 2 * Y; i++)
        py[i] = fabs(py[i]) + 0.1;
    ASSERT_OK(ctx, npagg_decoder_loglik_f64(ctx, decoder, MANY, S, py, y, want));
    ASSERT_OK(ctx,
              npagg_decoder_loglik_backward_f64(ctx, decoder, MANY, S, py, y, want, NULL, dwant));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 3));
    ASSERT_OK(ctx, npagg_decoder_loglik_f64(ctx, decoder, MANY, S, py, y, got));
    ASSERT_OK(ctx,
              npagg_decoder_loglik_backward_f64(ctx, decoder, MANY, S, py, y, want, NULL, dgot));
    ASSERT_SAME_BITS(MANY * S * 8, want, got);
    ASSERT_SAME_BITS(MANY * Y * 8, dwant, dgot);
    free(py);
    free(y);
    free(want);
    free(got);
    free(dwant);
    free(dgot);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_gaussian_loglik_is_the_textbooks);
    RUN_TEST(test_bernoulli_loglik_is_the_textbooks);
    RUN_TEST(test_gaussian_loglik_gradients_are_differences);
    RUN_TEST(test_bernoulli_loglik_gradients_are_differences);
    RUN_TEST(test_bernoulli_loglik_of_sure_logits_is_exact);
    RUN_TEST(test_loglik_of_bad_numbers_is_refused);
    RUN_TEST(test_loglik_without_a_needed_argument_names_it);
    RUN_TEST(test_loglik_gives_the_same_bits_on_any_number_of_threads);
    return UNITY_END();
}
