"""From axes to loops: merging axes, splitting for threads, and renaming in statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Axis,
    Check,
    Fold,
    For,
    IndexOf,
    Let,
    Load,
    LoopKind,
    Philox,
    Reduce,
    Search,
    Stmt,
    Store,
    Value,
)
from graphwright.codegen.scheduler.affine import coefficient, estimate
from graphwright.codegen.scheduler.loop_domain import Dim
from graphwright.runtime.record import Record, replace
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, as_int, ceildiv, minimum, product

SERIAL_WORK = 1 << 15
"""Below this many operations a kernel stays on one thread."""
GRAIN_WORK = 1 << 15
"""Operations that are worth a thread's while."""
ENOUGH_ITERATIONS = 32
BLOCK = 4096


class Run(Record):
    """Neighbouring axes, outermost first, that every access walks as one: a single loop."""

    dims: tuple[Dim, ...]

    @property
    def extent(self) -> Expr:
        return product([d.extent for d in self.dims])

    def bound_to(self, symbol: Expr) -> dict[str, Expr]:
        """What to put for the axes' symbols in affine indices, if `symbol` walks the run."""
        bound: dict[str, Expr] = {d.symbol.name: Int(0) for d in self.dims[:-1]}
        bound[self.dims[-1].symbol.name] = symbol
        return bound


def merge(dims: Sequence[Dim], indices: Sequence[Expr]) -> list[Run]:
    """Join neighbouring axes wherever all `indices` move alike along them."""
    runs: list[list[Dim]] = []
    for dim in dims:
        if runs and all(_continues(e, runs[-1][-1], dim) for e in indices):
            runs[-1].append(dim)
        else:
            runs.append([dim])
    return [Run(tuple(run)) for run in runs]


def _continues(index: Expr, outer: Dim, inner: Dim) -> bool:
    step_outer = coefficient(index, outer.symbol)
    step_inner = coefficient(index, inner.symbol)
    return step_outer is not None and step_inner is not None and (
        step_outer == step_inner * inner.extent)


def by_stride(dims: Sequence[Dim], index: Expr | None) -> list[Dim]:
    """The axes ordered by how far `index` moves along them, farthest first."""
    if index is None:
        return list(dims)
    steps: dict[str, int] = {}
    for dim in dims:
        step = coefficient(index, dim.symbol)
        if step is None:
            return list(dims)
        steps[dim.symbol.name] = abs(estimate(step))
    return sorted(dims, key=lambda d: -steps[d.symbol.name])


def is_little(runs: Sequence[Run], work: int) -> bool:
    """Whether loops over `runs` are known to be too short for threads."""
    static = all(as_int(run.extent) is not None for run in runs)
    return static and work * volume_of(runs) < SERIAL_WORK


