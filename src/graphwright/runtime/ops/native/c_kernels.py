"""Which ops run in C when they are called plainly, and on which loops.

A plain call has tensors of one dtype (out of those listed) and Python numbers that do not change
it; everything else goes to the op's NumPy kernel, which the C kernel keeps as its `fallback`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.kernels import EXACT, HALVES, power_of_ten, rounded_number
from graphwright.runtime.ops.schema import TENSOR_TYPES
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
INTEGERS = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, dtypes.bool)
INTEGRAL = (*INTEGERS, dtypes.bool)

class Loops(NamedTuple):
    """Kernels of a plain call: of a ufunc, or our own of a name (_core/elements*.c).

    `operands`: how many arguments the kernel takes, of which those that are no tensors in the
    schema have to be numbers; None: the op's tensors. `rest`: what the arguments after them have
    to be. `promotes`: operands may be of several dtypes, `to_float`: and those that are no floats
    are computed in the default dtype. `held`: the operands, as bits, which the dtype of the result
    has to hold where they are numbers. `exact`: those that may be numbers which are not rounded to
    half types, `rounded`: those that have to be numbers which are (`kernels.rounds`).
    """

    source: Any
    dtypes: tuple[DType, ...] = FLOATS
    operands: int | None = None
    rest: tuple[Any, ...] = ()
    costly: bool = False
    to_bool: bool = False
    promotes: bool = False
    to_float: bool = False
    held: int = 0
    exact: int = 0
    rounded: int = 0


def _each(dtypes: tuple[DType, ...], **sources: Any) -> dict[str, tuple[Loops, ...]]:
    return {name: (Loops(source, dtypes),) for name, source in sources.items()}


def _own(*names: str, **options: Any) -> dict[str, tuple[Loops, ...]]:
    """Kernels that have the op's name."""
    return {name: (Loops(name, **options),) for name in names}


def _costly(
    dtypes: tuple[DType, ...] = FLOATS, **sources: Any
) -> dict[str, tuple[Loops, ...]]:
    return {name: (Loops(source, dtypes, costly=True),) for name, source in sources.items()}


def _tests(dtypes: tuple[DType, ...], **sources: Any) -> dict[str, tuple[Loops, ...]]:
    return {name: (Loops(source, dtypes, to_bool=True),) for name, source in sources.items()}


WIDE = (dtypes.float32, dtypes.float64)
SIGNED = (*FLOATS, *INTEGERS[1:])

