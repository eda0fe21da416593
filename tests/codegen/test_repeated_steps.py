"""Steps that differ in names alone are one function, and programs that do are one cache entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.cache_key import canonical
from graphwright.codegen.emit.native import c_text, llvm_text
from graphwright.codegen.program import NativeProgram
from graphwright.runtime.ops import functions as ops

from .lowered import check, program_of, tensor

RNG = np.random.default_rng(7)
X = RNG.standard_normal((6, 24)).astype(np.float32)
W = RNG.standard_normal((24, 24)).astype(np.float32)


def layers(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = ops.tanh(ops.mm(x, w))
        x = ops.div(x, ops.sum(ops.exp(x), 1, True))
    return x


def program(count: int) -> NativeProgram:
    return program_of(layers, [tensor(X), *[tensor(W) for _ in range(count)]])[0]


@pytest.mark.parametrize("text", [llvm_text, c_text])
def test_further_layers_are_rows_of_a_table(text: Any) -> None:
    """A loop calls the steps of all layers, in each turn with the next rows: the places of the
    steps' buffers. `step1` is defined, and called there."""
    four, eight, sixteen = [text(program(count)) for count in (4, 8, 16)]
    assert "step" in four
    assert len(eight) < 1.1 * len(four)
    assert four.count("step1(") == eight.count("step1(") == sixteen.count("step1(") == 2


@pytest.mark.parametrize("dynamic", [False, True])
def test_repeated_layers_give_what_they_gave(dynamic: bool) -> None:
    weights = [RNG.standard_normal((24, 24)).astype(np.float32) for _ in range(5)]
    check(layers, X, *weights, dynamic=dynamic)


def test_kinds_tell_steps_apart_by_all_but_names() -> None:
    def odd_one(x: Any, *weights: Any) -> Any:
        for number, w in enumerate(weights):
            x = ops.mm(x, w)
            x = ops.sigmoid(x) if number == 2 else ops.tanh(x)
        return x

    found, _ = program_of(odd_one, [tensor(X), *[tensor(W) for _ in range(6)]])
    products, kernels = (canonical(found).kinds[start::2] for start in (0, 1))
    assert [kind == products[1] for kind in products[:5]] == [True] * 5
    assert [kind == kernels[0] for kind in kernels[:5]] == [True, True, False, True, True]
    assert not {*products} & {*kernels}


def test_programs_that_differ_in_names_are_one_entry() -> None:
    def one(x: Any) -> Any:
        return ops.exp(ops.add(x, 1.0))

    def other(first_input: Any) -> Any:
        z = ops.add(first_input, 1.0)
        return ops.exp(z)

    texts = {canonical(program_of(f, [tensor(X)])[0]).text for f in (one, other)}
    assert len(texts) == 1


def test_only_symbolic_layouts_are_computed() -> None:
    def two(x: Any, y: Any) -> Any:
        return ops.exp(x), ops.exp(y), ops.add(x, 1.0)

    for dynamic, stores in ((False, 0), (True, 12)):
        found, _ = program_of(two, [tensor(X), tensor(W)], dynamic)
        shapes = llvm_text(found).partition("@shapes")[2].partition("}")[0]
        assert shapes.count("store i64") == stores
    mixed, _ = program_of(lambda x, y: two(x, y)[:2], [tensor(X), tensor(X[:1, :1])], True)
    assert llvm_text(mixed).partition("@shapes")[2].partition("}")[0].count("store i64") == 4


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_a_repeated_step_can_refuse(backend: str, wrong: int) -> None:
    def look_up(table: Any, *indices: Any) -> Any:
        return [gw.index_select(table, 0, index).softmax(-1) for index in indices]

    compiled = gw.compile(look_up, backend=backend, fullgraph=True)
    table = gw.randn(7, 16)
    indices = [gw.tensor([3, 6, 0]), gw.tensor([1, 2, 5]), gw.tensor([4, 4, 6])]
    for ours, eager in zip(compiled(table, *indices), look_up(table, *indices), strict=True):
        gw.testing.assert_close(ours, eager)
    indices[wrong] = gw.tensor([1, 7, 2])
    with pytest.raises(IndexError):
        compiled(table, *indices)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_random_numbers_of_like_steps_differ(backend: str) -> None:
    def drop(*values: Any) -> Any:
        return [gw.nn.functional.dropout(v, 0.5) for v in values]

    ones = [gw.ones(50) for _ in range(3)]
    gw.manual_seed(3)
    ours = gw.compile(drop, backend=backend, fullgraph=True)(*ones)
    gw.manual_seed(3)
    for a, b in zip(ours, drop(*ones), strict=True):
        gw.testing.assert_close(a, b)
    assert not gw.equal(ours[0], ours[1])


@pytest.mark.parametrize("bad", [0, 3, 5])
@pytest.mark.parametrize("target", ["llvm", "c"])
def test_each_layer_may_end_the_run_with_an_error(bad: int, target: str) -> None:
    def lookups(x: Any, *places: Any) -> Any:
        for index in places:
            x = gw.tanh(x[index]) @ x.T @ x
        return x

    places = [gw.tensor([0, 1, 2, 3, 4, 5]) for _ in range(6)]
    compiled = gw.compile(lookups, backend=target)
    gw.testing.assert_close(compiled(gw.tensor(X), *places), lookups(gw.tensor(X), *places))
    places[bad] = gw.tensor([0, 1, 2, 3, 4, 6])
    with pytest.raises(IndexError):
        compiled(gw.tensor(X), *places)
