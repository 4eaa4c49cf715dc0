/* What is refused besides wrong sizes, and what the exceptions say. */
#include <functional>
#include <npagg/npagg.hpp>

#include "claims.hpp"

namespace
{

using reals = std::vector<double>;

/* The call throws this code with this text in it. */
void refuses(npagg_status code, const char *text, const std::function<void()> &call, int line)
{
    try {
        call();
        claims::claim(false, line, text, "is not refused");
    } catch (const npagg::error &e) {
        claims::claim(e.code() == code, line, text, std::string("has code ") + e.status().name());
        claims::claim(std::strstr(e.what(), text) != nullptr, line, text,
                      std::string("got: ") + e.what());
        claims::claim(std::strcmp(e.what(), e.status().text()) == 0, line, text);
    }
}

#define REFUSES(code, text, call)                                                                  \
    refuses(                                                                                       \
        code, text, [&] { call; }, __LINE__)

/* Two sets of one row each under N(0, 1). */
struct bench {
    npagg::context ctx = npagg::context::create();
    npagg::cache cache = npagg::cache::create(ctx);
    npagg::prior prior = npagg::prior::gaussian(ctx, 1);
    const std::vector<std::int64_t> offsets = {0, 1, 2};
    reals params = {0, 0}, m = {1, 2}, v = {1, 1}, q = reals(4, 7);

