# Every function of the package, in both precisions: gradients against central differences, float
# against double, and then whether any function of the library has not been called.
include("harness.jl")
using NPAgg

const OFFSETS = Int64[0, 3, 3, 8] # the second set is empty
const D, K, S, B, N = 2, 2, 3, 3, 8
numbers(T, stream, dims...) = NPAgg.noise(T, 11, stream, dims...)
uniforms(T, stream, dims...) = NPAgg.uniform(T, 11, stream, dims...)
positive(T, stream, dims...) = T(0.1) .+ uniforms(T, stream, dims...)

"Slope of f at x in the direction dx by central differences."
slope(f, x, dx, h = 1e-6) = (f(x .+ h .* dx) - f(x .- h .* dx)) / 2h

# Is g the gradient of f at x? Seen in one random direction; for double only.
function is_gradient(what, g, f, x)
    eltype(x) === Float64 || return true
    dx = NPAgg.noise(12, 1, size(x)...)
    got, want = sum(g .* dx), slope(f, x, dx)
    good = abs(got - want) <= 1e-6 * max(1, abs(want))
    good || println("$what: slope $got, by differences $want")
    return good
end

# What a stage gave in double, to compare with float: name => numbers.
const SEEN = Dict{String,Any}()
function agree(::Type{T}, name, x) where {T}
    eltype(x) === T || return false
    if T === Float64
        haskey(SEEN, name) && error("$name is here twice")
        SEEN[name] = x
        return all(isfinite, x)
    end
    want = SEEN[name]
    return size(x) == size(want) && maximum(abs.(x .- want)) <= 1e-3 * max(1, maximum(abs, want))
end

priors(ctx) = [("gaussian", gaussian(ctx, D)), ("mixture", mixture(ctx, D, K)),
               ("student", student(ctx, D)), ("robust mixture", mixture(ctx, D, K; robust = true))]

# Parameters away from the symmetric start.
prior_params(T, ctx, prior) =
    NPAgg.init_params(T, ctx, prior, 3) .+ T(0.3) .* numbers(T, 9, NPAgg.param_count(prior))

function posterior_of(T, ctx, prior; shift = 0)
    m, v = numbers(T, 1, D, N) .+ T(shift), positive(T, 2, D, N)
    return forward(ctx, prior, prior_params(T, ctx, prior), m, v; offsets = OFFSETS).q
end

function infer_all(T, ctx, name, prior)
    params, m, v = prior_params(T, ctx, prior), numbers(T, 1, D, N), positive(T, 2, D, N)
    weight, cache = positive(T, 3, N), Cache(ctx)
    vmp = VMP(ctx; max_iters = 4, tolerance = 0, grad = :unroll)
    Q = NPAgg.posterior_count(prior)
    dq, dlogz = numbers(T, 4, Q, B), numbers(T, 5, B)
    run(p, m, v, w) = forward(ctx, prior, p, m, v; offsets = OFFSETS, weight = w, vmp = vmp,
                              logz = true)
    value(p, m, v, w) = (r = run(p, m, v, w); sum(dq .* r.q) + sum(dlogz .* r.logz))
    r = forward(ctx, prior, params, m, v; offsets = OFFSETS, weight = weight, vmp = vmp,
                logz = true, cache = cache)
    g = backward(ctx, prior, params, m, v; offsets = OFFSETS, weight = weight, vmp = vmp,
                 cache = cache,
                 dq = dq, dlogz = dlogz, dweight = true)
    @test agree(T, "$name q", r.q) && agree(T, "$name logz", r.logz)
    @test agree(T, "$name weights", NPAgg.weights(ctx, cache))
    @test is_gradient("$name dparams", g.dparams, p -> value(p, m, v, weight), params)
    @test is_gradient("$name dm", g.dm, x -> value(params, x, v, weight), m)
    @test is_gradient("$name dv", g.dv, x -> value(params, m, x, weight), v)
    @test is_gradient("$name dweight", g.dweight, x -> value(params, m, v, x), weight)
    sweeps = NPAgg.iters(ctx, cache)
    @test [length(NPAgg.trace(ctx, cache, b)) for b in 1:B] == sweeps
    @test NPAgg.trace(ctx, cache, 1)[end] ≈ r.logz[1] rtol = 1e-5
    @test length(NPAgg.residual(ctx, cache)) == B
    @test NPAgg.cache_bytes(cache) > 0
    @test agree(T, "$name constrained", NPAgg.constrained(ctx, prior, params))
    @test size(NPAgg.posterior_field(prior, r.q, "mean")) == (D, prior.k, B)
    if prior.k == K
        @test sum(exp.(NPAgg.posterior_field(prior, r.q, "logw")); dims = 1) ≈ ones(1, B)
        @test vec(NPAgg.field(prior, params, "logits")) == params[2D*K+1:2D*K+K]
    end
