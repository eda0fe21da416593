"""Code without instructions on two locals does what the original does, and looks the same."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json.decoder
import textwrap
import types

import pytest

from graphwright.capture.vm.bytecode import PAIRS, Instruction, decode, handler_of
from graphwright.capture.vm.superinstructions import SECOND, unpaired

from .test_resume import functions

MODULES = [collections, dataclasses, functools, json.decoder, textwrap]


def steps(inst: Instruction) -> list[tuple[str, object]]:
    """Name and argument of what stands for an instruction."""
    if inst.opname in PAIRS:
        names = ["LOAD_FAST" if loads else "STORE_FAST" for loads in PAIRS[inst.opname]]
        return list(zip(names, inst.value, strict=True))
    return [(inst.opname, None if inst.target >= 0 else inst.value)]


def places(code: types.CodeType) -> list[tuple[int | None, ...]]:
    """Where in the source each instruction stands."""
    positions = list(code.co_positions())
    return [positions[inst.offset // 2] for inst in decode(code)]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_everything_stays_but_the_pairs(module):
    for code in functions(module):
        made, positions = unpaired(code)
        before, after = decode(code), decode(made)
        assert not any(inst.opname in PAIRS for inst in after)
        assert [step for inst in before for step in steps(inst)] == [
            step for inst in after for step in steps(inst)
        ]
        originals = [before[position % SECOND] for position in positions]
        assert places(made) == [places(code)[inst.index] for inst in originals]
        for old, new in zip(originals, after, strict=True):
            assert old.target == (positions[new.target] if new.target >= 0 else -1)
            left, right = handler_of(code, old), handler_of(made, new)
            assert (left is None) == (right is None)
            if left is not None and right is not None:
                assert left.target == positions[right.target]
                assert (left.depth, left.push_lasti) == (right.depth, right.push_lasti)


def collected(items, limit):
    """Loops, branches, handlers, and a jump that needs a prefix."""
    a, b = items, limit
    found, missed = [], 0
    for item in a:
        x, y = item, b
        try:
            if x > y:
                x, y = y, x
            found.append(10 // x)
            found += [x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y]
            found += [y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x]
            found += [x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y]
            found += [y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x]
            found += [x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y]
            found += [y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x]
            found += [y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x, y, x]
        except ZeroDivisionError:
            missed, x = missed + 1, missed
    return found, missed, x, y


def test_it_runs():
    made = types.FunctionType(unpaired(collected.__code__)[0], globals())
    for items in ([], [1, 5, 0, 3], [0], range(-3, 9)):
        if items:
            assert made(items, 4) == collected(items, 4)
        else:
            with pytest.raises(UnboundLocalError):
                made(items, 4)
