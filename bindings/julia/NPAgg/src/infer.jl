# Inference: factors (m_i, v_i) of ragged sets -> posterior of each set, and back.

const GRADS = (:unroll, :last_step, :implicit)

"""
    VMP(ctx; max_iters = 5, tolerance = 0, grad = :unroll, weights = true)

Settings of the message passing; grad is `:unroll`, `:last_step` or `:implicit`, weights whether a
forward with a cache and without logz keeps what `NPAgg.weights` reads.
"""
function VMP(ctx::Context; max_iters = nothing, tolerance = nothing, grad = nothing,
             weights = nothing)
    return configured(VMP(created(out -> Raw.vmp_create(ctx, out), ctx))) do vmp
        max_iters === nothing || set_max_iters!(vmp, max_iters)
        tolerance === nothing || set_tolerance!(vmp, tolerance)
        grad === nothing || set_grad!(vmp, grad)
        weights === nothing || set_weights!(vmp, weights)
    end
end

"At most n sweeps, 1..1000000."
set_max_iters!(vmp::VMP, n::Integer) =
    check(Raw.vmp_set_max_iters(vmp, int32("max_iters", n)), "max_iters", n)

"A set stops when its residual is at most tol; 0 runs all sweeps."
set_tolerance!(vmp::VMP, tol::Real) = check(Raw.vmp_set_tolerance(vmp, tol), "tolerance", tol)

"How backward goes through the sweeps: `:unroll`, `:last_step` or `:implicit`."
set_grad!(vmp::VMP, mode) = check(Raw.vmp_set_grad(vmp, number("grad", GRADS, mode)), "grad", mode)

"Whether a forward with a cache computes E[beta_i] after the last sweep if it has no logz."
set_weights!(vmp::VMP, on::Bool) = check(Raw.vmp_set_weights(vmp, on), "weights", on)

# What forward and backward of a prior take, checked.
function factors(prior::Prior, params::AbstractVector{T}, m, v, weight, offsets) where {T}
    n = columns("m", m, prior.d)
    offsets = as_offsets(offsets, n)
    checked("params", params, T, (param_count(prior),))
    checked("m", m, T, (prior.d, n))
    checked("v", v, T, (prior.d, n))
    checked("weight", weight, T, (n,))
    return n, offsets, length(offsets) - 1
end

"""
    forward(ctx, prior, params, m, v; offsets, weight, vmp, q = true, logz = false, cache)
        -> (q = [Q,B], logz = [B])

Posteriors of the sets of factors `m, v [D,N]`; set b has the columns offsets[b]+1 : offsets[b+1],
and without offsets all columns are one set. logz is the log evidence or its bound. `m` and `v` may
also be lists of matrices, one per set (and `weight` a list of vectors).
"""
function forward(ctx::Context, prior::Prior, params::AbstractVector{T}, m::AbstractArray,
                 v::AbstractArray; offsets = nothing, weight = nothing,
                 vmp::Union{VMP,Nothing} = nothing, q = true, logz = false,
                 cache::Union{Cache,Nothing} = nothing) where {T<:Precision}
    n, offsets, B = factors(prior, params, m, v, weight, offsets)
    Q = posterior_count(prior)
    q = required("q", output("q", q, T, (Q, B)), T, (Q, B))
    logz = output("logz", logz, T, (B,))
    disable_sigint() do # the cache, and what is known of it, change together
        check(ctx, Raw.infer_forward(T, ctx, prior, vmp, params, B, offsets, m, v, weight, q, logz,
                                     cache))
        remember!(cache, T, B, n)
    end
    return (q = q, logz = logz)
end