end

function implicit_backward(T, ctx)
    prior, cache = student(ctx, D), Cache(ctx)
    vmp = VMP(ctx; max_iters = 500, tolerance = 1e-6, grad = :implicit)
    params = prior_params(T, ctx, prior)
    m, v = numbers(T, 1, D, N), positive(T, 2, D, N)
    forward(ctx, prior, params, m, v; offsets = OFFSETS, vmp = vmp, cache = cache)
    @test refuses(() -> NPAgg.grad_iters(ctx, cache), NPAggError, "NPAGG_E_STATE")
    backward(ctx, prior, params, m, v; offsets = OFFSETS, vmp = vmp, cache = cache,
             dq = numbers(T, 4, NPAgg.posterior_count(prior), B))
    @test length(NPAgg.grad_iters(ctx, cache)) == B
end

function without_weights(T, ctx)
    prior, cache, vmp = student(ctx, D), Cache(ctx), VMP(ctx; weights = false)
    params = prior_params(T, ctx, prior)
    m, v = numbers(T, 1, D, N), positive(T, 2, D, N)
    function run()
        q = forward(ctx, prior, params, m, v; offsets = OFFSETS, vmp = vmp, cache = cache).q
        return q, backward(ctx, prior, params, m, v; offsets = OFFSETS, vmp = vmp, cache = cache,
                           dq = q)
    end
    q, g = run()
    @test refuses(() -> NPAgg.weights(ctx, cache), NPAggError, "npagg_vmp_set_weights")
    NPAgg.set_weights!(vmp, true)
    again, h = run()
    @test same_bits(q, again)
    @test all(k -> same_bits(getproperty(g, k), getproperty(h, k)), (:dparams, :dm, :dv))
    @test length(NPAgg.weights(ctx, cache)) == N
end

function encode_all(T, ctx; trunk)
    encoder = Encoder(ctx, 1, 2, D, [5, 4]; activation = :tanh, var_range = (0.01, 2),
                      trunk = trunk)
    cache, params = Cache(ctx), NPAgg.init_params(T, ctx, encoder, 5)
    x, y = numbers(T, 1, 1, N), numbers(T, 2, 2, N)
    dm, dv = numbers(T, 3, D, N), numbers(T, 4, D, N)
    function run(p, x, y)
        r = forward(ctx, encoder, p, x, y; offsets = OFFSETS)
        return sum(dm .* r.m) + sum(dv .* r.v)
    end
    r = forward(ctx, encoder, params, x, y; offsets = OFFSETS, cache = cache)
    g = backward(ctx, encoder, params, x, y; offsets = OFFSETS, cache = cache, dm = dm, dv = dv,
                 dx = true, dy = true)
    @test !NPAgg.per_set(encoder)
    @test agree(T, "m $trunk", r.m) && agree(T, "v $trunk", r.v)
    @test NPAgg.param_offset(encoder, trunk ? "trunk.0.weight" : "mean.0.weight") == 0
    @test is_gradient("encoder dparams", g.dparams, p -> run(p, x, y), params)
    @test is_gradient("encoder dx", g.dx, z -> run(params, z, y), x)
    @test is_gradient("encoder dy", g.dy, z -> run(params, x, z), y)
end

