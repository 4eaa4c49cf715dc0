/* The golden files through the C++ binding, in double: every array to 1e-11 of its largest entry. */
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <npagg/npagg.hpp>

#include "claims.hpp"
#include "golden.hpp"

namespace
{

using reals = std::vector<double>;
constexpr double tolerance = 1e-11;

std::string path;
std::string kind; /* "ba", "mba" ... */

/* What the files call things. */
struct dialect {
    const char *kind, *mean, *var, *logz, *dlogz, *dlogw;
    bool robust, weighted;
};

constexpr dialect dialects[] = {
    {"ba", "mu0", "S0", "logZ", "w_logZ", nullptr, false, false},
    {"mba", "mu_k", "S_k", "logZ", "w_logZ", "w_pi", false, false},
    {"rba", nullptr, nullptr, "elbo", "w_elbo", nullptr, true, false},
    {"rmba", "mu_k", "S_k", "bound", "w_bound", "w_logw", true, true},
    {"wba", "mu_k", "S_k", "bound", "w_bound", "w_logw", false, true},
};

std::size_t at(std::int64_t i)
{
    return static_cast<std::size_t>(i);
}

void put(reals &out, std::int64_t offset, const reals &x)
{
    CLAIM(offset >= 0 && at(offset) + x.size() <= out.size());
    if (offset >= 0 && at(offset) + x.size() <= out.size())
        std::copy(x.begin(), x.end(), out.begin() + offset);
}

reals logs(const reals &x)
{
    reals out;
    for (double one : x)
        out.push_back(std::log(one));
    return out;
}

reals times(const reals &x, const reals &y)
{
    reals out;
    for (std::size_t i = 0; i < x.size() && i < y.size(); i++)
        out.push_back(x[i] * y[i]);
    return out;
}

/* One field of every posterior, of q [B,Q] or into it. */
reals field(const npagg::prior &prior, const reals &q, const char *name, std::int64_t n)
{
    reals out;
    for (std::size_t b = 0; b < q.size(); b += at(prior.posterior_count()))
        for (std::int64_t i = 0; i < n; i++)
            out.push_back(q[b + at(prior.posterior_offset(name) + i)]);
    return out;
}

void put_field(const npagg::prior &prior, reals &q, const char *name, const reals &x)
{
    const std::int64_t sets = static_cast<std::int64_t>(q.size()) / prior.posterior_count();
    const std::int64_t n = static_cast<std::int64_t>(x.size()) / sets;
    for (std::int64_t b = 0; b < sets; b++)
        put(q, b * prior.posterior_count() + prior.posterior_offset(name),
            reals(x.begin() + b * n, x.begin() + (b + 1) * n));
}

npagg::prior create_prior(npagg::context &ctx, const golden &g, const dialect &how)
{
    const std::int64_t d = g.integer("D");
    if (!how.mean)
        return npagg::prior::student(ctx, d);
    if (!how.dlogw)
        return npagg::prior::gaussian(ctx, d);
    npagg::prior prior = npagg::prior::mixture(ctx, d, g.integer("K"));
    prior.set_robust(how.robust);
    return prior;
}

reals create_params(const npagg::prior &prior, const golden &g, const dialect &how)
{
    reals params(at(prior.param_count()));
    if (how.mean) {
        put(params, prior.param_offset("mean"), g.array(how.mean));
        put(params, prior.param_offset("logvar"), logs(g.array(how.var)));
    } else {
        put(params, prior.param_offset("log_a0"), logs(g.array("a0")));
        put(params, prior.param_offset("log_b0"), logs(g.array("b0")));
    }
    if (how.dlogw)
        put(params, prior.param_offset("logits"), g.array("logit_pi"));
    if (how.robust)
        put(params, prior.param_offset("log_c0"), logs(g.array("c0")));
    return params;
}

/* w_pi weighs the weights, not their logs. */
reals create_dq(const npagg::prior &prior, const golden &g, const dialect &how)
{
    reals dq(at(g.integer("B") * prior.posterior_count()));
    put_field(prior, dq, "mean", g.array("w_mu"));
    put_field(prior, dq, "var", g.array("w_var"));
    if (how.dlogw)
        put_field(prior, dq, "logw",
                  std::string(how.dlogw) == "w_pi" ? times(g.array("w_pi"), g.array("post_pi"))
                                                   : g.array(how.dlogw));
    return dq;
}

/* The gradient of the parameters: the file's are of variances and of a0, b0, c0, not of logs. */
reals want_dparams(const npagg::prior &prior, const golden &g, const dialect &how)
{
    reals want(at(prior.param_count()));
    const auto scaled = [&](const char *name) {
        return times(g.array(name), g.array(std::string("g_") + name));
    };
    if (how.mean) {
        put(want, prior.param_offset("mean"), g.array(std::string("g_") + how.mean));
        put(want, prior.param_offset("logvar"), scaled(how.var));
    } else {
        put(want, prior.param_offset("log_a0"), scaled("a0"));
        put(want, prior.param_offset("log_b0"), scaled("b0"));
    }
    if (how.dlogw)
        put(want, prior.param_offset("logits"), g.array("g_logit_pi"));
    if (how.robust)
        put(want, prior.param_offset("log_c0"), scaled("c0"));
    return want;
}

reals want_weights(const golden &g, const dialect &how, std::size_t n)
{
    if (how.weighted)
        return g.array("beta");
    reals w(n, 1.0);
    for (std::size_t i = 0; i < n && !how.mean; i++)
        w[i] = g.scalar("c_tilde") / g.array("d_tilde").at(i);
    return w;
}

void same(const reals &want, const reals &got, const char *what)
{
    claims::close(want, got, tolerance, what, __LINE__);
}

/* Each field is an array of its own: what is large in one must not hide another. */
void same_params(const npagg::prior &prior, const reals &want, const reals &got)
{
    std::vector<std::int64_t> ends;
    for (const char *name : {"mean", "logvar", "logits", "log_a0", "log_b0", "log_c0"})
        if (prior.param_offset(name) >= 0)
            ends.push_back(prior.param_offset(name));
    ends.push_back(prior.param_count());
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 0; i + 1 < ends.size(); i++)
        same(reals(want.begin() + ends[i], want.begin() + ends[i + 1]),
             reals(got.begin() + ends[i], got.begin() + ends[i + 1]), "dparams");
}

