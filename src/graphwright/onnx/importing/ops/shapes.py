"""Sizes, and operators that move elements without computing with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import op, sizes_rule
from graphwright.onnx.importing.values import Sizes, as_tensor


@op("Shape")
def shape(x: Any, *, start: int = 0, end: int | None = None) -> Any:
    """The sizes of x from dim `start` to before `end`."""
    if isinstance(x, Sizes):
        return Sizes(([] if x.scalar else [len(x.values)])[start:end])
    return Sizes(as_tensor(x).shape[start:end])


@op("Size")
def size(x: Any) -> Any:
    """The number of elements of x."""
    count = len(x.values) if isinstance(x, Sizes) else math.prod(as_tensor(x).shape)
    return Sizes([count], scalar=True)


@op("Identity", gives_tensors=lambda attributes: True)
def identity(x: Any) -> Any:
    """x itself."""
    return x


@op("Reshape", moves=True)
def reshape(x: Tensor, shape: list[int], *, allowzero: int = 0) -> Tensor:
    """x with other sizes: one may be -1, which is found out; 0 is x's own unless `allowzero`."""
    if not allowzero:
        shape = [x.shape[i] if type(n) is int and n == 0 else n for i, n in enumerate(shape)]
    return x.reshape(tuple(shape))


@op("Flatten", moves=True)
def flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    """A matrix whose columns are the dims from `axis` on."""
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape([x.shape[:axis].numel(), x.shape[axis:].numel()])


@op("Transpose", moves=True)
def transpose(x: Tensor, *, perm: list[int] | None = None) -> Tensor:
    """x with its dims in another order, by default reversed."""
    return x.permute(perm if perm is not None else list(range(x.dim()))[::-1])


@op("Squeeze", moves=True)
def squeeze(x: Tensor, axes: list[int] | None = None) -> Tensor:
    """x without dims of size 1, all or those given."""
    if axes is None:
        return x.squeeze()
    for axis in axes:
        if x.shape[axis] != 1:
            raise ValueError(f"dim {axis} of size {x.shape[axis]} cannot be squeezed")
    return x.squeeze(tuple(axes)) if axes else x


@op("Unsqueeze", moves=True)
def unsqueeze(x: Tensor, axes: list[int]) -> Tensor:
    """x with dims of size 1 at `axes` of the result."""
    rank = x.dim() + len(axes)
    for axis in sorted([axis % rank for axis in axes]):
        x = x.unsqueeze(axis)
    return x


@op("Expand", moves=True)
def expand(x: Tensor, shape: list[int]) -> Tensor:
    """x broadcast with a shape."""
    extra = len(shape) - x.dim()
    own = [*[1] * extra, *x.shape] if extra > 0 else list(x.shape)
    wanted = [*[1] * -extra, *shape] if extra < 0 else shape
    return x.expand([
        n if type(w) is int and w == 1 else w for n, w in zip(own, wanted, strict=True)
    ])


@op("Tile", moves=True, since=6)
def tile(x: Tensor, repeats: list[int]) -> Tensor:
    """x repeated along each dim."""
    return x.repeat(repeats) if repeats else x


@op("Tile", moves=True)
def tile_axis(x: Tensor, tiles: int, axis: int) -> Tensor:
    """x repeated `tiles` times along one dim."""
    return gw.cat([x] * tiles, dim=axis)


@op("Concat", moves=True)
def concat(*tensors: Tensor | np.ndarray, axis: int = 1) -> Tensor | np.ndarray:
    """Tensors one after the other along an axis."""
    if any(isinstance(part, np.ndarray) for part in tensors):
        return np.concatenate(tensors, axis=axis)
    return gw.cat([part for part in tensors if isinstance(part, Tensor)], dim=axis)


