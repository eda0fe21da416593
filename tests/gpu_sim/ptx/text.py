"""From PTX text to kernels: instructions with their operands, labels, registers, variables."""

from __future__ import annotations

import bisect
import re
import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from .values import Type, UnknownForm, type_named


class Register(NamedTuple):
    """A virtual register; `slot` is its place among those of its function."""

    name: str
    slot: int
    type: Type


class Immediate(NamedTuple):
    """A literal: an integer, or the bits of a floating-point number of `size` bytes."""

    value: int
    size: int | None


class Symbol(NamedTuple):
    """A variable, parameter, label or function by name, or a special register."""

    name: str


class Vector(NamedTuple):
    """`{a, b}`, `(a, b)` of a call, or `a|b` of an instruction with two destinations."""

    items: tuple[Operand, ...]


class Address(NamedTuple):
    """`[base+offset]`; a tensor's has coordinates, `[base, {x, y}]`."""

    base: Register | Immediate | Symbol
    offset: int
    coordinates: tuple[Operand, ...] = ()


Operand = Register | Immediate | Symbol | Vector | Address


class Instruction(NamedTuple):
    """`@guard opcode.modifiers arguments;` with its line in the text."""

    opcode: str
    modifiers: tuple[str, ...]
    arguments: tuple[Operand, ...]
    guard: Register | None
    negated: bool
    line: int
    text: str


class Variable(NamedTuple):
    """A variable of a state space, or a parameter: bytes, alignment, and initial contents."""

    name: str
    size: int
    align: int
    initial: bytes | None = None


@dataclass
class Function:
    """A kernel (`entry`) or a function that kernels call."""

    name: str
    entry: bool
    parameters: list[Variable]
    results: list[Variable]
    threads: tuple[int, ...] | None  # .reqntid
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: list[Register] = field(default_factory=list)
    local: list[Variable] = field(default_factory=list)


@dataclass
class Module:
    """What a PTX file defines. `dynamic` names the extern array of dynamic shared memory."""

    target: str
    functions: dict[str, Function] = field(default_factory=dict)
    globals: dict[str, Variable] = field(default_factory=dict)
    shared: dict[str, Variable] = field(default_factory=dict)
    dynamic: str | None = None


COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
START = re.compile(r"\s*\.version\b")
TARGET = re.compile(r"\.target\s+(\w+)")
# What is skipped between definitions, and within functions.
HEADER = re.compile(r"\s*(?:\.(?:version|address_size)\s+[\d.]+|\.target\s+\w+(?:\s*,\s*\w+)*"
                    r"|\.file[^\n]*|\.section[^{]*\{[^}]*\})")
NOTE = re.compile(r"\s*(?:\.(?:loc|file)\b[^\n]*|;)")
DEFINITION = re.compile(r"\s*((?:\.(?:visible|extern|weak|common)\s+)*)\.(\w+)\s*([^{;=]*)")
SIGNATURE = re.compile(r"(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?(.*)$", re.DOTALL)
PERFORMANCE = re.compile(r"\.(reqntid|maxntid|minnctapersm|maxnreg|noreturn|maxclusterrank)"
                         r"((?:\s+\d+(?:\s*,\s*\d+)*)?)")
STATEMENT = re.compile(r"\s*(?:([{}])|([\w$]+):(?!:)|([^;]*);)")
POINTER = re.compile(r"\.ptr(?:\s+\.\w+)?(?:\s+\.align\s+\d+)?")
VARIABLE = re.compile(
    r"\s*(?:\.align\s+(\d+))?\s*\.(\w+)\s+(?:\.align\s+(\d+)\s+)?([\w$%]+)\s*"
    r"(?:\[\s*(\d*)\s*\])?\s*(?:=\s*(.*))?$", re.DOTALL)
INSTRUCTION = re.compile(r"(?:@(!?)\s*([%$\w]+)\s+)?([a-z]\w*)((?:\.\w+(?:::\w+)*)*)\s*(.*)",
                         re.DOTALL)