function encode_sets(T, ctx, name, encoder)
    cache, params = Cache(ctx), NPAgg.init_params(T, ctx, encoder, 5)
    x, y = numbers(T, 1, 1, N), numbers(T, 2, 2, N)
    dm, dv = numbers(T, 3, D, B), numbers(T, 4, D, B)
    function run(p, x, y)
        r = forward(ctx, encoder, p, x, y; offsets = OFFSETS)
        return sum(dm .* r.m) + sum(dv .* r.v)
    end
    r = forward(ctx, encoder, params, x, y; offsets = OFFSETS, cache = cache)
    g = backward(ctx, encoder, params, x, y; offsets = OFFSETS, cache = cache, dm = dm, dv = dv,
                 dx = true, dy = true)
    @test NPAgg.per_set(encoder)
    @test agree(T, "m $name", r.m) && agree(T, "v $name", r.v)
    @test is_gradient("$name dparams", g.dparams, p -> run(p, x, y), params)
    @test is_gradient("$name dx", g.dx, z -> run(params, z, y), x)
    @test is_gradient("$name dy", g.dy, z -> run(params, x, z), y)
    model = Model(ctx, encoder, nothing, Decoder(ctx, 1, 2, D, [5]), Objective(ctx, :elbo))
    @test model.q == 2D && model.k == 1 && NPAgg.param_offset(model, "prior") === nothing
end

function decode_all(T, ctx, likelihood)
    decoder = Decoder(ctx, 1, 2, D, [5]; activation = :softplus, likelihood = likelihood,
                      sd_floor = 0.2)
    cache, params = Cache(ctx), NPAgg.init_params(T, ctx, decoder, 5)
    x, z, y = numbers(T, 1, 1, N), numbers(T, 2, D, S, B), uniforms(T, 3, 2, N)
    O = NPAgg.output_count(decoder)
    dpy, dl = numbers(T, 4, O, S, N), numbers(T, 5, S, N)
    run(p, x, z) = forward(ctx, decoder, p, x, z; offsets = OFFSETS)
    py = forward(ctx, decoder, params, x, z; offsets = OFFSETS, cache = cache)
    g = backward(ctx, decoder, params, x, z; offsets = OFFSETS, cache = cache, dpy = dpy, dx = true)
    @test O == (likelihood === :gaussian ? 4 : 2)
    @test NPAgg.param_offset(decoder, "mean.0.weight") == 0
    @test agree(T, "py $likelihood", py)
    @test is_gradient("decoder dparams", g.dparams, p -> sum(dpy .* run(p, x, z)), params)
    @test is_gradient("decoder dx", g.dx, u -> sum(dpy .* run(params, u, z)), x)
    @test is_gradient("decoder dz", g.dz, u -> sum(dpy .* run(params, x, u)), z)
    @test agree(T, "loglik $likelihood", NPAgg.loglik(ctx, decoder, py, y))
    h = NPAgg.loglik_backward(ctx, decoder, py, y, dl; dy = true)
    @test is_gradient("loglik dpy", h.dpy, u -> sum(dl .* NPAgg.loglik(ctx, decoder, u, y)), py)
    @test is_gradient("loglik dy", h.dy, u -> sum(dl .* NPAgg.loglik(ctx, decoder, py, u)), y)
end

function sample_all(T, ctx, name, prior, mode)
    q, noise = posterior_of(T, ctx, prior), numbers(T, 6, D, S, B)
    which = NPAgg.choose(ctx, prior, q, uniforms(T, 7, S, B))
    dz, dlogw = numbers(T, 8, D, S, B), numbers(T, 9, S, B)
    run(q) = NPAgg.sample(ctx, prior, q, noise; mode = mode, which = which)
    r = run(q)
    dq = NPAgg.sample_backward(ctx, prior, q, noise; mode = mode, which = which, dz = dz,
                               dlogw = dlogw)
    @test all(0 .<= which .< prior.k)
    @test agree(T, "$name $mode z", r.z) && agree(T, "$name $mode logw", r.logw)
    # Pathwise gradients are of expectations, not of these samples.
    mode === :pathwise && prior.k > 1 ||
        @test is_gradient("$name $mode dq", dq,
                          q -> (r = run(q); sum(dz .* r.z) + sum(dlogw .* r.logw)), q)
    return r
end

