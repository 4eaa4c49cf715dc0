# Objects of the library. Each is destroyed by `close` or, when it is garbage, by its finalizer, in
# any order: objects of the library do not point at each other.

abstract type Handle end

for (T, destroy, fields) in ((:Context, :ctx_destroy, ()),
                             (:Cache, :cache_destroy, (:sets, :points, :bits)),
                             (:Prior, :prior_destroy, (:d, :k)),
                             (:VMP, :vmp_destroy, ()),
                             (:Encoder, :encoder_destroy, (:x, :y, :d)),
                             (:Decoder, :decoder_destroy, (:x, :y, :d)),
                             (:Objective, :objective_destroy, ()),
                             (:Model, :model_destroy, (:d, :k, :q, :x, :y, :samples, :outputs)))
    @eval begin
        mutable struct $T <: Handle
            ptr::Ptr{Cvoid}
            $((:($f::Int) for f in fields)...)

            # Owns what ptr points at from here on.
            function $T(ptr::Ptr{Cvoid}, $((:($f::Integer) for f in fields)...))
                return finalizer(close, new(ptr, $(fields...)))
            end
        end

        function Base.close(h::$T)
            ptr, h.ptr = h.ptr, C_NULL
            ptr == C_NULL || Raw.$destroy(ptr)
            return nothing
        end
    end
end

# A copy would have the address of what the other one's finalizer destroys.
Base.deepcopy_internal(h::Handle, ::IdDict) =
    throw(ArgumentError("a $(nameof(typeof(h))) cannot be copied; make another one"))

Base.isopen(h::Handle) = h.ptr != C_NULL

# ccall keeps its arguments alive, so handles are given to it as they are.
function Base.unsafe_convert(::Type{Ptr{Cvoid}}, h::Handle)
    isopen(h) || throw(ArgumentError("this $(typeof(h)) has been closed"))
    return h.ptr
end

function Base.show(io::IO, h::Handle)
    shape = ["$f = $(getfield(h, f))" for f in fieldnames(typeof(h)) if f !== :ptr]
    isopen(h) || push!(shape, "closed")
    print(io, nameof(typeof(h)), "(", join(shape, ", "), ")")
end

# create(out) calls a constructor of the library; what it made.
function created(create, ctx)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    check(ctx, create(out))
    return out[]
end

# Runs settings on a new object; one that is refused leaves nothing behind.
function configured(settings, h::Handle)
    try
        settings(h)
    catch
        close(h)
        rethrow()
    end
    return h
end

# The number of a setting by its name, or its number itself.
function number(what, names::Tuple, value::Symbol)
    i = findfirst(==(value), names)
    i === nothing &&
        throw(ArgumentError("$what = :$value, want one of $(join(repr.(names), ", "))"))
    return Int32(i - 1)
end
number(what, names::Tuple, value::Integer) = int32(what, value)

function int32(what, value::Integer)
    typemin(Int32) <= value <= typemax(Int32) ||
        throw(ArgumentError("$what = $value is out of range"))
    return Int32(value)
end
