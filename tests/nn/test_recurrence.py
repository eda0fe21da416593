"""The op that runs all steps of a recurrent layer, against its steps one by one."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.autograd import gradcheck, gradgradcheck
from graphwright.nn.layers import rnn_steps
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.sequences.recurrent_cells import GATES

MODES = list(GATES)


def _inputs(mode: str, bias: bool, steps: int = 3, batch: int = 2, size: int = 3) -> list[Any]:
    """Gates, hidden state, cell, weights and bias; None for what there is not."""
    wide = GATES[mode] * size
    shapes = [
        (steps, batch, wide),
        (batch, size),
        (batch, size) if mode == "LSTM" else None,
        (wide, size),
        (wide,) if bias else None,
    ]
    return [
        None if s is None else gw.randn(s, dtype=gw.float64).requires_grad_() for s in shapes
    ]


def _one_by_one(mode: str, gates: Any, hidden: Any, cell: Any, weight: Any, bias: Any) -> Any:
    state: Any = (hidden, cell) if mode == "LSTM" else (hidden,)
    outputs = []
    for step in gates.unbind(0):
        state = rnn_steps.step(mode, step, state, weight, bias, None)
        outputs.append(state[0])
    return gw.stack(outputs), state[-1]


def _at_once(mode: str, *inputs: Any) -> Any:
    out, cells, _ = ops.recurrence(mode, *inputs)
    return out, (cells if mode == "LSTM" else out)[-1]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_values_and_gradients(mode: str, bias: bool) -> None:
    gw.manual_seed(0)
    inputs = _inputs(mode, bias, steps=5, batch=4, size=6)
    leaves = [t for t in inputs if t is not None]
    found = []
    for run in (_one_by_one, _at_once):
        out, last = run(mode, *inputs)
        loss = out.sin().sum() + last.cos().sum()
        found.append((out, last, *gw.autograd.grad(loss, leaves)))
    for one, whole in zip(*found, strict=True):
        gw.testing.assert_close(whole, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_finite_differences(mode: str) -> None:
    gw.manual_seed(0)
    inputs = _inputs(mode, bias=True)
    leaves = [t for t in inputs if t is not None]

    def run(*values: Any) -> Any:
        given = iter(values)
        return _at_once(mode, *(None if t is None else next(given) for t in inputs))

    assert gradcheck(run, leaves)
    assert gradgradcheck(run, leaves)


@pytest.mark.parametrize("mode", MODES)
def test_layouts_and_sizes(mode: str) -> None:
    gates, hidden, cell, weight, bias = _inputs(mode, True, steps=4, batch=3, size=5)
    want = _at_once(mode, gates, hidden, cell, weight, bias)
    turned = gates.transpose(0, 1).contiguous().transpose(0, 1)
    got = _at_once(mode, turned, hidden, cell, weight.t().contiguous().t(), bias)
    assert all(gw.equal(a, b) for a, b in zip(got, want, strict=True))
    empty = _inputs(mode, True, batch=0)
    assert tuple(_at_once(mode, *empty)[0].shape) == (3, 0, 3)


def _layer(mode: str, steps: int, batch: int, width: int, size: int) -> dict[str, Any]:
    """All that the op reads of a layer, float32."""
    wide = GATES[mode] * size
    shapes = {
        "input": (steps, batch, width), "hidden": (batch, size), "cell": (batch, size),
        "weight": (wide, size), "bias": (wide,), "input_weight": (wide, width),
        "input_bias": (wide,),
    }
    made = {name: gw.randn(shape) / shape[-1] ** 0.5 for name, shape in shapes.items()}
    return made if mode == "LSTM" else {**made, "cell": None}


@pytest.mark.parametrize("mode", MODES)
def test_float32_against_steps_in_float64(mode: str) -> None:
    """Packed or not, in tiles of any height, however many threads share the rows."""
    gw.manual_seed(0)
    for batch, size, steps in ((1, 1, 64), (1, 128, 3), (2, 7, 2), (3, 16, 5), (16, 100, 4),
                               (64, 33, 2), (130, 64, 1)):
        given = _layer(mode, steps, batch, 9, size)
        exact: Any = {name: None if t is None else t.double() for name, t in given.items()}
        share = gw.nn.functional.linear(exact.pop("input"), exact.pop("input_weight"))
        share = share + exact.pop("input_bias")
        for reverse in (False, True):
            turned = share.flip(0) if reverse else share
            want, last = _one_by_one(mode, turned, *exact.values())
            found = []
            for threads in (1, 2):
                before = gw.set_num_threads(threads)
                out, cells, _ = ops.recurrence(mode, **given, reverse=reverse, save=False)
                gw.set_num_threads(before)
                found.append(out)
            assert gw.equal(*found)
            gw.testing.assert_close(out.double(), want.flip(0) if reverse else want,
                                    rtol=1e-5, atol=2e-6)
            if mode == "LSTM":
                gw.testing.assert_close(cells[0].double(), last, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("save", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_a_whole_layer(mode: str, reverse: bool, save: bool) -> None:
    """Where nothing was saved for backward, it is computed again."""
    gw.manual_seed(0)
    given: Any = {name: None if t is None else t.double().requires_grad_()
                  for name, t in _layer(mode, 3, 2, 4, 3).items()}
    leaves = [t for t in given.values() if t is not None]

    def run(*values: Any) -> Any:
        some = iter(values)
        read: Any = {name: None if t is None else next(some) for name, t in given.items()}
        out, cells, _ = ops.recurrence(mode, **read, reverse=reverse, save=save)
        return (out, cells[0 if reverse or not save else -1]) if mode == "LSTM" else out

    assert gradcheck(run, leaves)
    assert not reverse or gradgradcheck(run, leaves)


def test_what_inference_does_not_read_is_not_saved() -> None:
    read = _layer("LSTM", 5, 2, 4, 3)
    shapes = [tuple(t.shape) for t in ops.recurrence("LSTM", **read, save=False)]
    assert shapes == [(5, 2, 3), (1, 2, 3), (0,)]


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_compiled_layer_is_one_routine_on_packed_weights(kind: str) -> None:
    """Of both directions, whichever dim has the batch, with other weights in a later call."""
    gw.manual_seed(0)
    model = getattr(gw.nn, kind)(40, 32, batch_first=True, bidirectional=True)
    compiled = gw.compile(model, fullgraph=True)
    x = gw.randn(3, 6, 40)
    with gw.no_grad():
        for _ in range(3):
            gw.testing.assert_close(compiled(x)[0], model(x)[0])
            for weight in model.parameters():
                weight.mul_(0.5)
        explained = gw.explain(model)(x)
    assert explained.stats.graphs == 1
    assert str(explained).count("4 packed weights") == 1, str(explained)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_compiled_it_is_one_step_forward_and_one_backward(kind: str) -> None:
    """However long the sequences are, there is no more to compile."""
    gw.manual_seed(0)
    model = getattr(gw.nn, kind)(3, 4).double()
    compiled = gw.compile(model, fullgraph=True)
    for steps in (4, 9, 30):
        x = gw.randn(steps, 2, 3, dtype=gw.float64, requires_grad=True)
        results = []
        for run in (model, compiled):
            out = run(x)[0]
            results.append((out, *gw.autograd.grad(out.sum(), [x, *model.parameters()])))
        for got, want in zip(*results, strict=True):
            gw.testing.assert_close(got, want)
    assert gw.compiler.stats(compiled).graphs == 2


def test_tensors_that_do_not_fit_are_refused() -> None:
    x, state, weight = gw.zeros(2, 3, 4), gw.zeros(3, 4), gw.zeros(4, 4)
    ops.recurrence("RNN_TANH", x, state, None, weight, None)
    for mode, *wrong in (
        ("GRU", x, state, None, weight),
        ("RNN_TANH", x[0], state, None, weight),
        ("RNN_TANH", x, state[:2], None, weight),
        ("RNN_TANH", x, state, None, weight[0]),
        ("RNN_TANH", x, state, None, weight[::2]),
        ("RNN_TANH", x, state.double(), None, weight),
        ("LSTM", x, state[:, :1], None, weight[:, :1]),
    ):
        with pytest.raises(ValueError, match=r"recurrence\(\): .* must be"):
            ops.recurrence(mode, *wrong, None)


@pytest.mark.parametrize("name", ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"])
def test_parameters_that_do_not_fit_are_refused(name: str) -> None:
    layer = gw.nn.LSTM(6, 5)
    setattr(layer, name, gw.nn.Parameter(gw.ones(*(21, 6, 5)[:getattr(layer, name).ndim])))
    for run in (layer, gw.compile(layer)):
        with pytest.raises(ValueError, match="of a LSTM must be"):
            run(gw.ones(3, 2, 6))
