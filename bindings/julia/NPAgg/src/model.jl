# Whole models: points -> losses, gradients, predictions.

const OBJECTIVES = (:elbo, :elbo_closed, :iwae, :ml)
const POINTS = (:target, :all)
const NORMALISE = (:none, :points)

"""
    Objective(ctx, kind; points, normalise, samples = 5, sampling = :stratified, kl = :auto)

What a loss is: kind `:elbo`, `:elbo_closed`, `:iwae` or `:ml`; points `:target` or `:all`;
normalise `:none` or `:points`.
"""
function Objective(ctx::Context, kind; points = nothing, normalise = nothing, samples = nothing,
                   sampling = nothing, kl = nothing)
    create(out) = Raw.objective_create(ctx, number("kind", OBJECTIVES, kind), out)
    return configured(Objective(created(create, ctx))) do o
        points === nothing || set_points!(o, points)
        normalise === nothing || set_normalise!(o, normalise)
        samples === nothing || set_samples!(o, samples)
        sampling === nothing || set_sampling!(o, sampling)
        kl === nothing || set_kl!(o, kl)
    end
end

"`:target` or `:all`: which points the likelihood is of."
set_points!(o::Objective, points) =
    check(Raw.objective_set_points(o, number("points", POINTS, points)), "points", points)

"`:none`, or `:points`: the loss is divided by their number."
set_normalise!(o::Objective, how) =
    check(Raw.objective_set_normalise(o, number("normalise", NORMALISE, how)), "normalise", how)

"Samples of z per task."
set_samples!(o::Objective, n::Integer) = check(Raw.objective_set_samples(o, n), "samples", n)

"`:stratified`, `:chosen` or `:pathwise`."
set_sampling!(o::Objective, mode) =
    check(Raw.objective_set_sampling(o, number("sampling", SAMPLINGS, mode)), "sampling", mode)

"`:closed`, `:sampled`, `:matched` or `:auto`."
set_kl!(o::Objective, kind) = check(Raw.objective_set_kl(o, number("kl", KLS, kind)), "kl", kind)

"""
    Model(ctx, encoder, prior, decoder, objective; vmp)

All stages as one differentiable function. It copies the shapes, which may be closed after. With a
`MeanEncoder` or an `AttentionEncoder` the prior is `nothing`.
"""
function Model(ctx::Context, encoder::Encoder, prior::Union{Prior,Nothing}, decoder::Decoder,
               objective::Objective; vmp::Union{VMP,Nothing} = nothing)
    return own_model(created(ctx) do out
        Raw.model_create(ctx, encoder, prior, vmp, decoder, objective, out)
    end)
end

# A new model of the library's, with its sizes.
function own_model(ptr::Ptr{Cvoid})
    size(name) = Raw.model_size(ptr, name)
    return Model(ptr, size("d"), size("k"), size("q"), size("x"), size("y"), size("samples"),
                 size("outputs"))
end

"size_of(model, name): \"d\", \"k\", \"q\", \"x\", \"y\", \"samples\", \"outputs\" or \"sampling\"."
size_of(model::Model, name::AbstractString) = offset_or_nothing(Raw.model_size(model, name))

tensor_count(model::Model) = Int(Raw.model_tensor_count(model))

"tensor_name(model, i): such as \"encoder.mean.0.weight\"; i counts from 1."
tensor_name(model::Model, i::Integer) =
    GC.@preserve model unsafe_string(Raw.model_tensor_name(model, tensor_index(model, i)))

function tensor_index(model, i)
    1 <= i <= tensor_count(model) || throw(ArgumentError("i = $i, want 1..$(tensor_count(model))"))
    return i - 1
end

"""
    tensor(model, params, i)

A view of tensor i, from 1, in a flat array: weights are `[in,out]`, biases `[out]`.
"""
function tensor(model::Model, params::AbstractVector, i::Integer)
    checked("params", params, eltype(params), (param_count(model),))
    offset, rows, columns = Ref(Int64(0)), Ref(Int64(0)), Ref(Int64(0))
    check(Raw.model_tensor_shape(model, tensor_index(model, i), offset, rows, columns), "i", i)
    from, n = offset[], rows[] * max(columns[], 1)
    x = view(params, from+1:from+n)
    return columns[] == 0 ? x : reshape(x, Int(columns[]), Int(rows[]))
