"""Whether a call can get hold of tensors: what it is given, and what its code names.

Looks at the arguments, and at the globals, closures, defaults, functions and classes that can be
found from the code without running it. A call for which there is no tensor, nothing of this
package and no iterator of C may get tensors from elsewhere: the translation of the first sees it.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from graphwright.capture._eval_frame import CompiledFunction
from graphwright.capture.allowed import may_inline
from graphwright.capture.bytecode import decode
from graphwright.capture.guard_text import (
    class_module,
    function_module,
    is_of_package,
    module_name,
)
from graphwright.capture.intact import builtins_of
from graphwright.capture.variables.namespaces import (
    ABSENT,
    instance_dict,
    lookup,
    mro_of,
    namespace_of,
)

_PACKAGE = "graphwright"
_SCALARS = frozenset([int, float, bool, complex, str, bytes, type(None)])
_DEPTH = 2
_MOST_MEMBERS = 100
_MOST_CODES = 200
_OF_ITERATORS = ("builtins", "itertools")
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")


class _Found(Exception):
    """A tensor, or something that tensors may come from."""


def places_without_tensors(
    function: types.FunctionType, slots: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """None where a call may get hold of tensors; else the globals that this depends on.

    Returns: `(dict, name, dict, name, ...)`, as the dispatcher takes them.
    """
    search = _Search()
    try:
        search.values(slots, _DEPTH)
        search.value(function, _DEPTH)
    except _Found:
        return None
    return tuple(search.places)


class _Search:
    """places: globals that hold data, and may hold other data in another call."""

    def __init__(self) -> None:
        self.places: list[Any] = []
        self.seen: dict[int, Any] = {}

    def _is_new(self, value: Any) -> bool:
        if id(value) in self.seen:
            return False
        self.seen[id(value)] = value
        return True

    def values(self, values: Iterable[Any], depth: int) -> None:
        """The first of several values, each looked into `depth` levels deep."""
        for value, _ in zip(values, range(_MOST_MEMBERS), strict=False):
            self.value(value, depth)

    def value(self, value: Any, depth: int) -> None:
        """A value, and what can be reached from it."""
        kind = type(value)
        if kind in _SCALARS or kind is types.ModuleType:
            return
        if kind is CompiledFunction:
            return self.value(value.__wrapped__, depth)
        if issubclass(kind, type):
            return self._class(value)
        self._class(kind)
        visit = _BY_TYPE.get(kind)
        if visit is not None:
            return visit(self, value, depth)
        if lookup(kind, "__next__") is not ABSENT and class_module(kind) in _OF_ITERATORS:
            raise _Found
        if depth:
            self.values(list(instance_dict(value).values()), depth - 1)
        return None

    def _members(self, value: Any, depth: int) -> None:
        if depth:
            self.values(list(value), depth - 1)

    def _mapping(self, value: Any, depth: int) -> None:
        if depth:
            self.values(list(value.values()), depth - 1)

    def _class(self, cls: type) -> None:
        """A class: the functions of those that programs define."""
        if not self._is_new(cls):
            return
        for base in mro_of(cls):
            module = class_module(base)
            if is_of_package(module):
                raise _Found
            if _is_standard(module):
                continue
            for held in list(namespace_of(base).values()):
                if type(held) in (staticmethod, classmethod):
                    held = held.__func__
                if type(held) in (types.FunctionType, property):
                    self.value(held, _DEPTH)

    def _function(self, function: types.FunctionType, depth: int) -> None:
        if not self._is_new(function):
            return
        module = function_module(function)
        if is_of_package(module):
            raise _Found
        if _is_standard(module) or not may_inline(function.__code__.co_filename):
            return
        for cell in function.__closure__ or ():
            try:
                self.value(cell.cell_contents, _DEPTH)
            except ValueError:
                continue
        self.values((function.__defaults__ or ()), _DEPTH)
        self.values((function.__kwdefaults__ or {}).values(), _DEPTH)
        self._code(function.__code__, function.__globals__, builtins_of(function))

    def _code(
        self, code: types.CodeType, globals_: dict[str, Any], builtins: Mapping[str, Any]
    ) -> None:
        if not self._is_new(code):
            return
        if len(self.seen) > _MOST_CODES or _PACKAGE in code.co_names:
            raise _Found
        read = {inst.value for inst in decode(code) if inst.opname in _GLOBALS}
        for name in sorted(read):
            if name in globals_:
                self._global(globals_, name, code.co_names)
            elif name not in builtins:
                self.places += [globals_, name]
        for held in code.co_consts:
            if type(held) is types.CodeType:
                self._code(held, globals_, builtins)

    def _global(
        self, globals_: dict[str, Any], name: str, attributes: tuple[str, ...]
    ) -> None:
        value = globals_[name]
        if type(value) is types.ModuleType:
            return self._module(value, attributes)
        self.value(value, _DEPTH)
        if type(value) is not types.FunctionType and not issubclass(type(value), type):
            self.places += [globals_, name]
        return None

    def _module(self, module: types.ModuleType, attributes: tuple[str, ...]) -> None:
        """A module, of which the code may read the attributes that it names."""
        name = module_name(module)
        if is_of_package(name):
            raise _Found
        if _is_standard(name):
            return
        held = instance_dict(module)
        for attribute in attributes:
            if attribute in held and type(held[attribute]) is not types.ModuleType:
                self._global(held, attribute, ())

    def _partial(self, value: functools.partial[Any], depth: int) -> None:
        self.values((value.func, *value.args, *value.keywords.values()), depth)

    def _method(self, value: types.MethodType, depth: int) -> None:
        self.values((value.__func__, value.__self__), depth)

    def _builtin(self, value: types.BuiltinFunctionType, depth: int) -> None:
        if is_of_package(function_module(value)):
            raise _Found
        self.value(value.__self__, depth)

    def _generator(self, value: types.GeneratorType[Any, Any, Any], depth: int) -> None:
        frame = value.gi_frame
        if frame is not None:
            self.values(list(frame.f_locals.values()), depth)
            self._code(value.gi_code, frame.f_globals, frame.f_builtins)

    def _property(self, value: property, depth: int) -> None:
        self.values((value.fget, value.fset), depth)


def _is_standard(module: str) -> bool:
    """Whether a module is one of Python's own, which knows of no tensors."""
    return module.partition(".")[0] in sys.stdlib_module_names


_BY_TYPE: dict[type, Any] = {
    types.FunctionType: _Search._function,
    types.MethodType: _Search._method,
    functools.partial: _Search._partial,
    types.BuiltinFunctionType: _Search._builtin,
    property: _Search._property,
    types.GeneratorType: _Search._generator,
    dict: _Search._mapping,
    **dict.fromkeys((list, tuple, set, frozenset, deque), _Search._members),
}
