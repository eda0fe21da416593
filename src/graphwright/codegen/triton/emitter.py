"""Loop nests as Triton source: pointwise kernels, and reductions over one row per program.

A PARALLEL loop becomes the grid, a SIMD loop one block of `tl.arange` with a mask. ::

    for r in parallel(4096):                        r = tl.program_id(0).to(tl.int64)
        m = reduce max over j in vector(1000): ...  j = tl.arange(0, 1024); mask = j < 1000
        for j in vector(1000): y[...] = ...         tl.store(y + ..., ..., mask=mask)

What a block stores and reads again later in the same program is passed on in registers: the
threads of a program do not see each other's stores without a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphwright.codegen.emit.index import step_along
from graphwright.codegen.emit.lanes import all_values, walk
from graphwright.codegen.loops import (
    Accumulate,
    Axis,
    Buffer,
    Check,
    Fold,
    For,
    Kernel,
    Let,
    Load,
    LoopKind,
    Reduce,
    Stmt,
    Store,
)
from graphwright.codegen.program import NativeProgram
from graphwright.codegen.triton.functions import FUNCTIONS, HEADER
from graphwright.codegen.triton.names import OFFSET, PROGRAM, SEED, CannotEmit, Names
from graphwright.codegen.triton.values import Tile, TileValues
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, ceildiv, floordiv
from graphwright.runtime.tensor.dtypes import FLOAT8

MAX_BLOCK = 65536
"""The longest row that one program handles."""
FLAT_BLOCK = 1024
"""Elements of a program of a flat loop."""

_SUMS = {"sum": "tl.sum({}, axis=0)", "prod": "tl.reduce({}, 0, gw_product)",
         "max": "tl.reduce({}, 0, gw_nan_max)", "min": "tl.reduce({}, 0, gw_nan_min)",
         "any": "tl.reduce({}, 0, gw_either)", "all": "tl.reduce({}, 0, gw_both)",
         "argmax": "tl.argmax({}, axis=0)", "argmin": "tl.argmin({}, axis=0)"}
_HELPERS = {"prod": "gw_product", "max": "gw_nan_max", "min": "gw_nan_min",
            "any": "gw_either", "all": "gw_both"}
_IDENTITIES = {"sum": "0", "prod": "1", "max": 'float("-inf")', "min": 'float("inf")',
               "argmax": 'float("-inf")', "argmin": 'float("inf")', "any": "0", "all": "1"}


class TritonKernel(Record):
    """The source of one kernel, and how it is launched.

    It takes `buffers` and `sizes` in order, under the names `parameters`; `blocks` are its
    constexprs; `grid` counts its programs. Kernels that draw random numbers take `seed` and
    `offset` after the sizes.
    """

    name: str
    source: str
    buffers: tuple[Buffer, ...]
    sizes: tuple[str, ...]
    parameters: tuple[str, ...]
    blocks: dict[str, int]
    grid: Expr
    random: bool


class _Draft(Record, frozen=False):
    """A kernel being written."""

    lines: list[str] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    grid: Expr = field(default_factory=lambda: Int(1))


def kernels(program: NativeProgram) -> list[TritonKernel]:
    """The program's kernels, one for each outermost loop nest.

    Raises: CannotEmit for a nest that is neither pointwise nor a reduction of rows, and for
    float8.
    """
    sizes = _sizes(program)
    return [kernel for step in program.steps if isinstance(step, Kernel)
            for kernel in _kernels_of(step, sizes)]


def attempts(program: NativeProgram) -> Iterator[tuple[str, list[TritonKernel] | str]]:
    """Of each step its name, and its kernels or why it has none."""
    sizes = _sizes(program)
    for number, step in enumerate(program.steps):
        if not isinstance(step, Kernel):
            yield f"gemm_{number}", "a matrix product: left to cuBLAS"
            continue
        try:
            yield step.name, _kernels_of(step, sizes)
        except CannotEmit as reason:
            yield step.name, f"{step.name} has no Triton kernel: {reason}"


def listing(program: NativeProgram, comment: str, text: Callable[[TritonKernel], str]
            ) -> list[tuple[str, str]]:
    """(name, text) of each kernel; a comment for the steps that have none."""
    return [pair for name, found in attempts(program)
            for pair in ([(name, f"{comment} {found}\n")] if isinstance(found, str)
                         else [(kernel.name, text(kernel)) for kernel in found])]


def emit(program: NativeProgram) -> list[tuple[str, str]]:
    """(name, Triton source) of each kernel; a comment for those Triton does not get yet."""
    return listing(program, "#", lambda kernel: kernel.source)


def _sizes(program: NativeProgram) -> tuple[str, ...]:
    return tuple(name for name, _, _ in program.symbols)


def _kernels_of(kernel: Kernel, sizes: tuple[str, ...]) -> list[TritonKernel]:
    nests = kernel.body
    narrow = {v.dtype.name for v in all_values(nests) if v.dtype in FLOAT8}
    if narrow:
        raise CannotEmit(f"elements of {', '.join(sorted(narrow))}")
    if not all(isinstance(nest, For) for nest in nests):
        groups: list[tuple[Stmt, ...]] = [nests]
    else:
        groups = [(nest,) for nest in nests]
    names = [kernel.name if len(groups) == 1 else f"{kernel.name}_{i}"
             for i in range(len(groups))]
    return [
        _NestWriter(kernel, name, sizes).write(group)
        for name, group in zip(names, groups, strict=True)
    ]


class _NestWriter:
    """Writes one loop nest."""

    def __init__(self, kernel: Kernel, name: str, sizes: tuple[str, ...]) -> None:
        self.kernel = kernel
        self.name = name
        self.sizes = sizes
        self.draft = _Draft()
        self.declared: dict[str, str] = {}
        self.names = Names(name)
        self.values = TileValues(self.names, self.draft.lines, self.draft.helpers)

    def write(self, body: tuple[Stmt, ...]) -> TritonKernel:
        self.values.pending.update(
            (s.buffer.name, s.index) for s in walk(body)
            if isinstance(s, Store) and s.mask is None)
        self._grid(body)
        sizes = tuple(s for s in self.sizes if self.names.has_scalar(s))
        buffers = tuple(b for b in self.kernel.buffers if b.name in self.values.touched)
        parameters = (*[self.names.buffer(b.name) for b in buffers],
                      *map(self.names.scalar, sizes))
        return TritonKernel(
            self.name, self._source(parameters), buffers, sizes, parameters, self.draft.blocks,
            self.draft.grid, self.values.random)

    def _source(self, parameters: tuple[str, ...]) -> str:
        if self.values.random:
            parameters += (SEED, OFFSET)
        parameters += tuple(f"{name}: tl.constexpr" for name in self.draft.blocks)
        helpers = [FUNCTIONS[name] for name in sorted(self.draft.helpers)]
        head = f"\n@triton.jit\ndef {self.name}({', '.join(parameters)}):\n"
        return HEADER + "\n".join([*helpers, head]) + "".join(
            f"    {line}\n" for line in self.draft.lines)

    # -- loops ------------------------------------------------------------------------------------

    def _grid(self, body: tuple[Stmt, ...]) -> None:
        """PARALLEL loops from the outermost inwards become the grid."""
        axes: list[Axis] = []
        while len(body) == 1 and isinstance(body[0], For) and _is_independent(body[0]):
            inner = body[0].body
            if not any(isinstance(s, (For, Reduce)) for s in inner):
                break
            axes.append(body[0].axis)
            body = inner
        flat = len(body) == 1 and isinstance(body[0], For) and not axes
        for axis in axes:
            self.draft.grid = self.draft.grid * axis.extent
        if axes:
            self._program_ids(axes)
        if flat:
            loop = body[0]
            assert isinstance(loop, For)
            self._flat(loop)
        else:
            self._statements(body)

    def _program_ids(self, axes: list[Axis]) -> None:
        lines, rest = self.draft.lines, PROGRAM
        names = [self.names.scalar(axis.symbol.name) for axis in axes]
        if len(axes) == 1:
            lines.append(f"{names[0]} = tl.program_id(0).to(tl.int64)")
            return
        lines.append(f"{rest} = tl.program_id(0).to(tl.int64)")
        for name, axis in list(zip(names, axes, strict=True))[:0:-1]:
            extent = self.names.index(axis.extent)
            lines.append(f"{name} = {rest} % ({extent})")
            lines.append(f"{rest} = {rest} // ({extent})")
        lines.append(f"{names[0]} = {rest}")

    def _flat(self, loop: For) -> None:
        """An outermost loop without a grid of its own: programs of `FLAT_BLOCK` elements."""
        if loop.kind is LoopKind.SERIAL:
            raise CannotEmit("a serial loop")
        name, extent = self.names.scalar(loop.axis.symbol.name), loop.axis.extent
        block = self.names.block(loop.axis.symbol.name, FLAT_BLOCK)
        self.draft.blocks[block] = FLAT_BLOCK
        self.draft.grid = ceildiv(extent, FLAT_BLOCK)
        self.draft.lines.append(
            f"{name} = tl.program_id(0).to(tl.int64) * {block} + tl.arange(0, {block})")
        self._inside(loop.axis, loop.body)

    def _statements(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            if isinstance(stmt, Let):
                self.values.bind(stmt.name, stmt.value)
            elif isinstance(stmt, Store):
                self.values.store(stmt)
            elif isinstance(stmt, Reduce):
                self._reduce(stmt)
            elif isinstance(stmt, For) and stmt.kind is LoopKind.VECTOR:
                self._block(stmt.axis)
                self._inside(stmt.axis, stmt.body)
            else:
                raise CannotEmit(f"a {type(stmt).__name__} statement there")

    def _block(self, axis: Axis) -> None:
        """axis = tl.arange over its whole extent, rounded up to a power of two."""
        most = axis.extent.range()[1]
        if most is None:
            raise CannotEmit(f"rows of unknown length {axis.extent}")
        size = 1 << max(0, most - 1).bit_length()
        if size > MAX_BLOCK:
            raise CannotEmit(f"rows of up to {most} elements")
        block = self.names.block(axis.symbol.name, size)
        self.draft.blocks[block] = size
        self._declare(f"{self.names.scalar(axis.symbol.name)} = tl.arange(0, {block})")

    def _declare(self, line: str) -> None:
        """Write an assignment, unless its name has that value already."""
        name = line.partition(" = ")[0]
        if self.declared.get(name) != line:
            self.declared[name] = line
            self.draft.lines.append(line)

    def _enter(self, axis: Axis) -> None:
        mask = self.names.mask(axis.symbol.name)
        name = self.names.scalar(axis.symbol.name)
        self._declare(f"{mask} = {name} < {self.names.index(axis.extent)}")
        self.values.tile = Tile(axis.symbol, mask)

    def _inside(self, axis: Axis, body: tuple[Stmt, ...]) -> None:
        self._enter(axis)
        for stmt in body:
            if isinstance(stmt, Let):
                self.values.bind(stmt.name, stmt.value)
            elif isinstance(stmt, Store):
                self.values.store(stmt)
            elif isinstance(stmt, Reduce):
                self._serial_fold(stmt)
            else:
                raise CannotEmit(f"a {type(stmt).__name__} statement inside a block")
        self.values.tile = None

    # -- folds ------------------------------------------------------------------------------------

    def _reduce(self, reduce: Reduce) -> None:
        if len(reduce.axes) != 1:
            raise CannotEmit("a reduction over several axes")
        axis = reduce.axes[0]
        self._block(axis)
        self._enter(axis)
        for stmt in reduce.prologue:
            if isinstance(stmt, Let):
                self.values.bind(stmt.name, stmt.value)
            elif isinstance(stmt, Store):
                self.values.store(stmt)
            else:
                raise CannotEmit(f"a {type(stmt).__name__} in a reduction")
        for fold in reduce.folds:
            self._fold(fold, self.names.mask(axis.symbol.name))
        self.values.tile = None

    def _fold(self, fold: Fold, mask: str) -> None:
        identity = _IDENTITIES[fold.op]
        if not fold.value.dtype.is_floating_point and "inf" in identity:
            raise CannotEmit(f"{fold.op} of integers")
        filled = f"tl.where({mask}, {self.values.tensor(fold.value)}, {identity})"
        if fold.op in _HELPERS:
            self.draft.helpers.add(_HELPERS[fold.op])
        name = self.names.scalar(fold.name)
        self.draft.lines.append(f"{name} = {_SUMS[fold.op].format(filled)}")
        self.values.locals.add(fold.name)

    def _serial_fold(self, reduce: Reduce) -> None:
        """A fold down the rows for a block of columns: a loop over running totals."""
        if len(reduce.axes) != 1 or reduce.prologue or any(
            f.op not in ("sum", "max", "min", "prod") for f in reduce.folds
        ):
            raise CannotEmit("that reduction inside a block")
        tile, axis = self.values.tile, reduce.axes[0]
        assert tile is not None
        names = [self.names.scalar(fold.name) for fold in reduce.folds]
        shape = f"{self.names.scalar(tile.axis.name)}.shape"
        for name, fold in zip(names, reduce.folds, strict=True):
            kind = self.values.type_of(fold.value.dtype)
            self.draft.lines.append(f"{name} = tl.full({shape}, {_IDENTITIES[fold.op]}, {kind})")
        turn = self.names.scalar(axis.symbol.name)
        self.draft.lines.append(f"for {turn} in range({self.names.index(axis.extent)}):")
        steps = {"sum": "{} + {}", "prod": "{} * {}", "max": "gw_nan_max({}, {})",
                 "min": "gw_nan_min({}, {})"}
        with self.values.indented():
            for name, fold in zip(names, reduce.folds, strict=True):
                value = self.values.text(fold.value)
                if fold.op in ("max", "min"):
                    self.draft.helpers.add(_HELPERS[fold.op])
                step = steps[fold.op].format(name, value)
                self.draft.lines.append(f"{self.values.margin}{name} = {step}")
        for fold in reduce.folds:
            self.values.locals.add(fold.name)


def _is_independent(loop: For) -> bool:
    """Whether the loop's turns can be programs of a grid: PARALLEL, or each writes a part of its
    own and reads of what is written only that."""
    if loop.kind is not LoopKind.SERIAL:
        return loop.kind is LoopKind.PARALLEL
    stmts = list(walk(loop.body))
    stores = [s for s in stmts if isinstance(s, Store)]
    written = {s.buffer.name: s.index for s in stores}
    if any(isinstance(s, (Accumulate, Check)) for s in stmts):
        return False
    reads = (v for v in all_values(loop.body) if isinstance(v, Load))
    return all(_separates(s.index, loop.axis.symbol) for s in stores) and all(
        written.get(r.buffer.name, r.index) is r.index for r in reads)


def _separates(index: Expr, symbol: Sym) -> bool:
    """Whether different values of the symbol give different indices, whatever the others are."""
    stride = step_along(index, symbol.name)
    return stride is not None and stride != 0 and (
        index is symbol or floordiv(index, stride) is symbol)