end

"Names of all tensors, in the order of the flat array."
tensor_names(model::Model) = [tensor_name(model, i) for i in 1:tensor_count(model)]

# --- losses ---

as_counts(name, n::Vector{Int64}, B) = checked(name, n, Int64, (B,))
as_counts(name, n::AbstractVector{<:Integer}, B) = as_counts(name, Vector{Int64}(n), B)
as_counts(name, n::Integer, B) = as_counts(name, fill(Int64(n), B), B)
as_counts(name, n, B) = throw(ArgumentError("$name is a $(typeof(n)), want a vector of integers"))

function tasks(model::Model, params::AbstractVector{T}, x, y, offsets, n_ctx, noise,
               which) where {T}
    n = columns("y", y, model.y)
    offsets = as_offsets(offsets, n)
    B = length(offsets) - 1
    checked("params", params, T, (param_count(model),))
    checked("x", x, T, (model.x, n))
    checked("y", y, T, (model.y, n))
    checked("noise", noise, T, (model.d, model.samples, B))
    checked("which", which, Int32, (model.samples, B))
    return offsets, as_counts("n_ctx", n_ctx, B), B
end

"""
    forward(ctx, model, params, x, y; offsets, n_ctx, noise, which, loss = true, cache) -> loss [B]

A set is a task, `x [X,N]`, `y [Y,N]`: first its context, n_ctx[b] columns, then its targets.
`noise [D,S,B]` is standard normal, `which [S,B]` the component of each sample if the sampling asks
for it. x and y may be lists of arrays, one per task.
"""
function forward(ctx::Context, model::Model, params::AbstractVector{T}, x::AbstractArray,
                 y::AbstractArray; n_ctx, noise, offsets = nothing, which = nothing, loss = true,
                 cache::Union{Cache,Nothing} = nothing) where {T<:Precision}
    offsets, n_ctx, B = tasks(model, params, x, y, offsets, n_ctx, noise, which)
    loss = required("loss", output("loss", loss, T, (B,)), T, (B,))
    check(ctx, Raw.model_forward(T, ctx, model, params, B, offsets, n_ctx, x, y, noise, which, loss,
                                 cache))
    return loss
end

"""
    backward(ctx, model, params, x, y; offsets, n_ctx, noise, which, cache, dloss, dparams = true)
        -> dparams [P]

Gradient of sum(dloss .* loss); for the mean over tasks dloss = 1/B.
"""
function backward(ctx::Context, model::Model, params::AbstractVector{T}, x::AbstractArray,
                  y::AbstractArray; n_ctx, noise, cache::Cache, dloss, offsets = nothing,
                  which = nothing, dparams = true) where {T<:Precision}
    offsets, n_ctx, B = tasks(model, params, x, y, offsets, n_ctx, noise, which)
    required("dloss", dloss, T, (B,))
    dparams = gradient("dparams", dparams, T, (param_count(model),))
    check(ctx, Raw.model_backward(T, ctx, model, params, B, offsets, n_ctx, x, y, noise, which,
                                  dloss, dparams, cache))
    return dparams
end

"""
    step(ctx, model, params, x, y; offsets, n_ctx, noise, which, dloss = 1/B each, loss = true,
         dparams = true) -> (loss = [B], dparams = [P])

Forward and backward at once, without a cache.
"""
function step(ctx::Context, model::Model, params::AbstractVector{T}, x::AbstractArray,
              y::AbstractArray; n_ctx, noise, offsets = nothing, which = nothing, dloss = nothing,
              loss = true, dparams = true) where {T<:Precision}
    offsets, n_ctx, B = tasks(model, params, x, y, offsets, n_ctx, noise, which)
    dloss = dloss === nothing ? fill(T(1) / B, B) : checked("dloss", dloss, T, (B,))
    loss = required("loss", output("loss", loss, T, (B,)), T, (B,))
    P = param_count(model)
    dparams = required("dparams", gradient("dparams", dparams, T, (P,)), T, (P,))
    check(ctx, Raw.model_step(T, ctx, model, params, B, offsets, n_ctx, x, y, noise, which, dloss,
                              loss, dparams))
    return (loss = loss, dparams = dparams)
end

