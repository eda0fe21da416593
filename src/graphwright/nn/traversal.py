"""Walking the tree of modules: the `named_*` iterators and lookups by dotted name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphwright.nn.module import Module
    from graphwright.nn.parameter import Parameter
    from graphwright.runtime.tensor.tensor import Tensor


class ModuleTraversal:
    """The read-only part of `Module`. Every member is visited once, in order of registration."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module (named `prefix`) and all below it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self  # type: ignore[misc]
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct children."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        seen = set()
        for path, module in modules:
            for name, member in getattr(module, kind).items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters of this module and, if `recurse`, of all below it."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Parameters of this module and, if `recurse`, of all below it."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers of this module and, if `recurse`, of all below it."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Buffers of this module and, if `recurse`, of all below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """The module of dotted name `target`; AttributeError if there is none."""
        from_here: Any = self
        for name in target.split(".") if target else ():
            children = from_here._modules
            if name not in children:
                if hasattr(from_here, name):
                    raise AttributeError(f"`{name}` is not an nn.Module")
                raise AttributeError(f"{type(from_here).__name__} has no attribute `{name}`")
            from_here = children[name]
        module: Module = from_here
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` where the dotted name `target` leads.

        Raises ValueError for an empty name or what is no Module, AttributeError where the way
        there does not exist or, if `strict`, the last name does not.
        """
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueError("Cannot set the submodule without a target name!")
        parent: Any = self.get_submodule(path)
        if not hasattr(module, "_modules"):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and name not in parent._modules:
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of dotted name `target`; AttributeError if there is none."""
        parameter: Parameter = self._get_member("_parameters", "an nn.Parameter", target)
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of dotted name `target`; AttributeError if there is none."""
        buffer: Tensor = self._get_member("_buffers", "a buffer", target)
        return buffer

    def _get_member(self, kind: str, what: str, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, kind):
            raise AttributeError(f"`{name}` is not {what}")
        return getattr(module, kind)[name]
