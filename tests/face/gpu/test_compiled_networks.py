"""Networks, compiled: outputs, gradients and buffers are as on the CPU, in one graph."""

from __future__ import annotations

import random
from typing import Any

import pytest

import graphwright as gw

from .compiled import alike, trained
from .networks import inputs

F = gw.nn.functional
NETWORKS = inputs()


def test_one_network(gpu: Any, draw: random.Random) -> None:
    network = draw.choice(list(NETWORKS))
    print(network.__name__)
    assert alike(network, *NETWORKS[network], gpu=gpu, tolerance=1e-5).kernels > 1


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.__name__)
def test_every_network(gpu: Any, network: Any, dynamic: bool) -> None:
    assert alike(network, *NETWORKS[network], gpu=gpu, tolerance=1e-5, dynamic=dynamic).kernels > 1


def attention(q: Any, k: Any, v: Any, *mask: Any, **options: Any) -> Any:
    return F.scaled_dot_product_attention(q, k, v, *mask, **options)


ATTENTION = {
    "all": ((2, 2), False, {}),
    "causal": ((2, 2), False, {"is_causal": True}),
    "a mask": ((2, 2), True, {}),
    "groups of queries": ((4, 2), False, {"enable_gqa": True, "is_causal": True}),
}


@pytest.mark.parametrize("name", ["groups of queries", *(
    pytest.param(name, marks=pytest.mark.slow) for name in ATTENTION)])
def test_attention(gpu: Any, name: str) -> None:
    (query_heads, heads), masked, options = ATTENTION[name]
    q = gw.randn(1, query_heads, 9, 8)
    k, v = gw.randn(1, heads, 11, 8), gw.randn(1, heads, 11, 8)
    mask = (gw.randn(9, 11) > -1,) if masked else ()
    alike(lambda *given: attention(*given, **options), *trained((q, k, v)), *mask, gpu=gpu,
          tolerance=1e-5)


def test_embedding_and_cross_entropy(gpu: Any) -> None:
    words, targets = gw.randint(0, 9, (5, 3)), gw.tensor([2, 0, -100, 3, 1])
    table, weights = trained((gw.randn(9, 4), gw.rand(4)))

    def loss(table: Any, weights: Any, words: Any, targets: Any) -> Any:
        logits = F.embedding(words, table).sum(1)
        return F.cross_entropy(logits, targets, weights.detach(), label_smoothing=0.1)

    alike(loss, table, weights, words, targets, gpu=gpu, tolerance=1e-5)
