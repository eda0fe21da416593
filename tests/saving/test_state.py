"""Nested states: round trips, shared memory, resumed training, what is refused."""

from __future__ import annotations

import io
import json
import math
import pickle
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn
from graphwright.optim import lr_scheduler
from graphwright.saving import InvalidFile, save_file

KINDS = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]  # fmt: skip


def _round_trip(value: Any, tmp_path: Path, **options: Any) -> Any:
    gw.save(value, tmp_path / "state")
    return gw.load(tmp_path / "state", **options)


def test_structures(tmp_path: Path) -> None:
    value = {
        "none": None, "flags": (True, False), "numbers": [1, -2.5, 10**30, 1e-320, -0.0],
        "odd": [math.inf, -math.inf, 3 + 4j, b"\x00\xff", "\ud800 é ☃"],
        3: {"tuple": ((), [], {}), (1, "a"): 2, None: 4, 1.5: 5, True: 6},
        "ordered": OrderedDict([("b", 1), ("a", 2)]), "counter": Counter([3, 3, 5]),
        "set": {1, 2}, "dtype": gw.bfloat16, "device": gw.device("cpu"), "": "empty",
        "size": gw.Size((2, 3)), "nowhere": gw.Size(()), "layout": gw.strided,
        "array": bytearray(b"\x00\xff"),
    }  # fmt: skip
    found = _round_trip(value, tmp_path)
    assert found == value and list(found) == list(value)
    assert type(found["ordered"]) is OrderedDict and type(found["counter"]) is Counter
    assert type(found["size"]) is gw.Size and found["size"].numel() == 6
    assert type(found["array"]) is bytearray and found["layout"] is gw.strided
    assert math.copysign(1, found["numbers"][4]) == -1
    assert math.isnan(_round_trip(math.nan, tmp_path))
    assert _round_trip([np.float32(0.5), np.int64(3), np.bool_(True)], tmp_path) == [0.5, 3, True]


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_tensors(tmp_path: Path, name: str, mmap: bool) -> None:
    values = gw.tensor([[0.0, 1.0, 1.5], [2.0, 3.0, 100.0]]).to(getattr(gw, name))
    tensors = [values, values.t().contiguous(), values[:0].clone(), values[0, 1].clone(),
               values.t().contiguous().t()]  # fmt: skip
    for tensor, found in zip(tensors, _round_trip(tensors, tmp_path, mmap=mmap), strict=True):
        assert found.dtype is tensor.dtype and found.shape == tensor.shape
        assert found.stride() == tensor.stride() and found.tolist() == tensor.tolist()
        found.fill_(1)


def test_shared_memory_and_identity(tmp_path: Path) -> None:
    weight = nn.Parameter(gw.randn(4, 4))
    base = gw.arange(10.0)
    value = {
        "a": weight, "b": weight, "alias": weight.detach(), "rows": base[2:6],
        "even": base[::2], "alone": base[8:9], "frozen": nn.Parameter(gw.ones(2), False),
        "leaf": gw.ones(2, requires_grad=True),
    }  # fmt: skip
    found = _round_trip(value, tmp_path)
    assert found["a"] is found["b"] and isinstance(found["a"], nn.Parameter)
    assert found["a"].requires_grad and not found["alias"].requires_grad
    assert not found["frozen"].requires_grad and found["leaf"].requires_grad
    found["alias"].fill_(7)
    assert found["a"].detach().tolist() == [[7.0] * 4] * 4
    assert found["rows"].tolist() == [2, 3, 4, 5] and found["even"].tolist() == [0, 2, 4, 6, 8]
    found["rows"].fill_(-1)
    assert found["even"].tolist() == [0, -1, -1, 6, 8]
    assert (tmp_path / "state").stat().st_size < 2000


def test_tied_weights_of_a_model(tmp_path: Path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(5, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.embedding.weight

    model = Tied()
    gw.save(model.state_dict(), tmp_path / "state")
    from safetensors import safe_open

    with safe_open(tmp_path / "state", "numpy") as file:
        assert list(file.keys()) == ["embedding.weight"]
    other = Tied()
    other.load_state_dict(gw.load(tmp_path / "state"))
    assert np.array_equal(other.head.weight.detach().numpy(), model.head.weight.detach().numpy())


class _Training:
    """A model with dropout, Adam and a schedule, on batches of random numbers."""

    def __init__(self, kind: str) -> None:
        self.model = nn.Sequential(
            nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1)
        )
        self.optimizer = getattr(gw.optim, kind)(self.model.parameters(), lr=0.01)
        self.schedule = lr_scheduler.OneCycleLR(
            self.optimizer, 0.05, total_steps=30, cycle_momentum=kind != "Adagrad"
        )

    def run(self, steps: int) -> list[float]:
        losses = []
        for _ in range(steps):
            x = gw.randn(8, 6)
            loss = F.mse_loss(self.model(x), x.sum(1, keepdim=True))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            losses.append(loss.item())
        return losses

    def state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(), "rng": gw.get_rng_state(),
        }  # fmt: skip

    def resume(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        gw.set_rng_state(state["rng"])


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "NAdam", "RMSprop", "SGD"])
def test_resumed_training_is_bit_identical(tmp_path: Path, kind: str) -> None:
    gw.manual_seed(5)
    whole = _Training(kind)
    whole.run(10)
    gw.save(whole.state(), tmp_path / "state")
    expected = whole.run(10)
    gw.manual_seed(99)
    resumed = _Training(kind)
    resumed.run(3)
    resumed.resume(gw.load(tmp_path / "state"))
    assert resumed.run(10) == expected
    for a, b in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())


