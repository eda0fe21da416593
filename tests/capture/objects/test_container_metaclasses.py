"""Dict, list and tuple subclasses whose class has a metaclass of its own, made in the graph.

The metaclass decides what a call of the class, a test with `isinstance` and a read of a class
attribute mean. Its methods are interpreted; a change of the class or the metaclass recompiles.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import graphwright as gw

from ..captured import Captured, check, same
from ..programs import whole

X = gw.tensor([1.0, 2.0, 3.0])
LOG: list[object] = []


class Meta(type):
    pass


class Dict(dict[Any, Any], metaclass=Meta):
    pass


class Ordered(collections.OrderedDict[Any, Any], metaclass=Meta):
    pass


class List(list[Any], metaclass=Meta):
    pass


class Tuple(tuple[Any, ...], metaclass=Meta):
    pass


class Text(str, metaclass=Meta):
    pass


class Plain(metaclass=Meta):
    def __init__(self, value: Any) -> None:
        self.value = value


@pytest.mark.parametrize(
    "function",
    [
        lambda x: Dict(a=x + 1),
        lambda x: Ordered(a=x + 1, b=x),
        lambda x: List([x + 1]),
        lambda x: Tuple([x + 1, x]),
        lambda x: (Text("ab"), x + 1),
        lambda x: Plain(x + 1),
        lambda x: (type(Dict(a=x + 1)) is Dict, isinstance(List(), list), len(Tuple([x, x])), -x),
    ],
)
def test_creation_is_part_of_the_graph(function: Callable[..., Any]) -> None:
    check(function, X, graphs=1)


def test_instances_from_outside_are_read_in_the_graph() -> None:
    def read(given: Any) -> Any:
        return given["a"] * 2, type(given), isinstance(given, Dict), Dict(given)

    check(read, Dict(a=X), graphs=1)


# what the metaclass itself defines


class Counting(type):
    """Calls `__init__` and adds the number of items; has methods, a property, a fallback."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made["n"] = len(made)
        return made

    @property
    def kind(cls) -> str:
        return cls.__name__.lower()

    def of(cls, *values: Any) -> Any:
        return cls(enumerate(values))

    def __getattr__(cls, name: str) -> str:
        return f"{cls.__name__} has no {name}"


class Counted(dict[Any, Any], metaclass=Counting):
    pass


def test_its_methods_are_interpreted() -> None:
    check(lambda x: Counted(a=x + 1), X, graphs=1)
    check(lambda x: (Counted.of(x + 1, x), Counted.kind, Counted.nothing), X, graphs=1)


class Refusing(type):
    def __instancecheck__(cls, value: object) -> bool:
        return False

    def __subclasscheck__(cls, other: type) -> bool:
        return other is cls


class Refused(dict[Any, Any], metaclass=Refusing):
    pass


class Derived(Refused):
    pass


def test_its_checks_decide() -> None:
    def checks(x: Any) -> Any:
        made = Derived(a=x + 1)
        return isinstance(made, Refused), isinstance(made, Derived), issubclass(Derived, Refused)

    whole(checks, X)


class Spying(type):
    def __getattribute__(cls, name: str) -> Any:
        LOG.append(name)
        return type.__getattribute__(cls, name)


class Spied(dict[Any, Any], metaclass=Spying):
    field = 3


def test_a_metaclass_that_reads_attributes_itself_is_a_break() -> None:
    """And capture reads none of the class: the log is that of plain Python."""

    def function(x: Any) -> Any:
        return Spied(a=x + 1), Spied.field

    logs = []
    captured = Captured(function)
    for run in (function, captured):
        LOG.clear()
        run(X)
        logs.append(list(LOG))
    assert logs == [["field"], ["field"]]
    assert captured.breaks == ["GB0010"]


# changes between calls


def classes() -> tuple[Any, Any]:
    """A metaclass and a class of it that a test may change."""

    class Kind(type):
        pass

    class Made(dict[Any, Any], metaclass=Kind):
        pass

    return Kind, Made


NEW = staticmethod(lambda cls, **items: items)


