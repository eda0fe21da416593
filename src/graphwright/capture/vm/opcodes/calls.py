"""Calls, function creation and `with`."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import NULL, VariableTracker
from graphwright.capture.trackers.callables.functions import CellVariable, NestedFunctionVariable
from graphwright.capture.trackers.containers.mappings import DictVariable, is_iterable
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.effects.context import enter_context, exit_method
from graphwright.capture.trackers.values.exceptions import ExceptionVariable, stopped_by
from graphwright.capture.trackers.values.operators import unary
from graphwright.capture.vm import polyfills
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator


@opcode("KW_NAMES", only=(PY311, PY312))
def kw_names(tx: Translator, inst: Instruction) -> None:
    tx.keyword_names = tx.code.co_consts[inst.arg]


@opcode("CALL", only=(PY311, PY312))
def call(tx: Translator, inst: Instruction) -> None:
    args = tx.popn(inst.arg)
    first, second = tx.popn(2)
    names, tx.keyword_names = tx.keyword_names, ()
    if first is NULL:
        _call(tx, second, args, names)
    else:
        _call(tx, first, [second, *args], names)


@opcode("CALL", only=(PY313,))
def call_with_self_above(tx: Translator, inst: Instruction) -> None:
    _call_above(tx, tx.popn(inst.arg), ())


@opcode("CALL_KW", only=(PY313,))
def call_kw(tx: Translator, inst: Instruction) -> None:
    names = tx.pop().as_constant()
    _call_above(tx, tx.popn(inst.arg), names)


def _call_above(tx: Translator, args: list[VariableTracker], names: tuple[str, ...]) -> None:
    function, owner = tx.popn(2)
    _call(tx, function, args if owner is NULL else [owner, *args], names)


def _call(
    tx: Translator, function: VariableTracker, args: list[VariableTracker], names: tuple[str, ...]
) -> None:
    split = len(args) - len(names)
    tx.call(function, args[:split], dict(zip(names, args[split:], strict=True)))


@opcode("CALL_FUNCTION_EX")
def call_function_ex(tx: Translator, inst: Instruction) -> None:
    kwargs = _keywords(tx.pop()) if inst.arg & 1 else {}
    given = tx.pop().realize()
    if given.is_constant() and not is_iterable(given.python_type()):
        unsupported("GB0007", f"TypeError: {given.describe()} after *")
    args = given.unpack(tx)
    function = [value for value in tx.popn(2) if value is not NULL]
    tx.call(function[0], args, kwargs)


def _keywords(value: VariableTracker) -> dict[str, VariableTracker]:
    if not isinstance(value, DictVariable):
        unsupported("GB0008", f"** of {value.describe()}")
    if not all(isinstance(key, str) for key in value.entries):
        unsupported("GB0007", "TypeError: keywords must be strings")
    return {key: entry[1].realize() for key, entry in value.entries.items()}


@opcode("MAKE_FUNCTION", only=(PY311, PY312))
def make_function(tx: Translator, inst: Instruction) -> None:
    code = tx.pop().as_constant()
    closure = _cells(tx, tx.pop()) if inst.arg & 8 else []
    annotations = tx.pop().unpack(tx) if inst.arg & 4 else []
    kwdefaults = _keywords(tx.pop()) if inst.arg & 2 else {}
    defaults = tx.pop().unpack(tx) if inst.arg & 1 else []
    function = NestedFunctionVariable(code, tx, defaults, kwdefaults, closure)
    _annotate(tx, function, annotations)
    tx.push(function)


@opcode("MAKE_FUNCTION", only=(PY313,))
def make_plain_function(tx: Translator, inst: Instruction) -> None:
    tx.push(NestedFunctionVariable(tx.pop().as_constant(), tx, [], {}, []))


@opcode("SET_FUNCTION_ATTRIBUTE", only=(PY313,))
def set_function_attribute(tx: Translator, inst: Instruction) -> None:
    value, function = tx.popn(2)
    if not isinstance(function, NestedFunctionVariable):
        unsupported("GB0008", f"{function.describe()} is still being made")
    if inst.arg == 1:
        function.defaults = value.unpack(tx)
    elif inst.arg == 2:
        function.kwdefaults = _keywords(value)
    elif inst.arg == 8:
        function.closure = _cells(tx, value)
    else:
        _annotate(tx, function, value.unpack(tx))
    tx.push(function)


def _annotate(
    tx: Translator, function: NestedFunctionVariable, parts: list[VariableTracker]
) -> None:
    """Set `__annotations__`; `parts` are names and values by turns."""
    if parts:
        names = [name.as_constant() for name in parts[::2]]
        made = tx.dict_of(dict(zip(names, parts[1::2], strict=True)))
        function.attributes["__annotations__"] = made


def _cells(tx: Translator, value: VariableTracker) -> list[CellVariable]:
    items = value.unpack(tx)
    cells = [cell for cell in items if isinstance(cell, CellVariable)]
    if len(cells) != len(items):
        unsupported("GB0008", "a closure over variables from before the break")
    return cells


@opcode("BEFORE_WITH")
def before_with(tx: Translator, inst: Instruction) -> None:
    manager = tx.pop()
    leave = exit_method(tx, manager)
    entered = enter_context(tx, manager)
    tx.push(leave)
    tx.push(entered)


@opcode("CALL_INTRINSIC_1", only=(PY312, PY313))
def call_intrinsic_1(tx: Translator, inst: Instruction) -> None:
    if inst.arg not in _INTRINSICS:
        unsupported("GB0005", f"CALL_INTRINSIC_1 {inst.arg}")
    value = tx.pop()
    tx.push(_INTRINSICS[inst.arg](tx, value))


def _positive(tx: Translator, value: VariableTracker) -> VariableTracker:
    return unary(tx, operator.pos, value)


def _stop_iteration_error(tx: Translator, value: VariableTracker) -> VariableTracker:
    """A StopIteration that leaves a generator becomes a RuntimeError; one that leaves an
    iterator of the standard library ends it.
    """
    if tx.code.co_filename == polyfills.__file__:
        return value
    if isinstance(value, ExceptionVariable) and issubclass(value.cls, StopIteration):
        return stopped_by(tx, value)
    return value


def _list_to_tuple(tx: Translator, value: VariableTracker) -> VariableTracker:
    return TupleVariable(value.unpack(tx))


_INTRINSICS = {3: _stop_iteration_error, 5: _positive, 6: _list_to_tuple}


@opcode("LOAD_ASSERTION_ERROR")
def load_assertion_error(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.constant_class(AssertionError))


