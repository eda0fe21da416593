"""Pruning: masks over parameters, that add up and can be made final."""

from __future__ import annotations

import pytest

import graphwright as gw
from graphwright.nn.utils import prune


@pytest.fixture
def layer() -> gw.nn.Linear:
    layer = gw.nn.Linear(4, 2)
    layer.weight.data.copy_(gw.tensor([[1.0, -2.0, 3.0, -4.0], [0.5, 0.6, 0.7, 0.8]]))
    return layer


def test_the_smallest_elements_become_zero(layer: gw.nn.Linear) -> None:
    prune.l1_unstructured(layer, "weight", amount=3)
    assert layer.weight.tolist() == [[1.0, -2.0, 3.0, -4.0], [0.0, 0.0, 0.0, pytest.approx(0.8)]]
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert [name for name, _ in layer.named_buffers()] == ["weight_mask"]


def test_a_second_method_prunes_what_the_first_has_left(layer: gw.nn.Linear) -> None:
    prune.l1_unstructured(layer, "weight", amount=3)
    prune.l1_unstructured(layer, "weight", amount=0.4)
    assert layer.weight.tolist() == [[0.0, -2.0, 3.0, -4.0], [0.0, 0.0, 0.0, 0.0]]
    (hook,) = layer._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer)
    assert len(hook) == 2


def test_slices_with_the_smallest_norm(layer: gw.nn.Linear) -> None:
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    assert layer.weight_mask.tolist() == [[1.0] * 4, [0.0] * 4]


def test_gradients_go_to_what_is_kept(layer: gw.nn.Linear) -> None:
    prune.custom_from_mask(layer, "weight", gw.tensor([[1, 0, 1, 0], [0, 0, 0, 1]]))
    layer(gw.ones(4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def test_remove_makes_it_final(layer: gw.nn.Linear) -> None:
    prune.l1_unstructured(layer, "weight", amount=3)
    assert prune.is_pruned(layer)
    prune.remove(layer, "weight")
    assert not prune.is_pruned(layer)
    assert isinstance(layer.weight, gw.nn.Parameter)
    assert layer.weight[1, 0].item() == 0.0
    with pytest.raises(ValueError, match="has to be pruned"):
        prune.remove(layer, "weight")


def test_elements_of_several_modules_are_compared(layer: gw.nn.Linear) -> None:
    other = gw.nn.Linear(4, 1)
    other.weight.data.fill_(0.65)
    prune.global_unstructured(
        [(layer, "weight"), (other, "weight")], prune.L1Unstructured, amount=6
    )
    assert other.weight_mask.sum() == 0
    assert layer.weight_mask.tolist() == [[1.0] * 4, [0.0, 0.0, 1.0, 1.0]]


@pytest.mark.parametrize(
    ("amount", "error"), [(1.5, ValueError), (-1, ValueError), (9, ValueError), ("a", TypeError)]
)
def test_amounts_out_of_range(layer: gw.nn.Linear, amount: object, error: type) -> None:
    with pytest.raises(error):
        prune.l1_unstructured(layer, "weight", amount=amount)  # type: ignore[arg-type]


def test_what_is_refused_leaves_the_module_as_it_was(layer: gw.nn.Linear) -> None:
    weight = layer.weight
    with pytest.raises(IndexError, match="Invalid index 5"):
        prune.random_structured(layer, "weight", amount=1, dim=5)
    assert layer.weight is weight and not prune.is_pruned(layer)
    prune.l1_unstructured(layer, "weight", amount=3)
    mask = layer.weight_mask
    with pytest.raises(IndexError, match="Invalid index 5"):
        prune.random_structured(layer, "weight", amount=1, dim=5)
    assert layer.weight_mask is mask and prune.is_pruned(layer)


def test_a_pruned_module_compiles(layer: gw.nn.Linear) -> None:
    prune.l1_unstructured(layer, "weight", amount=3)
    x = gw.randn(3, 4)
    gw.testing.assert_close(gw.compile(layer)(x), layer(x))
