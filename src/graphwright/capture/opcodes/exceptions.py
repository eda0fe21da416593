"""`raise`, and the handlers of `try` blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.opcodes.registry import opcode
from graphwright.capture.variables.classes import ClassVariable
from graphwright.capture.variables.exceptions import ExceptionVariable, Raised, raised_by
from graphwright.capture.variables.sequences import TupleVariable

if TYPE_CHECKING:
    from graphwright.capture.bytecode import Instruction
    from graphwright.capture.translator import Translator
    from graphwright.capture.variables.base import VariableTracker


@opcode("RAISE_VARARGS")
def raise_varargs(tx: Translator, inst: Instruction) -> None:
    if not inst.arg:
        unsupported("GB0006", "raise of the exception being handled")
    value = tx.popn(inst.arg)[0]
    raise Raised(raised_by(value))


@opcode("RERAISE")
def reraise(tx: Translator, inst: Instruction) -> None:
    value = tx.pop()
    assert isinstance(value, ExceptionVariable)
    raise Raised(value)


@opcode("PUSH_EXC_INFO")
def push_exc_info(tx: Translator, inst: Instruction) -> None:
    value = tx.stack.pop()
    tx.stack += [tx.constant(None), value]


@opcode("POP_EXCEPT")
def pop_except(tx: Translator, inst: Instruction) -> None:
    tx.stack.pop()


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
