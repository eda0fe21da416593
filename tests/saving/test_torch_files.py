"""Files of PyTorch's `torch.save`: what they load as here, and what PyTorch loads of ours."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.saving.torch_files import DATA, archive, program, storage, view_of

import graphwright as gw
from graphwright import nn
from graphwright.runtime.tensor.dtypes import BY_NAME
from graphwright.saving import InvalidFile
from graphwright.serialization import InvalidArchive, RefusedObject


def test_a_state_dict_of_pytorch_is_loaded_into_a_model() -> None:
    state = gw.load(DATA / "state_dict.pt", weights_only=True)
    assert type(state) is OrderedDict and state._metadata["1"] == {"version": 2}
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    assert str(model.load_state_dict(state)) == "<All keys matched successfully>"
    assert model[0].weight.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert model[1].running_var.tolist() == [1, 1, 1]
    assert state["1.num_batches_tracked"].dtype is gw.int64


def test_an_optimizer_of_pytorch_is_resumed() -> None:
    state = gw.load(DATA / "optimizer.pt")
    assert state["step"] == 1 and state["optimizer"]["param_groups"][0]["lr"] == 0.25
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    optimizer = gw.optim.Adam(model.parameters())
    optimizer.load_state_dict(state["optimizer"])
    average = optimizer.state[model[1].bias]["exp_avg"]
    assert average.tolist() == pytest.approx([0, 0.4, 0.8])


def test_every_dtype() -> None:
    tensors = gw.load(DATA / "dtypes.pt")
    assert len(tensors) == 15
    for name, tensor in tensors.items():
        assert tensor.dtype is getattr(gw, name)
        assert tensor.tolist() == gw.tensor([0, 1, 100]).to(tensor.dtype).tolist()


def test_float8_is_loaded_where_it_exists_and_else_refused_by_name() -> None:
    if "float8_e4m3fn" not in BY_NAME:
        with pytest.raises(RefusedObject, match=r"elements of torch\.float8_e4m3fn"):
            gw.load(DATA / "float8.pt")
        return
    for name, tensor in gw.load(DATA / "float8.pt").items():
        assert tensor.dtype is getattr(gw, name) and tensor.float().tolist() == [1, 2, 4]


@pytest.mark.parametrize("mmap", [False, True])
def test_views_share_their_storage(mmap: bool) -> None:
    found = gw.load(DATA / "tensors.pt", mmap=mmap)
    whole = gw.arange(12.0).reshape(3, 4)
    expected = {"whole": whole, "row": whole[1], "columns": whole[:, 1::2], "turned": whole.t()}
    for name, tensor in expected.items():
        assert found[name].tolist() == tensor.tolist()
        assert found[name].stride() == tensor.stride()
        assert found[name].storage_offset() == tensor.storage_offset()
    found["turned"][0] = -1
    assert found["whole"][:, 0].tolist() == [-1, -1, -1] and found["row"][0] == -1
    assert found["again"] is found["whole"]
    assert gw.load(DATA / "tensors.pt", mmap=True)["row"].tolist() == [4, 5, 6, 7]


def test_parameters_and_what_stands_at_tensors() -> None:
    found = gw.load(DATA / "tensors.pt")
    parameter, other = found["parameter"], found["other"][1]
    assert type(parameter) is nn.Parameter and parameter.requires_grad and parameter.tag == "a"
    assert found["other"][0] is parameter
    assert type(other) is nn.Parameter and not other.requires_grad
    assert other.untyped_storage() == parameter.untyped_storage()
    assert found["leaf"].requires_grad and found["leaf"].is_leaf
    assert found["empty"].shape == (0, 3) and found["scalar"].item() == 7
    assert found["expanded"].stride() == (0,) and found["expanded"].tolist() == [5] * 4
    assert found["meta"].device.type == "meta" and found["meta"].shape == (2, 3)
    assert type(found["storage"]) is gw.TypedStorage and found["storage"].tolist() == [1, 2]


def test_marked_conjugates_and_negatives_are_computed() -> None:
    found = gw.load(DATA / "tensors.pt")
    assert found["conjugate"].tolist() == [1 - 2j] and found["negative"].tolist() == [-3]


@pytest.mark.parametrize("protocol", [2, 4])
def test_values(protocol: int) -> None:
    found = gw.load(DATA / f"values_{protocol}.pt")
    assert found == {
        "none": None, "flags": (True, False), "ints": [0, 255, 256, 65536, -1, 2**40, -(10**30)],
        "floats": [1.5, -0.0, math.inf], "complex": 1 + 2j, "text": "é ☃", "empty": ["", ()],
        "bytes": b"\x00\xff", "bytearray": bytearray(b"\x00\xff"), "set": {1, "a", (2, 3)},
        ("a", 1): {3: {"deep": [(1,)]}}, "ordered": OrderedDict([("b", 1), ("a", 2)]),
        "counter": Counter("aab"), "size": gw.Size([2, 3]), "dtype": gw.bfloat16,
        "device": gw.device("cpu"), "layout": gw.strided,
    }  # fmt: skip
    assert type(found["ordered"]) is OrderedDict and type(found["counter"]) is Counter
    assert type(found["bytearray"]) is bytearray and type(found["size"]) is gw.Size


@pytest.mark.parametrize(("stem", "kind", "said"), [
    ("model", RefusedObject, r"'torch\.nn\.modules\.container\.Sequential'.*save its state_dict"),
    ("sparse", RefusedObject, "sparse tensors, which graphwright lacks"),
    ("legacy", InvalidFile, r"torch\.save before PyTorch 1\.6.*save it anew"),
    ("script", InvalidArchive, "TorchScript archive.*runs no TorchScript"),
])  # fmt: skip
def test_files_of_other_kinds_are_refused_by_what_they_are(
    stem: str, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        gw.load(DATA / f"refused_{stem}.pt")


# -- beside PyTorch


def _everything(torch: Any) -> dict[str, Any]:
    """A state with what both libraries have."""
    whole = torch.arange(6.0).reshape(2, 3)
    tied = torch.nn.Parameter(torch.ones(2))
    tied.tag = [torch.zeros(1), "a"]
    kinds = [kind for kind in BY_NAME if hasattr(torch, kind)]
    return {
        "model": torch.nn.Sequential(
            torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).state_dict(),
        "views": [whole, whole[1], whole.t(), whole[:, ::2], whole[:0]], "tied": [tied, tied],
        "dtypes": {kind: torch.tensor([0, 1]).to(getattr(torch, kind)) for kind in kinds},
        "leaf": torch.ones(1, requires_grad=True), "scalar": torch.tensor(3),
        "expanded": torch.ones(1).expand(3), "meta": torch.empty(2, 3, device="meta"),
        "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False),
        "storage": torch.tensor([1, 2]).storage(), "numbers": [0, 255, 256, 65536, -1, -(2**31)],
        "large": [2**31, 2**63, -(10**30), 255**254], "floats": (1.5, -0.0, math.inf, 1e-320),
        "texts": ["", "é ☃", "\ud800", "x" * 300, "a\nb"], "bytes": [b"", b"\x00\xff" * 200],
        "bytearray": [bytearray(), bytearray(b"\x00\xff")], "complex": -0.0 + 3j,
        "set": [set(), {1, "a", (2, (3,))}], ("a", None, True, 1.5): {1: {}, None: ()},
        "ordered": OrderedDict(b=1, a=2), "counter": Counter("aab"),
        "torch": [torch.Size([2, 3]), torch.Size([]), torch.float16, torch.device("cpu"),
                  torch.strided],
        "many": [[i] for i in range(400)],
    }  # fmt: skip


def _described(torch: Any, value: Any, path: str, found: list[Any]) -> None:
    """What there is to say of a state, without the library's own types."""
    if isinstance(value, torch.Tensor):
        attributes = getattr(value, "__dict__", {})
        found.append((
            path, isinstance(value, torch.nn.Parameter), str(value.dtype).rpartition(".")[2],
            tuple(value.shape), value.stride(), value.storage_offset(), value.requires_grad,
            str(value.device),
        ))  # fmt: skip
        if value.device.type == "cpu":
            raw = value.detach().contiguous().reshape(-1).view(torch.uint8)
            found.append(raw.tolist())
            found.append(value.untyped_storage().nbytes())
        _described(torch, dict(attributes), f"{path}.__dict__", found)
    elif isinstance(value, torch.Size):
        found.append((path, "Size", tuple(value)))
    elif isinstance(value, dict):
        found.append((path, type(value).__name__.replace("StateDict", "OrderedDict"), list(value)))
        metadata = getattr(value, "_metadata", None)
        if metadata is not None:
            found.append(dict(metadata))
        for key, item in value.items():
            _described(torch, item, f"{path}[{key!r}]", found)
    elif isinstance(value, list | tuple):
        found.append((path, type(value).__name__, len(value)))
        for index, item in enumerate(value):
            _described(torch, item, f"{path}[{index}]", found)
    elif isinstance(value, torch.TypedStorage):
        found.append((path, value.tolist()))
    elif type(value).__module__ in ("builtins", "collections"):
        found.append((path, type(value).__name__, repr(value) if value != value else value))
    else:
        found.append((path, str(value).rpartition(".")[2]))


