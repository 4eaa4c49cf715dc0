/* Every stage through the binding has the bits of the C call with the same arrays in C's order. */
#include <npagg/npagg.hpp>

#include "claims.hpp"

namespace
{

constexpr std::int64_t B = 2, N = 5, D = 3, K = 2, X = 2, Y = 2, S = 4, O = 2 * Y, M = 4;
constexpr std::int64_t Q = 2 * K * D + K;
const std::vector<std::int64_t> offsets = {0, 3, 5}, targets = {0, 1, 4}, n_ctx = {2, 1};
const std::vector<std::int32_t> which = {0, 1, 1, 0, 1, 0, 0, 1};

/* Uniform numbers, others for each array. */
template <class T>
struct source {
    std::uint64_t stream = 0;
    std::vector<T> operator()(std::int64_t n)
    {
        std::vector<T> out(static_cast<std::size_t>(n));
        npagg::uniform_fill(9, stream++, out);
        return out;
    }
};

/* Outputs of both calls: [i] of each, and whether they are the same and something. */
template <class T>
struct pair {
    std::vector<std::vector<T>> cpp, c;

    pair(std::initializer_list<std::int64_t> sizes)
    {
        for (std::int64_t n : sizes)
            cpp.emplace_back(static_cast<std::size_t>(n), T(0));
        c = cpp;
    }
    void check(int line) const
    {
        for (std::size_t i = 0; i < c.size(); i++) {
            const std::string number = std::to_string(i);
            bool something = false;
            for (T x : c[i])
                something = something || x != 0;
            claims::claim(something, line, "zeros in output", number);
            claims::claim(std::memcmp(c[i].data(), cpp[i].data(), c[i].size() * sizeof(T)) == 0,
                          line, "other bits in output", number);
        }
    }
};

struct shapes {
    npagg::context ctx = npagg::context::create();
    npagg::cache one = npagg::cache::create(ctx), two = npagg::cache::create(ctx);
    npagg::prior prior = npagg::prior::mixture(ctx, D, K);
    npagg::encoder encoder = npagg::encoder::mlp(ctx, X, Y, D, {7});
    npagg::decoder decoder = npagg::decoder::mlp(ctx, X, Y, D, {6});
    npagg::objective objective = npagg::objective::create(ctx, npagg::loss_kind::elbo);
    npagg::model model;

    shapes()
    {
        objective.set_samples(S);
        objective.set_sampling(npagg::sampling::chosen);
        model = npagg::model::create(ctx, encoder, prior, {}, decoder, objective);
    }
};

void ok(npagg_status code, int line)
{
    claims::claim(code == NPAGG_OK, line, "C call fails");
}
#define OK(call) ok(call, __LINE__)
#define PTR(v) (v).data()

template <class T>
void compare_encoder()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const std::int64_t P = s.encoder.param_count();
    const auto p = some(P), x = some(N * X), y = some(N * Y), dm = some(N * D), dv = some(N * D);
    pair<T> f{N * D, N * D}, b{P, N * X, N * Y};
    s.encoder.forward(s.ctx, p, offsets, x, y, f.cpp[0], f.cpp[1], &s.one);
    OK(c::encoder_forward(s.ctx.get(), s.encoder.get(), PTR(p), B, PTR(offsets), PTR(x), PTR(y),
                          PTR(f.c[0]), PTR(f.c[1]), s.two.get()));
    s.encoder.backward(s.ctx, p, offsets, x, y, dm, dv, b.cpp[0], b.cpp[1], b.cpp[2], s.one);
    OK(c::encoder_backward(s.ctx.get(), s.encoder.get(), PTR(p), B, PTR(offsets), PTR(x), PTR(y),
                           PTR(dm), PTR(dv), PTR(b.c[0]), PTR(b.c[1]), PTR(b.c[2]), s.two.get()));
    f.check(__LINE__);
    b.check(__LINE__);
}

template <class T>
void compare_decoder()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const std::int64_t P = s.decoder.param_count();
    const auto p = some(P), x = some(N * X), z = some(B * S * D), dpy = some(N * S * O);
    pair<T> f{N * S * O}, b{P, N * X, B * S * D};
    s.decoder.forward(s.ctx, p, offsets, S, x, z, f.cpp[0], &s.one);
    OK(c::decoder_forward(s.ctx.get(), s.decoder.get(), PTR(p), B, PTR(offsets), S, PTR(x), PTR(z),
                          PTR(f.c[0]), s.two.get()));
    s.decoder.backward(s.ctx, p, offsets, S, x, z, dpy, b.cpp[0], b.cpp[1], b.cpp[2], s.one);
    OK(c::decoder_backward(s.ctx.get(), s.decoder.get(), PTR(p), B, PTR(offsets), S, PTR(x), PTR(z),
                           PTR(dpy), PTR(b.c[0]), PTR(b.c[1]), PTR(b.c[2]), s.two.get()));
    f.check(__LINE__);
    b.check(__LINE__);
}

