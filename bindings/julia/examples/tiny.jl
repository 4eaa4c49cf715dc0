# The tiny model that every language of bindings/ trains: on one machine all of them print the same
# losses to the last bit. See examples/tiny.c.
using NPAgg
using Printf

const OFFSETS, N_CTX = [0, 6, 13, 21, 30], [3, 0, 5, 4]

# Task b is y = a t / (1 + |t|), t = x - c, with a and c of its own, at places x in [-2, 2].
function draw_tasks()
    a, c = 1 .+ NPAgg.uniform(2, 1, 4), NPAgg.uniform(2, 2, 4)
    x = 4 .* NPAgg.uniform(2, 0, 1, 30) .- 2
    task(i) = searchsortedlast(OFFSETS, i - 1)
    y = map(1:30) do i
        t = x[i] - c[task(i)]
        a[task(i)] * t / (1 + abs(t))
    end
    return x, reshape(y, 1, 30)
end

function make_model(ctx)
    objective = Objective(ctx, :elbo; samples = 2, normalise = :points)
    return Model(ctx, Encoder(ctx, 1, 1, 3, [5]; activation = :tanh), student(ctx, 3),
                 Decoder(ctx, 1, 1, 3, [5]; activation = :tanh), objective;
                 vmp = VMP(ctx; max_iters = 4))
end

function train()
    ctx = Context()
    model = make_model(ctx)
    params = NPAgg.init_params(ctx, model, 1)
    x, y = draw_tasks()
    for step in 1:100
        noise = NPAgg.noise(3, step, 3, 2, 4)
        loss, grad = NPAgg.step(ctx, model, params, x, y; offsets = OFFSETS, n_ctx = N_CTX,
                                noise = noise)
        params .= params .- 0.015625 .* grad
        mean = foldl(+, loss) / 4
        step == 1 || step % 10 == 0 || continue
        @printf("step %3d  loss %.6f  %016x\n", step, mean, reinterpret(UInt64, mean))
    end
end

train()
