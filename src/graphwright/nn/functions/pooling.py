"""Pooling as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.windows.unfold import spread_over
from graphwright.runtime.tensor.tensor import Tensor

avg_pool1d = ops.avg_pool1d
avg_pool2d = ops.avg_pool2d
avg_pool3d = ops.avg_pool3d
adaptive_avg_pool1d = ops.adaptive_avg_pool1d
adaptive_avg_pool2d = ops.adaptive_avg_pool2d
adaptive_avg_pool3d = ops.adaptive_avg_pool3d
max_pool1d_with_indices = ops.max_pool1d_with_indices
max_pool2d_with_indices = ops.max_pool2d_with_indices
max_pool3d_with_indices = ops.max_pool3d_with_indices
adaptive_max_pool1d_with_indices = ops.adaptive_max_pool1d
adaptive_max_pool2d_with_indices = ops.adaptive_max_pool2d
adaptive_max_pool3d_with_indices = ops.adaptive_max_pool3d


def _max_pool(plain: Callable[..., Any], with_indices: Callable[..., Any]) -> Callable[..., Any]:
    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Maximum of each window of the last dims.

        `max_pool1d`, `max_pool2d` and `max_pool3d` pool 1, 2 and 3 dims.

        Args:
            input: `(N, C, *)` or `(C, *)`.
            kernel_size: the size of a window, an int or one per dim.
            stride: the step between windows; `kernel_size` if None.
            padding: what is added at both ends of each dim, of value -inf; at most half a
                window.
            dilation: the step between the elements of a window.
            ceil_mode: round the number of windows up, not down.
            return_indices: return `(values, indices)`: int64 positions in the flattened
                pooled dims.

        Returns: a tensor with `(size + 2 * padding - dilation * (kernel_size - 1) - 1) //
        stride + 1` elements in each pooled dim.

        Raises:
            RuntimeError: `input` has another number of dims, `padding` is too great, no
                window fits, or a size is less than 1.

        Example:
            >>> F.max_pool2d(gw.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2)
            tensor([[[4.]]])
        """
        function = with_indices if return_indices else plain
        return function(input, kernel_size, stride, padding, dilation, ceil_mode)

    max_pool.__name__ = max_pool.__qualname__ = plain.__name__
    return max_pool


max_pool1d = _max_pool(ops.max_pool1d, ops.max_pool1d_with_indices)
max_pool2d = _max_pool(ops.max_pool2d, ops.max_pool2d_with_indices)
max_pool3d = _max_pool(ops.max_pool3d, ops.max_pool3d_with_indices)


def _adaptive_max_pool(function: Callable[..., Any]) -> Callable[..., Any]:
    def adaptive_max_pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        """Maximum of windows of the last dims, as many as `output_size` says.

        `adaptive_max_pool1d`, `adaptive_max_pool2d` and `adaptive_max_pool3d` pool 1, 2 and 3
        dims.

        Args:
            input: floating point, `(N, C, *)` or `(C, *)`.
            output_size: the number of windows, an int or one per dim; None keeps a dim's size
                (in 2 and 3 dims).
            return_indices: return `(values, indices)`: int64 positions in the flattened
                pooled dims.

        Returns: a tensor with `output_size` elements in the pooled dims.

        Raises:
            NotImplementedError: `input` holds integers.
            RuntimeError: `input` has another number of dims or no elements, or `output_size`
                does not fit.

        Example:
            >>> F.adaptive_max_pool2d(gw.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 1)
            tensor([[[4.]]])
        """
        both = function(input, output_size)
        return both if return_indices else both[0]

    adaptive_max_pool.__name__ = adaptive_max_pool.__qualname__ = function.__name__
    return adaptive_max_pool


adaptive_max_pool1d = _adaptive_max_pool(ops.adaptive_max_pool1d)
adaptive_max_pool2d = _adaptive_max_pool(ops.adaptive_max_pool2d)
adaptive_max_pool3d = _adaptive_max_pool(ops.adaptive_max_pool3d)


