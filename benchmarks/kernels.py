"""Fused kernels against a copy of the same bytes.

A copy means our own vectorised copy on the same threads into warm, reused pages; the kernels
allocate their output in each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

import graphwright as gw
from benchmarks import peers
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns
from graphwright.runtime import _core


def chain(lib: Any, x: Any, y: Any) -> Any:
    """Eight pointwise operations, exp, tanh and sigmoid among them."""
    a = lib.exp(x * 0.5) + y
    b = lib.tanh(a) * 1.5
    return lib.sigmoid(b - x) * a


def chain_reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a = np.exp(x * 0.5) + y
    return expit(np.tanh(a) * 1.5 - x) * a


def softmax(lib: Any, x: Any) -> Any:
    return lib.softmax(x, dim=-1)


def softmax_reference(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(lib: Any, x: Any, w: Any, b: Any) -> Any:
    return lib.nn.functional.layer_norm(x, (x.shape[-1],), w, b, 1e-5)


def layer_norm_reference(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * w + b


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


CASES: list[tuple[str, float, Callable[..., Any], Callable[..., np.ndarray], list[np.ndarray]]] = [
    ("8 pointwise ops with exp, tanh, sigmoid; 4 M float32", 2.5, chain, chain_reference,
     [random(4 << 20), random(4 << 20)]),
    ("softmax 4096x1024", 2.0, softmax, softmax_reference, [random(4096, 1024)]),
    ("layer norm 4096x1024", 2.0, layer_norm, layer_norm_reference,
     [random(4096, 1024), random(1024), random(1024)]),
]


def copier(arrays: list[np.ndarray], output: np.ndarray) -> Callable[[], None]:
    """A copy that moves as many bytes as the kernel reads and writes, pages warm."""
    moved = sum(a.nbytes for a in arrays) + output.nbytes
    source = np.ones(moved // 8, np.float32)
    target = np.empty_like(source)
    return lambda: _core.copy_bytes(target, source)


def check(result: np.ndarray, reference: np.ndarray, name: str) -> None:
    if not np.allclose(result, reference, rtol=2e-5, atol=2e-6):
        worst = np.abs(result - reference).max()
        raise Wrong(f"{name}: largest error {worst:.2e}")


def torch_cases(function: Callable[..., Any], arrays: list[np.ndarray]) -> dict[str, Any]:
    torch = peers.torch()
    if torch is None:
        return {}
    tensors = [torch.from_numpy(a) for a in arrays]
    cases = {"torch eager": lambda: function(torch, *tensors)}
    if peers.torch_compiles():
        compiled = torch.compile(lambda *args: function(torch, *args))
        compiled(*tensors)
        cases["torch.compile"] = lambda: compiled(*tensors)
    return cases


def jax_cases(function: Callable[..., Any], arrays: list[np.ndarray]) -> dict[str, Any]:
    jax, functions = peers.jax(), peers.jax_functions()
    if jax is None:
        return {}
    values = [jax.numpy.asarray(a) for a in arrays]
    jitted = jax.jit(lambda *args: function(functions, *args))
    return {"JAX jit": lambda: jitted(*values).block_until_ready()}


def run_case(
    name: str, target: float, function: Callable[..., Any],
    reference: Callable[..., np.ndarray], arrays: list[np.ndarray],
) -> Result:
    compiled = gw.compile(lambda *args: function(gw, *args))
    tensors = [gw.from_numpy(a) for a in arrays]
    wide = [a.astype(np.float64) for a in arrays]
    output = compiled(*tensors).numpy()
    check(output, reference(*wide), name)
    cases: dict[str, Callable[[], object]] = {
        "copy": copier(arrays, output),
        "graphwright": lambda: compiled(*tensors),
        "eager": lambda: function(gw, *tensors),
    }
    timings = in_turns(cases, seconds=1.0) | peers.in_turns(
        torch_cases(function, arrays) | jax_cases(function, arrays))
    copy = timings.pop("copy").median
    ratios = {label: timing.median / copy for label, timing in timings.items()}
    return Result("kernels", name, "x copy", target, ratios.pop("graphwright"), ratios,
                  f"a copy took {copy * 1e3:.2f} ms", timings["graphwright"].spread)


def run() -> list[Result]:
    """All kernels."""
    results = []
    for name, target, function, reference, arrays in CASES:
        try:
            results.append(run_case(name, target, function, reference, arrays))
        except Wrong as wrong:
            results.append(Result("kernels", name, "x copy", target, None, note=str(wrong)))
    return results
