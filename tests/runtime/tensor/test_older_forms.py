"""Numbers by position before the tensors: `add_(-lr, grad)`, as programs once were written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

_RNG = np.random.default_rng(0)
_VALUES = {name: _RNG.standard_normal((3, 3)) for name in "xyz"}
_VALUES |= {"v": _RNG.standard_normal(3), "b": _RNG.standard_normal((2, 3, 3))}

FORMS = {
    "x.add(2, y)": "x.add(y, alpha=2)",
    "x.add(1, 2)": "x.add(2, alpha=1)",
    "x.clone().add_(-0.1, y)": "x.clone().add_(y, alpha=-0.1)",
    "lib.add(x, 2, y)": "lib.add(x, y, alpha=2)",
    "lib.sub(x, 2, y)": "lib.sub(x, y, alpha=2)",
    "x.clone().sub_(2, y)": "x.clone().sub_(y, alpha=2)",
    "lib.addcmul(x, 0.5, y, z)": "lib.addcmul(x, y, z, value=0.5)",
    "x.clone().addcmul_(0.5, y, z)": "x.clone().addcmul_(y, z, value=0.5)",
    "x.clone().addcdiv_(-0.5, y, z)": "x.clone().addcdiv_(y, z, value=-0.5)",
    "lib.addmm(2, x, 3, y, z)": "lib.addmm(x, y, z, beta=2, alpha=3)",
    "lib.addmm(2, x, y, z)": "lib.addmm(x, y, z, beta=2)",
    "x.addmm(2, 3, y, z)": "x.addmm(y, z, beta=2, alpha=3)",
    "x.clone().addmm_(2, y, z)": "x.clone().addmm_(y, z, beta=2)",
    "lib.addmv(2, v, 3, x, v)": "lib.addmv(v, x, v, beta=2, alpha=3)",
    "x.addr(2, v, v)": "x.addr(v, v, beta=2)",
    "lib.baddbmm(2, b, 3, b, b)": "lib.baddbmm(b, b, b, beta=2, alpha=3)",
    "x.addbmm(2, 3, b, b)": "x.addbmm(b, b, beta=2, alpha=3)",
}


def _values(text: str, lib: Any) -> Any:
    tensors = {name: lib.tensor(value) for name, value in _VALUES.items()}
    return eval(text, {"lib": lib, **tensors}).numpy()


@pytest.mark.parametrize("older", FORMS)
def test_numbers_by_position_are_numbers_by_name(older: str) -> None:
    with pytest.warns(UserWarning, match="by position is deprecated"):
        found = _values(older, gw)
    np.testing.assert_array_equal(found, _values(FORMS[older], gw))


@pytest.mark.oracle
@pytest.mark.parametrize("older", FORMS)
@pytest.mark.filterwarnings("ignore")
def test_the_same_as_in_torch(older: str) -> None:
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(_values(older, gw), _values(older, torch), rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_differentiated_compiled_and_with_out() -> None:
    x, y = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True)
    gw.add(x, 3, y).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and y.grad.tolist() == [3.0, 3.0]
    step: Callable[..., Any] = gw.compile(lambda p, g: p.add(-0.5, g).addcmul(2, g, g))
    assert step(gw.ones(2), gw.ones(2)).tolist() == [2.5, 2.5]
    out = gw.empty(2)
    assert gw.add(gw.ones(2), 2, gw.ones(2), out=out) is out and out.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: gw.add(x, x, x),
        lambda x: gw.add(x, 1, 2, x),
        lambda x: gw.addcmul(x, x, x, x),
        lambda x: x.addmm(1, 2, 3, x, x),
    ],
)
def test_other_arguments_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        call(gw.ones(2, 2))


def test_limits_by_their_older_names() -> None:
    low, high = (pytest.warns(FutureWarning, match=name) for name in ("min_value", "max_value"))
    with low, high:
        layer = gw.nn.Hardtanh(min_value=-2, max_value=3)
    assert repr(layer) == "Hardtanh(min_val=-2, max_val=3)"
    assert layer(gw.tensor([-5.0, 1, 5])).tolist() == [-2, 1, 3]


DEPRECATED: dict[str, tuple[str, Callable[[gw.Tensor], gw.Tensor], str]] = {
    "where of bytes": (
        "condition of dtype uint8",
        lambda x: gw.where(gw.tensor([2, 0, 1], dtype=gw.uint8), x, -x),
        "lib.where(lib.tensor([True, False, True]), x, -x)",
    ),
    "method of bytes": (
        "condition of dtype uint8",
        lambda x: x.where(gw.tensor([2, 0, 1], dtype=gw.uint8), 0.0),
        "lib.where(lib.tensor([True, False, True]), x, 0.0)",
    ),
    "list of lists": ("non-tuple sequence", lambda x: x[[[0, 1], [2, 1]]], "x[(0, 1), (2, 1)]"),
    "list with a slice": ("non-tuple sequence", lambda x: x[[0, slice(1, 3)]], "x[0, 1:3]"),
    "list with None": ("non-tuple sequence", lambda x: x[[None, 1]], "x[None, 1]"),
    "floats in a list": ("non-tuple sequence", lambda x: x[[[1.9]]], "x[[1]]"),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", DEPRECATED)
def test_deprecated_forms_work_with_a_warning(name: str, compiled: bool) -> None:
    warning, function, today = DEPRECATED[name]
    x = gw.tensor(_VALUES["x"])
    with pytest.warns(UserWarning, match=warning):
        out = (gw.compile(function) if compiled else function)(x)
    np.testing.assert_array_equal(out.numpy(), _values(today, gw))


def test_a_gradient_is_chosen_by_bytes() -> None:
    x = gw.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="condition of dtype uint8"):
        gw.where(gw.tensor([2, 0, 1], dtype=gw.uint8), x, 0.0).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("index", [[1.9], np.array([1.9])], ids=["list", "array"])
def test_floats_are_positions_without_their_fraction(index: Any) -> None:
    x = gw.tensor(_VALUES["x"])
    pick = lambda x: x[index]  # noqa: E731
    assert pick(x).tolist() == gw.compile(pick)(x).tolist() == x[[1]].tolist()
    written = x.clone()
    written[index] = 0.0
    assert written[1].tolist() == [0.0] * 3