def test_a_state_keeps_the_versions_of_its_modules(tmp_path: Path) -> None:
    state = gw.nn.Sequential(gw.nn.BatchNorm1d(2)).state_dict()
    gw.save({"model": state}, tmp_path / "state")
    loaded = gw.load(tmp_path / "state")["model"]
    assert loaded._metadata == state._metadata and loaded._metadata["0"] == {"version": 2}
    assert list(loaded) == list(state) and type(loaded) is type(state)


@pytest.mark.parametrize("where", ["cpu", gw.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}])
def test_tensors_stay_on_the_cpu(tmp_path: Path, where: Any) -> None:
    gw.save([gw.ones(2), gw.zeros(1)], tmp_path / "state")
    first, second = gw.load(tmp_path / "state", where)
    assert (first.tolist(), second.tolist(), first.device.type) == ([1.0, 1.0], [0.0], "cpu")


@pytest.mark.parametrize("where", ["meta", {"cpu": "meta"}])
def test_shapes_without_values_are_loaded(tmp_path: Path, where: Any) -> None:
    gw.save({"weight": gw.nn.Parameter(gw.ones(2, 3))}, tmp_path / "state")
    weight = gw.load(tmp_path / "state", where)["weight"]
    assert weight.device.type == "meta" and weight.shape == (2, 3)
    assert isinstance(weight, gw.nn.Parameter)


def test_a_function_places_what_is_loaded(tmp_path: Path) -> None:
    other = gw.tensor([5.0, 6.0])
    gw.save([gw.ones(2)], tmp_path / "state")
    assert gw.load(tmp_path / "state", lambda storage, where: storage)[0].tolist() == [1, 1]
    assert gw.load(tmp_path / "state", lambda storage, where: None)[0].tolist() == [1, 1]
    (moved,) = gw.load(tmp_path / "state", lambda storage, where: other.untyped_storage())
    assert moved.tolist() == [5, 6] and moved.data_ptr() == other.data_ptr()


@pytest.mark.parametrize(("where", "error"), [
    ("cuda", RuntimeError), ("nonsense", RuntimeError), (3, TypeError), ({"cpu": 3}, TypeError),
])  # fmt: skip
def test_places_that_are_none(tmp_path: Path, where: Any, error: type[Exception]) -> None:
    gw.save([gw.ones(2)], tmp_path / "state")
    with pytest.raises(error):
        gw.load(tmp_path / "state", where)


