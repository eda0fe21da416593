"""Reductions in two stages: partial results of fixed chunks first, then their fold.

How a reduction is cut depends on its sizes alone, never on the number of threads, so that the
result has the same bits everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphwright.codegen.loops import (
    Axis,
    Buffer,
    Fold,
    For,
    IndexOf,
    Let,
    Load,
    Local,
    LoopKind,
    Reduce,
    Stmt,
    Store,
    Value,
)
from graphwright.codegen.lowering.context import apply, const, convert
from graphwright.codegen.lowering.nodes import Reduction
from graphwright.codegen.scheduler.affine import estimate, volume
from graphwright.codegen.scheduler.groups import Member
from graphwright.codegen.scheduler.loop_domain import Dim
from graphwright.codegen.scheduler.loopnest import (
    Nest,
    Run,
    by_stride,
    loop_axis,
    loops_over,
    merge,
    pass_axes,
    rename,
)
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.codegen.scheduler.writer import Writer
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import (
    Expr,
    Int,
    Sym,
    as_int,
    ceildiv,
    maximum,
    minimum,
    product,
)
from graphwright.runtime.tensor.dtypes import bool as bool_
from graphwright.runtime.tensor.dtypes import dtype, float32, float64, int64

CHUNK_WORK = 1 << 16
MAX_CHUNKS = 64
STREAM_CHUNKS = 16
STREAM_ROWS = 8
DYNAMIC_ROWS = 32
"""The least chunk of rows of which there is a dynamic number."""
STREAM_BLOCKS = 32
"""Blocks of rows that are added to one partial row."""

COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}


class Chunks(Record):
    """An axis cut into `count` chunks of `step`: chunk c is [c*step, c*step + length)."""

    dim: Dim
    count: Expr
    step: Expr

    @property
    def length(self) -> Expr:
        """The length of the chunk at hand."""
        left = self.dim.extent - self.dim.symbol * self.step
        return minimum(self.step, maximum(0, left))


def cut(run: Run, work: int, most: int, multiple: int) -> Chunks:
    """Cut a run of axes so that a chunk is worth `CHUNK_WORK`, into at most `most` chunks."""
    extent = run.extent
    wanted = most
    if as_int(extent) is not None:
        wanted = max(1, min(most, estimate(extent) * work // CHUNK_WORK))
    step = ceildiv(ceildiv(extent, wanted), multiple) * multiple
    count = ceildiv(extent, step) if as_int(extent) is not None else Int(wanted)
    symbol = Sym("c", 0, count - 1)
    return Chunks(Dim(symbol, extent), count, step)


def _partials(
    writing: Writing, members: list[Member], folds: list[Fold], size: Expr, wide: bool = False
) -> list[Buffer]:
    return [writing.temp(f"{m.name}.partial", _of_totals(f) if wide else f.value.dtype, size)
            for m, f in zip(members, folds, strict=True)]


def _of_totals(fold: Fold) -> dtype:
    """The dtype in which any number of partial results is added up."""
    single = fold.op == "sum" and fold.value.dtype is float32
    return float64 if single else fold.value.dtype


def _longest(runs: list[Run]) -> int:
    return max(range(len(runs)), key=lambda n: (estimate(runs[n].extent), -n))


def _kept_position(kept: tuple[Dim, ...]) -> Expr:
    position: Expr = Int(0)
    for dim in kept:
        position = position * dim.extent + dim.symbol
    return position


def chunked_stmts(writing: Writing) -> tuple[Stmt, ...]:
    """Few long rows: each row is cut along its longest run of axes."""
    group, indices = writing.group, writing.indices()
    runs = merge(writing.reduced(), indices)
    longest = _longest(runs)
    others = volume([r.extent for n, r in enumerate(runs) if n != longest])
    chunks = cut(runs[longest], writing.work() * others, MAX_CHUNKS, 64)
    writer = writing.writer(group.reduced)
    row = writing.on_level(0, row=True)
    for member in row:
        writer.row_member(member)
    results = [m for m in row if isinstance(writing.anchors.nodes[m.name], Reduction)]
    stmts, folds = writer.close_pass(row)
    place = _kept_position(group.kept)
    rows = product([d.extent for d in group.kept])
    partial = _partials(writing, results, folds, rows * chunks.count)
    axes, bound = pass_axes(runs)
    axes = (*axes[:longest], Axis(axes[longest].symbol, chunks.length), *axes[longest + 1:])
    bound |= runs[longest].bound_to(chunks.dim.symbol * chunks.step + axes[longest].symbol)
    first: list[Stmt] = [*writer.outer.stmts]
    first += rename([Reduce(axes, LoopKind.VECTOR, tuple(folds), tuple(stmts))], bound)
    slot = place * chunks.count + chunks.dim.symbol
    first += [Store(b, slot, _local(f)) for b, f in zip(partial, folds, strict=True)]
    chunk_run = Run((Dim(chunks.dim.symbol, chunks.count),))
    kept = merge(group.kept, [place, *indices])
    work = writing.row_work() // max(1, estimate(chunks.count))
    stage = Nest((*kept, chunk_run), (), None, (), tuple(first), work).stmts()
    total = _totals(writing, results, folds, partial, chunks, place)
    return (*stage, *Nest(tuple(kept), (), None, (), total, estimate(chunks.count)).stmts())


def _local(fold: Fold) -> Local:
    return Local(fold.name, fold.value.dtype)


def _totals(
    writing: Writing, results: list[Member], folds: list[Fold], partial: list[Buffer],
    chunks: Chunks, place: Expr,
) -> tuple[Stmt, ...]:
    """Fold the partial results of one row, and what follows from them."""
    writer = writing.writer(())
    axis = Axis(Sym("j0", 0, chunks.count - 1), chunks.count)
    totals = tuple(
        Fold(f.name, f.op, Load(b, place * chunks.count + axis.symbol))
        for b, f in zip(partial, folds, strict=True))
    writer.outer.stmts.append(Reduce((axis,), LoopKind.SERIAL, totals))
    return _after(writing, writer, results, totals)


def _after(
    writing: Writing, writer: Writer, results: list[Member], totals: Sequence[Fold]
) -> tuple[Stmt, ...]:
    for member, fold in zip(results, totals, strict=True):
        writer.know(member, fold.name)
        writer.store_result(member)
    for member in writing.on_level(1, row=False):
        writer.outer_member(member)
    return writer.finish()


def streamed_stmts(writing: Writing) -> tuple[Stmt, ...]:
    """Tall columns: rows are read in the order of memory and added to a row of partial results.

    `STREAM_ROWS` rows are folded at a time, which saves most of the traffic to the partial row.
    Where there are many, that row goes into another now and then, in float64 for sums of float32,
    lest rounding grow with the number of rows.
    """
    group, indices = writing.group, writing.indices()
    kept = merge(by_stride(group.kept, writing.store_index()), indices)
    runs = merge(writing.reduced(), indices)
    vector, outer = kept[-1], kept[:-1]
    longest = _longest(runs)
    others = [r.extent for n, r in enumerate(runs) if n != longest]
    work = writing.work() * volume([vector.extent]) * volume(others)
    least = STREAM_ROWS if as_int(runs[longest].extent) is not None else DYNAMIC_ROWS
    chunks = cut(runs[longest], work, STREAM_CHUNKS, least)
    writer = writing.writer(group.reduced)
    row = writing.on_level(0, row=True)
    for member in row:
        writer.row_member(member)
    results = [m for m in row if isinstance(writing.anchors.nodes[m.name], Reduction)]
    stmts, folds = writer.close_pass(row)
    before = tuple(writer.outer.stmts)
    place = _kept_position(tuple(d for r in outer for d in r.dims))
    column = _kept_position(vector.dims)
    size = product([d.extent for d in group.kept]) * chunks.count
    most = (chunks.step * product(tuple(others))).range()[1]
    partial = [_partials(writing, results, folds, size)]
    if most is None or most > STREAM_ROWS * STREAM_BLOCKS:
        partial.append(_partials(writing, results, folds, size, wide=True))
    slot = (place * chunks.count + chunks.dim.symbol) * vector.extent + column
    body = _stream(vector, runs, longest, chunks, before, tuple(stmts), folds, partial, slot)
    chunk_run = Run((Dim(chunks.dim.symbol, chunks.count),))
    share = writing.row_work() * estimate(vector.extent) // max(1, estimate(chunks.count))
    stage = Nest((*outer, chunk_run), (), None, (), body, share).stmts()
    filled = ceildiv(runs[longest].extent, chunks.step) * minimum(1, product(tuple(others)))
    total = _column_totals(
        writing, results, folds, partial[-1], chunks, filled, place, vector, column)
    final = Nest(tuple(outer), (), vector, (), total, estimate(chunks.count), 64).stmts()
    return (*stage, *final)


def _stream(
    vector: Run, runs: list[Run], longest: int, chunks: Chunks, before: tuple[Stmt, ...],
    stmts: tuple[Stmt, ...], folds: list[Fold], partial: list[list[Buffer]], slot: Expr,
) -> tuple[Stmt, ...]:
    """One chunk of rows: blocks of rows are added to the first partial row, that to the second."""
    axes, bound = pass_axes([r for n, r in enumerate(runs) if n != longest])
    column = Axis(Sym("v", 0, vector.extent - 1), vector.extent)
    bound |= vector.bound_to(column.symbol)
    blocks = ceildiv(chunks.length, STREAM_ROWS)
    rounds = loop_axis("b0", ceildiv(blocks, STREAM_BLOCKS))
    block, number = loop_axis("b", blocks), blocks * 0
    if len(partial) > 1:
        number = rounds.symbol * STREAM_BLOCKS
        block = Axis(Sym("b1", 0, STREAM_BLOCKS - 1), minimum(STREAM_BLOCKS, blocks - number))
    start = (number + block.symbol) * STREAM_ROWS
    row = Axis(Sym("r", 0, STREAM_ROWS - 1), minimum(STREAM_ROWS, chunks.length - start))
    bound |= runs[longest].bound_to(chunks.dim.symbol * chunks.step + start + row.symbol)

    def columns(*body: Stmt) -> For:
        return For(column, LoopKind.VECTOR, rename(body, bound))

    turn = sum((a.symbol for a in axes), rounds.symbol if len(partial) > 1 else block.symbol)
    first = block.symbol if len(partial) > 1 else turn
    add = columns(
        *before, Reduce((row,), LoopKind.SERIAL, tuple(folds), stmts),
        *(_add(f, b, slot, _local(f), first) for f, b in zip(folds, partial[0], strict=True)))
    inner: tuple[Stmt, ...] = (For(block, LoopKind.SERIAL, (add,)),)
    if len(partial) > 1:
        move = columns(*(_add(f, total, slot, Load(b, slot), turn)
                         for f, b, total in zip(folds, *partial, strict=True)))
        inner = (For(rounds, LoopKind.SERIAL, (*inner, move)),)
    return loops_over(axes, inner, LoopKind.SERIAL)


def _add(fold: Fold, buffer: Buffer, slot: Expr, value: Value, turn: Expr) -> Store:
    """buffer[slot] becomes the value in turn 0, and takes it in after that."""
    more = convert(value, buffer.dtype)
    begins = apply("eq", IndexOf(turn, int64), const(0, int64), dtype=bool_)
    both = apply(COMBINE[fold.op], Load(buffer, slot), more)
    return Store(buffer, slot, apply("where", begins, more, both, dtype=buffer.dtype))


def _column_totals(
    writing: Writing, results: list[Member], folds: list[Fold], partial: list[Buffer],
    chunks: Chunks, filled: Expr, place: Expr, vector: Run, column: Expr,
) -> tuple[Stmt, ...]:
    """The totals of the chunks that have any rows."""
    writer = writing.writer(())
    axis = Axis(Sym("j0", 0, chunks.count - 1), filled)
    slot = (place * chunks.count + axis.symbol) * vector.extent + column
    names = [f.name if b.dtype is f.value.dtype else writing.names.new(f"{f.name}.total")
             for f, b in zip(folds, partial, strict=True)]
    totals = [Fold(name, f.op, Load(b, slot))
              for name, f, b in zip(names, folds, partial, strict=True)]
    writer.outer.stmts.append(Reduce((axis,), LoopKind.SERIAL, tuple(totals)))
    writer.outer.stmts += [Let(f.name, convert(_local(total), f.value.dtype))
                           for total, f in zip(totals, folds, strict=True) if total.name != f.name]
    return _after(writing, writer, results, folds)
