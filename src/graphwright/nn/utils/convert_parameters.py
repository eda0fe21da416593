"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from graphwright.runtime.errors import tensors_of
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all tensors, in order, as one 1-d tensor."""
    listed = tensors_of("parameters_to_vector", "parameters", parameters)
    vector: Tensor = ops.cat([ops.reshape(p, (-1,)) for p in listed])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give every tensor its part of `vec`; the parameters then share memory with it."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected graphwright.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in tensors_of("vector_to_parameters", "parameters", parameters):
        count = parameter.numel()
        parameter.data = ops.reshape(vec[start : start + count], parameter.shape).data
        start += count
