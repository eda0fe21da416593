"""Files that are cut short, damaged or forged are refused with a sentence."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.onnx.models import BOOL, FLOAT, model, node, value
from tests.onnx.suite import cases

import graphwright as gw

onnx = pytest.importorskip("onnx", reason="the onnx library is not installed")


def dense() -> Any:
    return model(
        [node("MatMul", ["x", "w"], ["h"], name="product"), node("Relu", ["h"], ["y"])],
        {"x": (FLOAT, [2, 3])}, ["y"], {"w": np.ones((3, 4), dtype=np.float32)},
    )


def refused(proto: Any, text: str, folder: Path | None = None) -> None:
    with pytest.raises(gw.onnx.InvalidModel, match=text):
        gw.onnx.load(proto, folder=folder)


def test_a_file_cut_short() -> None:
    data = dense().SerializeToString()
    for end in range(1, len(data)):
        with pytest.raises(gw.onnx.InvalidModel):
            gw.onnx.load(data[:end])


def test_what_is_no_model() -> None:
    proto = dense()
    proto.ClearField("graph")
    refused(proto, "no graph")
    proto = dense()
    del proto.opset_import[:]
    refused(proto, "imports no operator set")
    with pytest.raises(gw.onnx.InvalidModel, match="not an ONNX model"):
        gw.onnx.load(b"<html>")
    with pytest.raises(FileNotFoundError):
        gw.onnx.load("there/is/none.onnx")
    with pytest.raises(TypeError, match="takes a path, bytes or a ModelProto, not int"):
        gw.onnx.load(3)


@pytest.mark.parametrize(("dims", "text"), [
    ([3, -4], "negative"), ([3, 5], "48 bytes of data, where sizes .* need 60"),
    ([2**40, 2**40], "need 4835703278458516698824704 bytes"), ([], "48 bytes .* need 4"),
])
def test_sizes_of_weights(dims: list[int], text: str) -> None:
    proto = dense()
    del proto.graph.initializer[0].dims[:]
    proto.graph.initializer[0].dims.extend(dims)
    refused(proto, f"tensor 'w': .*{text}")


def test_weights_that_do_not_fit() -> None:
    proto = dense()
    proto.graph.input.append(value("w", FLOAT, [4, 4]))
    refused(proto, r"initializer 'w' has sizes \[3, 4\]")
    proto = model(
        [node("MatMul", ["x", "w"], ["y"], name="product")], {"x": (FLOAT, [2, 3])}, ["y"],
        {"w": np.ones((7, 4), dtype=np.float32)},
    )
    with pytest.raises(gw.onnx.InvalidModel, match="node MatMul 'product': "):
        gw.onnx.load(proto)(gw.ones(2, 3))


def test_cycles_and_names() -> None:
    inputs = {"x": (FLOAT, [2])}
    refused(model([node("Add", ["x", "b"], ["a"]), node("Abs", ["a"], ["b"])], inputs, ["b"]),
            "reads 'b', which no earlier node computes")
    refused(model([node("Abs", ["x"], ["y"])], inputs, ["z"]), "the graph's output reads 'z'")
    refused(model([node("Abs", ["x"], ["y"]), node("Neg", ["x"], ["y"])], inputs, ["y"]),
            "the name 'y' is computed twice")


@pytest.mark.parametrize(("wrong", "text"), [
    (node("Add", ["x"], ["y"]), "1 inputs, where the operator takes 2"),
    (node("Add", ["x", ""], ["y"]), "the input 'B' is missing"),
    (node("Abs", ["x"], ["y", "z"]), "2 outputs, where the operator has 1"),
    (node("Abs", ["x"], ["y"], axis=1), "no attribute 'axis'"),
    (node("Softmax", ["x"], ["y"], axis="one"), "the attribute 'axis' is no INT"),
    (node("Cast", ["x"], ["y"]), "the attribute 'to' is missing"),
])
def test_nodes(wrong: Any, text: str) -> None:
    refused(model([wrong], {"x": (FLOAT, [2])}, ["y"]), text)


def test_names_are_never_code() -> None:
    """Steps run as lines of Python, in which names of the file are only keys."""
    odd = ["a'] = 1/0 #", 'b"\n  raise SystemExit', "c\\", "\u2028{0}", "values", "f0"]
    names = ["x", *odd, "y"]
    nodes = [node("Elu", [a], [b], name=b, alpha=float("inf") if a == "x" else 2.0)
             for a, b in itertools.pairwise(names)]
    net = gw.onnx.load(model(nodes, {"x": (FLOAT, [2])}, ["y"]))
    x = gw.tensor([1.0, 3.0])
    assert net(x).tolist() == gw.compile(net)(x).tolist() == [1.0, 3.0]
    normed = node("LpNormalization", ["x"], ["y"], name="' + 'n", p=7, axis=9)
    with pytest.raises(gw.onnx.InvalidModel, match="node LpNormalization "):
        gw.onnx.load(model([normed], {"x": (FLOAT, [2])}, ["y"]))(x)


def external(tmp_path: Path, **where: str) -> Any:
    """A model whose weight is in another file, where `where` says."""
    (tmp_path / "weights.bin").write_bytes(bytes(48))
    proto = dense()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = tensor.EXTERNAL
    for key, text in {"location": "weights.bin", **where}.items():
        tensor.external_data.add(key=key, value=text)
    return proto


@pytest.mark.parametrize(("where", "text"), [
    ({"location": "../weights.bin"}, "outside of the model's folder"),
    ({"location": "/etc/passwd"}, "outside of the model's folder"),
    ({"location": "link"}, "outside of the model's folder"),
    ({"location": "."}, "outside of the model's folder"),
    ({"location": ""}, "outside of the model's folder"),
    ({"location": "none.bin"}, "is no file"),
    ({"location": "a\0b"}, "names no file"),
    ({"offset": "8"}, "bytes 8 to 56 of 'weights.bin', which has 48"),
    ({"offset": "-8"}, "offset is '-8'"),
    ({"offset": "9" * 40}, "no number of bytes"),
    ({"length": "12"}, "12 bytes of external data, 48 are needed"),
])
def test_external_data(tmp_path: Path, where: dict[str, str], text: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "weights.bin").write_bytes(bytes(48))
    os.symlink(tmp_path / "weights.bin", folder / "link")
    refused(external(folder, **where), text, folder)


def test_external_data_of_a_model_without_a_folder(tmp_path: Path) -> None:
    refused(external(tmp_path), "the model has no folder")


def test_functions_that_call_each_other_without_end() -> None:
    """Each calls the one before twice: 2^30 nodes of a file of 30 functions."""
    from onnx import helper

    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    functions = []
    for k in range(30):
        calls = [node(f"F{k - 1}", [a], [b], domain="own") for a, b in ("ab", "bc")]
        calls = calls if k else [node("Abs", ["a"], ["c"])]
        functions.append(helper.make_function("own", f"F{k}", ["a"], ["c"], calls, imports))
    call = [node("F29", ["x"], ["y"], domain="own")]
    inputs, domains = {"x": (FLOAT, [2])}, {"own": 1}
    refused(model(call, inputs, ["y"], functions=functions, domains=domains), "too many")
    own = [helper.make_function("own", "F", ["a"], ["c"],
                                [node("F", ["a"], ["c"], domain="own")], imports)]
    refused(model([node("F", ["x"], ["y"], domain="own")], inputs, ["y"], functions=own,
                  domains=domains), "the function 'F' calls itself")


def test_bodies_deep_in_each_other() -> None:
    from onnx import helper

    inner = helper.make_graph([node("Abs", ["x"], ["o"])], "g", [], [value("o")])
    for _ in range(25):
        branch = helper.make_graph([node("Neg", ["x"], ["o"])], "e", [], [value("o")])
        deeper = node("If", ["c"], ["o"], then_branch=inner, else_branch=branch)
        inner = helper.make_graph([deeper], "g", [], [value("o")])
    inputs = {"x": (FLOAT, [2]), "c": (BOOL, [])}
    proto = model(inner.node, inputs, ["o"])
    assert gw.onnx.load(proto)(gw.tensor([-1.0, 2.0]), gw.tensor(True)).tolist() == [1.0, 2.0]


def test_many_nodes() -> None:
    count = 20_000
    names = ["x", *(f"v{i}" for i in range(count - 1)), "y"]
    nodes = [node("Neg", [a], [b]) for a, b in itertools.pairwise(names)]
    net = gw.onnx.load(model(nodes, {"x": (FLOAT, [2])}, ["y"]).SerializeToString())
    assert net(gw.ones(2)).tolist() == [1.0, 1.0]


def test_a_result_too_large_for_memory() -> None:
    proto = model([node("Expand", ["x", "n"], ["e"]), node("Add", ["e", "e"], ["y"])],
                  {"x": (FLOAT, [1])}, ["y"], {"n": np.array([2**50])})
    with pytest.raises((gw.onnx.InvalidModel, MemoryError)):
        gw.onnx.load(proto)(gw.ones(1))


@pytest.mark.parametrize("seed", range(4))
def test_random_damage(seed: int) -> None:
    """Bytes changed, removed or cut: a sentence, or a model that runs or refuses its inputs."""
    draw = random.Random(seed)
    small = [case for case in cases("pytorch-operator") if "symbolic" not in case.name]
    for _ in range(300):
        folder = Path(draw.choice(small).test.model_dir)
        data = bytearray((folder / "model.onnx").read_bytes())
        for _ in range(draw.choice((1, 2, 4))):
            place = draw.randrange(len(data))
            if draw.random() < 0.3:
                del data[place : place + draw.randrange(1, 4)]
            else:
                data[place] = draw.randrange(256)
        try:
            net = gw.onnx.load(bytes(data))
        except (gw.onnx.InvalidModel, gw.onnx.UnsupportedOperators) as error:
            assert str(error)
            continue
        with pytest.raises((gw.onnx.InvalidModel, TypeError)):
            net(*[gw.tensor([]) for _ in range(len(net.input_names) + 1)])


INTEGERS = (-1, 0, 1, 3, -2, 100, -(2**40), 2**62, -(2**63))


@pytest.mark.parametrize("seed", range(3))
def test_forged_attributes_and_inputs(seed: int) -> None:
    """Nodes with other numbers, fewer inputs, or of other operators run or are refused."""
    from onnx.backend.test.runner import _normalize_tensor

    from graphwright.onnx.importing.tensors import from_array

    draw = random.Random(seed)
    small = [case for case in cases("node") if not case.name.startswith(FORGED_TOO_LARGE)]
    for _ in range(150):
        case = draw.choice(small)
        proto = onnx.ModelProto()
        proto.CopyFrom(case.test.model)
        forged = draw.choice(proto.graph.node)
        numbers = [a for a in forged.attribute if a.type in (a.INT, a.INTS)]
        if numbers and draw.random() < 0.6:
            attribute = draw.choice(numbers)
            if attribute.type == attribute.INT:
                attribute.i = draw.choice(INTEGERS)
            else:
                attribute.ints.append(draw.choice(INTEGERS))
        elif forged.input and draw.random() < 0.7:
            del forged.input[draw.randrange(len(forged.input))]
        else:
            forged.op_type = draw.choice(small).test.model.graph.node[0].op_type
        given = [_normalize_tensor(x) for x in case.test.data_sets[0][0]]
        inputs = [x if isinstance(x, list) else from_array(np.asarray(x)) for x in given]
        try:
            with gw.no_grad():
                gw.onnx.load(proto)(*inputs)
        except (gw.onnx.InvalidModel, gw.onnx.UnsupportedOperators, TypeError) as error:
            assert str(error)


FORGED_TOO_LARGE = ("test_loop", "test_roialign", "test_col2im", "test_resize")
"""Where a large number asks for work that takes long, not for what cannot be."""
