"""From PTX text to kernels: instructions with their operands, labels, registers, variables."""

from __future__ import annotations

import bisect
import math
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


class Negated(NamedTuple):
    """`!p`."""

    register: Register


Operand = Register | Immediate | Symbol | Vector | Address | Negated


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
    parameters: list[Variable] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: list[Register] = field(default_factory=list)
    local: list[Variable] = field(default_factory=list)
    threads: tuple[int, ...] | None = None  # .reqntid
    most_threads: int | None = None  # .maxntid


@dataclass
class Module:
    """What a PTX file defines. `dynamic` names the extern array of dynamic shared memory."""

    target: str
    functions: dict[str, Function] = field(default_factory=dict)
    globals: dict[str, Variable] = field(default_factory=dict)
    shared: dict[str, Variable] = field(default_factory=dict)
    dynamic: str | None = None
    extern: set[str] = field(default_factory=set)


NAME = r"[%$]?[A-Za-z_$][\w$]*(?:\.[xyzw])?"
HEXADECIMAL_FLOAT = re.compile(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}")
INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?")
DECIMAL_FLOAT = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?")
BRACKET, BRACKET_OR_COMMA = re.compile(r"[{}()\[\]]"), re.compile(r"[{}()\[\],]")
LABEL = re.compile(r"([$\w]+):(?!:)")
LINE_DIRECTIVE = re.compile(r"\.(?:loc|file)\b[^\n]*")
GUARD = re.compile(r"@(!?)\s*([%$\w]+)\s+")
OPCODE = re.compile(r"([a-z]\w*)((?:\.\w+(?:::\w+)*)*)\s*(.*)", re.DOTALL)
VARIABLE = re.compile(
    r"(?:\.align\s+(\d+)\s*)?\.(\w+)\s+(?:\.ptr\b[^%$\w]*(?:\.\w+\s+)*(?:\.align\s+\d+\s+)?)?"
    r"([\w$%]+)\s*(?:\[\s*(\d*)\s*\])?\s*(?:=\s*(.*))?$", re.DOTALL)
ADDRESS = re.compile(rf"({NAME}|-?\d\w*)\s*(?:\+\s*(-?\d+)|-\s*(\d+))?$")
TARGET = re.compile(r"\.target\s+(\w+)")
PERFORMANCE = re.compile(r"\.(reqntid|maxntid|minnctapersm|maxnreg|noreturn|maxclusterrank)"
                         r"((?:\s+\d+(?:\s*,\s*\d+)*)?)")
SPECIAL = re.compile(r"%(?:n?tid|n?ctaid)\.[xyz]$|%(?:laneid|warpid|globaltimer|clock64)$")
SPACE, END, OPEN, CLOSE = (re.compile(p) for p in (r"\s*", ";", r"\{", r"\}"))
OPEN_OR_END = re.compile("[{;]")
DECLARATION = re.compile(r"\.(\w+)\s+\.align\s+(\d+)\s+(.*)$", re.DOTALL)
HEADER = re.compile(r"\.(?:version|address_size)\s+[\d.]+|\.target\s+\w+(?:\s*,\s*\w+)*"
                    r"|\.file[^\n]*")
LINKAGE = re.compile(r"(?:\.(?:visible|extern|weak|common)\s+)*")
DIRECTIVE = re.compile(r"\.(\w+)\s*")
SIGNATURE = re.compile(r"(\([^)]*\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?(.*)$", re.DOTALL)
POINTER = re.compile(r"\.ptr(?:\s+\.\w+)?(?:\s+\.align\s+\d+)?")


def parse(text: str) -> Module:
    """Read a PTX module.

    Raises:
        UnknownForm: the text is no PTX, or has a construct that the interpreter does not know.
    """
    return _Reader(text).module()


def split_list(text: str) -> list[str]:
    """The parts of a list between commas that no bracket encloses."""
    if not BRACKET.search(text):
        return [part for one in text.split(",") if (part := one.strip())]
    parts, depth, start = [], 0, 0
    for match in BRACKET_OR_COMMA.finditer(text):
        letter = match[0]
        if letter == ",":
            if depth == 0:
                parts.append(text[start:match.start()].strip())
                start = match.end()
        else:
            depth += 1 if letter in "{[(" else -1
    if last := text[start:].strip():
        parts.append(last)
    return parts


def immediate(text: str) -> Immediate | None:
    """The literal that `text` is."""
    if HEXADECIMAL_FLOAT.fullmatch(text):
        return Immediate(int(text[2:], 16), 4 if text[1] in "fF" else 8)
    if INTEGER.fullmatch(text):
        return Immediate(int(text.rstrip("U"), 0), None)
    if DECIMAL_FLOAT.fullmatch(text):
        return Immediate(struct.unpack("<Q", struct.pack("<d", float(text)))[0], 8)
    return None


