-- examples/aggregate.c from LuaJIT: what three priors make of the same five factors.
local ffi = require("ffi")
ffi.cdef [[ /* copied from the headers: plain C, without macros */
typedef struct npagg_ctx npagg_ctx;
typedef struct npagg_cache npagg_cache;
typedef struct npagg_prior npagg_prior;
int32_t npagg_ctx_create(npagg_ctx **out);
void npagg_ctx_destroy(npagg_ctx *ctx);
const char *npagg_ctx_error(const npagg_ctx *ctx);
int32_t npagg_cache_create(npagg_ctx *ctx, npagg_cache **out);
void npagg_cache_destroy(npagg_cache *cache);
int32_t npagg_prior_create_gaussian(npagg_ctx *ctx, int64_t d, npagg_prior **out);
int32_t npagg_prior_create_mixture(npagg_ctx *ctx, int64_t d, int64_t k, npagg_prior **out);
int32_t npagg_prior_create_student(npagg_ctx *ctx, int64_t d, npagg_prior **out);
void npagg_prior_destroy(npagg_prior *prior);
int64_t npagg_prior_param_count(const npagg_prior *prior);
int64_t npagg_prior_posterior_count(const npagg_prior *prior);
int64_t npagg_prior_posterior_offset(const npagg_prior *prior, const char *field);
int32_t npagg_prior_init_params_f64(npagg_ctx *ctx, const npagg_prior *prior, uint64_t seed,
                                    double *params);
int32_t npagg_infer_forward_f64(npagg_ctx *ctx, const npagg_prior *prior, const void *vmp,
                                const double *params, int64_t n_sets, const int64_t *offsets,
                                const double *m, const double *v, const double *weight, double *q,
                                double *logz, npagg_cache *cache);
int32_t npagg_infer_weights_f64(npagg_ctx *ctx, const npagg_cache *cache, double *w);
]]
local lib = ffi.load(os.getenv("NPAGG_LIBRARY") or "libnpagg.so.0.1")

local ctx -- one per thread
local function try(status) -- errors: 0 is good, the context has the text
    if status ~= 0 then error(ctx and ffi.string(lib.npagg_ctx_error(ctx)) or "no context", 2) end
end

local function own(kind, create, ...) -- ownership: what was created dies as garbage
    local out, arguments = ffi.new("npagg_" .. kind .. " *[1]"), { ... }
    arguments[#arguments + 1] = out
    try(create(unpack(arguments)))
    -- The finalizer names lib, which so stays loaded as long as the object lives.
    return ffi.gc(out[0], function(object) lib["npagg_" .. kind .. "_destroy"](object) end)
end

local function reals(n, ...) return ffi.new("double[?]", n, ...) end -- arrays are the caller's

ctx = own("ctx", lib.npagg_ctx_create)
local cache = own("cache", lib.npagg_cache_create, ctx)
local offsets = ffi.new("int64_t[2]", 0, 5) -- one set, of five points
local m, v, w = reals(5, 1.0, 1.3, 0.8, 1.1, 9.0), reals(5, 0.1, 0.2, 0.1, 0.1, 0.1), reals(5)

for _, case in ipairs {
    { "gaussian", own("prior", lib.npagg_prior_create_gaussian, ctx, 1) },
    { "mixture", own("prior", lib.npagg_prior_create_mixture, ctx, 1, 2) },
    { "student", own("prior", lib.npagg_prior_create_student, ctx, 1) },
} do
    local name, shape = case[1], case[2]
    local params = reals(lib.npagg_prior_param_count(shape))
    local q = reals(lib.npagg_prior_posterior_count(shape))
    try(lib.npagg_prior_init_params_f64(ctx, shape, 1, params))
    try(lib.npagg_infer_forward_f64(ctx, shape, nil, params, 1, offsets, m, v, nil, q, nil, cache))
    try(lib.npagg_infer_weights_f64(ctx, cache, w))
    print(string.format("%-8s mean %.2f, var %.3f, E[beta] %.2f %.2f %.2f %.2f %.3f", name, q[0],
        q[lib.npagg_prior_posterior_offset(shape, "var")], w[0], w[1], w[2], w[3], w[4]))
end
