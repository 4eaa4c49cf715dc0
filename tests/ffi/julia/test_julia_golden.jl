# Golden values through the binding: posteriors, evidence, trace, weights, all gradients, models.
include("harness.jl")
include("golden.jl")
using NPAgg

# How a family of files names things.
const DIALECTS = (
    (prefix = "ba_", kind = :gaussian, robust = false, mean = "mu0", var = "S0",
     logz = "logZ", dlogz = "w_logZ", dlogw = nothing, gradients = ("g",)),
    (prefix = "mba_", kind = :mixture, robust = false, mean = "mu_k", var = "S_k",
     logz = "logZ", dlogz = "w_logZ", dlogw = "w_pi", gradients = ("g", "gpi")),
    (prefix = "rba_", kind = :student, robust = true, mean = nothing, var = nothing,
     logz = "elbo", dlogz = "w_elbo", dlogw = nothing, gradients = ("g", "gz")),
    (prefix = "rmba_", kind = :mixture, robust = true, mean = "mu_k", var = "S_k",
     logz = "bound", dlogz = "w_bound", dlogw = "w_logw", gradients = ("g", "gz")),
    (prefix = "wba_", kind = :mixture, robust = false, mean = "mu_k", var = "S_k",
     logz = "bound", dlogz = "w_bound", dlogw = "w_logw", gradients = ("g", "gz")),
)

values_of(g, name) = haskey(g, name) ? g[name] : [scalar(g, name)]

function make_prior(ctx, g, how)
    d, k = Int(scalar(g, "D")), Int(scalar(g, "K", 1))
    how.kind === :gaussian && return gaussian(ctx, d; robust = how.robust)
    how.kind === :mixture && return mixture(ctx, d, k; robust = how.robust)
    return student(ctx, d)
end

function make_params(ctx, prior, g, how)
    params = NPAgg.init_params(ctx, prior, 0)
    set(name, x) = vec(NPAgg.field(prior, params, name)) .= vec(x)
    if how.kind === :student
        set("log_a0", [log(scalar(g, "a0"))])
        set("log_b0", [log(scalar(g, "b0"))])
    else
        set("mean", g[how.mean])
        set("logvar", log.(g[how.var]))
    end
    how.kind === :mixture && set("logits", g["logit_pi"])
    how.robust && set("log_c0", [log(scalar(g, "c0"))])
    return params
end

# dq: of the whole loss, or for "gpi" of the mixing weights alone.
function make_dq(prior, g, how, gradient)
    dq = zeros(NPAgg.posterior_count(prior), Int(scalar(g, "B")))
    set(name, x) = vec(view(NPAgg.posterior_field(prior, dq, name), :)) .= vec(x)
    if gradient != "gpi"
        set("mean", g["w_mu"])
        set("var", g["w_var"])
    end
    # w_pi weighs the weights, not their logs.
    how.dlogw === nothing && return dq
    set("logw", how.dlogw == "w_pi" ? g["w_pi"] .* g["post_pi"] : g[how.dlogw])
    return dq
end

# The file's gradient, which is of variances and of a0, b0, c0, as one of our parameters.
function wanted_gradient(g, how, gradient, name)
    at(theirs) = values_of(g, "$(gradient)_$theirs")
    name == "mean" && return at(how.mean)
    name == "logvar" && return at(how.var) .* g[how.var]
    name == "logits" && return at("logit_pi")
    return at(name[5:end]) .* scalar(g, name[5:end])
end

function check_values(ctx, prior, cache, g, how, r)
    T = Int(scalar(g, "steps", 1))
    field(name) = NPAgg.posterior_field(prior, r.q, name)
    bounds = reshape(g[how.logz], T, :)
    @test close_enough("mean", field("mean"), g["post_mu"])
    @test close_enough("var", field("var"), g["post_var"])
    how.kind === :mixture && @test close_enough("logw", field("logw"), g["log_post_pi"])
    @test close_enough("logz", r.logz, bounds[end, :])
    traces = [NPAgg.trace(ctx, cache, b) for b in 1:length(r.logz)]
    @test close_enough("trace", reduce(vcat, traces), bounds)
    @test all(==(T), NPAgg.iters(ctx, cache))
    w = how.kind === :student ? scalar(g, "c_tilde") ./ g["d_tilde"] :
        haskey(g, "beta") ? g["beta"] : ones(size(g["m"], 2))
    @test close_enough("weights", NPAgg.weights(ctx, cache), w)
end

function check_gradients(ctx, prior, params, vmp, cache, g, how, gradient)
    weight = haskey(g, "weight") ? vec(g["weight"]) : nothing
    d = backward(ctx, prior, params, g["m"], g["V"]; offsets = integers(g, "offsets"), vmp = vmp,
                 weight = weight, cache = cache, dq = make_dq(prior, g, how, gradient),
                 dlogz = gradient == "g" ? vec(g[how.dlogz]) : nothing,
                 dweight = weight !== nothing)
    if gradient != "gpi"
        @test close_enough("$gradient dm", d.dm, g["$(gradient)_m"])
        @test close_enough("$gradient dv", d.dv, g["$(gradient)_V"])
    end
    weight === nothing || @test close_enough("$gradient dweight", d.dweight,
                                             g["$(gradient)_weight"])
    for name in ("mean", "logvar", "logits", "log_a0", "log_b0", "log_c0")
        NPAgg.param_offset(prior, name) === nothing && continue
        @test close_enough("$gradient d$name", NPAgg.field(prior, d.dparams, name),
                           wanted_gradient(g, how, gradient, name))
    end
