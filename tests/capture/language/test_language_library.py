"""Library functions that need no break: generic functions, modes as decorators, types."""

from __future__ import annotations

import base64
import functools
import inspect
import re
import struct
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..programs import Programs, sound, whole

program = Programs()
TABLE: dict[int, str | None] = {97: "b", 98: None}


@functools.singledispatch
def scaled(value: Any, x: Any) -> Any:
    return x + 1


@scaled.register
def _(value: int, x: Any) -> Any:
    return x * value


@scaled.register(str)
def _(value: Any, x: Any) -> Any:
    return x * len(value)


@program
def kinds_of_objects(x: Any) -> Any:
    kinds = [inspect.isfunction, inspect.ismethod, inspect.isclass, inspect.ismodule]
    return [kind(value) for kind in kinds for value in (scaled, x.add, Mapping, functools)], x + 1


@program
def generic_functions(x: Any) -> Any:
    return scaled(3, x) + scaled("ab", x) + scaled(1.5, x) + scaled(True, x)


@program
def texts_and_bytes(x: Any) -> Any:
    table = str.maketrans({"a": "b", "c": None})
    texts = "abc".translate(table), "abc".translate(TABLE), "aa".translate(str.maketrans("a", "z"))
    octets = bytes([1, 2]), b"abc".translate(bytes.maketrans(b"a", b"z")), b"x"
    packed = struct.pack("<Ih", 3, -1), struct.unpack("<I", b"\x01\0\0\0"), struct.calcsize("<d")
    coded = base64.b64encode(b"abc"), base64.b64decode("YWJj"), int.from_bytes(b"\x01\x02", "big")
    try:
        base64.b64decode("a")
    except ValueError:
        return x + len(packed[0]), texts, octets, packed, coded, table


@program
def modes_as_decorators(x: Any) -> Any:
    @gw.no_grad()
    def double(y: Any) -> Any:
        return y * 2

    x = x.clone().requires_grad_()
    return double(x), double.__name__, (x * 2).requires_grad


@program
def types_and_devices(x: Any) -> Any:
    dtype = gw.promote_types(gw.int32, gw.get_default_dtype())
    assert gw.is_floating_point(x)
    return x.to(gw.device("cpu")) * gw.finfo(dtype).eps, gw.iinfo(gw.int8).max, dtype


