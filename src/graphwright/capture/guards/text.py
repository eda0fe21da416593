"""How values are spelled in guards and recompile reasons: short, and the same in every run."""

from __future__ import annotations

from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from graphwright.capture import _eval_frame

_LIMIT = 120
_DEEPEST = 4
_MOST_BITS = 1024
"""Of an int in decimal digits: Python refuses to write those of large ones."""
_SCALARS = (type(None), bool, int, float, complex, str, bytes)


def describe(value: object, depth: int = 0) -> str:
    """A value without memory addresses; containers in containers are cut off, also from cycles.

    Runs no code of the user's: the type decides, not `__class__`, which may be a property.
    """
    if value is _eval_frame.MISSING:
        return "nothing"
    if issubclass(type(value), type):
        return _class_text(value)
    if issubclass(type(value), ModuleType):
        return f"<module {module_name(value)}>"
    if type(value) is CodeType:
        return f"<code {value.co_qualname}, line {value.co_firstlineno}>"
    if type(value) is FunctionType:
        return f"<function {value.__qualname__}>"
    if type(value) is BuiltinFunctionType:
        return f"<function {_builtin_name(value)}>"
    if type(value) is MethodType:
        return describe(value.__func__, depth)
    return _shorten(_container_text(value, depth))


def _container_text(value: object, depth: int) -> str:
    if type(value) in (tuple, list, frozenset) and depth >= _DEEPEST:
        return "..."
    if type(value) is tuple:
        inner = ", ".join(describe(member, depth + 1) for member in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if type(value) is list:
        return describe_items([describe(member, depth + 1) for member in value])
    if type(value) is frozenset:
        members = sorted(describe(member, depth + 1) for member in value)
        return f"frozenset({{{', '.join(members)}}})"
    if type(value) is int and value.bit_length() > _MOST_BITS:
        return f"{value >> (value.bit_length() - _MOST_BITS):#x}..."
    if type(value) is range or type(value) is slice:
        parts = (value.start, value.stop, value.step)
        return f"{type(value).__name__}({', '.join(describe(part, depth) for part in parts)})"
    if type(value) in _SCALARS:
        return repr(value)
    return f"<{_qualified(type(value))} object>"


def describe_items(texts: list[str]) -> str:
    """A list, of the texts of its items."""
    return _shorten(f"[{', '.join(texts)}]")


def strides_text(strides: tuple[object, ...] | str | None) -> str:
    """The strides part of a tensor guard, with a leading comma; empty if there is none."""
    if strides is None:
        return ""
    if isinstance(strides, str):
        return f", {strides}"
    if strides and strides[0] == "order":
        return f", dense in order {strides[1]}"
    return f", strides [{', '.join('*' if s is None else str(s) for s in strides)}]"


def class_name(cls: Any) -> str:
    """The qualified name of a class, by what `type` itself says: a metaclass may say other."""
    name: str = type.__dict__["__qualname__"].__get__(cls)
    return name


def class_module(cls: Any) -> str:
    """The module of a class, by what `type` itself says; empty where that is no text, or nothing:
    of a class made where no `__name__` is global."""
    try:
        name = type.__dict__["__module__"].__get__(cls)
    except AttributeError:
        return ""
    return name if type(name) is str else ""


def function_module(function: Any) -> str:
    """The module that a function names; empty where that is no text."""
    name = getattr(function, "__module__", None)
    return name if type(name) is str else ""


def is_of_package(module: str) -> bool:
    """Whether a module of that name is one of this package."""
    return module == "graphwright" or module.startswith("graphwright.")


def _class_text(cls: Any) -> str:
    text = _qualified(cls)
    return text.removeprefix("builtins.")


def _qualified(cls: Any) -> str:
    module = class_module(cls)
    return f"{module}.{class_name(cls)}" if module else class_name(cls)


def module_dict(module: Any) -> dict[str, Any]:
    """The module's own `__dict__`, read past a class that overrides it; {} before it exists."""
    namespace: dict[str, Any] | None = vars(ModuleType)["__dict__"].__get__(module)
    return namespace or {}


def module_name(module: Any) -> str:
    """The `__name__` in the module's own dict: reading the attribute may run a subclass's code."""
    name = module_dict(module).get("__name__")
    return name if type(name) is str else "without a name"


def _builtin_name(function: BuiltinFunctionType) -> str:
    owner: Any = function.__self__
    if owner is None or issubclass(type(owner), ModuleType):
        return function.__name__
    cls = owner if issubclass(type(owner), type) else type(owner)
    return f"{class_name(cls)}.{function.__name__}"


def _shorten(text: str) -> str:
    return text if len(text) <= _LIMIT else text[: _LIMIT - 3] + "..."
