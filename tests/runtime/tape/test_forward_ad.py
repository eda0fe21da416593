"""Dual tensors: tangents as PyTorch's forward mode gives them."""

from __future__ import annotations

import pytest

import graphwright as gw
from graphwright.autograd import forward_ad as fwAD


def test_tangents_of_a_function_of_two_tensors() -> None:
    x, y = gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0])
    dx, dy = gw.tensor([0.5, -1.0]), gw.tensor([2.0, 0.0])
    with fwAD.dual_level():
        out = fwAD.make_dual(x, dx) * fwAD.make_dual(y, dy).exp()
        primal, tangent = fwAD.unpack_dual(out)
    gw.testing.assert_close(primal, x * y.exp())
    gw.testing.assert_close(tangent, dx * y.exp() + x * y.exp() * dy)


def test_the_tangent_of_a_module_is_its_jvp() -> None:
    layer = gw.nn.Linear(3, 2)
    x, dx = gw.randn(4, 3), gw.randn(4, 3)
    with fwAD.dual_level():
        tangent = fwAD.unpack_dual(layer(fwAD.make_dual(x, dx)).tanh()).tangent
    expected = gw.func.jvp(lambda x: layer(x).tanh(), (x,), (dx,))[1]
    gw.testing.assert_close(tangent, expected)


def test_tangents_are_differentiable_by_what_is_not_dual() -> None:
    weight = gw.tensor([2.0, 3.0], requires_grad=True)
    with fwAD.dual_level():
        out = (fwAD.make_dual(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 0.0])) * weight) ** 2
        primal, tangent = fwAD.unpack_dual(out)
        with gw.no_grad():
            assert not fwAD.unpack_dual(out).tangent.requires_grad
    (by_tangent,) = gw.autograd.grad(tangent.sum(), weight, retain_graph=True)
    (by_primal,) = gw.autograd.grad(primal.sum(), weight)
    assert by_tangent.tolist() == [8.0, 0.0] and by_primal.tolist() == [4.0, 24.0]


def test_tensors_without_tangents() -> None:
    x = gw.ones(2)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, x)
        assert fwAD.unpack_dual(dual).tangent is x
        assert fwAD.unpack_dual(x).tangent is None
        constant = fwAD.unpack_dual(dual.detach() * 2)
        assert constant.tangent is None
    assert fwAD.unpack_dual(dual).tangent is None


def test_tangents_in_reverse_mode() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    tangent = gw.ones(2, requires_grad=True)
    with fwAD.dual_level():
        out = fwAD.unpack_dual(fwAD.make_dual(x, tangent) ** 3).tangent
        found = gw.autograd.grad(out.sum(), x)[0]
    gw.testing.assert_close(found, 6 * x.detach())


def test_what_cannot_be_dual() -> None:
    x = gw.ones(2)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, x)
    with fwAD.dual_level():
        with pytest.raises(RuntimeError, match="same shape"):
            fwAD.make_dual(x, gw.ones(3))
        with pytest.raises(ValueError, match="floating point"):
            fwAD.make_dual(x.long(), x.long())
        with pytest.raises(RuntimeError, match="Nested"):
            fwAD.enter_dual_level()
    with pytest.raises(RuntimeError, match="exit"):
        fwAD.exit_dual_level()
