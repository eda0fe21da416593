"""Loop domains: how the axes of two nodes are made one set of loops.

Two domains of equally many elements are compared from the outermost axis on. Where an axis of one
is a product of several of the other, it is split, so that both indices stay sums of products of
the common axes: [512, 256] and [4, 128, 256] meet in [4, 128, 256].
"""

from __future__ import annotations

from graphwright.codegen.lowering.nodes import Index, Shape
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, as_int
from graphwright.runtime.symbolic.remembered import remembered


class Dim(Record):
    """One loop of a group: its symbol, and whether reductions of the group fold it."""

    symbol: Sym
    extent: Expr
    reduced: bool = False


class Common(Record):
    """The common refinement of two domains.

    `first` and `second` give each axis of the two as an expression over `extents` symbols.
    """

    dims: tuple[Dim, ...]
    first: Index
    second: Index


def dim_symbol(position: int, extent: Expr) -> Sym:
    """The symbol of a group's axis."""
    return Sym(f"d{position}", 0, extent - 1)


@remembered
def refine(one: Shape, two: Shape) -> Common | None:
    """The common refinement of two domains, or None where their axes do not nest."""
    pieces = _pieces([e for e in one if e != 1], [e for e in two if e != 1])
    if pieces is None:
        return None
    extents, owner_one, owner_two = pieces
    dims = tuple(Dim(dim_symbol(n, e), e) for n, e in enumerate(extents))
    return Common(dims, _joined(one, owner_one, dims), _joined(two, owner_two, dims))


def _pieces(a: list[Expr], b: list[Expr]) -> tuple[list[Expr], list[int], list[int]] | None:
    """Extents of the pieces, and for each which axis of `a` and of `b` it belongs to."""
    extents: list[Expr] = []
    owner_a: list[int] = []
    owner_b: list[int] = []
    left_a, left_b = a[::-1], b[::-1]
    while left_a and left_b:
        owner_a.append(len(a) - len(left_a))
        owner_b.append(len(b) - len(left_b))
        one, two = left_a.pop(), left_b.pop()
        if one == two:
            extents.append(one)
        elif (rest := _quotient(one, two)) is not None:
            extents.append(two)
            left_a.append(rest)
        elif (rest := _quotient(two, one)) is not None:
            extents.append(one)
            left_b.append(rest)
        else:
            return None
    return None if left_a or left_b else (extents, owner_a, owner_b)


def _quotient(large: Expr, small: Expr) -> Expr | None:
    """large / small if that is known to be a whole number: the axis [0, 12) splits to fit [3, 4]
    as 4*d0 + d1 with d0 in [0, 3)."""
    if as_int(small) == 0:
        return None
    quotient = large // small
    return quotient if quotient * small == large and quotient != 0 else None


def _joined(shape: Shape, owner: list[int], dims: tuple[Dim, ...]) -> Index:
    """Each axis of `shape` as an expression over its pieces."""
    result: list[Expr] = []
    axis = 0
    for extent in shape:
        total: Expr = Int(0)
        if extent != 1:
            for place, dim in zip(owner, dims, strict=True):
                if place == axis:
                    total = total * dim.extent + dim.symbol
            axis += 1
        result.append(total)
    return tuple(result)
