# Calls whose arguments are no arrays of Float32 or Float64, which no method takes: the exception
# names the first argument that is wrong.

array_names(::Prior, f) =
    f in (:forward, :backward) ? ("params", "m", "v") :
    f in (:sample, :sample_backward) ? ("q", "noise") :
    f === :choose ? ("q", "u") :
    f in (:kl, :kl_backward) ? ("q", "p") :
    f in (:logpdf, :logpdf_backward) ? ("q", "z") :
    f === :constrained ? ("params",) : ("q",)
array_names(::Encoder, f) = ("params", "x", "y")
array_names(::Decoder, f) = f in (:loglik, :loglik_backward) ? ("py", "y") : ("params", "x", "z")
array_names(::Model, f) =
    f === :choose ? ("q", "u") :
    f === :predict ? ("params", "xc", "yc", "xt") :
    f === :save ? ("params",) : ("params", "x", "y")
array_names(::Handle, f) = ()

for f in (:forward, :backward, :step, :infer, :predict, :sample, :sample_backward, :choose, :logpdf,
          :logpdf_backward, :kl, :kl_backward, :moments, :moments_backward, :entropy,
          :entropy_backward, :loglik, :loglik_backward, :constrained, :save)
    @eval $f(ctx::Context, shape::Handle, arrays...; options...) =
        no_such_call($(QuoteNode(f)), shape, arrays)
end

is_numeric(x) = x isa AbstractArray && (eltype(x) <: Precision || is_ragged(x))
is_ragged(x) = x isa Ragged && eltype(eltype(x)) <: Precision

function no_such_call(f, shape, arrays)
    names = array_names(shape, f)
    for (name, x) in zip(names, arrays)
        is_numeric(x) && (name != "params" || x isa AbstractVector{<:Precision}) && continue
        throw(ArgumentError("$name is a $(typeof(x)), want an array of Float32 or Float64"))
    end
    usage = join(["ctx"; lowercase(string(nameof(typeof(shape)))); collect(names)], ", ")
    throw(ArgumentError("no method for these arguments; is it NPAgg.$f($usage; ...)?"))
end
