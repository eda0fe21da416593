"""From a `NativeProgram` to the functions `run` and `shapes`, over whichever syntax."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.index import Env, emit_expr
from graphwright.codegen.emit.lanes import DEAR, all_values, walk
from graphwright.codegen.emit.regs import KIND_OF_DTYPE, Body, Following, Function, Reg
from graphwright.codegen.emit.statements import KernelWalker, Services
from graphwright.codegen.loops import Apply, Buffer, Check, For, Kernel
from graphwright.codegen.program import Gemm, NativeProgram, RoutineCall, Step, step_buffers
from graphwright.codegen.scheduler.chained import elements_each
from graphwright.runtime import _core
from graphwright.runtime.symbolic.expr import as_int

MOST_LINES = 5000
"""Of one function: the time to compile it grows faster than its length."""
FEW_PLACES = 8
"""From more on, a long operation is a function, which costs a call and not its code anew: the
compiler takes some 10 ms for each of these, which at run time differ by a few percent."""
_PARAMETERS = [("ctx", "ptr"), ("ptrs", "ptr"), ("sizes", "ptr")]
_SEED, _OFFSET, _ERROR_INFO = 16, 24, 40
"""Offsets of the fields of `gw_ctx` (runtime/_core/abi.h)."""
_OFFSET_BITS = 48
"""A place is the number of a pointer, and behind it an offset of so many bits."""
_LONGEST_ROUND = 128
"""Units that are called in turn by one loop, at most."""


def emit_program(program: NativeProgram, b: Builder, kinds: Sequence[int]) -> str:
    """The module that implements `program`; `kinds` as in `Canonical`."""
    b.outlined = _frequent(program, kinds)
    _emit_run(program, b, _Shared(program, b, kinds))
    _emit_shapes(program, b)
    return b.text()


def _frequent(program: NativeProgram, kinds: Sequence[int]) -> frozenset[str]:
    """The long operations that the code would have in more than `FEW_PLACES`."""
    distinct: dict[int, Step] = {}
    for kind, step in zip(kinds, program.steps, strict=True):
        distinct.setdefault(kind, step)
    places = Counter(
        value.op for step in distinct.values() if isinstance(step, Kernel)
        for value in all_values(step.body) if isinstance(value, Apply) and value.op in DEAR)
    return frozenset(op for op, count in places.items() if count > FEW_PLACES)


Kinds = tuple[int, ...]
Unit = tuple[Step, ...]
"""Steps that run as one: a step, or a product and the kernel that is chained to it."""


def _units(program: NativeProgram, kinds: Sequence[int]) -> Iterator[tuple[int, Unit, Kinds]]:
    """The number of the first step, the steps, and their kinds, of each unit."""
    chained = set(program.chained)
    for number in range(len(program.steps)):
        if number not in chained:
            end = number + (2 if number + 1 in chained else 1)
            unit = program.steps[number:end]
            yield number, unit, (*kinds[number:end], *_meeting(unit))


def _meeting(unit: Unit) -> Kinds:
    """Which of the chained kernel's buffers is the result of the call before it."""
    if len(unit) == 1:
        return ()
    call, kernel = unit
    assert not isinstance(call, Kernel), f"{call.name} is no call"
    result = call.out if isinstance(call, Gemm) else call.results[0]
    assert result is not None, f"{kernel} follows nothing"
    return (step_buffers(kernel).index(result),)


