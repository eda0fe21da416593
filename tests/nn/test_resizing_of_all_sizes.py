"""Resizing compiled for symbolic sizes: one graph, the same numbers and gradients."""

from __future__ import annotations

import pytest

import graphwright as gw


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_one_graph_for_all_sizes(mode: str) -> None:
    def doubled(images: gw.Tensor) -> gw.Tensor:
        return gw.nn.functional.interpolate(images, scale_factor=2.0, mode=mode)

    compiled = gw.compile(doubled, dynamic=True)
    for size in (4, 5, 7):
        images = gw.randn(1, 2, size, size + 1, requires_grad=True)
        assert gw.allclose(compiled(images), doubled(images), atol=1e-6)
        (ours,) = gw.autograd.grad(compiled(images).square().sum(), images)
        (theirs,) = gw.autograd.grad(doubled(images).square().sum(), images)
        assert gw.allclose(ours, theirs, atol=1e-4)
    assert gw.compiler.stats(compiled).recompiles == 0
