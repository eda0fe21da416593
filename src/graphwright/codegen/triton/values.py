"""Values and memory of a Triton kernel, as text.

Every value has a number: equal values, in whichever statements, have one, and are computed once
where they are still known. A value has the dimensions of the axes that it depends on; where
another operand has more, Triton broadcasts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from graphwright.codegen.gpu.scattered_writes import ADDABLE
from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Const,
    IndexOf,
    Load,
    Local,
    Philox,
    Search,
    Store,
    Value,
)
from graphwright.codegen.triton.functions import called
from graphwright.codegen.triton.names import OFFSET, SEED, CannotEmit, Names, atom
from graphwright.codegen.triton.numeric_functions import PREFIX
from graphwright.codegen.triton.scalar_formats import (
    BOOL_FORMATS,
    FLOAT_FORMATS,
    FORMATS_OF_ALL,
    INTEGER_FORMATS,
    spelled_number,
)
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import FLOAT8, dtype, int64

_TYPES = {
    "bool": "tl.int1", "uint8": "tl.uint8", "int8": "tl.int8", "int16": "tl.int16",
    "int32": "tl.int32", "int64": "tl.int64", "float16": "tl.float16",
    "bfloat16": "tl.bfloat16", "float32": "tl.float32", "float64": "tl.float64",
}
SEARCHED_BITS = 40
"""Of the greatest position in a row of symbolic length."""
NUMERIC = "numeric_"
"""What operations begin with that are functions of `triton.numeric_functions`."""
_ATOMIC = {"sum": ("tl.atomic_add", ADDABLE), "max": ("tl.atomic_max", ("int32", "int64"))}
"""What accumulates in memory, and of which dtypes."""

Dims = frozenset[str]


def spelled_type(kind: dtype) -> str:
    """The element type of values; those of float8 are held as their codes."""
    return "tl.uint8" if kind in FLOAT8 else _TYPES[kind.name]


def full(text: str, kind: dtype) -> str:
    """A number as a tensor without dimensions."""
    if text == "-0.0":      # of which Triton 3.6 makes 0.0
        return f"({full('0.0', kind)} * -1.0)"
    return f"tl.full((), {text}, {spelled_type(kind)})"


class Dim(Record):
    """A dimension of tiles: its symbol, the constexpr for its size, and the name of its mask where
    the tile may reach beyond the axis."""

    symbol: Sym
    block: str
    mask: str | None


class TileValues:
    """Writes the lines that compute values; remembers what has been computed and stored."""

    def __init__(
        self, names: Names, dims: tuple[Dim, ...], positions: Mapping[str, Sym] | None = None,
        ordered: bool = False,
    ) -> None:
        """positions: the axes whose positions have 32 bits; ordered: whether a store waits until
        all threads have loaded what it overwrites."""
        self.names = names
        self.positions = positions or {}
        self.ordered = ordered
        self._loaded: set[str] = set()
        self.dims = {dim.symbol.name: dim for dim in dims}
        self.lines: list[str] = []
        self.helpers: set[str] = set()
        self.random = False
        self.margin = ""
        self._numbers: dict[object, int] = {}
        self._known: dict[int, str] = {}
        self._dims: dict[int, Dims] = {}
        self._locals: dict[str, int] = {}
        self._first: dict[int, str] = {}
        self._guards: dict[int, str] = {}
        self._versions: dict[str, int] = {}
        self._dirty: set[str] = set()

    @contextmanager
    def indented(self) -> Iterator[None]:
        """The body of a loop: what is computed there is not known outside."""
        known, first = dict(self._known), dict(self._first)
        self.margin += "    "
        yield
        self.margin = self.margin[4:]
        self._known, self._first = known, first

    def add(self, line: str) -> None:
        """Write a line."""
        self.lines.append(self.margin + line)

    # -- numbers ----------------------------------------------------------------------------------

    def number(self, value: Value) -> int:
        """Equal for values that are the same where they are computed now."""
        return self._number(value, {})

    def _number(self, value: Value, seen: dict[int, int]) -> int:
        if isinstance(value, Local):
            return self._locals[value.name]
        if id(value) in seen:
            return seen[id(value)]
        key: tuple[object, ...]
        dims: Dims = frozenset()
        if isinstance(value, Apply):
            parts = tuple(self._number(a, seen) for a in value.args)
            key = ("apply", value.op, value.dtype.name, *parts)
            dims = dims.union(*(self._dims[p] for p in parts))
        elif isinstance(value, Const):
            key = ("const", repr(value.value), value.dtype.name)
        elif isinstance(value, Load):
            mask = None if value.mask is None else self._number(value.mask, seen)
            other = None if value.other is None else repr(value.other.value)
            index = self._index(value.index)
            name = value.buffer.name
            key = ("load", name, self._versions.get(name, 0), index, mask, other)
            dims = self.dims_of(index) | (dims if mask is None else self._dims[mask])
        else:
            index = self._index(value.index)
            draw = value.rng_index if isinstance(value, Philox) else -1
            key, dims = ("index", draw, index, value.dtype.name), self.dims_of(index)
        number = self._new(key, dims)
        seen[id(value)] = number
        return number

    def _new(self, key: object, dims: Dims) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        self._dims[number] = dims
        return number

    def _index(self, index: Expr) -> Expr:
        """The index with locals of equal values by one name."""
        return index.at({s.name: Sym(self._first.get(number, s.name), s.lower, s.upper)
                         for s in index.symbols()
                         if (number := self._locals.get(s.name)) is not None})

    def dims_of(self, index: Expr) -> Dims:
        """The dimensions that an index varies in."""
        found: Dims = frozenset()
        for symbol in index.symbols():
            if symbol.name in self.dims:
                found |= {symbol.name}
            elif symbol.name in self._locals:
                found |= self._dims[self._locals[symbol.name]]
        return found

    def value_dims(self, value: Value) -> Dims:
        """The dimensions that a value varies in."""
        return self._dims[self.number(value)]

    def shape(self, dims: Dims) -> str:
        """The shape of values with these dimensions."""
        return f"[{', '.join(d.block if n in dims else '1' for n, d in self.dims.items())}]"

    # -- locals -----------------------------------------------------------------------------------

    def bind(self, name: str, value: Value) -> None:
        """Let a local stand for a value, which is computed unless it is known."""
        number = self.number(value)
        self._locals[name] = number
        if number in self._first:
            return
        spelled = self.names.scalar(name)
        text = self._known.get(number)
        self.add(f"{spelled} = {self._spell(value) if text is None else text}")
        self._known[number] = spelled
        self._first[number] = name

    def define(self, name: str, dims: Dims) -> str:
        """The identifier of a local that the caller computes, whose value is like no other."""
        number = self._new(("defined", name, len(self._numbers)), dims)
        self._locals[name] = number
        self._first[number] = name
        self._known[number] = self.names.scalar(name)
        return self._known[number]

    def guard(self, value: Value, condition: str) -> None:
        """Let accesses at indices made of `value` only be made where `condition` is true."""
        self._guards[self.number(value)] = condition

    # -- expressions ------------------------------------------------------------------------------

    def text(self, value: Value) -> str:
        """The name or literal of the value, its lines written before."""
        if isinstance(value, Const):
            return self._literal(value)
        number = self.number(value)
        if number not in self._known:
            spelled = self._spell(value)
            name = self.names.temporary()
            self.add(f"{name} = {spelled}")
            self._known[number] = name
        return self._known[number]

    def tensor(self, value: Value) -> str:
        """`text`, where a number is a tensor without dimensions, in the value's dtype."""
        if isinstance(value, Const):
            return self._constant(value)
        return self.text(value)

    def _literal(self, value: Const) -> str:
        """A number as Python writes it, which takes the dtype of the tensor beside it if that is
        of its kind and no narrower."""
        text = spelled_number(value.value)
        if value.dtype in (dtypes.float64, dtypes.bool) or value.dtype in FLOAT8 or text == "-0.0":
            return self._constant(value)
        return f"({text})" if text.startswith("-") else text

    def _constant(self, value: Const) -> str:
        text = full(spelled_number(value.value), value.dtype)
        if value.dtype in FLOAT8:
            single = full(spelled_number(value.value), dtypes.float32)
            return self._call(f"gw_to_{value.dtype.name}", single)
        return text

    def _call(self, name: str, *args: str) -> str:
        self.helpers.add(name)
        return f"{name}({', '.join(args)})"

    def _spell(self, value: Value) -> str:
        if isinstance(value, Apply):
            return self._apply(value)
        if isinstance(value, Load):
            return self._load(value)
        if isinstance(value, Const):
            return self._constant(value)
        if isinstance(value, IndexOf):
            return self._position(value.index, value.dtype)
        if isinstance(value, Local):
            return self.text(value)
        assert isinstance(value, Philox), f"unknown value {value}"
        self.random = True
        place = self._position(value.index, int64)
        return self._call("gw_philox_uniform", SEED, f"{OFFSET} + {value.rng_index}", place)

    def index_text(self, index: Expr) -> str:
        """An index expression."""
        return self.names.index(self._index(index))

    def _position(self, index: Expr, kind: dtype) -> str:
        """An index as a tensor, computed in 64 bits unless it is known to fit in 32: no buffer
        need have such a position."""
        low, high = index.range()
        if low is None or high is None or low < -(1 << 31) or high >= 1 << 31:
            index = index.at({name: self._widened(dim) for name, dim in self.positions.items()})
        text = self.index_text(index)
        return f"{atom(text)}.to({spelled_type(kind)})" if index.symbols() else full(text, kind)

    def _widened(self, symbol: Sym) -> Sym:
        """The position on an axis as an int64."""
        wide = Sym(f"{symbol.name}.wide", symbol.lower, symbol.upper)
        self.names.alias(wide.name, f"{self.names.scalar(symbol.name)}.to(tl.int64)")
        return wide

    def _apply(self, value: Apply) -> str:
        if value.op == "cast":
            return self._cast(value.args[0], value.dtype)
        if value.op.startswith(NUMERIC):
            return self._call(f"{PREFIX}{value.op.removeprefix(NUMERIC)}",
                              *map(self.tensor, value.args))
        if value.op == "bitcast":
            return f"{self.tensor(value.args[0])}.to({spelled_type(value.dtype)}, bitcast=True)"
        kind = value.args[-1].dtype
        if value.op in FORMATS_OF_ALL and not (kind is dtypes.bool and value.op in BOOL_FORMATS):
            return FORMATS_OF_ALL[value.op].format(*self._operands(value))
        table = (FLOAT_FORMATS if kind.is_floating_point
                 else BOOL_FORMATS if kind is dtypes.bool else INTEGER_FORMATS)
        if value.op not in table:
            raise CannotEmit(f"{value.op} of {kind.name}")
        args = [self.tensor(a) for a in value.args]
        if kind.is_floating_point and len(args) == 1:
            args.append(full("1.0", kind))
        bits = 8 * kind.itemsize
        spelled = table[value.op].format(*args, least=-(1 << (bits - 1)), bits=bits)
        self.helpers |= called(spelled)
        return spelled

    def _operands(self, value: Apply) -> list[str]:
        """The arguments of an operation.

        A constant is written as a Python number if another operand is a tensor of its dtype, else
        as a tensor: Python would fold two numbers, and Triton would choose a number's dtype.
        """
        data = value.args[1:] if value.op == "where" else value.args
        beside = {a.dtype for a in data if not isinstance(a, Const)}
        return [self.text(a) if a.dtype in beside else self.tensor(a) for a in value.args]

    def _cast(self, value: Value, kind: dtype) -> str:
        arg, own = self.tensor(value), value.dtype
        if own in FLOAT8:
            arg, own = self._call(f"gw_from_{own.name}", arg), dtypes.float32
        if kind is own:
            return arg
        if kind is dtypes.bool:
            return f"{arg} != 0"
        if kind is dtypes.bfloat16 and own is dtypes.float64:
            return self._call("gw_double_to_bfloat16", arg)
        if kind in FLOAT8:
            single = arg if own is dtypes.float32 else f"{arg}.to(tl.float32)"
            return self._call(f"gw_to_{kind.name}", single)
        narrow = kind.is_floating_point and kind.itemsize == 2
        if narrow and not own.is_floating_point:
            arg = f"{arg}.to(tl.float32)"
        return f"{arg}.to({spelled_type(kind)})"

    def search(self, stmt: Search) -> None:
        """The lines of a search: a turn for each bit of the position, the highest first."""
        self.define(stmt.element.name, frozenset())
        dims = (self.dims_of(stmt.index) | self.dims_of(stmt.length)
                | self.value_dims(stmt.value))
        most = stmt.length.range()[1]
        bits = SEARCHED_BITS if most is None else min(most.bit_length(), SEARCHED_BITS)
        turn, ahead, inside = (
            self.names.label((n, stmt.name), n) for n in ("turn", "ahead", "inside"))
        one = full("1", int64)
        found = self.define(stmt.name, dims)
        self.add(f"{found} = " + (f"tl.zeros({self.shape(dims)}, tl.int64)" if dims
                                  else full("0", int64)))
        length = self.index_text(stmt.length)
        self.add(f"for {turn} in range({bits}):")
        with self.indented():
            self.add(f"{ahead} = {found} + ({one} << ({bits - 1} - {turn}))")
            self.add(f"{inside} = {ahead} <= {atom(length)}")
            self.add(f"{self.define(stmt.place.name, dims)} = {ahead} - 1")
            masks = self._masks(stmt.index, dims, None)
            mask = inside if masks is None else f"{masks} & {inside}"
            self.add(f"{self.define(stmt.element.name, dims)} = "
                     + self._loaded_at(Load(stmt.buffer, stmt.index), dims, mask))
            before = self.tensor(stmt.value)
            self.add(f"{found} = tl.where({inside} & {before}, {ahead}, {found})")

    # -- memory -----------------------------------------------------------------------------------

    def _masks(self, index: Expr, dims: Dims, own: Value | None) -> str | None:
        """The mask of an access: of the dimensions it varies in, of checked indices in it, and
        its own."""
        parts = [dim.mask for name, dim in self.dims.items() if name in dims and dim.mask]
        numbers = {self._locals[s.name] for s in index.symbols() if s.name in self._locals}
        parts += [self._guards[n] for n in sorted(numbers) if n in self._guards]
        if own is not None:
            parts.append(self.tensor(own))
        return " & ".join(parts) if parts else None

    def _pointer(self, name: str, index: Expr, dims: Dims) -> str:
        """Where an access goes, with all of `dims`."""
        pointer = self.names.buffer(name)
        text = pointer if index == 0 else f"{pointer} + {self.index_text(index)}"
        if dims <= self.dims_of(index):
            return text
        return f"tl.broadcast_to({text}, {self.shape(dims | self.dims_of(index))})"

    def _load(self, load: Load) -> str:
        dims = self.value_dims(load)
        return self._loaded_at(load, dims, self._masks(load.index, dims, load.mask))

    def _loaded_at(self, load: Load, dims: Dims, mask: str | None) -> str:
        buffer = load.buffer
        if buffer.name in self._dirty:
            self._barrier()
        self._loaded.add(buffer.name)
        pointer = self._pointer(buffer.name, load.index, dims)
        loaded = f"tl.load({pointer})"
        if mask is not None:
            other = "0" if load.other is None else self._other(load.other)
            loaded = f"tl.load({pointer}, mask={mask}, other={other})"
        return f"{loaded} != 0" if buffer.dtype is dtypes.bool else loaded

    def _barrier(self) -> None:
        """Let every thread of the program see what the others stored, and have loaded."""
        self.add("tl.debug_barrier()")
        self._dirty.clear()
        self._loaded.clear()

    def _other(self, other: Const) -> str:
        """What a masked element is."""
        if other.dtype in FLOAT8 and other.value == 0:
            return "0"
        return self._literal(other)

    def store(self, store: Store) -> None:
        """Write one element of each position."""
        buffer = store.buffer
        value = self.tensor(store.value)
        own = frozenset() if store.mask is None else self.value_dims(store.mask)
        dims = self.dims_of(store.index) | self.value_dims(store.value) | own
        mask = self._masks(store.index, dims, store.mask)
        pointer = self._pointer(buffer.name, store.index, dims)
        spelled = f"{value}.to(tl.int8)" if buffer.dtype is dtypes.bool else value
        tail = "" if mask is None else f", mask={mask}"
        if self.ordered and buffer.name in self._loaded:
            self._barrier()
        self.add(f"tl.store({pointer}, {spelled}{tail})")
        self._written(buffer.name)
        if store.mask is None and isinstance(store.value, Local):
            read = Load(buffer, store.index)
            self._known[self.number(read)] = value

    def accumulate(self, stmt: Accumulate) -> None:
        """Add to memory, or take the maximum, atomically.

        Raises: CannotEmit for a dtype of which memory does not.
        """
        buffer = stmt.buffer
        function, kinds = _ATOMIC[stmt.fold]
        if buffer.dtype.name not in kinds:
            raise CannotEmit(f"{stmt.fold} in memory of {buffer.dtype.name}")
        value = self.tensor(stmt.value)
        dims = self.dims_of(stmt.index) | self.value_dims(stmt.value)
        mask = self._masks(stmt.index, dims, None)
        pointer = self._pointer(buffer.name, stmt.index, dims)
        tail = "" if mask is None else f", mask={mask}"
        self.add(f'{function}({pointer}, {value}{tail}, sem="relaxed")')
        self._written(buffer.name)

    def _written(self, name: str) -> None:
        self._versions[name] = self._versions.get(name, 0) + 1
        self._dirty.add(name)
