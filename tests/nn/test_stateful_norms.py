"""Running statistics: what training and evaluation do to them, eagerly and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn

MODULES = [
    (lambda: nn.BatchNorm1d(4), (6, 4)),
    (lambda: nn.BatchNorm1d(4, momentum=0.3), (6, 4, 5)),
    (lambda: nn.BatchNorm2d(4, affine=False), (3, 4, 2, 2)),
    (lambda: nn.BatchNorm3d(4), (3, 4, 2, 2, 2)),
    (lambda: nn.InstanceNorm2d(4, track_running_stats=True), (3, 4, 2, 2)),
]


@pytest.mark.parametrize(("make", "shape"), MODULES)
@pytest.mark.parametrize("training", [True, False])
def test_compiled_as_eager(make: Any, shape: tuple[int, ...], training: bool) -> None:
    eager, compiled = make().train(training), make().train(training)
    run = gw.compile(compiled, fullgraph=True)
    for step in range(3):
        gw.manual_seed(step)
        x = gw.randn(*shape) * 2 + 1
        np.testing.assert_allclose(
            eager(x).detach().numpy(), run(x).detach().numpy(), rtol=1e-5, atol=1e-5
        )
    for name, value in eager.state_dict().items():
        other = compiled.state_dict()[name]
        np.testing.assert_allclose(value.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)
    assert not any(buffer.requires_grad for buffer in compiled.buffers())


def test_cumulative_average_of_batches() -> None:
    norm = nn.BatchNorm1d(2, momentum=None)
    batches = [gw.randn(8, 2) for _ in range(4)]
    for batch in batches:
        norm(batch)
    want = np.mean([b.numpy().mean(0) for b in batches], axis=0)
    np.testing.assert_allclose(norm.running_mean.numpy(), want, rtol=1e-5, atol=1e-6)
    assert norm.num_batches_tracked.item() == 4


def test_evaluation_leaves_the_statistics() -> None:
    norm = nn.BatchNorm2d(3).eval()
    norm(gw.randn(2, 3, 4, 4))
    assert norm.num_batches_tracked.item() == 0
    assert (norm.running_mean == 0).all().item()


def test_an_empty_batch_changes_nothing() -> None:
    norm = nn.BatchNorm1d(3)
    assert norm(gw.zeros(0, 3)).shape == (0, 3)
    assert (norm.running_var == 1).all().item()
