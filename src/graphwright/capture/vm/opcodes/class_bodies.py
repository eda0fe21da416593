"""Instructions of class statements: names live in a dict there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_statements import build_class
from graphwright.capture.trackers.classes.classes import BuiltinVariable
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator


def _names(tx: Translator, inst: Instruction) -> dict[str, VariableTracker]:
    if tx.names is None:
        unsupported("GB0005", inst.opname)
    return tx.names


@opcode("LOAD_BUILD_CLASS")
def load_build_class(tx: Translator, inst: Instruction) -> None:
    tx.output.guard_builtin(tx.frame_function(), "__build_class__")
    tx.push(BuiltinVariable(__build_class__, build_class))


@opcode("LOAD_NAME")
def load_name(tx: Translator, inst: Instruction) -> None:
    known = _names(tx, inst).get(inst.value)
    tx.push(known.realize() if known is not None else tx.load_global(inst.value))


@opcode("STORE_NAME")
def store_name(tx: Translator, inst: Instruction) -> None:
    _names(tx, inst)[inst.value] = tx.stack.pop()


@opcode("DELETE_NAME")
def delete_name(tx: Translator, inst: Instruction) -> None:
    if _names(tx, inst).pop(inst.value, None) is None:
        unsupported("GB0006", f"NameError: name {inst.value!r} is not defined")


@opcode("SETUP_ANNOTATIONS")
def setup_annotations(tx: Translator, inst: Instruction) -> None:
    _names(tx, inst).setdefault("__annotations__", DictVariable({}))


@opcode("LOAD_LOCALS", only=(PY312, PY313))
def load_locals(tx: Translator, inst: Instruction) -> None:
    _names(tx, inst)
    tx.push(tx.constant(None))


@opcode("LOAD_FROM_DICT_OR_DEREF", only=(PY312, PY313))
def load_from_names_or_cell(tx: Translator, inst: Instruction) -> None:
    tx.pop()
    load_class_cell(tx, inst)


@opcode("LOAD_CLASSDEREF", only=(PY311,))
def load_class_cell(tx: Translator, inst: Instruction) -> None:
    known = _names(tx, inst).get(inst.value)
    tx.push(known.realize() if known is not None else tx.load_deref(inst.value))
