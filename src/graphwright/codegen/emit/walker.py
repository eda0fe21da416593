"""From a `NativeProgram` to the functions `run` and `shapes`, over whichever syntax."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

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
_STEP_PARAMETERS = [("ctx", "ptr"), ("sizes", "ptr")]
_SEED, _OFFSET, _ERROR_INFO = 16, 24, 40
"""Offsets of the fields of `gw_ctx` (runtime/_core/abi.h)."""


def emit_program(program: NativeProgram, b: Builder, kinds: Sequence[int]) -> str:
    """The module that implements `program`; `kinds` as in `Canonical`."""
    b.outlined = _frequent(program, kinds)
    _emit_run(program, b, _Shared(program, b, kinds))
    _emit_shapes(program, b)
    return b.text()


def _frequent(program: NativeProgram, kinds: Sequence[int]) -> frozenset[str]:
    """The long operations that the code would have in more than `FEW_PLACES`."""
    distinct = dict(zip(kinds, program.steps, strict=True)).values()
    places = Counter(
        value.op for step in distinct if isinstance(step, Kernel)
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
            yield number, program.steps[number:end], tuple(kinds[number:end])


class _Shared:
    """Units that the program has several times over: one function each, called on buffers."""

    def __init__(self, program: NativeProgram, b: Builder, kinds: Sequence[int]) -> None:
        self.units = tuple(_units(program, kinds))
        self.functions: dict[Kinds, Function] = {}
        counts = Counter(kind for _, _, kind in self.units)
        for _, unit, kind in self.units:
            if counts[kind] > 1 and kind not in self.functions:
                name = "step" + "_".join(map(str, kind))
                self.functions[kind] = _emit_shared(program, unit, b, name)


def _emit_shared(program: NativeProgram, unit: Unit, b: Builder, name: str) -> Function:
    """A function of a unit, the buffers of its steps behind the parameters that all have."""
    touched = [step_buffers(step) for step in unit]
    pointers = [(f"buffer{n}", "ptr") for n in range(sum(map(len, touched)))]
    ctx, sizes, *starts = b.open_function(name, [*_STEP_PARAMETERS, *pointers], "i32")
    given = iter(starts)
    places = [
        {buffer.name: b.address(next(given), b.const(0, "i64"), KIND_OF_DTYPE[buffer.dtype.name])
         for buffer in buffers}
        for buffers in touched]
    env = _sizes(program, b, sizes)
    _emit_unit(unit, b, env, places, _services(program, unit, b, ctx))
    b.return_(0)
    return b.close_function()


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
    for place, (number, unit, kinds) in enumerate(shared.units[first:], first):
        if place > first and len(b.function.entry.lines) > MOST_LINES:
            break
        if number in stages:
            _return_if(b, b.call_enter_stage(ctx, stages[number]))
        places = [{buffer.name: pointer_of(buffer) for buffer in step_buffers(step)}
                  for step in unit]
        function = shared.functions.get(kinds)
        if function is None:
            _emit_unit(unit, b, env, places, services)
        else:
            starts = [start for of_step in places for start in of_step.values()]
            status = b.call(function, [ctx, sizes, *starts])
            if _may_fail(unit[0]):
                _return_if(b, status)
    else:
        place = len(shared.units)
    b.return_(0)
    return place


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
        inputs, outputs = len(self.program.inputs), len(self.program.outputs)
        arena = inputs + outputs
        position = {"input": slot.index, "output": inputs + slot.index,
                    "block": arena + 1 + slot.index}.get(slot.kind, arena)
        base = b.field(self.pointers, 8 * position, "ptr")
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
