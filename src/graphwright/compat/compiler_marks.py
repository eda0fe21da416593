"""Marks of PyTorch's compiler that model code carries, which say nothing here."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def is_exporting() -> bool:
    """Whether a program is being exported: False, there is no export."""
    return False


def cudagraph_mark_step_begin() -> None:
    """Nothing: memory of results is not reused by the next call."""


def assume_constant_result(fn: T) -> T:
    """The function itself: a captured function calls it as any other, whatever it returns."""
    return fn


def nested_compile_region(fn: T) -> T:
    """The function itself: calls of it are captured like those of any other."""
    return fn
