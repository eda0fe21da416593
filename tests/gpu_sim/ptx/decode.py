"""From instructions to steps: functions over all lanes, their operands resolved.

An opcode's decoder is registered with `form`; it takes an instruction's modifiers and operands
from a `Form`. A modifier that no decoder takes makes the form unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from .text import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    Vector,
)
from .threads import Reader, Step, Threads, Writer
from .values import BITS, PRED, TYPES, Array, Type, UnknownForm, type_named

Found = TypeVar("Found")


class Scope(NamedTuple):
    """What the instructions of a function refer to: the places of variables that are known before
    a launch, and a kernel's parameters: offset and size."""

    addresses: dict[str, int]
    parameters: dict[str, tuple[int, int]]


class Form:
    """An instruction that is decoded: its modifiers, taken one by one, and its operands."""

    def __init__(self, scope: Scope, instruction: Instruction) -> None:
        self.scope, self.opcode = scope, instruction.opcode
        self.rest, self.operands = list(instruction.modifiers), instruction.arguments

    # ---- modifiers

    def flag(self, *names: str) -> bool:
        """Take these modifiers; whether one of them is there."""
        before = len(self.rest)
        self.rest = [one for one in self.rest if one not in names]
        return len(self.rest) < before

    def need(self, *wanted: str) -> None:
        """Take these modifiers, which must be there; of `a|b` one or the other."""
        for names in wanted:
            if not self.flag(*names.split("|")):
                raise UnknownForm(f"{self.opcode} without .{names}")

    def table(self, entries: dict[str, Found], default: Found | None = None) -> Found:
        """The entry of the first modifier that has one."""
        for one in self.rest:
            if one in entries:
                self.rest.remove(one)
                return entries[one]
        if default is None:
            raise UnknownForm(f"{self.opcode} without any of " + ", ".join(entries))
        return default

    def choice(self, *names: str, default: str | None = None) -> str:
        """The one of these modifiers that is there."""
        return self.table({name: name for name in names}, default)

    def type(self) -> Type:
        """The last modifier as a type."""
        if not self.rest or self.rest[-1] not in TYPES:
            raise UnknownForm(f"{self.opcode} without a type")
        return type_named(self.rest.pop())

    def done(self) -> None:
        """Raise unless all modifiers were taken."""
        if self.rest:
            raise UnknownForm("the modifiers " + ", ".join(f".{one}" for one in self.rest))

    # ---- operands, by number or as they are

    def operand(self, which: int | Operand) -> Operand:
        if not isinstance(which, int):
            return which
        if not -len(self.operands) <= which < len(self.operands):
            raise UnknownForm(f"{len(self.operands)} operands")
        return self.operands[which]

    def vector(self, which: int | Operand) -> tuple[Operand, ...]:
        """The parts of `{a, b}`; a scalar is its only part."""
        operand = self.operand(which)
        return operand.items if isinstance(operand, Vector) else (operand,)

    def constant(self, which: int | Operand) -> int:
        """The value of an operand that must be an integer literal."""
        operand = self.operand(which)
        if not isinstance(operand, Immediate):
            raise UnknownForm(f"an operand that is no literal, {operand}")
        return operand.value

    def read(self, which: int | Operand, kind: Type) -> Reader:
        """Reads an operand's values, typed; of one element where all lanes have the same."""
        operand = self.operand(which)
        if isinstance(operand, Register):
            return register_reader(operand, kind)
        if isinstance(operand, Immediate):
            value = literal(operand, kind)
            return lambda t: value
        if isinstance(operand, Symbol):
            return self.symbol(operand.name, kind)
        raise UnknownForm(f"the operand {operand}")

    def symbol(self, name: str, kind: Type) -> Reader:
        if name.startswith("%"):
            return lambda t: t.blocks.special[name].astype(kind.dtype, copy=False)
        place = self.scope.addresses.get(name, self.scope.parameters.get(name, (None,))[0])
        if place is not None:
            value = np.full(1, place, kind.dtype)
            return lambda t: value
        return lambda t: np.full(1, t.blocks.symbols[name], kind.dtype)

    def write(self, which: int | Operand) -> Writer:
        """Writes values to a register, where the mask is set.

        Values narrower than the register are extended: signed ones with their sign.
        """
        operand = self.operand(which)
        if isinstance(operand, Symbol) and operand.name == "_":
            return lambda t, values: None
        if not isinstance(operand, Register):
            raise UnknownForm(f"the destination {operand}")
        slot, bits, size = operand.slot, operand.type.bits, operand.type.size

        def write(t: Threads, values: Array) -> None:
            if values.dtype != bits:
                values = values.view(bits) if values.itemsize == size else values.astype(bits)
            mask = t.mask
            if mask is not None:
                values = np.where(mask, values, t.registers[slot])
            t.registers[slot] = values

        return write

    def reads(self, which: int | Operand, kind: Type) -> list[Reader]:
        """Readers of all parts of a vector."""
        return [self.read(one, kind) for one in self.vector(which)]

    def writes(self, which: int | Operand) -> list[Writer]:
        return [self.write(one) for one in self.vector(which)]

    def address(self, which: int | Operand) -> Reader:
        """Reads the address of all lanes, in 64 bits."""
        operand = self.operand(which)
        if not isinstance(operand, Address):
            raise UnknownForm(f"the address {operand}")
        offset = np.uint64(operand.offset & (2**64 - 1))
        if isinstance(operand.base, Register):
            slot = operand.base.slot
            return lambda t: t.full(t.registers[slot].astype(np.uint64) + offset)
        base = self.read(operand.base, TYPES["u64"])
        return lambda t: t.full(base(t) + offset)

    def apply(self, function: Callable[..., Array], *kinds: Type) -> Step:
        """Write the function of the sources, read as these types, to the destination."""
        if len(self.operands) != len(kinds) + 1:
            raise UnknownForm(f"{len(self.operands)} operands where it has {len(kinds) + 1}")
        sources = [self.read(at, kind) for at, kind in enumerate(kinds, 1)]
        return combined(function, sources, self.write(0))


