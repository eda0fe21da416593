"""Splits long reductions of few rows, so that every multiprocessor has a part of them.

    y = sum over i1 of x[i0, i1]                  (4 rows of 1,000,000)
    ->
    y.partial = sum over i2 of x[i0, C*i1 + i2]   (4 x 128 rows of C = 7,813)
    y = sum over i1 of y.partial[i0, i1]          (4 rows of 128)

An argmax becomes the first position at which the row has its maximum.
"""

from __future__ import annotations

from typing import Any

from graphwright.codegen.gpu.tile_sizes import COLUMNS, MULTIPROCESSORS
from graphwright.codegen.loops import Const, IndexOf, Philox
from graphwright.codegen.lowering.context import (
    apply,
    const,
    convert,
    identity,
    masked,
    substitute,
    within,
)
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.lowering.nodes import (
    Body,
    Index,
    LoopNode,
    Read,
    Reduction,
    Shape,
    axis_symbols,
    index_value,
    linear,
    row_major,
)
from graphwright.codegen.lowering.views import unflatten
from graphwright.codegen.scheduler.affine import volume
from graphwright.codegen.scheduler.reads import body_leaves
from graphwright.runtime.record import replace
from graphwright.runtime.symbolic.expr import Expr, Int, as_int, ceildiv, product
from graphwright.runtime.tensor import dtypes

ROW_PART, COLUMN_PART = 2048, 128
"""The least elements of a part of a row, of a column."""
FEWEST = 8
"""Parts below which a second kernel costs more than it saves."""
CHUNK = 16
"""Parts begin at multiples of so many elements, for wide loads."""
ENOUGH = 2 * MULTIPROCESSORS
"""Programs from which on nothing is split."""


def split_reductions(graph: LoweredGraph) -> LoweredGraph:
    """The graph with long reductions of few rows in two stages."""
    nodes: dict[str, LoopNode] = {}
    for name, node in graph.nodes.items():
        parts = _parts(node) if isinstance(node, Reduction) else None
        if parts is None:
            nodes[name] = node
            continue
        assert isinstance(node, Reduction)
        stages = _of_position(node, parts) if node.fold.startswith("arg") else _staged(node, parts)
        nodes |= {stage.name: stage for stage in stages}
    return replace(graph, nodes=nodes)


def _parts(node: Reduction) -> int | None:
    """Into how many parts each row is split; None where it stays whole."""
    if node.body.prologue or any(isinstance(leaf, Philox) for leaf in body_leaves(node.body)):
        return None
    row = product([node.domain[a] for a in node.axes])
    if as_int(row) is None:
        return ENOUGH if not node.shape else None
    column = _is_column(node)
    rows = volume(node.shape)
    programs = -(-rows // COLUMNS) if column else rows
    parts = min(-(-volume([row]) // (COLUMN_PART if column else ROW_PART)),
                -(-ENOUGH // max(1, programs)))
    return parts if parts >= FEWEST else None


def _is_column(node: Reduction) -> bool:
    """Whether neighbouring results, not the elements of one, are taken to be neighbours."""
    return len(node.domain) - 1 not in node.axes


def _staged(node: Reduction, parts: int) -> tuple[Reduction, Reduction]:
    """The fold of each part, and the fold of these. Parts come first in the memory between, where
    neighbouring rows lie next to each other, so that stores of these are coalesced."""
    first = _is_column(node)
    place = 0 if first else len(node.shape)
    row = tuple(node.domain[a] for a in node.axes)
    length = product(list(row))
    chunk = ceildiv(length, parts)
    if (known := as_int(chunk)) is not None:
        chunk = Int(-(-known // CHUNK) * CHUNK)
        parts = -(-volume([length]) // volume([chunk]))
    kept = list(node.shape)
    kept.insert(place, Int(parts))
    symbols = axis_symbols((*kept, chunk))
    outer = symbols[:place] + symbols[place + 1:-1]
    flat: Expr = symbols[place] * chunk + symbols[-1]
    value = substitute(node.body.value, _bound(node.domain, node.axes, outer, flat))
    if length % (chunk * parts) != 0:
        inside = within(flat, length)
        assert inside is not None, "a part that is known to end within the row"
        value = apply("where", inside, masked(value, inside),
                      identity(node.fold, value.dtype), dtype=value.dtype)
    partial = Reduction(f"{node.name}.partial", (*kept, chunk), (len(kept),), node.dtype,
                        node.fold, Body(value))
    read = Read(partial.name, axis_symbols(partial.shape), node.dtype)
    return partial, replace(node, domain=partial.shape, axes=(place,), body=Body(read))


def _bound(
    domain: Shape, axes: tuple[int, ...], kept: Index, flat: Expr
) -> dict[str, Expr]:
    """What to put for the symbols of a domain: `kept`, and the row's position `flat`."""
    bound: dict[str, Expr] = {}
    outer = iter(kept)
    inner = iter(unflatten(flat, tuple(domain[a] for a in axes)))
    for d, extent in enumerate(domain):
        value = next(inner) if d in axes else next(outer)
        if extent != 1:
            bound[f"i{d}"] = value
    return bound


def _of_position(node: Reduction, parts: int) -> tuple[Reduction, ...]:
    """The extreme of each row, and the first position that has it; nan counts as extreme."""
    value = node.body.value
    extreme = Reduction(f"{node.name}.extreme", node.domain, node.axes, value.dtype,
                        node.fold.removeprefix("arg"), node.body)
    symbols = axis_symbols(node.domain)
    kept = tuple(s for d, s in enumerate(symbols) if d not in node.axes)
    best = Read(extreme.name, kept, value.dtype)
    found: Any = apply("eq", value, best, dtype=dtypes.bool)
    if value.dtype.is_floating_point:
        found = apply("or", found, apply("isnan", value, dtype=dtypes.bool), dtype=dtypes.bool)
    row = tuple(node.domain[a] for a in node.axes)
    flat = linear(tuple(symbols[a] for a in node.axes), row_major(row))
    place = convert(index_value(flat), dtypes.int64)
    beyond: Const | IndexOf = const((1 << 63) - 1, dtypes.int64)
    first = replace(node, fold="min", dtype=dtypes.int64, body=Body(
        apply("where", found, place, beyond, dtype=dtypes.int64)))
    return (*_staged(extreme, parts), *_staged(first, parts))
