"""Loops and generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.callables.generators import GeneratorVariable
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.trackers.base import VariableTracker
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator


@opcode("GET_ITER", "GET_YIELD_FROM_ITER")
def get_iter(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.pop().iterate(tx))


def _for_iter(tx: Translator, inst: Instruction, skipped: int) -> None:
    iterator = tx.stack[-1].realize()
    item = iterator.next(tx)
    if item is not None:
        tx.push(item)
        return
    tx.stack.pop()
    tx.ip = inst.target + skipped


@opcode("FOR_ITER", only=(PY311,))
def for_iter(tx: Translator, inst: Instruction) -> None:
    _for_iter(tx, inst, 0)


@opcode("FOR_ITER", only=(PY312,))
def for_iter_before_end_for(tx: Translator, inst: Instruction) -> None:
    _for_iter(tx, inst, 1)


@opcode("FOR_ITER", only=(PY313,))
def for_iter_before_end_for_and_pop(tx: Translator, inst: Instruction) -> None:
    _for_iter(tx, inst, 2)


@opcode("RETURN_GENERATOR")
def return_generator(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.constant(None))


@opcode("YIELD_VALUE")
def yield_value(tx: Translator, inst: Instruction) -> None:
    tx.yielded = tx.pop()


def _send(tx: Translator, inst: Instruction, keep_receiver: bool) -> None:
    sent = tx.pop()
    receiver = tx.stack[-1].realize()
    if isinstance(receiver, GeneratorVariable):
        item = receiver.resume(tx, sent)
    elif sent.is_none():
        item = receiver.next(tx)
    else:
        unsupported("GB0013", f"a value is sent into {receiver.describe()}")
    if item is not None:
        tx.push(item)
        return
    if not keep_receiver:
        tx.stack.pop()
    tx.push(_result(tx, receiver.ended()))
    tx.ip = inst.target


def _result(tx: Translator, ended: VariableTracker) -> VariableTracker:
    """The value of `yield from` after its iterator is exhausted."""
    if ended.stopped_with is not None:
        return ended.stopped_with.getattr(tx, "value")
    return ended.result() if isinstance(ended, GeneratorVariable) else tx.constant(None)


@opcode("SEND", only=(PY311,))
def send(tx: Translator, inst: Instruction) -> None:
    _send(tx, inst, False)


@opcode("SEND", only=(PY312, PY313))
def send_before_end_send(tx: Translator, inst: Instruction) -> None:
    _send(tx, inst, True)


@opcode("END_SEND", only=(PY312, PY313))
def end_send(tx: Translator, inst: Instruction) -> None:
    value = tx.stack.pop()
    tx.stack[-1] = value
