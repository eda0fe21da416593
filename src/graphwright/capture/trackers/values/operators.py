"""Operators on trackers: into the graph, folded, symbolic, or by the operands' own methods."""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ConstSource
from graphwright.capture.trackers.base import IdVariable, VariableTracker
from graphwright.capture.trackers.callables.functions import (
    BoundMethodVariable,
    FunctionVariable,
    NestedFunctionVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.classes import (
    BuiltinVariable,
    ClassVariable,
    OperationVariable,
    ReferenceVariable,
)
from graphwright.capture.trackers.classes.enums import EnumVariable
from graphwright.capture.trackers.classes.named_tuples import NamedTupleVariable
from graphwright.capture.trackers.containers.deques import DequeVariable
from graphwright.capture.trackers.containers.mappings import DictVariable, DictView, distinguish
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SequenceVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from graphwright.capture.trackers.containers.sets import (
    SetVariable,
    is_set_like,
    set_operator,
    set_update_operator,
)
from graphwright.capture.trackers.library.string_formatting import added, constant_text, percented
from graphwright.capture.trackers.numbers.ranges import RangeVariable
from graphwright.capture.trackers.numbers.size_quotients import quotient_operation
from graphwright.capture.trackers.numbers.symbolic_floats import number_operation
from graphwright.capture.trackers.numbers.symint import (
    SymIntVariable,
    is_exact,
    symbolic_operation,
)
from graphwright.capture.trackers.tensors.arrays import array_operation
from graphwright.capture.trackers.tensors.reflected_operators import beside_tensor
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import read_operation
from graphwright.capture.trackers.values.binary_dunders import (
    by_special_method,
    formats_itself,
    plain_values,
)
from graphwright.capture.trackers.values.constant import ConstantVariable, fold
from graphwright.capture.trackers.values.exceptions import ExceptionVariable
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.operator_tables import FORMATTING, SPECIAL
from graphwright.capture.trackers.values.rich_comparison import compared, has_own_say, leaves

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Rule = Callable[["Translator", list[VariableTracker]], VariableTracker | None]


def operate(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker:
    """`function(*args)` for a function of the `operator` module."""
    args = [arg.realize() for arg in args]
    if any(isinstance(arg, TensorVariable) for arg in args):
        if function in FORMATTING and args[0].python_type() is str:
            text = _text_operation(tx, function, args)
            return text or unsupported("GB0008", f"formatting of {args[1].describe()}")
        if function in _EQUALITY and any(_no_operand(arg) for arg in args):
            return tx.constant(function is operator.ne)
        own = beside_tensor(tx, args, SPECIAL.get(function))
        if own is not None:
            return own
        computed = tx.output.run(tx, "call_function", function, args, {})
        if function in _EQUALITY and not isinstance(computed, TensorVariable):
            unsupported("GB0008", f"a tensor compared with {args[1].describe()}")
        return computed
    array = array_operation(tx, function, args)
    if array is not None:
        return array
    quotient = quotient_operation(tx, function, args)
    if quotient is not None:
        return quotient
    numbers = all(isinstance(arg, (SymIntVariable, ConstantVariable)) for arg in args)
    if numbers and any(isinstance(arg, SymIntVariable) for arg in args):
        return _number(tx, function, args)
    text = _text_operation(tx, function, args)
    if text is not None:
        return text
    number = number_operation(tx, function, args) or read_operation(function, args)
    if number is not None:
        return number
    if all(isinstance(arg, ConstantVariable) and not has_own_say(arg) for arg in args):
        return tx.constant(fold(function, *(arg.as_constant() for arg in args)))
    if function is operator.or_ and all(map(_names_types, args)):
        return tx.constant(fold(function, *(arg.as_constant() for arg in args)))
    if function in _EQUALITY:
        return _equality(tx, function, args)
    special = by_special_method(tx, function, args)
    if special is not None:
        return special
    values = plain_values(function, args)
    if values is not None:
        return operate(tx, function, values)
    if function in SPECIAL:
        _guard_named(tx, SPECIAL[function], *args)
    rule = _RULES.get(function)
    result = rule(tx, args) if rule is not None else None
    if result is None:
        names = " and ".join(arg.describe() for arg in args)
        unsupported("GB0008", f"operator.{function.__name__} on {names}")
    return result


def _number(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker:
    """An operator on constants and integers of which one is symbolic."""
    found = None if is_exact(function, args) else number_operation(tx, function, args)
    return found or symbolic_operation(tx, function, args)


def _text_operation(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker | None:
    """`+` of texts and `template % values`."""
    if function in (operator.add, operator.iadd):
        return added(tx, *args)
    if function in FORMATTING and formats_itself(tx, *args):
        return None
    template = constant_text(args[0]) if function in FORMATTING else None
    return percented(tx, template, args[1]) if template is not None else None


def _no_operand(value: VariableTracker) -> bool:
    """Whether a tensor leaves a comparison with the value to Python, which asks for identity."""
    kinds = (SequenceVariable, DictVariable, SetVariable, DequeVariable, *_BY_IDENTITY)
    if isinstance(value, ConstantVariable):
        return value.python_type() in (str, bytes, type(None), type(...))
    return isinstance(value, kinds)


def _equality(
    tx: Translator, function: Callable[..., Any], args: list[VariableTracker]
) -> VariableTracker:
    if function is operator.ne and any(map(has_own_say, args)):
        unequal = compared(tx, "__ne__", *args)
        return tx.constant(not is_same(tx, *args)) if unequal is None else unequal
    equal = equals(tx, *args)
    if isinstance(equal, bool):
        return tx.constant(equal if function is operator.eq else not equal)
    return equal if function is operator.eq else tx.constant(not tx.truth(equal))


def equals(tx: Translator, left: VariableTracker, right: VariableTracker) -> Any:
    """`left == right`: a bool, or the tracker that an own `__eq__` returned."""
    left, right = left.realize(), right.realize()
    if isinstance(left, IdVariable) and isinstance(right, IdVariable):
        return is_same(tx, left.owner, right.owner)
    if has_own_say(left) or has_own_say(right):
        result = compared(tx, "__eq__", left, right)
        return is_same(tx, left, right) if result is None else result
    if isinstance(left, SequenceVariable) and isinstance(right, SequenceVariable):
        return _same_items(tx, left, right)
    if isinstance(left, DictVariable) and isinstance(right, DictVariable):
        return _same_entries(tx, left, right)
    if isinstance(left, SliceVariable) and isinstance(right, SliceVariable):
        return _same_items(tx, TupleVariable(left.bounds), TupleVariable(right.bounds))
    if is_set_like(left) and is_set_like(right):
        return bool(set_operator(tx, operator.eq, left, right).as_constant())
    if isinstance(left, BoundMethodVariable) and isinstance(right, BoundMethodVariable):
        return left.same_method(tx, right)
    if isinstance(left, _BY_IDENTITY) and isinstance(right, _BY_IDENTITY):
        return is_same(tx, left, right)
    if isinstance(left, (TensorVariable, SymIntVariable)) or isinstance(
        right, (TensorVariable, SymIntVariable)
    ):
        return operate(tx, operator.eq, [left, right])
    if _both_leave(tx, left, right):
        return is_same(tx, left, right)
    number = number_operation(tx, operator.eq, [left, right])
    if number is not None:
        return bool(number.as_constant())
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        return bool(fold(operator.eq, left.value, right.value))
    unsupported("GB0008", f"comparison of {left.describe()} with {right.describe()}")


def _both_leave(tx: Translator, left: VariableTracker, right: VariableTracker) -> bool:
    """Whether neither class says when its instances equal those of the other."""
    kinds = left.python_type(), right.python_type()
    for kind in kinds:
        guard_member(tx, kind, "__eq__")
    return leaves(kinds[0], "__eq__", kinds[1]) and leaves(kinds[1], "__eq__", kinds[0])


def _names_types(value: VariableTracker) -> bool:
    """Whether a value can be a member of a union of types."""
    if isinstance(value, ConstantVariable):
        return value.value is None or isinstance(value.value, types.UnionType)
    return isinstance(value, _GUARDED_BY_ID)


_GUARDED_BY_ID = (ClassVariable, BuiltinVariable)
_FUNCTIONS = (BuiltinVariable, OperationVariable, UserFunctionVariable)
_EQUALITY = (operator.eq, operator.ne)
_BY_IDENTITY = (ClassVariable, BuiltinVariable, OperationVariable, FunctionVariable)


def _same_entries(tx: Translator, left: DictVariable, right: DictVariable) -> bool:
    """Whether two dicts are equal, with values compared in Python's order."""
    if len(left.entries) != len(right.entries):
        return False
    distinguish(tx, left.entries, right.entries)
    for key, (_, value) in left.entries.items():
        if key not in right.entries or not tx.same_or_equal(value, right.entries[key][1]):
            return False
    in_order = left.kind is right.kind is collections.OrderedDict
    return not in_order or list(left.entries) == list(right.entries)


def _same_items(tx: Translator, left: SequenceVariable, right: SequenceVariable) -> bool:
    _guard_named(tx, "__eq__", left, right)
    kinds = {
        tuple if issubclass(side.python_type(), tuple) else side.python_type()
        for side in (left, right)
    }
    if len(kinds) != 1 or len(left.items) != len(right.items):
        return False
    return all(tx.same_or_equal(a, b) for a, b in zip(left.items, right.items, strict=True))


def _guard_named(tx: Translator, name: str, *sides: VariableTracker) -> None:
    """Classes of named tuples leave an operator to `tuple`."""
    for side in sides:
        if isinstance(side, NamedTupleVariable):
            guard_member(tx, side.kind, name)


def is_same(tx: Translator, left: VariableTracker, right: VariableTracker) -> bool:
    """`left is right`."""
    left, right = left.realize(), right.realize()
    if left is right:
        return True
    if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
        if left.python_type() is not right.python_type():
            return False
        return _same_constant(left, right)
    for owner, other in ((left, right), (right, left)):
        if isinstance(owner, ConstantVariable) and owner.value in _SINGLETONS_BY_TYPE(owner):
            if other.python_type() is bool and owner.python_type() is bool:
                unsupported("GB0001", f"identity of {other.describe()}")
            return False
    if isinstance(left, _GUARDED_BY_ID) and isinstance(right, _GUARDED_BY_ID):
        return left.as_constant() is right.as_constant()
    if isinstance(left, _FUNCTIONS) and isinstance(right, _FUNCTIONS):
        return _function_of(tx, left) is _function_of(tx, right)
    if left.python_type() is not right.python_type():
        return False
    if isinstance(left, NestedFunctionVariable) or isinstance(right, NestedFunctionVariable):
        return False                # one made by the frame is none that was there, nor another
    if isinstance(left, ReferenceVariable) and isinstance(right, ReferenceVariable):
        return left.value is right.value
    if isinstance(left, ReferenceVariable) or isinstance(right, ReferenceVariable):
        return False
    if left.mutable and right.mutable and type(left) is type(right):
        sources = left.source, right.source
        if any(source is not None and source.makes_objects for source in sources):
            return False
        if left.source is not None and right.source is not None:
            left.source.require_comparable()
            right.source.require_comparable()
            tx.guards.no_alias([left.source, right.source])
        return False
    unsupported("GB0008", f"identity of {left.describe()} and {right.describe()}")


def _function_of(tx: Translator, side: VariableTracker) -> Any:
    """The function that the tracker stands for, whatever happens."""
    if isinstance(side, (BuiltinVariable, OperationVariable)):
        return side.value
    assert isinstance(side, UserFunctionVariable)
    if side.source is not None and not isinstance(side.source, ConstSource):
        tx.guards.id_match(side.source, side.function)
    return side.function


def _SINGLETONS_BY_TYPE(constant: ConstantVariable) -> tuple[Any, ...]:
    """The constant itself where Python has one object of it, else nothing."""
    value = constant.value
    return (value,) if value is None or isinstance(value, (bool, type(Ellipsis))) else ()


def _same_constant(left: ConstantVariable, right: ConstantVariable) -> bool:
    if left.value is right.value:
        if type(left.value) in (int, float, complex, str, bytes):
            unsupported("GB0008", "identity of numbers or strings")
        return True
    if type(left.value) is type(right.value) and left.value == right.value:
        unsupported("GB0008", "identity of equal constants")
    check_reflexive(left, right)
    return False


def check_reflexive(*values: VariableTracker) -> None:
    """A break for NaN, of which there are many: whether two are one object is not known."""
    if len({value.python_type() for value in values}) > 1 or any(
        type(value) is ConstantVariable and value.value == value.value for value in values
    ):
        return
    for value in values:
        if type(value) is ConstantVariable and value.value != value.value:
            unsupported("GB0008", "identity of NaN")


def _add(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
    left, right = args
    if isinstance(left, ListVariable) and isinstance(right, ListVariable):
        return ListVariable([*left.items, *right.items])
    if isinstance(left, TupleVariable) and isinstance(right, TupleVariable):
        if left.kind is right.kind is tuple and not (left.items and right.items):
            return left if left.items else right  # as CPython does, which needs no copy
        sized = right if isinstance(right, SizeVariable) else left
        return _tuple_like(sized)([*left.items, *right.items])
    return None


def _repeat_in_place(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
    values, count = args
    if isinstance(values, ListVariable) and isinstance(count, (ConstantVariable, SymIntVariable)):
        times = count.as_constant()
        if isinstance(times, int):
            tx.side_effects.mutate(values)
            values.items *= times
            return values
    return None if isinstance(values, ListVariable) else _multiply(tx, args)


def _extend(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
    left, right = args
    if isinstance(left, ListVariable):
        left.call_method(tx, "extend", [right], {})
        return left
    return _add(tx, args)


def _tuple_like(value: VariableTracker) -> type[TupleVariable]:
    """Sums of sizes are sizes."""
    return SizeVariable if isinstance(value, SizeVariable) else TupleVariable


def _multiply(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
    for values, count in (args, reversed(args)):
        if isinstance(values, SequenceVariable) and isinstance(
            count, (ConstantVariable, SymIntVariable)
        ):
            times = count.as_constant()
            if not isinstance(times, int) or isinstance(
                values, (NamedTupleVariable, DequeVariable, RangeVariable)
            ):
                return None
            if isinstance(values, ListVariable):
                return ListVariable(values.items * times)
            if values.kind is tuple and times == 1:  # CPython needs no copy of it
                return values
            return _tuple_like(values)(values.items * times)
    return None


def _remainder(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
    left, right = args
    if isinstance(left, ConstantVariable) and right.is_constant():
        return tx.constant(fold(operator.mod, left.value, right.as_constant()))
    if isinstance(left, ConstantVariable) and isinstance(right, DictVariable):
        known = {key: value.as_constant() for key, (_, value) in right.entries.items()}
        return tx.constant(fold(operator.mod, left.value, known))
    return None


def _union(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
    left, right = args
    if isinstance(left, DictVariable) and isinstance(right, DictVariable):
        own = left if left.kind is not dict else right
        made = DictVariable(dict(left.entries), own.kind, None, own.default_factory)
        for key, value in right.entries.values():
            made.setitem(tx, key, value)
        return made
    return _set_rule(operator.or_)(tx, args)


def _update(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
    left, right = args
    if isinstance(left, DictVariable):
        left.call_method(tx, "update", [right], {})
        return left
    return _set_update_rule("update", operator.or_)(tx, args)


def _set_rule(function: Callable[..., Any]) -> Rule:
    def rule(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
        left, right = args
        iterable = isinstance(right, (DictVariable, SequenceVariable))
        of_view = isinstance(left, DictView) and iterable
        if all(map(is_set_like, args)) or (of_view and is_set_like(left)):
            return set_operator(tx, function, *args)
        return None

    return rule


def _set_update_rule(name: str, function: Callable[..., Any]) -> Rule:
    def rule(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
        left, right = args
        if isinstance(left, SetVariable) and is_set_like(right):
            return set_update_operator(tx, name, left, right)
        return _set_rule(function)(tx, args)

    return rule


def _ordered(function: Callable[..., Any]) -> Callable[..., VariableTracker | None]:
    def rule(tx: Translator, args: list[VariableTracker]) -> VariableTracker | None:
        left, right = args
        if not (isinstance(left, SequenceVariable) and isinstance(right, SequenceVariable)):
            return _set_rule(function)(tx, args)
        if not any(issubclass(left.kind, k) and issubclass(right.kind, k) for k in (list, tuple)):
            unsupported("GB0007", f"TypeError: {left.describe()} and {right.describe()} in order")
        for own, other in zip(left.items, right.items, strict=False):
            if not tx.same_or_equal(own, other):
                return operate(tx, function, [own, other])
        return tx.constant(function(len(left.items), len(right.items)))

    return rule


_RULES: dict[Callable[..., Any], Callable[..., VariableTracker | None]] = {
    operator.add: _add,
    operator.iadd: _extend,
    operator.mul: _multiply,
    operator.imul: _repeat_in_place,
    operator.mod: _remainder,
    operator.or_: _union,
    operator.and_: _set_rule(operator.and_),
    operator.sub: _set_rule(operator.sub),
    operator.xor: _set_rule(operator.xor),
    operator.ior: _update,
    operator.iand: _set_update_rule("intersection_update", operator.and_),
    operator.isub: _set_update_rule("difference_update", operator.sub),
    operator.ixor: _set_update_rule("symmetric_difference_update", operator.xor),
    **{f: _ordered(f) for f in (operator.lt, operator.le, operator.gt, operator.ge)},
}


def unary(tx: Translator, function: Callable[..., Any], value: VariableTracker) -> VariableTracker:
    """`-x`, `+x`, `~x` (`not x` is decided by `truth`)."""
    value = value.realize()
    if isinstance(value, TensorVariable):
        return tx.output.run(tx, "call_function", function, [value], {})
    array = array_operation(tx, function, [value])
    if array is not None:
        return array
    if isinstance(value, SymIntVariable):
        if function is operator.invert:
            found = number_operation(tx, function, [value])
            return found or tx.constant(~value.as_constant())
        return tx.wrap_plain(function(value.value))
    name = f"__{function.__name__.strip('_')}__"
    said = value.own(tx, name) if isinstance(value, (EnumVariable, ExceptionVariable)) else None
    if said is not None:
        return said
    if isinstance(value, ConstantVariable):
        negated = number_operation(tx, function, [value])
        return negated or tx.constant(fold(function, value.value))
    read = read_operation(function, [value])
    if read is not None:
        return read
    if isinstance(value, ObjectVariable):
        return value.call_special(tx, name)
    unsupported("GB0008", f"operator.{function.__name__} on {value.describe()}")
