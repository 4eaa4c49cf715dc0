# Every function of the C headers, argument by argument, with nothing added: handles, arrays and
# `nothing` for NULL go in, numbers and pointers come out. Everything else in this package calls
# these. They keep what they are given alive during the call.
module Raw

using ..NPAgg: Slot, SLOTS, address

const Status = Int32
const H = Ptr{Cvoid}            # a handle
const Out = Ptr{Ptr{Cvoid}}     # where a new handle goes
const Ints = Ptr{Int64}
const Int32s = Ptr{Int32}
const Doubles = Ptr{Float64}

null(x) = x === nothing ? C_NULL : x

# One Julia method that calls the C function `name`; `A` among the types stands for Ptr{T}. Ctrl-C
# waits until it has returned: thrown out of the allocator, it would leave C in the middle.
function define(result, call, name, T)
    method, parameters = call.args[1], call.args[2:end]
    arguments = [p.args[1] for p in parameters]
    types = [p.args[2] === :A ? :(Ptr{$T}) : p.args[2] for p in parameters]
    slot = Symbol("slot_", name)
    first = T === nothing ? [] : [:(::Type{$T})]
    values = [:(null($a)) for a in arguments]
    return quote
        const $slot = Slot($(QuoteNode(name)), C_NULL)
        push!(SLOTS, $slot)
        $method($(first...), $(arguments...)) =
            disable_sigint(() -> ccall(address($slot), $result, ($(types...),), $(values...)))
    end
end

# @c Result verb(argument::Type, ...): npagg_verb.
macro c(result, call)
    return esc(define(result, call, Symbol("npagg_", call.args[1]), nothing))
end

# The same for npagg_verb_f32 and npagg_verb_f64, which become verb(Float32, ...) and
# verb(Float64, ...).
macro c2(result, call)
    name = string("npagg_", call.args[1])
    return esc(Expr(:block, define(result, call, Symbol(name, "_f32"), :Float32),
                    define(result, call, Symbol(name, "_f64"), :Float64)))
end

# types.h
@c Cstring status_name(status::Status)
@c Cstring version()

# ctx.h
@c Status ctx_create(out::Out)
@c Status ctx_create_with_alloc(out::Out, alloc::Ptr{Cvoid}, user::Ptr{Cvoid})
@c Cvoid ctx_destroy(ctx::H)
@c Status ctx_set_threads(ctx::H, n::Int32)
@c Cstring ctx_error(ctx::H)
@c Status cache_create(ctx::H, out::Out)
@c Cvoid cache_destroy(cache::H)
@c Csize_t cache_bytes(cache::H)

# prior.h
@c Status prior_create_gaussian(ctx::H, d::Int64, out::Out)
@c Status prior_create_mixture(ctx::H, d::Int64, k::Int64, out::Out)
@c Status prior_create_student(ctx::H, d::Int64, out::Out)
@c Cvoid prior_destroy(prior::H)
@c Status prior_set_robust(prior::H, on::Int32)
@c Int64 prior_param_count(prior::H)
@c Int64 prior_param_offset(prior::H, field::Cstring)
@c Int64 prior_posterior_count(prior::H)
@c Int64 prior_posterior_offset(prior::H, field::Cstring)
@c2 Status prior_init_params(ctx::H, prior::H, seed::UInt64, params::A)
@c2 Status prior_constrained(ctx::H, prior::H, params::A, out::A)

# infer.h
@c Status vmp_create(ctx::H, out::Out)
@c Cvoid vmp_destroy(vmp::H)
@c Status vmp_set_max_iters(vmp::H, n::Int32)
@c Status vmp_set_tolerance(vmp::H, tol::Float64)
@c Status vmp_set_grad(vmp::H, mode::Int32)
@c Status vmp_set_weights(vmp::H, on::Int32)
@c2 Status infer_forward(ctx::H, prior::H, vmp::H, params::A, n_sets::Int64, offsets::Ints, m::A,
                         v::A, weight::A, q::A, logz::A, cache::H)
@c2 Status infer_backward(ctx::H, prior::H, vmp::H, params::A, n_sets::Int64, offsets::Ints, m::A,
                          v::A, weight::A, dq::A, dlogz::A, dparams::A, dm::A, dv::A, dweight::A,
                          cache::H)
