"""An op that refuses what its tensors hold refuses it in compiled code too, read or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import graphwright as gw

F = gw.nn.functional
PLACES = gw.tensor([0, 1, 9])
COUNTS = gw.tensor([1, 0, 2])
CHANCES = gw.tensor([0.2, 0.9, -0.5])

REFUSED: dict[str, Callable[[gw.Tensor], object]] = {
    "index": lambda x: x[PLACES],
    "gather": lambda x: x.gather(0, PLACES),
    "embedding": lambda x: F.embedding(PLACES, x.view(3, 1)),
    "embedding of rows without elements": lambda x: F.embedding(PLACES, gw.zeros(3, 0)),
    "one_hot": lambda x: F.one_hot(PLACES, 3),
    "index_fill_": lambda x: x.clone().index_fill_(0, PLACES, 0.0),
    "fill": lambda x: gw.fill(x, x),
    "fill_": lambda x: gw.zeros(3).fill_(x[:1]),
    "nll_loss": lambda x: F.nll_loss(x.view(1, 3), gw.tensor([7])),
    "division": lambda x: COUNTS // COUNTS,
    "bernoulli": lambda x: gw.bernoulli(CHANCES),
    "multinomial": lambda x: gw.multinomial(CHANCES, 2),
    "normal": lambda x: gw.normal(0.0, CHANCES),
    "poisson": lambda x: gw.poisson(CHANCES),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(CHANCES, x * 0),
    "quantile": lambda x: gw.quantile(x, CHANCES),
    "cholesky": lambda x: gw.linalg.cholesky(-gw.eye(3)),
    "inv": lambda x: gw.linalg.inv(gw.zeros(3, 3)),
    "svd": lambda x: gw.linalg.svd(gw.full((2, 2), float("nan"))),
}


def message(function: Callable[[gw.Tensor], object], x: gw.Tensor) -> str:
    with pytest.raises((RuntimeError, IndexError)) as refusal:
        function(x)
    return str(refusal.value)


@pytest.mark.parametrize("with_gradients", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_results_that_nobody_reads(name: str, with_gradients: bool) -> None:
    operation = REFUSED[name]

    def f(x: gw.Tensor) -> gw.Tensor:
        operation(x)
        return x + 1

    x = gw.tensor([1.0, 2.0, 3.0], requires_grad=with_gradients)
    assert message(gw.compile(f, backend="llvm"), x) == message(f, x)


@pytest.mark.parametrize("name", ["index", "gather", "division", "normal", "quantile"])
def test_results_of_which_only_the_shape_is_read(name: str) -> None:
    operation = REFUSED[name]

    def f(x: gw.Tensor) -> gw.Tensor:
        return x + gw.zeros_like(operation(x))  # type: ignore[arg-type]

    x = gw.tensor([1.0, 2.0, 3.0])
    assert message(gw.compile(f, backend="llvm", fullgraph=True), x) == message(f, x)


def test_what_cannot_fail_is_still_dropped() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        x.exp().sum()
        F.softmax(x @ x, 0)
        return x + 1

    compiled = gw.compile(f, backend="llvm", fullgraph=True)
    compiled(gw.rand(3))
    assert gw.compiler.stats(compiled).kernels == 1


def test_an_argument_was_written_where_a_matrix_is_refused() -> None:
    def f(x: gw.Tensor, matrix: gw.Tensor) -> gw.Tensor:
        x.add_(1)
        return gw.linalg.inv(matrix)

    x = gw.zeros(2)
    with pytest.raises(RuntimeError):
        gw.compile(f, backend="llvm", fullgraph=True)(x, gw.zeros(2, 2))
    assert x.tolist() == [1.0, 1.0]


def test_a_write_in_place_that_is_refused_by_shapes_alone() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return gw.empty_like(x).fill_(3).index_fill_(0, gw.tensor([0]), 2.0)

    x = gw.ones(0, 4)
    assert message(gw.compile(f, backend="llvm"), x) == message(f, x)


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "index_add", "index_copy"])
def test_places_along_an_empty_dim(name: str) -> None:
    """No result has elements, but the index asks for one."""
    places = gw.zeros(1, 4, dtype=gw.int64) if "scatter" in name else gw.zeros(1, dtype=gw.int64)

    def write(x: gw.Tensor) -> gw.Tensor:
        return getattr(x * 2, name)(0, places, gw.ones(1, 4))

    empty = gw.ones(0, 4)
    assert message(gw.compile(write), empty) == message(write, empty)
