"""Checkpointing: the same gradients, less memory, the same random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    get_device_states,
    set_checkpoint_early_stop,
    set_device_states,
)


def _net(dropout: float = 0.5) -> nn.Module:
    gw.manual_seed(1)
    layers = [nn.Linear(8, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 8), nn.GELU()]
    return nn.Sequential(*layers)


def _gradients(net: nn.Module, x: Any, run: Any) -> list[np.ndarray]:
    for tensor in (x, *net.parameters()):
        tensor.grad = None
    gw.manual_seed(7)
    out = run(x)
    (out * out).sum().backward()
    return [t.grad.numpy().copy() for t in (x, *net.parameters())] + [gw.rand(3).numpy()]


@pytest.mark.parametrize("reentrant", [False, True])
def test_same_gradients_and_random_numbers(reentrant: bool) -> None:
    net = _net()
    x = gw.randn(4, 8, requires_grad=True)
    plain = _gradients(net, x, net)
    saved = _gradients(net, x, lambda v: checkpoint(net, v, use_reentrant=reentrant))
    parts = _gradients(
        net, x, lambda v: checkpoint_sequential(net, 2, v, use_reentrant=reentrant)
    )
    for a, b, c in zip(plain, saved, parts, strict=True):
        assert np.array_equal(a, b) and np.array_equal(a, c)


def test_other_random_numbers_without_the_state() -> None:
    net = _net()
    x = gw.randn(4, 8, requires_grad=True)
    plain = _gradients(net, x, net)
    other = _gradients(
        net, x, lambda v: checkpoint(net, v, use_reentrant=False, preserve_rng_state=False)
    )
    assert not np.array_equal(plain[0], other[0])



def test_nothing_is_kept_but_the_arguments() -> None:
    seen: list[int] = []

    def block(x: Any) -> Any:
        for _ in range(10):
            x = (x * 1.01).tanh()
        return x

    count = [0]

    def pack(tensor: Any) -> Any:
        count[0] += tensor.numel()
        return tensor

    x = gw.randn(1000, requires_grad=True)
    with gw.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        block(x)
        seen.append(count[0])
        count[0] = 0
        y = checkpoint(block, x, use_reentrant=False)
        seen.append(count[0])
    y.sum().backward()
    assert seen[0] >= 10_000 and seen[1] == 0


def test_double_backward_retain_and_keywords() -> None:
    def power(x: Any, *, n: int) -> Any:
        return x**n

    x = gw.tensor([2.0], dtype=gw.float64, requires_grad=True)
    y = checkpoint(power, x, n=3, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    assert x.grad.item() == 24.0
    (first,) = gw.autograd.grad(y, x, create_graph=True)
    (second,) = gw.autograd.grad(first, x)
    assert second.item() == 12.0


def test_only_what_is_needed_runs_again() -> None:
    calls: list[str] = []

    def block(x: Any) -> Any:
        calls.append("start")
        y = x.exp()
        calls.append("middle")
        y = y.sin()
        calls.append("end")
        return y

    x = gw.ones(2, requires_grad=True)
    checkpoint(block, x, use_reentrant=False).sum().backward()
    assert calls == ["start", "middle", "end", "start", "middle"]
    calls.clear()
    checkpoint(block, x, use_reentrant=False, early_stop=False).sum().backward()
    assert calls == ["start", "middle", "end"] * 2
    for enabled, rest in ((True, ["start", "middle"]), (False, ["start", "middle", "end"])):
        calls.clear()
        with set_checkpoint_early_stop(enabled):
            out = checkpoint(block, x, use_reentrant=False, early_stop=not enabled)
        out.sum().backward()
        assert calls == ["start", "middle", "end", *rest]


def test_nested_and_in_no_grad() -> None:
    net = _net(0.0)

    def inner(x: Any) -> Any:
        return checkpoint(net, x, use_reentrant=False).sin()

    x = gw.randn(2, 8, requires_grad=True)
    plain = _gradients(net, x, lambda v: net(v).sin())
    nested = _gradients(net, x, lambda v: checkpoint(inner, v, use_reentrant=False))
    for a, b in zip(plain, nested, strict=True):
        assert np.array_equal(a, b)
    with gw.no_grad():
        assert not checkpoint(net, x, use_reentrant=False).requires_grad


def test_contexts() -> None:
    seen: list[str] = []

    @contextmanager
    def note(what: str) -> Iterator[None]:
        seen.append(what)
        yield

    x = gw.ones(2, requires_grad=True)
    y = checkpoint(
        lambda v: v.exp(),
        x,
        use_reentrant=False,
        context_fn=lambda: (note("forward"), note("again")),
    )
    y.sum().backward()
    assert seen == ["forward", "again"]


def test_a_forward_that_changes_is_refused() -> None:
    sizes = iter([2, 3])

    def block(x: Any) -> Any:
        return (x[: next(sizes)] * x[:1]).exp().sum()

    x = gw.ones(4, requires_grad=True)
    y = checkpoint(block, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.backward()


def test_refused() -> None:
    x = gw.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="Unexpected keyword"):
        checkpoint(lambda v, n: v * n, x, n=3, use_reentrant=True)
    for call, message in (
        (lambda: checkpoint(lambda v: v * 2, x), "use_reentrant parameter should be passed"),
        (lambda: checkpoint_sequential([gw.sin], 1, x), "use_reentrant parameter should be"),
        (lambda: checkpoint(lambda v: v * 2, gw.ones(2), use_reentrant=True),
         "None of the inputs have requires_grad"),
    ):
        with pytest.warns(UserWarning, match=message) as found:
            call()
        assert found[0].filename == __file__
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(lambda v: v, x, use_reentrant=False, determinism_check="no")


def test_in_a_compiled_function() -> None:
    net = _net()

    def loss(x: Any) -> Any:
        return (checkpoint(net, x.sin(), use_reentrant=False) * 2).sum()

    found = []
    for function in (loss, gw.compile(loss)):
        x = gw.ones(4, 8, requires_grad=True)
        gw.manual_seed(3)
        value = function(x)
        value.backward()
        found.append([value.detach().numpy(), x.grad.numpy()])
    for eager, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-5)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_autocast_is_that_of_the_first_forward(use_reentrant: bool) -> None:
    seen: list[bool] = []

    def product(x: Any) -> Any:
        result = x @ x.t()
        seen.append(result.dtype is gw.bfloat16)
        return result.sin()

    x = gw.ones(2, 3, requires_grad=True)
    with gw.autocast("cpu", dtype=gw.bfloat16):
        result = checkpoint(product, x, use_reentrant=use_reentrant)
    assert not gw.is_autocast_enabled("cpu")
    result.sum().backward()
    assert seen == [True, True] and not gw.is_autocast_enabled("cpu")


def test_tensors_of_the_cpu_have_no_states_of_gpus() -> None:
    devices, states = get_device_states(gw.ones(2), 3)
    assert (devices, states) == ([], [])
    set_device_states(devices, states)
    if not gw.cuda.is_available():
        with pytest.raises(AssertionError, match="no CUDA devices"):
            set_device_states([0], [gw.ones(2)])
