"""Recurrent layers and packed sequences: against PyTorch, and what holds without it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn.utils import rnn as sequences

CONFIGURATIONS = [
    (kind, bidirectional, batch_first, layers, projection)
    for kind, bidirectional, batch_first, layers, projection in itertools.product(
        ("RNN", "LSTM", "GRU"), (False, True), (False, True), (1, 2), (0, 3)
    )
    if kind == "LSTM" or not projection
]


def _like_torch(ours: Any, theirs: Any) -> None:
    state = {k: gw.from_numpy(v.detach().numpy().copy()) for k, v in theirs.state_dict().items()}
    assert not any(ours.load_state_dict(state))


def _tensors(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _close(ours: Any, theirs: Any) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), atol=1e-10)


@pytest.mark.oracle
@pytest.mark.parametrize("lengths", [None, [6, 4, 2], [2, 6, 4]], ids=["padded", "packed", "any"])
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
def test_values_and_gradients(configuration: Any, lengths: list[int] | None) -> None:
    torch = pytest.importorskip("torch")
    kind, bidirectional, batch_first, layers, projection = configuration
    options = {"bidirectional": bidirectional, "batch_first": batch_first, "num_layers": layers}
    if projection:
        options["proj_size"] = projection
    theirs = getattr(torch.nn, kind)(4, 5, **options).double()
    ours = getattr(nn, kind)(4, 5, **options).double()
    _like_torch(ours, theirs)
    assert repr(ours) == repr(theirs)
    x = torch.randn((3, 6, 4) if batch_first else (6, 3, 4), dtype=torch.float64)
    x.requires_grad_()
    y = gw.from_numpy(x.detach().numpy().copy()).requires_grad_()
    given, packed = x, y
    if lengths is not None:
        order = {"batch_first": batch_first, "enforce_sorted": lengths == sorted(lengths)[::-1]}
        given = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, **order)
        packed = sequences.pack_padded_sequence(y, lengths, **order)
    want, want_state = theirs(given)
    got, got_state = ours(packed)
    if lengths is not None:
        want, _ = torch.nn.utils.rnn.pad_packed_sequence(want, batch_first=batch_first)
        got, counts = sequences.pad_packed_sequence(got, batch_first=batch_first)
        assert counts.tolist() == lengths
    wanted, obtained = (want, *_tensors(want_state)), (got, *_tensors(got_state))
    for a, b in zip(obtained, wanted, strict=True):
        _close(a, b)
    sum((t * t).sum() for t in wanted).backward()
    sum((t * t).sum() for t in obtained).backward()
    _close(y.grad, x.grad)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        _close(a.grad, b.grad)


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
@pytest.mark.parametrize("shape", [(3, 4), (4,)], ids=str)
def test_cells(kind: str, shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    theirs, ours = getattr(torch.nn, kind)(4, 5).double(), getattr(nn, kind)(4, 5).double()
    _like_torch(ours, theirs)
    assert repr(ours) == repr(theirs)
    x = torch.randn(shape, dtype=torch.float64)
    want, got = theirs(x), ours(gw.from_numpy(x.numpy().copy()))
    for a, b in zip(_tensors(got), _tensors(want), strict=True):
        _close(a, b)


def test_the_state_carries_a_sequence_over() -> None:
    lstm = nn.LSTM(3, 4, num_layers=2).double()
    x = gw.randn(7, 2, 3, dtype=gw.float64)
    whole, state = lstm(x)
    first, middle = lstm(x[:3])
    second, last = lstm(x[3:], middle)
    np.testing.assert_allclose(
        gw.cat([first, second]).detach().numpy(), whole.detach().numpy(), atol=1e-12
    )
    for a, b in zip(last, state, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-12)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_compiled_is_one_graph(kind: str) -> None:
    model = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=True).double()
    x = gw.randn(5, 2, 3, dtype=gw.float64)
    want = model(x)[0]
    got = gw.compile(model, fullgraph=True)(x)[0]
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), atol=1e-10)


def test_dropout_between_layers_only_in_training() -> None:
    model = nn.GRU(3, 4, num_layers=2, dropout=0.5)
    x = gw.randn(5, 2, 3)
    assert not gw.equal(model(x)[0], model(x)[0])
    model.eval()
    assert gw.equal(model(x)[0], model(x)[0])
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last"):
        nn.GRU(3, 4, dropout=0.5)


ERRORS = {
    "rank": (ValueError, "LSTM: Expected input to be 2D or 3D, got 4D", lambda: (1, 1, 1, 3)),
    "features": (RuntimeError, "input_size. Expected 3, got 2", lambda: (5, 2, 2)),
    "no steps": (RuntimeError, "sequence length to be larger than 0", lambda: (0, 2, 3)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_bad_inputs(name: str) -> None:
    error, message, shape = ERRORS[name]
    with pytest.raises(error, match=message):
        nn.LSTM(3, 4)(gw.zeros(shape()))


def test_bad_states_and_arguments() -> None:
    with pytest.raises(RuntimeError, match=r"Expected hidden\[0\] size \(1, 2, 4\), got"):
        nn.LSTM(3, 4)(gw.zeros(5, 2, 3), (gw.zeros(1, 3, 4), gw.zeros(1, 3, 4)))
    with pytest.raises(RuntimeError, match="hx should also be 3-D but got 2-D"):
        nn.GRU(3, 4)(gw.zeros(5, 2, 3), gw.zeros(1, 4))
    with pytest.raises(ValueError, match="hidden_size must be greater than zero"):
        nn.RNN(3, 0)
    with pytest.raises(ValueError, match="proj_size argument is only supported for LSTM"):
        nn.GRU(3, 4, proj_size=2)
    with pytest.raises(ValueError, match="Unknown nonlinearity 'gelu'"):
        nn.RNN(3, 4, nonlinearity="gelu")
    with pytest.raises(ValueError, match="does not match weight dtype"):
        nn.RNN(3, 4)(gw.zeros(5, 2, 3, dtype=gw.float64))
    cell, x, h = nn.LSTMCell(3, 4), gw.ones(2, 3), gw.zeros(2, 4)
    assert all(gw.equal(*pair) for pair in zip(cell(x, [h, h]), cell(x, (h, h)), strict=True))
    with pytest.raises(RuntimeError, match="expects two hidden states"):
        cell(x, (h,))
    with pytest.raises(RuntimeError, match="expects two hidden states"):
        gw.lstm_cell(x, (h,), *cell.parameters())


def test_a_state_of_the_wrong_kind_is_told_as_such() -> None:
    x, h = gw.zeros(5, 2, 3), gw.zeros(1, 2, 4)
    packed = sequences.pack_padded_sequence(x, [3, 5], enforce_sorted=False)
    for given in (x, packed):
        with pytest.raises(AttributeError, match="'tuple' object has no attribute"):
            nn.GRU(3, 4)(given, (h, h))
        with pytest.raises(IndexError):
            nn.LSTM(3, 4)(given, h)
        with pytest.raises(RuntimeError, match="lstm expects two hidden states"):
            nn.LSTM(3, 4)(given, (h, h, h))
        assert nn.LSTM(3, 4)(given, [h, h])[1][0].shape == (1, 2, 4)


def test_unpadded_sequences_have_memory_of_their_own() -> None:
    padded = gw.zeros(2, 3)
    parts = sequences.unpad_sequence(padded, gw.tensor([2, 1]), batch_first=True)
    parts[0].fill_(1)
    assert padded.sum() == 0 and [len(part) for part in parts] == [2, 1]
    steps = sequences.unpad_sequence(gw.zeros(3, 2, 4), gw.tensor([2, 1]))
    assert all(part.is_contiguous() for part in steps)


def test_packing_and_padding() -> None:
    parts = [gw.arange(n, dtype=gw.float32) for n in (2, 4, 3)]
    padded = sequences.pad_sequence(parts, batch_first=True, padding_value=-1)
    assert padded.tolist() == [[0, 1, -1, -1], [0, 1, 2, 3], [0, 1, 2, -1]]
    left = sequences.pad_sequence(parts, batch_first=True, padding_side="left")
    assert left.tolist() == [[0, 0, 0, 1], [0, 1, 2, 3], [0, 0, 1, 2]]
    packed = sequences.pack_sequence(iter(parts), enforce_sorted=False)
    assert packed.data.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1]
    assert [t.tolist() for t in sequences.unpack_sequence(packed)] == [p.tolist() for p in parts]
    rows = sequences.pack_sequence([part[:, None] for part in parts], enforce_sorted=False)
    assert sequences.pad_packed_sequence(rows, batch_first=True)[0].is_contiguous()
    with pytest.raises(RuntimeError, match="sorted in decreasing order"):
        sequences.pack_sequence(parts)
    with pytest.raises(RuntimeError, match="has to be greater than 0"):
        sequences.pack_padded_sequence(gw.zeros(3, 2), [2, 0])
    with pytest.raises(RuntimeError, match="equal to batch_size"):
        sequences.pack_padded_sequence(gw.zeros(3, 2), [2])
    with pytest.raises(ValueError, match="Expected total_length to be at least"):
        sequences.pad_packed_sequence(packed, total_length=2)