end

function check_inference(path, how)
    g = read_golden(path)
    ctx = Context()
    prior = make_prior(ctx, g, how)
    params = make_params(ctx, prior, g, how)
    vmp = VMP(ctx; max_iters = Int(scalar(g, "steps", 1)))
    cache = Cache(ctx)
    weight = haskey(g, "weight") ? vec(g["weight"]) : nothing
    r = forward(ctx, prior, params, g["m"], g["V"]; offsets = integers(g, "offsets"), vmp = vmp,
                weight = weight, logz = true, cache = cache)
    check_values(ctx, prior, cache, g, how, r)
    foreach(how.gradients) do gradient
        check_gradients(ctx, prior, params, vmp, cache, g, how, gradient)
    end
end

# --- models ---

function make_model(ctx, g, kind, objective)
    d, S = Int(scalar(g, "D")), Int(scalar(g, "S"))
    widths = fill(Int(scalar(g, "hid")), Int(scalar(g, "depth")) - 1)
    prior = kind == "ba" ? gaussian(ctx, d) : kind == "mba" ? mixture(ctx, d, Int(scalar(g, "K"))) :
            student(ctx, d)
    o = Objective(ctx, objective; samples = S, sampling = :chosen,
                  kl = kind == "mba" ? :sampled : :auto)
    return Model(ctx, Encoder(ctx, 1, 1, d, widths), prior, Decoder(ctx, 1, 1, d, widths), o;
                 vmp = VMP(ctx; max_iters = Int(scalar(g, "steps"))))
end

# "encoder.mean.2.weight" -> "enc_m_W2", "prior.logvar" -> "S0" or "S_k", whichever the file has.
function file_name(g, prefix, name)
    stage, rest = split(name, "."; limit = 2)
    if stage == "prior"
        theirs = Dict("mean" => ("mu0", "mu_k"), "logvar" => ("S0", "S_k"),
                      "logits" => ("logit_pi",))
        options = get(theirs, rest, (rest[5:end],))
        found = filter(n -> haskey(g, prefix * n) || haskey(g.scalars, prefix * n), options)
        return prefix * first(found)
    end
    net, layer, kind = split(rest, ".")
    nets = Dict("encoder.mean" => "enc_m_", "encoder.var" => "enc_v_", "decoder.mean" => "dec_mu_",
                "decoder.sd" => "dec_sig_")
    return string(prefix, nets["$stage.$net"], kind == "weight" ? "W" : "b", layer)
end

is_log(name) = startswith(name, "prior.log") && name != "prior.logits"

function check_model(path, objective, loss_name, prefix)
    g = read_golden(path)
    kind = split(splitext(basename(path))[1], "_")[2]
    ctx = Context()
    model = make_model(ctx, g, kind, objective)
    params = NPAgg.init_params(ctx, model, 0)
    for (i, name) in enumerate(NPAgg.tensor_names(model))
        x = values_of(g, file_name(g, "", name))
        vec(NPAgg.tensor(model, params, i)) .= vec(is_log(name) ? log.(x) : x)
    end
    B = Int(scalar(g, "B"))
    which = haskey(g, "which") ? Int32.(g["which"]) : zeros(Int32, size(g["eps"])[2:3])
    r = NPAgg.step(ctx, model, params, g["x"], g["y"]; offsets = integers(g, "offsets"),
                   n_ctx = integers(g, "n_ctx"), noise = g["eps"],
                   which = which)
    @test close_enough("loss", [sum(r.loss) / B], [scalar(g, loss_name)])
    for (i, name) in enumerate(NPAgg.tensor_names(model))
        want = values_of(g, file_name(g, prefix, name))
        is_log(name) && (want = want .* exp.(NPAgg.tensor(model, params, i)))
        @test close_enough("$prefix$name", NPAgg.tensor(model, r.dparams, i), want)
    end
end

for how in DIALECTS, path in golden_files(Regex("^" * how.prefix * ".*\\.txt\$"))
    claim(() -> check_inference(path, how), "test_$(splitext(basename(path))[1])_is_reproduced")
end
for path in golden_files(r"^model_.*\.txt$")
    name = splitext(basename(path))[1]
    claim(() -> check_model(path, :iwae, "loss_iwae_all", "g_iwae_"),
          "test_iwae_of_$(name)_is_reproduced")
    claim(() -> check_model(path, :elbo, "loss_elbo_tgt", "g_elbo_"),
          "test_elbo_of_$(name)_is_reproduced")
end
finish()