def test_file_objects_and_foreign_files(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    gw.save({"a": gw.ones(2)}, buffer)
    buffer.seek(0)
    assert gw.load(buffer, "cpu")["a"].tolist() == [1, 1]
    # No file has a pickle in it: what PyTorch's scripts say about pickles has no effect.
    buffer = io.BytesIO()
    gw.save({"a": gw.ones(2)}, buffer, pickle_protocol=4, _use_new_zipfile_serialization=False)
    for weights_only in (True, False, None):
        buffer.seek(0)
        assert gw.load(buffer, None, pickle, weights_only=weights_only)["a"].tolist() == [1, 1]
    save_file({"x": gw.ones(2)}, tmp_path / "x.safetensors", {"made": "elsewhere"})
    assert gw.load(tmp_path / "x.safetensors")["x"].tolist() == [1, 1]


def test_saving_over_a_mapped_file(tmp_path: Path) -> None:
    first = _round_trip({"a": gw.ones(1000)}, tmp_path)
    gw.save({"a": gw.zeros(1000)}, tmp_path / "state")
    assert first["a"].sum().item() == 1000
    assert [p.name for p in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("make", [
    lambda: gw.nn.Linear(2, 2),
    lambda: gw.optim.SGD([gw.ones(1)], 0.1),
    lambda: gw.optim.lr_scheduler.StepLR(gw.optim.SGD([gw.ones(1)], 0.1), 1),
    lambda: gw.amp.GradScaler("cpu"),
    lambda: gw.compile(gw.nn.Linear(2, 2)),
], ids=["module", "optimizer", "scheduler", "scaler", "compiled module"])
def test_of_what_has_a_state_dict_that_is_saved(tmp_path: Path, make: Any) -> None:
    kept = make()
    with pytest.raises(TypeError, match=r"obj\['it'\] is .*save its state_dict\(\) and"):
        gw.save({"it": kept}, tmp_path / "state")
    gw.save({"it": kept.state_dict()}, tmp_path / "state")
    make().load_state_dict(gw.load(tmp_path / "state")["it"])


def test_of_a_generator_the_state_is_saved(tmp_path: Path) -> None:
    generator = gw.Generator().manual_seed(3)
    with pytest.raises(TypeError, match=r"save its get_state\(\), which set_state\(\) takes"):
        gw.save(generator, tmp_path / "state")
    gw.save(generator.get_state(), tmp_path / "state")
    assert gw.Generator().set_state(gw.load(tmp_path / "state")).initial_seed() == 3


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with pytest.raises(TypeError, match=r"obj\['a'\]\[1\]\['b'\] is builtins.object, which"):
        gw.save({"a": [1, {"b": object()}]}, path)
    with pytest.raises(TypeError, match=r"obj\[0\] is builtins.function"):
        gw.save([lambda: 3], path)
    with pytest.raises(TypeError, match=r"numpy\.ndarray"):
        gw.save(np.ones(2), path)
    with pytest.raises(TypeError, match="a tensor as a key"):
        gw.save({gw.ones(1): 2}, path)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match=r"obj\[0\] contains itself"):
        gw.save(loop, path)
    deep: Any = 3
    for _ in range(500):
        deep = [deep]
    with pytest.raises(ValueError, match="more than 100 deep"):
        gw.save(deep, path)
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        gw.load(path)


def _structure(content: Any, path: Path) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    save_file({"a": gw.ones(4), "i": gw.ones(4, dtype=gw.int64)}, path, {"graphwright": text})


def _whole(root: Any, *tensors: Any) -> dict[str, Any]:
    return {"version": 1, "tensors": list(tensors), "root": root}


TENSOR = {"tensor": 0}
HOSTILE = {
    "not JSON": "hello", "a list": [], "no version": {"root": 3},
    "another version": {"version": 2, "tensors": [], "root": 3},
    "tensors of a map": {"version": 1, "tensors": {}, "root": 3},
    "bare list": _whole([1]), "two keys": _whole({"list": [], "tuple": []}),
    "unknown kind": _whole({"code": "x"}), "list of a map": _whole({"list": {}}),
    "dict of singles": _whole({"dict": [[1]]}), "unhashable key": _whole(
        {"dict": [[{"list": []}, 1]]}),
    "key twice": _whole({"dict": [["a", 1], ["a", 2]]}),
    "unhashable member": _whole({"set": [{"list": []}]}),
    "no such tensor": _whole(TENSOR), "negative tensor": _whole({"tensor": -1}),
    "true tensor": _whole({"tensor": True}, {"name": "a"}),
    "no name": _whole(TENSOR, {}), "name not there": _whole(TENSOR, {"name": "b"}),
    "unknown info": _whole(TENSOR, {"name": "a", "run": "x"}),
    "flag of a number": _whole(TENSOR, {"name": "a", "grad": 1}),
    "gradient of integers": _whole(TENSOR, {"name": "i", "grad": True}),
    "integer pairs": _whole(TENSOR, {"name": "i", "complex": True}),
    "view beyond": _whole(TENSOR, {"name": "a", "view": [1, [4], [1]]}),
    "view far beyond": _whole(TENSOR, {"name": "a", "view": [0, [2**40, 2**40], [1, 1]]}),
    "view of huge steps": _whole(TENSOR, {"name": "a", "view": [0, [1], [2**62]]}),
    "negative view": _whole(TENSOR, {"name": "a", "view": [-1, [2], [1]]}),
    "negative stride": _whole(TENSOR, {"name": "a", "view": [3, [2], [-1]]}),
    "view of two": _whole(TENSOR, {"name": "a", "view": [0, [2]]}),
    "ranks differ": _whole(TENSOR, {"name": "a", "view": [0, [2], [1, 1]]}),
    "order of another rank": _whole(TENSOR, {"name": "a", "order": [1, 1]}),
    "order of text": _whole(TENSOR, {"name": "a", "order": "x"}),
    "unknown dtype": _whole({"dtype": "Tensor"}), "unknown device": _whole({"device": "tpu!"}),
    "size of text": _whole({"size": ["a"]}), "size of truths": _whole({"size": [True]}),
    "size of a map": _whole({"size": {}}), "unknown layout": _whole({"layout": "sparse"}),
    "bad array": _whole({"bytearray": "***"}), "bad base64": _whole({"bytes": "***"}),
    "bad complex": _whole({"complex": ["a", 1]}),
    "deep": '{"version":1,"tensors":[],"root":' + '{"list":[' * 450 + "1" + "]}" * 450 + "}",
    "very deep": '{"version":1,"tensors":[],"root":' + '{"list":[' * 10**5 + "1",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_structures_are_refused(tmp_path: Path, name: str) -> None:
    _structure(HOSTILE[name], tmp_path / "state")
    with pytest.raises(InvalidFile):
        gw.load(tmp_path / "state")


def test_views_that_share_elements_are_read(tmp_path: Path) -> None:
    _structure(_whole(TENSOR, {"name": "a", "view": [0, [2**20, 2], [0, 1]]}), tmp_path / "state")
    assert gw.load(tmp_path / "state").shape == (2**20, 2)
