"""Reductions over axes, and sums and products along one."""

from __future__ import annotations

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
        if not axes and noop_with_empty_axes:
            return function(x.unsqueeze(0), [0], False)
        return function(x, axes or list(range(x.dim())), bool(keepdims))

    op(name)(compute)


def _sum(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return gw.sum(x, dim=axes, keepdim=keep, dtype=x.dtype) if x.dim() else x.clone()


def _mean(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    if x.dtype.is_floating_point:
        return gw.mean(x, dim=axes, keepdim=keep) if x.dim() else x.clone()
    count = 1
    for axis in axes:
        count = count * x.shape[axis]
    return gw.div(_sum(x, axes, keep), count, rounding_mode="trunc").to(x.dtype)


def _extreme(largest: bool) -> _Reduce:
    def compute(x: Tensor, axes: list[int], keep: bool) -> Tensor:
        if x.dim() == 0:
            return x.clone()
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


def _l2(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    if x.dtype.is_floating_point:
        return gw.sqrt(_sum(x * x, axes, keep))
    wide = x.double()
    return gw.sqrt(_sum(wide * wide, axes, keep)).to(x.dtype)


def _log(x: Tensor) -> Tensor:
    return gw.log(x) if x.dtype.is_floating_point else gw.log(x.double()).to(x.dtype)


def _logsumexp(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    if x.dim() == 0:
        return x.clone()
    wide = x if x.dtype.is_floating_point else x.double()
    return gw.logsumexp(wide, dim=axes, keepdim=keep).to(x.dtype)


for _name, _function in {
    "ReduceSum": _sum, "ReduceMean": _mean, "ReduceProd": _prod, "ReduceMax": _extreme(True),
    "ReduceMin": _extreme(False), "ReduceL2": _l2, "ReduceLogSumExp": _logsumexp,
    "ReduceL1": lambda x, axes, keep: _sum(gw.abs(x), axes, keep),
    "ReduceSumSquare": lambda x, axes, keep: _sum(x * x, axes, keep),
    "ReduceLogSum": lambda x, axes, keep: _log(_sum(x, axes, keep)),
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
    total = 1
    for n in x.values:
        total = total * n
    return x.like([total], scalar=x.scalar or not keepdims)