def _described_all(torch: Any, value: Any) -> list[Any]:
    found: list[Any] = []
    _described(torch, value, "", found)
    return found


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("mmap", [False, True])
def test_pytorch_loads_weights_only_what_is_saved_here(tmp_path: Path, mmap: bool) -> None:
    torch = pytest.importorskip("torch")
    state = _everything(gw)
    gw.save(state, tmp_path / "x.pt")
    found = torch.load(tmp_path / "x.pt", weights_only=True, mmap=mmap)
    assert _described_all(torch, found) == _described_all(gw, state)
    views, tied = found["views"], found["tied"]
    assert tied[0] is tied[1] and tied[0].tag[1] == "a"
    assert views[0].untyped_storage().data_ptr() == views[2].untyped_storage().data_ptr()
    assert isinstance(found["model"], OrderedDict)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("mmap", [False, True])
def test_what_pytorch_saves_is_loaded_here(tmp_path: Path, mmap: bool) -> None:
    torch = pytest.importorskip("torch")
    state = _everything(torch)
    for protocol in (2, 3, 4, 5):
        torch.save(state, tmp_path / "x.pt", pickle_protocol=protocol)
        found = gw.load(tmp_path / "x.pt", mmap=mmap)
        assert _described_all(gw, found) == _described_all(torch, state)


