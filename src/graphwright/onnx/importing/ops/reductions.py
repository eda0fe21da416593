"""Reductions over axes, and sums and products along one."""

from __future__ import annotations

import math
from collections.abc import Callable

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op, sizes_rule
from graphwright.onnx.importing.values import Sizes

_Reduce = Callable[[Tensor, list[int], bool], Tensor]


def _reduction(name: str, function: _Reduce) -> None:
    """Enter a reduction; `axes` is an attribute in older versions, no axes mean all."""
    def compute(
        x: Tensor, axes: list[int] | None = None, *, keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Tensor:  # fmt: skip
        if x.dim() == 0 or (not axes and noop_with_empty_axes):
            return function(x.unsqueeze(0), [0], False)
        return function(x, axes or list(range(x.dim())), bool(keepdims))

    op(name)(compute)


def _sum(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return gw.sum(x, dim=axes, keepdim=keep, dtype=x.dtype)


def _mean(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    if x.dtype.is_floating_point:
        return gw.mean(x, dim=axes, keepdim=keep)
    count = math.prod([x.shape[axis] for axis in axes])
    return gw.div(_sum(x, axes, keep), count, rounding_mode="trunc").to(x.dtype)


def _extreme(largest: bool) -> _Reduce:
    def compute(x: Tensor, axes: list[int], keep: bool) -> Tensor:
        if any(x.shape[axis] == 0 for axis in axes):
            return _of_nothing(x, axes, keep, largest)
        return gw.amax(x, dim=axes, keepdim=keep) if largest else gw.amin(x, axes, keep)

    return compute


def _of_nothing(x: Tensor, axes: list[int], keep: bool, largest: bool) -> Tensor:
    """The least value of the dtype as the largest of no elements, or the other way round."""
    sizes = list(_sum(x.to(gw.float32), axes, keep).shape)
    if x.dtype == gw.bool:
        return gw.full(sizes, not largest, dtype=x.dtype)
    if x.dtype.is_floating_point:
        return gw.full(sizes, float("-inf") if largest else float("inf"), dtype=x.dtype)
    limits = gw.iinfo(x.dtype)
    return gw.full(sizes, limits.min if largest else limits.max, dtype=x.dtype)


def _prod(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    for axis in sorted([axis % x.dim() for axis in axes], reverse=True):
        x = gw.prod(x, dim=axis, keepdim=keep, dtype=x.dtype)
    return x


def _through_floats(function: _Reduce) -> _Reduce:
    """A reduction of real numbers, for integers too."""
    def compute(x: Tensor, axes: list[int], keep: bool) -> Tensor:
        wide = x if x.dtype.is_floating_point else x.double()
        return function(wide, axes, keep).to(x.dtype)

    return compute


for _name, _function in {
    "ReduceSum": _sum, "ReduceMean": _mean, "ReduceProd": _prod, "ReduceMax": _extreme(True),
    "ReduceMin": _extreme(False),
    "ReduceL1": lambda x, axes, keep: _sum(gw.abs(x), axes, keep),
    "ReduceL2": _through_floats(lambda x, axes, keep: gw.sqrt(_sum(x * x, axes, keep))),
    "ReduceSumSquare": lambda x, axes, keep: _sum(x * x, axes, keep),
    "ReduceLogSum": _through_floats(lambda x, axes, keep: gw.log(_sum(x, axes, keep))),
    "ReduceLogSumExp": _through_floats(gw.logsumexp),
}.items():  # fmt: skip
    _reduction(_name, _function)


def _arg(largest: bool) -> Callable[..., Tensor]:
    def compute(
        x: Tensor, *, axis: int, keepdims: int = 1, select_last_index: int = 0
    ) -> Tensor:
        find = gw.argmax if largest else gw.argmin
        if not select_last_index:
            return find(x, dim=axis, keepdim=bool(keepdims))
        index = find(gw.flip(x, [axis]), dim=axis, keepdim=bool(keepdims))
        return x.shape[axis] - 1 - index

    return compute


op("ArgMax")(_arg(True))
op("ArgMin")(_arg(False))


def _cumulative(function: Callable[..., Tensor], neutral: int) -> Callable[..., Tensor]:
    def compute(x: Tensor, axis: int, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
        if reverse:
            x = gw.flip(x, [axis])
        if exclusive:
            first = gw.full_like(x.narrow(axis, 0, 1), neutral)
            x = gw.cat([first, x.narrow(axis, 0, x.shape[axis] - 1)], dim=axis)
        result = function(x, dim=axis, dtype=x.dtype)
        return gw.flip(result, [axis]) if reverse else result

    return compute


op("CumSum")(_cumulative(gw.cumsum, 0))
op("CumProd")(_cumulative(gw.cumprod, 1))


@sizes_rule("ReduceProd")
def _product(x: Sizes, axes: Sizes | None = None, *, keepdims: int = 1, **_: object) -> Sizes:
    return x.like([math.prod(x.values)], scalar=x.scalar or not keepdims)
