# Arrays on their way to the library: checked, never copied.

const Precision = Union{Float32,Float64}

# Does x lie in memory as an Array of its size would?
contiguous(::Array) = true
function contiguous(x::StridedArray)
    want = 1
    for i in 1:ndims(x)
        size(x, i) > 1 && stride(x, i) != want && return isempty(x)
        want *= size(x, i)
    end
    return true
end
contiguous(::AbstractArray) = false

# Dimensions of size 1 may be left out: a vector [N] will do for [1,N].
fits(got, want) = got == want || filter(!=(1), collect(got)) == filter(!=(1), collect(want))

"x itself, if it is a contiguous array of T with these dimensions; the exception names it if not."
function checked(name, x::AbstractArray, ::Type{T}, dims::Dims) where {T}
    eltype(x) === T || throw(ArgumentError("$name has entries of type $(eltype(x)), want $T"))
    fits(size(x), dims) || throw(DimensionMismatch("$name has size $(size(x)), want $dims"))
    contiguous(x) || throw(ArgumentError("$name, a $(nameof(typeof(x))), is not contiguous in " *
                                         "memory; pass a copy: collect($name)"))
    return x
end
checked(name, ::Nothing, ::Type, ::Dims) = nothing
checked(name, x, ::Type{T}, ::Dims) where {T} =
    throw(ArgumentError("$name is a $(typeof(x)), want an array of $T"))

function required(name, x, ::Type{T}, dims::Dims) where {T}
    x === nothing && throw(ArgumentError("$name is missing, want an array of $T of size $dims"))
    return checked(name, x, T, dims)
end

# An output: made, checked, or nothing.
output(name, x, ::Type{T}, dims::Dims) where {T} = checked(name, x, T, dims)
output(name, x::Bool, ::Type{T}, dims::Dims) where {T} = x ? Array{T}(undef, dims) : nothing

# A gradient is added to, so one that is made begins at zero.
gradient(name, x, ::Type{T}, dims::Dims) where {T} = checked(name, x, T, dims)
gradient(name, x::Bool, ::Type{T}, dims::Dims) where {T} = x ? zeros(T, dims) : nothing

# --- ragged sets ---

# offsets as the library reads them. Without any, all n columns are one set.
as_offsets(::Nothing, n) = Int64[0, n]
as_offsets(offsets::Vector{Int64}, n) = checked_offsets("offsets", offsets, n)
as_offsets(offsets::AbstractVector{<:Integer}, n) = as_offsets(Vector{Int64}(offsets), n)
as_offsets(offsets, n) =
    throw(ArgumentError("offsets is a $(typeof(offsets)), want a vector of integers"))

function checked_offsets(name, offsets, n)
    isempty(offsets) &&
        throw(DimensionMismatch("$name is empty, want one more than there are sets"))
    last(offsets) == n ||
        throw(DimensionMismatch("$name ends at $(last(offsets)), but there are $n columns"))
    return offsets
end

# Columns of an array whose first dimension is rows.
function columns(name, x::AbstractArray, rows)
    rows == 0 && return size(x, 2)
    n, rest = divrem(length(x), rows)
    rest == 0 || throw(DimensionMismatch("$name has size $(size(x)), want ($rows, N)"))
    return n
end

const Ragged = AbstractVector{<:AbstractArray}

"""
    ragged(list) -> array, offsets

One array of all columns of a list of matrices (or all entries of a list of vectors), and the
offsets that say which are whose. This copies.
"""
function ragged(list::AbstractVector{<:AbstractMatrix})
    isempty(list) && throw(ArgumentError("an empty list of sets has no number of rows"))
    return reduce(hcat, list), offsets_of(map(x -> size(x, 2), list))
end
ragged(list::AbstractVector{<:AbstractVector}) =
    reduce(vcat, list; init = eltype(eltype(list))[]), offsets_of(map(length, list))

offsets_of(sizes) = Int64[0; cumsum(sizes)]

"""
    sets(array, offsets) -> list

Views of the columns of each set, the reverse of `ragged`.
"""
sets(x::AbstractMatrix, offsets) =
    [view(x, :, offsets[b]+1:offsets[b+1]) for b in 1:length(offsets)-1]
sets(x::AbstractVector, offsets) = [view(x, offsets[b]+1:offsets[b+1]) for b in 1:length(offsets)-1]
sets(::Nothing, offsets) = nothing

# A second list must be cut as the first one is.
function ragged_as(name, list, offsets)
    list === nothing && return nothing
    x, own = ragged(list)
    own == offsets || throw(DimensionMismatch(
        "$name has sets of $(diff(own)) columns, want $(diff(offsets))"))
    return x
end

no_offsets(offsets) = offsets === nothing ||
    throw(ArgumentError("offsets are for one array of all sets, not for a list of them"))