def combined(function: Callable[..., Array], sources: Sequence[Reader], put: Writer) -> Step:
    """A step that writes a function of what is read."""
    if len(sources) == 1:
        x, = sources
        return lambda t: put(t, function(x(t)))
    if len(sources) == 2:
        x, y = sources
        return lambda t: put(t, function(x(t), y(t)))
    return lambda t: put(t, function(*[source(t) for source in sources]))


Decode = Callable[[Form], Step]
FORMS: dict[str, Decode] = {}


def form(*opcodes: str) -> Callable[[Decode], Decode]:
    """Register the decoder of these opcodes."""
    def register(decode: Decode) -> Decode:
        FORMS.update(dict.fromkeys(opcodes, decode))
        return decode
    return register


def decoded(scope: Scope, instruction: Instruction) -> Step:
    """The step of an instruction."""
    decode = FORMS.get(instruction.opcode)
    if decode is None:
        raise UnknownForm(f"the instruction {instruction.opcode}")
    found = Form(scope, instruction)
    step = decode(found)
    found.done()
    return step


def register_reader(register: Register, kind: Type) -> Reader:
    slot, dtype, size = register.slot, kind.dtype, register.type.size
    if (register.type.kind == "p") != (kind.kind == "p") or size < kind.size:
        raise UnknownForm(f"{register.name} of type .{register.type.name} as .{kind.name}")
    if kind is PRED or dtype == register.type.bits:
        return lambda t: t.registers[slot]
    if size == kind.size:
        return lambda t: t.registers[slot].view(dtype)
    bits = kind.bits
    return lambda t: t.registers[slot].astype(bits).view(dtype)


def literal(operand: Immediate, kind: Type) -> Array:
    """A literal as an array of one element of the type."""
    if kind is PRED:
        return np.full(1, operand.value != 0, np.bool_)
    value, size = operand.value, operand.size
    if size is not None and size != kind.size:
        if kind.kind != "f" or size == 4:
            raise UnknownForm(f"a literal of {size} bytes as .{kind.name}")
        return np.array([value], np.uint64).view(np.float64).astype(kind.dtype)
    return np.array([value & ((1 << 8 * kind.size) - 1)], BITS[kind.size]).view(kind.dtype)
