"""
Structured inference in the aggregation step of neural processes: libnpagg from Julia.

An array of the library is row-major, one of Julia column-major, so that `m [N,D]` of the C headers
is a `D×N` matrix here, the same memory: all sizes in this package are those of the headers,
reversed. Nothing is copied; arrays must be contiguous.

    using NPAgg
    ctx = Context()
    prior = student(ctx, 2)
    params = NPAgg.init_params(ctx, prior, 1)
    m, v = randn(2, 5), fill(0.1, 2, 5)
    cache = Cache(ctx)
    q, _ = forward(ctx, prior, params, m, v; cache = cache)
    g = backward(ctx, prior, params, m, v; cache = cache, dq = one.(q))   # g.dm, g.dv, g.dparams

An output or a gradient is a keyword: `true` makes an array, an array of yours is filled (an output)
or added to (a gradient), `false` leaves it out.

Numbers in arrays are the library's: `offsets` and `which` count from 0. Scalars that say which one
(`trace(ctx, cache, set)`, `tensor_name(model, i)`) count from 1.
"""
module NPAgg

import Libdl

export Context, Cache, Prior, VMP, Encoder, Decoder, Objective, Model, NPAggError
export MeanEncoder, AttentionEncoder
export gaussian, mixture, student, forward, backward, aggregate

include("library.jl")
include("raw.jl")
include("errors.jl")
include("handles.jl")
include("arrays.jl")
include("context.jl")
include("prior.jl")
include("infer.jl")
include("networks.jl")
include("posterior.jl")
include("model.jl")
include("checkpoint.jl")
include("aggregate.jl")
include("refusals.jl")

function __init__()
    open_library()
    init_allocator()
end

end
