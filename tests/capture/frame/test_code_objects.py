"""Functions with the same text in different files have nothing in common."""

from __future__ import annotations

import gc
import traceback
import types
import weakref
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture.frame.per_code import CodeTable, per_code
from graphwright.capture.vm.bytecode import decode

from ..captured import Captured

TEXT = """
def fails(x):
    def inner(t):
        return t[7]
    y = x * 2
    print(end="")
    return inner(y)
"""


def made(file: str) -> Any:
    space: dict[str, Any] = {}
    exec(compile(TEXT, file, "exec"), space)
    return space["fails"]


def test_tracebacks_name_the_file_of_each_function() -> None:
    first, second = made("<first>"), made("<second>")
    assert first.__code__ == second.__code__
    for function, file in ((first, "<first>"), (second, "<second>")):
        with pytest.raises(IndexError) as raised:
            Captured(function)(gw.ones(3))
        frames = traceback.extract_tb(raised.value.__traceback__)
        own = [frame for frame in frames if frame.filename in ("<first>", "<second>")]
        shown = [(frame.filename, frame.lineno, frame.name) for frame in own]
        assert shown == [(file, 7, "fails"), (file, 4, "inner")]


def test_functions_that_a_frame_defines_are_those_of_its_file() -> None:
    codes = [
        next(inst.value for inst in decode(made(file).__code__) if inst.opname == "LOAD_CONST"
             and isinstance(inst.value, types.CodeType))
        for file in ("<first>", "<second>")
    ]
    assert [code.co_filename for code in codes] == ["<first>", "<second>"]


def test_a_table_of_code_objects_keeps_none_alive() -> None:
    table: CodeTable[int] = CodeTable()
    first, second = made("<first>").__code__, made("<second>").__code__
    table[first] = 1
    table[second] = 2
    assert (table.get(first), table.get(second)) == (1, 2)
    del first
    gc.collect()
    table.clear()
    assert second not in table
    assert table.get(second) is None


def test_what_is_computed_for_a_code_object_ends_with_it() -> None:
    class Result:
        pass

    compute = per_code(lambda code, name: Result())
    code = made("<first>").__code__
    result = compute(code, "a")
    assert compute(code, "a") is result
    assert compute(code, "b") is not result
    alive = weakref.ref(result)
    del result, code
    gc.collect()
    assert alive() is None


def test_broken_functions_end() -> None:
    """The code of a function that was cut in pieces goes when the function does."""
    function = made("<first>")
    code = weakref.ref(function.__code__)
    captured = Captured(function)
    with pytest.raises(IndexError):
        captured(gw.ones(3))
    assert captured.breaks
    del function, captured
    gc.collect()
    assert code() is None


def test_code_without_lines_runs_as_it_is() -> None:
    def fails(x: Any) -> Any:
        return (x + 1)[7]

    fails.__code__ = fails.__code__.replace(co_linetable=b"")
    captured = Captured(fails)
    with pytest.raises(IndexError) as raised:
        captured(gw.ones(3))
    frames = [frame for frame, _ in traceback.walk_tb(raised.tb)]
    assert [f.f_lineno for f in frames if f.f_code.co_name == "fails"] == [None]
    assert [reason for _, reason in captured.record.skipped] == ["the code has no line numbers"]


def test_compiled_functions_do_not_keep_the_code_that_they_give() -> None:
    def f(x: Any, function: Any) -> Any:
        code = function.__code__
        return x + 1, code, code.co_name

    compiled = gw.compile(f)
    for file in ("<first>", "<second>"):
        function = made(file)
        out = compiled(gw.ones(2), function)
        assert out[1] is function.__code__ and out[2] == "fails"
        code = weakref.ref(function.__code__)
        del function, out
        gc.collect()
        assert code() is None