class Nest(Record):
    """Loops around a body: `outer` runs, then `serial` runs, then `body`, which may hold an
    innermost VECTOR loop over `vector`: `before` are its neighbours, computed outside it.

    `work` estimates the operations of one element of the vector loop (of the body without one).
    """

    outer: tuple[Run, ...]
    serial: tuple[Run, ...]
    vector: Run | None
    before: tuple[Stmt, ...]
    body: tuple[Stmt, ...]
    work: int
    block: int = BLOCK

    def stmts(self) -> tuple[Stmt, ...]:
        """The loop nest as statements: serial if it has little work, else parallel."""
        runs = (*self.outer, *self.serial, *((self.vector,) if self.vector else ()))
        return self._serial_loops() if is_little(runs, self.work) else self._parallel_loops()

    def _serial_loops(self) -> tuple[Stmt, ...]:
        bound: dict[str, Expr] = {}
        axes: list[Axis] = []
        for run in (*self.outer, *self.serial):
            axes.append(loop_axis(f"i{len(axes)}", run.extent))
            bound |= run.bound_to(axes[-1].symbol)
        stmts = self._innermost(f"i{len(axes)}", bound)
        for axis in reversed(axes):
            stmts = (For(axis, LoopKind.SERIAL, stmts),)
        return stmts

    def _innermost(self, name: str, bound: dict[str, Expr]) -> tuple[Stmt, ...]:
        if self.vector is None:
            return rename((*self.before, *self.body), bound)
        axis = loop_axis(name, self.vector.extent)
        bound = bound | self.vector.bound_to(axis.symbol)
        loop = For(axis, LoopKind.VECTOR, rename(self.body, bound))
        return (*rename(self.before, bound), loop)

    def _parallel_loops(self) -> tuple[Stmt, ...]:
        count = self._flattened()
        flat, rest = self.outer[:count], self.outer[count:]
        rows = product([r.extent for r in flat])
        inner = self.work * volume_of(rest) * volume_of(self.serial) * (
            estimate(self.vector.extent) if self.vector else 1)
        blocks = self._blocks(rows, rest)
        axis = loop_axis("p", rows if blocks is None else rows * blocks)
        bound = unflattened(flat, axis.symbol if blocks is None else axis.symbol // blocks)
        if blocks is not None:
            inner = self.work * self.block * volume_of(self.serial)
        axes: list[Axis] = []
        for run in (*rest, *self.serial):
            axes.append(loop_axis(f"i{len(axes)}", run.extent))
            bound |= run.bound_to(axes[-1].symbol)
        name = f"i{len(axes)}"
        if blocks is None:
            stmts = self._innermost(name, bound)
        else:
            stmts = self._block(name, axis.symbol % blocks, bound)
        for serial in reversed(axes):
            stmts = (For(serial, LoopKind.SERIAL, stmts),)
        if axis.extent == 1:
            return rename(stmts, {"p": Int(0)})
        grain = max(1, GRAIN_WORK // max(1, inner))
        return (For(axis, LoopKind.PARALLEL, stmts, grain),)

    def _flattened(self) -> int:
        """How many of the outer runs make the parallel loop."""
        total = 1
        for count, run in enumerate(self.outer):
            if total >= ENOUGH_ITERATIONS:
                return count
            total *= estimate(run.extent)
        return len(self.outer)

    def _blocks(self, rows: Expr, rest: tuple[Run, ...]) -> Expr | None:
        """Into how many blocks the vector loop is cut, None to leave it whole."""
        if self.vector is None or rest:
            return None
        known = as_int(rows)
        extent = self.vector.extent
        if known is None or known >= ENOUGH_ITERATIONS:
            return None
        if as_int(extent) is not None and estimate(extent) <= self.block:
            return None
        return ceildiv(extent, self.block)

    def _block(self, name: str, number: Expr, bound: dict[str, Expr]) -> tuple[Stmt, ...]:
        assert self.vector is not None, "only vector loops are cut into blocks"
        start = number * self.block
        left = minimum(self.block, self.vector.extent - start)
        axis = Axis(Sym(name, 0, self.block - 1), left)
        bound = bound | self.vector.bound_to(start + axis.symbol)
        loop = For(axis, LoopKind.VECTOR, rename(self.body, bound))
        return (*rename(self.before, bound), loop)


def loop_axis(name: str, extent: Expr) -> Axis:
    """A loop over [0, extent) whose variable has that name."""
    return Axis(Sym(name, 0, extent - 1), extent)


def volume_of(runs: Sequence[Run]) -> int:
    """The estimated number of elements."""
    total = 1
    for run in runs:
        total *= estimate(run.extent)
    return total


def unflattened(runs: Sequence[Run], flat: Expr) -> dict[str, Expr]:
    """What to put for the axes of `runs`, if `flat` walks them all in row-major order."""
    bound: dict[str, Expr] = {}
    step: Expr = Int(1)
    for position, run in reversed(list(enumerate(runs))):
        at = flat // step
        bound |= run.bound_to(at if position == 0 else at % run.extent)
        step = step * run.extent
    return bound


def pass_axes(runs: Sequence[Run], prefix: str = "j") -> tuple[tuple[Axis, ...], dict[str, Expr]]:
    """Loop axes for the runs of a pass over a row, and what to put for the runs' symbols."""
    axes: list[Axis] = []
    bound: dict[str, Expr] = {}
    for run in runs:
        axes.append(loop_axis(f"{prefix}{len(axes)}", run.extent))
        bound |= run.bound_to(axes[-1].symbol)
    return tuple(axes), bound


def loops_over(axes: Sequence[Axis], stmts: tuple[Stmt, ...], kind: LoopKind) -> tuple[Stmt, ...]:
    """Loops over `axes`, the innermost of kind `kind`, the others serial."""
    for axis in reversed(axes):
        stmts = (For(axis, kind, stmts),)
        kind = LoopKind.SERIAL
    return stmts


def rename(stmts: Sequence[Stmt], bound: dict[str, Expr]) -> tuple[Stmt, ...]:
    """The statements with symbols replaced in all index expressions."""
    return tuple(_renamed(s, bound) for s in stmts)


def _renamed(stmt: Any, bound: dict[str, Expr]) -> Stmt:
    if isinstance(stmt, Search):
        return replace(stmt, value=renamed_value(stmt.value, bound), index=stmt.index.at(bound),
                       length=stmt.length.at(bound))
    if isinstance(stmt, Let):
        return Let(stmt.name, renamed_value(stmt.value, bound))
    if isinstance(stmt, (Store, Accumulate)):
        return replace(stmt, index=stmt.index.at(bound), value=renamed_value(stmt.value, bound))
    if isinstance(stmt, Check):
        return Check(renamed_value(stmt.value, bound), stmt.bound.at(bound), stmt.message)
    if isinstance(stmt, For):
        return For(_renamed_axis(stmt.axis, bound), stmt.kind, rename(stmt.body, bound),
                   stmt.grain)
    assert isinstance(stmt, Reduce), f"unknown statement {stmt}"
    return Reduce(
        tuple(_renamed_axis(a, bound) for a in stmt.axes), stmt.kind,
        tuple(Fold(f.name, f.op, renamed_value(f.value, bound)) for f in stmt.folds),
        rename(stmt.prologue, bound))


def _renamed_axis(axis: Axis, bound: dict[str, Expr]) -> Axis:
    return Axis(axis.symbol, axis.extent.at(bound))


def renamed_value(value: Any, bound: dict[str, Expr]) -> Value:
    """A value with symbols replaced in its index expressions."""
    if isinstance(value, Apply):
        return Apply(value.op, tuple(renamed_value(a, bound) for a in value.args), value.dtype)
    if isinstance(value, Load):
        mask = None if value.mask is None else renamed_value(value.mask, bound)
        return Load(value.buffer, value.index.at(bound), mask, value.other)
    if isinstance(value, IndexOf):
        return IndexOf(value.index.at(bound), value.dtype)
    if isinstance(value, Philox):
        return Philox(value.rng_index, value.index.at(bound), value.dtype)
    return value
