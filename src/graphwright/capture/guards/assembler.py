"""From guards over sources to the instructions of a `GuardProgram`.

The program is a straight line of loads and checks over numbered registers. A source that several
guards share is loaded once; each load stands directly before the first check that needs it, so
that a miss reads little.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.capture.guards.source import SizeSource, Source
from graphwright.runtime.symbolic.expr import Add, FloorDiv, Int, Max, Min, Mod, Mul, Sym
from graphwright.runtime.symbolic.places import WHOLE

_DEVICE_CODES = {"cpu": 0, "cuda": 1, "meta": 2}


class Assembler:
    """Writes one guard program for calls of `code`."""

    def __init__(self, code: CodeType) -> None:
        self._instructions: list[tuple[object, ...]] = []
        self._registers: dict[Source, int] = {}
        self._slots = {name: i for i, name in enumerate(_argument_names(code))}
        self._free = {name: i for i, name in enumerate(code.co_freevars)}
        self._count = 0

    # What sources call.

    def root(self, op: str, *operands: object) -> int:
        register = self._count
        self._count += 1
        self._instructions.append((op, register, *operands))
        return register

    def chain(self, op: str, base: Source, *operands: object) -> int:
        return self.root(op, self.load(base), *operands)

    def compute(self, function: object, operands: tuple[Source, ...], op: str = "compute") -> int:
        return self.root(op, tuple([self.load(source) for source in operands]), function)

    def slot(self, name: str) -> int:
        return self._slots[name]

    def free(self, name: str) -> int:
        return self._free[name]

    # What `guards.compile` calls.

    def load(self, source: Source) -> int:
        """The register of a source, loaded at its first use."""
        register = self._registers.get(source)
        if register is None:
            register = self._registers[source] = source.loads(self)
        return register

    def check(self, op: str, sources: Sequence[Source], payload: object) -> None:
        """Add the check of one guard."""
        operands = _OPERANDS.get(op, _plain_operands)(self, sources, payload)
        self._instructions.append((f"check {op}", *operands))

    def program(
        self,
        guards: Sequence[object],
        inputs: Sequence[int],
        plain: _eval_frame.GuardProgram | None = None,
    ) -> _eval_frame.GuardProgram:
        return _eval_frame.GuardProgram(
            self._instructions, self._count, list(guards), list(inputs), len(self._slots), plain
        )


def _argument_names(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[:count]


def _plain_operands(
    asm: Assembler, sources: Sequence[Source], payload: object
) -> tuple[object, ...]:
    registers = tuple(asm.load(source) for source in sources)
    return registers if payload is None else (*registers, payload)


def _group_operands(
    asm: Assembler, sources: Sequence[Source], payload: object
) -> tuple[object, ...]:
    return (tuple(asm.load(source) for source in sources), 0 if payload is None else payload)


def _constant_operands(
    asm: Assembler, sources: Sequence[Source], payload: object
) -> tuple[object, ...]:
    return (*(asm.load(source) for source in sources), payload)


def _tensor_operands(
    asm: Assembler, sources: Sequence[Source], layout: Any
) -> tuple[object, ...]:
    dtype, device = layout.dtype, layout.device
    order = None
    strides = layout.strides
    if isinstance(strides, tuple) and strides and strides[0] == "order":
        order, strides = tuple(strides[1]), None
    elif strides == "contiguous":
        order, strides = tuple(range(len(layout.sizes))), None
    index = -1 if device.index is None else device.index
    return (
        asm.load(sources[0]),
        layout.cls,
        dtype.code,
        _DEVICE_CODES[device.type],
        index,
        layout.requires_grad,
        layout.min_size,
        layout.sizes,
        strides,
        order,
    )


def _relation_operands(
    asm: Assembler, _sources: Sequence[Source], relation: Any
) -> tuple[object, ...]:
    named = relation.symbols
    symbols = [_symbol_operand(asm, source) for _, source in named]
    index = {name: i for i, (name, _) in enumerate(named)}
    steps: list[tuple[object, ...]] = []
    _push(relation.lhs, index, steps)
    _push(relation.rhs, index, steps)
    steps.append((relation.op,))
    return (symbols, steps)


def _symbol_operand(asm: Assembler, source: Source) -> tuple[int, int]:
    """The register of a tensor and a place in it; (register, -1) of an int."""
    if isinstance(source, SizeSource):
        return asm.load(source.base), source.place
    return asm.load(source), WHOLE


def _push(expr: object, index: dict[str, int], steps: list[tuple[object, ...]]) -> None:
    """Add the stack code that computes an integer expression."""
    if isinstance(expr, int):
        steps.append(("const", expr))
    elif isinstance(expr, Int):
        steps.append(("const", expr.value))
    elif isinstance(expr, Sym):
        steps.append(("symbol", index[expr.name]))
    elif isinstance(expr, FloorDiv | Mod):
        _push(expr.a, index, steps)
        _push(expr.b, index, steps)
        steps.append(("//" if isinstance(expr, FloorDiv) else "%",))
    elif isinstance(expr, Add | Mul | Min | Max):
        for i, operand in enumerate(expr.args):
            _push(operand, index, steps)
            if i:
                steps.append((_OPERATORS[type(expr)],))
    else:
        raise TypeError(f"no guard code for {type(expr).__name__}")


_OPERATORS: dict[type, str] = {Add: "+", Mul: "*", Min: "min", Max: "max"}

_OPERANDS = {
    "is": _constant_operands,
    "type": _constant_operands,
    "equals": _constant_operands,
    "tensor": _tensor_operands,
    "relation": _relation_operands,
    "distinct": _group_operands,
    "no_overlap": _group_operands,
}