function density_all(T, ctx, name, prior)
    q, p = posterior_of(T, ctx, prior), posterior_of(T, ctx, prior; shift = 0.5)
    z, logw = sample_all(T, ctx, name, prior, :stratified)
    dl, ds = numbers(T, 10, S, B), numbers(T, 11, B)
    @test agree(T, "$name logpdf", NPAgg.logpdf(ctx, prior, q, z))
    g = NPAgg.logpdf_backward(ctx, prior, q, z, dl)
    @test is_gradient("$name logpdf dq", g.dq, u -> sum(dl .* NPAgg.logpdf(ctx, prior, u, z)), q)
    @test is_gradient("$name logpdf dz", g.dz, u -> sum(dl .* NPAgg.logpdf(ctx, prior, q, u)), z)
    for kind in (prior.k == 1 ? (:closed, :sampled) : (:matched, :sampled))
        run(q, p, z, logw) = NPAgg.kl(ctx, prior, q, p; kind = kind, z = z, logw = logw)
        @test agree(T, "$name kl $kind", run(q, p, z, logw))
        g = NPAgg.kl_backward(ctx, prior, q, p, ds; kind = kind, z = z, logw = logw, dz = true,
                              dlogw = true)
        @test is_gradient("$name $kind dq", g.dq, u -> sum(ds .* run(u, p, z, logw)), q)
        @test is_gradient("$name $kind dp", g.dp, u -> sum(ds .* run(q, u, z, logw)), p)
        @test is_gradient("$name $kind dz", g.dz, u -> sum(ds .* run(q, p, u, logw)), z)
        @test is_gradient("$name $kind dlogw", g.dlogw, u -> sum(ds .* run(q, p, z, u)), logw)
    end
    h(q, z, logw) = NPAgg.entropy(ctx, prior, q; z = z, logw = logw)
    @test agree(T, "$name entropy", h(q, z, logw))
    g = NPAgg.entropy_backward(ctx, prior, q, ds; z = z, logw = logw, dz = true, dlogw = true)
    @test is_gradient("$name entropy dq", g.dq, u -> sum(ds .* h(u, z, logw)), q)
    @test is_gradient("$name entropy dz", g.dz, u -> sum(ds .* h(q, u, logw)), z)
end

function moments_all(T, ctx, name, prior)
    q, dmean, dvar = posterior_of(T, ctx, prior), numbers(T, 12, D, B), numbers(T, 13, D, B)
    r = NPAgg.moments(ctx, prior, q)
    @test agree(T, "$name moment 1", r.mean) && agree(T, "$name moment 2", r.var)
    dq = NPAgg.moments_backward(ctx, prior, q; dmean = dmean, dvar = dvar)
    value(q) = (r = NPAgg.moments(ctx, prior, q); sum(dmean .* r.mean) + sum(dvar .* r.var))
    if prior.k == 1 # of a mixture's log weights the gradient leaves out what they cannot do
        @test is_gradient("$name moments", dq, value, q)
    end
    return @test agree(T, "$name dq of moments", dq)
end

function make_model(ctx, prior; options...)
    objective = Objective(ctx, :iwae; points = :all, normalise = :points, samples = S,
                          sampling = :chosen,
                          kl = :auto, options...)
    return Model(ctx, Encoder(ctx, 1, 1, D, [5]; activation = :gelu), prior,
                 Decoder(ctx, 1, 1, D, [5]; activation = :sigmoid), objective;
                 vmp = VMP(ctx; max_iters = 3))
end

