"""`gw.onnx.export`: names, sizes, dtypes, files; and what it refuses, with nothing written."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.export import Dim
from graphwright.onnx import OnnxExporterError, ONNXProgram
from graphwright.onnx.exporting.registry import FORMS, Form

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")

needs_runtime = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None, reason="models are run by onnxruntime")
X = (gw.ones(3, 4),)


def plain(model: Any, args: Any, **options: Any) -> Any:
    """The model of an export that is not verified."""
    return gw.onnx.export(model, args, verify=False, **options).model_proto


def shapes(values: Any) -> dict[str, list[Any]]:
    return {one.name: [dim.dim_param or dim.dim_value for dim in one.type.tensor_type.shape.dim]
            for one in values}


class Net(nn.Module):
    """Two layers, called with a keyword."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 5), nn.Linear(5, 2)

    def forward(self, x: Any, scale: Any = None) -> Any:
        hidden = gw.relu(self.first(x))
        return self.last(hidden) if scale is None else self.last(hidden) * scale


# -- what a file says


def test_names_sizes_and_lines_are_those_of_the_program() -> None:
    batch = Dim("batch", max=64)
    model = plain(Net(), X, dynamic_shapes=({0: batch},))
    assert [node.op_type for node in model.graph.node] == ["Gemm", "Relu", "Gemm"]
    assert [node.name for node in model.graph.node] == ["linear", "relu", "linear_1"]
    assert {one.name for one in model.graph.initializer} == {
        "first.weight", "first.bias", "last.weight", "last.bias"}
    assert shapes(model.graph.input) == {"x": ["batch", 4]}
    assert shapes(model.graph.output) == {"linear_1": ["batch", 2]}
    assert shapes(model.graph.value_info) == {"linear": ["batch", 5], "relu": ["batch", 5]}
    line = {one.key: one.value for one in model.graph.node[1].metadata_props}["source"]
    assert line.startswith("test_export.py:") and "gw.relu(self.first(x))" in line
    assert {one.key: one.value for one in model.metadata_props} == {"size.batch": "[1, 64]"}
    assert model.producer_name == "graphwright"


def test_names_may_be_given() -> None:
    model = plain(Net(), (), kwargs={"x": gw.ones(3, 4), "scale": gw.ones(2)},
                  input_names=["given"], output_names=["found"])
    assert [one.name for one in model.graph.input] == ["given", "scale"]
    assert [one.name for one in model.graph.output] == ["found"]


