"""Padding layers. `padding` is one number for all sides, or (before, after) of the last
dimension, then of the one before, as in `functional.pad`."""

from __future__ import annotations

from typing import Any

from graphwright.nn import functional as F
from graphwright.nn.layers.conv import numbers
from graphwright.nn.module import Module
from graphwright.runtime.tensor.tensor import Tensor


class _Pad(Module):
    _ndim: int
    _mode: str

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding = numbers(padding, 2 * self._ndim)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    value: float

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """`value` around the last dimension."""

    _ndim = 1


class ConstantPad2d(_ConstantPad):
    """`value` around the last two dimensions."""

    _ndim = 2


class ConstantPad3d(_ConstantPad):
    """`value` around the last three dimensions."""

    _ndim = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """Zeros around the last dimension."""

    _ndim = 1


class ZeroPad2d(_ZeroPad):
    """Zeros around the last two dimensions."""

    _ndim = 2


class ZeroPad3d(_ZeroPad):
    """Zeros around the last three dimensions."""

    _ndim = 3


class _ReflectionPad(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """Reflection at the border of the last dimension, whose element is not repeated."""

    _ndim = 1


class ReflectionPad2d(_ReflectionPad):
    """Reflection at the borders of the last two dimensions."""

    _ndim = 2


class ReflectionPad3d(_ReflectionPad):
    """Reflection at the borders of the last three dimensions."""

    _ndim = 3


class _ReplicationPad(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPad):
    """The border elements of the last dimension, repeated."""

    _ndim = 1


class ReplicationPad2d(_ReplicationPad):
    """The border elements of the last two dimensions, repeated."""

    _ndim = 2


class ReplicationPad3d(_ReplicationPad):
    """The border elements of the last three dimensions, repeated."""

    _ndim = 3


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Any) -> Tensor:
        if input.ndim not in (self._ndim + 1, self._ndim + 2):
            raise ValueError(
                f"expected {self._ndim + 1}D or {self._ndim + 2}D input (got {input.ndim}D input)"
            )
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """The elements of the last dimension's other end."""

    _ndim = 1


class CircularPad2d(_CircularPad):
    """The elements of the other ends of the last two dimensions."""

    _ndim = 2


class CircularPad3d(_CircularPad):
    """The elements of the other ends of the last three dimensions."""

    _ndim = 3