@op("Split", moves=True)
def split(
    x: Tensor, split: list[int] | None = None, *, axis: int = 0, num_outputs: int | None = None,
    n_outputs: int,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Parts of x along an axis, of the sizes given, or equal but for the last."""
    if split is None:
        length = x.shape[axis]
        part = -(-length // (num_outputs or n_outputs))
        split = [part] * (n_outputs - 1)
        split.append(length - part * (n_outputs - 1))
    return tuple(gw.split(x, split, dim=axis))


@op("DepthToSpace")
def depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Channels moved into blocks of the image (N, C, H, W)."""
    n, c, h, w = x.shape
    b = blocksize
    if mode == "DCR":
        x = x.reshape([n, b, b, c // (b * b), h, w]).permute([0, 3, 4, 1, 5, 2])
    else:
        x = x.reshape([n, c // (b * b), b, b, h, w]).permute([0, 1, 4, 2, 5, 3])
    return x.reshape([n, c // (b * b), h * b, w * b])


@op("SpaceToDepth")
def space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Blocks of the image (N, C, H, W) moved into channels."""
    n, c, h, w = x.shape
    b = blocksize
    x = x.reshape([n, c, h // b, b, w // b, b])
    x = x.permute([0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4])
    return x.reshape([n, c * b * b, h // b, w // b])


@op("Pad", moves=True)
def pad(
    x: Tensor, pads: list[int], constant_value: Any = None, axes: list[int] | None = None, *,
    mode: str = "constant", value: float = 0.0, paddings: list[int] | None = None,
) -> Tensor:  # fmt: skip
    """x with elements before and behind along dims, which are constant, reflected or repeated."""
    axes = [a % x.dim() for a in axes] if axes is not None else list(range(x.dim()))
    before, behind = pads[: len(axes)], pads[len(axes) :]
    if mode == "constant":
        if isinstance(constant_value, Tensor):
            value = constant_value.item()
        elif isinstance(constant_value, Sizes):
            value = constant_value.values[0]
        flat = [0] * (2 * x.dim())
        for axis, first, last in zip(axes, before, behind, strict=True):
            flat[2 * (x.dim() - 1 - axis)] = first
            flat[2 * (x.dim() - 1 - axis) + 1] = last
        return F.pad(x, flat, "constant", value)
    for axis, first, last in zip(axes, before, behind, strict=True):
        if first or last:
            x = gw.index_select(x, axis, _padded_places(x.shape[axis], first, last, mode))
    return x


def _padded_places(length: int, first: int, last: int, mode: str) -> Tensor:
    """For each element along a padded dim the place of the element that it repeats."""
    if mode not in ("reflect", "edge", "wrap"):
        raise ValueError(f"Pad: no mode {mode!r}")
    place = gw.arange(-first, length + last)
    if mode == "edge":
        return place.clamp(0, length - 1)
    if mode == "wrap":
        return gw.remainder(place, length)
    period = max(2 * (length - 1), 1)
    place = gw.remainder(place, period)
    return gw.minimum(place, period - place) if length > 1 else place * 0


@op("CenterCropPad")
def center_crop_pad(x: Tensor, shape: list[int], *, axes: list[int] | None = None) -> Tensor:
    """x cropped, or padded with zeros, around its centre to sizes."""
    for axis, wanted in zip(axes if axes is not None else range(x.dim()), shape, strict=True):
        length = x.shape[axis]
        if wanted < length:
            x = x.narrow(axis, (length - wanted) // 2, wanted)
        elif wanted > length:
            first = (wanted - length) // 2
            x = pad(x, [first, wanted - length - first], axes=[axis])
    return x


@op("Trilu")
def trilu(x: Tensor, k: int = 0, *, upper: int = 1) -> Tensor:
    """The upper or lower triangle of matrices, k diagonals above the main one."""
    return gw.triu(x, k) if upper else gw.tril(x, k)


@op("ReverseSequence")
def reverse_sequence(
    x: Tensor, sequence_lens: Tensor, *, time_axis: int = 0, batch_axis: int = 1
) -> Tensor:
    """Each sequence of a batch reversed up to its length."""
    lengths = sequence_lens.to(gw.int64).reshape([-1, 1])
    time = gw.arange(x.shape[time_axis]).reshape([1, -1])
    place = gw.where(time < lengths, lengths - 1 - time, time)  # (batch, time)
    rows = x.movedim((batch_axis % x.dim(), time_axis % x.dim()), (0, 1))
    place = place.reshape([*place.shape, *[1] * (x.dim() - 2)]).expand(rows.shape)
    reversed_rows = gw.gather(rows, 1, place)
    return reversed_rows.movedim((0, 1), (batch_axis % x.dim(), time_axis % x.dim()))


@sizes_rule("Identity")
def _same(x: Sizes) -> Sizes:
    return x


@sizes_rule("Squeeze")
def _squeezed(x: Sizes, axes: Any = None) -> Sizes | None:
    return x.like(x.values, True) if len(x.values) == 1 else None


@sizes_rule("Unsqueeze")
def _unsqueezed(x: Sizes, axes: Any) -> Sizes | None:
    count = len(axes.values) if isinstance(axes, Sizes) else len(axes)
    return x.like(x.values) if x.scalar and count == 1 else None


@sizes_rule("Reshape")
def _reshaped(x: Sizes, shape: Sizes, allowzero: int = 0) -> Sizes | None:
    if len(shape.values) == 1:
        return x.like(x.values)
    return x.like(x.values, True) if not shape.values else None


@sizes_rule("Concat")
def _concatenated(*parts: Sizes, axis: int = 0) -> Sizes | None:
    if any(part.scalar for part in parts):
        return None
    return parts[0].like([n for part in parts for n in part.values])


@sizes_rule("Cast")
def _cast(x: Sizes, to: int, **_: Any) -> Sizes | None:
    dtype = {1: gw.float32, 6: gw.int32, 7: gw.int64, 11: gw.float64}.get(to)
    return None if dtype is None else Sizes(x.values, x.scalar, dtype)
