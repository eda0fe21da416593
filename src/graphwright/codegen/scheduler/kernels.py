"""Loop nests of fused groups, by the arrangement of their loops."""

from __future__ import annotations

from collections.abc import Callable

from graphwright.codegen.loops import Axis, Kernel, LoopKind, Reduce, Stmt
from graphwright.codegen.lowering.nodes import Reduction
from graphwright.codegen.scheduler.assembly import assembly_stmts
from graphwright.codegen.scheduler.buffer_access import touched
from graphwright.codegen.scheduler.groups import Style
from graphwright.codegen.scheduler.loopnest import (
    Nest,
    by_stride,
    is_little,
    loops_over,
    merge,
    pass_axes,
    rename,
)
from graphwright.codegen.scheduler.split_reductions import chunked_stmts, streamed_stmts
from graphwright.codegen.scheduler.tiles import crossing, tiled
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.codegen.scheduler.writer import Writer
from graphwright.runtime.symbolic.expr import Expr

COLUMN_BLOCK = 64
"""How many results of a column reduction are one thread's smallest share."""


def write_kernel(writing: Writing, name: str) -> Kernel:
    """The kernel of a group."""
    stmts = WRITERS[writing.group.style](writing)
    return Kernel(name, touched(stmts), stmts)


def _pointwise(writing: Writing) -> tuple[Stmt, ...]:
    dims = by_stride(writing.group.dims, writing.store_index())
    runs = merge(dims, writing.indices())
    vector = runs[-1] if runs else None
    writer = writing.writer(vector.dims if vector else ())
    for member in writing.group.members.values():
        writer.row_member(member)
    stmts, _ = writer.close_pass([])
    before, body, work = tuple(writer.outer.stmts), tuple(stmts), writing.work()
    across = crossing(runs, writing.indices()) if runs and not is_little(runs, work) else None
    if across is not None:
        return tiled(runs, across, before, body, work)
    return Nest(tuple(runs[:-1]), (), vector, before, body, work).stmts()


def passes(
    writing: Writing, writer: Writer, axes: tuple[Axis, ...], bound: dict[str, Expr],
    kind: LoopKind,
) -> tuple[Stmt, ...]:
    """The body of one row: its passes, and what is computed once per row in between.

    axes: the loops of a pass; bound: what to put for the symbols of the reduced axes.
    """
    for step in range(writing.group.steps + 1):
        for member in writing.on_level(step, row=False):
            writer.outer_member(member)
        row = writing.on_level(step, row=True)
        if not row:
            continue
        for member in row:
            writer.row_member(member)
        stmts, folds = writer.close_pass(row)
        if folds:
            writer.outer.stmts += rename([Reduce(axes, kind, tuple(folds), tuple(stmts))], bound)
        else:
            writer.outer.stmts += loops_over(axes, rename(stmts, bound), kind)
        for member in row:
            if isinstance(writing.anchors.nodes[member.name], Reduction):
                writer.store_result(member)
    return writer.finish()


def _row(writing: Writing) -> tuple[Stmt, ...]:
    group, indices = writing.group, writing.indices()
    kept = merge(by_stride(group.kept, writing.store_index()), indices)
    reduced = merge(writing.reduced(), indices)
    body = passes(writing, writing.writer(group.reduced), *pass_axes(reduced), LoopKind.VECTOR)
    return Nest(tuple(kept), (), None, (), body, writing.row_work()).stmts()


def _column(writing: Writing) -> tuple[Stmt, ...]:
    group, indices = writing.group, writing.indices()
    kept = merge(by_stride(group.kept, writing.store_index()), indices)
    reduced = merge(writing.reduced(), indices)
    body = passes(writing, writing.writer(group.reduced), *pass_axes(reduced), LoopKind.SERIAL)
    return Nest(tuple(kept[:-1]), (), kept[-1], (), body, writing.row_work(),
                COLUMN_BLOCK).stmts()


WRITERS: dict[Style, Callable[[Writing], tuple[Stmt, ...]]] = {
    Style.POINTWISE: _pointwise,
    Style.ROW: _row,
    Style.COLUMN: _column,
    Style.CHUNKED: chunked_stmts,
    Style.STREAMED: streamed_stmts,
    Style.ASSEMBLY: assembly_stmts,
}
