"""Which format a file has, and what both have in common: places, file objects, atomic writes."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn, serialization
from graphwright.saving import load_file

ZIP = b"PK\x03\x04"


def _is_zip(path: Path) -> bool:
    return path.read_bytes().startswith(ZIP)


@pytest.mark.parametrize(("name", "zipped"), [
    ("x.pt", True), ("x.pth", True), ("x.safetensors", False), ("x", False), ("x.bin", False),
    ("pt", False), ("a.pt/x", False),
])  # fmt: skip
def test_names_say_the_format(tmp_path: Path, name: str, zipped: bool) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    gw.save({"a": gw.ones(2)}, path)
    assert _is_zip(path) == zipped
    assert gw.load(path)["a"].tolist() == [1, 1]
    gw.save({"a": gw.zeros(2)}, str(path), format="safetensors")
    assert load_file(path)["a"].tolist() == [0, 0]
    gw.save({"a": gw.ones(2)}, path, format="torch")
    assert _is_zip(path) and gw.load(path)["a"].tolist() == [1, 1]


def test_unknown_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format must be one of safetensors, torch"):
        gw.save(1, tmp_path / "x", format="pickle")
    with pytest.raises(ValueError, match=r"zip format of PyTorch 1\.6 and later"):
        gw.save(1, tmp_path / "x.pt", _use_new_zipfile_serialization=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [
    {"weights_only": False}, {"pickle_module": pickle},
    {"weights_only": False, "pickle_module": pickle},
])  # fmt: skip
def test_loading_code_is_refused_and_why(tmp_path: Path, options: dict[str, Any]) -> None:
    gw.save(1, tmp_path / "x.pt")
    with pytest.raises(ValueError, match=r"would run whatever code the file holds.*leave it out"):
        gw.load(tmp_path / "x.pt", **options)
    assert gw.load(tmp_path / "x.pt", weights_only=True) == 1


@pytest.mark.parametrize("format", serialization.FORMATS)
def test_file_objects(tmp_path: Path, format: str) -> None:
    buffer = io.BytesIO()
    buffer.write(b"before")
    gw.save({"a": gw.ones(2)}, buffer, format=format)
    buffer.seek(6)
    assert gw.load(buffer)["a"].tolist() == [1, 1]
    with (tmp_path / "x").open("wb") as file:
        gw.save([gw.arange(3)], file, format=format)
    with (tmp_path / "x").open("rb") as file:
        assert gw.load(file)[0].tolist() == [0, 1, 2]
    with (tmp_path / "x").open("rb") as file, pytest.raises(ValueError, match="given by path"):
        gw.load(file, mmap=True)
    with pytest.raises(TypeError, match="opened as text"):
        gw.load(io.StringIO("x"))


@pytest.mark.parametrize("format", serialization.FORMATS)
def test_mapped_memory_is_private_and_survives_a_new_file(tmp_path: Path, format: str) -> None:
    path = tmp_path / "x"
    gw.save({"a": gw.ones(4), "b": gw.ones(3) > 0}, path, format=format)
    mapped = gw.load(path, mmap=True)
    mapped["a"].add_(1)
    gw.save({"a": gw.zeros(4)}, path, format=format)
    assert mapped["a"].tolist() == [2] * 4 and mapped["b"].tolist() == [True] * 3
    assert gw.load(path)["a"].tolist() == [0] * 4
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_torch_files_are_read_into_memory_unless_mapped(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    gw.save({"a": gw.ones(1000)}, path)
    found, mapped = gw.load(path), gw.load(path, mmap=True)
    with path.open("r+b") as file:
        file.write(b"\xff" * os.path.getsize(path))
    assert found["a"].sum() == 1000 and mapped["a"].sum() != 1000


@pytest.mark.parametrize("format", serialization.FORMATS)
def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path, format: str) -> None:
    path = tmp_path / "x"
    gw.save({"a": gw.ones(2)}, path, format=format)
    with pytest.raises(TypeError, match=r"obj\['b'\]\[1\] is builtins\.object, which cannot be"):
        gw.save({"a": gw.zeros(2), "b": [1, object()]}, path, format=format)
    assert gw.load(path)["a"].tolist() == [1, 1]
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


# -- places

CUDA = {"cuda:0": "cpu"}


def _from(place: str, tmp_path: Path) -> Path:
    """A file whose tensor was on another device."""
    from tests.saving.torch_files import archive, program, storage, view_of

    path = tmp_path / "x.pt"
    memory = np.arange(4, dtype="f4").tobytes()
    made = program(view_of((4,), (1,), 0, storage(4, place=place)))
    path.write_bytes(archive(made, {"0": memory}))
    return path


@pytest.mark.parametrize("where", ["cpu", gw.device("cpu"), CUDA, lambda storage, tag: storage])
def test_tensors_of_another_device_are_brought_here(tmp_path: Path, where: Any) -> None:
    path = _from("cuda:0", tmp_path)
    for mmap in (False, True):
        found = gw.load(path, where, mmap=mmap)
        assert found.device.type == "cpu" and found.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("where", "said"), [
    (None, "on a cuda device, which is not available: use load with map_location"),
    ({"cuda:1": "cpu"}, "on a cuda device"), ({"cuda:0": "mps"}, "on a mps device"),
    ("cuda", "on a cuda device"), (lambda storage, tag: None, "on a cuda device"),
])  # fmt: skip
def test_devices_that_are_not_there(tmp_path: Path, where: Any, said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        gw.load(_from("cuda:0", tmp_path), where)


def test_places_that_are_none(tmp_path: Path) -> None:
    path = _from("cpu", tmp_path)
    for where in (3, {"cpu": 3}, lambda storage, tag: 3):
        with pytest.raises(TypeError, match="map_location must"):
            gw.load(path, where)


@pytest.mark.parametrize("where", ["meta", gw.device("meta"), {"cpu": "meta"}])
def test_shapes_without_values(tmp_path: Path, where: Any) -> None:
    whole = gw.arange(12.0).reshape(3, 4)
    gw.save({"w": nn.Parameter(whole), "t": whole.t()}, tmp_path / "x.pt")
    found = gw.load(tmp_path / "x.pt", where)
    assert type(found["w"]) is nn.Parameter and found["w"].device.type == "meta"
    assert found["t"].shape == (4, 3) and found["t"].stride() == (1, 4)


def test_a_function_is_asked_once_for_each_storage(tmp_path: Path) -> None:
    whole, asked = gw.arange(4.0), []
    gw.save([whole, whole[1:], gw.ones(1)], tmp_path / "x.pt")

    def choose(storage: Any, tag: str) -> Any:
        asked.append((type(storage), tag, storage.nbytes()))
        return storage

    first, second, _ = gw.load(tmp_path / "x.pt", choose)
    assert asked == [(gw.UntypedStorage, "cpu", 16), (gw.UntypedStorage, "cpu", 4)]
    assert first.untyped_storage() == second.untyped_storage()
    other = gw.full((4,), 7.0)
    first, second, _ = gw.load(tmp_path / "x.pt", lambda storage, tag: other.storage())
    assert first.tolist() == [7] * 4 and second.data_ptr() == other.data_ptr() + 4
    with pytest.raises(ValueError, match="beyond its memory"):
        gw.load(tmp_path / "x.pt", lambda storage, tag: gw.UntypedStorage(4))


def test_locations_as_fairseq_has_them(tmp_path: Path) -> None:
    path = _from("cuda:0", tmp_path)
    restore, tag = serialization.default_restore_location, serialization.location_tag
    found = gw.load(path, lambda storage, place: restore(storage, "cpu"))
    assert found.tolist() == [0, 1, 2, 3] and tag(found.untyped_storage()) == "cpu"


# -- what only one format has


def test_containers_and_tensors_that_are_there_twice_are_one(tmp_path: Path) -> None:
    inner, tensor = [1], gw.ones(2)
    gw.save({"a": inner, "b": inner, "c": tensor, "d": (tensor, tensor[:1])}, tmp_path / "x.pt")
    found = gw.load(tmp_path / "x.pt")
    assert found["a"] is found["b"] and found["c"] is found["d"][0]
    assert found["d"][1].untyped_storage() == found["c"].untyped_storage()


def test_one_memory_as_two_dtypes_is_refused(tmp_path: Path) -> None:
    x = gw.ones(2)
    with pytest.raises(RuntimeError, match=r"obj\['b'\] and obj\['a'\] share memory as"):
        gw.save({"a": x, "b": x.view(gw.int32)}, tmp_path / "x.pt")


def test_what_no_torch_file_can_hold_is_named(tmp_path: Path) -> None:
    class Mine(gw.Tensor):
        pass

    loop: list[Any] = []
    loop.append(loop)
    for value, error, said in [
        ([gw.ones(1).as_subclass(Mine)], TypeError, r"obj\[0\] is .*Mine, a class of tensors"),
        ([2**3000], ValueError, r"obj\[0\] is an int of more than 255 bytes"),
        ({"x": loop}, ValueError, r"obj\['x'\]\[0\] contains itself"),
        ({gw.ones(1): 1}, TypeError, "a tensor as a key"),
        ([np.ones(1)], TypeError, r"numpy\.ndarray"),
        ([nn.Linear(1, 1)], TypeError, r"save its state_dict\(\)"),
        ([nn.LazyLinear(2).weight], TypeError, r"UninitializedParameter"),
    ]:
        with pytest.raises(error, match=said):
            gw.save(value, tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())


def test_random_state_and_an_optimizer_are_resumed(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    optimizer = gw.optim.Adam(model.parameters())
    model(gw.ones(1, 3)).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
             "random": gw.get_rng_state(), "step": 1}  # fmt: skip
    gw.save(state, tmp_path / "x.pt")
    expected = gw.rand(3).tolist()
    found = gw.load(tmp_path / "x.pt")
    gw.set_rng_state(found["random"])
    assert gw.rand(3).tolist() == expected
    other = nn.Linear(3, 2)
    other.load_state_dict(found["model"])
    again = gw.optim.Adam(other.parameters())
    again.load_state_dict(found["optimizer"])
    for x, y in ((model, other), (optimizer, again)):
        assert repr(x.state_dict()) == repr(y.state_dict())