# op: what a plain call runs, the first that fits
ELEMENTWISE: dict[str, tuple[Loops, ...]] = {
    **_each(NUMBERS, abs=np.absolute, neg=np.negative),
    **_each(ALL, maximum=np.maximum, minimum=np.minimum),
    "mul": (Loops(np.multiply, ALL, exact=EXACT["mul"]),),
    **_each(INTEGRAL, bitwise_and=np.bitwise_and, bitwise_not=np.invert,
            bitwise_or=np.bitwise_or, bitwise_xor=np.bitwise_xor),
    **_each(INTEGERS, bitwise_left_shift=np.left_shift, bitwise_right_shift=np.right_shift,
            gcd=np.gcd, lcm=np.lcm),
    **_each(FLOATS, ceil=np.ceil, copysign=np.copysign, floor=np.floor, sqrt=np.sqrt,
            square=np.square, trunc=np.trunc),
    **_own("relu", "sign", dtypes=SIGNED),
    "sgn": (Loops("sign", SIGNED),),
    **_own("reciprocal", "rsqrt", "frac", "fmax", "fmin", "heaviside", "hardsigmoid",
           "hardswish", "angle", "hardsigmoid_backward", "hardswish_backward", "softsign",
           "relu_backward"),
    **_own("nextafter", dtypes=WIDE),
    **_own("remainder", "fmod", dtypes=NUMBERS),
    **_own("floor_divide", dtypes=NUMBERS, exact=EXACT["floor_divide"]),
    **_own("addcmul", "addcdiv", operands=4, held=0b1000),
    **_own("leaky_relu", operands=2, held=0b10),
    **_own("lerp", operands=3, held=0b100, exact=0b100),
    **_own("hardshrink", operands=2, held=0b10),
    **_own("sigmoid_backward", "tanh_backward"),
    **_own("leaky_relu_backward", "hardshrink_backward", operands=3),
    "softshrink_backward": (Loops("hardshrink_backward", operands=3),),
    **_own("threshold", operands=3, held=0b110),
    **_own("hardtanh_backward", operands=4),
    "add": (
        Loops(np.add, ALL, rest=(1,)),
        Loops("add_scaled", operands=3, held=0b100, rounded=0b100),
    ),
    "sub": (
        Loops(np.subtract, NUMBERS, rest=(1,)),
        Loops("sub_scaled", operands=3, held=0b100, rounded=0b100),
    ),
    "div": (
        Loops(np.divide, rest=(None,), to_float=True, exact=EXACT["div"]),
        Loops("floor_divide", NUMBERS, rest=("floor",), promotes=True,
              exact=EXACT["floor_divide"]),
        Loops("trunc_divide", (*WIDE, *INTEGERS), rest=("trunc",), promotes=True),
    ),
    "round": (Loops("round", rest=(0,)),),
    "logit": (Loops("logit", rest=(None,), costly=True),),
    "logit_backward": (Loops("logit_backward", operands=2, rest=(None,)),),
    "gelu": (
        Loops("gelu", rest=("none",), costly=True),
        Loops("gelu_tanh", rest=("tanh",), costly=True),
    ),
    "gelu_backward": (
        Loops("gelu_backward", rest=("none",), costly=True),
        Loops("gelu_tanh_backward", rest=("tanh",), costly=True),
    ),
    **_costly(acos=np.arccos, acosh=np.arccosh, asin=np.arcsin, asinh=np.arcsinh, atan=np.arctan,
              atan2=np.arctan2, atanh=np.arctanh, cos=np.cos, cosh=np.cosh, exp=np.exp,
              exp2=np.exp2, expm1=np.expm1, hypot=np.hypot, log=np.log, log10=np.log10,
              log1p=np.log1p, log2=np.log2, sin=np.sin, sinh=np.sinh, tan=np.tan, tanh=np.tanh,
              special_entr="entr", special_i0e="i0e", special_i1="i1", special_i1e="i1e",
              special_ndtr="ndtr", special_xlog1py="xlog1py"),
    **_costly(WIDE, special_log_ndtr="log_ndtr", special_modified_bessel_i0="i0",
              special_modified_bessel_i1="i1", special_zeta="zeta"),
    **_own("digamma", "erf", "erfc", "erfinv", "i0", "igamma", "igammac", "lgamma",
           "logaddexp", "logaddexp2", "logsigmoid", "logsigmoid_backward", "mish",
           "mish_backward", "selu", "selu_backward", "sigmoid", "silu", "silu_backward",
           "sinc", "tanhshrink", "xlogy", costly=True),
    **_own("gated", "normal_cdf", costly=True),
    **_own("elu", operands=2, costly=True, held=0b10),
    **_own("softplus", operands=3, costly=True, held=0b110),
    **_own("elu_backward", "celu_backward", operands=3, costly=True),
    **_own("softplus_backward", operands=4, costly=True),
    **_tests(ALL, eq=np.equal, ge=np.greater_equal, gt=np.greater, le=np.less_equal, lt=np.less,
             logical_and=np.logical_and, logical_not=np.logical_not, logical_or=np.logical_or,
             logical_xor=np.logical_xor, ne=np.not_equal),
    **_tests(FLOATS, isfinite=np.isfinite, isinf=np.isinf, isnan=np.isnan, signbit=np.signbit,
             isneginf="isneginf", isposinf="isposinf", isreal="isreal"),
}

_TRUTHS = tuple(dtype for dtype in ALL if dtype is not dtypes.uint8)    # which stays uint8

_REDUCTIONS: dict[str, tuple[tuple[DType, ...], dict[str, bool]]] = {
    "all": (_TRUTHS, {"truths": True}),
    "amax": (ALL, {"needs_elements": True}),
    "amin": (ALL, {"needs_elements": True}),
    "any": (_TRUTHS, {"truths": True}),
    "mean": (FLOATS, {"dtype": True}),
    "nansum": (FLOATS, {"dtype": True}),
    "prod": ((*FLOATS, dtypes.int64), {"dtype": True}),
    "sum": (ALL, {"dtype": True}),
}


