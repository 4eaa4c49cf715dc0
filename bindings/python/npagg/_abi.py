"""Every function of the C library with the types of its arguments.

``C`` has the functions without precision, ``F32`` and ``F64`` those of one precision under the same
short names: ``F64.infer_forward`` is ``npagg_infer_forward_f64``. tests/ffi/python/test_abi.py
compares this table with the headers and with tests/abi/symbols.txt.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Dict, Iterator, List, Tuple

import numpy as np

from ._load import load

# One line a function: its name without npagg_, its arguments in C's order, "-> type" if it does not
# return a status. An argument is a pointer unless it says which number it is. A name that ends in
# _* stands for _f32 and _f64.
TABLE = """
status_name                  status:i32 -> text
version                      -> text

ctx_create                   out
ctx_create_with_alloc        out alloc user
ctx_destroy                  ctx -> void
ctx_set_threads              ctx n:i32
ctx_error                    ctx -> text
cache_create                 ctx out
cache_destroy                cache -> void
cache_bytes                  cache -> size

prior_create_gaussian        ctx d:i64 out
prior_create_mixture         ctx d:i64 k:i64 out
prior_create_student         ctx d:i64 out
prior_destroy                prior -> void
prior_set_robust             prior on:i32
prior_param_count            prior -> i64
prior_param_offset           prior field:text -> i64
prior_posterior_count        prior -> i64
prior_posterior_offset       prior field:text -> i64
prior_init_params_*          ctx prior seed:u64 params
prior_constrained_*          ctx prior params out

vmp_create                   ctx out
vmp_destroy                  vmp -> void
vmp_set_max_iters            vmp n:i32
vmp_set_tolerance            vmp tol:f64
vmp_set_grad                 vmp mode:i32
vmp_set_weights              vmp on:i32
infer_forward_*              ctx prior vmp params n_sets:i64 offsets m v weight q logz cache
infer_backward_*             ctx prior vmp params n_sets:i64 offsets m v weight dq dlogz dparams dm dv dweight cache
infer_iters                  ctx cache iters
infer_weights_*              ctx cache w
infer_trace                  ctx cache set:i64 bound
infer_residual               ctx cache residual
infer_grad_iters             ctx cache n

encoder_create_mlp           ctx x_dim:i64 y_dim:i64 d:i64 n_hidden:i64 widths out
encoder_create_mean          ctx x_dim:i64 y_dim:i64 d:i64 n_pre:i64 pre_widths n_post:i64 post_widths out
encoder_create_attention     ctx x_dim:i64 y_dim:i64 d:i64 n_pre:i64 pre_widths n_heads:i64 n_post:i64 post_widths out
encoder_destroy              encoder -> void
encoder_set_activation       encoder activation:i32
encoder_set_var_range        encoder lo:f64 hi:f64
encoder_set_trunk            encoder on:i32
encoder_per_set              encoder -> i32
encoder_param_count          encoder -> i64
encoder_param_offset         encoder field:text -> i64
encoder_init_params_*        ctx encoder seed:u64 params
encoder_forward_*            ctx encoder params n_sets:i64 offsets x y m v cache
encoder_backward_*           ctx encoder params n_sets:i64 offsets x y dm dv dparams dx dy cache

decoder_create_mlp           ctx x_dim:i64 y_dim:i64 d:i64 n_hidden:i64 widths out
decoder_destroy              decoder -> void
decoder_set_activation       decoder activation:i32
decoder_set_likelihood       decoder likelihood:i32
decoder_set_sd_floor         decoder floor:f64
decoder_param_count          decoder -> i64
decoder_param_offset         decoder field:text -> i64
decoder_output_count         decoder -> i64
decoder_init_params_*        ctx decoder seed:u64 params
decoder_forward_*            ctx decoder params n_sets:i64 offsets n_samples:i64 x z py cache
decoder_backward_*           ctx decoder params n_sets:i64 offsets n_samples:i64 x z dpy dparams dx dz cache
decoder_loglik_*             ctx decoder n:i64 n_samples:i64 py y loglik
decoder_loglik_backward_*    ctx decoder n:i64 n_samples:i64 py y dloglik dpy dy

