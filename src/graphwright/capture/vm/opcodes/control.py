"""Jumps and returns. The condition of a jump must be known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.vm.asserted_branches import assumed_jump
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator

Condition = Callable[["Translator", VariableTracker], bool]


def is_none(tx: Translator, value: VariableTracker) -> bool:
    """`value is None`."""
    return tx.identical(value, ConstantVariable(None))


CONDITIONS: dict[str, Condition] = {
    "TRUE": lambda tx, value: tx.truth(value),
    "FALSE": lambda tx, value: not tx.truth(value),
    "NONE": is_none,
    "NOT_NONE": lambda tx, value: not is_none(tx, value),
}


@opcode(
    "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"
)
def jump(tx: Translator, inst: Instruction) -> None:
    tx.ip = inst.target


def _conditional(name: str) -> Callable[[Translator, Instruction], None]:
    condition = CONDITIONS[name]

    def handler(tx: Translator, inst: Instruction) -> None:
        value = tx.pop()
        jumps = assumed_jump(tx, inst, value) if name in ("TRUE", "FALSE") else None
        if condition(tx, value) if jumps is None else jumps:
            tx.ip = inst.target

    return handler


for _name in CONDITIONS:
    opcode(f"POP_JUMP_FORWARD_IF_{_name}", f"POP_JUMP_BACKWARD_IF_{_name}", only=(PY311,))(
        _conditional(_name)
    )
    opcode(f"POP_JUMP_IF_{_name}", only=(PY312, PY313))(_conditional(_name))


@opcode("JUMP_IF_TRUE_OR_POP", only=(PY311,))
def jump_if_true_or_pop(tx: Translator, inst: Instruction) -> None:
    if tx.truth(tx.stack[-1]):
        tx.ip = inst.target
    else:
        tx.stack.pop()


@opcode("JUMP_IF_FALSE_OR_POP", only=(PY311,))
def jump_if_false_or_pop(tx: Translator, inst: Instruction) -> None:
    if tx.truth(tx.stack[-1]):
        tx.stack.pop()
    else:
        tx.ip = inst.target


@opcode("RETURN_VALUE")
def return_value(tx: Translator, inst: Instruction) -> None:
    tx.returned = tx.pop()


@opcode("RETURN_CONST", only=(PY312, PY313))
def return_const(tx: Translator, inst: Instruction) -> None:
    tx.returned = tx.output.code_constant(inst.value)
