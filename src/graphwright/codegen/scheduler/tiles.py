"""Pointwise loops over operands that lie crosswise in memory, in tiles.

What one operand has next to each other lies far apart in another: x[N*i + j] beside y[M*j + i].
Whatever axis is innermost, each of the other operand's cache lines is fetched for one of its
elements, and is gone before the next is asked for. In a tile of `ACROSS` by `ALONG` elements all
of a line are used while it is at hand::

    for p in parallel(blocks):
        for i in serial(ACROSS):
            for j in vector(ALONG):
                y[M*j + i] ...
"""

from __future__ import annotations

from collections.abc import Sequence

from graphwright.codegen.loops import Axis, For, LoopKind, Stmt
from graphwright.codegen.scheduler.affine import coefficient, estimate
from graphwright.codegen.scheduler.loopnest import (
    GRAIN_WORK,
    Run,
    rename,
    unflattened,
)
from graphwright.runtime.symbolic.expr import Expr, Sym, ceildiv, minimum, product

ACROSS, ALONG = 16, 16
LINE = 16
"""Steps of at least this many elements leave a cache line."""


def crossing(runs: Sequence[Run], indices: Sequence[Expr]) -> int | None:
    """The position of a loop other than the innermost along which an operand is contiguous that
    the innermost reads with a stride: the two are tiled. None if there is none of enough steps."""
    along = runs[-1].dims[-1].symbol
    if len(runs) < 2 or estimate(runs[-1].extent) < LINE:
        return None
    for index in indices:
        step = coefficient(index, along)
        if step is None or abs(estimate(step)) < LINE:
            continue
        for number, run in enumerate(runs[:-1]):
            across = coefficient(index, run.dims[-1].symbol)
            if across is not None and abs(estimate(across)) == 1 and (
                    estimate(run.extent) >= ACROSS // 2):
                return number
    return None


def tiled(
    runs: Sequence[Run], across: int, before: tuple[Stmt, ...], body: tuple[Stmt, ...], work: int
) -> tuple[Stmt, ...]:
    """The loops over tiles of `runs[across]` and the last run. `before`: see `Nest`."""
    outer = [run for number, run in enumerate(runs[:-1]) if number != across]
    rows, columns = runs[across], runs[-1]
    high, wide = ceildiv(rows.extent, ACROSS), ceildiv(columns.extent, ALONG)
    tiles = product([run.extent for run in outer]) * high * wide
    p = Axis(Sym("p", 0, tiles - 1), tiles)
    bound = unflattened(outer, p.symbol // (high * wide))
    i, row = _block("i0", rows.extent, p.symbol % high, ACROSS)
    j, column = _block("i1", columns.extent, p.symbol // high % wide, ALONG)
    bound |= rows.bound_to(row) | columns.bound_to(column)
    loop = For(j, LoopKind.VECTOR, rename(body, bound))
    stmts: tuple[Stmt, ...] = (For(i, LoopKind.SERIAL, (*rename(before, bound), loop)),)
    grain = max(1, GRAIN_WORK // max(1, work * ACROSS * ALONG))
    return (For(p, LoopKind.PARALLEL, stmts, grain),)


def _block(name: str, extent: Expr, number: Expr, size: int) -> tuple[Axis, Expr]:
    """The loop over the elements of a block, and where in `extent` it is."""
    start = number * size
    axis = Axis(Sym(name, 0, size - 1), minimum(size, extent - start))
    return axis, start + axis.symbol
