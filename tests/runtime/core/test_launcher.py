"""The Launcher: inputs, outputs, arenas, random numbers, errors, threads."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from graphwright.runtime import _core
from graphwright.runtime.tensor import device, dtypes


class Plain(_core.TensorBase):
    __slots__ = ()


def tensor(values: Any, dtype: dtypes.dtype = dtypes.float32) -> Plain:
    return _core.from_ndarray(Plain, np.array(values, dtype.numpy), dtype)


def launcher(kernels: _core.CodeObject, name: str, **changes: Any) -> _core.Launcher:
    arguments: dict[str, Any] = {
        "run": kernels.address(name),
        "shapes": kernels.address("relu_shapes"),
        "keepalive": kernels,
        "n_inputs": 1,
        "outputs": [(dtypes.float32, 1, None)],
        "arena_bytes": -1,
        "symbols": [(0, 0)],
        "rng_ops": 0,
        "mutated": [],
        "messages": ["index {value} is out of bounds for dimension of size {bound}"],
        "cls": Plain,
        "release_gil": False,
    }
    return _core.Launcher(**{**arguments, **changes})


def relu(x: Any) -> Any:
    return np.maximum(x + 1, 0) * 2


@pytest.mark.parametrize("release_gil", [False, True])
def test_symbolic_sizes(kernels: _core.CodeObject, release_gil: bool) -> None:
    call = launcher(kernels, "relu_run", release_gil=release_gil)
    for n in (0, 1, 5, 1000, 100_000, 3):
        x = np.linspace(-3, 3, n, dtype="f")
        (y,) = call(tensor(x))
        assert type(y) is Plain and y.shape == (n,) and y.is_contiguous()
        np.testing.assert_array_equal(y._nd, relu(x))


def test_static_sizes_and_a_single_output(kernels: _core.CodeObject) -> None:
    call = launcher(
        kernels, "relu_static", outputs=[(dtypes.float32, (1000,), None)], arena_bytes=0,
        symbols=[], single=True,
    )  # fmt: skip
    x = np.linspace(-3, 3, 1000, dtype="f")
    y = call(tensor(x))
    np.testing.assert_array_equal(y._nd, relu(x))
    assert call.single and call.n_inputs == 1 and call.n_outputs == 1
    assert call.keepalive is kernels


def test_given_strides(kernels: _core.CodeObject) -> None:
    outputs = [(dtypes.float32, (10, 100), (1, 10))]
    call = launcher(kernels, "relu_static", outputs=outputs, arena_bytes=0, symbols=[])
    (y,) = call(tensor(np.zeros(1000)))
    assert y.stride() == (1, 10) and not y.is_contiguous() and (y._nd == 2).all()
    dense = [(dtypes.float32, (10, 100), (100, 1))]
    call = launcher(kernels, "relu_static", outputs=dense, arena_bytes=0, symbols=[])
    assert call(tensor(np.zeros(1000)))[0].is_contiguous()


def test_offset_views_as_inputs(kernels: _core.CodeObject) -> None:
    base = tensor(np.arange(20))
    view = _core.as_view(Plain, base, (5,), (1,), 7)
    (y,) = launcher(kernels, "relu_run")(view)
    np.testing.assert_array_equal(y._nd, relu(np.arange(7, 12)))


def test_constants_follow_the_inputs(kernels: _core.CodeObject) -> None:
    matrix = tensor(np.arange(16).reshape(4, 4))
    call = launcher(
        kernels, "product", outputs=[(dtypes.float32, (4, 4), None)], arena_bytes=0, symbols=[],
        constants=[matrix],
    )  # fmt: skip
    reference = weakref.ref(matrix)
    del matrix
    x = np.eye(4) * 2
    np.testing.assert_array_equal(call(tensor(x))[0]._nd, x @ np.arange(16).reshape(4, 4))
    del call
    gc.collect()
    assert reference() is None


def test_mutated_inputs(kernels: _core.CodeObject) -> None:
    call = launcher(kernels, "increment", outputs=[], arena_bytes=0, mutated=[0])
    x = tensor([1, 2])
    assert call(x) == () and x._version == 1 and x._nd.tolist() == [2, 3]
    frozen = np.zeros(2, "f")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        call(_core.from_ndarray(Plain, frozen, dtypes.float32))


def test_random_numbers_are_reserved(kernels: _core.CodeObject) -> None:
    state = _core.rng_state()
    outputs = [(dtypes.int64, (3,), None)]
    call = launcher(
        kernels, "context", n_inputs=0, outputs=outputs, arena_bytes=0, symbols=[], rng_ops=3,
        single=True,
    )  # fmt: skip
    try:
        _core.manual_seed(11)
        assert call()._nd.tolist() == [11, 0, _core.num_threads()]
        assert call()._nd.tolist()[:2] == [11, 3] and _core.rng_state() == (11, 6)
    finally:
        _core.set_rng_state(*state)


def test_errors_of_the_native_code(kernels: _core.CodeObject) -> None:
    x = tensor([1.0])
    with pytest.raises(IndexError, match="index 7 is out of bounds for dimension of size 3"):
        launcher(kernels, "fail")(x)
    with pytest.raises(RuntimeError, match="code 42"):
        launcher(kernels, "fail_strangely")(x)
    with pytest.raises(RuntimeError, match="code 1"):
        launcher(kernels, "fail", messages=[])(x)


def test_inputs_that_are_refused(kernels: _core.CodeObject) -> None:
    call = launcher(kernels, "relu_run")
    fake = _core.meta(Plain, (2,), (1,), dtypes.float32, device.cpu, fake=True)
    bad = [(), (tensor([1.0]),) * 2, (1.0,), (None,), (np.zeros(2, "f"),), (fake,), (5,),
           (Plain.__new__(Plain),), (tensor(1.0),), (2**70,)]  # fmt: skip
    for arguments in bad:
        with pytest.raises((TypeError, OverflowError)):
            call(*arguments)
    with pytest.raises(TypeError, match="positional"):
        call(x=tensor([1.0]))


@pytest.mark.parametrize(
    "change",
    [
        {"run": 0}, {"n_inputs": -1}, {"shapes": 0}, {"symbols": [(1, 0)]}, {"symbols": [(0, -2)]},
        {"outputs": [(dtypes.float32, 99, None)]}, {"outputs": [(dtypes.float32, (-1,), None)]},
        {"outputs": [(dtypes.float32, (2,), (1, 1))]}, {"outputs": [3]},
        {"outputs": [("f", (2,), None)]}, {"mutated": [1]}, {"mutated": ["x"]}, {"cls": int},
        {"messages": [3]}, {"single": True, "outputs": []}, {"constants": [3]},
    ],
    ids=str,
)  # fmt: skip
def test_specifications_that_are_refused(
    kernels: _core.CodeObject, change: dict[str, Any]
) -> None:
    with pytest.raises((ValueError, TypeError)):
        launcher(kernels, "relu_run", **change)


def test_many_inputs(kernels: _core.CodeObject) -> None:
    outputs = [(dtypes.int64, (3,), None)]
    call = launcher(
        kernels, "context", n_inputs=200, outputs=outputs, arena_bytes=0,
        symbols=[(i, -1) for i in range(200)],
    )  # fmt: skip
    with pytest.raises(TypeError, match="positional"):
        call(1)
    assert len(call(*range(200))) == 1


def test_threads_do_not_share_an_arena(kernels: _core.CodeObject) -> None:
    call = launcher(kernels, "relu_run", release_gil=True)
    failures: list[int] = []

    def work(n: int) -> None:
        x = np.full(n, n, "f")
        t = tensor(x)
        for _ in range(200):
            if not (call(t)[0]._nd == relu(x)).all():
                failures.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (10, 3000, 70_000, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_large_arena_serves_others_between_calls(kernels: _core.CodeObject) -> None:
    call = launcher(kernels, "relu_run")
    x = tensor(np.zeros(1 << 18))
    before = _core.memory_stats()["live"]
    (y,) = call(x)
    block = _core.memory_stats()["live"] - before
    assert y._nd.nbytes <= block < y._nd.nbytes + (1 << 18)


def test_calls_leak_nothing(kernels: _core.CodeObject) -> None:
    call = launcher(kernels, "relu_run")
    failing = launcher(kernels, "fail")
    x = tensor(np.zeros(1000))
    call(x)
    live, references = _core.memory_stats()["live"], sys.getrefcount(x)
    for _ in range(100):
        call(x)
        with pytest.raises(IndexError):
            failing(x)
    with_idle_arena = _core.memory_stats()["live"]
    del failing, call
    gc.collect()
    assert sys.getrefcount(x) == references
    assert with_idle_arena - live <= 4096 and _core.memory_stats()["live"] <= live
