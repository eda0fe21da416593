"""The kernel cache on disk: private, atomic, verified, and never in the way."""

from __future__ import annotations

import fcntl
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.cache import (
    _CACHES,
    CacheWarning,
    KernelCache,
    cache_folder,
    kernel_cache,
)
from graphwright.codegen.cache_key import canonical
from graphwright.codegen.emit import c_object, llvm_object
from graphwright.codegen.emit.native import compile_program
from graphwright.codegen.program import NativeProgram
from graphwright.codegen.target import CompilerMissing, find_compiler
from graphwright.face import native_backends
from graphwright.runtime import temporary
from graphwright.runtime.tensor.dtypes import float32, float64
from graphwright.saving.files import write_atomically

from .native_support import buffer, elementwise, load, op, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def example(name: str = "exp", count: int = 20) -> NativeProgram:
    x = buffer("x", float32, count)
    return elementwise(count, lambda i: op(name, load(x, i)), [x], float32)


def check(target: str = "llvm") -> None:
    a = np.linspace(-1, 1, 20, dtype="f4")
    (got,) = run(example(), [a], target=target)
    np.testing.assert_allclose(got, np.exp(a), rtol=1e-6)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_second_compile_comes_from_disk(folder: Path, target: str) -> None:
    check(target)
    (entry,) = folder.iterdir()
    assert entry.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o777 == 0o700
    again = KernelCache(folder)
    assert again.get(entry.name) is not None
    assert again.counts.disk_hits == 1


def test_a_damaged_entry_is_built_again(folder: Path) -> None:
    check()
    (entry,) = folder.iterdir()
    for damage in (b"", b"short", entry.read_bytes()[:-1], b"\0" * 5000):
        entry.write_bytes(damage)
        kernel_cache().__init__(folder)  # type: ignore[misc]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check()
        assert kernel_cache().counts.rebuilt == 1
        assert len(entry.read_bytes()) > 1000


def test_an_entry_larger_than_memory_is_built_again(folder: Path) -> None:
    check()
    (entry,) = folder.iterdir()
    os.truncate(entry, 1 << 40)     # a sparse file
    kernel_cache().__init__(folder)  # type: ignore[misc]
    check()
    assert kernel_cache().counts.rebuilt == 1
    assert 1000 < entry.stat().st_size < 1 << 20


def test_nothing_is_left_of_a_write_that_was_interrupted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*paths: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            KernelCache(folder).put("key", b"payload")
    assert list(folder.iterdir()) == []


