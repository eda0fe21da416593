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
from graphwright.codegen.triton.functions import CALLS, FORMATS
from graphwright.runtime.dtypes import dtype
from graphwright.runtime.records import Record
from graphwright.runtime.symbolic.expr import (
    Add,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sym,
)

_TYPES = {
    "bool": "tl.int1", "uint8": "tl.uint8", "int8": "tl.int8", "int16": "tl.int16",
    "int32": "tl.int32", "int64": "tl.int64", "float16": "tl.float16",
    "bfloat16": "tl.bfloat16", "float32": "tl.float32", "float64": "tl.float64",
}


class CannotEmit(Exception):
    """A loop nest that the Triton emitter has no form for; the message says what in it."""


def expr_text(expr: Expr) -> str:
    """An index expression in Triton's Python. Operands of `//` and `%` are not negative."""
    if isinstance(expr, (Int, Sym)):
        return str(expr)
    parts = [expr_text(a) if isinstance(a, (Int, Sym)) else f"({expr_text(a)})"
             for a in expr.args]
    if isinstance(expr, Add):
        return " + ".join(parts)
    if isinstance(expr, Mul):
        return " * ".join(parts)
    if isinstance(expr, (Min, Max)):
        name = "tl.minimum" if isinstance(expr, Min) else "tl.maximum"
        text = parts[0]
        for part in parts[1:]:
            text = f"{name}({text}, {part})"
        return text
    assert isinstance(expr, (FloorDiv, Mod))
    low = expr.a.range()[0]
    if low is None or low < 0:
        raise CannotEmit(f"a quotient of a negative number: {expr}")
    return f"{parts[0]} {'//' if isinstance(expr, FloorDiv) else '%'} {parts[1]}"


class Tile(Record):
    """The block that values are computed for: its axis, and the name of its mask."""

    axis: Sym
    mask: str


class TileValues:
    """Writes the lines that compute values; remembers what has been computed and stored."""

    def __init__(self, lines: list[str], helpers: set[str]) -> None:
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
        self._count = 0

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
        """name = value, which is known by that name from here on."""
        simple = not isinstance(value, Apply) or self._key(value) in self._known
        spelled = self.text(value) if simple else self._spell(value)
        self.lines.append(f"{self.margin}{name} = {spelled}")
        if not simple:
            self._known[self._key(value)] = name
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
            return value.name
        if isinstance(value, Const):
            return self._literal(value)
        if isinstance(value, Load):
            stored = self._stored.get((value.buffer.name, value.index))
            if stored is not None:
                return stored
        key = self._key(value)
        if key not in self._known:
            spelled = self._spell(value)
            self._count += 1
            name = f"v{self._count}"
            self.lines.append(f"{self.margin}{name} = {spelled}")
            self._known[key] = name
        return self._known[key]

    def _literal(self, value: Const) -> str:
        number = value.value
        if isinstance(number, bool):
            return str(int(number))
        if isinstance(number, float) and not math.isfinite(number):
            return f'float("{number}")'
        text = repr(number)
        if value.dtype.name == "float64":
            return f"tl.full((), {text}, tl.float64)"
        return f"({text})" if text.startswith("-") else text

    def _spell(self, value: Value) -> str:
        if isinstance(value, Apply):
            return self._apply(value)
        if isinstance(value, Load):
            return self._load(value)
        if isinstance(value, IndexOf):
            return f"({expr_text(value.index)}).to({self.type_of(value.dtype)})" \
                if value.index.symbols() else expr_text(value.index)
        assert isinstance(value, Philox)
        self.random = True
        self.helpers.add("gw_philox_uniform")
        return f"gw_philox_uniform(seed, offset + {value.rng_index}, {expr_text(value.index)})"

    def _apply(self, value: Apply) -> str:
        args = [self.text(a) for a in value.args]
        if value.op == "cast":
            return self._cast(value, args[0])
        if value.op == "bitcast" and not isinstance(value.args[0], Const):
            return f"{args[0]}.to({self.type_of(value.dtype)}, bitcast=True)"
        if value.op in ("max", "min") and not value.dtype.is_floating_point:
            return f"tl.{value.op}imum({args[0]}, {args[1]})"
        if value.op == "not":
            return f"{args[0]} == 0" if value.dtype.name == "bool" else f"~{args[0]}"
        if value.op in CALLS:
            self.helpers.add(CALLS[value.op])
            return f"{CALLS[value.op]}({', '.join(args)})"
        if value.op not in FORMATS:
            raise CannotEmit(f"the operation {value.op}")
        return FORMATS[value.op].format(*args)

    def _cast(self, value: Apply, arg: str) -> str:
        source = value.args[0]
        if isinstance(source, Const):
            return arg
        if value.dtype.name == "bool":
            return f"{arg} != 0"
        return f"{arg}.to({self.type_of(value.dtype)})"

    # -- memory -----------------------------------------------------------------------------------

    def _load(self, load: Load) -> str:
        name = load.buffer.name
        self.touched.add(name)
        if name in self._written:
            raise CannotEmit("reading back what another block stored")
        text = self._pointer(name, load.index)
        mask = self._mask(load.index, None if load.mask is None else self.text(load.mask))
        other = "0" if load.other is None else self._literal(load.other)
        loaded = f"tl.load({text})" if mask is None else \
            f"tl.load({text}, mask={mask}, other={other})"
        return f"{loaded} != 0" if load.buffer.dtype.name == "bool" else loaded

    def _pointer(self, name: str, index: Expr) -> str:
        return name if index == 0 else f"{name} + {expr_text(index)}"

    def _mask(self, index: Expr, mask: str | None) -> str | None:
        """The mask of an access: the block's where it varies in the block, and its own."""
        tile = self.tile
        if tile is None:
            return mask
        if mask is not None:
            return f"{tile.mask} & {mask}"
        varies = tile.axis in index.symbols() or any(
            s.name in self.locals for s in index.symbols())
        return tile.mask if varies else None

    def store(self, store: Store) -> None:
        """Write to memory, unless the same program writes there again later (see `pending`)."""
        name = store.buffer.name
        value = self.text(store.value)
        mask = self._mask(store.index, None if store.mask is None else self.text(store.mask))
        key = (name, store.index)
        self.pending[key] -= 1
        if store.mask is None and self.pending[key] > 0:
            self._written[name] = self._written.get(name, 0) + 1
            self._stored[key] = value
            return
        self.touched.add(name)
        spelled = f"{value}.to(tl.int8)" if store.buffer.dtype.name == "bool" else value
        pointer = self._pointer(name, store.index)
        tail = "" if mask is None else f", mask={mask}"
        self.lines.append(f"{self.margin}tl.store({pointer}, {spelled}{tail})")
        self._written[name] = self._written.get(name, 0) + 1
        for other in [k for k in self._stored if k[0] == name]:
            del self._stored[other]
        if store.mask is None:
            self._stored[key] = value
