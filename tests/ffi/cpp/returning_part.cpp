/* Half of test_cpp_same_bits: the other way to fail, in the same program. */
#define NPAGG_NO_EXCEPTIONS
#include <npagg/npagg.hpp>

npagg_status code_of_a_bad_prior();

npagg_status code_of_a_bad_prior()
{
    auto ctx = npagg::context::create();
    const auto prior = npagg::prior::gaussian(*ctx, -3);
    return prior.status().code();
}
