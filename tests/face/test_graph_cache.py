"""The graph cache: programs of graphs that another process has captured are not lowered again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen import cache, plain_programs, target
from graphwright.codegen.emit import native
from graphwright.face import graph_cache, native_backends
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import Artifacts, artifacts_of
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.pipeline import lower_graph
from graphwright.runtime.symbolic.expr import Int
from graphwright.runtime.symbolic.relation import Relation

from .graph_cache_programs import PROGRAMS

SCRIPT = [sys.executable, "-m", "tests.face.graph_cache_programs"]
X = [[0.5, -1.0, 2.0]]


def started(folder: Path, *names: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SCRIPT, *names], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "GRAPHWRIGHT_CACHE_DIR": str(folder), **environment})


def finished(process: subprocess.Popen[str]) -> Any:
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(output)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What a process with an empty cache printed, and then one with that cache."""
    folder = tmp_path_factory.mktemp("graphs")
    return [finished(started(folder)) for _ in range(2)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_another_process_loads_the_programs_and_gives_the_same(
    runs: list[Any], name: str
) -> None:
    cold, warm = [run["results"][name] for run in runs]
    assert all(graph["loaded"] == [] and graph["passes"] for graph in cold["graphs"])
    for graph, before in zip(warm["graphs"], cold["graphs"], strict=True):
        assert graph["loaded"][:2] == ["lowered", "forward"] and not graph["passes"]
        assert all("backward by" in made for made in graph["made"])
        assert graph["kernels"] == before["kernels"]
    assert warm["compiled"] == cold["compiled"]
    assert warm["guards"] == cold["guards"]


def test_what_lowering_assumes_is_guarded_by_who_loads(runs: list[Any]) -> None:
    for run in runs:
        guards = run["results"]["assuming"]["guards"]
        assert any("//2" in guard and "'!='" in guard for guard in guards)


def test_loading_imports_no_llvm(tmp_path: Path) -> None:
    for imported in (True, False):
        assert finished(started(tmp_path, "static", "module_training"))["llvmlite"] is imported


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    together = [started(tmp_path, "module_training") for _ in range(3)]
    results = [finished(process)["results"]["module_training"]["compiled"]
               for process in together]
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_number_of_threads_is_no_part_of_a_program(tmp_path: Path, threads: str) -> None:
    finished(started(tmp_path, "static"))
    again = finished(started(tmp_path, "static", GRAPHWRIGHT_NUM_THREADS=threads))
    found = again["results"]["static"]
    assert found["graphs"][0]["loaded"] and found["compiled"] == found["eager"]


@pytest.mark.parametrize("cpu", target.LIMITS)
def test_other_processors_have_programs_of_their_own(tmp_path: Path, cpu: str) -> None:
    finished(started(tmp_path, "static", "some_gradients"))
    for loaded in (False, True):
        run = finished(started(tmp_path, "static", "some_gradients", GRAPHWRIGHT_CPU=cpu))
        graphs = [graph for found in run["results"].values() for graph in found["graphs"]]
        assert all(bool(graph["loaded"]) is loaded for graph in graphs)


def test_a_folder_that_cannot_be_used_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    process = started(tmp_path / "file" / "cache", "static")
    output, errors = process.communicate()
    assert process.returncode == 0 and errors.count("Warning:") == 1
    found = json.loads(output)["results"]["static"]
    assert found["compiled"] == found["eager"]


# -- in this process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "graphs"
    forget()


def forget() -> None:
    """Let the caches have nothing in memory, as in a new process."""
    cache._CACHES.clear()
    cache._GRAPHS.clear()


def compiled(
    function: Callable[..., Any] | None = None, **options: Any
) -> tuple[Any, Artifacts]:
    """The result of a function compiled anew, and what its graph became."""
    forget()

    def body(x: gw.Tensor) -> gw.Tensor:
        return gw.exp(x) * 2

    made = gw.compile(function or body, **options)
    result = made(gw.tensor(X))
    artifacts = artifacts_of(compilation_of(made).record.graphs[0].graph)
    assert artifacts is not None
    return result, artifacts


def entries(folder: Path) -> dict[str, Path]:
    """The files of the only graph that is there, by what they hold."""
    return {path.name.partition("-")[2]: path for path in folder.iterdir()}


def damages() -> dict[str, Callable[[bytes], bytes]]:
    def flipped(content: bytes) -> bytes:
        middle = len(content) // 2
        return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:]

    return {"empty": lambda content: b"", "cut": lambda content: content[:-7],
            "a bit flipped": flipped, "other bytes": lambda content: os.urandom(5000)}


