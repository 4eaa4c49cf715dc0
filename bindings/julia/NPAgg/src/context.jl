# Contexts, caches, random numbers.

# Memory of the library counts as memory of Julia's, so that garbage caches make the collector run:
# these are what Base gives to GMP for the same reason. The library calls its allocator on the
# calling thread only.
const ALLOCATOR = Ref{Ptr{Cvoid}}(C_NULL)

function counted_alloc(::Ptr{Cvoid}, p::Ptr{Cvoid}, old_size::Csize_t, new_size::Csize_t)
    if new_size == 0
        p == C_NULL ||
            ccall(:jl_gc_counted_free_with_size, Cvoid, (Ptr{Cvoid}, Csize_t), p, old_size)
        return C_NULL
    elseif p == C_NULL
        return ccall(:jl_gc_counted_malloc, Ptr{Cvoid}, (Csize_t,), new_size)
    end
    return ccall(:jl_gc_counted_realloc_with_old_size, Ptr{Cvoid}, (Ptr{Cvoid}, Csize_t, Csize_t),
                 p, old_size, new_size)
end

init_allocator() =
    ALLOCATOR[] = @cfunction(counted_alloc, Ptr{Cvoid}, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Csize_t))

"""
    Context(; threads = 1, alloc = :julia, user = C_NULL)

What a thread needs to call the library: allocator, workers, scratch, the text of the last error.
Use one per thread (task that may run beside others).

`alloc` is `:julia`, memory that Julia's garbage collector knows of, `:malloc`, or a pointer to a C
function as `npagg_alloc_fn` in types.h, made by `@cfunction` of a plain function; it is called with
`user`, and both must outlive every object made from this context.
"""
function Context(; threads::Integer = 1, alloc = :julia, user::Ptr{Cvoid} = C_NULL)
    ctx = Context(created(out -> create_context(out, alloc, user), nothing))
    return configured(c -> threads == 1 || set_threads!(c, threads), ctx)
end

function create_context(out, alloc::Symbol, user)
    alloc === :malloc && return Raw.ctx_create(out)
    alloc === :julia && return Raw.ctx_create_with_alloc(out, ALLOCATOR[], C_NULL)
    throw(ArgumentError("alloc = :$alloc, want :julia, :malloc or a pointer to a C function"))
end
create_context(out, alloc::Ptr{Cvoid}, user) = Raw.ctx_create_with_alloc(out, alloc, user)

"Context() do ctx ... end closes it at the end, whatever happens."
function Context(f::Function; options...)
    ctx = Context(; options...)
    try
        return f(ctx)
    finally
        close(ctx)
    end
end

"Computes on n threads, 1..256; results are the same bits for every n."
set_threads!(ctx::Context, n::Integer) = check(ctx, Raw.ctx_set_threads(ctx, int32("threads", n)))

"What the last failed call on this context got and what it wanted; \"\" if none failed yet."
error_text(ctx::Context) = GC.@preserve ctx unsafe_string(Raw.ctx_error(ctx)) # the text is ctx's
error_text(::Nothing) = "there is no context"

"""
    Cache(ctx)

What one forward leaves for its backward. It fits every stage and both precisions, one at a time,
and is there to be used again: in a training loop one cache does.
"""
Cache(ctx::Context) = Cache(created(out -> Raw.cache_create(ctx, out), ctx), 0, 0, 0)

"Bytes that the last forward put into the cache."
cache_bytes(cache::Cache) = Int(Raw.cache_bytes(cache))

"""
    noise([T = Float64,] seed, stream, dims...)

Standard normal numbers, the same bits everywhere. `noise!(x, seed, stream)` fills an array.
"""
noise(::Type{T}, seed, stream, dims::Integer...) where {T<:Precision} =
    noise!(Array{T}(undef, dims), seed, stream)
noise(seed::Integer, stream, dims::Integer...) = noise(Float64, seed, stream, dims...)

"""
    uniform([T = Float64,] seed, stream, dims...)

Numbers uniform in (0, 1), the same bits everywhere. `uniform!(x, seed, stream)` fills an array.
"""
uniform(::Type{T}, seed, stream, dims::Integer...) where {T<:Precision} =
    uniform!(Array{T}(undef, dims), seed, stream)
uniform(seed::Integer, stream, dims::Integer...) = uniform(Float64, seed, stream, dims...)

for (fill, raw) in ((:noise!, :noise_fill), (:uniform!, :uniform_fill))
    @eval function $fill(x::AbstractArray{T}, seed::Integer, stream::Integer) where {T<:Precision}
        checked("x", x, T, size(x))
        status = Raw.$raw(T, seed, stream, length(x), x)
        check(status, "(seed, stream, n)", (seed, stream, length(x)))
        return x
    end
end