class Another(type):
    def __call__(cls, **items: Any) -> Any:
        return list(items.values())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda kind, made: setattr(kind, "__call__", lambda cls, **kw: 3), "['__call__']"),
        (lambda kind, made: setattr(made, "__class__", Another), "type("),
        (lambda kind, made: setattr(made, "__init__", lambda self, **kw: None), "['__init__']"),
        (lambda kind, made: setattr(made, "__new__", NEW), "['__new__']"),
        (lambda kind, made: setattr(kind, "__instancecheck__", lambda *_: 0), "__instancecheck__"),
        (lambda kind, made: setattr(kind, "field", property(lambda cls: 5)), "['field']"),
        (lambda kind, made: setattr(made, "field", 6), "field"),
    ],
)
def test_a_change_of_the_class_or_its_metaclass_recompiles(
    change: Callable[..., Any], reason: str
) -> None:
    kind, made = classes()
    made.field = 4

    def function(x: Any) -> Any:
        return made(a=x + 1), isinstance({}, made), made.field

    captured = Captured(function)
    assert captured.agrees(X)
    change(kind, made)
    assert captured.agrees(X)
    assert captured.graphs == 2
    assert not captured.breaks
    assert reason in captured.record.recompiles[0].reasons[0]


def test_an_equality_that_the_metaclass_gains_is_honoured() -> None:
    kind, made = classes()
    captured = Captured(lambda x: (made(a=x + 1).__class__ == made, x * 2))
    assert captured.agrees(X)
    kind.__eq__ = lambda cls, other: False
    kind.__hash__ = type.__hash__
    assert captured.agrees(X)


# results of models: an ordered dict that is a dataclass, with fields that are items and attributes


class Renaming(type):
    """Wraps the `__init__` that `dataclass` writes, to take an old name for a field."""

    def __setattr__(cls, name: str, value: Any) -> None:
        if name == "__init__":
            written = value

            @functools.wraps(written)
            def init(self: Any, *args: Any, **kwargs: Any) -> None:
                if "old_hidden" in kwargs:
                    kwargs["hidden"] = kwargs.pop("old_hidden")
                written(self, *args, **kwargs)

            value = init
        super().__setattr__(name, value)


