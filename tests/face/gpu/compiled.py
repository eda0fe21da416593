"""Compiled functions on the simulated GPU beside the CPU, and how they ran."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import graphwright as gw
from graphwright.runtime.cuda import fallbacks

from .compared import tensors

SEED = 11


class Run(NamedTuple):
    """What a function left behind on a device: results, the gradients of inputs and parameters,
    inputs and buffers as they are now, and the counts of `gw.compiler.stats`."""

    results: list[Any]
    gradients: list[Any]
    left: list[Any]
    stats: Any


def moved(value: Any, device: str) -> Any:
    """Copies of the tensors in a value on a device: leaves, which need gradients where they do."""
    if isinstance(value, gw.Tensor):
        return value.detach().clone().to(device).requires_grad_(value.requires_grad)
    return type(value)(moved(part, device) for part in value) if isinstance(
        value, tuple | list) else value


def trained(value: Any) -> Any:
    """Floating-point tensors as leaves that require gradients."""
    if isinstance(value, gw.Tensor):
        copy = value.detach().clone()
        return copy.requires_grad_() if copy.dtype.is_floating_point else copy
    return type(value)(map(trained, value)) if isinstance(value, tuple | list) else value


def backward(results: Sequence[Any]) -> None:
    """Gradients of sums of the results with fixed weights."""
    draws = np.random.default_rng(5)
    losses = [
        (x * gw.from_numpy(draws.standard_normal(tuple(x.shape)).astype("f4")).to(x)).sum()
        for x in results if x.requires_grad]
    if losses:
        sum(losses[1:], losses[0]).backward()


def run(function: Callable[..., Any], inputs: Any, device: str, calls: int = 1,
        **options: Any) -> Run:
    """Call a compiled function, or module, on a device; gradients where inputs require them."""
    gw.compiler.reset()
    given = moved(inputs, device)
    module = function if isinstance(function, gw.nn.Module) else None
    if module is not None:
        function = module = module.to(device)
    compiled = gw.compile(function, **options)
    gw.manual_seed(SEED)
    for _ in range(calls):
        results = tensors(compiled(*given))
    backward(results)
    leaves = [x for x in tensors(given) if x.requires_grad]
    parameters = [] if module is None else list(module.parameters())
    buffers = [] if module is None else list(module.buffers())
    return Run(results, [x.grad for x in (*leaves, *parameters)], [*tensors(given), *buffers],
               gw.compiler.stats(compiled))


def alike(
    function: Callable[..., Any], *inputs: Any, gpu: Any, tolerance: float = 3e-6,
    device: str = "cuda", calls: int = 1, **options: Any
) -> Any:
    """Assert that a compiled function leaves the same behind on a GPU as on the CPU, as one graph
    without a graph break, of which no op ran on the CPU; its counts on the GPU.

    function: of the tensors in `inputs`; or makes a module, which is given them.
    """
    def fresh() -> Any:
        gw.manual_seed(SEED)
        return function() if isinstance(function, type) else function

    here = run(fresh(), inputs, "cpu", calls, **options)
    fallbacks.clear()
    there = run(fresh(), inputs, device, calls, **options)
    assert fallbacks.counts() == {}
    assert_equal_runs(there, here, tolerance)
    stats = there.stats
    assert (stats.graphs, stats.breaks, stats.fallbacks, stats.recompiles) == (1, 0, 0, 0)
    assert not gpu.faults
    return stats


def assert_equal_runs(there: Run, here: Run, tolerance: float) -> None:
    """Assert equal results, gradients and states; tolerance: relative to the greatest of a tensor,
    of gradients to the greatest of all, and 0 for equal bits."""
    for got, want in zip(there[:3], here[:3], strict=True):
        assert len(got) == len(want)
    slope = max([float(g.abs().max()) for g in here.gradients if g is not None and g.numel()],
                default=0.0)
    for got, want in zip(there.gradients, here.gradients, strict=True):
        assert (got is None) == (want is None)
        if got is not None:
            assert_equal(got, want, 10 * tolerance, slope)
    for got, want in zip([*there.results, *there.left], [*here.results, *here.left], strict=True):
        assert_equal(got, want, tolerance)


def assert_equal(got: Any, want: Any, tolerance: float, scale: float = 0.0) -> None:
    """Assert equal tensors, the first of them on a GPU; see `assert_equal_runs`."""
    assert got.is_cuda
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert got.stride() == want.stride()
    a, b = got.detach().cpu(), want.detach()
    if tolerance == 0 or not b.dtype.is_floating_point:
        bits = [x.contiguous().numpy().tobytes() for x in (a, b)]
        assert bits[0] == bits[1]
        return
    left, right = a.double().numpy(), b.double().numpy()
    scale = max(scale, np.abs(right[np.isfinite(right)]).max(initial=1e-30))
    np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance * scale)