@c Status infer_iters(ctx::H, cache::H, iters::Int32s)
@c2 Status infer_weights(ctx::H, cache::H, w::A)
@c Status infer_trace(ctx::H, cache::H, set::Int64, bound::Doubles)
@c Status infer_residual(ctx::H, cache::H, residual::Doubles)
@c Status infer_grad_iters(ctx::H, cache::H, n::Int32s)

# encoder.h
@c Status encoder_create_mlp(ctx::H, x_dim::Int64, y_dim::Int64, d::Int64, n_hidden::Int64,
                             widths::Ints, out::Out)
@c Status encoder_create_mean(ctx::H, x_dim::Int64, y_dim::Int64, d::Int64, n_pre::Int64,
                              pre_widths::Ints, n_post::Int64, post_widths::Ints, out::Out)
@c Status encoder_create_attention(ctx::H, x_dim::Int64, y_dim::Int64, d::Int64, n_pre::Int64,
                                   pre_widths::Ints, n_heads::Int64, n_post::Int64,
                                   post_widths::Ints, out::Out)
@c Cvoid encoder_destroy(encoder::H)
@c Status encoder_set_activation(encoder::H, activation::Int32)
@c Status encoder_set_var_range(encoder::H, lo::Float64, hi::Float64)
@c Status encoder_set_trunk(encoder::H, on::Int32)
@c Int32 encoder_per_set(encoder::H)
@c Int64 encoder_param_count(encoder::H)
@c Int64 encoder_param_offset(encoder::H, field::Cstring)
@c2 Status encoder_init_params(ctx::H, encoder::H, seed::UInt64, params::A)
@c2 Status encoder_forward(ctx::H, encoder::H, params::A, n_sets::Int64, offsets::Ints, x::A, y::A,
                           m::A, v::A, cache::H)
@c2 Status encoder_backward(ctx::H, encoder::H, params::A, n_sets::Int64, offsets::Ints, x::A,
                            y::A, dm::A, dv::A, dparams::A, dx::A, dy::A, cache::H)

# decoder.h
@c Status decoder_create_mlp(ctx::H, x_dim::Int64, y_dim::Int64, d::Int64, n_hidden::Int64,
                             widths::Ints, out::Out)
@c Cvoid decoder_destroy(decoder::H)
@c Status decoder_set_activation(decoder::H, activation::Int32)
@c Status decoder_set_likelihood(decoder::H, likelihood::Int32)
@c Status decoder_set_sd_floor(decoder::H, floor::Float64)
@c Int64 decoder_param_count(decoder::H)
@c Int64 decoder_param_offset(decoder::H, field::Cstring)
@c Int64 decoder_output_count(decoder::H)
@c2 Status decoder_init_params(ctx::H, decoder::H, seed::UInt64, params::A)
@c2 Status decoder_forward(ctx::H, decoder::H, params::A, n_sets::Int64, offsets::Ints,
                           n_samples::Int64, x::A, z::A, py::A, cache::H)
@c2 Status decoder_backward(ctx::H, decoder::H, params::A, n_sets::Int64, offsets::Ints,
                            n_samples::Int64, x::A, z::A, dpy::A, dparams::A, dx::A, dz::A,
                            cache::H)
@c2 Status decoder_loglik(ctx::H, decoder::H, n::Int64, n_samples::Int64, py::A, y::A, loglik::A)
@c2 Status decoder_loglik_backward(ctx::H, decoder::H, n::Int64, n_samples::Int64, py::A, y::A,
                                   dloglik::A, dpy::A, dy::A)

# posterior.h
@c2 Status posterior_sample(ctx::H, prior::H, mode::Int32, n_sets::Int64, n_samples::Int64, q::A,
                            noise::A, which::Int32s, z::A, logw::A)
@c2 Status posterior_sample_backward(ctx::H, prior::H, mode::Int32, n_sets::Int64,
                                     n_samples::Int64, q::A, noise::A, which::Int32s, dz::A,
                                     dlogw::A, dq::A)
@c2 Status posterior_choose(ctx::H, prior::H, n_sets::Int64, n_samples::Int64, q::A, u::A,
                            which::Int32s)
@c2 Status posterior_logpdf(ctx::H, prior::H, n_sets::Int64, n_samples::Int64, q::A, z::A, logq::A)
@c2 Status posterior_logpdf_backward(ctx::H, prior::H, n_sets::Int64, n_samples::Int64, q::A, z::A,
                                     dlogq::A, dq::A, dz::A)