def variable(text: str) -> Variable:
    """A declaration after its state space: `.align 16 .b8 name[8] = {..}`, `.b32 name`."""
    text = POINTER.sub("", text).strip()
    if found := DECLARATION.match(text):
        text = f".align {found[2]} .{found[1]} {found[3]}"
    match = VARIABLE.match(text)
    if match is None:
        raise UnknownForm(f"the declaration {text!r}")
    align, kind, name, count, values = match.groups()
    size = type_named(kind).size
    initial = None
    total = size * (int(count) if count else 0 if count is not None else 1)
    if values is not None:
        numbers = [int(one, 0) for one in values.strip().strip("{}").split(",")]
        initial = b"".join((n & ((1 << 8 * size) - 1)).to_bytes(size, "little") for n in numbers)
        total = max(total, len(initial))
        initial = initial.ljust(total, b"\0")
    return Variable(name, total, int(align or size), initial)


class _Reader:
    """Reads the statements of a module one after the other."""

    def __init__(self, text: str) -> None:
        blank = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), text)
        self.text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), blank,
                           flags=re.DOTALL)
        self.newlines = [m.start() for m in re.finditer("\n", self.text)]
        self.at = 0

    def line(self, position: int) -> int:
        return bisect.bisect_left(self.newlines, position) + 1

    def skip(self) -> None:
        self.at = SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]

    def until(self, stops: re.Pattern[str]) -> str:
        """The text up to a match of `stops`, which is not read."""
        found = stops.search(self.text, self.at)
        if found is None:
            raise UnknownForm(f"line {self.line(self.at)}: the text ends inside a statement")
        start, self.at = self.at, found.start()
        return self.text[start:self.at].strip()

    def module(self) -> Module:
        target = TARGET.search(self.text)
        if target is None or not self.text.lstrip().startswith(".version"):
            raise UnknownForm("not PTX: .version and .target are missing")
        module = Module(target[1])
        while True:
            self.skip()
            if self.at >= len(self.text):
                return module
            self.definition(module)

    def definition(self, module: Module) -> None:
        """A directive of the module."""
        if header := HEADER.match(self.text, self.at):
            self.at = header.end()
            return
        if self.text.startswith(".section", self.at):
            self.until(OPEN)
            self.at += 1
            self.until(CLOSE)
            self.at += 1
            return
        start = self.at
        words = LINKAGE.match(self.text, self.at)
        extern = words is not None and ".extern" in words[0]
        self.at = words.end() if words is not None else self.at
        kind = DIRECTIVE.match(self.text, self.at)
        if kind is None:
            raise UnknownForm(f"line {self.line(start)}: {self.text[start:start + 40]!r}")
        self.at = kind.end()
        if kind[1] in ("entry", "func"):
            self.function(module, kind[1] == "entry")
        elif kind[1] in ("global", "shared", "const"):
            found = variable(self.until(END))
            self.at += 1
            if extern and kind[1] == "shared":
                module.dynamic = found.name
            else:
                {"shared": module.shared}.get(kind[1], module.globals)[found.name] = found
        else:
            raise UnknownForm(f"line {self.line(start)}: the directive .{kind[1]}")

    def function(self, module: Module, entry: bool) -> None:
        header = self.until(OPEN_OR_END)
        declared = self.text[self.at] == ";"
        self.at += 1
        match = SIGNATURE.match(header)
        if match is None:
            raise UnknownForm(f"the function {header!r}")
        results, name, parameters, directives = match.groups()
        if declared:
            module.extern.add(name)
            return
        function = Function(name, entry)
        function.parameters = [variable(p.removeprefix(".param"))
                               for p in split_list(parameters or "")]
        function.results = [variable(p.removeprefix(".param"))
                            for p in split_list((results or "").strip("()"))]
        for directive, value in PERFORMANCE.findall(directives):
            counts = tuple(int(n) for n in value.split(",")) if value.strip() else ()
            if directive == "reqntid":
                function.threads = (*counts, 1, 1)[:3]
            elif directive == "maxntid":
                function.most_threads = math.prod(counts)
        rest = PERFORMANCE.sub("", directives).strip()
        if rest:
            raise UnknownForm(f"{name}: the directive {rest!r}")
        _Body(self, function).read()
        module.functions[name] = function
        module.extern.discard(name)


