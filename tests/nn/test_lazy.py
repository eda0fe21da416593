"""Lazy modules: sizes from the first input."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn.lazy import LazyModuleMixin

CASES = {
    "LazyLinear": ((5,), (2, 3), nn.Linear),
    "LazyConv1d": ((5, 3), (2, 3, 9), nn.Conv1d),
    "LazyConv2d": ((5, 3), (2, 3, 9, 9), nn.Conv2d),
    "LazyConv3d": ((5, 3), (2, 3, 5, 5, 5), nn.Conv3d),
    "LazyConvTranspose1d": ((5, 3), (2, 3, 9), nn.ConvTranspose1d),
    "LazyConvTranspose2d": ((5, 3), (2, 3, 9, 9), nn.ConvTranspose2d),
    "LazyConvTranspose3d": ((5, 3), (2, 3, 4, 4, 4), nn.ConvTranspose3d),
    "LazyBatchNorm1d": ((), (4, 3), nn.BatchNorm1d),
    "LazyBatchNorm2d": ((), (4, 3, 5, 5), nn.BatchNorm2d),
    "LazyBatchNorm3d": ((), (4, 3, 2, 2, 2), nn.BatchNorm3d),
    "LazyInstanceNorm1d": ((), (4, 3, 6), nn.InstanceNorm1d),
    "LazyInstanceNorm2d": ((), (4, 3, 5, 5), nn.InstanceNorm2d),
    "LazyInstanceNorm3d": ((), (4, 3, 2, 2, 2), nn.InstanceNorm3d),
}


@pytest.mark.parametrize("name", CASES)
def test_becomes_the_ordinary_layer_at_the_first_call(name: str) -> None:
    args, shape, cls = CASES[name]
    layer = getattr(nn, name)(*args)
    assert type(layer).__name__ == name
    out = layer(gw.randn(*shape))
    assert type(layer) is cls
    # A lazy instance norm has weights and running statistics unless told otherwise.
    options = dict.fromkeys(("affine", "track_running_stats"), True)
    ordinary = cls(3, *args, **(options if "InstanceNorm" in name else {}))
    assert repr(layer) == repr(ordinary)
    assert {k: v.shape for k, v in layer.state_dict().items()} == {
        k: v.shape for k, v in ordinary.state_dict().items()
    }
    ordinary.load_state_dict(layer.state_dict())
    assert ordinary(gw.randn(*shape)).shape == out.shape
    assert not layer._hooked


def test_sizes_from_a_state_dict() -> None:
    layer = nn.LazyLinear(5)
    assert layer.has_uninitialized_params()
    layer.load_state_dict(nn.Linear(3, 5).state_dict())
    assert layer.weight.shape == (5, 3)
    assert layer(gw.randn(2, 3)).shape == (2, 5)
    assert type(layer) is nn.Linear


def test_what_is_refused() -> None:
    layer = nn.LazyLinear(5)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        layer.weight.shape  # noqa: B018
    with pytest.raises(RuntimeError, match=r"Expected 3D .* or 4D .* input to LazyConv2d"):
        nn.LazyConv2d(4, 3)(gw.randn(2, 3))


def test_a_lazy_module_of_ones_own() -> None:
    class Pairwise(LazyModuleMixin):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.UninitializedParameter()

        def initialize_parameters(self, x: Any) -> None:
            self.weight.materialize((x.shape[-1],))
            with gw.no_grad():
                self.weight.fill_(2.0)

        def forward(self, x: gw.Tensor) -> gw.Tensor:
            return x * self.weight

    assert Pairwise()(gw.ones(2)).tolist() == [2.0, 2.0]
