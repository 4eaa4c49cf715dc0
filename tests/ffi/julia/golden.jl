# Reader of the golden files: scalars and row-major arrays by name. An array [D0,D1] of the file is
# a D1×D0 array here, as everywhere in NPAgg.
struct Golden
    scalars::Dict{String,Float64}
    arrays::Dict{String,Array{Float64}}
end

Base.haskey(g::Golden, name) = haskey(g.arrays, name)
Base.getindex(g::Golden, name) = g.arrays[name]
scalar(g::Golden, name) = g.scalars[name]
scalar(g::Golden, name, otherwise) = get(g.scalars, name, otherwise)
integers(g::Golden, name) = Int64.(vec(g[name]))

function read_golden(path)
    g = Golden(Dict(), Dict())
    words = Iterators.Stateful(split(replace(read(path, String), r"#[^\n]*" => "")))
    next(T) = parse(T, popfirst!(words))
    while (word = popfirst!(words)) != "end"
        name = popfirst!(words)
        if word == "scalar"
            g.scalars[name] = next(Float64)
        elseif word == "array"
            popfirst!(words) # f64 or i64
            dims = [next(Int) for _ in 1:next(Int)]
            g.arrays[name] = reshape([next(Float64) for _ in 1:prod(dims)], reverse(dims)...)
        else
            word == "case" || error("$path: \"$word\", want case, scalar, array or end")
        end
    end
    isempty(words) || error("$path: there is something after end")
    return g
end

function golden_files(pattern)
    folders = [ENV["NPAGG_GOLDEN_DIR"]; filter(!isempty, [get(ENV, "NPAGG_GOLDEN_EXTRA_DIR", "")])]
    return [joinpath(f, name) for f in folders for name in sort(readdir(f))
            if occursin(pattern, name)]
end

largest(x) = isempty(x) ? 0.0 : maximum(abs, x)

"Within 1e-11 of the largest wanted entry; where all are zero, zero."
function close_enough(what, got, want)
    error = length(got) == length(want) ? largest(vec(got) .- vec(want)) : Inf
    good = error <= 1e-11 * largest(want)
    good || println("$what: off by $error, the largest is $(largest(want))")
    return good
end