void compare_trace(npagg::context &ctx, const npagg::cache &cache, const reals &want,
                   std::size_t sets)
{
    const std::size_t sweeps = want.size() / sets;
    std::vector<std::int32_t> iters(sets);
    npagg::infer_iters(ctx, cache, iters);
    for (std::size_t b = 0; b < sets; b++) {
        reals bound(at(iters[b]));
        npagg::infer_trace(ctx, cache, static_cast<std::int64_t>(b), bound);
        same(reals(want.begin() + static_cast<std::ptrdiff_t>(b * sweeps),
                   want.begin() + static_cast<std::ptrdiff_t>((b + 1) * sweeps)),
             bound, "trace");
    }
}

void test_aggregation()
{
    const golden g = read_golden(path);
    const dialect &how = *std::find_if(std::begin(dialects), std::end(dialects),
                                       [](const dialect &d) { return d.kind == kind; });
    CLAIM(g.complete);
    auto ctx = npagg::context::create();
    auto cache = npagg::cache::create(ctx);
    auto vmp = npagg::vmp::create(ctx);
    vmp.set_max_iters(static_cast<std::int32_t>(g.integer("steps", 1)));
    const npagg::prior prior = create_prior(ctx, g, how);
    const auto offsets = g.integers<std::int64_t>("offsets");
    const std::size_t sets = at(g.integer("B"));
    const reals m = g.array("m"), v = g.array("V"), params = create_params(prior, g, how);
    const reals weight = g.array("weight"), trace = g.array(how.logz);
    const npagg::view<const double> w = how.weighted ? npagg::view<const double>(weight) : nullptr;
    reals q(sets * at(prior.posterior_count())), logz(sets), beta(at(offsets.back()));
    npagg::infer_forward(ctx, prior, vmp, params, offsets, m, v, w, q, logz, &cache);
    npagg::infer_weights(ctx, cache, beta);

    const std::int64_t k = g.integer("K", 1), d = g.integer("D");
    reals last;
    for (std::size_t b = 1; b <= sets; b++)
        last.push_back(trace.at(b * (trace.size() / sets) - 1));
    same(g.array("post_mu"), field(prior, q, "mean", k * d), "mean");
    same(g.array("post_var"), field(prior, q, "var", k * d), "var");
    if (how.dlogw)
        same(g.array("log_post_pi"), field(prior, q, "logw", k), "logw");
    same(last, logz, "logz");
    same(want_weights(g, how, beta.size()), beta, "weights");
    compare_trace(ctx, cache, trace, sets);

    reals dm(m.size()), dv(v.size()), dparams(params.size()), dweight(weight.size());
    npagg::view<double> dw;
    if (how.weighted)
        dw = dweight;
    npagg::infer_backward(ctx, prior, vmp, params, offsets, m, v, w, create_dq(prior, g, how),
                          g.array(how.dlogz), dparams, dm, dv, dw, cache);
    same(g.array("g_m"), dm, "dm");
    same(g.array("g_V"), dv, "dv");
    if (how.weighted)
        same(g.array("g_weight"), dweight, "dweight");
    same_params(prior, want_dparams(prior, g, how), dparams);
}

