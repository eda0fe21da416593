"""A native program as text that is equal for equal programs: what cached kernels are keyed by.

Steps are written apart, with numbers in place of the names of their buffers and locals: those
that differ in names alone, and in whose memory they touch, have one text, and are one function
where a program has several.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from graphwright.codegen.emit.lanes import post_order
from graphwright.codegen.loops import Apply, Buffer, Fold, Kernel, Let, Load, Local, Reduce
from graphwright.codegen.program import NativeProgram, Step, step_buffers
from graphwright.runtime.record import Record, field_names, replace
from graphwright.runtime.symbolic.expr import Expr, Int, Sym
from graphwright.runtime.tensor.dtypes import dtype


class Canonical(Record):
    """The text of a program, and for each of its steps a number: equal for steps that differ in
    names alone."""

    text: str
    kinds: tuple[int, ...]


_LITERALS = frozenset({type(None), bool, int, str})


class _Writer:
    """Writes each distinct object once, as a numbered line over the numbers of its parts."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.by_id: dict[int, str] = {}
        self.by_text: dict[str, str] = {}

    def write(self, value: Any) -> str:
        kind = type(value)
        if kind in _LITERALS:
            return repr(value)
        if kind is dtype:
            return str(value.name)
        known = self.by_id.get(id(value))
        if known is not None:
            return known
        if kind is float:
            return "nan" if value != value else value.hex()
        if isinstance(value, Enum):
            return str(value.value)
        if kind is Apply or kind is Load:
            for node in post_order(value, lambda v: id(v) in self.by_id):
                self.by_id[id(node)] = self._number(self._spell(node))
        else:
            self.by_id[id(value)] = self._number(self._spell(value))
        return self.by_id[id(value)]

    def _spell(self, value: Any) -> str:
        if isinstance(value, Expr):
            return self._expression(value)
        if isinstance(value, (tuple, list)):
            return f"({','.join([self.write(v) for v in value])})"
        if isinstance(value, dict):
            return f"{{{','.join(f'{self._name(k)}:{self.write(v)}' for k, v in value.items())}}}"
        assert isinstance(value, Record), value
        return self._record(value)

    def _name(self, name: str) -> str:
        return repr(name)

    def _record(self, value: Record) -> str:
        parts = [self.write(getattr(value, name)) for name in field_names(type(value))]
        return f"{type(value).__name__}({','.join(parts)})"

    def _expression(self, value: Expr) -> str:
        if isinstance(value, Int):
            return f"`{value.value}` "
        ranges = ",".join(
            f"{s.name}:{s.range()}" for s in sorted(value.symbols(), key=lambda s: s.name))
        return f"`{value}` {ranges}"

    def _number(self, text: str) -> str:
        if text not in self.by_text:
            self.by_text[text] = f"#{len(self.lines)}"
            self.lines.append(text)
        return self.by_text[text]


class _StepWriter(_Writer):
    """Writes one step. Locals are numbered as they are bound, which is before their uses."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.buffers = {buffer.name: n for n, buffer in enumerate(step_buffers(step))}
        self.locals: dict[str, str] = {}

    def _record(self, value: Record) -> str:
        if isinstance(value, Buffer):
            return f"{self._name(value.name)}({value.dtype.name},{self.write(value.size)})"
        if isinstance(value, Local):
            return f"{self.locals[value.name]}:{value.dtype.name}"
        if isinstance(value, Let):
            bound = self.write(value.value)
            return f"{self._bind(value.name)}={bound}"
        if isinstance(value, Fold):
            folded = self.write(value.value)
            return f"{self._bind(value.name)}={value.op}({folded})"
        if isinstance(value, Reduce):
            parts = (value.axes, value.kind, value.prologue, value.folds)
            return f"Reduce({','.join([self.write(part) for part in parts])})"
        return super()._record(value)

    def _name(self, name: str) -> str:
        return f"b{self.buffers[name]}"

    def _bind(self, name: str) -> str:
        return self.locals.setdefault(name, f"local{len(self.locals)}")

    def _expression(self, value: Expr) -> str:
        mine = {s.name: Sym(self.locals[s.name], s.lower, s.upper)
                for s in value.symbols() if s.name in self.locals}
        return super()._expression(value.subs(mine) if mine else value)


class _ProgramWriter(_Writer):
    """Writes a program, each step as the number of its text and the buffers it is about.

    Buffers are numbered as the program lists them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.buffers: dict[str, int] = {}
        self.steps: dict[str, int] = {}
        self.kinds: list[int] = []

    def _record(self, value: Record) -> str:
        if isinstance(value, Buffer):
            size = self.write(value.size)
            return f"{self._name(value.name)}({value.dtype.name},{size},{value.role})"
        return super()._record(value)

    def _name(self, name: str) -> str:
        return f"b{self.buffers.setdefault(name, len(self.buffers))}"

    def step(self, step: Step, text: str) -> str:
        """The line of a step of that text: its kernel's number, which `kinds` gets too, and its
        buffers."""
        number = self.steps.setdefault(text, len(self.steps))
        self.kinds.append(number)
        return f"{number}:{','.join([self.write(buffer) for buffer in step_buffers(step)])}"


def step_text(step: Step) -> str:
    """A step as text that is equal for steps that differ in names alone."""
    writer = _StepWriter(step)
    for buffer in step_buffers(step):
        writer.write(buffer)
    writer.write(step.body if isinstance(step, Kernel) else step)
    return "\n".join(writer.lines)


def canonical(program: NativeProgram) -> Canonical:
    """Text that is equal, in every process, for programs that compile to the same code."""
    writer = _ProgramWriter()
    texts = program.texts or map(step_text, program.steps)
    calls = [writer.step(step, text) for step, text in zip(program.steps, texts, strict=True)]
    rest = writer.write(replace(program, steps=(), texts=()))
    text = "\n".join([*writer.lines, rest, *calls, *writer.steps])
    return Canonical(text, tuple(writer.kinds))
