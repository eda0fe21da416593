"""One text, two libraries: models of many kinds agree with PyTorch, eagerly and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

from .zoo import models

pytestmark = pytest.mark.oracle

OURS = models(gw)


def _arrays(kinds: tuple[Any, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    arrays: list[np.ndarray] = []
    for kind in kinds:
        if kind == "tokens":
            tokens = rng.integers(1, 50, (3, 8))
            tokens[0, 6:] = 0
            arrays.append(tokens)
        elif kind == "edges":
            arrays.append(rng.integers(0, 6, (2, 15)))
        else:
            arrays.append(rng.normal(size=kind))
    return arrays


def _same(ours: Any, theirs: Any, what: str) -> None:
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6, atol=1e-9, err_msg=what
    )


@pytest.mark.parametrize("mode", ["eager", "compiled"])
@pytest.mark.parametrize("name", OURS)
def test_outputs_gradients_and_buffers(name: str, mode: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    cls, kinds = OURS[name]
    theirs, ours = models(torch)[name][0]().double(), cls().double()
    assert repr(ours) == repr(theirs)
    state = {k: gw.from_numpy(v.numpy().copy()) for k, v in theirs.state_dict().items()}
    assert ours.load_state_dict(state) == ([], [])
    arrays = _arrays(kinds)
    want = theirs(*(torch.from_numpy(a) for a in arrays))
    (want**2).mean().backward()
    call = gw.compile(ours, fullgraph=True) if mode == "compiled" else ours
    got = call(*(gw.from_numpy(a) for a in arrays))
    (got**2).mean().backward()
    _same(got, want, "output")
    for (path, a), b in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None), path
        if b.grad is not None:
            _same(a.grad, b.grad, path)
    for (path, a), b in zip(ours.named_buffers(), theirs.buffers(), strict=True):
        _same(a, b, path)
