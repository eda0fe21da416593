"""Models as ONNX files: what onnxruntime computes from them for many sizes, and the operators that
they consist of."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models import zoo
from tests.onnx.export import models

import graphwright as gw
from graphwright.export import Dim

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="models are run by onnxruntime")

BATCH, LENGTH, PAST = Dim("batch"), Dim("length"), Dim("past")
TEXT = ({0: BATCH, 1: LENGTH},)


def words(batch: int, length: int) -> gw.Tensor:
    return gw.randint(1, 50, (batch, length))


def session(made: Any) -> Any:
    return onnxruntime.InferenceSession(
        made.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])


def compare(made: Any, model: Any, args: tuple[gw.Tensor, ...], tolerance: float = 1e-5) -> None:
    """onnxruntime's results and what it leaves in arguments, within a share of the largest."""
    run = session(made)
    feeds = {one.name: arg.clone().numpy()
             for one, arg in zip(run.get_inputs(), args, strict=True)}
    found = run.run(None, feeds)
    before = [arg.clone() for arg in args]
    with gw.no_grad():
        wanted = model(*args)
    wanted = list(wanted) if isinstance(wanted, tuple) else [wanted]
    wanted += [arg for arg, old in zip(args, before, strict=True) if not gw.equal(arg, old)]
    assert len(found) >= len(wanted)
    for one, own in zip(found, wanted, strict=False):
        scale = max(1.0, float(own.abs().max())) if own.dtype.is_floating_point else 1.0
        np.testing.assert_allclose(one, own.numpy(), rtol=0, atol=tolerance * scale)


def kinds(made: Any) -> Counter[str]:
    return Counter(node.op_type for node in made.model_proto.graph.node)


