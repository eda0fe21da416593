"""Half types and Python numbers that they do not hold: compiled code compares as eager does."""

from __future__ import annotations

import itertools
import random
import secrets
from typing import Any

import numpy as np
import pytest

import graphwright as gw
import graphwright.nn.functional as F
from graphwright.ir.passes.decompose import is_primitive
from graphwright.ir.trace import trace
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.native import c_kernels
from graphwright.runtime.ops.table import op

from ..ir.test_every_op import CASES, Slot, filled, flat
from ..runtime.layouts import build, lay_out, numpy_type, tensors_in
from ..runtime.samples import OpSamples, Sample
from .half_types import HALVES, distance

SPACING = {gw.float16: 2.0**-10, gw.bfloat16: 2.0**-7}


def neighbours(number: float, dtype: Any) -> list[float]:
    """The half type's numbers around a number and its negative."""
    near = np.float32(number).astype(dtype.numpy)
    ends = [np.asarray(end, dtype.numpy) for end in (np.inf, -np.inf)]
    around = [near, *(np.nextafter(near, end) for end in ends)]
    return [sign * float(value) for value in around for sign in (1, -1)]


def rules(x: Any, t: float) -> tuple[Any, ...]:
    """Of each kind of operation that compares elements with a number."""
    return (
        F.threshold(x, t, 0.1), F.hardshrink(x, t), F.softshrink(x, t), F.hardtanh(x, -t, t),
        x.clamp(-t, t), x.clamp(max=t), gw.clamp_min(x, t), F.elu(x, t), F.celu(x, t),
        F.softplus(x, 1.0, t), F.leaky_relu(x, t), gw.where(x > t, x, 0.1),
        x.masked_fill(x == t, 0.1), F.huber_loss(x, -x, reduction="none", delta=t),
        F.smooth_l1_loss(x, -x, reduction="none", beta=t), gw.logit(x, t / 4),
        gw.nan_to_num(x, t),
        x < t, x <= t, x > t, x >= t, x == t, x != t, t < x, gw.isclose(x, x * 1.01, 0.0, t / 64),
        gw.heaviside(x.detach() - x.detach(), x.detach()),
        F.threshold(x * 1, t, 0.1, inplace=True), F.hardtanh(x * 1, -t, t, inplace=True),
        (x * 1).clamp_(-t, t), (x * 1).clamp_max_(t), F.elu(x * 1, t, inplace=True),
    )


DAILY = {(gw.bfloat16, "llvm", False), (gw.float16, "llvm", True), (gw.bfloat16, "c", False)}
EVERY = [pytest.param(*case, marks=() if case in DAILY else pytest.mark.slow)
         for case in itertools.product(HALVES, ("llvm", "c"), (False, True))]


@pytest.mark.parametrize(("dtype", "backend", "dynamic"), EVERY)
def test_numbers_between_two_elements(dtype: Any, backend: str, dynamic: bool) -> None:
    """Forward and backward; `dynamic`: the number has varied, and is an input of the graph."""
    compiled = gw.compile(rules, backend=backend)
    for number in (1.7, 0.3301, 1.1019)[:3 if dynamic else 1]:
        values = gw.tensor([*neighbours(number, dtype), 0.0, 3.0], dtype=dtype)
        x, y = (values.clone().requires_grad_() for _ in range(2))
        found, expected = compiled(x, number), rules(y, number)
        apart = [distance(a, b) for a, b in zip(found, expected, strict=True)]
        assert max(apart) <= 1, (number, apart)
        for place, (a, b) in enumerate(zip(found, expected, strict=True)):
            if b.requires_grad:
                ones = gw.ones_like(b)
                gradients = [gw.autograd.grad(r, v, ones, retain_graph=True)[0]
                             for r, v in ((a, x), (b, y))]
                assert distance(*gradients) <= 2, (number, place, gradients)


def _with_numbers(sample: Sample, dtype: Any, side: float) -> Sample:
    """The sample with numbers a little beside those that the half type has."""
    def moved(value: Any) -> Any:
        if type(value) is not float or not 0 < abs(value) < 1e3:
            return value
        held = float(np.float32(value).astype(dtype.numpy))
        return held * (1 + side * SPACING[dtype] / 4)

    return Sample(tuple(map(moved, sample.args)),
                  {name: moved(value) for name, value in sample.kwargs.items()})


def _has_numbers(sample: Sample) -> bool:
    given = (*sample.args, *sample.kwargs.values())
    return any(type(value) is float and 0 < abs(value) < 1e3 for value in given)


