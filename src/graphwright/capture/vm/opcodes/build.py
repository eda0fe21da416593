"""Instructions that build, extend and unpack containers and strings."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.mappings import (
    DictVariable,
    distinguish,
    hashed,
    hashed_member,
    is_iterable,
    pairs_of_mapping,
)
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SliceVariable,
    TupleVariable,
)
from graphwright.capture.trackers.containers.sets import SetVariable
from graphwright.capture.trackers.library.strings import joined
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.vm.opcodes.registry import PY311, PY312, PY313, opcode

if TYPE_CHECKING:
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator


@opcode("BUILD_TUPLE")
def build_tuple(tx: Translator, inst: Instruction) -> None:
    tx.push(TupleVariable(tx.popn(inst.arg)))


@opcode("BUILD_LIST")
def build_list(tx: Translator, inst: Instruction) -> None:
    tx.push(ListVariable(tx.popn(inst.arg)))


@opcode("BUILD_SET")
def build_set(tx: Translator, inst: Instruction) -> None:
    members = tuple([hashed_member(tx, item) for item in tx.popn(inst.arg)])
    distinguish(tx, members)
    tx.push(SetVariable(set(members), origin=members))


@opcode("BUILD_MAP")
def build_map(tx: Translator, inst: Instruction) -> None:
    flat = tx.popn(2 * inst.arg)
    _push_dict(tx, list(zip(flat[::2], flat[1::2], strict=True)))


@opcode("BUILD_CONST_KEY_MAP")
def build_const_key_map(tx: Translator, inst: Instruction) -> None:
    keys = tx.pop().unpack(tx)
    _push_dict(tx, list(zip(keys, tx.popn(inst.arg), strict=True)))


def _push_dict(tx: Translator, pairs: list[tuple[VariableTracker, VariableTracker]]) -> None:
    entries: dict[object, tuple[VariableTracker, VariableTracker]] = {}
    for key, value in pairs:
        raw = hashed(tx, key, entries)
        entries[raw] = (entries[raw][0] if raw in entries else key, value)
    tx.push(DictVariable(entries))


@opcode("BUILD_SLICE")
def build_slice(tx: Translator, inst: Instruction) -> None:
    bounds = tx.popn(inst.arg)
    tx.push(SliceVariable([*bounds, tx.constant(None)][:3]))


@opcode("BUILD_STRING")
def build_string(tx: Translator, inst: Instruction) -> None:
    tx.push(joined(tx, tx.popn(inst.arg)))


_CONVERSIONS: dict[int, Callable[[Any], str] | None] = {0: None, 1: str, 2: repr, 3: ascii}


def _formatted(
    tx: Translator, value: VariableTracker, conversion: int, spec: str
) -> VariableTracker:
    convert = _CONVERSIONS[conversion]
    if convert is not None:
        value = tx.text(value, convert)
    return tx.text(value, spec=spec)


@opcode("FORMAT_VALUE", only=(PY311, PY312))
def format_value(tx: Translator, inst: Instruction) -> None:
    spec = tx.pop().as_constant() if inst.arg & 4 else ""
    tx.push(_formatted(tx, tx.pop(), inst.arg & 3, spec))


@opcode("CONVERT_VALUE", only=(PY313,))
def convert_value(tx: Translator, inst: Instruction) -> None:
    convert = _CONVERSIONS[inst.arg]
    assert convert is not None
    tx.push(tx.text(tx.pop(), convert))


@opcode("FORMAT_SIMPLE", only=(PY313,))
def format_simple(tx: Translator, inst: Instruction) -> None:
    tx.push(_formatted(tx, tx.pop(), 0, ""))


@opcode("FORMAT_WITH_SPEC", only=(PY313,))
def format_with_spec(tx: Translator, inst: Instruction) -> None:
    value, spec = tx.popn(2)
    tx.push(_formatted(tx, value, 0, spec.as_constant()))


def _below(tx: Translator, depth: int) -> VariableTracker:
    """The container `depth` places below the top, once the item is popped."""
    return tx.stack[-depth].realize()


@opcode("LIST_APPEND")
def list_append(tx: Translator, inst: Instruction) -> None:
    item = tx.pop()
    _below(tx, inst.arg).call_method(tx, "append", [item], {})


def _require_items(tx: Translator, value: VariableTracker, message: str) -> None:
    """The frame's TypeError at a number or None where Python goes through items."""
    value = value.realize()
    if value.is_constant() and not is_iterable(value.python_type()):
        kind = value.python_type().__name__
        raise_in_frame(TypeError, [tx.constant(message.format(kind=kind))])


