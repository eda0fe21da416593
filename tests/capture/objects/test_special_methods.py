"""Special methods of members, exceptions, named tuples, classes, objects and modules: what Python
asks of them in an expression, it asks of them in a captured one, in each call."""

from __future__ import annotations

import copy
import enum
import functools
import operator
import re
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

CALLS: list[tuple[str, str]] = []
TOLD = (
    "eq", "ne", "lt", "le", "gt", "ge", "add", "radd", "iadd", "sub", "rsub", "mul", "rmul", "or",
    "ror", "and", "rand", "getitem", "call", "neg", "invert", "abs", "pos",
)
GIVEN: dict[str, Any] = {
    "index": 2, "int": 3, "float": 4.5, "reversed": [9], "enter": "in", "dir": ["zz"],
    "round": "round", "next": "next", "divmod": "divmod", "pow": "pow", "instancecheck": True,
    "subclasscheck": True, "contains": True,
}
COUNTED: dict[str, Any] = {"bool": False, "len": 3, "hash": 7, "exit": None}


def methods(tag: str, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """A special method for each thing that an expression may ask; most tell that they were."""
    def told(name: str, result: Any) -> Callable[..., Any]:
        def method(self: object, *args: object) -> Any:
            CALLS.append((tag, name))
            return result
        return method

    held = {f"__{name}__": told(name, (tag, name)) for name in TOLD}
    held |= {f"__{name}__": told(name, result) for name, result in COUNTED.items()}
    held |= {f"__{name}__": lambda self, *args, given=given: given
             for name, given in GIVEN.items()}
    for name in ("str", "repr", "format"):
        held[f"__{name}__"] = lambda self, *args, text=f"{name} of {tag}": text

    def iterate(self: object) -> Any:
        CALLS.append((tag, "iter"))
        return iter([1, 2])

    held["__iter__"] = iterate
    held["__getattr__"] = lambda self, name: f"got {name}"
    return {name: method for name, method in held.items() if name.strip("_") not in without}


class Told:
    """Mixed into an enumeration, before it has members."""


for method_name, special in methods("member").items():
    setattr(Told, method_name, special)


class Member(Told, enum.Enum):
    A = 1
    B = 2


class Pair(namedtuple("Pair", "a b")):
    pass


Failure = type("Failure", (ValueError,), methods("exception"))
Meta = type("Meta", (type,), methods("metaclass"))
OfMeta = Meta("OfMeta", (), {})
OwnPair = type("OwnPair", (Pair,), methods("pair"))
Object = type("Object", (), methods("object"))
Layer = type("Layer", (gw.nn.Module,), methods("module", ("getattr", "call", "dir")))
LAYER = Layer()
MAKERS: dict[str, Callable[[], Any]] = {
    "member": lambda: Member.A, "exception": lambda: Failure(1), "class": lambda: OfMeta,
    "named tuple": lambda: OwnPair(1, 2), "object": Object, "module": lambda: LAYER,
}
EXPRESSIONS = [
    "v == 1", "1 == v", "v != 1", "v < 1", "1 < v", "v >= w", "v == w", "v != w", "v is w",
    "v + 1", "1 + v", "v - 1", "1 - v", "v * 2", "2 * v", "v | 1", "1 | v", "v & 1", "1 in v",
    "v in [1]", "v in [w]", "v[0]", "v()", "-v", "~v", "abs(v)", "+v", "not v", "bool(v)",
    "len(v)", "list(v)", "[*v]", "hash(v)", "{v: 1}.get(w)", "{v} == {w}", "str(v)", "repr(v)",
    "f'{v}'", "f'{v:>3}'", "'%s' % v", "[1, 2, 3][v]", "int(v)", "float(v)", "list(reversed(v))",
    "dir(v)", "round(v)", "next(v)", "divmod(v, 2)", "v ** 2", "pow(v, 2, 3)", "isinstance(1, v)",
    "issubclass(int, v)", "v.nope", "getattr(v, 'nope', 3)", "hasattr(v, 'nope')", "1 if v else 2",
    "[i for i in v]", "(lambda a, *b: a)(*v)", "v and 1", "v or 1", "max(v)", "sum(v)",
    "sorted(v)", "any(v)", "tuple(v)", "dict.fromkeys(v)", "[1, 2].index(v)", "[v].count(w)",
    "range(v)", "'a' * v", "callable(v)", "v.__class__", "type(v)", "zip(v) and 1",
    "enumerate(v) and 1", "min(v, w)", "sorted([v, w]) and 1", "chr(v)", "operator.eq(v, w)",
    "operator.index(v)", "operator.truth(v)", "operator.contains(v, 3)", "copy.copy(v) == w",
    "list(map(v, [1]))", "list(filter(v, [1]))", "v < w < v", "(v == w) == (w == v)",
    "asserted(v)", "matched(v)", "entered(v)", "unpacked(v)",
]


def asserted(v: Any) -> str:
    try:
        assert v
    except AssertionError:
        return "refused"
    return "taken"


def matched(v: Any) -> str:
    match v:
        case 1:
            return "one"
        case [_, _]:
            return "sequence"
        case {}:
            return "mapping"
        case ValueError():
            return "error"
    return "other"


def entered(v: Any) -> Any:
    with v as given:
        return given


def unpacked(v: Any) -> Any:
    a, b = v
    return a, b


def outcome(function: Callable[..., Any], *args: Any) -> tuple[str, list[tuple[str, str]]]:
    """What a call shows or raises, and what was asked for it."""
    CALLS.clear()
    try:
        found = function(gw.ones(2), *args)[0]
        result = "the exception" if type(found) is Failure else repr(found)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return re.sub("0x[0-9a-f]+", "0x", result), list(CALLS)


@pytest.mark.filterwarnings("ignore:graphwright:RuntimeWarning")
@pytest.mark.parametrize("made", ["inside", "outside"])
@pytest.mark.parametrize("kind", MAKERS)
def test_what_an_expression_asks(kind: str, made: str) -> None:
    """Plainly, captured, and again from the cache: the same result, by the same methods."""
    make = MAKERS[kind]
    inside = "def f(x, make):\n    v, w = make(), make()\n"
    head = inside if made == "inside" else "def f(x, v, w):\n"
    for expression in EXPRESSIONS:
        text = f"{head}    x = x + 1\n    r = ({expression})\n    return r, x * 2\n"
        world = {**globals(), "operator": operator, "copy": copy}
        exec(compile(text, "<expression>", "exec"), world)
        args = (make,) if made == "inside" else (make(), make())
        plain = outcome(world["f"], *args)
        compiled = gw.compile(world["f"], backend="eager")
        assert outcome(compiled, *args) == plain, expression
        assert outcome(compiled, *args) == plain, f"{expression} from the cache"


def test_what_filter_calls() -> None:
    """Only None, and `bool`, stand for truth."""
    def numbers(x: gw.Tensor) -> tuple[object, ...]:
        return [*filter(None, [0, 1])], [*filter(bool, [0, 2])], x + 1

    assert gw.compile(numbers, fullgraph=True)(gw.ones(1))[:2] == ([1], [2])

    def refused(x: gw.Tensor) -> tuple[object, ...]:
        return [*filter(3, [0, 1])], x + 1   # type: ignore[call-overload]

    with pytest.raises(TypeError, match="'int' object is not callable"):
        gw.compile(refused)(gw.ones(1))


def test_comparisons_of_different_kinds_break_no_graph() -> None:
    """Neither operand's class knows the other: what is equal is then one object."""
    def f(x: gw.Tensor) -> tuple[object, ...]:
        pair, words = Pair(1, 2), ["a"]
        return (pair == 1, pair != 1, 1 in [pair], range(2) == [0, 1], words == {"a"},
                {"a": 1}.keys() == ["a"], x.shape == 2, words.append == 1, pair == None, x + 1)  # noqa: E711

    plain = f(gw.ones(2))[:-1]
    assert gw.compile(f, fullgraph=True)(gw.ones(2))[:-1] == plain


def test_what_is_told_before_a_partial_of_nothing_callable() -> None:
    """The call fails where it is written, after all that came before."""
    told: list[int] = []

    def f(x: gw.Tensor) -> object:
        told.append(1)
        return functools.partial([x + 1], 1)()    # type: ignore[arg-type]

    with pytest.raises(TypeError, match="the first argument must be callable"):
        gw.compile(f)(gw.ones(1))
    assert told == [1]


class OwnKeys(OrderedDict[str, int]):
    def keys(self) -> Any:
        CALLS.append(("mapping", "keys"))
        return iter(["a"])


class OwnLength(set[int]):
    def __len__(self) -> int:
        CALLS.append(("set", "len"))
        return 2


class OwnAccess(int):
    def __getattribute__(self, name: str) -> Any:
        CALLS.append(("int", name))
        return super().__getattribute__(name)


def update(x: gw.Tensor) -> tuple[object, ...]:
    gathered: dict[str, int] = {}
    gathered.update(OwnKeys(a=1, b=2))
    return gathered, x + 1


def in_order(x: gw.Tensor) -> tuple[object, ...]:
    return sorted(OwnLength([2, 1])), operator.length_hint(OwnPair(1, 2)), x + 1


def names(x: gw.Tensor) -> tuple[object, ...]:
    return dir(OwnAccess(3)), x + 1


def joined(x: gw.Tensor) -> tuple[object, ...]:
    return operator.concat(OwnAccess(3), 2), x + 1


@pytest.mark.filterwarnings("ignore:graphwright:RuntimeWarning")
@pytest.mark.parametrize("function", [update, in_order, names, joined])
def test_what_functions_of_c_ask(function: Callable[..., Any]) -> None:
    """Keys of a mapping that has its own, the length of what is sorted, attributes of `dir`."""
    plain = outcome(function)
    assert outcome(gw.compile(function, backend="eager")) == plain