OPEN = re.compile(r"\s*\{")
INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?")
FLOAT = re.compile(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}")
DECIMAL = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?")
NAME = re.compile(r"[%$]?[A-Za-z_$][\w$]*(?:\.[xyzw])?")
SPECIAL = re.compile(r"%(?:n?tid|n?ctaid)\.[xyz]|%(?:laneid|warpid|globaltimer|clock64)")
ADDRESS = re.compile(rf"({NAME.pattern}|-?\d\w*)\s*(?:\+\s*(-?\d+)|-\s*(\d+))?")
BRACKET_OR_COMMA = re.compile(r"[{}()\[\],]")


def split_list(text: str) -> list[str]:
    """The parts of a list between commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for match in BRACKET_OR_COMMA.finditer(text):
        if match[0] != ",":
            depth += 1 if match[0] in "{[(" else -1
        elif depth == 0:
            parts.append(text[start:match.start()].strip())
            start = match.end()
    return [*parts, last] if (last := text[start:].strip()) else parts


def immediate(text: str) -> Immediate | None:
    """The literal that `text` is."""
    if INTEGER.fullmatch(text):
        return Immediate(int(text.rstrip("U"), 0), None)
    if FLOAT.fullmatch(text):
        return Immediate(int(text[2:], 16), 4 if text[1] in "fF" else 8)
    if DECIMAL.fullmatch(text):
        return Immediate(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 8)
    return None


def variable(text: str) -> Variable:
    """A declaration after its state space: `.align 16 .b8 name[8] = {..}`, `.b32 name`."""
    match = VARIABLE.match(POINTER.sub("", text))
    if match is None:
        raise UnknownForm(f"the declaration {text!r}")
    align, kind, align_after, name, count, values = match.groups()
    size = type_named(kind).size
    total, initial = size * (1 if count is None else int(count or 0)), None
    if values is not None:
        numbers = [int(one, 0) for one in values.strip().strip("{}").split(",")]
        initial = b"".join((n & ((1 << 8 * size) - 1)).to_bytes(size, "little") for n in numbers)
        total = max(total, len(initial))
        initial = initial.ljust(total, b"\0")
    return Variable(name, total, int(align or align_after or size), initial)


def variables(text: str | None) -> list[Variable]:
    """The parameters or results of a function."""
    return [variable(one.removeprefix(".param")) for one in split_list(text or "")]


def parse(text: str) -> Module:
    """Read a PTX module.

    Raises:
        UnknownForm: the text is no PTX, or has a construct that the interpreter does not know.
    """
    return _Reader(text).module()


class _Reader:
    """Reads the definitions of a module, and the statements of a function, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text).rstrip()
        self.newlines = [found.start() for found in re.finditer("\n", self.text)]
        self.at = self.line = 0

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go on behind a match of the pattern here; `line` is where it has its first letter."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            start = found.end() - len(found[0].lstrip())
            self.line, self.at = bisect.bisect_left(self.newlines, start) + 1, found.end()
        return found

    def unknown(self) -> UnknownForm:
        line = bisect.bisect_left(self.newlines, self.at) + 1
        return UnknownForm(f"line {line}: {self.text[self.at:self.at + 40].strip()!r}")

    def module(self) -> Module:
        target = TARGET.search(self.text)
        if target is None or START.match(self.text) is None:
            raise UnknownForm("not PTX: .version and .target are missing")
        module = Module(target[1])
        while self.at < len(self.text):
            if self.match(HEADER) is None:
                self.definition(module)
        return module

    def definition(self, module: Module) -> None:
        found = DEFINITION.match(self.text, self.at)
        if found is None or found[2] not in ("entry", "func", "global", "shared", "const"):
            raise self.unknown()
        self.at = found.end()
        linkage, kind, rest = found.groups()
        if kind in ("entry", "func"):
            self.function(module, kind == "entry", rest)
            return
        end = self.text.index(";", self.at)
        made = variable(rest + self.text[self.at:end])
        self.at = end + 1
        if kind == "shared" and ".extern" in linkage:
            module.dynamic = made.name
        else:
            (module.shared if kind == "shared" else module.globals)[made.name] = made

    def function(self, module: Module, entry: bool, header: str) -> None:
        defined = self.match(OPEN) is not None
        match = SIGNATURE.match(header)
        if match is None:
            raise UnknownForm(f"the function {header!r}")
        results, name, parameters, directives = match.groups()
        if rest := PERFORMANCE.sub("", directives).strip():
            raise UnknownForm(f"{name}: the directive {rest!r}")
        if not defined:
            self.match(NOTE)
            return
        required = dict(PERFORMANCE.findall(directives)).get("reqntid")
        threads = (*(int(n) for n in required.split(",")), 1, 1)[:3] if required else None
        made = Function(name, entry, variables(parameters), variables(results), threads)
        body = _Body(made)
        while body.scopes:
            if self.match(NOTE):
                continue
            found = self.match(STATEMENT)
            if found is None:
                raise self.unknown()
            brace, label, statement = found.groups()
            if brace == "{":
                body.scopes.append(dict(body.scopes[-1]))
            elif brace:
                body.scopes.pop()
            elif label:
                made.labels[label] = len(made.code)
            else:
                body.statement(statement, self.line)
        module.functions[name] = made


