"""How tensors print: character by character as PyTorch prints them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.elements import elements
from graphwright.runtime.torch_function import has_say


class PrintOptions:
    """How tensors print: digits, elements before summarising, elements at the edges, width."""

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    def __init__(self) -> None:
        self.precision, self.threshold, self.edgeitems, self.linewidth = 4, 1000, 3, 80
        self.sci_mode: bool | None = None


OPTIONS = PRINT_OPTS = PrintOptions()
PROFILES = {"default": (4, 1000, 3), "short": (2, 1000, 2), "full": (4, math.inf, 3)}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; what is None stays as it is, but `sci_mode`.

    Args:
        precision: digits after the point; 4 at first.
        threshold: number of elements from which on only the edges are shown; 1000 at first.
        edgeitems: elements at each edge; 3 at first.
        linewidth: characters in a line; 80 at first.
        profile: "default", "short" or "full" set all of these; others override it.
        sci_mode: scientific notation always (True) or never (False); None decides by values.

    Raises:
        ValueError: `profile` is unknown.

    Example:
        >>> gw.set_printoptions(precision=2)
        >>> gw.tensor(1 / 3)
        tensor(0.33)
        >>> gw.set_printoptions(profile="default")
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


class _Format:
    """How numbers are written so that all of them align: whole, with digits, or scientifically.

    `shown` decides, the elements of one tensor that are printed.
    """

    __slots__ = ("kind", "point", "width")

    def __init__(self, shown: np.ndarray[Any, Any]) -> None:
        self.kind, self.point = "", ""
        if shown.dtype.kind == "f":
            shown = shown[np.isfinite(shown) & (shown != 0)]
            sizes = np.abs(shown.astype(np.float64))
            whole = bool(np.all(sizes == np.ceil(sizes)))
            self._choose(_is_scientific(sizes, whole), whole)
        texts = map(self._digits, set(shown.ravel().tolist()))
        self.width = max(map(len, texts), default=1)

    def _choose(self, scientific: bool, whole: bool) -> None:
        digits = f".{OPTIONS.precision}"
        self.kind = digits + "e" if scientific else ".0f" if whole else digits + "f"
        self.point = "." if whole and not scientific else ""

    def _digits(self, number: Any) -> str:
        text = format(number, self.kind)
        return text + self.point if self.point and math.isfinite(number) else text

    def __call__(self, number: Any) -> str:
        return self._digits(number).rjust(self.width)


def _is_scientific(sizes: np.ndarray[Any, Any], whole: bool) -> bool:
    """Whether numbers of these absolute values, finite and not zero, get exponents."""
    if not sizes.size:
        return False
    if OPTIONS.sci_mode is not None:
        return OPTIONS.sci_mode
    least, most = float(np.minimum.reduce(sizes)), float(np.maximum.reduce(sizes))
    return most / least > 1000.0 or most > 1e8 or (not whole and least < 1e-4)


class _ComplexFormat:
    """How complex numbers are written: each part as numbers of its own."""

    __slots__ = ("imag", "real", "width")

    def __init__(self, shown: np.ndarray[Any, Any]) -> None:
        self.real, self.imag = _Format(shown.real), _Format(shown.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, number: complex) -> str:
        imag = self.imag(number.imag).lstrip()
        return f"{self.real(number.real)}{'' if imag.startswith('-') else '+'}{imag}j"


_COPIED = 1 << 16
"""Elements of a GPU's tensor that are copied as a whole, to be cut here."""


def _summary(tensor: Any) -> np.ndarray[Any, Any]:
    """The elements that a summary shows; of a large tensor of a GPU no others are copied."""
    if not _core.has_cuda_memory(tensor) or tensor.numel() <= _COPIED or not OPTIONS.edgeitems:
        return _ends(elements(tensor))
    tensor, edge, size = tensor.detach(), OPTIONS.edgeitems, len(tensor)
    parts = (tensor[:edge], tensor[size - edge :]) if size > 2 * edge else (tensor,)
    if tensor.ndim == 1:
        return np.concatenate([elements(part) for part in parts])
    return np.stack([_summary(row) for part in parts for row in part])


def _ends(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The elements that a summary shows, in the shape that they make."""
    edge = OPTIONS.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            array = np.take(array, np.r_[0:edge, size - edge : size], axis=axis)
    return array


def _listed(items: list[str], size: int, gap: str) -> list[str]:
    """The items of a summary that shows fewer than `size`, with the gap between them."""
    if len(items) == size:
        return items
    return [*items[: len(items) // 2], gap, *items[len(items) // 2 :]]


def _text(
    shown: np.ndarray[Any, Any], sizes: tuple[int, ...], write: Callable[[Any], str],
    indent: int, width: int,
) -> str:
    """Brackets around what is shown of an array of these sizes."""
    if not sizes:
        return write(shown.item())
    if len(sizes) == 1:
        gap = " ..." if len(shown) else "..."
        items = _listed([write(number) for number in shown.tolist()], sizes[0], gap)
        per_line = max(1, (OPTIONS.linewidth - indent) // (width + 2))
        rows = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        between = ",\n"
    else:
        parts = [_text(part, sizes[1:], write, indent + 1, width) for part in shown]
        rows = _listed(parts, sizes[0], "...")
        between = "," + "\n" * (len(sizes) - 1)
    return "[" + (between + " " * (indent + 1)).join(rows) + "]"


def _body(tensor: Any, indent: int) -> str:
    if not tensor.numel():
        return "[]"
    shown = _shown(tensor)
    write = _ComplexFormat(shown) if shown.dtype.kind == "c" else _Format(shown)
    return _text(shown, tuple(tensor.shape), write, indent, write.width)


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """The text with what follows it, on lines of their own where the line would be too long."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def _shown(tensor: Any) -> np.ndarray[Any, Any]:
    """The values that are printed."""
    array = _summary(tensor) if tensor.numel() > OPTIONS.threshold else elements(tensor)
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        array = array.astype(np.float32)
    if tensor.dtype is dtypes.float8_e8m0fnu:
        array = np.where(array == 2.0**-127, 0, array)  # what 0 becomes, and is equal to
    return array


def _tensor_str(self: Any, indent: int) -> str:
    """The values of a tensor as text, whose further lines are indented."""
    return _body(self, indent)


def format_tensor(tensor: Any) -> str:
    """`tensor([...])` with dtype, device, grad_fn or requires_grad where not the default.

    Of a subclass, its name stands in place of `tensor`.
    """
    prefix = "tensor" if not has_say(type(tensor)) else type(tensor).__name__
    suffixes = []
    fake = tensor.is_fake or not (tensor.device.type == "cpu" or _core.has_cuda_memory(tensor))
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    if fake:
        body = "..."
        suffixes.append(f"size={tuple(tensor.shape)}")
    else:
        body = _body(tensor, len(prefix) + 1)
        if tuple(tensor.shape) != (0,) and not (tensor.numel() and OPTIONS.edgeitems):
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
    return _with_suffixes(f"{prefix}({body}", suffixes, len(prefix) + 1)