    void forward()
    {
        npagg::infer_forward(ctx, prior, {}, params, offsets, m, v, {}, q, {}, &cache);
    }
};

void test_refusal_says_what_the_library_says()
{
    bench t;
    t.v[1] = -0.5;
    REFUSES(NPAGG_E_NUMERIC, "v[1,0] = -0.5", t.forward());
    CLAIM(t.q == reals(4, 7));
    REFUSES(NPAGG_E_ARG, "", npagg::prior::mixture(t.ctx, 2, 0));
    REFUSES(NPAGG_E_IO, "no/such/file", npagg::model::load(t.ctx, std::string("no/such/file")));
    REFUSES(NPAGG_E_ARG, "want 1..256", t.ctx.set_threads(257));
}

void test_refusal_of_a_size_leaves_everything_as_it_was()
{
    bench t;
    t.forward();
    const std::size_t bytes = t.cache.bytes();
    const reals before = t.q;
    t.m.push_back(3);
    REFUSES(NPAGG_E_ARG, "infer_forward: m has 3 elements, want 2 = [N,D]", t.forward());
    CLAIM(t.q == before && t.cache.bytes() == bytes);
}

void test_offsets_are_refused()
{
    bench t;
    reals q2(2);
    const auto with = [&](npagg::sizes_view offsets) {
        npagg::infer_forward(t.ctx, t.prior, {}, t.params, offsets, t.m, t.v, {}, t.q);
    };
    REFUSES(NPAGG_E_ARG, "infer_forward: offsets has 0 elements", with({}));
    REFUSES(NPAGG_E_ARG, "infer_forward: offsets ends with a negative", with({0, 1, -1}));
    REFUSES(NPAGG_E_ARG, "offsets", with({0, 3, 2}));
    REFUSES(NPAGG_E_ARG, "offsets", with({1, 1, 2}));
    REFUSES(NPAGG_E_ARG, "m has 2 elements, want 9223372036854775807",
            with({0, 1, std::numeric_limits<std::int64_t>::max()}));
}

void test_arrays_that_were_left_out_or_forgotten_are_told_apart()
{
    bench t;
    t.forward();
    reals forgotten, dm(2);
    const reals dq(4, 1);
    const auto backward = [&](npagg::view<double> dparams) {
        npagg::infer_backward(t.ctx, t.prior, {}, t.params, t.offsets, t.m, t.v, {}, dq, {},
                              dparams, dm, {}, {}, t.cache);
    };
    backward({});
    backward(nullptr);
    CLAIM(dm[0] != 0);
    REFUSES(NPAGG_E_ARG, "infer_backward: dparams has 0 elements, want 2 = [P]",
            backward(forgotten));
    REFUSES(NPAGG_E_ARG, "infer_forward: q has 0 elements, want 4 = [B,Q]",
            npagg::infer_forward(t.ctx, t.prior, {}, t.params, t.offsets, t.m, t.v, {}, {}));
}

void test_empty_handles_are_refused()
{
    bench t;
    npagg::context none;
    npagg::prior gone = std::move(t.prior);
    reals x(2);
    REFUSES(NPAGG_E_ARG, "prior is an empty handle", t.forward());
    REFUSES(NPAGG_E_ARG, "encoder is an empty handle", npagg::encoder().init_params(t.ctx, 1, x));
    REFUSES(NPAGG_E_ARG, "decoder is an empty handle",
            npagg::decoder().forward(t.ctx, x, t.offsets, 1, x, x, x));
    REFUSES(NPAGG_E_ARG, "model is an empty handle", npagg::model().save(t.ctx, x, "nowhere"));
    REFUSES(NPAGG_E_ARG, "the context is NULL", npagg::prior::gaussian(none, 1));
    REFUSES(NPAGG_E_ARG, "the context is NULL", gone.init_params(none, 0, x));
    REFUSES(NPAGG_E_ARG, "", npagg::model::create(t.ctx, {}, {}, {}, {}, {}));
}

void test_settings_out_of_range_are_refused()
{
    auto ctx = npagg::context::create();
    auto vmp = npagg::vmp::create(ctx);
    auto encoder = npagg::encoder::mlp(ctx, 1, 1, 1, {});
    auto decoder = npagg::decoder::mlp(ctx, 1, 1, 1, {});
    auto objective = npagg::objective::create(ctx, npagg::loss_kind::ml);
    REFUSES(NPAGG_E_ARG, "vmp.set_max_iters", vmp.set_max_iters(0));
    REFUSES(NPAGG_E_ARG, "vmp.set_tolerance", vmp.set_tolerance(-1));
    REFUSES(NPAGG_E_ARG, "vmp.set_grad", vmp.set_grad(npagg::grad_mode(9)));
    REFUSES(NPAGG_E_ARG, "vmp.set_weights", npagg::vmp().set_weights(true));
    REFUSES(NPAGG_E_ARG, "encoder.set_activation", encoder.set_activation(npagg::activation(-1)));
    REFUSES(NPAGG_E_ARG, "encoder.set_var_range", encoder.set_var_range(2, 1));
    REFUSES(NPAGG_E_ARG, "encoder.set_trunk", encoder.set_trunk(true));
    REFUSES(NPAGG_E_ARG, "decoder.set_activation", decoder.set_activation(npagg::activation(99)));
    REFUSES(NPAGG_E_ARG, "decoder.set_likelihood", decoder.set_likelihood(npagg::likelihood(2)));
    REFUSES(NPAGG_E_ARG, "decoder.set_sd_floor", decoder.set_sd_floor(1));
    REFUSES(NPAGG_E_ARG, "objective.set_points", objective.set_points(npagg::points(2)));
    REFUSES(NPAGG_E_ARG, "objective.set_normalise", objective.set_normalise(npagg::normalise(2)));
    REFUSES(NPAGG_E_ARG, "objective.set_samples", objective.set_samples(0));
    REFUSES(NPAGG_E_ARG, "objective.set_sampling", objective.set_sampling(npagg::sampling(3)));
    REFUSES(NPAGG_E_ARG, "objective.set_kl", objective.set_kl(npagg::kl_kind(4)));
    REFUSES(NPAGG_E_ARG, "", npagg::objective::create(ctx, npagg::loss_kind(4)));
}

void test_look_ups_want_a_cache_with_an_inference()
{
    bench t;
    std::vector<std::int32_t> iters(2);
    reals w(2), bound(1);
    REFUSES(NPAGG_E_STATE, "infer_iters: store holds no inference",
            npagg::infer_iters(t.ctx, t.cache, iters));
    t.forward();
    npagg::infer_iters(t.ctx, t.cache, iters);
    CLAIM(iters[0] == 1 && iters[1] == 1);
    std::vector<float> w32(2);
    REFUSES(NPAGG_E_STATE, "", npagg::infer_weights(t.ctx, t.cache, w32));
    REFUSES(NPAGG_E_STATE, "", npagg::infer_trace(t.ctx, t.cache, 0, bound));
    REFUSES(NPAGG_E_ARG, "infer_trace: set is not one", npagg::infer_trace(t.ctx, t.cache, 2, w));
    t.v[0] = 0;
    REFUSES(NPAGG_E_NUMERIC, "v[0,0]", t.forward());
    REFUSES(NPAGG_E_STATE, "infer_weights: store holds no inference",
            npagg::infer_weights(t.ctx, t.cache, w));
}

void test_weights_are_refused_only_where_they_were_not_wanted()
{
    bench t;
    auto vmp = npagg::vmp::create(t.ctx);
    reals w(2), logz(2);
    t.prior.set_robust(true);
    t.params = {0, 0, 0};
    const auto forward = [&](npagg::view<double> evidence) {
        npagg::infer_forward(t.ctx, t.prior, vmp, t.params, t.offsets, t.m, t.v, {}, t.q, evidence,
                             &t.cache);
    };
    vmp.set_weights(false);
    forward({});
    REFUSES(NPAGG_E_STATE, "npagg_vmp_set_weights", npagg::infer_weights(t.ctx, t.cache, w));
    forward(logz);
    npagg::infer_weights(t.ctx, t.cache, w);
    const reals kept = w;
    vmp.set_weights(true);
    forward({});
    npagg::infer_weights(t.ctx, t.cache, w);
    CLAIM(w == kept && w[0] > 0);
}

void test_numbers_of_samples_are_refused()
{
    bench t;
    reals z(2), logq(2);
    REFUSES(NPAGG_E_ARG, "posterior_logpdf: z cannot be measured",
            npagg::posterior_logpdf(t.ctx, t.prior, -1, t.q, z, logq));
    REFUSES(NPAGG_E_ARG, "posterior_logpdf: z has 2 elements, want 9223372036854775807",
            npagg::posterior_logpdf(t.ctx, t.prior, std::int64_t(1) << 62, t.q, z, logq));
}

void test_error_is_a_standard_exception()
{
    bool caught = false;
    try {
        auto ctx = npagg::context::create();
        npagg::prior::gaussian(ctx, 0);
    } catch (const std::exception &e) {
        caught = *e.what() != 0;
    }
    CLAIM(caught);
    CLAIM(std::is_nothrow_copy_constructible_v<npagg::error>);
}

} // namespace

int main()
{
    return claims::run(__FILE__,
                       {
                           TEST(test_refusal_says_what_the_library_says),
                           TEST(test_refusal_of_a_size_leaves_everything_as_it_was),
                           TEST(test_offsets_are_refused),
                           TEST(test_arrays_that_were_left_out_or_forgotten_are_told_apart),
                           TEST(test_empty_handles_are_refused),
                           TEST(test_settings_out_of_range_are_refused),
                           TEST(test_look_ups_want_a_cache_with_an_inference),
                           TEST(test_weights_are_refused_only_where_they_were_not_wanted),
                           TEST(test_numbers_of_samples_are_refused),
                           TEST(test_error_is_a_standard_exception),
                       });
}