/* "encoder.mean.2.weight" is "enc_m_W2" in the file, "prior.logvar" is "S0" or "S_k". */
std::string theirs(const golden &g, const std::string &prefix, const std::string &name)
{
    static const std::vector<std::pair<std::string, std::string>> stems = {
        {"encoder.mean.", "enc_m_"},  {"encoder.var.", "enc_v_"}, {"decoder.mean.", "dec_mu_"},
        {"decoder.sd.", "dec_sig_"},  {"prior.mean", "mu0"},      {"prior.mean", "mu_k"},
        {"prior.logvar", "S0"},       {"prior.logvar", "S_k"},    {"prior.log_a0", "a0"},
        {"prior.logits", "logit_pi"}, {"prior.log_b0", "b0"},     {"prior.log_c0", "c0"},
    };
    for (const auto &[ours, stem] : stems) {
        if (name.compare(0, ours.size(), ours) != 0)
            continue;
        std::string full = prefix + stem;
        if (name.size() > ours.size()) {
            full += name.find("weight") != std::string::npos ? 'W' : 'b';
            full += name[ours.size()];
        }
        if (g.has(full))
            return full;
    }
    return "";
}

bool is_log(const std::string &name)
{
    return name.find("prior.log") == 0 && name != "prior.logits";
}

npagg::model create_model(npagg::context &ctx, const golden &g, npagg::loss_kind loss)
{
    const std::int64_t d = g.integer("D");
    const std::vector<std::int64_t> widths(at(g.integer("depth") - 1), g.integer("hid"));
    const auto encoder = npagg::encoder::mlp(ctx, 1, 1, d, widths);
    const auto decoder = npagg::decoder::mlp(ctx, 1, 1, d, widths);
    const auto prior = kind == "mba"   ? npagg::prior::mixture(ctx, d, g.integer("K"))
                       : kind == "rba" ? npagg::prior::student(ctx, d)
                                       : npagg::prior::gaussian(ctx, d);
    auto vmp = npagg::vmp::create(ctx);
    vmp.set_max_iters(static_cast<std::int32_t>(g.integer("steps")));
    auto objective = npagg::objective::create(ctx, loss);
    objective.set_samples(g.integer("S"));
    objective.set_sampling(npagg::sampling::chosen);
    if (kind == "mba")
        objective.set_kl(npagg::kl_kind::sampled);
    return npagg::model::create(ctx, encoder, prior, vmp, decoder, objective);
}

void put_tensors(const npagg::model &model, const golden &g, reals &params)
{
    for (std::int64_t i = 0; i < model.tensor_count(); i++) {
        const npagg::tensor t = model.tensor(i);
        const std::string name = theirs(g, "", t.name);
        if (!name.empty())
            put(params, t.offset, is_log(t.name) ? logs(g.array(name)) : g.array(name));
    }
}

