"""`nn.quantized`: operators as a module, which models name that may be quantised."""

from __future__ import annotations

from typing import Any, NoReturn

from graphwright.nn.module import Module
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["FloatFunctional"]


class FloatFunctional(Module):
    """Operators on float tensors. It is not called itself (RuntimeError)."""

    def forward(self, x: Any) -> NoReturn:
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the "
                           "corresponding operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + y."""
        return ops.add(x, y)

    add_scalar = add

    def mul(self, x: Tensor, y: Any) -> Tensor:
        """x * y."""
        return ops.mul(x, y)

    mul_scalar = mul

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """The tensors behind each other along a dim."""
        return ops.cat(x, dim)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """relu(x + y)."""
        return ops.relu(ops.add(x, y))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """x @ y."""
        return ops.matmul(x, y)
