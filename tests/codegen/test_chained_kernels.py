"""Kernels that run on each block of rows of the product before them as soon as it is complete."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
import graphwright.nn as nn
from graphwright.codegen.compile import CompiledGraph, compile_graph
from graphwright.codegen.loop_printer import print_program
from graphwright.ir.graph.module import GraphModule
from graphwright.nn import functional as F

from .lowered import as_tuple, program_of, traced


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = gw.get_num_threads()
    gw.set_num_threads(request.param)
    yield request.param
    gw.set_num_threads(before)


def randn(*shape: int) -> Any:
    return gw.randn(*shape) / 4


def chained(fn: Callable[..., Any], *inputs: Any, dynamic: bool = False) -> list[str]:
    """The names of the kernels that follow a product block by block."""
    program, _ = program_of(fn, inputs, dynamic)
    return [program.steps[number].name for number in program.chained]


def test_a_product_and_what_its_rows_become_are_printed_as_one() -> None:
    program, _ = program_of(lambda x, w, b: gw.relu(x @ w + b),
                            [randn(128, 64), randn(64, 512), randn(512)])
    assert print_program(program).partition("\n\n")[2] == """\
out0 = gemm(arg0, arg1)  # 128 x 64 x 512, then by blocks:

kernel k1_relu:
    for p in parallel(128):
        for i0 in vector(512):
            out0[i0 + 512*p] = max(0.0, (out0[i0 + 512*p] + arg2[i0]))