_PROMOTED = frozenset(
    {
        "add", "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "floor_divide", "fmax",
        "fmin", "fmod", "ge", "gt", "hypot", "igamma", "igammac", "le", "logaddexp",
        "logaddexp2", "logical_and", "logical_or", "logical_xor", "lt", "maximum", "minimum",
        "mul", "ne", "nextafter", "remainder", "sub",
    }
)  # fmt: skip
"""Ops that compute in the dtype to which their operands promote."""

_FLOATED = frozenset(
    {
        "acos", "acosh", "angle", "asin", "asinh", "atan", "atan2", "atanh", "copysign", "cos",
        "cosh", "digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "i0", "lgamma",
        "log", "log10", "log1p", "log2", "logit", "reciprocal", "rsqrt", "sigmoid", "sin",
        "sinc", "sinh", "special_entr", "special_i0e", "special_i1", "special_i1e",
        "special_log_ndtr", "special_modified_bessel_i0", "special_modified_bessel_i1",
        "special_ndtr", "special_xlog1py", "special_zeta", "sqrt", "tan", "tanh", "xlogy",
    }
)  # fmt: skip
"""Those that compute integers and bool in the default dtype."""


def _bits(entry: Op, operands: int, tensors: bool) -> int:
    """The first operands that may not be numbers (`tensors`), or not be tensors, as bits."""
    kinds = [param.type for param in entry.schema.params[:operands]]
    found = [kind == "Tensor" if tensors else kind not in TENSOR_TYPES for kind in kinds]
    return sum(1 << bit for bit, is_one in enumerate(found) if is_one)


def pointwise(entry: Op, loops: Loops, fallback: Any, inplace: bool = False) -> Any:
    """The C kernel of a pointwise op; its arguments are those of `entry`."""
    operands = loops.operands or len(entry.tensor_slots)
    whole = loops.operands is None
    numbers = _bits(entry, operands, False)
    return _core.Pointwise(
        Tensor,
        loops.source,
        operands,
        loops.dtypes,
        fallback,
        loops.rest,
        to_bool=loops.to_bool,
        costly=loops.costly,
        promotes=loops.promotes or (whole and entry.name in _PROMOTED),
        to_float=loops.to_float or entry.name in _FLOATED,
        inplace=inplace,
        tensors=_bits(entry, operands, True),
        numbers=numbers,
        held=loops.held,
        exact=(numbers | loops.exact) & ~loops.rounded,
    )


def kernel(entry: Op, run: Any) -> Any:
    """`run`, or the C kernel of the op or of the in-place form that it is, which falls back on it.
    """
    special = _SPECIAL.get(entry.name)
    if special is not None:
        run = special(run)
    if _core.Native.has(entry.name):
        made = getattr(return_types, entry.name) if entry.name in return_types.FIELDS else tuple
        return _core.Native(Tensor, entry.name, run, made)
    functional = entry.functional if entry.is_inplace else None
    of = functional if functional is not None and functional.name + "_" == entry.name else entry
    for loops in reversed(ELEMENTWISE.get(of.name, ())):
        run = pointwise(of, loops, run, inplace=of is not entry)
    if entry.name in _REDUCTIONS:
        kinds, options = _REDUCTIONS[entry.name]
        return _core.Reduction(Tensor, entry.name, kinds, run, **options)
    return run


def _clamp(fallback: Any) -> Any:
    """clamp; a bound that floats lack is an infinity, for integers it is maximum or minimum."""
    between = _core.Pointwise(Tensor, "clamp", 3, NUMBERS, fallback, held=0b110)
    of_floats = _core.Pointwise(
        Tensor, "clamp", 3, FLOATS, lambda *args: None, held=0b110
    )
    raised, lowered = (
        _core.Pointwise(Tensor, ufunc, 2, INTEGERS, lambda *args: None, held=0b10)
        for ufunc in (np.maximum, np.minimum)
    )

    def run(input: Any, min: Any, max: Any) -> Any:
        if max is None and min is not None:
            out = of_floats(input, min, math.inf)
            out = raised(input, min) if out is None else out
        elif min is None and max is not None:
            out = of_floats(input, -math.inf, max)
            out = lowered(input, max) if out is None else out
        else:
            alike = isinstance(min, Tensor) is isinstance(max, Tensor)
            return (between if alike else fallback)(input, min, max)
        return fallback(input, min, max) if out is None else out

    return run


