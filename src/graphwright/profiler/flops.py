"""Floating point operations of an op, from the shapes of its arguments and of its result."""

from __future__ import annotations

from math import prod
from typing import Any

from numpy import broadcast_shapes

from graphwright.utils.flop_counter import FORMULAS, WITH_RESULT

_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")
_TRANSPOSED = ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


class _Shaped:
    """Stands for a tensor in a formula."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def numel(self) -> int:
        return prod(self.shape)


def flops_of(name: str, shapes: Any, result: Any) -> int:
    """Those of an op of this name; 0 where they are not counted, and of an op that has raised.

    Products, convolutions, attention and recurrences are counted, a multiplication and an
    addition as two. `result` is the shape of the first result, None where there is none.
    """
    if shapes is None or result is None:
        return 0
    args = [_Shaped(shape) if isinstance(shape, tuple) else shape for shape in shapes]
    if name == "matmul":
        return _matmul(*(arg.shape for arg in args[:2]))
    if name.rstrip("_") in ("addmm", "baddbmm", "addmv"):
        return _matmul(*(arg.shape for arg in args[1:3]))
    if name in ("mv", "dot"):
        return 2 * args[0].numel()
    if name in _TRANSPOSED:
        return 2 * args[0].numel() * prod(args[1].shape[1:])
    if name in _CONVOLUTIONS:
        return 2 * prod(result) * prod(args[1].shape[1:])
    formula = FORMULAS.get("fused_attention" if name == "scaled_dot_product_attention" else name)
    if formula is None:
        return 0
    return formula(*args, **({"out": _Shaped(result)} if name in WITH_RESULT else {}))


def _matmul(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """[..., M, K] @ [..., K, N], whose batches are broadcast; vectors are rows and columns."""
    rows = a[-2] if len(a) > 1 else 1
    columns = b[-1] if len(b) > 1 else 1
    return 2 * prod(broadcast_shapes(a[:-2], b[:-2])) * rows * a[-1] * columns
