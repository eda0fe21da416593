"""Functions of itertools, operator, functools and collections: their Python is inlined."""

from __future__ import annotations

import bisect
import collections
import collections.abc
import functools
import heapq
import inspect
import itertools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.cmp_to_key import key_function
from graphwright.capture.trackers.callables.generators import GeneratorVariable
from graphwright.capture.trackers.callables.inspect_signature import signature_of
from graphwright.capture.trackers.containers.deques import make_deque
from graphwright.capture.trackers.containers.iterators import (
    ChainIterator,
    CountIterator,
    PoolIterator,
)
from graphwright.capture.trackers.containers.mapping_proxies import make_proxy
from graphwright.capture.trackers.effects.deferred_calls import DEFERRED
from graphwright.capture.trackers.effects.warnings_and_logging import MESSAGES
from graphwright.capture.trackers.library.clock_and_random import CHANGING
from graphwright.capture.trackers.library.pure_library import PURE_FUNCTIONS
from graphwright.capture.trackers.tensors.graphwright_functions import PACKAGE
from graphwright.capture.trackers.values.constant import ConstantVariable, fold
from graphwright.capture.vm import polyfills
from graphwright.capture.vm.bytecode import PYTHON

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
Handler = Callable[["Translator", Args, Kwargs], VariableTracker]


def by_python(function: Any, kind: type | None = None) -> Handler:
    """Inline `function`; `kind` is the type of the iterator that the original gives."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        result = tx.plain_function(function).call(tx, args, kwargs)
        if kind is not None and isinstance(result, GeneratorVariable):
            result.kind = kind
        return result

    return handler


def _chain(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return ChainIterator([arg.realize() for arg in args])


def _iterator(name: str, original: Any) -> Handler:
    """A function of itertools: when it is called, it calls `iter()` and looks at its numbers."""
    kind = getattr(original, "__self__", original)
    inlined = by_python(getattr(polyfills, name), kind if isinstance(kind, type) else None)
    iterated = _ITERATED.get(name, {"iterable": 0})

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if name in _COUNTS:
            numbers = [arg.realize().as_constant() for arg in args[1:]]
            named = {key: kwargs[key].realize().as_constant() for key in kwargs if key not in _ANY}
            fold(lambda: original((), *numbers, **named))
        places = range(len(args)) if name == "zip_longest" else iterated.values()
        given = [_iter(tx, arg) if i in places else arg for i, arg in enumerate(args)]
        names = {key: _iter(tx, arg) if key in iterated else arg for key, arg in kwargs.items()}
        return inlined(tx, given, names)

    return handler


def _iter(tx: Translator, value: VariableTracker) -> VariableTracker:
    return value.realize().iterate(tx)


_COUNTS = ("batched", "islice", "repeat", "tee")
_ANY = ("iterable", "object")
_ITERATED: dict[str, dict[str, int]] = {
    "compress": {"data": 0, "selectors": 1},
    **{name: {"iterable": 1} for name in ("dropwhile", "takewhile", "filterfalse", "starmap")},
    "repeat": {},
    "zip_longest": {},
}
"""Which arguments are iterated, by the names and places of the parameters: else `iterable`."""


def _repeat(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    made = _iterator("repeat", itertools.repeat)(tx, args, kwargs)
    times = args[1] if len(args) > 1 else kwargs.get("times")
    if times is not None and isinstance(made, GeneratorVariable):
        count = max(times.realize().as_constant(), 0)
        made.left = lambda drawn: tx.constant(count - drawn)
    return made


def _count(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    given = dict(zip(("start", "step"), args, strict=False)) | kwargs
    values = {"start": 0, "step": 1}
    values |= {name: value.realize().as_constant() for name, value in given.items()}
    fold(lambda: itertools.count(**values))
    if not {type(value) for value in values.values()} <= {int, float}:
        unsupported("GB0004", "itertools.count() of other numbers")
    return CountIterator(**values)


def _over_lists(function: type) -> Handler:
    """A finite iterator function of itertools, over the items as they are."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values: list[Any] = []
        pools: list[VariableTracker] = []
        for arg in args:
            pool = arg.realize()
            number = isinstance(pool, ConstantVariable) and isinstance(pool.value, int)
            values.append(pool.as_constant() if number else pool.unpack(tx))
            pools.append(pool if number else tx.tuple_of(values[-1]))
        keywords = {key: value.as_constant() for key, value in kwargs.items()}
        groups = fold(lambda: list(function(*values, **keywords)))
        made = [tx.tuple_of(list(group)) for group in groups]
        return PoolIterator(made, function, pools, kwargs)

    return handler


def _lru_cache(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    unsupported("GB0004", "functools.lru_cache used as a decorator inside of the frame")


def _handlers() -> dict[Any, Handler]:
    iterators = [
        "accumulate", "compress", "cycle", "dropwhile", "takewhile", "filterfalse", "islice",
        "starmap", "zip_longest", "groupby", "tee", "batched", "pairwise",
    ]  # fmt: skip
    table: dict[Any, Handler] = {}
    for name in iterators:
        original = getattr(itertools, name, None)
        if original is not None:
            table[original] = _iterator(name, original)
    pools = ("product", "permutations", "combinations", "combinations_with_replacement")
    for name in pools:
        table[getattr(itertools, name)] = _over_lists(getattr(itertools, name))
    return table


_BY_PYTHON = {
    heapq: ("heappush", "heappop", "heapreplace", "heappushpop", "heapify",
            "_heapify_max", "_heapreplace_max"),
    bisect: ("bisect_left", "bisect_right", "insort_left", "insort_right"),
}  # fmt: skip

_GENERIC_METHODS: dict[Any, Handler] = (
    {functools.singledispatchmethod.__get__: by_python(polyfills.generic_method)}
    if PYTHON >= (3, 13)
    else {}
)

LIBRARY: dict[Any, Handler] = {
    **_handlers(),
    itertools.chain: _chain,
    itertools.chain.from_iterable: _iterator("chain_from_iterable", itertools.chain.from_iterable),
    itertools.repeat: _repeat,
    itertools.count: _count,
    operator.itemgetter: by_python(polyfills.itemgetter),
    operator.attrgetter: by_python(polyfills.attrgetter),
    operator.methodcaller: by_python(polyfills.methodcaller),
    operator.countOf: by_python(polyfills.count_of),
    operator.indexOf: by_python(polyfills.index_of),
    operator.call: by_python(polyfills.call),
    **{
        getattr(module, name): by_python(getattr(polyfills, name))
        for module, names in _BY_PYTHON.items()
        for name in names
    },
    functools.reduce: by_python(polyfills.reduce),
    functools.cmp_to_key: key_function,
    inspect.signature: signature_of,
    functools.lru_cache: _lru_cache,
    functools.cache: _lru_cache,
    collections.deque: make_deque,
    types.MappingProxyType: make_proxy,
    collections.abc.Sequence.__iter__: by_python(polyfills.sequence_items),
    collections.abc.Sequence.__contains__: by_python(polyfills.sequence_contains),
    collections.abc.Sequence.index: by_python(polyfills.sequence_index),
    collections.abc.Sequence.count: by_python(polyfills.count_of),
    collections.abc.ValuesView.__contains__: by_python(polyfills.values_view_contains),
    collections._count_elements: by_python(polyfills.count_elements),  # type: ignore[attr-defined]
    **_GENERIC_METHODS,
    **PURE_FUNCTIONS,
    **PACKAGE,
    **DEFERRED,
    **MESSAGES,
    **CHANGING,
}
