/*
 * Every function of the binding in both precisions, once as it should be and once with each array
 * of a wrong size. functions.sh asks of this program that it needs every symbol of the library, so
 * nothing here may call the C functions by name.
 */
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <npagg/npagg.hpp>
#include <unistd.h>

#include "claims.hpp"
#include "counting.hpp"
#include "stock.hpp"

namespace
{

/* A batch: two sets of two rows and one row; shapes that differ in every size. */
const std::vector<std::int64_t> offsets = {0, 2, 3};
constexpr std::int64_t B = 2, N = 3, D = 4, K = 2, X = 2, Y = 3, S = 5, O = 2 * Y;
constexpr std::int64_t P = K * D * 2 + K + 1, Q = K * D * 2 + K; /* of the mixture below */

struct shapes {
    npagg::context ctx = npagg::context::create();
    npagg::cache cache = npagg::cache::create(ctx);
    npagg::prior prior = npagg::prior::mixture(ctx, D, K);
    npagg::prior one = npagg::prior::gaussian(ctx, D);
    npagg::vmp vmp = npagg::vmp::create(ctx);
    npagg::encoder encoder = npagg::encoder::mlp(ctx, X, Y, D, {6});
    npagg::decoder decoder = npagg::decoder::mlp(ctx, X, Y, D, {6});
    npagg::objective objective = npagg::objective::create(ctx, npagg::loss_kind::iwae);
    npagg::model model;

