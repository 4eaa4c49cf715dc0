# What one does with posteriors q [Q,B]. Samples z are [D,S,B], their log weights [S,B].

const SAMPLINGS = (:stratified, :chosen, :pathwise)
const KLS = (:closed, :sampled, :matched, :auto)

function posteriors(prior::Prior, q::AbstractArray{T}) where {T}
    Q = posterior_count(prior)
    B = columns("q", q, Q)
    checked("q", q, T, (Q, B))
    return Q, B
end

# (S, B) of samples z or noise; S = 0 if there are none.
samples_of(::Nothing) = 0
samples_of(z::AbstractArray) = n_samples(z)

"""
    sample(ctx, prior, q, noise; mode = :stratified, which, z = true, logw = true) -> (z, logw)

Samples from q out of standard normal `noise [D,S,B]`. mode is `:stratified`, `:chosen` or
`:pathwise`; the last two take the component of each sample from `which [S,B]` (Int32, from 0).
"""
function sample(ctx::Context, prior::Prior, q::AbstractArray{T}, noise::AbstractArray;
                mode = :stratified, which = nothing, z = true, logw = true) where {T<:Precision}
    _, B = posteriors(prior, q)
    S = n_samples(noise)
    checked("noise", noise, T, (prior.d, S, B))
    checked("which", which, Int32, (S, B))
    z = required("z", output("z", z, T, (prior.d, S, B)), T, (prior.d, S, B))
    logw = output("logw", logw, T, (S, B))
    check(ctx, Raw.posterior_sample(T, ctx, prior, number("mode", SAMPLINGS, mode), B, S, q, noise,
                                    which, z, logw))
    return (z = z, logw = logw)
end

"sample_backward(ctx, prior, q, noise; mode, which, dz, dlogw, dq = true) -> dq"
function sample_backward(ctx::Context, prior::Prior, q::AbstractArray{T}, noise::AbstractArray;
                         mode = :stratified, which = nothing, dz = nothing, dlogw = nothing,
                         dq = true) where {T<:Precision}
    Q, B = posteriors(prior, q)
    S = n_samples(noise)
    checked("noise", noise, T, (prior.d, S, B))
    checked("which", which, Int32, (S, B))
    checked("dz", dz, T, (prior.d, S, B))
    checked("dlogw", dlogw, T, (S, B))
    dq = gradient("dq", dq, T, (Q, B))
    check(ctx, Raw.posterior_sample_backward(T, ctx, prior, number("mode", SAMPLINGS, mode), B, S,
                                             q, noise, which, dz, dlogw, dq))
    return dq
end

"choose(ctx, prior or model, q, u; which = true) -> which [S,B]: components by uniform `u [S,B]`."
function choose(ctx::Context, prior::Prior, q::AbstractArray{T}, u::AbstractMatrix;
                which = true) where {T<:Precision}
    _, B = posteriors(prior, q)
    S = size(u, 1)
    checked("u", u, T, (S, B))
    which = required("which", output("which", which, Int32, (S, B)), Int32, (S, B))
    check(ctx, Raw.posterior_choose(T, ctx, prior, B, S, q, u, which))
    return which
end

"logpdf(ctx, prior, q, z; logq = true) -> [S,B]: log density of q at `z [D,S,B]`."
function logpdf(ctx::Context, prior::Prior, q::AbstractArray{T}, z::AbstractArray;
                logq = true) where {T<:Precision}
    _, B = posteriors(prior, q)
    S = n_samples(z)
    checked("z", z, T, (prior.d, S, B))
    logq = required("logq", output("logq", logq, T, (S, B)), T, (S, B))
    check(ctx, Raw.posterior_logpdf(T, ctx, prior, B, S, q, z, logq))
    return logq
end

"logpdf_backward(ctx, prior, q, z, dlogq; dq = true, dz = true) -> (dq, dz)"
function logpdf_backward(ctx::Context, prior::Prior, q::AbstractArray{T}, z::AbstractArray, dlogq;
                         dq = true, dz = true) where {T<:Precision}
    Q, B = posteriors(prior, q)
    S = n_samples(z)
    checked("z", z, T, (prior.d, S, B))
    required("dlogq", dlogq, T, (S, B))
    dq = gradient("dq", dq, T, (Q, B))
    dz = gradient("dz", dz, T, (prior.d, S, B))
    check(ctx, Raw.posterior_logpdf_backward(T, ctx, prior, B, S, q, z, dlogq, dq, dz))
    return (dq = dq, dz = dz)
end

