"""Namespaces of switches that programs set: those there are are kept, others are refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.runtime.naming import missing, public_name


class Switches:
    """Attributes that can be set, and none besides them.

    Setting one that does not exist raises AttributeError with the names that do.
    """

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise missing(self._place(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"{public_name(self._place())}: there is no switch {name!r}; "
                                 f"there are {', '.join(self._names())}")
        self.__dict__[name] = value

    def _place(self) -> str:
        """The name of the module that the switches stand for."""
        place: str = self.__dict__.get("__name__", f"graphwright.{type(self).__name__}")
        return place

    def _names(self) -> list[str]:
        return sorted(name for name in self.__dict__ if not name.startswith("_"))

    @contextmanager
    def patch(self, *args: Any, **values: Any) -> Iterator[None]:
        """`with config.patch(name=value):`, or `patch("name", value)`, or of a dict; a decorator
        too. AttributeError for what is no switch."""
        given = dict(args[0]) if len(args) == 1 else {args[0]: args[1]} if args else {}
        given.update(values)
        before = {name: getattr(self, name) for name in given}
        try:
            for name, value in given.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)
