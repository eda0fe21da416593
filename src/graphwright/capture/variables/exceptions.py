"""Exceptions that the frame raises and handles itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from graphwright.capture.exc import unsupported
from graphwright.capture.variables.base import VariableTracker

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator


class ExceptionVariable(VariableTracker):
    """An exception instance; `args` is None where only its type is known."""

    mutable = True

    def __init__(self, cls: type[BaseException], args: list[VariableTracker] | None) -> None:
        self.cls = cls
        self.args = args

    def python_type(self) -> type:
        return self.cls

    def parts(self) -> Iterable[VariableTracker]:
        return self.args or ()

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if self.args is not None and name == "args":
            return tx.tuple_of(self.args)
        if self.args is not None and name == "value" and self.cls is StopIteration:
            return self.args[0] if self.args else tx.constant(None)
        return super().getattr(tx, name)


class Raised(Exception):
    """An exception of the user's program on its way to a handler of the frames translated."""

    def __init__(self, value: ExceptionVariable) -> None:
        super().__init__(value.cls.__name__)
        self.value = value


def raise_in_frame(cls: type[BaseException]) -> NoReturn:
    """Python would raise an exception of this type here."""
    raise Raised(ExceptionVariable(cls, None))


def is_plain_exception(cls: type) -> bool:
    """Whether making an instance runs no Python code."""
    if not issubclass(cls, BaseException):
        return False
    return not any(
        hasattr(base.__dict__.get(name), "__code__")
        for base in cls.__mro__
        for name in ("__init__", "__new__")
    )


def raised_by(value: VariableTracker) -> ExceptionVariable:
    """What `raise value` raises."""
    if isinstance(value, ExceptionVariable):
        return value
    cls = getattr(value, "value", None)
    if isinstance(cls, type) and is_plain_exception(cls):
        return ExceptionVariable(cls, [])
    unsupported("GB0006", f"raise {value.describe()}")
