"""Statements of one kernel as code: loops, lanes, folds, checks."""

from __future__ import annotations

from graphwright.codegen.emit import folds
from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.index import Env, emit_expr, is_multiple
from graphwright.codegen.emit.lanes import accumulators, all_values, cost, is_of_bytes, lanes_for
from graphwright.codegen.emit.regs import KIND_OF_DTYPE, Reg
from graphwright.codegen.emit.values import Lanes, ValueEmitter, strays
from graphwright.codegen.loops import (
    Accumulate,
    Axis,
    Check,
    For,
    Kernel,
    Let,
    LoopKind,
    Philox,
    Reduce,
    Stmt,
    Store,
)
from graphwright.runtime.records import Record
from graphwright.runtime.symbolic.expr import Expr, Int

COLUMN_VECTORS = 4
"""Registers per step of a SIMD loop around a serial fold: their chains of additions overlap."""
RANDOM_VECTORS = 4
"""Registers per step of a loop with random numbers, which are made four at a time."""
BYTE_LANES = 4
"""Bytes in the place of a float32."""
TWO_ABREAST, FOUR_ABREAST = 20, 45
"""Operations per turn (as `lanes.cost` counts them) from which two or four vectors run abreast."""


class Services(Record, frozen=False):
    """What `run` provides to its kernels."""

    ctx: Reg
    messages: tuple[str, ...]
    seed: Reg | None = None
    offset: Reg | None = None
    error_info: Reg | None = None
    flag: Reg | None = None


