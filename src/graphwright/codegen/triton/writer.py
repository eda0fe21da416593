"""Kernels over tiles as Triton source.

A program of the grid handles one block of each axis. Axes of which it handles one position are
numbers; the others, and the row, are the dimensions of its tensors::

    kernel k0_softmax: i in tiles of 8 (4096), r in 128 (100)

    i = (tl.program_id(0) * BLOCK_i + tl.arange(0, BLOCK_i))[:, None]
    r = tl.arange(0, BLOCK_r)[None, :]
    mask_r = r < 100
"""

from __future__ import annotations

from collections.abc import Sequence

from graphwright.codegen.gpu.tile_ir import (
    CheckSite,
    Product,
    Row,
    Running,
    TileAxis,
    TileKernel,
)
from graphwright.codegen.gpu.tile_sizes import warps
from graphwright.codegen.loops import (
    Accumulate,
    Buffer,
    Check,
    Fold,
    For,
    Let,
    Reduce,
    Search,
    Stmt,
    Store,
    Value,
)
from graphwright.codegen.lowering.context import identity
from graphwright.codegen.triton.attention import write_attention
from graphwright.codegen.triton.functions import HEADER, LIBDEVICE, with_needs
from graphwright.codegen.triton.names import ERROR, OFFSET, PROGRAM, SEED, CannotEmit, Names, atom
from graphwright.codegen.triton.scalar_formats import spelled_number
from graphwright.codegen.triton.values import (
    Dim,
    TileValues,
    full,
    spelled_type,
)
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym, as_int, ceildiv
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype

COMBINE = {"sum": "gw_add", "prod": "gw_product", "max": "gw_nan_max", "min": "gw_nan_min",
           "any": "gw_either", "all": "gw_both", "logaddexp": "gw_log_add_exp",
           "argmax": "gw_first_max", "argmin": "gw_first_min"}
"""What joins two values of a fold."""
LAST_SITE = 1023
"""The number of the last place that can be checked: the error word is (1023 - site) << 53, plus
2^52, plus the value. The greatest, which stays, is that of the first site."""
TOGETHER = 8
"""Rows of blocks of a product that are gone through together."""


class TritonKernel(Record):
    """The source of one kernel, and how it is launched.

    It takes `buffers` and `sizes` in order, under the names `parameters`; `blocks` are its
    constexprs; `grid` counts its programs; `wide`: sizes have 64 bits, else 32. After the sizes
    come, where it has them, the address of the error word (`checked`), and `seed` and `offset`
    (`random`).
    """

    name: str
    source: str
    buffers: tuple[Buffer, ...]
    sizes: tuple[str, ...]
    parameters: tuple[str, ...]
    blocks: dict[str, int]
    grid: Expr
    checked: bool
    random: bool
    num_warps: int
    wide: bool


def write_kernel(
    kernel: TileKernel, sizes: Sequence[str] = (), checks: Sequence[CheckSite] = (),
    narrow: bool = False,
) -> TritonKernel:
    """The Triton source of a kernel.

    sizes: the program's size symbols; checks: the places whose numbers errors are reported by;
    narrow: see `TileKernel.wide`.

    Raises: CannotEmit for what has no Triton form.
    """
    return KernelWriter(kernel, sizes, checks, kernel.wide(narrow)).write()


