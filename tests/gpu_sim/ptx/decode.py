"""From instructions to steps: functions over all lanes, their operands resolved.

An opcode's decoder is registered with `form`; it takes the operands' readers and writers from a
`Decoder` and its modifiers from a `Form`. A modifier that the decoder does not take makes the
form unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from .text import (
    Address,
    Function,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Symbol,
    Vector,
)
from .threads import Reader, Step, Threads, Writer
from .values import BITS, PRED, TYPES, Array, Type, UnknownForm, type_named

Found = TypeVar("Found")


class Form:
    """An instruction's modifiers, taken one by one."""

    def __init__(self, instruction: Instruction) -> None:
        self.opcode, self.rest = instruction.opcode, list(instruction.modifiers)

    def flag(self, *names: str) -> bool:
        """Whether one of the modifiers is there."""
        found = [one for one in self.rest if one in names]
        for one in found:
            self.rest.remove(one)
        return bool(found)

    def choice(self, *names: str, default: str = "") -> str:
        """The one of these modifiers that is there."""
        for one in self.rest:
            if one in names:
                self.rest.remove(one)
                return one
        return default

    def table(self, entries: dict[str, Found]) -> Found:
        """The entry of the first modifier that has one."""
        for one in self.rest:
            if one in entries:
                self.rest.remove(one)
                return entries[one]
        raise UnknownForm(f"{self.opcode} without any of " + ", ".join(entries))

    def type(self) -> Type:
        """The last modifier as a type."""
        if not self.rest or self.rest[-1] not in TYPES:
            raise UnknownForm(f"{self.opcode} without a type")
        return type_named(self.rest.pop())

    def done(self) -> None:
        """Raise unless all modifiers were taken."""
        if self.rest:
            raise UnknownForm("the modifiers " + ", ".join(f".{one}" for one in self.rest))


Decode = Callable[["Decoder", Form, tuple[Operand, ...]], Step]
FORMS: dict[str, Decode] = {}


def form(*opcodes: str) -> Callable[[Decode], Decode]:
    """Register the decoder of these opcodes."""
    def register(decode: Decode) -> Decode:
        for opcode in opcodes:
            FORMS[opcode] = decode
        return decode
    return register


def constant(operand: Operand) -> int:
    """The value of an operand that must be an integer literal."""
    if not isinstance(operand, Immediate):
        raise UnknownForm(f"an operand that is no literal, {operand}")
    return operand.value


class Decoder:
    """Makes steps of one function's instructions.

    `addresses` has the places of variables that are known before a launch: shared and local ones,
    and the parameters' offsets.
    """

    def __init__(self, function: Function, addresses: dict[str, int]) -> None:
        self.function, self.addresses = function, addresses
        self.parameters: dict[str, tuple[int, int]] = {}  # a kernel's: offset and size
        self.mentions = Counter(register.slot for instruction in function.code
                                for operand in instruction.arguments
                                for register in mentioned(operand))
        self.mentions.update(i.guard.slot for i in function.code if i.guard is not None)

    def step(self, instruction: Instruction) -> Step:
        """The step of an instruction.

        Raises:
            UnknownForm: it is not known.
        """
        decode = FORMS.get(instruction.opcode)
        try:
            if decode is None:
                raise UnknownForm(f"the instruction {instruction.opcode}")
            found = Form(instruction)
            step = decode(self, found, instruction.arguments)
            found.done()
        except UnknownForm as error:
            name = self.function.name
            raise UnknownForm(f"{name}, line {instruction.line}: {instruction.text}: "
                              f"unknown form: {error}") from None
        except (IndexError, AttributeError) as error:
            raise UnknownForm(f"{self.function.name}, line {instruction.line}: "
                              f"{instruction.text}: operands of another kind ({error})") from None
        return step

    def unused(self, operand: Operand) -> bool:
        """Whether a destination is read nowhere."""
        return not isinstance(operand, Register) or self.mentions[operand.slot] == 1

    def read(self, operand: Operand, kind: Type) -> Reader:
        """Reads an operand's values, typed; of one element where all lanes have the same."""
        if isinstance(operand, Register):
            return register_reader(operand, kind)
        if isinstance(operand, Negated):
            slot = operand.register.slot
            return lambda t: ~t.registers[slot]
        if isinstance(operand, Immediate):
            value = literal(operand, kind)
            return lambda t: value
        if isinstance(operand, Symbol):
            return self.symbol(operand.name, kind)
        raise UnknownForm(f"the operand {operand}")

    def symbol(self, name: str, kind: Type) -> Reader:
        if name.startswith("%"):
            return lambda t: t.blocks.special[name].astype(kind.dtype, copy=False)
        if name in self.addresses:
            value = np.full(1, self.addresses[name], kind.dtype)
            return lambda t: value
        if name in self.parameters:  # an address in the parameters' own space
            value = np.full(1, self.parameters[name][0], kind.dtype)
            return lambda t: value
        return lambda t: np.full(1, t.blocks.symbols[name], kind.dtype)

    def write(self, operand: Operand) -> Writer:
        """Writes values to a register, where the mask is set.

        Values narrower than the register are extended: signed ones with their sign.
        """
        if isinstance(operand, Symbol) and operand.name == "_":
            return lambda t, values: None
        if not isinstance(operand, Register):
            raise UnknownForm(f"the destination {operand}")
        slot, bits = operand.slot, operand.type.bits
        size, predicate = operand.type.size, operand.type.kind == "p"

        def write(t: Threads, values: Array) -> None:
            if not predicate:
                values = (values.view(bits) if values.itemsize == size else values.astype(bits))
            mask = t.mask
            if mask is not None:
                values = np.where(mask, values, t.registers[slot])
            t.registers[slot] = values

        return write

    def address(self, operand: Operand) -> Reader:
        """Reads the address of all lanes, in 64 bits."""
        if not isinstance(operand, Address):
            raise UnknownForm(f"the address {operand}")
        offset = np.uint64(operand.offset & (2**64 - 1))
        if isinstance(operand.base, Register):
            slot = operand.base.slot
            return lambda t: t.full(t.registers[slot].astype(np.uint64) + offset)
        base = self.read(operand.base, TYPES["u64"])
        return lambda t: t.full(base(t) + offset)

    def vector(self, operand: Operand) -> tuple[Operand, ...]:
        """The parts of `{a, b}`; a scalar is its only part."""
        return operand.items if isinstance(operand, Vector) else (operand,)


def mentioned(operand: Operand) -> Iterator[Register]:
    """The registers in an operand."""
    if isinstance(operand, Register):
        yield operand
    elif isinstance(operand, Negated):
        yield operand.register
    elif isinstance(operand, Vector):
        for one in operand.items:
            yield from mentioned(one)
    elif isinstance(operand, Address):
        yield from mentioned(operand.base)
        for one in operand.coordinates:
            yield from mentioned(one)


def register_reader(register: Register, kind: Type) -> Reader:
    slot, dtype = register.slot, kind.dtype
    if (register.type.kind == "p") != (kind.kind == "p"):
        raise UnknownForm(f"{register.name} of type .{register.type.name} as .{kind.name}")
    if kind is PRED or dtype == register.type.bits:
        return lambda t: t.registers[slot]
    if register.type.size == kind.size:
        return lambda t: t.registers[slot].view(dtype)
    if register.type.size < kind.size:
        raise UnknownForm(f"{register.name} of type .{register.type.name} as .{kind.name}")
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
        number = np.array([value], np.uint64).view(np.float64)
        return number.astype(kind.dtype)
    return np.array([value & ((1 << 8 * kind.size) - 1)], BITS[kind.size]).view(kind.dtype)
