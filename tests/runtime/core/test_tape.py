"""What compiled nodes and the engine ask of many tensors at once."""

import pytest

import graphwright as gw
from graphwright.runtime import _core


def test_versions_tell_what_was_written_since():
    x, y = gw.ones(3), gw.ones(3)
    values = (x, 5, y[1:])
    before = _core.versions(values)
    assert _core.same_versions(values, before, (0, 1, 2))
    y.add_(1)
    assert not _core.same_versions(values, before, (0, 1, 2))
    assert _core.same_versions(values, before, (0, 1))
    assert _core.same_versions((), _core.versions(()), ())


def test_versions_refuse_tensors_of_inference_mode():
    with gw.inference_mode():
        x = gw.ones(3)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        _core.versions((x,))


def test_places_and_versions_have_to_fit_the_values():
    values = (gw.ones(3),)
    before = _core.versions(values)
    with pytest.raises(IndexError, match="no value at that place"):
        _core.same_versions(values, before, (1,))
    with pytest.raises(IndexError, match="no value at that place"):
        _core.gradient_edges(values, (-1,))
    with pytest.raises(ValueError, match="as many versions"):
        _core.same_versions(values, b"", (0,))
    with pytest.raises(TypeError):
        _core.same_versions(values, before, ("0",))
    with pytest.raises(TypeError):
        _core.versions([gw.ones(3)])


def test_edges_lead_to_nodes_leaves_or_nowhere():
    leaf = gw.ones(4, requires_grad=True)
    first, second = (leaf * 2).split(2)
    edges = _core.gradient_edges((first, leaf, gw.ones(2), 7, second), (0, 1, 2, 3, 4))
    assert edges == ((first.grad_fn, 0), (leaf, 0), None, None, (second.grad_fn, 1))


def test_a_gradient_is_private_if_nothing_else_can_see_its_memory():
    leaf, gradient = gw.ones(2, 3), gw.ones(2, 3)
    own, none = _core.is_private(gradient, leaf, 2), _core.is_private(gradient, leaf, 1)
    assert own and not none, "one reference is the variable's, one the call's"
    for other in (gw.ones(3, 2).t(), gradient[:], gw.ones(2, 3, requires_grad=True) * 2):
        seen = _core.is_private(other, leaf, 9)
        assert not seen


def test_a_gradient_seen_through_its_array_or_an_alias_is_not_private():
    leaf, gradient = gw.ones(2, 3), gw.ones(2, 3)
    answers = []
    for look in (gw.Tensor.numpy, gw.Tensor.detach):
        view = look(gradient)
        answers.append(_core.is_private(gradient, leaf, 2))
        del view
        answers.append(_core.is_private(gradient, leaf, 2))
    assert answers == [False, True, False, True]


def test_the_first_gradient_of_a_leaf_is_kept_without_a_copy():
    x, places = gw.ones(2, 3, requires_grad=True), []
    x.register_hook(lambda gradient: places.append(gradient.data_ptr()))
    (x * 2).sum().backward()
    assert x.grad.data_ptr() == places[0]