template <class T>
void compare_loglik()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const auto py = some(N * S * O), y = some(N * Y), dl = some(N * S);
    pair<T> f{N * S}, b{N * S * O, N * Y};
    s.decoder.loglik(s.ctx, S, py, y, f.cpp[0]);
    OK(c::decoder_loglik(s.ctx.get(), s.decoder.get(), N, S, PTR(py), PTR(y), PTR(f.c[0])));
    s.decoder.loglik_backward(s.ctx, S, py, y, dl, b.cpp[0], b.cpp[1]);
    OK(c::decoder_loglik_backward(s.ctx.get(), s.decoder.get(), N, S, PTR(py), PTR(y), PTR(dl),
                                  PTR(b.c[0]), PTR(b.c[1])));
    f.check(__LINE__);
    b.check(__LINE__);
}

template <class T>
void compare_samples()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const auto mode = npagg::sampling::pathwise;
    const auto q = some(B * Q), noise = some(B * S * D), dz = some(B * S * D), dw = some(B * S);
    pair<T> f{B * S * D, B * S}, b{B * Q};
    npagg::posterior_sample(s.ctx, s.prior, mode, S, q, noise, which, f.cpp[0], f.cpp[1]);
    OK(c::posterior_sample(s.ctx.get(), s.prior.get(), 2, B, S, PTR(q), PTR(noise), PTR(which),
                           PTR(f.c[0]), PTR(f.c[1])));
    npagg::posterior_sample_backward(s.ctx, s.prior, mode, S, q, noise, which, dz, dw, b.cpp[0]);
    OK(c::posterior_sample_backward(s.ctx.get(), s.prior.get(), 2, B, S, PTR(q), PTR(noise),
                                    PTR(which), PTR(dz), PTR(dw), PTR(b.c[0])));
    f.check(__LINE__);
    b.check(__LINE__);
}

template <class T>
void compare_densities()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const auto q = some(B * Q), z = some(B * S * D), dlogq = some(B * S), u = some(B * S);
    std::vector<std::int32_t> chosen(B * S, 9), want(B * S, 8);
    pair<T> f{B * S}, b{B * Q, B * S * D};
    npagg::posterior_choose(s.ctx, s.prior, S, q, u, chosen);
    OK(c::posterior_choose(s.ctx.get(), s.prior.get(), B, S, PTR(q), PTR(u), PTR(want)));
    CLAIM(chosen == want);
    npagg::posterior_logpdf(s.ctx, s.prior, S, q, z, f.cpp[0]);
    OK(c::posterior_logpdf(s.ctx.get(), s.prior.get(), B, S, PTR(q), PTR(z), PTR(f.c[0])));
    npagg::posterior_logpdf_backward(s.ctx, s.prior, S, q, z, dlogq, b.cpp[0], b.cpp[1]);
    OK(c::posterior_logpdf_backward(s.ctx.get(), s.prior.get(), B, S, PTR(q), PTR(z), PTR(dlogq),
                                    PTR(b.c[0]), PTR(b.c[1])));
    f.check(__LINE__);
    b.check(__LINE__);
}

template <class T>
void compare_divergences()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const auto kind = npagg::kl_kind::sampled;
    const auto q = some(B * Q), r = some(B * Q), z = some(B * S * D), w = some(B * S), d = some(B);
    pair<T> f{B, B}, b{B * Q, B * Q, B * S * D, B * S}, e{B * Q, B * S * D, B * S};
    npagg::posterior_kl(s.ctx, s.prior, kind, S, q, r, z, w, f.cpp[0]);
    OK(c::posterior_kl(s.ctx.get(), s.prior.get(), 1, B, S, PTR(q), PTR(r), PTR(z), PTR(w),
                       PTR(f.c[0])));
    npagg::posterior_kl_backward(s.ctx, s.prior, kind, S, q, r, z, w, d, b.cpp[0], b.cpp[1],
                                 b.cpp[2], b.cpp[3]);
    OK(c::posterior_kl_backward(s.ctx.get(), s.prior.get(), 1, B, S, PTR(q), PTR(r), PTR(z), PTR(w),
                                PTR(d), PTR(b.c[0]), PTR(b.c[1]), PTR(b.c[2]), PTR(b.c[3])));
    npagg::posterior_entropy(s.ctx, s.prior, S, q, z, w, f.cpp[1]);
    OK(c::posterior_entropy(s.ctx.get(), s.prior.get(), B, S, PTR(q), PTR(z), PTR(w), PTR(f.c[1])));
    npagg::posterior_entropy_backward(s.ctx, s.prior, S, q, z, w, d, e.cpp[0], e.cpp[1], e.cpp[2]);
    OK(c::posterior_entropy_backward(s.ctx.get(), s.prior.get(), B, S, PTR(q), PTR(z), PTR(w),
                                     PTR(d), PTR(e.c[0]), PTR(e.c[1]), PTR(e.c[2])));
    f.check(__LINE__);
    b.check(__LINE__);
    e.check(__LINE__);
}

