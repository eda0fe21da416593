"""Functions that give another value at each call: the clock, and Python's random numbers.

Numbers that `random` and `numpy.random` draw, and generators of the program, are drawn in their
order when the frame begins, before the graph runs, and are inputs of it: floats, and of `random`
also ints, choices, samples and shuffles of numbers. Where the program needs such a number's value,
to branch by it, the graph ends; other draws and the clock end it at once.
"""

from __future__ import annotations

import functools
import random
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.scalar_sources import WholeSource
from graphwright.capture.guards.source import InstanceAttrSource, LoadWriter, Reloader, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.numbers.ranges import RangeVariable
from graphwright.capture.trackers.numbers.symbolic_floats import FloatVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import ItemRead, NumberRead
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import instance_dict
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.runtime.record import Record

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

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


_INTS = frozenset(["randint", "randrange", "getrandbits"])
_CHOOSING = frozenset(["choice", "choices", "sample"])
_DRAWN = _FLOATS | _INTS | _CHOOSING | {"shuffle"}
_LARGEST = 2**62
"""More than the ints that are drawn for a graph, and less than it may hold."""


class Draw(Record):
    """A random number that is drawn when the frame begins: `function(*args, **kwargs)`.

    owner: the source of the generator whose method `function` is; None for a module's function.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    generator: Any
    owner: Source | None = None


class DrawSource(Source):
    """A number that was drawn when the frame began; the next call has another.

    index: its place where several were drawn at once.
    """

    number: int
    index: int | None = None

    def name(self) -> str:
        return f"draw {self.number}" + (f"[{self.index}]" if self.index is not None else "")

    def emit(self, cg: Reloader) -> None:
        cg.load_local(local_of(self.number))
        if self.index is not None:
            cg.load_const(self.index)
            cg.subscript()

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
        name = value.__name__
        if owner is not _MODULE_GENERATOR or name not in _DRAWN or not _is_as_imported():
            return changing(f"random.{name}")
        if name in _FLOATS:
            return _drawing(value, random.Random(0))
        return functools.partial(_draw_others, value, None)
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
    """A float from `function`; `example` is drawn from another generator, for its type."""
    output, name = tx.output, f"{function.__name__}()"
    values = tuple([arg.realize().as_constant() for arg in args])
    keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
    _check_drawn(tx, name)
    seen = _example(example, values, keywords)
    if type(seen) is not float:
        unsupported("GB0019", f"{name} gives another value at each call")
    source = DrawSource(len(output.draws))
    generator = function.__self__ if owner is None else None
    output.draws.append(Draw(function, values, keywords, generator, owner))
    return FloatVariable(output, seen, source, {source: seen})


def _check_drawn(tx: Translator, name: str) -> None:
    """A break where the frame may not draw before the graph runs."""
    output = tx.output
    tx.side_effects.refuse_after_calls()
    again = output.recomputed or output.side_effects.earlier is not None
    if again or output.check_read is not None:
        unsupported("GB0019", f"{name} gives another value at each call")


def _example(example: Callable[..., Any], values: Any, keywords: dict[str, Any]) -> Any:
    """What another generator gives."""
    try:
        return example(*values, **keywords)
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")


class DrawnInt(ItemRead):
    """An int that was drawn, as if it were read from a tensor: an argument of the graph."""

    def __init__(self, output: OutputGraph, seen: int, source: DrawSource, bits: int) -> None:
        self.output = output
        self.bits = bits
        self.seen = seen
        self.place = source
        self.kind = int

    @property
    def tensor(self) -> TensorVariable:  # type: ignore[override]
        """The graph's argument; none is made for an int that only Python sees."""
        return self.output.float_input(self.seen, WholeSource(self.place))

    def describe(self) -> str:
        return f"the int {self.place}"

    def as_constant(self) -> Any:
        unsupported("GB0019", "the value of a random number")

    def truth(self, tx: Translator) -> bool:
        unsupported("GB0019", "the truth value of a random number")

    def settled(self, tx: Translator) -> NumberRead:
        copy = tx.output.run(tx, "call_method", "clone", [self.tensor], {})
        assert isinstance(copy, TensorVariable)
        return ItemRead(copy)

    def reconstruct(self, cg: Reconstructor) -> None:
        self.place.emit(cg.builder)


