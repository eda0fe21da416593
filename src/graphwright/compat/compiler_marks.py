"""Marks of PyTorch's compiler that model code carries, which say nothing here; and how many
strict exports are running."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class Exports:
    """How many exports are running, each a `with` block. As PyTorch's marks, for all threads."""

    running = 0

    def __enter__(self) -> None:
        self.running += 1

    def __exit__(self, *error: object) -> None:
        self.running -= 1


EXPORTS = Exports()


def is_exporting() -> bool:
    """False, also for `export.export`: libraries choose ops of their
    own for PyTorch's exporter, which graphwright's files cannot hold."""
    return False


def cudagraph_mark_step_begin() -> None:
    """Nothing: memory of results is not reused by the next call."""


def assume_constant_result(fn: T) -> T:
    """The function itself: a captured function calls it as any other, whatever it returns."""
    return fn


def nested_compile_region(fn: T) -> T:
    """The function itself: calls of it are captured like those of any other."""
    return fn
