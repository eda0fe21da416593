"""Instructions that move values on the stack, and operators."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from graphwright.capture.effects.finalizers import check_let_go
from graphwright.capture.trackers.base import NULL
from graphwright.capture.trackers.containers.sequences import SliceVariable
from graphwright.capture.trackers.tensors.tensor_item import read_negated
from graphwright.capture.trackers.values.operator_tables import BINARY, COMPARE
from graphwright.capture.trackers.values.operators import unary
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator

_BINARY = tuple(BINARY.values())


@opcode("RESUME", "NOP", "PRECALL", "COPY_FREE_VARS")
def nothing(tx: Translator, inst: Instruction) -> None:
    """No effect here."""


@opcode("TO_BOOL")
def to_bool(tx: Translator, inst: Instruction) -> None:
    """Jumps and `not` look at truth values themselves."""
    following = tx.instructions[inst.index + 1].opname
    if following != "UNARY_NOT" and not following.startswith("POP_JUMP_IF"):
        value = tx.stack[-1].realize()
        tx.stack[-1] = tx.constant(tx.truth(value))


@opcode("POP_TOP")
def pop_top(tx: Translator, inst: Instruction) -> None:
    check_let_go(tx, tx.stack.pop())


@opcode("PUSH_NULL")
def push_null(tx: Translator, inst: Instruction) -> None:
    tx.push(NULL)


@opcode("SWAP")
def swap(tx: Translator, inst: Instruction) -> None:
    tx.stack[-1], tx.stack[-inst.arg] = tx.stack[-inst.arg], tx.stack[-1]


@opcode("COPY")
def copy(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.stack[-inst.arg])


@opcode("LOAD_CONST")
def load_const(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.output.code_constant(inst.value))


@opcode("BINARY_OP")
def binary_op(tx: Translator, inst: Instruction) -> None:
    left, right = tx.popn(2)
    tx.push(tx.operate(_BINARY[inst.arg], left, right))


@opcode("COMPARE_OP")
def compare_op(tx: Translator, inst: Instruction) -> None:
    left, right = tx.popn(2)
    tx.push(tx.operate(COMPARE[inst.value], left, right))


@opcode("IS_OP")
def is_op(tx: Translator, inst: Instruction) -> None:
    left, right = tx.popn(2)
    tx.push(tx.constant(tx.identical(left, right) != bool(inst.arg)))


@opcode("CONTAINS_OP")
def contains_op(tx: Translator, inst: Instruction) -> None:
    item, container = tx.popn(2)
    tx.push(tx.constant(container.contains(tx, item) != bool(inst.arg)))


@opcode("UNARY_NEGATIVE")
def unary_negative(tx: Translator, inst: Instruction) -> None:
    tx.push(unary(tx, operator.neg, tx.pop()))


@opcode("UNARY_POSITIVE", only=(PY311,))
def unary_positive(tx: Translator, inst: Instruction) -> None:
    tx.push(unary(tx, operator.pos, tx.pop()))


@opcode("UNARY_INVERT")
def unary_invert(tx: Translator, inst: Instruction) -> None:
    tx.push(unary(tx, operator.invert, tx.pop()))


@opcode("UNARY_NOT")
def unary_not(tx: Translator, inst: Instruction) -> None:
    value = tx.pop()
    tx.push(read_negated(tx, value) or tx.constant(not tx.truth(value)))


@opcode("BINARY_SUBSCR")
def binary_subscr(tx: Translator, inst: Instruction) -> None:
    container, key = tx.popn(2)
    tx.push(container.getitem(tx, key))


@opcode("STORE_SUBSCR")
def store_subscr(tx: Translator, inst: Instruction) -> None:
    value, container, key = tx.popn(3)
    container.setitem(tx, key, value)


@opcode("DELETE_SUBSCR")
def delete_subscr(tx: Translator, inst: Instruction) -> None:
    container, key = tx.popn(2)
    container.delitem(tx, key)


@opcode("BINARY_SLICE", only=(PY312, PY313))
def binary_slice(tx: Translator, inst: Instruction) -> None:
    container, start, stop = tx.popn(3)
    tx.push(container.getitem(tx, SliceVariable([start, stop, tx.constant(None)])))


@opcode("STORE_SLICE", only=(PY312, PY313))
def store_slice(tx: Translator, inst: Instruction) -> None:
    value, container, start, stop = tx.popn(4)
    container.setitem(tx, SliceVariable([start, stop, tx.constant(None)]), value)


@opcode("GET_LEN")
def get_len(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.stack[-1].realize().length(tx))
