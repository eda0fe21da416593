"""Passes of `Reduce` as code: nested loops, lanes, accumulators in flight, and totals of blocks.

Numbers that are added one after the other lose up to half a unit in the last place with each. An
accumulator takes at most BLOCK of them, and is then added to a total::

    for i in range(0, n, step):
        acc[0] += x[i : i + lanes]
        acc[1] += x[i + lanes : i + 2 * lanes]
        ...
        if (i + step) % (BLOCK * step) == 0:
            total += acc[0] + acc[1] + ...
            acc = [0, 0, ...]
    total += acc[0] + acc[1] + ...

An accumulator that takes no more than BLOCK numbers anyway is the total. Totals of more than BLOCK
blocks of float32 are float64, and unused where n turns out to be at most BLOCK * step.
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
from graphwright.runtime.record import Record, replace
from graphwright.runtime.symbolic.expr import Expr, Int, ceildiv

BLOCK = 32
"""Numbers that an accumulator takes before it is added to a total."""


class Pass(Record):
    """How a Reduce runs: `lanes` of a vector, `groups` of vectors in flight; `across` if the lanes
    run along the last axis. After each `turns` turns of the loop over axis `cut`, if any, the
    states are added to totals, which are `wide` or not."""

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
            turns = 1 << (BLOCK // total).bit_length() - 1
            found = replace(found, cut=level, turns=turns)
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
        start = self._start(reduce, run)
        if run.cut is not None:
            start = self._totals(reduce, run, _states(reduce, start[:len(start) // run.groups]))
        return self._merged(reduce, self._level(reduce, run, 0, start))

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
        """Emit the nested loops from `level` on. Above the loop that is split into blocks they
        carry totals, below it the states of the folds."""
        if level == len(reduce.axes):
            return self._turn(reduce, carried)
        if run.across and level == len(reduce.axes) - 1:
            return self._lanes_fold(reduce, run, carried)
        axis = reduce.axes[level]
        name, stop, never_empty = axis.symbol.name, self._extent(axis), is_never_empty(axis)

        def turn(index: Reg, carried: list[Reg]) -> list[Reg]:
            self.values.env[name] = index
            return self._level(reduce, run, level + 1, carried)

        if level == run.cut:
            blocks = self._blocks(reduce, run, stop, 1, carried, name, never_empty, turn)
            return self._closed(reduce, run, stop, 1, *blocks)
        return self._loop(stop, 1, carried, name, never_empty, turn)

    def _loop(self, stop: Reg, step: int, carried: list[Reg], name: str, never_empty: bool,
              turn: Callable[[Reg, list[Reg]], list[Reg]]) -> list[Reg]:
        loop = self.b.open_loop(self.b.const(0, "i64"), stop, step, carried, name, never_empty)
        return self.b.close_loop(loop, turn(loop.index, loop.carried))

    def _blocks(
        self, reduce: Reduce, run: Pass, stop: Reg, step: int, totals: list[Reg], name: str,
        never_empty: bool, turn: Callable[[Reg, list[Reg]], list[Reg]],
    ) -> tuple[list[Reg], list[Reg]]:
        """A loop that adds its states to the totals after each block, and begins anew."""
        b, empty, count = self.b, self._start(reduce, run), len(totals)

        def turn_of_block(index: Reg, carried: list[Reg]) -> list[Reg]:
            totals, states = carried[:count], turn(index, carried[count:])
            branch = b.open_branch(((index + step) & (run.turns * step - 1)).eq(0))
            added = self._added(reduce, run, totals, states)
            return b.close_branch(branch, added + empty, totals + states)

        carried = self._loop(stop, step, totals + empty, name, never_empty, turn_of_block)
        return carried[:count], carried[count:]

    def _closed(self, reduce: Reduce, run: Pass, stop: Reg, step: int, totals: list[Reg],
                states: list[Reg]) -> list[Reg]:
        """The totals after the last states; these alone, not in float64, if no block was whole."""
        if stop.value is not None or not run.wide or run.cut != 0:
            return self._added(reduce, run, totals, states)
        alone = self._totals(reduce, replace(run, wide=False), self._merged(reduce, states))
        branch = self.b.open_branch(stop >= run.turns * step)
        added = self._added(reduce, run, totals, states)
        narrow = [total.to(state.kind) for total, state in zip(added, alone, strict=True)]
        return self.b.close_branch(branch, narrow, alone)

    def _lanes_fold(self, reduce: Reduce, run: Pass, carried: list[Reg]) -> list[Reg]:
        """The last axis, along which the lanes run."""
        axis, lanes, step = reduce.axes[-1], run.lanes, run.lanes * run.groups
        name, stop, zero = axis.symbol.name, self._extent(axis), self.b.const(0, "i64")
        known = int(stop.value) if stop.value is not None else None
        exact, even = is_multiple(axis.extent, step), is_multiple(axis.extent, lanes)
        whole = stop if exact else self._round_down(zero, stop, step)
        in_blocks = run.cut == len(reduce.axes) - 1

        def turn(index: Reg, states: list[Reg]) -> list[Reg]:
            each = len(states) // run.groups
            return [part for group in range(run.groups)
                    for part in self._fold_turn(reduce, run, index + group * lanes,
                                                states[group * each:(group + 1) * each], None)]

        totals: list[Reg] = []
        states = carried
        if in_blocks:
            totals, states = self._blocks(
                reduce, run, whole, step, carried, name, known is not None, turn)
        elif known is None or known >= step:
            states = self._loop(whole, step, states, name, known is not None, turn)
        if not exact:
            each = len(states) // run.groups
            tail = self.b.open_loop(
                whole, stop, lanes, states[:each], name + "_tail", known is not None)
            left = None if even else stop - tail.index
            last = self._fold_turn(reduce, run, tail.index, tail.carried, left)
            states = self.b.close_loop(tail, last) + states[each:]
        return self._closed(reduce, run, whole, step, totals, states) if in_blocks else states

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
        """Combine the states of the groups, pairwise, into one state of each fold."""
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

    def _totals(self, reduce: Reduce, run: Pass, states: list[list[Reg]]) -> list[Reg]:
        """States of one group in the form of totals."""
        return [part for fold, state in zip(reduce.folds, states, strict=True)
                for part in folds.total(self.b, fold, state, run.wide, run.across)]

    def _added(
        self, reduce: Reduce, run: Pass, totals: list[Reg], states: list[Reg]
    ) -> list[Reg]:
        """The totals after the states of a block."""
        block = self._totals(reduce, run, self._merged(reduce, states))
        return [
            part for fold, one, two in zip(
                reduce.folds, _states(reduce, totals), _states(reduce, block), strict=True)
            for part in folds.merge(self.b, fold, one, two)]


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
