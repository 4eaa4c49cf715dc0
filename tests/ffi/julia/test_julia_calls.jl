# How the package calls: no copies, what it refuses and how, the same bits however sets are given.
include("harness.jl")
using NPAgg

const CTX = Context()
const PRIOR = student(CTX, 3)
const PARAMS = NPAgg.init_params(CTX, PRIOR, 1)
const OFFSETS = Int64[0, 4, 4, 9]
const M, V = NPAgg.noise(1, 1, 3, 9), 0.1 .+ NPAgg.uniform(1, 2, 3, 9)
whole(; options...) = forward(CTX, PRIOR, PARAMS, M, V; offsets = OFFSETS, logz = true, options...)
const Q = whole().q

claim("test_arrays_of_the_caller_are_written_where_they_are") do
    q, logz, cache = zeros(size(Q)), zeros(3), Cache(CTX)
    r = whole(; q = q, logz = logz, cache = cache)
    @test r.q === q && r.logz === logz && same_bits(q, Q)
    dm = ones(3, 9)
    g = backward(CTX, PRIOR, PARAMS, M, V; offsets = OFFSETS, cache = cache, dq = one.(q), dm = dm,
                 dv = false)
    h = backward(CTX, PRIOR, PARAMS, M, V; offsets = OFFSETS, cache = cache, dq = one.(q))
    @test g.dm === dm && g.dv === nothing && g.dweight === nothing
    @test dm ≈ 1 .+ h.dm # gradients are added
end

claim("test_a_warm_call_copies_no_array") do
    n = 100_000
    m, v, offsets = zeros(3, n), ones(3, n), Int64[0, n]
    q = zeros(NPAgg.posterior_count(PRIOR), 1)
    run() = forward(CTX, PRIOR, PARAMS, m, v; offsets = offsets, q = q)
    run()
    @test (@allocated run()) < 10_000 # an array is 2,400,000 bytes
end

claim("test_contiguous_views_are_passed_as_they_are") do
    wide, tall = hcat(M, M), vcat(M, M)
    run(m) = forward(CTX, PRIOR, PARAMS, m, V; offsets = OFFSETS).q
    @test same_bits(run(view(wide, :, 10:18)), Q)
    @test same_bits(run(reshape(vec(copy(M)), 3, 9)), Q)
    @test same_bits(run(view(vec(wide), 1:27) |> x -> reshape(x, 3, 9)), Q)
    @test same_bits(run(reinterpret(Float64, copy(reinterpret(UInt64, M)))), Q)
    q = zeros(size(Q, 1), 5)
    forward(CTX, PRIOR, PARAMS, M, V; offsets = OFFSETS, q = view(q, :, 2:4))
    @test same_bits(q[:, 2:4], Q) && iszero(q[:, [1, 5]])
end

claim("test_strided_arrays_are_refused_by_name") do
    tall = vcat(M, M)
    for m in (view(tall, 1:3, :), view(hcat(M, M), :, 1:2:18), permutedims(M)',
              PermutedDimsArray(permutedims(M), (2, 1)))
        e = thrown(() -> forward(CTX, PRIOR, PARAMS, m, V; offsets = OFFSETS))
        @test e isa ArgumentError && occursin("m, a", e.msg) && occursin("not contiguous", e.msg)
    end
    @test refuses(() -> whole(; q = view(zeros(2size(Q, 1), 3), 1:size(Q, 1), :)), ArgumentError,
                  "q, a", "contiguous")
end

claim("test_wrong_types_are_refused_by_name") do
    call(params, m, v; options...) = () -> forward(CTX, PRIOR, params, m, v; offsets = OFFSETS,
                                                   options...)
    @test refuses(call(PARAMS, Float32.(M), V), ArgumentError,
                  "m has entries of type Float32, want Float64")
    @test refuses(call(Float32.(PARAMS), M, V), ArgumentError,
                  "m has entries of type Float64, want Float32")
    @test refuses(call(PARAMS, M, ones(Int, 3, 9)), ArgumentError, "v has entries of type Int64")
    @test refuses(call(PARAMS, M, V; weight = 1.0), ArgumentError, "weight is a Float64")
    @test refuses(call(PARAMS, M, V; q = false), ArgumentError, "q is missing")
    @test refuses(() -> whole(; offsets = [0.0, 9.0]), ArgumentError, "offsets", "integers")
    @test refuses(call(collect(1:3), M, V), ArgumentError, "params is a",
                  "want an array of Float32 or Float64")
    @test refuses(call(PARAMS, 1.0, V), ArgumentError, "m is a Float64, want an array")
    @test refuses(call(PARAMS, M, "v"), ArgumentError, "v is a String, want an array")
    @test refuses(() -> forward(CTX, PRIOR, PARAMS, M), ArgumentError,
                  "NPAgg.forward(ctx, prior, params, m, v; ...)")
    @test refuses(() -> NPAgg.moments(CTX, PRIOR, [1]), ArgumentError, "q is a")
