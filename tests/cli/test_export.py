"""`graphwright export`, `show` and `package`: files on the command line, and what they refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import graphwright as gw
from graphwright.cli.main import main

MODEL = """
import graphwright as gw
from graphwright import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.inner(x))

def add(x, y):
    return x + y

def noisy(x):
    print("noise")
    return x + 1

def spectrum(x):
    return gw.fft.rfft(x).abs()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*words: str) -> int:
    """The exit code of a command that fails."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_file_runs_as_the_module_in_eval_mode(capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", "model.py:Net", "--input", "float32[?,8]", "-o", "net.gwx"])
    assert "2 parameters, 72 bytes of weights, for s0 in [2, inf]" in capsys.readouterr().out
    again = gw.export.load("net.gwx").module()
    x = gw.rand(100, 8)
    assert gw.equal(again(x), again(x)), "dropout is off"


def test_sizes_with_one_name_are_equal() -> None:
    main(["export", "model.py:add", "--input", "float32[n,3]", "--input", "float32[n,3]",
          "-o", "add.gwx"])
    again = gw.export.load("add.gwx").module()
    assert again(gw.ones(7, 3), gw.ones(7, 3)).shape == (7, 3)
    with pytest.raises(RuntimeError, match="float32"):
        again(gw.ones(7, 3), gw.ones(6, 3))


def test_what_the_bytecode_forbids_is_recorded_without_it(
    capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused("export", "model.py:noisy", "--input", "float32[3]", "-o", "n.gwx") == 1
    assert "GB0003" in capsys.readouterr().err
    main(["export", "model.py:noisy", "--input", "float32[3]", "--no-strict", "-o", "n.gwx"])
    assert gw.equal(gw.export.load("n.gwx").module()(gw.ones(3)), gw.full((3,), 2.0))


def test_show_describes_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", "model.py:Net", "--input", "float32[4,8]", "-o", "net.gwx"])
    capsys.readouterr()
    main(["show", "net.gwx"])
    assert "return self.drop(self.inner(x))" in capsys.readouterr().out
    main(["show", "--json", "net.gwx"])
    document = json.loads(capsys.readouterr().out)
    assert document["parameters"] == ["inner.weight", "inner.bias"]
    assert document["inputs"] == ["x"] and document["ranges"] == {}


def test_files_that_are_none_are_refused_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "junk.gwx").write_bytes(b"junk")
    assert refused("show", "no.gwx") == 2
    assert refused("package", "no.gwx", "-o", "x") == 2
    assert refused("show", "junk.gwx") == 2
    errors = capsys.readouterr().err
    assert errors.count("there is no file no.gwx") == 2
    assert "junk.gwx: the file is no exported program, or damaged" in errors


def test_a_suffix_asks_for_an_onnx_model(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    main(["export", "model.py:Net", "--input", "float32[rows,8]", "-o", "net.onnx", "--no-verify",
          "--opset", "20"])
    said = capsys.readouterr().out
    assert "opset 20" in said and "not verified" in said
    model = onnx.load(folder / "net.onnx")
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "rows"
    assert model.opset_import[0].version == 20
    assert refused("export", "model.py:Net", "--input", "float32[2,8]", "-o", "no/such/net.onnx",
                   "--no-verify") == 2
    assert refused("export", "model.py:spectrum", "--input", "float32[8]", "-o", "s.onnx") == 1
    assert "fft_r2c" in capsys.readouterr().err and not (folder / "s.onnx").exists()


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_package_writes_three_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["export", "model.py:Net", "--input", "float32[rows,8]", "-o", "net.gwx"])
    main(["package", "net.gwx", "-o", "net", "--target", "x86-64-v3"])
    assert {"net.so", "net.h", "net.safetensors"} <= {path.name for path in folder.iterdir()}
    main(["package", "net.gwx", "-o", "alone", "--embed", "--linker", "cc"])
    assert {path.name for path in folder.glob("alone*")} == {"alone.so", "alone.h"}
    assert refused("package", "net.gwx", "-o", "1x") == 2
    assert refused("package", "net.gwx", "-o", "no/such/net") == 2
    main(["export", "model.py:spectrum", "--input", "float32[8]", "-o", "s.gwx"])
    assert refused("package", "s.gwx", "-o", "s") == 1
    assert "rfft" in capsys.readouterr().err
