"""The compiled backward of every op, for gradients of its results of any layout, recorded or not.

Gradients that do not lie like the results, gradients that are differentiated again, and gradients
of all examples of a batch run the joint graph op by op, on arguments that graphs hold.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops.table import TABLE

from ..ir.test_every_op import ARBITRARY, WITHOUT_DERIVATIVE, split_arguments
from ..runtime.samples import ALL, Sample

SAMPLES: dict[str, list[Sample]] = {
    name: list(entry.samples) for name, entry in ALL.items()
    if not (name in ARBITRARY | WITHOUT_DERIVATIVE | {"unique"} or TABLE[name].is_inplace
            or name.endswith("_"))}
OPS_IN_A_SAMPLE = 8


def values(shape: Any, dtype: Any, seed: int) -> Any:
    made = np.random.default_rng(seed).standard_normal(tuple(shape))
    return gw.tensor(made).to(dtype)


LAYOUTS: dict[str, Callable[[Any, int], Any]] = {
    "contiguous": lambda out, seed: values(out.shape, out.dtype, seed),
    "transposed": lambda out, seed: values(out.shape[::-1], out.dtype, seed).permute(
        tuple(range(out.ndim)[::-1])),
    "expanded": lambda out, seed: values((), out.dtype, seed).expand(out.shape),
}


def gradients(fn: Callable[..., Any], inputs: Any, layout: str, recorded: bool) -> list[Any]:
    """Of the inputs; then, where these are recorded, theirs, of inputs and tangents. [] where no
    result requires gradients."""
    gw.manual_seed(0)
    leaves = [x.detach().requires_grad_(x.requires_grad) for x in inputs]
    results = fn(*leaves)
    given = [out for out in (results if isinstance(results, tuple) else (results,))
             if isinstance(out, gw.Tensor) and out.requires_grad]
    wanted = [x for x in leaves if x.requires_grad]
    if not given or not wanted:
        return []
    tangents = [LAYOUTS[layout](out, seed).requires_grad_(recorded)
                for seed, out in enumerate(given)]
    first = gw.autograd.grad(given, wanted, tangents, create_graph=recorded, allow_unused=True)
    again = [g for g in first if g is not None and g.requires_grad]
    if not again:
        return [*first, *[None] * (len(wanted) + len(tangents))]
    return [*first, *gw.autograd.grad(
        again, [*wanted, *tangents], [values(g.shape, g.dtype, 9) for g in again],
        allow_unused=True)]


def check(name: str, sample: Sample, backend: str) -> int:
    """Compare with eager execution; how often there were gradients."""
    inputs, fn = split_arguments(ALL[name], sample, "contiguous")
    if not any(x.requires_grad for x in inputs):
        return 0
    compiled, count = gw.compile(fn, backend=backend), 0
    for layout, recorded in (*[(layout, False) for layout in LAYOUTS], ("transposed", True)):
        with np.errstate(all="ignore"):
            plain = gradients(fn, inputs, layout, recorded)
            found = gradients(compiled, inputs, layout, recorded)
        for one, other in zip(plain, found, strict=True):
            if one is None or other is None:
                left = other if one is None else one
                assert left is None or not left.count_nonzero(), f"{name}, {layout}"
            else:
                count += 1
                assert other.dtype is one.dtype
                np.testing.assert_allclose(
                    other.detach().numpy(), one.detach().numpy(), rtol=1e-7, atol=1e-8,
                    err_msg=f"{name}, {layout}, recorded: {recorded}")
    return count


def test_of_some_ops() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chosen = random.Random(seed).sample(sorted(SAMPLES), OPS_IN_A_SAMPLE)
    counts = [check(name, SAMPLES[name][0], "llvm") for name in ("mul", *chosen)]
    assert counts[0] > 0


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_of_every_op(name: str, backend: str) -> None:
    for sample in SAMPLES[name] if backend == "llvm" else SAMPLES[name][:1]:
        check(name, sample, backend)


MASKS: dict[str, Callable[[Any], Any]] = {
    "a triangle": lambda x: x.tril() * x,
    "a product of rows": lambda x: x.prod(1),
    "a factor of integers": lambda x: x * gw.arange(x.shape[1], dtype=gw.int64),
    "a causal mask": lambda x: gw.softmax(x.masked_fill(
        gw.ones(x.shape, dtype=gw.bool).triu(1), -gw.inf), 1),
    "a mask of lengths": lambda x: x * (gw.arange(x.shape[1])[None] < gw.tensor([[2], [3], [1]])),
    "views of what is computed": lambda x: x.exp().flatten().view(x.shape[1], x.shape[0]),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", MASKS.values(), ids=MASKS)
def test_of_programs_that_make_tensors_inside(program: Callable[..., Any], dynamic: bool) -> None:
    compiled = gw.compile(program, fullgraph=True, dynamic=dynamic)
    for columns in (4, 5):
        inputs = [values((3, columns), gw.float64, 3).requires_grad_()]
        for layout in LAYOUTS:
            for recorded in (False, True):
                for one, other in zip(gradients(program, inputs, layout, recorded),
                                      gradients(compiled, inputs, layout, recorded), strict=True):
                    assert (one is None) == (other is None)
                    assert one is None or gw.allclose(one, other)


BATCHED: dict[str, Callable[..., Any]] = {
    "a square": lambda x: x * x,
    "a softmax": lambda x: gw.softmax(x.sin(), 0),
    "a view": lambda x: x.exp().flip(0)[1:],
    "two results": lambda x: (x.sin(), x.cumsum(0)),
    "an own function": lambda x: Doubled.apply(x) * x,
}


class Doubled(gw.autograd.Function):
    """2 x, of which backward says that the derivative is 3."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return Doubled.apply(x), in_dims[0]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 3


def leaves_of(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves_of(item)]
    return [value]


@pytest.mark.parametrize("program", BATCHED.values(), ids=BATCHED)
def test_of_all_examples_of_a_batch(program: Callable[..., Any]) -> None:
    compiled, x = gw.compile(program, fullgraph=True), values((3,), gw.float64, 1)
    found: list[list[Any]] = []
    for function in (program, compiled):
        ways = [gw.func.jacrev(function)(x), gw.func.jacrev(gw.func.jacrev(function))(x)]
        results, pull = gw.func.vjp(function, x)
        many = results if isinstance(results, tuple) else (results,)
        rows = [values((2, *out.shape), out.dtype, 5) for out in many]
        ways.append(gw.func.vmap(pull)(tuple(rows) if len(rows) > 1 else rows[0]))
        leaf = x.clone().requires_grad_()
        made = function(leaf)
        ways.append(gw.autograd.grad(made, leaf, rows, is_grads_batched=True, create_graph=True))
        found.append(leaves_of(ways))
    assert len(found[0]) == len(found[1]) > 3
    for one, other in zip(*found, strict=True):
        assert gw.allclose(one, other)