template <class T>
void compare_moments()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const auto q = some(B * Q), dmean = some(B * D), dvar = some(B * D);
    const auto params = some(s.prior.param_count());
    pair<T> f{B * D, B * D, s.prior.param_count()}, b{B * Q};
    npagg::posterior_moments(s.ctx, s.prior, q, f.cpp[0], f.cpp[1]);
    OK(c::posterior_moments(s.ctx.get(), s.prior.get(), B, PTR(q), PTR(f.c[0]), PTR(f.c[1])));
    npagg::posterior_moments_backward(s.ctx, s.prior, q, dmean, dvar, b.cpp[0]);
    OK(c::posterior_moments_backward(s.ctx.get(), s.prior.get(), B, PTR(q), PTR(dmean), PTR(dvar),
                                     PTR(b.c[0])));
    s.prior.constrained(s.ctx, params, f.cpp[2]);
    OK(c::prior_constrained(s.ctx.get(), s.prior.get(), PTR(params), PTR(f.c[2])));
    f.check(__LINE__);
    b.check(__LINE__);
}

template <class T>
void compare_model()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const std::int64_t P = s.model.param_count();
    const auto p = some(P), x = some(N * X), y = some(N * Y), noise = some(B * S * D), dl = some(B);
    pair<T> f{B}, b{P}, q{B * Q};
    s.model.forward(s.ctx, p, offsets, n_ctx, x, y, noise, which, f.cpp[0], &s.one);
    OK(c::model_forward(s.ctx.get(), s.model.get(), PTR(p), B, PTR(offsets), PTR(n_ctx), PTR(x),
                        PTR(y), PTR(noise), PTR(which), PTR(f.c[0]), s.two.get()));
    s.model.backward(s.ctx, p, offsets, n_ctx, x, y, noise, which, dl, b.cpp[0], s.one);
    OK(c::model_backward(s.ctx.get(), s.model.get(), PTR(p), B, PTR(offsets), PTR(n_ctx), PTR(x),
                         PTR(y), PTR(noise), PTR(which), PTR(dl), PTR(b.c[0]), s.two.get()));
    s.model.infer(s.ctx, p, offsets, x, y, q.cpp[0]);
    OK(c::model_infer(s.ctx.get(), s.model.get(), PTR(p), B, PTR(offsets), PTR(x), PTR(y),
                      PTR(q.c[0])));
    f.check(__LINE__);
    b.check(__LINE__);
    q.check(__LINE__);
}

template <class T>
void compare_prediction()
{
    using c = npagg::detail::calls<T>;
    shapes s;
    source<T> some;
    const auto p = some(s.model.param_count()), xc = some(N * X), yc = some(N * Y);
    const auto xt = some(M * X), yt = some(M * Y), noise = some(B * S * D), u = some(B * S);
    const auto q = some(B * Q);
    std::vector<std::int32_t> chosen(B * S, 9), want(B * S, 8);
    pair<T> f{M * Y, M * Y, M * S * O, M, N};
    s.model.predict(s.ctx, p, offsets, xc, yc, targets, xt, yt, S, noise, which, f.cpp[0], f.cpp[1],
                    f.cpp[2], f.cpp[3], f.cpp[4]);
    OK(c::model_predict(s.ctx.get(), s.model.get(), PTR(p), B, PTR(offsets), PTR(xc), PTR(yc),
                        PTR(targets), PTR(xt), PTR(yt), S, PTR(noise), PTR(which), PTR(f.c[0]),
                        PTR(f.c[1]), PTR(f.c[2]), PTR(f.c[3]), PTR(f.c[4])));
    f.check(__LINE__);
    s.model.choose(s.ctx, S, q, u, chosen);
    OK(c::model_choose(s.ctx.get(), s.model.get(), B, S, PTR(q), PTR(u), PTR(want)));
    CLAIM(chosen == want);
}

#define BOTH(name)                                                                                 \
    void test_##name##_in_float_has_the_bits_of_c()                                                \
    {                                                                                              \
        compare_##name<float>();                                                                   \
    }                                                                                              \
    void test_##name##_in_double_has_the_bits_of_c()                                               \
    {                                                                                              \
        compare_##name<double>();                                                                  \
    }
#define BOTH_TESTS(name)                                                                           \
    TEST(test_##name##_in_float_has_the_bits_of_c), TEST(test_##name##_in_double_has_the_bits_of_c)

BOTH(encoder)
BOTH(decoder)
BOTH(loglik)
BOTH(samples)
BOTH(densities)
BOTH(divergences)
BOTH(moments)
BOTH(model)
BOTH(prediction)

} // namespace

int main()
{
    return claims::run(__FILE__,
                       {BOTH_TESTS(encoder), BOTH_TESTS(decoder), BOTH_TESTS(loglik),
                        BOTH_TESTS(samples), BOTH_TESTS(densities), BOTH_TESTS(divergences),
                        BOTH_TESTS(moments), BOTH_TESTS(model), BOTH_TESTS(prediction)});
}
