"""The processes that compile GPU kernels: how many there are, and what happens where they die or
hang, at Ctrl-C, at a fork, and when the process that they work for ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from graphwright.codegen.triton import (
    CannotCompile,
    Request,
    TritonKernel,
    compile_kernel,
    compile_kernels,
    pool,
)
from graphwright.runtime import _core
from graphwright.runtime.record import replace

from .test_compiled_kernels import ROOT, adding


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and a place for temporary files, of the test's own."""
    pytest.importorskip("triton")
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def running(code: str) -> TritonKernel:
    """A kernel whose source runs code in the process that compiles it."""
    kernel = adding(1)
    return replace(kernel, source=f"{kernel.source}\n{code}\n")


def sleeping(seconds: float, marker: Path | None = None) -> TritonKernel:
    """A kernel whose compiler, once it has made a file `marker`, waits for another program."""
    made = f"open({str(marker)!r}, 'w').close()" if marker else ""
    return running(f"import subprocess\n{made}\nsubprocess.run(['/bin/sleep', '{seconds}'])")


def appears(path: Path) -> bool:
    """Whether a file is there within a minute."""
    end = time.monotonic() + 60
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return path.exists()


def ends(group: int) -> bool:
    """Whether nothing is left of a process group within a minute."""
    end = time.monotonic() + 60
    try:
        while time.monotonic() < end:
            os.killpg(group, 0)
            time.sleep(0.01)
    except ProcessLookupError:
        return True
    return False


def process_ids() -> set[int]:
    return {worker._process.pid for worker in pool._WORKERS}


def test_nothing_of_the_program_is_imported_where_kernels_are_compiled(tmp_path: Path) -> None:
    out = tmp_path / "modules"
    compile_kernel(running(
        "import sys\n"
        f"with open({str(out)!r}, 'w') as file: print(*sys.modules, sep='\\n', file=file)"))
    modules = out.read_text().split()
    assert "triton" in modules
    assert not [name for name in modules if name.startswith(("graphwright", "tests", "pytest"))]


@pytest.mark.parametrize(("code", "said"), [
    ("import os\nprint('LLVM ERROR: no', flush=True)\nos.abort()",
     "was ended by signal 6 .Aborted."),
    ("import os\nos.write(2, b'no')\nos._exit(3)", "ended with exit code 3\nno"),
])
def test_a_process_that_dies_is_an_error_of_its_kernel(code: str, said: str) -> None:
    with pytest.raises(CannotCompile, match=f"k0_add cannot be compiled .* the process .* {said}"):
        compile_kernel(running(code))
    assert compile_kernel(adding(2)).cubin


def test_a_process_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_kernel(adding(1))   # so that there is one that has started
    with monkeypatch.context() as patch:
        patch.setattr(pool, "_PATIENCE", 3.0)
        before = process_ids()
        with pytest.raises(CannotCompile, match=r"k0_add .*: it took longer than 3 seconds"):
            compile_kernel(sleeping(100, tmp_path / "marker"))
    assert (tmp_path / "marker").exists()
    (ended,) = before - process_ids()
    assert ends(ended)


def test_one_that_ended_while_it_had_nothing_to_do_is_replaced() -> None:
    compile_kernel(adding(1))
    before = process_ids()
    for number in before:
        os.kill(number, signal.SIGKILL)
        os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
    assert compile_kernel(adding(2)).cubin
    assert process_ids() and not before & process_ids()


def test_there_are_no_more_than_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    pool._end_all()
    before = _core.set_num_threads(2)
    try:
        compile_kernel(adding(0))
        assert len(process_ids()) == 1
        compile_kernels([Request(adding(number)) for number in range(1, 6)])
        assert len(process_ids()) == 2
    finally:
        _core.set_num_threads(before)


def test_neither_path_nor_working_directory_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool._end_all()
    monkeypatch.setenv("PATH", "")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert compile_kernel(adding(1)).cubin


def test_where_none_can_be_started_the_error_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    pool._end_all()
    monkeypatch.setattr(sys, "executable", "/no/python")
    with pytest.raises(CannotCompile, match=r"in another process: .*No such file.*/no/python"):
        compile_kernel(adding(1))


def test_ctrl_c_ends_what_is_being_compiled(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        marker = tmp_path / "marker"
        stopper = threading.Thread(
            target=lambda: appears(marker) and os.kill(os.getpid(), signal.SIGALRM))
        stopper.start()
        with pytest.raises(KeyboardInterrupt):
            compile_kernel(sleeping(100, marker))
        stopper.join()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert all(worker.job is None for worker in pool._WORKERS)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("graphwright-")]
    assert compile_kernel(adding(1)).cubin


def test_a_signal_handler_may_need_kernels_while_others_are_compiled() -> None:
    made: list[Any] = []
    before = signal.signal(
        signal.SIGALRM, lambda number, frame: made.append(compile_kernel(adding(2))))
    threads = _core.set_num_threads(1)
    try:
        compile_kernel(adding(0))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        made.append(compile_kernel(sleeping(1.0)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _core.set_num_threads(threads)
    assert [kernel.name for kernel in made] == ["k_add", "k_add"]


def test_threads_that_need_the_same_kernels_compile_them_once(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = pool.Worker.ask
    monkeypatch.setattr(pool.Worker, "ask", lambda self, job, request: (
        asked.append(job), ask(self, job, request)))
    requests = [Request(adding(number)) for number in range(3)]
    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(compile_kernels(requests)))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == made[:1] * 8
    assert len(asked) == len(set(asked)) == 3


def test_a_child_forked_meanwhile_has_processes_of_its_own(tmp_path: Path) -> None:
    made: list[Any] = []
    marker = tmp_path / "marker"
    thread = threading.Thread(target=lambda: made.append(compile_kernel(sleeping(0.5, marker))))
    thread.start()
    assert appears(marker)
    before = process_ids()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            own = not process_ids() and bool(compile_kernel(adding(2)).cubin)
            status = 0 if own and not before & process_ids() else 2
        finally:
            os._exit(status)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert len(made) == 1 and compile_kernel(adding(3)).cubin
    assert before <= process_ids()


LEFT = """
import os, signal, sys, threading
from pathlib import Path
from tests.codegen.gpu.test_compiling_processes import (
    adding, appears, compile_kernel, pool, process_ids, sleeping)
marker = Path(sys.argv[1])
threading.Thread(target=compile_kernel, args=(sleeping(100, marker),), daemon=True).start()
assert appears(marker)
print(*process_ids(), flush=True)
"""


@pytest.mark.parametrize("how", [
    "os.kill(os.getpid(), 9)",
    *(pytest.param(how, marks=pytest.mark.slow) for how in ("sys.exit()", "os._exit(0)"))])
def test_processes_end_with_the_one_that_they_work_for(tmp_path: Path, how: str) -> None:
    done = subprocess.run([sys.executable, "-c", LEFT + how, str(tmp_path / "marker")],
                          stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    (number,) = map(int, done.stdout.split())
    assert ends(number)
