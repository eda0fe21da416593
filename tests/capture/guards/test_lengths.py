"""Sequences whose lengths are tensors, which are read when the graph runs."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..captured import Captured

F = gw.nn.functional
LENGTHS = ([7, 3, 5], [6, 3, 5], [7, 3, 2], [1, 3, 2])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_packed_sequences(kind: Any) -> None:
    """One graph for any lengths, also any longest one."""
    gw.manual_seed(0)
    layer, x = kind(5, 6, batch_first=True), gw.randn(3, 7, 5)

    def run(x: Any, lengths: Any) -> Any:
        packed = pack_padded_sequence(x * 2, lengths, batch_first=True, enforce_sorted=False)
        output, sizes = pad_packed_sequence(layer(packed)[0], batch_first=True)
        return output * 2, sizes

    captured = Captured(run)
    for lengths in LENGTHS:
        args = x, gw.tensor(lengths)
        gw.testing.assert_close(captured(*args), run(*args), rtol=1e-5, atol=1e-6)
    assert captured.graphs == 1 and not captured.breaks and not captured.record.recompiles


def test_losses_of_labels() -> None:
    def loss(x: Any, targets: Any, inputs: Any, lengths: Any) -> Any:
        return F.ctc_loss((x * 2).log_softmax(-1), targets, inputs, lengths)

    captured, x = Captured(loss), gw.randn(8, 2, 5)
    targets, inputs = gw.tensor([[1, 2, 3], [1, 2, 2]]), gw.tensor([8, 7])
    for length in (2, 3, 1):
        assert captured.agrees(x, targets, inputs, gw.tensor([3, length]))
    assert captured.graphs == 1
    assert captured.breaks == []


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_losses_of_labels_are_compiled_for_any_lengths(reduction: str) -> None:
    targets = gw.tensor([[1, 2, 3], [1, 2, 2]])

    def loss(x: Any, inputs: Any, lengths: Any) -> Any:
        return F.ctc_loss((x * 2).log_softmax(-1), targets, inputs, lengths, reduction=reduction,
                          zero_infinity=True)

    compiled = gw.compile(loss, fullgraph=True)
    for inputs, lengths in (([8, 7], [3, 2]), ([2, 8], [3, 0])):
        given = [gw.ones(8, 2, 5).cumsum(2).requires_grad_() for _ in range(3)]
        tensors = gw.tensor(inputs), gw.tensor(lengths)
        results = [loss(given[0], inputs, lengths), loss(given[1], *tensors),
                   compiled(given[2], *tensors)]
        for result, leaf in zip(results, given, strict=True):
            result.sum().backward()
            gw.testing.assert_close(result, results[0])
            gw.testing.assert_close(leaf.grad, given[0].grad)
    assert gw.compiler.stats(compiled).recompiles == 0
    with pytest.raises(RuntimeError, match="must be integral"):
        loss(given[0], gw.tensor([8.0, 7.0]), tensors[1])
    with pytest.raises(RuntimeError, match="at most 8"):
        compiled(given[0], gw.tensor([9, 7]), tensors[1])


def test_known_lengths_are_part_of_the_graph() -> None:
    layer, x = nn.GRU(5, 6), gw.randn(4, 2, 5)

    def run(x: Any) -> Any:
        packed = pack_padded_sequence(x, [4, 3])
        loss = F.ctc_loss(x.log_softmax(-1), gw.tensor([[1, 2], [3, 1]]), (4, 3), (2, 1))
        return pad_packed_sequence(layer(packed)[0]), loss

    captured = Captured(run, fullgraph=True)
    assert captured.agrees(x)
    assert captured.graphs == 1