class _Body:
    """A function's statements: each scope has the operands of one word that it knows."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.scopes: list[dict[str, Operand]] = [{}]

    def statement(self, text: str, line: int) -> None:
        if text.startswith(".reg"):
            kind, names = text.split(None, 2)[1:]
            for name in split_list(names):
                self.declare(name, type_named(kind.removeprefix(".")))
        elif text.startswith(".local"):
            self.function.local.append(variable(text.removeprefix(".local")))
        elif not text.startswith("."):
            self.instruction(text, line)
        elif not text.startswith((".param", ".pragma")):
            raise UnknownForm(f"line {line}: {text!r}")

    def declare(self, text: str, kind: Type) -> None:
        """`%p` or, for many registers, `%p<4>`."""
        prefix, _, count = text.rstrip(">").partition("<")
        for name in [f"{prefix}{n}" for n in range(int(count))] if count else [text]:
            made = Register(name, len(self.function.registers), kind)
            self.function.registers.append(made)
            self.scopes[-1][name] = made

    def instruction(self, text: str, line: int) -> None:
        match = INSTRUCTION.match(text)
        if match is None:
            raise UnknownForm(f"line {line}: {text!r}")
        negated, guard, opcode, modifiers, rest = match.groups()
        register = self.operand(guard) if guard else None
        if not isinstance(register, Register | None):
            raise UnknownForm(f"line {line}: the guard {guard}")
        self.function.code.append(Instruction(
            opcode, tuple(modifiers.split(".")[1:]), self.operands(rest), register, bool(negated),
            line, " ".join(text.split())))

    def operands(self, text: str) -> tuple[Operand, ...]:
        return tuple(self.operand(one) for one in split_list(text))

    def operand(self, text: str) -> Operand:
        found = self.scopes[-1].get(text)
        if found is not None:
            return found
        if text[0] in "{(":
            return Vector(self.operands(text[1:-1]))
        if text[0] == "[":
            return self.address(text[1:-1].strip())
        if "|" in text:
            return Vector(tuple(self.operand(one.strip()) for one in text.split("|")))
        if (number := immediate(text)) is not None:
            return self.scopes[-1].setdefault(text, number)
        if NAME.fullmatch(text) and (text[0] != "%" or SPECIAL.fullmatch(text)):
            return self.scopes[-1].setdefault(text, Symbol(text))
        raise UnknownForm(f"the operand {text!r}")

    def address(self, text: str) -> Address:
        base, *coordinates = split_list(text)
        match = ADDRESS.fullmatch(base)
        found = self.operand(match[1]) if match is not None else None
        if match is None or not isinstance(found, Register | Immediate | Symbol):
            raise UnknownForm(f"the address [{text}]")
        items = [self.operand(one) for one in coordinates]
        if len(items) == 1 and isinstance(items[0], Vector):
            items = [*items[0].items]
        return Address(found, int(match[2] or 0) - int(match[3] or 0), tuple(items))
