"""The syntax of einsum, and the order in which it contracts."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops.products.einsum import contraction_path


def _arrays(*shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape) for shape in shapes]


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk", [(2, 3), (3, 4)]),
        ("b i j , b j k -> b i k", [(2, 2, 3), (2, 3, 4)]),
        ("...i,...i->...", [(4, 1, 3), (5, 3)]),
        ("i...,i...->...i", [(3, 2, 1), (3, 1, 4)]),
        ("ii", [(3, 3)]),
        ("iji->ij", [(3, 2, 3)]),
        ("ij,kl->", [(2, 3), (3, 2)]),
        ("a,b,c,d,e,f,ab->cdef", [(2,), (2,), (3,), (2,), (2,), (3,), (2, 2)]),
        ("ab,bc,cd,de,ef,fg->ag", [(2, 3), (3, 4), (4, 2), (2, 5), (5, 2), (2, 3)]),
    ],
)
def test_against_numpy(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = _arrays(*shapes)
    got = gw.einsum(equation, *(gw.tensor(a) for a in arrays))
    np.testing.assert_allclose(got.numpy(), np.einsum(equation, *arrays), rtol=1e-10)


def test_sublists() -> None:
    a, b = _arrays((2, 3), (3, 4))
    tensors = gw.tensor(a), gw.tensor(b)
    got = gw.einsum(tensors[0], [0, 1], tensors[1], [1, 2], [2, 0])
    np.testing.assert_allclose(got.numpy(), (a @ b).T)
    square = tensors[1][:, :2]
    got = gw.einsum(tensors[0], [..., 1], square, [1, ...])
    np.testing.assert_allclose(got.numpy(), np.diagonal(a @ b[:, :2]))


def test_a_sublist_has_52_subscripts() -> None:
    with pytest.raises(ValueError, match=r"lie in \[0, 52\), got 52"):
        gw.einsum(gw.ones(2), [52])


def test_sizes_of_one_broadcast() -> None:
    a, b = _arrays((2, 1), (3, 4))
    got = gw.einsum("ij,jk->ik", gw.tensor(a), gw.tensor(b))
    np.testing.assert_allclose(got.numpy(), a @ b.sum(0, keepdims=True))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,ij", [(3, 4), (1, 4)]),
        ("ij,ij->i", [(1, 4), (3, 4)]),
        ("ij,jk", [(3, 1), (4, 5)]),
        ("bij,bjk->bik", [(1, 2, 3), (4, 3, 2)]),
        ("i,i,i", [(1,), (3,), (1,)]),
        ("ij,ij->ij", [(1, 1), (3, 4)]),
        ("ij,k->k", [(1, 3), (1,)]),
    ],
)
def test_the_gradient_of_what_was_expanded_is_summed(equation: str, shapes: Any) -> None:
    arrays = _arrays(*shapes)
    operands = [gw.tensor(a, requires_grad=True) for a in arrays]
    gw.einsum(equation, *operands).sum().backward()
    for i, operand in enumerate(operands):
        others = list(operands)
        step = gw.tensor(_arrays(operand.shape)[0])
        others[i] = step
        want = gw.einsum(equation, *others).sum()
        assert (operand.grad * step).sum().item() == pytest.approx(want.item())
        assert operand.grad.shape == operand.shape


def test_the_cheap_product_comes_first() -> None:
    """(10x1000 @ 1000x1000) @ 1000x1 would cost ten times as much from the left."""
    inputs = (("a", "b"), ("b", "c"), ("c", "d"))
    sizes = (("a", 10), ("b", 1000), ("c", 1000), ("d", 1))
    path = contraction_path(inputs, ("a", "d"), sizes)
    assert path[0] == (frozenset([1]), frozenset([2]))


def test_many_operands_take_the_greedy_path() -> None:
    matrices = _arrays(*[(2, 2)] * 9)
    letters = "abcdefghij"
    equation = ",".join(letters[i : i + 2] for i in range(9)) + "->aj"
    got = gw.einsum(equation, *(gw.tensor(m) for m in matrices))
    np.testing.assert_allclose(got.numpy(), np.linalg.multi_dot(matrices), rtol=1e-9)


@pytest.mark.parametrize(("equation", "shapes"), [
    ("ii->", [(3, 3)]), ("iij,jk", [(2, 2, 3), (3, 2)]), ("iii,i->", [(3, 3, 3), (3,)]),
    ("aab,bbc->ac", [(3, 3, 2), (2, 2, 4)]), ("abab,b->a", [(2, 3, 2, 3), (3,)]),
])
def test_gradients_of_repeated_labels_lie_on_the_diagonals(equation: str, shapes: Any) -> None:
    operands = [gw.tensor(a, requires_grad=True) for a in _arrays(*shapes)]
    function = functools.partial(gw.einsum, equation)
    assert gw.autograd.gradcheck(function, operands)
    assert gw.autograd.gradgradcheck(function, operands)
    plain, compiled = (
        gw.autograd.grad(run(*operands).pow(2).sum(), operands)
        for run in (function, gw.compile(lambda *given: gw.einsum(equation, *given)))
    )
    assert all(map(gw.allclose, plain, compiled))