@opcode("LIST_EXTEND")
def list_extend(tx: Translator, inst: Instruction) -> None:
    values = tx.pop()
    _require_items(tx, values, "Value after * must be an iterable, not {kind}")
    _below(tx, inst.arg).call_method(tx, "extend", [values], {})


@opcode("SET_ADD")
def set_add(tx: Translator, inst: Instruction) -> None:
    item = tx.pop()
    _below(tx, inst.arg).call_method(tx, "add", [item], {})


@opcode("SET_UPDATE")
def set_update(tx: Translator, inst: Instruction) -> None:
    values = tx.pop()
    _below(tx, inst.arg).call_method(tx, "update", [values], {})


@opcode("MAP_ADD")
def map_add(tx: Translator, inst: Instruction) -> None:
    key, value = tx.popn(2)
    _below(tx, inst.arg).setitem(tx, key, value)


@opcode("DICT_UPDATE")
def dict_update(tx: Translator, inst: Instruction) -> None:
    values = _mapping(tx, tx.pop())
    _below(tx, inst.arg).call_method(tx, "update", [values], {})


@opcode("DICT_MERGE")
def dict_merge(tx: Translator, inst: Instruction) -> None:
    values = _mapping(tx, tx.pop())
    target = _below(tx, inst.arg)
    if not isinstance(values, DictVariable) or not isinstance(target, DictVariable):
        unsupported("GB0008", f"** of {values.describe()}")
    if target.entries.keys() & values.entries.keys():
        unsupported("GB0007", "TypeError: got multiple values for keyword argument")
    target.call_method(tx, "update", [values], {})


def _mapping(tx: Translator, value: VariableTracker) -> VariableTracker:
    """What `**value` takes over: a new dict of what a user's mapping has."""
    value = tx.unwrapped(value)
    if isinstance(value, ObjectVariable):
        pairs = pairs_of_mapping(tx, value)
        return DictVariable({hashed(tx, key): (key, item) for key, item in pairs})
    if lookup(value.python_type(), "keys") is ABSENT:
        unsupported("GB0007", f"TypeError: {value.describe()} is not a mapping")
    return value


@opcode("LIST_TO_TUPLE", only=(PY311,))
def list_to_tuple(tx: Translator, inst: Instruction) -> None:
    tx.push(TupleVariable(tx.pop().unpack(tx)))


_NO_ITEMS = "cannot unpack non-iterable {kind} object"


@opcode("UNPACK_SEQUENCE")
def unpack_sequence(tx: Translator, inst: Instruction) -> None:
    value = tx.pop()
    if type(value) is TupleVariable and len(value.items) == inst.arg:
        tx.stack += reversed(value.items)   # nobody has looked at them
        return
    _require_items(tx, value, _NO_ITEMS)
    items = list(itertools.islice(value.draw(tx), inst.arg + 1))
    if len(items) < inst.arg:
        few = f"not enough values to unpack (expected {inst.arg}, got {len(items)})"
        raise_in_frame(ValueError, [tx.constant(few)])
    if len(items) > inst.arg:
        many = f"ValueError: too many values to unpack (expected {inst.arg})"
        if not isinstance(value, (TupleVariable, ListVariable)):
            unsupported("GB0007", many)
        raise_in_frame(ValueError, [tx.constant(many.removeprefix("ValueError: "))])
    tx.stack += reversed(items)


@opcode("UNPACK_EX")
def unpack_ex(tx: Translator, inst: Instruction) -> None:
    before, after = inst.arg & 0xFF, inst.arg >> 8
    value = tx.pop()
    _require_items(tx, value, _NO_ITEMS)
    iterator = value.iterate(tx)
    items = list(itertools.islice(iter(lambda: iterator.next(tx), None), before))
    if len(items) == before:
        items += iterator.unpack(tx)
    if len(items) < before + after:
        few = f"expected at least {before + after}, got {len(items)}"
        raise_in_frame(ValueError, [tx.constant(f"not enough values to unpack ({few})")])
    middle = ListVariable(items[before : len(items) - after])
    ending = items[len(items) - after :]
    tx.stack += reversed([*items[:before], middle, *ending])
