"""Bad input and bad surroundings: the same errors as eager, one warning, a correct result."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

import graphwright as gw
from graphwright import nn

PROGRAM = """
import warnings
warnings.simplefilter("always")
import graphwright as gw

@gw.compile{options}
def f(x):
    return gw.relu(x + 1) * 2

print(f(gw.ones(3)).tolist(), f(gw.ones(3) * 2).tolist())
"""
EXPECTED = "[4.0, 4.0, 4.0] [6.0, 6.0, 6.0]"


def run(options: str = "", **environment: str) -> tuple[str, str]:
    """Standard output and error of the program in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(options=options)], capture_output=True, text=True,
        check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def warnings_in(text: str) -> list[str]:
    return [line for line in text.splitlines() if "Warning:" in line]


def test_no_compiler_on_path_needs_no_word_with_the_default_backend(tmp_path: Path) -> None:
    output, errors = run(PATH="", CC="", GRAPHWRIGHT_CACHE_DIR=str(tmp_path))
    assert (output, warnings_in(errors)) == (EXPECTED, [])


def test_the_c_backend_without_a_compiler_warns_once_and_uses_llvm(tmp_path: Path) -> None:
    output, errors = run("(backend='c')", PATH="", CC="", GRAPHWRIGHT_CACHE_DIR=str(tmp_path))
    assert output == EXPECTED
    warning, = warnings_in(errors)
    assert "no C compiler was found" in warning and "'llvm'" in warning


def test_a_cache_folder_that_cannot_be_made_warns_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    output, errors = run(GRAPHWRIGHT_CACHE_DIR=str(file / "cache"))
    assert output == EXPECTED
    warning, = warnings_in(errors)
    assert "memory" in warning


def test_a_relative_cache_folder_is_never_used(tmp_path: Path) -> None:
    output, _ = run(GRAPHWRIGHT_CACHE_DIR="relative-cache")
    assert output == EXPECTED
    assert not Path("relative-cache").exists()


BREAKING = """
import os, sys, warnings
import graphwright as gw
{before}

@gw.compile(options={{"recompile_limit": 1}})
def f(x, k):
    print(end="")
    return gw.relu(x + k) * 2

print(*(f(gw.ones(n), k).tolist() for n, k in ((1, "a"[1:] or 1), (2, 2.5))))
"""


@pytest.mark.parametrize("before", [
    "sys.stderr = None",
    "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
    "ours, theirs = os.pipe(); os.close(ours); os.dup2(theirs, 2)",
    "sys.stderr.close()",
], ids=["none", "full", "unread", "closed"])
@pytest.mark.parametrize("logs", ["", "graph_breaks,recompiles,guards,graph,joint,loops,cache"])
def test_what_cannot_be_told_does_not_end_the_program(before: str, logs: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BREAKING.format(before=before)], capture_output=True, text=True,
        check=False, env={**os.environ, "GRAPHWRIGHT_LOGS": logs})
    assert (done.returncode, done.stdout) == (0, "[4.0] [7.0, 7.0]\n"), done.stderr


def corrupt(path: Path, damage: Callable[[bytes], bytes]) -> None:
    path.chmod(0o600)
    path.write_bytes(damage(path.read_bytes()))


