# 100,000 times every kind of object: memory stays what it was.
include("harness.jl")
using NPAgg
include("objects.jl")

resident_kib() = parse(Int, match(r"VmRSS:\s+(\d+) kB", read("/proc/self/status", String))[1])

# A block leaked in each round, of malloc's smallest size, is 3,125 KiB in 100,000 rounds.
const ALLOWED_KIB = 2000

# Does the process stop growing? Julia's own heap takes some 100,000 rounds to find its size, with
# any objects that have finalizers; a leak grows in every batch of rounds.
function settles(what, f)
    for batch in 1:6
        before = resident_kib()
        foreach(f, 1:100_000)
        collect_garbage()
        kib = resident_kib() - before
        println("$what: $kib KiB in batch $batch of 100,000 rounds")
        batch > 1 && kib < ALLOWED_KIB && return true
    end
    return false
end

claim("test_100000_objects_of_every_kind_closed_leave_memory_as_it_was") do
    @test settles("closed", _ -> foreach(close, one_of_each(Context(; alloc = :malloc))))
end

# Nobody closes anything and nobody asks for a collection: Julia knows what the library has.
claim("test_100000_objects_of_every_kind_dropped_leave_memory_as_it_was") do
    @test settles("dropped", _ -> (one_of_each(Context()); nothing))
end

claim("test_100000_rounds_counted_leave_nothing") do
    for round in 1:100_000
        objects = one_of_each(counted_context())
        round % 2 == 0 && foreach(close, objects)
    end
    @test in_use()[1] > 0
    collect_garbage()
    @test in_use() == (0, 0)
end

claim("test_dropped_caches_make_the_collector_run") do
    ctx, n = Context(), 20_000
    prior = gaussian(ctx, 8)
    params, m, v = NPAgg.init_params(ctx, prior, 0), zeros(8, n), ones(8, n)
    offsets = collect(Int64, 0:n)
    fill_cache() = (c = Cache(ctx); forward(ctx, prior, params, m, v; offsets = offsets,
                                            cache = c); NPAgg.cache_bytes(c))
    bytes = fill_cache()
    collect_garbage()
    before = resident_kib()
    rounds = cld(4 << 30, bytes) # 4 GiB in all
    foreach(_ -> fill_cache(), 1:rounds)
    println("caches of $bytes bytes, $rounds times: $(resident_kib() - before) KiB more")
    @test resident_kib() - before < 1 << 20
end
finish()
