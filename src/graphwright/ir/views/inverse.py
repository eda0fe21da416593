"""What an in-place op writes, and putting it back into the tensor that a view is a view of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.ir.lowered_graph import CannotLower, ViewStep
from graphwright.ir.views.regions import RENAMING, RESHAPES, Step, is_full, kept_steps, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op, not_differentiable
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import can_cast

REPEATING = frozenset(["as_strided", "expand", "unfold"])
"""The views that may show places more than once of what shows each once."""


def view_again(step: ViewStep, value: Any) -> Any:
    """The view of a pure value. Its memory may be laid out differently: `view` may copy."""
    op, args = step
    if op.name == "view":
        return ops.reshape(value, *args)
    if op.name == "view_dtype":
        return ops.view_dtype(ops.contiguous(value), *args)
    if op.name == "select_at":
        dim, _ = args
        return ops.squeeze(ops.index(value, _only_at(*args)), dim)
    if op.name == "as_strided":
        value = ops.contiguous(value)       # as it is eagerly: see `trace.by_memory`
    return dispatch(op, (value, *args))


def new_value(op: Op, args: tuple[Any, ...]) -> Any:
    """What the in-place op `op` writes, with the dtype and shape of what it writes to.

    Raises: CannotLower where it does not fit, which eager execution refuses.
    """
    target = args[0]
    if op.functional is None:
        raise CannotLower(f"{op.name} has no functional form")
    value = dispatch(op.functional, args)
    if value.shape != target.shape or not can_cast(value.dtype, target.dtype):
        raise CannotLower(f"{op.name}: {describe(value)} does not fit into {describe(target)}")
    if value.dtype is not target.dtype:
        value = ops.to_dtype(value, target.dtype)
    differentiable = op.functional.vjp is not not_differentiable
    return value if differentiable else ops.copy(target, value)     # requires what it required


def put_back(base: Any, chain: Sequence[ViewStep], value: Any) -> Any:
    """`base` with `value` where the view through `chain` was."""
    values = [base]
    for step in chain:
        values.append(view_again(step, values[-1]))
    end = len(chain)
    while end:
        start = end
        while start and chain[start - 1][0].name in RENAMING:
            start -= 1
        if start == end:
            start -= 1
            op, args = chain[start]
            inverse = _INVERSES.get(op.name, _by_position(chain[start]))
            value = inverse(values[start], value, *args)
        else:
            value = _renamed_back(chain[start:end], values[start:end + 1], value)
        end = start
    return value


def _renamed_back(chain: Sequence[ViewStep], values: Sequence[Any], value: Any) -> Any:
    """The base with `value` written through views that only select or reorder elements.

    Views that only reorder are inverted; the others become one `view_scatter` of their region.
    values: the base and its views."""
    region = whole(values[0])
    for (op, args), parent, view in zip(chain, values, values[1:], strict=False):
        region = region.through(op, args, parent, view)
    count = len(chain)
    while count and _reorders(region.steps[count - 1], values[count - 1]):
        name, *rest = region.steps[count - 1]
        value = _REORDERED.get(name, _reshape)(values[count - 1], value, *rest)
        count -= 1
    if not count:
        return value
    steps = kept_steps(values[0], list(zip(region.steps[:count], values[1:], strict=False)))
    return ops.view_scatter(values[0], value, steps)


def _reorders(step: Step, parent: Any) -> bool:
    """Whether a view shows every element of its parent once."""
    if step[0] == "slice":
        return is_full(step, parent.shape[step[1]])
    return step[0] in _REORDERED or step[0] in RESHAPES


def _reshape(parent: Any, value: Any, *args: Any) -> Any:
    return ops.reshape(value, parent.shape)


def _view_dtype(parent: Any, value: Any, dtype: Any) -> Any:
    return ops.view_dtype(ops.contiguous(value), parent.dtype)


def _permute(parent: Any, value: Any, dims: Sequence[int]) -> Any:
    inverse = [0] * len(dims)
    for place, dim in enumerate(dims):
        inverse[dim] = place
    return ops.permute(value, tuple(inverse))


def _transpose(parent: Any, value: Any, dim0: int, dim1: int) -> Any:
    return ops.transpose(value, dim0, dim1)


def _t(parent: Any, value: Any) -> Any:
    return ops.t(value)


def _select_at(parent: Any, value: Any, dim: int, index: Any) -> Any:
    return ops.index_put(parent, _only_at(dim, index), ops.unsqueeze(value, dim), False)


def _only_at(dim: int, index: Any) -> tuple[Any, ...]:
    """The subscript that picks one position, held by a 0-d tensor, along `dim`."""
    place = index if index.dtype is dtypes.int64 else ops.to_dtype(index, dtypes.int64)
    return *(None,) * dim, ops.reshape(place, (1,))


def _expand(parent: Any, value: Any, *args: Any) -> Any:
    if parent.shape != value.shape:
        raise CannotLower("in-place op on an expanded tensor")
    return value


def _same(parent: Any, value: Any, *args: Any) -> Any:
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


_REORDERED: dict[str, Callable[..., Any]] = {
    "permute": _permute, "transpose": _transpose, "t": _t, "expand": _expand, "detach": _same,
    "alias": _same, "slice": _same,
}
"""The inverses of views that show every element once."""

_INVERSES: dict[str, Callable[..., Any]] = {
    "select_at": _select_at, "view_dtype": _view_dtype,
}  # fmt: skip
