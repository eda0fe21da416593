"""Pointwise ops that compare, choose, or work on bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.errors import DataDependent
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_held
from graphwright.runtime.ops.kernels import (
    allocate,
    array_of,
    compute_type,
    elementwise,
    wrap,
)
from graphwright.runtime.ops.pointwise.arithmetic import (
    bool_result,
    check_zero_division,
    define_binary,
    float_result,
    pointwise_spec,
    require_dtype,
    restricted,
    rounded_dtype,
)
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import category, result_dtype
from graphwright.runtime.tensor.tensor import Tensor


def _extremum_vjp(compare: str) -> Callable[..., Any]:
    """Where the operands are equal each gets half, as in PyTorch."""

    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        strictly = getattr(ops, compare)
        shared = ops.where(ops.eq(ctx.input, ctx.other), ops.div(grad, 2), grad)
        return (
            ops.where(strictly(ctx.other, ctx.input), 0.0, shared),
            ops.where(strictly(ctx.input, ctx.other), 0.0, shared),
        )

    return vjp


def _maximum(a: Any, b: Any, out: Any) -> None:
    np.maximum(a, b, out=out)


def _minimum(a: Any, b: Any, out: Any) -> None:
    np.minimum(a, b, out=out)


for _name, _function, _compare, _doc in (
    (
        "maximum",
        _maximum,
        "gt",
        """Greater of two elements, broadcast; nan where one of them is.

        Where they are equal each has half of the gradient.

        >>> gw.maximum(gw.tensor([1, 5]), gw.tensor([3, 4]))
        tensor([3, 5])
        """,
    ),
    (
        "minimum",
        _minimum,
        "lt",
        """Lesser of two elements, broadcast; nan where one of them is.

        Where they are equal each has half of the gradient.

        >>> gw.minimum(gw.tensor([1, 5]), gw.tensor([3, 4]))
        tensor([1, 4])
        """,
    ),
):
    define_binary(
        _name,
        _function,
        computed=restricted(_name, complex=False),
        vjp=_extremum_vjp(_compare),
        saves=("input", "other"),
        inplace=False,
        numbers="none",
        doc=_doc,
    )


def _remainder(a: Any, b: Any, out: Any) -> None:
    check_zero_division(b, out)
    if out.dtype.kind != "f":
        np.remainder(a, b, out)
        return
    rest = np.fmod(a, b)        # of np.remainder's, zeros have the divisor's sign
    opposite = (rest != 0) & ((rest < 0) != (b < 0))
    np.copyto(out, np.where(opposite, rest + b, rest))


def _fmod(a: Any, b: Any, out: Any) -> None:
    check_zero_division(b, out)
    np.fmod(a, b, out)


def _remainder_vjp(mode: str) -> Callable[..., Any]:
    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        if not ctx.needs["other"]:
            return grad, None
        quotient = ops.div(ctx.input, ctx.other, rounding_mode=mode)
        return grad, ops.neg(ops.mul(grad, quotient))

    return vjp


define_binary(
    "remainder",
    _remainder,
    computed=rounded_dtype,
    vjp=_remainder_vjp("floor"),
    saves=("input?other", "other?other"),
    doc="""Remainder of division, `input - other * floor(input / other)`; the operator `%`.

    It is 0 or has the sign of `other`. An integer divided by zero raises RuntimeError, a float
    gives nan.

    >>> gw.remainder(gw.tensor([7, -7]), 3)
    tensor([1, 2])
    """,
)
define_binary(
    "fmod",
    _fmod,
    computed=rounded_dtype,
    vjp=_remainder_vjp("trunc"),
    saves=("input?other", "other?other"),
    numbers="second",
    doc="""Remainder of division, `input - other * trunc(input / other)`, broadcast.

    It is 0 or has the sign of `input`. An integer divided by zero raises RuntimeError, a float
    gives nan.

    >>> gw.fmod(gw.tensor([7, -7]), 3)
    tensor([ 1, -1])
    """,
)


def _atan2_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    """0 at the origin, which has no direction."""
    y, x = ctx.input, ctx.other
    square = x * x + y * y
    scale = ops.div(grad, ops.where(ops.eq(square, 0), 1.0, square))
    return ops.mul(scale, x), ops.neg(ops.mul(scale, y))


define_binary(
    "atan2",
    np.arctan2,
    computed=restricted("atan2", float_result, complex=False),
    vjp=_atan2_vjp,
    saves=("input", "other"),
    numbers="none",
    doc="""Angle of the point (`other`, `input`) in radians, from -pi to pi, broadcast.

    >>> gw.atan2(gw.tensor([1.0, 1.0]), gw.tensor([1.0, -1.0]))
    tensor([0.7854, 2.3562])
    """,
)

_TESTS: tuple[tuple[str, Any, str, str], ...] = (
    (
        "eq",
        np.equal,
        "second",
        """Whether two elements are equal, broadcast; the operator `==`.

        >>> gw.eq(gw.tensor([1, 2, 3]), 2)
        tensor([False,  True, False])
        """,
    ),
    (
        "ne",
        np.not_equal,
        "second",
        """Whether two elements differ, broadcast; the operator `!=`.

        >>> gw.ne(gw.tensor([1, 2, 3]), 2)
        tensor([ True, False,  True])
        """,
    ),
    (
        "lt",
        np.less,
        "second",
        """Whether `input < other`, elementwise and broadcast; the operator `<`.

        >>> gw.lt(gw.tensor([1, 2, 3]), 2)
        tensor([ True, False, False])
        """,
    ),
    (
        "le",
        np.less_equal,
        "second",
        """Whether `input <= other`, elementwise and broadcast; the operator `<=`.

        >>> gw.le(gw.tensor([1, 2, 3]), 2)
        tensor([ True,  True, False])
        """,
    ),
    (
        "gt",
        np.greater,
        "second",
        """Whether `input > other`, elementwise and broadcast; the operator `>`.

        >>> gw.gt(gw.tensor([1, 2, 3]), 2)
        tensor([False, False,  True])
        """,
    ),
    (
        "ge",
        np.greater_equal,
        "second",
        """Whether `input >= other`, elementwise and broadcast; the operator `>=`.

        >>> gw.ge(gw.tensor([1, 2, 3]), 2)
        tensor([False,  True,  True])
        """,
    ),
    (
        "logical_and",
        np.logical_and,
        "none",
        """Whether both elements are other than 0, broadcast.

        >>> gw.logical_and(gw.tensor([0, 1, 1]), gw.tensor([1, 0, 2]))
        tensor([False, False,  True])
        """,
    ),
    (
        "logical_or",
        np.logical_or,
        "none",
        """Whether one or both elements are other than 0, broadcast.

        >>> gw.logical_or(gw.tensor([0, 1, 1]), gw.tensor([1, 0, 2]))
        tensor([True, True, True])
        """,
    ),
    (
        "logical_xor",
        np.logical_xor,
        "none",
        """Whether just one of two elements is other than 0, broadcast.

        >>> gw.logical_xor(gw.tensor([0, 1, 1]), gw.tensor([1, 0, 2]))
        tensor([ True,  True, False])
        """,
    ),
)
for _name, _ufunc, _numbers, _doc in _TESTS:
    define_binary(
        _name,
        _ufunc,
        computed=(
            restricted(_name, complex=False) if _name in ("lt", "le", "gt", "ge") else result_dtype
        ),
        result=bool_result,
        vjp=not_differentiable,
        numbers=_numbers,
        doc=_doc,
    )

_BITWISE: tuple[tuple[str, Any, str], ...] = (
    (
        "bitwise_and",
        np.bitwise_and,
        """And of the bits of integers, of bool logical and; broadcast; the operator `&`.

        >>> gw.bitwise_and(gw.tensor([5, 3]), 6)
        tensor([4, 2])
        """,
    ),
    (
        "bitwise_or",
        np.bitwise_or,
        """Or of the bits of integers, of bool logical or; broadcast; the operator `|`.

        >>> gw.bitwise_or(gw.tensor([5, 3]), 6)
        tensor([7, 7])
        """,
    ),
    (
        "bitwise_xor",
        np.bitwise_xor,
        """Exclusive or of the bits of integers, of bool logical xor; broadcast; the operator `^`.

        >>> gw.bitwise_xor(gw.tensor([5, 3]), 6)
        tensor([3, 5])
        """,
    ),
)
for _name, _ufunc, _doc in _BITWISE:
    define_binary(
        _name,
        _ufunc,
        computed=restricted(_name, floats=False, complex=False),
        vjp=not_differentiable,
        doc=_doc,
    )


# -- where, clamp


def _choice(condition: Any, input: Any, other: Any) -> tuple[DType, tuple[Any, ...]]:
    """The dtype and the operands; a condition of uint8 holds where it is not 0."""
    if condition.dtype is dtypes.uint8:
        warnings.warn(
            "where with a condition of dtype uint8 is deprecated: use bool", stacklevel=2
        )
    elif condition.dtype is not dtypes.bool:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype}"
        )
    if input is None or other is None:
        raise TypeError("where(): expected a tensor or a number, not None")
    dtype = result_dtype((input, other))
    if compute_type(dtype) is dtype:    # to which the numbers are cast by way of float64
        check_held("where", dtype, input, other)
    return dtype, (condition, input, other)


def _where_meta(condition: Any, input: Any, other: Any) -> TensorSpec:
    if input is None and other is None:
        raise DataDependent("where(condition): the result's shape depends on values")
    dtype, operands = _choice(condition, input, other)
    return pointwise_spec("where", operands, dtype)


def _where_eager(condition: Any, input: Any, other: Any) -> Any:
    if input is None and other is None:
        places = np.nonzero(np.atleast_1d(condition._nd))
        return tuple(wrap(p, dtypes.int64) for p in places)
    spec = _where_meta(condition, input, other)
    out = allocate(spec.shape, spec.strides, spec.dtype)
    np.copyto(out._nd, array_of(other, spec.dtype))
    chosen = condition._nd.astype(np.bool_, copy=False)
    np.copyto(out._nd, array_of(input, spec.dtype), where=chosen)
    return out


define(
    "where(Tensor condition, Operand? input=None, Operand? other=None)",
    Kind.POINTWISE,
    meta=_where_meta,
    vjp=lambda ctx, grad: (
        None,
        ops.where(ctx.condition, grad, 0.0) if ctx.needs["input"] else None,
        ops.where(ctx.condition, 0.0, grad) if ctx.needs["other"] else None,
    ),
    saves=("condition",),
    eager=_where_eager,
    method=False,
    doc="""Elements of `input` where the condition holds, of `other` elsewhere, broadcast.

    Args:
        condition: a bool tensor; uint8 is taken with a warning, and holds where it is not 0.
        input, other: tensors or numbers; with both None the indices where the condition holds.

    Returns: a tensor of the broadcast shape, in the promoted dtype of `input` and `other`;
    without them int64 tensors, one for each dim, as of `nonzero(condition, as_tuple=True)`.

    Raises:
        RuntimeError: the condition is of another dtype, or the shapes do not broadcast.
        TypeError: just one of `input` and `other` is None.

    Example:
        >>> gw.where(gw.tensor([True, False]), gw.tensor([1, 2]), 0)
        tensor([1, 0])
    """,
)


_NUMBERS = (True, 1, 1.0, 1j)
"""A number of each category of dtypes."""


def _alike(input: Any, min: Any, max: Any) -> tuple[Any, ...]:
    """The operands by which the dtype is found: beside a number a tensor counts as one.

    Raises TypeError where it has dimensions or requires a gradient.
    """
    if isinstance(min, Tensor) is isinstance(max, Tensor):
        return input, min, max
    bound = min if isinstance(min, Tensor) else max
    if bound.ndim or bound.requires_grad:
        raise TypeError("clamp(): `min` and `max` must be both tensors or both numbers")
    return input, _NUMBERS[category(bound.dtype)], max if bound is min else min


def _bounds(input: Any, min: Any, max: Any) -> tuple[DType, tuple[Any, ...]]:
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    operands = tuple(o for o in (input, min, max) if o is not None)
    dtype = result_dtype(operands if min is None or max is None else _alike(*operands))
    if dtype is dtypes.bool and not all(isinstance(o, Tensor) for o in operands):
        raise NotImplementedError("clamp is not implemented for bool tensors and numbers")
    require_dtype("clamp", dtype, complex=False)
    check_held("clamp", dtype, min, max)
    return dtype, operands


def _clamp_meta(input: Any, min: Any, max: Any) -> TensorSpec:
    dtype, operands = _bounds(input, min, max)
    return pointwise_spec("clamp", operands, dtype)


def _clamp_eager(input: Any, min: Any, max: Any) -> Tensor:
    dtype, operands = _bounds(input, min, max)

    def function(a: Any, *rest: Any) -> None:
        out = rest[-1]
        source = a
        if min is not None:
            np.maximum(rest[0], source, out=out)     # of equal ones the second
            source = out
        if max is not None:
            np.minimum(rest[-2], source, out=out)

    return elementwise("clamp", function, operands, dtype, dtype)


def _clamp_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    low, high = ctx.min, ctx.max
    inside: Any = None
    if low is not None:
        inside = ops.ge(ctx.input, low)
    if high is not None:
        below = ops.le(ctx.input, high)
        inside = below if inside is None else ops.logical_and(inside, below)
    grad_low = grad_high = None
    if isinstance(low, Tensor) and ctx.needs["min"]:
        chosen = ops.lt(ctx.input, low)
        if high is not None:
            chosen = ops.logical_and(chosen, ops.lt(low, high))
        grad_low = ops.where(chosen, grad, 0.0)
    if isinstance(high, Tensor) and ctx.needs["max"]:
        chosen = ops.gt(ctx.input, high)
        if low is not None:
            chosen = ops.logical_or(chosen, ops.gt(low, high))
        grad_high = ops.where(chosen, grad, 0.0)
    return ops.where(inside, grad, 0.0), grad_low, grad_high


define(
    "clamp(Tensor input, Operand? min=None, Operand? max=None)",
    Kind.POINTWISE,
    meta=_clamp_meta,
    vjp=_clamp_vjp,
    saves=("input", "min", "max"),
    eager=_clamp_eager,
    doc="""Each element, but at least `min` and at most `max`: `y = min(max(x, min), max)`.

    Where the bounds cross, the result is `max`. The gradient goes to `input` between the
    bounds, else to a bound that is a tensor.

    Args:
        input: a tensor of any shape.
        min: the lower bound, a number or a tensor that broadcasts with `input`; none if None.
        max: the upper bound, in the same way.

    Returns: a tensor of the broadcast shape, in the dtype promoted with the bounds.

    Raises:
        NotImplementedError: the promoted dtype is complex, or bool with a number as bound.
        RuntimeError: both bounds are None, or the shapes do not broadcast.
        TypeError: one bound is a number, the other a tensor with dims.

    Example:
        >>> gw.clamp(gw.tensor([-2.0, 0.5, 3.0]), 0, 1)
        tensor([0.0000, 0.5000, 1.0000])
    """,
)
define(
    "clamp_(Tensor input, Operand? min=None, Operand? max=None)",
    Kind.INPLACE,
    functional="clamp",
    public=False,
)