    shapes()
    {
        prior.set_robust(true);
        vmp.set_max_iters(50);
        vmp.set_tolerance(1e-4);
        vmp.set_grad(npagg::grad_mode::implicit);
        vmp.set_weights(true);
        encoder.set_activation(npagg::activation::softplus);
        encoder.set_var_range(0.01, 2);
        encoder.set_trunk(true);
        decoder.set_activation(npagg::activation::gelu);
        decoder.set_likelihood(npagg::likelihood::gaussian);
        decoder.set_sd_floor(0.2);
        objective.set_points(npagg::points::all);
        objective.set_normalise(npagg::normalise::points);
        objective.set_samples(S);
        objective.set_sampling(npagg::sampling::chosen);
        objective.set_kl(npagg::kl_kind::automatic);
        model = npagg::model::create(ctx, encoder, prior, vmp, decoder, objective);
    }
};

template <class T>
void call_prior()
{
    shapes s;
    stock<T>::check("prior.init_params",
                    [&](auto &a) { s.prior.init_params(s.ctx, 1, a("params", P)); });
    stock<T>::check("prior.constrained",
                    [&](auto &a) { s.prior.constrained(s.ctx, a("params", P), a("result", P)); });
    CLAIM(s.prior.param_count() == P && s.prior.param_offset("log_c0") == P - 1);
    CLAIM(s.prior.posterior_count() == Q && s.prior.posterior_offset("logw") == Q - K);
    CLAIM(s.prior.param_offset("no such field") == -1);
}

template <class T>
void call_infer()
{
    shapes s;
    const auto forward = [&](auto &a) {
        npagg::infer_forward(s.ctx, s.prior, s.vmp, a("params", P), offsets, a("m", N * D),
                             a("v", N * D), a("weight", N), a("q", B * Q), a("logz", B), &s.cache);
    };
    const auto backward = [&](auto &a) {
        npagg::infer_backward(s.ctx, s.prior, s.vmp, a("params", P), offsets, a("m", N * D),
                              a("v", N * D), a("weight", N), a("dq", B * Q), a("dlogz", B),
                              a("dparams", P), a("dm", N * D), a("dv", N * D), a("dweight", N),
                              s.cache);
    };
    stock<T>::check("infer_forward", forward);
    stock<T> good;
    forward(good);
    stock<T>::check("infer_backward", backward);
    std::vector<std::int32_t> iters(B);
    npagg::infer_iters(s.ctx, s.cache, iters);
    CLAIM(iters[0] > 1 && iters[0] <= 50);
    stock<T>::check("infer_weights",
                    [&](auto &a) { npagg::infer_weights(s.ctx, s.cache, a("w", N)); });
    stock<double>::check("infer_iters", [&](auto &a) {
        npagg::infer_iters(s.ctx, s.cache, a.components("iters", B));
    });
    stock<double>::check("infer_grad_iters", [&](auto &a) {
        npagg::infer_grad_iters(s.ctx, s.cache, a.components("n", B));
    });
    stock<double>::check("infer_residual",
                         [&](auto &a) { npagg::infer_residual(s.ctx, s.cache, a("residual", B)); });
    stock<double>::check("infer_trace", [&](auto &a) {
        npagg::infer_trace(s.ctx, s.cache, 0, a("bound", iters[0]));
    });
}

template <class T>
void call_encoder()
{
    shapes s;
    const std::int64_t p = s.encoder.param_count();
    stock<T>::check("encoder.init_params",
                    [&](auto &a) { s.encoder.init_params(s.ctx, 1, a("params", p)); });
    const auto forward = [&](auto &a) {
        s.encoder.forward(s.ctx, a("params", p), offsets, a("x", N * X), a("y", N * Y),
                          a("m", N * D), a("v", N * D), &s.cache);
    };
    stock<T>::check("encoder.forward", forward);
    stock<T> good;
    forward(good);
    stock<T>::check("encoder.backward", [&](auto &a) {
        s.encoder.backward(s.ctx, a("params", p), offsets, a("x", N * X), a("y", N * Y),
                           a("dm", N * D), a("dv", N * D), a("dparams", p), a("dx", N * X),
                           a("dy", N * Y), s.cache);
    });
    CLAIM(s.encoder.param_offset("trunk.0.weight") == 0 && !s.encoder.per_set());
}

/* Encoders of sets, and a model of one. */
template <class T>
void call_sets()
{
    shapes s;
    npagg::encoder mean = npagg::encoder::mean(s.ctx, X, Y, D, {6, 5}, {4});
    npagg::encoder attention = npagg::encoder::attention(s.ctx, X, Y, D, {6}, 3, {4, 5});
    for (npagg::encoder *e : {&mean, &attention}) {
        const std::int64_t p = e->param_count();
        const auto forward = [&](auto &a) {
            e->forward(s.ctx, a("params", p), offsets, a("x", N * X), a("y", N * Y), a("m", B * D),
                       a("v", B * D), &s.cache);
        };
        stock<T>::check("encoder.forward", forward);
        stock<T> good;
        forward(good);
        stock<T>::check("encoder.backward", [&](auto &a) {
            e->backward(s.ctx, a("params", p), offsets, a("x", N * X), a("y", N * Y),
                        a("dm", B * D), a("dv", B * D), a("dparams", p), a("dx", N * X),
                        a("dy", N * Y), s.cache);
        });
        CLAIM(e->per_set() && e->param_offset("pre.0.weight") == 0);
        const npagg::model m =
            npagg::model::create(s.ctx, *e, npagg::prior(), npagg::vmp(), s.decoder, s.objective);
        CLAIM(m.size("q") == 2 * D && m.size("k") == 1 && m.param_offset("prior") == -1);
        CLAIM(m.param_count() == p + s.decoder.param_count());
    }
}

template <class T>
void call_decoder()
{
    shapes s;
    const std::int64_t p = s.decoder.param_count();
    stock<T>::check("decoder.init_params",
                    [&](auto &a) { s.decoder.init_params(s.ctx, 1, a("params", p)); });
    const auto forward = [&](auto &a) {
        s.decoder.forward(s.ctx, a("params", p), offsets, S, a("x", N * X), a("z", B * S * D),
                          a("py", N * S * O), &s.cache);
    };
    stock<T>::check("decoder.forward", forward);
    stock<T> good;
    forward(good);
    stock<T>::check("decoder.backward", [&](auto &a) {
        s.decoder.backward(s.ctx, a("params", p), offsets, S, a("x", N * X), a("z", B * S * D),
                           a("dpy", N * S * O), a("dparams", p), a("dx", N * X), a("dz", B * S * D),
                           s.cache);
    });
    stock<T>::check("decoder.loglik", [&](auto &a) {
        s.decoder.loglik(s.ctx, S, a("py", N * S * O), a("y", N * Y), a("result", N * S));
    });
    stock<T>::check("decoder.loglik_backward", [&](auto &a) {
        s.decoder.loglik_backward(s.ctx, S, a("py", N * S * O), a("y", N * Y), a("dloglik", N * S),
                                  a("dpy", N * S * O), a("dy", N * Y));
    });
    CLAIM(s.decoder.output_count() == O && s.decoder.param_offset("sd.1.bias") == p - Y);
}

template <class T>
void call_samples()
{
    shapes s;
    const auto mode = npagg::sampling::pathwise;
    stock<T>::check("posterior_sample", [&](auto &a) {
        npagg::posterior_sample(s.ctx, s.prior, mode, S, a("q", B * Q), a("noise", B * S * D),
                                a.components("which", B * S), a("z", B * S * D), a("logw", B * S));
    });
    stock<T>::check("posterior_sample_backward", [&](auto &a) {
        npagg::posterior_sample_backward(s.ctx, s.prior, mode, S, a("q", B * Q),
                                         a("noise", B * S * D), a.components("which", B * S),
                                         a("dz", B * S * D), a("dlogw", B * S), a("dq", B * Q));
    });
    stock<T>::check("posterior_choose", [&](auto &a) {
        npagg::posterior_choose(s.ctx, s.prior, S, a("q", B * Q), a("u", B * S),
                                a.components("which", B * S));
    });
    stock<T>::check("posterior_logpdf", [&](auto &a) {
        npagg::posterior_logpdf(s.ctx, s.prior, S, a("q", B * Q), a("z", B * S * D),
                                a("logq", B * S));
    });
    stock<T>::check("posterior_logpdf_backward", [&](auto &a) {
        npagg::posterior_logpdf_backward(s.ctx, s.prior, S, a("q", B * Q), a("z", B * S * D),
                                         a("dlogq", B * S), a("dq", B * Q), a("dz", B * S * D));
    });
}

template <class T>
void call_averages()
{
    shapes s;
    const auto kind = npagg::kl_kind::sampled;
    stock<T>::check("posterior_kl", [&](auto &a) {
        npagg::posterior_kl(s.ctx, s.prior, kind, S, a("q", B * Q), a("r", B * Q),
                            a("z", B * S * D), a("logw", B * S), a("result", B));
    });
    stock<T>::check("posterior_kl_backward", [&](auto &a) {
        npagg::posterior_kl_backward(s.ctx, s.prior, kind, S, a("q", B * Q), a("r", B * Q),
                                     a("z", B * S * D), a("logw", B * S), a("dkl", B),
                                     a("dq", B * Q), a("dr", B * Q), a("dz", B * S * D),
                                     a("dlogw", B * S));
    });
    stock<T>::check("posterior_moments", [&](auto &a) {
        npagg::posterior_moments(s.ctx, s.one, a("q", B * 2 * D), a("mean", B * D),
                                 a("var", B * D));
    });
    stock<T>::check("posterior_moments_backward", [&](auto &a) {
        npagg::posterior_moments_backward(s.ctx, s.one, a("q", B * 2 * D), a("dmean", B * D),
                                          a("dvar", B * D), a("dq", B * 2 * D));
    });
    stock<T>::check("posterior_entropy", [&](auto &a) {
        npagg::posterior_entropy(s.ctx, s.prior, S, a("q", B * Q), a("z", B * S * D),
                                 a("logw", B * S), a("entropy", B));
    });
    stock<T>::check("posterior_entropy_backward", [&](auto &a) {
        npagg::posterior_entropy_backward(s.ctx, s.prior, S, a("q", B * Q), a("z", B * S * D),
                                          a("logw", B * S), a("dentropy", B), a("dq", B * Q),
                                          a("dz", B * S * D), a("dlogw", B * S));
    });
}

template <class T>
void call_model()
{
    shapes s;
    const std::int64_t p = s.model.param_count();
    stock<T>::check("model.init_params",
                    [&](auto &a) { s.model.init_params(s.ctx, 1, a("params", p)); });
    const auto forward = [&](auto &a) {
        s.model.forward(s.ctx, a("params", p), offsets, a.sizes("n_ctx", {1, 0}), a("x", N * X),
                        a("y", N * Y), a("noise", B * S * D), a.components("which", B * S),
                        a("loss", B), &s.cache);
    };
    stock<T>::check("model.forward", forward);
    stock<T> good;
    forward(good);
    stock<T>::check("model.backward", [&](auto &a) {
        s.model.backward(s.ctx, a("params", p), offsets, a.sizes("n_ctx", {1, 0}), a("x", N * X),
                         a("y", N * Y), a("noise", B * S * D), a.components("which", B * S),
                         a("dloss", B), a("dparams", p), s.cache);
    });
    stock<T>::check("model.step", [&](auto &a) {
        s.model.step(s.ctx, a("params", p), offsets, a.sizes("n_ctx", {1, 0}), a("x", N * X),
                     a("y", N * Y), a("noise", B * S * D), a.components("which", B * S),
                     a("dloss", B), a("loss", B), a("dparams", p));
    });
    CLAIM(s.model.size("d") == D && s.model.samples() == S && s.model.size("q") == Q);
    CLAIM(s.model.size("outputs") == O && s.model.size("x") == X && s.model.size("y") == Y);
}

template <class T>
void call_prediction()
{
    shapes s;
    const std::int64_t p = s.model.param_count(), M = 4, R = 7; /* targets, samples */
    stock<T>::check("model.predict", [&](auto &a) {
        s.model.predict(s.ctx, a("params", p), offsets, a("xc", N * X), a("yc", N * Y),
                        a.sizes("tgt_offsets", {0, 4, 4}), a("xt", M * X), a("yt", M * Y), R,
                        a("noise", B * R * D), a.components("which", B * R), a("mean", M * Y),
                        a("sd", M * Y), a("samples", M * R * O), a("loglik", M), a("weight", N));
    });
    stock<T>::check("model.infer", [&](auto &a) {
        s.model.infer(s.ctx, a("params", p), offsets, a("x", N * X), a("y", N * Y), a("q", B * Q));
    });
    stock<T>::check("model.choose", [&](auto &a) {
        s.model.choose(s.ctx, R, a("q", B * Q), a("u", B * R), a.components("which", B * R));
    });
}

/* A file that ends with the test. */
struct scratch_file {
    std::string name = (std::filesystem::temp_directory_path() /
                        ("npagg-cpp-" + std::to_string(::getpid()) + ".safetensors"))
                           .string();
    ~scratch_file() { std::remove(name.c_str()); }
};

template <class T>
void call_checkpoint()
{
    shapes s;
    const scratch_file file;
    const std::int64_t p = s.model.param_count();
    stock<T>::check("model.save", [&](auto &a) { s.model.save(s.ctx, a("params", p), file.name); });
    const npagg::model again = npagg::model::load(s.ctx, file.name.c_str());
    CLAIM(again.param_count() == p && again.tensor_count() == s.model.tensor_count());
    CLAIM(std::strcmp(again.tensor(0).name, "encoder.trunk.0.weight") == 0);
    CLAIM(again.tensor(0).rows == 6 && again.tensor(0).columns == X + Y);
    CLAIM(again.param_offset("prior") == s.encoder.param_count());
    stock<T>::check("model.load_params",
                    [&](auto &a) { again.load_params(s.ctx, file.name, a("params", p)); });
    const std::vector<T> state = {1, 2, 3};
    std::vector<T> back(3);
    npagg::save_extra(s.ctx, file.name, "state", state);
    npagg::load_extra(s.ctx, file.name, "state", back);
    CLAIM(back == state);
}

template <class T>
void call_random()
{
    std::vector<T> normal(1000), uniform(1000);
    npagg::noise_fill(1, 2, normal);
    npagg::uniform_fill(1, 2, uniform);
    T most = 0, least = 1, sum = 0;
    for (std::size_t i = 0; i < uniform.size(); i++) {
        most = std::max(most, uniform[i]);
        least = std::min(least, uniform[i]);
        sum += normal[i];
    }
    CLAIM(least > 0 && most < 1 && most - least > T(0.9));
    CLAIM(std::fabs(double(sum)) < 200);
}

/* One test function per precision of each of the above. */
#define BOTH(name)                                                                                 \
    void test_##name##_of_float_measures_its_arrays()                                              \
    {                                                                                              \
        call_##name<float>();                                                                      \
    }                                                                                              \
    void test_##name##_of_double_measures_its_arrays()                                             \
    {                                                                                              \
        call_##name<double>();                                                                     \
    }
#define BOTH_TESTS(name)                                                                           \
    TEST(test_##name##_of_float_measures_its_arrays),                                              \
        TEST(test_##name##_of_double_measures_its_arrays)

BOTH(prior)
BOTH(infer)
BOTH(encoder)
BOTH(sets)
BOTH(decoder)
BOTH(samples)
BOTH(averages)
BOTH(model)
BOTH(prediction)
BOTH(checkpoint)
BOTH(random)

void test_context_works_as_it_is_told()
{
    counting_resource memory;
    auto ctx = npagg::context::create_with(memory);
    ctx.set_threads(2);
    CLAIM(*ctx.error() == 0);
    auto student = npagg::prior::student(ctx, 2);
    CLAIM(student.param_count() == 3);
    auto cache = npagg::cache::create(ctx);
    CLAIM(cache.bytes() == 0);
    CLAIM(std::string(npagg::version()).find('.') != std::string::npos);
    CLAIM(std::strcmp(npagg::status(NPAGG_E_IO, "text").name(), "NPAGG_E_IO") == 0);
}

} // namespace

int main()
{
    return claims::run(__FILE__,
                       {BOTH_TESTS(prior), BOTH_TESTS(infer), BOTH_TESTS(encoder), BOTH_TESTS(sets),
                        BOTH_TESTS(decoder), BOTH_TESTS(samples), BOTH_TESTS(averages),
                        BOTH_TESTS(model), BOTH_TESTS(prediction), BOTH_TESTS(checkpoint),
                        BOTH_TESTS(random), TEST(test_context_works_as_it_is_told)});
}
