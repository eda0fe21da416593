"""An interpreter of pickles that can only make what is on a list.

A pickle is a program for a stack machine. Of its instructions those are known here that
`torch.save` writes, and those of later protocols that mean the same. Data (numbers, strings,
lists) is made as the pickle says. A name gives what the list of allowed names has under it, and
only that may be called; attributes are never looked up. So no code of a file's choice runs, and
memory stays within a multiple of the file's length.

Format: Python's `pickletools` describes every instruction.
"""

from __future__ import annotations

import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any, Protocol

from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.memory_format import layout
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.header import InvalidFile, quoted

MAX_DEPTH = 1000
"""How deep containers may be nested: deeper than Python's pickler can write."""
_MAX_KEY_DEPTH = 50
_COPIES, _HASHES = 2, 16
"""How much may be copied, and how many parts of keys hashed, in multiples of the pickle's length.
"""
_LAST_PROTOCOL = 5

_MAPPINGS = (dict, OrderedDict, Counter)
_KEYS = frozenset(
    {type(None), bool, int, float, complex, str, bytes, dtypes.dtype, Device, layout}
)


class RefusedObject(InvalidFile, UnpicklingError):
    """A file that wants something made that is not on the list of what files may hold."""


class Budget:
    """What may still be spent on copies and hashes.

    A pickle can have one value used again and again in a few bytes; what then costs more than a
    reference is counted.
    """

    def __init__(self, length: int, names: Names) -> None:
        self._copies, self._hashes, self._names = _COPIES * length, _HASHES * length, names

    def spend(self, amount: int) -> None:
        """Count a copy of that size. Raises InvalidFile where the file asks for too much of it."""
        self._copies -= amount
        if self._copies < 0:
            raise InvalidFile("the pickle has values copied again and again: it is no state")

    def key(self, value: Any, depth: int = 0) -> None:
        """Count the hash of a key. Raises InvalidFile for what is none, and for too many."""
        self._hashes -= 1
        if self._hashes < 0:
            raise InvalidFile("the pickle has keys used again and again: it is no state")
        kind = type(value)
        if kind is tuple or kind is Size:
            if depth == _MAX_KEY_DEPTH:
                raise InvalidFile("the pickle has a key that is nested too deep")
            for part in value:
                self.key(part, depth + 1)
        elif kind not in _KEYS and not self._names.is_allowed(kind):
            raise RefusedObject(f"the pickle has a key that is {_shown(value)}")


class Named:
    """A function or class that a file may name, as `make` implements it."""

    __slots__ = ("make", "name")

    def __init__(self, name: str, make: Callable[[Any, Budget, tuple[Any, ...]], Any]) -> None:
        self.name, self.make = name, make


class Names(Protocol):
    """The list: what the names of a file stand for."""

    def find(self, name: str) -> Any:
        """A `Named`, a value, or an object of the user's. Raises RefusedObject."""

    def is_allowed(self, value: Any) -> bool:
        """Whether the user allowed this very function or class."""


