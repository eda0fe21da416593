"""The marks of TorchScript that model code carries, which say nothing here.

`script` and its companions give back what they are given: `graphwright.compile` takes Python as it
is. What is never scripted is never being scripted, so `is_scripting` and `is_tracing` are False.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

T = TypeVar("T")

__all__ = [
    "Final",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "script",
    "script_method",
    "unused",
]


def script(obj: T, **options: Any) -> T:
    """The function, class or module itself."""
    return obj


def export(fn: T) -> T:
    """The method itself."""
    return fn


script_method = unused = export


def ignore(drop: Any = False, **options: Any) -> Any:
    """The function itself, also as `@ignore(drop=True)`."""
    return drop if callable(drop) else export


def is_scripting() -> bool:
    """Whether TorchScript reads the code: False."""
    return False


is_tracing = is_scripting
