# Priors: shapes of graphical models. They hold sizes, no numbers.

"gaussian(ctx, d; robust = false): z ~ N(mean, var) in d dimensions, Bayesian aggregation."
gaussian(ctx::Context, d::Integer; robust = false) =
    made_prior(ctx, out -> Raw.prior_create_gaussian(ctx, d, out), d, 1, robust)

"mixture(ctx, d, k; robust = false): z from k Gaussians."
mixture(ctx::Context, d::Integer, k::Integer; robust = false) =
    made_prior(ctx, out -> Raw.prior_create_mixture(ctx, d, k, out), d, k, robust)

"student(ctx, d; robust = true): z ~ N(0, 1/alpha), Gamma on alpha, Student-t factors."
student(ctx::Context, d::Integer; robust = true) =
    made_prior(ctx, out -> Raw.prior_create_student(ctx, d, out), d, 1, robust)

made_prior(ctx, create, d, k, robust) =
    configured(p -> set_robust!(p, robust), Prior(created(create, ctx), d, k))

"Student-t factors (true) or Gaussian ones. Adds or removes the last parameter, \"log_c0\"."
set_robust!(prior::Prior, on::Bool) =
    check(Raw.prior_set_robust(prior, on), "robust", on)

"Numbers in one posterior."
posterior_count(prior::Prior) = Int(Raw.prior_posterior_count(prior))

"Where a field of the posterior (\"mean\", \"var\", \"logw\") begins, from 0; nothing if absent."
posterior_offset(prior::Prior, field::AbstractString) =
    offset_or_nothing(Raw.prior_posterior_offset(prior, field))

offset_or_nothing(offset) = offset < 0 ? nothing : Int(offset)

# What shapes with parameters have in common.
for T in (:Prior, :Encoder, :Decoder, :Model)
    raw(verb) = Symbol(lowercase(string(T)), "_", verb)
    count, offset, init = raw("param_count"), raw("param_offset"), raw("init_params")
    @eval begin
        param_count(shape::$T) = Int(Raw.$count(shape))
        param_offset(shape::$T, field::AbstractString) =
            offset_or_nothing(Raw.$offset(shape, field))
        function init_params!(params::AbstractVector{T}, ctx::Context, shape::$T,
                              seed::Integer) where {T<:Precision}
            checked("params", params, T, (param_count(shape),))
            check(ctx, Raw.$init(T, ctx, shape, seed, params))
            return params
        end
    end
end

@doc "Number of parameters of a prior, encoder, decoder or model." param_count
@doc "Where a field of the parameters begins, from 0; nothing if there is none." param_offset

"""
    init_params([T = Float64,] ctx, shape, seed)

Initial parameters of a prior, encoder, decoder or model. `init_params!(params, ctx, shape, seed)`
fills an array.
"""
init_params(::Type{T}, ctx::Context, shape::Handle, seed::Integer) where {T<:Precision} =
    init_params!(Vector{T}(undef, param_count(shape)), ctx, shape, seed)
init_params(ctx::Context, shape::Handle, seed::Integer) = init_params(Float64, ctx, shape, seed)

"""
    field(prior, params, name)

A view of one field of a prior's parameters: "mean", "logvar" `D×K`, "logits" `K`, others of one
number.
"""
function field(prior::Prior, params::AbstractVector, name::AbstractString)
    checked("params", params, eltype(params), (param_count(prior),))
    return field_view(params, prior, name, param_offset(prior, name))
end

"""
    posterior_field(prior, q, name)

A view of one field of posteriors `q [Q,B]`: "mean", "var" `D×K×B`, "logw" `K×B`.
"""
function posterior_field(prior::Prior, q::AbstractMatrix, name::AbstractString)
    size(q, 1) == posterior_count(prior) ||
        throw(DimensionMismatch("q has size $(size(q)), want ($(posterior_count(prior)), B)"))
    begins = posterior_offset(prior, name)
    begins === nothing && throw(ArgumentError("a posterior of this prior has no \"$name\""))
    name == "logw" && return view(q, begins+1:begins+prior.k, :)
    return reshape(view(q, begins+1:begins+prior.d*prior.k, :), prior.d, prior.k, size(q, 2))
end

function field_view(params, prior, name, begins)
    begins === nothing && throw(ArgumentError("this prior has no parameter \"$name\""))
    name in ("mean", "logvar") &&
        return reshape(view(params, begins+1:begins+prior.d*prior.k), prior.d, prior.k)
    return view(params, begins+1:begins+(name == "logits" ? prior.k : 1))
end

"""
    constrained(ctx, prior, params; out = true)

The parameters as what they mean: variances, mixing weights, a0, b0, c0.
"""
function constrained(ctx::Context, prior::Prior, params::AbstractVector{T};
                     out = true) where {T<:Precision}
    P = param_count(prior)
    checked("params", params, T, (P,))
    out = required("out", output("out", out, T, (P,)), T, (P,))
    check(ctx, Raw.prior_constrained(T, ctx, prior, params, out))
    return out
end
