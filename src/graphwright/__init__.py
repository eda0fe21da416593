"""graphwright: a compiler from ordinary Python tensor code to native kernels."""

from __future__ import annotations

import typing as _typing
from importlib import import_module as _import_module
from math import e, inf, nan, pi

from graphwright import amp, autograd, linalg, nn, optim, random, special, utils
from graphwright.amp.autocast import (
    autocast,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from graphwright.autograd import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from graphwright.autograd import set_detect_anomaly as set_anomaly_enabled
from graphwright.compat.settings import (
    are_deterministic_algorithms_enabled,
    get_default_device,
    get_deterministic_debug_mode,
    get_num_interop_threads,
    is_deterministic_algorithms_warn_only_enabled,
    set_default_device,
    set_deterministic_debug_mode,
    set_flush_denormal,
    set_num_interop_threads,
    use_deterministic_algorithms,
)
from graphwright.compat.typed_constructors import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    set_default_tensor_type,
)
from graphwright.face.lazy_loading import load as _load
from graphwright.random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from graphwright.runtime import _core
from graphwright.runtime.cuda.precision import (
    get_float32_matmul_precision,
    set_float32_matmul_precision,
)
from graphwright.runtime.errors import AcceleratorError, OutOfMemoryError
from graphwright.runtime.naming import NAMING as _NAMING
from graphwright.runtime.naming import missing as _missing
from graphwright.runtime.ops.functions import *
from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.dtype_names import (
    cdouble,
    cfloat,
    chalf,
    double,
    float,
    half,
    int,
    long,
    short,
)
from graphwright.runtime.tensor.dtypes import (
    bfloat16,
    bool,
    complex32,
    complex64,
    complex128,
    dtype,
    float4_e2m1fn_x2,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from graphwright.runtime.tensor.finfo import finfo, iinfo
from graphwright.runtime.tensor.from_data import (
    as_tensor,
    asarray,
    from_dlpack,
    from_numpy,
    frombuffer,
    is_complex,
    is_floating_point,
    is_tensor,
    numel,
    tensor,
    to_dlpack,
)
from graphwright.runtime.tensor.generator import Generator
from graphwright.runtime.tensor.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    jagged,
    layout,
    legacy_contiguous_format,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from graphwright.runtime.tensor.multi_tensor import (  # type: ignore[assignment]
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    meshgrid,
    unravel_index,
)
from graphwright.runtime.tensor.printing import set_printoptions
from graphwright.runtime.tensor.promotion import promote_types, result_type
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.tensor.tensor_queries import (
    can_cast,
    get_device,
    is_conj,
    is_inference,
    is_neg,
    is_nonzero,
    is_same_size,
    is_signed,
    is_storage,
    typename,
)
from graphwright.runtime.torch_check import (
    _assert,
    _check,
    _check_index,
    _check_is_size,
    _check_not_implemented,
    _check_tensor_all,
    _check_type,
    _check_value,
    _check_with,
)
from graphwright.version import __version__

get_num_threads = _core.num_threads
set_num_threads = _core.set_num_threads
memory_stats = _core.memory_stats
empty_cache = _core.empty_cache
reset_peak_memory_stats = _core.reset_peak_memory_stats

newaxis = None

# Modules that are imported when they are first asked for.
_MODULES = (
    *("_C", "__config__", "_dynamo", "_higher_order_ops", "_inductor", "_utils", "accelerator"),
    *("ao", "backends", "compiler", "cpu", "cuda", "distributed", "distributions", "export"),
    *("fft", "func", "functional", "futures", "fx", "hub", "jit", "library", "masked", "mps"),
    *("mtia", "multiprocessing", "onnx", "overrides", "profiler", "quasirandom", "return_types"),
    *("serialization", "signal", "testing"),
    *("torch_version", "types", "version", "xpu"),
)

_FUNCTIONS = (
    *("batch_norm", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss"),
    *("_sample_dirichlet", "_softmax_backward_data", "_standard_gamma"),
    *("embedding_bag", "frobenius_norm", "get_device_module"),
    *("hinge_embedding_loss", "instance_norm", "kl_div", "margin_ranking_loss", "nuclear_norm"),
    *("poisson_nll_loss", "triplet_margin_loss"),
)

_RECURRENT = (
    *("gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh"),
    "rnn_tanh_cell",
)

_STORAGES = (
    *("BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage"),
    *("ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage"),
    *("LongStorage", "ShortStorage", "TypedStorage", "UntypedStorage"),
)

_SYMBOLIC = (
    *("SymBool", "SymFloat", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not"),
    *("sym_sqrt", "sym_sum"),
)

_OLDER_AUTOCAST = (
    *("get_autocast_cpu_dtype", "get_autocast_gpu_dtype", "is_autocast_cpu_enabled"),
    *("set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_gpu_dtype"),
)

_OF_SCRIPT = (
    *("AnyType", "BoolType", "DeviceObjType", "DictType", "FloatType", "IntType", "ListType"),
    *("NoneType", "NumberType", "OptionalType", "PyTorchFileReader", "StringType", "Tag"),
    *("TensorType", "TupleType", "Type"),
)

# Names of other modules, which are imported when one is asked for.
_ELSEWHERE = {
    **dict.fromkeys(_FUNCTIONS, "compat.torch_signatures"),
    **dict.fromkeys(_RECURRENT, "compat.recurrent_signatures"),
    **dict.fromkeys(_SYMBOLIC, "runtime.symbolic.functions"),
    **dict.fromkeys(_OLDER_AUTOCAST, "amp.autocast"),
    **dict.fromkeys(("_assert_async", "_check_tensor_all_with"), "runtime.torch_check"),
    "Event": "compat.absent_devices",
    "Future": "futures",
    **dict.fromkeys(_OF_SCRIPT, "_C"),
    **dict.fromkeys(("ScriptFunction", "ScriptModule"), "jit"),
    "GradScaler": "amp.grad_scaler",
    "Stream": "compat.absent_devices",
    "cond": "_higher_order_ops.cond_and_while",
    "while_loop": "_higher_order_ops.cond_and_while",
    "SymInt": "runtime.symbolic.symint",
    "_scaled_mm": "runtime.ops.functions",
    **dict.fromkeys(_STORAGES, "runtime.tensor.storage"),
    **dict.fromkeys(("eig", "lstsq", "matrix_rank", "solve", "symeig"), "compat.removed"),
    "lobpcg": "_lowrank",
    "ops": "library",
    "pca_lowrank": "_lowrank",
    "svd_lowrank": "_lowrank",
    "vmap": "runtime.batching.vmap",
}

# Functions of `nn.functional`, and in-place methods, that PyTorch has as functions here too.
_FUNCTIONAL = ("celu_", "group_norm", "layer_norm", "rms_norm", "rrelu_", "selu_", "threshold_")
_IN_PLACE = """
    abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_
    asinh_ atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_
    deg2rad_ detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_
    ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_
    resize_as_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_
    zero_
"""


def __getattr__(name: str) -> _typing.Any:
    """Import the compiler and saving when they are first asked for: others do not pay for them."""
    if name in ("load", "load_file", "save", "save_file"):
        from graphwright import saving

        globals()[name] = getattr(saving, name)
        return globals()[name]
    if name in _MODULES:
        globals()[name] = _import_module(f"{_NAMING.root}.{name}")
        return globals()[name]
    if name in _ELSEWHERE:
        module = _import_module(f"graphwright.{_ELSEWHERE[name]}")
        globals()[name] = getattr(module, name)
        return globals()[name]
    if name.startswith("_foreach_"):
        found = _import_module("graphwright.compat.foreach").FUNCTIONS.get(name)
        if found is not None:
            globals()[name] = found
            return found
    if name in _FUNCTIONAL:
        globals()[name] = getattr(nn.functional, name)
        return globals()[name]
    if name in _IN_PLACE.split():
        face = _import_module("graphwright.runtime.ops.functions")
        globals()[name] = getattr(face if hasattr(face, name) else Tensor, name)
        return globals()[name]
    if name in ("compile", "explain"):
        (api,) = _load("graphwright.face.api")
        globals().update(compile=api.compile, explain=api.explain)
        return globals()[name]
    from graphwright.compat.module_names import ELSEWHERE

    if name not in ELSEWHERE:
        raise _missing("graphwright", name)
    globals()[name] = _import_module(f"graphwright.{ELSEWHERE[name]}")
    return globals()[name]


def __dir__() -> list[str]:
    from graphwright.compat.module_names import ELSEWHERE

    modules = [*_MODULES, *(name for name in ELSEWHERE if "." not in name)]
    later = (*modules, *_ELSEWHERE, *_FUNCTIONAL, *_IN_PLACE.split())
    front = ("compile", "explain", "load", "load_file", "save", "save_file")
    return sorted({*globals(), *later, *front})


def _compile_module(*args: _typing.Any, **options: _typing.Any) -> _typing.Any:
    return __getattr__("compile")(*args, **options)


nn.Module._compiler = _compile_module
