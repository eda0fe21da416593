"""Operators that the node tests leave out, compared with onnx's reference or ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.onnx.models import FLOAT, model, node

import graphwright as gw

pytest.importorskip("onnx", reason="the onnx library is not installed")

from onnx.reference import ReferenceEvaluator

ML = "ai.onnx.ml"
RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def single(
    op: str, inputs: dict[str, np.ndarray], outputs: int = 1, *, opset_version: int = 17,
    domain: str = "", version: int = 1, named: list[str] | None = None, **attributes: Any,
) -> Any:
    """A model of one node."""
    from onnx import helper

    names = [f"y{i}" for i in range(outputs)]
    made = node(op, named or list(inputs), names, domain=domain, **attributes)
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in inputs.items()}
    return model(
        [made], {name: (kinds[name], x.shape) for name, x in inputs.items()}, names,
        opset=opset_version, domains={domain: version} if domain else None,
    )


def results(proto: Any, inputs: dict[str, np.ndarray], compiled: bool = False) -> list[Any]:
    net = gw.onnx.load(proto)
    with gw.no_grad():
        found = (gw.compile(net) if compiled else net)(*map(gw.from_numpy, inputs.values()))
    found = found if isinstance(found, tuple) else (found,)
    return [x.numpy() if isinstance(x, gw.Tensor) else x for x in found]


def equal(found: list[Any], expected: list[Any], tolerance: float = 1e-5) -> None:
    for a, b in zip(found, expected, strict=True):
        if b.dtype.kind in "OU":
            assert a.tolist() == b.tolist()
        else:
            assert a.dtype == b.dtype and a.shape == b.shape
            assert np.allclose(a, b, rtol=tolerance, atol=tolerance)


def tree(rng: np.random.Generator, depth: int, n_features: int) -> dict[str, list[Any]]:
    """A whole tree: nodes are numbered from the root, level by level."""
    inner, count = 2**depth - 1, 2 ** (depth + 1) - 1
    split = [i < inner for i in range(count)]
    return {
        "nodes_treeids": [0] * count, "nodes_nodeids": list(range(count)),
        "nodes_featureids": [int(rng.integers(n_features)) if s else 0 for s in split],
        "nodes_values": [float(np.float32(rng.standard_normal())) if s else 0.0 for s in split],
        "nodes_modes": ["BRANCH_LEQ" if s else "LEAF" for s in split],
        "nodes_truenodeids": [2 * i + 1 if s else 0 for i, s in enumerate(split)],
        "nodes_falsenodeids": [2 * i + 2 if s else 0 for i, s in enumerate(split)],
    }


def forest(rng: np.random.Generator, title: str, n_targets: int) -> dict[str, list[Any]]:
    """Three trees, each leaf of which adds to one target; `title` is "target" or "class"."""
    whole: dict[str, list[Any]] = {}
    for number in range(3):
        one = tree(rng, 2 + number, 4)
        one["nodes_treeids"] = [number] * len(one["nodes_treeids"])
        leaves = [i for i, mode in enumerate(one["nodes_modes"]) if mode == "LEAF"]
        one[f"{title}_treeids"] = [number] * len(leaves)
        one[f"{title}_nodeids"] = leaves
        one[f"{title}_ids"] = [int(rng.integers(n_targets)) for _ in leaves]
        one[f"{title}_weights"] = [float(np.float32(rng.random())) for _ in leaves]
        for key, values in one.items():
            whole.setdefault(key, []).extend(values)
    return whole


MACHINE_LEARNING: dict[str, Callable[[], tuple[str, dict[str, Any], int]]] = {
    "linear regressor": lambda: ("LinearRegressor", {
        "coefficients": floats(8).tolist(), "intercepts": [0.5, -1.0], "targets": 2}, 1),
    "linear classifier": lambda: ("LinearClassifier", {
        "coefficients": floats(12).tolist(), "intercepts": [0.1, 0.2, 0.3],
        "classlabels_ints": [5, 6, 7], "post_transform": "SOFTMAX"}, 2),
    "labels of a linear classifier": lambda: ("LinearClassifier", {
        "coefficients": floats(12).tolist(), "intercepts": [0.1, 0.2, 0.3],
        "classlabels_strings": ["a", "b", "c"]}, 2),
    "regression by trees": lambda: ("TreeEnsembleRegressor", {
        **forest(np.random.default_rng(1), "target", 2), "n_targets": 2}, 1),
    "averages of trees": lambda: ("TreeEnsembleRegressor", {
        **forest(np.random.default_rng(2), "target", 1), "n_targets": 1,
        "aggregate_function": "AVERAGE"}, 1),
    "largest leaves of trees": lambda: ("TreeEnsembleRegressor", {
        **forest(np.random.default_rng(3), "target", 1), "n_targets": 1,
        "aggregate_function": "MAX"}, 1),
    "classes by trees": lambda: ("TreeEnsembleClassifier", {
        **forest(np.random.default_rng(4), "class", 3), "classlabels_int64s": [3, 4, 5]}, 2),
    "a polynomial kernel": lambda: ("SVMRegressor", {
        "coefficients": floats(3).tolist(), "support_vectors": floats(12).tolist(),
        "n_supports": 3, "kernel_type": "POLY", "kernel_params": [0.5, 1.0, 3.0],
        "rho": [0.25]}, 1),
    "a radial kernel": lambda: ("SVMRegressor", {
        "coefficients": floats(3).tolist(), "support_vectors": floats(12).tolist(),
        "n_supports": 3, "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 0.0],
        "rho": [0.25]}, 1),
    "lengths": lambda: ("Normalizer", {"norm": "L2"}, 1),
    "sums": lambda: ("Normalizer", {"norm": "L1"}, 1),
    "scales": lambda: ("Scaler", {"offset": [1.0, 2.0, 3.0, 4.0], "scale": [2.0] * 4}, 1),
    "missing values": lambda: ("Imputer", {
        "imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": 0.0}, 1),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("title", MACHINE_LEARNING)
def test_machine_learning(title: str, compiled: bool) -> None:
    op, attributes, outputs = MACHINE_LEARNING[title]()
    inputs = {"x": floats(6, 4)}
    inputs["x"][0, 1] = 0
    proto = single(op, inputs, outputs, domain=ML, version=3 if "Tree" in op else 1, **attributes)
    expected = ReferenceEvaluator(proto).run(None, inputs)
    equal(results(proto, inputs, compiled), expected)


def test_a_large_forest_is_one_graph() -> None:
    """Its 4,000 nodes are tables, not a loop in Python."""
    whole: dict[str, list[Any]] = {}
    for number in range(2):
        one = tree(np.random.default_rng(number), 10, 4)
        one["nodes_treeids"] = one["target_treeids"] = [number] * len(one["nodes_modes"])
        one["target_nodeids"] = list(one["nodes_nodeids"])
        one["target_ids"] = [0] * len(one["nodes_modes"])
        one["target_weights"] = [float(mode == "LEAF") * i
                                 for i, mode in enumerate(one["nodes_modes"])]
        for key, values in one.items():
            whole.setdefault(key, []).extend(values)
    inputs = {"x": floats(7, 4)}
    proto = single("TreeEnsembleRegressor", inputs, domain=ML, version=3, n_targets=1, **whole)
    fast = gw.compile(gw.onnx.load(proto), fullgraph=True)
    found = [fast(gw.from_numpy(inputs["x"])).numpy()]
    equal(found, ReferenceEvaluator(proto).run(None, inputs))


def test_zero_points_of_rows_in_batches() -> None:
    inputs = {
        "a": integers(0, 256, "uint8", 2, 3, 4), "a_scale": floats(2, 3, 1),
        "a_zero": integers(0, 256, "uint8", 2, 3, 1), "b": integers(0, 256, "uint8", 2, 4, 5),
        "b_scale": floats(2, 1, 5), "b_zero": integers(0, 256, "uint8", 2, 1, 5),
        "y_scale": scalar(1000.0), "y_zero": scalar(100, "uint8"),
    }
    a, b = [(inputs[x].astype(np.float32) - inputs[f"{x}_zero"]) * inputs[f"{x}_scale"]
            for x in "ab"]
    expected = np.clip(np.round(a @ b / 1000) + 100, 0, 255).astype(np.uint8)
    equal(results(single("QLinearMatMul", inputs, opset_version=21), inputs), [expected])


@pytest.mark.parametrize(("op", "gates", "states"), [("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_recurrent_layers_by_the_runtime_equal_their_steps(
    op: str, gates: int, states: int, direction: str
) -> None:
    """A clip that clips nothing keeps the layer from the kernel of the usual activations."""
    count, hidden = 2 if direction == "bidirectional" else 1, 5
    inputs = {
        "x": floats(7, 3, 4), "w": floats(count, gates * hidden, 4),
        "r": floats(count, gates * hidden, hidden), "b": floats(count, 2 * gates * hidden),
        "h": floats(count, 3, hidden),
    }
    named = ["x", "w", "r", "b", "", "h"]
    if op == "LSTM":
        inputs["c"] = floats(count, 3, hidden)
        named.append("c")
    options: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if op == "GRU":
        options["linear_before_reset"] = 1
    fast = single(op, inputs, 1 + states, named=named, **options)
    slow = single(op, inputs, 1 + states, named=named, clip=1e6, **options)
    equal(results(fast, inputs), results(slow, inputs), 1e-4)


def test_the_older_name_of_rms_normalization() -> None:
    """ONNX Runtime has it in the default domain, where the onnx library has none."""
    inputs = {"x": floats(3, 4), "scale": floats(4)}
    proto = single("SimplifiedLayerNormalization", inputs, epsilon=1e-5, axis=-1)
    x, scale = inputs.values()
    expected = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale
    equal(results(proto, inputs), [expected])


def test_linear_resize_is_that_of_interpolate() -> None:
    net = gw.onnx.load(model(
        [node("Resize", ["x", "", "scales"], ["y"], mode="linear")], {"x": (FLOAT, None)}, ["y"],
        {"scales": np.array([1, 1, 2, 2], dtype=np.float32)},
    ))
    fast = gw.compile(net, fullgraph=True)
    for size in (5, 6, 7):
        x = gw.rand(2, 3, size, 4)
        expected = gw.nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        assert gw.allclose(net(x), expected, atol=1e-6)
        assert gw.allclose(fast(x), expected, atol=1e-6)


def integers(low: int, high: int, dtype: str, *shape: int) -> np.ndarray:
    return RNG.integers(low, high, shape).astype(dtype)


def scalar(number: float, dtype: str = "float32") -> np.ndarray:
    return np.array(number, dtype=dtype)


def quantized(name: str, *shape: int, scale: float = 0.05) -> dict[str, np.ndarray]:
    return {name: integers(0, 256, "uint8", *shape), f"{name}_scale": scalar(scale),
            f"{name}_zero": scalar(120, "uint8")}


def output() -> dict[str, np.ndarray]:
    return {"y_scale": scalar(0.1), "y_zero": scalar(128, "uint8")}


MICROSOFT: dict[str, tuple[dict[str, np.ndarray], dict[str, Any]]] = {
    "Gelu": ({"x": floats(3, 4)}, {}),
    "BiasGelu": ({"x": floats(3, 4), "b": floats(4)}, {}),
    "FastGelu": ({"x": floats(3, 4), "b": floats(4)}, {}),
    "QuickGelu": ({"x": floats(3, 4)}, {}),
    "SkipLayerNormalization": (
        {"x": floats(2, 3, 4), "s": floats(2, 3, 4), "g": floats(4), "b": floats(4)}, {}),
    "SkipSimplifiedLayerNormalization": (
        {"x": floats(2, 3, 4), "s": floats(2, 3, 4), "g": floats(4)}, {"epsilon": 1e-5}),
    "EmbedLayerNormalization": (
        {"ids": integers(0, 9, "int32", 2, 3), "kinds": integers(0, 2, "int32", 2, 3),
         "words": floats(9, 4), "places": floats(5, 4), "of_kinds": floats(2, 4),
         "g": floats(4), "b": floats(4)}, {}),
    "Attention": (
        {"x": floats(2, 5, 8), "w": floats(8, 24), "b": floats(24),
         "mask": np.array([5, 3], dtype=np.int32)}, {"num_heads": 2}),
    "MultiHeadAttention": (
        {"q": floats(2, 3, 8), "k": floats(2, 5, 8), "v": floats(2, 5, 8), "b": floats(24)},
        {"num_heads": 2}),
    "FusedMatMul": ({"a": floats(2, 3, 4), "b": floats(2, 5, 4)}, {"transB": 1, "alpha": 0.5}),
    "FusedConv": ({"x": floats(1, 2, 6, 6), "w": floats(3, 2, 3, 3), "b": floats(3)},
                  {"activation": "Relu", "pads": [1, 1, 1, 1]}),
    "DynamicQuantizeMatMul": (
        {"a": floats(3, 8), "b": integers(-127, 128, "int8", 8, 5), "s": scalar(0.02)}, {}),
    "MatMulIntegerToFloat": (
        {"a": integers(0, 256, "uint8", 3, 8), "b": integers(-127, 128, "int8", 8, 5),
         "s": scalar(0.1), "t": scalar(0.02), "z": scalar(100, "uint8")}, {}),
    "MatMulNBits": (
        {"a": floats(3, 32), "b": integers(0, 256, "uint8", 6, 2, 8), "s": floats(12)},
        {"K": 32, "N": 6, "block_size": 16, "bits": 4}),
    "QLinearAdd": ({**quantized("a", 3, 4), **quantized("b", 3, 4), **output()}, {}),
    "QLinearMul": ({**quantized("a", 3, 4), **quantized("b", 3, 4), **output()}, {}),
    "QLinearSigmoid": ({**quantized("a", 3, 4), "y_scale": scalar(1 / 256),
                        "y_zero": scalar(0, "uint8")}, {}),
    "QLinearSoftmax": ({**quantized("a", 3, 4), "y_scale": scalar(1 / 256),
                        "y_zero": scalar(0, "uint8")}, {"axis": -1, "opset": 13}),
    "DynamicQuantizeLSTM": (
        {"x": floats(5, 2, 3), "w": integers(0, 256, "uint8", 2, 3, 16),
         "r": integers(0, 256, "uint8", 2, 4, 16), "b": floats(2, 32),
         "ws": np.full(2, 0.01, "float32"), "wz": np.full(2, 128, "uint8"),
         "rs": np.full(2, 0.01, "float32"), "rz": np.full(2, 128, "uint8")},
        {"hidden_size": 4, "direction": "bidirectional"}),
    "QLinearLeakyRelu": ({**quantized("a", 3, 4), **output()}, {"alpha": 0.1}),
    "QLinearGlobalAveragePool": ({**quantized("a", 1, 3, 4, 4), **output()}, {}),
    "QLinearAveragePool": ({**quantized("a", 1, 3, 4, 4), **output()}, {"kernel_shape": [2, 2]}),
    "QLinearConcat": ({**output(), **quantized("a", 2, 4), **quantized("b", 3, 4, scale=0.07)},
                      {"axis": 0}),
    "QGemm": ({**quantized("a", 3, 8), "b": integers(-127, 128, "int8", 8, 5),
               "b_scale": scalar(0.02), "b_zero": scalar(0, "int8"),
               "c": integers(-100, 100, "int32", 5), "y_scale": scalar(0.5),
               "y_zero": scalar(128, "uint8")}, {}),
}


@pytest.mark.oracle
@pytest.mark.parametrize("op", MICROSOFT)
def test_operators_of_onnx_runtime(op: str) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="the oracle is not installed")
    inputs, attributes = MICROSOFT[op]
    outputs = 2 if op == "EmbedLayerNormalization" else 1
    named = list(inputs)
    if op == "DynamicQuantizeLSTM":
        named[4:4] = [""] * 4  # neither lengths nor states nor peepholes
    proto = single(op, inputs, outputs, domain="com.microsoft", named=named, **attributes)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # quantized layers depend on their number
    expected = runtime.InferenceSession(proto.SerializeToString(), options).run(None, inputs)
    found = results(proto, inputs)
    if expected[0].dtype == np.uint8:  # halves are rounded by float32 products in another order
        assert np.abs(found[0].astype(int) - expected[0]).max() <= 1
        assert (found[0] == expected[0]).mean() >= 0.9
    else:
        equal(found, expected, 1e-4)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("UINT4", 0, 15), ("INT4", -8, 7), ("UINT2", 0, 3), ("INT2", -2, 1)])
def test_floats_become_small_integers(kind: str, low: int, high: int, compiled: bool) -> None:
    """Cut towards zero; beyond the range, where ONNX leaves it open, they wrap around."""
    from onnx import TensorProto

    x = np.array([low, high, 0.75, high - 0.25, high + 1, low - 1], np.float32)
    proto = single("Cast", {"x": x}, opset_version=25, to=getattr(TensorProto, kind))
    (found,) = results(proto, {"x": x}, compiled)
    assert found.tolist() == [low, high, 0, high - 1, low, high]
