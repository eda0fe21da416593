"""Putting a new value of a view back into the tensor that it is a view of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.ir.lowered import CannotLower, ViewStep
from graphwright.runtime import dtypes
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import _face as ops

RESHAPES = frozenset({"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze"})
"""Views that keep the elements' row-major order."""


def view_again(step: ViewStep, value: Any) -> Any:
    """The view of a pure value. Its memory may be laid out differently: `view` may copy."""
    op, args = step
    if op.name == "view":
        return ops.reshape(value, *args)
    if op.name == "select_at":
        dim, _ = args
        return ops.squeeze(ops.index(value, _only_at(*args)), dim)
    if op.name == "as_strided" and not value.is_contiguous():
        raise CannotLower("as_strided of a tensor that is not contiguous")
    return dispatch(op, (value, *args))


def put_back(base: Any, chain: Sequence[ViewStep], value: Any) -> Any:
    """`base` with `value` where the view through `chain` was."""
    if not chain:
        return value
    parent = base
    for step in chain[:-1]:
        parent = view_again(step, parent)
    op, args = chain[-1]
    inverse = ops.reshape if op.name in RESHAPES else None
    if inverse is not None:
        value = inverse(value, parent.shape)
    else:
        value = _INVERSES.get(op.name, _by_position(chain[-1]))(parent, value, *args)
    return put_back(base, chain[:-1], value)


def _permute(parent: Any, value: Any, dims: Sequence[int]) -> Any:
    inverse = [0] * len(dims)
    for place, dim in enumerate(dims):
        inverse[dim] = place
    return ops.permute(value, tuple(inverse))


def _transpose(parent: Any, value: Any, dim0: int, dim1: int) -> Any:
    return ops.transpose(value, dim0, dim1)


def _t(parent: Any, value: Any) -> Any:
    return ops.t(value)


def _select(parent: Any, value: Any, dim: int, index: Any) -> Any:
    if index < 0:
        index = index + parent.shape[dim]
    return _between(parent, ops.unsqueeze(value, dim), dim, index, index + 1)


def _select_at(parent: Any, value: Any, dim: int, index: Any) -> Any:
    return ops.index_put(parent, _only_at(dim, index), ops.unsqueeze(value, dim), False)


def _only_at(dim: int, index: Any) -> tuple[Any, ...]:
    """The subscript that picks one position, held by a 0-d tensor, along `dim`."""
    place = index if index.dtype is dtypes.int64 else ops.to_dtype(index, dtypes.int64)
    return *(None,) * dim, ops.reshape(place, (1,))


def _slice(parent: Any, value: Any, dim: int, start: Any, end: Any, step: Any) -> Any:
    size = parent.shape[dim]
    first = 0 if start is None else start
    if first < 0:
        first = max(first + size, 0)
    elif first > size:
        first = size
    if step in (None, 1):
        return _between(parent, value, dim, first, first + value.shape[dim])
    args = (dim, start, end, step)
    return _by_position((_op("slice"), args))(parent, value, *args)


def _between(parent: Any, value: Any, dim: int, start: Any, end: Any) -> Any:
    """`parent` with `value` in place of [start, end) along `dim`."""
    parts = []
    if start != 0:
        parts.append(ops.slice(parent, dim, 0, start))
    parts.append(value)
    if end != parent.shape[dim]:
        parts.append(ops.slice(parent, dim, end, parent.shape[dim]))
    return ops.cat(tuple(parts), dim) if len(parts) > 1 else value


def _expand(parent: Any, value: Any, *args: Any) -> Any:
    if parent.shape != value.shape:
        raise CannotLower("in-place op on an expanded tensor")
    return value


def _detach(parent: Any, value: Any) -> Any:
    return value


def _by_position(step: ViewStep) -> Callable[..., Any]:
    """For any other view: write to the positions that it shows, found by viewing positions."""
    def inverse(parent: Any, value: Any, *args: Any) -> Any:
        positions = ops.reshape(ops.arange(parent.numel(), device=parent.device), parent.shape)
        shown = ops.reshape(view_again(step, positions), (-1,))
        flat = ops.reshape(parent, (-1,))
        written = ops.index_put(flat, (shown,), ops.reshape(value, (-1,)), False)
        return ops.reshape(written, parent.shape)
    return inverse


def _op(name: str) -> Any:
    return getattr(ops, name).__gw_op__


_INVERSES: dict[str, Callable[..., Any]] = {
    "permute": _permute, "transpose": _transpose, "t": _t, "select": _select, "slice": _slice,
    "expand": _expand, "detach": _detach, "alias": _detach, "select_at": _select_at,
}
