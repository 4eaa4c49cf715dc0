/* examples/tiny.c in C++: the same numbers to the last bit. */
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <npagg/npagg.hpp>
#include <vector>

namespace
{

constexpr int tasks = 4, points = 30, samples = 2, d = 3, steps = 100;
constexpr std::array<std::int64_t, tasks + 1> offsets = {0, 6, 13, 21, points};
constexpr std::array<std::int64_t, tasks> n_ctx = {3, 0, 5, 4};

struct data {
    std::array<double, points> x, y;
};

/* Task b is y = a t / (1 + |t|), t = x - c, with a and c of its own, at places x in [-2, 2]. */
data draw_tasks()
{
    data out{};
    std::array<double, tasks> a{}, c{};
    npagg::uniform_fill(2, 0, out.x);
    npagg::uniform_fill(2, 1, a);
    npagg::uniform_fill(2, 2, c);
    for (std::size_t b = 0; b < tasks; b++) {
        for (auto i = std::size_t(offsets[b]); i < std::size_t(offsets[b + 1]); i++) {
            out.x[i] = 4 * out.x[i] - 2;
            const double t = out.x[i] - c[b];
            out.y[i] = (1 + a[b]) * t / (1 + std::fabs(t));
        }
    }
    return out;
}

npagg::model create_model(npagg::context &ctx)
{
    auto encoder = npagg::encoder::mlp(ctx, 1, 1, d, {5});
    encoder.set_activation(npagg::activation::tanh);
    auto prior = npagg::prior::student(ctx, d);
    auto vmp = npagg::vmp::create(ctx);
    vmp.set_max_iters(4);
    auto decoder = npagg::decoder::mlp(ctx, 1, 1, d, {5});
    decoder.set_activation(npagg::activation::tanh);
    auto objective = npagg::objective::create(ctx, npagg::loss_kind::elbo);
    objective.set_samples(samples);
    objective.set_normalise(npagg::normalise::points);
    return npagg::model::create(ctx, encoder, prior, vmp, decoder, objective);
}

/* The mean over tasks, also as the sixteen digits of its bits. */
void print_loss(int step, const std::array<double, tasks> &loss)
{
    double mean = 0;
    std::uint64_t bits = 0;
    for (double one : loss)
        mean = mean + one;
    mean = mean / tasks;
    std::memcpy(&bits, &mean, sizeof bits);
    std::printf("step %3d  loss %.6f  %016" PRIx64 "\n", step, mean, bits);
}

void train()
{
    const double rate = 0.015625; /* 1/64 */
    const std::array<double, tasks> dloss = {0.25, 0.25, 0.25, 0.25};
    std::array<double, tasks> loss{};
    std::array<double, tasks * samples * d> noise{};
    const data set = draw_tasks();
    auto ctx = npagg::context::create();
    const auto model = create_model(ctx);
    std::vector<double> params(std::size_t(model.param_count())), grad(params.size());
    model.init_params(ctx, 1, params);
    for (int step = 1; step <= steps; step++) {
        grad.assign(grad.size(), 0);
        npagg::noise_fill(3, std::uint64_t(step), noise);
        model.step(ctx, params, offsets, n_ctx, set.x, set.y, noise, {}, dloss, loss, grad);
        for (std::size_t i = 0; i < params.size(); i++)
            params[i] = params[i] - rate * grad[i];
        if (step == 1 || step % 10 == 0)
            print_loss(step, loss);
    }
}

} // namespace

int main()
{
    try {
        train();
    } catch (const npagg::error &failure) {
        std::fprintf(stderr, "%s: %s\n", failure.status().name(), failure.what());
        return 1;
    }
    return 0;
}
