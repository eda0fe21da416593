"""Values of one kernel as code, scalar or in SIMD lanes, and the memory they come from."""

from __future__ import annotations

from graphwright.codegen.emit import philox, scalar
from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.index import Env, emit_expr, mentions, step_along
from graphwright.codegen.emit.lanes import all_values, post_order, walk
from graphwright.codegen.emit.regs import KIND_OF_DTYPE, NARROW, Block, Reg
from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Check,
    Const,
    IndexOf,
    Kernel,
    Let,
    Load,
    Local,
    Philox,
    Stmt,
    Store,
    Value,
)
from graphwright.runtime.ops.kernels import rounded_number
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Int, as_int
from graphwright.runtime.tensor import dtypes

MAX_RUN_LANES = 64
NEAR = 4
"""Steps in memory up to which whole vectors are read and shuffled, rather than gathered."""


def strays(body: tuple[Stmt, ...], axis: str) -> bool:
    """Whether lanes along `axis` read or write memory that is far apart, each lane for itself."""
    stmts = list(walk(body))
    indices = [s.index for s in stmts if isinstance(s, (Store, Accumulate))]
    indices += [v.index for v in all_values(body) if isinstance(v, Load)]
    found = {s.name for s in stmts if isinstance(s, Let)}
    return any(_is_far(index, axis, found) for index in indices)


def _is_far(index: Expr, axis: str, found: set[str]) -> bool:
    step = step_along(index, axis)
    known = None if step is None else as_int(step)
    return known is None or abs(known) > NEAR or any(s.name in found for s in index.symbols())


Bounds = tuple[int, int]
_COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))


class Lanes(Record):
    """The SIMD loop around the code: `axis` runs over base .. base+count, where `mask` holds."""

    axis: str
    base: Reg
    count: int
    mask: Reg | None