class _Shared:
    """Units that the program has several times over: one function each. failing: those of them
    that may end the run with an error."""

    def __init__(self, program: NativeProgram, b: Builder, kinds: Sequence[int]) -> None:
        self.units = tuple(_units(program, kinds))
        self.functions: dict[Kinds, Function] = {}
        self.failing: set[Kinds] = set()
        counts = Counter(kind for _, _, kind in self.units)
        for _, unit, kind in self.units:
            if counts[kind] > 1 and kind not in self.functions:
                name = "step" + "_".join(map(str, kind))
                self.functions[kind] = _emit_shared(program, unit, b, name)
                self.failing |= {kind} if _may_fail(unit[0]) else set()
        self.rows = _Rows(program, b, {
            place: unit for place, (_, unit, kind) in enumerate(self.units)
            if kind in self.functions})
        stages = {stage.first for stage in program.stages}
        self.single = {
            place for place, (number, _, kind) in enumerate(self.units)
            if number in stages or kind not in self.functions or kind in self.failing}

    def repeated(self, first: int) -> tuple[int, int]:
        """How many units from there on are the same ones again and again, and how many times."""
        end = next((place for place in range(first, len(self.units)) if place in self.single),
                   len(self.units))
        kinds, best = [kind for _, _, kind in self.units[first:end]], (1, 1)
        for period in range(1, min(len(kinds) // 2, _LONGEST_ROUND) + 1):
            count = 1
            while kinds[count * period:(count + 1) * period] == kinds[:period]:
                count += 1
            if count > 1 and period * count > best[0] * best[1]:
                best = period, count
        return best if self.rows.table is not None else (1, 1)


class _Rows:
    """The places of the buffers of units, by where these come in the program: a row for each.

    table: of all rows; None where an offset is symbolic. starts: of the rows in it.
    """

    def __init__(self, program: NativeProgram, b: Builder, units: Mapping[int, Unit]) -> None:
        self.program, self.builder = program, b
        self.buffers = {place: [buffer for step in unit for buffer in step_buffers(step)]
                        for place, unit in units.items()}
        self.starts: dict[int, int] = {}
        places: list[int | None] = []
        for place, buffers in self.buffers.items():
            self.starts[place] = len(places)
            places += map(self._known, buffers)
        known = [place for place in places if place is not None]
        complete = len(known) == len(places) > 0
        self.table = b.table("places", "i64", tuple(known)) if complete else None
        self.widest = max(map(len, self.buffers.values()), default=0)

    def row(self, place: int, turn: Reg | None, following: int, env: Env) -> Reg:
        """A pointer to the row of a unit, or in turn `turn` of a loop to that of the unit that is
        as many times `following` units later."""
        b, start = self.builder, self.starts[place]
        if self.table is None:
            return self._written(place, env)
        shift = b.const(8 * start, "i64")
        if turn is not None:
            shift = turn * (8 * (self.starts[place + following] - start)) + shift
        return b.address(self.table, shift, "i64")

    def _written(self, place: int, env: Env) -> Reg:
        b = self.builder
        row = b.local_array("i64", self.widest)
        for n, buffer in enumerate(self.buffers[place]):
            offset = self.program.slots[buffer.name].offset
            value = b.const(_pointer_number(self.program, buffer) << _OFFSET_BITS, "i64")
            if offset is not None:
                value = value + emit_expr(b, offset, env)
            b.store(row, b.const(n, "i64"), value, None)
        return row

    def _known(self, buffer: Buffer) -> int | None:
        slot = self.program.slots[buffer.name]
        offset = 0 if slot.offset is None else as_int(slot.offset)
        if offset is None:
            return None
        return (_pointer_number(self.program, buffer) << _OFFSET_BITS) + offset


def _pointer_number(program: NativeProgram, buffer: Buffer) -> int:
    """Which of the pointers that `run` gets leads to a buffer, or to where it has an offset."""
    slot, inputs = program.slots[buffer.name], len(program.inputs)
    if slot.kind == "input":
        return slot.index
    if slot.kind == "output":
        return inputs + slot.index
    arena = inputs + len(program.outputs)
    return arena + 1 + slot.index if slot.kind == "block" else arena


def _emit_shared(program: NativeProgram, unit: Unit, b: Builder, name: str) -> Function:
    """A function of a unit, which finds the places of the buffers of its steps in a row."""
    ctx, pointers, sizes, row = b.open_function(name, [*_PARAMETERS, ("row", "ptr")], "i32")
    numbers = count()
    places = [{buffer.name: _found(b, pointers, row, next(numbers), buffer)
               for buffer in step_buffers(step)} for step in unit]
    env = _sizes(program, b, sizes)
    _emit_unit(unit, b, env, places, _services(program, unit, b, ctx))
    b.return_(0)
    return b.close_function()


def _found(b: Builder, pointers: Reg, row: Reg, number: int, buffer: Buffer) -> Reg:
    """The address of a buffer whose place is that entry of a row."""
    place = b.field(row, 8 * number, "i64")
    base = b.pointer(pointers, place.lshr(_OFFSET_BITS))
    offset = place & ((1 << _OFFSET_BITS) - 1)
    return b.address(base, offset, KIND_OF_DTYPE[buffer.dtype.name])


def _sizes(program: NativeProgram, b: Builder, sizes: Reg) -> Env:
    return {
        name: b.field(sizes, 8 * i, "i64") for i, (name, _, _) in enumerate(program.symbols)
    }


def _emit_run(program: NativeProgram, b: Builder, shared: _Shared) -> None:
    parts: list[Function] = []
    first, count = 0, len(shared.units)
    while first < count or not parts:
        first = _emit_part(program, b, shared, first)
        if first < count or parts:
            b.function.name = f"part{len(parts)}"
        parts.append(b.close_function())
    if len(parts) > 1:
        arguments = b.open_function("run", _PARAMETERS, "i32")
        for part in parts:
            _return_if(b, b.call(part, arguments))
        b.return_(0)
        b.close_function()


def _emit_part(program: NativeProgram, b: Builder, shared: _Shared, first: int) -> int:
    """Open a function with as many units as it should have; returns where the next one begins."""
    ctx, pointers, sizes = b.open_function("run", _PARAMETERS, "i32")
    env = _sizes(program, b, sizes)
    pointer_of = _Pointers(program, b, pointers, env)
    own = [step for _, unit, kinds in shared.units if kinds not in shared.functions
           for step in unit]
    stages = {stage.first: number for number, stage in enumerate(program.stages)}
    services = _services(program, own, b, ctx)
    place = first
    while place < len(shared.units):
        if place > first and len(b.function.entry.lines) > MOST_LINES:
            break
        number, unit, kinds = shared.units[place]
        if number in stages:
            _return_if(b, b.call_enter_stage(ctx, stages[number]))
        if kinds in shared.functions:
            place = _emit_calls(b, shared, place, [ctx, pointers, sizes], env)
            continue
        places = [{buffer.name: pointer_of(buffer) for buffer in step_buffers(step)}
                  for step in unit]
        _emit_unit(unit, b, env, places, services)
        place += 1
    b.return_(0)
    return place


def _emit_calls(
    b: Builder, shared: _Shared, first: int, arguments: list[Reg], env: Env,
) -> int:
    """Call the function of a unit, or in a loop those of units that come again and again; returns
    where the next unit is."""
    period, turns = shared.repeated(first)
    loop = None
    if turns > 1:
        loop = b.open_loop(b.const(0, "i64"), b.const(turns, "i64"), 1, [], "turn", True)
    for place in range(first, first + period):
        kinds = shared.units[place][2]
        row = shared.rows.row(place, None if loop is None else loop.index, period, env)
        status = b.call(shared.functions[kinds], [*arguments, row])
        if kinds in shared.failing:
            _return_if(b, status)
    if loop is not None:
        b.close_loop(loop)
    return first + period * turns


def _return_if(b: Builder, status: Reg) -> None:
    """Leave the function with `status` unless that is 0."""
    branch = b.open_branch(status.ne(0))
    b.return_register(status)
    b.close_branch(branch, returns=True)


def _may_fail(step: Step) -> bool:
    return isinstance(step, RoutineCall) or _is_checked(step)


def _is_checked(step: Step) -> bool:
    return isinstance(step, Kernel) and any(isinstance(s, Check) for s in walk(step.body))


def _services(
    program: NativeProgram, steps: Sequence[Step], b: Builder, ctx: Reg,
) -> Services:
    """What these steps, of one function, need."""
    services = Services(ctx, program.messages)
    if program.rng_ops:
        services.seed = b.field(ctx, _SEED, "i64")
        services.offset = b.field(ctx, _OFFSET, "i64")
    if any(map(_is_checked, steps)):
        info = b.field(ctx, _ERROR_INFO, "ptr")
        services.error_info = Reg(b, info.text, "ptr", 1, info.block, element="i64")
        services.flag = b.local_array("i32", 1)
        b.store(services.flag, b.const(0, "i64"), b.const(0, "i32"), None)
    return services


class _Pointers:
    """The address of each buffer, read from its slot.

    Each step reads it anew: pointers shared by many steps would occupy registers throughout.
    """

    def __init__(self, program: NativeProgram, b: Builder, pointers: Reg, env: Env) -> None:
        self.program = program
        self.builder = b
        self.pointers = pointers
        self.env = env

    def __call__(self, buffer: Buffer) -> Reg:
        b, slot = self.builder, self.program.slots[buffer.name]
        base = b.field(self.pointers, 8 * _pointer_number(self.program, buffer), "ptr")
        shift = b.const(0, "i64") if slot.offset is None else emit_expr(b, slot.offset, self.env)
        return b.address(base, shift, KIND_OF_DTYPE[buffer.dtype.name])


def _emit_unit(
    unit: Unit, b: Builder, env: Env, places: Sequence[dict[str, Reg]], services: Services,
) -> None:
    step = unit[0]
    if isinstance(step, Kernel):
        _emit_kernel(step, b, env, places[0], services)
    elif len(unit) == 1:
        _emit_call(step, b, services.ctx, env, places[0])
    else:
        _emit_chained(step, unit[1], b, env, places, services)


def _emit_chained(
    step: Gemm | RoutineCall, kernel: Step, b: Builder, env: Env, places: Sequence[dict[str, Reg]],
    services: Services,
) -> None:
    assert isinstance(kernel, Kernel) and isinstance(kernel.body[0], For), f"{kernel} is chained"
    each = elements_each(step, kernel.body[0])
    assert each is not None, f"{kernel.name} does not follow what is before it"

    def launch(body: Body) -> None:
        _emit_call(step, b, services.ctx, env, places[0], Following(body, emit_expr(b, each, env)))

    _emit_kernel(kernel, b, env, places[1], services, launch)


def _emit_kernel(
    kernel: Kernel, b: Builder, env: Env, places: dict[str, Reg], services: Services,
    launch: Callable[[Body], None] | None = None,
) -> None:
    entry = b.function.entry
    entry.values.clear()
    for key in [key for key in entry.memo if key[0] == "load"]:
        del entry.memo[key]
    KernelWalker(kernel, b, dict(env), places, services, launch).emit()
    if services.flag is not None and _is_checked(kernel):
        failed = b.load(services.flag, b.const(0, "i64"), 1, None, None, False)
        _return_if(b, failed)


def _emit_call(
    step: Gemm | RoutineCall, b: Builder, ctx: Reg, env: Env, places: dict[str, Reg],
    then: Following | None = None,
) -> None:
    if isinstance(step, Gemm):
        _emit_gemm(step, b, ctx, env, places, then)
    else:
        _emit_routine(step, b, ctx, env, places, then)


def _emit_gemm(
    step: Gemm, b: Builder, ctx: Reg, env: Env, places: dict[str, Reg], then: Following | None,
) -> None:
    def size(expr: object) -> Reg:
        return emit_expr(b, expr, env)  # type: ignore[arg-type]

    itemsize = step.a.dtype.itemsize
    a = b.address(places[step.a.name], size(step.offset_a * itemsize), "f32")
    other = b.address(places[step.b.name], size(step.offset_b * itemsize), "f32")
    b.call_gemm(ctx, step.out.dtype.code | step.way << 16, [
        b.const(int(step.transa), "i32"), b.const(int(step.transb), "i32"),
        size(step.m), size(step.n), size(step.k), b.const(step.alpha, "f64"),
        a, size(step.lda), size(step.stride_a),
        other, size(step.ldb), size(step.stride_b), b.const(step.beta, "f64"),
        places[step.out.name], size(step.ldc), size(step.stride_c), size(step.batch),
    ], then)


def _emit_routine(
    step: RoutineCall, b: Builder, ctx: Reg, env: Env, places: dict[str, Reg],
    then: Following | None,
) -> None:
    arrays = [None if buffer is None else places[buffer.name] for buffer in step.results]
    for buffer, offset in step.operands:
        start = None
        if buffer is not None:
            shift = emit_expr(b, offset * buffer.dtype.itemsize, env)
            start = b.address(places[buffer.name], shift, KIND_OF_DTYPE[buffer.dtype.name])
        arrays.append(start)
    sizes = [emit_expr(b, size, env) for size in step.sizes]
    number = _core.ROUTINES[step.routine]
    _return_if(b, b.call_routine(ctx, number, arrays, sizes, step.numbers, then))


def _emit_shapes(program: NativeProgram, b: Builder) -> None:
    """Emit the function from which the launcher gets what depends on sizes: the layouts of
    outputs that have a symbolic size or stride, and the size of a symbolic arena."""
    sizes, out = b.open_function("shapes", [("sizes", "ptr"), ("out", "ptr")], "void")
    out = Reg(b, out.text, "ptr", 1, out.block, element="i64")
    env = _sizes(program, b, sizes)
    place = 0
    for values in ((program.arena_bytes,), *((*o.shape, *o.strides) for o in program.outputs)):
        if any(as_int(value) is None for value in values):
            for number, value in enumerate(values, place):
                b.store(out, b.const(number, "i64"), emit_expr(b, value, env), None)
        place += len(values)
    b.return_(None)
    b.close_function()
