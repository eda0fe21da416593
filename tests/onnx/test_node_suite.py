"""The onnx library's tests for backends pass, but for those with a reason."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from tests.onnx.suite import REASONS, Case, cases, outcome, reason

import graphwright as gw

pytest.importorskip("onnx", reason="the onnx library is not installed")

SEED = 20


def wrong(tests: list[Case], compiled: bool) -> dict[str, str]:
    """What the tests say that neither pass nor have a reason, by name."""
    found = {case.name: outcome(case, compiled) for case in tests if not reason(case)}
    return {name: text for name, text in found.items() if text is not None}


def pytorch() -> list[Case]:
    return [*cases("pytorch-converted"), *cases("pytorch-operator")]


@pytest.mark.parametrize(("compiled", "count"), [(False, 250), (True, 40)])
def test_a_sample_of_the_nodes(compiled: bool, count: int) -> None:
    assert wrong(random.Random(SEED).sample(cases("node"), count), compiled) == {}


@pytest.mark.parametrize(("compiled", "count"), [(False, 117), (True, 20)])
def test_models_of_pytorch(compiled: bool, count: int) -> None:
    assert wrong(random.Random(SEED).sample(pytorch(), count), compiled) == {}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("compiled", [False, True])
def test_all(compiled: bool) -> None:
    nodes = cases("node")
    assert wrong([*nodes, *pytorch()], compiled) == {}
    assert sum(not reason(case) for case in nodes) >= 1400


@pytest.mark.slow
def test_reasons_are_needed() -> None:
    """A test with a reason fails, but for random numbers, which may be those expected."""
    listed = [case for case in cases("node") if reason(case)]
    assert {reason(case) for case in listed} == set(REASONS.values())
    passing = {case.name for case in listed if outcome(case, compiled=False) is None}
    assert all("bernoulli" in name for name in passing)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("title", [
    "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
    "squeezenet", "vgg19", "zfnet512",
])
def test_networks_of_the_library(title: str) -> None:
    """Known networks, whose weights are constant, eagerly and compiled."""
    import onnx
    from onnx import numpy_helper

    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    proto = onnx.load(folder / f"light_{title}.onnx")
    expected = numpy_helper.to_array(onnx.load_tensor(folder / f"light_{title}_output_0.pb"))
    held = {tensor.name for tensor in proto.graph.initializer}
    (image,) = [given for given in proto.graph.input if given.name not in held]
    shape = [dim.dim_value or 1 for dim in image.type.tensor_type.shape.dim]
    x = (gw.arange(math.prod(shape)).reshape(shape) / math.prod(shape)).float()
    net = gw.onnx.load(proto)
    with gw.no_grad():
        for run in (net, gw.compile(net, fullgraph=True)):
            assert np.allclose(run(x).numpy(), expected, rtol=1e-3, atol=1e-7)
