"""Resume functions go on in the middle of any function of the standard library."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import json.decoder
import textwrap
import types
from collections.abc import Iterator, Sequence

import pytest
from bytecode import Bytecode, Instr

from graphwright.capture.exc import Unsupported
from graphwright.capture.frame.resume import (
    IS_NULL,
    VALUE,
    ResumePoint,
    check_resumable,
    closure_names,
    origin_of,
    resume_code,
)
from graphwright.capture.vm.bytecode import decode, exception_handlers, handler_of, live_locals
from graphwright.capture.vm.superinstructions import SECOND

MODULES = [collections, dataclasses, functools, json.decoder, textwrap]
UNCUT = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def codes(value: types.CodeType) -> Iterator[types.CodeType]:
    """A code object's functions, nested ones too."""
    for constant in value.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes(constant)


def functions(module: types.ModuleType) -> list[types.CodeType]:
    source = inspect.getsource(module)
    return list(codes(compile(source, module.__file__ or "", "exec")))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_instructions_behind_a_prologue_are_those_of_the_code(module):
    for code in functions(module):
        if code.co_flags & UNCUT or not code.co_flags & inspect.CO_OPTIMIZED:
            continue
        instructions = decode(code)
        point = ResumePoint(len(instructions) // 2, (VALUE, IS_NULL, VALUE), ())
        try:
            resumed = resume_code(code, point)
        except Unsupported:
            continue
        copy = resumed.replace()    # of which nothing is known yet
        for ours, theirs in zip(decode(resumed), decode(copy), strict=True):
            for field in ("index", "opname", "target", "columns", "offset", "protected"):
                assert getattr(ours, field) == getattr(theirs, field), theirs
        assert exception_handlers(resumed) == exception_handlers(copy)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_instructions_have_the_assemblers_positions(module):
    for code in functions(module):
        ours = [inst.opname for inst in decode(code)]
        theirs = [item.name for item in Bytecode.from_code(code) if isinstance(item, Instr)]
        assert ours == theirs


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_code_can_be_resumed_anywhere(module):
    made = 0
    for code in functions(module):
        if code.co_flags & UNCUT or not code.co_flags & inspect.CO_OPTIMIZED:
            continue
        try:
            check_resumable(code)
        except Unsupported:
            continue
        for inst in decode(code)[::31]:
            if "RESUME" in inst.opname or inst.index < 2:
                continue
            point = ResumePoint(inst.index, (False,) * 30, tuple(sorted(live(code, inst.index))))
            resumed = resume_code(code, point)
            assert resumed.co_freevars == closure_names(code)
            assert resumed is resume_code(code, point)
            origin = origin_of(resumed)
            assert origin.code is code
            position = origin.positions.index(inst.index)
            assert same_step(decode(resumed)[position].opname, inst.opname)
            assert blocks(resumed, origin.positions) == blocks(code, range(len(decode(code))))
            made += 1
    assert made


def blocks(code: types.CodeType, positions: Sequence[int]) -> dict[int, tuple[int, int, bool]]:
    """For each original instruction in a block: the handler, stack depth, position pushed."""
    result = {}
    for inst in decode(code):
        found = handler_of(code, inst)
        if found is not None and 0 <= positions[inst.index] < SECOND:
            target = positions[found.target]
            result[positions[inst.index]] = target, found.depth, found.push_lasti
    return result


def same_step(resumed: str, original: str) -> bool:
    """Whether one instruction stands for the other."""
    if original in ("MAKE_CELL", "COPY_FREE_VARS"):
        return resumed == "NOP"
    return original.startswith(resumed)


def live(code: types.CodeType, index: int) -> frozenset[str]:
    return live_locals(code, index) - set(closure_names(code))


def sample(a, b):
    c = a + 1
    d = c * b
    return [a, c, d]


def test_a_resumed_function_runs():
    index = next(i.index for i in decode(sample.__code__) if i.opname == "BINARY_OP")
    point = ResumePoint(index, (False, False), ("a", "b"))
    function = types.FunctionType(resume_code(sample.__code__, point), globals())
    assert function(10, 1, 5, 2) == [5, 11, 22]
    assert function.__code__.co_name == "sample"


def test_resuming_a_resumed_function_gives_the_same_code():
    index = next(i.index for i in decode(sample.__code__) if i.opname == "BINARY_OP")
    first = resume_code(sample.__code__, ResumePoint(index, (False, False), ("a", "b")))
    later = decode(sample.__code__)[-2].index
    position = origin_of(first).positions.index(later)
    stack = (False,) * 3
    direct = resume_code(sample.__code__, ResumePoint(later, stack, ("a",)))
    assert resume_code(first, ResumePoint(position, stack, ("a",))) is direct


def test_live_locals():
    def function(a, b, flag):
        c = a
        if flag:
            c = b
        return c

    code = function.__code__
    returns = [inst.index for inst in decode(code) if inst.opname == "RETURN_VALUE"]
    assert live_locals(code, returns[-1]) == frozenset()
    assert live_locals(code, 0) == {"a", "b", "flag"}


def test_many_locals():
    def function(a, b):
        c, d = a, b
        e = f = c
        g, h = f, e
        i = j = k = g
        c, d = d, c
        return [a, b, c, d, e, f, g, h, i, j, k]

    code = function.__code__
    index = next(i.index for i in decode(code) if i.opname not in ("RESUME",))
    point = ResumePoint(index, (False,) * 20, ("a", "b"))
    made = types.FunctionType(resume_code(code, point), globals())
    assert made(*range(20), "a", "b") == function("a", "b")


def test_captured_arguments():
    def function(a, b):
        def inner():
            return a, b, c

        c = b
        return inner(), a, b, c

    code = function.__code__
    index = next(i.index for i in decode(code) if i.opname == "RESUME") + 1
    made = resume_code(code, ResumePoint(index, (False,) * 20, ()))
    cells = tuple(types.CellType(name) for name in closure_names(code))
    assert closure_names(code) == code.co_cellvars
    result = types.FunctionType(made, globals(), "function", None, cells)(*range(20))
    assert result == function("a", "b")
