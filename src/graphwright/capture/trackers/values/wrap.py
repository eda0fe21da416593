"""From an existing Python value to its tracker and guards: one function per type of value."""

from __future__ import annotations

import collections
import contextvars
import enum
import functools
import operator
import re
import types
import typing
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import (
    AttrSource,
    ClassSource,
    ConstSource,
    ItemSource,
    LocalSource,
    MroSource,
    OwnItemSource,
    Source,
    TypeSource,
    ValueSource,
)
from graphwright.capture.guards.symbolic_strides import layout_of, symbolic_places
from graphwright.capture.guards.text import class_name, is_of_package, module_name
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_metaclass
from graphwright.capture.trackers.classes.classes import (
    OpaqueVariable,
    OperationVariable,
    ReferenceVariable,
)
from graphwright.capture.trackers.classes.dataclass_keys import is_known_record
from graphwright.capture.trackers.classes.enums import member_variable
from graphwright.capture.trackers.classes.named_tuples import (
    NamedTupleVariable,
    has_own_operations,
    names_its_items,
)
from graphwright.capture.trackers.containers.container_subclasses import (
    ContainerObjectVariable,
    base_of,
)
from graphwright.capture.trackers.containers.deques import DequeVariable
from graphwright.capture.trackers.containers.dict_keys import DictKeys
from graphwright.capture.trackers.containers.dynamic_length_lists import (
    GrowingDeque,
    GrowingList,
    grows,
)
from graphwright.capture.trackers.containers.input_iterators import (
    KINDS,
    OVER_RANGE,
    OutsideIterator,
    OutsideRangeIterator,
    is_followed,
)
from graphwright.capture.trackers.containers.mapping_proxies import wrap_proxy
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from graphwright.capture.trackers.containers.sets import SetVariable
from graphwright.capture.trackers.effects.context import is_mode_instance, mode_variable
from graphwright.capture.trackers.effects.context_variables import wrap_context
from graphwright.capture.trackers.library.clock_and_random import (
    OwnRandomVariable,
    is_own_generator,
)
from graphwright.capture.trackers.library.python_modules import PythonModuleVariable
from graphwright.capture.trackers.numbers.numpy_scalars import is_pure as is_numpy_function
from graphwright.capture.trackers.numbers.numpy_scalars import wrap_function, wrap_scalar
from graphwright.capture.trackers.numbers.ranges import RangeVariable
from graphwright.capture.trackers.numbers.scalar_subclasses import scalar_base, wrap_scalar_object
from graphwright.capture.trackers.numbers.symbolic_floats import float_argument, may_vary
from graphwright.capture.trackers.tensors.arrays import wrap_array
from graphwright.capture.trackers.tensors.generators import (
    DefaultGeneratorVariable,
    GeneratorVariable,
)
from graphwright.capture.trackers.tensors.nn_modules import (
    CompiledModuleVariable,
    NNModuleVariable,
    original_of,
)
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    dictoffset_of,
    flags_of,
    instance_dict,
    lookup,
)
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.weakrefs import REFERENCES, wrap_reference
from graphwright.capture.trackers.values.wrap_callables import (
    by_identity,
    same_type,
    wrap_builtin,
    wrap_class,
    wrap_compiled_function,
    wrap_lru_cache,
    wrap_method,
    wrap_new_type,
    wrap_operator_object,
    wrap_partial,
    wrap_python_function,
)
from graphwright.capture.vm.allowed import is_operation
from graphwright.capture.vm.object_protocols import check_range
from graphwright.ir.graph.module import GraphModule
from graphwright.nn.module import Module
from graphwright.nn.parameter import Buffer, Parameter
from graphwright.runtime import _core
from graphwright.runtime.symbolic.shape_env import LARGEST_INT
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import AbsentDtype
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.generator import DefaultGenerator, Generator, default_generator
from graphwright.runtime.tensor.memory_format import layout, memory_format
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph

_HEAP_TYPE = 1 << 9
_LARGEST = 4096
_MODULE_GETATTR = Module.__getattr__


def wrap_value(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """The tracker of `value`, read from `source`."""
    _refuse_own_equality(output, value)
    rule = _BY_TYPE.get(type(value)) or _rule_for(value)
    return rule(output, value, source)


def _refuse_own_equality(output: OutputGraph, value: Any) -> None:
    """A break at a class that says itself what it is equal to, and at its instances.

    Capture looks classes up in tables, which would run that code.
    """
    kind = value if issubclass(type(value), type) else type(value)
    if type(kind) is type:
        return
    if not _leaves_equality(type(kind)):
        unsupported("GB0008", f"{class_name(kind)}: its metaclass says which classes are equal")
    guard_metaclass(output, kind)


def _leaves_equality(kind: type) -> bool:
    """Whether instances of a class are equal to themselves only."""
    return lookup(kind, "__hash__") is object.__hash__ and lookup(kind, "__eq__") is object.__eq__


def _constant(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    if not isinstance(source, ConstSource):
        output.guards.equals(source, value)
    return ConstantVariable(value, source)


def _int(output: OutputGraph, value: int, source: Source) -> VariableTracker:
    varies = may_vary(source) and abs(value) < LARGEST_INT
    if varies and output.state.int_is_dynamic(value, source):
        output.guards.type_match(source, int)
        return output.int_input(value, source)
    return _constant(output, value, source)


def _float(output: OutputGraph, value: float, source: Source) -> VariableTracker:
    if may_vary(source) and output.state.float_is_dynamic(value, source):
        output.guards.type_match(source, float)
        return float_argument(output, value, source)
    return _constant(output, value, source)


def _identified_constant(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    by_identity(output, value, source)
    return ConstantVariable(value, source)


def _enum(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    by_identity(output, value, source)
    return member_variable(output.guards, value, source)


def _tensor(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    variable = output.tensor_input(value, source)
    output.guards.tensor_match(source, layout_of(value, symbolic_places(variable.fake)))
    return variable


def _too_large(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """A container whose items would take too long to go through one by one."""
    same_type(output, value, source)
    return OpaqueVariable(value, source)


def _members(value: Any) -> list[Any]:
    """What a container holds, past what a user's class makes of iteration."""
    kind: Any = base_of(type(value)) or type(value)
    return list(kind.__iter__(value))


def _is_large(value: Any) -> bool:
    kind: Any = base_of(type(value)) or type(value)
    return kind.__len__(value) > _LARGEST


def _item(value: Any, source: Source, key: Any) -> Source:
    """Where an item of a container is read, past what a user's class makes of `[]`."""
    kind = base_of(type(value))
    if kind is None or lookup(type(value), "__getitem__") is getattr(kind, "__getitem__", None):
        return ItemSource(source, key)
    return OwnItemSource(source, key, kind)


def _tuple(output: OutputGraph, value: tuple[Any, ...], source: Source) -> VariableTracker:
    if _is_large(value):
        return _too_large(output, value, source)
    members = _members(value)
    _sized(output, value, len(members), source)
    items = [output.wrap_lazily(v, _item(value, source, i)) for i, v in enumerate(members)]
    if type(value) is Size:
        return SizeVariable(items, source)
    if type(value) is tuple or not names_its_items(type(value)):
        return TupleVariable(items, source)
    output.guards.class_version(ClassSource.of(type(value)), type(value))
    held = instance_dict(value) if dictoffset_of(type(value)) else None
    return NamedTupleVariable(items, type(value), source, held)


def _guard_reads(output: OutputGraph, cls: type) -> None:
    """The method of a user's class by which `_item` decided how items are read."""
    if base_of(cls) is not None:
        output.guards.id_match(
            MroSource(ClassSource.of(cls), "__getitem__"), lookup(cls, "__getitem__"))


def _sized(output: OutputGraph, value: Any, length: int, source: Source) -> None:
    same_type(output, value, source)
    _guard_reads(output, type(value))
    if not isinstance(source, ConstSource) or issubclass(type(value), list):
        output.guards.length(source, length)


def _list(output: OutputGraph, value: list[Any], source: Source) -> VariableTracker:
    if _is_large(value):
        return _too_large(output, value, source)
    members = _members(value)
    if grows(output, value, len(members), source):
        same_type(output, value, source)
        return GrowingList(output, members, source)
    _sized(output, value, len(members), source)
    items = [output.wrap_lazily(v, _item(value, source, i)) for i, v in enumerate(members)]
    return ListVariable(items, source)


def _is_found_by_identity(key: Any) -> bool:
    """Whether a key is a tensor, or an object of a class that leaves equality to Python."""
    if type(key) in (Tensor, Parameter, Buffer):
        return True
    return _leaves_equality(type(key)) and _rule_for(key) in (_nn_module, _object)


def _guard_found_by_identity(output: OutputGraph, key: Any) -> None:
    """The class of a key leaves equality to Python."""
    if not isinstance(key, Tensor):
        for name in ("__hash__", "__eq__"):
            source = MroSource(ClassSource.of(type(key)), name)
            output.guards.id_match(source, getattr(object, name))


def _dict(output: OutputGraph, value: dict[Any, Any], source: Source) -> VariableTracker:
    if _is_large(value):
        return _too_large(output, value, source)
    keys = DictKeys(value, _members(value), _is_found_by_identity)
    if not keys.are_modelled():
        return OpaqueVariable(value, source)
    same_type(output, value, source)
    _guard_reads(output, type(value))
    output.guards.dict_keys(source, keys.guarded())
    for key in keys.objects:
        if not is_known_record(key):
            _guard_found_by_identity(output, key)
    entries = {}
    for i, known in enumerate(keys.all):
        place = _item(value, source, known) if keys.constant[i] else ValueSource(source, i)
        raw, key = keys.tracked(output, i, source)
        entries[raw] = (key, output.wrap_lazily(dict.__getitem__(value, known), place))
    factory = None
    if issubclass(type(value), collections.defaultdict):
        factory_source = AttrSource(source, "default_factory")
        factory = output.wrap(_FACTORY(value), factory_source)
        if isinstance(factory, ConstantVariable):
            factory = None
    return DictVariable(entries, type(value), source, factory)


def _holds_objects(members: Iterable[Any]) -> bool:
    """Whether some member may change, or be met elsewhere: it needs a tracker of its own."""
    return any(
        _holds_objects(member)
        if type(member) in (tuple, frozenset)
        else (_BY_TYPE.get(type(member)) or _rule_for(member)) in _OF_OBJECTS
        for member in members
    )


def _set(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    members = _members(value)
    if not all(map(_eval_frame.is_constant, members)):
        if type(value) is frozenset and not _holds_objects(members):
            return _identified_constant(output, value, source)
        return OpaqueVariable(value, source)
    if isinstance(source, ConstSource) and issubclass(type(value), frozenset):
        return ConstantVariable(value, source)
    same_type(output, value, source)
    output.guards.set_members(source, members)
    if issubclass(type(value), frozenset):
        return ConstantVariable(value, source)
    return SetVariable(set(members), source, origin=tuple(members))


def _deque(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    same_type(output, value, source)
    members, maxlen = _members(value), _MAXLEN(value)
    output.guards.equals(AttrSource(source, "maxlen"), maxlen)
    if grows(output, value, len(members), source) and len(members) != maxlen:
        return GrowingDeque(output, members, maxlen, source)
    output.guards.length(source, len(members))
    items = [output.wrap_lazily(v, _item(value, source, i)) for i, v in enumerate(members)]
    return DequeVariable(items, maxlen, source)


_MAXLEN: Any = vars(collections.deque)["maxlen"].__get__
_FACTORY: Any = vars(collections.defaultdict)["default_factory"].__get__


def _slice(output: OutputGraph, value: slice, source: Source) -> VariableTracker:
    parts = (value.start, value.stop, value.step)
    if not all(part is None or type(part) is int for part in parts):
        return OpaqueVariable(value, source)
    output.guards.equals(source, value)
    return SliceVariable([output.constant(part) for part in parts], source)


def _range(output: OutputGraph, value: range, source: Source) -> VariableTracker:
    if not isinstance(source, ConstSource):
        output.guards.equals(source, value)
    check_range(value)
    return RangeVariable(value, [ConstantVariable(i) for i in value], source)


def _range_iterator(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """Its numbers are inputs of the graph, unless numbers are to be none."""
    if isinstance(source, ConstSource) or output.state.dynamic is False or output.state.versions:
        return OpaqueVariable(value, source)
    same_type(output, value, source)
    return OutsideRangeIterator(value, source)


def _iterator(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """Its next item is read like one of what it goes through.

    Not where a comprehension is a frame of its own (up to 3.11): its function stays Python's.
    """
    if isinstance(source, LocalSource) and source.local == ".0":
        return OpaqueVariable(value, source)
    if isinstance(source, ConstSource) or output.state.versions or not is_followed(value):
        return OpaqueVariable(value, source)
    same_type(output, value, source)
    return OutsideIterator(value, source)


def _module(output: OutputGraph, value: types.ModuleType, source: Source) -> VariableTracker:
    by_identity(output, value, source)
    if not is_of_package(module_name(value)):
        output.guards.type_match(source, type(value))
    return PythonModuleVariable(value, source)


def _mode(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    if not (hasattr(value, "_mode") and hasattr(value, "_previous")):
        unsupported("GB0008", f"a {type(value).__name__} that is being made")
    same_type(output, value, source)
    mode = AttrSource(source, "_mode")
    output.guards.equals(mode, value._mode)
    for name in ("_previous", "_bits"):
        place, values = AttrSource(source, name), getattr(value, name, [])
        if values or name == "_previous":
            output.guards.list_length(place, len(values))
        for index, entered in enumerate(values):
            output.guards.equals(ItemSource(place, index), entered)
    return mode_variable(value, source)


def _nn_module(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    same_type(output, value, source)
    original = original_of(value)
    if original is not None:
        known = output.wrap(original, MroSource(TypeSource(source), "_original"))
        return CompiledModuleVariable(value, source, _MODULE_GETATTR, known)
    if isinstance(value, GraphModule):
        value.prepare()
    return NNModuleVariable(type(value), value, source, _MODULE_GETATTR)


def _container(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """An instance of a user's subclass of a container."""
    base = base_of(type(value))
    assert base is not None
    if isinstance(source, ConstSource):
        return OpaqueVariable(value, source)
    payload = _BY_TYPE[base](output, value, source)
    if isinstance(payload, OpaqueVariable):
        return payload
    if isinstance(payload, TupleVariable):
        payload = TupleVariable(payload.items)
    if isinstance(payload, DictVariable):
        payload.kind = base
    return ContainerObjectVariable(type(value), payload, value, source)


def _scalar(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """An instance of a user's subclass of a number, text, bytes or frozenset."""
    return wrap_scalar_object(output, value, source) or OpaqueVariable(value, source)


def _object(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    same_type(output, value, source)
    return ObjectVariable(type(value), value, source)


def _generator(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    same_type(output, value, source)
    return GeneratorVariable(value, source)


def _default_generator(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    if value is not default_generator:
        return OpaqueVariable(value, source)
    by_identity(output, value, source)
    return DefaultGeneratorVariable(value, source)


def _own_generator(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    same_type(output, value, source)
    return OwnRandomVariable(type(value), value, source)


def _exception(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    return _object(output, value, source)


def _proxy(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    return wrap_proxy(output, value, source) or OpaqueVariable(value, source)


def _reference(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    by_identity(output, value, source)
    return ReferenceVariable(value, source)


def _opaque(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    return OpaqueVariable(value, source)


def _refuse_subclass(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    unsupported("GB0014", f"{source} is a {type(value).__qualname__}")


Rule = Callable[["OutputGraph", Any, Source], VariableTracker]

_BY_TYPE: dict[type, Rule] = {
    int: _int,
    float: _float,
    **{kind: _constant for kind in (bool, complex, str, bytes)},
    **{kind: _constant for kind in (type(None), type(Ellipsis))},
    type(NotImplemented): _identified_constant,
    DType: _identified_constant,
    AbsentDtype: _identified_constant,
    memory_format: _identified_constant,
    layout: _identified_constant,
    Device: _identified_constant,
    Tensor: _tensor,
    Buffer: _tensor,
    Parameter: _tensor,
    tuple: _tuple,
    Size: _tuple,
    list: _list,
    dict: _dict,
    collections.OrderedDict: _dict,
    collections.defaultdict: _dict,
    collections.deque: _deque,
    set: _set,
    frozenset: _set,
    slice: _slice,
    range: _range,
    OVER_RANGE: _range_iterator,
    **dict.fromkeys(KINDS, _iterator),
    **dict.fromkeys(
        (types.FunctionType, _core.OpFunction, _core.OpMethod), wrap_python_function
    ),
    types.BuiltinFunctionType: wrap_builtin,
    types.ClassMethodDescriptorType: wrap_builtin,
    types.UnionType: _identified_constant,
    re.Pattern: _identified_constant,
    types.MappingProxyType: _proxy,
    typing.NewType: wrap_new_type,
    **dict.fromkeys(
        (operator.itemgetter, operator.attrgetter, operator.methodcaller), wrap_operator_object
    ),
    numpy.ndarray: wrap_array,
    **{kind: _identified_constant for kind in (numpy.finfo, numpy.iinfo)},
    types.MethodDescriptorType: wrap_builtin,
    types.WrapperDescriptorType: wrap_builtin,
    functools._lru_cache_wrapper: wrap_lru_cache,
    types.MethodType: wrap_method,
    types.ModuleType: _module,
    functools.partial: wrap_partial,
    property: _reference,
    types.SimpleNamespace: _object,
    contextvars.ContextVar: wrap_context,
    Generator: _generator,
    DefaultGenerator: _default_generator,
    **dict.fromkeys(REFERENCES, wrap_reference),
    _eval_frame.CompiledFunction: wrap_compiled_function,
}


def _rule_for(value: Any) -> Rule:
    """The rule for a value whose exact type has none."""
    cls = type(value)
    for kind, rule in _BY_BASE:
        if issubclass(cls, kind):
            return rule
    named = issubclass(cls, tuple) and names_its_items(cls)
    if named and not has_own_operations(cls):
        return _tuple
    if is_operation(value):
        return _operation
    if issubclass(cls, numpy.generic):
        return wrap_scalar
    if is_numpy_function(value):
        return wrap_function
    if is_mode_instance(value):
        return _mode
    if is_own_generator(value):
        return _own_generator
    if cls is object:
        return _reference
    of_python = flags_of(cls) & _HEAP_TYPE
    if base_of(cls) is not None and of_python:
        return _container
    if scalar_base(cls) is not None and of_python:
        return _scalar
    if of_python and lookup(cls, "__array_interface__") is ABSENT:
        return _object
    return _opaque


def _operation(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    by_identity(output, value, source)
    return OperationVariable(value, source)


_BY_BASE: tuple[tuple[type, Rule], ...] = (
    (_core.TensorBase, _refuse_subclass),
    (Module, _nn_module),
    (enum.Enum, _enum),
    (type, wrap_class),
    (BaseException, _exception),
    (types.ModuleType, _module),
    (numpy.dtype, _identified_constant),
)
_OF_OBJECTS: tuple[Rule, ...] = (
    *(_tensor, _refuse_subclass, _nn_module, _exception, _own_generator),
    *(_container, _scalar, _object, _opaque, _reference),
)
