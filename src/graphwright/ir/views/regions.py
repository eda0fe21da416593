"""Regions: the part of a tensor that a chain of views shows, in one form for equal parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.ir.passes.cse import key_of
from graphwright.runtime.ops.table import Op
from graphwright.runtime.ops.views.basic import slice_bound, wrapped_index
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, as_expr, as_int

RESHAPES = frozenset({"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze"})
"""Views that keep the elements' row-major order."""

RENAMING = RESHAPES | {
    "permute",
    "transpose",
    "t",
    "detach",
    "alias",
    "expand",
    "slice",
    "select",
    "diagonal",
}
"""Views whose elements follow from shapes alone, whatever lies where in memory."""

Step = tuple[Any, ...]
"""(name, *args) of a view op."""


class Extent(Record):
    """The positions start, start + step, ... along a dimension, `size` of them."""

    start: Any
    size: Any
    step: int

    @property
    def last(self) -> Expr:
        return as_expr(self.start) + (as_expr(self.size) - 1) * self.step


class Region(Record):
    """What a chain of views of a tensor shows.

    `steps` name the views, slices and positions counted from the front. `box`: the positions
    along each of the tensor's dimensions, and `dims`, which of these the dimensions of the last
    view are; None where the views do more than pick.
    """

    steps: tuple[Step, ...] = ()
    box: tuple[Extent, ...] | None = None
    dims: tuple[int, ...] = ()

    def through(self, op: Op, args: tuple[Any, ...], parent: Any, view: Any) -> Region:
        """The region of a view `op(parent, *args)` of this one. `parent`, `view`: their values."""
        step = _counted(op.name, args, parent)
        box, dims = self._picked(step, view)
        return Region((*self.steps, step), box, dims)

    def _picked(self, step: Step, view: Any) -> tuple[tuple[Extent, ...] | None, tuple[int, ...]]:
        name, *args = step
        if self.box is None:
            return None, ()
        if name in ("detach", "alias"):
            return self.box, self.dims
        if name == "permute":
            return self.box, tuple([self.dims[d] for d in args[0]])
        if name == "transpose" and self.dims:
            dims = list(self.dims)
            dims[args[0]], dims[args[1]] = dims[args[1]], dims[args[0]]
            return self.box, tuple(dims)
        if name not in ("slice", "select"):
            return None, ()
        dim, start = args[:2]
        own = self.box[self.dims[dim]]
        first = own.start + start * own.step
        if name == "select":
            extent, dims = Extent(first, 1, own.step), [*self.dims[:dim], *self.dims[dim + 1 :]]
        else:
            extent = Extent(first, view.shape[dim], own.step * args[3])
            dims = list(self.dims)
        box = list(self.box)
        box[self.dims[dim]] = extent
        return tuple(box), tuple(dims)

    def within(self, other: Region) -> bool:
        """Whether it is what `other` shows, or a view of that by further steps."""
        count = len(other.steps)
        return key_of(self.steps[:count]) == key_of(other.steps)

    def apart(self, other: Region) -> bool:
        """Whether the two are known to have no element in common."""
        if self.box is None or other.box is None:
            return False
        return any(_apart(a, b) for a, b in zip(self.box, other.box, strict=True))


def whole(tensor: Any) -> Region:
    """All of a tensor."""
    box = tuple([Extent(0, size, 1) for size in tensor.shape])
    return Region((), box, tuple(range(len(box))))


def _counted(name: str, args: tuple[Any, ...], parent: Any) -> Step:
    if name == "slice":
        dim, start, end, step = args
        size = parent.shape[dim]
        first = slice_bound(start, 0, size)
        return (name, dim, first, slice_bound(end, size, size), 1 if step is None else step)
    if name == "select":
        dim, index = args
        return (name, dim, wrapped_index(index, parent.shape[dim], dim))
    if name == "select_at":
        return (name, args[0], id(args[1]))
    return (name, *args)


def _apart(one: Extent, two: Extent) -> bool:
    for first, second in ((one, two), (two, one)):
        gap = as_expr(second.start) - first.last
        low = gap.range()[0]
        if low is not None and low > 0:
            return True
    offset = as_int(as_expr(one.start) - as_expr(two.start))
    return one.step == two.step != 1 and offset is not None and offset % one.step != 0


def is_full(step: Step, size: Any) -> bool:
    """Whether a slice, counted from the front, shows all of a dimension of that size."""
    return step[0] == "slice" and key_of(step[2:]) == key_of((0, size, 1))


def kept_steps(parent: Any, views: Sequence[tuple[Step, Any]]) -> tuple[Step, ...]:
    """The steps without those that change nothing. `views` pairs them with their values."""
    kept = []
    for step, view in views:
        full = step[0] == "slice" and is_full(step, parent.shape[step[1]])
        if not full and step[0] not in ("detach", "alias"):
            kept.append(step)
        parent = view
    return tuple(kept)
