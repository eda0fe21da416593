"""Kernels over tiles: immutable data, and the whole grammar.

::

    TileKernel := name, axes, row, buffers, product, body
    TileAxis   := symbol, extent, block           an axis of the grid, in blocks
    Row        := symbol, extent, block, looped   the axis that folds and scans run along
    Product    := name, a, b, index_a, index_b     a matrix product, before the body
    AttentionTile := name, query, key, value, mask ...  attention, before the body
    body       := Let | Store | Accumulate | Check  once per position of the grid
                | Reduce over the row             folds, which leave one value per position
                | For over the row              elements of the row
    in a For   := the same without loops, and Running(name, value, fold)

Beside the folds of `codegen.loops` there is "sumexp" after a "max" of the same value: the sum of
exp(value - maximum), in the same pass.

A program of the grid handles a block of every axis at once: values have the shape of the axes that
they depend on, and `row` is the last axis. A row of at most `block` elements is there as a whole
(persistent), a longer one is `looped` over in blocks. Softmax of 128 columns, eight rows a
program::

    kernel k0_softmax: i in tiles of 8 (4096), r in 128 (128):
        amax = reduce max over r in vector(128): a[128*i + r]
        sum_1 = reduce sum over r in vector(128): exp((a[128*i + r] - amax))
        for r in vector(128):
            out0[128*i + r] = (exp((a[128*i + r] - amax)) / sum_1)

A value that several passes over a persistent row need is loaded and computed once: the writer
finds equal values. A looped row is read again.
"""

from __future__ import annotations

from graphwright.codegen.loops import Buffer, Let, Message, Stmt, Value
from graphwright.codegen.program import Output, Slot
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym, as_int, ceildiv, product
from graphwright.runtime.tensor.dtypes import dtype

PRECISIONS = ("ieee", "tf32x3", "tf32")
"""How float32 products are computed: as they are, or by tensor cores, whose factors have 11 bits,
once or as sums of two such numbers."""
INT32_ELEMENTS = 1 << 31
"""Buffers of fewer elements are indexed by int32."""


class TileAxis(Record):
    """An axis of the grid, of which each program handles `block` positions, a power of two."""

    symbol: Sym
    extent: Expr
    block: int

    @property
    def divides(self) -> bool:
        """Whether the extent is known to be a whole number of blocks: no mask is needed."""
        return self.extent % self.block == 0


class Row(TileAxis):
    """The axis that folds and scans run along: in one block, or `looped` over in several."""

    looped: bool = False


class Running(Let):
    """name = the folds of `value` over the row up to each element, by `fold` of `nodes.Scan`."""

    fold: str


TileStmt = Stmt
"""The statements of `codegen.loops`, and `Running`."""


class Product(Record):
    """name = sum over k of a[index_a] * b[index_b]: an element of the matrix that the last two
    axes of the kernel number, rounded to `dtype`. `inner` is k, whose blocks are looped over.
    `precision`: of float32 factors, see `PRECISIONS`."""

    name: str
    a: Buffer
    b: Buffer
    index_a: Expr
    index_b: Expr
    inner: TileAxis
    dtype: dtype
    precision: str
    warps: int


class Operand(Record):
    """A matrix of which each element is `value`, after the Lets and Checks `stmts`."""

    stmts: tuple[Stmt, ...]
    value: Value


class AttentionTile(Record):
    """name = softmax(query @ key.T * scale + mask) @ value: an element of the last two axes i, j.

    Operands are over i, d; r, d; r, j; and i, r. `inner` is r, whose blocks are looped over;
    `depth`, d, is there as a whole. Without `value`, column 0 is the greatest score of each row,
    column 1 is 1 / the sum of its exponentials.
    """

    name: str
    query: Operand
    key: Operand
    value: Operand | None
    mask: Operand | None
    inner: TileAxis
    depth: TileAxis
    causal: bool
    scale: float
    dtype: dtype
    warps: int


class TileKernel(Record):
    """One fused kernel. `buffers` lists what it touches, in order of first use.

    `source`: the lines of the user's program that it computes. `product`, `attention`: what is
    computed before the body, which is its epilogue.
    """

    name: str
    axes: tuple[TileAxis, ...]
    row: Row | None
    buffers: tuple[Buffer, ...]
    body: tuple[TileStmt, ...]
    source: tuple[str, ...] = ()
    product: Product | None = None
    attention: AttentionTile | None = None

    @property
    def grid(self) -> Expr:
        """How many programs there are."""
        return product([ceildiv(axis.extent, axis.block) for axis in self.axes])

    @property
    def elements(self) -> int:
        """The elements of one program's tile."""
        total = 1 if self.row is None else self.row.block
        for axis in self.axes:
            total *= axis.block
        return total

    @property
    def limited(self) -> tuple[Expr, ...]:
        """What has to be less than `most` for indices of 32 bits."""
        extents = [axis.extent for axis in (*self.axes, *([self.row] if self.row else []))]
        return tuple(dict.fromkeys((*(b.size for b in self.buffers), *extents, self.grid)))

    @property
    def most(self) -> int:
        """See `limited`."""
        return INT32_ELEMENTS - self.elements

    def wide(self, narrow: bool = False) -> bool:
        """Whether indices need 64 bits: unless every size is known to fit in 32. narrow: those of
        symbolic size do, as whoever launches the kernel has seen."""
        sizes = [as_int(size) for size in self.limited]
        return any(not narrow if size is None else size >= self.most for size in sizes)


class CheckSite(Record):
    """One place where an index is checked; its number is written to the error word."""

    message: str | Message
    bound: Expr



class GpuProgram(Record):
    """What one graph becomes for a GPU: `steps` in order over buffers placed by `slots`.

    Fields that `NativeProgram` has too mean the same. `checks` are the places that may write to
    the error word, in the order of their numbers. `contracts`: whether pointwise kernels may round
    a product and its sum with another number once. `multiples`: the symbols that were multiples of
    16 in the inputs that it was made from.
    """

    inputs: tuple[Buffer, ...]
    outputs: tuple[Output, ...]
    slots: dict[str, Slot]
    arena_bytes: Expr
    steps: tuple[TileKernel, ...]
    symbols: tuple[tuple[str, int, int], ...]
    rng_ops: int
    mutated: tuple[int, ...]
    checks: tuple[CheckSite, ...]
    contracts: bool = True
    multiples: frozenset[str] = frozenset()

    def may_contract(self, step: TileKernel) -> bool:
        """Whether a kernel may: sums of products always do."""
        return self.contracts or step.product is not None or step.attention is not None
