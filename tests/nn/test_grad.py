"""Gradients of convolutions as functions, and PyTorch's names of modules."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import graphwright as gw


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions(dims: int) -> None:
    functions: Any = import_module("graphwright.nn.grad")
    convolve = getattr(gw.nn.functional, f"conv{dims}d")
    x = gw.randn(2, 4, *(5,) * dims, requires_grad=True)
    weight = gw.randn(6, 2, *(3,) * dims, requires_grad=True)
    options = dict(stride=2, padding=1, dilation=1, groups=2)
    out = convolve(x, weight, None, **options)
    by_output = gw.randn(*out.shape)
    by_x, by_weight = gw.autograd.grad(out, (x, weight), by_output)
    found = getattr(functions, f"conv{dims}d_input")(x.shape, weight, by_output, **options)
    gw.testing.assert_close(found, by_x)
    found = getattr(functions, f"conv{dims}d_weight")(x, weight.shape, by_output, **options)
    gw.testing.assert_close(found, by_weight)


@pytest.mark.parametrize(("module", "name"), [
    ("distributions.normal", "Normal"), ("distributions.categorical", "Categorical"),
    ("distributions.studentT", "StudentT"), ("optim.adagrad", "Adagrad"),
    ("optim.asgd", "ASGD"), ("optim.rprop", "Rprop"), ("amp.autocast_mode", "custom_fwd"),
    ("autograd.anomaly_mode", "detect_anomaly"), ("distributions.transforms", "CatTransform"),
])  # fmt: skip
def test_classes_are_found_in_the_modules_where_pytorch_has_them(module: str, name: str) -> None:
    folder = module.partition(".")[0]
    found = getattr(import_module(f"like_torch.{module}"), name)
    assert found is getattr(import_module(f"like_torch.{folder}"), name)
