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


def product_tile(m: Expr, n: Expr, k: Expr, kind: dtype) -> tuple[int, int, int]:
    """Rows, columns and inner elements of a matrix product's tile; none below the 16 of tensor
    cores."""
    rows, columns, inner = (128, 128, 64) if kind.itemsize == 2 else (64, 64, 16)
    if kind.itemsize == 8:
        rows, columns, inner = 32, 32, 16
    return (max(16, power_of_two(m, rows)), max(16, power_of_two(n, columns)),
            max(16, power_of_two(k, inner)))


def attention_tile(depth: int, kind: dtype) -> tuple[int, int, int]:
    """Queries and keys of a program's tiles, and its warps, for vectors of up to `depth` elements:
    so that registers and shared memory hold the tiles."""
    if kind.itemsize == 2:
        return (64, 64, 4) if depth <= 128 else (64, 32, 8)
    if kind.itemsize == 4:
        return (32, 32, 4) if depth <= 64 else (32, 32, 8) if depth <= 128 else (32, 16, 8)
    return (32, 32, 4) if depth <= 64 else (16, 16, 8)


def product_warps(rows: int, columns: int) -> int:
    """Warps of a program with a tile of a matrix product."""
    return max(1, min(8, rows * columns // 1024))


def warps(elements: int) -> int:
    """Warps of a program with a tile of so many elements."""
    if elements >= PERSISTENT:
        return 16
    return max(1, min(8, elements // WARP_ELEMENTS))
