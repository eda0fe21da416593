"""Values and memory of a Triton kernel, as text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from graphwright.codegen.emit.lanes import post_order
from graphwright.codegen.loops import (
    Apply,
    Const,
    IndexOf,
    Load,
    Local,
    Philox,
    Store,
    Value,
)
from graphwright.codegen.triton.functions import CALLS, DOUBLE_FORMATS, FORMATS
from graphwright.codegen.triton.names import OFFSET, SEED, CannotEmit, Names
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym
from graphwright.runtime.tensor.dtypes import dtype, int64

_TYPES = {
    "bool": "tl.int1", "uint8": "tl.uint8", "int8": "tl.int8", "int16": "tl.int16",
    "int32": "tl.int32", "int64": "tl.int64", "float16": "tl.float16",
    "bfloat16": "tl.bfloat16", "float32": "tl.float32", "float64": "tl.float64",
}


_TAKE_TENSORS = {*CALLS} - {"max", "min"}
"""Operations whose functions ask their arguments for a dtype or a method."""


def _number(value: bool | int | float) -> str:
    """A number in Python; a bool as 0 or 1, for Triton's integers."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


class Tile(Record):
    """The block that values are computed for: its axis, and the name of its mask."""

    axis: Sym
    mask: str


class TileValues:
    """Writes the lines that compute values; remembers what has been computed and stored."""

    def __init__(self, names: Names, lines: list[str], helpers: set[str]) -> None:
        self.names = names
        self.lines = lines
        self.helpers = helpers
        self.tile: Tile | None = None
        self.locals: set[str] = set()
        self.touched: set[str] = set()
        self.random = False
        self.pending: Counter[tuple[str, Expr]] = Counter()
        self.margin = ""
        self._stored: dict[tuple[str, Expr], str] = {}
        self._known: dict[tuple[object, ...], str] = {}
        self._written: dict[str, int] = {}

    @contextmanager
    def indented(self) -> Iterator[None]:
        """The body of a loop: what is computed there is not known outside."""
        known, self._known = self._known, {}
        self.margin += "    "
        yield
        self.margin = self.margin[4:]
        self._known = known

    def type_of(self, kind: dtype) -> str:
        return _TYPES[kind.name]

    def bind(self, name: str, value: Value) -> None:
        """Assign a value to a local, by which it is known from here on."""
        simple = not isinstance(value, Apply) or self._key(value) in self._known
        spelled = self.tensor(value) if simple else self._spell(value)
        self.lines.append(f"{self.margin}{self.names.scalar(name)} = {spelled}")
        if not simple:
            self._known[self._key(value)] = self.names.scalar(name)
        self.locals.add(name)

    def _key(self, value: Value) -> tuple[object, ...]:
        """Equal for values that are the same where they are computed now."""
        where = self.tile.mask if self.tile is not None else ""
        if isinstance(value, Load):
            version = self._written.get(value.buffer.name, 0)
            return (value.buffer.name, value.index, id(value.mask), where, version)
        return (id(value), where)

    def text(self, value: Value) -> str:
        """The name or literal of the value, its lines written before."""
        for node in post_order(value, lambda v: self._key(v) in self._known)[:-1]:
            self._named(node)
        return self._named(value)

    def _named(self, value: Value) -> str:
        """`text` of a value whose operands have names."""
        if isinstance(value, Local):
            return self.names.scalar(value.name)
        if isinstance(value, Const):
            return self._literal(value)
        if isinstance(value, Load):
            stored = self._stored.get((value.buffer.name, value.index))
            if stored is not None:
                return stored
        key = self._key(value)
        if key not in self._known:
            spelled = self._spell(value)
            name = self.names.temporary()
            self.lines.append(f"{self.margin}{name} = {spelled}")
            self._known[key] = name
        return self._known[key]

    def _literal(self, value: Const) -> str:
        """A number as Python writes it, which takes the dtype of the tensor beside it."""
        if value.dtype.name == "float64":
            return self.tensor(value)
        text = _number(value.value)
        return f"({text})" if text.startswith("-") else text

    def tensor(self, value: Value) -> str:
        """`text`, where a number is a tensor of no dimensions: Triton computes with it, in the
        value's dtype."""
        if isinstance(value, Const):
            return self._full(_number(value.value), value.dtype)
        return self.text(value)

    def _full(self, text: str, kind: dtype) -> str:
        return f"tl.full((), {text}, {self.type_of(kind)})"

    def _spell(self, value: Value) -> str:
        if isinstance(value, Apply):
            return self._apply(value)
        if isinstance(value, Load):
            return self._load(value)
        if isinstance(value, IndexOf):
            return self._position(value.index, value.dtype)
        assert isinstance(value, Philox)
        self.random = True
        self.helpers.add("gw_philox_uniform")
        place = self._position(value.index, int64)
        return f"gw_philox_uniform({SEED}, {OFFSET} + {value.rng_index}, {place})"

    def _position(self, index: Expr, kind: dtype) -> str:
        """An index as a tensor."""
        text = self.names.index(index)
        return f"({text}).to({self.type_of(kind)})" if index.symbols() else self._full(text, kind)

    def _operands(self, value: Apply) -> list[str]:
        """The arguments of an operation.

        A constant is written as a Python number if another operand is a tensor of its dtype, else
        as a tensor: Python would fold two numbers, and Triton would choose a number's dtype.
        """
        data = value.args[1:] if value.op == "where" else value.args
        beside = {a.dtype for a in data if not isinstance(a, Const)}
        return [self.text(a) if a.dtype in beside and value.op not in _TAKE_TENSORS
                else self.tensor(a) for a in value.args]

    def _apply(self, value: Apply) -> str:
        args = self._operands(value)
        if value.op == "cast":
            return self._cast(value, args[0])
        if value.op == "bitcast":
            return f"{args[0]}.to({self.type_of(value.dtype)}, bitcast=True)"
        if value.op in ("max", "min") and not value.dtype.is_floating_point:
            return f"tl.{value.op}imum({args[0]}, {args[1]})"
        if value.op == "not":
            return f"{args[0]} == 0" if value.dtype.name == "bool" else f"~{args[0]}"
        if value.op in CALLS:
            self.helpers.add(CALLS[value.op])
            return f"{CALLS[value.op]}({', '.join(args)})"
        formats = FORMATS | DOUBLE_FORMATS if value.dtype.name == "float64" else FORMATS
        if value.op not in formats:
            raise CannotEmit(f"the operation {value.op}")
        return formats[value.op].format(*args)

    def _cast(self, value: Apply, arg: str) -> str:
        if value.dtype.name == "bool":
            return f"{arg} != 0"
        return f"{arg}.to({self.type_of(value.dtype)})"

    # -- memory -----------------------------------------------------------------------------------

    def _load(self, load: Load) -> str:
        name = load.buffer.name
        self.touched.add(name)
        if name in self._written:
            raise CannotEmit("reading back what another block stored")
        mask = self._mask(load.index, load.mask)
        text = self._pointer(name, load.index, mask)
        other = "0" if load.other is None else self._literal(load.other)
        loaded = f"tl.load({text})" if mask is None else \
            f"tl.load({text}, mask={mask}, other={other})"
        return f"{loaded} != 0" if load.buffer.dtype.name == "bool" else loaded

    def _pointer(self, name: str, index: Expr, mask: str | None) -> str:
        """Where an access goes. A block's mask needs a block of pointers."""
        pointer = self.names.buffer(name)
        text = pointer if index == 0 else f"{pointer} + {self.names.index(index)}"
        tile = self.tile
        if tile is None or mask is None or tile.axis in index.symbols():
            return text
        return f"tl.broadcast_to({text}, {self.names.scalar(tile.axis.name)}.shape)"

    def _mask(self, index: Expr, own: Value | None) -> str | None:
        """The mask of an access: the block's where it varies in the block, and its own."""
        tile = self.tile
        if own is not None:
            text = self.tensor(own)
            return text if tile is None else f"{tile.mask} & {text}"
        if tile is None:
            return None
        varies = tile.axis in index.symbols() or any(
            s.name in self.locals for s in index.symbols())
        return tile.mask if varies else None

    def store(self, store: Store) -> None:
        """Write a store, unless a later one in the program overwrites it (see `pending`)."""
        name = store.buffer.name
        value = self.tensor(store.value)
        mask = self._mask(store.index, store.mask)
        key = (name, store.index)
        self.pending[key] -= 1
        if store.mask is None and self.pending[key] > 0:
            self._written[name] = self._written.get(name, 0) + 1
            self._stored[key] = value
            return
        self.touched.add(name)
        spelled = f"{value}.to(tl.int8)" if store.buffer.dtype.name == "bool" else value
        pointer = self._pointer(name, store.index, mask)
        tail = "" if mask is None else f", mask={mask}"
        self.lines.append(f"{self.margin}tl.store({pointer}, {spelled}{tail})")
        self._written[name] = self._written.get(name, 0) + 1
        for other in [k for k in self._stored if k[0] == name]:
            del self._stored[other]
        if store.mask is None:
            self._stored[key] = value
