"""Exported programs as files: golden ones, and damaged, forged and hostile ones."""

from __future__ import annotations

import contextlib
import io
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.export import Dim, ExportError, InvalidProgram, encoding, export, load, save
from graphwright.saving.archive import Archive, archived
from graphwright.saving.files import content_of

GOLDEN = Path(__file__).parent / "golden"


def program() -> bytes:
    """The file of a small program with a dynamic size."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Flatten(0), nn.Unflatten(0, (-1, 2)))
    file = io.BytesIO()
    save(export(model, (gw.rand(4, 3),), dynamic_shapes=({0: Dim.DYNAMIC},)), file)
    return file.getvalue()


def records(content: bytes) -> dict[str, bytes]:
    archive = Archive(content_of(io.BytesIO(content), False))
    return {name: archive.array(name).tobytes() for name in archive.records if name[0] != "."}


def changed(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The file with its program changed, and checksums that fit."""
    parts = records(program())
    written = json.loads(parts["program.json"])
    written = change(written) or written
    parts["program.json"] = json.dumps(written).encode()
    return b"".join(map(bytes, archived(parts.items())))


def test_golden_files_hold_for_ever() -> None:
    block = load(GOLDEN / "block_v1.gwx").module()
    wanted = gw.load_file(str(GOLDEN / "block_v1.safetensors"))
    assert gw.allclose(block(wanted["x"])["x"], wanted["y"], atol=1e-6)
    step = load(GOLDEN / "step_v1.gwx").module()
    wanted = gw.load_file(str(GOLDEN / "step_v1.safetensors"))
    losses = gw.stack([step(wanted["x"], wanted["y"]) for _ in range(3)])
    assert gw.allclose(losses, wanted["losses"], atol=1e-6)
    assert gw.allclose(step.get_parameter("net.0.weight"), wanted["weight"], atol=1e-6)


def test_a_process_without_the_source_runs_a_file_whose_weights_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "model.gwx"
    path.write_bytes(program())
    script = (
        "import sys, graphwright as gw\n"
        "program = gw.export.load(sys.argv[1])\n"
        "model = program.module()\n"
        "print(list(model(gw.ones(6, 3)).shape), len(list(model.parameters())),\n"
        "      'model.gwx' in open('/proc/self/maps').read())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)],
                          capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[12, 2] 2 True"


def test_two_files_of_one_program_are_equal() -> None:
    content = program()
    file = io.BytesIO()
    save(load(content), file)
    assert file.getvalue() == content
    table = {name: gw.rand(1) for name in ("a", "b", "c", "d")}
    first, second = io.BytesIO(), io.BytesIO()
    for made in (first, second):
        save(export(lambda x: x + sum(table.values()), (gw.ones(1),)), made)
    assert first.getvalue() == second.getvalue()


FORGED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "newer": (lambda p: p.update(format_version=99), "version 99.*use a newer one"),
    "another format": (lambda p: p.update(format="x"), "no exported program"),
    "no map": (lambda p: [1], "no dict"),
    "no nodes": (lambda p: p.pop("nodes") and None, "'nodes' of the program is no list"),
    "an unknown op": (lambda p: p["nodes"][0].update(op="os.system"), "lacks"),
    "an op without parameters": (lambda p: p["nodes"][0].update(op="nothing_"), "lacks"),
    "too few arguments": (lambda p: p["nodes"][0]["args"].pop() and None, "parameters of"),
    "a cycle": (lambda p: p["nodes"][0]["args"].__setitem__(0, {"node": p["nodes"][1]["name"]}),
                "is no node before"),
    "a name twice": (lambda p: p["nodes"][1].update(name=p["nodes"][0]["name"]), "no new name"),
    "a name that is code": (lambda p: p["nodes"][0].update(name="x; import os"), "no new name"),
    "a symbol that is code": (lambda p: p["hints"].update({"__import__('os')": 3}), "size symbol"),
    "an unknown size": (lambda p: p["inputs"][-1]["shape"].__setitem__(0, "s99"), "malformed"),
    "a size divided by zero": (
        lambda p: p["inputs"][-1]["shape"].__setitem__(0, ["//", "s0", 0]), "divided by zero"),
    "a negative size": (lambda p: p["inputs"][-1]["shape"].__setitem__(1, -3), "is no size"),
    "a weight of another shape": (lambda p: p["inputs"][0].update(shape=[7, 7]), "does not fit"),
    "a weight of another name": (lambda p: p["inputs"][0].update(target="x"), "no tensor named"),
    "an argument that is a weight": (
        lambda p: p["inputs"][-1].update(target=p["inputs"][0]["target"]), "no tensor named"),
    "a kind": (lambda p: p["inputs"][0].update(kind="token"), "no kind of input"),
    "a device": (lambda p: p["nodes"][0]["args"].__setitem__(0, {"device": "cuda"}), "no value"),
    "a tag": (lambda p: p["nodes"][0]["args"].__setitem__(0, {"call": "os.system"}), "no value"),
    "nesting": (lambda p: p["nodes"][0]["args"].__setitem__(0, nested(200)), "nested deeper"),
    "nested sizes": (lambda p: p["relations"].append(["<", nested_size(200), 1]), "malformed"),
    "a relation": (lambda p: p["relations"].append(["is", "s0", 1]), "malformed"),
    "results": (lambda p: p.update(results={"set": []}), "malformed"),
    "too many results": (lambda p: p.update(results={"tuple": [None, None, None]}), "leaves"),
    "a write to nothing": (lambda p: p.update(mutated=["nothing"]), "no input"),
    "a write to a list": (lambda p: p.update(mutated=[[1]]), "no str"),
    "a weight named by a list": (lambda p: p["inputs"][0].update(target=[1]), "no str"),
    "a memory format": (
        lambda p: p["nodes"][0]["args"].__setitem__(0, {"memory_format": [1]}), "no value"),
    "a dtype": (lambda p: p["inputs"][0].update(dtype="get_default_dtype"), "no dtype"),
}  # fmt: skip


