"""`_foreach_*`: an op for each tensor of a list."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest

import graphwright as gw


def _tensors() -> list[Any]:
    return [gw.tensor([1.0, 4.0]), gw.tensor([[9.0], [16.0]])]


CALLS: dict[str, tuple[Callable[[list[Any]], Any], Callable[[Any], Any]]] = {
    "sqrt": (gw._foreach_sqrt, np.sqrt),
    "neg_": (gw._foreach_neg_, np.negative),
    "add a number": (lambda x: gw._foreach_add(x, 2), lambda a: a + 2),
    "add_ lists": (lambda x: gw._foreach_add_(x, _tensors(), alpha=3), lambda a: 4 * a),
    "add a tensor": (lambda x: gw._foreach_add(x, gw.tensor(2.0), alpha=2), lambda a: a + 4),
    "mul_ numbers": (lambda x: gw._foreach_mul_(x, [2.0, 2]), lambda a: 2 * a),
    "div by name": (lambda x: gw._foreach_div(x, scalars=[2, 2]), lambda a: a / 2),
    "maximum": (lambda x: gw._foreach_maximum(x, 5.0), lambda a: np.maximum(a, 5)),
    "clamp_max_": (lambda x: gw._foreach_clamp_max_(x, _tensors()), lambda a: a),
    "lerp_": (lambda x: gw._foreach_lerp_(x, [t + 2 for t in x], 0.5), lambda a: a + 1),
    "lerp by lists": (lambda x: gw._foreach_lerp(x, [t + 2 for t in x], x), lambda a: 3 * a),
    "addcmul": (lambda x: gw._foreach_addcmul(x, x, x, 0.5), lambda a: a + a * a / 2),
    "addcdiv_": (lambda x: gw._foreach_addcdiv_(x, x, x, [2.0, 2.0]), lambda a: a + 2),
    "addcdiv, a tensor": (
        lambda x: gw._foreach_addcdiv(x, x, x, gw.tensor([2.0, 2.0])), lambda a: a + 2
    ),
    "pow": (lambda x: gw._foreach_pow(x, 2), np.square),
    "pow of a number": (lambda x: gw._foreach_pow(2.0, x), np.exp2),
    "norm": (gw._foreach_norm, lambda a: np.sqrt(np.square(a).sum())),
    "max": (gw._foreach_max, np.max),
    "zero_": (gw._foreach_zero_, np.zeros_like),
    "copy_": (lambda x: gw._foreach_copy_(x, [t + 1 for t in x]), lambda a: a + 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_tensor(name: str) -> None:
    """Plain forms give tuples and leave their tensors; in-place ones give the list back."""
    call, expected = CALLS[name]
    given = _tensors()
    wanted = [expected(t.numpy()) for t in _tensors()]
    found = call(given)
    for result, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(result.numpy(), want, rtol=1e-6)
    if name.split(maxsplit=1)[0].endswith("_"):
        assert found is given
    else:
        assert type(found) is tuple
        assert all(gw.equal(a, b) for a, b in zip(given, _tensors(), strict=True))


def test_a_step_is_one_graph() -> None:
    """An optimiser's step over lists, compiled."""
    def step(params: list[Any], grads: list[Any], squares: list[Any]) -> None:
        gw._foreach_mul_(squares, 0.9)
        gw._foreach_addcmul_(squares, grads, grads, 0.1)
        roots = gw._foreach_sqrt(squares)
        gw._foreach_add_(roots, 1e-8)
        gw._foreach_addcdiv_(params, grads, roots, -0.01)

    plain = [_tensors(), [t / 2 for t in _tensors()], [t * 0 for t in _tensors()]]
    compiled = [[t.clone() for t in part] for part in plain]
    step(*plain)
    gw.compile(step, fullgraph=True)(*compiled)
    for a, b in zip(chain(*plain), chain(*compiled), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_what_fits_no_list_is_refused() -> None:
    with pytest.raises(RuntimeError, match="at least one tensor"):
        gw._foreach_add([], 1)
    with pytest.raises(RuntimeError, match="same number of elements"):
        gw._foreach_mul(_tensors(), [1.0])
    with pytest.raises(RuntimeError, match="0 dim"):
        gw._foreach_add(_tensors(), gw.ones(2))
    with pytest.raises(TypeError, match="tuple of Tensors"):
        gw._foreach_neg(gw.ones(2))
    with pytest.raises(TypeError, match="element 1"):
        gw._foreach_neg([gw.ones(2), 1])
    with pytest.raises(TypeError, match="alpha"):
        gw._foreach_add(_tensors(), 1, alpha=2)
    with pytest.raises(AttributeError):
        gw._foreach_nothing  # noqa: B018
