"""Code objects from written instructions: arguments, jumps, depth, lines, handlers."""

from __future__ import annotations

import operator
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

import pytest

from graphwright.capture.emit.assembler import CodeBuilder, Label


def target(a: Any, b: Any) -> None:
    """What the code made here takes the place of."""


def function(write: Callable[[CodeBuilder], None]) -> types.FunctionType:
    """A function of two arguments with the instructions that `write` writes."""
    builder = CodeBuilder(target.__code__)
    write(builder)
    return types.FunctionType(builder.finish(), {})


def loads(builder: CodeBuilder) -> None:
    builder.load_local("a")
    builder.load_local("b")


def jump_if_not_identical(builder: CodeBuilder, label: Label) -> None:
    """[a, b] -> []; jump forward unless `a is b`."""
    builder.emit("IS_OP", 0)
    builder.emit(f"POP_JUMP_{'FORWARD_' if sys.version_info < (3, 12) else ''}IF_FALSE", label)


def either(builder: CodeBuilder, between: Callable[[], None]) -> None:
    """`a` where it is `b`; else what `between` leaves is jumped over, and the answer is None."""
    label = Label()
    loads(builder)
    jump_if_not_identical(builder, label)
    between()
    builder.load_local("a")
    builder.return_value()
    builder.mark(label)
    builder.load_const(None)
    builder.return_value()


def test_the_signature_is_the_targets():
    made = function(lambda b: (b.load_local("b"), b.return_value()))
    assert made.__code__.co_varnames == target.__code__.co_varnames
    assert made.__code__.co_name == "target"
    assert made(a=1, b=2) == 2


@pytest.mark.parametrize("symbol, compare", [
    ("<", operator.lt), ("<=", operator.le), ("==", operator.eq),
    ("!=", operator.ne), (">", operator.gt), (">=", operator.ge),
])
def test_comparisons(symbol, compare):
    def write(builder: CodeBuilder) -> None:
        loads(builder)
        builder.emit("COMPARE_OP", symbol)
        builder.return_value()

    made = function(write)
    for pair in ((1, 2), (2, 2), (3, 2)):
        assert made(*pair) is compare(*pair)


@pytest.mark.parametrize("count", [0, 1, 80, 300, 70000])
def test_jumps_of_any_length(count):
    """Over 256 and 65536 units a jump needs one and two prefixes."""
    def write(builder: CodeBuilder) -> None:
        def between() -> None:
            for _ in range(count):
                builder.load_const(0)
                builder.pop()

        either(builder, between)

    made = function(write)
    assert made(7, 7) == 7
    assert made(7, 8) is None


def test_jumps_over_jumps():
    def write(builder: CodeBuilder) -> None:
        outer, inner = Label(), Label()
        loads(builder)
        jump_if_not_identical(builder, outer)
        builder.load_local("a")
        builder.load_const(None)
        jump_if_not_identical(builder, inner)
        builder.load_const("none")
        builder.return_value()
        for name, label in (("same", inner), ("other", outer)):
            builder.mark(label)
            builder.load_const(name)
            builder.return_value()

    made = function(write)
    assert [made(None, None), made(1, 1), made(1, 2)] == ["none", "same", "other"]


def test_constants_keep_their_identity():
    """Equal constants are not one: `1`, `1.0` and `True` differ, and so do two equal lists."""
    values = [1, 1.0, True, [], [], (0.0,), (-0.0,), *range(300)]

    def write(builder: CodeBuilder) -> None:
        for value in values:
            builder.load_const(value)
        builder.build("list", len(values))
        builder.return_value()

    found = function(write)(0, 0)
    assert all(left is right for left, right in zip(found, values, strict=True))


def test_more_locals_than_a_byte_counts():
    def write(builder: CodeBuilder) -> None:
        names = [builder.temporary() for _ in range(300)]
        for number, name in enumerate(names):
            builder.load_const(number)
            builder.store_local(name)
        for name in names:
            builder.load_local(name)
        builder.build("tuple", len(names))
        builder.return_value()

    made = function(write)
    assert made(0, 0) == tuple(range(300))
    assert made.__code__.co_nlocals == 302


def test_the_stack_is_as_deep_as_needed():
    def write(builder: CodeBuilder) -> None:
        for _ in range(1000):
            builder.load_local("a")
        builder.build("tuple", 1000)
        builder.return_value()

    made = function(write)
    assert made.__code__.co_stacksize == 1000
    assert made("x", 0) == ("x",) * 1000


