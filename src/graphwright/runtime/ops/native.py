"""Which ops run in C when they are called plainly, and on which loops.

A plain call has tensors of one dtype (out of those listed) and Python numbers that do not change
it; everything else goes to the op's NumPy kernel, which the C kernel keeps as its `fallback`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core, dtypes
from graphwright.runtime.dtypes import dtype as DType
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor import Tensor

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
INTEGERS = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, dtypes.bool)
INTEGRAL = (*INTEGERS, dtypes.bool)

# name: loops, dtypes
_CHEAP: dict[str, tuple[Any, tuple[DType, ...]]] = {
    "abs": (np.absolute, NUMBERS),
    "bitwise_and": (np.bitwise_and, INTEGRAL),
    "bitwise_not": (np.invert, INTEGRAL),
    "bitwise_or": (np.bitwise_or, INTEGRAL),
    "bitwise_xor": (np.bitwise_xor, INTEGRAL),
    "ceil": (np.ceil, FLOATS),
    "copysign": (np.copysign, FLOATS),
    "floor": (np.floor, FLOATS),
    "maximum": (np.maximum, ALL),
    "minimum": (np.minimum, ALL),
    "mul": (np.multiply, ALL),
    "neg": (np.negative, NUMBERS),
    "reciprocal": ("reciprocal", FLOATS),
    "relu": ("relu", (*FLOATS, *INTEGERS[1:])),
    "rsqrt": ("rsqrt", FLOATS),
    "sqrt": (np.sqrt, FLOATS),
    "square": (np.square, FLOATS),
    "trunc": (np.trunc, FLOATS),
}
_COSTLY: dict[str, Any] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": "erf",
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "sigmoid": "sigmoid",
    "silu": "silu",
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
_TESTS: dict[str, tuple[Any, tuple[DType, ...]]] = {
    "eq": (np.equal, ALL),
    "ge": (np.greater_equal, ALL),
    "gt": (np.greater, ALL),
    "isfinite": (np.isfinite, FLOATS),
    "isinf": (np.isinf, FLOATS),
    "isnan": (np.isnan, FLOATS),
    "le": (np.less_equal, ALL),
    "logical_and": (np.logical_and, ALL),
    "logical_not": (np.logical_not, ALL),
    "logical_or": (np.logical_or, ALL),
    "logical_xor": (np.logical_xor, ALL),
    "lt": (np.less, ALL),
    "ne": (np.not_equal, ALL),
}
# name: loops, dtypes, what the arguments after the operands have to be
_WITH_REST: dict[str, tuple[Any, tuple[DType, ...], tuple[Any, ...]]] = {
    "add": (np.add, ALL, (1,)),
    "sub": (np.subtract, NUMBERS, (1,)),
    "div": (np.divide, FLOATS, (None,)),
    "gelu": ("gelu", FLOATS, ("none",)),
}

_REDUCTIONS: dict[str, tuple[tuple[DType, ...], dict[str, bool]]] = {
    "all": ((dtypes.bool,), {}),
    "amax": (ALL, {"needs_elements": True}),
    "amin": (ALL, {"needs_elements": True}),
    "any": ((dtypes.bool,), {}),
    "mean": (FLOATS, {"dtype": True}),
    "prod": ((*FLOATS, dtypes.int64), {"dtype": True}),
    "sum": (ALL, {"dtype": True}),
}


def _tensors_only(entry: Op) -> int:
    """The operands that may not be numbers, as bits."""
    slots = enumerate(i for i, _ in entry.tensor_slots)
    return sum(1 << bit for bit, i in slots if entry.schema.params[i].type == "Tensor")


def _elementwise(name: str) -> tuple[Any, tuple[DType, ...], dict[str, Any]] | None:
    """Loops, dtypes and options of a pointwise op; None where it has no loops."""
    if name in _CHEAP:
        return (*_CHEAP[name], {})
    if name in _COSTLY:
        return _COSTLY[name], FLOATS, {"costly": True}
    if name in _TESTS:
        return (*_TESTS[name], {"to_bool": True})
    if name in _WITH_REST:
        source, kinds, rest = _WITH_REST[name]
        return source, kinds, {"rest": rest}
    return None


def kernel(entry: Op, run: Any) -> Any:
    """`run`, or the C kernel of the op or of the in-place form that it is, which falls back on it.
    """
    functional = entry.functional if entry.is_inplace else None
    of = functional if functional is not None and functional.name + "_" == entry.name else entry
    found = _elementwise(of.name)
    if found is not None:
        source, kinds, options = found
        if of is not entry:
            if "to_bool" in options:
                return run
            options["inplace"] = True
        options["tensors"] = _tensors_only(of)
        return _core.Pointwise(Tensor, source, len(of.tensor_slots), kinds, run, **options)
    if entry.name in _REDUCTIONS:
        kinds, options = _REDUCTIONS[entry.name]
        return _core.Reduction(Tensor, entry.name, kinds, run, **options)
    special = _SPECIAL.get(entry.name)
    return run if special is None else special(run)


def _clamp(fallback: Any) -> Any:
    """clamp; a bound that floats lack is an infinity, for integers it is maximum or minimum."""
    between = _core.Pointwise(Tensor, "clamp", 3, NUMBERS, fallback)
    of_floats = _core.Pointwise(Tensor, "clamp", 3, FLOATS, lambda *args: None)
    raised, lowered = (
        _core.Pointwise(Tensor, ufunc, 2, INTEGERS, lambda *args: None)
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
            return between(input, min, max)
        return fallback(input, min, max) if out is None else out

    return run


def _power(fallback: Any) -> Any:
    """pow of floats; exponents that are powers of themselves in fewer steps."""
    general = _core.Pointwise(Tensor, np.power, 2, FLOATS, fallback, costly=True)

    def one_operand(source: Any) -> Any:
        return _core.Pointwise(Tensor, source, 1, FLOATS, lambda input: None)

    quick = {
        2: one_operand(np.square),
        3: one_operand("cube"),
        0.5: one_operand(np.sqrt),
        -0.5: one_operand("rsqrt"),
        -1: one_operand("reciprocal"),
    }

    def run(input: Any, exponent: Any) -> Any:
        if exponent.__class__ is int or exponent.__class__ is float:
            kernel = quick.get(exponent)
            if kernel is not None and isinstance(input, Tensor):
                out = kernel(input)
                return fallback(input, exponent) if out is None else out
        plain = isinstance(input, Tensor) or isinstance(exponent, Tensor)
        if not plain or (not isinstance(input, Tensor) and not exponent.is_contiguous()):
            return fallback(input, exponent)
        return general(input, exponent)

    return run


def _where(fallback: Any) -> Any:
    return _core.Pointwise(Tensor, "where", 3, ALL, fallback, masked=True)


_SPECIAL = {"clamp": _clamp, "pow": _power, "where": _where}
