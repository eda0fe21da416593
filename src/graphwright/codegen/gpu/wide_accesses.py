"""Which sizes decide how many bytes an access of memory has.

A thread can move 16 bytes at once where elements are contiguous along an axis, rows begin at
multiples of 16 bytes, and the mask of the axis ends at one. For the product of float32 matrices ::

    kernel k0_mm: i in tiles of 64 (s0), j in tiles of 64 (s2), k in tiles of 32 (s1)
        a[k + s1*i] * b[j + s2*k]

these are s1 and s2: where both are multiples of 16, all accesses are wide. s0 only says how many
rows there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphwright.codegen.gpu.tile_ir import TileAxis, TileKernel
from graphwright.codegen.loops import Buffer, Let, Stmt, Value
from graphwright.codegen.scheduler.affine import coefficient
from graphwright.codegen.scheduler.buffer_access import touches
from graphwright.runtime.symbolic.expr import Add, Expr
from graphwright.runtime.symbolic.places import value_at
from graphwright.runtime.symbolic.symint import SymInt

MULTIPLE = 16
"""What kernels are compiled for are sizes that are multiples of it, as addresses are."""


def multiples(symbols: Sequence[tuple[str, int, int]], inputs: Sequence[Any]) -> frozenset[str]:
    """The symbols, as `GpuProgram` has them, that are multiples in these inputs, by their hints
    where these are fake."""
    found = set()
    for name, position, place in symbols:
        value = value_at(inputs[position], place)
        if (value.hint if isinstance(value, SymInt) else value) % MULTIPLE == 0:
            found.add(name)
    return frozenset(found)


def deciding_sizes(kernel: TileKernel) -> frozenset[str]:
    """The size symbols that decide it for accesses of a kernel. Of a product of symbols one that
    is a multiple is enough: where another access needs one of them, that is it."""
    axes = {axis.symbol.name: axis for axis in _axes(kernel)}
    products = [_names(term) - set(axes) for buffer, index in _accesses(kernel)
                for term in _deciding(index, axes, max(1, MULTIPLE // buffer.dtype.itemsize))]
    found: set[str] = set()
    for names in sorted(products, key=len):
        if found.isdisjoint(names):
            found |= names
    return frozenset(found)


def _axes(kernel: TileKernel) -> Iterator[TileAxis]:
    yield from kernel.axes
    if kernel.row is not None:
        yield kernel.row
    if kernel.product is not None:
        yield kernel.product.inner
    if kernel.attention is not None:
        yield from (kernel.attention.inner, kernel.attention.depth)


def _accesses(kernel: TileKernel) -> Iterator[tuple[Buffer, Expr]]:
    made = kernel.product
    if made is not None:
        yield from ((made.a, made.index_a), (made.b, made.index_b))
    stmts: list[Stmt] = list(kernel.body)
    if kernel.attention is not None:
        tile = kernel.attention
        for operand in (tile.query, tile.key, tile.value, tile.mask):
            if operand is not None:
                stmts += [*operand.stmts, _read(operand.value)]
    yield from ((touch.buffer, touch.index) for touch in touches(stmts))


def _read(value: Value) -> Let:
    return Let("operand", value)


def _deciding(
    index: Expr, axes: Mapping[str, TileAxis], width: int
) -> Iterator[Expr]:
    """What has to be a multiple of `width` elements, which have 16 bytes, for wide accesses at an
    index; nothing where they are not contiguous along an axis, or narrow anyway."""
    for axis in [axes[symbol.name] for symbol in index.symbols() if symbol.name in axes]:
        step = coefficient(index, axis.symbol)
        if step is None:            # an axis of several dims, of which the last may be contiguous
            yield from index.symbols()
            yield axis.extent
        elif step == 1 and axis.block > 1:
            rest = index - axis.symbol
            terms = [axis.extent, *(rest.terms if isinstance(rest, Add) else (rest,))]
            unknown = [term for term in terms if term % width != 0]
            if all(_names(term) - set(axes) for term in unknown):
                yield from unknown


def _names(expr: Expr) -> set[str]:
    return {symbol.name for symbol in expr.symbols()}
