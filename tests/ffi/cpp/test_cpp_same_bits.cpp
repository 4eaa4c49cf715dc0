/* The binding gives the bits of the C functions, in both precisions, and keeps no array. */
#include <array>
#include <npagg/npagg.hpp>

#include "claims.hpp"

npagg_status code_of_a_bad_prior(); /* returning_part.cpp */

namespace
{

/* The C functions of a precision. */
template <class T>
struct c_calls;
template <>
struct c_calls<float> {
    static constexpr auto noise = npagg_noise_fill_f32;
    static constexpr auto uniform = npagg_uniform_fill_f32;
    static constexpr auto forward = npagg_infer_forward_f32;
    static constexpr auto backward = npagg_infer_backward_f32;
    static constexpr auto init = npagg_model_init_params_f32;
    static constexpr auto step = npagg_model_step_f32;
};
template <>
struct c_calls<double> {
    static constexpr auto noise = npagg_noise_fill_f64;
    static constexpr auto uniform = npagg_uniform_fill_f64;
    static constexpr auto forward = npagg_infer_forward_f64;
    static constexpr auto backward = npagg_infer_backward_f64;
    static constexpr auto init = npagg_model_init_params_f64;
    static constexpr auto step = npagg_model_step_f64;
};

template <class T>
bool same_bits(const std::vector<T> &a, const std::vector<T> &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

constexpr std::array<std::int64_t, 4> offsets = {0, 40, 40, 47};
constexpr std::size_t sets = 3, rows = 47, d = 5;

template <class T>
std::vector<T> uniform(std::uint64_t stream, std::size_t n)
{
    std::vector<T> out(n);
    CLAIM(c_calls<T>::uniform(7, stream, static_cast<std::int64_t>(n), out.data()) == NPAGG_OK);
    return out;
}

template <class T>
void compare_inference()
{
    using c = c_calls<T>;
    auto ctx = npagg::context::create();
    auto cache = npagg::cache::create(ctx), other = npagg::cache::create(ctx);
    auto prior = npagg::prior::mixture(ctx, d, 2);
    prior.set_robust(true);
    const std::size_t p = std::size_t(prior.param_count());
    const std::size_t nq = sets * std::size_t(prior.posterior_count());
    std::vector<T> params(p), q(nq), want_q(nq), logz(sets), want_logz(sets);
    std::vector<T> dm(rows * d), want_dm(rows * d), dparams(p), want_dparams(p);
    const auto m = uniform<T>(1, rows * d), v = uniform<T>(2, rows * d), dq = uniform<T>(3, nq);
    prior.init_params(ctx, 1, params);
    npagg::infer_forward(ctx, prior, {}, params, offsets, m, v, {}, q, logz, &cache);
    npagg::infer_backward(ctx, prior, {}, params, offsets, m, v, {}, dq, logz, dparams, dm, {}, {},
                          cache);
    CLAIM(c::forward(ctx.get(), prior.get(), nullptr, params.data(), 3, offsets.data(), m.data(),
                     v.data(), nullptr, want_q.data(), want_logz.data(), other.get()) == NPAGG_OK);
    CLAIM(c::backward(ctx.get(), prior.get(), nullptr, params.data(), 3, offsets.data(), m.data(),
                      v.data(), nullptr, dq.data(), want_logz.data(), want_dparams.data(),
                      want_dm.data(), nullptr, nullptr, other.get()) == NPAGG_OK);
    CLAIM(same_bits(q, want_q) && same_bits(logz, want_logz));
    CLAIM(same_bits(dm, want_dm) && same_bits(dparams, want_dparams));
    CLAIM(q[0] != 0 && dm[0] != 0 && dparams[0] != 0);
}

template <class T>
void compare_model()
{
    using c = c_calls<T>;
    auto ctx = npagg::context::create();
    const auto encoder = npagg::encoder::mlp(ctx, 1, 1, d, {4});
    const auto decoder = npagg::decoder::mlp(ctx, 1, 1, d, {4});
    const auto prior = npagg::prior::student(ctx, d);
    const auto objective = npagg::objective::create(ctx, npagg::loss_kind::elbo);
    const auto model = npagg::model::create(ctx, encoder, prior, {}, decoder, objective);
    const std::size_t p = std::size_t(model.param_count());
    const std::array<std::int64_t, sets> n_ctx = {10, 0, 3};
    std::vector<T> params(p), want(p), grad(p), want_grad(p), loss(sets), want_loss(sets);
    std::vector<T> noise(sets * 5 * d), want_noise(noise.size());
    const auto x = uniform<T>(1, rows), y = uniform<T>(2, rows), dloss = uniform<T>(3, sets);
    model.init_params(ctx, 3, params);
    npagg::noise_fill(5, 6, noise);
    model.step(ctx, params, offsets, n_ctx, x, y, noise, {}, dloss, loss, grad);
    CLAIM(c::init(ctx.get(), model.get(), 3, want.data()) == NPAGG_OK);
    CLAIM(c::noise(5, 6, std::int64_t(noise.size()), want_noise.data()) == NPAGG_OK);
    CLAIM(c::step(ctx.get(), model.get(), want.data(), 3, offsets.data(), n_ctx.data(), x.data(),
                  y.data(), want_noise.data(), nullptr, dloss.data(), want_loss.data(),
                  want_grad.data()) == NPAGG_OK);
    CLAIM(same_bits(params, want) && same_bits(noise, want_noise));
    CLAIM(same_bits(loss, want_loss) && same_bits(grad, want_grad));
    CLAIM(loss[0] != 0 && grad[0] != 0);
}

void test_inference_in_float_has_the_bits_of_c()
{
    compare_inference<float>();
}
void test_inference_in_double_has_the_bits_of_c()
{
    compare_inference<double>();
}
void test_model_in_float_has_the_bits_of_c()
{
    compare_model<float>();
}
void test_model_in_double_has_the_bits_of_c()
{
    compare_model<double>();
}

/* One program may throw here and return there. */
void test_both_ways_to_fail_live_in_one_program()
{
    npagg_status thrown = NPAGG_OK;
    try {
        auto ctx = npagg::context::create();
        const auto prior = npagg::prior::gaussian(ctx, -3);
    } catch (const npagg::error &e) {
        thrown = e.code();
    }
    CLAIM(thrown == NPAGG_E_ARG && code_of_a_bad_prior() == NPAGG_E_ARG);
}

} // namespace

int main()
{
    return claims::run(__FILE__, {
                                     TEST(test_inference_in_float_has_the_bits_of_c),
                                     TEST(test_inference_in_double_has_the_bits_of_c),
                                     TEST(test_model_in_float_has_the_bits_of_c),
                                     TEST(test_model_in_double_has_the_bits_of_c),
                                     TEST(test_both_ways_to_fail_live_in_one_program),
                                 });
}
