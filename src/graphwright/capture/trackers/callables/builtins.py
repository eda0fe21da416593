"""Builtin functions and types: one handler each, `handler(tx, args, kwargs)`."""

from __future__ import annotations

import builtins
import collections
import copy
import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.amp.autocast import FACTS as AUTOCAST_FACTS
from graphwright.amp.autocast import autocast
from graphwright.autograd.grad_mode import is_grad_enabled
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.opaque_container_sources import PLAIN
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.functions import PartialVariable
from graphwright.capture.trackers.callables.super import SuperVariable
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.classes.class_statements import MADE_CLASSES, make_class
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable, Handler
from graphwright.capture.trackers.classes.named_tuples import (
    NamedTupleVariable,
    has_own_operations,
)
from graphwright.capture.trackers.containers.container_subclasses import (
    ContainerObjectVariable,
    new_tuple,
)
from graphwright.capture.trackers.containers.iterators import (
    EnumerateIterator,
    FilterIterator,
    MapIterator,
    ReversedDictIterator,
    ReversedIterator,
    ReversedSnapshot,
    ZipIterator,
    stop_iteration,
)
from graphwright.capture.trackers.containers.mappings import (
    DictVariable,
    DictView,
    factory_of,
    hashed,
)
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
    whole_number,
)
from graphwright.capture.trackers.containers.sets import (
    SetVariable,
    frozenset_of,
    seen_by_sets,
    set_of,
)
from graphwright.capture.trackers.effects.context import MODE_FUNCTIONS, make_autocast
from graphwright.capture.trackers.library.library import LIBRARY, by_python
from graphwright.capture.trackers.library.operator_module import OPERATOR_FUNCTIONS
from graphwright.capture.trackers.library.pure_functions import pure_method
from graphwright.capture.trackers.library.python_modules import PYTHON_MODULES
from graphwright.capture.trackers.numbers.numeric_builtins import NUMBERS, folded
from graphwright.capture.trackers.numbers.numpy_scalars import NUMPY_FUNCTIONS
from graphwright.capture.trackers.numbers.scalar_subclasses import new_scalar_object
from graphwright.capture.trackers.tensors.backward_hooks import WATCHES
from graphwright.capture.trackers.tensors.control_flow import CONTROL_FLOW
from graphwright.capture.trackers.tensors.differentiation import DIFFERENTIATION
from graphwright.capture.trackers.tensors.packed import PACKED
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import fold
from graphwright.capture.trackers.values.copying import copy_handler, deepcopy_handler
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.capture.trackers.values.introspection import REFLECTION
from graphwright.capture.trackers.values.isinstance import is_instance, is_subclass
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.vm import polyfills
from graphwright.capture.vm.allowed import is_compiling
from graphwright.runtime import _core
from graphwright.runtime.tensor.size import Size

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def _no_keywords(kwargs: Kwargs) -> None:
    if kwargs:
        unsupported("GB0008", f"keyword arguments {sorted(kwargs)} of a builtin")


def _effect(name: str) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        unsupported("GB0003", f"call of {name}()")

    return handler


