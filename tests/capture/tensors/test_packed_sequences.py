"""Packed sequences around recurrent layers: one graph, whoever knows the lengths.

Where they are numbers or constants, the graph has the steps of these lengths. Where they are the
values of a tensor, it is the same for all lengths: it works on the padded batch, in which steps
behind an end change nothing, and takes for granted what packing would refuse.
"""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from ..captured import Captured

LENGTHS = ([5, 2, 3], [1, 5, 4], [5, 5, 5], [2, 5, 1])


class Tagger(nn.Module):
    """Embeds words, runs a layer over them and gives a score for each."""

    def __init__(self, kind: Any = nn.LSTM, **options: Any) -> None:
        super().__init__()
        gw.manual_seed(1)
        self.layer = kind(3, 4, batch_first=True, **options)
        self.out = nn.Linear(4 * (1 + self.layer.bidirectional), 2)

    def forward(self, x: Any, lengths: Any, total: int | None = None) -> Any:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        output, state = self.layer(packed)
        output, counts = pad_packed_sequence(
            output, batch_first=True, padding_value=0.5, total_length=total)
        return self.out(output), state, counts


def alike(left: Any, right: Any) -> bool:
    """Equal up to rounding, whatever is nested in what."""
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(alike, left, right))
    same_kind = left.shape == right.shape and left.dtype == right.dtype
    return same_kind and bool(gw.allclose(left, right, atol=1e-6))


def batch(length: int = 5) -> Any:
    return gw.randn(3, length, 3)


@pytest.mark.parametrize("lengths", [[5, 2, 3], (5, 2, 3), [5, 5, 5]])
def test_lengths_that_are_numbers(lengths: Any) -> None:
    module, x = Tagger(), batch()
    captured = Captured(lambda x: module(x, lengths))
    for _ in range(2):
        assert alike(module(x, lengths), captured(x))
    assert (captured.graphs, captured.breaks) == (1, [])


def test_lengths_that_are_constants() -> None:
    module, x = Tagger(), batch()
    captured = Captured(lambda x: module(x, gw.tensor([5, 2, 3])))
    assert alike(module(x, [5, 2, 3]), captured(x))
    assert (captured.graphs, captured.breaks) == (1, [])


