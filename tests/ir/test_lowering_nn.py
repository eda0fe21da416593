"""Neural network ops through the pipeline: lowered graphs say what eager says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright.nn.functional as F
from graphwright import cdist
from graphwright.ir.pipeline import lower_graph

from .lowering import captured, check, tensor

RNG = np.random.default_rng(0)


def _x(*shape: int, grad: bool = True) -> Any:
    return tensor(RNG.standard_normal(shape), grad)


def _classes(*shape: int, count: int) -> Any:
    return tensor(RNG.integers(0, count, shape))


# name: (function, makes the inputs for a batch size)
CASES: dict[str, tuple[Callable[..., Any], Callable[[int], list[Any]]]] = {
    "gelu": (lambda x: F.gelu(x), lambda n: [_x(n, 5)]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), lambda n: [_x(n, 5)]),
    "silu": (lambda x: F.silu(x), lambda n: [_x(n, 5)]),
    "elu": (lambda x: F.elu(x) + F.leaky_relu(x) + F.hardtanh(x), lambda n: [_x(n, 5)]),
    "softplus": (lambda x: F.softplus(x) + F.logsigmoid(x), lambda n: [_x(n, 5)]),
    "softmax": (lambda x: F.softmax(x, -1), lambda n: [_x(n, 5)]),
    "log_softmax": (lambda x: F.log_softmax(x, 0), lambda n: [_x(n, 5)]),
    "layer_norm": (
        lambda x, w, b: F.layer_norm(x, (5,), w, b),
        lambda n: [_x(n, 3, 5), _x(5), _x(5)],
    ),
    "rms_norm": (lambda x, w: F.rms_norm(x, (5,), w), lambda n: [_x(n, 3, 5), _x(5)]),
    "group_norm": (
        lambda x, w, b: F.group_norm(x, 2, w, b),
        lambda n: [_x(n, 4, 3), _x(4), _x(4)],
    ),
    "batch_norm": (
        lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, True),
        lambda n: [_x(n, 4, 3), _x(4, grad=False), _x(4, grad=False), _x(4), _x(4)],
    ),
    "batch_norm_eval": (
        lambda x, m, v, w, b: F.batch_norm(x, m, v * v, w, b),
        lambda n: [_x(n, 4, 3), _x(4, grad=False), _x(4, grad=False), _x(4), _x(4)],
    ),
    "mse": (lambda x, t: F.mse_loss(x, t), lambda n: [_x(n, 5), _x(n, 5)]),
    "smooth_l1": (lambda x, t: F.smooth_l1_loss(x, t), lambda n: [_x(n, 5), _x(n, 5)]),
    "bce": (
        lambda x, t: F.binary_cross_entropy_with_logits(x, F.sigmoid(t)),
        lambda n: [_x(n, 5), _x(n, 5)],
    ),
    "cross_entropy": (
        lambda x, t: F.cross_entropy(x, t, ignore_index=2),
        lambda n: [_x(n, 5), _classes(n, count=5)],
    ),
    "cross_entropy_smooth": (
        lambda x, t, w: F.cross_entropy(x, t, w * w, label_smoothing=0.1),
        lambda n: [_x(n, 5), _classes(n, count=5), _x(5, grad=False)],
    ),
    "cross_entropy_soft": (
        lambda x, t: F.cross_entropy(x, F.softmax(t, 1)),
        lambda n: [_x(n, 5), _x(n, 5)],
    ),
    "linear": (lambda x, w, b: F.linear(x, w, b), lambda n: [_x(n, 3, 5), _x(4, 5), _x(4)]),
    "conv2d": (
        lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=1),
        lambda n: [_x(n, 3, 6, 5), _x(4, 3, 3, 2), _x(4)],
    ),
    "conv2d_groups": (
        lambda x, w: F.conv2d(x, w, groups=2, dilation=2),
        lambda n: [_x(n, 4, 6, 5), _x(4, 2, 2, 2)],
    ),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), lambda n: [_x(n, 3, 6, 5)]),
    "avg_pool2d": (
        lambda x: F.avg_pool2d(x, 2, 1).sum() + F.avg_pool2d(x, 2, 1, 1, count_include_pad=False),
        lambda n: [_x(n, 3, 5, 5)],
    ),
    "adaptive": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), lambda n: [_x(n, 3, 5, 4)]),
    "embedding": (
        lambda w, i: F.embedding(i, w, padding_idx=1),
        lambda n: [_x(7, 3), _classes(n, 2, count=7)],
    ),
    "attention": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda n: [_x(n, 4, 5), _x(n, 4, 5), _x(n, 4, 5)],
    ),
    "attention_of_long_rows": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda n: [_x(n, 192, 3), _x(n, 190, 3), _x(n, 190, 2)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_static(name: str) -> None:
    function, inputs = CASES[name]
    check(function, *inputs(4), tolerance=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_symbolic_batch(name: str) -> None:
    function, inputs = CASES[name]
    first = inputs(4)
    batched = {i: (0,) for i, x in enumerate(first) if x.shape[0] == 4 and x.ndim > 1}
    if name.startswith("cross_entropy"):
        batched[1] = (0,)
    if name.startswith("conv") or "norm" in name:
        batched = {0: (0,)}
    check(function, *first, dynamic=batched, others=[inputs(6)], tolerance=1e-9)


@pytest.mark.parametrize("rows, causal, grad, dynamic, kept", [
    (16, True, True, {}, True),
    (192, True, True, {}, False),
    (192, True, True, {0: (1,), 1: (1,), 2: (1,)}, False),
    (192, True, False, {}, False),
    (192, False, True, {}, True),
    (4200, False, True, {}, False),
])
def test_attention_keeps_the_weights_unless_half_are_zeros_or_they_are_too_many(
    rows: int, causal: bool, grad: bool, dynamic: dict[int, tuple[int, ...]], kept: bool
) -> None:
    inputs = [_x(1, rows, 1, grad=grad) for _ in range(3)]
    module, fakes = captured(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), inputs, dynamic)
    lowered = lower_graph(module, fakes, needs_grad=grad)
    graphs = [lowered.forward, *([lowered.backward] if lowered.backward is not None else [])]
    ops = {getattr(node.target, "name", None) for graph in graphs for node in graph.graph.nodes}
    assert ("fused_attention" not in ops) is kept
    assert ("attention_backward" in ops) is (grad and not kept)


@pytest.mark.parametrize(("shapes", "whole"), [
    (((100, 64), (120, 64)), True), (((2, 100, 64), (120, 64)), True),
    (((100, 64), (3, 64)), False), (((20, 64), (20, 64)), False), (((400, 3), (300, 3)), False),
])
def test_distances_of_many_long_rows_are_a_matrix_product(shapes: Any, whole: bool) -> None:
    """Their kernel's; few or short rows become loops over all differences."""
    x, y = (tensor(RNG.standard_normal(shape), True) for shape in shapes)
    check(lambda x, y: (cdist(x, y) * 2,), x, y)
    module, fakes = captured(lambda x, y: (cdist(x, y) * 2,), [x, y])
    nodes = lower_graph(module, fakes, needs_grad=False).forward.graph.nodes
    names = [node.target.name for node in nodes if node.op == "call_function"]
    assert ("pair_distances" in names) is whole
