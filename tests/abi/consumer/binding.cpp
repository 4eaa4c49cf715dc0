/* A C++ program outside the tree: one point N(2, 1) under N(0, 1) is N(1, 1/2). */
#include <cmath>
#include <cstdio>
#include <npagg.hpp>
#include <vector>

int main()
{
    try {
        auto ctx = npagg::context::create();
        const auto prior = npagg::prior::gaussian(ctx, 1);
        std::vector<float> params(2), q(2);
        const std::vector<float> m = {2}, v = {1};
        prior.init_params(ctx, 0, params);
        npagg::infer_forward(ctx, prior, {}, params, {0, 1}, m, v, {}, q);
        const bool ok = std::fabs(q[0] - 1.0f) < 1e-6f && std::fabs(q[1] - 0.5f) < 1e-6f;
        std::puts(ok ? "ok" : "wrong");
        npagg::infer_forward(ctx, prior, {}, params, {0, 2}, m, v, {}, q);
    } catch (const npagg::error &e) {
        return e.code() == NPAGG_E_ARG ? 0 : 1;
    }
    return 1;
}
