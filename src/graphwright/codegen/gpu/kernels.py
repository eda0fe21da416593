"""Fused groups as kernels over tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphwright.codegen.gpu.attention import attention_kernel
from graphwright.codegen.gpu.online_softmax import one_pass
from graphwright.codegen.gpu.tile_ir import Row, Running, TileAxis, TileKernel
from graphwright.codegen.gpu.tile_sizes import ACROSS, ALONG, flat_block, row_tile
from graphwright.codegen.loops import Accumulate, Axis, For, Local, LoopKind, Stmt, Store
from graphwright.codegen.lowering.nodes import (
    Assembly,
    Attention,
    Index,
    Part,
    Scan,
    Update,
    axis_symbols,
    bind,
)
from graphwright.codegen.scheduler.affine import coefficient
from graphwright.codegen.scheduler.assembly import part_indices
from graphwright.codegen.scheduler.buffer_access import touched
from graphwright.codegen.scheduler.kernels import passes
from graphwright.codegen.scheduler.loop_domain import Dim
from graphwright.codegen.scheduler.loopnest import Run, by_stride, merge, rename, unflattened
from graphwright.codegen.scheduler.tiles import crossing
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.runtime.symbolic.expr import Expr, Sym, as_int, product


def tile_kernels(writing: Writing, name: str) -> Iterator[TileKernel]:
    """The kernels of a group, in order: one, or one for each part of an assembly."""
    node = writing.anchors.nodes[next(iter(writing.group.members))]
    if isinstance(node, (Assembly, Update)):
        parts = [(n, part) for n, part in enumerate(node.parts)
                 if all(e != 0 for e in part.domain)]
        for number, part in parts:
            own = name if len(parts) == 1 else f"{name}_{number}"
            yield _part(writing, own, node.name, number, part)
    elif isinstance(node, Attention):
        yield attention_kernel(writing, name, node)
    elif isinstance(node, Scan):
        yield _scan(writing, name, node)
    elif writing.group.reduced:
        yield _rows(writing, name)
    else:
        yield _pointwise(writing, name)


# -- one value per element ------------------------------------------------------------------------

def _pointwise(writing: Writing, name: str) -> TileKernel:
    group = writing.group
    writer = writing.writer(group.dims)
    for member in group.members.values():
        writer.row_member(member)
    stmts, _ = writer.close_pass([])
    dims = by_stride(group.dims, writing.store_index())
    return _elements(name, dims, writing.indices(), (*writer.outer.stmts, *stmts))


def _part(writing: Writing, name: str, member: str, number: int, part: Part) -> TileKernel:
    """The elements of a part of an assembly, which no other is to be written before."""
    dims = _dims(axis_symbols(part.domain), part.domain)
    storage = writing.storage[member]
    writer = writing.writer(dims)
    value, index = writer.part(part, bind(part.domain, axis_symbols(part.domain)))
    place = storage.at(index)
    writer.inner.stmts.append(
        Accumulate(storage.buffer, place, value, part.fold) if part.accumulate
        else Store(storage.buffer, place, value))
    stmts, _ = writer.close_pass([])
    target = storage.at(part.index)
    indices = [target, *part_indices(writing, member, number)]
    return _elements(name, by_stride(dims, target), indices, (*writer.outer.stmts, *stmts))


def _dims(symbols: Index, domain: Sequence[Expr]) -> list[Dim]:
    return [Dim(s, e) for s, e in zip(symbols, domain, strict=True) if isinstance(s, Sym)]


def _elements(
    name: str, dims: Sequence[Dim], indices: Sequence[Expr], stmts: tuple[Stmt, ...]
) -> TileKernel:
    """A kernel of flat tiles, or of two axes where operands lie crosswise."""
    runs = merge(dims, indices)
    across = crossing(runs, indices) if runs else None
    buffers = touched(stmts)
    if across is None:
        size = max((b.dtype.itemsize for b in buffers), default=4)
        flat = _axis("i", [r.extent for r in runs])
        block = flat_block(flat.extent, size)
        return _kernel(name, [TileAxis(flat.symbol, flat.extent, block)], None,
                       rename(stmts, unflattened(runs, flat.symbol)))
    rest = [run for number, run in enumerate(runs[:-1]) if number != across]
    outer, high, wide = (_axis("p", [r.extent for r in rest]), _axis("i", [runs[across].extent]),
                         _axis("j", [runs[-1].extent]))
    bound = (unflattened(rest, outer.symbol) | runs[across].bound_to(high.symbol)
             | runs[-1].bound_to(wide.symbol))
    axes = [TileAxis(high.symbol, high.extent, ACROSS), TileAxis(wide.symbol, wide.extent, ALONG)]
    if outer.extent != 1:
        axes.insert(0, TileAxis(outer.symbol, outer.extent, 1))
    return _kernel(name, axes, None, rename(stmts, bound))


def _axis(name: str, extents: Sequence[Expr]) -> Axis:
    total = product(list(extents))
    return Axis(Sym(name, 0, total - 1), total)


def _kernel(
    name: str, axes: Sequence[TileAxis], row: Row | None, stmts: tuple[Stmt, ...]
) -> TileKernel:
    return TileKernel(name, tuple(axes), row, touched(stmts), stmts)


# -- folds and scans of rows ----------------------------------------------------------------------

def _rows(writing: Writing, name: str) -> TileKernel:
    group, indices = writing.group, writing.indices()
    kept = merge(by_stride(group.kept, writing.store_index()), indices)
    reduced = merge(writing.reduced(), indices)
    row = _axis("r", [run.extent for run in reduced])
    body = passes(writing, writing.writer(group.reduced), (row,), unflattened(reduced, row.symbol),
                  LoopKind.VECTOR)
    return _tiled(name, kept, row, _is_across(kept, reduced, indices), body)


def _tiled(
    name: str, kept: Sequence[Run], row: Axis, across: bool, body: tuple[Stmt, ...]
) -> TileKernel:
    flat = _axis("i", [run.extent for run in kept])
    tile = row_tile(flat.extent, row.extent, across)
    axes = [TileAxis(flat.symbol, flat.extent, tile.rows)]
    stmts = rename_all(one_pass(body) if tile.looped else body, unflattened(kept, flat.symbol))
    return _kernel(name, axes, Row(row.symbol, row.extent, tile.columns, tile.looped), stmts)


def rename_all(stmts: Sequence[Stmt], bound: dict[str, Expr]) -> tuple[Stmt, ...]:
    """`rename`, in `Running` statements too."""
    result: list[Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, For):
            result.append(For(stmt.axis, stmt.kind, rename_all(stmt.body, bound)))
            continue
        (renamed,) = rename([stmt], bound)
        if isinstance(stmt, Running) and not isinstance(renamed, Running):
            renamed = Running(stmt.name, renamed.value, stmt.fold)  # type: ignore[union-attr]
        result.append(renamed)
    return tuple(result)


def _is_across(
    kept: Sequence[Run], reduced: Sequence[Run], indices: Sequence[Expr]
) -> bool:
    """Whether more of the accesses are contiguous along the last kept axis than along the row."""
    def contiguous(runs: Sequence[Run]) -> int:
        if not runs or as_int(runs[-1].extent) == 1:
            return 0
        symbol = runs[-1].dims[-1].symbol
        both = kept[-1].dims[-1].symbol if kept else None
        inner = reduced[-1].dims[-1].symbol
        return sum(
            coefficient(i, symbol) == 1 for i in indices
            if inner in i.symbols() and (both is None or both in i.symbols()))
    return contiguous(kept) > contiguous(reduced)


def _scan(writing: Writing, name: str, node: Scan) -> TileKernel:
    symbols = axis_symbols(node.shape)
    dims = _dims(symbols, node.shape)
    along = symbols[node.axis]
    inner = [d for d in dims if d.symbol is along]
    outer = [d for d in dims if d.symbol is not along]
    storage = writing.storage[node.name]
    writer = writing.writer(inner)
    value = writer.body(node.body, bind(node.shape, symbols), None)
    local = Local(writing.names.new(node.name), value.dtype)
    writer.inner.stmts.append(Running(local.name, value, node.fold))
    writer.inner.stmts.append(Store(storage.buffer, storage.at(symbols), local))
    stmts, _ = writer.close_pass([])
    indices = [storage.at(symbols), *part_indices(writing, node.name, 0)]
    kept, run = merge(by_stride(outer, storage.at(symbols)), indices), Run(tuple(inner))
    row = _axis("r", [run.extent])
    loop = For(row, LoopKind.VECTOR, rename_all(stmts, unflattened([run], row.symbol)))
    body = (*writer.outer.stmts, loop)
    return _tiled(name, kept, row, _is_across(kept, [run], indices), body)
