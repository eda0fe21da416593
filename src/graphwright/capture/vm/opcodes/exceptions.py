"""`raise`, and the handlers of `try` and `with` blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.effects.finalizers import check_handled, known
from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.classes import ClassVariable
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.values.exception_groups import split_group
from graphwright.capture.trackers.values.exceptions import (
    ExceptionVariable,
    HandledVariable,
    Raised,
    TracebackVariable,
    handled_exception,
    raise_in_frame,
    raised_by,
)
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator


@opcode("RAISE_VARARGS")
def raise_varargs(tx: Translator, inst: Instruction) -> None:
    if not inst.arg:
        raise Raised(_being_handled(tx))
    value, *cause = tx.popn(inst.arg)
    error = raised_by(tx, value)
    context = handled_exception(tx)
    if context is not None and context is not error:
        error.attributes["__context__"] = context
    if cause:
        error.attributes["__cause__"] = cause[0] if cause[0].is_none() else raised_by(tx, cause[0])
        error.attributes["__suppress_context__"] = tx.constant(True)
    raise Raised(error)


def _being_handled(tx: Translator) -> ExceptionVariable:
    error = handled_exception(tx)
    if error is None:
        unsupported("GB0006", "RuntimeError: No active exception to reraise")
    return error


@opcode("RERAISE")
def reraise(tx: Translator, inst: Instruction) -> None:
    value = tx.pop()
    if not isinstance(value, ExceptionVariable):
        unsupported("GB0006", "an exception is re-raised")
    raise Raised(value)


@opcode("PUSH_EXC_INFO")
def push_exc_info(tx: Translator, inst: Instruction) -> None:
    value = tx.pop()
    assert isinstance(value, ExceptionVariable)
    tx.stack += [HandledVariable(value, tx.handled), value]
    tx.handled = value


@opcode("POP_EXCEPT")
def pop_except(tx: Translator, inst: Instruction) -> None:
    """End the handling of an exception and restore the one handled before, which may be the
    exception that the thread handled when the frame began."""
    before = tx.stack.pop()
    if isinstance(before, HandledVariable):
        tx.handled = before.before
    else:
        check_handled(tx)
        tx.handled = None
        tx.output.restored = before
        tx.output.handling = known(before)


@opcode("CHECK_EXC_MATCH")
def check_exc_match(tx: Translator, inst: Instruction) -> None:
    wanted = tx.pop()
    raised = tx.stack[-1].realize()
    tx.push(tx.constant(issubclass(raised.python_type(), _classes(wanted))))


def _classes(value: VariableTracker) -> tuple[type, ...]:
    if isinstance(value, TupleVariable):
        return tuple(cls for item in value.items for cls in _classes(item.realize()))
    if isinstance(value, ClassVariable) and issubclass(value.value, BaseException):
        return (value.value,)
    unsupported("GB0008", f"except {value.describe()}")


@opcode("WITH_EXCEPT_START")
def with_except_start(tx: Translator, inst: Instruction) -> None:
    error = tx.stack[-1].realize()
    leave = tx.stack[-4].realize()
    args = [tx.constant_class(error.python_type()), error, TracebackVariable()]
    tx.push(leave.call(tx, args, {}))


@opcode("CLEANUP_THROW", only=(PY312, PY313))
def cleanup_throw(tx: Translator, inst: Instruction) -> None:
    _, _, error = tx.popn(3)
    assert isinstance(error, ExceptionVariable)
    if not issubclass(error.cls, StopIteration):
        raise Raised(error)
    tx.stack += [tx.constant(None), error.getattr(tx, "value")]


@opcode("CHECK_EG_MATCH")
def check_eg_match(tx: Translator, inst: Instruction) -> None:
    wanted, raised = _classes(tx.pop()), tx.pop()
    if not isinstance(raised, ExceptionVariable):
        unsupported("GB0006", "an except* block")
    if any(issubclass(cls, BaseExceptionGroup) for cls in wanted):
        raise_in_frame(TypeError)
    matching, rest = split_group(tx, raised, lambda part: issubclass(part.cls, wanted))
    if matching is not None and not issubclass(raised.cls, BaseExceptionGroup):
        matching = ExceptionVariable(ExceptionGroup, [tx.constant(""), tx.tuple_of([raised])])
        matching.raised = True
    if matching is not None:
        tx.handled = matching
    tx.push(rest if rest is not None else tx.constant(None))
    tx.push(matching if matching is not None else tx.constant(None))


@opcode("PREP_RERAISE_STAR", only=(PY311,))
def prep_reraise_star(tx: Translator, inst: Instruction) -> None:
    original, parts = tx.popn(2)
    tx.push(_left_over(tx, original, parts))


@opcode("CALL_INTRINSIC_2", only=(PY312, PY313))
def call_intrinsic_2(tx: Translator, inst: Instruction) -> None:
    if inst.arg != 1:
        unsupported("GB0005", f"CALL_INTRINSIC_2 {inst.arg}")
    original, parts = tx.popn(2)
    tx.push(_left_over(tx, original, parts))


def _left_over(
    tx: Translator, original: VariableTracker, parts: VariableTracker
) -> VariableTracker:
    """What `except*` raises again; None if everything was handled."""
    left = [part for part in map(VariableTracker.realize, parts.unpack(tx)) if not part.is_none()]
    if not left:
        return tx.constant(None)
    first = left[0]
    if len(left) > 1 or not isinstance(first, ExceptionVariable):
        unsupported("GB0006", "exceptions leave an except* block")
    if first.attributes.get("__context__") is not None:
        unsupported("GB0006", "an exception raised in an except* block")
    return first