@pytest.mark.parametrize("part", ["lowered", "forward"])
@pytest.mark.parametrize("damage", damages())
def test_a_damaged_entry_is_made_again_without_a_word(
    folder: Path, part: str, damage: str, recwarn: pytest.WarningsRecorder
) -> None:
    expected, _ = compiled()
    path = entries(folder)[part]
    whole = path.read_bytes()
    path.write_bytes(damages()[damage](whole))
    result, artifacts = compiled()
    assert result.tolist() == expected.tolist() and artifacts.loaded == (
        ["forward"] if part == "lowered" else ["lowered"])
    assert path.read_bytes() == whole
    assert compiled()[1].loaded == ["lowered", "forward"]
    assert not recwarn.list


@pytest.mark.parametrize("content", [
    b"", b"[]", b"{}", b"\xff", b'{"assumed": [], "content": {}}',
    b'{"assumed": [["?", 1, 2]], "content": {}}', b'{"assumed": [["==", 1, 2]], "content": {}}',
    b'{"assumed": [], "content": {"segments": [{"key": "none"}]}}'])
def test_an_entry_of_another_form_is_made_again(folder: Path, content: bytes) -> None:
    expected, _ = compiled()
    for path in entries(folder).values():
        kept = cache.graph_cache()
        assert kept is not None
        kept.put(path.name, content)
    result, artifacts = compiled()
    assert result.tolist() == expected.tolist() and artifacts.loaded == []
    assert compiled()[1].loaded == ["lowered", "forward"]


def test_an_entry_under_another_s_name_is_made_again(folder: Path) -> None:
    compiled(lambda x: x.sin())
    foreign = entries(folder)
    compiled(lambda x: x.cos())
    for path in folder.iterdir():
        if path not in foreign.values():
            shutil.copy(foreign[path.name.partition("-")[2]], path)
    result, artifacts = compiled(lambda x: x.cos())
    assert artifacts.loaded == []
    gw.testing.assert_close(result, gw.tensor(X).cos())


def test_kernels_that_are_gone_are_compiled_again(folder: Path) -> None:
    expected, _ = compiled()
    shutil.rmtree(folder.parent / "kernels")
    result, artifacts = compiled()
    assert result.tolist() == expected.tolist() and artifacts.loaded == ["lowered"]


def test_entries_are_private(folder: Path) -> None:
    compiled()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_switched_off_nothing_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_GRAPH_CACHE", "0")
    assert [compiled()[1].loaded for _ in range(2)] == [[], []]
    assert not folder.exists()


def test_the_stages_of_a_loaded_program_are_made_when_asked_for(folder: Path) -> None:
    def function(x: gw.Tensor) -> gw.Tensor:
        return (gw.exp(x) * 2).sum(-1)

    texts = []
    for _ in range(2):
        forget()
        made = gw.compile(function)
        made(gw.tensor(X))
        texts.append(gw.compiler.dump(made, ["joint", "loops", "llvm"]))
    assert texts[0] == texts[1] and [*texts[1]] == ["joint", "loops", "llvm"]


def test_the_log_says_what_was_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_LOGS", "cache")
    compiled()
    assert "1 misses, 0 rebuilt\n" in capsys.readouterr().err
    compiled()
    assert "1 disk hits, 0 misses, 0 rebuilt, the program of the forward graph" in (
        capsys.readouterr().err)


def test_what_lowering_assumed_of_sizes_is_assumed_again(folder: Path) -> None:
    known: list[tuple[list[str], list[str]]] = []

    def backend(graph: GraphModule, examples: Any) -> Any:
        env = graph.meta["shape_env"]
        entry = graph_cache.entry_of(graph, examples, False, Artifacts("llvm"))
        assert entry is not None
        before, lowered = [str(fact) for fact in env.guards], entry.lowered()
        if lowered is None:
            lowered = lower_graph(graph, examples, needs_grad=False)
            env.evaluate_bool(Relation("<", env.symbols["s0"], Int(100)))
            entry.keep_lowered(lowered)
        known.append((before, [str(fact) for fact in env.guards]))
        return graph.forward

    for _ in range(2):
        forget()
        gw.compile(scaled, backend=backend, dynamic=True)(gw.ones(7))
    assert known[0] == known[1] == (["s0 >= 2"], ["s0 >= 2", "s0 < 100"])


# -- what makes another key


