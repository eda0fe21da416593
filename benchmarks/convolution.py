"""Convolution and pooling: eager steps, forward and backward, against sgemm and PyTorch.

The unit of convolution is the time that this machine's own single precision matrix product
(1024 x 1024, all threads), measured in turns with it, takes for as many operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import graphwright as gw
from benchmarks import peers
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns

SIZE = 1024

# name: most times sgemm's time, input, weight, stride, padding, groups
LAYERS: dict[str, tuple[float | None, tuple[int, ...], tuple[int, ...], int, int, int]] = {
    "conv2d 1x64x56x56, 3x3": (2.0, (1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    "conv2d 8x64x56x56, 3x3": (2.0, (8, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    "conv2d 1x256x56x56, 1x1": (2.0, (1, 256, 56, 56), (64, 256, 1, 1), 1, 0, 1),
    "conv2d 1x3x224x224, 7x7, stride 2": (None, (1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    "conv2d 8x96x56x56, 3x3, depthwise": (None, (8, 96, 56, 56), (96, 1, 3, 3), 1, 1, 96),
}


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def steps(
    lib: Any, x: Any, w: Any, grad: Any, options: dict[str, int]
) -> dict[str, Callable[[], object]]:
    """The forward pass, and forward and backward together."""
    convolve = lib.nn.functional.conv2d
    leaves = [t.detach().clone().requires_grad_() for t in (x, w)]

    def train() -> object:
        out = convolve(*leaves, **options)
        return lib.autograd.grad(out, leaves, grad)

    return {"forward": lambda: convolve(x, w, **options), "both": train}


def check(x: np.ndarray, w: np.ndarray, options: dict[str, int], out: np.ndarray) -> None:
    """One output position of every channel against its definition in float64."""
    stride, pad, groups = options["stride"], options["padding"], options["groups"]
    padded = np.pad(x[0].astype(np.float64), ((0, 0), (pad, pad), (pad, pad)))
    row, column = out.shape[2] // 2, out.shape[3] // 3
    box = padded[:, row * stride : row * stride + w.shape[2],
                 column * stride : column * stride + w.shape[3]]  # fmt: skip
    parts = np.split(box, groups)
    kernels = np.split(w.astype(np.float64), groups)
    expected = np.concatenate(
        [np.einsum("oiyx,iyx->o", k, p) for k, p in zip(kernels, parts, strict=True)]
    )
    if not np.allclose(out[0, :, row, column], expected, rtol=1e-4, atol=1e-4):
        raise Wrong("conv2d differs from its definition")


def run_layer(name: str) -> list[Result]:
    """Forward in times of sgemm; forward and backward in times of PyTorch."""
    target, x_shape, w_shape, stride, padding, groups = LAYERS[name]
    options = {"stride": stride, "padding": padding, "groups": groups}
    x, w = random(*x_shape), random(*w_shape)
    ours = [gw.from_numpy(a) for a in (x, w)]
    out = gw.nn.functional.conv2d(*ours, **options)
    check(x, w, options, out.numpy())
    grad = random(*out.shape)
    square = gw.from_numpy(random(SIZE, SIZE))
    cases = steps(gw, *ours, gw.from_numpy(grad), options)
    timings = in_turns({"sgemm": lambda: square @ square, **cases}, seconds=0.7)
    theirs: dict[str, Any] = {}
    torch = peers.torch()
    if torch is not None:
        tensors = [torch.from_numpy(a) for a in (x, w, grad)]
        theirs = peers.in_turns(steps(torch, *tensors, options))
    each = timings["sgemm"].median / (2 * SIZE**3)
    unit = each * 2 * math.prod(out.shape) * math.prod(w_shape[1:])
    ratios = {"torch eager": theirs["forward"].median / unit} if theirs else {}
    results = [
        Result("convolution", name, "x sgemm", target, timings["forward"].median / unit, ratios,
               f"sgemm: {1e-9 / each:.0f} Gflop/s", timings["forward"].spread)
    ]
    if theirs:
        ratio = timings["both"].median / theirs["both"].median
        results.append(Result("convolution", f"{name}, with gradients", "x torch eager", 1.5,
                              ratio, {"torch eager": 1.0}, spread=timings["both"].spread))
    return results


def run() -> list[Result]:
    """All layers."""
    results = []
    for name, layer in LAYERS.items():
        try:
            results += run_layer(name)
        except Wrong as wrong:
            results.append(
                Result("convolution", name, "x sgemm", layer[0], None, note=str(wrong))
            )
    return results
