"""Modules that hold modules or parameters: Sequential, ModuleList, ModuleDict, Parameter*."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, overload

from graphwright.runtime.nn.module import Module, _indent
from graphwright.runtime.nn.parameter import Parameter
from graphwright.runtime.tensor import Tensor


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
        module: Module = list(self._modules.values())[operator.index(index)]
        return module

    def _of(self, modules: list[Module]) -> _Numbered:
        raise NotImplementedError

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

    def _of(self, modules: list[Module]) -> Sequential:
        names = {id(module): name for name, module in self._modules.items()}
        return Sequential({names[id(module)]: module for module in modules})

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

    def _of(self, modules: list[Module]) -> ModuleList:
        return ModuleList(modules)

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

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
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

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add or replace modules."""
        for name, module in modules.items():
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


def _parameter(value: Tensor) -> Parameter:
    return value if isinstance(value, Parameter) else Parameter(value)


class ParameterList(Module):
    """A list of parameters; tensors that are not parameters are made such."""

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def __getitem__(self, index: int) -> Parameter:
        parameter: Parameter = list(self._parameters.values())[operator.index(index)]
        return parameter

    def __setitem__(self, index: int, value: Tensor) -> None:
        name = list(self._parameters)[operator.index(index)]
        setattr(self, name, _parameter(value))

    def append(self, value: Tensor) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def extend(self, values: Iterable[Tensor]) -> ParameterList:
        """Add parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_describe(name, value) for name, value in self._parameters.items())


class ParameterDict(Module):
    """A dict of parameters by name; tensors that are not parameters are made such."""

    def __init__(self, parameters: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        for name, value in (parameters or {}).items():
            self[name] = value

    def __getitem__(self, key: str) -> Parameter:
        parameter: Parameter = self._parameters[key]
        return parameter

    def __setitem__(self, key: str, value: Tensor) -> None:
        self.register_parameter(key, _parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._parameters.keys()

    def values(self) -> Iterable[Parameter]:
        """The parameters."""
        return self._parameters.values()

    def items(self) -> Iterable[tuple[str, Parameter]]:
        """(name, parameter) pairs."""
        return self._parameters.items()

    def extra_repr(self) -> str:
        return "\n".join(_describe(name, value) for name, value in self._parameters.items())


def _describe(name: str, value: Tensor) -> str:
    size = "x".join(str(extent) for extent in value.shape)
    return f"({name}): Parameter containing: [{value.dtype} of size {size}]"
