"""From a `NativeProgram` to the functions `run` and `shapes`, over whichever syntax."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.index import Env, emit_expr
from graphwright.codegen.emit.lanes import walk
from graphwright.codegen.emit.regs import KIND_OF_DTYPE, Function, Reg
from graphwright.codegen.emit.statements import KernelWalker, Services
from graphwright.codegen.loops import Buffer, Check, Kernel
from graphwright.codegen.program import Gemm, NativeProgram

MOST_LINES = 5000
"""Of one function: the time to compile it grows faster than its length."""
_PARAMETERS = [("ctx", "ptr"), ("ptrs", "ptr"), ("sizes", "ptr")]
_SEED, _OFFSET, _ERROR_INFO = 16, 24, 40
"""Offsets of the fields of `gw_ctx` (runtime/_core/abi.h)."""


def emit_program(program: NativeProgram, b: Builder) -> str:
    """The module that implements `program`."""
    _emit_run(program, b)
    _emit_shapes(program, b)
    return b.text()


def _sizes(program: NativeProgram, b: Builder, sizes: Reg) -> Env:
    return {
        name: b.field(sizes, 8 * i, "i64") for i, (name, _, _) in enumerate(program.symbols)
    }


def _emit_run(program: NativeProgram, b: Builder) -> None:
    parts: list[Function] = []
    first = 0
    while first < len(program.steps) or not parts:
        first = _emit_part(program, b, first)
        if first < len(program.steps) or parts:
            b.function.name = f"part{len(parts)}"
        parts.append(b.close_function())
    if len(parts) > 1:
        b.open_function("run", _PARAMETERS, "i32")
        for part in parts:
            _return_if(b, b.call_part(part))
        b.return_(0)
        b.close_function()


def _emit_part(program: NativeProgram, b: Builder, first: int) -> int:
    """Open a function with as many steps as it should have; returns where the next one begins."""
    ctx, pointers, sizes = b.open_function("run", _PARAMETERS, "i32")
    env = _sizes(program, b, sizes)
    pointer_of = _Pointers(program, b, pointers, env)
    services = _services(program, b, ctx)
    for number, step in enumerate(program.steps[first:], first):
        if number > first and len(b.function.entry.lines) > MOST_LINES:
            break
        if isinstance(step, Gemm):
            _emit_gemm(step, b, ctx, env, pointer_of)
        else:
            _emit_kernel(step, b, env, pointer_of, services)
    else:
        number = len(program.steps)
    b.return_(0)
    return number


def _return_if(b: Builder, status: Reg) -> None:
    """Leave the function with 1 unless `status` is 0."""
    branch = b.open_branch(status.ne(0))
    b.return_(1)
    b.close_branch(branch, returns=True)


def _services(program: NativeProgram, b: Builder, ctx: Reg) -> Services:
    checked = any(
        isinstance(stmt, Check)
        for step in program.steps if isinstance(step, Kernel) for stmt in walk(step.body)
    )
    services = Services(ctx, program.messages)
    if program.rng_ops:
        services.seed = b.field(ctx, _SEED, "i64")
        services.offset = b.field(ctx, _OFFSET, "i64")
    if checked:
        info = b.field(ctx, _ERROR_INFO, "ptr")
        services.error_info = Reg(b, info.text, "ptr", 1, info.block, element="i64")
        services.flag = b.local_array("i32", 1)
        b.store(services.flag, b.const(0, "i64"), b.const(0, "i32"), None)
    return services


class _Pointers:
    """Where each buffer starts, as its slot says; made when first asked for."""

    def __init__(self, program: NativeProgram, b: Builder, pointers: Reg, env: Env) -> None:
        self.program = program
        self.builder = b
        self.pointers = pointers
        self.env = env
        self.known: dict[str, Reg] = {}

    def __call__(self, buffer: Buffer) -> Reg:
        if buffer.name not in self.known:
            self.known[buffer.name] = self._make(buffer)
        return self.known[buffer.name]

    def _make(self, buffer: Buffer) -> Reg:
        b, slot = self.builder, self.program.slots[buffer.name]
        inputs, outputs = len(self.program.inputs), len(self.program.outputs)
        position = {"input": slot.index, "output": inputs + slot.index}.get(
            slot.kind, inputs + outputs)
        base = b.field(self.pointers, 8 * position, "ptr")
        shift = b.const(0, "i64") if slot.offset is None else emit_expr(b, slot.offset, self.env)
        return b.address(base, shift, KIND_OF_DTYPE[buffer.dtype.name])


def _emit_kernel(
    kernel: Kernel, b: Builder, env: Env, pointer_of: _Pointers, services: Services,
) -> None:
    entry = b.function.entry
    entry.values.clear()
    for key in [key for key in entry.memo if key[0] == "load"]:
        del entry.memo[key]
    pointers = {buffer.name: pointer_of(buffer) for buffer in kernel.buffers}
    KernelWalker(kernel, b, dict(env), pointers, services).emit()
    if services.flag is not None and any(isinstance(s, Check) for s in walk(kernel.body)):
        failed = b.load(services.flag, b.const(0, "i64"), 1, None, None, False)
        _return_if(b, failed)


def _emit_gemm(step: Gemm, b: Builder, ctx: Reg, env: Env, pointer_of: _Pointers) -> None:
    def size(expr: object) -> Reg:
        return emit_expr(b, expr, env)  # type: ignore[arg-type]

    itemsize = step.a.dtype.itemsize
    a = b.address(pointer_of(step.a), size(step.offset_a * itemsize), "f32")
    other = b.address(pointer_of(step.b), size(step.offset_b * itemsize), "f32")
    b.call_gemm(ctx, step.out.dtype.code, [
        b.const(int(step.transa), "i32"), b.const(int(step.transb), "i32"),
        size(step.m), size(step.n), size(step.k), b.const(step.alpha, "f64"),
        a, size(step.lda), size(step.stride_a),
        other, size(step.ldb), size(step.stride_b), b.const(step.beta, "f64"),
        pointer_of(step.out), size(step.ldc), size(step.stride_c), size(step.batch),
    ])


def _emit_shapes(program: NativeProgram, b: Builder) -> None:
    sizes, out = b.open_function("shapes", [("sizes", "ptr"), ("out", "ptr")], "void")
    out = Reg(b, out.text, "ptr", 1, out.block, element="i64")
    env = _sizes(program, b, sizes)
    values = [program.arena_bytes]
    for output in program.outputs:
        values += [*output.shape, *output.strides]
    for i, expr in enumerate(values):
        b.store(out, b.const(i, "i64"), emit_expr(b, expr, env), None)
    b.return_(None)
    b.close_function()