@pytest.mark.parametrize("options", [
    {}, {"bidirectional": True}, {"num_layers": 2}, {"bias": False},
    {"num_layers": 2, "bidirectional": True, "dropout": 0.5},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_lengths_that_are_values_of_a_tensor(kind: Any, options: Any) -> None:
    """One graph for all lengths, with the results and gradients of packing."""
    module, x = Tagger(kind, **options).eval(), batch().requires_grad_()
    captured = Captured(lambda x, lengths: module(x, lengths))
    for lengths in map(gw.tensor, LENGTHS):
        gradients = []
        results = [module(x, lengths), captured(x, lengths)]
        assert alike(*results)
        for scores, state, _ in results:
            states = state if isinstance(state, tuple) else (state,)
            loss = scores.square().sum() + sum(s.exp().sum() for s in states)
            wanted = [x, *module.parameters()]
            gradients.append(tuple(gw.autograd.grad(loss, wanted)))
        assert alike(*[tuple(g / g.abs().max() for g in found) for found in gradients])
    assert (captured.graphs, captured.breaks) == (1, [])


def test_lengths_that_the_graph_computes_and_batches_of_other_sizes() -> None:
    module = Tagger()
    captured = Captured(lambda x: module(x, (x[:, :, 0] > -9).sum(1)))
    for length in (5, 7, 4):
        x = batch(length)
        x[1:, 2:, 0] = -10
        assert alike(module(x, [length, 2, 2]), captured(x))
    assert not captured.breaks
    assert captured.graphs <= 2


def test_a_total_length_and_sorted_lengths() -> None:
    module = nn.GRU(3, 4)

    def function(x: Any, lengths: Any) -> Any:
        output, state = module(pack_padded_sequence(x, lengths))
        return (*pad_packed_sequence(output, total_length=8), state)

    captured, x = Captured(function), gw.randn(5, 3, 3)
    for lengths in ([5, 3, 1], [4, 4, 2]):
        assert alike(function(x, gw.tensor(lengths)), captured(x, gw.tensor(lengths)))
    assert (captured.graphs, captured.breaks) == (1, [])


def test_what_is_behind_an_end_does_not_count() -> None:
    module, lengths = Tagger(), gw.tensor([2, 5, 1])
    x = batch()
    x[0, 2:], x[2, 1:] = float("nan"), float("inf")
    x.requires_grad_()
    captured = Captured(lambda x: module(x, lengths)[0].sum())
    (gradient,) = gw.autograd.grad(captured(x), x)
    assert bool(gradient.isfinite().all())
    assert bool((gradient[0, 2:] == 0).all())


# what the graph takes for granted


def test_a_batch_that_is_longer_than_its_longest_sequence_runs_as_plain_python() -> None:
    """Its result is shorter than the batch."""
    module, x = Tagger(), batch()
    captured = Captured(lambda x, lengths: module(x, lengths))
    for lengths in ([5, 2, 3], [4, 2, 3], [5, 1, 1]):
        assert alike(module(x, gw.tensor(lengths)), captured(x, gw.tensor(lengths)))
    assert captured(x, gw.tensor([3, 2, 1]))[0].shape == (3, 3, 2)


@pytest.mark.parametrize("lengths", [[5, 0, 3], [6, 2, 3], [5, 2], [[5, 2, 3]]])
def test_lengths_that_do_not_fit_are_the_errors_of_packing(lengths: Any) -> None:
    module, x = Tagger(), batch()
    captured = Captured(lambda x, lengths: module(x, lengths))
    captured(x, gw.tensor([5, 2, 3]))
    with pytest.raises(RuntimeError) as plainly:
        module(x, gw.tensor(lengths))
    with pytest.raises(RuntimeError) as compiled:
        captured(x, gw.tensor(lengths))
    assert str(compiled.value) == str(plainly.value)


def test_unsorted_lengths_are_refused_where_they_have_to_be_sorted() -> None:
    layer = nn.LSTM(3, 4)
    captured = Captured(lambda x, lengths: layer(pack_padded_sequence(x, lengths))[1])
    x = gw.randn(5, 3, 3)
    captured(x, gw.tensor([5, 3, 2]))
    with pytest.raises(RuntimeError, match="must be sorted in decreasing order"):
        captured(x, gw.tensor([3, 5, 2]))


# where a packed sequence is needed itself


def returned(layer: Any, x: Any, lengths: Any) -> Any:
    return layer(pack_padded_sequence(x, lengths))[0]


def looked_at(layer: Any, x: Any, lengths: Any) -> Any:
    packed = pack_padded_sequence(x, lengths)
    return packed.data.sum(), packed.batch_sizes * 2


def recognised(layer: Any, x: Any, lengths: Any) -> Any:
    packed = pack_padded_sequence(x, lengths)
    known = isinstance(packed, PackedSequence)
    return layer(packed)[1][0] * known


@pytest.mark.parametrize("function", [returned, looked_at, recognised])
def test_the_program_finds_a_real_one(function: Any) -> None:
    layer, x = nn.LSTM(3, 4), gw.randn(5, 3, 3)
    captured = Captured(lambda x, lengths: function(layer, x, lengths))
    for lengths in ([5, 3, 2], [5, 5, 1]):
        expected = function(layer, x, gw.tensor(lengths))
        found = captured(x, gw.tensor(lengths))
        assert type(found) is type(expected)
        if function is returned:
            assert gw.equal(found.batch_sizes, expected.batch_sizes)
            found, expected = found.data, expected.data
        assert alike(found, expected)
    assert set(captured.breaks) <= {"GB0002"}
    assert (function is recognised) == (not captured.breaks)


def test_layers_that_draw_or_project_are_given_a_real_one() -> None:
    for layer in (nn.LSTM(3, 4, 2, dropout=0.5), nn.LSTM(3, 4, proj_size=2)):
        captured = Captured(lambda x, n, layer=layer: returned(layer, x, n).data)
        x, lengths = gw.randn(5, 3, 3), gw.tensor([5, 3, 2])
        found = []
        for run in (lambda x, n, layer=layer: returned(layer, x, n).data, captured):
            gw.manual_seed(3)
            found.append(run(x, lengths))
        assert alike(*found)
        assert set(captured.breaks) == {"GB0002"}
