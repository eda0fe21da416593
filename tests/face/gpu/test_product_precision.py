"""`set_float32_matmul_precision`: where it allows them, products on a GPU use tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw

F = gw.nn.functional


@pytest.fixture(autouse=True)
def highest() -> Iterator[None]:
    yield
    gw.set_float32_matmul_precision("highest")


def errors(product: Callable[..., Any], *inputs: Any) -> float:
    """How far a product on the GPU is from the one in float64, by the factors' size."""
    want = product(*(x.double() for x in inputs))
    return float((product(*(x.cuda() for x in inputs)).cpu() - want).abs().max())


PRODUCTS = {
    "matmul": (lambda x, y: x @ y, (48, 64), (64, 40)),
    "linear": (lambda x, y: F.linear(x, y).relu(), (48, 64), (40, 64)),
    "conv2d": (F.conv2d, (2, 8, 9, 9), (16, 8, 3, 3)),
}


@pytest.mark.parametrize("name", [
    "matmul", *(pytest.param(name, marks=pytest.mark.slow) for name in ("linear", "conv2d"))])
def test_factors_are_rounded_to_eleven_bits(gpu: Any, name: str) -> None:
    product, *shapes = PRODUCTS[name]
    inputs = [gw.randn(shape) for shape in shapes]
    assert errors(product, *inputs) < 1e-4
    gw.set_float32_matmul_precision("high")
    assert 1e-4 < errors(product, *inputs) < 0.1
    gw.set_float32_matmul_precision("highest")
    assert errors(product, *inputs) < 1e-4


def test_compiled_functions_follow(gpu: Any) -> None:
    x, y = gw.randn(48, 64), gw.randn(64, 40)
    compiled = gw.compile(lambda x, y: (x @ y).relu())
    exact = (x.double() @ y.double()).relu()

    def error() -> float:
        return float((compiled(x.cuda(), y.cuda()).cpu() - exact).abs().max())

    assert error() < 1e-4
    gw.set_float32_matmul_precision("medium")
    assert 1e-4 < error() < 0.1
    assert ".tf32" in gw.compiler.dump(compiled, ["ptx"])["ptx"]
    gw.set_float32_matmul_precision("highest")
    assert error() < 1e-4
    assert gw.compiler.stats(compiled).recompiles == 1


def test_strict_graphs_multiply_as_the_cpu_does(gpu: Any) -> None:
    x, y = gw.randn(48, 64), gw.randn(64, 40)
    gw.set_float32_matmul_precision("high")
    strict = gw.compile(lambda x, y: x @ y, options={"strict": True})
    assert float((strict(x.cuda(), y.cuda()).cpu() - x @ y).abs().max()) < 1e-4


def test_cpus_and_other_dtypes_are_as_before(gpu: Any) -> None:
    x, y = gw.randn(48, 64), gw.randn(64, 40)
    here, wide = x @ y, x.double().cuda() @ y.double().cuda()
    gw.set_float32_matmul_precision("high")
    assert gw.equal(x @ y, here)
    assert gw.equal(x.double().cuda() @ y.double().cuda(), wide)


def test_switches_of_backends_are_the_same_one() -> None:
    matmul = gw.backends.cuda.matmul
    assert not matmul.allow_tf32 and matmul.fp32_precision == "ieee"
    matmul.allow_tf32 = True
    assert gw.get_float32_matmul_precision() == "high" and matmul.fp32_precision == "tf32"
    matmul.fp32_precision = "ieee"
    assert gw.get_float32_matmul_precision() == "highest" and not matmul.allow_tf32
    with pytest.raises(RuntimeError, match="'low'"):
        gw.set_float32_matmul_precision("low")
