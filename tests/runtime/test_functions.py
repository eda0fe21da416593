"""Functions beside those of `nn.functional`, against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

_RNG = np.random.default_rng(0)
_X, _Y, _Z = (_RNG.random((3, 4)).astype(np.float32) for _ in range(3))
_SIGNS = np.array([1.0, -1.0, 1.0], np.float32)
_ONES = np.ones(4, np.float32)


def _weights(gates: int) -> tuple[Any, ...]:
    shapes = ((gates * 5, 4), (gates * 5, 5), (gates * 5,), (gates * 5,))
    return tuple(_RNG.standard_normal(shape).astype(np.float32) for shape in shapes)


_HIDDEN = _RNG.standard_normal((3, 5)).astype(np.float32)

CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("binary_cross_entropy_with_logits", (_X, _Y, None, None, 2)),
    ("cosine_embedding_loss", (_X, _Y, _SIGNS, 0.1, 0)),
    ("hinge_embedding_loss", (_X, np.sign(_Y - 0.5), 1.0, 1)),
    ("kl_div", (_X, _Y, 1)),
    ("kl_div", (_X, _Y, 0)),
    ("margin_ranking_loss", (_X[:, 0], _Y[:, 0], _SIGNS, 0.2, 2)),
    ("poisson_nll_loss", (_X, _Y, True, False, 1e-8, 1)),
    ("triplet_margin_loss", (_X, _Y, _Z, 1.0, 2, 1e-6, False, 0)),
    ("batch_norm", (_X, _ONES, _ONES, None, None, True, 0.1, 1e-5, False)),
    ("instance_norm", (_X[None], None, None, None, None, True, 0.1, 1e-5, False)),
    ("frobenius_norm", (_X, 1, True)),
    ("nuclear_norm", (_X,)),
    ("gru_cell", (_X, _HIDDEN, *_weights(3))),
    ("rnn_tanh_cell", (_X, _HIDDEN, *_weights(1))),
    ("rnn_relu_cell", (_X, _HIDDEN, *_weights(1))),
    ("lstm_cell", (_X, (_HIDDEN, -_HIDDEN), *_weights(4))),
]


def _given(lib: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_given(lib, item) for item in value)
    return lib.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "args"), CALLS, ids=[name for name, _ in CALLS])
def test_agrees_with_torch(name: str, args: tuple[Any, ...]) -> None:
    torch = pytest.importorskip("torch")
    expected, found = (getattr(lib, name)(*_given(lib, args)) for lib in (torch, gw))
    pairs = zip(expected, found, strict=True) if name == "lstm_cell" else [(expected, found)]
    for want, got in pairs:
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)


def test_reductions_are_numbers() -> None:
    with pytest.raises(ValueError, match="reduction"):
        gw.kl_div(gw.ones(2), gw.ones(2), 3)


def test_cells_compile() -> None:
    args = _given(gw, CALLS[-1][1])
    expected = gw.lstm_cell(*args)
    for got, want in zip(
        gw.compile(gw.lstm_cell, fullgraph=True)(*args), expected, strict=True
    ):
        gw.testing.assert_close(got, want)


def test_names_of_nodes_are_pytorchs() -> None:
    x = gw.ones(2, 2, requires_grad=True)
    nodes = {
        "AddBackward0": x + 1,
        "MmBackward0": x @ x,
        "AddmmBackward0": gw.nn.functional.linear(x, x, x[0]),
        "ToCopyBackward0": x.double(),
        "VarBackward0": x.var(),
        "LinalgVectorNormBackward0": x.norm(),
    }
    for name, out in nodes.items():
        assert out.grad_fn.name() == name
        assert f"grad_fn=<{name}>" in repr(out)


def test_sorted_tensors_keep_the_order_of_dims() -> None:
    """As in PyTorch, of a dense tensor; a compiled function gives the same strides."""
    x = gw.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    for function in (lambda t: t.sort(0, descending=True), gw.compile(lambda t: t.sort(0, True))):
        values, indices = function(x)
        assert values.stride() == indices.stride() == x.stride()
        assert values.tolist() == x.flip(0).tolist()
        assert indices[:, 0, 0].tolist() == [3, 2, 1, 0]
    assert gw.msort(x).stride() == x.stride() and gw.equal(gw.msort(x), x)