# Samples and log weights that some kinds need.
function weighted_samples(prior, ::Type{T}, z, logw, B) where {T}
    S = samples_of(z)
    checked("z", z, T, (prior.d, S, B))
    checked("logw", logw, T, (S, B))
    return S
end

"""
    kl(ctx, prior, q, p; kind = :closed, z, logw, out = true) -> [B]

KL(q || p) of two posteriors of one prior: `:closed`, `:sampled` (with z, logw from q) or
`:matched`.
"""
function kl(ctx::Context, prior::Prior, q::AbstractArray{T}, p::AbstractArray; kind = :closed,
            z = nothing, logw = nothing, out = true) where {T<:Precision}
    Q, B = posteriors(prior, q)
    checked("p", p, T, (Q, B))
    S = weighted_samples(prior, T, z, logw, B)
    out = required("out", output("out", out, T, (B,)), T, (B,))
    check(ctx, Raw.posterior_kl(T, ctx, prior, number("kind", KLS, kind), B, S, q, p, z, logw, out))
    return out
end

"kl_backward(ctx, prior, q, p, dkl; kind, z, logw, dq = true, dp = true, dz = false, dlogw = false)"
function kl_backward(ctx::Context, prior::Prior, q::AbstractArray{T}, p::AbstractArray, dkl;
                     kind = :closed, z = nothing, logw = nothing, dq = true, dp = true, dz = false,
                     dlogw = false) where {T<:Precision}
    Q, B = posteriors(prior, q)
    checked("p", p, T, (Q, B))
    S = weighted_samples(prior, T, z, logw, B)
    required("dkl", dkl, T, (B,))
    dq = gradient("dq", dq, T, (Q, B))
    dp = gradient("dp", dp, T, (Q, B))
    dz = gradient("dz", dz, T, (prior.d, S, B))
    dlogw = gradient("dlogw", dlogw, T, (S, B))
    check(ctx, Raw.posterior_kl_backward(T, ctx, prior, number("kind", KLS, kind), B, S, q, p, z,
                                         logw, dkl, dq, dp, dz, dlogw))
    return (dq = dq, dp = dp, dz = dz, dlogw = dlogw)
end

"moments(ctx, prior, q; mean = true, var = true) -> (mean = [D,B], var = [D,B])"
function moments(ctx::Context, prior::Prior, q::AbstractArray{T}; mean = true,
                 var = true) where {T<:Precision}
    _, B = posteriors(prior, q)
    mean = output("mean", mean, T, (prior.d, B))
    var = output("var", var, T, (prior.d, B))
    check(ctx, Raw.posterior_moments(T, ctx, prior, B, q, mean, var))
    return (mean = mean, var = var)
end

"moments_backward(ctx, prior, q; dmean, dvar, dq = true) -> dq"
function moments_backward(ctx::Context, prior::Prior, q::AbstractArray{T}; dmean = nothing,
                          dvar = nothing, dq = true) where {T<:Precision}
    Q, B = posteriors(prior, q)
    checked("dmean", dmean, T, (prior.d, B))
    checked("dvar", dvar, T, (prior.d, B))
    dq = gradient("dq", dq, T, (Q, B))
    check(ctx, Raw.posterior_moments_backward(T, ctx, prior, B, q, dmean, dvar, dq))
    return dq
end

"entropy(ctx, prior, q; z, logw, out = true) -> [B]; mixtures need samples z, logw from q."
function entropy(ctx::Context, prior::Prior, q::AbstractArray{T}; z = nothing, logw = nothing,
                 out = true) where {T<:Precision}
    _, B = posteriors(prior, q)
    S = weighted_samples(prior, T, z, logw, B)
    out = required("out", output("out", out, T, (B,)), T, (B,))
    check(ctx, Raw.posterior_entropy(T, ctx, prior, B, S, q, z, logw, out))
    return out
end

"entropy_backward(ctx, prior, q, dentropy; z, logw, dq = true, dz = false, dlogw = false)"
function entropy_backward(ctx::Context, prior::Prior, q::AbstractArray{T}, dentropy; z = nothing,
                          logw = nothing, dq = true, dz = false,
                          dlogw = false) where {T<:Precision}
    Q, B = posteriors(prior, q)
    S = weighted_samples(prior, T, z, logw, B)
    required("dentropy", dentropy, T, (B,))
    dq = gradient("dq", dq, T, (Q, B))
    dz = gradient("dz", dz, T, (prior.d, S, B))
    dlogw = gradient("dlogw", dlogw, T, (S, B))
    check(ctx, Raw.posterior_entropy_backward(T, ctx, prior, B, S, q, z, logw, dentropy, dq, dz,
                                              dlogw))
    return (dq = dq, dz = dz, dlogw = dlogw)
end
