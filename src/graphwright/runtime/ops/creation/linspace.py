"""Numbers that are spaced out evenly, or whose logarithms are."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_held
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor


def _spaced(start: Any, end: Any, steps: int, dtype: DType, device: Any) -> Any:
    """float64 values from both ends towards the middle, so that both ends are exact.

    For integers the step is a float32 number, as in PyTorch.
    """
    gap: Any = ops.sub(end, start) if isinstance(start, Tensor) or isinstance(end, Tensor) else (
        end - start
    )
    symbolic = any(isinstance(value, SymInt) for value in (steps, gap))
    if symbolic and not isinstance(gap, Tensor):
        gap = ops.full((), gap, dtype=dtypes.float64, device=device)
    step = gap / (steps - 1) if steps > 1 else gap * 0.0
    places = ops.arange(steps, dtype=dtypes.float64, device=device)
    upper = ops.add(ops.mul(ops.sub(places, steps - 1), step), end)
    lower = ops.add(ops.mul(places, step), start)
    return ops.where(ops.lt(places, steps // 2 if steps > 1 else 1), lower, upper)


def _endpoint(name: str, value: Any) -> Any:
    """A number or a 0-d tensor of double precision, without gradient.

    Raises RuntimeError for other tensors.
    """
    if not isinstance(value, Tensor):
        return value
    if value.ndim:
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got shape "
            f"{list(value.shape)}"
        )
    wide = dtypes.complex128 if value.dtype.is_complex else dtypes.float64
    return ops.to_dtype(value.detach(), wide)


def _spaced_dtype(name: str, start: Any, end: Any, dtype: DType | None) -> DType:
    """The dtype asked for, else the default one, complex where an end is.

    Raises RuntimeError for complex ends of numbers of another dtype.
    """
    usual = dtypes.get_default_dtype()
    if not any(
        v.dtype.is_complex if isinstance(v, Tensor) else isinstance(v, complex)
        for v in (start, end)
    ):
        return dtype or usual
    if dtype is not None and not dtype.is_complex:
        raise RuntimeError(
            f"{name}(): inferred dtype {usual.to_complex().name} can't be safely cast to passed "
            f"dtype {dtype.name}"
        )
    return dtype or usual.to_complex()


def _check_steps(name: str, steps: Any, dtype: Any) -> None:
    if not hasattr(steps, "__index__") or isinstance(steps, bool):
        raise TypeError(f"{name}(): argument 'steps' must be int, not {type(steps).__name__}")
    if steps < 0:
        raise RuntimeError(f"{name}: number of steps must be non-negative, got {steps}")
    if dtype is dtypes.bool:
        raise NotImplementedError(f"\"{name}\" not implemented for 'bool'")


def _truncated(value: Any, dtype: DType) -> Any:
    """An end of integers that are spaced out: without fraction, around the range of uint8."""
    whole = ops.trunc(value) if isinstance(value, Tensor) else int(value)
    return whole % 256 if dtype is dtypes.uint8 else whole


def _linspace(start: Any, end: Any, steps: int, dtype: Any, device: Any) -> Any:
    target = _spaced_dtype("linspace", start, end, dtype)
    _check_steps("linspace", steps, target)
    first, last = _endpoint("linspace", start), _endpoint("linspace", end)
    check_held("linspace", target, first, last)
    if not target.is_floating_point and not target.is_complex:
        first, last = _truncated(first, target), _truncated(last, target)
    return ops.to_dtype(_spaced(first, last, steps, target, device), target)


def _logspace(start: Any, end: Any, steps: int, base: float, dtype: Any, device: Any) -> Any:
    target = _spaced_dtype("logspace", start, end, dtype)
    _check_steps("logspace", steps, target)
    first, last = _endpoint("logspace", start), _endpoint("logspace", end)
    check_held("logspace", target, first, last)
    if not target.is_floating_point and not target.is_complex:
        first, last = _truncated(first, target), _truncated(last, target)
    values = ops.pow(float(base), _spaced(first, last, steps, target, device))
    return ops.to_dtype(values, target)


define(
    "logspace(object start, object end, int steps, float base=10.0, *, dtype? dtype=None, "
    "device? device=None)",
    Kind.COMPOSITE,
    decompose=_logspace,
    method=False,
    tags=("factory",),
    doc="""Vector of numbers whose logarithms are evenly spaced: from `base^start` to `base^end`.

    Args:
        start, end: the first and the last exponent: numbers, or tensors without dims.
        steps: how many.
        base: the base.
        dtype: that of the result; the default dtype if None, complex where an end is.
        device: where the result is made; the default device if None.

    Returns: a vector. No gradient reaches the ends.

    Raises:
        RuntimeError: `steps` is negative, an end has dims, or the dtype does not hold it.

    Example:
        >>> gw.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """,
)
define(
    "linspace(object start, object end, int steps, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_linspace,
    method=False,
    tags=("factory",),
    doc="""Vector of evenly spaced numbers from `start` to `end`, both included.

    Args:
        start, end: the first and the last number: numbers, or tensors without dims.
        steps: how many.
        dtype: that of the result; the default dtype if None, complex where an end is. Of an
            integer dtype, ends and numbers are rounded towards 0.
        device: where the result is made; the default device if None.

    Returns: a vector. No gradient reaches the ends.

    Raises:
        RuntimeError: `steps` is negative, an end has dims, or the dtype does not hold it.

    Example:
        >>> gw.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """,
)