class _Body:
    """Reads a function's statements: scopes rename the registers that they declare."""

    def __init__(self, reader: _Reader, function: Function) -> None:
        self.reader, self.function = reader, function
        self.scopes: list[dict[str, Register | Type]] = [{}]
        self.ranges: list[tuple[str, int, Type]] = []

    def read(self) -> None:
        reader = self.reader
        while self.scopes:
            reader.skip()
            letter = reader.text[reader.at:reader.at + 1]
            if letter == "{":
                self.scopes.append({})
                reader.at += 1
            elif letter == "}":
                self.scopes.pop()
                reader.at += 1
            elif letter == ";":
                reader.at += 1
            elif found := LINE_DIRECTIVE.match(reader.text, reader.at):
                reader.at = found.end()
            elif found := LABEL.match(reader.text, reader.at):
                self.function.labels[found[1]] = len(self.function.code)
                reader.at = found.end()
            else:
                start = reader.at
                statement = reader.until(END)
                reader.at += 1
                self.statement(statement, reader.line(start))

    def statement(self, text: str, line: int) -> None:
        if text.startswith(".reg"):
            kind, names = text.split(None, 2)[1:]
            for name in split_list(names):
                self.declare(name, type_named(kind.removeprefix(".")))
        elif text.startswith((".local", ".param")):
            found = variable(text.split(None, 1)[1])
            if text.startswith(".local"):
                self.function.local.append(found)
        elif text.startswith(".pragma"):
            return
        elif text.startswith("."):
            raise UnknownForm(f"line {line}: {text!r}")
        else:
            self.instruction(text, line)

    def declare(self, name: str, kind: Type) -> None:
        if "<" in name:
            prefix, count = name.rstrip(">").split("<")
            self.ranges.append((prefix, int(count), kind))
        else:
            self.scopes[-1][name] = kind

    def instruction(self, text: str, line: int) -> None:
        rest, guard, negated = text, None, False
        if match := GUARD.match(text):
            guard, negated = self.register(match[2]), bool(match[1])
            if guard is None:
                raise UnknownForm(f"line {line}: the guard {match[2]}")
            rest = text[match.end():]
        match = OPCODE.match(rest)
        if match is None:
            raise UnknownForm(f"line {line}: {text!r}")
        arguments = tuple(self.operand(one) for one in split_list(match[3]))
        self.function.code.append(Instruction(
            match[1], tuple(match[2].split(".")[1:]), arguments, guard, negated, line,
            " ".join(text.split())))

    def register(self, name: str) -> Register | None:
        """The register that `name` is here; its slot is made when it is first named."""
        for scope in reversed(self.scopes):
            known = scope.get(name)
            if isinstance(known, Register):
                return known
            if known is not None:
                return self.add(scope, name, known)
        for prefix, count, kind in self.ranges:
            number = name[len(prefix):]
            if name.startswith(prefix) and number.isdigit() and int(number) < count:
                return self.add(self.scopes[0], name, kind)
        return None

    def add(self, scope: dict[str, Register | Type], name: str, kind: Type) -> Register:
        made = Register(name, len(self.function.registers), kind)
        self.function.registers.append(made)
        scope[name] = made
        return made

    def operand(self, text: str) -> Operand:
        first = text[0]
        if first.isdigit() or first == "-":
            if (number := immediate(text)) is not None:
                return number
        elif first not in "{([!" and "|" not in text:
            return self.register(text) or self.symbol(text)
        if first in "{(":
            return Vector(tuple(self.operand(one) for one in split_list(text[1:-1])))
        if first == "[":
            return self.address(text[1:-1].strip())
        if first == "!":
            inner = self.register(text[1:].strip())
            if inner is None:
                raise UnknownForm(f"the operand {text}")
            return Negated(inner)
        if "|" in text:
            return Vector(tuple(self.operand(one.strip()) for one in text.split("|")))
        raise UnknownForm(f"the operand {text!r}")

    def symbol(self, name: str) -> Symbol | Immediate:
        if name.startswith("%") and not SPECIAL.match(name):
            raise UnknownForm(f"the register {name}")
        if name in ("true", "false"):
            return Immediate(int(name == "true"), None)
        if not re.fullmatch(NAME, name):
            raise UnknownForm(f"the operand {name!r}")
        return Symbol(name)

    def address(self, text: str) -> Address:
        base, *coordinates = split_list(text)
        match = ADDRESS.match(base.strip())
        if match is None:
            raise UnknownForm(f"the address [{text}]")
        offset = int(match[2] or 0) - int(match[3] or 0)
        found = self.register(match[1]) or immediate(match[1]) or self.symbol(match[1])
        items: tuple[Operand, ...] = ()
        if coordinates:
            inner = self.operand(coordinates[0])
            items = inner.items if isinstance(inner, Vector) else (inner,)
        return Address(found, offset, items)