def test_taking_from_an_empty_stack_is_refused():
    with pytest.raises(AssertionError, match="nothing is on the stack for POP_TOP"):
        function(lambda b: b.pop())


def test_an_exception_goes_to_the_handler_of_its_block():
    """The stack is as deep as it was where the block began, and the exception lies on top."""
    def write(builder: CodeBuilder) -> None:
        handler = Label()
        builder.load_const("below")
        builder.begin_try(handler)
        loads(builder)
        builder.binary(0)
        builder.end_try()
        builder.build("tuple", 2)
        builder.return_value()
        builder.mark(handler)
        builder.build("tuple", 2)
        builder.return_value()

    made = function(write)
    assert made(1, 2) == ("below", 3)
    below, error = made(1, "2")
    assert below == "below"
    assert type(error) is TypeError


def test_an_exception_outside_the_block_leaves():
    def write(builder: CodeBuilder) -> None:
        handler = Label()
        builder.begin_try(handler)
        builder.load_const(None)
        builder.end_try()
        builder.pop()
        loads(builder)
        builder.binary(0)
        builder.return_value()
        builder.mark(handler)
        builder.return_value()

    with pytest.raises(TypeError):
        function(write)(1, "2")


def test_lines_and_columns():
    """Forwards, backwards, over many units, with columns and without."""
    first = target.__code__.co_firstlineno
    places = [
        (first, None), (first + 5, (first + 6, 3, 120)), (first + 500, None), (first + 2, None),
        (first - 1, (first - 1, 0, 1)),
    ]

    def write(builder: CodeBuilder) -> None:
        for line, columns in places:
            builder.line, builder.columns = line, columns
            for _ in range(20):
                builder.load_local("a")
                builder.pop()
        builder.load_local("a")
        builder.return_value()

    found = [
        (line, (last, start, end) if start is not None else None)
        for line, last, start, end in function(write).__code__.co_positions()
    ]
    merged = [place for at, place in enumerate(found) if at == 0 or place != found[at - 1]]
    assert merged == places


def test_tracebacks_show_the_written_line():
    def write(builder: CodeBuilder) -> None:
        builder.line = target.__code__.co_firstlineno + 1
        loads(builder)
        builder.binary(0)
        builder.return_value()

    with pytest.raises(TypeError) as caught:
        function(write)(1, "2")
    line = traceback.extract_tb(caught.value.__traceback__)[-1].lineno
    assert line == target.__code__.co_firstlineno + 1


def test_free_variables_come_behind_the_locals():
    total = 3

    def closed() -> int:
        return total

    builder = CodeBuilder(closed.__code__)
    builder.load_const(1)
    builder.store_local(builder.temporary())
    builder.load_deref("total")
    builder.load_closure("total")
    builder.build("tuple", 2)
    builder.return_value()
    made = types.FunctionType(builder.finish(), {}, None, None, closed.__closure__)
    assert made() == (3, closed.__closure__[0])


def test_keyword_arguments_and_attributes():
    def write(builder: CodeBuilder) -> None:
        builder.begin_call(dict)
        loads(builder)
        builder.end_call(2, ("left", "right"))
        builder.store_local("$made")
        builder.load_local("$made")
        builder.load_attr("keys")
        builder.load_global("__name__")
        builder.build("tuple", 2)
        builder.return_value()

    builder = CodeBuilder(target.__code__)
    write(builder)
    made = types.FunctionType(builder.finish(), {"__name__": "here"})
    keys, name = made(1, 2)
    assert list(keys()) == ["left", "right"]
    assert name == "here"


def test_lines_are_seen_by_tracing():
    first = target.__code__.co_firstlineno
    seen: list[int] = []

    def write(builder: CodeBuilder) -> None:
        for line in (first + 1, first + 1, first + 3):
            builder.line = line
            builder.load_local("a")
            builder.pop()
        builder.load_const(None)
        builder.return_value()

    def trace(frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "line" and frame.f_code.co_name == "target":
            seen.append(frame.f_lineno)
        return trace

    made, before = function(write), sys.gettrace()
    sys.settrace(trace)
    try:
        made(0, 0)
    finally:
        sys.settrace(before)
    assert seen == [first + 1, first + 3]
