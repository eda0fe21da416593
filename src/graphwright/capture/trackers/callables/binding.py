"""How a call's arguments are bound to a function's parameters."""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING

from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.exceptions import raise_in_frame

if TYPE_CHECKING:
    from graphwright.capture.trackers.callables.functions import FunctionVariable
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def bind_arguments(
    tx: Translator, function: FunctionVariable, args: Args, kwargs: Kwargs
) -> dict[str, VariableTracker]:
    """The locals with which a call starts, as Python binds them, or the TypeError it raises."""
    try:
        return _bound(tx, function, args, kwargs)
    except _Misfit:
        text = _complaint(tx, function, len(args), list(kwargs))
        raise_in_frame(TypeError, [tx.constant(text)])


def _complaint(
    tx: Translator, function: FunctionVariable, n_args: int, keywords: list[str]
) -> str:
    """What Python says of a call that does not fit: asked of a function of the same signature."""
    code = function.code
    n_positional, n_keyword = code.co_argcount, code.co_kwonlyargcount
    positional, rest = code.co_varnames[:n_positional], list(code.co_varnames[n_positional:])
    required = n_positional - len(function.positional_defaults(tx))
    parameters = [name if i < required else f"{name}=0" for i, name in enumerate(positional)]
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    optional = [name for name in rest[:n_keyword] if function.keyword_default(tx, name)]
    named = [f"{name}=0" if name in optional else name for name in rest[:n_keyword]]
    if code.co_flags & inspect.CO_VARARGS:
        parameters.append(f"*{rest.pop(n_keyword)}")
    elif named:
        parameters.append("*")
    parameters += named
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parameters.append(f"**{rest[n_keyword]}")
    alike: types.FunctionType = eval(f"lambda {', '.join(parameters)}: None", {})
    alike.__qualname__ = function.getattr(tx, "__qualname__").as_constant()
    try:
        alike(*[None] * n_args, **dict.fromkeys(keywords))
    except TypeError as error:
        return str(error)
    raise AssertionError(f"{alike.__qualname__} takes these arguments")


class _Misfit(Exception):
    """The arguments of a call do not fit the function's parameters."""


def _bound(
    tx: Translator, function: FunctionVariable, args: Args, kwargs: Kwargs
) -> dict[str, VariableTracker]:
    code = function.code
    names = code.co_varnames
    n_positional, n_keyword = code.co_argcount, code.co_kwonlyargcount
    bound: dict[str, VariableTracker] = dict(zip(names[:n_positional], args, strict=False))
    extra = args[n_positional:]
    slot = n_positional + n_keyword
    if code.co_flags & inspect.CO_VARARGS:
        bound[names[slot]] = tx.tuple_of(list(extra))
        slot += 1
    elif extra:
        raise _Misfit
    rest = _bind_keywords(code, bound, kwargs)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        bound[names[slot]] = tx.dict_of(rest)
    elif rest:
        raise _Misfit
    _bind_defaults(tx, function, bound)
    return bound


def _bind_keywords(
    code: types.CodeType, bound: dict[str, VariableTracker], kwargs: Kwargs
) -> Kwargs:
    """Bind what `kwargs` names; return the keywords that name no parameter."""
    allowed = code.co_varnames[
        code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount
    ]
    rest: Kwargs = {}
    for name, value in kwargs.items():
        if name not in allowed:
            rest[name] = value
        elif name in bound:
            raise _Misfit
        else:
            bound[name] = value
    return rest


def _bind_defaults(
    tx: Translator, function: FunctionVariable, bound: dict[str, VariableTracker]
) -> None:
    code = function.code
    positional = code.co_varnames[: code.co_argcount]
    if any(name not in bound for name in positional):
        defaults = function.positional_defaults(tx)
        for name, value in zip(reversed(positional), reversed(defaults), strict=False):
            bound.setdefault(name, value)
    for name in positional:
        if name not in bound:
            raise _Misfit
    for name in code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]:
        if name not in bound:
            default = function.keyword_default(tx, name)
            if default is None:
                raise _Misfit
            bound[name] = default