"""


@pytest.mark.parametrize("dynamic", [False, True])
def test_pointwise_and_row_kernels_over_the_rows_of_a_product_are_chained(dynamic: bool) -> None:
    x, w, residual = randn(128, 96), randn(96, 256), randn(128, 256)
    assert chained(lambda x, w: gw.relu(x @ w), x, w, dynamic=dynamic) == ["k1_relu"]
    assert chained(lambda x, w: gw.softmax(x @ w, -1), x, w, dynamic=dynamic) == [
        "k1_amax_exp_sum_div"]
    assert chained(lambda x, w, r: F.layer_norm(x @ w + r, (256,)), x, w, residual,
                   dynamic=dynamic) == ["k1_add_sum_rsqrt"]
    assert chained(lambda x, w: gw.relu((x @ w)[::2]), x, w, dynamic=dynamic) == ["k1_relu"]
    scores = randn(6, 64, 32), randn(6, 32, 64)
    assert chained(lambda q, k: gw.softmax(gw.bmm(q, k), -1), *scores, dynamic=dynamic) == [
        "k1_amax_exp_sum_div"]


def test_what_reads_other_rows_or_writes_what_the_product_reads_runs_after_it() -> None:
    x, w, square = randn(128, 256), randn(256, 256), randn(256, 256)
    assert chained(lambda x, w: gw.relu(x @ w).t().contiguous(), x, w) == []
    assert chained(lambda x, w: gw.softmax(x @ w, 0), x, w) == []
    assert chained(lambda x, w: gw.relu((x @ w)[5:]), x, w) == []
    assert chained(lambda x, w, i: (x @ w)[i] * 2, x, w, gw.arange(128)) == []

    def overwrites(x: Any, w: Any) -> Any:
        x.copy_(gw.relu(x @ w))
        return x + 1

    assert chained(overwrites, square, w) == []


def pair(
    module: GraphModule, target: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[CompiledGraph, CompiledGraph]:
    """The graph compiled with and without chained kernels, its weights packed when they are."""
    examples = [node.meta["val"] for node in module.graph.placeholders]
    one = compile_graph(module, examples, target=target, packed_weights=None)
    with monkeypatch.context() as patch:
        patch.setattr("graphwright.codegen.build.chained_kernels", lambda steps: ())
        other = compile_graph(module, examples, target=target, packed_weights=None)
    assert not other.program.chained
    return one, other


def assert_same_bits(
    fn: Callable[..., Any], inputs: list[Any], monkeypatch: pytest.MonkeyPatch,
    dynamic: bool = False, target: str = "llvm",
) -> int:
    """Assert that chained kernels change no bit; how many there are."""
    module = traced(lambda *a: as_tuple(fn(*a)), inputs, dynamic)
    one, other = pair(module, target, monkeypatch)
    for _ in range(2):      # weights that are packed by the first call are there for the second
        for found, expected in zip(one(*inputs), other(*inputs), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    return len(one.program.chained)


class Network:
    """Products, each followed by what a seed picks, over values of earlier ones."""

    WIDTHS = (33, 64, 160, 512)

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.batch = random.Random(seed).choice([None, 3, 8])
        self.weights: list[Any] = []
        self(self.rows(64))

    def rows(self, width: int) -> Any:
        count = random.Random(self.seed).choice([1, 5, 70, 200])
        return randn(count, width) if self.batch is None else randn(self.batch, count, width)

    def weight(self, number: int, *shape: int) -> Any:
        if number == len(self.weights):
            self.weights.append(nn.Parameter(randn(*shape)))
        return self.weights[number]

    def __call__(self, x: Any, *weights: Any) -> tuple[Any, ...]:
        pick, number = random.Random(self.seed + 1), 0
        given = weights or self.weights
        made: list[Any] = []
        for _ in range(5):
            width = pick.choice(self.WIDTHS)
            shapes = [(width, x.shape[-1]) if pick.random() < 0.5 else (x.shape[-1], width),
                      (width,)]
            own = [given[number + n] if weights else self.weight(number + n, *shape)
                   for n, shape in enumerate(shapes)]
            number += 2
            matrix = own[0].t() if shapes[0][0] == width and width != x.shape[-1] else own[0]
            y = x @ matrix
            x = pick.choice(AFTER)(y, own[1], [v for v in made if v.shape == y.shape])
            made.append(x)
        return tuple(made[-2:])


AFTER: list[Callable[[Any, Any, list[Any]], Any]] = [
    lambda y, b, earlier: gw.relu(y + b),
    lambda y, b, earlier: F.gelu(y + b),
    lambda y, b, earlier: gw.softmax(y, -1),
    lambda y, b, earlier: F.layer_norm(y + b, (y.shape[-1],)),
    lambda y, b, earlier: gw.tanh(y) * 0.5,
    lambda y, b, earlier: gw.tanh(y + earlier[-1]) if earlier else F.silu(y),
    lambda y, b, earlier: (y + b).to(gw.bfloat16).to(gw.float32),
    lambda y, b, earlier: gw.softmax(y @ y.transpose(-1, -2), -1) @ y,
    lambda y, b, earlier: gw.tanh(y + b).transpose(-1, -2).contiguous().transpose(-1, -2),
]


@pytest.mark.parametrize("seed", range(12))
def test_random_networks_have_the_same_bits(
    seed: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gw.manual_seed(seed)
    network = Network(seed)
    inputs = [network.rows(64), *network.weights]
    with gw.no_grad():
        assert_same_bits(network, inputs, monkeypatch, dynamic=seed % 3 == 2)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_what_a_product_reads_is_not_overwritten_by_what_follows_it(
    target: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each product's left factor dies with it, in memory that what follows could take."""
    def layers(x: Any, *weights: Any) -> Any:
        for w in weights:
            x = F.gelu(gw.tanh(x) @ w.t())
        return x

    gw.manual_seed(0)
    inputs = [randn(300, 256), *[nn.Parameter(randn(256, 256)) for _ in range(4)]]
    assert assert_same_bits(layers, inputs, monkeypatch, target=target) == 4


def test_products_without_terms_are_followed(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = traced(lambda x, w, b: as_tuple(gw.softmax(x @ w + b, -1)),
                    [randn(300, 4), randn(4, 200), randn(200)], dynamic=True)
    one, other = pair(module, "llvm", monkeypatch)
    inputs = gw.ones(300, 0), gw.ones(0, 200), randn(200)
    assert one.program.chained == (1,)
    np.testing.assert_array_equal(one(*inputs)[0].numpy(), other(*inputs)[0].numpy())


def test_profiles_time_what_follows_a_product_apart() -> None:
    compiled = gw.compile(lambda x, w: gw.relu(x @ w))
    x, w = randn(128, 64), randn(64, 512)
    expected = compiled(x, w)
    with gw.profiler.profile() as profile:
        found = compiled(x, w)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
    names = [event.name for event in profile.events()]
    assert any(name.startswith("kernel::gemm") for name in names)
    assert any("relu" in name for name in names if name.startswith("kernel::"))
