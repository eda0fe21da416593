"""`options={"strict": True}`: compiled code rounds where eager execution does."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.interpret import Evaluator
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import artifacts_of

from ..codegen.lowered import memory
from ..codegen.test_math import BOUNDS, FUNCTIONS
from ..runtime.layouts import LAYOUTS, lay_out
from .half_types import HALVES, distance, strict

Step = Callable[..., Any]
FLOATS = (gw.float16, gw.bfloat16, gw.float32, gw.float64)
NUMBERS = (0.1, -1.7, 3, 0.5, 1e-3, 30000.0)
SHAPE = (3, 5)

UNARY: tuple[Step, ...] = (
    gw.neg, gw.abs, gw.relu, gw.square, gw.reciprocal, gw.floor, gw.trunc,
    lambda x: x.abs().sqrt(),
    lambda x: x.clamp(-1.3, 0.7),
    lambda x: gw.nn.functional.threshold(x, 0.1, 1.7),
    lambda x: gw.nn.functional.hardshrink(x, 0.3),
    lambda x: gw.nn.functional.leaky_relu(x, 0.01),
    lambda x: gw.nn.functional.hardtanh(x, -0.9, 0.9),
    lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
)
BINARY: tuple[Step, ...] = (
    gw.add, gw.sub, gw.mul, gw.div, gw.maximum, gw.minimum,
    lambda a, b: a + b - a, lambda a, b: a * b + a, lambda a, b: a / b * b,
    lambda a, b: gw.add(a, b, alpha=0.3),
    lambda a, b: gw.where(a <= b, a * 1.1, b),
    lambda a, b: gw.where(a == b, 0.3, b - a),
)
WITH_NUMBER: tuple[Step, ...] = (
    lambda x, n: x + n, lambda x, n: n - x, lambda x, n: x * n, lambda x, n: x / n,
    lambda x, n: n / x, lambda x, n: gw.where(x > n, x, n), lambda x, n: x.clone().mul_(n),
)
ROWS: tuple[Step, ...] = (
    lambda x: x / x.amax(1, keepdim=True), lambda x: x - x.amin(0, keepdim=True),
    lambda x: x * (x.argmax(1, keepdim=True) + 1),
)
"""Exact whatever the order in which elements are taken."""
BACKENDS = ("llvm", "c")


class Program:
    """A random function of four tensors of one shape; the same seed gives the same function."""

    def __init__(self, seed: int, grad: bool) -> None:
        rng = random.Random(seed)
        self.steps: list[tuple[Step, tuple[int, ...]]] = []
        for count in range(4, 4 + rng.randint(3, 12)):
            kind = rng.choice(("unary", "binary", "binary", "number", "cast", "rows"))
            sources = tuple(rng.randrange(count) for _ in range(1 + (kind == "binary")))
            self.steps.append((self.step(rng, "number" if grad and kind == "rows" else kind),
                               sources))

    def step(self, rng: random.Random, kind: str) -> Step:
        if kind == "number":
            step, number = rng.choice(WITH_NUMBER), rng.choice(NUMBERS)
            return lambda x: step(x, number)
        if kind == "cast":
            dtype = rng.choice(FLOATS)
            return lambda x: x.to(dtype, copy=True)
        return rng.choice({"unary": UNARY, "binary": BINARY, "rows": ROWS}[kind])

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        known = list(values)
        for step, sources in self.steps:
            known.append(step(*[known[source] for source in sources]))
        return tuple(known[len(values):])


def arguments(seed: int, grad: bool) -> list[Any]:
    """One tensor of each type; its layout, empty ones included, is the seed's as well."""
    rng = np.random.default_rng(seed)
    made = []
    for dtype in FLOATS:
        values = (rng.standard_normal(SHAPE) * 2).astype(dtype.numpy)
        layout = (*LAYOUTS, "expanded")[rng.integers(len(LAYOUTS) + 1)]
        tensor = gw.from_numpy(values[:1]).expand(SHAPE) if layout == "expanded" else lay_out(
            values, layout)
        made.append((tensor[:, :0] if grad and seed % 8 == 7 else tensor).detach())
    return [tensor.requires_grad_(grad) for tensor in made]


def results(function: Any, inputs: list[Any]) -> list[Any]:
    """What a function returns, and the gradients of all that is differentiable of it."""
    outputs = list(function(*inputs))
    roots = [out for out in outputs if out.requires_grad]
    if roots:
        outputs += gw.autograd.grad(roots, inputs, [gw.full_like(r, 0.7) for r in roots],
                                    allow_unused=True)
    return [out for out in outputs if out is not None]


@pytest.mark.fuzz(8)
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_exact_programs(seed: int, grad: bool, backend: str) -> None:
    """Sums, products, quotients, roots, comparisons, casts: the same bits as eagerly."""
    if backend == "c" and seed % 6:
        return
    program = Program(seed, grad)
    with np.errstate(all="ignore"):
        expected = results(program, arguments(seed, grad))
    actual = results(strict(program, backend), arguments(seed, grad))
    far = [distance(a, b) for a, b in zip(actual, expected, strict=True)]
    assert not any(far), f"seed {seed}: {far}"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "dtype", "value", "lax", "rounded"), [
    (lambda h: (h * 30000).float() / 30000, gw.float16, 2.5, 2.5, float("inf")),
    (lambda b: b + 1 - 256, gw.bfloat16, 256.0, 1.0, 0.0),
])
def test_half_types_between_operations(
    function: Any, dtype: Any, value: float, lax: float, rounded: float, backend: str
) -> None:
    """They stay in float32 on the way from one operation to the next, unless code is strict."""
    x = gw.tensor([value], dtype=dtype)
    assert function(x).item() == rounded
    assert gw.compile(function, backend=backend)(x).item() == lax
    assert strict(function, backend)(x).item() == rounded