end

claim("test_wrong_sizes_are_refused_by_name") do
    call(m, v; options...) = () -> forward(CTX, PRIOR, PARAMS, m, v; offsets = OFFSETS, options...)
    @test refuses(call(M[1:2, :], V), DimensionMismatch, "m")
    @test refuses(call(permutedims(M), V), DimensionMismatch, "m has size (9, 3), want (3, 9)")
    @test refuses(call(M, V[:, 1:8]), DimensionMismatch, "v has size (3, 8), want (3, 9)")
    @test refuses(call(M[:, 1:8], V[:, 1:8]), DimensionMismatch,
                  "offsets ends at 9, but there are 8")
    @test refuses(call(M, V; weight = ones(8)), DimensionMismatch, "weight")
    @test refuses(call(M, V; q = zeros(2, 3)), DimensionMismatch, "q has size (2, 3)")
    @test refuses(() -> whole(; offsets = Int64[]), DimensionMismatch, "offsets is empty")
    @test refuses(() -> forward(CTX, PRIOR, PARAMS[2:end], M, V), DimensionMismatch, "params")
    @test refuses(() -> NPAgg.init_params!(zeros(2), CTX, PRIOR, 1), DimensionMismatch, "params")
end

claim("test_what_the_library_refuses_has_its_text") do
    bad = copy(V)
    bad[2, 5] = -0.25 # row 4, column 1 of the library
    e = thrown(() -> forward(CTX, PRIOR, PARAMS, M, bad; offsets = OFFSETS))
    @test e isa NPAggError && e.code == -4 && e.name == "NPAGG_E_NUMERIC"
    @test e.message == "v[4,1] = -0.25, want > 0 and finite"
    @test e.message == NPAgg.error_text(CTX)
    @test sprint(showerror, e) == "NPAggError: $(e.message) (NPAGG_E_NUMERIC)"
    q = fill(7.0, size(Q))
    thrown(() -> forward(CTX, PRIOR, PARAMS, M, bad; offsets = OFFSETS, q = q))
    @test all(==(7.0), q) # outputs are left alone
    @test refuses(() -> whole(; offsets = Int64[0, 5, 3, 9]), NPAggError, "offsets")
    @test refuses(() -> gaussian(CTX, 0), NPAggError, "NPAGG_E_ARG")
    @test refuses(() -> NPAgg.weights(CTX, Cache(CTX)), NPAggError, "NPAGG_E_STATE")
    @test refuses(() -> backward(CTX, PRIOR, PARAMS, M, V; cache = Cache(CTX), dq = Q,
                                 offsets = OFFSETS),
                  NPAggError, "NPAGG_E_STATE")
end

claim("test_names_of_settings_are_refused_with_what_there_is") do
    @test refuses(() -> Objective(CTX, :vae), ArgumentError, "kind = :vae", ":elbo_closed")
    @test refuses(() -> Encoder(CTX, 1, 1, 2, [3]; activation = :rleu), ArgumentError, "activation",
                  ":relu")
    @test refuses(() -> Decoder(CTX, 1, 1, 2, [3]; likelihood = 7), NPAggError, "likelihood = 7")
    @test refuses(() -> NPAgg.set_max_iters!(VMP(CTX), 2^40), ArgumentError, "max_iters")
    @test refuses(() -> NPAgg.field(PRIOR, PARAMS, "logits"), ArgumentError, "logits")
    @test refuses(() -> Context(; alloc = :stack), ArgumentError, "alloc", ":malloc")
end

claim("test_models_refuse_by_name") do
    model = Model(CTX, Encoder(CTX, 1, 1, 2, [3]), gaussian(CTX, 2), Decoder(CTX, 1, 1, 2, [3]),
                  Objective(CTX, :ml; samples = 4))
    p, x, noise = NPAgg.init_params(CTX, model, 1), zeros(1, 5), zeros(2, 4, 1)
    defaults = (n_ctx = 2, noise = noise)
    call(; options...) = () -> forward(CTX, model, p, x, x; merge(defaults, (; options...))...)
    @test call()() isa Vector{Float64}
    @test refuses(call(; noise = zeros(2, 3, 1)), DimensionMismatch,
                  "noise has size (2, 3, 1), want (2, 4, 1)")
    @test refuses(call(; n_ctx = [1, 2]), DimensionMismatch, "n_ctx")
    @test refuses(call(; n_ctx = 6), NPAggError, "n_ctx")
    @test refuses(call(; which = zeros(Int64, 4, 1)), ArgumentError,
                  "which has entries of type Int64, want Int32")
    @test refuses(() -> NPAgg.predict(CTX, model, p, x, x, x; noise = noise,
                                      tgt_offsets = [0, 2, 5]),
                  DimensionMismatch, "tgt_offsets")
    @test refuses(() -> NPAgg.tensor_name(model, 0), ArgumentError, "i = 0")
    @test vec(forward(CTX, model, p, zeros(5), zeros(5); n_ctx = 2,
                      noise = noise)) == call()() # [1,N] as [N]
