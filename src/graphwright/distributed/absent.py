"""Names that need several processes: they can be imported and asked about, and raise when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class _Absent(type):
    """A class without instances. Nothing is one of it; it can be derived from, and named in types.
    """

    _reason: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(cls._reason)

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(f"{cls.__name__}.{name}: {cls._reason}")


def absent(module: str, why: str, names: str) -> Callable[[str], Any]:
    """`__getattr__` of a module that has the given names, each made when it is first asked for.

    `why`: what all of them do, and that there is one process.
    """
    known = frozenset(names.split())
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in known:
            raise AttributeError(f"module 'graphwright.{module}' has no attribute '{name}'")
        if name not in made:
            reason = f"{module}.{name} {why}, and graphwright trains in one process"
            body = {"_reason": reason, "__module__": f"graphwright.{module}"}
            made[name] = _Absent(name, (), {**body, "__doc__": f"{reason}."})
        return made[name]

    return get
