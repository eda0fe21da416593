"""Whether a call of a builtin fits its signature: what does not is left to plain Python."""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import itertools
import math
import operator
import types
from collections.abc import Callable
from typing import Any

from graphwright.capture.exc import unsupported

_MANY = 1 << 30
_ANY = frozenset(["*"])
_NONE: frozenset[str] = frozenset()

_LIMITS: dict[Callable[..., Any], tuple[int, int, frozenset[str]]] = {
    builtins.bool: (0, 1, _NONE),
    builtins.int: (0, 2, frozenset(["base"])),
    builtins.str: (0, 3, frozenset(["object", "encoding", "errors"])),
    builtins.range: (1, 3, _NONE),
    builtins.zip: (0, _MANY, frozenset(["strict"])),
    builtins.map: (2, _MANY, _NONE),
    builtins.filter: (2, 2, _NONE),
    builtins.iter: (1, 2, _NONE),
    builtins.next: (1, 2, _NONE),
    builtins.dict: (0, 1, _ANY),
    builtins.set: (0, 1, _NONE),
    builtins.frozenset: (0, 1, _NONE),
    builtins.slice: (1, 3, _NONE),
    builtins.min: (1, _MANY, frozenset(["key", "default"])),
    builtins.max: (1, _MANY, frozenset(["key", "default"])),
    builtins.getattr: (2, 3, _NONE),
    builtins.super: (0, 2, _NONE),
    builtins.vars: (0, 1, _NONE),
    builtins.dir: (0, 1, _NONE),
    collections.OrderedDict: (0, 1, _ANY),
    collections.deque: (0, 2, frozenset(["iterable", "maxlen"])),
    functools.partial: (1, _MANY, _ANY),
    functools.reduce: (2, 3, frozenset(["function", "sequence", "initial"])),
    functools.cmp_to_key: (1, 1, frozenset(["mycmp"])),
    classmethod: (1, 1, _NONE),
    staticmethod: (1, 1, _NONE),
    itertools.chain: (0, _MANY, _NONE),
    itertools.islice: (2, 4, _NONE),
    itertools.product: (0, _MANY, frozenset(["repeat"])),
    itertools.repeat: (1, 2, frozenset(["object", "times"])),
    itertools.zip_longest: (0, _MANY, frozenset(["fillvalue"])),
    math.log: (1, 2, _NONE),
    operator.attrgetter: (1, _MANY, _NONE),
    operator.itemgetter: (1, _MANY, _NONE),
    operator.methodcaller: (1, _MANY, _ANY),
    types.SimpleNamespace: (0, 1, _ANY),
    types.GeneratorType.throw: (2, 4, _NONE),
    types.MappingProxyType.get: (2, 3, _NONE),
    range.index: (2, 2, _NONE),
    collections.deque.index: (2, 4, _NONE),
    collections.deque.rotate: (1, 2, _NONE),
    dict.pop: (2, 3, _NONE),
    collections.OrderedDict.pop: (2, 3, _ANY),
}

_OF_METHODS = {
    0: "__copy__ __length_hint__ __reduce__ __reversed__ clear close copy items keys pop popleft "
    "reverse values",
    1: "__contains__ __getitem__ __setstate__ add append appendleft count discard extend "
    "extendleft isdisjoint issubset issuperset remove send symmetric_difference "
    "symmetric_difference_update",
    2: "insert",
}
"""Methods of builtin types by the number of arguments, for those that have no signature in every
Python; `pop` is dict's."""

_EXACTLY = {name: n for n, names in _OF_METHODS.items() for name in names.split()}


def check_call(function: Any, n_args: int, keywords: tuple[str, ...]) -> None:
    """A graph break unless a call with so many positional arguments and these keywords fits."""
    if isinstance(function, _CALLABLES) and not _fits(function, n_args, keywords):
        name = getattr(function, "__qualname__", str(function))
        unsupported("GB0007", f"TypeError: {name}() takes other arguments")


def check_method(kind: type, name: str, n_args: int, keywords: tuple[str, ...]) -> None:
    """The same for a call of a builtin class's method, bound to an instance."""
    method = getattr(kind, name, None)
    if isinstance(method, _METHODS) and not _fits(method, n_args + 1, keywords):
        unsupported("GB0007", f"TypeError: {kind.__name__}.{name}() takes other arguments")


@functools.lru_cache(maxsize=4096)
def _fits(function: Any, n_args: int, keywords: tuple[str, ...]) -> bool:
    if function in _LIMITS:
        least, most, allowed = _LIMITS[function]
        if allowed is _ANY:
            return least <= n_args <= most
        counted = "default" not in allowed and "strict" not in allowed
        given = n_args + len(keywords) if counted else n_args
        return least <= given <= most and allowed.issuperset(keywords)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return _fits_unsigned(function, n_args, keywords)
    try:
        signature.bind(*[None] * n_args, **dict.fromkeys(keywords))
    except TypeError:
        return False
    return True


def _fits_unsigned(function: Any, n_args: int, keywords: tuple[str, ...]) -> bool:
    """Where nothing but the name says what a function takes; `n_args` counts a method's owner."""
    exactly = _EXACTLY.get(function.__name__)
    if exactly is None or not isinstance(function, _METHODS):
        return True
    return n_args == exactly + 1 and not keywords


_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_CALLABLES = (type, types.BuiltinFunctionType, types.FunctionType)
