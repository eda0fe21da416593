"""Forward differentiation in `gradcheck`, `gradgradcheck` and `functional.jacobian`."""

from __future__ import annotations

import pytest

import graphwright as gw
from graphwright.autograd import functional
from graphwright.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck


def _real() -> gw.Tensor:
    return gw.tensor([0.5, -1.0, 2.0], dtype=gw.float64, requires_grad=True)


def test_right_derivatives_pass() -> None:
    assert gradcheck(lambda x: x**2, _real(), check_forward_ad=True)
    both = (_real(), _real())
    assert gradcheck(
        lambda x, y: (x * y, x.sum()), both, check_forward_ad=True, check_backward_ad=False
    )
    z = gw.tensor([1 + 2j, -0.5j], dtype=gw.complex128, requires_grad=True)
    assert gradcheck(lambda z: z * z.conj() + z.exp(), z, check_forward_ad=True)


def test_wrong_derivatives_fail() -> None:
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(
            lambda x: x.detach() * x, _real(), check_forward_ad=True, check_backward_ad=False
        )
    with pytest.raises(ValueError, match="at least one of"):
        gradcheck(lambda x: x, _real(), check_backward_ad=False)


@pytest.mark.parametrize("backward", [True, False])
def test_gradients_are_differentiated_forward(backward: bool) -> None:
    assert gradgradcheck(
        lambda x: x**3, _real(), check_fwd_over_rev=True, check_rev_over_rev=backward
    )


def test_jacobians_in_forward_mode() -> None:
    x = _real().detach()
    found = functional.jacobian(lambda x: x**2, x, vectorize=True, strategy="forward-mode")
    gw.testing.assert_close(found, gw.diag(2 * x))
    with pytest.raises(NotImplementedError, match="vectorize=True"):
        functional.jacobian(lambda x: x, x, strategy="forward-mode")
