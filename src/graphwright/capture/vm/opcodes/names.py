"""Instructions that read and write locals, cells, globals, attributes and modules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from graphwright.capture.effects.finalizers import check_let_go
from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import NULL
from graphwright.capture.trackers.callables.functions import CellVariable
from graphwright.capture.trackers.library.python_modules import loaded_module
from graphwright.capture.trackers.values.namespaces import instance_dict
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.trackers.base import VariableTracker
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator


@opcode("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_CLOSURE")
def load_fast(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.load_local(inst.value))


@opcode("LOAD_FAST_LOAD_FAST", only=(PY313,))
def load_fast_load_fast(tx: Translator, inst: Instruction) -> None:
    for name in inst.value:
        tx.push(tx.load_local(name))


@opcode("LOAD_FAST_AND_CLEAR", only=(PY312, PY313))
def load_fast_and_clear(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.locals.pop(inst.value, NULL))


@opcode("STORE_FAST")
def store_fast(tx: Translator, inst: Instruction) -> None:
    _store(tx, inst.value)


def _store(tx: Translator, name: str) -> None:
    value, before = tx.stack.pop(), tx.locals.get(name)
    if value is not before:
        check_let_go(tx, before)
    if value is NULL:
        tx.locals.pop(name, None)
    else:
        tx.locals[name] = value


@opcode("STORE_FAST_STORE_FAST", only=(PY313,))
def store_fast_store_fast(tx: Translator, inst: Instruction) -> None:
    for name in inst.value:
        _store(tx, name)


@opcode("STORE_FAST_LOAD_FAST", only=(PY313,))
def store_fast_load_fast(tx: Translator, inst: Instruction) -> None:
    stored, loaded = inst.value
    _store(tx, stored)
    tx.push(tx.load_local(loaded))


@opcode("DELETE_FAST")
def delete_fast(tx: Translator, inst: Instruction) -> None:
    value = tx.load_local(inst.value)
    if value not in tx.stack:  # where it has been moved, in resume functions
        check_let_go(tx, value)
    del tx.locals[inst.value]


@opcode("MAKE_CELL")
def make_cell(tx: Translator, inst: Instruction) -> None:
    tx.locals[inst.value] = CellVariable(tx.locals.get(inst.value))


@opcode("LOAD_DEREF")
def load_deref(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.load_deref(inst.value))


@opcode("STORE_DEREF")
def store_deref(tx: Translator, inst: Instruction) -> None:
    check_let_go(tx, _contents(tx, inst.value))
    tx.store_deref(inst.value, tx.pop())


@opcode("DELETE_DEREF")
def delete_deref(tx: Translator, inst: Instruction) -> None:
    check_let_go(tx, tx.load_deref(inst.value))
    tx.store_deref(inst.value, None)


def _contents(tx: Translator, name: str) -> VariableTracker | None:
    """What is in a cell, which may be empty."""
    cell = tx.locals[name]
    assert isinstance(cell, CellVariable)
    return cell.contents


@opcode("LOAD_GLOBAL")
def load_global(tx: Translator, inst: Instruction) -> None:
    tx.push_callable(tx.load_global(inst.value), bool(inst.arg & 1))


@opcode("STORE_GLOBAL")
def store_global(tx: Translator, inst: Instruction) -> None:
    if not tx.shares_globals_with_root():
        unsupported("GB0008", f"write of global {inst.value!r} of another module")
    tx.side_effects.store_global(inst.value, tx.pop())


@opcode("DELETE_GLOBAL")
def delete_global(tx: Translator, inst: Instruction) -> None:
    if not tx.shares_globals_with_root():
        unsupported("GB0008", f"del of global {inst.value!r} of another module")
    check_let_go(tx, tx.output.deletable_global(inst.value))
    tx.side_effects.delete_global(inst.value, inst.value in tx.globals_())


@opcode("LOAD_ATTR", only=(PY311,))
def load_attr(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.attribute(tx.pop(), inst.value))


@opcode("LOAD_METHOD", only=(PY311,))
def load_method(tx: Translator, inst: Instruction) -> None:
    tx.push_callable(tx.attribute(tx.pop(), inst.value), True)


@opcode("LOAD_ATTR", only=(PY312, PY313))
def load_attr_or_method(tx: Translator, inst: Instruction) -> None:
    tx.push_callable(tx.attribute(tx.pop(), inst.value), bool(inst.arg & 1))


@opcode("LOAD_SUPER_ATTR", only=(PY312, PY313))
def load_super_attr(tx: Translator, inst: Instruction) -> None:
    function, cls, owner = tx.popn(3)
    proxy = function.call(tx, [cls, owner], {})
    tx.push_callable(proxy.getattr(tx, inst.value), bool(inst.arg & 1))


@opcode("STORE_ATTR")
def store_attr(tx: Translator, inst: Instruction) -> None:
    value, owner = tx.popn(2)
    owner.setattr(tx, inst.value, value)


@opcode("DELETE_ATTR")
def delete_attr(tx: Translator, inst: Instruction) -> None:
    tx.pop().delattr(tx, inst.value)


@opcode("IMPORT_NAME")
def import_name(tx: Translator, inst: Instruction) -> None:
    level, fromlist = (value.as_constant() for value in tx.popn(2))
    tx.output.guard_builtin(tx.frame_function(), "__import__")
    name = _absolute(tx, inst.value, level)
    module = loaded_module(tx, name)
    if not fromlist and "." in name:
        module = loaded_module(tx, name.partition(".")[0])
    members = instance_dict(sys.modules[name])
    for part in fromlist or () if "__path__" in members else ():
        if part not in members and tx.attribute_or_none(module, part) is None:
            _submodule(tx, name, part)
    tx.push(module)


def _submodule(tx: Translator, package: str, name: str) -> None:
    """A module that an import from a package loads, and enters there."""
    loaded_module(tx, f"{package}.{name}")
    unsupported("GB0005", f"import of {name} from {package}, which does not hold it")


def _absolute(tx: Translator, name: str, level: int) -> str:
    """The name of a module that is imported `level` packages up."""
    if not level:
        return name
    if "__package__" not in tx.globals_():
        unsupported("GB0005", "a relative import where there is no __package__")
    package = tx.load_global("__package__").realize().as_constant()
    if type(package) is not str or not package:
        unsupported("GB0005", f"a relative import where __package__ is {package!r}")
    base = package.rsplit(".", level - 1)[0]
    return f"{base}.{name}" if name else base


@opcode("IMPORT_FROM")
def import_from(tx: Translator, inst: Instruction) -> None:
    tx.push(tx.stack[-1].realize().getattr(tx, inst.value))