posterior_sample_*           ctx prior mode:i32 n_sets:i64 n_samples:i64 q noise which z logw
posterior_sample_backward_*  ctx prior mode:i32 n_sets:i64 n_samples:i64 q noise which dz dlogw dq
posterior_choose_*           ctx prior n_sets:i64 n_samples:i64 q u which
posterior_logpdf_*           ctx prior n_sets:i64 n_samples:i64 q z logq
posterior_logpdf_backward_*  ctx prior n_sets:i64 n_samples:i64 q z dlogq dq dz
posterior_kl_*               ctx prior kind:i32 n_sets:i64 n_samples:i64 q p z logw kl
posterior_kl_backward_*      ctx prior kind:i32 n_sets:i64 n_samples:i64 q p z logw dkl dq dp dz dlogw
posterior_moments_*          ctx prior n_sets:i64 q mean var
posterior_moments_backward_* ctx prior n_sets:i64 q dmean dvar dq
posterior_entropy_*          ctx prior n_sets:i64 n_samples:i64 q z logw entropy
posterior_entropy_backward_* ctx prior n_sets:i64 n_samples:i64 q z logw dentropy dq dz dlogw

objective_create             ctx kind:i32 out
objective_destroy            objective -> void
objective_set_points         objective points:i32
objective_set_normalise      objective normalise:i32
objective_set_samples        objective n_samples:i64
objective_set_sampling       objective mode:i32
objective_set_kl             objective kind:i32

model_create                 ctx encoder prior vmp decoder objective out
model_destroy                model -> void
model_param_count            model -> i64
model_param_offset           model field:text -> i64
model_tensor_count           model -> i64
model_tensor_name            model i:i64 -> text
model_tensor_shape           model i:i64 offset rows columns
model_size                   model name:text -> i64
model_init_params_*          ctx model seed:u64 params
model_forward_*              ctx model params n_sets:i64 offsets n_ctx x y noise which loss cache
model_backward_*             ctx model params n_sets:i64 offsets n_ctx x y noise which dloss dparams cache
model_step_*                 ctx model params n_sets:i64 offsets n_ctx x y noise which dloss loss dparams
model_predict_*              ctx model params n_sets:i64 ctx_offsets xc yc tgt_offsets xt yt n_samples:i64 noise which mean sd samples loglik weight
model_infer_*                ctx model params n_sets:i64 offsets x y q
model_choose_*               ctx model n_sets:i64 n_samples:i64 q u which
noise_fill_*                 seed:u64 stream:u64 n:i64 out
uniform_fill_*               seed:u64 stream:u64 n:i64 out

model_save_*                 ctx model params path:text
model_load                   ctx path:text out
model_load_params_*          ctx model path:text params
model_save_extra_*           ctx path:text name:text n:i64 array
model_load_extra_*           ctx path:text name:text n:i64 array
"""

TYPES = {
    "pointer": ctypes.c_void_p,
    "text": ctypes.c_char_p,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "f64": ctypes.c_double,
    "size": ctypes.c_size_t,
    "void": None,
}

# void *(*)(void *user, void *p, size_t old_size, size_t new_size), npagg_alloc_fn of types.h
ALLOC = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t
)


def lines() -> Iterator[Tuple[str, List[Tuple[str, str]], str]]:
    """(name, [(argument, type)], result) of each line of the table."""
    for line in filter(None, TABLE.splitlines()):
        head, _, result = line.partition("->")
        name, *arguments = head.split()
        split = [(a.partition(":")[0], a.partition(":")[2] or "pointer") for a in arguments]
        yield name, split, result.strip() or "i32"


def symbols() -> Dict[str, Tuple[List[Tuple[str, str]], str]]:
    """Symbol of the shared library -> ([(argument, type)], result)."""
    table = {}
    for name, arguments, result in lines():
        for suffix in ("_f32", "_f64") if name.endswith("_*") else ("",):
            table["npagg_" + name.replace("_*", suffix)] = arguments, result
    return table


def _bind() -> Tuple[SimpleNamespace, SimpleNamespace, SimpleNamespace]:
    lib = load()
    spaces = {name: SimpleNamespace() for name in ("", "_f32", "_f64")}
    for symbol, (arguments, result) in symbols().items():
        try:
            function = getattr(lib, symbol)
        except AttributeError:
            raise ImportError(
                f"npagg: the library has no {symbol}; it is older than the binding"
            ) from None
        function.argtypes = [TYPES[kind] for _, kind in arguments]
        function.restype = TYPES[result]
        suffix = symbol[-4:] if symbol[-4:] in spaces else ""
        setattr(spaces[suffix], symbol[len("npagg_") : len(symbol) - len(suffix)], function)
    return spaces[""], spaces["_f32"], spaces["_f64"]


C, F32, F64 = _bind()
F32.dtype = np.dtype(np.float32)
F64.dtype = np.dtype(np.float64)

# The functions for arrays of a dtype.
REALS = {F32.dtype: F32, F64.dtype: F64}