function model_all(T, ctx, name, prior)
    model, cache = make_model(ctx, prior), Cache(ctx)
    params, x, y = NPAgg.init_params(T, ctx, model, 5), numbers(T, 1, 1, N), numbers(T, 2, 1, N)
    noise, which = numbers(T, 3, D, S, B), Int32[mod(s + b, prior.k) for s in 1:S, b in 1:B]
    dloss, options = numbers(T, 4, B), (offsets = OFFSETS, n_ctx = [2, 0, 3], noise = noise,
                                        which = which)
    loss = forward(ctx, model, params, x, y; cache = cache, options...)
    dparams = backward(ctx, model, params, x, y; cache = cache, dloss = dloss, options...)
    r = NPAgg.step(ctx, model, params, x, y; dloss = dloss, options...)
    @test agree(T, "$name loss", loss) && agree(T, "$name gradient", dparams)
    @test same_bits(r.loss, loss) && r.dparams ≈ dparams
    @test is_gradient("$name model", dparams,
                      p -> sum(dloss .* forward(ctx, model, p, x, y; options...)), params)
    @test same_bits(NPAgg.losses(ctx, model, params, x, y; options...), loss)
    q = NPAgg.infer(ctx, model, params, x, y; offsets = OFFSETS)
    @test agree(T, "$name q of model", q)
    @test size(NPAgg.choose(ctx, model, q, uniforms(T, 7, S, B))) == (S, B)
    p = NPAgg.predict(ctx, model, params, x, y, x; ctx_offsets = OFFSETS, tgt_offsets = OFFSETS,
                      yt = y,
                      noise = noise, which = which, samples = true, loglik = true, weight = true)
    @test all(k -> agree(T, "$name $k", getproperty(p, k)),
              (:mean, :sd, :samples, :loglik, :weight))
    @test size(p.mean) == (1, N) && size(p.samples) == (2, S, N) && length(p.loglik) == N
end

function checkpoint_all(T, ctx)
    model = make_model(ctx, mixture(ctx, D, K))
    params, path = NPAgg.init_params(T, ctx, model, 5), joinpath(mktempdir(), "a.safetensors")
    state = reshape(numbers(T, 1, 6), 2, 3)
    NPAgg.save(ctx, model, params, path)
    NPAgg.save_extra(ctx, path, "state", state)
    again = NPAgg.load(ctx, path)
    @test NPAgg.tensor_names(again) == NPAgg.tensor_names(model)
    @test same_bits(NPAgg.load_params(T, ctx, again, path), params)
    @test same_bits(NPAgg.load_extra!(similar(state), ctx, path, "state"), state)
    @test refuses(() -> NPAgg.load(ctx, path * ".not"), NPAggError, "NPAGG_E_IO")
    @test NPAgg.size_of(again, "k") == K && NPAgg.size_of(again, "nonsense") === nothing
    @test NPAgg.param_offset(again, "prior.mean") == NPAgg.param_offset(again, "prior")
    @test NPAgg.param_offset(again, "nonsense") === nothing
    @test size(NPAgg.tensor(again, params, 1)) == (2, 5) # [in,out]
end

function whole_tour(T, ctx)
    for (name, prior) in priors(ctx)
        claim(() -> infer_all(T, ctx, name, prior),
              "test_$(T)_inference_of_$(name)_has_its_gradients")
        claim("test_$(T)_posteriors_of_$(name)_have_their_gradients") do
            sample_all(T, ctx, name, prior, :chosen)
            sample_all(T, ctx, name, prior, :pathwise)
            density_all(T, ctx, name, prior)
            moments_all(T, ctx, name, prior)
        end
        claim(() -> model_all(T, ctx, name, prior),
              "test_$(T)_models_of_$(name)_have_their_gradients")
    end
    claim(() -> implicit_backward(T, ctx), "test_$(T)_implicit_gradients_tell_their_sweeps")
    claim(() -> without_weights(T, ctx), "test_$(T)_gradients_do_without_the_last_weights")
    claim("test_$(T)_networks_have_their_gradients") do
        foreach(trunk -> encode_all(T, ctx; trunk = trunk), (false, true))
        foreach(kind -> decode_all(T, ctx, kind), (:gaussian, :bernoulli))
        encode_sets(T, ctx, "mean", MeanEncoder(ctx, 1, 2, D, [5, 4], [3]; activation = :tanh))
        encode_sets(T, ctx, "attention", AttentionEncoder(ctx, 1, 2, D, [4], 2, [3, 4];
                                                          activation = :softplus,
                                                          var_range = (0.01, 2)))
    end
    claim(() -> checkpoint_all(T, ctx), "test_$(T)_checkpoints_come_back")
end

whole_tour(Float64, Context())
whole_tour(Float32, Context(; threads = 2, alloc = :malloc))

