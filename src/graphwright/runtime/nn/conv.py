"""Convolutions."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.nn import functional as F
from graphwright.runtime.nn import init
from graphwright.runtime.nn.module import Module
from graphwright.runtime.nn.parameter import Parameter
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.normalise import as_pair
from graphwright.runtime.tensor import Tensor


class Conv2d(Module):
    """2-D cross-correlation: [N, C_in, H, W] -> [N, C_out, H_out, W_out].

    H_out = (H + 2*padding - dilation*(kernel - 1) - 1) // stride + 1, W_out likewise.
    `padding` may be "valid" or "same" (stride 1); only zero padding and groups that divide both
    channel counts are supported. `weight` is [C_out, C_in // groups, kh, kw].
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] | str = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = as_pair(kernel_size)
        self.stride = as_pair(stride)
        self.padding = padding if isinstance(padding, str) else as_pair(padding)
        self.dilation = as_pair(dilation)
        self.groups = groups
        self.padding_mode = padding_mode
        self.weight = Parameter(
            ops.empty(
                (out_channels, in_channels // groups, *self.kernel_size),
                device=device,
                dtype=dtype,
            )
        )
        if bias:
            self.bias = Parameter(ops.empty((out_channels,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values: uniform within 1/sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.calculate_fans(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.conv2d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0, 0):
            text += f", padding={self.padding!r}"
        if self.dilation != (1, 1):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else text + ", bias=False"


def _check(in_channels: int, out_channels: int, groups: int, padding_mode: str) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if padding_mode != "zeros":
        raise ValueError(f"padding_mode must be 'zeros', but got padding_mode='{padding_mode}'")