def _clamp_(fallback: Any) -> Any:
    """clamp_; a bound that floats lack is an infinity."""
    between = _core.Pointwise(Tensor, "clamp", 3, NUMBERS, fallback, inplace=True, held=0b110)
    of_floats = _core.Pointwise(
        Tensor, "clamp", 3, FLOATS, lambda *args: None, inplace=True, held=0b110
    )

    def run(input: Any, min: Any, max: Any) -> Any:
        if (min is None) is (max is None):
            alike = isinstance(min, Tensor) is isinstance(max, Tensor)
            return (between if alike else fallback)(input, min, max)
        out = of_floats(input, -math.inf if min is None else min, math.inf if max is None else max)
        return fallback(input, min, max) if out is None else out

    return run


def _one_bound(low: bool, inplace: bool) -> Any:
    """clamp_min, clamp_max and their in-place forms, of floats or by a tensor."""
    chosen = np.maximum if low else np.minimum

    def special(fallback: Any) -> Any:
        of_integers = _core.Pointwise(
            Tensor, chosen, 2, INTEGERS, fallback, inplace=inplace, promotes=True, tensors=3
        )
        of_floats = _core.Pointwise(
            Tensor, "clamp", 3, FLOATS, lambda *args: None, inplace=inplace, tensors=1,
            numbers=0b100 if low else 0b010, held=0b110,
        )

        def run(input: Any, bound: Any) -> Any:
            out = of_floats(input, bound, math.inf) if low else of_floats(input, -math.inf, bound)
            if out is None:
                return (of_integers if isinstance(bound, Tensor) else fallback)(input, bound)
            return out

        return run

    return special


def _few_steps(inplace: bool) -> tuple[dict[float, Any], dict[float, Any]]:
    """Kernels of powers that take fewer steps than `pow`: of exponents that are floats, and ints.

    A float makes floats of integers.
    """

    def one_operand(source: Any, dtypes: tuple[DType, ...] = FLOATS) -> Any:
        return _core.Pointwise(Tensor, source, 1, dtypes, lambda input: None, inplace=inplace)

    quick = {
        2: one_operand(np.square),
        3: one_operand("cube"),
        0.5: one_operand(np.sqrt),
        -0.5: one_operand("rsqrt"),
        -1: one_operand("reciprocal"),
    }
    return quick, quick | {2: one_operand(np.square, NUMBERS)}


def _power(fallback: Any) -> Any:
    """pow; exponents that are powers of themselves in fewer steps."""
    general = _core.Pointwise(
        Tensor, np.power, 2, FLOATS, fallback, costly=True, promotes=True, held=0b10, powers=True
    )
    of_floats = _core.Pointwise(
        Tensor, np.power, 2, FLOATS, fallback, costly=True, tensors=1, numbers=2, held=0b10
    )
    whole = _core.Pointwise(Tensor, np.power, 2, INTEGERS, fallback, tensors=1, numbers=2)
    quick, by_whole = _few_steps(inplace=False)

    def run(input: Any, exponent: Any) -> Any:
        if exponent.__class__ is int or exponent.__class__ is float:
            kernel = (by_whole if exponent.__class__ is int else quick).get(exponent)
            if kernel is not None and isinstance(input, Tensor):
                out = kernel(input)
                return fallback(input, exponent) if out is None else out
            if exponent.__class__ is int and 0 <= exponent < 64 and isinstance(input, Tensor):
                return (of_floats if input.dtype.is_floating_point else whole)(input, exponent)
        plain = isinstance(input, Tensor) or isinstance(exponent, Tensor)
        if not plain or (not isinstance(input, Tensor) and not exponent.is_contiguous()):
            return fallback(input, exponent)
        if isinstance(exponent, Tensor):
            return general(input, exponent)
        if exponent.__class__ is float and input.dtype in HALVES:
            held = rounded_number(exponent, input.dtype)
            exponent = held if math.isfinite(held) else exponent
        return of_floats(input, exponent)

    return run


def _power_(fallback: Any) -> Any:
    """pow_ of exponents that take fewer steps."""
    quick, by_whole = _few_steps(inplace=True)

    def run(input: Any, exponent: Any) -> Any:
        kind = exponent.__class__
        if kind is int or kind is float:
            kernel = (by_whole if kind is int else quick).get(exponent)
            out = None if kernel is None else kernel(input)
            if out is not None:
                return out
        return fallback(input, exponent)

    return run