def test_sizes_that_follow_from_others_are_computed_once() -> None:
    def halves(x: Any) -> Any:
        both = x.reshape(x.shape[0] // 2, 2, x.shape[1])
        return both, x.new_zeros(x.shape[0] // 2, 2, x.shape[1])

    model = plain(halves, (gw.ones(6, 3),), dynamic_shapes=({0: Dim.DYNAMIC},))
    assert shapes(model.graph.output)["reshape"] == ["s0//2", 2, 3]
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("Shape") == 1 and kinds.count("Div") == 1
    assert {one.key: one.value for one in model.metadata_props}["sizes"] == (
        "6*(s0//2) == 3*s0")


@needs_runtime
def test_texts_are_names_of_dynamic_sizes() -> None:
    named = gw.onnx.export(Net(), X, dynamic_shapes=({0: "n"},))
    assert shapes(named.model_proto.graph.input) == {"x": ["n", 4]}
    older = gw.onnx.export(Net(), X, input_names=["data"], output_names=["y"],
                           dynamic_axes={"data": {0: "n"}, "y": {0: "n"}})
    assert shapes(older.model_proto.graph.input) == {"data": ["n", 4]}
    assert older(gw.ones(9, 4))[0].shape == (9, 2)


def test_results_that_are_inputs_or_given_twice_have_names_of_their_own() -> None:
    def same(x: Any) -> Any:
        y = x + 1
        return x, y, y, {"number": 3, "view": y.reshape(-1)}

    model = plain(same, X)
    names = [one.name for one in model.graph.output]
    assert len(set(names)) == 4 and "x" not in names


@needs_runtime
def test_what_is_written_in_place_is_a_further_output() -> None:
    def write(x: Any, cache: Any) -> Any:
        cache[:, 1:3] = x
        cache.t()[0].mul_(2)
        return cache.sum() + x.sum()

    x, cache = gw.rand(3, 2), gw.rand(3, 4)
    made = gw.onnx.export(write, (x, cache.clone()))
    assert [one.name for one in made.model_proto.graph.output] == ["add", "cache_updated"]
    total, updated = made(x, cache)
    wanted = cache.clone()
    assert gw.allclose(write(x, wanted), total, atol=1e-5) and gw.allclose(wanted, updated)


@needs_runtime
def test_an_exported_program_is_written_as_it_is(tmp_path: Path) -> None:
    program = gw.export.export(Net(), X, dynamic_shapes=({0: Dim("n")},))
    gw.export.save(program, tmp_path / "net.gwx")
    again = gw.export.load(tmp_path / "net.gwx")
    made = gw.onnx.export(again, X)
    assert gw.allclose(made(gw.ones(7, 4))[0], program.module()(gw.ones(7, 4)), atol=1e-6)
    with pytest.raises(ValueError, match="takes 1 tensors; args has 0"):
        gw.onnx.export(again)


@needs_runtime
def test_a_program_is_tested_each_time_that_it_is_written() -> None:
    """What the first export assumed of sizes is not taken for granted by the second."""
    def spread(x: Any) -> Any:
        return gw.var(x, correction=1.5)

    x = gw.rand(4, 3)
    program = gw.export.export(spread, (x,), dynamic_shapes=({0: Dim.DYNAMIC},))
    for _ in range(2):
        with pytest.raises(OnnxExporterError, match=r"would hold only where .*s0"):
            gw.onnx.export(program, (x,))


def test_code_may_ask_whether_it_is_exported() -> None:
    def choose(x: Any) -> Any:
        return x + 1 if gw.onnx.is_in_onnx_export() else x.sin()

    assert [node.op_type for node in plain(choose, X).graph.node] == ["Add"]
    assert not gw.onnx.is_in_onnx_export()
    compiled = gw.compile(choose, fullgraph=True)
    assert gw.allclose(compiled(*X), X[0].sin())


def test_under_the_other_name(tmp_path: Path) -> None:
    import like_torch as torch

    path = tmp_path / "net.onnx"
    made = torch.onnx.export(Net(), X, path, dynamo=True, verify=False, verbose=False)
    assert isinstance(made, ONNXProgram) and path.exists()


# -- dtypes


@needs_runtime
@pytest.mark.parametrize("dtype", [gw.float16, gw.float64, gw.int64, gw.int32, gw.uint8, gw.int8],
                         ids=str)
def test_dtypes_are_kept(dtype: Any) -> None:
    def compute(x: Any) -> Any:
        return x * 3 + x, x > 2, (x + 0.5).sum(), x.cumsum(0)[::2], x.to(gw.float32) / 3

    x = gw.arange(6).reshape(2, 3).to(dtype)
    made = gw.onnx.export(compute, (x,))
    for found, wanted in zip(made(x), compute(x), strict=True):
        assert found.dtype is wanted.dtype and gw.allclose(found, wanted, atol=1e-3)


def test_bfloat16_is_bfloat16() -> None:
    """By ONNX's own evaluator: onnxruntime has no such kernels on CPUs."""
    from onnx.reference import ReferenceEvaluator

    model = Net().to(gw.bfloat16)
    x = gw.rand(3, 4).to(gw.bfloat16)
    proto = plain(model, (x,))
    onnx.checker.check_model(proto, full_check=True)
    assert proto.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16
    found = ReferenceEvaluator(proto).run(None, {"x": x._nd})[0]
    with gw.no_grad():
        wanted = model(x).float().numpy()
    np.testing.assert_allclose(found.astype(np.float32), wanted, atol=2e-2)


@pytest.mark.parametrize("reads", [True, False])
def test_what_onnxruntime_lacks_is_read_by_graphwright(
    reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """onnxruntime has no kernels for bfloat16 on CPUs."""
    x = gw.rand(3).to(gw.bfloat16)
    if reads:
        made = gw.onnx.export(gw.exp, (x,), dynamic_shapes=({0: Dim.DYNAMIC},))
        assert made.verified_by == "graphwright.onnx.load"
        assert gw.equal(made(x)[0], gw.exp(x))
    else:
        monkeypatch.setattr("graphwright.onnx.exporting.running.load", refuse)
        with pytest.raises(OnnxExporterError, match=r"cannot read it .*: Exp\)"):
            gw.onnx.export(gw.exp, (x,))


def refuse(model: Any) -> Any:
    raise gw.onnx.UnsupportedOperators(["Exp"])


# -- files


@needs_runtime
@pytest.mark.parametrize("verify", [False, True])
def test_large_tensors_in_a_file_of_their_own(tmp_path: Path, verify: bool) -> None:
    import onnxruntime

    model = nn.Sequential(nn.Linear(40, 50), nn.Linear(50, 2)).eval()
    x = gw.rand(3, 40)
    path = tmp_path / "net.onnx"
    gw.onnx.export(model, (x,), path, external_data=True, verify=verify)
    assert sorted(os.listdir(tmp_path)) == ["net.onnx", "net.onnx.data"]
    assert path.stat().st_size < 3000
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with gw.no_grad():
        np.testing.assert_allclose(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0],
                                   model(x).numpy(), atol=1e-5)


def test_models_beyond_the_limit_of_one_file_are_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphwright.onnx.exporting.program.LARGEST", 100)
    gw.onnx.export(Net(), X, tmp_path / "net.onnx", verify=False)
    assert "net.onnx.data" in os.listdir(tmp_path)


def test_weights_may_be_inputs() -> None:
    model = plain(nn.Linear(4, 2), X, keep_initializers_as_inputs=True)
    assert [one.name for one in model.graph.input] == ["input", "weight", "bias"]


# -- verification


def _wrong(g: Any, out: Any, x: Any) -> Any:
    return g.op("Sin", x)


def _wrong_beyond(g: Any, out: Any, x: Any) -> Any:
    """exp of the first three rows, others left out: right for the example."""
    rows = g.op("Slice", g.op("Exp", x), [0], [3], [0])
    rest = g.op("Slice", x, [3], [100], [0])
    return g.op("Concat", rows, rest, axis=0)


def _chain(x: Any) -> Any:
    y = gw.exp(x)
    z = gw.tanh(y)
    return gw.sum(gw.cos(z), 0) + z.mean(0)


@needs_runtime
def test_a_wrong_form_is_found_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first value that differs is named, with the user's line."""
    monkeypatch.setitem(FORMS, "tanh", [Form(_wrong, 18, None)])
    for external in (False, True):
        with pytest.raises(OnnxExporterError, match=r"onnxruntime's output 'add' differs by up to "
                           r".*the first value that differs is 'tanh' \(tanh, .*z = gw.tanh\(y\)"):
            gw.onnx.export(_chain, X, tmp_path / "x.onnx", external_data=external)
    assert os.listdir(tmp_path) == []
    gw.onnx.export(_chain, X, tmp_path / "x.onnx", verify=False)
    assert os.listdir(tmp_path) == ["x.onnx"]


@needs_runtime
def test_a_file_that_is_right_for_the_example_alone_is_found(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMS, "exp", [Form(_wrong_beyond, 18, None)])
    with pytest.raises(OnnxExporterError, match=r"with inputs of float32\[4, 4\].*'exp'"):
        gw.onnx.export(gw.exp, X, dynamic_shapes=({0: Dim("n")},))


@needs_runtime
def test_random_numbers_cannot_be_verified() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    with pytest.raises(OnnxExporterError, match="draws random numbers by dropout"):
        gw.onnx.export(model, X)
    kinds = [node.op_type for node in plain(model, X).graph.node]
    assert kinds == ["Gemm", "Dropout"]
    assert [node.op_type for node in plain(model.eval(), X).graph.node] == ["Gemm"]


def test_nothing_is_written_where_nothing_runs_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec",
                        lambda name, *rest: None if name == "onnxruntime" else found(name, *rest))
    made = gw.onnx.export(Net(), X, tmp_path / "net.onnx")
    assert made.verified_by == "graphwright.onnx.load"
    os.remove(tmp_path / "net.onnx")
    monkeypatch.setattr("graphwright.onnx.exporting.running.load", refuse)
    with pytest.raises(OnnxExporterError, match="onnxruntime is not installed"):
        gw.onnx.export(Net(), X, tmp_path / "net.onnx")
    assert os.listdir(tmp_path) == []


# -- refusals


def by_values(x: Any) -> Any:
    return x + 1 if x.sum() > 0 else x


def lacking(x: Any) -> Any:
    return gw.lgamma(x) + gw.special.i1(x) + gw.lgamma(x * 2) + gw.fft.rfft(x).abs().sum()


def needs_threes(x: Any) -> Any:
    return x.reshape(3, -1)


@pytest.mark.parametrize(("model", "options", "text"), [
    (by_values, {}, "depends on the values of tensors"),
    (needs_threes, {"dynamic_shapes": ({0: Dim("n")},)}, "the program holds only where"),
    (gw.exp, {"dynamic_shapes": ({0: Dim("n", max=2)},)}, "is 3, which Dim.*excludes"),
])
def test_programs_that_no_file_holds(model: Any, options: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(OnnxExporterError, match=text):
        gw.onnx.export(model, X, tmp_path / "x.onnx", **options)
    assert os.listdir(tmp_path) == []


def test_all_ops_without_a_form_are_listed_at_once(tmp_path: Path) -> None:
    with pytest.raises(OnnxExporterError) as raised:
        gw.onnx.export(lacking, X, tmp_path / "x.onnx")
    text = str(raised.value)
    assert text.startswith("these have no ONNX form at opset 23: lgamma (")
    for name in ("lgamma (", "special_i1 (", "fft_r2c (", "a tensor of complex64 ("):
        assert text.count(name) == 1
    assert "return gw.lgamma(x)" in text and os.listdir(tmp_path) == []


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: gw.onnx.export(Net(), X, opset_version=17), ValueError, "from 18 to 26, not 17"),
    (lambda: gw.onnx.export(Net(), X, nonsense=1), TypeError, "unexpected keyword.*nonsense"),
    (lambda: gw.onnx.export(Net(), X, custom_translation_table={1: 2}), NotImplementedError,
     "custom_translation_table"),
    (lambda: gw.onnx.export(Net(), X, report=True), NotImplementedError, "report=True"),
    (lambda: gw.onnx.export(Net(), X, input_names=["a", "a"]), ValueError, "'a' names more than"),
    (lambda: gw.onnx.export(Net(), X, input_names=["a", "b"]), ValueError, "2 names for 1 inputs"),
    (lambda: gw.onnx.export(Net(), X, output_names=["a", "b"]), ValueError,
     "2 names for 1 outputs"),
    (lambda: gw.onnx.export(Net(), X, dynamic_axes={"x": {0: "n"}}), ValueError, "input_names"),
    (lambda: gw.onnx.export(3, X), TypeError, "a function or a module, not int"),
    (lambda: gw.onnx.export(Net(), X, "no/such/folder/x.onnx"), FileNotFoundError, "no such"),
    (lambda: gw.onnx.export(Net(), X, "/proc/x.onnx"), OSError, "proc"),
    (lambda: gw.onnx.export(Net(), X, "/"), OSError, "folder"),
])
def test_arguments_that_are_refused(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'graphwright\[onnx\]'"):
        gw.onnx.export(Net(), X)
