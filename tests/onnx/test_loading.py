"""`gw.onnx.load`: a model's file as a module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.onnx.models import BOOL, FLOAT, INT64, STRING, model, node, value

import graphwright as gw

onnx = pytest.importorskip("onnx", reason="the onnx library is not installed")
helper, numpy_helper = onnx.helper, onnx.numpy_helper


def dense() -> Any:
    """y = relu(x weight + bias), with a dynamic batch."""
    return model(
        [node("Gemm", ["x", "fc.weight", "fc.bias"], ["h"], transB=1), node("Relu", ["h"], ["y"])],
        {"x": (FLOAT, ["batch", 3])}, ["y"],
        {"fc.weight": np.eye(4, 3, dtype=np.float32), "fc.bias": np.ones(4, dtype=np.float32)},
    )


def test_a_path_bytes_and_a_proto_are_the_same_module(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(dense().SerializeToString())
    x = gw.rand(5, 3)
    results = [gw.onnx.load(given)(x) for given in (path, str(path), path.read_bytes(), dense())]
    assert all(gw.equal(result, results[0]) for result in results)
    assert results[0].shape == (5, 4)


def test_initializers_are_parameters_under_their_names_and_train() -> None:
    net = gw.onnx.load(dense())
    assert sorted(net.state_dict()) == ["fc.bias", "fc.weight"]
    assert isinstance(net.fc.weight, gw.nn.Parameter)
    optimiser = gw.optim.SGD(net.parameters(), 0.1)
    x, y = gw.rand(8, 3), gw.zeros(8, 4)
    losses = []
    for _ in range(5):
        optimiser.zero_grad()
        loss = gw.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_statistics_of_batch_norm_and_integers_are_buffers() -> None:
    names = ["scale", "bias", "mean", "variance"]
    net = gw.onnx.load(model(
        [node("BatchNormalization", ["x", *names], ["n"]), node("Gather", ["n", "index"], ["y"])],
        {"x": (FLOAT, [2, 3])}, ["y"],
        {**{name: np.ones(3, dtype=np.float32) for name in names}, "index": np.array([1, 0])},
    ))
    assert sorted(name for name, _ in net.named_parameters()) == ["bias", "scale"]
    assert sorted(name for name, _ in net.named_buffers()) == ["index", "mean", "variance"]


def test_one_graph_for_every_size() -> None:
    """Shapes that the graph computes stay symbolic: one recompilation, no graph break."""
    net = gw.onnx.load(model(
        [
            node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["b"]),
            node("Unsqueeze", ["b", "axes"], ["b1"]),
            node("Concat", ["b1", "rest"], ["t"], axis=0),
            node("Reshape", ["x", "t"], ["r"]), node("Mul", ["r", "r"], ["y"]),
        ],
        {"x": (FLOAT, ["batch", 2, 3])}, ["y"],
        {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([-1])},
    ))
    fast = gw.compile(net, fullgraph=True)
    for batch in (4, 5, 6, 7):
        x = gw.rand(batch, 2, 3)
        assert gw.equal(fast(x), net(x))
        assert fast(x).shape == (batch, 6)


def test_a_branch_on_a_constant_is_no_graph_break() -> None:
    def branch(name: str, op: str) -> Any:
        return helper.make_graph([node(op, ["x"], ["out"])], name, [], [value("out")])

    both = {"then_branch": branch("then", "Neg"), "else_branch": branch("else", "Abs")}
    net = gw.onnx.load(model(
        [node("If", ["condition"], ["y"], **both)], {"x": (FLOAT, [2])}, ["y"],
        {"condition": np.array(True)},
    ))
    x = gw.tensor([1.0, -2.0])
    assert gw.compile(net, fullgraph=True)(x).tolist() == net(x).tolist() == [-1.0, 2.0]
    either = gw.onnx.load(model(
        [node("If", ["condition"], ["y"], **both)],
        {"condition": (BOOL, []), "x": (FLOAT, [2])}, ["y"],
    ))
    assert either(gw.tensor(False), x).tolist() == [1.0, 2.0]
    assert gw.compile(either)(gw.tensor(True), x).tolist() == [-1.0, 2.0]


def test_a_loop_runs_as_often_as_it_says() -> None:
    body = helper.make_graph(
        [node("Add", ["s", "x"], ["s2"]), node("Identity", ["go"], ["on"]),
         node("Identity", ["s2"], ["each"])],
        "body", [value("i", INT64, []), value("go", BOOL, []), value("s")],
        [value("on", BOOL, []), value("s2"), value("each")],
    )
    net = gw.onnx.load(model(
        [node("Loop", ["n", "", "zero"], ["y", "all"], body=body)],
        {"n": (INT64, []), "x": (FLOAT, [2])}, ["y", "all"],
        {"zero": np.zeros(2, dtype=np.float32)},
    ))
    y, each = net(gw.tensor(3), gw.tensor([1.0, 2.0]))
    assert y.tolist() == [3.0, 6.0]
    assert each.tolist() == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]


def test_functions_of_the_model_are_inlined() -> None:
    inner = helper.make_function(
        "own", "Scaled", ["a"], ["b"],
        [helper.make_node("Constant", [], ["c"]), node("Mul", ["a", "c"], ["b"])],
        [helper.make_opsetid("", 17)], ["factor"],
    )
    inner.node[0].attribute.add(name="value_float", type=1, ref_attr_name="factor")
    net = gw.onnx.load(model(
        [node("Scaled", ["x"], ["h"], domain="own", factor=3.0),
         node("Scaled", ["h"], ["y"], domain="own", factor=0.5)],
        {"x": (FLOAT, [2])}, ["y"], functions=[inner], domains={"own": 1},
    ))
    assert net(gw.tensor([2.0, 4.0])).tolist() == [3.0, 6.0]


def test_a_model_is_exported_for_a_range_of_sizes() -> None:
    net = gw.onnx.load(dense())
    rows = gw.export.Dim("rows", max=64)
    program = gw.export.export(net, (gw.rand(4, 3),), dynamic_shapes=({0: rows},))
    x = gw.rand(9, 3)
    assert gw.equal(program.module()(x), net(x))


def test_the_backend_runs_models_and_nodes_on_arrays() -> None:
    from graphwright.onnx import backend

    x = np.array([[1.0, 2.0, 3.0]], dtype=np.float32)
    (result,) = backend.prepare(dense(), "CPU").run([x])
    assert result.dtype == np.float32 and result.tolist() == [[2.0, 3.0, 4.0, 1.0]]
    assert backend.run_model(dense(), {"x": x})[0].tolist() == result.tolist()
    (summed,) = backend.run_node(node("Add", ["a", "b"], ["c"]), [x, x])
    assert summed.tolist() == [[2.0, 4.0, 6.0]]
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    with pytest.raises(TypeError, match="no option 'fast'"):
        backend.prepare(dense(), "CPU", fast=True)
    with pytest.raises(ValueError, match="no device 'CUDA'"):
        backend.prepare(dense(), "CUDA")


def test_inputs_are_given_by_position_or_name_and_checked() -> None:
    net = gw.onnx.load(model(
        [node("Sub", ["a", "b"], ["y"])], {"a": (FLOAT, [1]), "b": (FLOAT, [1])}, ["y"],
    ))
    a, b = gw.tensor([3.0]), gw.tensor([1.0])
    assert net(a, b=b).tolist() == net(b=b, a=a).tolist() == [2.0]
    with pytest.raises(TypeError, match="inputs are missing: b"):
        net(a)
    with pytest.raises(TypeError, match="no further input 'c'"):
        net(a, b, c=b)
    with pytest.raises(TypeError, match=r"input 'b' is graphwright\.int64"):
        net(a, gw.tensor([1]))


def test_external_data(tmp_path: Path) -> None:
    proto = dense()
    onnx.save(proto, tmp_path / "model.onnx", save_as_external_data=True,
              location="weights.bin", size_threshold=0)
    assert (tmp_path / "weights.bin").stat().st_size > 0
    x = gw.rand(2, 3)
    assert gw.equal(gw.onnx.load(tmp_path / "model.onnx")(x), gw.onnx.load(dense())(x))
    moved = (tmp_path / "model.onnx").read_bytes()
    assert gw.equal(gw.onnx.load(moved, folder=tmp_path)(x), gw.onnx.load(dense())(x))


def test_all_unknown_operators_are_listed_at_once() -> None:
    proto = model(
        [node("Nonsense", ["x"], ["a"]), node("Other", ["a"], ["b"], domain="own"),
         node("CastMap", ["b"], ["y"], domain="ai.onnx.ml")],
        {"x": (FLOAT, [2])}, ["y"], domains={"own": 3, "ai.onnx.ml": 3},
    )
    with pytest.raises(gw.onnx.UnsupportedOperators) as caught:
        gw.onnx.load(proto)
    assert caught.value.operators == ["ai.onnx.Nonsense 17", "ai.onnx.ml.CastMap 1", "own.Other 3"]
    assert isinstance(caught.value, NotImplementedError)


def test_a_newer_opset_than_the_library_knows_is_refused_by_name() -> None:
    newest = onnx.defs.onnx_opset_version()
    proto = model([node("Abs", ["x"], ["y"])], {"x": (FLOAT, [1])}, ["y"], opset=newest + 1)
    with pytest.raises(gw.onnx.UnsupportedOperators, match=f"ai.onnx.Abs {newest + 1}"):
        gw.onnx.load(proto)


def test_strings_are_arrays_of_str() -> None:
    net = gw.onnx.load(model(
        [node("StringConcat", ["a", "b"], ["c"]), node("Unsqueeze", ["c", "axes"], ["y"])],
        {"a": (STRING, [2]), "b": (STRING, [2])}, ["y"], {"axes": np.array([1])}, opset=20,
    ))
    result = net(np.array(["x", "y"], dtype=object), np.array(["1", "2"], dtype=object))
    assert result.tolist() == [["x1"], ["y2"]]


def test_numbers_below_a_byte_are_unpacked() -> None:
    import ml_dtypes

    held = numpy_helper.from_array(np.array([-8, 7, 3], dtype=ml_dtypes.int4), "w")
    proto = model(
        [node("DequantizeLinear", ["w", "scale"], ["f"]), node("Add", ["f", "x"], ["y"])],
        {"x": (FLOAT, [3])}, ["y"], {"scale": np.array(0.5, dtype=np.float32)}, opset=21,
    )
    proto.graph.initializer.append(held)
    assert gw.onnx.load(proto)(gw.zeros(3)).tolist() == [-4.0, 3.5, 1.5]


def test_quantized_products_are_exact() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 256, (3, 1000)).astype(np.uint8)
    b = rng.integers(-128, 128, (1000, 5)).astype(np.int8)
    net = gw.onnx.load(model(
        [node("MatMulInteger", ["a", "b", "zero"], ["y"])],
        {"a": (2, [3, 1000])}, ["y"], {"b": b, "zero": np.array(128, dtype=np.uint8)},
    ))
    expected = (a.astype(np.int64) - 128) @ b.astype(np.int64)
    assert np.array_equal(net(gw.from_numpy(a)).numpy(), expected)


def test_without_the_library_an_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"graphwright\[onnx\]"):
        gw.onnx.load("model.onnx")