OF_NUMBERS = [case for case in CASES if _has_numbers(case.values[1])]
SEED = secrets.randbelow(10**6)


def check_sample(entry: OpSamples, sample: Sample, dtype: Any, side: float, backend: str) -> None:
    """Results and gradients are as eagerly where elements lie next to the numbers."""
    sample = _with_numbers(sample, dtype, side)
    given = [v for v in (*sample.args, *sample.kwargs.values()) if type(v) is float]
    near = [value for number in given if abs(number) < 1e3
            for value in neighbours(number, dtype)]
    inputs: list[Any] = []

    def leaf(arr: Any, values: Any) -> Any:
        if arr.kind == "float" and arr.low < 0 < arr.high:
            values.reshape(-1)[:len(near)] = near[:values.size]
        made = lay_out(values.astype(numpy_type(arr, dtype)), "contiguous")
        inputs.append(made.requires_grad_(
            arr.kind == "float" and arr.grad and not entry.name.endswith("_")))
        return Slot(len(inputs) - 1)

    args, kwargs = build(sample, entry.name, leaf)

    def function(*tensors: Any) -> Any:
        return flat(getattr(ops, entry.name)(
            *filled(args, tensors), **{k: filled(v, tensors) for k, v in kwargs.items()}))

    def results(run: Any) -> list[Any]:
        own = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
        outputs = tensors_in(run(*own))
        roots = [out for out in outputs if out.requires_grad]
        if roots:
            leaves = [x for x in own if x.requires_grad]
            outputs += gw.autograd.grad(roots, leaves, [gw.ones_like(r) for r in roots],
                                        allow_unused=True)
        return [out.detach() for out in outputs if out is not None]

    with np.errstate(all="ignore"):
        try:
            expected = results(function)
        except (RuntimeError, NotImplementedError, TypeError):
            return      # not of half types
        actual = results(gw.compile(function, backend=backend))
    for a, b in zip(actual, expected, strict=True):
        tolerance = 2 * SPACING[dtype]
        np.testing.assert_allclose(a.numpy().astype(np.float64), b.numpy().astype(np.float64),
                                   rtol=tolerance, atol=2 * tolerance)


def test_a_sample_of_samples() -> None:
    rng = random.Random(SEED)
    for case in rng.sample(OF_NUMBERS, 8):
        dtype, side = rng.choice(HALVES), rng.choice((-1, 1))
        print(f"seed {SEED}: {case.id}, {dtype}, {side}")
        check_sample(*case.values, dtype, side, rng.choice(("llvm", "llvm", "c")))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("entry", "sample"), OF_NUMBERS)
def test_all_samples(entry: OpSamples, sample: Sample, dtype: Any, backend: str) -> None:
    for side in (-1, 1):
        check_sample(entry, sample, dtype, side, backend)


CHOOSING = {"cat", "clone", "copy_", "full", "full_like", "isnan", "isinf", "isfinite", "neg",
            "abs", "sign", "maximum", "minimum", "to_dtype", "where", "clamp"}
"""Primitives that give one of their values, or its negative, or round their result only."""
ONE_STEP = {"square": "mul", "floor_divide": "div"}
OF_ZERO_AND_INFINITY = {
    "angle", "heaviside", "isneginf", "isposinf", "nan_to_num", "relu_backward"}
"""Those compare with numbers that all types have."""


@pytest.mark.parametrize("name", sorted({*c_kernels.ELEMENTWISE, *c_kernels.OF_ELEMENTS}))
def test_decompositions_compute_in_float32_as_kernels_do(name: str) -> None:
    """A kernel takes numbers as float32 has them and rounds once: so does what it stands for."""
    entry = op(name)
    if entry.decompose is None or is_primitive(entry):
        return
    tensors, args = [], []
    for param in entry.schema.params:
        if param.type in ("Tensor", "Operand"):
            tensors.append(make_fake((3,), (1,), gw.bfloat16, gw.device("cpu")))
            args.append(Slot(len(tensors) - 1))
        else:
            is_number = param.type.startswith(("float", "Scalar"))
            args.append(0.7 if is_number else param.default)
    graph = trace(lambda *given: entry.decompose(*filled(tuple(args), given)), tensors,
                  keep=lambda part: is_primitive(part) or part.decompose is None).graph
    narrow = {node.target.name for node in graph.nodes if node.op == "call_function" and any(
        node_.meta["val"].dtype is gw.bfloat16 for node_ in node.all_input_nodes)} - CHOOSING
    assert narrow <= {ONE_STEP.get(name)} or name in OF_ZERO_AND_INFINITY, narrow
