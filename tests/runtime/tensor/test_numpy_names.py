"""NumPy's names of parameters, `axis=` for `dim=` and `keepdims=` for `keepdim=`, are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops.table import TABLE

CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (lambda x: x.sum(axis=1, keepdims=True), lambda x: x.sum(1, True)),
    "sum of a function": (lambda x: gw.sum(x, axis=(0, 2)), lambda x: gw.sum(x, (0, 2))),
    "sum of all": (lambda x: x.sum(axis=None, keepdims=True), lambda x: x.sum(keepdim=True)),
    "mean": (lambda x: gw.mean(x, axis=-1, keepdims=False), lambda x: gw.mean(x, -1)),
    "std": (lambda x: x.std(axis=1, correction=0), lambda x: x.std(1, correction=0)),
    "max": (lambda x: x.max(axis=1, keepdims=True)[0], lambda x: x.max(1, keepdim=True)[0]),
    "argmax": (lambda x: x.argmax(axis=2), lambda x: x.argmax(2)),
    "softmax": (lambda x: x.softmax(axis=-1), lambda x: x.softmax(-1)),
    "cumsum": (lambda x: gw.cumsum(x, axis=1), lambda x: gw.cumsum(x, 1)),
    "squeeze": (lambda x: x[:1].squeeze(axis=0), lambda x: x[0]),
    "unsqueeze": (lambda x: x.unsqueeze(axis=1), lambda x: x[:, None]),
    "concatenate": (lambda x: gw.concatenate([x, x], axis=1), lambda x: gw.cat([x, x], 1)),
    "stack": (lambda x: gw.stack([x, x], axis=1), lambda x: gw.stack([x, x], 1)),
    "split": (lambda x: x.split(2, axis=2)[1], lambda x: x.split(2, 2)[1]),
    "index_select": (
        lambda x: x.index_select(axis=2, index=gw.tensor([1, 0])),
        lambda x: x[:, :, [1, 0]],
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_values(name: str, compiled: bool) -> None:
    given, expected = CALLS[name]
    x = gw.rand(2, 3, 4)
    call = gw.compile(given, fullgraph=True) if compiled else given
    np.testing.assert_allclose(call(x).numpy(), expected(x).numpy(), rtol=1e-6)


def test_both_names_are_refused() -> None:
    x = gw.rand(2, 3)
    with pytest.raises(TypeError, match="both 'dim' and 'axis'"):
        x.sum(dim=0, axis=0)
    with pytest.raises(TypeError, match="both 'keepdim' and 'keepdims'"):
        x.sum(0, True, keepdims=True)
    with pytest.raises(TypeError):
        x.sum(0, True, 1)


def test_what_is_required_stays_required() -> None:
    x = gw.rand(2, 3)
    for call in (
        lambda: x.softmax(),
        lambda: x.index_select(0),
        lambda: x.narrow(0, 1),
        lambda: gw.unflatten(x, axis=0),
        lambda: gw.cumsum(x),
    ):
        with pytest.raises(TypeError):
            call()


def test_gradients_flow() -> None:
    x = gw.rand(2, 3, requires_grad=True)
    (x.sum(axis=0) * gw.tensor([1.0, 2.0, 3.0])).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[1, 2, 3], [1, 2, 3]])


@pytest.mark.parametrize("name", ["softmax", "scatter", "index_add", "renorm", "select"])
def test_missing_arguments_are_named(name: str) -> None:
    call = TABLE[name].call
    with pytest.raises(TypeError, match="missing"):
        call(gw.rand(2, 3))