class Interpreter:
    """Runs one pickle.

    Args:
        data: the pickle.
        names: the list.
        context: what the functions of the list are given first.
        storage: makes what a persistent id stands for.
        encoding: of the strings of Python 2; "bytes" leaves them bytes.
    """

    def __init__(
        self,
        data: bytes,
        names: Names,
        context: Any,
        storage: Callable[[Any], Any],
        encoding: str,
    ) -> None:
        self._data, self._at = data, 0
        self._names, self._context = names, context
        self._storage, self._encoding = storage, encoding
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._budget = Budget(len(data), names)
        self._protocol = 0

    def run(self) -> Any:
        """What the pickle makes. Raises InvalidFile, RefusedObject among them."""
        data = self._data
        while self._at < len(data):
            code = data[self._at]
            self._at += 1
            if code == _STOP:
                result = self._pop()
                check_nesting(result)
                return result
            handler = _HANDLERS.get(code)
            if handler is None:
                raise RefusedObject(
                    f"the pickle has the instruction {_instruction(code)}, which torch.save does "
                    "not write"
                )
            handler(self)
        raise InvalidFile("the pickle is cut short")

    # -- arguments of instructions

    def _bytes(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise InvalidFile("the pickle is cut short")
        found = self._data[self._at : end]
        self._at = end
        return found

    def _number(self, size: int) -> int:
        return int.from_bytes(self._bytes(size), "little")

    def _line(self) -> str:
        end = self._data.find(b"\n", self._at)
        if end < 0:
            raise InvalidFile("the pickle is cut short")
        found = self._bytes(end - self._at)
        self._at += 1
        return self._decoded(found, "utf-8")

    def _decoded(self, text: bytes, encoding: str) -> str:
        try:
            return text.decode(encoding, "surrogatepass" if encoding == "utf-8" else "strict")
        except UnicodeDecodeError as error:
            raise InvalidFile(f"the pickle has text that is not {encoding} ({error})") from None

    def _pop(self) -> Any:
        if not self._stack:
            raise InvalidFile("the pickle takes a value where none is")
        return self._stack.pop()

    def _top(self) -> Any:
        if not self._stack:
            raise InvalidFile("the pickle takes a value where none is")
        return self._stack[-1]

    def _since_mark(self) -> list[Any]:
        if not self._marks:
            raise InvalidFile("the pickle takes values since a mark where none is")
        found, self._stack = self._stack, self._marks.pop()
        return found

    # -- structure of the program

    def _proto(self) -> None:
        self._protocol = self._number(1)
        if self._protocol > _LAST_PROTOCOL:
            raise InvalidFile(f"the pickle has protocol {self._protocol}, which is unknown")

    def _frame(self) -> None:
        self._number(8)

    def _mark(self) -> None:
        if len(self._marks) > MAX_DEPTH:
            raise InvalidFile(f"the pickle is nested more than {MAX_DEPTH} deep")
        self._marks.append(self._stack)
        self._stack = []

    def _put(self, size: int) -> None:
        self._memo[self._number(size)] = self._top()

    def _memoize(self) -> None:
        self._memo[len(self._memo)] = self._top()

    def _get(self, size: int) -> None:
        number = self._number(size)
        if number not in self._memo:
            raise InvalidFile(f"the pickle refers to value {number}, which is not there")
        self._stack.append(self._memo[number])

    # -- values

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _signed(self) -> None:
        self._push(int.from_bytes(self._bytes(4), "little", signed=True))

    def _long(self) -> None:
        self._push(int.from_bytes(self._bytes(self._number(1)), "little", signed=True))

    def _float(self) -> None:
        self._push(struct.unpack(">d", self._bytes(8))[0])

    def _text(self, size: int) -> None:
        self._push(self._decoded(self._bytes(self._number(size)), "utf-8"))

    def _raw(self, size: int) -> None:
        self._push(self._bytes(self._number(size)))

    def _bytearray(self) -> None:
        self._push(bytearray(self._bytes(self._number(8))))

    def _old_text(self, size: int) -> None:
        raw = self._bytes(self._number(size))
        as_bytes = self._encoding == "bytes"
        self._push(raw if as_bytes else self._decoded(raw, self._encoding))

    # -- containers

    def _tuple(self, count: int | None = None) -> None:
        if count is None:
            self._push(tuple(self._since_mark()))
        elif len(self._stack) < count:
            raise InvalidFile("the pickle takes a value where none is")
        else:
            self._stack[-count:] = [tuple(self._stack[-count:])]

    def _append(self, items: list[Any]) -> None:
        target = self._top()
        if type(target) is not list and not self._names.is_allowed(type(target)):
            raise RefusedObject(f"the pickle appends to {_shown(target)}")
        target.extend(items)

    def _set_items(self, items: list[Any]) -> None:
        target = self._top()
        if type(target) not in _MAPPINGS and not self._names.is_allowed(type(target)):
            raise RefusedObject(f"the pickle sets items of {_shown(target)}")
        if len(items) % 2:
            raise InvalidFile("the pickle has a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            self._budget.key(key)
            target[key] = value

    def _set_item(self) -> None:
        value, key = self._pop(), self._pop()
        self._set_items([key, value])

    def _add_items(self) -> None:
        items, target = self._since_mark(), self._top()
        if type(target) is not set:
            raise RefusedObject(f"the pickle adds to {_shown(target)}")
        for item in items:
            self._budget.key(item)
            target.add(item)

    # -- names and what is made of them

    def _global(self, module: str, name: str) -> None:
        if self._protocol < 3:
            if (module, name) in NAME_MAPPING:
                module, name = NAME_MAPPING[module, name]
            else:
                module = IMPORT_MAPPING.get(module, module)
        self._push(self._names.find(f"{module}.{name}"))

    def _stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if type(name) is not str or type(module) is not str:
            raise RefusedObject("the pickle names something by what is no string")
        self._global(module, name)

    def _arguments(self) -> tuple[Any, ...]:
        args = self._pop()
        if type(args) is not tuple:
            raise InvalidFile("the pickle calls with arguments that are no tuple")
        return args

    def _reduce(self) -> None:
        args, function = self._arguments(), self._pop()
        if isinstance(function, Named):
            self._push(function.make(self._context, self._budget, args))
        elif self._names.is_allowed(function):
            self._push(function(*args))
        else:
            raise RefusedObject(f"the pickle calls {_shown(function)}")

    def _new_object(self) -> None:
        args, kind = self._arguments(), self._pop()
        if not isinstance(kind, type) or not self._names.is_allowed(kind):
            name = quoted(kind.name) if isinstance(kind, Named) else _shown(kind)
            raise RefusedObject(f"the pickle makes an object of {name}")
        self._push(kind.__new__(kind, *args))

    def _build(self) -> None:
        state, target = self._pop(), self._top()
        if type(target) is OrderedDict:
            set_attributes(target, state)
        elif self._names.is_allowed(type(target)):
            _restore(target, state)
        else:
            raise RefusedObject(f"the pickle sets the state of {_shown(target)}")

    def _persistent(self) -> None:
        self._push(self._storage(self._pop()))


def set_attributes(target: Any, state: Any) -> None:
    """Give an object of a known class the attributes in `state`; none that its class has."""
    if type(state) is not dict:
        raise InvalidFile(f"the pickle gives {type(target).__name__} a state that is no dict")
    for name, value in state.items():
        if type(name) is not str or name.startswith("__") or hasattr(type(target), name):
            shown = quoted(name) if type(name) is str else "of no name"
            raise RefusedObject(
                f"the pickle sets the attribute {shown} of {type(target).__name__}"
            )
        target.__dict__[name] = value


def _restore(target: Any, state: Any) -> None:
    """Set the state of an object whose class the user allowed, as `pickle` does."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        target.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def check_nesting(value: Any) -> None:
    """InvalidFile where containers hold themselves or are nested too deep, or a name is left."""
    heights: dict[int, int | None] = {}
    path: list[_Level] = []

    def enter(value: Any) -> int | None:
        """How many levels `value` has below it; None where that is to be found out first."""
        members = _members(value)
        if members is None:
            return 0
        if id(value) not in heights:
            heights[id(value)] = None
            path.append(_Level(value, members))
            return None
        height = heights[id(value)]
        if height is None:
            raise InvalidFile("the pickle has a container that contains itself")
        return height

    enter(value)
    while path:
        level = path[-1]
        for member in level.members:
            below = enter(member)
            if below is None:
                break
            level.height = max(level.height, below + 1)
        else:
            path.pop()
            heights[id(level.value)] = level.height
            if path:
                path[-1].height = max(path[-1].height, level.height + 1)
        if len(path) + level.height > MAX_DEPTH:
            raise InvalidFile(f"the pickle is nested more than {MAX_DEPTH} deep")


class _Level:
    """A container on the way to where `check_nesting` is."""

    __slots__ = ("height", "members", "value")

    def __init__(self, value: Any, members: Any) -> None:
        self.value, self.members, self.height = value, members, 0


def _members(value: Any) -> Any:
    """What a container holds, keys apart, which are checked when they are set; else None."""
    if isinstance(value, Named):
        raise RefusedObject(f"the pickle holds {quoted(value.name)} itself as a value")
    if type(value) in (list, tuple):
        return iter(value)
    attributes = value.__dict__ if isinstance(value, OrderedDict | Tensor) else {}
    if isinstance(value, dict):
        return iter([*dict.values(value), *attributes.values()])
    return iter(attributes.values()) if attributes else None


def _shown(value: Any) -> str:
    """What a message calls a value of a file."""
    if isinstance(value, Named):
        return quoted(value.name)
    return f"an object of type {type(value).__module__}.{type(value).__qualname__}"


def _instruction(code: int) -> str:
    from pickletools import opcodes

    return next((known.name for known in opcodes if ord(known.code) == code), f"0x{code:02x}")


_STOP = ord(".")
_HANDLERS: dict[int, Callable[[Interpreter], None]] = {
    code[0]: handler
    for code, handler in {
        b"\x80": Interpreter._proto,
        b"\x95": Interpreter._frame,
        b"(": Interpreter._mark,
        b"q": lambda run: run._put(1),
        b"r": lambda run: run._put(4),
        b"\x94": Interpreter._memoize,
        b"h": lambda run: run._get(1),
        b"j": lambda run: run._get(4),
        b"N": lambda run: run._push(None),
        b"\x88": lambda run: run._push(True),
        b"\x89": lambda run: run._push(False),
        b"K": lambda run: run._push(run._number(1)),
        b"M": lambda run: run._push(run._number(2)),
        b"J": Interpreter._signed,
        b"\x8a": Interpreter._long,
        b"G": Interpreter._float,
        b"\x8c": lambda run: run._text(1),
        b"X": lambda run: run._text(4),
        b"\x8d": lambda run: run._text(8),
        b"C": lambda run: run._raw(1),
        b"B": lambda run: run._raw(4),
        b"\x8e": lambda run: run._raw(8),
        b"\x96": Interpreter._bytearray,
        b"U": lambda run: run._old_text(1),
        b"T": lambda run: run._old_text(4),
        b")": lambda run: run._push(()),
        b"]": lambda run: run._push([]),
        b"}": lambda run: run._push({}),
        b"\x8f": lambda run: run._push(set()),
        b"t": Interpreter._tuple,
        b"\x85": lambda run: run._tuple(1),
        b"\x86": lambda run: run._tuple(2),
        b"\x87": lambda run: run._tuple(3),
        b"a": lambda run: run._append([run._pop()]),
        b"e": lambda run: run._append(run._since_mark()),
        b"s": Interpreter._set_item,
        b"u": lambda run: run._set_items(run._since_mark()),
        b"\x90": Interpreter._add_items,
        b"c": lambda run: run._global(run._line(), run._line()),
        b"\x93": Interpreter._stack_global,
        b"R": Interpreter._reduce,
        b"\x81": Interpreter._new_object,
        b"b": Interpreter._build,
        b"Q": Interpreter._persistent,
    }.items()
}
