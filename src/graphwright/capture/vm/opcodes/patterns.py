"""`match` statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.trackers.callables.builtins import HANDLERS
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable
from graphwright.capture.trackers.containers.mappings import DictVariable, hashed
from graphwright.capture.trackers.values.namespaces import flags_of
from graphwright.capture.vm.opcodes.registry import opcode

if TYPE_CHECKING:
    from graphwright.capture.trackers.base import VariableTracker
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator

_SEQUENCE, _MAPPING = 1 << 5, 1 << 6
_MATCHES_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@opcode("MATCH_SEQUENCE")
def match_sequence(tx: Translator, inst: Instruction) -> None:
    flags = flags_of(tx.stack[-1].realize().python_type())
    tx.push(tx.constant(bool(flags & _SEQUENCE)))


@opcode("MATCH_MAPPING")
def match_mapping(tx: Translator, inst: Instruction) -> None:
    flags = flags_of(tx.stack[-1].realize().python_type())
    tx.push(tx.constant(bool(flags & _MAPPING)))


@opcode("MATCH_KEYS")
def match_keys(tx: Translator, inst: Instruction) -> None:
    subject, keys = (value.realize() for value in tx.stack[-2:])
    if not isinstance(subject, DictVariable):
        unsupported("GB0008", f"a mapping pattern on {subject.describe()}")
    wanted = keys.unpack(tx)
    if len({hashed(tx, key) for key in wanted}) < len(wanted):
        unsupported("GB0007", "ValueError: a mapping pattern checks a key twice")
    if all(subject.contains(tx, key) for key in wanted):
        tx.push(tx.tuple_of([subject.getitem(tx, key) for key in wanted]))
    else:
        tx.push(tx.constant(None))


@opcode("MATCH_CLASS")
def match_class(tx: Translator, inst: Instruction) -> None:
    subject, cls, names = tx.popn(3)
    if not isinstance(cls, (ClassVariable, BuiltinVariable)) or not isinstance(cls.value, type):
        unsupported("GB0008", f"a class pattern with {cls.describe()}")
    if not tx.truth(HANDLERS[isinstance](tx, [subject, cls], {})):
        tx.push(tx.constant(None))
        return
    found = _attributes(tx, subject, cls, inst.arg, list(names.as_constant()))
    tx.push(tx.constant(None) if found is None else tx.tuple_of(found))


def _attributes(
    tx: Translator, subject: VariableTracker, cls: VariableTracker, count: int, names: list[str]
) -> list[VariableTracker] | None:
    """The values of positional and keyword sub-patterns; None if one is missing."""
    result: list[VariableTracker] = []
    if count == 1 and cls.as_constant() in _MATCHES_ITSELF:
        result.append(subject)
    elif count:
        names = [*_positional_names(tx, cls, count), *names]
    if len(set(names)) < len(names):
        unsupported("GB0007", "TypeError: several sub-patterns for one attribute")
    try:
        return result + [subject.getattr(tx, name) for name in names]
    except AttributeMissing:
        return None


def _positional_names(tx: Translator, cls: VariableTracker, count: int) -> tuple[str, ...]:
    """The attributes that so many positional sub-patterns stand for."""
    try:
        names = cls.getattr(tx, "__match_args__").as_constant()
    except AttributeMissing:
        unsupported("GB0007", "a class pattern by position with a class that names no attributes")
    if type(names) is not tuple or not all(type(name) is str for name in names):
        unsupported("GB0007", "TypeError: __match_args__ must be a tuple of strings")
    if len(names) < count:
        unsupported("GB0007", "TypeError: too many positional sub-patterns")
    return names[:count]