"""
    backward(ctx, prior, params, m, v; offsets, weight, vmp, cache, dq, dlogz,
             dparams = true, dm = true, dv = true, dweight = false)
        -> (dparams = [P], dm = [D,N], dv = [D,N], dweight = [N])

Gradients of sum(dq .* q) + sum(dlogz .* logz), where q and logz are those of the forward that
filled the cache with the same arguments.
"""
function backward(ctx::Context, prior::Prior, params::AbstractVector{T}, m::AbstractArray,
                  v::AbstractArray; cache::Cache, offsets = nothing, weight = nothing,
                  vmp::Union{VMP,Nothing} = nothing, dq = nothing, dlogz = nothing,
                  dparams = true, dm = true, dv = true, dweight = false) where {T<:Precision}
    n, offsets, B = factors(prior, params, m, v, weight, offsets)
    checked("dq", dq, T, (posterior_count(prior), B))
    checked("dlogz", dlogz, T, (B,))
    dparams = gradient("dparams", dparams, T, (param_count(prior),))
    dm = gradient("dm", dm, T, (prior.d, n))
    dv = gradient("dv", dv, T, (prior.d, n))
    dweight = gradient("dweight", dweight, T, (n,))
    check(ctx, Raw.infer_backward(T, ctx, prior, vmp, params, B, offsets, m, v, weight, dq, dlogz,
                                  dparams, dm, dv, dweight, cache))
    return (dparams = dparams, dm = dm, dv = dv, dweight = dweight)
end

function forward(ctx::Context, prior::Prior, params::AbstractVector{<:Precision}, m::Ragged,
                 v::Ragged; offsets = nothing, weight = nothing, options...)
    no_offsets(offsets)
    M, cuts = ragged(m)
    return forward(ctx, prior, params, M, ragged_as("v", v, cuts); offsets = cuts,
                   weight = ragged_as("weight", weight, cuts), options...)
end

function backward(ctx::Context, prior::Prior, params::AbstractVector{<:Precision}, m::Ragged,
                  v::Ragged; offsets = nothing, weight = nothing, dm::Bool = true,
                  dv::Bool = true, dweight::Bool = false, options...)
    no_offsets(offsets)
    M, cuts = ragged(m)
    g = backward(ctx, prior, params, M, ragged_as("v", v, cuts); offsets = cuts,
                 weight = ragged_as("weight", weight, cuts), dm = dm, dv = dv, dweight = dweight,
                 options...)
    return (dparams = g.dparams, dm = sets(g.dm, cuts), dv = sets(g.dv, cuts),
            dweight = sets(g.dweight, cuts))
end

# --- what a cache knows of its last inference ---

# The library does not tell how many numbers the look-ups below write.
remember!(::Nothing, T, B, n) = nothing
function remember!(cache::Cache, ::Type{T}, B, n) where {T}
    cache.sets, cache.points, cache.bits = B, n, 8 * sizeof(T)
end

"iters(ctx, cache): sweeps each set took."
function iters(ctx::Context, cache::Cache)
    n = Vector{Int32}(undef, cache.sets)
    check(ctx, Raw.infer_iters(ctx, cache, n))
    return n
end

"weights(ctx, cache): E[beta_i] of every point after the last sweep, in the forward's precision."
function weights(ctx::Context, cache::Cache)
    T = cache.bits == 32 ? Float32 : Float64
    w = Vector{T}(undef, cache.points)
    check(ctx, Raw.infer_weights(T, ctx, cache, w))
    return w
end

"trace(ctx, cache, set): the bound after each sweep of a set, which counts from 1."
function trace(ctx::Context, cache::Cache, set::Integer)
    sweeps = iters(ctx, cache)
    1 <= set <= length(sweeps) || throw(ArgumentError("set = $set, want 1..$(length(sweeps))"))
    bound = Vector{Float64}(undef, sweeps[set])
    check(ctx, Raw.infer_trace(ctx, cache, set - 1, bound))
    return bound
end

"residual(ctx, cache): residual of each set's last sweep."
function residual(ctx::Context, cache::Cache)
    r = Vector{Float64}(undef, cache.sets)
    check(ctx, Raw.infer_residual(ctx, cache, r))
    return r
end

"grad_iters(ctx, cache): adjoint sweeps of the last implicit backward, -1 where it was unrolled."
function grad_iters(ctx::Context, cache::Cache)
    n = Vector{Int32}(undef, cache.sets)
    check(ctx, Raw.infer_grad_iters(ctx, cache, n))
    return n
end
