"""`Record`: the base of small classes that are nothing but their fields.

::

    class Axis(Record):
        symbol: Sym
        extent: Expr
        step: int = 1

A record is what `@dataclass(frozen=True, slots=True)` makes of the same annotations: slots, an
`__init__` in the order of the fields, equality, hash and `repr` by value, `__match_args__`. It is
here because that decorator compiles five functions and makes each class twice, 0.5 ms a time,
which for the hundred records of this package was most of the time from a fresh process to its
first result. A record's class takes 0.02 ms: its methods are compiled when first called.

That records are not written to is checked by mypy, not at run time. So they are made four times
as fast as frozen dataclasses, which write each field through `object.__setattr__`.

`class Draft(Record, frozen=False)` may be written to and has no hash; with `eq=False` a record
compares and hashes by identity. A class with a slot `_hash` keeps its hash there: for records of
records, which would be hashed again down to the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
R = TypeVar("R", bound="Record")

_REQUIRED = object()


class _Factory:
    """A default that is made anew for each instance."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], T]) -> T:
    """A default that is `default_factory()` for each instance, such as an empty list."""
    default: Any = _Factory(default_factory)
    return default


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class RecordType(type):
    """Makes the annotations of a class its slots, and gives it the methods of a record."""

    _fields: tuple[str, ...] = ()
    _defaults: Mapping[str, Any] = MappingProxyType({})

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any],
        frozen: bool = True, eq: bool = True,
    ) -> RecordType:
        own = tuple(namespace.get("__annotations__", ()))
        defaults = {n: namespace.pop(n) for n in own if n in namespace}
        namespace.setdefault("__slots__", own)
        namespace["__match_args__"] = (*getattr(bases[0], "_fields", ()), *own) if bases else ()
        cls = super().__new__(mcs, name, bases, namespace)
        if own:
            cls._fields = namespace["__match_args__"]
            cls._defaults = {**cls._defaults, **defaults}
            cls._define("__init__", _init_source)
            if eq and "__eq__" not in namespace:
                cls._define("__eq__", _eq_source)
                if frozen:
                    cls._define("__hash__", _hash_source)
                else:
                    cls.__hash__ = None  # type: ignore[assignment]
        return cls

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do; `type.__init__` would refuse the class keywords."""

    def _define(cls, name: str, source: Callable[[RecordType], str]) -> None:
        """Have method `name` compiled from its source when it is first called."""
        def first_call(*args: Any, **kwargs: Any) -> Any:
            scope: dict[str, Any] = {f"_{n}": value for n, value in cls._defaults.items()}
            scope["__file__"] = __file__
            exec(source(cls), scope)
            method = scope[name]
            method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
            return method(*args, **kwargs)
        setattr(cls, name, first_call)


class Record(metaclass=RecordType):
    """A value with named fields; see the module's docstring."""

    def __repr__(self) -> str:
        parts = (f"{name}={getattr(self, name)!r}" for name in type(self)._fields)
        return f"{type(self).__qualname__}({', '.join(parts)})"


def field_names(cls: RecordType) -> tuple[str, ...]:
    """The names of the fields, in the order of the arguments of `__init__`."""
    return cls._fields


def replace(record: R, /, **changes: Any) -> R:
    """A record like this one with other values in some fields. TypeError for unknown fields."""
    values = {name: getattr(record, name) for name in type(record)._fields}
    values.update(changes)
    return type(record)(**values)


# -- the source of the methods --------------------------------------------------------------------

def _init_source(cls: RecordType) -> str:
    parameters, body = ["self"], []
    for name in cls._fields:
        default = cls._defaults.get(name, _REQUIRED)
        parameters.append(name if default is _REQUIRED else f"{name}=_{name}")
        made = isinstance(default, _Factory)
        value = f"_{name}.make() if {name} is _{name} else {name}" if made else name
        body.append(f"    self.{name} = {value}\n")
    return f"def __init__({', '.join(parameters)}):\n{''.join(body)}"


def _eq_source(cls: RecordType) -> str:
    return (
        "def __eq__(self, other):\n"
        "    if other.__class__ is not self.__class__:\n"
        "        return NotImplemented\n"
        f"    return ({_values('self', cls)}) == ({_values('other', cls)})\n"
    )


def _hash_source(cls: RecordType) -> str:
    value = f"hash(({_values('self', cls)}))"
    if not hasattr(cls, "_hash"):
        return f"def __hash__(self):\n    return {value}\n"
    return (
        "def __hash__(self):\n"
        "    found = getattr(self, '_hash', None)\n"
        "    if found is None:\n"
        f"        found = self._hash = {value}\n"
        "    return found\n"
    )


def _values(instance: str, cls: RecordType) -> str:
    return "".join(f"{instance}.{name}, " for name in cls._fields)