def nested(depth: int) -> Any:
    return {"tuple": [nested(depth - 1)]} if depth else 1


def nested_size(depth: int) -> Any:
    return ["+", nested_size(depth - 1), 1] if depth else "s0"


@pytest.mark.parametrize("case", FORGED)
def test_forged_programs(case: str) -> None:
    change, message = FORGED[case]
    with pytest.raises(InvalidProgram, match=message):
        load(changed(change))


def test_other_files(tmp_path: Path) -> None:
    content, parts = program(), records(program())
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.gwx")
    gw.save({"a": gw.ones(2)}, tmp_path / "state.pt")
    cut = {"text": b"hello", "nothing": b"", "half": content[: len(content) // 2],
           "another zip": (tmp_path / "state.pt").read_bytes(),
           "no weights": b"".join(map(bytes, archived([("program.json", parts["program.json"])]))),
           "another record": b"".join(map(bytes, archived([*parts.items(), ("x", b"1")]))),
           "no JSON": b"".join(map(bytes, archived([("program.json", b"{"), (
               "weights.safetensors", parts["weights.safetensors"])])))}
    for damaged in cut.values():
        with pytest.raises(InvalidProgram):
            load(damaged)
        path = tmp_path / "damaged.gwx"
        path.write_bytes(damaged)
        with pytest.raises(InvalidProgram):
            load(path)


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_byte_is_found_or_harmless(seed: int) -> None:
    draw, content = random.Random(seed), program()
    for _ in range(150):
        damaged = bytearray(content)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        try:
            load(bytes(damaged)).module()(gw.ones(4, 3))
        except InvalidProgram:
            continue


@pytest.mark.parametrize("seed", range(3))
def test_mutated_programs_never_crash(seed: int) -> None:
    """Values of the JSON exchanged with others, checksums made to fit: an error, or a program."""
    draw = random.Random(seed)
    others: list[Any] = [None, -1, 2**40, 1.5, "s0", "linear", [], {}, [1, 2], {"node": "x"}, True]

    def mutate(value: Any) -> Any:
        if draw.random() < 0.02:
            return draw.choice(others)
        if isinstance(value, dict):
            return {key: mutate(part) for key, part in value.items()}
        return [mutate(part) for part in value] if isinstance(value, list) else value

    for _ in range(60):
        try:
            made = load(changed(lambda p: mutate(p)))
        except InvalidProgram:
            continue
        with contextlib.suppress(RuntimeError, TypeError, ValueError, IndexError,
                                 NotImplementedError):
            made.module()(gw.ones(4, 3))


def test_too_many_nodes_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MOST_NODES", 100)

    def grow(p: dict[str, Any]) -> None:
        p["nodes"] = [p["nodes"][0]] * 101

    with pytest.raises(InvalidProgram, match="101 nodes, more than 100"):
        load(changed(grow))


def test_what_a_file_cannot_hold(tmp_path: Path) -> None:
    @gw.library.custom_op("mine::double", mutates_args=())
    def double(x: gw.Tensor) -> gw.Tensor:
        return x * 2

    double.register_fake(lambda x: gw.empty_like(x))
    made = export(lambda x: double(x) + 1, (gw.ones(3),), strict=False)
    assert made.module()(gw.ones(3)).tolist() == [3.0] * 3
    with pytest.raises(ExportError, match="no op of graphwright's table"):
        save(made, tmp_path / "x.gwx")
    assert not (tmp_path / "x.gwx").exists()
    with pytest.raises(TypeError, match="takes an ExportedProgram"):
        save(nn.Linear(1, 1), tmp_path / "x.gwx")  # type: ignore[arg-type]
    with pytest.raises(OSError):
        save(export(nn.ReLU(), (gw.ones(1),)), tmp_path / "none" / "x.gwx")


def test_under_the_name_of_torch(tmp_path: Path) -> None:
    script = """
import graphwright.as_torch
import torch
from torch.export import Dim, export, load, save
from torch.export.graph_signature import InputKind
model = torch.nn.Linear(3, 2)
program = torch.export.export(model, (torch.ones(4, 3),), dynamic_shapes=({0: Dim("n")},))
torch.export.save(program, "model.pt2")
again = load("model.pt2")
x = torch.ones(7, 3)
assert torch.equal(again.module()(x), model(x))
print([one.kind is InputKind.PARAMETER for one in again.graph_signature.input_specs])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          cwd=tmp_path, check=True)
    assert done.stdout.strip() == "[True, True, False]"
