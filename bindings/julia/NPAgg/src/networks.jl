# Encoders, points (x, y) -> factors (m, v) or sets -> posteriors, and decoders, z and x -> the distribution of y.

const ACTIVATIONS = (:relu, :gelu, :tanh, :softplus, :sigmoid)
const LIKELIHOODS = (:gaussian, :bernoulli)

"""
    Encoder(ctx, x, y, d, widths; activation = :relu, var_range = (1e-4, 1), trunk = false)

Networks on [x, y], one for m and one for v, with hidden layers of these widths.
"""
function Encoder(ctx::Context, x::Integer, y::Integer, d::Integer, widths;
                 activation = nothing, var_range = nothing, trunk::Bool = false)
    w = collect(Int64, widths)
    create(out) = Raw.encoder_create_mlp(ctx, x, y, d, length(w), w, out)
    return configured(Encoder(created(create, ctx), x, y, d)) do encoder
        activation === nothing || set_activation!(encoder, activation)
        var_range === nothing || set_var_range!(encoder, var_range...)
        trunk && set_trunk!(encoder, true)
    end
end

"""
    MeanEncoder(ctx, x, y, d, pre, post; activation = :relu, var_range = (1e-8, 1))

The usual neural process: q(z) of a set from the mean of a network of its points. Layers of widths
`pre` before the mean, `post` behind it; m and v are `[D,B]`. Its model has `nothing` for a prior.
"""
function MeanEncoder(ctx::Context, x::Integer, y::Integer, d::Integer, pre, post; options...)
    w, v = collect(Int64, pre), collect(Int64, post)
    return of_sets(ctx, x, y, d; options...) do out
        Raw.encoder_create_mean(ctx, x, y, d, length(w), w, length(v), v, out)
    end
end

"""
    AttentionEncoder(ctx, x, y, d, pre, heads, post; activation = :relu, var_range = (1e-8, 1))

`MeanEncoder` with self-attention among the points of a set before the mean, as wide as the last of
`pre`.
"""
function AttentionEncoder(ctx::Context, x::Integer, y::Integer, d::Integer, pre, heads::Integer,
                          post; options...)
    w, v = collect(Int64, pre), collect(Int64, post)
    return of_sets(ctx, x, y, d; options...) do out
        Raw.encoder_create_attention(ctx, x, y, d, length(w), w, heads, length(v), v, out)
    end
end

function of_sets(create, ctx, x, y, d; activation = nothing, var_range = nothing)
    return configured(Encoder(created(create, ctx), x, y, d)) do encoder
        activation === nothing || set_activation!(encoder, activation)
        var_range === nothing || set_var_range!(encoder, var_range...)
    end
end

"Activation between layers: `:relu`, `:gelu`, `:tanh`, `:softplus` or `:sigmoid`."
set_activation!(encoder::Encoder, f) =
    check(Raw.encoder_set_activation(encoder, number("activation", ACTIVATIONS, f)),
          "activation", f)

"v lies between lo and hi."
set_var_range!(encoder::Encoder, lo::Real, hi::Real) =
    check(Raw.encoder_set_var_range(encoder, lo, hi), "var_range", (lo, hi))

"One trunk with two heads, instead of two networks. Changes the parameters."
set_trunk!(encoder::Encoder, on::Bool) = check(Raw.encoder_set_trunk(encoder, on), "trunk", on)

"Does the encoder give one posterior per set (true) or one factor per point?"
per_set(encoder::Encoder) = Raw.encoder_per_set(encoder) == 1

function points(encoder::Encoder, params::AbstractVector{T}, x, y, offsets) where {T}
    n = columns("y", y, encoder.y)
    offsets = as_offsets(offsets, n)
    checked("params", params, T, (param_count(encoder),))
    checked("x", x, T, (encoder.x, n))
    checked("y", y, T, (encoder.y, n))
    B = length(offsets) - 1
    return n, offsets, B, (encoder.d, per_set(encoder) ? B : n)
end

"""
    forward(ctx, encoder, params, x, y; offsets, m = true, v = true, cache)
        -> (m = [D,N], v = [D,N])

Factors of the points `x [X,N]`, `y [Y,N]`; m and v are `[D,B]` if `per_set(encoder)`.
"""
function forward(ctx::Context, encoder::Encoder, params::AbstractVector{T}, x::AbstractArray,
                 y::AbstractArray; offsets = nothing, m = true, v = true,
                 cache::Union{Cache,Nothing} = nothing) where {T<:Precision}
    _, offsets, B, size = points(encoder, params, x, y, offsets)
    m = required("m", output("m", m, T, size), T, size)
    v = required("v", output("v", v, T, size), T, size)
    check(ctx, Raw.encoder_forward(T, ctx, encoder, params, B, offsets, x, y, m, v, cache))
    return (m = m, v = v)
end

"""
    backward(ctx, encoder, params, x, y; offsets, cache, dm, dv, dparams = true, dx = false,
             dy = false) -> (dparams, dx, dy)
"""
function backward(ctx::Context, encoder::Encoder, params::AbstractVector{T}, x::AbstractArray,
                  y::AbstractArray; cache::Cache, offsets = nothing, dm = nothing, dv = nothing,
                  dparams = true, dx = false, dy = false) where {T<:Precision}
    n, offsets, B, size = points(encoder, params, x, y, offsets)
    checked("dm", dm, T, size)
    checked("dv", dv, T, size)
    dparams = gradient("dparams", dparams, T, (param_count(encoder),))
    dx = gradient("dx", dx, T, (encoder.x, n))
    dy = gradient("dy", dy, T, (encoder.y, n))
    check(ctx, Raw.encoder_backward(T, ctx, encoder, params, B, offsets, x, y, dm, dv, dparams, dx,
                                    dy, cache))
    return (dparams = dparams, dx = dx, dy = dy)
