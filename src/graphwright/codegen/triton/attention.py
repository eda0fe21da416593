"""Attention in Triton: the loop over blocks of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphwright.codegen.gpu.tile_ir import AttentionTile, Operand, TileAxis
from graphwright.codegen.loops import Check, Let, Load
from graphwright.codegen.scheduler.loopnest import rename, renamed_value
from graphwright.codegen.triton.names import CannotEmit
from graphwright.codegen.triton.scalar_formats import spelled_number
from graphwright.codegen.triton.values import Dim, TileValues, spelled_type
from graphwright.runtime.symbolic.expr import Expr, Sym
from graphwright.runtime.tensor import dtypes

if TYPE_CHECKING:
    from graphwright.codegen.triton.writer import KernelWriter


def write_attention(writer: KernelWriter, made: AttentionTile) -> None:
    """The lines that compute an attention's element.

    Raises: CannotEmit for operands with checked indices.
    """
    _AttentionWriter(writer, made).write()


class _Placed:
    """An axis along one dimension of a matrix: `across` is the second, `down` the first."""

    def __init__(self, writer: KernelWriter, axis: TileAxis, way: str, along: str) -> None:
        name = axis.symbol.name
        self.axis, self.block = axis, writer.names.block(name)
        self.spelled = writer.names.label((name, way), f"{name}_{way}")
        self.mask = None if axis.divides else writer.names.label(
            (name, way, "mask"), f"mask_{name}_{way}")
        view = "[None, :]" if way == "across" else "[:, None]"
        writer.values.add(f"{self.spelled} = {along}{view}")
        if self.mask is not None:
            extent = writer.names.index(axis.extent)
            writer.values.add(f"{self.mask} = {self.spelled} < {extent}")
        self.symbol = Sym(f"{name}.{way}", axis.symbol.lower, axis.symbol.upper)
        writer.names.alias(self.symbol.name, self.spelled)


class _AttentionWriter:
    """Writes one attention."""

    def __init__(self, writer: KernelWriter, made: AttentionTile) -> None:
        self.writer, self.made = writer, made
        self.names, self.values = writer.names, writer.values
        self.sums = dtypes.float64 if made.dtype is dtypes.float64 else dtypes.float32
        for axis in (made.inner, made.depth):
            writer.blocks[self.names.block(axis.symbol.name)] = axis.block

    def _main(self, axis: TileAxis) -> Dim:
        return self.values.dims[axis.symbol.name]

    def _matrix(self, operand: Operand, dims: Sequence[Dim], bound: dict[str, Expr]) -> str:
        """The name of an operand's tile, zero beyond the edges; `dims` are its two."""
        tile = TileValues(self.names, tuple(dims))
        tile.lines, tile.helpers, tile.margin = (
            self.values.lines, self.values.helpers, self.values.margin)
        for stmt in rename(operand.stmts, bound):
            if isinstance(stmt, Check) or not isinstance(stmt, Let):
                raise CannotEmit("attention over elements at checked indices")
            tile.bind(stmt.name, stmt.value)
        value = renamed_value(operand.value, bound)
        text = tile.tensor(value)
        masks = [dim.mask for dim in dims if dim.mask]
        if masks and not isinstance(value, Load):
            text = f"tl.where({' & '.join(masks)}, {text}, 0)"
        if tile.value_dims(value) != frozenset(tile.dims):
            text = f"tl.broadcast_to({text}, {tile.shape(frozenset(tile.dims))})"
        self.writer.values.random |= tile.random
        return text

    def write(self) -> None:
        made, add, label = self.made, self.values.add, self.names.label
        high, wide = self.writer.kernel.axes[-2:]
        kind = spelled_type(self.sums)
        depth = f"tl.arange(0, {self.names.block(made.depth.symbol.name)})"
        across, down = (_Placed(self.writer, made.depth, way, depth) for way in ("across", "down"))
        query = label("query", "query")
        rows = self._main(high)
        add(f"{query} = " + self._matrix(
            made.query, [rows, Dim(across.symbol, across.block, across.mask)],
            {made.depth.symbol.name: across.symbol}))
        most, total, result = (label(n, n) for n in ("most", "total", "result"))
        shape = self.values.shape(frozenset((high.symbol.name,)))
        add(f'{most} = tl.full({shape}, float("-inf"), {kind})')
        add(f"{total} = tl.zeros({shape}, {kind})")
        if made.value is not None:
            whole = self.values.shape(frozenset(self.values.dims))
            add(f"{result} = tl.zeros({whole}, {kind})")
        stop = self.names.index(made.inner.extent)
        if made.causal:
            end = label("stop", "stop")
            row = self.names.scalar(high.symbol.name)
            add(f"{end} = tl.minimum(tl.max(tl.ravel({row}), 0) + 1, {stop})")
            stop = end
        start, block = label("start", "start"), self.names.block(made.inner.symbol.name)
        add(f"for {start} in range(0, {stop}, {block}):")
        with self.values.indented():
            self._turn(start, query, down, (most, total, result))
        name = self.values.define(made.name, frozenset(self.values.dims))
        rounded = "" if made.dtype is self.sums else f".to({spelled_type(made.dtype)})"
        self.values.helpers.add("gw_divide")
        if made.value is not None:
            ratio = f"gw_divide({result}, tl.where({total} == 0, 1.0, {total}))"
            add(f"{name} = ({ratio}){rounded}")
            return
        column = self.names.scalar(wide.symbol.name)
        inverse = f"gw_divide(tl.full({shape}, 1.0, {kind}), {total})"
        add(f"{name} = tl.where({column} == 0, {most}, {inverse}){rounded}")

    def _turn(
        self, start: str, query: str, down: _Placed, state: tuple[str, str, str]
    ) -> None:
        """One block of keys: its scores, and what it adds."""
        made, add, label = self.made, self.values.add, self.names.label
        most, total, result = state
        high, wide = self.writer.kernel.axes[-2:]
        first = f"{start}.to(tl.int64)" if self.writer.wide else start
        keys = f"({first} + tl.arange(0, {self.names.block(made.inner.symbol.name)}))"
        across = _Placed(self.writer, made.inner, "across", keys)
        key, score, new, weight = (label(n, n) for n in ("key", "score", "new", "weight"))
        inner, depth = made.inner.symbol.name, made.depth.symbol.name
        column = Dim(across.symbol, across.block, across.mask)
        add(f"{key} = " + self._matrix(
            made.key, [Dim(down.symbol, down.block, down.mask), column],
            {depth: down.symbol, inner: across.symbol}))
        exact = ', input_precision="ieee"' if self.sums is dtypes.float32 else ""
        dot = f"tl.dot({query}, {key}{exact}, out_dtype={spelled_type(self.sums)})"
        add(f"{score} = {dot} * {spelled_number(made.scale)}")
        if made.mask is not None:
            mask = self._matrix(made.mask, [self._main(high), column], {inner: across.symbol})
            add(f"{score} = {score} + {mask}")
        allowed = [across.mask] if across.mask else []
        if made.causal:
            allowed.append(f"({across.spelled} <= {self.names.scalar(high.symbol.name)})")
        if allowed:
            add(f'{score} = tl.where({" & ".join(allowed)}, {score}, float("-inf"))')
        self.values.helpers.update(("gw_nan_max", "gw_rescale", "gw_exp_below"))
        add(f"{new} = gw_nan_max({most}, tl.reduce({score}, 1, gw_nan_max, keep_dims=True))")
        add(f"{weight} = gw_exp_below({score}, {new})")
        add(f"{total} = gw_rescale({total}, {most}, {new}) + "
            f"tl.sum({weight}, axis=1, keep_dims=True)")
        if made.value is not None:
            below = _Placed(self.writer, made.inner, "down", keys)
            value = label("value", "value")
            add(f"{value} = " + self._matrix(
                made.value, [Dim(below.symbol, below.block, below.mask), self._main(wide)],
                {inner: below.symbol}))
            add(f"{result} = gw_rescale({result}, {most}, {new})")
            add(f"{result} = tl.dot({weight}.to({value}.dtype), {value}, {result}{exact}, "
                f"out_dtype={spelled_type(self.sums)})")
        add(f"{most} = {new}")
