"""How tensors print: as PyTorch prints them, within NumPy's number formatting."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import dtypes


def _format_float(value: float, scientific: bool, decimals: int) -> str:
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.{decimals}e}" if scientific else f"{value:.{decimals}f}"


def _float_strings(values: np.ndarray[Any, Any], shown: np.ndarray[Any, Any]) -> dict[str, Any]:
    finite = np.abs(shown[np.isfinite(shown)].astype(np.float64))
    nonzero = finite[finite != 0]
    whole = bool(np.all(finite == np.ceil(finite)))
    largest = nonzero.max() if nonzero.size else 0.0
    smallest = nonzero.min() if nonzero.size else 0.0
    wide = nonzero.size > 0 and (largest / smallest > 1000.0 or largest > 1e8 or smallest < 1e-4)
    if whole and largest <= 1e8 and not (nonzero.size and largest / smallest > 1000.0):
        texts = [
            f"{v:.0f}." if np.isfinite(v) else _format_float(v, False, 0) for v in shown.flat
        ]
    else:
        texts = [_format_float(float(v), bool(wide), 4) for v in shown.flat]
    width = max((len(t) for t in texts), default=0)

    def one(value: float) -> str:
        if whole and np.isfinite(value) and not wide:
            return f"{value:.0f}.".rjust(width)
        return _format_float(float(value), bool(wide) and not whole, 4).rjust(width)

    return {"float_kind": one}


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
        options["formatter"] = _float_strings(array, shown)
    text = np.array2string(array, separator=", ", prefix=indent, **options)
    return text


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
    usual = (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool)
    if tensor.dtype not in usual or (body == "[]" and tensor.dtype is not usual[0]):
        suffixes.append(f"dtype={tensor.dtype}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return f"tensor({', '.join([body, *suffixes])})"
