"""Functions under `functools.lru_cache`: what they keep is found or made, as a call would.

A key that the cache has gives the object that is kept, which the guards look up at each call.
For one that it lacks the function is inlined; that it lacks it, or has the same constant, is a
guard, too. For a key with symbolic sizes the function is inlined, and each call looks for what is
kept. After the graph the cache is brought to where the calls would have brought it: hits, misses
and order included.
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.effects.side_effects import CachedCall
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.lru_cache_lookups import (
    Lookup,
    Pattern,
    PatternMaker,
    kept_tree,
    symbolic_key,
)
from graphwright.capture.guards.opaque_container_sources import CachedSource
from graphwright.capture.guards.scalar_sources import source_of as integer_source
from graphwright.capture.guards.source import AttrSource, ConstSource, InstanceAttrSource, Source
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.callables.functions import UserFunctionVariable
from graphwright.capture.trackers.classes.classes import (
    BuiltinVariable,
    ClassVariable,
    OperationVariable,
)
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.checkpointing import written
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import Raised
from graphwright.runtime.record import replace

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_OF_CACHES = frozenset(["cache_info", "cache_clear", "cache_parameters"])
_MOST_OBJECTS = 7


class CachedFunctionVariable(VariableTracker):
    """An existing cached function, guarded by identity."""

    mutable = True

    def __init__(self, value: Any, source: Source) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return functools._lru_cache_wrapper

    def describe(self) -> str:
        return f"the cached {getattr(self.value, '__qualname__', 'function')}"

    def truth(self, tx: Translator) -> bool:
        return True

    def hashes_by_identity(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        own = self.value.__dict__
        if name in own:
            return tx.output.wrap(own[name], InstanceAttrSource(self.source, name))
        if name in _OF_CACHES:
            return _CacheMethod(self, name)
        return super().getattr(tx, name)

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if not _eval_frame.READS_CACHES or tx.side_effects.earlier is not None:
            unsupported("GB0004", f"call of {self.describe()}")
        args = [arg.realize() for arg in args]
        kwargs = {name: arg.realize() for name, arg in kwargs.items()}
        objects = [arg for arg in (*args, *kwargs.values()) if _is_object(tx, arg)]
        if any(map(_varies, (*args, *kwargs.values()))):
            return self._look_up(tx, args, kwargs, objects)
        key = self._key(tx, args, kwargs, objects)
        use = tx.side_effects.cache_use(self)
        index = (key, *objects)
        result = use.results.get(index)
        found = result is not None or self._is_kept(tx, key, objects)
        self._check_size(len(use.results) + (result is None), result is None and found, use.fills)
        if result is None:
            source = self._source(key, objects)
            if found:
                kept = _eval_frame.cached_result(self.value, key, *_real(tx, objects))
                result = tx.output.wrap(kept, source)
            else:
                before = _effects(tx)
                try:
                    result = self._run(tx, args, kwargs)
                except Unsupported as reason:   # Python runs it, and then something is kept
                    reason.lacking = source
                    raise
                self._guard_missing(tx, source, result, _effects(tx) == before)
                use.fills += 1
            use.results[index] = result
            lookup = self._lookup(tx)
            lookup.calls.append((*self._patterns(tx, lookup, args, kwargs, objects), None))
        use.calls.append(CachedCall(tuple(args), kwargs, None if found else result))
        return result

    def _guard_missing(
        self, tx: Translator, source: Source, result: VariableTracker, silent: bool
    ) -> None:
        """Nothing is kept, or just the constant that a function without effects gives."""
        value = result.value if type(result) is ConstantVariable else _eval_frame.MISSING
        if silent and _eval_frame.is_constant(value):
            tx.guards.equals(replace(source, otherwise=value), value)
        else:
            tx.guards.missing(source)

    def _look_up(
        self, tx: Translator, args: Args, kwargs: Kwargs, objects: Args
    ) -> VariableTracker:
        """A call on symbolic sizes: the function is inlined, each call looks its result up."""
        self._note_objects(tx, objects)
        use, lookup = tx.side_effects.cache_use(self), self._lookup(tx)
        patterns = self._patterns(tx, lookup, args, kwargs, objects)
        index = symbolic_key(patterns, self.value, tuple(lookup.maker.values))
        result = use.results.get(index)
        self._check_size(len(use.results) + (result is None), False, use.fills)
        if result is None:
            since, before = Clock.step, _effects(tx)
            found = self._run(tx, args, kwargs)
            tree = lookup.maker.of_result(found, since)
            if tree is None or _effects(tx) != before:
                unsupported("GB0004", f"call of {self.describe()} on symbolic sizes")
            source = lookup.add(patterns, tree, since)
            result = use.results[index] = kept_tree(found, source)
        use.calls.append(CachedCall(tuple(args), kwargs, result))
        return result

    def _lookup(self, tx: Translator) -> Lookup:
        lookups = tx.output.lookups
        if self not in lookups:
            assert self.source is not None
            maker = PatternMaker(lambda v: integer_source(v.value.expr, tx.output.shape_env))
            lookups[self] = Lookup(len(lookups), self.source, maker)
        return lookups[self]

    def _patterns(
        self, tx: Translator, lookup: Lookup, args: Args, kwargs: Kwargs, objects: Args
    ) -> tuple[Pattern, Pattern]:
        maker = lookup.maker
        keywords = [(name, self._pattern(tx, maker, arg, objects)) for name, arg in kwargs.items()]
        return (tuple, [self._pattern(tx, maker, arg, objects) for arg in args]), (dict, keywords)

    def _pattern(
        self, tx: Translator, maker: PatternMaker, arg: VariableTracker, objects: Args
    ) -> Pattern:
        if arg in objects:
            assert arg.source is not None
            return maker.place(arg.source)
        if not _varies(arg):
            return ("constant", self._part(tx, arg, objects))
        pattern = maker.of_key(arg)
        if pattern is None:
            unsupported("GB0004", f"call of {self.describe()} on {arg.describe()}")
        return pattern

    def _note_objects(self, tx: Translator, objects: Args) -> None:
        typed = self.value.cache_parameters()["typed"]
        for part in objects:
            if part.source is None or typed or isinstance(part, TensorVariable):
                unsupported("GB0004", f"call of {self.describe()} on {part.describe()}")
            tx.output.hashed[part] = None

    def _key(self, tx: Translator, args: Args, kwargs: Kwargs, objects: Args) -> Any:
        """The key of a call, with MISSING where there are objects."""
        self._note_objects(tx, objects)
        if len(objects) > _MOST_OBJECTS:
            unsupported("GB0004", f"call of {self.describe()} on many objects")
        values = tuple([self._part(tx, arg, objects) for arg in args])
        keywords = {name: self._part(tx, arg, objects) for name, arg in kwargs.items()}
        return _eval_frame.cache_key(self.value, values, keywords)

    def _part(self, tx: Translator, arg: VariableTracker, objects: Args) -> Any:
        if arg in objects:
            return _eval_frame.MISSING
        if not arg.is_constant() and not isinstance(arg, _VALUES):
            unsupported("GB0004", f"call of {self.describe()} on {arg.describe()}")
        value = arg.as_key(tx)
        try:
            hash(value)
        except TypeError as error:
            unsupported("GB0007", f"TypeError: {error}")
        return value

    def _is_kept(self, tx: Translator, key: Any, objects: Args) -> bool:
        found = _eval_frame.cached_result(self.value, key, *_real(tx, objects))
        return found is not _eval_frame.MISSING

    def _check_size(self, used: int, was_kept: bool, fills: int) -> None:
        """A break where what the frame asks for drives out what it asks for again."""
        size = self.value.cache_parameters()["maxsize"]
        if size is not None and (used > size or (was_kept and fills)):
            unsupported("GB0004", f"call of {self.describe()}, whose size is bounded")

    def _source(self, key: Any, objects: Args) -> CachedSource:
        sources = [part.source for part in objects]
        assert self.source is not None
        return CachedSource(self.source, key, tuple([s for s in sources if s is not None]))

    def _run(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        function = _eval_frame.cached_function(self.value)
        if not isinstance(function, types.FunctionType):
            unsupported("GB0004", f"call of {self.describe()}, which is not written in Python")
        inner = tx.output.wrap(function, ConstSource(function, f"{self.source}.__wrapped__"))
        try:
            return inner.call(tx, args, kwargs).realize()
        except Raised:
            unsupported("GB0004", f"call of {self.describe()}, which raises")


_VALUES = (ClassVariable, BuiltinVariable, OperationVariable, UserFunctionVariable)


def _is_object(tx: Translator, arg: VariableTracker) -> bool:
    """Whether the key of a call finds the argument by what object it is."""
    return not (arg.is_constant() or isinstance(arg, _VALUES)) and arg.hashes_by_identity(tx)


def _varies(arg: VariableTracker) -> bool:
    """Whether an argument is a symbolic size, or a tuple with one."""
    if isinstance(arg, TupleVariable):
        return any(_varies(item.realize()) for item in arg.items)
    return isinstance(arg, SymIntVariable)


def _effects(tx: Translator) -> tuple[Any, ...]:
    """What changes where a call writes to anything, draws numbers or works on tensors."""
    output = tx.output
    return (*written(output), len(output.graph.nodes), len(output.draws), len(output.streams))


def _real(tx: Translator, objects: Args) -> list[Any]:
    return [getattr(part, "value", _eval_frame.MISSING) for part in objects]


class _CacheMethod(VariableTracker):
    """`cache_info` or `cache_clear` of a cached function: it is called when the graph has run."""

    def __init__(self, owner: CachedFunctionVariable, name: str) -> None:
        self.owner = owner
        self.name = name
        assert owner.source is not None
        self.source = AttrSource(owner.source, name)

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def describe(self) -> str:
        return f"{self.name} of {self.owner.describe()}"
