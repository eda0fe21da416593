"""`quasirandom.SobolEngine`: PyTorch's sequence, and what scrambling keeps of it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import graphwright as gw
from graphwright.quasirandom import SobolEngine

pytest.importorskip("scipy")


def test_the_first_points() -> None:
    engine = SobolEngine(2)
    assert engine.draw(4).tolist() == [[0, 0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    assert engine.num_generated == 4 and engine.draw(dtype=gw.float64).dtype is gw.float64
    assert engine.reset().fast_forward(2).draw(1).tolist() == [[0.75, 0.25]]


@pytest.mark.oracle
@pytest.mark.parametrize("dimension", [1, 3, 40])
def test_points_of_pytorch(dimension: int) -> None:
    torch = pytest.importorskip("torch")
    theirs, ours = torch.quasirandom.SobolEngine(dimension), SobolEngine(dimension)
    for count in (1, 5, 100):
        np.testing.assert_array_equal(ours.draw(count).numpy(), theirs.draw(count).numpy())
    assert repr(ours) == repr(theirs)


def test_scrambled_points_are_as_even() -> None:
    """Of 2 ** 6 points one lies in each 64th of each side; a seed says which."""
    points = SobolEngine(3, scramble=True, seed=5).draw_base2(6, dtype=gw.float64)
    for side in points.T:
        assert sorted((side * 64).long().tolist()) == list(range(64))
    assert gw.equal(points, SobolEngine(3, True, 5).draw(64, dtype=gw.float64))
    assert not gw.equal(points, SobolEngine(3, True, 6).draw(64, dtype=gw.float64))
    gw.manual_seed(1)
    first = SobolEngine(2, True).draw(3)
    gw.manual_seed(1)
    assert gw.equal(SobolEngine(2, True).draw(3), first)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match="Supported range"):
            SobolEngine(dimension)
    engine = SobolEngine(1)
    engine.draw(3)
    with pytest.raises(ValueError, match="power of 2"):
        engine.draw_base2(2)
    monkeypatch.setitem(sys.modules, "scipy.stats.qmc", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        SobolEngine(1)