def _unpooled_size(
    name: str, ndim: int, input: Tensor, window: tuple[Any, Any, Any], output_size: Any
) -> tuple[Any, ...]:
    """The size that pooling came from, up to what `output_size` decides. ValueError if not."""
    kernel, stride, padding = window
    sizes = input.shape[-ndim:]
    default = tuple(
        (size - 1) * s + k - 2 * p
        for size, k, s, p in zip(sizes, kernel, stride, padding, strict=True)
    )
    if output_size is None:
        return default
    wanted = tuple(output_size)
    wanted = wanted[2:] if len(wanted) == ndim + 2 else wanted
    if len(wanted) != ndim:
        raise ValueError(
            f"{name}: output_size should be a sequence containing {ndim} or {ndim + 2} elements, "
            f"but it has a length of '{len(output_size)}'"
        )
    for got, middle, s in zip(wanted, default, stride, strict=True):
        if not middle - s < got < middle + s:
            raise ValueError(
                f"{name}: invalid output_size {list(wanted)}: each must lie within a stride of "
                f"{list(default)}"
            )
    return wanted


def _max_unpool(ndim: int) -> Callable[..., Any]:
    name = f"max_unpool{ndim}d"

    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        """Values laid back where `max_pool` with `return_indices` found them, 0 elsewhere.

        `max_unpool1d`, `max_unpool2d` and `max_unpool3d` undo pooling of 1, 2 and 3 dims.

        Args:
            input: maxima, `(N, C, *)` or `(C, *)`.
            indices: int64, of the shape of `input`.
            kernel_size: the size of a window, an int or one per dim.
            stride: the step between windows; `kernel_size` if None.
            padding: what was added at both ends of each dim.
            output_size: the size before pooling, within a stride of the default, which is
                `(size - 1) * stride + kernel_size - 2 * padding`.

        Returns: a tensor of that size in the pooled dims.

        Raises:
            RuntimeError: an index is outside of the result, or `input` has another number of
                dims.
            ValueError: `output_size` is impossible.

        Example:
            >>> F.max_unpool1d(gw.tensor([[5.0]]), gw.tensor([[1]]), 2)
            tensor([[0., 5.]])
        """
        require_tensor(name, "input", input)
        if input.ndim not in (ndim + 1, ndim + 2):
            raise RuntimeError(
                f"{name}: Input to {name} should be a {ndim + 1}d or {ndim + 2}d Tensor, but got "
                f"a tensor of {input.ndim} dimensions"
            )
        kernel = spread_over(ndim, name, "kernel_size", kernel_size)
        step = kernel if stride is None else spread_over(ndim, name, "stride", stride)
        window = (kernel, step, spread_over(ndim, name, "padding", padding))
        size = _unpooled_size(name, ndim, input, window, output_size)
        return ops.max_unpool(input, indices, size, ndim)

    max_unpool.__name__ = max_unpool.__qualname__ = name
    return max_unpool


max_unpool1d = _max_unpool(1)
max_unpool2d = _max_unpool(2)
max_unpool3d = _max_unpool(3)


def _lp_pool(ndim: int, average: Callable[..., Any]) -> Callable[..., Any]:
    name = f"lp_pool{ndim}d"

    def lp_pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Any,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        """p-norm of each window of the last dims: `sum(x**p)**(1/p)`.

        `lp_pool1d`, `lp_pool2d` and `lp_pool3d` pool 1, 2 and 3 dims.

        Args:
            input: `(N, C, *)` or `(C, *)`.
            norm_type: the order p.
            kernel_size: the size of a window, an int or one per dim.
            stride: the step between windows; `kernel_size` if None.
            ceil_mode: round the number of windows up, not down.

        Returns: a tensor with `(size - kernel_size) // stride + 1` elements in each pooled
        dim.

        Raises:
            RuntimeError: `input` has another number of dims, or no window fits.

        Example:
            >>> F.lp_pool1d(gw.tensor([[3.0, 4.0]]), 2, 2)
            tensor([[5.]])
        """
        places = 1
        for extent in spread_over(ndim, name, "kernel_size", kernel_size):
            places *= extent
        mean = average(ops.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
        total = ops.mul(ops.mul(ops.sign(mean), ops.relu(ops.abs(mean))), places)
        return ops.pow(total, 1.0 / norm_type)

    lp_pool.__name__ = lp_pool.__qualname__ = name
    return lp_pool


lp_pool1d = _lp_pool(1, ops.avg_pool1d)
lp_pool2d = _lp_pool(2, ops.avg_pool2d)
lp_pool3d = _lp_pool(3, ops.avg_pool3d)
