"""The tensors that a function reads and writes beside its arguments, by name; and putting back
what recording a call of it has done to Python objects."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from graphwright.export.errors import ExportError
from graphwright.export.graph_signature import InputKind
from graphwright.nn.module import Module
from graphwright.optim.optimizer import Optimizer
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.record import Record
from graphwright.runtime.tensor.tensor import Tensor

_DEEPEST = 4
"""How many functions deep names of globals are followed."""


class Known(Record):
    """A tensor with a name. persistent: whether a state_dict has it."""

    tensor: Tensor
    name: str
    kind: InputKind
    persistent: bool | None = None


class State:
    """What a function can reach: modules and optimisers among its owner, closure and globals."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.modules: dict[str, Module] = {}
        self.optimisers: dict[str, Optimizer] = {}
        self.tensors: dict[str, Tensor] = {}
        if isinstance(function, Module):
            self.modules[""] = function
        else:
            self._follow(function, 0, set())
        self.known = {id(one.tensor): one for one in self._named()}

    def _follow(self, function: Any, depth: int, seen: set[int]) -> None:
        while isinstance(function, partial):
            for number, given in enumerate(function.args):
                self._take(f"argument_{number}", given, depth, seen)
            for name, given in function.keywords.items():
                self._take(name, given, depth, seen)
            function = function.func
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            self._take("self", owner, depth, seen)
        function = getattr(function, "__func__", function)
        code = getattr(function, "__code__", None)
        if code is None or id(function) in seen or depth > _DEEPEST:
            return
        seen.add(id(function))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._take(name, cell.cell_contents, depth, seen)
            except ValueError:      # an empty cell
                continue
        for name in code.co_names:
            if name in function.__globals__:
                self._take(name, function.__globals__[name], depth, seen)

    def _take(self, name: str, value: Any, depth: int, seen: set[int]) -> None:
        if isinstance(value, Module):
            self.modules.setdefault(name, value)
        elif isinstance(value, Optimizer):
            self.optimisers.setdefault(name, value)
        elif isinstance(value, Tensor):
            self.tensors.setdefault(name, value)
        elif isinstance(value, types.FunctionType | types.MethodType | partial):
            if not (getattr(value, "__module__", None) or "").startswith("graphwright."):
                self._follow(value, depth + 1, seen)
        elif name == "self" or type(value) in (list, tuple, dict):
            parts = value.items() if type(value) is dict else (
                enumerate(value) if isinstance(value, list | tuple) else
                getattr(value, "__dict__", {}).items())
            for key, part in list(parts):
                inner = str(key) if name == "self" else f"{name}.{key}"
                if isinstance(part, Module | Optimizer | Tensor):
                    self._take(inner, part, depth, seen)

    def _named(self) -> Iterator[Known]:
        """Every tensor once, under its first name."""
        seen: set[int] = set()

        def once(tensor: Tensor, *rest: Any) -> Iterator[Known]:
            if id(tensor) not in seen:
                seen.add(id(tensor))
                yield Known(tensor, *rest)

        names: dict[int, str] = {}
        for prefix, module in self.modules.items():
            dotted = f"{prefix}." if prefix else ""
            for name, parameter in module.named_parameters():
                names.setdefault(id(parameter), dotted + name)
                yield from once(parameter, dotted + name, InputKind.PARAMETER)
            persistent = set(module.state_dict(keep_vars=True))
            for name, buffer in module.named_buffers():
                yield from once(buffer, dotted + name, InputKind.BUFFER, name in persistent)
        for prefix, optimiser in self.optimisers.items():
            for number, (held_for, held) in enumerate(_held(optimiser)):
                own = names.get(id(held_for), f"parameter_{number}")
                if id(held_for) not in names:
                    yield from once(held_for, f"{prefix}.{own}", InputKind.PARAMETER)
                for key, value in held.items():
                    if isinstance(value, Tensor):
                        yield from once(value, f"{prefix}.{own}.{key}", InputKind.BUFFER, True)
            for number, group in enumerate(optimiser.param_groups):
                for key, value in group.items():
                    if isinstance(value, Tensor):
                        name = f"{prefix}.group_{number}.{key}"
                        yield from once(value, name, InputKind.BUFFER, True)
        for name, tensor in self.tensors.items():
            yield from once(tensor, name, InputKind.CONSTANT_TENSOR)

    def saved(self) -> Callable[[], None]:
        """A function that puts back all that a recorded call can have replaced by fake tensors.

        It raises ExportError for state that the call has assigned, which a graph cannot hold.
        """
        parameters: dict[int, Tensor] = {
            id(p): p for module in self.modules.values() for p in module.parameters()}
        for optimiser in self.optimisers.values():
            parameters |= {id(p): p for p, _ in _held(optimiser)}
        gradients = [(p, p.grad) for p in parameters.values()]
        members = [(module, dict(vars(module)), dict(module._buffers), dict(module._parameters))
                   for root in self.modules.values() for module in root.modules()]
        states = [(one, {key: dict(held) for key, held in one.state.items()})
                  for one in self.optimisers.values()]

        def put_back() -> None:
            problem = ""
            for tensor, gradient in gradients:
                tensor.grad = gradient
            for module, attributes, buffers, own in members:
                for name in _assigned(vars(module), attributes, buffers, module._buffers):
                    problem = problem or (
                        f"{type(module).__name__}.{name} is assigned a tensor: write into a "
                        "buffer (register_buffer, then self.name.copy_(...)) to keep it")
                module.__dict__.update(attributes)
                for name in vars(module).keys() - attributes.keys():
                    del module.__dict__[name]
                module._buffers.clear()
                module._buffers.update(buffers)
                module._parameters.clear()
                module._parameters.update(own)
            for optimiser, state in states:
                if _grown(optimiser, state):
                    problem = problem or (
                        f"{type(optimiser).__name__} has made no step yet, so that its state does "
                        "not exist: make one step before the export")
                optimiser.state.clear()
                optimiser.state.update(state)
            if problem:
                raise ExportError(problem)

        return put_back


def _held(optimiser: Optimizer) -> Iterator[tuple[Tensor, dict[str, Any]]]:
    for group in optimiser.param_groups:
        for parameter in group["params"]:
            yield parameter, optimiser.state.get(parameter, {})


def _assigned(
    now: dict[str, Any], before: dict[str, Any], buffers: dict[str, Any], present: dict[str, Any]
) -> Iterator[str]:
    for name, value in (*now.items(), *present.items()):
        if isinstance(value, FakeTensor) and value is not before.get(name, buffers.get(name)):
            yield name


def _grown(optimiser: Optimizer, before: dict[Any, dict[str, Any]]) -> bool:
    """Whether a step has made state that was not there."""
    return any(isinstance(value, FakeTensor) and key not in before.get(parameter, {})
               for parameter, held in optimiser.state.items() for key, value in held.items())
