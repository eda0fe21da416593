"""Files in a program whose `import torch` is graphwright: `torch.save`, and `safetensors.torch`.

`test_under_torch.py` runs these tests in such a process.
"""

from __future__ import annotations

import io
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.runtime.tensor.dtypes import BY_NAME

torch: Any = import_module("torch")
library: Any = import_module("safetensors.torch")
safetensors: Any = import_module("safetensors")


def test_torch_save_writes_the_format_of_torch(tmp_path: Path) -> None:
    assert torch is gw
    model = torch.nn.Linear(2, 3)
    for name in ("x", "pytorch_model.bin", "x.pt"):
        torch.save({"model": model.state_dict(), "epoch": 3}, tmp_path / name)
        assert zipfile.is_zipfile(tmp_path / name)
        found = torch.load(tmp_path / name, map_location="cpu", weights_only=True)
        assert found["epoch"] == 3 and list(found["model"]) == ["weight", "bias"]
    buffer = io.BytesIO()
    torch.save(model.weight, buffer)
    buffer.seek(0)
    assert torch.equal(torch.load(buffer), model.weight)
    torch.save({"a": torch.ones(2)}, tmp_path / "x.safetensors")
    assert library.load_file(tmp_path / "x.safetensors")["a"].tolist() == [1, 1]


def test_messages_have_the_names_of_the_program(tmp_path: Path) -> None:
    torch.save(1, tmp_path / "x.pt")
    with pytest.raises(ValueError, match=r"with torch\.serialization\.add_safe_globals"):
        torch.load(tmp_path / "x.pt", weights_only=False)
    serialization = import_module("torch.serialization")
    assert serialization is gw.serialization and serialization.load is torch.load


KINDS = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "float32", "float64", "complex64"]  # fmt: skip
KINDS += [name for name in BY_NAME if name.startswith(("float8_e4m3", "float8_e5m2"))]


@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_tensors_of_every_dtype(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "x.safetensors"
    tensors = {kind: gw.tensor([[0, 1], [2, 100]]).to(getattr(gw, kind)) for kind in KINDS}
    tensors["none"] = gw.zeros(0, 3)
    tensors["one"] = gw.tensor(5)
    library.save_file(tensors, path, metadata={"format": "pt"})
    ours = gw.load_file(path)
    again = library.load(library.save(tensors))
    for found in (library.load_file(path, backend=backend), ours, again):
        assert set(found) == set(tensors)
        for name, tensor in tensors.items():
            assert type(found[name]) is gw.Tensor and found[name].dtype is tensor.dtype
            assert found[name].shape == tensor.shape
            assert found[name].tolist() == tensor.tolist()


def test_parts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    gw.save_file({"a": gw.arange(12.0).reshape(3, 4)}, path, {"format": "pt"})
    with safetensors.safe_open(path, framework="pt", device="cpu") as file:
        assert list(file.keys()) == ["a"] and file.metadata() == {"format": "pt"}
        whole = file.get_tensor("a")
        part = file.get_slice("a")
        assert part.get_shape() == [3, 4] and part.get_dtype() == "F32"
        assert part[1:, 2].tolist() == [6, 10] and part[:].tolist() == whole.tolist()
    whole.add_(1)
    assert gw.load_file(path)["a"][0, 0] == 0


class Tied(nn.Module):
    """A model whose head is its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.norm = nn.BatchNorm1d(3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embedding.weight


def test_models_with_tied_weights(tmp_path: Path) -> None:
    path, model, other = tmp_path / "x.safetensors", Tied(), Tied()
    with pytest.raises(RuntimeError, match="share memory"):
        library.save_file(dict(model.state_dict()), path)
    library.save_model(model, path)
    assert library.load_model(other, path) == (set(), [])
    for name, tensor in model.state_dict().items():
        assert np.array_equal(other.state_dict()[name].numpy(), tensor.numpy())
    assert other.head.weight is other.embedding.weight


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="non contiguous"):
        library.save_file({"a": gw.ones(2, 3).t()}, tmp_path / "x")
    with pytest.raises(ValueError, match=r"invalid, expected torch\.Tensor"):
        library.save_file({"a": 3}, tmp_path / "x")
    with pytest.raises(safetensors.SafetensorError):
        (tmp_path / "y").write_bytes(b"\xff" * 100)
        library.load_file(tmp_path / "y")
