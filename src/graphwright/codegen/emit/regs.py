"""Kinds and registers: what the emitters compute with, whatever the syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from graphwright.runtime.record import Record
from graphwright.runtime.tensor.float8 import FORMATS

if TYPE_CHECKING:
    from graphwright.codegen.emit.builder import Builder

NARROW = {"f16": "i16", "bf16": "i16", **dict.fromkeys(FORMATS, "u8")}
"""Kinds of bit patterns that only loads, stores and casts understand, and the integers they are
in registers and memory. Those of float8 are named as the dtypes."""

BITS = {
    "b": 1, "i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64, **dict.fromkeys(FORMATS, 8),
}
"""Kinds of values and their width. "b" is a truth value (a SIMD mask where it has lanes), stored
as one byte."""

FLOATS = ("f32", "f64")
KIND_OF_DTYPE = {
    "bool": "b", "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    **{name: name for name in FORMATS},
}

Number = Union[int, float]
Operand = Union["Reg", int, float]


def stored_bytes(kind: str) -> int:
    """Bytes of one element in memory."""
    return max(BITS[kind], 8) // 8


class Function:
    """A native function under construction: `run`, `shapes`, a part of `run` (some of its steps,
    or a kernel that it has several times), the body of a parallel loop, or an outlined operation,
    whose parameters and result have `lanes` each (0 for the others)."""

    __slots__ = ("captured", "entry", "lanes", "name", "params", "result")

    def __init__(
        self, name: str, params: list[tuple[str, str]], result: str, lanes: int = 0,
    ) -> None:
        self.name = name
        self.params = params
        self.result = result
        self.lanes = lanes
        self.entry = Block(self, None)
        self.captured: dict[str, Capture] = {}

    @property
    def is_part(self) -> bool:
        return self.name != "run" and self.result == "i32" and not self.is_outlined

    @property
    def is_outlined(self) -> bool:
        return self.lanes > 0

    @property
    def is_body(self) -> bool:
        return self.name != "shapes" and self.result == "void"


class Block:
    """Straight-line code: lines so far, and what they have computed.

    `depth` counts the enclosing blocks. Code that is emitted for a block may land in an enclosing
    one (see `Builder`), unless `pinned` says that the block runs only sometimes and must keep it.
    A `guard` runs once before a loop; `always` if the loop is known to have a turn.
    """

    __slots__ = (
        "always", "depth", "function", "guard", "label", "lines", "memo", "parent", "pinned",
        "values",
    )

    def __init__(
        self, function: Function, parent: Block | None, *, pinned: bool = False,
        guard: bool = False,
    ) -> None:
        self.function = function
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.pinned = pinned
        self.guard = guard
        self.lines: list[str] = []
        self.memo: dict[tuple[object, ...], Reg] = {}
        self.values: dict[tuple[int, int], Reg] = {}
        self.label = "entry"
        self.always = False


class Capture(Record, frozen=False):
    """A value of an outer function that an inner one reads through its closure."""

    outer: Reg
    inner: Reg
    slot: int


class Reg:
    """A value: the text of its name or literal, its kind, and its lanes (1: a scalar).

    `block` is where it was computed; literals have none, and their `value`. Pointers have the kind
    "ptr" and in `element` the kind they point to. Operators build code, so that formulas in
    `emit.math` read as formulas; Python numbers are lifted to the other operand's kind.
    """

    __slots__ = ("block", "builder", "element", "kind", "lanes", "text", "value")

    def __init__(
        self, builder: Builder, text: str, kind: str, lanes: int = 1, block: Block | None = None,
        value: Number | None = None, element: str = "",
    ) -> None:
        self.builder = builder
        self.text = text
        self.kind = kind
        self.lanes = lanes
        self.block = block
        self.value = value
        self.element = element

    def __repr__(self) -> str:
        return f"<{self.kind}x{self.lanes} {self.text}>"

    def _op(self, op: str, other: Operand) -> Reg:
        return self.builder.binary(op, self, other)

    def _reversed(self, op: str, other: Operand) -> Reg:
        return self.builder.binary(op, self.builder.lift(other, self), self)

    def __add__(self, other: Operand) -> Reg:
        return self._op("add", other)

    def __radd__(self, other: Operand) -> Reg:
        return self._op("add", other)

    def __sub__(self, other: Operand) -> Reg:
        return self._op("sub", other)

    def __rsub__(self, other: Operand) -> Reg:
        return self._reversed("sub", other)

    def __mul__(self, other: Operand) -> Reg:
        return self._op("mul", other)

    def __rmul__(self, other: Operand) -> Reg:
        return self._op("mul", other)

    def __truediv__(self, other: Operand) -> Reg:
        return self._op("div", other)

    def __rtruediv__(self, other: Operand) -> Reg:
        return self._reversed("div", other)

    def __neg__(self) -> Reg:
        return self.builder.unary("neg", self)

    def __and__(self, other: Operand) -> Reg:
        return self._op("and", other)

    def __or__(self, other: Operand) -> Reg:
        return self._op("or", other)

    def __xor__(self, other: Operand) -> Reg:
        return self._op("xor", other)

    def __invert__(self) -> Reg:
        return self.builder.binary("xor", self, 1 if self.kind == "b" else -1)

    def __lshift__(self, count: Operand) -> Reg:
        return self._op("shl", count)

    def __rshift__(self, count: Operand) -> Reg:
        """Arithmetic shift for signed kinds (`lshr` is the other one)."""
        return self._op("lshr" if self.kind == "u8" else "ashr", count)

    def lshr(self, count: Operand) -> Reg:
        return self._op("lshr", count)

    def __lt__(self, other: Operand) -> Reg:
        return self._op("lt", other)

    def __le__(self, other: Operand) -> Reg:
        return self._op("le", other)

    def __gt__(self, other: Operand) -> Reg:
        return self._op("gt", other)

    def __ge__(self, other: Operand) -> Reg:
        return self._op("ge", other)

    def eq(self, other: Operand) -> Reg:
        return self._op("eq", other)

    def ne(self, other: Operand) -> Reg:
        return self._op("ne", other)

    def bits(self) -> Reg:
        """The same bits as a signed integer."""
        return self.builder.bitcast(self, f"i{BITS[self.kind]}")

    def floats(self) -> Reg:
        """The same bits as a float of that width."""
        return self.builder.bitcast(self, f"f{BITS[self.kind]}")

    def to(self, kind: str) -> Reg:
        """Converted to another kind."""
        return self.builder.convert(self, kind)


class Body(Record, frozen=False):
    """A finished function that runs over [0, count), `grain` iterations at least at a time."""

    function: Function
    count: Reg
    grain: int


class Following(Record, frozen=False):
    """A body that runs on a product's result, `each` of whose elements are an iteration's."""

    body: Body
    each: Reg


class Loop(Record, frozen=False):
    """A loop under construction: its counter, and the values it carries from turn to turn."""

    index: Reg
    carried: list[Reg]
    start: Reg
    stop: Reg
    step: int
    initial: list[Reg]
    guard: Block
    body: Block
    never_empty: bool


class Branch(Record, frozen=False):
    """Code under construction that runs only where `condition` holds."""

    condition: Reg
    block: Block
    floor: Block
    label: str