def key_of(function: Callable[..., Any], *inputs: Any, **options: Any) -> str | None:
    """The key of the graph of one call; None for a graph that is not kept."""
    found: list[str | None] = []

    def backend(graph: GraphModule, examples: Any) -> Any:
        needs_grad = any(isinstance(value, gw.Tensor) and value.requires_grad
                         for value in examples)
        entry = graph_cache.entry_of(
            graph, examples, needs_grad, Artifacts("llvm", **options))
        found.append(None if entry is None else entry.key)
        return native_backends.native("llvm", graph, examples)

    gw.compile(function, backend=backend)(*inputs)
    return found[0]


def scaled(x: gw.Tensor) -> gw.Tensor:
    return x.exp() * 2


def test_the_key_tells_graphs_apart(folder: Path) -> None:
    x = gw.ones(3, 4)
    keys = [
        key_of(scaled, x), key_of(lambda x: x.exp() * 3, x), key_of(lambda x: x.exp() * 2.0, x),
        key_of(scaled, gw.ones(4, 3)), key_of(scaled, gw.ones(4, 3).t()),
        key_of(scaled, x.double()), key_of(scaled, gw.ones(3, 4, requires_grad=True)),
        key_of(scaled, x, strict=True), key_of(scaled, x, blas=False),
    ]
    with gw.no_grad():
        keys.append(key_of(scaled, x))
    with gw.autocast("cpu", dtype=gw.bfloat16):
        keys.append(key_of(scaled, x))
    assert None not in keys and len(set(keys)) == len(keys)
    assert key_of(scaled, gw.zeros(3, 4)) == keys[0]


@pytest.mark.parametrize("name", ["builder", "sources_identity"])
def test_the_key_tells_compilers_apart(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = key_of(scaled, gw.ones(3))
    monkeypatch.setattr(graph_cache, name, lambda *arguments: "another")
    assert key_of(scaled, gw.ones(3)) not in (None, before)


def test_sources_are_known_by_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text("x = 1")
    seen = {"\n".join(native._stamps(str(package)))}
    (package / "module.py").write_text("x = 10")
    seen.add("\n".join(native._stamps(str(package))))
    (package / "other.py").write_text("")
    seen.add("\n".join(native._stamps(str(package))))
    assert len(seen) == 3


class Doubling(gw.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: gw.Tensor) -> gw.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: gw.Tensor) -> gw.Tensor:
        return grad * 2


def test_functions_of_the_program_s_own_are_not_kept(folder: Path) -> None:
    def own(x: gw.Tensor) -> gw.Tensor:
        result: gw.Tensor = Doubling.apply(x)
        return result.exp()

    assert key_of(own, gw.ones(3, requires_grad=True)) is None


@pytest.mark.parametrize(("name", "method"), [
    ("sin", lambda self: self + 1), ("__mul__", lambda self, other: self - other)])
def test_graphs_of_tensors_with_other_methods_are_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, method: Callable[..., Any]
) -> None:
    def function(x: gw.Tensor) -> gw.Tensor:
        return x.sin() * 2

    before = key_of(function, gw.ones(3))
    with monkeypatch.context() as patching:
        patching.setattr(gw.Tensor, name, method, raising=False)
        assert key_of(function, gw.ones(3)) is None
    with monkeypatch.context() as patching:
        patching.setattr(gw.Tensor, name, getattr(gw.Tensor, name), raising=False)
        assert key_of(function, gw.ones(3)) not in (None, before)
    assert key_of(function, gw.ones(3)) == before


def test_graphs_with_branches_are_compiled_each_time(folder: Path) -> None:
    def branching(x: gw.Tensor) -> gw.Tensor:
        result: gw.Tensor = gw.cond(x.sum() > 0, gw.sin, gw.cos, (x,))
        return result

    results = [compiled(branching) for _ in range(2)]
    assert [artifacts.loaded for _, artifacts in results] == [[], []]
    gw.testing.assert_close(results[1][0], gw.tensor(X).sin())


def test_large_constants_are_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(x: gw.Tensor) -> gw.Tensor:
        return x + gw.tensor([1.0, 2.0, 3.0])

    for largest, loaded in ((11, ["lowered"]), (12, ["lowered"]), (12, ["lowered", "forward"])):
        monkeypatch.setattr(plain_programs, "LARGEST_CONSTANTS", largest)
        if largest == 11:
            assert compiled(shifted)[1].loaded == []
        assert compiled(shifted)[1].loaded == loaded