class ValueEmitter:
    """Emits values, loads and stores; knows the locals and whether it is in SIMD lanes."""

    def __init__(
        self, kernel: Kernel, b: Builder, env: Env, pointers: dict[str, Reg],
        seed: Reg | None, offset: Reg | None,
    ) -> None:
        self.b = b
        self.env = env
        self.pointers = pointers
        self.seed = seed
        self.offset = offset
        self.lanes: Lanes | None = None
        stmts = list(walk(kernel.body))
        self.written = {s.buffer.name for s in stmts if isinstance(s, (Store, Accumulate))}
        self.may_hoist = not any(isinstance(s, Check) for s in stmts)
        self._settled: dict[int, bool] = {}
        self._passing: dict[int, Reg] = {}
        self._turns = 0
        self._turn = 0
        self._bounds: dict[str, tuple[Reg, Bounds]] = {}

    # -- context ----------------------------------------------------------------------------------

    def enter(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._turns += 1
        self._turn = self._turns
        self.env[lanes.axis] = lanes.base
        self._passing.clear()

    def leave(self) -> None:
        self.lanes = None
        self._turn = 0
        self._passing.clear()

    def new_statement(self) -> None:
        """Memory may have changed: forget what was read of buffers that the kernel writes."""
        self._passing.clear()

    def active(self, mask: Reg) -> Reg:
        """`mask`, and false in lanes past the end of the loop."""
        if self.lanes is None or self.lanes.mask is None:
            return mask
        return mask & self.lanes.mask

    def keep_masked(self, new: Reg, old: Reg) -> Reg:
        """`new`, but `old` in lanes past the end of the loop."""
        if self.lanes is None or self.lanes.mask is None:
            return new
        return self.b.select(self.lanes.mask, new, old)

    # -- values -----------------------------------------------------------------------------------

    def emit(self, value: Value) -> Reg:
        """The value as a register; what has been computed before is used again."""
        fresh: dict[int, Reg] = {}
        for node in post_order(value, lambda v: self._known(v) is not None):
            result = self._compute(node, fresh)
            fresh[id(node)] = result
            self._remember(node, result)
        return self._found(value, fresh)

    def let(self, local: Let) -> None:
        """Bind the local's name to its value."""
        reg = self.env[local.name] = self.emit(local.value)
        bounds = self._bounds_of(local.value)
        if bounds is not None:
            self._bounds[local.name] = (reg, bounds)

    def _found(self, value: Value, fresh: dict[int, Reg]) -> Reg:
        result = fresh.get(id(value)) or self._known(value)
        assert result is not None
        return result

    def _known(self, value: Value) -> Reg | None:
        if isinstance(value, Local):
            return self.env[value.name]
        if isinstance(value, Const):
            return self._const(value)
        if id(value) in self._passing:
            return self._passing[id(value)]
        key = (self._turn, id(value))
        block: Block | None = self.b.block
        while block is not None:
            if key in block.values:
                return block.values[key]
            block = block.parent
        return None

    def _remember(self, value: Value, result: Reg) -> None:
        if not self._is_settled(value):
            self._passing[id(value)] = result
        elif result.block is not None:
            result.block.values[self._turn, id(value)] = result

    def _is_settled(self, value: Value) -> bool:
        """Whether the value stays the same while the kernel writes its buffers."""
        key = id(value)
        if key not in self._settled:
            if isinstance(value, Load):
                settled = value.buffer.name not in self.written
                if value.mask is not None:
                    settled = settled and self._is_settled(value.mask)
            elif isinstance(value, Apply):
                settled = True
                for operand in value.args:
                    settled = self._is_settled(operand) and settled
            else:
                settled = True
            self._settled[key] = settled
        return self._settled[key]

    def _const(self, value: Const) -> Reg:
        kind = KIND_OF_DTYPE[value.dtype.name]
        if kind in NARROW:
            held = rounded_number(value.value, value.dtype)
            bits = int(value.dtype.numpy.type(held).view(f"uint{8 * value.dtype.itemsize}"))
            return self.b.const(bits, kind)
        return self.b.const(value.value, kind)

    def _compute(self, value: Value, fresh: dict[int, Reg]) -> Reg:
        """The value's own operation; its operands are known or among the `fresh`."""
        if isinstance(value, Apply):
            if value.op in _COMPARISONS and all(self._is_narrow(a) for a in value.args):
                return self.b.binary(value.op, *(self._narrow(a) for a in value.args))
            args = tuple([self._found(a, fresh) for a in value.args])
            return scalar.apply(self.b, value.op, args, KIND_OF_DTYPE[value.dtype.name])
        if isinstance(value, Load):
            mask = None if value.mask is None else self._found(value.mask, fresh)
            other = None if value.other is None else self._const(value.other)
            return self._read(value.buffer.name, value.index, mask, other)
        if isinstance(value, IndexOf):
            return self.index_value(value.index).to(KIND_OF_DTYPE[value.dtype.name])
        assert isinstance(value, Philox)
        return self._philox(value)

    def _philox(self, value: Philox) -> Reg:
        assert self.seed is not None and self.offset is not None
        offset = self.offset + value.rng_index
        lanes = self.lanes
        if lanes is not None and lanes.count <= MAX_RUN_LANES and self._steps_by_one(value.index):
            first = emit_expr(self.b, value.index, self.env)
            return philox.uniform_run(self.b, first, lanes.count, self.seed, offset)
        return philox.uniform(self.b, self.index_value(value.index), self.seed, offset)

    # -- indices ----------------------------------------------------------------------------------

    def _steps_by_one(self, index: Expr) -> bool:
        assert self.lanes is not None
        return step_along(index, self.lanes.axis) is Int(1) and not self._mixes(index)

    def _small_step(self, index: Expr) -> int | None:
        """How far lanes are apart in memory, if they are so near that all between is read."""
        if self.lanes is None or self.lanes.count == 1 or self._mixes(index):
            return None
        step = as_int(step_along(index, self.lanes.axis) or 0)
        return step if step and step != 1 and abs(step) <= NEAR else None

    def _mixes(self, index: Expr) -> bool:
        """Whether locals that differ from lane to lane occur in the index."""
        return any(self.env[s.name].lanes > 1 for s in index.symbols())

    def index_value(self, index: Expr, kind: str = "i64") -> Reg:
        """`index` as an integer of that kind, a vector where it differs from lane to lane."""
        lanes = self.lanes
        if lanes is None or not mentions(index, lanes.axis):
            return emit_expr(self.b, index, self.env).to(kind)
        step = step_along(index, lanes.axis)
        if step is not None and not self._mixes(index):
            stride = emit_expr(self.b, step, self.env).to(kind)
            first = emit_expr(self.b, index, self.env).to(kind)
            return first + self.b.iota(lanes.count, kind) * stride
        inside = dict(self.env)
        inside[lanes.axis] = lanes.base + self.b.iota(lanes.count)
        return emit_expr(self.b, index, inside).to(kind)

    def _bounds_of(self, value: Value, depth: int = 3) -> Bounds | None:
        """The least and the greatest value of an int64 made of indices by at most `depth`
        operations, one on the other, where they are known."""
        if value.dtype is not dtypes.int64:
            return None
        if isinstance(value, Const):
            return int(value.value), int(value.value)
        if isinstance(value, IndexOf):
            low, high = value.index.range()
            return None if low is None or high is None else (low, high)
        if isinstance(value, Local):
            known = self._bounds.get(value.name)
            return known[1] if known is not None and known[0] is self.env[value.name] else None
        if isinstance(value, Apply) and value.op in ("add", "sub") and depth:
            one, two = (self._bounds_of(a, depth - 1) for a in value.args)
            if one is None or two is None:
                return None
            if value.op == "add":
                return one[0] + two[0], one[1] + two[1]
            return one[0] - two[1], one[1] - two[0]
        return None

    def _is_narrow(self, value: Value) -> bool:
        """Whether an int64 made of indices, and all that it is made of, would fit in 32 bits."""
        bounds = self._bounds_of(value)
        if bounds is None or bounds[0] < -(1 << 31) or bounds[1] >= 1 << 31:
            return False
        return not isinstance(value, Apply) or all(self._is_narrow(a) for a in value.args)

    def _narrow(self, value: Value) -> Reg:
        """Such a value as int32, of which a register holds twice as many."""
        if isinstance(value, Apply):
            return self.b.binary(value.op, *(self._narrow(a) for a in value.args))
        if isinstance(value, Const):
            return self.b.const(int(value.value), "i32")
        if isinstance(value, IndexOf):
            return self.index_value(value.index, "i32")
        assert isinstance(value, Local)
        return self.env[value.name].to("i32")

    # -- memory -----------------------------------------------------------------------------------

    def _read(self, name: str, index: Expr, mask: Reg | None, other: Reg | None) -> Reg:
        b, lanes, pointer = self.b, self.lanes, self.pointers[name]
        hoist = self.may_hoist and name not in self.written
        if lanes is not None and self._steps_by_one(index):
            active = lanes.mask if mask is None else self.active(mask)
            first = emit_expr(b, index, self.env)
            return b.load(pointer, first, lanes.count, active, other, hoist)
        step = self._small_step(index)
        if lanes is not None and step is not None and mask is None and lanes.mask is None:
            return b.strided(pointer, emit_expr(b, index, self.env), lanes.count, step)
        where = self.index_value(index)
        if where.lanes == 1 and (mask is None or mask.lanes == 1):
            return b.load(pointer, where, 1, mask, other, hoist)
        assert lanes is not None
        active = lanes.mask if mask is None else self.active(mask)
        return b.gather(pointer, b.broadcast(where, lanes.count), active, other)

    def store(self, store: Store) -> None:
        value = self.emit(store.value)
        mask = None if store.mask is None else self.emit(store.mask)
        self._write(store.buffer.name, store.index, value, mask)

    def accumulate(self, stmt: Accumulate) -> None:
        name = stmt.buffer.name
        value = self.emit(stmt.value)
        self._write(name, stmt.index, self._read(name, stmt.index, None, None) + value, None)

    def _write(self, name: str, index: Expr, value: Reg, mask: Reg | None) -> None:
        b, lanes, pointer = self.b, self.lanes, self.pointers[name]
        if lanes is None:
            b.store(pointer, emit_expr(b, index, self.env), value, mask)
            return
        active = lanes.mask if mask is None else self.active(mask)
        value = b.broadcast(value, lanes.count)
        step = self._small_step(index)
        if self._steps_by_one(index):
            b.store(pointer, emit_expr(b, index, self.env), value, active)
        elif step is not None and active is None:
            b.strided_store(pointer, emit_expr(b, index, self.env), value, step)
        else:
            where = b.broadcast(self.index_value(index), lanes.count)
            b.scatter(pointer, where, value, active)
