"""From a function, a class or another callable to its tracker and guards."""

from __future__ import annotations

import collections
import functools
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import AttrSource, ConstSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.bound_builtin_methods import held_method
from graphwright.capture.trackers.callables.builtin_signatures import check_method
from graphwright.capture.trackers.callables.builtins import HANDLERS
from graphwright.capture.trackers.callables.functions import (
    BoundMethodVariable,
    CompiledFunctionVariable,
    PartialVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.callables.lru_cache import CachedFunctionVariable
from graphwright.capture.trackers.classes.class_statements import handler_of_dataclasses
from graphwright.capture.trackers.classes.classes import (
    BuiltinVariable,
    ClassVariable,
    OpaqueVariable,
    OperationVariable,
)
from graphwright.capture.trackers.containers.container_subclasses import ContainerObjectVariable
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import TupleVariable, exactly
from graphwright.capture.trackers.effects.context import (
    GRAD_MODES,
    ModeMethod,
    ModeVariable,
    make_grad_mode,
)
from graphwright.capture.trackers.library.clock_and_random import bound_random
from graphwright.capture.trackers.library.pure_functions import PURE_TYPES, Handler, pure_method
from graphwright.capture.trackers.library.pure_library import pure_library_function
from graphwright.capture.trackers.numbers.numpy_scalars import NUMPY_SCALARS
from graphwright.capture.trackers.tensors.checkpointing import handler_of_checkpoint
from graphwright.capture.trackers.values.namespaces import lookup
from graphwright.capture.vm.allowed import is_operation

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator


def same_type(output: OutputGraph, value: Any, source: Source) -> None:
    """Guard the type of a value that a place holds."""
    if not isinstance(source, ConstSource):
        output.guards.type_match(source, type(value))


def by_identity(output: OutputGraph, value: Any, source: Source) -> None:
    """Guard which object a place holds."""
    if not isinstance(source, ConstSource):
        output.guards.id_match(source, value)


def wrap_python_function(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A function of Python's, or what stands for it."""
    handler = HANDLERS.get(value) or handler_of_dataclasses(value) or handler_of_checkpoint(value)
    handler = handler or pure_library_function(value)
    if handler is not None or is_operation(value):
        by_identity(output, value, source)
        if handler is not None:
            return BuiltinVariable(value, handler, source)
        return OperationVariable(value, source)
    output.guards.code_match(source, value)
    return UserFunctionVariable(value, source)


def wrap_builtin(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A function of C, its methods bound or not."""
    owner = getattr(value, "__self__", None)
    bound = owner is not None and not issubclass(type(owner), (types.ModuleType, type))
    held = held_method(output, value, source) if bound else None
    if held is not None:
        return held
    by_identity(output, value, source)
    if is_operation(value):
        return OperationVariable(value, source)
    handler = bound_random(value) if bound else HANDLERS.get(value)
    kind = owner if issubclass(type(owner), type) else getattr(value, "__objclass__", None)
    if handler is None and kind in PURE_TYPES:
        handler = pure_method(value)
    if handler is None and owner is None and kind in _CONTAINERS:
        handler = _method_of_first(value)
    return BuiltinVariable(value, handler, source)


_CONTAINERS = (
    list, tuple, dict, set, frozenset, collections.deque, collections.OrderedDict,
    collections.defaultdict,
)  # fmt: skip


def _method_of_first(static: Any) -> Handler:
    """The handler of a method that is called through its class: `dict.get(table, key)`."""
    kind, name = static.__objclass__, static.__name__

    def handler(
        tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        owner = args[0].realize() if args else None
        if isinstance(owner, ContainerObjectVariable) and lookup(owner.base, name) is static:
            method = owner.builtin_attribute(tx, static, name)
            if method is not None:
                return method.call(tx, args[1:], kwargs)
        if owner is None or owner.python_type() is not kind:
            unsupported("GB0004", f"call of {kind.__name__}.{name}")
        check_method(kind, name, len(args) - 1, tuple(kwargs))
        return owner.call_method(tx, name, args[1:], kwargs)

    return handler


def wrap_class(output: OutputGraph, value: type, source: Source) -> VariableTracker:
    """A class, which calls make instances of."""
    by_identity(output, value, source)
    if value in GRAD_MODES:
        return BuiltinVariable(value, functools.partial(make_grad_mode, value), source)
    handler = HANDLERS.get(value) or NUMPY_SCALARS.get(value)
    if handler is not None:
        return BuiltinVariable(value, handler, source)
    return ClassVariable(value, source)


def wrap_lru_cache(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A function with a cache."""
    by_identity(output, value, source)
    return CachedFunctionVariable(value, source)


def wrap_method(output: OutputGraph, value: types.MethodType, source: Source) -> VariableTracker:
    """A method bound to its owner."""
    drawing = bound_random(value)
    if drawing is not None:
        by_identity(output, value, source)
        return BuiltinVariable(value, drawing, source)
    same_type(output, value, source)
    function = output.wrap(value.__func__, AttrSource(source, "__func__"))
    owner = output.wrap(value.__self__, AttrSource(source, "__self__"))
    if isinstance(owner, ModeVariable):
        return ModeMethod(owner, value.__func__.__name__, source)
    return BoundMethodVariable(function, owner, source)


def wrap_operator_object(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """An `operator.itemgetter` and the like, which says what it is made of."""
    make, given = value.__reduce__()[:2]
    keywords = make.keywords if type(make) is functools.partial else {}
    given = given or make.args
    if not all(map(_eval_frame.is_constant, (*given, *keywords.values()))):
        return OpaqueVariable(value, source)
    by_identity(output, value, source)
    handler = HANDLERS[type(value)]

    def call(tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        named = {name: tx.constant(part) for name, part in keywords.items()}
        return handler(tx, [*map(tx.constant, given)], named).call(tx, args, kwargs)

    return BuiltinVariable(value, call, source)


def wrap_new_type(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A `typing.NewType`, which gives back its argument."""
    by_identity(output, value, source)
    return BuiltinVariable(value, lambda tx, args, kwargs: exactly(1, args)[0].realize(), source)


def wrap_partial(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A `functools.partial`, with what it holds."""
    same_type(output, value, source)
    function = output.wrap(value.func, AttrSource(source, "func"))
    args = output.wrap(value.args, AttrSource(source, "args"))
    keywords = output.wrap(value.keywords, AttrSource(source, "keywords"))
    if not isinstance(args, TupleVariable) or not isinstance(keywords, DictVariable):
        unsupported("GB0008", f"{source}")
    kwargs = {key: entry[1] for key, entry in keywords.entries.items()}
    return PartialVariable(function, args.items, kwargs, source, (args, keywords))


def wrap_compiled_function(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A function that `compile` gave: inside of a frame, the one it wraps."""
    by_identity(output, value, source)
    inner = output.wrap(value.__wrapped__, ConstSource(value.__wrapped__, source.name()))
    return CompiledFunctionVariable(value, inner, source)
