"""The front end as a whole: limits, threads, errors, what the record says."""

from __future__ import annotations

import threading
import warnings

import pytest

import graphwright as gw
from graphwright.capture.exc import InternalCaptureError
from graphwright.capture.frame.frontend import Frontend

from ..captured import Captured, run_graph, same

X = gw.ones(2, 3)


def named(x, name):
    return x * len(name)


def test_recompile_limit():
    captured = Captured(named)
    for n in range(20):
        assert captured.agrees(X, "a" * (n + 1))
    assert captured.graphs == 8
    assert captured.agrees(X, "a")
    assert "more than 8 versions" in captured.record.skipped[-1][1]


def test_the_warning_of_the_limit_is_no_error_of_the_program(capfd):
    captured = Captured(named)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(10):
            assert captured.agrees(X, "a" * (n + 1))
    assert capfd.readouterr().err.count("compiled 8 times") == 1


def test_recompile_reasons_name_both_values():
    captured = Captured(named)
    captured(X, "one")
    captured(X, "three")
    assert captured.record.recompiles[0].reasons == ("name: expected 'one', got 'three'",)


def test_backend_gets_the_graph_and_fake_examples():
    seen = []

    def backend(module, examples):
        seen.append((module.code, examples))
        return lambda *args: module(*args)

    compiled = Frontend(backend).compile(lambda x: (x * 2).sum())
    assert same(compiled(X), gw.tensor(12.0))
    code, examples = seen[0]
    assert "x * 2" in code
    assert tuple(examples[0].shape) == (2, 3) and examples[0].dtype is gw.float32
    with pytest.raises(RuntimeError):
        examples[0].item()


def test_errors_of_the_backend_pass_through():
    class BackendError(Exception):
        pass

    def backend(module, examples):
        raise BackendError("no")

    with pytest.raises(BackendError):
        Frontend(backend).compile(lambda x: x * 2)(X)


def test_bugs_name_the_users_line(monkeypatch):
    from graphwright.capture.emit.frame import FrameCompiler

    def broken(self):
        raise KeyError("bug")

    monkeypatch.setattr(FrameCompiler, "finish_return", broken)
    with pytest.raises(InternalCaptureError, match="please report"):
        Captured(named)(X, "a")


def test_frames_without_operations_run_plainly():
    captured = Captured(lambda a, b: a + b)
    assert captured(1, 2) == 3
    assert captured.graphs == 0
    assert captured.agrees(X, X)
    assert captured.graphs == 1


def test_long_loops_are_not_unrolled():
    def long(x):
        total = 0
        for i in range(99_999):
            total += i
        return x * total

    captured = Captured(long)
    assert captured.agrees(X)
    assert captured.breaks == ["GB0018"]


def test_deep_recursion_is_not_inlined():
    def down(x, n):
        return x if n == 0 else down(x + 1, n - 1)

    captured = Captured(lambda x: down(x, 200))
    assert captured.agrees(X)


def test_generators_and_coroutines_are_left_alone():
    def numbers(x):
        yield x * 2
        yield x * 3

    captured = Captured(numbers)
    assert same(list(captured(X)), list(numbers(X)))
    assert captured.graphs == 0


def test_threads():
    def work(x, n):
        y = x * 2
        for i in range(n):
            y = y + i
        return y + 1 if y.sum() > 0 else y - 1

    captured, wrong = Captured(work), []

    def run(k):
        for i in range(40):
            value = gw.ones(2 + i % 3) * (k - 2)
            if not same(captured(value, k % 3 + 1), work(value, k % 3 + 1)):
                wrong.append((k, i))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_modules_are_captured_through_their_layers():
    model = gw.nn.Sequential(
        gw.nn.Linear(3, 4), gw.nn.LayerNorm(4), gw.nn.GELU(), gw.nn.Linear(4, 2)
    )
    captured = Captured(lambda x: model(x))
    assert captured.agrees(X)
    assert captured.ops == [4]
    names = [node.name for node in captured.record.graphs[0].graph.graph.placeholders]
    assert len(names) == 7


def test_gradients_flow_to_parameters():
    model = gw.nn.Linear(3, 2)
    captured = Captured(lambda x: (model(x) ** 2).sum())
    captured(X).backward()
    compiled = model.weight.grad.clone()
    model.zero_grad()
    captured.function(X).backward()
    assert same(compiled, model.weight.grad)


def test_batch_norm_updates_its_statistics():
    first, second = gw.nn.BatchNorm2d(3), gw.nn.BatchNorm2d(3)
    x = gw.randn(2, 3, 4, 4)
    captured = Captured(lambda v: first(v))
    for n in range(1, 4):
        assert same(captured(x), second(x))
        assert same(first.running_mean, second.running_mean)
        assert first.num_batches_tracked.item() == n


def test_random_numbers_are_those_of_eager_code():
    def noise(x):
        return gw.nn.functional.dropout(x, 0.5) + gw.rand(2, 3)

    captured = Captured(noise)
    gw.manual_seed(3)
    plain = [noise(X) for _ in range(3)]
    gw.manual_seed(3)
    assert same([captured(X) for _ in range(3)], plain)


def test_one_compiled_function_inside_of_another():
    inner = Frontend(run_graph).compile(lambda x: x * 2)
    captured = Captured(lambda x: inner(x) + 1)
    assert same(captured(X), X * 3)
    assert captured.ops == [2]
