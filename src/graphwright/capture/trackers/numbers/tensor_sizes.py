"""Tensors in the place of sizes: `x.view(div(x.shape[0], 2, rounding_mode="floor"), -1)`.

Where the integer is known, the operation is given that; else the graph ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.effects.data_dependent_errors import name_of
from graphwright.capture.guards.constant_tensors import integer_of
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SliceVariable,
    TupleVariable,
)
from graphwright.capture.trackers.numbers.scalar_operands import entry_of
from graphwright.capture.trackers.tensors.tensor import TensorVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.object_protocols import Values

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_SIZES = frozenset(
    ["int", "int?", "SymInt", "SymInt?", "Size", "Size?", "Size*", "Scalar", "Scalar?"]
)
_MADE_ANEW = {"new_zeros": None, "new_ones": None, "new_empty": None, "new_full": 2}
"""Methods whose arguments are sizes, up to a place."""


def integer_arguments(
    tx: Values, target: object, args: Args, kwargs: Kwargs
) -> tuple[Args, Kwargs]:
    """The arguments of an operation, with known integers for 0-d tensors where it takes sizes."""
    name = name_of(target)
    if name == "getitem":
        return [args[0], _with_bounds(tx, args[1])], kwargs
    if name in _MADE_ANEW:
        end = _MADE_ANEW[name] or len(args)
        return [*args[:1], *[_with_integers(tx, arg) for arg in args[1:end]], *args[end:]], kwargs
    entry = entry_of(target)
    if entry is None:
        return args, kwargs
    types = {param.name: param.type for param in entry.schema.params}
    kinds = list(types.values())
    kinds += [kind for kind in kinds[-1:] if kind.endswith("*")] * (len(args) - len(kinds))
    by_place = [
        _with_integers(tx, arg) if kind in _SIZES else arg
        for arg, kind in zip(args, kinds, strict=False)
    ]
    named = {
        name: _with_integers(tx, arg) if types.get(name) in _SIZES else arg
        for name, arg in kwargs.items()
    }
    return [*by_place, *args[len(by_place) :]], named


def _with_bounds(tx: Values, key: VariableTracker) -> VariableTracker:
    """A key with integers for the bounds of slices; other tensors in it choose elements."""
    if isinstance(key, TupleVariable):
        return tx.tuple_of([_with_bounds(tx, item.realize()) for item in key.items])
    if isinstance(key, SliceVariable):
        return SliceVariable([_with_integers(tx, item.realize()) for item in key.bounds])
    return key


def _with_integers(tx: Values, arg: VariableTracker) -> VariableTracker:
    if isinstance(arg, (ListVariable, TupleVariable)):
        items = [_with_integers(tx, item.realize()) for item in arg.items]
        return tx.tuple_of(items)
    integer = integer_of(arg.node) if isinstance(arg, TensorVariable) else None
    return arg if integer is None else tx.wrap_plain(integer)
