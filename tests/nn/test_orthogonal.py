"""`parametrizations.orthogonal`: weights with orthonormal columns, or rows if those are fewer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn

SHAPES = [(5, 5), (6, 4), (4, 6), (2, 3, 3), (2, 4, 3), (3, 1), (1, 1)]
MAPS = ["matrix_exp", "cayley", "householder"]


def holder(
    library: Any, shape: tuple[int, ...], orthogonal_map: str | None, **options: Any
) -> Any:
    module = library.nn.Module()
    values = np.random.RandomState(len(shape)).randn(*shape)
    module.weight = library.nn.Parameter(library.tensor(values))
    return library.nn.utils.parametrizations.orthogonal(
        module, "weight", orthogonal_map, **options
    )


def train(library: Any, module: Any) -> None:
    optimizer = library.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (module.weight**3).sum().backward()
        optimizer.step()


def assert_orthogonal(weight: Any) -> None:
    tall = weight.mT if weight.shape[-2] < weight.shape[-1] else weight
    gram = (tall.mT @ tall).detach().numpy()
    identity = np.broadcast_to(np.eye(tall.shape[-1]), gram.shape)
    np.testing.assert_allclose(gram, identity, atol=1e-9)


@pytest.mark.parametrize("trivialization", [True, False], ids=["base", "no base"])
@pytest.mark.parametrize("orthogonal_map", MAPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_weights_stay_orthogonal_while_training(
    shape: tuple[int, ...], orthogonal_map: str, trivialization: bool
) -> None:
    module = holder(gw, shape, orthogonal_map, use_trivialization=trivialization)
    before = module.weight.detach().clone()
    assert_orthogonal(before)
    train(gw, module)
    assert_orthogonal(module.weight)
    assert max(shape[-2:]) == 1 or not gw.allclose(module.weight, before)


@pytest.mark.parametrize("orthogonal_map", MAPS)
def test_an_orthogonal_weight_is_kept(orthogonal_map: str) -> None:
    rotation = gw.tensor([[0.6, -0.8], [0.8, 0.6]], dtype=gw.float64)
    layer = nn.Linear(2, 2, dtype=gw.float64)
    layer.weight.data = rotation.clone()
    nn.utils.parametrizations.orthogonal(layer, orthogonal_map=orthogonal_map)
    gw.testing.assert_close(layer.weight, rotation)
    layer.weight = rotation.T.contiguous()
    gw.testing.assert_close(layer.weight, rotation.T)


def test_rotations_cannot_be_assigned_without_a_base() -> None:
    layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3), use_trivialization=False)
    with pytest.raises(NotImplementedError, match="use_trivialization=False"):
        layer.weight = gw.eye(3)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected a matrix or batch of matrices"):
        nn.utils.parametrizations.orthogonal(nn.Linear(3, 3), "bias")
    with pytest.raises(ValueError, match="Got: euler"):
        nn.utils.parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="euler")
    with pytest.raises(ValueError, match="does not support complex"):
        layer = nn.Linear(3, 2, dtype=gw.complex64)
        nn.utils.parametrizations.orthogonal(layer, orthogonal_map="householder")


def test_an_orthogonal_layer_is_compiled_whole() -> None:
    layer = nn.utils.parametrizations.orthogonal(nn.Linear(4, 4))
    x = gw.randn(2, 4)
    gw.testing.assert_close(gw.compile(layer, fullgraph=True)(x), layer(x))


@pytest.mark.oracle
@pytest.mark.parametrize("trivialization", [True, False], ids=["base", "no base"])
@pytest.mark.parametrize("orthogonal_map", [None, *MAPS])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_training_goes_as_with_pytorch(
    shape: tuple[int, ...], orthogonal_map: str | None, trivialization: bool
) -> None:
    torch = pytest.importorskip("torch")
    theirs = holder(torch, shape, orthogonal_map, use_trivialization=trivialization)
    ours = holder(gw, shape, orthogonal_map, use_trivialization=trivialization)
    np.testing.assert_allclose(
        ours.weight.detach().numpy(), theirs.weight.detach().numpy(), atol=1e-9
    )
    state = {name: gw.tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    ours.load_state_dict(state)    # the base of a matrix that is not square has random columns
    train(torch, theirs)
    train(gw, ours)
    np.testing.assert_allclose(
        ours.weight.detach().numpy(), theirs.weight.detach().numpy(), atol=1e-9
    )
