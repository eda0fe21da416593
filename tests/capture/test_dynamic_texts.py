"""Texts that show numbers which vary: the messages of checks do not tie a graph to one size."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from .captured import Captured

Pair = namedtuple("Pair", ["left", "right"])


def message(x: Any, k: float) -> Any:
    n = x.shape[0]
    gathered = f"{[n, 'é', k]} {(n,)} {({'a': n, 3: (n, n)})!a} {Pair(n, k)} {[]}"
    return x * 2, f"{x.shape} {x.shape!r} {n:>5} {n!r} {k:.3f}{'.'} {gathered}"


def checked(x: Any, k: float) -> Any:
    assert x.dim() == 2, f"expected two dimensions, got {x.shape}"
    why_not = "" if x.is_contiguous() else f"strides are {x.stride()}"
    text = f"{x.shape[0]} rows, {k}{why_not}"
    return x + 1 if isinstance(text, str) else x


def told(x: Any, k: float) -> Any:
    text = f"{x.shape[0]} rows, {k}"
    y = x + 1
    print(end="")
    return y, text


@pytest.mark.parametrize("function", [message, checked, told])
def test_one_graph_serves_all_numbers(function):
    captured = Captured(function)
    for n in (3, 4, 5, 9, 30):
        assert captured.agrees(gw.ones(n, 2), n / 7)
    assert captured.graphs <= 2, captured.record.recompiles


def test_a_program_that_looks_at_the_text_gets_a_version_of_its_own():
    captured = Captured(lambda x: x + len(f"{x.shape[0]} rows"))
    for n in (3, 4, 50, 500):
        assert captured.agrees(gw.ones(n, 2))


def test_a_format_that_numbers_do_not_have():
    captured = Captured(lambda x: (x + 1, f"{x.shape[0]:s}"))
    for n in (3, 4):
        with pytest.raises(ValueError, match="Unknown format code"):
            captured(gw.ones(n, 2))


def test_a_transformer_in_evaluation_takes_batches_of_all_sizes():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    captured = Captured(lambda x: model(x))
    with gw.no_grad():
        for batch, length in ((2, 5), (3, 7), (4, 9), (8, 12)):
            assert captured(gw.randn(batch, length, 16)).shape == (batch, length, 16)
    assert captured.graphs <= 2
