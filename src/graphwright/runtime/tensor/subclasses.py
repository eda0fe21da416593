"""Subclasses of Tensor: methods that ask `__torch_function__`, and results of the subclass.

A class gets its asking methods when it is made, so that those of plain tensors stay as they are.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.torch_function import (
    MODES,
    decide,
    each,
    has_say,
    overriding,
    without_overrides,
)

_OPERATORS = {
    "__add__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_",
    "__mul__": "mul", "__imul__": "mul_", "__truediv__": "div", "__itruediv__": "div_",
    "__mod__": "remainder", "__pow__": "pow", "__matmul__": "matmul", "__lt__": "lt",
    "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__neg__": "neg", "__abs__": "abs",
    "__invert__": "bitwise_not",
}  # fmt: skip
"""Operators and the methods that they are known by."""

_SPECIAL = frozenset({
    "__and__", "__bool__", "__complex__", "__contains__", "__deepcopy__", "__eq__", "__float__",
    "__floordiv__", "__format__", "__getitem__", "__iand__", "__ifloordiv__", "__imod__",
    "__index__", "__int__", "__ior__", "__ipow__", "__ixor__", "__len__", "__ne__", "__or__",
    "__repr__", "__reversed__", "__setitem__", "__xor__",
})  # fmt: skip
"""Other special methods that ask."""

_SILENT = frozenset({"as_subclass", "mro", "new"})
"""Public methods that do not ask."""

_PROPERTIES = ("H", "T", "data", "grad", "imag", "mH", "mT", "real")
"""Properties whose values are tensors."""


def _asking(method: Callable[..., Any], func: Callable[..., Any]) -> Callable[..., Any]:
    """`method`, which asks the classes of its arguments first; they know it as `func`."""

    @functools.wraps(method)
    def asking(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _core.overrides_enabled():
            return method(self, *args, **kwargs)
        asked = overriding(each((self, *args, *kwargs.values())))
        if not asked and not MODES.stack:
            return method(self, *args, **kwargs)
        return decide(func, asked, (self, *args), kwargs)

    return asking


def _asking_operator(name: str, method: Callable[..., Any], func: Any) -> Callable[..., Any]:
    """As `_asking`, for a binary operator: what is refused is left to the other operand."""
    asking = _asking(method, func)
    reflected = f"__r{name.removeprefix('__i').lstrip('_')}"

    @functools.wraps(method)
    def operator(self: Any, *other: Any) -> Any:
        try:
            return asking(self, *other)
        except TypeError:
            if other and not hasattr(type(other[0]), "__torch_function__") and hasattr(
                    type(other[0]), reflected):
                return NotImplemented
            raise

    return operator


def _asking_property(plain: Any) -> property:
    get = _asking(plain.__get__, plain.__get__)

    def put(self: Any, value: Any) -> None:
        plain.__set__(self, value)

    return property(lambda self: get(self), put, doc=plain.__doc__)


@functools.cache
def _asking_members(base: type) -> dict[str, Any]:
    """What a subclass of `base`, the plain tensor, has in place of its public members."""
    made: dict[str, Any] = {}
    for name in dir(base):
        public = not name.startswith("_") and name not in _SILENT
        if not public and name not in _SPECIAL and name not in _OPERATORS:
            continue
        member: Any = getattr(base, name)
        if name in _OPERATORS:
            made[name] = _asking_operator(name, member, getattr(base, _OPERATORS[name]))
        elif name in _PROPERTIES:
            made[name] = _asking_property(member)
        elif callable(member) and not isinstance(member, type):
            made[name] = _asking(member, member)
    return made


def install(cls: type, base: type) -> None:
    """Give a new subclass of `base` asking methods, where neither it nor its bases have their own.

    A class without a say gets none.
    """
    if not has_say(cls):
        return
    between = cls.__mro__[: cls.__mro__.index(base)]
    own = {name for kind in between for name in vars(kind)}
    for name, member in _asking_members(base).items():
        if name not in own:
            setattr(cls, name, member)


def as_class(cls: type, tensor: Any) -> Any:
    """A view as an object of `cls`, with the tensor's history where it has one."""
    if _core.grad_enabled() and tensor.requires_grad:
        made = without_overrides(ops.alias, tensor)
        made.__class__ = cls
    else:
        made = _core.detach(cls, tensor)
    return _core.mark_overriding(made) if has_say(cls) else made


def _converted(result: Any, cls: Any) -> Any:
    """Tensors of a result, also in lists and tuples, as `cls`."""
    if isinstance(result, _core.TensorBase):
        return result if isinstance(result, cls) else as_class(cls, result)
    if isinstance(result, list | tuple):
        items = [_converted(item, cls) for item in result]
        named = hasattr(result, "_fields")
        return type(result)(*items) if named else type(result)(items)
    return result


class _Running(threading.local):
    """The function that the thread's innermost call of `default` runs."""

    function: Any = None


_RUNNING = _Running()


def default(cls: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """What the plain tensor's `__torch_function__` gives for a subclass: its results, as `cls`.

    NotImplemented where an argument's class is no base of `cls`, and for a function that asks
    again although overrides are off: it is of another library, which has the same protocol.
    """
    again = _RUNNING.function is func and not _core.overrides_enabled()
    if again or not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    before, _RUNNING.function = _RUNNING.function, func
    try:
        result = without_overrides(func, *args, **(kwargs or {}))
    finally:
        _RUNNING.function = before
    keeps_its_class = getattr(func, "__self__", None) is _core.TensorBase.grad
    return result if keeps_its_class else _converted(result, cls)
