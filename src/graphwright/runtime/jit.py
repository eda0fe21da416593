"""The marks of TorchScript that model code carries, which say nothing here.

`script` and its companions give back what they are given: `graphwright.compile` takes Python as it
is. `trace` raises: nothing here records one call. What is never scripted is never being scripted,
so `is_scripting` and `is_tracing` are False, and nothing is a `ScriptFunction`; a `ScriptModule`
is a module as any other.
"""

from __future__ import annotations

import types
import typing
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from graphwright.runtime.nn.module import Module

T = TypeVar("T")

__all__ = [
    "Attribute",
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "export",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "optimize_for_inference",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "unused",
]


class ScriptModule(Module):
    """A base of modules that were written for TorchScript: they run as Python does."""


class ScriptFunction:
    """The class of scripted functions, of which there are none."""


class Attribute(NamedTuple):
    """A value with the type that TorchScript was to give it."""

    value: Any
    type: Any


def script(obj: T, **options: Any) -> T:
    """The function, class or module itself."""
    return obj


def trace(func: Any, example_inputs: Any = None, **options: Any) -> NoReturn:
    """Raises NotImplementedError: a call is not recorded as a graph without its branches."""
    raise NotImplementedError(
        "jit.trace is not implemented: graphwright does not record one call as a program. Use "
        "graphwright.compile(func), which captures the function and guards what it relied on")


def freeze(mod: T, preserved_attrs: Any = None, optimize_numerics: bool = True) -> T:
    """The module itself: its parameters stay parameters."""
    return mod


def optimize_for_inference(mod: T, other_methods: Any = None) -> T:
    """The module itself."""
    return mod


def export(fn: T) -> T:
    """The method itself."""
    return fn


script_if_tracing = script_method = unused = export


def ignore(drop: Any = False, **options: Any) -> Any:
    """The function itself, also as `@ignore(drop=True)`."""
    return drop if callable(drop) else export


def annotate(the_type: Any, the_value: T) -> T:
    """The value itself."""
    return the_value


def is_scripting() -> bool:
    """Whether TorchScript reads the code: False."""
    return False


is_tracing = is_scripting


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
