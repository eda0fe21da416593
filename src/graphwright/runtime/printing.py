"""How tensors print: as PyTorch prints them, within NumPy's number formatting."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import dtypes
from graphwright.runtime.overriding import has_say


class PrintOptions:
    """How tensors print: digits, elements before summarising, elements at the edges, width."""

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    def __init__(self) -> None:
        self.precision, self.threshold, self.edgeitems, self.linewidth = 4, 1000, 3, 80
        self.sci_mode: bool | None = None


OPTIONS = PrintOptions()
PROFILES = {"default": (4, 1000, 3), "short": (2, 1000, 2), "full": (4, math.inf, 3)}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; what is None stays.

    Args:
        precision: digits after the point (4 at first).
        threshold: elements from which on only the edges are shown (1000).
        edgeitems: elements at each edge (3).
        linewidth: characters in a line (80).
        profile: "default", "short" or "full" set the first three.
        sci_mode: True or False for scientific notation always or never; None decides by values.
    """
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
        OPTIONS.precision, kept, OPTIONS.edgeitems = PROFILES[profile]
        OPTIONS.threshold, OPTIONS.linewidth = kept, 80  # type: ignore[assignment]
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}  # fmt: skip
    for name, value in given.items():
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


def _number_format(shown: np.ndarray[Any, Any]) -> Callable[[float], str]:
    """How to write one float so that all of `shown` align."""
    finite = np.abs(shown[np.isfinite(shown)].astype(np.float64))
    nonzero = finite[finite != 0]
    whole = bool(np.all(finite == np.ceil(finite)))
    digits = OPTIONS.precision
    scientific = OPTIONS.sci_mode if OPTIONS.sci_mode is not None else bool(
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
            return f"{number:.{digits}e}"
        return f"{number:.0f}." if whole else f"{number:.{digits}f}"

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
    edge = OPTIONS.edgeitems
    threshold = int(min(OPTIONS.threshold, sys.maxsize))
    shown = array
    if array.size > threshold:
        for axis, size in enumerate(array.shape):
            if size > 2 * edge:
                keep = np.r_[0:edge, size - edge : size]
                shown = np.take(shown, keep, axis=axis)
    options: dict[str, Any] = {
        "threshold": threshold, "edgeitems": edge, "max_line_width": OPTIONS.linewidth,
    }  # fmt: skip
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
    """`tensor([...])` with dtype, device, grad_fn or requires_grad where not the default.

    Of a subclass, its name stands in place of `tensor`.
    """
    prefix = "tensor" if not has_say(type(tensor)) else type(tensor).__name__
    suffixes = []
    fake = tensor.is_fake or tensor.device.type != "cpu"
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    if fake:
        body = "..."
        suffixes.append(f"size={tuple(tensor.shape)}")
    else:
        array = tensor._nd
        if tensor.dtype in (dtypes.bfloat16, dtypes.float16):
            array = array.astype(np.float32)
        body = _body(array, " " * len(f"{prefix}(")) if array.size else "[]"
        if not array.size and array.shape != (0,):
            suffixes.append(f"size={tuple(tensor.shape)}")
    default = dtypes.get_default_dtype()
    usual = (default, default.to_complex(), dtypes.int64, dtypes.bool)
    if tensor.dtype not in usual or (
        body in ("[]", "...") and tensor.dtype is not default
    ):
        suffixes.append(f"dtype={tensor.dtype}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return f"{prefix}({', '.join([body, *suffixes])})"
