"""Labels of parts of a program, after `torch.profiler`: taken, and not reported anywhere.

What a compiled function does and takes is told by `gw.explain` and `GRAPHWRIGHT_LOGS`.
"""

from __future__ import annotations

from contextlib import ContextDecorator

__all__ = ["record_function"]


class record_function(ContextDecorator):
    """A named part of a program: a context manager, and a decorator."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing is to be ended."""