claim("test_finalizers_and_names_are_the_last_functions") do
    foreach(h -> close(h[2]), priors(Context()))
    GC.gc()
    @test NPAgg.status_name(-3) == "NPAGG_E_STATE"
    @test NPAgg.version() >= v"0.1.0"
end

# --- what has not been called ---

function listed()
    path = joinpath(ENV["SOURCE_ROOT"], "tests", "abi", "symbols.txt")
    return [split(line)[1] for line in eachline(path) if !isempty(line) && !startswith(line, "#")]
end

# Lines "- `npagg_...` (Julia): reason" of docs/bindings.md.
function excused()
    page = read(joinpath(ENV["SOURCE_ROOT"], "docs", "bindings.md"), String)
    return [m[1] for m in eachmatch(r"^- `(npagg_\w+)` \([^)]*Julia[^)]*\): \S"m, page)]
end

claim("test_every_public_function_has_been_called_through_the_package") do
    called = [string(s.name) for s in NPAgg.SLOTS if s.address != C_NULL]
    missed = setdiff(listed(), called, excused())
    isempty(missed) || println("not reached: ", join(missed, " "))
    @test isempty(missed)
    @test length(called) > 100
    @test isempty(setdiff(excused(), setdiff(listed(), called))) # no excuse without need
end

# --- the table of C functions against the headers ---

# What raw.jl should say for an argument or result of a header.
function raw_type(declaration, precise)
    t = strip(replace(declaration, r"\bconst\b" => ""))
    occursin(r"^npagg_(?!status|alloc_fn)\w+ \*\*", t) && return "Out"
    occursin(r"^npagg_(?!status|alloc_fn)\w+ \*", t) && return "H"
    occursin(r"^char \*", t) && return "Cstring"
    occursin(r"^(float|double) \*", t) && return precise ? "A" : "Doubles"
    occursin(r"^int64_t \*", t) && return "Ints"
    occursin(r"^int32_t \*", t) && return "Int32s"
    scalars = Dict("int64_t" => "Int64", "int32_t" => "Int32", "uint64_t" => "UInt64",
                   "double" => "Float64",
                   "size_t" => "Csize_t", "npagg_status" => "Status",
                   "npagg_alloc_fn" => "Ptr{Cvoid}",
                   "void" => occursin('*', t) ? "Ptr{Cvoid}" : "Cvoid")
    return scalars[split(t)[1]]
end

function header_table()
    table = Dict{String,String}()
    folder = joinpath(ENV["SOURCE_ROOT"], "include", "npagg")
    text = join(read(joinpath(folder, f), String) for f in readdir(folder) if endswith(f, ".h"))
    text = replace(replace(text, r"/\*.*?\*/"s => " "), r"^#.*"m => " ")
    text = replace(text, r"\s+" => " ")
    for m in eachmatch(r"NPAGG_API ([^();]*?)\b(npagg_\w+) ?\(([^)]*)\) ?;", text)
        name = replace(m[2], r"_f(32|64)$" => "")
        precise = name != m[2]
        arguments = [string(match(r"\w+$", strip(a)).match, "::", raw_type(strip(a), precise))
                     for a in split(m[3], ",") if strip(a) != "void"]
        table[name] = string(precise ? "@c2 " : "@c ", raw_type(m[1], precise), " ", name, "(",
                             join(arguments, ", "), ")")
    end
    return table
end

claim("test_declarations_are_those_of_the_headers") do
    source = read(joinpath(pkgdir(NPAgg), "src", "raw.jl"), String)
    ours = [replace(string("@", m[1], " ", m[2], " npagg_", m[3], "(", m[4], ")"), r"\s+" => " ")
            for m in eachmatch(r"^@(c2?) (\S+) (\w+)\((.*?)\)"ms, source)]
    theirs = collect(values(header_table()))
    foreach(x -> println("only in raw.jl:   ", x), setdiff(ours, theirs))
    foreach(x -> println("only in headers:  ", x), setdiff(theirs, ours))
    @test length(theirs) > 80 && Set(ours) == Set(theirs)
end

claim("test_the_package_calls_nothing_that_is_not_public") do
    @test isempty(setdiff([string(s.name) for s in NPAgg.SLOTS], listed()))
end
finish()
