"""Adafactor and Muon, against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

SHAPES = {"Adafactor": [(5, 4), (3,), (2, 3, 4), (1,)], "Muon": [(5, 4), (3, 6)]}


def _trained(lib: Any, name: str, options: dict[str, Any]) -> tuple[list[Any], Any]:
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES[name]]
    params = [lib.nn.Parameter(lib.from_numpy(value)) for value in values]
    optimiser = getattr(lib.optim, name)(params, **options)
    for _ in range(5):
        optimiser.zero_grad()
        sum(((p - 0.3) ** 2).sum() + (p * p * p).sum() for p in params).backward()
        optimiser.step()
    return [p.detach().numpy() for p in params], optimiser


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("Adafactor", {}, 1e-5),
        ("Adafactor", {"lr": 0.3, "weight_decay": 0.1, "maximize": True}, 1e-5),
        ("Adafactor", {"eps": (1e-3, 1e-2), "d": 1.5, "beta2_decay": -0.5}, 1e-5),
        ("Muon", {}, 1e-3),
        ("Muon", {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}, 1e-3),
    ],
)
def test_steps_are_pytorchs(name: str, options: dict[str, Any], tolerance: float) -> None:
    torch = pytest.importorskip("torch")
    expected, theirs = _trained(torch, name, options)
    found, ours = _trained(gw, name, options)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    keys = [list(state) for state in ours.state_dict()["state"].values()]
    assert keys == [list(state) for state in theirs.state_dict()["state"].values()]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Adafactor", {"lr": -1.0}),
        ("Adafactor", {"d": 0.5}),
        ("Adafactor", {"beta2_decay": 0.1}),
        ("Muon", {"adjust_lr_fn": "another"}),
    ],
)
def test_options_out_of_range(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"should be|not supported"):
        getattr(gw.optim, name)([gw.zeros(2, 2, requires_grad=True)], **options)


def test_muon_takes_matrices_only() -> None:
    with pytest.raises(ValueError, match="2D parameters"):
        gw.optim.Muon([gw.zeros(3, requires_grad=True)])
