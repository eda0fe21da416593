"""Statements of one kernel as code: loops, lanes, folds, checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.index import Env, is_multiple
from graphwright.codegen.emit.lanes import all_values, cost, is_of_bytes, lanes_for
from graphwright.codegen.emit.passes import PassWalker, is_never_empty
from graphwright.codegen.emit.regs import Body, Reg
from graphwright.codegen.emit.values import Lanes, ValueEmitter, strays
from graphwright.codegen.loops import (
    Accumulate,
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
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Int

COLUMN_VECTORS = 4
"""Registers per step of a SIMD loop around a serial fold: their chains of additions overlap."""
RANDOM_VECTORS = 4
"""Registers per step of a loop with random numbers, which are made four at a time."""
BYTE_LANES = 4
"""Elements of one byte that take the register space of one float32."""
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


class KernelWalker(PassWalker):
    """Emits one kernel."""

    def __init__(
        self, kernel: Kernel, b: Builder, env: Env, pointers: dict[str, Reg], services: Services,
        launch: Callable[[Body], None] | None = None,
    ) -> None:
        """launch: emits what runs the body of a parallel loop; on the pool by default."""
        self.kernel = kernel
        self.b = b
        self.services = services
        self.launch = launch or partial(b.parallel, services.ctx)
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
                               is_never_empty(loop.axis))
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
        self.launch(Body(b.close_function(), count, loop.grain))

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
        """Vector registers per loop step: several where chains of operations can overlap."""
        if any(isinstance(s, Reduce) for s in body):
            return COLUMN_VECTORS
        if any(isinstance(v, Philox) for v in all_values(body)):
            return RANDOM_VECTORS
        work = cost(body)
        return 4 if work >= FOUR_ABREAST else 2 if work >= TWO_ABREAST else 1

    def _lanes_turn(self, loop: For, base: Reg, lanes: int, left: Reg | None) -> None:
        """One turn of a SIMD loop at `base`; left: the elements of a last, partial turn."""
        env = self.values.env
        self.values.env = dict(env)
        self.values.enter(Lanes(loop.axis.symbol.name, base, lanes, self._mask(left, lanes)))
        self._statements(loop.body)
        self.values.leave()
        self.values.env = env

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
        message = services.messages.index(check.text)
        for i, item in enumerate((shown, bound, b.const(message, "i64"))):
            b.store(services.error_info, b.const(i, "i64"), item, None)
        b.close_branch(claimed)
        b.return_(1 if len(b.functions) == 1 else None)
        b.close_branch(branch, returns=True)
