# src/chainrules.jl with a stand-in for ChainRulesCore that has its names: rules are found, their
# pullbacks give gradients, cotangents may be arrays, zeros or thunks.
include("harness.jl")
using NPAgg

module ChainRulesCore
abstract type AbstractZero end
struct NoTangent <: AbstractZero end
struct ZeroTangent <: AbstractZero end
struct Thunk{F}
    f::F
end
unthunk(x) = x
unthunk(t::Thunk) = t.f()
# As ChainRulesCore's: a structural tangent, whose fields that are not given are zero.
struct Tangent{P,T}
    backing::T
end
Tangent{P}(; fields...) where {P} = Tangent{P,typeof(values(fields))}(values(fields))
Base.getproperty(t::Tangent, name::Symbol) = get(getfield(t, :backing), name, ZeroTangent())
rrule(::Any, ::Vararg{Any}; options...) = nothing
end

include(joinpath(pkgdir(NPAgg), "src", "chainrules.jl"))
using .ChainRulesCore: rrule, NoTangent, ZeroTangent, Thunk, Tangent

const CTX = Context()
const OFFSETS = Int64[0, 3, 3, 8]
const M, V = NPAgg.noise(1, 1, 2, 8), 0.1 .+ NPAgg.uniform(1, 2, 2, 8)
const W = 0.5 .+ NPAgg.uniform(1, 3, 8)

function by_differences(f, x)
    h = 1e-6
    return map(eachindex(x)) do i
        e = [j == i ? h : 0.0 for j in eachindex(x)]
        (f(x .+ reshape(e, size(x))) - f(x .- reshape(e, size(x)))) / 2h
    end
end
near(g, f, x) = size(g) == size(x) && isapprox(vec(g), by_differences(f, x); rtol = 1e-6,
                                               atol = 1e-7)

function check_aggregate(prior)
    params = NPAgg.init_params(CTX, prior, 1)
    dq, dlogz = NPAgg.noise(2, 1, NPAgg.posterior_count(prior), 3), NPAgg.noise(2, 2, 3)
    run(args...) = NPAgg.aggregate(CTX, prior, args...; offsets = OFFSETS)
    value(args...) = (r = run(args...); sum(dq .* r.q) + sum(dlogz .* r.logz))
    y, pullback = rrule(NPAgg.aggregate, CTX, prior, params, M, V, W; offsets = OFFSETS)
    @test same_bits(y.q, run(params, M, V, W).q) && same_bits(y.logz, run(params, M, V, W).logz)
    g = pullback(Tangent{typeof(y)}(q = dq, logz = dlogz))
    @test length(g) == 7 && all(x -> x isa NoTangent, g[1:3])
    @test near(g[4], p -> value(p, M, V, W), params)
    @test near(g[5], x -> value(params, x, V, W), M)
    @test near(g[6], x -> value(params, M, x, W), V)
    @test near(g[7], x -> value(params, M, V, x), W)
    again = pullback(Tangent{typeof(y)}(q = Thunk(() -> dq), logz = Thunk(() -> dlogz)))
    @test all(i -> same_bits(again[i], g[i]), 4:7) # a second pullback, by thunks
    y, pullback = rrule(NPAgg.aggregate, CTX, prior, params, M, V; offsets = OFFSETS)
    g = pullback(Thunk(() -> Tangent{typeof(y)}(q = dq)))
    @test length(g) == 6 && near(g[5], x -> sum(dq .* run(params, x, V).q), M)
    @test all(iszero, pullback(ZeroTangent())[5])
    g = pullback((q = nothing, logz = dlogz))
    @test near(g[6], x -> sum(dlogz .* run(params, M, x).logz), V)
    @test same_bits(pullback((ZeroTangent(), dlogz))[6], g[6])
end

for (name, prior) in (("gaussian", gaussian(CTX, 2)), ("mixture", mixture(CTX, 2, 2)),
                      ("student", student(CTX, 2)),
                      ("robust_mixture", mixture(CTX, 2, 2; robust = true)))
    claim(() -> check_aggregate(prior), "test_the_rule_of_aggregate_gives_gradients_of_$name")
end

claim("test_an_explicit_weight_of_nothing_has_no_tangent") do
    prior = gaussian(CTX, 2)
    y, pullback = rrule(NPAgg.aggregate, CTX, prior, NPAgg.init_params(CTX, prior, 1), M, V,
                        nothing)
    g = pullback(Tangent{typeof(y)}(q = one.(y.q)))
    @test length(g) == 7 && g[7] isa NoTangent
end

claim("test_lists_of_matrices_get_lists_of_gradients") do
    prior = student(CTX, 2)
    params = NPAgg.init_params(CTX, prior, 1)
    cut(x) = [x[:, OFFSETS[b]+1:OFFSETS[b+1]] for b in 1:3]
    y, pullback = rrule(NPAgg.aggregate, CTX, prior, params, cut(M), cut(V))
    whole, pull_whole = rrule(NPAgg.aggregate, CTX, prior, params, M, V; offsets = OFFSETS)
    g, h = pullback((q = y.q, logz = y.logz)), pull_whole((q = y.q, logz = y.logz))
    @test same_bits(reduce(hcat, g[5]), h[5]) && length(g[5]) == 3
end

claim("test_the_rule_of_losses_gives_the_gradient_of_a_model") do
    model = Model(CTX, Encoder(CTX, 1, 1, 2, [3]; activation = :tanh), student(CTX, 2),
                  Decoder(CTX, 1, 1, 2, [3]; activation = :tanh), Objective(CTX,
                                                                            :elbo; samples = 2))
    params, x, y = NPAgg.init_params(CTX, model, 1), NPAgg.noise(3, 1, 1, 8), NPAgg.noise(3, 2, 1,
                                                                                          8)
    options = (offsets = OFFSETS, n_ctx = [1, 0, 3], noise = NPAgg.noise(3, 3, 2, 2, 3))
    loss, pullback = rrule(NPAgg.losses, CTX, model, params, x, y; options...)
    g = pullback(fill(1 / 3, 3))
    @test length(g) == 6 && all(x -> x isa NoTangent, g[[1, 2, 3, 5, 6]])
    @test near(g[4], p -> sum(NPAgg.losses(CTX, model, p, x, y; options...)) / 3, params)
    @test same_bits(pullback(Thunk(() -> fill(1 / 3, 3)))[4], g[4])
    @test iszero(pullback(ZeroTangent())[4])
    @test same_bits(pullback(view(fill(1 / 3, 6), 1:2:5))[4], g[4]) # any array
end
finish()