class KernelWalker:
    """Emits one kernel."""

    def __init__(
        self, kernel: Kernel, b: Builder, env: Env, pointers: dict[str, Reg], services: Services,
    ) -> None:
        self.kernel = kernel
        self.b = b
        self.services = services
        self.values = ValueEmitter(kernel, b, env, pointers, services.seed, services.offset)
        self.bodies = 0

    def emit(self) -> None:
        self._statements(self.kernel.body)

    def _statements(self, stmts: tuple[Stmt, ...]) -> None:
        for stmt in stmts:
            self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        self.values.new_statement()
        if isinstance(stmt, For):
            self._for(stmt)
        elif isinstance(stmt, Let):
            self.values.let(stmt)
        elif isinstance(stmt, Reduce):
            self._reduce(stmt)
        elif isinstance(stmt, Store):
            self.values.store(stmt)
        elif isinstance(stmt, Accumulate):
            self.values.accumulate(stmt)
        else:
            self._check(stmt)

    def _extent(self, axis: Axis) -> Reg:
        return emit_expr(self.b, axis.extent, self.values.env)

    # -- loops ------------------------------------------------------------------------------------

    def _for(self, loop: For) -> None:
        outer = self.values.env
        self.values.env = dict(outer)
        in_run = len(self.b.functions) == 1
        if loop.kind is LoopKind.PARALLEL and in_run and self.values.lanes is None:
            self._parallel(loop)
        elif loop.kind is LoopKind.VECTOR and self.values.lanes is None:
            stop = self._extent(loop.axis)
            self._vector_range(loop, self.b.const(0, "i64"), stop, loop.axis.extent)
        else:
            self._serial_range(loop, self.b.const(0, "i64"), self._extent(loop.axis),
                               _never_empty(loop.axis))
        self.values.env = outer

    def _serial_range(self, loop: For, start: Reg, stop: Reg, never_empty: bool) -> None:
        turn = self.b.open_loop(start, stop, 1, [], loop.axis.symbol.name, never_empty)
        self.values.env[loop.axis.symbol.name] = turn.index
        self._statements(loop.body)
        self.b.close_loop(turn)

    def _parallel(self, loop: For) -> None:
        """A function of its own for the body, called through the pool."""
        b = self.b
        count = self._extent(loop.axis)
        self.bodies += 1
        name = f"{self.kernel.name}_{self.bodies}"
        _, begin, end = b.open_function(
            name, [("closure", "ptr"), ("begin", "i64"), ("end", "i64")], "void")
        if any(isinstance(s, (For, Reduce, Check)) for s in loop.body):
            self._serial_range(loop, begin, end, never_empty=True)
        else:
            self._vector_range(loop, begin, end, None)
        b.return_(None)
        body = b.close_function()
        b.parallel(self.services.ctx, body, count, loop.grain)

    def _vector_range(self, loop: For, start: Reg, stop: Reg, extent: Expr | None) -> None:
        """Full vectors, then what is left as one vector with a mask."""
        b, known = self.b, extent.value if isinstance(extent, Int) else None
        lanes = self._width(loop, known)
        exact = extent is not None and is_multiple(extent, lanes)
        name = loop.axis.symbol.name
        if known is None or known >= lanes:
            whole = stop if exact else self._round_down(start, stop, lanes)
            turn = b.open_loop(start, whole, lanes, [], name, known is not None)
            self._lanes_turn(loop, turn.index, lanes, None)
            b.close_loop(turn)
        else:
            whole = start
        if not exact:
            turn = b.open_loop(whole, stop, lanes, [], name + "_tail", known is not None)
            self._lanes_turn(loop, turn.index, lanes, stop - turn.index)
            b.close_loop(turn)

    def _width(self, loop: For, known: int | None) -> int:
        """Lanes per step: a register, or several around a serial fold; less for short loops.

        Lanes that are read or written one by one keep the machine busy in one register.
        """
        body = loop.body
        register = lanes = lanes_for(body, self.b.machine.vector_bits)
        if self.b.wide_lanes:
            if is_of_bytes(body):
                lanes *= BYTE_LANES
            elif not strays(body, loop.axis.symbol.name):
                lanes *= self._vectors(body)
        if known is not None:
            while lanes > register and known < lanes:
                lanes //= 2
            while lanes > 4 and known <= lanes // 2:
                lanes //= 2
        return lanes

    def _vectors(self, body: tuple[Stmt, ...]) -> int:
        """Registers per step: long chains of operations overlap where several run abreast."""
        if any(isinstance(s, Reduce) for s in body):
            return COLUMN_VECTORS
        if any(isinstance(v, Philox) for v in all_values(body)):
            return RANDOM_VECTORS
        work = cost(body)
        return 4 if work >= FOUR_ABREAST else 2 if work >= TWO_ABREAST else 1

    def _round_down(self, start: Reg, stop: Reg, lanes: int) -> Reg:
        if start.value == 0 and stop.value is not None:
            return self.b.const(int(stop.value) // lanes * lanes, "i64")
        return stop - ((stop - start) & (lanes - 1))

    def _lanes_turn(self, loop: For, base: Reg, lanes: int, left: Reg | None) -> None:
        """One turn of a SIMD loop at `base`, with `left` elements to go if they are too few."""
        env = self.values.env
        self.values.env = dict(env)
        self.values.enter(Lanes(loop.axis.symbol.name, base, lanes, self._mask(left, lanes)))
        self._statements(loop.body)
        self.values.leave()
        self.values.env = env

    def _mask(self, left: Reg | None, lanes: int) -> Reg | None:
        if left is None:
            return None
        kind = "i32"
        few = self.b.select(left > lanes, self.b.const(lanes, "i64"), left).to(kind)
        return self.b.iota(lanes, kind) < few

    # -- folds ------------------------------------------------------------------------------------

    def _reduce(self, reduce: Reduce) -> None:
        outer = self.values.env
        self.values.env = dict(outer)
        if reduce.kind is LoopKind.VECTOR and self.values.lanes is None:
            results = self._vector_reduce(reduce)
        else:
            results = self._serial_reduce(reduce)
        self.values.env = outer
        for fold, state in zip(reduce.folds, results, strict=True):
            positional = folds.is_positional(fold)
            self.values.env[fold.name] = state[-1].to("i64") if positional else state[-1]
        self.values.new_statement()

    def _identities(self, reduce: Reduce, lanes: int) -> list[Reg]:
        where = _position_kind(reduce)
        return [
            part for fold in reduce.folds
            for part in folds.identity(
                self.b, fold, KIND_OF_DTYPE[fold.value.dtype.name], lanes, where)
        ]

    def _serial_reduce(self, reduce: Reduce) -> list[list[Reg]]:
        lanes = 1 if self.values.lanes is None else self.values.lanes.count
        final = self._nest(reduce, 0, self._identities(reduce, lanes))
        return _states(reduce, final)

    def _nest(self, reduce: Reduce, level: int, carried: list[Reg]) -> list[Reg]:
        """The loops from `level` on, one in the other, carrying the states."""
        if level == len(reduce.axes):
            return self._turn(reduce, carried)
        axis = reduce.axes[level]
        loop = self.b.open_loop(self.b.const(0, "i64"), self._extent(axis), 1, carried,
                                axis.symbol.name, _never_empty(axis))
        self.values.env[axis.symbol.name] = loop.index
        return self.b.close_loop(loop, self._nest(reduce, level + 1, loop.carried))

    def _turn(self, reduce: Reduce, carried: list[Reg]) -> list[Reg]:
        """Prologue and one step of every fold."""
        saved = self.values.env
        self.values.env = dict(saved)
        self._statements(reduce.prologue)
        self.values.new_statement()
        following: list[Reg] = []
        width = max(c.lanes for c in carried)
        for fold, state in zip(reduce.folds, _states(reduce, carried), strict=True):
            value = self.b.broadcast(self.values.emit(fold.value), width)
            position = state[0]
            if folds.is_positional(fold):
                position = self.b.broadcast(self._position(reduce), width)
            after = folds.step(self.b, fold, state, value, position)
            following += [self.values.keep_masked(n, o)
                          for n, o in zip(after, state, strict=True)]
        self.values.env = saved
        return following

    def _position(self, reduce: Reduce) -> Reg:
        """The row-major position among the fold's axes."""
        position: Expr = Int(0)
        for axis in reduce.axes:
            position = position * axis.extent + axis.symbol
        return self.values.index_value(position, _position_kind(reduce))

    def _vector_reduce(self, reduce: Reduce) -> list[list[Reg]]:
        """Several vectors of partial results in flight, merged in a fixed order at the end."""
        axis = reduce.axes[-1]
        known = axis.extent.value if isinstance(axis.extent, Int) else None
        lanes = self._reduce_width(reduce, known)
        groups = accumulators(reduce)
        while groups > 1 and known is not None and known < groups * lanes:
            groups //= 2
        carried = self._identities(reduce, lanes) * groups
        final = self._outer_loops(reduce, 0, carried, lanes, groups)
        return self._merged(reduce, final, groups)

    def _reduce_width(self, reduce: Reduce, known: int | None) -> int:
        lanes = lanes_for((reduce,), self.b.machine.vector_bits)
        while known is not None and lanes > 4 and known <= lanes // 2:
            lanes //= 2
        return lanes

    def _outer_loops(self, reduce: Reduce, level: int, carried: list[Reg], lanes: int,
                     groups: int) -> list[Reg]:
        axis = reduce.axes[level]
        if level == len(reduce.axes) - 1:
            return self._lanes_fold(reduce, carried, lanes, groups)
        loop = self.b.open_loop(self.b.const(0, "i64"), self._extent(axis), 1, carried,
                                axis.symbol.name, _never_empty(axis))
        self.values.env[axis.symbol.name] = loop.index
        inside = self._outer_loops(reduce, level + 1, loop.carried, lanes, groups)
        return self.b.close_loop(loop, inside)

    def _lanes_fold(self, reduce: Reduce, carried: list[Reg], lanes: int,
                    groups: int) -> list[Reg]:
        b, axis = self.b, reduce.axes[-1]
        name, stop, zero = axis.symbol.name, self._extent(axis), b.const(0, "i64")
        known = int(stop.value) if stop.value is not None else None
        step, each = lanes * groups, len(carried) // groups
        exact, even = is_multiple(axis.extent, step), is_multiple(axis.extent, lanes)
        whole = stop if exact else self._round_down(zero, stop, step)
        if known is None or known >= step:
            loop = b.open_loop(zero, whole, step, carried, name, known is not None)
            following: list[Reg] = []
            for group in range(groups):
                state = loop.carried[group * each:(group + 1) * each]
                following += self._fold_turn(reduce, loop.index + group * lanes, state, lanes,
                                             None)
            carried = b.close_loop(loop, following)
        if not exact:
            loop = b.open_loop(whole, stop, lanes, carried[:each], name + "_tail",
                               known is not None)
            left = None if even else stop - loop.index
            inside = self._fold_turn(reduce, loop.index, loop.carried, lanes, left)
            carried = b.close_loop(loop, inside) + carried[each:]
        return carried

    def _fold_turn(self, reduce: Reduce, base: Reg, state: list[Reg], lanes: int,
                   left: Reg | None) -> list[Reg]:
        self.values.enter(Lanes(reduce.axes[-1].symbol.name, base, lanes,
                                self._mask(left, lanes)))
        following = self._turn(reduce, state)
        self.values.leave()
        return following

    def _merged(self, reduce: Reduce, final: list[Reg], groups: int) -> list[list[Reg]]:
        each = len(final) // groups
        parts = [_states(reduce, final[g * each:(g + 1) * each]) for g in range(groups)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [
                [folds.merge(self.b, fold, one, two)
                 for fold, one, two in zip(reduce.folds, parts[i], parts[i + half], strict=True)]
                for i in range(half)
            ]
        return [
            folds.across_lanes(self.b, fold, state)
            for fold, state in zip(reduce.folds, parts[0], strict=True)
        ]

    # -- checks -----------------------------------------------------------------------------------

    def _check(self, check: Check) -> None:
        """Leave the function with an error unless 0 <= value < bound in all active lanes."""
        b, services = self.b, self.services
        value = self.values.emit(check.value).to("i64")
        bound = self.values.index_value(check.bound)
        bad = self.values.active((value < 0) | (value >= bound))
        branch = b.open_branch(b.any(bad))
        least = b.const(-(1 << 63), "i64")
        if value.lanes > 1:
            shown = b.fold_halves(b.select(bad, value, least),
                                  lambda x, y: b.select(x > y, x, y))
        else:
            shown = value
        assert services.flag is not None and services.error_info is not None
        claimed = b.open_branch(b.claim(services.flag))
        message = services.messages.index(check.message)
        for i, item in enumerate((shown, bound, b.const(message, "i64"))):
            b.store(services.error_info, b.const(i, "i64"), item, None)
        b.close_branch(claimed)
        b.return_(1 if len(b.functions) == 1 else None)
        b.close_branch(branch, returns=True)


def _never_empty(axis: Axis) -> bool:
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
