"""Small names that libraries ask of torch: futures, hub, scans, symbolic numbers, helpers."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import _utils, hub
from graphwright._higher_order_ops import associative_scan
from graphwright.futures import Future, collect_all, wait_all


def test_a_future_is_set_once_and_waited_for() -> None:
    future: Future[int] = Future()
    later = future.then(lambda done: done.value() * 2)
    assert not future.done() and not later.done()
    with pytest.raises(RuntimeError, match="no value yet"):
        future.value()
    thread = threading.Thread(target=lambda: future.set_result(3))
    thread.start()
    assert later.wait() == 6 and future.wait() == 3
    thread.join()
    with pytest.raises(RuntimeError, match="set already"):
        future.set_result(4)
    assert gw.futures.Future is Future is gw.Future is gw.jit.Future


def test_exceptions_of_futures() -> None:
    future: Future[int] = Future()
    later = future.then(lambda done: done.wait())
    future.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        later.wait()
    with pytest.raises(TypeError, match="takes an exception"):
        Future[int]().set_exception(3)  # type: ignore[arg-type]


def test_several_futures() -> None:
    futures: list[Future[int]] = [Future(), Future()]
    together = collect_all(futures)
    futures[1].set_result(2)
    assert not together.done()
    futures[0].set_result(1)
    assert together.wait() == futures and wait_all(futures) == [1, 2]
    assert collect_all([]).wait() == []


HUBCONF = '''
"""Models."""
dependencies = ["numpy"]
import beside

def small(width, bias=True):
    """A small model."""
    return beside.make(width, bias)

def _helper():
    pass
'''


def test_models_of_a_local_folder(tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text(HUBCONF)
    (tmp_path / "beside.py").write_text(
        "import graphwright as gw\ndef make(w, bias): return gw.nn.Linear(w, 1, bias=bias)\n")
    made = hub.load(tmp_path, "small", 3, source="local", bias=False, trust_repo=True)
    assert isinstance(made, gw.nn.Linear) and made.bias is None
    assert hub.list(tmp_path) == ["small"] and hub.help(tmp_path, "small") == "A small model."
    with pytest.raises(RuntimeError, match="Cannot find callable large"):
        hub.load(tmp_path, "large", source="local")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        hub.load(tmp_path / "none", "small", source="local")
    with pytest.raises(ValueError, match="Unknown source"):
        hub.load(tmp_path, "small", source="web")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        hub.list(tmp_path)


def test_folders_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_HOME", "/somewhere")
    monkeypatch.setattr(hub, "_directory", [])
    assert hub.get_dir() == "/somewhere/hub"
    hub.set_dir("/else")
    assert hub.get_dir() == "/else" and hub.HASH_REGEX.search("a-0123abcd.pth")
    with pytest.raises(RuntimeError, match="downloads nothing"):
        hub.load_state_dict_from_url("https://x/y.pth")


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", ["pointwise", "generic"])
def test_associative_scans(n: int, reverse: bool, mode: str) -> None:
    x = gw.randn(3, n, dtype=gw.float64)
    found = associative_scan(lambda a, b: a + b, x, 1, reverse=reverse, combine_mode=mode)
    values = x.numpy()[:, ::-1] if reverse else x.numpy()
    expected = values.cumsum(1)
    np.testing.assert_allclose(found.numpy(), expected[:, ::-1] if reverse else expected)


def test_a_scan_of_pairs_with_gradients() -> None:
    """h[t] = a[t] h[t-1] + b[t], as state space models have it."""
    a, b = gw.rand(4, 6, dtype=gw.float64), gw.randn(4, 6, dtype=gw.float64, requires_grad=True)

    def combine(one: Any, two: Any) -> Any:
        return one[0] * two[0], two[0] * one[1] + two[1]

    h = associative_scan(combine, (a, b), 0)[1]
    expected, state = [], gw.zeros(6, dtype=gw.float64)
    for t in range(4):
        state = a[t] * state + b[t]
        expected.append(state)
    assert gw.allclose(h, gw.stack(expected))
    grads = [gw.autograd.grad(y.sum(), b, retain_graph=True)[0] for y in (h, gw.stack(expected))]
    assert gw.allclose(*grads)
    compiled = gw.compile(lambda a, b: associative_scan(combine, (a, b), 0)[1])
    assert gw.allclose(compiled(a, b), h)


def test_what_a_scan_refuses() -> None:
    with pytest.raises(ValueError, match="Combine_mode must"):
        associative_scan(gw.add, gw.ones(2), 0, combine_mode="any")
    with pytest.raises(ValueError, match="same number of elements"):
        associative_scan(gw.add, (gw.ones(2), gw.ones(3)), 0)
    with pytest.raises(RuntimeError, match="must return the structure of xs"):
        associative_scan(lambda a, b: (a, b), gw.ones(2), 0)


def test_functions_of_symbolic_numbers_are_those_of_numbers() -> None:
    assert gw.sym_max(2, 3.0) == 3.0 and type(gw.sym_max(4, 3.0)) is float
    assert gw.sym_min(2, 3) == 2 and gw.sym_int(-2.7) == -2 and gw.sym_float(2) == 2.0
    assert gw.sym_not(False) and gw.sym_sum([1, 2]) == 3 and gw.sym_ite(True, 1, 2) == 1
    assert gw.sym_sqrt(4) == 2.0
    compiled = gw.compile(lambda x: x * gw.sym_max(x.size(0), 3), dynamic=True, fullgraph=True)
    assert compiled(gw.ones(5)).tolist() == [5.0] * 5


def test_checks_of_tensors() -> None:
    gw._check_tensor_all_with(ValueError, gw.tensor([True, True]))
    with pytest.raises(ValueError, match="not all"):
        gw._check_tensor_all_with(ValueError, gw.tensor([True, False]), lambda: "not all")
    with pytest.raises(TypeError, match="a tensor of bools"):
        gw._check_tensor_all_with(ValueError, gw.ones(2))
    gw._assert_async(gw.tensor(1))
    with pytest.raises(RuntimeError, match="zero it is"):
        gw._assert_async(gw.tensor(0), "zero it is")


def test_the_gradient_of_softmax() -> None:
    x = gw.randn(2, 3, requires_grad=True)
    y, g = x.softmax(1), gw.randn(2, 3)
    (expected,) = gw.autograd.grad(y, x, g)
    assert gw.allclose(gw._softmax_backward_data(g, y, 1, gw.float32), expected)


def test_tensors_in_one() -> None:
    tensors = [gw.ones(2, 3), gw.zeros(4)]
    flat = _utils._flatten_dense_tensors(tensors)
    assert flat.shape == (10,)
    again = _utils._unflatten_dense_tensors(flat, tensors)
    assert all(map(gw.equal, again, tensors)) and _utils._element_size(gw.float16) == 2
    assert _utils._get_device_index("cuda:1") == 1 and _utils._get_device_index(2) == 2
    assert _utils._get_device_index("cpu", allow_cpu=True) == -1
    with pytest.raises(ValueError, match="non cpu device"):
        _utils._get_device_index("cpu")


def test_gathering_on_the_cpu() -> None:
    from graphwright.nn.parallel.scatter_gather import gather, scatter

    a, b = gw.ones(2, 3), gw.zeros(1, 3)
    assert gather([a, b], "cpu").shape == (3, 3)
    joined = gather([{"x": (a, None), "n": gw.tensor(1)}, {"x": (b, None), "n": gw.tensor(2)}], -1)
    assert joined["x"][0].shape == (3, 3) and joined["n"].tolist() == [1, 2]
    with pytest.raises(AssertionError, match="no CUDA devices"):
        scatter(a, [0, 1])
    assert gw.nn.parallel.data_parallel(gw.nn.Linear(3, 2), a).shape == (2, 2)


def test_older_names_of_autocast() -> None:
    assert not gw.is_autocast_cpu_enabled() and gw.get_autocast_cpu_dtype() is gw.bfloat16
    with gw.autocast("cpu"):
        assert gw.is_autocast_cpu_enabled()


def test_private_names() -> None:
    assert gw._C._nn._parse_to("cpu", gw.float64)[:2] == (gw.device("cpu"), gw.float64)
    assert gw._C._log_api_usage_once("x") is None and gw._C._get_tracing_state() is None
    assert isinstance(gw.ones(1), gw._tensor.Tensor)
    assert gw.nn.modules.module._EXTRA_STATE_KEY_SUFFIX == "_extra_state"
    from graphwright.optim.optimizer import _default_to_fused_or_foreach
    assert _default_to_fused_or_foreach([], False) == (False, False)