def _where(fallback: Any) -> Any:
    return _core.Pointwise(
        Tensor, "where", 3, ALL, fallback, masked=True, promotes=True, held=0b110
    )


def _celu(fallback: Any) -> Any:
    """celu, which has no alpha 0."""
    plain = _core.Pointwise(
        Tensor, "celu", 2, FLOATS, fallback, costly=True, tensors=1, numbers=2, held=0b10
    )
    return lambda input, alpha: (plain if alpha else fallback)(input, alpha)


def _softshrink(fallback: Any) -> Any:
    """softshrink, which refuses a bound below 0 and an infinite one."""
    plain = _core.Pointwise(
        Tensor, "softshrink", 2, FLOATS, fallback, tensors=1, numbers=2, held=0b10
    )
    return lambda input, lambd: (plain if 0 <= lambd < math.inf else fallback)(input, lambd)


def _nan_to_num(fallback: Any) -> Any:
    """nan_to_num of floats with a kernel of their own."""
    kinds = FLOATS
    plain = _core.Pointwise(Tensor, "nan_to_num", 4, kinds, lambda *args: None, tensors=1)
    limits = {dtype: finfo(dtype).max for dtype in kinds}

    def run(input: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
        limit = limits.get(input.dtype)
        if limit is None:
            return fallback(input, nan, posinf, neginf)
        high = limit if posinf is None else posinf
        low = -limit if neginf is None else neginf
        out = plain(input, 0.0 if nan is None else nan, high, low)
        return fallback(input, nan, posinf, neginf) if out is None else out

    return run


def _polygamma(fallback: Any) -> Any:
    """polygamma, which has no negative orders."""
    plain = _core.Pointwise(
        Tensor, "polygamma", 2, FLOATS, fallback, costly=True, tensors=2, numbers=1
    )
    return lambda n, input: (plain if n >= 0 else fallback)(n, input)


def _round(fallback: Any) -> Any:
    """round to so many decimals, of the value scaled by that power of ten."""
    multiple, fraction = (
        _core.Pointwise(Tensor, name, 2, FLOATS, lambda *args: None, tensors=1, numbers=2)
        for name in ("round_multiple", "round_fraction")
    )

    def run(input: Any, decimals: int) -> Any:
        kernel = fraction if decimals > 0 else multiple
        out = kernel(input, power_of_ten(decimals))
        return fallback(input, decimals) if out is None else out

    return run


def _of_all(name: str) -> Any:
    """max and min of all elements; others are left to the parts."""

    def special(fallback: Any) -> Any:
        whole = _core.Reduction(Tensor, name, ALL, lambda *args: None, needs_elements=True)

        def run(input: Any, dim: Any, keepdim: bool) -> Any:
            out = whole(input, None, False) if dim is None else None
            return fallback(input, dim, keepdim) if out is None else out

        return run

    return special


def _both_extremes(fallback: Any) -> Any:
    least, most = (
        _core.Reduction(Tensor, name, ALL, lambda *args: None, needs_elements=True)
        for name in ("amin", "amax")
    )

    def run(input: Any, dim: int | None, keepdim: bool) -> Any:
        dims = None if dim is None else (dim,)
        low, high = least(input, dims, keepdim), most(input, dims, keepdim)
        if low is None or high is None:
            return fallback(input, dim, keepdim)
        return return_types.aminmax(low, high)

    return run


_SPECIAL = {
    "aminmax": _both_extremes,
    "celu": _celu,
    "clamp": _clamp,
    "clamp_": _clamp_,
    "clamp_max": _one_bound(low=False, inplace=False),
    "clamp_max_": _one_bound(low=False, inplace=True),
    "clamp_min": _one_bound(low=True, inplace=False),
    "clamp_min_": _one_bound(low=True, inplace=True),
    "max": _of_all("amax"),
    "min": _of_all("amin"),
    "nan_to_num": _nan_to_num,
    "polygamma": _polygamma,
    "pow": _power,
    "pow_": _power_,
    "round": _round,
    "softshrink": _softshrink,
    "where": _where,
}
OF_ELEMENTS = frozenset(_SPECIAL) - {"aminmax", "max", "min"}
"""Those of elementwise ops; half types are computed in float32, as by `ELEMENTWISE`."""
