"""`Size`, the type of `Tensor.shape`: a tuple that knows its product, made in C."""

from graphwright.runtime._core import Size

__all__ = ["Size"]
