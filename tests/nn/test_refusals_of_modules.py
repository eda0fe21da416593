"""What layers refuse when they are made or called, by PyTorch's exception types."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn import functional as F
from graphwright.nn.utils import parametrizations, rnn, skip_init


def _hooked(hook: Callable[..., Any]) -> nn.Module:
    module = nn.Linear(2, 2)
    module.register_state_dict_post_hook(hook)
    return module


CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "eps in training": (
        lambda: nn.BatchNorm1d(2, eps=0.0)(gw.ones(3, 2)), ValueError, "eps must be positive",
    ),
    "groups": (lambda: nn.GroupNorm(3, 10), ValueError, r"num_channels \(10\) must be divisible"),
    "complex delta": (lambda: nn.HuberLoss(delta=1j), TypeError, "delta must be a float or int"),  # type: ignore[arg-type]
    "ignored class of probabilities": (
        lambda: nn.CrossEntropyLoss(ignore_index=1)(gw.ones(2, 3), gw.ones(2, 3)),
        RuntimeError, "ignore_index is not supported",
    ),
    "integers as probabilities": (
        lambda: nn.CrossEntropyLoss()(gw.ones(2, 3), gw.ones(2, 3, dtype=gw.int64)),
        RuntimeError, "Expected floating point type for target with class probabilities",
    ),
    "floats as classes": (
        lambda: nn.CrossEntropyLoss()(gw.ones(2, 3), gw.ones(2)),
        RuntimeError, "expected target dtype",
    ),
    "targets of another batch": (
        lambda: nn.NLLLoss()(gw.ones(2, 3), gw.zeros(3, dtype=gw.int64)),
        ValueError, r"Expected input batch_size \(2\) to match target batch_size \(3\)",
    ),
    "targets of another size": (
        lambda: nn.NLLLoss()(gw.ones(2, 3, 5), gw.zeros(2, 4, dtype=gw.int64)),
        RuntimeError, r"Expected target size \[2, 5\], got \[2, 4\]",
    ),
    "bias that is no bool": (lambda: nn.LSTM(2, 3, bias=1), TypeError, "bias should be of type"),
    "input_size": (lambda: nn.GRU(0, 3), ValueError, "input_size must be greater than zero"),
    "mode of RNNBase": (
        lambda: nn.RNNBase("X", 2, 3), ValueError, "Unrecognized RNN mode",
    ),
    "one state for an LSTM's cell": (
        lambda: nn.LSTMCell(2, 3)(gw.ones(1, 2), gw.ones(1, 3)), TypeError, "tuple of Tensors",
    ),
    "rows of another length": (
        lambda: F.scaled_dot_product_attention(gw.ones(3, 4), gw.ones(5, 3), gw.ones(5, 4)),
        RuntimeError, "to have one length",
    ),
    "mask of another size": (
        lambda: F.scaled_dot_product_attention(*[gw.ones(3, 4)] * 3, gw.ones(3, 2)),
        RuntimeError, "to broadcast to the scores",
    ),
    "no positive size": (
        lambda: F.affine_grid(gw.ones(1, 2, 3), [1, 1, 0, 2]), ValueError, "non-zero, positive",
    ),
    "grid of one dimension": (
        lambda: F.affine_grid(gw.ones(1, 2, 3), [1, 1, 2]), NotImplementedError, "4D and 5D sizes",
    ),
    "empty kernel": (
        lambda: nn.Conv2d(4, 4, 0)(gw.ones(1, 4, 4, 4)), RuntimeError, "greater than zero",
    ),
    "no channels out": (
        lambda: F.conv1d(gw.ones(1, 2, 5), gw.ones(0, 2, 3)), RuntimeError, "at least 1",
    ),
    "hook in place of a dict": (
        lambda: _hooked(lambda *given: {}).state_dict(), RuntimeError, "must return None",
    ),
    "value of a reflection": (
        lambda: F.pad(gw.ones(1, 4), (1, 1), "reflect", 2.0), RuntimeError, "take in value",
    ),
    "empty range": (lambda: nn.Hardtanh(1.0, 0.0), AssertionError, "larger than min_val"),
    "no sequences": (lambda: rnn.pad_sequence([]), RuntimeError, "empty list of sequences"),
    "one number as sequences": (
        lambda: rnn.pad_sequence(3), RuntimeError, "Expected iterable",  # type: ignore[arg-type]
    ),
    "no device to leave values out on": (
        lambda: skip_init(nn.ReLU), RuntimeError, "must support a 'device' arg",
    ),
    "slope that is no number": (
        lambda: nn.init.calculate_gain("leaky_relu", "a"),  # type: ignore[arg-type]
        ValueError, "not a valid number",
    ),
    "pickled parametrization": (
        lambda: pickle.dumps(parametrizations.weight_norm(nn.Linear(2, 2))),
        RuntimeError, r"only supported through state_dict\(\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("refused", "kind", "text"), CASES.values(), ids=CASES)
def test_refused(refused: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        refused()


def test_a_layer_without_outputs() -> None:
    assert nn.functional.linear(gw.ones(2, 4), gw.ones(0, 4)).shape == (2, 0)
    assert nn.functional.linear(gw.ones(2, 0), gw.ones(3, 0)).shape == (2, 3)


def test_packed_sequences_are_converted_as_their_data() -> None:
    packed = rnn.pack_sequence([gw.ones(2), gw.zeros(1)])
    assert packed.int().data.dtype is gw.int32
    assert packed.cpu() is packed
    assert not packed.is_pinned()


def test_bags_take_their_arguments_in_the_former_order_with_a_warning() -> None:
    weight, index, starts = gw.randn(4, 3), gw.tensor([1, 2, 0]), gw.tensor([0, 2])
    with pytest.warns(UserWarning, match="Argument order"):
        former = F.embedding_bag(weight, index, starts)
    assert gw.equal(former, F.embedding_bag(index, weight, starts))


@pytest.mark.parametrize("compiled", [False, True])
def test_the_last_offset_of_bags_lies_within_the_indices(compiled: bool) -> None:
    def bags(offsets: gw.Tensor) -> gw.Tensor:
        index, weight = gw.tensor([1, 2, 0]), gw.ones(4, 2)
        return F.embedding_bag(index, weight, offsets, mode="sum", include_last_offset=True)

    run = gw.compile(bags) if compiled else bags
    assert run(gw.tensor([0, 1, 3])).tolist() == [[1, 1], [2, 2]]
    with pytest.raises(RuntimeError, match="greater than input's length 3"):
        run(gw.tensor([0, 1, 4]))