end

# --- the same bits ---

matrices(x) = [x[:, OFFSETS[b]+1:OFFSETS[b+1]] for b in 1:3]

claim("test_lists_of_matrices_are_the_same_sets") do
    ms, vs, cache = matrices(M), matrices(V), Cache(CTX)
    @test same_bits(forward(CTX, PRIOR, PARAMS, ms, vs; cache = cache).q, Q)
    g = backward(CTX, PRIOR, PARAMS, ms, vs; cache = cache, dq = one.(Q))
    whole(; cache = cache)
    h = backward(CTX, PRIOR, PARAMS, M, V; offsets = OFFSETS, cache = cache, dq = one.(Q))
    @test same_bits(reduce(hcat, g.dm), h.dm) && [size(x, 2) for x in g.dm] == [4, 0, 5]
    @test refuses(() -> forward(CTX, PRIOR, PARAMS, ms, vs; offsets = OFFSETS), ArgumentError,
                  "offsets")
    @test refuses(() -> forward(CTX, PRIOR, PARAMS, ms, vs[[2, 1, 3]]), DimensionMismatch,
                  "v has sets of")
    w = [ones(4), ones(0), ones(5)]
    @test same_bits(forward(CTX, PRIOR, PARAMS, ms, vs; weight = w).q, Q)
    @test NPAgg.ragged([[1.0, 2.0], Float64[], [3.0]]) == ([1.0, 2.0, 3.0], [0, 2, 2, 3])
end

claim("test_sets_alone_and_offsets_of_other_integers_give_the_same_bits") do
    alone = [forward(CTX, PRIOR, PARAMS, m, v).q for (m, v) in zip(matrices(M), matrices(V))]
    @test same_bits(reduce(hcat, alone), Q)
    @test same_bits(whole(; offsets = Int32.(OFFSETS)).q, Q)
    @test same_bits(whole().q, Q)
end

claim("test_threads_of_the_library_give_the_same_bits") do
    many = Context(; threads = 3)
    @test same_bits(forward(many, PRIOR, PARAMS, M, V; offsets = OFFSETS).q, Q)
    NPAgg.set_threads!(many, 1)
    @test same_bits(forward(many, PRIOR, PARAMS, M, V; offsets = OFFSETS).q, Q)
end

claim("test_threads_of_julia_with_a_context_each_give_the_same_bits") do
    @test Threads.nthreads() > 1
    good = fill(false, 8)
    Threads.@threads for i in 1:8
        ctx = Context()
        good[i] = all(_ -> same_bits(forward(ctx, PRIOR, PARAMS, M, V; offsets = OFFSETS).q, Q),
                      1:200)
    end
    @test all(good)
end

# --- the docs ---

claim("test_the_julia_of_the_docs_runs") do
    page = read(joinpath(ENV["SOURCE_ROOT"], "docs", "bindings.md"), String)
    code = join([m[1] for m in eachmatch(r"^```julia\n(.*?)^```"ms, page)])
    @test occursin("using NPAgg", code)
    @test size(include_string(Module(), code)) == (8,) # the last line gives the weights of 8 points
    docs = split(read(joinpath(pkgdir(NPAgg), "src", "NPAgg.jl"), String), "\"\"\"")[2]
    code = join([m[1] for m in eachmatch(r"^    (.*\n)"m, docs)])
    @test include_string(Module(), code).dm isa Matrix{Float64}
end

# --- the library ---

claim("test_the_library_is_the_one_that_was_asked_for") do
    @test realpath(NPAgg.library_path()) == realpath(ENV["NPAGG_LIBRARY"])
end

in_another_julia(code; env...) = withenv((string(k) => v for (k, v) in env)...) do
    command = `$(Base.julia_cmd()) --startup-file=no --compiled-modules=no -e $code`
    out = IOBuffer()
    good = success(pipeline(ignorestatus(command); stdout = out, stderr = out))
    return String(take!(out))
end

claim("test_a_library_that_is_not_there_is_named") do
    said = in_another_julia("using NPAgg"; NPAGG_LIBRARY = "/nowhere/libnpagg.so")
    @test occursin("found no libnpagg", said) && occursin("/nowhere/libnpagg.so", said)
end

claim("test_the_path_set_at_installation_comes_before_the_loader") do
    package = mktempdir()
    cp(pkgdir(NPAgg), joinpath(package, "NPAgg"))
    folder = mkpath(joinpath(package, "NPAgg", "deps"))
    write(joinpath(folder, "library"),
          relpath(realpath(ENV["NPAGG_LIBRARY"]), realpath(folder)) * "\n")
    said = in_another_julia("using NPAgg; print(NPAgg.library_path())"; NPAGG_LIBRARY = nothing,
                            JULIA_LOAD_PATH = "$package:@stdlib")
    @test ispath(said) && realpath(said) == realpath(ENV["NPAGG_LIBRARY"])
end
finish()
