"""How large tiles are. Starting points for autotuning, from what memory needs: 16 bytes a thread
and load, a few loads in flight, and enough programs for every multiprocessor."""

from __future__ import annotations

from graphwright.codegen.scheduler.affine import estimate
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.tensor.dtypes import dtype

MULTIPROCESSORS = 132
"""Of the GPU that sizes are chosen for (H100, H200)."""
FLAT = 1024
"""Elements of a pointwise tile, twice as many of at most two bytes."""
ACROSS, ALONG = 32, 64
"""A tile of operands that lie crosswise in memory."""
PERSISTENT = 16384
"""The longest row that a program has as a whole."""
TILE = 4096
"""Elements of a tile of rows."""
COLUMNS = 64
"""Neighbouring results of a program that reads down columns."""
STEP = 32
"""Elements of a column that such a program has at once."""
LOOP = 2048
"""Elements of a longer row that a program has at once."""
WARP_ELEMENTS = 256
"""Elements of a tile for each of up to 8 warps, 16 of tiles of `PERSISTENT`."""


class RowTile(Record):
    """`rows` rows by `columns` elements of each at once; `looped` if there are more of these."""

    rows: int
    columns: int
    looped: bool


def power_of_two(extent: Expr, most: int) -> int:
    """The least power of two that holds a whole axis, at most `most`; that for an axis whose
    length is not known."""
    high = extent.range()[1]
    if high is None or high >= most:
        return most
    return 1 << max(0, high - 1).bit_length()


def flat_block(extent: Expr, itemsize: int) -> int:
    """Elements of a program of a pointwise kernel whose widest elements have `itemsize` bytes."""
    return power_of_two(extent, FLAT if itemsize > 2 else 2 * FLAT)


def row_tile(kept: Expr, row: Expr, across: bool) -> RowTile:
    """The tile of a kernel with folds or scans of `kept` rows of length `row`.

    across: neighbouring rows, not the elements of one, lie next to each other in memory.
    """
    length = row.range()[1]
    if across:
        rows = power_of_two(kept, COLUMNS)
        if length is not None and length * rows <= 2 * TILE:
            return RowTile(rows, power_of_two(row, PERSISTENT), False)
        if length is not None and length <= TILE // 4:
            return RowTile(min(rows, 8), power_of_two(row, PERSISTENT), False)
        return RowTile(rows, STEP, True)
    if length is None or length > PERSISTENT:
        return RowTile(1, LOOP, True)
    columns = power_of_two(row, PERSISTENT)
    rows = max(1, TILE // 2 // columns)
    while rows > 1 and estimate(kept) < 2 * rows * MULTIPROCESSORS:
        rows //= 2
    return RowTile(min(rows, power_of_two(kept, COLUMNS)), columns, False)


class ProductTile(Record):
    """The tile of a matrix product: rows, columns and inner elements; and its program's warps."""

    rows: int
    columns: int
    inner: int
    warps: int


_SMALL, _LARGE = ProductTile(32, 64, 16, 4), ProductTile(128, 128, 16, 8)
_PRODUCTS = {
    "float64": (ProductTile(32, 32, 16, 1),) * 2, "float32": (_SMALL, _LARGE),
    "tf32": (_LARGE,) * 2, "tf32x3": (ProductTile(64, 64, 32, 4),) * 2,
    "half": (ProductTile(128, 128, 64, 8),) * 2,
}
"""Of few programs, and of enough for every multiprocessor: as large as registers allow."""


def product_tile(m: Expr, n: Expr, k: Expr, kind: dtype, precision: str) -> ProductTile:
    """The tile of a product, no side of it below the 16 of tensor cores.

    kind: of the factors; precision: of float32.
    """
    single = "float32" if precision == "ieee" else precision
    few, many = _PRODUCTS[{2: "half", 4: single, 8: "float64"}[kind.itemsize]]
    tile = many if estimate(m) * estimate(n) >= many.rows * many.columns * MULTIPROCESSORS else few
    rows, columns, inner = (
        max(16, power_of_two(extent, most))
        for extent, most in ((m, tile.rows), (n, tile.columns), (k, tile.inner)))
    share = 2 * rows * columns * tile.warps // (tile.rows * tile.columns)
    return ProductTile(rows, columns, inner, max(1, min(tile.warps, share)))


def attention_tile(depth: int, kind: dtype) -> tuple[int, int, int]:
    """Queries and keys of a program's tiles, and its warps, for vectors of up to `depth` elements:
    so that registers and shared memory hold the tiles."""
    if kind.itemsize == 2:
        return (64, 64, 4) if depth <= 128 else (64, 32, 8)
    if kind.itemsize == 4:
        return (32, 32, 4) if depth <= 64 else (32, 32, 8) if depth <= 128 else (32, 16, 8)
    return (32, 32, 4) if depth <= 64 else (16, 16, 8)


def warps(elements: int) -> int:
    """Warps of a program with a tile of so many elements."""
    if elements >= PERSISTENT:
        return 16
    return max(1, min(8, elements // WARP_ELEMENTS))
