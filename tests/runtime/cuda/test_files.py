"""Saving and loading tensors of GPUs, in both formats; storages, and their pickles."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw

pytestmark = pytest.mark.usefixtures("gpu")
FORMATS = pytest.mark.parametrize("format", ["safetensors", "torch"])


def written(obj: Any, format: str) -> io.BytesIO:
    file = io.BytesIO()
    gw.save(obj, file, format=format)
    file.seek(0)
    return file


@FORMATS
def test_tensors_come_back_where_they_were(format: str) -> None:
    x, y = gw.arange(6.0).reshape(2, 3).cuda(), gw.tensor([1, 2]).cuda(1)
    found = gw.load(written({"x": x.t(), "y": y, "z": gw.ones(2),
                             "flag": gw.tensor([True]).cuda()}, format))
    assert [found[name].device for name in "xyz"] == [x.device, y.device, gw.device("cpu")]
    assert found["x"].tolist() == x.t().tolist() and found["x"].stride() == (1, 3)
    assert found["y"].tolist() == [1, 2] and found["flag"].tolist() == [True]


@FORMATS
def test_shared_memory_is_shared_again(format: str) -> None:
    x = gw.arange(6.0).cuda()
    found = gw.load(written([x, x[2:], x.reshape(2, 3)], format), map_location="cuda:1")
    assert {one.device for one in found} == {gw.device("cuda:1")}
    found[0].fill_(7)
    assert found[1].tolist() == [7.0] * 4 and found[2].tolist() == [[7.0] * 3] * 2


@FORMATS
@pytest.mark.parametrize(("location", "expected"), [
    ("cuda", ["cuda:0", "cuda:0"]), ("cpu", ["cpu", "cpu"]), ("meta", ["meta", "meta"]),
    (gw.device("cuda:1"), ["cuda:1", "cuda:1"]), ({"cuda:0": "cuda:1"}, ["cpu", "cuda:1"]),
    (lambda storage, tag: storage.cuda(1) if tag == "cpu" else None, ["cuda:1", "cuda:0"]),
    (lambda storage, tag: storage, ["cpu", "cpu"]),
], ids=["cuda", "cpu", "meta", "device", "dict", "function", "as read"])
def test_map_location(format: str, location: Any, expected: list[str]) -> None:
    file = written([gw.tensor([1.0, 2.0]), gw.tensor([3.0]).cuda()], format)
    found = gw.load(file, map_location=location)
    assert [str(x.device) for x in found] == expected
    assert [x.tolist() for x in found if not x.is_meta] in ([], [[1.0, 2.0], [3.0]])


@FORMATS
def test_a_checkpoint_of_training(format: str) -> None:
    model = gw.nn.Linear(3, 2).cuda()
    optimizer = gw.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for parameter in model.parameters():
        optimizer.state[parameter]["momentum_buffer"] = gw.ones_like(parameter)
    file = written({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, format)
    found = gw.load(file, map_location="cpu")
    assert {x.device.type for x in found["model"].values()} == {"cpu"}
    again = gw.nn.Linear(3, 2).cuda(1)
    again.load_state_dict(found["model"])
    assert again.weight.device == gw.device("cuda:1")
    assert again.weight.tolist() == model.weight.tolist()
    other = gw.optim.SGD(again.parameters(), lr=0.1, momentum=0.9)
    other.load_state_dict(found["optimizer"])
    buffers = [state["momentum_buffer"] for state in other.state.values()]
    assert {x.get_device() for x in buffers} == {1} and buffers[1].tolist() == [1.0] * 2


def test_safetensors_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    gw.save_file({"a": gw.arange(4).cuda(), "b": gw.ones(2, 2).t().cuda(1)}, path)
    assert [x.is_cpu for x in gw.load_file(path).values()] == [True, True]
    for device in ("cuda:1", 1):
        found = gw.load_file(path, device)
        assert {x.get_device() for x in found.values()} == {1}
        assert found["a"].tolist() == [0, 1, 2, 3] and found["b"].tolist() == [[1.0] * 2] * 2
    with pytest.raises(RuntimeError, match="invalid device ordinal: cuda:7"):
        gw.load_file(path, "cuda:7")


@pytest.mark.parametrize(("settings", "why"), [
    ({"GRAPHWRIGHT_LIBCUDA": ""},
     "on a cuda device, which is not available: use load with map_location=device('cpu')"),
    ({"GPU_SIM_DEVICES": "1"}, "invalid device ordinal: cuda:1, where there is one"),
], ids=["no GPU", "one GPU"])
def test_a_gpu_that_is_not_there(settings: dict[str, str], why: str, tmp_path: Path) -> None:
    code = """
import sys
import graphwright as gw
for path in sys.argv[1:]:
    for where in (None, "cpu"):
        try:
            print(gw.load(path, map_location=where))
        except RuntimeError as error:
            print(error)
"""
    paths = [str(tmp_path / name) for name in ("x.safetensors", "x.pt")]
    for path in paths:
        gw.save([gw.ones(2).cuda(1)], path)
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True,
                          env={**os.environ, **settings}, check=True)
    lines = done.stdout.splitlines()
    assert lines[0].endswith(why) and lines[2] == lines[0]
    assert lines[1] == lines[3] == "[tensor([1., 1.])]"


# -- storages


def test_storages_move() -> None:
    x = gw.tensor([1.0, 2.0])
    own, typed = x.untyped_storage(), x.storage()
    assert own.cpu() is own and own.get_device() == -1 and not own.is_pinned()
    there = own.cuda()
    assert there.is_cuda and there.get_device() == 0 and there.nbytes() == 8
    assert there.cuda() is there and there.to(device="cuda:0") is there
    assert there.to(device="cuda:1").get_device() == 1 and there.cpu().tolist() == own.tolist()
    assert own.pin_memory().is_pinned() and typed.pin_memory().tolist() == [1.0, 2.0]
    typed = typed.cuda(1)
    assert typed.type() == "graphwright.cuda.FloatStorage" and typed[1] == 2.0
    assert typed.to(device="cpu").to(gw.int32).tolist() == [1, 2]
    assert gw.UntypedStorage(4, device="cuda").device == gw.device("cuda:0")
    assert gw.UntypedStorage(0).cuda().is_cuda
    with gw.device("cuda"):
        assert gw.UntypedStorage([1, 2]).tolist() == [1, 2]


def test_elements_of_a_storage() -> None:
    x = gw.tensor([1.0, 2.0]).cuda()
    part = x.untyped_storage()[4:]
    assert part.nbytes() == 4 and part.data_ptr() == x.data_ptr() + 4 and part[3] == 0x40
    assert x.untyped_storage()[3] == 0x3F and list(x.untyped_storage())[:4] == [0, 0, 0x80, 0x3F]
    part.fill_(0)
    assert x.tolist() == [1.0, 0.0] and "device=cuda:0" in repr(part)
    part.copy_(gw.ones(1).untyped_storage())
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("storage", [lambda x: x.untyped_storage(), lambda x: x.storage()])
def test_pickles_of_storages(storage: Callable[[Any], Any]) -> None:
    own = storage(gw.tensor([1.0, 2.0]).cuda(1))
    again = pickle.loads(pickle.dumps(own))
    assert again.device == own.device and again.tolist() == own.tolist()
