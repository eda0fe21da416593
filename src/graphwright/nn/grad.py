"""Gradients of convolutions as functions: by the input of a size, or by the weight of a size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.autograd.grad_mode import enable_grad
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.engine import grad
from graphwright.runtime.tensor.tensor import Tensor

Size = int | Sequence[int]


def _derivative(
    convolution: Callable[..., Any], size: Sequence[int], grad_output: Tensor, *options: Any
) -> Tensor:
    """The gradient of a convolution by its first argument, of that size, in which it is linear."""
    with enable_grad():
        zeros = ops.zeros(
            tuple(size), dtype=grad_output.dtype, device=grad_output.device).requires_grad_()
        out = convolution(zeros, *options)
    return grad(out, zeros, grad_output.detach())[0]


def _by_input(convolution: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    def of_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
    ) -> Tensor:
        """The gradient of a convolution by its input, of shape `input_size`."""
        options = (weight.detach(), None, stride, padding, dilation, groups)
        return _derivative(convolution, input_size, grad_output, *options)

    of_input.__name__ = of_input.__qualname__ = name
    return of_input


def _by_weight(convolution: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    def of_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
    ) -> Tensor:
        """The gradient of a convolution by its weight, of shape `weight_size`."""

        def of_input(weight: Tensor) -> Any:
            return convolution(input.detach(), weight, None, stride, padding, dilation, groups)

        return _derivative(of_input, weight_size, grad_output)

    of_weight.__name__ = of_weight.__qualname__ = name
    return of_weight


conv1d_input = _by_input(ops.conv1d, "conv1d_input")
conv1d_weight = _by_weight(ops.conv1d, "conv1d_weight")
conv2d_input = _by_input(ops.conv2d, "conv2d_input")
conv2d_weight = _by_weight(ops.conv2d, "conv2d_weight")
conv3d_input = _by_input(ops.conv3d, "conv3d_input")
conv3d_weight = _by_weight(ops.conv3d, "conv3d_weight")
