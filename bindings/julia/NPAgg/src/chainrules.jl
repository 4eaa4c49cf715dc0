# Gradients for packages that take theirs from ChainRulesCore, such as Zygote. Not loaded by itself:
#
#   using ChainRulesCore, NPAgg
#   include(joinpath(pkgdir(NPAgg), "src", "chainrules.jl"))
#
# A call keeps a cache of its own for its pullback, which the garbage collector takes back.
module NPAggRules

import ..ChainRulesCore
import ..NPAgg

const NONE = ChainRulesCore.NoTangent()

# A cotangent as an array, or nothing where it is zero.
cotangent(x::AbstractArray) = x isa DenseArray ? x : collect(x)
cotangent(::ChainRulesCore.AbstractZero) = nothing
cotangent(::Nothing) = nothing
cotangent(x) = cotangent(ChainRulesCore.unthunk(x))

# The two parts of the cotangent of (q, logz).
part(::ChainRulesCore.AbstractZero, name) = nothing
part(t::Tuple, name) = cotangent(t[name === :q ? 1 : 2])
part(t, name) = cotangent(getproperty(t, name))

# Posteriors, evidence and what takes their cotangents to gradients (dparams, dm, dv, dweight).
function aggregated(ctx, prior, params, m, v, weight; offsets = nothing, vmp = nothing)
    options = (cache = NPAgg.Cache(ctx), weight = weight, offsets = offsets, vmp = vmp)
    result = NPAgg.forward(ctx, prior, params, m, v; logz = true, options...)
    function gradients(thunk)
        d = ChainRulesCore.unthunk(thunk)
        return NPAgg.backward(ctx, prior, params, m, v; dq = part(d, :q), dlogz = part(d, :logz),
                              dweight = weight !== nothing, options...)
    end
    return result, gradients
end

function ChainRulesCore.rrule(::typeof(NPAgg.aggregate), ctx::NPAgg.Context, prior::NPAgg.Prior,
                              params, m, v; options...)
    result, gradients = aggregated(ctx, prior, params, m, v, nothing; options...)
    function pullback(thunk)
        g = gradients(thunk)
        return NONE, NONE, NONE, g.dparams, g.dm, g.dv
    end
    return result, pullback
end

function ChainRulesCore.rrule(::typeof(NPAgg.aggregate), ctx::NPAgg.Context, prior::NPAgg.Prior,
                              params, m, v, weight; options...)
    result, gradients = aggregated(ctx, prior, params, m, v, weight; options...)
    function pullback(thunk)
        g = gradients(thunk)
        return NONE, NONE, NONE, g.dparams, g.dm, g.dv, weight === nothing ? NONE : g.dweight
    end
    return result, pullback
end

function ChainRulesCore.rrule(::typeof(NPAgg.losses), ctx::NPAgg.Context, model::NPAgg.Model,
                              params, x, y; options...)
    cache = NPAgg.Cache(ctx)
    result = NPAgg.forward(ctx, model, params, x, y; cache = cache, options...)
    function pullback(thunk)
        dloss = cotangent(thunk)
        dloss === nothing && return NONE, NONE, NONE, zero(params), NONE, NONE
        g = NPAgg.backward(ctx, model, params, x, y; cache = cache, dloss = dloss, options...)
        return NONE, NONE, NONE, g, NONE, NONE
    end
    return result, pullback
end

end
