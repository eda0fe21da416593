"""Pooling layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.nn import functional as F
from graphwright.nn.layers.conv import numbers
from graphwright.nn.module import Module
from graphwright.runtime.tensor.tensor import Tensor

Sizes = int | tuple[int, ...]


class _MaxPool(Module):
    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        return type(self)._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The maximum of each window: [N, C, L] -> [N, C, L_out]; see `MaxPool2d`."""

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The maximum of each window: [N, C, H, W] -> [N, C, H_out, W_out]; stride = kernel_size.

    With `return_indices` also where each was found, for `MaxUnpool2d`.
    """

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The maximum of each window: [N, C, D, H, W] -> [N, C, ...]; see `MaxPool2d`."""

    _function = staticmethod(F.max_pool3d)


class _MaxUnpool(Module):
    _ndim: int
    _function: Callable[..., Tensor]

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0
    ) -> None:
        super().__init__()
        self.kernel_size = numbers(kernel_size, self._ndim)
        self.stride = numbers(kernel_size if stride is None else stride, self._ndim)
        self.padding = numbers(padding, self._ndim)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return type(self)._function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Lays maxima back where `MaxPool1d` found them, zeros elsewhere."""

    _ndim = 1
    _function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Lays maxima back where `MaxPool2d` found them, zeros elsewhere."""

    _ndim = 2
    _function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Lays maxima back where `MaxPool3d` found them, zeros elsewhere."""

    _ndim = 3
    _function = staticmethod(F.max_unpool3d)


class AvgPool1d(Module):
    """The mean of each window of [N, C, L], padding counted unless `count_include_pad` is off."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = numbers(kernel_size, 1)
        self.stride = numbers(kernel_size if stride is None else stride, 1)
        self.padding = numbers(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    _function: Callable[..., Tensor]

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """The mean of each window of [N, C, H, W], padding counted unless `count_include_pad` is off.

    `divisor_override` replaces the number of places that sums are divided by.
    """

    _function: Any = F.avg_pool2d


class AvgPool3d(_AvgPool):
    """The mean of each window of [N, C, D, H, W]; see `AvgPool2d`."""

    _function: Any = F.avg_pool3d


class _LPPool(Module):
    _function: Callable[..., Tensor]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """sum(x**p)**(1/p) of each window of [N, C, L], p = `norm_type`."""

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """sum(x**p)**(1/p) of each window of [N, C, H, W], p = `norm_type`."""

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """sum(x**p)**(1/p) of each window of [N, C, D, H, W], p = `norm_type`."""

    _function = staticmethod(F.lp_pool3d)


class _AdaptivePool(Module):
    _function: Callable[..., Any]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        out: Tensor = type(self)._function(input, self.output_size)
        return out

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveAvgPool(_AdaptivePool):
    """Means."""


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means over `output_size` cells, whatever the input's length."""

    _function: Any = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means over a grid of `output_size` cells, whatever the input's height and width."""

    _function: Any = F.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means over a grid of `output_size` cells, whatever the input's sizes."""

    _function: Any = F.adaptive_avg_pool3d


class _AdaptiveMaxPool(_AdaptivePool):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return type(self)._function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima over `output_size` cells; with `return_indices` also where they were found."""

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maxima over a grid of `output_size` cells; see `AdaptiveMaxPool1d`."""

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maxima over a grid of `output_size` cells; see `AdaptiveMaxPool1d`."""

    _function = staticmethod(F.adaptive_max_pool3d)


class _FractionalMaxPool(Module):
    _ndim: int
    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = numbers(kernel_size, self._ndim)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output size, or a pooling "
                "ratio"
            )
        self.output_size = None if output_size is None else numbers(output_size, self._ndim)
        self.output_ratio = None if output_ratio is None else numbers(output_ratio, self._ndim)
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return type(self)._function(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima of windows whose places are drawn at random (Graham, 2014)."""

    _ndim = 2
    _function = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima of windows whose places are drawn at random; see `FractionalMaxPool2d`."""

    _ndim = 3
    _function = staticmethod(F.fractional_max_pool3d)
