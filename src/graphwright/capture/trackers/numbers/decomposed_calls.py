"""Composite operations with a symbolic number among their arguments: the frame inlines them.

`cross_entropy(x, y, label_smoothing=s)` is `log_softmax`, `nll_loss` and arithmetic with `s`. Only
the arithmetic takes the number as an input of the graph; the whole would be for one value of it.
So it is with an operation that computes a float from a size, or from an int: `quantile(x, 0.3)`
is made of `sort`, `gather` and arithmetic with `0.3 * (x.shape[0] - 1)`. Which ones do is found
out when they are run as a whole.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Reconsidered, Unsupported
from graphwright.capture.guards.source import ConstSource
from graphwright.capture.guards.text import function_module
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.functions import UserFunctionVariable
from graphwright.capture.trackers.containers.sequences import SequenceVariable
from graphwright.capture.trackers.numbers.scalar_operands import (
    entry_of,
    in_range,
    numbers_read,
    rule_for,
)
from graphwright.capture.trackers.numbers.size_quotients import QuotientVariable
from graphwright.capture.trackers.numbers.symbolic_floats import FloatVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import NumberRead
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import Raised
from graphwright.runtime import _core
from graphwright.runtime.dispatch import AUTOCAST
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.op_errors import is_refusal
from graphwright.runtime.ops.argument_forms import NORMALISERS
from graphwright.runtime.ops.creation.arange_and_windows import arange_of_floats
from graphwright.runtime.ops.int_arguments import CONVERSIONS
from graphwright.runtime.ops.schema import TENSOR_LIST_TYPES
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.symbolic.symint import hint_of
from graphwright.runtime.tensor.dtypes import get_default_dtype
from graphwright.runtime.tensor.promotion import to_float

if TYPE_CHECKING:
    from graphwright.capture.frame.state import FrameState
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_OPS = "graphwright.runtime.ops."


def run_parts(
    tx: Translator, function: Any, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """The result of an inlined operation, or helper of one; None: it runs as one node.

    An operation whose parts do not fit into the graph is not inlined a second time.
    """
    if _is_helper(function):
        inside = tx.globals_()["__name__"].startswith(_OPS)
        return _inlined(tx, function, args, kwargs) if inside else None
    entry = getattr(function, "__gw_op__", None)
    if entry is not None:
        args, kwargs = numbers_read(entry, args, kwargs)
    values = (*args, *kwargs.values())
    if entry is None or not _may_be_parts(tx.output.state, entry, values):
        return None
    varies = any(_varies(tx, value) for value in values)
    if not (
        varies
        or _has_other_scalar(tx, entry, args, kwargs)
        or _fixing(entry) in tx.output.state.lessons
    ):
        return None
    env, parts = tx.output.shape_env, _parts_of(entry)
    assert parts is not None
    fixed = env.fixed
    try:
        given = [tx.constant(v) for v in _by_position(function, entry.names, args, kwargs)]
        _check_numbers(tx, entry, given)
        given = _normalised(tx, entry, given)
        _check_refusals(entry, given)
        result = _inlined(tx, parts, given, {})
    except (Raised, TypeError, Unsupported) as error:
        raise Reconsidered(entry.name) from error
    if env.fixed > fixed and not varies:
        raise Reconsidered(entry.name)
    return result


def reconsider_as_parts(state: FrameState, target: Any, args: Iterable[VariableTracker]) -> None:
    """An operation that was run as a whole has fixed a size or an int to its value: raise
    Reconsidered where its parts may do without."""
    entry = entry_of(target)
    if entry is None or _fixing(entry) in state.lessons:
        return
    if _may_be_parts(state, entry, args):
        raise Reconsidered(_fixing(entry))


def _fixing(entry: Op) -> str:
    """The lesson that an operation as a whole fixes what varies."""
    return f"parts of {entry.name}"


def _parts_of(entry: Op) -> Callable[..., Any] | None:
    return arange_of_floats if entry.name == "arange" else entry.decompose


def _may_be_parts(state: FrameState, entry: Op, args: Iterable[VariableTracker]) -> bool:
    """Whether the parts of an operation can be run in its place, as far as is known."""
    if _parts_of(entry) is None or _core.modes() & AUTOCAST or entry.name in state.lessons:
        return False
    own_gradient = entry.vjp is not None and entry.kind is not Kind.RANDOM
    if entry.kind not in (*_MADE_OF_OTHERS, *_LOWERED) or (own_gradient and _has_gradients(args)):
        return False
    return rule_for("call_function", entry.name) is None


def _varies(tx: Translator, value: VariableTracker) -> bool:
    """Whether the number has been another one: not where all are inputs from the start."""
    value = value.realize()
    if isinstance(value, FloatVariable):
        return any(tx.output.state.has_varied(source) for source in value.leaves)
    return isinstance(value, QuotientVariable) or (
        isinstance(value, NumberRead) and value.kind is float
    )


def _has_other_scalar(tx: Translator, entry: Op, args: Args, kwargs: Kwargs) -> bool:
    """Whether an int that has been another one is given where a float could be."""
    if entry.kind is Kind.CREATION:
        return False
    types = {param.name: param.type for param in entry.schema.params}
    given = [*zip(types, args, strict=False), *kwargs.items()]
    return any(types.get(name) in _SCALARS and _is_other_int(tx, value) for name, value in given)


def _is_other_int(tx: Translator, value: VariableTracker) -> bool:
    value = value.realize()
    if not isinstance(value, SymIntVariable) or value.source is None:
        return False
    return tx.output.state.ints.get(value.source.name(), 0) is None


def _has_gradients(args: Iterable[VariableTracker]) -> bool:
    """Whether the operation is recorded: its own gradient may be another than that of its parts.
    """
    tensors = [arg for arg in map(_realized, args) if isinstance(arg, TensorVariable)]
    return _core.grad_enabled() and any(tensor.fake.requires_grad for tensor in tensors)


def _realized(arg: VariableTracker) -> VariableTracker:
    return arg.realize()


def _by_position(
    function: Any, names: tuple[str, ...], args: Args, kwargs: Kwargs
) -> Iterable[Any]:
    """Arguments and defaults of these parameters; TypeError where others are given."""
    signature = inspect.signature(function)
    if any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        raise TypeError("a parameter that takes several arguments")
    given = signature.bind(*args, **kwargs).arguments
    if given.keys() - set(names):
        raise TypeError("a parameter that the operation itself does not have")
    defaults = {name: signature.parameters[name].default for name in names}
    left_out = {name: None if value is ... else value for name, value in defaults.items()}
    return [given.get(name, left_out[name]) for name in names]


def _check_numbers(tx: Translator, entry: Op, given: Args) -> None:
    """Raise TypeError where a symbolic number, or a tensor, is given for another kind of
    argument, which the operation as a whole refuses or reads, and where a float is out of range.
    """
    tensors = [v.fake for v in map(_realized, given) if isinstance(v, TensorVariable)]
    dtype = to_float(tensors[0].dtype) if tensors else get_default_dtype()
    for param, value in zip(entry.schema.params, map(_realized, given), strict=True):
        kind = param.type.rstrip("?*")
        parts = value.parts() if isinstance(value, SequenceVariable) else [value]
        for part in map(_realized, parts):
            if isinstance(part, (FloatVariable, QuotientVariable, NumberRead)):
                taken = kind in _FLOATS and in_range(tx, part, dtype)
            elif isinstance(part, SymIntVariable):
                taken = kind in _FLOATS or kind in _WHOLE
            else:
                taken = not isinstance(part, TensorVariable) or kind not in _WHOLE
            if not taken:
                raise TypeError(f"argument {param.name!r} is no {kind}")


def _normalised(tx: Translator, entry: Op, given: Args) -> Args:
    """The arguments in the one form that the parts are given by the operation as a whole."""
    ndim = 0
    for slot, is_list in entry.tensor_slots[:1]:
        first = given[slot].realize().as_example()
        ndim = (first[0] if is_list else first).ndim
    return [
        _in_one_form(tx, param.type, value, ndim)
        for param, value in zip(entry.schema.params, given, strict=True)
    ]


def _in_one_form(tx: Translator, kind: str, value: VariableTracker, ndim: int) -> VariableTracker:
    if kind not in NORMALISERS or kind in TENSOR_LIST_TYPES:
        return value
    function, more = NORMALISERS[kind]
    behind = [] if more is None else [ndim + more]
    value = value.realize()
    if type(value) is not ConstantVariable:
        return _inlined(tx, function, [value, *map(tx.constant, behind)], {})
    try:
        return tx.wrap_plain(function(value.value, *behind))
    except (IndexError, RuntimeError) as error:
        raise TypeError(str(error)) from error


def _check_refusals(entry: Op, given: Args) -> None:
    """Raise TypeError where the operation as a whole refuses the arguments, as they are now."""
    if entry.meta is None:
        return
    try:
        entry.meta(*map(_at_present, given))
    except Exception as error:
        if not is_refusal(error):
            raise
        raise TypeError(str(error)) from error


def _at_present(value: VariableTracker) -> Any:
    """An argument with the sizes and numbers of this call, of which nothing is assumed."""
    value = value.realize()
    if isinstance(value, TensorVariable):
        fake = value.present().fake
        shape, strides = map(hint_of, fake.shape), map(hint_of, fake.stride())
        return make_fake(tuple(shape), tuple(strides), fake.dtype, fake.device)
    if isinstance(value, (FloatVariable, QuotientVariable)):
        return value.seen
    if isinstance(value, NumberRead):
        return value.kind(1)
    if isinstance(value, SymIntVariable):
        return hint_of(value.value)
    if isinstance(value, SequenceVariable):
        return tuple(map(_at_present, value.items))
    return value.as_example()


def _is_helper(function: Any) -> bool:
    """Whether it is one of the functions with which operations are written."""
    own = type(function) is types.FunctionType and function_module(function).startswith(_OPS)
    return own and getattr(function, "__gw_op__", None) is None


def _inlined(
    tx: Translator, function: Callable[..., Any], args: Args, kwargs: Kwargs
) -> VariableTracker:
    assert isinstance(function, types.FunctionType)
    known = ConstSource(function, function.__qualname__)
    return UserFunctionVariable(function, known).call(tx, args, kwargs)


_SCALARS = frozenset(["float", "Scalar"])
_FLOATS = frozenset([*_SCALARS, "Scalar|str", "Operand", "object"])
_WHOLE = frozenset([*CONVERSIONS, *NORMALISERS]) - TENSOR_LIST_TYPES
_MADE_OF_OTHERS = (Kind.COMPOSITE, Kind.RANDOM)
_LOWERED = (Kind.REDUCTION, Kind.CONTRACTION, Kind.CREATION)
"""What has parts for generated code only."""
