"""Padding: constant, by reflection, by repeating the border, around in a circle."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import copy_into
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor.tensor import Tensor

_MODES = ("reflect", "replicate", "circular")


def _part(x: Any, dim: int, start: Any, end: Any) -> Any:
    return ops.slice(x, dim, start, end, 1)


def _middle(x: Any, dim: int, before: Any, after: Any) -> Any:
    """Without what negative paddings take away."""
    size = x.shape[dim]
    low, high = max(-before, 0), size - max(-after, 0)
    return x if (low, high) == (0, size) else _part(x, dim, low, high)


def _reflected(x: Any, dim: int, before: Any, after: Any) -> list[Any]:
    size, parts = x.shape[dim], [_middle(x, dim, before, after)]
    if before > 0:
        parts.insert(0, ops.flip(_part(x, dim, 1, before + 1), (dim,)))
    if after > 0:
        parts.append(ops.flip(_part(x, dim, size - 1 - after, size - 1), (dim,)))
    return parts


def _repeated(part: Any, dim: int, count: Any) -> Any:
    return ops.expand(part, (*part.shape[:dim], count, *part.shape[dim + 1 :]))


def _replicated(x: Any, dim: int, before: Any, after: Any) -> list[Any]:
    size, parts = x.shape[dim], [_middle(x, dim, before, after)]
    if before > 0:
        parts.insert(0, _repeated(_part(x, dim, 0, 1), dim, before))
    if after > 0:
        parts.append(_repeated(_part(x, dim, size - 1, size), dim, after))
    return parts


def _circular(x: Any, dim: int, before: Any, after: Any) -> list[Any]:
    middle = _middle(x, dim, before, after)
    size, parts = middle.shape[dim], [middle]
    if before > 0:
        parts.insert(0, _part(middle, dim, size - before, size))
    if after > 0:
        parts.append(_part(middle, dim, 0, after))
    return parts


_PARTS = {"reflect": _reflected, "replicate": _replicated, "circular": _circular}


def _check_side(input: Any, pad: Any, mode: str, dim: int, before: Any, after: Any) -> None:
    size = input.shape[dim]
    if mode == "reflect" and (before >= size or after >= size):
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at dimension {dim} of input {describe(input)}"
        )
    if mode == "circular" and (before > size or after > size):
        raise RuntimeError(
            f"Padding value causes wrapping around more than once: padding ({before}, {after}) at "
            f"dimension {dim} of input {describe(input)}"
        )
    least = 0 if mode == "circular" else 1
    if size + before + after < least:
        raise RuntimeError(
            f"pad: padding {list(pad)} leaves nothing of input {describe(input)} at "
            f"dimension {dim}"
        )


def _check(input: Any, pad: Any, mode: str, value: Any) -> None:
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode != "circular":
        require_dtype(f"{mode} pad", input.dtype, bool=False)
    dims, rank = len(pad) // 2, len(input.shape)
    if dims not in (1, 2, 3) or rank not in (dims + 1, dims + 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now, got "
            f"padding {list(pad)} of input {describe(input)}"
        )
    needed = input.shape[-dims - 1 :] if rank == dims + 1 else input.shape[1:]
    if any(size == 0 for size in needed):
        raise RuntimeError(
            f"pad: Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch "
            f"size and other non-zero dimensions for input, but got: {describe(input)}"
        )
    for i in range(dims):
        _check_side(input, pad, mode, rank - 1 - i, pad[2 * i], pad[2 * i + 1])


def _sources(size: int, before: int, after: int, mode: str) -> Any:
    """Where the elements along a padded dimension come from."""
    places = np.arange(-before, size + after)
    if mode == "circular":
        return places % size
    if mode == "reflect":
        places = np.abs(places)
        return np.minimum(places, 2 * (size - 1) - places)
    return np.clip(places, 0, size - 1)


def _gathered(input: Any, pad: Any, mode: str) -> Tensor:
    """Of a real tensor, in one step; no padding is negative.

    The input goes into the middle; then each dimension's border comes from its middle, whole
    slabs at a time, so that the corners come by themselves.
    """
    sides = {input.ndim - 1 - i: (pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)}
    shape = tuple(size + sum(sides.get(d, (0, 0))) for d, size in enumerate(input.shape))
    out = _core.empty(Tensor, shape, input.dtype)
    middle: Any = out
    for dim, (before, after) in sides.items():
        middle = ops.slice(middle, dim, before, shape[dim] - after)
    copy_into(middle, input)
    for dim, (before, after) in sides.items():
        size = input.shape[dim]
        border = np.r_[:before, before + size : shape[dim]]
        lead = (slice(None),) * dim
        sources = _sources(size, before, after, mode)[border] + before
        out._nd[(*lead, border)] = out._nd[(*lead, sources)]
    return out


def _pad(input: Any, pad: Any, mode: str, value: Any) -> Any:
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, got {list(pad)}")
    if len(pad) // 2 > len(input.shape):
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(pad)} and input {describe(input)}"
        )
    if mode == "constant":
        return ops.constant_pad(input, pad, 0 if value is None else value)
    _check(input, pad, mode, value)
    if min(pad) >= 0 and _core.dispatch_flags((input,)) == 0:
        return _gathered(input, pad, mode)
    out = input
    for i in range(len(pad) // 2):
        dim = len(input.shape) - 1 - i
        parts = _PARTS[mode](out, dim, pad[2 * i], pad[2 * i + 1])
        out = ops.cat(tuple(parts), dim) if len(parts) > 1 else parts[0]
    return ops.clone(out) if out is input or not out.is_contiguous() else out


define(
    'pad(Tensor input, Size pad, str mode="constant", Scalar? value=None)',
    Kind.COMPOSITE,
    decompose=_pad,
    method=False,
    public=False,
    doc="""Padding of the last dims: constant, reflected, replicated or circular.

    Args:
        input: a tensor; of `n + 1` or `n + 2` dims where the mode is not constant and n dims
            (1 to 3) are padded.
        pad: `(left, right, top, bottom, ...)`: what is added before and after, the last dim
            first; negative numbers cut off.
        mode: "constant", "reflect" (the border element is not repeated), "replicate" (it is),
            or "circular".
        value: the constant; 0 if None.

    Returns: a tensor with `pad` more elements in the last dims.

    Raises:
        NotImplementedError: `mode` is unknown, or the number of dims is not supported by it.
        RuntimeError: `pad` has an odd length or too many numbers, is not less than the size
            ("reflect"), is more than it ("circular"), or leaves nothing; `value` is given for
            another mode.

    Example:
        >>> F.pad(gw.tensor([[1, 2, 3]]), (2, 1), mode="reflect")
        tensor([[3, 2, 1, 2, 3, 2]])
    """,
)
define(
    "constant_pad_nd(Tensor input, Size pad, Scalar value=0)",
    Kind.COMPOSITE,
    decompose=lambda input, pad, value: _pad(input, pad, "constant", value),
    method=False,
    doc="""Padding of the last dims with a constant: `F.pad` of mode "constant".

    Args:
        input: a tensor.
        pad: `(left, right, top, bottom, ...)`: what is added before and after, the last dim
            first; negative numbers cut off.
        value: the constant.

    Returns: a tensor with `pad` more elements in the last dims.

    Raises:
        RuntimeError: `pad` has an odd length or too many numbers, or gives a negative size.

    Example:
        >>> gw.constant_pad_nd(gw.tensor([1, 2]), (1, 2), 9)
        tensor([9, 1, 2, 9, 9])
    """,
)
