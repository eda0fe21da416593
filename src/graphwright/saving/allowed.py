"""The list of what files of `torch.save` may name: what makes weights, and what the user adds."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from graphwright.runtime.naming import NAMING
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.memory_format import strided
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.storage import CLASS_NAMES
from graphwright.saving.header import InvalidFile, quoted
from graphwright.saving.rebuilding import FROM_TYPE, REBUILD, Storages, StorageType
from graphwright.saving.unpickling import Budget, Named, Names, RefusedObject

_BLOCKED = ("nt", "os", "posix", "sys")
"""Modules of which nothing is allowed, whatever the user says."""

_ABSENT = {
    "_rebuild_sparse_tensor": "sparse tensors",
    "_rebuild_sparse_csr_tensor": "sparse tensors",
    "_rebuild_qtensor": "quantised tensors",
    "_rebuild_nested_tensor": "nested tensors",
    "_rebuild_wrapper_subclass": "tensors without memory of their own",
    "_rebuild_device_tensor_from_numpy": "tensors of devices without storages",
    "_rebuild_device_tensor_from_cpu_tensor": "tensors of devices without storages",
}
"""What is in a file by these functions of `torch._utils`, and cannot be here."""

_ELEMENTS = re.compile(r"(q?u?int|float|complex|bits)[0-9]+\w{,20}|\w{,20}Storage")
"""Names of dtypes, and of storages by dtype."""

_USERS: list[tuple[str, Any]] = []


def add_safe_globals(safe_globals: Iterable[Callable[..., Any] | tuple[Any, str]]) -> None:
    """Allow functions and classes of yours in files that `load` reads and `save` writes.

    A file may then call each, make objects of it and set their state, so that loading a file runs
    their code. Entries are functions or classes, or pairs of one and the full name by which files
    know it; without one it is `module.qualname`. Raises TypeError for other entries.
    """
    _USERS.extend(_named(entry) for entry in safe_globals)


def get_safe_globals() -> list[Callable[..., Any] | tuple[Any, str]]:
    """What `add_safe_globals` has allowed."""
    return [value if name == _name(value) else (value, name) for name, value in _USERS]


def clear_safe_globals() -> None:
    """Allow nothing more than what weights need."""
    _USERS.clear()


class safe_globals:
    """As `add_safe_globals`, within a `with` block."""

    def __init__(self, safe_globals: Iterable[Callable[..., Any] | tuple[Any, str]]) -> None:
        self.safe_globals = [_named(entry) for entry in safe_globals]

    def __enter__(self) -> None:
        _USERS.extend(self.safe_globals)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for entry in self.safe_globals:
            if entry in _USERS:
                _USERS.remove(entry)


def how_to_allow() -> str:
    """What a message has the user call."""
    return f"{NAMING.root}.serialization.add_safe_globals"


def _named(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, tuple):
        if len(entry) != 2 or type(entry[1]) is not str or not callable(entry[0]):
            raise TypeError(
                f"safe globals are functions or classes, or pairs of one and its name: {entry!r}"
            )
        return entry[1], entry[0]
    if not callable(entry) or not hasattr(entry, "__qualname__"):
        raise TypeError(f"safe globals are functions or classes, not {entry!r}")
    return _name(entry), entry


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


class Allowed(Names):
    """The list as it is now."""

    def __init__(self) -> None:
        self._users = dict(_USERS)
        self._known = {id(value) for value in self._users.values()}

    def find(self, name: str) -> Any:
        """What `name` stands for. Raises RefusedObject for what is not on the list."""
        if name in _FUNCTIONS:
            return _FUNCTIONS[name]
        module, _, last = name.rpartition(".")
        if module == "torch" and last in dtypes.BY_NAME:
            return dtypes.BY_NAME[last]
        if module in ("torch", "torch.storage") and last in _STORAGES:
            return StorageType(name, _STORAGES[last])
        if module in _BLOCKED:
            raise RefusedObject(f"the file names {quoted(name)}, which no file may: nothing ran")
        if name in self._users:
            return self._users[name]
        if module == "torch._utils" and last in _ABSENT:
            raise RefusedObject(f"the file has {_ABSENT[last]}, which graphwright lacks ({last})")
        if module in ("torch", "torch.storage") and _ELEMENTS.fullmatch(last):
            raise RefusedObject(f"the file has elements of {name}, which graphwright lacks")
        if name.startswith("torch."):
            raise RefusedObject(
                f"the file has {quoted(name)}, an object of PyTorch's and no weights: in PyTorch, "
                "save its state_dict()"
            )
        raise RefusedObject(
            f"the file names {quoted(name)}, which is not on the list of what makes weights: "
            "nothing of it ran; if it is a class that you trust, allow it with "
            f"{how_to_allow()}"
        )

    def is_allowed(self, value: Any) -> bool:
        """Whether the user allowed this very function or class."""
        return id(value) in self._known

    def name_of(self, value: Any) -> str | None:
        """The name by which files know what the user allowed; None for anything else."""
        return next((name for name, known in self._users.items() if known is value), None)


class Noting(Allowed):
    """The list, which notes what is not on it in `refused`, and lets that stand for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._known.add(id(_Unknown))
        self.refused: list[str] = []

    def find(self, name: str) -> Any:
        """As `Allowed.find`; a class whose objects do nothing where that refuses."""
        try:
            return super().find(name)
        except RefusedObject:
            if name not in self.refused:
                self.refused.append(name)
            return _Unknown


