"""What the nn ops refuse, and how they say it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
import graphwright.nn.functional as F


def _target(value: int) -> gw.Tensor:
    return gw.tensor([0, value])


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "class too large": (
        lambda: F.cross_entropy(gw.ones(2, 5), _target(10)), IndexError,
        r"Target 10 is out of bounds\.",
    ),
    "negative class": (
        lambda: F.cross_entropy(gw.ones(2, 5), _target(-1)), IndexError, "Target -1 is out",
    ),
    "target's shape": (
        lambda: F.nll_loss(gw.ones(2, 5), gw.tensor([1])), ValueError, "batch_size",
    ),
    "reduction": (
        lambda: F.mse_loss(gw.ones(2), gw.ones(2), reduction="max"), ValueError,
        "max is not a valid value for reduction",
    ),
    "softmax of integers": (
        lambda: F.softmax(gw.tensor([1, 2]), 0), RuntimeError, '"softmax" not implemented',
    ),
    "dim": (lambda: F.softmax(gw.ones(2), 1), IndexError, "Dimension out of range"),
    "gelu's approximation": (
        lambda: F.gelu(gw.ones(2), approximate="exact"), RuntimeError, "none or tanh",
    ),
    "layer_norm's shape": (
        lambda: F.layer_norm(gw.ones(2, 3), (4,)), RuntimeError, r"normalized_shape=\[4\]",
    ),
    "conv channels": (
        lambda: F.conv2d(gw.ones(1, 3, 5, 5), gw.ones(2, 4, 3, 3)), RuntimeError,
        "to have 4 channels, but got 3 channels",
    ),
    "conv dtype": (
        lambda: F.conv2d(gw.ones(1, 1, 5, 5), gw.ones(1, 1, 3, 3, dtype=gw.float64)),
        RuntimeError, r"float32\[1, 1, 5, 5\].*float64\[1, 1, 3, 3\]",
    ),
    "conv kernel": (
        lambda: F.conv2d(gw.ones(1, 1, 2, 2), gw.ones(1, 1, 3, 3)), RuntimeError, "does not fit",
    ),
    "pool padding": (
        lambda: F.max_pool2d(gw.ones(1, 1, 4, 4), 2, padding=2), RuntimeError,
        "at most half of effective kernel size",
    ),
    "linear": (
        lambda: F.linear(gw.ones(2, 3), gw.ones(4, 5)), RuntimeError,
        r"float32\[2, 3\].*float32\[4, 5\]",
    ),
    "embedding's index": (
        lambda: F.embedding(gw.tensor([7]), gw.ones(7, 2)), IndexError, "index out of range",
    ),
    "embedding's dtype": (
        lambda: F.embedding(gw.ones(2), gw.ones(7, 2)), RuntimeError, "scalar types",
    ),
    "dropout's p": (
        lambda: F.dropout(gw.ones(2), 1.5), ValueError, "between 0 and 1, but got 1.5",
    ),
    "one value per channel": (
        lambda: F.batch_norm(gw.ones(1, 3), None, None, training=True), ValueError,
        "more than 1 value per channel",
    ),
    "no running statistics": (
        lambda: F.batch_norm(gw.ones(4, 3), None, None), RuntimeError, "running_mean",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("needs_grad", [False, True])
def test_refused(name: str, needs_grad: bool) -> None:
    call, error, message = REFUSED[name]
    with gw.set_grad_enabled(needs_grad), pytest.raises(error, match=message):
        call()


TABLE, ROWS = gw.ones(5, 3), gw.tensor([[0, 1]])
REFUSED_TABLES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "embedding": (lambda: F.embedding(ROWS, TABLE, 5), ValueError, "-5 through 4, but got 5"),
    "before the first": (lambda: F.embedding(ROWS, TABLE, -6), ValueError, "but got -6"),
    "of no int": (lambda: F.embedding(ROWS, TABLE, 1.5), TypeError, "must be int, not float"),
    "bag": (lambda: F.embedding_bag(ROWS, TABLE, padding_idx=9), RuntimeError, "but got 9"),
    "weights of samples": (
        lambda: F.embedding_bag(ROWS, TABLE, mode="sum", per_sample_weights="a"), TypeError,
        "'per_sample_weights' must be Tensor, not str",
    ),
    "layer": (lambda: gw.nn.Embedding(5, 3, 7), ValueError, "Embedding: padding_idx .* got 7"),
    "layer of bags": (
        lambda: gw.nn.EmbeddingBag(5, 3, padding_idx=7), ValueError, "EmbeddingBag: padding_idx",
    ),
    "padding of a layer": (
        lambda: gw.nn.Embedding(5, 3, "a"), TypeError, "'padding_idx' must be int, not str",
    ),
    "weight of a layer": (
        lambda: gw.nn.Embedding(4, 3, _weight=TABLE), ValueError, r"expected \[4, 3\], got \[5",
    ),
    "given rows": (
        lambda: gw.nn.Embedding.from_pretrained(TABLE[0]), ValueError, r"2 dims.* float32\[3\]",
    ),
    "given list": (
        lambda: gw.nn.EmbeddingBag.from_pretrained([1.0]), TypeError, "must be Tensor, not list",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_TABLES)
@pytest.mark.parametrize("compiled", [False, True])
def test_refused_tables(name: str, compiled: bool) -> None:
    call, error, message = REFUSED_TABLES[name]
    with pytest.raises(error, match=message):
        (gw.compile(call) if compiled else call)()


def test_padding_index_gets_no_gradient_and_starts_as_zero() -> None:
    table = gw.nn.Embedding(5, 3, padding_idx=-1)
    assert table.weight.detach().numpy()[4].tolist() == [0, 0, 0]
    table(gw.tensor([4, 1, 4])).sum().backward()
    assert table.weight.grad.tolist() == [[0] * 3, [1] * 3, [0] * 3, [0] * 3, [0] * 3]