for f in (:forward, :backward, :step)
    @eval function $f(ctx::Context, model::Model, params::AbstractVector{<:Precision},
                      x::Ragged, y::Ragged; offsets = nothing, options...)
        no_offsets(offsets)
        Y, cuts = ragged(y)
        return $f(ctx, model, params, ragged_as("x", x, cuts), Y; offsets = cuts, options...)
    end
end

"infer(ctx, model, params, x, y; offsets, q = true) -> q [Q,B] given the context x, y alone."
function infer(ctx::Context, model::Model, params::AbstractVector{T}, x::AbstractArray,
               y::AbstractArray; offsets = nothing, q = true) where {T<:Precision}
    n = columns("y", y, model.y)
    offsets = as_offsets(offsets, n)
    B = length(offsets) - 1
    checked("params", params, T, (param_count(model),))
    checked("x", x, T, (model.x, n))
    checked("y", y, T, (model.y, n))
    q = required("q", output("q", q, T, (model.q, B)), T, (model.q, B))
    check(ctx, Raw.model_infer(T, ctx, model, params, B, offsets, x, y, q))
    return q
end

function choose(ctx::Context, model::Model, q::AbstractArray{T}, u::AbstractMatrix;
                which = true) where {T<:Precision}
    B = columns("q", q, model.q)
    S = size(u, 1)
    checked("q", q, T, (model.q, B))
    checked("u", u, T, (S, B))
    which = required("which", output("which", which, Int32, (S, B)), Int32, (S, B))
    check(ctx, Raw.model_choose(T, ctx, model, B, S, q, u, which))
    return which
end

# What predict takes, checked: offsets of the context and of the targets, numbers of sets, samples,
# context points and targets.
function questions(model::Model, params::AbstractVector{T}, xc, yc, xt, yt, ctx_offsets,
                   tgt_offsets, noise, which) where {T}
    nc = columns("yc", yc, model.y)
    M = model.x > 0 ? columns("xt", xt, model.x) : size(xt, 2)
    cuts_c, cuts_t = as_offsets(ctx_offsets, nc), as_offsets(tgt_offsets, M)
    B, S = length(cuts_c) - 1, n_samples(noise)
    length(cuts_t) == B + 1 || throw(DimensionMismatch(
        "tgt_offsets has length $(length(cuts_t)), want $(B + 1) as ctx_offsets"))
    checked("params", params, T, (param_count(model),))
    checked("xc", xc, T, (model.x, nc))
    checked("yc", yc, T, (model.y, nc))
    checked("xt", xt, T, (model.x, M))
    checked("yt", yt, T, (model.y, M))
    checked("noise", noise, T, (model.d, S, B))
    checked("which", which, Int32, (S, B))
    return cuts_c, cuts_t, B, S, nc, M
end

"""
    predict(ctx, model, params, xc, yc, xt; ctx_offsets, tgt_offsets, noise, yt, which,
            mean = true, sd = true, samples = false, loglik = false, weight = false)
        -> (mean = [Y,M], sd = [Y,M], samples = [2Y,S,M], loglik = [M], weight = [Nc])

Predictions at `xt [X,M]` from the context `xc, yc`; `noise [D,S,B]` says how many samples. loglik
needs `yt [Y,M]`, mixtures need `which [S,B]`.
"""
function predict(ctx::Context, model::Model, params::AbstractVector{T}, xc::AbstractArray,
                 yc::AbstractArray, xt::AbstractArray; noise::AbstractArray, ctx_offsets = nothing,
                 tgt_offsets = nothing, yt = nothing, which = nothing, mean = true, sd = true,
                 samples = false, loglik = false, weight = false) where {T<:Precision}
    cuts_c, cuts_t, B, S, nc, M =
        questions(model, params, xc, yc, xt, yt, ctx_offsets, tgt_offsets, noise, which)
    mean = output("mean", mean, T, (model.y, M))
    sd = output("sd", sd, T, (model.y, M))
    samples = output("samples", samples, T, (model.outputs, S, M))
    loglik = output("loglik", loglik, T, (M,))
    weight = output("weight", weight, T, (nc,))
    check(ctx, Raw.model_predict(T, ctx, model, params, B, cuts_c, xc, yc, cuts_t, xt, yt, S, noise,
                                 which, mean, sd, samples, loglik, weight))
    return (mean = mean, sd = sd, samples = samples, loglik = loglik, weight = weight)
end
