"""How values are spelled in guards and recompile reasons: short, and the same in every run."""

from __future__ import annotations

from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

from graphwright.capture import _eval_frame

_LIMIT = 120
_DEEPEST = 4
_SCALARS = (type(None), bool, int, float, complex, str, bytes, range, slice)


def describe(value: object, depth: int = 0) -> str:
    """A value without memory addresses; containers in containers are cut off, also from cycles."""
    if value is _eval_frame.MISSING:
        return "nothing"
    if isinstance(value, type):
        return value.__qualname__ if value.__module__ == "builtins" else _qualified(value)
    if isinstance(value, ModuleType):
        return f"<module {value.__name__}>"
    if isinstance(value, CodeType):
        return f"<code {value.co_qualname}, line {value.co_firstlineno}>"
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return f"<function {value.__qualname__}>"
    return _shorten(_container_text(value, depth))


def _container_text(value: object, depth: int) -> str:
    if type(value) in (tuple, list, frozenset) and depth >= _DEEPEST:
        return "..."
    if type(value) is tuple:
        inner = ", ".join(describe(member, depth + 1) for member in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if type(value) is list:
        return f"[{', '.join(describe(member, depth + 1) for member in value)}]"
    if type(value) is frozenset:
        members = sorted(describe(member, depth + 1) for member in value)
        return f"frozenset({{{', '.join(members)}}})"
    if isinstance(value, _SCALARS):
        return repr(value)
    return f"<{_qualified(type(value))} object>"


def strides_text(strides: tuple[object, ...] | str | None) -> str:
    """The strides part of a tensor guard, with a leading comma; empty if there is none."""
    if strides is None:
        return ""
    if isinstance(strides, str):
        return f", {strides}"
    if strides and strides[0] == "order":
        return f", dense in order {strides[1]}"
    return f", strides [{', '.join('*' if s is None else str(s) for s in strides)}]"


def _qualified(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _shorten(text: str) -> str:
    return text if len(text) <= _LIMIT else text[: _LIMIT - 3] + "..."