class Scaled(nn.Module):
    """A module with a buffer, a counter and a module of its own."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor
        self.register_buffer("shift", gw.ones(3))
        self.inner = nn.ReLU()
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return self.inner(x * self.factor + self.shift)


@program
def modules_made_in_the_frame(x: Any) -> Any:
    layers = nn.Sequential(nn.Tanh(), nn.Softmax(dim=-1), nn.Dropout(0.0))
    by_name = nn.ModuleDict({"relu": nn.ReLU()})
    return by_name["relu"](layers(x)) + nn.MSELoss()(x, x * 2), list(by_name), len(layers)


@program
def modules_of_the_users_own(x: Any) -> Any:
    module = Scaled(3.0)
    y = module(module(x))
    return y, module.calls, module.training, [name for name, _ in module.named_buffers()]


@pytest.mark.parametrize("program", program.all, ids=lambda value: value.__name__)
def test_they_are_part_of_one_graph(program: Any) -> None:
    whole(program, gw.ones(2, 3))


def test_a_table_of_a_translation_is_guarded() -> None:
    captured, table = Captured(lambda x, table: (x + 1, "abc".translate(table))), dict(TABLE)
    assert captured(gw.ones(2), table)[1] == "bc"
    table[98] = "d"
    assert captured(gw.ones(2), table)[1] == "bdc"


def test_what_is_packed_wrongly_is_refused_by_plain_python() -> None:
    captured = Captured(lambda x: (x + 1, struct.pack("<B", 300)))
    for _ in range(2):
        with pytest.raises(struct.error, match="255"):
            captured(gw.ones(2))


def test_a_registration_is_noticed() -> None:
    @functools.singledispatch
    def shifted(value: Any, x: Any) -> Any:
        return x + 1

    def program(x: Any) -> Any:
        return shifted(2.5, x)

    captured = Captured(program)
    assert captured.agrees(gw.ones(2))
    shifted.register(float, lambda value, x: x + value)
    assert captured.agrees(gw.ones(2))
    shifted.register(float, lambda value, x: x - value)
    assert captured.agrees(gw.ones(2))


def test_abstract_classes_are_dispatched_natively() -> None:
    @functools.singledispatch
    def counted(value: Any, x: Any) -> Any:
        return x + 1

    @counted.register
    def _(value: Mapping, x: Any) -> Any:  # type: ignore[type-arg]
        return x * len(value)

    def program(x: Any) -> Any:
        return counted({"a": 1, "b": 2}, x) * 2

    assert sound(program, gw.ones(2)).breaks


def test_the_cache_of_a_generic_function_is_asked_as_in_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Counted(dict[Any, Any]):
        reads = 0

        def __getitem__(self, key: Any) -> Any:
            self.reads += 1
            return super().__getitem__(key)

    def reads(run: Any) -> list[int]:
        cache = Counted()
        with monkeypatch.context() as patched:
            patched.setattr("weakref.WeakKeyDictionary", lambda: cache)

            @functools.singledispatch
            def shifted(value: Any, x: Any) -> Any:
                return x + 1

        def program(x: Any) -> Any:
            return shifted(2, x) + shifted("a", x)

        program = run(program)
        return [len(program(gw.ones(2))) * cache.reads for _ in range(3)]

    assert reads(Captured) == reads(lambda program: program)


def test_a_module_that_leaves_the_frame_is_complete() -> None:
    def program(x: Any) -> Any:
        module = Scaled(2.0)
        return module(x), module

    captured = Captured(program, fullgraph=True)
    y, module = captured(gw.ones(3))
    _, expected = program(gw.ones(3))
    assert gw.equal(module(gw.ones(3)), y)
    assert list(vars(module)) == list(vars(expected))
    assert repr(module) == repr(expected)
    assert module.calls == 2


def test_parameters_are_made_natively() -> None:
    def program(x: Any) -> Any:
        gw.manual_seed(1)
        return nn.Linear(3, 2)(x) * 2

    captured = Captured(program)
    y = captured(gw.ones(3))
    assert gw.equal(y, program(gw.ones(3)))
    assert y.requires_grad


def test_patterns_that_print_themselves_do_so_once_a_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def prints(x: Any) -> Any:
        return x + len(re.compile("a(b)", re.DEBUG | re.IGNORECASE).pattern)

    captured = Captured(prints)
    for _ in range(2):
        captured(gw.ones(2))
        assert capsys.readouterr().out.count("SUBPATTERN") == 1


def test_warnings_of_patterns_name_the_programs_line() -> None:
    def warned(x: Any) -> Any:
        return x * len(re.split("[[a]", "b[c")), re.sub("a", "b", "aa", 1)  # noqa: B034

    captured = Captured(warned)
    re.purge()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        captured(gw.ones(2))
    kinds = {DeprecationWarning, FutureWarning} if sys.version_info >= (3, 13) else {FutureWarning}
    assert {found.category for found in seen} == kinds
    assert {found.filename for found in seen} == {__file__}


def numbered_group(x: Any) -> Any:
    return x, re.sub(r"(a)", r"\g<+1>", "aa")


def inverted(x: Any, known: bool = True) -> Any:
    return x + 1, ~known


def not_implemented(x: Any) -> Any:
    return x + 1 if NotImplemented else x


def escaped(x: Any) -> Any:
    return x + 1, b"\\d".decode("unicode_escape")


WARNED: list[Any] = [
    escaped,
    pytest.param(numbered_group, marks=pytest.mark.skipif(sys.version_info >= (3, 12),
                                                          reason="an error")),
    pytest.param(inverted, marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="silent")),
    not_implemented,
]


@pytest.mark.parametrize("filters", ["always", "error"])
@pytest.mark.parametrize("program", WARNED)
def test_what_warns_of_constants_does_so_in_each_call(
    program: Callable[..., Any], filters: Literal["always", "error"]
) -> None:
    """Once, of the program's line; the capture itself says nothing."""

    def told(function: Callable[..., Any]) -> list[Any]:
        re.purge()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter(filters)
            try:
                outcome = repr(function(gw.ones(2)))
            except DeprecationWarning as error:
                outcome = str(error)
        return [outcome, *((found.category, found.filename, found.lineno) for found in seen)]

    captured, expected = Captured(program), told(program)
    assert [told(captured) for _ in range(3)] == [expected] * 3


def test_patterns_that_are_none_raise_where_the_program_does() -> None:
    def caught(x: Any, pattern: str) -> Any:
        try:
            return x * len(re.compile(pattern).pattern)
        except re.error as error:
            return x, str(error), error.pos

    for pattern in ("a+", "a(", "(?P<name"):
        sound(caught, gw.ones(2), pattern)


@pytest.mark.parametrize("example", [sys.flags, sys.version_info, time.gmtime(0)])
def test_records_of_c_are_made_as_c_makes_them(example: Any) -> None:
    kind = type(example)

    def made() -> Any:
        try:
            return kind(example)
        except TypeError as error:
            return str(error)

    def made_as_a_tuple() -> Any:
        try:
            return tuple.__new__(kind, (1, 2, 3))
        except TypeError as error:
            return str(error)

    for function in (made, made_as_a_tuple):
        assert Captured(function, tensorless=True)() == function()