class _Unknown:
    """An object that takes whatever a pickle does to it, and keeps nothing."""

    def __init__(self, *args: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        pass

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def extend(self, items: Any) -> None:
        """Take the items of a list."""


# -- what weights need


def _text_and(args: tuple[Any, ...], encodings: tuple[str, ...]) -> bytes:
    """The bytes of a string whose characters stand for them."""
    if len(args) != 2 or type(args[0]) is not str or args[1] not in encodings:
        raise InvalidFile("the pickle has bytes that are written in an unknown way")
    try:
        return args[0].encode("latin-1")
    except UnicodeEncodeError:
        raise InvalidFile("the pickle has bytes that are none") from None


def _bytes(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> bytes:
    found = _text_and(args, ("latin1",)) if args else b""
    budget.spend(len(found))
    return found


def _bytearray(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> bytearray:
    found = args[0] if len(args) == 1 else _text_and(args, ("latin-1",)) if args else b""
    if type(found) is not bytes:
        raise InvalidFile("the pickle has bytes that are written in an unknown way")
    budget.spend(len(found))
    return bytearray(found)


def _complex(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> complex:
    if len(args) != 2 or not all(type(part) in (int, float) for part in args):
        raise InvalidFile("the pickle has a complex number that is none")
    return complex(*args)


def _ordered(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> OrderedDict[Any, Any]:
    if args:
        raise InvalidFile("the pickle has an OrderedDict that is written in an unknown way")
    return OrderedDict()


def _size(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Size:
    if len(args) != 1 or type(args[0]) is not tuple or {*map(type, args[0])} - {int}:
        raise InvalidFile("the pickle has a size that is none")
    budget.spend(len(args[0]))
    return Size(args[0])


def _device(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Device:
    if [type(arg) for arg in args] not in ([str], [str, int]):
        raise InvalidFile("the pickle has a device that is none")
    try:
        return Device(*args)
    except RuntimeError as error:
        raise RefusedObject(f"the file has a device as a value: {error}") from None


def _layout(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Any:
    name = args[0] if len(args) == 1 else None
    if type(name) is not str:
        raise InvalidFile("the pickle has a layout that is none")
    if name != "torch.strided":
        raise RefusedObject(f"the file has the layout {quoted(name)}, which graphwright lacks")
    return strided


def _set(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> set[Any]:
    if len(args) != 1 or type(args[0]) is not list:
        raise InvalidFile("the pickle has a set that is none")
    budget.spend(len(args[0]))
    for member in args[0]:
        budget.key(member)
    return set(args[0])


def _counter(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Counter[Any]:
    if len(args) != 1 or type(args[0]) is not dict:
        raise InvalidFile("the pickle has a Counter that is none")
    budget.spend(len(args[0]))
    for key in args[0]:
        budget.key(key)
    return Counter(args[0])


def _no_call(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Any:
    raise RefusedObject("the pickle makes a tensor as torch.save has not done since PyTorch 1.6")


_FUNCTIONS = {
    name: Named(name, make)
    for name, make in {
        "_codecs.encode": _bytes,
        "builtins.bytearray": _bytearray,
        "builtins.bytes": _bytes,
        "builtins.complex": _complex,
        "builtins.set": _set,
        "collections.Counter": _counter,
        "collections.OrderedDict": _ordered,
        "torch.Size": _size,
        "torch.Tensor": _no_call,
        "torch.device": _device,
        "torch.serialization._get_layout": _layout,
        **{f"torch._utils.{name}": make for name, make in REBUILD.items()},
        **{f"torch._tensor.{name}": make for name, make in FROM_TYPE.items()},
    }.items()
}
_STORAGES = {
    "UntypedStorage": dtypes.uint8,
    **{name: dtype for dtype, name in CLASS_NAMES.items()},
}
