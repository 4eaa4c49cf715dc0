# One object of every kind, and an allocator that knows what they hold.
# --- an allocator that counts, and refuses when told to ---

# user points at: bytes in use, blocks in use, allocations until the first refusal (-1: none).
function counting_alloc(user::Ptr{Cvoid}, p::Ptr{Cvoid}, old_size::Csize_t, new_size::Csize_t)
    c = Ptr{Int}(user)
    if new_size > 0
        left = unsafe_load(c, 3)
        left == 0 && return C_NULL
        left > 0 && unsafe_store!(c, left - 1, 3)
    end
    unsafe_store!(c, unsafe_load(c, 1) + Int(new_size) - Int(p == C_NULL ? 0 : old_size), 1)
    unsafe_store!(c, unsafe_load(c, 2) + Int(new_size > 0) - Int(p != C_NULL), 2)
    if new_size == 0
        Libc.free(p)
        return C_NULL
    end
    return Libc.realloc(p, new_size)
end

const COUNTS = [0, 0, -1]
const ALLOC = @cfunction(counting_alloc, Ptr{Cvoid}, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Csize_t))
counted_context(; options...) = Context(; alloc = ALLOC, user = Ptr{Cvoid}(pointer(COUNTS)),
                                        options...)
in_use() = (COUNTS[1], COUNTS[2])

# Finalizers of what is garbage run in here, some only in the second round.
collect_garbage() = foreach(_ -> GC.gc(), 1:3)

# --- one object of every kind, used ---

function one_of_each(ctx)
    prior, vmp = student(ctx, 2), VMP(ctx; max_iters = 3)
    encoder, decoder = Encoder(ctx, 1, 1, 2, [4]), Decoder(ctx, 1, 1, 2, [4])
    objective = Objective(ctx, :elbo; samples = 2)
    model = Model(ctx, encoder, prior, decoder, objective; vmp = vmp)
    return [ctx, Cache(ctx), prior, vmp, encoder, decoder, objective, model]
end
