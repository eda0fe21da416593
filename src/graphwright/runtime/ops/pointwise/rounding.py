"""Rounding to integers, or to decimals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import elementwise, power_of_ten, unary_kernel
from graphwright.runtime.ops.pointwise.arithmetic import pointwise_spec
from graphwright.runtime.ops.pointwise.unary import define_unary, flat
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.tensor import Tensor


def _rounding(ufunc: Any) -> Callable[..., None]:
    def function(a: Any, out: Any) -> None:
        if out.dtype.kind == "f":
            ufunc(a, out)
        else:
            np.copyto(out, a)

    return function


_ROUNDINGS: tuple[tuple[str, Any, str], ...] = (
    (
        "floor",
        np.floor,
        """Greatest integer that is at most each element; integers are unchanged.

        The gradient is zero.

        >>> gw.floor(gw.tensor([1.5, -1.5]))
        tensor([ 1., -2.])
        """,
    ),
    (
        "ceil",
        np.ceil,
        """Least integer that is at least each element; integers are unchanged.

        The gradient is zero.

        >>> gw.ceil(gw.tensor([1.5, -0.5]))
        tensor([2., -0.])
        """,
    ),
    (
        "trunc",
        np.trunc,
        """Each element without its fraction, rounded towards 0; integers are unchanged.

        The gradient is zero.

        >>> gw.trunc(gw.tensor([1.5, -1.5]))
        tensor([ 1., -1.])
        """,
    ),
)
for _name, _function, _doc in _ROUNDINGS:
    define_unary(_name, _rounding(_function), flat, doc=_doc, bool=False, complex=False)


def _check_round(input: Any, decimals: int) -> None:
    require_dtype("round", input.dtype, bool=False, complex=False, integers=decimals == 0)


def _round_eager(input: Any, decimals: int) -> Tensor:
    """Halves to even; with `decimals`, of the value scaled by that power of ten."""
    _check_round(input, decimals)
    if decimals == 0:
        return _round_whole(input)
    scale = power_of_ten(decimals)
    grow, shrink = (np.multiply, np.divide) if decimals > 0 else (np.divide, np.multiply)

    def function(a: Any, out: Any) -> None:
        grow(a, out.dtype.type(scale), out)
        np.rint(out, out)
        shrink(out, out.dtype.type(scale), out)

    return elementwise("round", function, (input,), input.dtype, input.dtype)


def _round_meta(input: Any, decimals: int) -> TensorSpec:
    _check_round(input, decimals)
    return pointwise_spec("round", (input,), input.dtype)


_round_whole = unary_kernel("round", _rounding(np.rint))

define(
    "round(Tensor input, *, int decimals=0)",
    Kind.POINTWISE,
    meta=_round_meta,
    vjp=flat,
    eager=_round_eager,
    doc="""Nearest integer of each element, or nearest multiple of `10^-decimals`; halves to even.

    The gradient is zero.

    Args:
        input: a tensor of any shape; integers are unchanged.
        decimals: how many decimal places to keep; negative ones round to tens, hundreds ...

    Raises:
        NotImplementedError: `input` is of bool or complex, or of integers with `decimals`.

    Example:
        >>> gw.round(gw.tensor([0.5, 1.5, 2.6]))
        tensor([0., 2., 3.])
        >>> gw.round(gw.tensor([1.234]), decimals=1)
        tensor([1.2000])
    """,
)
define(
    "round_(Tensor input, *, int decimals=0)",
    Kind.INPLACE,
    functional="round",
    public=False,
)
