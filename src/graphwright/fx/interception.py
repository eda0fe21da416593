"""While a program is traced, functions that are given proxies record a call of themselves.

Functions of this library look at their arguments: at dims, dtypes, whether a flag is set. A proxy
could not answer. So each of them is entered by another door while a trace runs: its code object is
exchanged for one that looks for proxies first, and goes on to the function's own code if there are
none; functions of ops have a `door` for that. That reaches the function wherever the program has
put it, in a module, a table or an attribute. What has no code that could be exchanged (`len`,
`math.sqrt`) is replaced in the namespaces where programs look it up.
"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Iterable
from threading import RLock
from types import CodeType, FunctionType, TracebackType
from typing import Any

from graphwright.compat import recurrent_signatures as recurrent
from graphwright.compat import torch_signatures as as_torch
from graphwright.fx.proxy import tracer_of
from graphwright.overrides import get_ignored_functions, get_overridable_functions
from graphwright.runtime._core import OpFunction
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_check import _assert

Handler = Callable[..., Any]

LOCK = RLock()
"""Held while a program is traced: the doors are those of all threads."""

_IN_PYTHON = (ops.layer_norm, ops.local_response_norm, ops.pad)
"""Functions that are one op here, and Python over others in PyTorch."""
_AS_CALLED = (ops.__name__, as_torch.__name__, recurrent.__name__, _assert.__module__)
_HANDLER = "the handler"


def _door(*args: Any, **kwargs: Any) -> Any:
    handler: Any = "the handler"
    return handler(*args, **kwargs)


Function = FunctionType | OpFunction
Door = CodeType | Handler


def _door_to(handler: Handler, function: Function) -> Door:
    """What hands all arguments to `handler`: code with the closure of a Python function."""
    if isinstance(function, OpFunction):
        return handler
    constants = tuple([handler if constant == _HANDLER else constant
                       for constant in _door.__code__.co_consts])
    own = function.__code__
    return _door.__code__.replace(
        co_consts=constants, co_freevars=own.co_freevars, co_name=own.co_name)


def _exchange(function: Function, door: Any) -> Any:
    """Give a function another door, or None for its own; the one that it had."""
    place = "door" if isinstance(function, OpFunction) else "__code__"
    before = getattr(function, place)
    setattr(function, place, door)
    return before


def twin(function: Any) -> Any:
    """The function with its own code, whatever door it has."""
    if isinstance(function, OpFunction):
        return type(function)(function.__gw_op__, function.__name__, function.__qualname__,
                              function.__module__)
    plain = FunctionType(function.__code__, function.__globals__, function.__name__,
                         function.__defaults__, function.__closure__)
    plain.__kwdefaults__ = function.__kwdefaults__
    return plain


def recording(function: Callable[..., Any], plain: Handler, wrapped: bool = False) -> Handler:
    """`plain`, unless an argument is a proxy: then a call of `function` is recorded.

    `wrapped` notes on the node that `fx.wrap` names the function.
    """

    @functools.wraps(plain)
    def record(*args: Any, **kwargs: Any) -> Any:
        tracer = tracer_of(function, args, kwargs)
        if tracer is None:
            return plain(*args, **kwargs)
        proxy = tracer.create_proxy("call_function", function, args, kwargs)
        if wrapped:
            proxy.node.meta["is_wrapped"] = True
        return proxy

    return record


def _recording_all(function: Function) -> Handler:
    """As `recording`, with every argument that has a default named and given.

    PyTorch's functions that are written in Python record themselves so.
    """
    signature, plain = inspect.signature(function), twin(function)
    optional = [name for name, one in signature.parameters.items()
                if one.default is not one.empty]

    def record(*args: Any, **kwargs: Any) -> Any:
        tracer = tracer_of(function, args, kwargs)
        if tracer is None:
            return plain(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        named = {name: bound.arguments.pop(name) for name in optional}
        return tracer.create_proxy("call_function", function, bound.args,
                                   {**bound.kwargs, **named})

    return record


@functools.cache
def library_doors() -> dict[Function, Door]:
    """The library's functions that take tensors, with the doors that record them."""
    functions = [function for space, members in get_overridable_functions().items()
                 if space is not Tensor for function in members]
    functions.append(_assert)
    signatures = (*vars(as_torch).values(), *vars(recurrent).values())
    functions += [function for function in (*get_ignored_functions(), *signatures)
                  if _as_called(function)]
    doors: dict[Function, Door] = {}
    for function in functions:
        if isinstance(function, Function):
            handler = (recording(function, twin(function)) if _as_called(function)
                       else _recording_all(function))
            doors[function] = _door_to(handler, function)
    return doors


def _as_called(function: Any) -> bool:
    """Whether a function is the entry of one op, or of one of PyTorch's, not Python over these."""
    module = getattr(function, "__module__", "")
    return module in _AS_CALLED and function not in _IN_PYTHON


class Interception:
    """Exchanges doors and names of namespaces, until the block that it is entered for ends."""

    def __init__(self) -> None:
        self._doors: list[tuple[Function, Any]] = []
        self._names: list[tuple[dict[str, Any], str, Any]] = []
        self._seen: set[int] = set()

    def __enter__(self) -> Interception:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for function, door in reversed(self._doors):
            _exchange(function, door)
        for names, name, value in reversed(self._names):
            if value is self:
                del names[name]
            else:
                names[name] = value

    def exchange(self, doors: dict[Function, Door]) -> None:
        """Give functions other doors."""
        for function, door in doors.items():
            self._doors.append((function, _exchange(function, door)))

    def handle(self, function: Function, handler: Handler) -> None:
        """Let `handler` be called in place of a function."""
        self.exchange({function: _door_to(handler, function)})

    def replace(self, names: dict[str, Any], name: str) -> None:
        """Record calls of the function that a module knows by a name, which may be built in."""
        builtin = name not in names
        function = getattr(builtins, name) if builtin else names[name]
        if isinstance(function, Function):
            self.handle(function, recording(function, twin(function), wrapped=True))
        else:
            self._names.append((names, name, self if builtin else function))
            names[name] = recording(function, function, wrapped=True)

    def replace_all(self, names: dict[str, Any], functions: Iterable[int]) -> None:
        """Record calls of what a module knows by any name, if it is one of these, by `id`."""
        if id(names) in self._seen:
            return
        self._seen.add(id(names))
        for name, value in list(names.items()):
            if not name.startswith("_") and callable(value) and id(value) in functions:
                self._names.append((names, name, value))
                names[name] = recording(value, value)