@c2 Status posterior_kl(ctx::H, prior::H, kind::Int32, n_sets::Int64, n_samples::Int64, q::A, p::A,
                        z::A, logw::A, kl::A)
@c2 Status posterior_kl_backward(ctx::H, prior::H, kind::Int32, n_sets::Int64, n_samples::Int64,
                                 q::A, p::A, z::A, logw::A, dkl::A, dq::A, dp::A, dz::A, dlogw::A)
@c2 Status posterior_moments(ctx::H, prior::H, n_sets::Int64, q::A, mean::A, var::A)
@c2 Status posterior_moments_backward(ctx::H, prior::H, n_sets::Int64, q::A, dmean::A, dvar::A,
                                      dq::A)
@c2 Status posterior_entropy(ctx::H, prior::H, n_sets::Int64, n_samples::Int64, q::A, z::A, logw::A,
                             entropy::A)
@c2 Status posterior_entropy_backward(ctx::H, prior::H, n_sets::Int64, n_samples::Int64, q::A,
                                      z::A, logw::A, dentropy::A, dq::A, dz::A, dlogw::A)

# objective.h
@c Status objective_create(ctx::H, kind::Int32, out::Out)
@c Cvoid objective_destroy(objective::H)
@c Status objective_set_points(objective::H, points::Int32)
@c Status objective_set_normalise(objective::H, normalise::Int32)
@c Status objective_set_samples(objective::H, n_samples::Int64)
@c Status objective_set_sampling(objective::H, mode::Int32)
@c Status objective_set_kl(objective::H, kind::Int32)

# model.h
@c Status model_create(ctx::H, encoder::H, prior::H, vmp::H, decoder::H, objective::H, out::Out)
@c Cvoid model_destroy(model::H)
@c Int64 model_param_count(model::H)
@c Int64 model_param_offset(model::H, field::Cstring)
@c Int64 model_tensor_count(model::H)
@c Cstring model_tensor_name(model::H, i::Int64)
@c Status model_tensor_shape(model::H, i::Int64, offset::Ints, rows::Ints, columns::Ints)
@c Int64 model_size(model::H, name::Cstring)
@c2 Status model_init_params(ctx::H, model::H, seed::UInt64, params::A)
@c2 Status model_forward(ctx::H, model::H, params::A, n_sets::Int64, offsets::Ints, n_ctx::Ints,
                         x::A, y::A, noise::A, which::Int32s, loss::A, cache::H)
@c2 Status model_backward(ctx::H, model::H, params::A, n_sets::Int64, offsets::Ints, n_ctx::Ints,
                          x::A, y::A, noise::A, which::Int32s, dloss::A, dparams::A, cache::H)
@c2 Status model_step(ctx::H, model::H, params::A, n_sets::Int64, offsets::Ints, n_ctx::Ints, x::A,
                      y::A, noise::A, which::Int32s, dloss::A, loss::A, dparams::A)
@c2 Status model_predict(ctx::H, model::H, params::A, n_sets::Int64, ctx_offsets::Ints, xc::A,
                         yc::A, tgt_offsets::Ints, xt::A, yt::A, n_samples::Int64, noise::A,
                         which::Int32s, mean::A, sd::A, samples::A, loglik::A, weight::A)
@c2 Status model_infer(ctx::H, model::H, params::A, n_sets::Int64, offsets::Ints, x::A, y::A, q::A)
@c2 Status model_choose(ctx::H, model::H, n_sets::Int64, n_samples::Int64, q::A, u::A,
                        which::Int32s)
@c2 Status noise_fill(seed::UInt64, stream::UInt64, n::Int64, out::A)
@c2 Status uniform_fill(seed::UInt64, stream::UInt64, n::Int64, out::A)

# checkpoint.h
@c2 Status model_save(ctx::H, model::H, params::A, path::Cstring)
@c Status model_load(ctx::H, path::Cstring, out::Out)
@c2 Status model_load_params(ctx::H, model::H, path::Cstring, params::A)
@c2 Status model_save_extra(ctx::H, path::Cstring, name::Cstring, n::Int64, array::A)
@c2 Status model_load_extra(ctx::H, path::Cstring, name::Cstring, n::Int64, array::A)

end
