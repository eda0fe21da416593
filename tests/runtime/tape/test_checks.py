"""Functional derivatives, gradient checks, anomaly detection, hooks on saved tensors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.autograd import GradcheckError, gradcheck, gradgradcheck


def _leaf(lib: Any, *shape: int, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).standard_normal(shape)
    return lib.tensor(values.tolist(), dtype=lib.float64, requires_grad=True)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [item for part in value for item in _flat(part)]
    return [value.detach().numpy()]


def _one(x: Any) -> Any:
    return (x**3).sum(1) * x[:, 0]


def _two(x: Any, y: Any) -> Any:
    return (x * y).sin(), (y * y).sum()


def _value(x: Any, y: Any) -> Any:
    return (x * y * y).sum() + (x**3).sum()


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["jacobian", "vjp", "jvp", "hessian", "hvp", "vhp"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_functional(name: str, create_graph: bool) -> None:
    torch = pytest.importorskip("torch")
    results = []
    for lib in (gw, torch):
        x, y = _leaf(lib, 2, 3), _leaf(lib, 2, 3, seed=1)
        u, v = _leaf(lib, 2, 3, seed=2).detach(), _leaf(lib, 2, 3, seed=3).detach()
        function = getattr(lib.autograd.functional, name)
        several: dict[str, tuple[Any, ...]] = {
            "vjp": ((u, v[0, 0]),), "jvp": ((u, v),), "hvp": ((u, v),), "vhp": ((u, v),),
        }  # fmt: skip
        arguments = several.get(name, ())
        target = _two if name in ("jacobian", "vjp", "jvp") else _value
        found = [function(target, (x, y), *arguments, create_graph=create_graph)]
        if name == "jacobian":
            found.append(function(_one, x, create_graph=create_graph, strict=True))
            found.append(function(_one, x, vectorize=True))
        if create_graph:
            total = sum(part.sum() for part in _tensors(found) if part.requires_grad)
            total.backward()
            found += [x.grad, y.grad]
        results.append([array for part in found for array in _flat(part)])
    for mine, reference in zip(*results, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-10)


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [item for part in value for item in _tensors(part)]
    return [value]


@pytest.mark.oracle
def test_functional_errors() -> None:
    torch = pytest.importorskip("torch")
    programs: list[Callable[[Any], Any]] = [
        lambda lib: lib.autograd.functional.jacobian(lambda x: 3, lib.ones(2)),
        lambda lib: lib.autograd.functional.jacobian(lambda x: x, 3),
        lambda lib: lib.autograd.functional.jacobian(
            lambda x: lib.ones(2), lib.ones(2), strict=True
        ),
        lambda lib: lib.autograd.functional.jacobian(
            lambda x, y: x * 2, (lib.ones(2), lib.ones(2)), strict=True
        ),
        lambda lib: lib.autograd.functional.hessian(lambda x: x, lib.ones(2)),
        lambda lib: lib.autograd.functional.vjp(lambda x: x, lib.ones(2)),
        lambda lib: lib.autograd.functional.vjp(lambda x: x, lib.ones(2), lib.ones(3)),
        lambda lib: lib.autograd.functional.jvp(lambda x: x, lib.ones(2), (lib.ones(2),) * 2),
        lambda lib: lib.autograd.functional.hvp(lambda x: x.sum(), lib.ones(2)),
        lambda lib: lib.autograd.functional.jacobian(lambda x: x, lib.ones(2), strategy="up"),
    ]
    for program in programs:
        with pytest.raises(Exception) as expected:
            program(torch)
        with pytest.raises(expected.type):
            program(gw)


def test_gradcheck_finds_what_is_wrong() -> None:
    class Wrong(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * x * 2.01

    x = _leaf(gw, 3)
    assert gradcheck(lambda t: (t.sin() * t).sum(), x)
    assert gradcheck(_two, (x.detach().requires_grad_(), _leaf(gw, 3, seed=1)))
    assert gradgradcheck(lambda t: (t.sin() * t), x)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to"):
        gradcheck(Wrong.apply, x)
    assert not gradcheck(Wrong.apply, x, raise_exception=False)
    with pytest.raises(GradcheckError):
        gradgradcheck(lambda t: Wrong.apply(t) * t, x)
    with pytest.raises(ValueError, match="at least one input"):
        gradcheck(lambda t: t, gw.ones(2))
    assert gradcheck(lambda t: t.long(), x) and gradcheck(lambda t: gw.ones(2), x)
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda t: t.detach() * 2, x)
    with pytest.warns(UserWarning, match="double precision"):
        gradcheck(lambda t: t * 2, gw.ones(2, requires_grad=True), atol=0.1, eps=1e-2)
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(lambda t: t * 2, gw.ones(1, dtype=gw.float64).requires_grad_().expand(3))


def test_gradcheck_of_what_does_not_repeat() -> None:
    count = [0]

    class Drifting(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            count[0] += 1
            return grad * (2 + count[0] * 1e-7)

    x = _leaf(gw, 2)
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(Drifting.apply, x)
    assert gradcheck(Drifting.apply, x, nondet_tol=1e-3)


@pytest.mark.filterwarnings("ignore:Anomaly")
def test_anomaly_names_the_forward_line() -> None:
    x = gw.tensor([0.0, -1.0], requires_grad=True)
    with gw.autograd.detect_anomaly():
        y = x.sqrt().sum()  # the line that is to be named
        with (
            pytest.warns(UserWarning, match="SqrtBackward0. Traceback of forward call") as found,
            pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values") as raised,
        ):
            y.backward()
    assert "the line that is to be named" in str(raised.value)
    assert "test_anomaly_names_the_forward_line" in str(found[0].message)
    assert not gw.autograd.is_anomaly_enabled()


@pytest.mark.filterwarnings("ignore:Anomaly")
def test_anomaly_names_the_line_of_what_failed() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    gw.autograd.set_detect_anomaly(True)
    try:
        y = x * 2
        z = (y * y).sum()  # this one keeps y
        y.add_(1)
        with (
            pytest.warns(UserWarning, match="this one keeps y"),
            pytest.raises(RuntimeError, match="modified by an inplace operation"),
        ):
            z.backward()
    finally:
        gw.autograd.set_detect_anomaly(False)
    with gw.autograd.set_detect_anomaly(True, check_nan=False):
        gw.tensor([-1.0], requires_grad=True).sqrt().sum().backward()


def test_saved_tensors_hooks() -> None:
    packed: list[Any] = []

    def pack(tensor: Any) -> int:
        assert not gw.is_grad_enabled()
        packed.append(tensor.detach().numpy().copy())
        return len(packed) - 1

    def unpack(index: int) -> Any:
        return gw.tensor(packed[index])

    x = _leaf(gw, 3)
    with gw.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x.exp() * x).sum()
    assert packed
    (first,) = gw.autograd.grad(y, x, create_graph=True)
    (second,) = gw.autograd.grad(first.sum(), x)
    e = np.exp(x.detach().numpy())
    np.testing.assert_allclose(first.detach().numpy(), e * (1 + x.detach().numpy()))
    np.testing.assert_allclose(second.numpy(), e * (2 + x.detach().numpy()))
    count = len(packed)
    (x * x).sum().backward()
    assert len(packed) == count
    with gw.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        z = (x * x).sum()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor"):
        z.backward()
    with (
        gw.autograd.graph.disable_saved_tensors_hooks("not now"),
        pytest.raises(RuntimeError, match="not now"),
        gw.autograd.graph.saved_tensors_hooks(pack, unpack),
    ):
        pass


DIFFERENTIATE = """
import gc
import graphwright as gw

def run():
    x = gw.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x.exp() * x).sum()
    y.grad_fn.next_functions
    y.backward(retain_graph=True)
    gw.autograd.grad(y, x)
    gw.autograd.functional.hessian(lambda t: (t**3).sum(), x.detach())

run()
gc.collect()
gc.disable()
run()
print(gc.collect())
"""


def test_nothing_needs_the_collector() -> None:
    """In a fresh process, after a first run: modules imported at first use leave cycles."""
    command = [sys.executable, "-c", DIFFERENTIATE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
