/* Without exceptions (-fno-exceptions -fno-rtti): failures are returned. */
#include <npagg/npagg.hpp>

#include "claims.hpp"

#ifndef NPAGG_NO_EXCEPTIONS
#error "the headers have not noticed that there are no exceptions"
#endif

namespace
{

void test_without_exceptions_results_hold_objects()
{
    npagg::result<npagg::context> ctx = npagg::context::create();
    CLAIM(ctx.ok() && *ctx);
    auto prior = npagg::prior::gaussian(*ctx, 1);
    CLAIM(prior && prior->param_count() == 2);
    npagg::prior mine = *std::move(prior);
    std::vector<double> params(2), q(2);
    CLAIM(mine.init_params(*ctx, 0, params).ok());
    const npagg::status s =
        npagg::infer_forward(*ctx, mine, {}, params, {0, 1}, {2.0}, {1.0}, {}, q);
    CLAIM(s.ok() && s.code() == NPAGG_OK && *s.text() == 0);
    CLAIM(std::fabs(q[0] - 1) < 1e-15 && std::fabs(q[1] - 0.5) < 1e-15);
}

void test_without_exceptions_wrong_sizes_are_returned()
{
    auto ctx = npagg::context::create();
    auto prior = npagg::prior::gaussian(*ctx, 2);
    std::vector<float> params(3, 7);
    const npagg::status s = prior->init_params(*ctx, 0, params);
    CLAIM(!s && s.code() == NPAGG_E_ARG && params[0] == 7);
    CLAIM(std::strcmp(s.text(), "prior.init_params: params has 3 elements, want 4 = [P]") == 0);
    CLAIM(std::strcmp(s.name(), "NPAGG_E_ARG") == 0);
}

void test_without_exceptions_failures_of_the_library_are_returned()
{
    auto ctx = npagg::context::create();
    auto prior = npagg::prior::gaussian(*ctx, -1);
    CLAIM(!prior && !*prior && prior.status().code() == NPAGG_E_ARG);
    CLAIM(std::strcmp(prior.status().text(), ctx->error()) == 0 && *ctx->error());
    auto model = npagg::model::load(*ctx, "no/such/file");
    CLAIM(model.status().code() == NPAGG_E_IO);
    auto vmp = npagg::vmp::create(*ctx);
    CLAIM(!vmp->set_max_iters(0) && vmp->set_max_iters(7));
    CLAIM(!ctx->set_threads(0).ok());
}

void test_without_exceptions_empty_handles_are_refused()
{
    npagg::context none;
    npagg::prior empty;
    std::vector<double> params(2);
    CLAIM(!npagg::prior::gaussian(none, 1).ok());
    const npagg::status s = empty.init_params(none, 0, params);
    CLAIM(std::strstr(s.text(), "prior is an empty handle"));
}

} // namespace

int main()
{
    return claims::run(__FILE__,
                       {
                           TEST(test_without_exceptions_results_hold_objects),
                           TEST(test_without_exceptions_wrong_sizes_are_returned),
                           TEST(test_without_exceptions_failures_of_the_library_are_returned),
                           TEST(test_without_exceptions_empty_handles_are_refused),
                       });
}
