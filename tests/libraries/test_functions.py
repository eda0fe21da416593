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


@pytest.mark.oracle
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("padding", [None, 2, -1])
def test_bags_as_in_torch(mode: int, last: bool, padding: int | None) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for lib in (torch, gw):
        weight = lib.tensor(_X.tolist(), requires_grad=True)
        given = lib.tensor([0, 2, 1, 2, 0]), lib.tensor([0, 2, 2, 5])
        bags, *_, rows = lib.embedding_bag(
            weight, *given, False, mode, False, None, last, padding
        )
        (grad,) = lib.autograd.grad(bags.square().sum(), weight)
        found.append([bags.detach(), grad, *[rows] * (mode == 2)])
    for want, got in zip(*found, strict=True):
        counted = got.numpy() >= 0 if got.dtype is gw.int64 else ...
        np.testing.assert_allclose(got.numpy()[counted], want.numpy()[counted], rtol=1e-6)
    with pytest.raises(RuntimeError, match="`mode` must be"):
        gw.embedding_bag(weight, *given, mode=5)


LAYERS = [
    (name, layers, directions, biases)
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")
    for layers, directions, biases in ((1, 1, True), (2, 2, True), (2, 1, False))
]


def _layers_of(
    name: str, layers: int, directions: int, biases: bool, projected: int = 0
) -> tuple[Any, Any]:
    """The state and the weights of a network of 4 features and 5 hidden ones."""
    gates, width = {"lstm": 4, "gru": 3}.get(name, 1) * 5, projected or 5
    rng = np.random.default_rng(1)
    params: list[Any] = []
    for layer in range(layers):
        for _ in range(directions):
            shapes: list[Any] = [(gates, 4 if layer == 0 else width * directions), (gates, width)]
            shapes += [(gates,), (gates,)] if biases else []
            shapes += [(projected, 5)] if projected else []
            params += [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    hidden, cell = (
        rng.standard_normal((layers * directions, 3, n)).astype(np.float32) for n in (width, 5)
    )
    return ((hidden, cell) if name == "lstm" else hidden), tuple(params)


def _agree(expected: Any, found: Any) -> None:
    for want, got in zip(expected, found, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "layers", "directions", "biases"), LAYERS)
def test_recurrent_layers(name: str, layers: int, directions: int, biases: bool) -> None:
    torch = pytest.importorskip("torch")
    state, params = _layers_of(name, layers, directions, biases)
    options = biases, layers, 0.0, False, directions == 2
    x = np.random.default_rng(2).random((6, 3, 4)).astype(np.float32)
    for batch_first in (False, True):
        given = x.swapaxes(0, 1) if batch_first else x
        _agree(*(
            getattr(lib, name)(*_given(lib, (given, state, params)), *options, batch_first)
            for lib in (torch, gw)
        ))
    sizes = np.array([3, 3, 2, 1])
    _agree(*(
        getattr(lib, name)(*_given(lib, (x.reshape(18, 4)[:9], sizes, state, params)), *options)
        for lib in (torch, gw)
    ))


@pytest.mark.oracle
def test_a_projected_state() -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(2).random((6, 3, 4)).astype(np.float32)
    args = (x, *_layers_of("lstm", 2, 1, True, projected=2))
    options = True, 2, 0.0, False, False, False
    _agree(*(lib.lstm(*_given(lib, args), *options) for lib in (torch, gw)))


def test_recurrent_layers_compile_and_have_gradients() -> None:
    state, params = _given(gw, _layers_of("gru", 2, 1, True))
    x = gw.rand(6, 3, 4, requires_grad=True)

    def loss(x: gw.Tensor) -> gw.Tensor:
        return gw.gru(x, state, params, True, 2, 0.0, False, False, False)[0].sin().sum()

    (want,), (got,) = (gw.autograd.grad(f(x), x) for f in (loss, gw.compile(loss)))
    gw.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError, match="expected 4 parameters"):
        gw.gru(x, state, params[:-1], True, 2, 0.0, False, False, False)


@pytest.mark.parametrize("ndim", [2, 3])
def test_random_windows_tell_their_places(ndim: int) -> None:
    x = gw.rand(1, 2, *(6,) * ndim)
    pool = getattr(gw.nn.functional, f"fractional_max_pool{ndim}d_with_indices")
    values, places = pool(x, 2, output_size=3)
    assert gw.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))


def test_histograms_have_a_hundred_bins() -> None:
    counts, edges = gw.histogram(gw.tensor([1.0, 2.0, 2.0]))
    assert (counts.shape, edges.shape) == ((100,), (101,))
    assert (counts[0].item(), counts[-1].item()) == (1.0, 2.0)


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
