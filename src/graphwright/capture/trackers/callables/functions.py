"""Python functions, methods and cells; calls of them are inlined."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.source import (
    AttrSource,
    ClosureSource,
    CodeSource,
    DefaultsSource,
    InstanceAttrSource,
    KwDefaultsSource,
    Source,
)
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.singledispatch import (
    DISPATCH,
    WRAPPER,
    chosen,
    implementation,
)
from graphwright.capture.trackers.values.constant import ConstantVariable

if TYPE_CHECKING:
    from graphwright.capture._eval_frame import CompiledFunction
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class CellVariable(VariableTracker):
    """A closure cell; `contents` is None while it is empty.

    An existing cell knows how to push itself; a new one is made empty after the graph and filled
    when everything that it refers to exists.
    """

    mutable = True

    def __init__(
        self,
        contents: VariableTracker | None,
        push_cell: Callable[[Reconstructor], None] | None = None,
    ) -> None:
        self.contents = contents
        self.push_cell = push_cell

    def python_type(self) -> type:
        return types.CellType

    def parts(self) -> Iterable[VariableTracker]:
        return [self.contents] if self.contents is not None else []

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.push_cell is not None:
            self.push_cell(cg)
            return
        cg.builder.begin_call(types.CellType)
        cg.builder.end_call(0)
        cg.fill_later(self)


class FunctionVariable(VariableTracker):
    """Abstract: something with code, defaults and a closure."""

    code: types.CodeType

    def python_type(self) -> type:
        return types.FunctionType

    def truth(self, tx: Translator) -> bool:
        return True

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return tx.inline(self, args, kwargs)

    def positional_defaults(self, tx: Translator) -> list[VariableTracker]:
        """The trackers of `__defaults__`."""
        raise NotImplementedError

    def keyword_default(self, tx: Translator, name: str) -> VariableTracker | None:
        """The default of a keyword-only parameter."""
        raise NotImplementedError

    def cells(self, tx: Translator) -> list[CellVariable]:
        """The closure, one cell per free variable of the code."""
        raise NotImplementedError

    def load_global(self, tx: Translator, name: str) -> VariableTracker:
        """A global as the function sees it."""
        raise NotImplementedError


class UserFunctionVariable(FunctionVariable):
    """An existing Python function."""

    def __init__(self, function: types.FunctionType, source: Source) -> None:
        self.function = function
        self.source = source
        self.code = function.__code__

    def describe(self) -> str:
        return f"function {self.function.__qualname__}"

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.code.co_qualname in _REPR_WRAPPERS:
            return self.getattr(tx, "__wrapped__").call(tx, args, kwargs)
        if self.code.co_qualname == WRAPPER and self.source is not None:
            return implementation(tx, self.function, self.source, args).call(tx, args, kwargs)
        if self.code.co_qualname == DISPATCH and self.source is not None and len(args) == 1:
            kind = getattr(args[0].realize(), "value", None)
            if isinstance(kind, type):
                return chosen(tx, self.function, self.source, kind)
        return super().call(tx, args, kwargs)

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name.startswith("__") or name in _READABLE:
            super().setattr(tx, name, value)
        self.as_key(tx)
        owner = tx.side_effects.functions.setdefault(id(self.function), self)
        tx.side_effects.store_attribute(owner, name, value)

    def _written(self, tx: Translator, name: str) -> VariableTracker | None:
        """What the frame has stored in the attribute of this function."""
        written = tx.side_effects.functions
        if not written:
            return None
        self.as_key(tx)     # it is none of those, or the one that it is now
        owner = written.get(id(self.function))
        if owner is not None and name == "__dict__":
            unsupported("GB0008", f"__dict__ of {self.describe()}, which the frame has changed")
        return tx.side_effects.attribute(owner, name) if owner is not None else None

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        written = self._written(tx, name)
        if written is not None:
            return written
        own = function_member(tx, self, name)
        if own is not None:
            return own
        if name in _READABLE:
            return tx.output.wrap(getattr(self.function, name), AttrSource(self.source, name))
        if name in self.function.__dict__:
            value = self.function.__dict__[name]
            return tx.output.wrap(value, InstanceAttrSource(self.source, name))
        if not hasattr(self.function, name):
            tx.guards.missing(AttrSource(self.source, name))
            raise AttributeMissing("GB0007", f"'function' object has no attribute {name!r}")
        return super().getattr(tx, name)

    def as_key(self, tx: Translator) -> types.FunctionType:
        assert self.source is not None
        tx.guards.id_match(self.source, self.function)
        return self.function

    def positional_defaults(self, tx: Translator) -> list[VariableTracker]:
        assert self.source is not None
        values = self.function.__defaults__ or ()
        if values:
            tx.guards.length(AttrSource(self.source, "__defaults__"), len(values))
        return [
            tx.output.wrap_lazily(value, DefaultsSource(self.source, index))
            for index, value in enumerate(values)
        ]

    def keyword_default(self, tx: Translator, name: str) -> VariableTracker | None:
        assert self.source is not None
        values = self.function.__kwdefaults__ or {}
        if name not in values:
            return None
        return tx.output.wrap_lazily(values[name], KwDefaultsSource(self.source, name))

    def cells(self, tx: Translator) -> list[CellVariable]:
        closure = self.function.__closure__ or ()
        return [self._cell(tx, index, cell) for index, cell in enumerate(closure)]

    def _cell(self, tx: Translator, index: int, cell: types.CellType) -> CellVariable:
        assert self.source is not None
        source = self.source

        def push(cg: Reconstructor) -> None:
            source.emit(cg.builder)
            cg.builder.load_attr("__closure__")
            cg.builder.load_const(index)
            cg.builder.subscript()

        return tx.output.cell(cell, ClosureSource(source, index), push)

    def load_global(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        return tx.output.foreign_global(self.function, self.source, name)


class NestedFunctionVariable(FunctionVariable):
    """A function made by the frame itself."""

    mutable = True

    def __init__(
        self,
        code: types.CodeType,
        maker: Translator,
        defaults: list[VariableTracker],
        kwdefaults: Kwargs,
        closure: list[CellVariable],
    ) -> None:
        self.code = code
        self.maker = maker
        self.defaults = defaults
        self.kwdefaults = kwdefaults
        self.closure = closure
        self.attributes: Kwargs = {}

    def describe(self) -> str:
        return f"function {self.code.co_qualname}"

    def hashes_by_identity(self, tx: Translator) -> bool:
        return True

    def parts(self) -> Iterable[VariableTracker]:
        given = (*self.kwdefaults.values(), *self.attributes.values())
        return [*self.defaults, *given, *self.closure]

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name in ("__defaults__", "__kwdefaults__", "__code__", "__closure__", "__globals__"):
            unsupported("GB0008", f"assignment to {name} of {self.describe()}")
        tx.side_effects.touch(self)
        self.attributes[name] = value

    def delattr(self, tx: Translator, name: str) -> None:
        if name not in self.attributes or name in _READABLE:
            raise AttributeMissing("GB0007", f"'function' object has no attribute {name!r}")
        tx.side_effects.touch(self)
        del self.attributes[name]

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        own = function_member(tx, self, name)
        if own is not None:
            return own
        if name in self.attributes:
            return self.attributes[name].realize()
        if name == "__dict__":
            return FunctionDictVariable(self)
        if name == "__doc__":
            first = self.code.co_consts[0] if self.code.co_consts else None
            return tx.constant(first if isinstance(first, str) else None)
        if name == "__annotations__":
            return self.attributes.setdefault(name, tx.dict_of({}))
        if name == "__module__":
            return tx.constant(self.maker.globals_().get("__name__"))
        if name == "__defaults__":
            return tx.tuple_of(self.defaults) if self.defaults else tx.constant(None)
        if name == "__kwdefaults__":
            return tx.dict_of(self.kwdefaults) if self.kwdefaults else tx.constant(None)
        if name == "__type_params__":
            return tx.tuple_of([])
        if name == "__name__":
            return tx.constant(self.code.co_name)
        if name == "__qualname__":
            return tx.constant(self.code.co_qualname)
        if name not in _READABLE and not hasattr(types.FunctionType, name):
            raise AttributeMissing("GB0007", f"'function' object has no attribute {name!r}")
        return super().getattr(tx, name)

    def positional_defaults(self, tx: Translator) -> list[VariableTracker]:
        return self.defaults

    def keyword_default(self, tx: Translator, name: str) -> VariableTracker | None:
        return self.kwdefaults.get(name)

    def cells(self, tx: Translator) -> list[CellVariable]:
        return self.closure

    def load_global(self, tx: Translator, name: str) -> VariableTracker:
        return self.maker.load_global(name)

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.maker.shares_globals_with_root():
            self._push_closure(cg)
            cg.builder.make_function(self.code, bool(self.closure))
        else:
            cg.builder.begin_call(types.FunctionType)
            cg.builder.load_const(self.code)
            self.maker.function_source().emit(cg.builder)
            cg.builder.load_attr("__globals__")
            cg.builder.load_const(None)
            cg.builder.load_const(None)
            self._push_closure(cg)
            cg.builder.end_call(5 if self.closure else 4)
        self._push_defaults(cg)

    def _push_closure(self, cg: Reconstructor) -> None:
        if self.closure:
            for cell in self.closure:
                cg.push(cell)
            cg.builder.build("tuple", len(self.closure))

    def _push_defaults(self, cg: Reconstructor) -> None:
        if self.defaults:
            for value in self.defaults:
                cg.push(value)
            cg.builder.build("tuple", len(self.defaults))
            cg.builder.copy(2)
            cg.builder.store_attr("__defaults__")
        if self.kwdefaults:
            for name, value in self.kwdefaults.items():
                cg.builder.load_const(name)
                cg.push(value)
            cg.builder.build("map", len(self.kwdefaults))
            cg.builder.copy(2)
            cg.builder.store_attr("__kwdefaults__")
        for name, value in self.attributes.items():
            cg.push(value)
            cg.builder.copy(2)
            cg.builder.store_attr(name)


def function_member(
    tx: Translator, function: FunctionVariable, name: str
) -> VariableTracker | None:
    """What every function has: its code, its call, and how a class binds it."""
    if name == "__code__":
        if function.source is None:
            return tx.constant(function.code)
        source = CodeSource(function.source)
        tx.guards.id_match(source, function.code)
        return ConstantVariable(function.code, source)
    if name == "__call__":
        return function
    return BinderVariable(function) if name == "__get__" else None


class BinderVariable(VariableTracker):
    """`function.__get__`."""

    def __init__(self, function: FunctionVariable) -> None:
        self.function = function

    def python_type(self) -> type:
        return types.MethodWrapperType

    def parts(self) -> list[VariableTracker]:
        return [self.function]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner = args[0].realize() if args and not kwargs else None
        if owner is None or len(args) > 2:
            unsupported("GB0007", "TypeError: wrong arguments for __get__")
        unbound = owner.is_none()
        if unbound and (len(args) == 1 or args[1].realize().is_constant()):
            unsupported("GB0007", "TypeError: __get__(None, None) is invalid")
        return self.function if unbound else BoundMethodVariable(self.function, owner)


class FunctionDictVariable(VariableTracker):
    """`__dict__` of a function that the frame made: its attributes can be added to."""

    def __init__(self, owner: NestedFunctionVariable) -> None:
        self.owner = owner

    def python_type(self) -> type:
        return dict

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def snapshot(self, tx: Translator) -> VariableTracker:
        """A dict of what it holds now."""
        own = {k: v for k, v in self.owner.attributes.items() if k not in _READABLE}
        return tx.dict_of(own)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name != "update":
            unsupported("GB0008", f"__dict__.{name} of a function")
        return self

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """`__dict__.update(...)`."""
        for key, value in tx.pairs(args):
            name = key.as_constant()
            if name in _READABLE:
                unsupported("GB0008", f"{name!r} in the __dict__ of a function")
            self.owner.attributes[name] = value
        return tx.constant(None)


_REPR_WRAPPERS = (
    "_recursive_repr.<locals>.wrapper",
    "recursive_repr.<locals>.decorating_function.<locals>.wrapper",
)
_READABLE = (
    *("__name__", "__qualname__", "__doc__", "__module__", "__dict__"),
    *("__defaults__", "__kwdefaults__", "__annotations__"),
    *(["__type_params__"] if hasattr(types.FunctionType, "__type_params__") else []),
)


_OF_METHODS = frozenset(vars(types.MethodType)) - {"__doc__"}


class BoundMethodVariable(VariableTracker):
    """A function bound to its first argument."""

    def __init__(
        self,
        function: VariableTracker,
        owner: VariableTracker,
        source: Source | None = None,
    ) -> None:
        self.function = function
        self.owner = owner
        self.source = source

    def has_identity(self) -> bool:
        return True

    def python_type(self) -> type:
        return types.MethodType

    def describe(self) -> str:
        return f"method {self.function.describe()}"

    def parts(self) -> Iterable[VariableTracker]:
        return [self.function, self.owner]

    def truth(self, tx: Translator) -> bool:
        return True

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.function.call(tx, [self.owner, *args], kwargs)

    def same_method(self, tx: Translator, other: BoundMethodVariable) -> bool:
        """`self == other`."""
        return tx.identical(self.owner, other.owner) and tx.identical(
            self.function, other.function
        )

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "__func__":
            return self.function
        if name == "__self__":
            return self.owner
        if name == "__call__":
            return self
        if name in _OF_METHODS:
            unsupported("GB0010", f"{name} of {self.describe()}")
        return self.function.getattr(tx, name)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(types.MethodType)
        cg.push(self.function)
        cg.push(self.owner)
        cg.builder.end_call(2)


_OF_PARTIALS = frozenset(dir(functools.partial))


class CompiledFunctionVariable(VariableTracker):
    """What `compile` made of a function: a call of it is captured like one of the function."""

    def __init__(
        self, value: CompiledFunction, function: VariableTracker, source: Source
    ) -> None:
        self.value = value
        self.function = function
        self.source = source

    def python_type(self) -> type:
        return type(self.value)

    def describe(self) -> str:
        return f"compiled {self.function.describe()}"

    def truth(self, tx: Translator) -> bool:
        return True

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.function.call(tx, args, kwargs)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "__wrapped__":
            return self.function
        unsupported("GB0008", f"attribute {name!r} of {self.describe()}")


class PartialVariable(VariableTracker):
    """`functools.partial(function, *args, **kwargs)`.

    held: its tuple and its dict, where it is one from outside. Those of one that the frame makes
    are made when they are read; what is written to the dict then counts.
    """

    def __init__(
        self, function: VariableTracker, args: Args, kwargs: Kwargs, source: Source | None = None,
        held: tuple[Any, Any] = (None, None),
    ) -> None:
        self.function = function
        self.args = args
        self.source = source
        self.attributes: Kwargs = {}
        self._kwargs = kwargs
        self._tuple, self._dict = held

    @property
    def kwargs(self) -> Kwargs:
        if self._dict is None:
            return self._kwargs
        return {key: value for key, (_, value) in self._dict.entries.items()}

    def has_identity(self) -> bool:
        return True

    def python_type(self) -> type:
        return functools.partial

    def parts(self) -> Iterable[VariableTracker]:
        return [self.function, *self.args, *self.kwargs.values(), *self.attributes.values()]

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if self.source is not None or name in ("func", "args", "keywords"):
            super().setattr(tx, name, value)
        self.attributes[name] = value

    def truth(self, tx: Translator) -> bool:
        return True

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.function.call(tx, [*self.args, *args], {**self.kwargs, **kwargs})

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in self.attributes:
            return self.attributes[name].realize()
        if name == "func":
            return self.function
        if name == "args":
            if self._tuple is None:
                self._tuple = tx.tuple_of(self.args)
            return self._tuple
        if name == "keywords":
            if self._dict is None:
                self._dict = tx.dict_of(self._kwargs)
            return self._dict
        if name == "__call__":
            return self
        if self.source is None and name not in _OF_PARTIALS:
            raise AttributeMissing.of(functools.partial, name)
        return super().getattr(tx, name)

    def reconstruct(self, cg: Reconstructor) -> None:
        if self._tuple is not None or self._dict is not None:
            unsupported("GB0015", "a partial whose arguments were read is needed after the graph")
        cg.builder.begin_call(functools.partial)
        cg.push(self.function)
        for value in (*self.args, *self.kwargs.values()):
            cg.push(value)
        cg.builder.end_call(1 + len(self.args) + len(self.kwargs), tuple(self.kwargs))
        for name, value in self.attributes.items():
            cg.push(value)
            cg.builder.copy(2)
            cg.builder.store_attr(name)
