"""Functions that give another value at each call: the clock, and Python's random numbers.

Floats that `random` and `numpy.random` draw, and generators of the program, are drawn in their
order when the frame begins, before the graph runs, and are inputs of it. Where the program needs
such a number's value, to branch by it, the graph ends; other draws (integers, choices, shuffles)
and the clock end it at once.
"""

from __future__ import annotations

import random
import sys
import time
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture.exc import unsupported
from graphwright.capture.source import InstanceAttrSource, LoadWriter, Reloader, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.floats import FloatVariable
from graphwright.capture.variables.namespaces import instance_dict
from graphwright.capture.variables.objects import ObjectVariable
from graphwright.runtime.records import Record

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_STATES = ("seed", "getstate", "setstate")
_FLOATS = frozenset(
    [
        *("random", "uniform", "gauss", "normalvariate", "lognormvariate", "triangular"),
        *("betavariate", "expovariate", "gammavariate", "paretovariate", "vonmisesvariate"),
        *("weibullvariate",),
    ]
)
_NUMPY_FLOATS = frozenset(
    [
        *("rand", "randn", "random", "random_sample", "ranf", "sample", "uniform", "normal"),
        *("beta", "gamma", "exponential", "laplace", "triangular", "standard_normal"),
    ]
)
_GENERATOR_FLOATS = frozenset(
    [
        *("random", "uniform", "normal", "standard_normal", "beta", "gamma", "standard_gamma"),
        *("exponential", "standard_exponential", "laplace", "logistic", "lognormal"),
        *("triangular", "gumbel", "chisquare", "rayleigh", "weibull", "pareto", "vonmises"),
    ]
)


class Draw(Record):
    """One number drawn when the frame begins: `function(*args, **kwargs)`, of a generator.

    owner: where the generator is read, of which the function is a method; None of a module's.
    """

    function: Callable[..., float]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    generator: Any
    owner: Source | None = None


class DrawSource(Source):
    """A number that was drawn when the frame began; the next call has another."""

    number: int

    def name(self) -> str:
        return f"draw {self.number}"

    def emit(self, cg: Reloader) -> None:
        cg.load_local(local_of(self.number))

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at arguments only")

    def require_comparable(self) -> None:
        unsupported("GB0019", "the value of a random number")


def local_of(number: int) -> str:
    """The local of the translated frame that holds a draw."""
    return f"$draw{number}"


def changing(name: str) -> Any:
    """The handler of a function of that name."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        unsupported("GB0019", f"{name}() gives another value at each call")

    return handler


_MODULE_GENERATOR = random.random.__self__  # type: ignore[attr-defined]
_METHODS = dict(vars(random.Random))


def _is_as_imported() -> bool:
    """Whether nobody put methods of their own into `random.Random`, as tests do."""
    now = vars(random.Random)
    return now.keys() == _METHODS.keys() and all(now[n] is _METHODS[n] for n in now)


def bound_random(value: Any) -> Any:
    """The handler of a bound method of a generator; None for others."""
    owner = value.__self__
    if type(owner) is random.Random and value.__name__ not in _STATES:
        known = owner is _MODULE_GENERATOR and value.__name__ in _FLOATS and _is_as_imported()
        return _drawing(value, random.Random(0)) if known else changing(f"random.{value.__name__}")
    legacy = sys.modules.get("numpy.random.mtrand")
    if legacy is not None and owner is getattr(legacy, "_rand", None):
        known = value.__name__ in _NUMPY_FLOATS
        return _drawing(value, legacy.RandomState(0)) if known else None
    return None


def _drawing(function: Any, example: Any) -> Any:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return _draw(tx, function, getattr(example, function.__name__), args, kwargs)

    return handler


def _draw(
    tx: Translator, function: Any, example: Callable[..., Any], args: Args, kwargs: Kwargs,
    owner: Source | None = None,
) -> VariableTracker:
    """A float from `function`; `example` is that of another generator, to see what it gives."""
    output, name = tx.output, f"{function.__name__}()"
    values = tuple([arg.realize().as_constant() for arg in args])
    keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
    tx.side_effects.refuse_after_calls()
    again = output.recomputed or output.side_effects.earlier is not None
    if again or output.check_read is not None:
        unsupported("GB0019", f"{name} gives another value at each call")
    try:
        seen = example(*values, **keywords)
    except (TypeError, ValueError, ArithmeticError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    if type(seen) is not float:
        unsupported("GB0019", f"{name} gives another value at each call")
    source = DrawSource(len(output.draws))
    generator = function.__self__ if owner is None else None
    output.draws.append(Draw(function, values, keywords, generator, owner))
    return FloatVariable(output, seen, source, {source: seen})


class OwnRandomVariable(ObjectVariable):
    """A `random.Random` or `numpy.random.Generator` of the program, no subclass."""

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name[0] == "_" or name in _STATES or not callable(getattr(self.cls, name, None)):
            return super().getattr(tx, name)
        if name in instance_dict(self.value):
            unsupported("GB0010", f"the own {name!r} of {self.describe()}")
        assert self.source is not None
        if instance_dict(self.value):
            tx.guards.missing(InstanceAttrSource(self.source, name))
        return _OwnDraw(self, name)


class _OwnDraw(VariableTracker):
    """A bound method of such a generator."""

    def __init__(self, owner: OwnRandomVariable, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return type(getattr(self.owner.value, self.method))

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        name, cls = self.method, self.owner.cls
        if name not in (_FLOATS if cls is random.Random else _GENERATOR_FLOATS):
            unsupported("GB0019", f"{name}() gives another value at each call")
        if cls is random.Random and not _is_as_imported():
            unsupported("GB0019", f"{name}() of a class that was changed")
        example = getattr(_example_of(cls), name)
        return _draw(tx, getattr(cls, name), example, args, kwargs, self.owner.source)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)


def _example_of(cls: type) -> Any:
    """Another generator of the class."""
    return random.Random(0) if cls is random.Random else cls(numpy.random.PCG64(0))


def is_own_generator(value: Any) -> bool:
    """Whether it is a generator of Python or NumPy; what NumPy's random numbers need may not be
    imported yet."""
    cls = type(value)
    library = sys.modules.get("numpy.random._generator")
    return cls is random.Random or (library is not None and cls is library.Generator)


CHANGING: dict[Any, Any] = {
    **{
        getattr(time, f"{name}{unit}"): changing(f"time.{name}{unit}")
        for name in _CLOCKS
        for unit in ("", "_ns")
    },
    **{
        function: changing(f"random.{name}")
        for name, function in vars(random.Random).items()
        if isinstance(function, types.FunctionType) and name not in _STATES and name[0] != "_"
    },
}