@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"\0" * len(data),
    lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
], ids=["empty", "truncated", "zeros", "one bit"])
def test_a_damaged_cache_entry_is_built_again(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    assert run(GRAPHWRIGHT_CACHE_DIR=str(tmp_path))[0] == EXPECTED
    entries = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert entries
    for path in entries:
        corrupt(path, damage)
    assert run(GRAPHWRIGHT_CACHE_DIR=str(tmp_path))[0] == EXPECTED
    assert run(GRAPHWRIGHT_CACHE_DIR=str(tmp_path))[0] == EXPECTED


BAD_CALLS: list[tuple[Callable[..., gw.Tensor], Callable[[], tuple[gw.Tensor, ...]]]] = [
    (lambda a, b: a + b, lambda: (gw.ones(3), gw.ones(4))),
    (lambda a, b: a @ b, lambda: (gw.ones(2, 3), gw.ones(4, 5))),
    (lambda a, b: gw.softmax(a, dim=2) + b, lambda: (gw.ones(3), gw.ones(3))),
    (lambda a, b: a.view(5) + b, lambda: (gw.ones(2, 3), gw.ones(5))),
    (lambda a, b: gw.cat([a, b]), lambda: (gw.ones(2, 3), gw.ones(2, 4))),
    (lambda a, b: nn.functional.linear(a, b), lambda: (gw.ones(2, 3), gw.ones(4, 4))),
    (lambda a, b: nn.functional.embedding(a, b),
     lambda: (gw.tensor([0, 9]), gw.ones(4, 2))),
    (lambda a, b: nn.functional.cross_entropy(a, b),
     lambda: (gw.ones(2, 3), gw.tensor([0, 3]))),
    (lambda a, b: a & b, lambda: (gw.ones(3), gw.ones(3))),
]


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize(("function", "make"), BAD_CALLS)
def test_errors_are_the_same_eagerly_and_compiled(
    function: Callable[..., gw.Tensor], make: Callable[[], tuple[gw.Tensor, ...]], backend: str
) -> None:
    with pytest.raises(Exception) as eagerly:
        function(*make())
    with pytest.raises(Exception) as compiled:
        gw.compile(function, backend=backend)(*make())
    assert issubclass(compiled.type, eagerly.type)
    assert issubclass(eagerly.type, RuntimeError | IndexError | TypeError | ValueError)


def test_tracebacks_show_the_users_lines() -> None:
    def inner(x: gw.Tensor) -> gw.Tensor:
        return x @ gw.ones(7)  # the line to be shown

    def outer(x: gw.Tensor) -> gw.Tensor:
        y = x * 2
        return inner(y)

    with pytest.raises(RuntimeError) as caught:
        gw.compile(outer)(gw.ones(3, 3))
    text = "".join(traceback.format_exception(caught.value))
    assert "return x @ gw.ones(7)  # the line to be shown" in text
    assert "return inner(y)" in text


def test_an_index_out_of_range_found_by_native_code_names_value_and_bound() -> None:
    compiled = gw.compile(lambda table, ids: nn.functional.embedding(ids, table) * 2)
    table = gw.ones(4, 2)
    assert compiled(table, gw.tensor([0, 3])).shape == (2, 2)
    with pytest.raises(IndexError, match="9"):
        compiled(table, gw.tensor([0, 9]))
    assert compiled(table, gw.tensor([1, 2])).shape == (2, 2)


def test_many_threads_share_one_compiled_function() -> None:
    compiled = gw.compile(lambda x, k: gw.softmax(x * k, dim=-1).sum(0))
    inputs = [(gw.randn(5, 8 + n % 3), float(n % 2 + 1)) for n in range(12)]
    expected = [gw.softmax(x * k, dim=-1).sum(0) for x, k in inputs]
    mismatches: list[int] = []
    start = threading.Barrier(32)

    def work(seed: int) -> None:
        start.wait()
        for step in range(100):
            number = (seed * 7 + step) % len(inputs)
            if not gw.allclose(compiled(*inputs[number]), expected[number], atol=1e-6):
                mismatches.append(number)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mismatches == []


def test_two_pending_backwards_do_not_share_memory() -> None:
    weight = gw.randn(6, 6, requires_grad=True)
    compiled = gw.compile(lambda x: gw.tanh(x @ weight).sum())
    first, second = gw.randn(4, 6), gw.randn(4, 6)
    a, b = compiled(first), compiled(second)
    grads = [gw.autograd.grad(loss, [weight])[0] for loss in (a, b)]
    for x, grad in zip((first, second), grads, strict=True):
        expected, = gw.autograd.grad(gw.tanh(x @ weight).sum(), [weight])
        assert gw.allclose(grad, expected, atol=1e-5)


def test_a_forked_child_computes_on() -> None:
    code = """
import os
import graphwright as gw
f = gw.compile(lambda x: gw.relu(x) * 2)
x = gw.ones(300_000)
f(x)
pid = os.fork()
if pid == 0:
    os._exit(0 if f(x).sum().item() == 600_000.0 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True,
                          text=True, check=True, timeout=60)
    assert done.stdout.strip() == "0"


def test_double_backward_through_a_compiled_function() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return (gw.tanh(x) * x ** 2).sum()

    def second(function: Callable[[gw.Tensor], gw.Tensor]) -> list[float]:
        x = gw.tensor([0.3, -1.2, 2.0], requires_grad=True)
        grad, = gw.autograd.grad(function(x), [x], create_graph=True)
        return gw.autograd.grad(grad.sum(), [x])[0].tolist()

    assert second(gw.compile(f)) == pytest.approx(second(f), rel=1e-4)


def test_a_saved_tensor_changed_before_backward_is_refused() -> None:
    compiled = gw.compile(lambda x, y: (x * y).sum())
    x, y = gw.ones(3, requires_grad=True), gw.ones(3)
    loss = compiled(x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_backward_twice_is_refused_as_in_eager() -> None:
    compiled = gw.compile(lambda x: (x * x).sum())
    loss = compiled(gw.ones(3, requires_grad=True))
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
