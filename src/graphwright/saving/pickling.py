"""States as pickles that PyTorch reads with `weights_only=True`.

Written are the instructions and names of protocol 2 that PyTorch itself writes; of functions and
classes only those that every reader of weights knows, and what the user allowed by
`add_safe_globals`. Storages stand beside the pickle, which refers to them by number.

Format: Python's `pickletools` describes every instruction.
"""

from __future__ import annotations

import copyreg
import struct
from collections.abc import Callable
from typing import Any

from graphwright.nn.parameter import Buffer, Parameter
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.memory_format import layout
from graphwright.runtime.tensor.storage import CLASS_NAMES, TypedStorage, UntypedStorage
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.allowed import Allowed, how_to_allow
from graphwright.saving.walking import Walk, name_of, refuse_without_data, without_data

_LONGEST_INT, _LONGEST_TEXT = 255, 2**30
"""Bytes of the largest int, and characters of the longest string, that all readers know."""


class Pickler(Walk):
    """Pickles one state: `encode` it, then take `pickle()` and the `storages` by number."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = [b"\x80\x02"]
        self._memo: dict[Any, int] = {}
        self._kept: list[Any] = []
        self._allowed = Allowed()
        self._seen: dict[int, tuple[int, DType, str]] = {}
        self.storages: list[UntypedStorage] = []

    def pickle(self) -> bytes:
        """What was written, with its end."""
        return b"".join([*self._parts, b"."])

    # -- instructions

    def _write(self, *parts: bytes) -> None:
        self._parts.extend(parts)

    def _remembered(self, key: Any) -> bool:
        """Whether the value is there already; it is then referred to."""
        number = self._memo.get(key)
        if number is None:
            return False
        self._write(b"h" + bytes([number]) if number < 256 else b"j" + _u32(number))
        return True

    def _remember(self, key: Any, value: Any = None) -> None:
        """Number the value that was written last; `value` lives as long as its id is the key."""
        number = self._memo[key] = len(self._memo)
        self._kept.append(value)
        self._write(b"q" + bytes([number]) if number < 256 else b"r" + _u32(number))

    def _name(self, module: str, name: str) -> None:
        key = module, name
        if not self._remembered(key):
            self._write(f"c{module}\n{name}\n".encode())
            self._remember(key)

    def _int(self, value: int) -> None:
        if 0 <= value < 256:
            self._write(b"K" + bytes([value]))
        elif 0 <= value < 65536:
            self._write(b"M" + value.to_bytes(2, "little"))
        elif -(2**31) <= value < 2**31:
            self._write(b"J" + value.to_bytes(4, "little", signed=True))
        else:
            size = value.bit_length() // 8 + 1
            self._write(b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True))

    def _text(self, value: str) -> None:
        raw = value.encode("utf-8", "surrogatepass")
        self._write(b"X" + _u32(len(raw)), raw)

    def _word(self, value: str) -> None:
        """A string that is likely to come again."""
        if not self._remembered(value):
            self._text(value)
            self._remember(value)

    def _ints(self, values: Any) -> None:
        self._write(b"(")
        for value in values:
            self._int(int(value))
        self._write(b"t")

    def _call(self, module: str, name: str, *args: Any) -> None:
        """A call with strings and floats."""
        self._name(module, name)
        self._write(b"(")
        for value in args:
            if type(value) is str:
                self._text(value)
            else:
                self._write(b"G" + struct.pack(">d", value))
        self._write(b"tR")

    # -- values

    def constant(self, value: bool | None) -> None:
        """One byte."""
        self._write(b"N" if value is None else b"\x88" if value else b"\x89")

    def scalar(self, value: Any, path: str) -> None:
        """A number, a string, bytes, or what PyTorch has under a name of its own."""
        if isinstance(value, str | bytes | bytearray) and len(value) >= _LONGEST_TEXT:
            raise ValueError(f"{path} has {len(value)} characters, which no pickle can hold")
        if type(value) is int and value.bit_length() // 8 >= _LONGEST_INT:
            raise ValueError(f"{path} is an int of more than {_LONGEST_INT} bytes")
        _SCALARS[type(value)](self, value)

    def container(self, name: str, value: Any, path: str, depth: int) -> None:
        """A container, written once however often it is there."""
        if not value and name == "tuple":
            self._write(b")")
        elif not self._remembered(id(value)):
            getattr(self, f"_{name}")(value, path, depth)

    def _items(self, value: Any, path: str, depth: int) -> None:
        for _ in self.items(value, path, depth):
            pass

    def _pairs(self, value: Any, path: str, depth: int) -> None:
        self._write(b"(")
        for _ in self.pairs(value, path, depth):
            pass
        self._write(b"u")

    def _dict(self, value: Any, path: str, depth: int) -> None:
        self._write(b"}")
        self._remember(id(value), value)
        self._pairs(value, path, depth)

    def _ordered(self, value: Any, path: str, depth: int) -> None:
        self._name("collections", "OrderedDict")
        self._write(b")R")
        self._remember(id(value), value)
        self._pairs(value, path, depth)
        if vars(value):
            self._state(vars(value), path, depth)
            self._write(b"b")

    def _state(self, attributes: dict[str, Any], path: str, depth: int) -> None:
        self._write(b"}(")
        for name, value in attributes.items():
            self._word(name)
            self.encode(value, f"{path}.{name}", depth + 1)
        self._write(b"u")

    def _counter(self, value: Any, path: str, depth: int) -> None:
        self._name("collections", "Counter")
        self._write(b"}")
        self._pairs(value, path, depth)
        self._write(b"\x85R")
        self._remember(id(value), value)

    def _list(self, value: Any, path: str, depth: int) -> None:
        self._write(b"]")
        self._remember(id(value), value)
        self._write(b"(")
        self._items(value, path, depth)
        self._write(b"e")

    def _tuple(self, value: Any, path: str, depth: int) -> None:
        self._write(b"(")
        self._items(value, path, depth)
        self._write(b"t")
        self._remember(id(value), value)

    def _set(self, value: Any, path: str, depth: int) -> None:
        self._name("__builtin__", "set")
        self._write(b"](")
        self._items(value, path, depth)
        self._write(b"e\x85R")
        self._remember(id(value), value)

    def _size(self, value: Any, path: str, depth: int) -> None:
        self._name("torch", "Size")
        self._ints(value)
        self._write(b"\x85R")
        self._remember(id(value), value)

    # -- tensors

    def tensor(self, value: Tensor, path: str, depth: int) -> None:
        """A tensor, with the attributes that the user gave it; written once."""
        if self._remembered(id(value)):
            return
        kind, attributes = type(value), vars(value)
        allowed = self._allowed.name_of(kind)
        if kind is Parameter and allowed is None:
            with_state = "_with_state" if attributes else ""
            self._name("torch._utils", f"_rebuild_parameter{with_state}")
            self._write(b"(")
            self._plain(value, path, False)
            self.constant(value.requires_grad)
            self._no_hooks()
        elif kind in (Tensor, Buffer) and not attributes:
            self._plain(value, path, value.requires_grad)
            self._remember(id(value), value)
            return
        elif kind in (Tensor, Buffer) or allowed is not None:
            self._name("torch._tensor", "_rebuild_from_type_v2")
            self._write(b"(")
            self._plain(value, path, value.requires_grad, allowed or "torch.Tensor")
        else:
            raise TypeError(
                f"{path} is {name_of(value)}, a class of tensors that PyTorch does not "
                f"know: save it as a plain tensor, or allow the class with {how_to_allow()}"
            )
        if attributes or kind is not Parameter:
            self._state(attributes, path, depth)
        self._write(b"tR")
        self._remember(id(value), value)

    def _plain(self, value: Tensor, path: str, grad: bool, kind: str | None = None) -> None:
        """The call that makes a tensor; its function, the class `kind` and arguments if given."""
        meta = value.device.type == "meta" and not value.is_fake
        if not meta and without_data(value):
            raise refuse_without_data(path)
        typed = value.dtype in CLASS_NAMES
        version = "meta_tensor_no_storage" if meta else "tensor_v2" if typed else "tensor_v3"
        self._name("torch._utils", f"_rebuild_{version}")
        if kind is not None:
            self._name(*_split(kind))
        self._write(b"(")
        if meta:
            self._name("torch", value.dtype.name)
        else:
            self._storage(value.untyped_storage(), value.dtype if typed else None, path)
            self._int(value.storage_offset())
        self._ints(value.shape)
        self._ints(value.stride())
        self.constant(grad)
        if not meta:
            self._no_hooks()
            if not typed:
                self._name("torch", value.dtype.name)
        self._write(b"t" if kind is not None else b"tR")

    def _no_hooks(self) -> None:
        self._name("collections", "OrderedDict")
        self._write(b")R")

    def _storage(self, storage: UntypedStorage, dtype: DType | None, path: str) -> None:
        """A storage, of elements of a dtype unless that is None."""
        kind = dtype or dtypes.uint8
        known = self._seen.get(hash(storage))
        if known is None:
            known = self._seen[hash(storage)] = len(self.storages), kind, path
            self.storages.append(storage)
        number, first, other = known
        if first is not kind:
            raise RuntimeError(
                f"{path} and {other} share memory as {kind.name} and as {first.name}, "
                "which the format cannot hold: save a clone of one"
            )
        self._write(b"(")
        self._word("storage")
        if dtype is None:
            self._name("torch.storage", "UntypedStorage")
        else:
            self._name("torch", CLASS_NAMES[dtype])
        self._text(str(number))
        self._word(str(storage.device))
        self._int(storage.nbytes() // kind.itemsize)
        self._write(b"tQ")

    # -- what the user allowed

    def other(self, value: Any, path: str, depth: int) -> None:
        """A storage, or what the user allowed: functions, classes and their objects."""
        name = self._allowed.name_of(value)
        if isinstance(value, UntypedStorage):
            self._storage(value, None, path)
        elif isinstance(value, TypedStorage):
            self._storage(value.untyped(), value.dtype, path)
        elif name is not None:
            self._name(*_split(name))
        elif self._allowed.is_allowed(type(value)):
            if not self._remembered(id(value)):
                self._object(value, path, depth)
        else:
            super().other(value, path, depth)

    def _object(self, value: Any, path: str, depth: int) -> None:
        """An object, by the parts that its `__reduce_ex__` returns."""
        reduced = value.__reduce_ex__(2)
        if type(reduced) is not tuple or not 2 <= len(reduced) <= 5:
            raise TypeError(f"{path} is {name_of(value)}, which no call makes")
        function, args, state, items, pairs = (*reduced, None, None, None)[:5]
        new = function is copyreg.__newobj__  # type: ignore[attr-defined]
        if new:
            function, *args = args
        name = self._allowed.name_of(function)
        if name is None:
            raise TypeError(
                f"{path} is {name_of(value)}, which {function!r} makes: allow that too with "
                f"{how_to_allow()}"
            )
        self._name(*_split(name))
        self.encode(tuple(args), f"the arguments of {path}", depth + 1)
        self._write(b"\x81" if new else b"R")
        self._remember(id(value), value)
        if items is not None:
            self._write(b"(")
            self._items(items, path, depth)
            self._write(b"e")
        if pairs is not None:
            self._pairs(dict(pairs), path, depth)
        if state is not None:
            self.encode(state, f"the state of {path}", depth + 1)
            self._write(b"b")


_SCALARS: dict[type, Callable[[Pickler, Any], None]] = {
    int: Pickler._int,
    float: lambda pickler, value: pickler._write(b"G" + struct.pack(">d", value)),
    str: Pickler._word,
    complex: lambda pickler, value: pickler._call(
        "__builtin__", "complex", value.real, value.imag
    ),
    bytes: lambda pickler, value: pickler._call(
        "_codecs", "encode", value.decode("latin-1"), "latin1"
    ),
    bytearray: lambda pickler, value: pickler._call(
        "__builtin__", "bytearray", *((value.decode("latin-1"), "latin-1") if value else ())
    ),
    DType: lambda pickler, value: pickler._name("torch", value.name),
    Device: lambda pickler, value: pickler._call("torch", "device", str(value)),
    layout: lambda pickler, value: pickler._call(
        "torch.serialization", "_get_layout", f"torch.{value.name}"
    ),
}


def _u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


def _split(name: str) -> tuple[str, str]:
    module, _, last = name.rpartition(".")
    return module, last
