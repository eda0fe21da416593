"""In-place ops: kernels derived from the functional ops, and those with no operator form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_fits, check_known_fits
from graphwright.runtime.ops.kernels import SCALARS, copy_into
from graphwright.runtime.ops.pointwise.arithmetic import pointwise_spec
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, Op, define
from graphwright.runtime.ops.tensor_spec import TensorSpec, check_writable
from graphwright.runtime.tensor.array_casts import cast_array
from graphwright.runtime.tensor.tensor import Tensor

_UFUNCS: dict[str, Any] = {
    "add_": np.add,
    "sub_": np.subtract,
    "mul_": np.multiply,
    "div_": np.divide,
}
_PLAIN: dict[str, tuple[Any, ...]] = {"add_": (1,), "sub_": (1,), "mul_": (), "div_": (None,)}


def _general(entry: Op) -> Callable[..., Any]:
    functional = entry.functional
    assert functional is not None

    def eager(input: Any, *args: Any) -> Any:
        result = functional.run(input, *args)
        check_writable(entry.name, input, result)
        copy_into(input, result)
        _core.bump_version(input)
        return input

    return eager


def _direct(entry: Op) -> Callable[..., Any]:
    """Through `out=` where nothing has to be promoted; no temporary."""
    ufunc, plain, general = _UFUNCS[entry.name], _PLAIN[entry.name], _general(entry)

    def eager(input: Any, other: Any, *rest: Any) -> Any:
        dtype = input.dtype
        usual = rest == plain and (not rest or rest[0].__class__ is not bool)
        if not usual or not dtype.is_floating_point or dtype.itemsize == 2:
            return general(input, other, *rest)
        if other.__class__ in SCALARS:
            if other.__class__ is bool or other.__class__ is complex:
                return general(input, other, *rest)
            operand = other
        elif other.dtype is dtype and (other.ndim == 0 or other.shape == input.shape):
            operand = other._nd
        else:
            return general(input, other, *rest)
        array = input._nd
        ufunc(array, operand, array)
        _core.bump_version(input)
        return input

    return eager


def derived(entry: Op) -> Callable[..., Any]:
    """The kernel of an in-place entry that gives none of its own."""
    return _direct(entry) if entry.name in _UFUNCS else _general(entry)


# -- copy_ and fill_


def _target_spec(input: Any, *args: Any) -> TensorSpec:
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, input.dtype, input.device)


def _check_expandable(name: str, input: Any, src: Any) -> None:
    if hasattr(src, "shape"):
        shape = pointwise_spec(name, (input, src), input.dtype).shape
        if shape != input.shape:
            raise RuntimeError(
                f"{name}: source of shape {list(src.shape)} cannot be broadcast to "
                f"{list(input.shape)}"
            )


def _copy_meta(input: Any, src: Any) -> TensorSpec:
    _check_expandable("copy", input, src)
    return _target_spec(input)


def _copy_eager(input: Any, src: Any) -> Tensor:
    _check_expandable("copy", input, src)
    out = ops.empty_like(input)
    copy_into(out, src)
    return out


def _copy_into_eager(input: Any, src: Any) -> Any:
    _check_expandable("copy_", input, src)
    copy_into(input, src)
    _core.bump_version(input)
    return input


def _overwritten_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    """Nothing of the old value is left: its gradient is zero."""
    return ops.zeros_like(grad) if ctx.needs["input"] else None, grad


define(
    "copy(Tensor input, Tensor src)",
    Kind.POINTWISE,
    meta=_copy_meta,
    vjp=_overwritten_vjp,
    eager=_copy_eager,
    method=False,
    public=False,
)
define(
    "copy_(Tensor input, Tensor src)",
    Kind.INPLACE,
    functional="copy",
    eager=_copy_into_eager,
    public=False,
)


def _check_value(value: Any) -> None:
    if value is None:
        raise TypeError("fill(): argument 'value' must be Tensor or number, not NoneType")
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )


def _value_of(value: Any) -> Any:
    _check_value(value)
    return value.item() if isinstance(value, Tensor) else value


def _fill_meta(input: Any, value: Any) -> TensorSpec:
    _check_value(value)
    check_known_fits("fill_", value, input.dtype)
    return _target_spec(input, value)


def _fill_eager(input: Any, value: Any) -> Tensor:
    return ops.full_like(input, _value_of(value))


def _fill_into_eager(input: Any, value: Any) -> Any:
    number = _value_of(value)
    if isinstance(number, complex) and not input.dtype.is_complex and not number.imag:
        number = number.real
    if not isinstance(value, Tensor):
        check_fits("fill_", number, input.dtype)
    input._nd[...] = cast_array(np.asarray(number), input.dtype)
    _core.bump_version(input)
    return input


define(
    "fill(Tensor input, Operand value)",
    Kind.POINTWISE,
    meta=_fill_meta,
    vjp=_overwritten_vjp,
    eager=_fill_eager,
    method=False,
    doc="""Copy of a tensor with every element set to one value.

    Args:
        input: a tensor of any shape and dtype.
        value: a number, or a tensor without dims.

    Returns: a tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `value` has dims.
        TypeError: `value` is neither.

    Example:
        >>> gw.fill(gw.zeros(3), 2)
        tensor([2., 2., 2.])
    """,
)
define(
    "fill_(Tensor input, Operand value)",
    Kind.INPLACE,
    functional="fill",
    eager=_fill_into_eager,
    public=False,
)
define(
    "zero_(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: ops.fill_(input, 0),
    public=False,
    doc="""Set every element to 0, in place.

    Args:
        input: the tensor that is changed and returned.

    Example:
        >>> gw.ones(3).zero_()
        tensor([0., 0., 0.])
    """,
)
