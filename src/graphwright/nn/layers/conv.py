"""Convolutions, and transposed ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphwright.nn import functional as F
from graphwright.nn import init
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

Sizes = int | tuple[int, ...]


def numbers(value: Any, ndim: int) -> tuple[int, ...]:
    """One number for each of `ndim` dimensions."""
    return tuple(value) if isinstance(value, list | tuple) else (value,) * ndim


class _ConvNd(Module):
    """What convolutions of any rank have in common."""

    _ndim: int
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        ndim = self._ndim
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = numbers(kernel_size, ndim)
        self.stride = numbers(stride, ndim)
        self.padding = padding if isinstance(padding, str) else numbers(padding, ndim)
        self.dilation = numbers(dilation, ndim)
        self.transposed = self._transposed
        self.output_padding = numbers(output_padding, ndim)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check()
        ends = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        shape = (ends[0], ends[1] // groups, *self.kernel_size)
        self.weight = Parameter(ops.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(ops.empty((out_channels,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string '{self.padding}', should be one of 'same', 'valid'"
                )
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = ("zeros", "reflect", "replicate", "circular")
        if self.padding_mode not in modes:
            raise ValueError(
                f"padding_mode must be one of {list(modes)}, but got "
                f"padding_mode='{self.padding_mode}'"
            )
        if self._transposed and self.padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}'
            )

    def reset_parameters(self) -> None:
        """Draw new initial values: uniform within 1/sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.calculate_fans(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * self._ndim:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self._ndim:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self._ndim:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(_ConvNd):
    _function: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _sides(self) -> tuple[int, ...]:
        """The padding before and after, from the last dimension to the first."""
        sides: list[int] = []
        for i in reversed(range(self._ndim)):
            if self.padding == "valid":
                sides += [0, 0]
            elif isinstance(self.padding, str):
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                sides += [total // 2, total - total // 2]
            else:
                sides += [self.padding[i]] * 2
        return tuple(sides)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        function = type(self)._function
        if self.padding_mode == "zeros":
            return function(
                input, weight, bias, self.stride, self.padding, self.dilation, self.groups
            )
        padded = F.pad(input, self._sides(), self.padding_mode)
        return function(padded, weight, bias, self.stride, 0, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """1-D cross-correlation: [N, C_in, L] -> [N, C_out, L_out]; see `Conv2d`."""

    _ndim = 1
    _function: Any = F.conv1d


class Conv2d(_Conv):
    """2-D cross-correlation: [N, C_in, H, W] -> [N, C_out, H_out, W_out], with or without N.

    H_out = (H + 2*padding - dilation*(kernel - 1) - 1) // stride + 1, W_out likewise.
    `padding` may be "valid" or "same" (stride 1); `padding_mode` "zeros", "reflect",
    "replicate" or "circular". `weight` is [C_out, C_in // groups, kh, kw]. ValueError for groups
    that do not divide both channel counts, and for unknown modes.
    """

    _ndim = 2
    _function: Any = F.conv2d


class Conv3d(_Conv):
    """3-D cross-correlation: [N, C_in, D, H, W] -> [N, C_out, ...]; see `Conv2d`."""

    _ndim = 3
    _function: Any = F.conv3d


class _ConvTranspose(_ConvNd):
    _transposed = True
    _function: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding,
            groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _extra(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives `output_size`. ValueError where none does."""
        if output_size is None:
            return self.output_padding
        ndim = self._ndim
        sizes = tuple(output_size)
        if len(sizes) == input.ndim:
            sizes = sizes[-ndim:]
        if len(sizes) != ndim:
            raise ValueError(
                f"{type(self).__name__}: for {input.ndim}D input, output_size must have {ndim} or "
                f"{input.ndim} elements (got {len(output_size)})"
            )
        extras = []
        for i, wanted in enumerate(sizes):
            assert not isinstance(self.padding, str)
            least = (
                (input.shape[i - ndim] - 1) * self.stride[i]
                - 2 * self.padding[i]
                + self.dilation[i] * (self.kernel_size[i] - 1)
                + 1
            )
            if not least <= wanted < least + self.stride[i]:
                raise ValueError(
                    f"requested an output size of {list(sizes)}, but valid sizes of dimension {i} "
                    f"range from {least} to {least + self.stride[i] - 1} (for an input of "
                    f"{list(input.shape[-ndim:])})"
                )
            extras.append(wanted - least)
        return tuple(extras)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        return type(self)._function(
            input, self.weight, self.bias, self.stride, self.padding,
            self._extra(input, output_size), self.groups, self.dilation,
        )  # fmt: skip


class ConvTranspose1d(_ConvTranspose):
    """The transpose of `Conv1d`: [N, C_in, L] -> [N, C_out, L_out]; see `ConvTranspose2d`."""

    _ndim = 1
    _function: Any = F.conv_transpose1d


class ConvTranspose2d(_ConvTranspose):
    """The transpose of `Conv2d` with regard to its input: [N, C_in, H, W] -> [N, C_out, ...].

    H_out = (H - 1)*stride - 2*padding + dilation*(kernel - 1) + output_padding + 1, W_out
    likewise. `forward(input, output_size)` chooses among the sizes that a strided convolution
    would take to the input's. `weight` is [C_in, C_out // groups, kh, kw].
    """

    _ndim = 2
    _function: Any = F.conv_transpose2d


class ConvTranspose3d(_ConvTranspose):
    """The transpose of `Conv3d`; see `ConvTranspose2d`."""

    _ndim = 3
    _function: Any = F.conv_transpose3d
