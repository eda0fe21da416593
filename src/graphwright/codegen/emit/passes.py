"""Passes of `Reduce` as code: nested loops, lanes, accumulators in flight, and totals of blocks.

Numbers that are added one after the other lose up to half a unit in the last place with each. An
accumulator takes at most BLOCK of them, and is then added to a total::

    for block in range(0, n, BLOCK * step):
        acc = [0, 0, ...]
        for i in range(block, min(block + BLOCK * step, n), step):
            acc[0] += x[i : i + lanes]
            acc[1] += x[i + lanes : i + 2 * lanes]
            ...
        total += acc[0] + acc[1] + ...

An accumulator that takes no more than BLOCK numbers anyway is the total. Totals of more than BLOCK
blocks of float32 are float64.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from graphwright.codegen.emit import folds
from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.index import emit_expr, is_multiple
from graphwright.codegen.emit.lanes import accumulators, lanes_for
from graphwright.codegen.emit.regs import KIND_OF_DTYPE, Reg
from graphwright.codegen.emit.values import Lanes, ValueEmitter
from graphwright.codegen.loops import Apply, Axis, Fold, LoopKind, Reduce, Stmt
from graphwright.runtime.records import Record, replace
from graphwright.runtime.symbolic.expr import Expr, Int, ceildiv

BLOCK = 32
"""Numbers that an accumulator takes before it is added to a total."""


class Pass(Record):
    """How a Reduce runs: `lanes` of a vector, `groups` of vectors in flight; `across` if the lanes
    run along the last axis. The loop over axis `cut`, if any, runs in blocks of `turns`, which are
    added to totals that are `wide` or not."""

    lanes: int
    groups: int
    across: bool
    cut: int | None = None
    turns: int = 1
    wide: bool = False


def _pass(reduce: Reduce, lanes: int, groups: int, across: bool) -> Pass:
    found = Pass(lanes, groups, across)
    if not any(map(folds.loses_bits, reduce.folds)):
        return found
    total, step = 1, lanes * groups if across else 1
    for level in reversed(range(len(reduce.axes))):
        most = ceildiv(reduce.axes[level].extent, step).range()[1]
        if found.cut is None and (most is None or total * most > BLOCK):
            found = replace(found, cut=level, turns=BLOCK // total)
        if most is None or total * most > BLOCK * BLOCK:
            return replace(found, wide=True)
        total, step = total * max(1, most), 1
    return found


class PassWalker(ABC):
    """The part of the walker that emits Reduces."""

    b: Builder
    values: ValueEmitter

    @abstractmethod
    def _statements(self, stmts: tuple[Stmt, ...]) -> None: ...

    def _extent(self, axis: Axis) -> Reg:
        return emit_expr(self.b, axis.extent, self.values.env)

    def _round_down(self, start: Reg, stop: Reg, lanes: int) -> Reg:
        if start.value == 0 and stop.value is not None:
            return self.b.const(int(stop.value) // lanes * lanes, "i64")
        return stop - ((stop - start) & (lanes - 1))

    def _mask(self, left: Reg | None, lanes: int) -> Reg | None:
        if left is None:
            return None
        kind = "i32"
        few = self.b.select(left > lanes, self.b.const(lanes, "i64"), left).to(kind)
        return self.b.iota(lanes, kind) < few

    def _reduce(self, reduce: Reduce) -> None:
        outer = self.values.env
        self.values.env = dict(outer)
        results = self._results(reduce)
        self.values.env = outer
        for fold, state in zip(reduce.folds, results, strict=True):
            positional = folds.is_positional(fold)
            kind = "i64" if positional else KIND_OF_DTYPE[fold.value.dtype.name]
            self.values.env[fold.name] = state[-1].to(kind)
        self.values.new_statement()

    def _results(self, reduce: Reduce) -> list[list[Reg]]:
        """The states of the folds, each with as many lanes as there are results."""
        if reduce.kind is LoopKind.VECTOR and self.values.lanes is None:
            final = self._run(reduce, self._across(reduce))
            return [folds.across_lanes(self.b, fold, state)
                    for fold, state in zip(reduce.folds, final, strict=True)]
        lanes = 1 if self.values.lanes is None else self.values.lanes.count
        return self._run(reduce, _pass(reduce, lanes, 1, False))

    def _across(self, reduce: Reduce) -> Pass:
        """Several vectors of partial results in flight, merged in a fixed order at the end."""
        extent = reduce.axes[-1].extent
        known = extent.value if isinstance(extent, Int) else None
        lanes = lanes_for((reduce,), self.b.machine.vector_bits)
        while known is not None and lanes > 4 and known <= lanes // 2:
            lanes //= 2
        groups = accumulators(reduce)
        while groups > 1 and known is not None and known < groups * lanes:
            groups //= 2
        return _pass(reduce, lanes, groups, True)

    def _run(self, reduce: Reduce, run: Pass) -> list[list[Reg]]:
        if run.cut is None:
            final = self._level(reduce, run, 0, self._start(reduce, run))
            return self._merged(reduce, final)
        totals = [
            total for fold, state in zip(
                reduce.folds, _states(reduce, self._identities(reduce, run)), strict=True)
            for total in folds.total(self.b, fold, state, run.wide, run.across)]
        return _states(reduce, self._level(reduce, run, 0, totals))

    def _identities(self, reduce: Reduce, run: Pass) -> list[Reg]:
        where = _position_kind(reduce)
        return [
            part for fold in reduce.folds
            for part in folds.identity(
                self.b, fold, KIND_OF_DTYPE[fold.value.dtype.name], run.lanes, where)
        ]

    def _start(self, reduce: Reduce, run: Pass) -> list[Reg]:
        return self._identities(reduce, run) * run.groups

    # -- loops ------------------------------------------------------------------------------------

    def _level(self, reduce: Reduce, run: Pass, level: int, carried: list[Reg]) -> list[Reg]:
        """The loops from `level` on, one in the other, carrying the states."""
        if level == len(reduce.axes):
            return self._turn(reduce, carried)
        if run.across and level == len(reduce.axes) - 1:
            return self._lanes_fold(reduce, run, carried)
        axis = reduce.axes[level]
        stop, never_empty = self._extent(axis), is_never_empty(axis)

        def loop(start: Reg, stop: Reg, carried: list[Reg], never_empty: bool) -> list[Reg]:
            loop = self.b.open_loop(start, stop, 1, carried, axis.symbol.name, never_empty)
            self.values.env[axis.symbol.name] = loop.index
            inside = self._level(reduce, run, level + 1, loop.carried)
            return self.b.close_loop(loop, inside)

        if level == run.cut:
            return self._blocks(reduce, run, 1, stop, carried, loop, never_empty)
        return loop(self.b.const(0, "i64"), stop, carried, never_empty)

    def _blocks(
        self, reduce: Reduce, run: Pass, step: int, stop: Reg, totals: list[Reg],
        loop: Callable[[Reg, Reg, list[Reg], bool], list[Reg]], never_empty: bool,
    ) -> list[Reg]:
        """`loop` over block after block, each from the identities and added to the totals."""
        b, length = self.b, run.turns * step
        blocks = b.open_loop(b.const(0, "i64"), stop, length, totals, "block", never_empty)
        end = blocks.index + length
        states = loop(blocks.index, b.select(end < stop, end, stop), self._start(reduce, run),
                      True)
        return b.close_loop(blocks, self._added(reduce, run, blocks.carried, states))

    def _lanes_fold(self, reduce: Reduce, run: Pass, carried: list[Reg]) -> list[Reg]:
        """The last axis, along which the lanes run."""
        axis, lanes, step = reduce.axes[-1], run.lanes, run.lanes * run.groups
        name, stop, zero = axis.symbol.name, self._extent(axis), self.b.const(0, "i64")
        known = int(stop.value) if stop.value is not None else None
        exact, even = is_multiple(axis.extent, step), is_multiple(axis.extent, lanes)
        whole = stop if exact else self._round_down(zero, stop, step)
        in_blocks = run.cut == len(reduce.axes) - 1

        def loop(start: Reg, stop: Reg, carried: list[Reg], never_empty: bool) -> list[Reg]:
            loop = self.b.open_loop(start, stop, step, carried, name, never_empty)
            each, following = len(carried) // run.groups, []
            for group in range(run.groups):
                state = loop.carried[group * each:(group + 1) * each]
                following += self._fold_turn(reduce, run, loop.index + group * lanes, state, None)
            return self.b.close_loop(loop, following)

        if known is None or known >= step:
            carried = self._blocks(
                reduce, run, step, whole, carried, loop, known is not None,
            ) if in_blocks else loop(zero, whole, carried, known is not None)
        if exact:
            return carried
        each = len(carried) // (1 if in_blocks else run.groups)
        first = self._identities(reduce, run) if in_blocks else carried[:each]
        tail = self.b.open_loop(whole, stop, lanes, first, name + "_tail", known is not None)
        left = None if even else stop - tail.index
        last = self.b.close_loop(
            tail, self._fold_turn(reduce, run, tail.index, tail.carried, left))
        return self._added(reduce, run, carried, last) if in_blocks else last + carried[each:]

    def _fold_turn(self, reduce: Reduce, run: Pass, base: Reg, state: list[Reg],
                   left: Reg | None) -> list[Reg]:
        self.values.enter(Lanes(reduce.axes[-1].symbol.name, base, run.lanes,
                                self._mask(left, run.lanes)))
        following = self._turn(reduce, state)
        self.values.leave()
        return following

    def _turn(self, reduce: Reduce, carried: list[Reg]) -> list[Reg]:
        """Prologue and one step of every fold."""
        saved = self.values.env
        self.values.env = dict(saved)
        self._statements(reduce.prologue)
        self.values.new_statement()
        following: list[Reg] = []
        width = max(c.lanes for c in carried)
        for fold, state in zip(reduce.folds, _states(reduce, carried), strict=True):
            after = self._step(reduce, fold, state, width)
            following += [self.values.keep_masked(n, o)
                          for n, o in zip(after, state, strict=True)]
        self.values.env = saved
        return following

    def _step(self, reduce: Reduce, fold: Fold, state: list[Reg], width: int) -> list[Reg]:
        """The state after one more value; a product is added without being rounded."""
        b, value = self.b, fold.value
        if isinstance(value, Apply) and value.op == "mul" and folds.loses_bits(fold) and b.has_fma:
            x, y = (b.broadcast(self.values.emit(v), width) for v in value.args)
            return [b.fma(x, y, state[0])]
        position = state[0]
        if folds.is_positional(fold):
            position = b.broadcast(self._position(reduce), width)
        return folds.step(b, fold, state, b.broadcast(self.values.emit(value), width), position)

    def _position(self, reduce: Reduce) -> Reg:
        """The row-major position among the fold's axes."""
        position: Expr = Int(0)
        for axis in reduce.axes:
            position = position * axis.extent + axis.symbol
        return self.values.index_value(position, _position_kind(reduce))

    # -- states -----------------------------------------------------------------------------------

    def _merged(self, reduce: Reduce, states: list[Reg]) -> list[list[Reg]]:
        """One state of each fold from those of the groups."""
        parts = []
        while states:
            parts.append(_states(reduce, states))
            states = states[sum(map(len, parts[-1])):]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [
                [folds.merge(self.b, fold, one, two)
                 for fold, one, two in zip(reduce.folds, parts[i], parts[i + half], strict=True)]
                for i in range(half)
            ]
        return parts[0]

    def _added(
        self, reduce: Reduce, run: Pass, totals: list[Reg], states: list[Reg]
    ) -> list[Reg]:
        """The totals after the states of a block."""
        parts = self._merged(reduce, states)
        return [
            part for fold, total, state in zip(
                reduce.folds, _states(reduce, totals), parts, strict=True)
            for part in folds.merge(
                self.b, fold, total, folds.total(self.b, fold, state, run.wide, run.across))]


def is_never_empty(axis: Axis) -> bool:
    """Whether the loop is known to have a turn."""
    low = axis.extent.range()[0]
    return low is not None and low >= 1


def _position_kind(reduce: Reduce) -> str:
    """The integers that positions among the fold's axes are held in while it runs."""
    count: Expr = Int(1)
    for axis in reduce.axes:
        count = count * axis.extent
    most = count.range()[1]
    return "i32" if most is not None and most <= 1 << 31 else "i64"


def _states(reduce: Reduce, carried: list[Reg]) -> list[list[Reg]]:
    """The flat list of carried registers, fold by fold."""
    states, rest = [], list(carried)
    for fold in reduce.folds:
        count = 2 if folds.is_positional(fold) else 1
        states.append(rest[:count])
        del rest[:count]
    return states
