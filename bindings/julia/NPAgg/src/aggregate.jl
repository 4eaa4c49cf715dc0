# Two functions of arrays alone, as automatic differentiation wants them; src/chainrules.jl has
# their gradients.

"""
    aggregate(ctx, prior, params, m, v, weight = nothing; offsets, vmp) -> (q = [Q,B], logz = [B])

Posteriors and evidence as `forward` gives them. `m, v [D,N]` with offsets, or lists of matrices.
With src/chainrules.jl it has gradients with respect to params, m, v and weight.
"""
aggregate(ctx::Context, prior::Prior, params, m, v, weight = nothing; offsets = nothing,
          vmp = nothing) =
    forward(ctx, prior, params, m, v; weight = weight, offsets = offsets, vmp = vmp, logz = true)

"""
    losses(ctx, model, params, x, y; offsets, n_ctx, noise, which) -> loss [B]

Losses as `forward` gives them. With src/chainrules.jl it has gradients with respect to params.
"""
losses(ctx::Context, model::Model, params, x, y; options...) =
    forward(ctx, model, params, x, y; options...)