def test_an_entry_under_the_name_of_another_is_built_again(folder: Path) -> None:
    check()
    (entry,) = folder.iterdir()
    a = np.linspace(-1, 1, 20, dtype="f4")
    run(example("neg"), [a])
    (other,) = [path for path in folder.iterdir() if path != entry]
    entry.write_bytes(other.read_bytes())
    kernel_cache().__init__(folder)  # type: ignore[misc]
    check()
    assert kernel_cache().counts.rebuilt == 1


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    check()
    (entry,) = folder.iterdir()
    other = tmp_path / "other"
    entry.rename(other)
    entry.symlink_to(other)
    with pytest.warns(CacheWarning, match="cannot read"):
        assert KernelCache(folder).get(entry.name) is None


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_read(folder: Path, make: Callable[[Path], None]) -> None:
    check()
    (entry,) = folder.iterdir()
    entry.unlink()
    make(entry)
    kernel_cache().__init__(folder)  # type: ignore[misc]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        check()


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_names_are_not_drawn_from_the_programs_generator(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(random.Random, "random", None)
    monkeypatch.setattr(random.Random, "getrandbits", None)
    check(target)


def test_a_folder_that_others_can_write_to_is_not_used(folder: Path) -> None:
    check()
    folder.chmod(0o777)
    cache = KernelCache(folder)
    with pytest.warns(CacheWarning, match="others may write"):
        cache.put("key", b"payload")
    assert cache.get("key") == b"payload"
    assert not (folder / "key").exists()


def test_an_unusable_place_means_memory_and_one_warning(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    cache = KernelCache(blocker / "kernels")
    with pytest.warns(CacheWarning, match="in memory only") as caught:
        cache.put("a", b"1")
        cache.put("b", b"2")
    assert len(caught) == 1
    assert cache.get("a") == b"1"
    assert cache.counts.memory_hits == 1


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_means_memory(folder: Path) -> None:
    check()
    folder.chmod(0o500)
    cache = KernelCache(folder)
    with pytest.warns(CacheWarning, match="cannot write"):
        cache.put("key", b"payload")
    folder.chmod(0o700)
    assert cache.get("key") == b"payload"


def test_a_name_that_is_too_long_means_memory(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path / ("y/" * 3000))
    with pytest.warns(CacheWarning, match="too long"):
        cache.put("key", b"payload")
    assert cache.get("key") == b"payload"
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_leads_nowhere_means_memory_and_a_warning(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    cache = KernelCache(tmp_path / "link" / "kernels")
    with pytest.warns(CacheWarning, match="No such file"):
        cache.put("key", b"payload")
    assert cache.get("key") == b"payload"


def test_the_warning_is_no_error_of_what_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", "/dev/null")
    _CACHES.pop(cache_folder(), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gw.compile(lambda x: x.sin() + 1)(gw.zeros(7)).tolist() == [1.0] * 7
    assert "in memory only" in capsys.readouterr().err


@pytest.mark.parametrize("largest", [0, 10])
def test_no_room_for_the_files_of_the_c_backend_means_llvm(
    folder: Path, largest: int
) -> None:
    native_backends._warned.clear()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        with pytest.warns(RuntimeWarning, match=r"File too large: set TMPDIR.*backend='llvm'"):
            assert gw.compile(lambda x: x.sin() + 2, backend="c")(gw.zeros(7)).tolist() == [2.] * 7
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_folders_above_are_private_too(folder: Path) -> None:
    before = os.umask(0)
    try:
        check()
    finally:
        os.umask(before)
    assert folder.parent.stat().st_mode & 0o777 == folder.stat().st_mode & 0o777 == 0o700


def test_relative_folders_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", "here")
    assert cache_folder() is None
    check()


def test_clear_and_entries(folder: Path) -> None:
    cache = KernelCache(folder)
    cache.put("one", b"1")
    cache.put("two", b"22")
    assert dict(cache.entries()).keys() == {"one", "two"}
    assert cache.clear() == 2
    assert list(cache.entries()) == []
    assert cache.get("one") is None


def test_the_key_tells_programs_apart() -> None:
    texts = {
        canonical(p).text for p in (
            example(), example("tanh"), example(count=21),
            elementwise(20, lambda i: load(buffer("x", float64, 20), i),
                        [buffer("x", float64, 20)], float64))
    }
    assert len(texts) == 4
    assert canonical(example()).text == canonical(example()).text


def test_shared_values_do_not_blow_the_text_up() -> None:
    x = buffer("x", float32, 20)

    def doubled(i: object) -> object:
        value = load(x, i)  # type: ignore[arg-type]
        for _ in range(2000):
            value = op("add", value, value)  # type: ignore[assignment]
        return value

    assert len(canonical(elementwise(20, doubled, [x], float32)).text) < 200_000


ROOT = Path(__file__).parents[2]
WARM = """
import sys, time
from tests.codegen.test_cache import check
start = time.perf_counter()
check()
print("llvmlite" in sys.modules, time.perf_counter() - start)
"""


def test_a_warm_start_does_not_import_llvmlite(folder: Path) -> None:
    seen = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True,
                              env=dict(os.environ), cwd=ROOT, check=True)
        seen.append(done.stdout.split()[0])
    assert seen == ["True", "False"]


def test_processes_may_race(folder: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", WARM], env=dict(os.environ), cwd=ROOT)
        for _ in range(2)]
    assert [p.wait() for p in running] == [0, 0]
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


def test_a_missing_compiler_has_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(CompilerMissing, match="backend='llvm'"):
        compile_program(example(), "c")
    check("llvm")


def test_llvm_that_cannot_be_loaded_is_no_bug_of_the_compiler(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llvm_object._target_machine.cache_clear()
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    with pytest.raises(CompilerMissing, match=r"LLVM cannot be loaded.*backend='c'"):
        compile_program(example(), "llvm")
    with pytest.raises(CompilerMissing, match="LLVM cannot be loaded"):
        gw.compile(lambda x: x.sin() + 1)(gw.ones(7))
    check("c")


def test_the_compiler_may_be_named_by_a_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", f"env NAME=value {shlex.join(find_compiler().command)}")
    check("c")
    assert find_compiler().command[1] == "NAME=value"
    for broken in ("no-such-compiler -O2", "cc 'unclosed", " "):
        monkeypatch.setenv("CC", broken)
        with pytest.raises(CompilerMissing, match="CC="):
            find_compiler()


BROKEN_COMPILERS = {
    "hangs": ("sleep 1000", "has not compiled"),
    "writes without end": ("yes error >&2", "has not compiled"),
    "crashes": ("kill -SEGV $$", "was ended by signal 11"),
    "makes nothing": ("exit 0", "has made no library"),
    "refuses": ("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", "failed on generated code"),
    "makes no library": (
        'while [ "$1" != -o ]; do shift; done; echo text > "$2"', "cannot load native code"
    ),
}


@pytest.mark.parametrize("kind", BROKEN_COMPILERS)
def test_llvm_takes_the_place_of_a_compiler_that(
    kind: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, said = BROKEN_COMPILERS[kind]
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!/bin/sh\n{command}\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(c_object, "_PATIENCE", 0.0)
    monkeypatch.setattr(c_object, "_PACE", 1e6 if "has not" in said else 1.0)
    x = gw.zeros(7, requires_grad=True)
    with pytest.warns(RuntimeWarning, match=said) as caught:
        compiled = gw.compile(lambda x: (x.sin() + 2.5).sum(), backend="c")
        compiled(x).backward()
    assert x.grad is not None and x.grad.tolist() == [1.0] * 7
    messages = [str(w.message) for w in caught if "'llvm' is used" in str(w.message)]
    assert max(map(len, messages)) < 1500
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("graphwright-")]
    if kind not in ("refuses", "makes no library"):
        with pytest.raises(CompilerMissing, match=said):    # it is not run again
            find_compiler()


KILLED = """
import os, signal, sys
from graphwright.codegen import cache, private_files
from graphwright.saving import files
from graphwright.runtime import temporary

def parts():
    yield b"begun"
    os.kill(os.getpid(), signal.SIGKILL)

where, place = sys.argv[1:]
if where == "cache":
    os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
    cache.kernel_cache().put("key", b"payload")
elif where == "compiler":
    with private_files.compilers_folder():
        os.kill(os.getpid(), signal.SIGKILL)
else:
    files.write_atomically(os.path.join(place, "model.st"), parts())
"""


@pytest.mark.parametrize("where", ["cache", "compiler", "save"])
def test_what_a_killed_process_left_is_removed_by_the_next(
    where: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    done = subprocess.run([sys.executable, "-c", KILLED, where, str(place)], cwd=ROOT,
                          check=False)
    assert done.returncode == -signal.SIGKILL
    searched = folder if where == "cache" else place
    (left,) = [path for path in searched.iterdir() if re.match(r"\.new-|graphwright-", path.name)]
    writing = {
        "cache": lambda: KernelCache(folder).put("other", b"payload"),
        "compiler": lambda: compile_program(example(), "c"),
        "save": lambda: write_atomically(place / "model.st", [b"whole"]),
    }[where]
    lock = os.open(left, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    writing()
    assert left.exists(), "another process is at it"
    os.close(lock)
    temporary._SWEPT.clear()    # as in a new process
    writing()
    assert not left.exists()
    assert not [path for path in searched.iterdir() if path.name.startswith(".new-")]


def test_a_compiler_that_cannot_be_started_once_is_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", lambda *a, **k: exec("raise BlockingIOError(11)"))
        with pytest.raises(CompilerMissing, match="cannot be run"):
            compile_program(example(), "c")
    check("c")
