"""What trackers and opcode handlers ask of the translator: making, comparing, sorting values."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from graphwright.capture.effects.side_effects import SideEffects
from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.guards import GuardBuilder
from graphwright.capture.guards.source import (
    AttrSource,
    ClassSource,
    ConstSource,
    MroSource,
    Source,
    TypeSource,
)
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.functions import (
    BoundMethodVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.classes import ClassVariable
from graphwright.capture.trackers.classes.enums import EnumVariable
from graphwright.capture.trackers.containers.container_subclasses import unwrapped
from graphwright.capture.trackers.containers.iterators import SequenceIterator
from graphwright.capture.trackers.containers.mappings import DictVariable, pairs_of
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.containers.sets import frozen_items, frozen_method
from graphwright.capture.trackers.library.pure_library import plain_value
from graphwright.capture.trackers.library.string_formatting import (
    constant_text,
    formatted,
    joined_by,
)
from graphwright.capture.trackers.library.strings import joined, text_of
from graphwright.capture.trackers.numbers.decomposed_calls import run_parts
from graphwright.capture.trackers.numbers.ranges import RangeVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors import differentiation
from graphwright.capture.trackers.tensors.arrays import to_numpy
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import read_item
from graphwright.capture.trackers.values.constant import fold
from graphwright.capture.trackers.values.exceptions import Raised
from graphwright.capture.trackers.values.instance_dicts import InstanceDictVariable
from graphwright.capture.trackers.values.namespaces import lookup, mro_of, namespace_of
from graphwright.capture.trackers.values.object_methods import ObjectMethodVariable
from graphwright.capture.trackers.values.objects import ObjectVariable, bind_class_attribute
from graphwright.capture.trackers.values.operators import (
    check_reflexive,
    equals,
    is_same,
    operate,
)
from graphwright.capture.vm.polyfills import CompareKey
from graphwright.runtime.ops import functions
from graphwright.runtime.symbolic.symint import SymInt

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph

Args = list[VariableTracker]


class Values:
    """Mixed into `Translator`."""

    output: OutputGraph

    @property
    def guards(self) -> GuardBuilder:
        """Where guards of this frame are collected."""
        return self.output.guards

    @property
    def side_effects(self) -> SideEffects:
        """Where writes of this frame are collected."""
        return self.output.side_effects

    def constant(self, value: Any) -> VariableTracker:
        """A tracker of a value that no source holds."""
        return self.output.constant(value)

    def wrap_plain(self, value: Any) -> VariableTracker:
        """A constant or a symbolic integer."""
        if isinstance(value, SymInt):
            return SymIntVariable(value)
        return self.output.constant(value)

    def constant_class(self, cls: type) -> VariableTracker:
        """The tracker of a class known from a guarded value."""
        return self.output.wrap(cls, ClassSource.of(cls))

    def class_of(self, value: VariableTracker) -> VariableTracker:
        """`type(value)`."""
        value = value.realize()
        if isinstance(value, ClassVariable):
            return value
        if isinstance(value, ObjectVariable) and value.cls is CompareKey:
            return self.constant_class(value.python_type())
        if isinstance(value, ObjectVariable) and value.cls_source is not None:
            return self.output.wrap(value.cls, value.cls_source)
        if isinstance(value, ObjectVariable) and value.source is not None:
            return self.output.wrap(value.cls, TypeSource(value.source))
        if isinstance(value, SequenceIterator) and value.origin is None:
            unsupported("GB0008", "the type of an iterator over a snapshot")
        return self.constant_class(value.python_type())

    def attribute(self, value: VariableTracker, name: str) -> VariableTracker:
        """`value.name`."""
        value = value.realize()
        if name == "__class__" and not isinstance(value, (ClassVariable, ObjectVariable)):
            return self.class_of(value)
        return value.getattr(self, name)  # type: ignore[arg-type]

    def attribute_or_none(self, value: VariableTracker, name: str) -> VariableTracker | None:
        """The attribute, None where reading it raises AttributeError."""
        try:
            return self.attribute(value, name)
        except AttributeMissing:
            return None
        except Raised as raised:
            if not issubclass(raised.value.cls, AttributeError):
                raise
            return None

    def written_in_class(
        self, cls: type, name: str, after: type | None = None
    ) -> VariableTracker | None:
        """The class attribute that the MRO finds, if the frame has written it; else None."""
        written = self.side_effects.classes
        start = mro_of(cls).index(after) + 1 if written and after is not None else 0
        for base in mro_of(cls)[start:] if written else ():
            found = self.side_effects.attribute(written[base], name) if base in written else None
            if found is not None:
                return found.realize()
            if name in namespace_of(base):
                return None
        return None

    def tuple_of(self, items: list[VariableTracker]) -> VariableTracker:
        """A new tuple."""
        return TupleVariable(items)

    def dict_of(self, items: dict[str, VariableTracker]) -> VariableTracker:
        """A new dict with string keys."""
        return DictVariable({key: (self.constant(key), value) for key, value in items.items()})

    def instance_dict_of(self, owner: ObjectVariable) -> VariableTracker:
        """`owner.__dict__`."""
        return InstanceDictVariable(owner)

    def range_of(self, value: range) -> VariableTracker:
        """A range of known bounds."""
        check_range(value)
        return RangeVariable(value, [self.constant(i) for i in value])

    def iterator_over(self, items: list[VariableTracker]) -> VariableTracker:
        """An iterator over a snapshot."""
        return SequenceIterator(items)

    def plain_function(self, function: types.FunctionType) -> VariableTracker:
        """A function that nobody can replace."""
        return UserFunctionVariable(function, ConstSource(function, function.__qualname__))

    def class_function(self, cls: type, name: str, part: str = "") -> VariableTracker:
        """A function that the MRO of `cls` holds, or that is `part` of a descriptor there."""
        source: Source = MroSource(ClassSource.of(cls), name)
        static = lookup(cls, name)
        if not part:
            return self.output.wrap(static, source)
        return self.output.wrap(getattr(static, part), AttrSource(source, part))

    def bound_method(self, function: VariableTracker, owner: VariableTracker) -> VariableTracker:
        """`function` with its first argument."""
        return BoundMethodVariable(function, owner)

    def bind(
        self, static: Any, source: Source, owner: VariableTracker, name: str
    ) -> VariableTracker:
        """What reading a class attribute through an instance gives."""
        return bind_class_attribute(self, static, source, owner, name)  # type: ignore[arg-type]

    def to_numpy(self, tensor: TensorVariable) -> VariableTracker | None:
        """`tensor.numpy()`; None where the graph has to end."""
        return to_numpy(self, tensor)  # type: ignore[arg-type]

    def text_method(
        self, owner: VariableTracker, name: str, args: Args, kwargs: dict[str, VariableTracker]
    ) -> VariableTracker | None:
        """`template.format(...)` or `separator.join(texts)`; None where that is for constants."""
        template = constant_text(owner)
        if name == "join" and len(args) == 1 and not kwargs:
            return joined_by(self, owner, args[0].unpack_iterator(self))  # type: ignore[arg-type]
        if name != "format" or template is None:
            return None
        return formatted(self, template, args, kwargs)  # type: ignore[arg-type]

    def joined(self, parts: list[VariableTracker]) -> VariableTracker:
        """Texts one after another."""
        return joined(self, parts)  # type: ignore[arg-type]

    def text(
        self, value: VariableTracker, convert: Callable[[Any], str] = str, spec: str | None = None
    ) -> VariableTracker:
        """`str(value)`, `repr(value)`, or `format(value, spec)`."""
        return text_of(self, value.realize(), convert, spec)  # type: ignore[arg-type]

    def frozen_items(self, owner: Any) -> list[Any]:
        """The members of a frozenset in the order that it has, which is guarded if need be."""
        return frozen_items(self, owner)  # type: ignore[arg-type]

    def frozen_method(self, owner: Any, name: str, args: list[VariableTracker]) -> VariableTracker:
        """A method of a frozenset."""
        return frozen_method(self, owner, name, args)  # type: ignore[arg-type]

    def unwrapped(self, value: VariableTracker, ordered: bool = False) -> VariableTracker:
        """What a C function sees of an instance of a subclass of a container."""
        return unwrapped(self, value, ordered)  # type: ignore[arg-type]

    def realized(self, value: VariableTracker) -> VariableTracker:
        """The tracker of a lazy value, whose guards are added now."""
        return value.realize()

    def fold(self, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a pure function, if all arguments are constants."""
        return fold(function, *args)

    def guard_class_member(self, cls: type, name: str) -> None:
        """Guard the class attribute that the MRO finds under a name, or that there is none."""
        guard_member(self, cls, name)  # type: ignore[arg-type]

    def plain_value(self, value: VariableTracker) -> Any:
        """The Python value of a tracker of a constant, or of builtin containers of constants."""
        return plain_value(value)

    def guard_attribute_names(self, value: Any) -> None:
        """Guard the names in the object's `__dict__`, and their order."""
        value.attribute_names(self)

    def pairs(self, args: list[VariableTracker]) -> Iterator[tuple[Any, VariableTracker]]:
        """The keys and values that `dict(*args)` takes over, one by one."""
        return pairs_of(self, args)  # type: ignore[arg-type]

    def object_method(self, static: Any, owner: VariableTracker) -> VariableTracker | None:
        """A method that every object has, bound; None if `static` is not one."""
        name = getattr(static, "__name__", "")
        if static is getattr(object, name or "-", None):
            return ObjectMethodVariable(name, owner)
        return None

    def tensor_operator(self, name: str, args: list[VariableTracker]) -> VariableTracker:
        """A function of the `operator` module on tensors."""
        return self.output.run(self, "call_function", getattr(operator, name), args, {})

    def parts_of_method(
        self, cls: type, name: str, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker | None:
        """The result of a method that is inlined; None: it runs as one node."""
        entry = getattr(getattr(cls, name, None), "__gw_op__", None)
        if entry is None:
            return None
        return run_parts(self, getattr(functions, entry.name), args, kwargs)  # type: ignore[arg-type]

    # the tape

    def gradient_of(self, owner: TensorVariable) -> VariableTracker:
        """`owner.grad`."""
        return differentiation.gradient_of(self, owner)  # type: ignore[arg-type]

    def store_gradient(self, owner: TensorVariable, value: VariableTracker) -> None:
        """`owner.grad = value`."""
        differentiation.store_gradient(self, owner, value)  # type: ignore[arg-type]

    def tape_method(
        self,
        name: str,
        owner: TensorVariable,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> VariableTracker:
        """A method of a tensor that changes the tape, or reads it."""
        if name in ("register_hook", "retain_grad"):
            return differentiation.hook_method(self, name, owner, args, kwargs)  # type: ignore
        if name == "backward":
            return differentiation.backward_method(self, [owner, *args], kwargs)  # type: ignore
        return differentiation.require_gradient(self, owner, args, kwargs)  # type: ignore

    # decisions

    def truth(self, value: VariableTracker) -> bool:
        """`bool(value)`, decided now."""
        return value.realize().truth(self)  # type: ignore[arg-type]

    def read_item(self, tensor: TensorVariable) -> VariableTracker | None:
        """`tensor.item()`, read once the graph has run; None where the graph has to end."""
        return read_item(self, tensor)  # type: ignore[arg-type]

    def same_or_equal(self, left: VariableTracker, right: VariableTracker) -> bool:
        """`left is right or left == right`, as containers compare."""
        left, right = left.realize(), right.realize()
        members = isinstance(left, EnumVariable) and isinstance(right, EnumVariable)
        if left is right or (members and is_same(self, left, right)):  # type: ignore[arg-type]
            return True
        check_reflexive(left, right)
        result = equals(self, left, right)  # type: ignore[arg-type]
        return result if isinstance(result, bool) else self.truth(result)

    def identical(self, left: VariableTracker, right: VariableTracker) -> bool:
        """`left is right`."""
        return is_same(self, left, right)  # type: ignore[arg-type]

    def operate(self, function: Callable[..., Any], *args: VariableTracker) -> VariableTracker:
        """`function(*args)` for a function of the `operator` module."""
        return operate(self, function, list(args))  # type: ignore[arg-type]

    def sorted_items(
        self, items: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> list[VariableTracker]:
        """The items in the order of `sorted(items, **kwargs)`."""
        key = kwargs.get("key")
        reverse = "reverse" in kwargs and self._reverses(kwargs["reverse"])
        if set(kwargs) - {"key", "reverse"}:
            unsupported("GB0007", "TypeError: unexpected argument of sort()")
        keys = items
        if key is not None and not key.is_none():
            keys = [key.call(self, [item], {}) for item in items]  # type: ignore[arg-type]

        ranks = [_Rank(self, place, value) for place, value in enumerate(keys)]
        return [items[rank.place] for rank in sorted(ranks, reverse=reverse)]

    def _reverses(self, value: VariableTracker) -> bool:
        """What the argument `reverse` of a sort says, which has to be an int of C."""
        value = value.realize()
        kind = value.python_type()
        if kind is int and value.is_constant():
            kind = bool if abs(value.as_constant()) < 1 << 31 else int
        if kind is not bool:
            unsupported("GB0007", "TypeError: reverse of sort() is no int")
        return self.truth(value)


class _Rank:
    """A key while sorting: Python's own sort asks for the comparisons that it always makes."""

    __slots__ = ("key", "place", "values")

    def __init__(self, values: Values, place: int, key: VariableTracker) -> None:
        self.values = values
        self.place = place
        self.key = key

    def __lt__(self, other: _Rank) -> bool:
        return self.values.truth(self.values.operate(operator.lt, self.key, other.key))


_LONGEST_RANGE = 100_000


def check_range(value: range) -> None:
    """A break where a range is too long to unroll."""
    if value[_LONGEST_RANGE:]:
        unsupported("GB0017", f"a loop over the numbers of {value}")
