"""Splits long scans of few rows, so that every multiprocessor has a part of them.

    y = running sum along i of x[i]                            (10,000,000 elements)
    ->
    y.totals[i0] = sum over i1 of x[C*i0 + i1]                 (2,442 parts of C = 4,096)
    y.until = running sum along i0 of y.totals[i0]
    y.inner = running sum along i1 of x[C*i0 + i1]
    y[i] = y.inner[i // C, i % C] + y.until[i // C - 1]
"""

from __future__ import annotations

from typing import Any

from graphwright.codegen.gpu.split_reductions import ENOUGH
from graphwright.codegen.loops import Const
from graphwright.codegen.lowering.context import (
    apply,
    const,
    identity,
    masked,
    substitute,
    within,
)
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.lowering.nodes import (
    Body,
    LoopNode,
    Pointwise,
    Read,
    Reduction,
    Scan,
    axis_symbols,
    index_value,
)
from graphwright.codegen.scheduler.affine import volume
from graphwright.runtime.record import replace
from graphwright.runtime.symbolic.expr import Expr, Int, as_int, ceildiv
from graphwright.runtime.tensor import dtypes

PART = 4096
"""Elements of a part of a row of known length."""
LONG = 4 * PART
"""Rows of at least so many elements are split."""
JOINED = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "logaddexp": "logaddexp"}
"""The operations that join two values of a fold."""


def split_scans(graph: LoweredGraph) -> LoweredGraph:
    """The graph with long scans of few rows in parts."""
    nodes: dict[str, LoopNode] = {}
    for name, node in graph.nodes.items():
        part = _part(node) if isinstance(node, Scan) else None
        if part is None:
            nodes[name] = node
            continue
        assert isinstance(node, Scan)
        nodes |= {stage.name: stage for stage in _stages(node, part)}
    return replace(graph, nodes=nodes)


def _part(node: Scan) -> Expr | None:
    """How many elements of each row are a part; None where it stays whole."""
    rows = volume([e for d, e in enumerate(node.shape) if d != node.axis])
    if node.body.prologue or rows >= ENOUGH:
        return None
    length = node.shape[node.axis]
    known = as_int(length)
    if known is None:
        return ceildiv(length, ENOUGH) if rows == 1 else None
    return Int(PART) if known >= LONG else None


def start_of(fold: str, kind: Any) -> Const:
    """What a scan starts from."""
    return const(float("-inf"), kind) if fold == "logaddexp" else identity(fold, kind)


def _stages(node: Scan, part: Expr) -> tuple[LoopNode, ...]:
    axis, length = node.axis, node.shape[node.axis]
    count = ceildiv(length, part)
    parts = (*node.shape[:axis], count, part, *node.shape[axis + 1:])
    at = axis_symbols(parts)
    flat = at[axis] * part + at[axis + 1]
    places = (*at[:axis], flat, *at[axis + 2:])
    bound = {f"i{d}": place for d, (place, e) in enumerate(zip(places, node.shape, strict=True))
             if e != 1}
    value = substitute(node.body.value, bound)
    inside = within(flat, length)
    if inside is not None and length % part != 0:
        value = apply("where", inside, masked(value, inside), start_of(node.fold, value.dtype),
                      dtype=value.dtype)
    totals = Reduction(f"{node.name}.totals", parts, (axis + 1,), node.dtype, node.fold,
                       Body(value))
    read = Read(totals.name, axis_symbols(totals.shape), node.dtype)
    until = Scan(f"{node.name}.until", totals.shape, node.dtype, axis, node.fold, Body(read))
    inner = Scan(f"{node.name}.inner", parts, node.dtype, axis + 1, node.fold, Body(value))
    own = axis_symbols(node.shape)
    lead, rest = own[:axis], own[axis + 1:]
    number = own[axis] // part
    here = Read(inner.name, (*lead, number, own[axis] % part, *rest), node.dtype)
    some = apply("gt", index_value(number), const(0, dtypes.int64), dtype=dtypes.bool)
    before = Read(until.name, (*lead, number - 1, *rest), node.dtype, some,
                  start_of(node.fold, node.dtype))
    whole = apply(JOINED[node.fold], before, here)
    return totals, until, inner, Pointwise(node.name, node.shape, node.dtype, Body(whole))