@pytest.mark.oracle
def test_training_is_resumed_from_one_library_in_the_other(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    def trained(lib: Any, state: Any, steps: int) -> Any:
        model = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Tanh(), lib.nn.Linear(4, 1))
        optimizer = lib.optim.AdamW(model.parameters(), lr=0.1)
        schedule = lib.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        for own, name in ((model, "model"), (optimizer, "optimizer"), (schedule, "schedule")):
            if state is not None:
                own.load_state_dict(state[name])
        x = lib.arange(12.0).reshape(4, 3) / 12
        losses = []
        for _ in range(steps):
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        return losses, {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                        "schedule": schedule.state_dict()}  # fmt: skip

    _, state = trained(torch, None, 3)
    torch.save(state, tmp_path / "theirs.pt")
    ours, _ = trained(gw, gw.load(tmp_path / "theirs.pt"), 3)
    theirs, _ = trained(torch, torch.load(tmp_path / "theirs.pt"), 3)
    assert ours == pytest.approx(theirs, rel=1e-5)
    _, state = trained(gw, None, 3)
    gw.save(state, tmp_path / "ours.pt")
    ours, _ = trained(gw, gw.load(tmp_path / "ours.pt"), 3)
    theirs, _ = trained(torch, torch.load(tmp_path / "ours.pt", weights_only=True), 3)
    assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.oracle
def test_large_archives_are_read_by_pytorch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("graphwright.saving.archive._LARGE_FROM", 1000)
    gw.save({"x": gw.arange(500), "y": gw.arange(3)}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", weights_only=True)["x"].sum() == 124750


# -- the archive


def test_records_are_aligned_and_intact(tmp_path: Path) -> None:
    state = {"a": gw.ones(3, dtype=gw.uint8), "b": gw.arange(5.0), "c": gw.zeros(0)}
    gw.save(state, tmp_path / "x.pt")
    content = (tmp_path / "x.pt").read_bytes()
    with zipfile.ZipFile(tmp_path / "x.pt") as file:
        assert file.testzip() is None
        names = file.namelist()
        assert names == ["archive/data.pkl", "archive/byteorder", "archive/data/0",
                         "archive/data/1", "archive/data/2", "archive/version",
                         "archive/.data/serialization_id"]  # fmt: skip
        assert file.read("archive/byteorder") == b"little"
        assert len(file.read("archive/.data/serialization_id")) == 40
        for info in file.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            name, extra = struct.unpack_from("<2H", content, info.header_offset + 26)
            place = info.header_offset + 30 + name + extra
            assert place % 64 == 0
            assert content[place : place + info.file_size] == file.read(info)
    gw.save(state, tmp_path / "y.pt")
    assert (tmp_path / "y.pt").read_bytes() == content


def test_archives_beyond_four_gigabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphwright.saving.archive._LARGE_FROM", 1000)
    gw.save({"x": gw.arange(500), "y": gw.arange(3)}, tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as file:
        assert file.testzip() is None
        assert file.getinfo("archive/data/0").file_size == 4000
    found = gw.load(tmp_path / "x.pt")
    assert found["x"].tolist() == list(range(500)) and found["y"].tolist() == [0, 1, 2]


def test_another_byte_order_is_turned(tmp_path: Path) -> None:
    numbers = np.array([1.5, -2, 3, 4], ">f4").tobytes()
    content = archive(program(view_of((4,), (1,))), {"0": numbers}, byteorder=b"big")
    path = tmp_path / "x.pt"
    path.write_bytes(content)
    assert gw.load(path).tolist() == gw.load(path, mmap=True).tolist() == [1.5, -2, 3, 4]
    pairs = np.array([1 + 2j, 3 - 4j], ">c8").tobytes()
    memory = storage(2, kind="torch.ComplexFloatStorage")
    found = archive(program(view_of((2,), (1,), 0, memory)), {"0": pairs}, byteorder=b"big")
    assert gw.load(io.BytesIO(found)).tolist() == [1 + 2j, 3 - 4j]
