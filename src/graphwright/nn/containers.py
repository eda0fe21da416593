"""Modules that hold modules or parameters: Sequential, ModuleList, ModuleDict, Parameter*."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, overload

from graphwright.nn.module import Module, _indent


class _Numbered(Module):
    """Children named "0", "1", ...: what Sequential and ModuleList share."""

    def _position(self, index: int) -> str:
        index = operator.index(index)
        length = len(self._modules)
        if not -length <= index < length:
            raise IndexError(f"index {index} is out of range")
        return str(index % length)

    def _renumber(self, modules: Iterable[Module]) -> None:
        numbered = {str(i): module for i, module in enumerate(modules)}
        self._modules.clear()
        self._modules.update(numbered)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> _Numbered: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return self._of(list(self._modules.values())[index])
        module: Module = self._modules[list(self._modules)[int(self._position(index))]]
        return module

    def _of(self, modules: list[Module]) -> _Numbered:
        return self.__class__(modules)

    def __setitem__(self, index: int, module: Module) -> None:
        names = list(self._modules)
        setattr(self, names[int(self._position(index))], module)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self._modules.values())
        del modules[index]
        self._renumber(modules)

    def __contains__(self, module: object) -> bool:
        return any(module is member for member in self._modules.values())

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put a module before position `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        members = list(self._modules.values())
        if not -len(members) <= index <= len(members):
            raise IndexError(f"Index out of range: {index}")
        members.insert(index, module)
        self._renumber(members)
        return self

    def pop(self, index: int = -1) -> Module:
        """Remove and return the module at `index`."""
        module = self[index]
        del self[index]
        return module


def _members(verb: str, other: object) -> list[Module]:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"{verb} operator supports only objects of Sequential class, but "
            f"{type(other)} is given."
        )
    return list(other)


def _times(count: object) -> int:
    if not isinstance(count, int):
        raise TypeError(f"unsupported operand type(s) for *: Sequential and {type(count)}")
    if count <= 0:
        raise ValueError(f"Non-positive multiplication factor {count} for {Sequential}")
    return count


class Sequential(_Numbered):
    """Modules called one after the other, each with the result of the one before.

    Takes modules, or one dict of them, whose keys become their names.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return self.__class__(dict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def extend(self, modules: Iterable[Module]) -> Sequential:
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *_members("add", other))

    def __iadd__(self, other: Sequential) -> Sequential:
        return self.extend(_members("add", other))

    def __mul__(self, count: int) -> Sequential:
        """The modules over again, `count` times in all; the same modules."""
        return Sequential(*(list(self) * _times(count)))

    def __rmul__(self, count: int) -> Sequential:
        return self * count

    def __imul__(self, count: int) -> Sequential:
        members = list(self)
        for _ in range(_times(count) - 1):
            self.extend(members)
        return self

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules. It has no `forward`."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end. TypeError unless `modules` can be iterated."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                + type(modules).__name__
            )
        for module in list(modules):
            self.append(module)
        return self

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> ModuleList:
        return self.extend(other)

    def __repr__(self) -> str:
        """Runs of modules that print alike are folded: `(0-2): 3 x Linear(...)`."""
        runs: list[tuple[int, int, str]] = []
        for index, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], index, text)
            else:
                runs.append((index, index, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [
            _indent(f"({first}): {text}" if first == last
                    else f"({first}-{last}): {last - first + 1} x {text}")
            for first, last, text in runs
        ]  # fmt: skip
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dict of modules by name. It has no `forward`."""

    def __init__(
        self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None
    ) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        module: Module = self._modules[key]
        return module

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def update(
        self, modules: ModuleDict | Mapping[str, Module] | Iterable[tuple[str, Module]]
    ) -> None:
        """Add or replace modules, from a dict or from pairs. TypeError for anything else."""
        for name, module in _pairs("ModuleDict", modules):
            self[name] = module

    def pop(self, key: str) -> Module:
        """Remove and return the module named `key`."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """(name, module) pairs."""
        return self._modules.items()


def _pairs(name: str, entries: Any) -> list[tuple[str, Any]]:
    """(key, value) pairs of a mapping, a container or an iterable of pairs."""
    if hasattr(entries, "items"):
        return list(entries.items())
    if not isinstance(entries, Iterable):
        raise TypeError(
            f"{name}.update should be called with an iterable of key/value pairs, but got "
            + type(entries).__name__
        )
    pairs = []
    for position, entry in enumerate(entries):
        if not isinstance(entry, tuple | list):
            raise TypeError(
                f"{name} update sequence element #{position} should be Iterable; is "
                + type(entry).__name__
            )
        if len(entry) != 2:
            raise ValueError(
                f"{name} update sequence element #{position} has length {len(entry)}; "
                "2 is required"
            )
        pairs.append((entry[0], entry[1]))
    return pairs
