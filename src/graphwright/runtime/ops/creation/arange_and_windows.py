"""Sequences of numbers: ranges, and windows of signals."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_size, contiguous_spec, require_cpu
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor

# -- arange


def arange_bounds(start: Any, end: Any) -> tuple[Any, Any]:
    """From where to where: `start` alone is the end. Raises TypeError where both are missing."""
    if end is None:
        if start is None:
            raise TypeError("arange() missing 1 required positional argument: 'end'")
        return 0, start
    return 0 if start is None else start, end


def _arange_dtype(values: tuple[Any, ...], dtype: Any) -> DType:
    if dtype is not None:
        return dtype
    floating = any(isinstance(v, float) for v in values)
    return dtypes.get_default_dtype() if floating else dtypes.int64


def _whole(value: Any) -> Any:
    """A float that is a whole number as int, by which symbolic sizes count."""
    exact = isinstance(value, float) and abs(value) < 1 << 53 and value.is_integer()
    return int(value) if exact else value


def _arange_length(start: Any, end: Any, step: Any, dtype: DType) -> Any:
    for value in (start, end, step):
        if isinstance(value, float) and not math.isfinite(value):
            raise RuntimeError(f"arange: unsupported range: {start} -> {end}, step {step}")
    start, end, step = (_whole(value) for value in (start, end, step))
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError(
            f"arange: upper bound and larger bound inconsistent with step sign: "
            f"{start}, {end}, {step}"
        )
    if dtype is dtypes.int64:
        start, end, step = (int(v) if isinstance(v, float) else v for v in (start, end, step))
        if step.__class__ is int and step == 0:
            raise ValueError("arange: step must be nonzero")
    elif isinstance(start, float) or isinstance(end, float) or isinstance(step, float):
        return math.ceil((end - start) / step)
    if step == 1:
        return end - start
    return (end - start + step - 1) // step if step > 0 else (start - end - step - 1) // -step


def arange_of_floats(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Any:
    """`arange` as a function of its numbers, which may be symbolic."""
    first, last = arange_bounds(start, end)
    target = _arange_dtype((first, last, step), dtype)
    if not target.is_floating_point:
        return ops.arange(first, last, step, dtype=dtype, device=device)
    if not (first - last < math.inf and last - first < math.inf) or step == 0 or not (
        first <= last if step > 0 else last <= first
    ):
        return ops.arange(first, last, step, dtype=dtype, device=device)
    length = math.ceil((last - first) / step)
    places = ops.arange(length, dtype=dtypes.float64, device=device)
    return ops.to_dtype(ops.add(ops.mul(places, step), first), target)


def _arange_spec(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> TensorSpec:
    first, last = arange_bounds(start, end)
    target = _arange_dtype((first, last, step), dtype)
    if target is dtypes.bool or target.is_complex:
        raise NotImplementedError(f"\"arange\" not implemented for '{target.name}'")
    length = _arange_length(first, last, step, target)
    check_size("arange", (length,))
    return contiguous_spec((length,), target, device)


def _arange_eager(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Tensor:
    if dtype is None and device is None and start.__class__ is int and step == 1:
        first, last = (0, start) if end is None else (start, end)
        if last.__class__ is int and step.__class__ is int and 0 <= last - first < 1 << 32:
            return _core.from_ndarray(Tensor, np.arange(first, last), dtypes.int64)
    start, end, step = (_number(v) for v in (start, end, step))
    spec = _arange_spec(start, end, step, dtype, device)
    require_cpu("arange", device)
    first, _ = arange_bounds(start, end)
    (length,) = spec.shape
    if length * 8 > 1 << 45:
        raise RuntimeError(f"arange: cannot allocate {length} elements of {spec.dtype}")
    if spec.dtype.is_floating_point:
        values = first + np.arange(length, dtype=np.float64) * step
    else:
        values = int(first) + np.arange(length, dtype=np.int64) * int(step)
    return wrap(values, spec.dtype)


def _number(value: Any) -> Any:
    """A 0-d tensor's value; anything else as it is."""
    return value.item() if isinstance(value, Tensor) else value


define(
    "arange(Scalar? start=None, Scalar? end=None, Scalar step=1, *, dtype? dtype=None, "
    "device? device=None)",
    Kind.CREATION,
    meta=_arange_spec,
    vjp=not_differentiable,
    eager=_arange_eager,
    method=False,
    tags=("factory",),
    doc="""Vector of the numbers from `start` up to `end`, which is excluded: `start + i * step`.

    Args:
        start: the first number; 0 if None. Alone it is `end`.
        end: where to stop.
        step: the distance of numbers, not 0.
        dtype: that of the result; if None, int64, or the default dtype where one is a float.
        device: where the result is made; the default device if None.

    Returns: a vector of `ceil((end - start) / step)` numbers.

    Raises:
        RuntimeError: `step` is 0 or leads away from `end`, or a number is not finite.
        NotImplementedError: `dtype` is bool or complex.

    Example:
        >>> gw.arange(1, 10, 3)
        tensor([1, 4, 7])
    """,
)