end

"""
    Decoder(ctx, x, y, d, widths; activation = :relu, likelihood = :gaussian, sd_floor = 0.1)

Networks on [z, x] for the distribution of y, with hidden layers of these widths.
"""
function Decoder(ctx::Context, x::Integer, y::Integer, d::Integer, widths;
                 activation = nothing, likelihood = nothing, sd_floor = nothing)
    w = collect(Int64, widths)
    create(out) = Raw.decoder_create_mlp(ctx, x, y, d, length(w), w, out)
    return configured(Decoder(created(create, ctx), x, y, d)) do decoder
        activation === nothing || set_activation!(decoder, activation)
        likelihood === nothing || set_likelihood!(decoder, likelihood)
        sd_floor === nothing || set_sd_floor!(decoder, sd_floor)
    end
end

set_activation!(decoder::Decoder, f) =
    check(Raw.decoder_set_activation(decoder, number("activation", ACTIVATIONS, f)),
          "activation", f)

"`:gaussian` or `:bernoulli`. Changes the parameters."
set_likelihood!(decoder::Decoder, kind) =
    check(Raw.decoder_set_likelihood(decoder, number("likelihood", LIKELIHOODS, kind)),
          "likelihood", kind)

"Smallest standard deviation, 0 <= floor < 1."
set_sd_floor!(decoder::Decoder, floor::Real) =
    check(Raw.decoder_set_sd_floor(decoder, floor), "sd_floor", floor)

"Numbers per point and sample in py: 2Y, or Y for bernoulli."
output_count(decoder::Decoder) = Int(Raw.decoder_output_count(decoder))

# z [D,S,B] says how many samples there are. A matrix is one sample per set.
n_samples(z::AbstractArray) = ndims(z) >= 3 ? size(z, 2) : 1

function places(decoder::Decoder, params::AbstractVector{T}, x, z, offsets) where {T}
    S = n_samples(z)
    n = decoder.x > 0 ? columns("x", x, decoder.x) : size(x, 2)
    offsets = as_offsets(offsets, n)
    B = length(offsets) - 1
    checked("params", params, T, (param_count(decoder),))
    checked("x", x, T, (decoder.x, n))
    checked("z", z, T, (decoder.d, S, B))
    return n, offsets, B, S
end

"""
    forward(ctx, decoder, params, x, z; offsets, py = true, cache) -> py [2Y,S,N]

The distribution of y at `x [X,N]` for samples `z [D,S,B]`: mean, then sd; bernoulli: logits
`[Y,S,N]`.
"""
function forward(ctx::Context, decoder::Decoder, params::AbstractVector{T}, x::AbstractArray,
                 z::AbstractArray; offsets = nothing, py = true,
                 cache::Union{Cache,Nothing} = nothing) where {T<:Precision}
    n, offsets, B, S = places(decoder, params, x, z, offsets)
    size = (output_count(decoder), S, n)
    py = required("py", output("py", py, T, size), T, size)
    check(ctx, Raw.decoder_forward(T, ctx, decoder, params, B, offsets, S, x, z, py, cache))
    return py
end

"""
    backward(ctx, decoder, params, x, z; offsets, cache, dpy, dparams = true, dx = false, dz = true)
        -> (dparams, dx, dz)
"""
function backward(ctx::Context, decoder::Decoder, params::AbstractVector{T}, x::AbstractArray,
                  z::AbstractArray; cache::Cache, dpy, offsets = nothing, dparams = true,
                  dx = false, dz = true) where {T<:Precision}
    n, offsets, B, S = places(decoder, params, x, z, offsets)
    required("dpy", dpy, T, (output_count(decoder), S, n))
    dparams = gradient("dparams", dparams, T, (param_count(decoder),))
    dx = gradient("dx", dx, T, (decoder.x, n))
    dz = gradient("dz", dz, T, (decoder.d, S, B))
    check(ctx, Raw.decoder_backward(T, ctx, decoder, params, B, offsets, S, x, z, dpy, dparams, dx,
                                    dz, cache))
    return (dparams = dparams, dx = dx, dz = dz)
end

# py [O,S,N] with y [Y,N]: S and N.
function outcomes(decoder::Decoder, py::AbstractArray{T}, y) where {T}
    n = columns("y", y, decoder.y)
    S = ndims(py) >= 3 ? size(py, 2) : 1
    checked("py", py, T, (output_count(decoder), S, n))
    checked("y", y, T, (decoder.y, n))
    return S, n
end

"loglik(ctx, decoder, py, y; out = true) -> [S,N]: log p(y | py), y [Y,N]."
function loglik(ctx::Context, decoder::Decoder, py::AbstractArray{T}, y::AbstractArray;
                out = true) where {T<:Precision}
    S, n = outcomes(decoder, py, y)
    out = required("out", output("out", out, T, (S, n)), T, (S, n))
    check(ctx, Raw.decoder_loglik(T, ctx, decoder, n, S, py, y, out))
    return out
end

"loglik_backward(ctx, decoder, py, y, dloglik; dpy = true, dy = false) -> (dpy, dy)"
function loglik_backward(ctx::Context, decoder::Decoder, py::AbstractArray{T}, y::AbstractArray,
                         dloglik; dpy = true, dy = false) where {T<:Precision}
    S, n = outcomes(decoder, py, y)
    required("dloglik", dloglik, T, (S, n))
    dpy = gradient("dpy", dpy, T, (output_count(decoder), S, n))
    dy = gradient("dy", dy, T, (decoder.y, n))
    check(ctx, Raw.decoder_loglik_backward(T, ctx, decoder, n, S, py, y, dloglik, dpy, dy))
    return (dpy = dpy, dy = dy)
end
