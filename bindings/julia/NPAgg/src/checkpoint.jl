# Checkpoints: safetensors files with a model's shape and parameters, and extra arrays.

"save(ctx, model, params, path): writes the model with its parameters, and no extras."
function save(ctx::Context, model::Model, params::AbstractVector{T},
              path::AbstractString) where {T<:Precision}
    checked("params", params, T, (param_count(model),))
    check(ctx, Raw.model_save(T, ctx, model, params, path))
end

"load(ctx, path) -> Model of the shape that the file says."
load(ctx::Context, path::AbstractString) =
    own_model(created(out -> Raw.model_load(ctx, path, out), ctx))

"""
    load_params([T = Float64,] ctx, model, path)

The file's parameters, converted to T. `load_params!(params, ctx, model, path)` fills an array.
"""
load_params(::Type{T}, ctx::Context, model::Model, path::AbstractString) where {T<:Precision} =
    load_params!(Vector{T}(undef, param_count(model)), ctx, model, path)
load_params(ctx::Context, model::Model, path::AbstractString) =
    load_params(Float64, ctx, model, path)

function load_params!(params::AbstractVector{T}, ctx::Context, model::Model,
                      path::AbstractString) where {T<:Precision}
    checked("params", params, T, (param_count(model),))
    check(ctx, Raw.model_load_params(T, ctx, model, path, params))
    return params
end

"save_extra(ctx, path, name, array): adds or replaces an array in a checkpoint."
function save_extra(ctx::Context, path::AbstractString, name::AbstractString,
                    array::AbstractArray{T}) where {T<:Precision}
    checked("array", array, T, size(array))
    check(ctx, Raw.model_save_extra(T, ctx, path, name, length(array), array))
end

"load_extra!(array, ctx, path, name): fills an array that has the size of the extra."
function load_extra!(array::AbstractArray{T}, ctx::Context, path::AbstractString,
                     name::AbstractString) where {T<:Precision}
    checked("array", array, T, size(array))
    check(ctx, Raw.model_load_extra(T, ctx, path, name, length(array), array))
    return array
end
