"""Enumerations that the frame makes: `enum` itself makes the template, of constants.

A member is then a constant as those of other enumerations, and leaves the frame no more than its
class does.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.text import class_module
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.classes import ClassVariable
from graphwright.capture.trackers.classes.new_classes import Stand, made_class, standing
from graphwright.capture.trackers.library.pure_library import plain_value
from graphwright.capture.trackers.values.namespaces import lookup, namespace_of
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
Names = dict[str, VariableTracker]
_RUN = (
    *("__new__", "__init__", "__init_subclass__", "__set_name__", "__eq__", "__hash__"),
    *("_generate_next_value_", "_missing_", "__reduce_ex__", "__getattribute__", "__setattr__"),
)
"""What `enum` may call while it makes a class, or its members."""
_REFUSED = (TypeError, ValueError, KeyError, AttributeError, RuntimeError)


class _Names(dict[str, VariableTracker]):
    """The names of a body, as `enum` keeps them: `auto()` is its number once it has a name."""

    def __init__(self, tx: Translator, real: Any) -> None:
        super().__init__()
        self.tx = tx
        self.real = real

    def __setitem__(self, name: str, value: VariableTracker) -> None:
        value = value.realize()
        if name in _RUN:
            unsupported("GB0004", f"an enumeration with its own {name}")
        stand = _automatic(self.tx, value) or _stand(self.tx, name, value)
        if isinstance(stand, enum.auto) and not self._may_count():
            unsupported("GB0004", "auto() beside values that are no ints")
        try:
            self.real[name] = stand
        except _REFUSED as error:
            unsupported("GB0007", f"{type(error).__name__}: {error}")
        kept = self.real[name]
        if name in self.real._member_names and not _is_plain(kept):
            unsupported("GB0004", f"a member of {value.describe()}")
        super().__setitem__(name, value if kept is stand else self.tx.constant(kept))

    def _may_count(self) -> bool:
        """Whether the next number is known without a warning about the values so far."""
        return all(type(value) in (int, str) for value in self.real._last_values) and (
            len({type(value) for value in self.real._last_values}) < 2
        )

    def pop(self, name: str, *default: Any) -> Any:
        if name == "__classcell__":
            return super().pop(name, *default)
        unsupported("GB0004", "del in the body of an enumeration")


def _automatic(tx: Translator, value: VariableTracker) -> enum.auto | None:
    """`auto()` as the body made it."""
    if not isinstance(value, ObjectVariable) or value.cls is not enum.auto:
        return None
    held = tx.side_effects.attribute(value, "value")
    held = held.realize() if held is not None else None
    if getattr(held, "value", None) is not enum.auto().value:
        unsupported("GB0004", "auto() with a value")
    return enum.auto()


def _stand(tx: Translator, name: str, value: VariableTracker) -> Any:
    if isinstance(value, ClassVariable) and name != "__class__":
        unsupported("GB0004", f"a class in the body of an enumeration: {value.describe()}")
    return standing(tx, value)


def _is_plain(value: Any) -> bool:
    kinds = (bool, int, float, complex, str, bytes, type(None))
    return type(value) in kinds or (type(value) is tuple and all(map(_is_plain, value)))


def make_enumeration(
    tx: Translator, name: str, bases: list[type], keywords: Kwargs, run: Callable[[Names], Names]
) -> VariableTracker:
    """A class statement of an enumeration, whose body is run with the names it is given."""
    for base in bases:
        _check_base(tx, name, base)
    options = {key: value.realize().as_constant() for key, value in keywords.items()}
    if options.keys() - {"boundary"}:
        unsupported("GB0004", f"enumeration {name} with keywords")
    given = tuple(bases)
    try:
        names = _Names(tx, enum.EnumType.__prepare__(name, given, **options))
        members = run(names)
        members.pop("__classcell__", None)
        template = enum.EnumType(name, given, names.real, **options)
    except _REFUSED as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    return made_class(tx, template)


def create_enumeration(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`cls._create_(name, names, ...)`: what a call of a class without members does."""
    given = dict(zip(("cls", "class_name", "names"), args, strict=False)) | kwargs
    cls = given.pop("cls").realize()
    options = {key: plain_value(value) for key, value in given.items()}
    if not isinstance(cls, ClassVariable) or type(cls.value) is not enum.EnumType:
        unsupported("GB0004", f"an enumeration of {cls.describe()}")
    for base in (cls.value, options.get("type") or enum.Enum):
        _check_base(tx, options["class_name"], base)
    if options.get("module") is None:
        options["module"] = tx.load_global("__name__").realize().as_constant()
    kind: Any = cls.value
    try:
        template = kind._create_(**options)
    except _REFUSED as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    return made_class(tx, template)


def _check_base(tx: Translator, name: str, base: type) -> None:
    """A break where the base has code of the program's that `enum` would call."""
    if class_module(base) != enum.__name__:
        for method in _RUN:
            guard_member(tx, base, method)
    for method in _RUN:
        static = lookup(base, method, absent=None)
        function = getattr(static, "__func__", static)
        own = isinstance(function, types.FunctionType)
        if own and function.__code__.co_filename != enum.__file__:
            unsupported("GB0004", f"enumeration {name} of {base.__qualname__}, with {method}")
    if any(isinstance(held, Stand) for held in namespace_of(base).values()):
        unsupported("GB0004", f"enumeration {name} of {base.__qualname__}, made in the frame")