CASES: dict[str, tuple[Any, Any, Any, list[tuple[int, ...]], dict[str, int]]] = {
    "mlp": (models.Mlp, lambda b: (gw.randn(b, 8),), ({0: BATCH},), [(3,), (1,), (70,)],
            {"Gemm": 2, "Relu": 1}),
    "cnn": (models.Cnn, lambda b, h, w: (gw.randn(b, 3, h, w),),
            ({0: BATCH, 2: Dim.DYNAMIC, 3: Dim.DYNAMIC},), [(2, 12, 10), (3, 9, 30)],
            {"Conv": 1, "BatchNormalization": 1, "MaxPool": 1, "LogSoftmax": 1}),
    "gpt": (models.GptBlock, lambda b, n: (words(b, n),), ({0: BATCH, 1: Dim("length", max=64)},),
            [(2, 7), (1, 64), (5, 2)],
            {"Attention": 1, "LayerNormalization": 1, "RMSNormalization": 1, "Gelu": 1}),
    "bert": (models.BertLayer,
             lambda b, n: (words(b, n), (gw.arange(n) < n - gw.arange(b)[:, None] % n).long()),
             (*TEXT, *TEXT), [(2, 7), (3, 5), (1, 40)],
             {"Attention": 1, "LayerNormalization": 2, "Gelu": 1}),
    "lstm": (lambda: models.Tagger("LSTM"), lambda b, n: (words(b, n),), TEXT,
             [(2, 7), (1, 3), (4, 20)], {"LSTM": 4}),
    "gru": (lambda: models.Tagger("GRU"), lambda b, n: (words(b, n),), TEXT,
            [(2, 7), (1, 3), (4, 20)], {"GRU": 4}),
    "rnn": (lambda: models.Tagger("RNN"), lambda b, n: (words(b, n),), TEXT,
            [(2, 7), (4, 20)], {"RNN": 4}),
    "embedder": (models.Embedder, lambda b, n: (words(b, n),), TEXT, [(2, 5), (1, 9), (6, 3)],
                 {"LayerNormalization": 4, "Gelu": 2}),
    "u-net": (models.UpDown, lambda b, h, w: (gw.randn(b, 3, h, w),),
              ({0: BATCH, 2: Dim.DYNAMIC, 3: Dim.DYNAMIC},), [(2, 16, 12), (1, 9, 22)],
              {"Conv": 2, "Resize": 2}),
    "decoder": (models.Decoder,
                lambda b, n: (words(b, 1), gw.randn(b, 4, n, 8), gw.randn(b, 4, n, 8)),
                ({0: BATCH}, {0: BATCH, 2: PAST}, {0: BATCH, 2: PAST}),
                [(2, 5), (1, 1), (7, 30)], {"Concat": 2, "Softmax": 1, "LayerNormalization": 1}),
    "decoder in place": (models.StaticDecoder,
                         lambda b, n: (words(b, 1), gw.randn(b, 4, n, 8), gw.randn(b, 4, n, 8),
                                       gw.tensor([n // 2])),
                         ({0: BATCH}, {0: BATCH, 2: PAST}, {0: BATCH, 2: PAST}, None),
                         [(2, 6), (3, 17)], {"Attention": 1, "ScatterElements": 2}),
}
"""Name -> class, arguments by sizes, dynamic shapes, sizes (the first are the example's), and how
many nodes of some operators the file has."""


@pytest.mark.parametrize("name", CASES)
def test_models_for_all_sizes(name: str, tmp_path: Path) -> None:
    """One file for all sizes of batches, sequences and images, with ONNX's own operators."""
    build, arguments, shapes, sizes, wanted = CASES[name]
    gw.manual_seed(0)
    model = build().eval()
    path = tmp_path / "model.onnx"
    made = gw.onnx.export(model, arguments(*sizes[0]), path, dynamic_shapes=shapes)
    assert made.verified_by == "onnxruntime"
    onnx.checker.check_model(str(path), full_check=True)
    for one in sizes:
        compare(made, model, arguments(*one))
    found = kinds(made)
    assert {kind: found[kind] for kind in wanted} == wanted
    names = {one.name for one in made.model_proto.graph.initializer}
    assert {name for name, _ in model.named_parameters()} & names or "LSTM" in found


@pytest.mark.parametrize("opset", [18, 20, 21, 26])
@pytest.mark.parametrize("name", ["gpt", "bert", "cnn", "u-net", "decoder in place"])
def test_models_at_other_opsets(name: str, opset: int) -> None:
    """What an older opset lacks is decomposed."""
    build, arguments, shapes, sizes, wanted = CASES[name]
    gw.manual_seed(0)
    model = build().eval()
    made = gw.onnx.export(model, arguments(*sizes[0]), dynamic_shapes=shapes, opset_version=opset)
    onnx.checker.check_model(made.model_proto, full_check=True)
    assert made.model_proto.opset_import[0].version == opset
    compare(made, model, arguments(*sizes[1]))
    new = {"Attention": 23, "RMSNormalization": 23, "Gelu": 20}
    found = kinds(made)
    for kind, since in new.items():
        assert found[kind] == (wanted.get(kind, 0) if opset >= since else 0)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("name", zoo.models(gw))
def test_models_of_the_zoo(name: str, training: bool) -> None:
    """All of them export, in training mode too: statistics of batch norm are further outputs."""
    model, args = zoo.built(gw, name, training)
    made = gw.onnx.export(model, args, dynamic_shapes=tuple([{0: Dim.AUTO} for _ in args]))
    onnx.checker.check_model(made.model_proto, full_check=True)
    twin = copy.deepcopy(model)
    compare(made, twin, args)
    outputs = dict(zip([one.name for one in made.model_proto.graph.output], made(*args),
                       strict=True))
    before = dict(model.named_buffers())
    for path, buffer in twin.named_buffers():
        changed = not gw.equal(buffer, before[path])
        assert changed == (f"{path}_updated" in outputs)
        if changed:
            assert gw.allclose(outputs[f"{path}_updated"], buffer, atol=1e-5)


def test_a_decoder_generates_as_the_model_does() -> None:
    """Step by step: what the file gives as keys and values is the next step's cache."""
    gw.manual_seed(0)
    model = models.Decoder().eval()
    _, arguments, shapes, *_ = CASES["decoder"]
    run = session(gw.onnx.export(model, arguments(2, 3), dynamic_shapes=shapes))
    names = [one.name for one in run.get_inputs()]
    ids, keys, values = words(3, 1), gw.randn(3, 4, 1, 8), gw.randn(3, 4, 1, 8)
    feeds = [ids.numpy(), keys.numpy(), values.numpy()]
    for _ in range(8):
        with gw.no_grad():
            logits, keys, values = model(ids, keys, values)
        found = run.run(None, dict(zip(names, feeds, strict=True)))
        ids = logits.argmax(-1)
        feeds = [found[0].argmax(-1), found[1], found[2]]
        assert np.array_equal(feeds[0], ids.numpy())
        np.testing.assert_allclose(feeds[1], keys.numpy(), atol=1e-5)


def test_grouped_heads_are_repeated_as_in_the_model() -> None:
    """Each head of key and value serves neighbouring heads of the query."""
    def attend(q: Any, k: Any, v: Any) -> Any:
        return gw.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    args = (gw.randn(2, 6, 4, 8), gw.randn(2, 2, 5, 8), gw.randn(2, 2, 5, 3))
    made = gw.onnx.export(attend, args)
    assert kinds(made) == {"Attention": 1}
    compare(made, attend, args)


@pytest.mark.parametrize("optimiser", [gw.optim.SGD, gw.optim.Adam], ids=["sgd", "adam"])
def test_a_training_step_with_its_optimiser(optimiser: Any) -> None:
    """Loss, gradients and the step are nodes; new parameters and state are outputs, which are the
    next step's: ten steps of onnxruntime end where the program's end."""
    gw.manual_seed(0)
    net = gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Tanh(), gw.nn.Linear(8, 3))
    steps = optimiser(net.parameters(), 0.1)

    def step(x: Any, y: Any) -> Any:
        steps.zero_grad()
        loss = gw.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        steps.step()
        return loss

    x, y = gw.randn(16, 4), gw.randint(0, 3, (16,))
    step(x, y)
    rows = Dim("rows", min=2)
    made = gw.onnx.export(step, (x, y), dynamic_shapes=({0: rows}, {0: rows}),
                          keep_initializers_as_inputs=True)
    run = session(made)
    state = {one.name: onnx.numpy_helper.to_array(one)
             for one in made.model_proto.graph.initializer}
    outputs = [one.name for one in run.get_outputs()]
    for _ in range(10):
        found = run.run(None, {"x": x.numpy(), "y": y.numpy(), **state})
        step(x, y)
        for name, value in zip(outputs, found, strict=True):
            if name.endswith("_updated"):
                state[name.removesuffix("_updated")] = value
    for name, own in net.named_parameters():
        np.testing.assert_allclose(state[f"net.{name}"], own.detach().numpy(), atol=1e-4)
