"""Attention as one kernel: rows of queries against blocks of keys, without all the weights in
memory (Dao et al., "FlashAttention", 2022).

    for blocks of keys:
        scores = query @ key.T * scale, -inf where a query may not attend to a key
        maximum and sum of exponentials grow; what there is of the result is rescaled
        result += exp(scores - maximum) @ value
    result /= sum
"""

from __future__ import annotations

from graphwright.codegen.gpu.tile_ir import AttentionTile, Operand, TileAxis, TileKernel
from graphwright.codegen.gpu.tile_sizes import attention_tile, power_of_two
from graphwright.codegen.loops import Buffer, Local, Store
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    Unlowerable,
    broadcast,
    computed,
)
from graphwright.codegen.lowering.nodes import (
    Attention,
    Body,
    axis_symbols,
    bind,
)
from graphwright.codegen.lowering.routines import mask_term
from graphwright.codegen.lowering.rules import Call
from graphwright.codegen.lowering.views import unflatten
from graphwright.codegen.scheduler.buffer_access import touched
from graphwright.codegen.scheduler.loop_domain import Dim
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, as_int, product
from graphwright.runtime.tensor import dtypes

DEEPEST = 256
"""Elements of a query or a value that a program has at once."""
RESULT = "attention"
"""The local that the kernel's body knows an element of the result by."""


def fused_attention(
    context: Lowering, call: Call, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
    causal: bool, scale: float,
) -> tuple[Tensor, Tensor]:
    """The result, and each row's greatest score and 1 / the sum of its exponentials.

    Raises: Unlowerable for elements of symbolic size, or of more than `DEEPEST`.
    """
    if any((as_int(x.shape[-1]) or DEEPEST + 1) > DEEPEST for x in (query, value)):
        raise Unlowerable(f"attention of vectors of more than {DEEPEST} elements")
    scores = (*query.shape[:-1], key.shape[-2])
    of_query, of_key, of_value = (
        Body(x.at(axis_symbols(x.shape))) for x in (query, key, value))
    added = None
    if mask is not None:
        kind = dtypes.float32 if mask.dtype is dtypes.bool else computed(mask.dtype)
        added = Body(mask_term(broadcast(mask, axis_symbols(scores), scores), kind))
    found = call.val
    nodes = [
        context.add(Attention(
            context.unique("attention"), (*query.shape[:-1], width), result.dtype, of_query,
            of_key, of_value, added, key.shape[-2], query.shape[-1], bool(causal), float(scale),
            levels))
        for result, width, levels in ((found[0], value.shape[-1], False),
                                      (found[1], Int(2), True))]
    return nodes[0], nodes[1]


def attention_kernel(writing: Writing, name: str, node: Attention) -> TileKernel:
    """The kernel of a node."""
    *lead, rows, width = node.shape
    batch = product(list(lead))
    depth = max(as_int(node.depth) or DEEPEST, as_int(width) or DEEPEST)
    queries, keys, warps = attention_tile(depth, node.dtype)
    p, i, j, r, d = (
        TileAxis(Sym(symbol, 0, extent - 1), extent, block) for symbol, extent, block in (
            ("p", batch, 1), ("i", rows, queries),
            ("j", width, max(16, power_of_two(width, DEEPEST)) if not node.levels else 2),
            ("r", node.keys, keys),
            ("d", node.depth, max(16, power_of_two(node.depth, DEEPEST)))))
    first = tuple(unflatten(p.symbol if batch != 1 else Int(0), tuple(lead)))

    def operand(body: Body | None, *axes: TileAxis) -> Operand | None:
        if body is None:
            return None
        dims = [Dim(axis.symbol, axis.extent) for axis in (p, *axes)]
        index: tuple[Expr, ...] = (*first, *(axis.symbol for axis in axes))
        writer = writing.writer(dims)
        shape = (*lead, *(axis.extent for axis in axes))
        found = writer.body(body, bind(shape, index), None)
        stmts, _ = writer.close_pass([])
        return Operand((*writer.outer.stmts, *stmts), found)

    query, key = operand(node.query, i, d), operand(node.key, r, d)
    value = None if node.levels else operand(node.value, r, j)
    assert query is not None and key is not None
    made = AttentionTile(RESULT, query, key, value, operand(node.mask, i, r), r, d, node.causal,
                         node.scale, node.dtype, warps)
    storage = writing.storage[node.name]
    place = storage.at((*first, i.symbol, j.symbol))
    store = Store(storage.buffer, place, Local(RESULT, node.dtype))
    parts = [part for part in (query, key, value, made.mask) if part is not None]
    buffers: dict[str, Buffer] = {
        b.name: b for part in parts
        for b in touched((*part.stmts, Store(storage.buffer, place, part.value)))}
    axes = ([p] if batch != 1 else []) + [i, j]
    return TileKernel(name, tuple(axes), None, tuple(buffers.values()), (store,), attention=made)
