"""Prints loop nests as text: `print_kernel`, `print_program`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Axis,
    Buffer,
    Check,
    Const,
    For,
    IndexOf,
    Kernel,
    Let,
    Load,
    Local,
    LoopKind,
    Philox,
    Reduce,
    Search,
    Stmt,
    Store,
)
from graphwright.codegen.program import (
    Gemm,
    NativeProgram,
    RoutineCall,
    Slot,
    Step,
    Touching,
    step_buffers,
)

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
}


def print_program(program: NativeProgram) -> str:
    """The whole program: buffers, then the steps in order."""
    known = (*program.inputs, *program.constants, *(o.buffer for o in program.outputs))
    lines = print_slots(program.slots, known, program.steps)
    for number, step in enumerate(program.steps):
        text = print_step(step)
        lines += ["", text + ", then by blocks:" if number + 1 in program.chained else text]
    return "\n".join(lines) + "\n"


def print_slots(
    slots: Mapping[str, Slot], known: Iterable[Buffer], steps: Iterable[Touching | Gemm]
) -> list[str]:
    """A line for each slot: what `known` buffers and those of `steps` are, and where."""
    buffers = {b.name: b for b in known}
    buffers |= {b.name: b for step in steps for b in step_buffers(step)}
    lines: list[str] = []
    for name, slot in slots.items():
        place = "arena" if slot.kind == "arena" else f"{slot.kind} {slot.index}"
        if slot.offset is not None:
            place += f" + {slot.offset}"
        buffer = buffers[name]
        lines.append(f"{name}: {buffer.dtype.name}[{buffer.size}] at {place}")
    return lines


def print_gemm(step: Gemm) -> str:
    """One line for a matrix product."""
    a = f"{step.a.name}{'.T' if step.transa else ''}"
    b = f"{step.b.name}{'.T' if step.transb else ''}"
    size = f"{step.m} x {step.k} x {step.n}"
    batch = "" if step.batch == 1 else f", batch {step.batch}"
    return f"{step.out.name} = gemm({a}, {b})  # {size}{batch}"


def print_routine(step: RoutineCall) -> str:
    """One line for the call of a routine."""
    results = ", ".join("_" if b is None else b.name for b in step.results)
    operands = ", ".join("none" if b is None else b.name for b, _ in step.operands)
    return f"{results} = {step.routine}({operands})  # {', '.join(map(str, step.sizes))}"


def print_step(step: Step) -> str:
    """A step of a program for CPUs."""
    if isinstance(step, Gemm):
        return print_gemm(step)
    return print_routine(step) if isinstance(step, RoutineCall) else print_kernel(step)


def print_kernel(kernel: Kernel) -> str:
    """A kernel as indented text."""
    return "\n".join([f"kernel {kernel.name}:", *print_block(kernel.body, 1)])


def print_block(stmts: Sequence[Stmt], depth: int) -> list[str]:
    """Statements as indented lines."""
    lines: list[str] = []
    for stmt in stmts:
        lines += PRINTERS[type(stmt)](stmt, depth)
    return lines


def _line(depth: int, text: str) -> str:
    return "    " * depth + text


def _for(stmt: For, depth: int) -> list[str]:
    head = f"for {stmt.axis.symbol} in {stmt.kind.value}({stmt.axis.extent}):"
    return [_line(depth, head), *print_block(stmt.body, depth + 1)]


def _let(stmt: Let, depth: int) -> list[str]:
    return [_line(depth, f"{stmt.name} = {value_text(stmt.value)}")]


def _axes(axes: Sequence[Axis], kind: LoopKind) -> str:
    parts = [f"{a.symbol} in serial({a.extent})" for a in axes[:-1]]
    parts.append(f"{axes[-1].symbol} in {kind.value}({axes[-1].extent})")
    return ", ".join(parts)


def _reduce(stmt: Reduce, depth: int) -> list[str]:
    over = _axes(stmt.axes, stmt.kind)
    if not stmt.prologue and len(stmt.folds) == 1:
        (fold,) = stmt.folds
        return [_line(depth, f"{fold.name} = reduce {fold.op} over {over}: "
                             f"{value_text(fold.value)}")]
    lines = [_line(depth, f"reduce over {over}:"), *print_block(stmt.prologue, depth + 1)]
    return lines + [_line(depth + 1, f"{f.name} = {f.op} {value_text(f.value)}")
                    for f in stmt.folds]


def _store(stmt: Store, depth: int) -> list[str]:
    mask = "" if stmt.mask is None else f" if {value_text(stmt.mask)}"
    return [_line(depth, f"{stmt.buffer.name}[{stmt.index}] = {value_text(stmt.value)}{mask}")]


def _accumulate(stmt: Accumulate, depth: int) -> list[str]:
    sign = "+=" if stmt.fold == "sum" else f"{stmt.fold}="
    return [_line(depth, f"{stmt.buffer.name}[{stmt.index}] {sign} {value_text(stmt.value)}")]


def _check(stmt: Check, depth: int) -> list[str]:
    return [_line(depth, f"check 0 <= {value_text(stmt.value)} < {stmt.bound}")]


def _search(stmt: Search, depth: int) -> list[str]:
    row = f"{stmt.buffer.name}[{stmt.index}] over {stmt.place} in {stmt.length}"
    return [_line(depth, f"{stmt.name} = search {stmt.element.name} = {row}: "
                         f"{value_text(stmt.value)}")]


PRINTERS: dict[type, Any] = {
    For: _for, Let: _let, Reduce: _reduce, Store: _store, Accumulate: _accumulate, Check: _check,
    Search: _search,
}


def value_text(value: Any) -> str:
    """A value as an expression."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Local):
        return value.name
    if isinstance(value, Load):
        text = f"{value.buffer.name}[{value.index}]"
        if value.mask is None:
            return text
        return f"({text} if {value_text(value.mask)} else {value_text(value.other)})"
    if isinstance(value, IndexOf):
        return f"index({value.index})"
    if isinstance(value, Philox):
        return f"philox({value.rng_index}, {value.index})"
    assert isinstance(value, Apply), f"unknown value {value}"
    args = [value_text(a) for a in value.args]
    if value.op in INFIX:
        return f"({args[0]} {INFIX[value.op]} {args[1]})"
    name = value.dtype.name if value.op == "cast" else value.op
    return f"{name}({', '.join(args)})"
