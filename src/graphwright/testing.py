"""Comparing tensors in tests, after `torch.testing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.from_data import as_tensor
from graphwright.runtime.tensor.tensor import Tensor

TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere.

    Tensors, arrays, numbers, and sequences and mappings of them. `rtol` and `atol`, both or none
    of them, default to values by dtype (float32: 1.3e-6, 1e-5; float64: 1e-7, 1e-7; integers and
    bool: exact). `msg` is a text, or a function of the generated one. Raises TypeError for other
    objects, and for a tensor beside a number.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    found = _difference(
        actual, expected, "", (rtol, atol, equal_nan, check_device, check_dtype, check_stride)
    )
    if found is not None:
        raise AssertionError(msg(found) if callable(msg) else msg or found)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: Any = "",
) -> None:
    """`assert_close` as it was once called: dtypes may differ, NaN is equal to NaN."""
    assert_close(
        as_tensor(actual), as_tensor(expected), rtol=rtol, atol=atol, equal_nan=equal_nan,
        check_device=True, check_dtype=False, check_stride=False, msg=msg or None,
    )


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of random numbers in [low, high) for tests.

    Bounds default to [0, 2) for bool, [0, 10) for uint8, [-9, 10) for other integers, [-9, 9)
    for floating point and complex numbers (each part). `noncontiguous`: every other element of
    wider rows. `exclude_zero`: zeros become the dtype's smallest positive number, or 1.

    Raises ValueError for bounds that are NaN or in the wrong order, noncontiguous tensors with a
    memory format, and gradients of integers.
    """
    if requires_grad and not _inexact(dtype):
        raise ValueError(f"make_tensor: requires_grad=True is not supported for {dtype.name}")
    if noncontiguous and memory_format is not None:
        raise ValueError("noncontiguous and memory_format cannot both be given")
    size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    lowest, highest = _bounds(dtype, low, high)
    wide = (*size[:-1], 2 * size[-1]) if noncontiguous and size else size
    made = _random(wide, lowest, highest, dtype)
    if noncontiguous and size:
        made = made[..., ::2]
    if exclude_zero:
        smallest = finfo(dtype).tiny if _inexact(dtype) else 1
        made = ops.where(ops.eq(made, 0), ops.full((), smallest, dtype=dtype), made)
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    return made.to(device).detach().requires_grad_(requires_grad)


def _inexact(dtype: DType) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _bounds(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    """The interval asked for, or the usual one. Raises ValueError where it is empty."""
    usual: tuple[float, float] = (-9, 9) if _inexact(dtype) else (-9, 10)
    if dtype is dtypes.bool:
        usual = (0, 2)
    elif not dtype.is_signed and not dtype.is_complex:
        usual = (0, 10)
    lowest, highest = usual[0] if low is None else low, usual[1] if high is None else high
    if lowest != lowest or highest != highest:
        raise ValueError(f"make_tensor: low={lowest} and high={highest} must not be NaN")
    if lowest > highest:
        raise ValueError(f"make_tensor: low={lowest} must not exceed high={highest}")
    return lowest, highest


def _random(size: Sequence[int], low: float, high: float, dtype: DType) -> Tensor:
    if dtype.is_complex:
        real = dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64
        parts = ops.rand((*size, 2), dtype=real) * (high - low) + low
        return ops.view_as_complex(parts)
    if dtype.is_floating_point:
        return (ops.rand(tuple(size), dtype=dtypes.float32) * (high - low) + low).to(dtype)
    return ops.randint(int(low), max(int(high), int(low) + 1), tuple(size)).to(dtype)


def _difference(actual: Any, expected: Any, where: str, options: tuple[Any, ...]) -> str | None:
    """What differs first, or None."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return f"The keys of the mappings do not match{where}"
        pairs = [(actual[k], expected[k], f"[{k!r}]") for k in actual]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return (
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
            )
        pairs = [(a, b, f"[{i}]") for i, (a, b) in enumerate(zip(actual, expected, strict=True))]
    elif actual is None and expected is None:
        return None
    elif not _comparable(actual, expected):
        raise TypeError(
            "No comparison pair was able to handle inputs of type "
            f"{type(actual)} and {type(expected)}."
        )
    else:
        return _tensors_differ(actual, expected, where, options)
    for a, b, place in pairs:
        found = _difference(a, b, where + place, options)
        if found is not None:
            return f"{found}\n\nThe failure occurred for item {place}" if where == "" else found
    return None


def _comparable(actual: Any, expected: Any) -> bool:
    """Whether both are tensors or arrays, or both are numbers."""
    arrays, numbers = (Tensor, np.ndarray), (int, float, complex, np.generic)
    return any(
        isinstance(actual, kind) and isinstance(expected, kind) for kind in (arrays, numbers)
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _tensors_differ(
    actual: Any, expected: Any, where: str, options: tuple[Any, ...]
) -> str | None:
    rtol, atol, equal_nan, check_device, check_dtype, check_stride = options
    a, b = as_tensor(actual).detach(), as_tensor(expected).detach()
    numbers = not isinstance(actual, Tensor | np.ndarray)
    if tuple(a.shape) != tuple(b.shape):
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
    if check_device and a.device != b.device:
        return f"The values for attribute 'device' do not match: {a.device} != {b.device}."
    if check_dtype and not numbers and a.dtype is not b.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    if check_stride and a.stride() != b.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}."
    if rtol is None:
        rtol, atol = (max(pair) for pair in zip(_usual(a.dtype), _usual(b.dtype), strict=True))
    return _values_differ(_wide(a), _wide(b), rtol, atol, equal_nan)


def _usual(dtype: DType) -> tuple[float, float]:
    return TOLERANCES.get(dtype, (0.0, 0.0))


def _wide(tensor: Tensor) -> np.ndarray[Any, Any]:
    if tensor.is_cuda:
        tensor = tensor.cpu()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        tensor = tensor.to(dtypes.float32)
    array = tensor.numpy()
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64) if (
        array.dtype.kind in "fc"
    ) else array


def _values_differ(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> str | None:
    with np.errstate(all="ignore"):
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if close.all():
            return None
        gap = np.abs(np.subtract(a, b, dtype=np.result_type(a, b, np.float64)))
        relative = gap / np.abs(b)
    wrong = int((~close).sum())
    exact = rtol == 0 and atol == 0
    kind = "equal" if exact else "close"
    if not a.shape:
        return (
            f"Scalars are not {kind}!\n\nExpected {b} but got {a}.\n"
            f"Absolute difference: {gap} (up to {atol} allowed)\n"
            f"Relative difference: {relative} (up to {rtol} allowed)"
        )
    worst = np.nanargmax(np.where(close, -1, gap))
    place = tuple(int(i) for i in np.unravel_index(worst, a.shape))
    return (
        f"Tensor-likes are not {kind}!\n\n"
        f"Mismatched elements: {wrong} / {a.size} ({wrong / a.size:.1%})\n"
        f"Greatest absolute difference: {gap[place]} at index {place} (up to {atol} allowed)\n"
        f"Greatest relative difference: {np.nanmax(relative)} (up to {rtol} allowed)"
    )
