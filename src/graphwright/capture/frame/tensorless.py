"""Whether a call can get hold of tensors: what it is given, and what its code names.

Looks at the arguments, and at the globals, closures, defaults, functions and classes that can be
found from the code without running it, with all that they hold: what the collector is shown of
them, so that no code of the program's runs. A call for which there is no tensor, nothing of this
package and no iterator of C may get tensors from elsewhere: the translation of the first sees it.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from graphwright.capture._eval_frame import CompiledFunction
from graphwright.capture.guards.patched_builtins import builtins_of
from graphwright.capture.guards.text import (
    class_module,
    function_module,
    is_of_package,
    module_name,
)
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    instance_dict,
    lookup,
    mro_of,
    namespace_of,
)
from graphwright.capture.vm.allowed import may_inline
from graphwright.capture.vm.bytecode import decode

_PACKAGE = "graphwright"
# types by address: a metaclass may define how its classes are hashed and compared
_SCALARS = frozenset(map(id, (int, float, bool, complex, str, bytes, type(None))))
_SLOTS = frozenset(map(id, (types.MemberDescriptorType, types.GetSetDescriptorType)))
_METHODS = frozenset(map(id, (types.FunctionType, staticmethod, classmethod, property)))
_MOST_VALUES = 1_000
_OF_ITERATORS = ("builtins", "itertools")
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")


class _Found(Exception):
    """A tensor, something that tensors may come from, or too much to look through."""


def places_without_tensors(
    function: types.FunctionType, slots: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """None where a call may get hold of tensors; else the variables that this depends on.

    Returns: `(holder, name, holder, name, ...)`, as the dispatcher takes them: dicts of globals,
    cells, and classes.
    """
    search = _Search()
    search.values((*slots, function))
    try:
        search.run()
    except _Found:
        return None
    return tuple(search.places)


class _Search:
    """places: variables that hold data, and may hold other data in another call.

    names: what the code met so far names. attributes: data of the classes met, by their names.
    """

    def __init__(self) -> None:
        self.places: list[Any] = []
        self.names: set[str] = set()
        self.attributes: dict[str, list[tuple[type, Any]]] = {}
        self.pending: list[Any] = []
        self.seen: dict[int, Any] = {}

    def run(self) -> None:
        """Look at all values there are, and at what they lead to."""
        while self.pending:
            self._value(self.pending.pop())
            if not self.pending:
                for name in self.names & self.attributes.keys():
                    for cls, value in self.attributes.pop(name):
                        self._variable(cls, name, value)

    def _is_new(self, value: Any) -> bool:
        if id(value) in self.seen:
            return False
        self.seen[id(value)] = value
        if len(self.seen) > _MOST_VALUES:
            raise _Found
        return True

    def values(self, values: Iterable[Any]) -> None:
        """Values to be looked at."""
        self.pending += [value for value in values if id(type(value)) not in _SCALARS]

    def _value(self, value: Any) -> None:
        kind = type(value)
        if kind is types.ModuleType or not self._is_new(value):
            return
        visit = _BY_TYPE.get(id(kind))
        if visit is not None:
            visit(self, value)
        elif kind is CompiledFunction:
            self.values([value.__wrapped__])
        elif issubclass(kind, type):
            self._class(value)
        else:
            self.values([kind])
            if lookup(kind, "__next__") is not ABSENT and class_module(kind) in _OF_ITERATORS:
                raise _Found
            self.values(gc.get_referents(value))

    def _class(self, cls: type) -> None:
        """A class: the functions of those that programs define, and data that code may name."""
        for base in mro_of(cls):
            module = class_module(base)
            if is_of_package(module):
                raise _Found
            if _is_standard(module):
                continue
            for name, held in list(namespace_of(base).items()):
                if id(type(held)) in _METHODS:
                    self.values([held])
                elif type(name) is str and id(type(held)) not in _SLOTS:
                    self.attributes.setdefault(name, []).append((base, held))

    def _function(self, function: types.FunctionType) -> None:
        module = function_module(function)
        if is_of_package(module):
            raise _Found
        code = function.__code__
        if _is_standard(module) or not may_inline(code.co_filename):
            return
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._variable(cell, name, *gc.get_referents(cell))
        self.values(function.__defaults__ or ())
        self.values((function.__kwdefaults__ or {}).values())
        self._code(code, function.__globals__, builtins_of(function))

    def _code(
        self, code: types.CodeType, globals_: dict[str, Any], builtins: Mapping[str, Any]
    ) -> None:
        if not self._is_new(code):
            return
        if _PACKAGE in code.co_names:
            raise _Found
        self.names.update(code.co_names)
        read = {inst.value for inst in decode(code) if inst.opname in _GLOBALS}
        for name in sorted(read):
            if name in globals_:
                self._global(globals_, name, code.co_names)
            elif name not in builtins:
                self._variable(globals_, name)
        for held in code.co_consts:
            if type(held) is types.CodeType:
                self._code(held, globals_, builtins)

    def _global(
        self, globals_: dict[str, Any], name: str, attributes: tuple[str, ...]
    ) -> None:
        value = globals_[name]
        if type(value) is types.ModuleType:
            return self._module(value, attributes)
        return self._variable(globals_, name, value)

    def _variable(self, holder: Any, name: str, *values: Any) -> None:
        """A variable, and the value that it has, if any."""
        self.values(values)
        if not any(issubclass(type(value), type) for value in values):
            self.places += [holder, name]

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

    def _builtin(self, value: types.BuiltinFunctionType) -> None:
        if is_of_package(function_module(value)):
            raise _Found
        self.values([value.__self__])

    def _generator(self, value: types.GeneratorType[Any, Any, Any]) -> None:
        frame = value.gi_frame
        if frame is not None:
            self.values(list(frame.f_locals.values()))
            self._code(value.gi_code, frame.f_globals, frame.f_builtins)


def _is_standard(module: str) -> bool:
    """Whether a module is one of Python's own, which knows of no tensors."""
    return module.partition(".")[0] in sys.stdlib_module_names


_BY_TYPE: dict[int, Any] = {
    id(types.FunctionType): _Search._function,
    id(types.BuiltinFunctionType): _Search._builtin,
    id(types.GeneratorType): _Search._generator,
}