class KernelWriter:
    """Writes one kernel."""

    def __init__(
        self, kernel: TileKernel, sizes: Sequence[str], checks: Sequence[CheckSite], wide: bool
    ) -> None:
        self.kernel = kernel
        self.sizes = sizes
        self.wide = wide
        self.sites = {site: number for number, site in enumerate(checks)}
        self.checked = False
        self.maxima: dict[str, str] = {}
        self.blocks: dict[str, int] = {}
        self.names = Names(kernel.name)
        row = [] if kernel.row is None else [kernel.row]
        tiled = [axis for axis in (*kernel.axes, *row) if axis.block > 1 or axis in row]
        axes = {axis.symbol.name: axis.symbol for axis in (*kernel.axes, *row) if axis.extent != 1}
        narrow = {} if wide else axes | {name: Sym(name) for name in sizes}
        self.values = TileValues(self.names, tuple(map(self._dim, tiled)), narrow, bool(row))
        self.rank = len(tiled)

    def _dim(self, axis: TileAxis) -> Dim:
        name = axis.symbol.name
        block = self.names.block(name)
        self.blocks[block] = axis.block
        return Dim(axis.symbol, block, None if axis.divides else self.names.mask(name))

    def write(self) -> TritonKernel:
        """The kernel's source and signature."""
        self._positions()
        if self.kernel.product is not None:
            self._product(self.kernel.product)
        if self.kernel.attention is not None:
            write_attention(self, self.kernel.attention)
        self._statements(self.kernel.body)
        used = tuple(s for s in self.sizes if self.names.has_scalar(s))
        parameters = (*[self.names.buffer(b.name) for b in self.kernel.buffers],
                      *map(self.names.scalar, used))
        return TritonKernel(
            self.kernel.name, self._source(parameters), self.kernel.buffers, used, parameters,
            self.blocks, self.kernel.grid, self.checked, self.values.random,
            self._warps(), self.wide)

    def _warps(self) -> int:
        if self.kernel.attention is not None:
            return self.kernel.attention.warps
        if self.kernel.product is not None:
            return self.kernel.product.warps
        return warps(self.kernel.elements)

    def _source(self, parameters: tuple[str, ...]) -> str:
        parameters += (ERROR,) if self.checked else ()
        parameters += (SEED, OFFSET) if self.values.random else ()
        parameters += tuple(f"{name}: tl.constexpr" for name in self.blocks)
        helpers = with_needs(self.values.helpers)
        head = f"\n@triton.jit\ndef {self.kernel.name}({', '.join(parameters)}):\n"
        lines = [*(f"# {line}" for line in self.kernel.source), *self.values.lines]
        body = "\n".join([*helpers, head]) + "".join(f"    {line}\n" for line in lines)
        return HEADER + (LIBDEVICE if "libdevice." in body else "") + body

    # -- positions --------------------------------------------------------------------------------

    def _positions(self) -> None:
        """The position of the program on each axis, the last axis fastest."""
        axes = [axis for axis in self.kernel.axes if axis.extent != 1]
        wide = ".to(tl.int64)" if self.wide else ""
        rest = f"tl.program_id(0){wide}"
        if len(axes) > 1:
            self.values.add(f"{PROGRAM} = {rest}")
            rest = PROGRAM
        if self.kernel.product is not None:
            self._product_positions(rest)
            return
        for axis in reversed(axes):
            count = ceildiv(axis.extent, axis.block)
            first = axis is axes[0]
            if count == 1 and not first:
                self._position(axis, "0")
                continue
            at = rest if first else f"{rest} % {atom(self.names.index(count))}"
            self._position(axis, at)
            if not first:
                self.values.add(f"{PROGRAM} = {rest} // {atom(self.names.index(count))}")
        if self.kernel.row is not None and not self.kernel.row.looped:
            self._row(self.kernel.row, "0")

    def _product_positions(self, program: str) -> None:
        """Programs of up to 8 rows of blocks go down the columns in turn, so that what they read
        is still in the cache."""
        *batch, high, wide = self.kernel.axes
        rows, columns = (
            atom(self.names.index(ceildiv(a.extent, a.block))) for a in (high, wide))
        add, label = self.values.add, self.names.label
        program_, group, first, tall = (
            label(name, name) for name in ("block", "group", "first", "tall"))
        if batch:
            self._position(batch[0], f"{program} // ({rows} * {columns})")
            program = f"{program} % ({rows} * {columns})"
        add(f"{program_} = {program}")
        add(f"{group} = {TOGETHER} * {columns}")
        add(f"{first} = {program_} // {group} * {TOGETHER}")
        add(f"{tall} = tl.minimum({rows} - {first}, {TOGETHER})")
        self._position(high, f"{first} + {program_} % {group} % {tall}")
        self._position(wide, f"{program_} % {group} // {tall}")

    def _position(self, axis: TileAxis, at: str) -> None:
        name = self.names.scalar(axis.symbol.name)
        if axis.symbol.name not in self.values.dims:
            self.values.add(f"{name} = {at}")
            return
        block = self.names.block(axis.symbol.name)
        start = f"{at if at.startswith('tl.') else atom(at)} * {block}"
        if as_int(axis.extent) is not None and axis.extent.range()[1] <= axis.block:  # type: ignore[operator]
            start = "0"
        self._block(axis, start)

    def _row(self, row: Row, start: str) -> None:
        self._block(row, start)

    def _block(self, axis: TileAxis, start: str) -> None:
        """The positions of a block along its dimension, and their mask."""
        dim = self.values.dims[axis.symbol.name]
        name = self.names.scalar(axis.symbol.name)
        along = f"tl.arange(0, {dim.block})"
        place = list(self.values.dims).index(axis.symbol.name)
        slots = ", ".join(":" if n == place else "None" for n in range(self.rank))
        view = "" if self.rank == 1 else f"[{slots}]"
        if start == "0":
            self.values.add(f"{name} = {along}{view}")
        elif view:
            self.values.add(f"{name} = ({start} + {along}){view}")
        else:
            self.values.add(f"{name} = {start} + {along}")
        if dim.mask is not None:
            self.values.add(f"{dim.mask} = {name} < {self.names.index(axis.extent)}")

    # -- products ---------------------------------------------------------------------------------

    def _product(self, made: Product) -> None:
        """The sum of products of blocks of the two matrices, in float32 for narrower floats."""
        high, wide = self.kernel.axes[-2:]
        inner, add, label = made.inner, self.values.add, self.names.label
        sums = dtypes.float64 if made.dtype is dtypes.float64 else dtypes.float32
        total, start, along = (label(n, n) for n in ("total", "start", "inner"))
        across, down = label("across", "across"), label("down", "down")
        block = self.names.block(inner.symbol.name)
        self.blocks[block] = inner.block
        shape = self.values.shape(frozenset((high.symbol.name, wide.symbol.name)))
        add(f"{total} = tl.zeros({shape}, {spelled_type(sums)})")
        extent = self.names.index(inner.extent)
        add(f"for {start} in range(0, {extent}, {block}):")
        with self.values.indented():
            first = f"{start}.to(tl.int64)" if self.wide else start
            add(f"{along} = {first} + tl.arange(0, {block})")
            add(f"{across} = {along}[None, :]")
            add(f"{down} = {along}[:, None]")
            a, b = label("a", "a"), label("b", "b")
            for name, buffer, index, axis, turned in (
                    (a, made.a, made.index_a, high, across),
                    (b, made.b, made.index_b, wide, down)):
                mask = self.values.dims[axis.symbol.name].mask
                parts = [mask] if mask else []
                parts += [] if inner.divides else [f"({turned} < {extent})"]
                spelled = self._operand_index(index, inner.symbol, turned)
                pointer = f"{self.names.buffer(buffer.name)} + {spelled}"
                tail = f", mask={' & '.join(parts)}, other=0" if parts else ""
                add(f"{name} = tl.load({pointer}{tail})")
            exact = (f', input_precision="{made.precision}"'
                     if made.a.dtype is dtypes.float32 else "")
            add(f"{total} = tl.dot({a}, {b}, {total}{exact}, out_dtype={spelled_type(sums)})")
        name = self.values.define(made.name, frozenset((high.symbol.name, wide.symbol.name)))
        rounded = "" if made.dtype is sums else f".to({spelled_type(made.dtype)})"
        add(f"{name} = {total}{rounded}")

    def _operand_index(self, index: Expr, inner: Sym, turned: str) -> str:
        """An index with the inner axis along the dimension that this operand has it in."""
        symbol = Sym(f"{inner.name}.{turned}", inner.lower, inner.upper)
        self.names.alias(symbol.name, turned)
        return self.names.index(index.at({inner.name: symbol}))

    # -- statements -------------------------------------------------------------------------------

    def _statements(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            if isinstance(stmt, Running):
                self._running(stmt)
            elif isinstance(stmt, Search):
                self.values.search(stmt)
            elif isinstance(stmt, Let):
                self.values.bind(stmt.name, stmt.value)
            elif isinstance(stmt, Store):
                self.values.store(stmt)
            elif isinstance(stmt, Accumulate):
                self.values.accumulate(stmt)
            elif isinstance(stmt, Check):
                self._check(stmt)
            elif isinstance(stmt, Reduce):
                self._reduce(stmt)
            else:
                assert isinstance(stmt, For), f"unknown statement {stmt}"
                self._pass(stmt)

    def _check(self, check: Check) -> None:
        """Report a value that is out of bounds in the error word, and guard its accesses."""
        self.checked = True
        site = self.sites[CheckSite(check.message, check.bound)]
        if site > LAST_SITE:
            raise CannotEmit(f"more than {LAST_SITE + 1} checked indices")
        value = self.values.tensor(check.value)
        ok = self.names.label(("ok", len(self.values.lines)), "ok")
        bound = self.values.index_text(check.bound)
        self.values.add(f"{ok} = ({value} >= 0) & ({value} < {bound})")
        dims = self.values.value_dims(check.value)
        masks = [d.mask for n, d in self.values.dims.items() if n in dims and d.mask]
        bad = " & ".join([*masks, f"({ok} == 0)"])
        pointer = f"tl.broadcast_to({ERROR}, {self.values.shape(dims)})" if dims else ERROR
        self.values.helpers.add("gw_report")
        self.values.add(f"gw_report({pointer}, {value}, {site}, {bad})")
        self.values.guard(check.value, ok)

    def _pass(self, loop: For) -> None:
        row = self.kernel.row
        assert row is not None, "a pass over a row that the kernel does not have"
        if not row.looped:
            self._statements(loop.body)
            return
        carried = [s for s in loop.body if isinstance(s, Running)]
        for stmt in carried:
            self._declare(self._carry(stmt), stmt.fold, stmt.value.dtype, per_element=False)
        with self._turns(row):
            self._statements(loop.body)

    def _turns(self, row: Row) -> _Turns:
        return _Turns(self, row)

    def _row_dims(self) -> frozenset[str]:
        return frozenset(self.values.dims)

    def _kept_dims(self) -> frozenset[str]:
        assert self.kernel.row is not None, "a fold without a row"
        return self._row_dims() - {self.kernel.row.symbol.name}

    def _declare(self, name: str, fold: str, kind: dtype, per_element: bool) -> None:
        """A running fold before its first element: for each element of a tile, or for each row."""
        dims = self._row_dims() if per_element else self._kept_dims()
        start = identity_text(fold, kind)
        shape = self.values.shape(dims) if len(self.values.dims) > 1 or per_element else "()"
        self.values.add(f"{name} = tl.full({shape}, {start}, {spelled_type(kind)})")

    # -- folds ------------------------------------------------------------------------------------

    @property
    def _axis(self) -> str:
        """The arguments with which a reduction goes along the row."""
        return "axis=0" if self.rank == 1 else f"axis={self.rank - 1}, keep_dims=True"

    def _filled(self, value: Value, fold: str) -> str:
        """The value of each element of the tile, the identity beyond the row's end."""
        text = self.values.tensor(value)
        row = self.kernel.row
        assert row is not None, "a fold without a row"
        mask = self.values.dims[row.symbol.name].mask
        if mask is not None:
            start = identity_text(fold, value.dtype)
            start = full(start, value.dtype) if value.dtype is dtypes.bool else start
            text = f"tl.where({mask}, {text}, {start})"
        dims = self.values.value_dims(value) | ({row.symbol.name} if mask else set())
        if dims >= self._row_dims():
            return text
        return f"tl.broadcast_to({text}, {self.values.shape(self._row_dims())})"

    def _places(self) -> str:
        """The position of each element of the tile in its row."""
        row = self.kernel.row
        assert row is not None, "a fold without a row"
        dim = self.values.dims[row.symbol.name]
        text = self.names.scalar(row.symbol.name)
        if dim.mask is not None:
            text = f"tl.where({dim.mask}, {text}, {self._beyond})"
        shape = self.values.shape(self._row_dims())
        return text if self.rank == 1 else f"tl.broadcast_to({text}, {shape})"

    def _combine(self, fold: str) -> str:
        name = COMBINE[fold]
        self.values.helpers.add(name)
        return name

    def _reduce(self, reduce: Reduce) -> None:
        row = self.kernel.row
        assert row is not None, "a fold without a row"
        if not row.looped:
            self._statements(reduce.prologue)
            for fold in reduce.folds:
                self._fold(fold)
            return
        totals = {fold.name: self.names.label(("total", fold.name), f"{fold.name}_total")
                  for fold in reduce.folds}
        for fold in reduce.folds:
            start = "sum" if fold.op == "sumexp" else fold.op
            self._declare(totals[fold.name], start, fold.value.dtype, per_element=True)
            if fold.op.startswith("arg"):
                shape = self.values.shape(self._row_dims())
                place = f"tl.full({shape}, {self._beyond}, {self._place_type()})"
                self.values.add(f"{totals[fold.name]}_at = {place}")
        with self._turns(row):
            self._statements(reduce.prologue)
            for fold in self._sums_first(reduce):
                self._step(fold, totals)
        for fold in reduce.folds:
            self._finish(fold, totals)

    def _sums_first(self, reduce: Reduce) -> list[Fold]:
        """Sums of exponentials take a turn before the maximum that they are rescaled by."""
        self.maxima = {fold.name: reduce.folds[n - 1].name
                       for n, fold in enumerate(reduce.folds) if fold.op == "sumexp"}
        return sorted(reduce.folds, key=lambda fold: fold.op != "sumexp")

    @property
    def _beyond(self) -> int:
        """The position of a masked element: after all others."""
        return (1 << (63 if self.wide else 31)) - 1

    def _place_type(self) -> str:
        return "tl.int64" if self.wide else "tl.int32"

    def _fold(self, fold: Fold) -> None:
        """The fold of a row that is there as a whole."""
        filled = self._filled(fold.value, fold.op)
        if fold.op.startswith("arg"):
            self._first_of(fold, filled, self._places())
            return
        if fold.op == "sum":
            text = f"tl.sum({filled}, {self._axis})"
        else:
            text = f"tl.reduce({filled}, {self._reduce_args(fold.op)})"
        self.values.add(f"{self.values.define(fold.name, self._kept_dims())} = {text}")

    def _reduce_args(self, fold: str) -> str:
        axis, _, keep = self._axis.partition(", ")
        parts = [axis.removeprefix("axis="), self._combine(fold), *([keep] if keep else [])]
        return ", ".join(parts)

    def _first_of(self, fold: Fold, values: str, places: str) -> None:
        name = self.values.define(fold.name, self._kept_dims())
        self.values.add(
            f"_, {name} = tl.reduce(({values}, {places}), {self._reduce_args(fold.op)})")
        self.values.add(f"{name} = {name}.to(tl.int64)")

    def _step(self, fold: Fold, totals: dict[str, str]) -> None:
        """Take the elements of one turn into the fold."""
        total, filled = totals[fold.name], self._filled(fold.value, fold.op)
        if fold.op == "sumexp":
            old = totals[self.maxima[fold.name]]
            new = self.names.label(("new", old), f"{old}_new")
            self.values.helpers.update(("gw_rescale", "gw_exp_below"))
            self.values.add(f"{new} = {self._combine('max')}({old}, {filled})")
            self.values.add(f"{total} = gw_rescale({total}, {old}, {new})"
                            f" + gw_exp_below({filled}, {new})")
            return
        if fold.op.startswith("arg"):
            joined = f"{self._combine(fold.op)}({total}, {total}_at, {filled}, {self._places()})"
            self.values.add(f"{total}, {total}_at = {joined}")
        else:
            self.values.add(f"{total} = {self._combine(fold.op)}({total}, {filled})")

    def _finish(self, fold: Fold, totals: dict[str, str]) -> None:
        """The fold of what the turns left."""
        total = totals[fold.name]
        if fold.op == "sumexp":
            maximum = self.names.scalar(self.maxima[fold.name])
            rescaled = f"gw_rescale({total}, {totals[self.maxima[fold.name]]}, {maximum})"
            name = self.values.define(fold.name, self._kept_dims())
            self.values.add(f"{name} = tl.sum({rescaled}, {self._axis})")
            self.values.add(
                f'{name} = tl.where({maximum} == float("-inf"), float("nan"), {name})')
            return
        if fold.op.startswith("arg"):
            self._first_of(fold, total, f"{total}_at")
            return
        text = (f"tl.sum({total}, {self._axis})" if fold.op == "sum"
                else f"tl.reduce({total}, {self._reduce_args(fold.op)})")
        self.values.add(f"{self.values.define(fold.name, self._kept_dims())} = {text}")

    # -- scans ------------------------------------------------------------------------------------

    def _carry(self, stmt: Running) -> str:
        return self.names.label(("carry", stmt.name), f"{stmt.name}_carry")

    def _running(self, stmt: Running) -> None:
        row = self.kernel.row
        assert row is not None, "a scan without a row"
        filled = self._filled(stmt.value, stmt.fold)
        combine = self._combine(stmt.fold)
        name = self.values.define(stmt.name, self._row_dims())
        scanned = f"tl.associative_scan({filled}, {self.rank - 1}, {combine})"
        if not row.looped:
            self.values.add(f"{name} = {scanned}")
            return
        carry = self._carry(stmt)
        self.values.add(f"{name} = {combine}({carry}, {scanned})")
        total = f"tl.reduce({filled}, {self._reduce_args(stmt.fold)})"
        self.values.add(f"{carry} = {combine}({carry}, {total})")


class _Turns:
    """The loop over the blocks of a row that is too long to be there as a whole."""

    def __init__(self, writer: KernelWriter, row: Row) -> None:
        self.writer = writer
        self.row = row
        self.scope = writer.values.indented()

    def __enter__(self) -> None:
        writer, row = self.writer, self.row
        start = writer.names.label("start", f"{row.symbol.name}_start")
        block = writer.names.block(row.symbol.name)
        extent = writer.names.index(row.extent)
        writer.values.add(f"for {start} in range(0, {extent}, {block}):")
        self.scope.__enter__()
        wide = f"{start}.to(tl.int64)" if writer.wide else start
        writer._row(row, wide)

    def __exit__(self, *error: object) -> None:
        self.scope.__exit__(None, None, None)


def identity_text(fold: str, kind: dtype) -> str:
    """What a fold starts from, as Python's number."""
    if fold in ("logaddexp", "sumexp"):
        return 'float("-inf")'
    return spelled_number(identity(fold.removeprefix("arg"), kind).value)
