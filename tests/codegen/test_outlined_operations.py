"""A long operation that a program has in many places is one function, called from each of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphwright.codegen.cache_key import canonical
from graphwright.codegen.emit import native, walker
from graphwright.codegen.emit.lanes import DEAR
from graphwright.codegen.emit.native import LoadedProgram, c_text, llvm_text
from graphwright.codegen.loops import Const, For, LoopKind, Store, Value
from graphwright.codegen.program import NativeProgram
from graphwright.codegen.target import host
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes

from .lowered import program_of, tensor
from .native_support import axis, buffer, load, op, program, run

BINARY = {"pow", "atan2", "fmod", "remainder", "floordiv"}
OF_INTEGERS = {"pow", "fmod", "remainder", "floordiv"}
FLOATS = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)
INTEGERS = (dtypes.int32, dtypes.int64, dtypes.uint8)
COUNT = 75
"""A few full vectors and a tail, whatever the width."""


def in_two_places(dtype: dtypes.dtype) -> tuple[NativeProgram, list[np.ndarray], list[str]]:
    """Every operation that a dtype has, of two loaded values each and of one and a literal.

    Returns the program, inputs for it, and the operation of each output.
    """
    i, integers = axis("i", COUNT), dtype in INTEGERS
    buffers = [buffer(name, dtype, COUNT) for name in "xy"]
    x, y = (load(b, i.symbol) for b in buffers)
    literal = Const(3 if integers else 0.7, dtype)
    values: list[tuple[str, Value]] = []
    for name in sorted(OF_INTEGERS if integers else DEAR):
        pairs = ((x, y), (y, x), (x, literal), (y, literal)) if name in BINARY else ((x,), (y,))
        values += [(name, op(name, *args, dtype=dtype)) for args in pairs]
    outputs = [buffer(f"out{n}", dtype, COUNT, "output") for n, _ in enumerate(values)]
    stores = [Store(out, i.symbol, value) for out, (_, value) in zip(outputs, values, strict=True)]
    rng = np.random.default_rng(5)
    if integers:
        inputs = [rng.integers(1, 40, COUNT).astype(dtype.numpy) for _ in "xy"]
    else:
        inputs = [(rng.standard_normal(COUNT) * 9).astype(dtype.numpy) for _ in "xy"]
        inputs[0][:5] = (0.0, -0.0, np.inf, -np.inf, np.nan)
    body = [For(i, LoopKind.VECTOR, tuple(stores))]
    return program(body, buffers, outputs), inputs, [name for name, _ in values]


def built(what: NativeProgram, target: str) -> LoadedProgram:
    """Compiled without the cache, whose keys do not know where operations are outlined."""
    payload = native._build(what, target, host(), canonical(what))
    code = native.Library(payload) if target == "c" else _core.load_object(payload)
    return LoadedProgram(code.address("run"), code.address("shapes"), code, {})


def outlined(text: str) -> list[str]:
    """The operations that have a function in a module, LLVM's or C's."""
    return re.findall(r"(?:define internal|noinline\)\)).*?[ @](\w+?)_\d+\(", text)


def compare(dtype: dtypes.dtype, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = c_text if target == "c" else llvm_text
    what, inputs, names = in_two_places(dtype)
    results = []
    for places, functions in ((100, set()), (1, set(names))):
        monkeypatch.setattr(walker, "FEW_PLACES", places)
        assert {*outlined(text(what))} == functions
        results.append(run(what, inputs, loaded=built(what, target)))
    for name, inline, called in zip(names, *results, strict=True):
        assert inline.tobytes() == called.tobytes(), name


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int32], ids=str)
def test_the_same_bits_as_inline(dtype: dtypes.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(dtype, "llvm", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
def test_the_same_bits_as_inline_of_every_dtype(
    dtype: dtypes.dtype, target: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    compare(dtype, target, monkeypatch)


@pytest.mark.parametrize("text", [llvm_text, c_text])
def test_only_what_is_in_many_places_is_outlined(text: Callable[[NativeProgram], str]) -> None:
    def rounds(count: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for n in range(count):
                x = ops.sin(ops.add(x, float(n)))
            return ops.exp(x)
        return run

    x = np.zeros(COUNT, np.float32)
    few, many, more = (
        text(program_of(rounds(walker.FEW_PLACES + extra), [tensor(x)])[0]) for extra in (0, 1, 9))
    assert outlined(few) == []
    assert {*outlined(many)} == {*outlined(more)} == {"sin"}
    assert len(many) < len(few) / 2
    assert len(more) < 1.5 * len(many)


def test_places_count_in_all_kernels_that_differ() -> None:
    def kernels(x: Any, like: int) -> Any:
        results = []
        for n in range(walker.FEW_PLACES + 1):
            x = ops.mm(x, x)
            results.append(x := ops.tanh(ops.mul(x, 0.5 if n < like else 0.5 + n)))
        return results

    x = np.zeros((4, 4), np.float32)
    for like, functions in ((0, {"tanh"}), (2, set())):
        what, _ = program_of(lambda x, like=like: kernels(x, like), [tensor(x)])
        assert {*outlined(llvm_text(what))} == functions
