# Objects come and go: the order does not matter, exceptions leak nothing.
include("harness.jl")
using NPAgg
include("objects.jl")

function use(objects)
    ctx, cache, prior, vmp = objects[1:4]
    m, v = [1.0 2.0 3.0; 0.0 1.0 9.0], fill(0.5, 2, 3)
    params = NPAgg.init_params(ctx, prior, 1)
    q, _ = forward(ctx, prior, params, m, v; vmp = vmp, cache = cache)
    backward(ctx, prior, params, m, v; vmp = vmp, cache = cache, dq = one.(q))
    model = objects[8]
    x, y = [0.1 0.2 0.3], [1.0 2.0 3.0]
    return NPAgg.step(ctx, model, NPAgg.init_params(ctx, model, 1), x, y; n_ctx = 1,
                      noise = NPAgg.noise(1, 5, 2, 2, 1))
end

claim("test_closing_gives_all_memory_back") do
    objects = one_of_each(counted_context())
    use(objects)
    @test in_use()[1] > 0
    foreach(close, objects)
    @test in_use() == (0, 0)
    foreach(close, objects) # a second time is fine
    @test !any(isopen, objects)
end

claim("test_objects_are_closed_in_any_order") do
    for round in 1:200
        objects = one_of_each(counted_context())
        round % 10 == 0 && use(objects)
        u = NPAgg.uniform(4, round, 8)
        foreach(i -> close(objects[i]), sortperm(u))
        @test in_use() == (0, 0)
    end
    # The context first, and what was made from it still works with another one.
    objects = one_of_each(counted_context())
    close(objects[1])
    objects[1] = counted_context()
    @test all(isfinite, use(objects).dparams)
    foreach(close, objects)
    @test in_use() == (0, 0)
end

claim("test_finalizers_close_what_is_garbage") do
    drop() = (use(one_of_each(counted_context())); nothing)
    foreach(_ -> drop(), 1:50)
    collect_garbage()
    @test in_use() == (0, 0)
end

claim("test_a_closed_object_is_refused") do
    ctx = Context()
    prior = gaussian(ctx, 1)
    close(prior)
    @test refuses(() -> NPAgg.param_count(prior), ArgumentError, "Prior", "closed")
    close(ctx)
    @test refuses(() -> gaussian(ctx, 1), ArgumentError, "Context", "closed")
end

claim("test_objects_are_not_copied") do
    for object in one_of_each(Context())
        @test refuses(() -> deepcopy(object), ArgumentError, string(nameof(typeof(object))))
        @test refuses(() -> deepcopy([object]), ArgumentError, "copied")
        @test isopen(object)
    end
end

# Presses Ctrl-C at the next allocation, which asks the collector, where Julia would throw.
const PRESS = Ref(false)
function pressing_alloc(user::Ptr{Cvoid}, p::Ptr{Cvoid}, old_size::Csize_t, new_size::Csize_t)
    if PRESS[] && new_size > 0
        PRESS[] = false
        ccall(:kill, Cint, (Cint, Cint), getpid(), 2)
        Libc.systemsleep(1) # Julia has a thread for signals, which tells this one
    end
    return NPAgg.counted_alloc(user, p, old_size, new_size)
end
const PRESSING =
    @cfunction(pressing_alloc, Ptr{Cvoid}, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Csize_t))

claim("test_ctrl_c_waits_for_the_end_of_a_call") do
    Base.exit_on_sigint(false)
    ctx = Context(; alloc = PRESSING)
    cache, prior = Cache(ctx), student(ctx, 2)
    params, m, v = NPAgg.init_params(ctx, prior, 1), zeros(2, 500), ones(2, 500)
    forward(ctx, prior, params, m[:, 1:1], v[:, 1:1]; cache = cache)
    PRESS[] = true
    e = thrown(() -> (forward(ctx, prior, params, m, v; cache = cache); sleep(20)))
    @test e isa InterruptException
    @test !PRESS[]
    # The forward came to its end, and what looks into its cache knows how large it was.
    @test NPAgg.cache_bytes(cache) > 0
    @test length(NPAgg.weights(ctx, cache)) == 500
    @test NPAgg.weights(ctx, cache) == (forward(ctx, prior, params, m, v; cache = cache);
                                        NPAgg.weights(ctx, cache))
    foreach(close, (ctx, cache, prior))
end

claim("test_an_exception_in_the_middle_leaks_nothing") do
    function interrupted(i)
        objects = one_of_each(counted_context())
        i % 2 == 0 && use(objects)
        i % 3 == 0 && forward(objects[1], objects[3], zeros(3), ones(2, 2), [1.0 1.0; 1.0 -1.0];
                              cache = objects[2]) # refused by the library
        error("in the middle")
    end
    for i in 1:30
        @test thrown(() -> interrupted(i)) isa (i % 3 == 0 ? NPAggError : ErrorException)
    end
    collect_garbage()
    @test in_use() == (0, 0)
end

claim("test_a_block_closes_its_context_when_it_throws") do
    kept = nothing
    @test thrown(() -> Context(ctx -> (kept = ctx; error("x")); alloc = ALLOC,
                               user = Ptr{Cvoid}(pointer(COUNTS)))) isa ErrorException
    @test !isopen(kept)
    @test in_use() == (0, 0)
    @test Context(ctx -> NPAgg.param_count(gaussian(ctx, 3))) == 6
end

claim("test_a_constructor_that_is_refused_leaks_nothing") do
    ctx = counted_context()
    before = in_use()
    @test refuses(() -> VMP(ctx; max_iters = 0), NPAggError, "max_iters", "NPAGG_E_ARG")
    @test refuses(() -> VMP(ctx; grad = :backwards), ArgumentError, "grad", ":unroll")
    @test refuses(() -> Encoder(ctx, 1, 1, 2, [4]; var_range = (1.0, 0.5)), NPAggError, "var_range")
    @test refuses(() -> Decoder(ctx, 1, 1, 2, [4]; sd_floor = 2), NPAggError, "sd_floor")
    @test refuses(() -> Objective(ctx, :elbo; samples = 0), NPAggError, "samples")
    @test refuses(() -> Context(; threads = 0, alloc = ALLOC, user = Ptr{Cvoid}(pointer(COUNTS))),
                  NPAggError, "NPAGG_E_ARG")
    @test in_use() == before
    close(ctx)
end

claim("test_an_allocation_that_fails_is_an_exception_and_leaks_nothing") do
    n, failures = 0, 0
    while true
        COUNTS[3] = n
        e = thrown() do
            objects = one_of_each(counted_context())
            use(objects)
        end
        COUNTS[3] = -1
        collect_garbage()
        in_use() == (0, 0) || @test in_use() == (0, 0)
        e === nothing && break
        e isa NPAggError && e.name == "NPAGG_E_NOMEM" || @test e
        n, failures = n + 1, failures + 1
    end
    @test failures > 10
    @test in_use() == (0, 0)
end

finish()