# -- range, whose end belongs to it


def _range(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Any:
    warnings.warn(
        "range is deprecated, as in PyTorch, because its end belongs to it, unlike that of "
        "Python's range; use arange",
        UserWarning,
        stacklevel=2,
    )
    if step == 0:
        raise RuntimeError("range: step must be nonzero")
    if not all(math.isfinite(value) for value in (start, end)):
        raise RuntimeError(f"range: unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            "range: upper bound and lower bound inconsistent with step sign: "
            f"{start}, {end}, {step}"
        )
    target = dtype or dtypes.get_default_dtype()
    count = math.floor((end - start) / step) + 1
    exact = dtypes.float64 if target.is_floating_point else dtypes.int64
    places = ops.arange(count, dtype=exact, device=device)
    scaled = places if step == 1 else ops.mul(places, step)
    return ops.to_dtype(scaled if start == 0 else ops.add(scaled, start), target)


define(
    "range(Scalar start, Scalar end, Scalar step=1, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_range,
    method=False,
    tags=("factory",),
    doc="""Vector of the numbers from `start` to `end`, both included; deprecated, use `arange`.

    Args:
        start: the first number.
        end: the last one, if a step meets it.
        step: the distance of numbers, not 0.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector of `floor((end - start) / step) + 1` numbers, with a UserWarning.

    Raises:
        RuntimeError: `step` is 0 or leads away from `end`, or a number is not finite.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"): print(gw.range(0, 3))
        tensor([0., 1., 2., 3.])
    """,
)


# -- windows of signals


def _window(name: str, values: Any) -> Any:
    """values(places, last, *factors) for places 0..last; periodic ones drop the last place."""

    def decompose(window_length: int, periodic: bool, *rest: Any) -> Any:
        *factors, dtype, device = rest
        target = dtype or dtypes.get_default_dtype()
        if not target.is_floating_point:
            raise RuntimeError(f"{name}_window expects floating point dtypes, got: {target}")
        if window_length < 0:
            raise RuntimeError(
                f"{name}_window requires non-negative window_length, got {window_length}"
            )
        if window_length < 2:
            return ops.ones((window_length,), dtype=target, device=device)
        last = window_length if periodic else window_length - 1
        places = ops.arange(window_length, dtype=dtypes.float64, device=device)
        return ops.to_dtype(values(ops.div(places, last), *factors), target)

    return decompose


def _cosines(place: Any, *factors: float) -> Any:
    """The sum of (-1)^k factor_k cos(2 pi k place)."""
    total: Any = factors[0]
    for k, factor in enumerate(factors[1:], 1):
        wave = ops.cos(ops.mul(place, 2.0 * math.pi * k))
        total = ops.add(ops.mul(wave, -factor if k % 2 else factor), total)
    return total


def _kaiser(place: Any, beta: float) -> Any:
    centred = ops.sub(ops.mul(place, 2.0), 1.0)
    inside = ops.sqrt(ops.clamp(ops.sub(1.0, ops.mul(centred, centred)), 0.0, None))
    scale = ops.i0(ops.full((), float(beta), dtype=dtypes.float64, device=place.device))
    return ops.div(ops.i0(ops.mul(inside, beta)), scale)


_WINDOW_DOCS = {
    "hann": """\
    Hann window: `w_i = (1 - cos(2 pi i / N)) / 2`, with N the length, or the length less 1.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the window is
            symmetric.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """,
    "hamming": """Hamming window: `w_i = alpha - beta cos(2 pi i / N)`, with N as of `hann_window`.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the window is
            symmetric.
        alpha, beta: the two coefficients.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """,
    "blackman": """Blackman window: `w_i = 0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N)`.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the length less 1,
            and the window is symmetric.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])
    """,
    "bartlett": """Bartlett (triangular) window: `w_i = 1 - |2 i / N - 1|`.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the length less 1,
            and the window is symmetric.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """,
    "kaiser": """Kaiser window: `w_i = I0(beta sqrt(1 - (2 i / N - 1)^2)) / I0(beta)`.

    I0 is the modified Bessel function of the first kind of order 0.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the length less 1,
            and the window is symmetric.
        beta: the shape: the greater, the narrower.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.kaiser_window(4, beta=1.0)
        tensor([0.7898, 0.9450, 1.0000, 0.9450])
    """,
}
for _name, _factors, _values in (
    ("hann", "", lambda place: _cosines(place, 0.5, 0.5)),
    ("hamming", "float alpha=0.54, float beta=0.46, ", _cosines),
    ("blackman", "", lambda place: _cosines(place, 0.42, 0.5, 0.08)),
    (
        "bartlett",
        "",
        lambda place: ops.sub(1.0, ops.abs(ops.sub(ops.mul(place, 2.0), 1.0))),
    ),
    ("kaiser", "float beta=12.0, ", _kaiser),
):
    define(
        f"{_name}_window(int window_length, bool periodic=True, {_factors}*, "
        "dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=_window(_name, _values),
        method=False,
        tags=("factory",),
        doc=_WINDOW_DOCS[_name],
    )
