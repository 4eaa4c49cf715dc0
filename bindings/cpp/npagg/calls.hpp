/* For the other headers: the C functions that come in two precisions, by the type of number. */
#ifndef NPAGG_CALLS_HPP
#define NPAGG_CALLS_HPP

#include <npagg/npagg.h>

#include "mode.hpp"

NPAGG_CPP_BEGIN

namespace detail
{

#define NPAGG_BOTH_PRECISIONS(X)                                                                   \
    X(decoder_backward)                                                                            \
    X(decoder_forward)                                                                             \
    X(decoder_init_params)                                                                         \
    X(decoder_loglik)                                                                              \
    X(decoder_loglik_backward)                                                                     \
    X(encoder_backward)                                                                            \
    X(encoder_forward)                                                                             \
    X(encoder_init_params)                                                                         \
    X(infer_backward)                                                                              \
    X(infer_forward)                                                                               \
    X(infer_weights)                                                                               \
    X(model_backward)                                                                              \
    X(model_choose)                                                                                \
    X(model_forward)                                                                               \
    X(model_infer)                                                                                 \
    X(model_init_params)                                                                           \
    X(model_load_extra)                                                                            \
    X(model_load_params)                                                                           \
    X(model_predict)                                                                               \
    X(model_save)                                                                                  \
    X(model_save_extra)                                                                            \
    X(model_step)                                                                                  \
    X(noise_fill)                                                                                  \
    X(posterior_choose)                                                                            \
    X(posterior_entropy)                                                                           \
    X(posterior_entropy_backward)                                                                  \
    X(posterior_kl)                                                                                \
    X(posterior_kl_backward)                                                                       \
    X(posterior_logpdf)                                                                            \
    X(posterior_logpdf_backward)                                                                   \
    X(posterior_moments)                                                                           \
    X(posterior_moments_backward)                                                                  \
    X(posterior_sample)                                                                            \
    X(posterior_sample_backward)                                                                   \
    X(prior_constrained)                                                                           \
    X(prior_init_params)                                                                           \
    X(uniform_fill)

/* calls<float>::infer_forward is npagg_infer_forward_f32, that of double is _f64. */
template <class T>
struct calls;

#define NPAGG_F32(name) static constexpr auto name = npagg_##name##_f32;
#define NPAGG_F64(name) static constexpr auto name = npagg_##name##_f64;

template <>
struct calls<float> {
    NPAGG_BOTH_PRECISIONS(NPAGG_F32)
};

template <>
struct calls<double> {
    NPAGG_BOTH_PRECISIONS(NPAGG_F64)
};

#undef NPAGG_F32
#undef NPAGG_F64
#undef NPAGG_BOTH_PRECISIONS

} // namespace detail

NPAGG_CPP_END

#endif /* NPAGG_CALLS_HPP */