void compare_tensors(const npagg::model &model, const golden &g, const std::string &prefix,
                     const reals &params, const reals &grad)
{
    for (std::int64_t i = 0; i < model.tensor_count(); i++) {
        const npagg::tensor t = model.tensor(i);
        const auto begin = t.offset, end = begin + t.rows * std::max<std::int64_t>(t.columns, 1);
        reals want = g.array(theirs(g, prefix, t.name));
        for (std::size_t j = 0; j < want.size() && is_log(t.name); j++)
            want[j] *= std::exp(params[at(begin) + j]);
        same(want, reals(grad.begin() + begin, grad.begin() + end), t.name);
    }
}

void compare_model(const golden &g, npagg::loss_kind loss, const char *name, const char *prefix)
{
    auto ctx = npagg::context::create();
    auto cache = npagg::cache::create(ctx);
    const npagg::model model = create_model(ctx, g, loss);
    const auto offsets = g.integers<std::int64_t>("offsets");
    const auto n_ctx = g.integers<std::int64_t>("n_ctx");
    const auto which = g.integers<std::int32_t>("which");
    const reals x = g.array("x"), y = g.array("y"), eps = g.array("eps");
    const reals dloss(n_ctx.size(), 1.0 / static_cast<double>(n_ctx.size()));
    reals params(at(model.param_count())), grad(params.size()), again(params.size());
    reals losses(n_ctx.size()), more(n_ctx.size());
    model.init_params(ctx, 0, params);
    put_tensors(model, g, params);
    model.forward(ctx, params, offsets, n_ctx, x, y, eps, which, losses, &cache);
    model.backward(ctx, params, offsets, n_ctx, x, y, eps, which, dloss, grad, cache);
    double mean = 0;
    for (double one : losses)
        mean += one / static_cast<double>(losses.size());
    same(g.array(name), {mean}, name);
    compare_tensors(model, g, prefix, params, grad);
    model.step(ctx, params, offsets, n_ctx, x, y, eps, which, dloss, more, again);
    same(losses, more, "losses of step");
    same(grad, again, "gradient of step");
}

void test_model()
{
    const golden g = read_golden(path);
    CLAIM(g.complete);
    compare_model(g, npagg::loss_kind::iwae, "loss_iwae_all", "g_iwae_");
    compare_model(g, npagg::loss_kind::elbo, "loss_elbo_tgt", "g_elbo_");
}

int seen[6]; /* files of each dialect, and of models */

void run_file()
{
    const std::string stem = std::filesystem::path(path).stem().string();
    const bool is_model = stem.compare(0, 6, "model_") == 0;
    kind = is_model ? stem.substr(6) : stem.substr(0, stem.find('_'));
    for (std::size_t i = 0; i < 5 && !is_model; i++)
        seen[i] += kind == dialects[i].kind;
    seen[5] += is_model;
    try {
        is_model ? test_model() : test_aggregation();
    } catch (const std::exception &e) {
        CLAIM(!"thrown") || std::printf("    %s\n", e.what());
    }
}

std::vector<std::string> files;
std::size_t next = 0;

void test_next_file()
{
    path = files[next++];
    run_file();
}

void test_golden_files_of_every_kind_are_there()
{
    for (int count : seen)
        CLAIM(count > 0);
}

bool is_ours(const std::string &stem)
{
    for (const char *prefix : {"ba_", "mba_", "rba_", "rmba_", "wba_", "model_"})
        if (stem.compare(0, std::strlen(prefix), prefix) == 0)
            return true;
    return false;
}

} // namespace

int main()
{
    const char *directory = std::getenv("NPAGG_GOLDEN_DIR");
    std::vector<claims::test> tests;
    for (const auto &entry :
         std::filesystem::directory_iterator(directory ? directory : "tests/golden"))
        if (entry.path().extension() == ".txt" && is_ours(entry.path().stem().string()))
            files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    for (const std::string &file : files)
        tests.push_back(
            {"test_cpp_f64_of_" + std::filesystem::path(file).stem().string() + "_is_reproduced",
             __LINE__, test_next_file});
    tests.push_back(TEST(test_golden_files_of_every_kind_are_there));
    return claims::run(__FILE__, tests);
}
