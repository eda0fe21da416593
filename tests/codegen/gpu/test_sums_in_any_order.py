"""Sums of floats at indices that repeat: the same bits in whatever order they are made."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.loops import Accumulate
from graphwright.codegen.scheduler.buffer_access import statements

from ..lowered import tensor
from .programs import bits, check, elements, program_of
from .simulated import run_program

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def needs_triton() -> None:
    pytest.importorskip("triton")


def added(x: Any, i: Any, v: Any) -> Any:
    return gw.index_add(x, 0, i, v)


def sums(kind: str, terms: np.ndarray, index: np.ndarray, shuffle: int) -> np.ndarray:
    given = tensor(np.zeros(4)), tensor(index), tensor(terms)
    given = tuple(x.to(getattr(gw, kind)) if x.dtype is gw.float64 else x for x in given)
    program = program_of(added, *given)
    (found,), _ = run_program(program, [elements(x) for x in given], shuffle=shuffle)
    return bits(found).copy()


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16"])
def test_the_order_of_terms_and_of_updates_is_nothing_to_the_sum(kind: str) -> None:
    terms = RNG.standard_normal(400) * 10.0 ** RNG.integers(-9, 9, 400)
    index = RNG.integers(0, 4, 400)
    first = sums(kind, terms, index, 1)
    order = RNG.permutation(400)
    np.testing.assert_array_equal(first.view("u1"), sums(kind, terms[order], index[order], 2)
                                  .view("u1"))


@pytest.mark.parametrize(("kind", "near"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_a_sum_is_rounded_once(kind: str, near: float) -> None:
    """Where terms cancel, their difference is left as it is."""
    large = 10.0 ** RNG.integers(-30, 30, 4)
    terms = RNG.standard_normal((200, 4)) * large * 10.0 ** RNG.integers(-3, 1, (200, 4))
    terms = np.concatenate([terms, -terms[:150]]).astype(kind).astype("f8")
    index = np.tile(np.arange(4), (350, 1))
    found = sums(kind, terms.reshape(-1), index.reshape(-1), 3).astype("f8")
    exact = np.array([math.fsum(column) for column in terms.T])
    np.testing.assert_allclose(found, exact, rtol=near * 1.01)


def test_what_is_not_finite() -> None:
    inf, nan = np.inf, np.nan
    terms = np.array([inf, 1.0, -inf, 2.0, inf, -inf, nan, 1.0, 0.0, 1e-40, -1e-42])
    index = np.array([0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1])
    np.testing.assert_array_equal(sums("float32", terms, index, 4), [inf, -inf, nan, nan])


def test_the_least_and_greatest_numbers() -> None:
    for kind in ("float32", "float64"):
        info = np.finfo(kind)
        terms = np.array([info.max, info.max, info.smallest_subnormal, info.smallest_subnormal,
                          info.max, -info.max, info.tiny], kind).astype("f8")
        found = sums(kind, terms, np.array([0, 0, 1, 1, 2, 2, 3]), 5)
        least = 2 * info.smallest_subnormal
        np.testing.assert_array_equal(found, np.array([np.inf, least, 0, info.tiny], kind))


def test_memory_adds_integers_only() -> None:
    program = program_of(lambda x, i, v: (added(x, i, v), gw.scatter_add(x, 0, i, v),
                                          x.index_put((i,), v, accumulate=True)),
                         gw.zeros(9), gw.zeros(50, dtype=gw.int64), gw.zeros(50))
    folds = [stmt for kernel in program.steps for stmt in statements(kernel.body)
             if isinstance(stmt, Accumulate)]
    assert [(f.fold, f.buffer.dtype) for f in folds] == [
        ("max", gw.int32), ("sum", gw.int64)] * 3


@pytest.mark.parametrize("terms", [1, 2, 40])
def test_how_many_terms_there_are_may_be_a_symbol(terms: int) -> None:
    values = tensor(RNG.standard_normal((terms, 3)).astype("f4"))
    check(added, tensor(np.zeros((5, 3), "f4")), tensor(RNG.integers(0, 5, terms)), values,
          dynamic=True)
