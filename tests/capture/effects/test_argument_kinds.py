"""Arguments of the wrong kind end compiled code as they end plain code.

The same type and message of an exception, or the same value.
"""

from __future__ import annotations

import inspect
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE

from ...runtime.layouts import build, lay_out, numpy_type
from ...runtime.samples import ALL

F = gw.nn.functional
CALLS: dict[str, Callable[[Any], Any]] = {
    "where": lambda x: gw.where(x > 0, x, None),
    "a tuple is added": lambda x: operator.add(x, (1,)),
    "fill_": lambda x: x.fill_(None),
    "full_like": lambda x: gw.full_like(x, None),
    "full_like of a tensor": lambda x: gw.full_like(x, gw.tensor(2)),
    "clamp": lambda x: x.clamp(min="a"),
    "tril": lambda x: gw.tril(x, None),
    "pad": lambda x: F.pad(x, (2.5, 1)),
    "pad with a complex number": lambda x: F.pad(x, (1, 1), value=1j),
    "repeat": lambda x: x.repeat(2.5, 1),
    "topk": lambda x: x.topk(2.5),
    "one_hot": lambda x: F.one_hot(gw.tensor([1]), True),
    "var of a tensor": lambda x: x.var(correction=gw.tensor(2)),
    "var of infinity": lambda x: x.var(correction=math.inf),
    "add of a tensor": lambda x: gw.add(x, x, alpha=gw.tensor(2)),
    "view": lambda x: x.view(np.True_, -1),
    "keepdim": lambda x: x.sum(0, keepdim=np.True_),
    "sum of a range": lambda x: x.sum(range(2)),
    "pad by a range": lambda x: F.pad(x, range(2)),
    "split": lambda x: x.split(np.uint64(1 << 63)),
    "chunk": lambda x: x.chunk(np.uint64(1 << 63)),
    "randint": lambda x: gw.randint(np.uint64(1 << 63), (2,)),
    "a number of NumPy that has no negative": lambda x: F.hardshrink(x, np.uint64(1)),
    "diff more often than there are elements": lambda x: x.diff(n=1 << 62),
    "equal to a complex number": lambda x: x == 1j,
    "the remainder by a truth value": lambda x: x % True,
    "the transpose of one element": lambda x: x[0, 0].transpose(0, -1),
}


def matrix() -> gw.Tensor:
    return gw.tensor([[-2.0, 0.5, 1.0], [3.0, -0.25, 4.0]])


def outcome(function: Callable[..., Any], *args: Any) -> tuple[str, str]:
    """The result, or type and message of the exception."""
    gw.manual_seed(0)
    try:
        return "", repr(function(*args))
    except (TypeError, ValueError, RuntimeError, IndexError, OverflowError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", CALLS)
def test_alike(name: str) -> None:
    function = CALLS[name]
    assert outcome(gw.compile(function, backend="llvm"), matrix()) == outcome(function, matrix())


@pytest.mark.parametrize("factor", [np.float64(0.5), np.int64(3), np.True_, np.uint8(3)])
def test_numbers_of_numpy_are_operands_in_one_graph(factor: Any) -> None:
    compiled = gw.compile(lambda x: x * factor, backend="llvm", fullgraph=True)
    assert gw.equal(compiled(matrix()), matrix() * factor)


def test_ints_of_numpy_are_sizes_in_one_graph() -> None:
    compiled = gw.compile(lambda x: x.view(np.int64(3), -1), backend="llvm", fullgraph=True)
    assert compiled(matrix()).shape == (3, 2)


# -- each argument of an op's first sample replaced

WRONG: tuple[Any, ...] = (
    None, "a", (1,), (2.5,), 2.5, True, np.True_, np.uint64(1 << 63), range(2), 1j, math.inf,
    [1.0, 2.0],
)  # fmt: skip
UNINITIALISED = ("empty", "empty_like")


def _ours(arr: Any, values: Any) -> Any:
    return lay_out(values.astype(numpy_type(arr, gw.float32)), "contiguous")


def _replaced(name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The arguments of the op's first sample by name, and the name of each in turn."""
    args, kwargs = build(ALL[name].samples[0], name, _ours)
    parameters = inspect.signature(getattr(ops, name)).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    given = dict(zip([p.name for p in parameters], args, strict=False)) | kwargs
    for parameter in TABLE[name].schema.names:
        yield given, parameter


NAMES = sorted(n for n in ALL if n in TABLE and "internal" not in TABLE[n].tags)


@pytest.mark.parametrize("part", range(3))
def test_every_op(part: int) -> None:
    names = [name for name in NAMES[part::12] if name not in UNINITIALISED]
    for name in names:
        function = getattr(ops, name)

        def call(arguments: dict[str, Any], function: Any = function) -> Any:
            return function(**arguments)

        for place, (given, parameter) in enumerate(_replaced(name)):
            for wrong in WRONG[place % 2 :: 2]:
                arguments = {**given, parameter: wrong}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    plain = outcome(call, dict(arguments))
                    found = outcome(gw.compile(call, backend="eager"), dict(arguments))
                assert found == plain, (name, parameter, wrong)
        gw.compiler.reset()
