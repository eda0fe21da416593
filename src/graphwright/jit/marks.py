"""The marks of TorchScript that model code carries: they leave functions as they are.

What is never scripted is never being scripted, so `is_scripting` is False. A `ScriptModule` is a
module as any other.
"""

from __future__ import annotations

import threading
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn, TypeVar

from graphwright.nn.module import Module

T = TypeVar("T")

class ScriptModule(Module):
    """A base of modules that were written for TorchScript: they run as Python does."""


RecursiveScriptModule = ScriptModule


class ScriptWarning(Warning):
    """What TorchScript would warn of; nothing here does."""


class TracerWarning(Warning):
    """What a trace may not hold for; here that is an error, of the trace or of a call."""


class Attribute(NamedTuple):
    """A value with the type that TorchScript was to give it."""

    value: Any
    type: Any


def freeze(mod: T, preserved_attrs: Any = None, optimize_numerics: bool = True) -> T:
    """The module itself: its parameters stay parameters."""
    return mod


def optimize_for_inference(mod: T, other_methods: Any = None) -> T:
    """The module itself."""
    return mod


def export(fn: T) -> T:
    """The method itself."""
    return fn


script_if_tracing = _script_if_tracing = script_method = unused = interface = export
_overload = _overload_method = export


def ignore(drop: Any = False, **options: Any) -> Any:
    """The function itself, also as `@ignore(drop=True)`."""
    return drop if callable(drop) else export


def annotate(the_type: Any, the_value: T) -> T:
    """The value itself."""
    return the_value


_tracing_threads: list[int] = []


def is_tracing() -> bool:
    """Whether this thread is in `jit.trace`."""
    return bool(_tracing_threads) and threading.get_ident() in _tracing_threads


@contextmanager
def tracing() -> Iterator[None]:
    """Within the block `is_tracing()` is true of this thread."""
    _tracing_threads.append(threading.get_ident())
    try:
        yield
    finally:
        _tracing_threads.remove(threading.get_ident())


def no_script(*args: Any, **options: Any) -> NoReturn:
    """Raises NotImplementedError: nothing is written as TorchScript."""
    raise NotImplementedError(
        "jit.save: graphwright does not write TorchScript. Save the weights with "
        "torch.save(module.state_dict(), path), and load them into the model made by its code"
    )


def is_scripting() -> bool:
    """Whether TorchScript reads the code: False."""
    return False


def set_fusion_strategy(strategy: Any) -> None:
    """Without effect: there is no fuser of TorchScript's to choose for."""


enable_onednn_fusion = set_fusion_strategy


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether a value and all that it holds are of a type such as `dict[str, list[Tensor]]`.

    target_type: a class, a list, tuple or dict of types, a union, `Optional`, or a tuple of these.
    RuntimeError for a container without the types of what it holds, such as `list`.
    """
    return any(_is_one(obj, kind) for kind in _choices(target_type))


def _choices(target: Any) -> tuple[Any, ...]:
    """The types of which one is enough."""
    if type(target) is tuple:
        return target
    if typing.get_origin(target) in (typing.Union, types.UnionType):
        return typing.get_args(target)
    return (target,)


def _is_one(obj: Any, kind: Any) -> bool:
    if kind is None:
        return obj is None
    if kind in (list, tuple, dict, typing.List, typing.Tuple, typing.Dict):  # noqa: UP006
        raise RuntimeError(
            f"Attempted to use {kind} without contained types: please add them, "
            "such as list[Tensor]"
        )
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is None:
        return issubclass(type(obj), kind)
    if not issubclass(type(obj), origin):
        return False
    if origin is tuple and parts[1:] != (...,):
        return len(obj) == len(parts) and all(map(isinstance, obj, parts))
    if origin is dict:
        return all(isinstance(key, parts[0]) and isinstance(obj[key], parts[1]) for key in obj)
    return all(isinstance(item, parts[0]) for item in obj)