@pytest.mark.fuzz(3)
def test_functions_within_their_bounds(seed: int) -> None:
    """Of values that are rounded on the way, results are as near to the true ones as the bounds
    of the functions say; those of half types are at most one number apart."""
    program = Program(seed, grad=False)
    names = [name for name in BOUNDS if name in FUNCTIONS and hasattr(gw, name)]

    def function(*values: Any) -> tuple[Any, ...]:
        known = [x for x in program(*values) if x.dtype is not gw.float64]
        return tuple((x, *[getattr(gw, name)(x) for name in names]) for x in known[-3:])

    with np.errstate(all="ignore"):
        for x, *found in strict(function, "llvm")(*arguments(seed, grad=False)):
            for name, result in zip(names, found, strict=True):
                exact = FUNCTIONS[name](x.double().numpy()).astype(x.dtype.numpy)
                bound = 1 if x.dtype in HALVES else BOUNDS[name][0] + 1
                assert distance(result, gw.from_numpy(exact)) <= bound, f"seed {seed}: {name}"


@pytest.mark.parametrize("dtype", HALVES)
def test_reductions_round_their_results(dtype: Any) -> None:
    """Each is computed in float32 and rounded once, before anything else is done with it."""
    x = (gw.arange(60, dtype=gw.float32).reshape(4, 15) / 7).to(dtype)

    def function(x: Any) -> tuple[Any, ...]:
        return (x.sum(1) * 3 - x.mean(1), x.sum().float() / 3, (x * x).amax(0) - 0.1,
                x.prod(0).float() + 1, x - x.mean(0, keepdim=True))

    for actual, expected in zip(strict(function, "llvm")(x), function(x), strict=True):
        assert distance(actual, expected) == 0


def test_quotients_by_sums_of_exponentials() -> None:
    """They stay quotients; otherwise each row is multiplied by the inverse of its sum."""
    e = gw.rand(6, 40)

    def function(x: Any) -> tuple[Any, ...]:
        exps = x.exp()
        total = exps.sum(1, keepdim=True)
        return exps, total, exps / total

    exps, total, quotient = strict(function, "llvm")(e)
    assert distance(quotient, exps / total) == 0


def test_the_program_rounds_not_its_backend() -> None:
    """The reference evaluator gets the same bits from the loops, one kernel as without."""
    def function(b: Any) -> Any:
        return (b + 1 - 256) * 0.3 + b

    x = gw.linspace(250, 260, 33, dtype=gw.float32).to(gw.bfloat16)
    compiled = strict(function, "llvm")
    assert distance(compiled(x), function(x)) == 0
    entry, = compilation_of(compiled).record.graphs
    found = artifacts_of(entry.graph)
    assert found is not None and found.strict
    assert found.kernels == 1
    result, = Evaluator(found.programs["forward"].program).run([memory(x)], {})
    assert distance(gw.from_numpy(result.copy()), function(x)) == 0


@gw.compiler.disable
def plain_python() -> None:
    """Ends a graph where it is called."""


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_holds_for_all_parts_of_a_function(backend: str) -> None:
    """For what comes before and after a graph break, for gradients, and for a copy of a module."""
    class Doubled(gw.nn.Module):
        def forward(self, b: Any) -> Any:
            b = b + 1 - 256
            plain_python()
            return (b * 1.001 + 256 - 256) * b

    module = gw.compile(Doubled(), backend=backend, options={"strict": True})
    for each in (module, copy.deepcopy(module)):
        values = [gw.tensor([256.0, 261.0, 3.3], dtype=gw.bfloat16).requires_grad_()
                  for _ in range(2)]
        outputs = [each(values[0]), Doubled()(values[1])]
        for output in outputs:
            output.sum().backward()
        assert distance(*outputs) == 0
        assert distance(values[0].grad, values[1].grad) == 0


@pytest.mark.parametrize(("options", "backend", "match"), [
    ({"strict": 1}, "llvm", "strict must be True or False, not 1"),
    ({"strict": True}, lambda graph, inputs: graph, "needs a named backend"),
])
def test_refused_options(options: Any, backend: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        gw.compile(lambda x: x, options=options, backend=backend)


def test_eager_is_strict_anyway() -> None:
    x = gw.tensor([256.0], dtype=gw.bfloat16)
    assert strict(lambda b: b + 1 - 256, "eager")(x).item() == 0


def test_the_page_states_the_bounds() -> None:
    page = Path(__file__).parents[2] / "docs" / "numerics.md"
    rows = [f"| `{name}` | {single} | {double} |" for name, (single, double) in BOUNDS.items()]
    assert "\n".join(rows) in page.read_text()
