"""How tensors print: as PyTorch prints them, within NumPy's number formatting."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import dtypes


def _number_format(shown: np.ndarray[Any, Any]) -> Callable[[float], str]:
    """How to write one float so that all of `shown` align."""
    finite = np.abs(shown[np.isfinite(shown)].astype(np.float64))
    nonzero = finite[finite != 0]
    whole = bool(np.all(finite == np.ceil(finite)))
    scientific = bool(
        nonzero.size
        and (
            nonzero.max() / nonzero.min() > 1000.0
            or nonzero.max() > 1e8
            or nonzero.min() < 1e-4
        )
    )

    def text(value: float) -> str:
        number = float(value)
        if not math.isfinite(number):
            return str(number)
        if scientific:
            return f"{number:.4e}"
        return f"{number:.0f}." if whole else f"{number:.4f}"

    sized = shown[np.isfinite(shown) & (shown != 0)]
    width = max((len(text(value)) for value in sized.flat), default=1)
    return lambda value: text(value).rjust(width)


def _complex_format(shown: np.ndarray[Any, Any]) -> Callable[[complex], str]:
    """How to write one complex number: each part as floats of its kind."""
    real, imag = _number_format(shown.real), _number_format(shown.imag)

    def text(value: complex) -> str:
        second = imag(value.imag).lstrip()
        return f"{real(value.real)}{'' if second.startswith('-') else '+'}{second}j"

    return text


def _body(array: np.ndarray[Any, Any], indent: str) -> str:
    threshold, edge = 1000, 3
    shown = array
    if array.size > threshold:
        for axis, size in enumerate(array.shape):
            if size > 2 * edge:
                keep = np.r_[0:edge, size - edge : size]
                shown = np.take(shown, keep, axis=axis)
    options: dict[str, Any] = {"threshold": threshold, "edgeitems": edge, "max_line_width": 80}
    if array.dtype.kind == "f":
        options["formatter"] = {"float_kind": _number_format(shown)}
    if array.dtype.kind == "b":
        width = 4 if shown.all() else 5
        options["formatter"] = {"bool": lambda value: str(bool(value)).rjust(width)}
    if array.dtype.kind == "c":
        options["formatter"] = {"complex_kind": _complex_format(shown)}
    text = np.array2string(array, separator=", ", prefix=indent, **options)
    return text.replace(", ..., ", ",  ..., ")


def format_tensor(tensor: Any) -> str:
    """`tensor([...])` with dtype, device, grad_fn or requires_grad where not the default."""
    suffixes = []
    fake = tensor.is_fake or tensor.device.type != "cpu"
    if fake:
        body = "..."
        suffixes.append(f"size={tuple(tensor.shape)}")
    else:
        array = tensor._nd
        if tensor.dtype in (dtypes.bfloat16, dtypes.float16):
            array = array.astype(np.float32)
        body = _body(array, " " * len("tensor(")) if array.size else "[]"
        if not array.size and array.shape != (0,):
            suffixes.append(f"size={tuple(tensor.shape)}")
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    default = dtypes.get_default_dtype()
    usual = (default, default.to_complex(), dtypes.int64, dtypes.bool)
    if tensor.dtype not in usual or (body == "[]" and tensor.dtype is not usual[0]):
        suffixes.append(f"dtype={tensor.dtype}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return f"tensor({', '.join([body, *suffixes])})"