def _draw_others(
    function: Any, owner: Source | None, tx: Translator, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """An int, or what is chosen of numbers, from a method of a `random.Random`."""
    name = function.__name__
    _check_drawn(tx, f"{name}()")
    if name == "shuffle":
        return _shuffle(tx, function, args, kwargs)
    values = tuple([_fixed(arg) for arg in args])
    keywords = {key: _fixed(value) for key, value in kwargs.items()}
    chosen = name in _CHOOSING
    if not chosen and not all(_is_small(value) for value in (*values, *keywords.values())):
        unsupported("GB0019", f"{name}() of other than small ints")
    if name == "getrandbits" and not all(bits <= 60 for bits in values):
        unsupported("GB0019", "getrandbits() of many bits")
    if chosen:
        given = [keywords[key] for key in ("seq", "population") if key in keywords]
        _check_numbers(name, [*values, *given, None][0])
    seen = _example(getattr(random.Random(0), name), values, keywords)
    generator = function.__self__ if owner is None else None
    bits = values[0] if name == "getrandbits" else _most_bits([*values, *keywords.values()])
    return _drawn(tx, Draw(function, values, keywords, generator, owner), seen, bits)


def _most_bits(given: Any) -> int:
    """How many bits an int may have that is drawn by, or chosen of, what is given."""
    ints = [v for part in given for v in _members(part)]
    return max((v.bit_length() for v in ints if type(v) is int), default=0)


def _members(given: Any) -> Sequence[Any]:
    """What a tuple holds, the ends of a range, or the value itself."""
    if type(given) is range:
        return (given[0], given[-1]) if given else ()
    return given if type(given) is tuple else (given,)


def _shuffle(tx: Translator, function: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`random.shuffle(values)` of a list of numbers."""
    values = args[0].realize() if len(args) == 1 and not kwargs else None
    if type(values) is not ListVariable:
        unsupported("GB0019", "shuffle() of other than a list")
    items = _fixed(values)
    _check_numbers("shuffle", items)
    draw = Draw(shuffled, (function, items), {}, function.__self__)
    made = _drawn(tx, draw, list(items), _most_bits([items]))
    assert isinstance(made, ListVariable)
    tx.side_effects.mutate(values)
    values.items[:] = made.items
    return tx.constant(None)


def shuffled(shuffle: Callable[[list[Any]], None], values: tuple[Any, ...]) -> list[Any]:
    """The values in the order in which `shuffle` puts them."""
    items = list(values)
    shuffle(items)
    return items


_eval_frame.skip_code(shuffled.__code__)


def _drawn(tx: Translator, draw: Draw, seen: Any, bits: int) -> VariableTracker:
    """What stands for a number that is drawn, or for a list of such."""
    number = len(tx.output.draws)
    tx.output.draws.append(draw)
    if type(seen) is not list:
        return _number(tx, seen, DrawSource(number), bits)
    places = [DrawSource(number, index) for index in range(len(seen))]
    numbers = zip(seen, places, strict=True)
    return ListVariable([_number(tx, number, place, bits) for number, place in numbers])


def _number(tx: Translator, seen: Any, source: DrawSource, bits: int) -> VariableTracker:
    if type(seen) is float:
        return FloatVariable(tx.output, seen, source, {source: seen})
    return DrawnInt(tx.output, seen, source, bits)


def _fixed(value: VariableTracker) -> Any:
    """A constant, or a tuple of what a list or tuple holds; a break for what varies."""
    value = value.realize()
    if type(value) in (ListVariable, TupleVariable):
        return tuple([_fixed(item) for item in value.items])  # type: ignore[attr-defined]
    if isinstance(value, RangeVariable):
        return value.value
    if type(value) is not ConstantVariable:
        unsupported("GB0019", f"a draw by {value.describe()}")
    return value.as_constant()


def _is_small(value: Any) -> bool:
    return type(value) is int and abs(value) < _LARGEST


def _check_numbers(name: str, values: Any) -> None:
    """A break unless they are all floats, or all ints that the graph can hold."""
    known = _members(values) if type(values) in (tuple, range) else ()
    if not known or not (all(map(_is_small, known)) or {type(v) for v in known} == {float}):
        unsupported("GB0019", f"{name}() of other than numbers")


class OwnRandomVariable(ObjectVariable):
    """A `random.Random` or `numpy.random.Generator` of the program, no subclass."""

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name[0] == "_" or name in _STATES or not callable(getattr(self.cls, name, None)):
            return super().getattr(tx, name)
        if name in instance_dict(self.value):
            unsupported("GB0010", f"{self.describe()}, which overrides {name!r}")
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
        if cls is random.Random and name in _INTS | _CHOOSING and _is_as_imported():
            return _draw_others(getattr(cls, name), self.owner.source, tx, args, kwargs)
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
    """Whether it is a `random.Random` or `numpy.random.Generator`; does not import the latter."""
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
