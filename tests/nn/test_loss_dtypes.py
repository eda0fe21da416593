"""The dtypes that losses take, and those of their results."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

F = gw.nn.functional
HALF = gw.tensor([0.5, -0.25, 2.0]).half()
FLOAT, DOUBLE = HALF.float(), HALF.double()
INTEGERS, MASK = gw.tensor([1, 2, 3]), gw.tensor([True, False, True])
POINT = gw.tensor(1.5, dtype=gw.float64)

RESULTS: list[tuple[str, Any, Any, gw.dtype]] = [
    ("mse_loss", FLOAT, DOUBLE, gw.float64),
    ("mse_loss", HALF, FLOAT, gw.float32),
    ("l1_loss", FLOAT, INTEGERS, gw.float32),
    ("smooth_l1_loss", HALF, DOUBLE, gw.float64),
    ("huber_loss", FLOAT, DOUBLE, gw.float32),
    ("huber_loss", HALF, FLOAT, gw.float16),
    ("soft_margin_loss", FLOAT, DOUBLE, gw.float32),
    ("soft_margin_loss", DOUBLE, HALF, gw.float64),
    ("binary_cross_entropy_with_logits", DOUBLE, FLOAT, gw.float32),
    ("binary_cross_entropy_with_logits", HALF, FLOAT, gw.float32),
]


@pytest.mark.parametrize("reduction", ["none", "mean"])
@pytest.mark.parametrize(("name", "input", "target", "dtype"), RESULTS)
def test_dtype_of_the_result(
    name: str, input: gw.Tensor, target: gw.Tensor, dtype: gw.dtype, reduction: str
) -> None:
    """Promoted by differences; the input's of huber and soft margin; the target's of logits."""
    loss = getattr(F, name)
    assert loss(input, target, reduction=reduction).dtype is dtype
    compiled = gw.compile(loss, fullgraph=True)(input, target, reduction=reduction)
    assert compiled.dtype is dtype


@pytest.mark.parametrize("compiled", [False, True])
def test_hinges_of_integers_are_integers(compiled: bool) -> None:
    """Whatever the margin, of which the whole part counts; they have no mean."""
    loss = F.hinge_embedding_loss
    run = gw.compile(loss) if compiled else loss
    each = run(INTEGERS, gw.tensor([1, -1, 2]), margin=4.5, reduction="none")
    assert each.dtype is gw.int64 and each.tolist() == [1, 2, 4]
    with pytest.raises(RuntimeError, match="mean"):
        run(INTEGERS, INTEGERS)


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
def test_masks_are_targets(name: str) -> None:
    loss = getattr(F, name)
    by_mask, by_numbers = FLOAT.clone().requires_grad_(), FLOAT.clone().requires_grad_()
    loss(by_mask, MASK).backward()
    loss(by_numbers, MASK.float()).backward()
    assert gw.equal(by_mask.grad, by_numbers.grad)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss"])
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_a_point_counts_for_the_dtype(name: str) -> None:
    """Both are broadcast first: a 0-d target is no number."""
    assert getattr(F, name)(FLOAT, POINT).dtype is gw.float64
    assert getattr(F, name)(POINT, FLOAT).dtype is gw.float64


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
@pytest.mark.parametrize("dtype", [gw.int64, gw.bool, gw.complex64])
def test_differences_are_floating(name: str, dtype: gw.dtype) -> None:
    values = MASK.to(dtype)
    with pytest.raises(NotImplementedError, match=f'"{name}" not implemented'):
        getattr(F, name)(values, values)


@pytest.mark.parametrize(
    ("name", "target"),
    [("binary_cross_entropy_with_logits", INTEGERS), ("kl_div", INTEGERS), ("kl_div", MASK)],
)
def test_targets_that_are_refused(name: str, target: gw.Tensor) -> None:
    with pytest.raises(RuntimeError, match=name):
        getattr(F, name)(FLOAT, target, reduction="sum")


@pytest.mark.parametrize("name", ["poisson_nll_loss", "soft_margin_loss", "mse_loss"])
def test_numbers_are_no_targets(name: str) -> None:
    with pytest.raises(TypeError, match="'target' must be Tensor, not float"):
        getattr(F, name)(FLOAT, 1.0)