class Output(collections.OrderedDict[str, Any], metaclass=Renaming):
    """Fields that are None are no items; an int or slice reads the tuple of the others."""

    known: ClassVar[dict[type, bool]] = {}

    def __init_subclass__(cls) -> None:
        cls.known[cls] = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.__class__ != Output and not dataclasses.is_dataclass(self):
            raise TypeError(f"{self.__class__.__name__} is no dataclass")

    def __post_init__(self) -> None:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        if not all(field.default is None for field in fields[1:]):
            raise ValueError("more than one required field")
        first = getattr(self, fields[0].name)
        alone = all(self.__dict__.get(field.name) is None for field in fields[1:])
        if not alone or isinstance(first, gw.Tensor):
            for field in fields:
                value = self.__dict__.get(field.name)
                if value is not None:
                    self[field.name] = value
            return
        setattr(self, fields[0].name, None)
        super().__delitem__(fields[0].name)
        pairs = first.items() if isinstance(first, dict) else iter(first)
        for name, value in pairs:
            setattr(self, name, value)
            if value is not None:
                self[name] = value

    def __getitem__(self, key: Any) -> Any:
        return dict(self.items())[key] if isinstance(key, str) else self.to_tuple()[key]

    def __setattr__(self, name: str, value: Any) -> None:
        names = {field.name for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        if name in names and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __delitem__(self, key: str) -> None:
        raise TypeError("items stay")

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return super().get(key, default)

    def to_tuple(self) -> tuple[Any, ...]:
        return tuple(self[key] for key in self.keys())


@dataclasses.dataclass
class Result(Output):
    logits: Any = None
    hidden: Any = None
    loss: Any = None


class Bare(Output):
    """Derives from it and lacks the decorator."""


def returned(x: Any) -> Any:
    return Result(logits=x + 1, hidden=(x * 2, x * 3))


def read_inside(x: Any) -> Any:
    made = Result(logits=x + 1, old_hidden=x * 2)
    return made.logits + made["hidden"] + made[0] + made.to_tuple()[1] + made[1:][0]


def expanded(x: Any) -> Any:
    made = Result(x + 1)
    return Result(**made, hidden=x), dict(made), {**made}, dict(**made), list(made.items())


def changed(x: Any) -> Any:
    made = Result(x + 1, loss=x.sum())
    made.hidden = x * 2
    made["loss"] = None
    return made, len(made), list(made), "hidden" in made, made.get("loss")


def made_of_pairs(x: Any) -> Any:
    return Result([("logits", x + 1), ("hidden", x * 2)]), Result({"logits": x - 1, "loss": None})


def nested(x: Any) -> Any:
    inner = returned(x)
    loss, *rest = (x.sum(), *inner[:])
    return Result(loss=loss, logits=rest[0], hidden=inner.hidden), inner.loss is None


def raising(x: Any) -> Any:
    try:
        Bare(logits=x)
    except TypeError as error:
        return str(error), x + 1


@pytest.mark.parametrize(
    "function",
    [returned, read_inside, expanded, changed, made_of_pairs, nested, raising],
    ids=lambda function: function.__name__,
)
def test_results_of_models_are_made_and_read_in_one_graph(function: Callable[..., Any]) -> None:
    check(function, X, graphs=1)


def test_a_result_keeps_its_class_and_its_attributes_outside() -> None:
    made = Captured(returned)(X)
    assert type(made) is Result
    assert list(made) == ["logits", "hidden"]
    assert made.loss is None
    assert made.logits is made["logits"]


def test_a_method_that_the_class_of_results_gains_is_called() -> None:
    @dataclasses.dataclass
    class Kept(Output):
        value: Any = None

    captured = Captured(lambda x: Kept(value=x + 1)[0])
    assert captured.agrees(X)
    Kept.__getitem__ = lambda self, key: Output.__getitem__(self, key) * 10  # type: ignore
    assert captured.agrees(X)
    assert captured.graphs == 2


# what `**value` and `dict(value)` read


class Keyed(dict[Any, Any]):
    """Own `[]`, a dict's iterator: C reads it as it is."""

    def __getitem__(self, key: Any) -> Any:
        return "own"

    def keys(self) -> Any:
        return ["other"]


class Asked(dict[Any, Any]):
    """An iterator of its own: C asks it for its keys and each item."""

    def __iter__(self) -> Any:
        raise AssertionError("nobody goes through it")

    def __getitem__(self, key: Any) -> Any:
        return dict.__getitem__(self, key) * 10


class Shortened(collections.OrderedDict[Any, Any]):
    def keys(self) -> Any:
        return [key for key in self if key != "b"]


@pytest.mark.parametrize("kind", [Keyed, Asked, Shortened])
def test_a_mapping_is_read_as_c_reads_it(kind: Any) -> None:
    def read(x: Any) -> Any:
        made = kind(a=x + 1, b=x)
        return {**made}, dict(made), dict(**made), collections.OrderedDict(**made)

    check(read, X, graphs=1)


class Tenfold(dict[Any, Any]):
    def __getitem__(self, key: Any) -> Any:
        return dict.__getitem__(self, key) * 10

    def __setitem__(self, key: Any, value: Any) -> None:
        dict.__setitem__(self, key, value + 1)


class Counter(list[Any]):
    added = 0

    def append(self, item: Any) -> None:
        list.append(self, item)
        self.added += 1


def test_methods_of_the_base_are_called_through_the_base() -> None:
    def use(x: Any) -> Any:
        made, counter = Tenfold(), Counter()
        made["a"] = x
        counter.append(made["a"])
        return made, counter, list.__len__(counter), dict.get(made, "b")

    check(use, X, graphs=1)


def test_an_ordered_dict_asks_every_mapping_for_its_items() -> None:
    def read(x: Any) -> Any:
        target: Any = collections.OrderedDict(a=x)
        target.update(Keyed(b=x + 1))
        return target

    captured = Captured(read)
    assert same(captured(X), read(X))
    assert list(captured(X)) == ["a", "other"]