def _len(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return args[0].realize().length(tx)


def _range(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    _no_keywords(kwargs)
    bounds = [whole_number(tx, arg.realize()).as_constant() for arg in args]
    return tx.range_of(fold(range, *bounds))


def _enumerate(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    start = kwargs.get("start", args[1] if len(args) > 1 else tx.constant(0))
    if not issubclass(start.python_type(), int):
        raise_in_frame(TypeError)
    return EnumerateIterator(args[0].realize().iterate(tx), start.as_constant())


def _zip(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    strict = tx.truth(kwargs["strict"]) if "strict" in kwargs else False
    return ZipIterator([arg.realize().iterate(tx) for arg in args], strict)


def _map(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    function, *values = args
    return MapIterator(function.realize(), [value.realize().iterate(tx) for value in values])


def _filter(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    function, values = (arg.realize() for arg in args)
    chosen = None if function.has_type(type(None)) else function
    return FilterIterator(chosen, values.iterate(tx))


def _iter(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) == 2:
        return by_python(polyfills.call_iterator, type(iter(int, 1)))(tx, args, kwargs)
    return args[0].realize().iterate(tx)


def _next(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    item = args[0].realize().next(tx)
    if item is not None:
        return item
    if len(args) == 1:
        stop_iteration(tx, args[0].realize())
    return args[1]


def _list(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return ListVariable(args[0].realize().unpack(tx) if args else [])


def _tuple(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if args and type(args[0].realize()) is TupleVariable:
        return args[0].realize()
    return TupleVariable(args[0].realize().unpack(tx) if args else [])


def _size(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    items = args[0].realize().unpack(tx) if args else []
    if not all(issubclass(item.python_type(), int) for item in items):
        unsupported("GB0004", "creation of a Size of what may be no ints")
    return SizeVariable(items)


def _dict(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    made = DictVariable({})
    made.call_method(tx, "update", args, kwargs)
    tx.side_effects.mutated.pop(made, None)
    return made


def _dict_kind(kind: type) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        made = DictVariable({}, kind)
        if kind is collections.defaultdict and args:
            factory, *args = args
            made.default_factory = factory_of(tx, factory)
        made.call_method(tx, "update", args, kwargs)
        tx.side_effects.mutated.pop(made, None)
        return made

    return handler


def _tuple_new(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    cls, *values = args
    cls = cls.realize()
    items = values[0].realize().unpack(tx) if values else []
    if isinstance(cls, BuiltinVariable) and cls.value is tuple:
        return TupleVariable(items)
    kind: Any = cls.value if isinstance(cls, ClassVariable) else None
    if kind is not None and lookup(kind, "_fields") is not ABSENT and not has_own_operations(kind):
        return NamedTupleVariable(items, kind)
    if isinstance(kind, type) and cls.source is not None:
        made = new_tuple(tx, kind, cls.source, items)
        if made is not None:
            return made
    unsupported("GB0004", f"tuple.__new__ of {cls.describe()}")


def _scalar_new(kind: type) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        cls, *values = [arg.realize() for arg in args]
        made = None
        if isinstance(cls, BuiltinVariable) and cls.value is kind:
            made = cls.call(tx, values, kwargs)
        elif isinstance(cls, ClassVariable) and issubclass(cls.value, kind):
            assert cls.source is not None
            made = new_scalar_object(tx, cls.value, cls.source, values, kwargs)
        return made or unsupported("GB0004", f"{kind.__name__}.__new__ of {cls.describe()}")

    return handler


def _set(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return set_of(tx, args[0] if args else None)


def _frozenset(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return frozenset_of(tx, args[0] if args else None)


def _fromkeys(kind: type) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if kwargs and kind is not collections.OrderedDict:
            raise_in_frame(TypeError)
        value = next(iter([*args[1:], *kwargs.values()]), tx.constant(None))
        entries: dict[Any, tuple[VariableTracker, VariableTracker]] = {}
        for key in args[0].realize().draw(tx):
            entries.setdefault(hashed(tx, key, entries), (key.realize(), value))
        return DictVariable(entries, kind)

    return handler


def _slice(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    none = tx.constant(None)
    bounds = [none, args[0], none] if len(args) == 1 else [*args, none][:3]
    return SliceVariable(bounds)


def _any(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    iterator = args[0].realize().iterate(tx)
    while (item := iterator.next(tx)) is not None:
        if tx.truth(item):
            return tx.constant(True)
    return tx.constant(False)


def _all(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    iterator = args[0].realize().iterate(tx)
    while (item := iterator.next(tx)) is not None:
        if not tx.truth(item):
            return tx.constant(False)
    return tx.constant(True)


def _extreme(function: Callable[..., Any], better: Callable[..., Any]) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        items = args[0].realize().draw(tx) if len(args) == 1 else iter(args)
        key = kwargs.get("key")
        if key is not None and key.is_none():
            key = None
        first = next(items, None)
        if first is None:
            if "default" in kwargs:
                return kwargs["default"]
            return tx.constant(fold(function, ()))    # which raises
        best = first.realize()
        best_key = key.call(tx, [best], {}) if key is not None else best
        for item in items:
            item_key = key.call(tx, [item], {}) if key is not None else item
            if tx.truth(tx.operate(better, item_key, best_key)):
                best, best_key = item.realize(), item_key
        return best

    return handler


def _past_class(tx: Translator, value: VariableTracker) -> VariableTracker:
    """What iteration goes over in an instance of a set's subclass that leaves it to the base."""
    plain = isinstance(value, ContainerObjectVariable) and value.plain(tx, "__iter__")
    return seen_by_sets(value) if plain else value


def _sorted(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    given = args[0].realize()
    values = _past_class(tx, given)
    if values is not given:
        given.length_hint(tx)
    if isinstance(values, SetVariable) and not values.ordered and "key" not in kwargs:
        members = values.real if is_totally_ordered(values.real) else set_of(tx, values).unpack(tx)
        items = [tx.constant(member) for member in sorted(members)]
    else:
        items = values.unpack(tx)
    return ListVariable(tx.sorted_items(items, kwargs))


def is_totally_ordered(members: set[Any]) -> bool:
    """Whether sorting gives one order, whatever the order before."""
    kinds = {type(member) for member in members}
    return kinds <= {int, bool} or kinds == {str} or kinds == {bytes}


def _reversed(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    value = args[0].realize()
    if isinstance(value, DictVariable):
        return ReversedDictIterator(value, "keys", value)
    if isinstance(value, DictView):
        return ReversedDictIterator(value.owner, value.kind, value)
    if isinstance(value, ObjectVariable):
        return value.reversed(tx)
    if isinstance(value, TensorVariable):
        flat = value.fake.ndim == 0
        return value if flat else value.call_method(tx, "flip", [tx.constant(0)], {})
    if not hasattr(value, "items"):
        unsupported("GB0008", f"reversed() of {value.describe()}")
    if isinstance(value, (ListVariable, TupleVariable)):
        return ReversedIterator(value)
    return ReversedSnapshot(list(reversed(value.items)))


def _type(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) != 1:
        return make_class(tx, args, kwargs)
    value = args[0].realize()
    if isinstance(value, ClassVariable):
        return tx.constant_class(type(value.value))
    return tx.class_of(value)


def _callable(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    cls = args[0].realize().python_type()
    guard_member(tx, cls, "__call__")
    return tx.constant(lookup(cls, "__call__") is not ABSENT)


def _hasattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.constant(tx.attribute_or_none(args[0], args[1].as_constant()) is not None)


def _getattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) < 3:
        return tx.attribute(args[0], args[1].as_constant())
    found = tx.attribute_or_none(args[0], args[1].as_constant())
    return found if found is not None else args[2]


def _setattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().setattr(tx, args[1].as_constant(), args[2])
    return tx.constant(None)


def _delattr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    args[0].realize().delattr(tx, args[1].as_constant())
    return tx.constant(None)


def _str(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) == 1 and not kwargs:
        return tx.text(args[0])
    return folded(str)(tx, args, kwargs)


def _repr(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.text(args[0], repr)


def _format(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    spec = args[1].as_constant() if len(args) > 1 else ""
    if not isinstance(spec, str):
        unsupported("GB0007", "TypeError: format() argument 2 must be str")
    return tx.text(args[0], spec=spec)


def _super(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) == 1:
        unsupported("GB0004", "super() without an instance")
    cls, owner = args if args else tx.super_arguments()
    cls = cls.realize()
    if not isinstance(cls, ClassVariable):
        unsupported("GB0008", f"super() of {cls.describe()}")
    return SuperVariable.of(tx, cls.value, owner.realize())


def _partial(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    function = args[0].realize()
    if isinstance(function, PartialVariable) and not function.attributes:
        given = [*function.args, *args[1:]]
        return PartialVariable(function.function, given, {**function.kwargs, **kwargs})
    if not tx.truth(_callable(tx, [function], {})):
        unsupported("GB0007", f"TypeError: partial() of {function.describe()}")
    return PartialVariable(function, args[1:], kwargs)


def _true(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.constant(True)


def _false(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.constant(False)


def _grad_enabled(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    tx.output.tape.require_history()
    return tx.constant(_core.grad_enabled())


HANDLERS: dict[Any, Handler] = {
    len: _len,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    map: _map,
    filter: _filter,
    iter: _iter,
    next: _next,
    list: _list,
    tuple: _tuple,
    Size: _size,
    dict: _dict,
    set: _set,
    frozenset: _frozenset,
    **{
        kind.fromkeys: _fromkeys(kind)
        for kind in (dict, collections.OrderedDict, collections.defaultdict)
    },
    slice: _slice,
    any: _any,
    all: _all,
    min: _extreme(min, operator.lt),
    max: _extreme(max, operator.gt),
    sorted: _sorted,
    reversed: _reversed,
    type: _type,
    isinstance: is_instance,
    issubclass: is_subclass,
    callable: _callable,
    hasattr: _hasattr,
    getattr: _getattr,
    setattr: _setattr,
    delattr: _delattr,
    str: _str,
    repr: _repr,
    ascii: lambda tx, args, kwargs: tx.text(args[0], ascii),
    ord: folded(ord),
    chr: folded(chr),
    hex: folded(hex),
    bin: folded(bin),
    bytes: pure_method(bytes),
    format: _format,
    super: _super,
    print: _effect("print"),
    input: _effect("input"),
    open: _effect("open"),
    builtins.exec: _effect("exec"),
    builtins.eval: _effect("eval"),
    collections.OrderedDict: _dict_kind(collections.OrderedDict),
    collections.defaultdict: _dict_kind(collections.defaultdict),
    tuple.__new__: _tuple_new,
    **{kind.__new__: _scalar_new(kind) for kind in PLAIN},
    oct: folded(oct),
    copy.copy: copy_handler,
    copy.deepcopy: deepcopy_handler,
    **REFLECTION,
    is_compiling: _true,
    _core.is_profiling: _false,
    **{fact: folded(fact) for fact in (
        _core.cuda_absence, _core.cuda_device_count, _core.cuda_current_device)},
    is_grad_enabled: _grad_enabled,
    autocast: make_autocast,
    **{fact: folded(fact) for fact in AUTOCAST_FACTS},
    **MODE_FUNCTIONS,
    **NUMBERS,
    **NUMPY_FUNCTIONS,
    **PACKED,
    **WATCHES,
    **PYTHON_MODULES,
    **OPERATOR_FUNCTIONS,
    functools.partial: _partial,
    **LIBRARY,
    **DIFFERENTIATION,
    **CONTROL_FLOW,
    **MADE_CLASSES,
}
