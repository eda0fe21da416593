"""Tensors as Python objects: attributes of users, copies, conversions, gradients."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from typing import Any

import pytest

import graphwright as gw


def test_users_may_set_attributes() -> None:
    x = gw.ones(2)
    assert x.__dict__ == {}
    x.note = [1]
    assert x.note == [1] and (x * 1).__dict__ == {}
    del x.note
    assert not hasattr(x, "note")


FACTS = ("is_cpu", "is_cuda", "is_meta", "is_sparse", "is_quantized", "itemsize", "nbytes",
         "retains_grad")
COUNTS = ("get_device", "ndimension", "nelement")


@pytest.mark.parametrize("compiled", [False, True])
def test_what_tensors_say_of_themselves(compiled: bool) -> None:
    def said(x: Any) -> Any:
        return x + 1, [getattr(x, name) for name in FACTS], [getattr(x, n)() for n in COUNTS]

    _, facts, counts = (gw.compile(said, dynamic=True) if compiled else said)(
        gw.ones(3, 4, dtype=gw.float64)
    )
    assert (facts, counts) == ([True, *[False] * 4, 8, 96, False], [-1, 2, 12])
    on_meta = gw.empty(3, device="meta")
    assert on_meta.is_meta and not on_meta.is_cpu and on_meta.nbytes == 12
    y = gw.ones(2, requires_grad=True) * 2
    y.retain_grad()
    assert y.retains_grad and not y.detach().retains_grad
    with pytest.raises(AttributeError):
        y.nbytes = 3


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (2, 2, 2)])
def test_the_diagonal_is_filled(shape: tuple[int, ...]) -> None:
    x = gw.zeros(shape).transpose(0, 1)
    version = x._version
    assert x.fill_diagonal_(2) is x and x._version > version
    places = [(i,) * len(shape) for i in range(min(shape))]
    assert all(x[place] == 2 for place in places) and x.sum() == 2 * len(places)
    with pytest.raises(RuntimeError, match="equal length"):
        gw.zeros(2, 3, 2).fill_diagonal_(1)


def test_a_tensor_is_filled_with_the_element_of_another() -> None:
    x = gw.zeros(2, 2)
    assert x.fill_(gw.tensor(1.5)).tolist() == [[1.5] * 2] * 2
    assert x.fill_(gw.tensor(3)).tolist() == [[3.0] * 2] * 2
    x[0, 1] = 7.0
    assert x.fill_(x[0, 1]).tolist() == [[7.0] * 2] * 2
    value = gw.tensor(2.0, requires_grad=True)
    x.fill_(value).sum().backward()
    assert value.grad == 4


@pytest.mark.parametrize("dtype", [gw.int32, gw.uint32, gw.float32])
def test_bytes_are_read_as_another_dtype_in_place(dtype: gw.dtype) -> None:
    x = gw.ones(4, 6, requires_grad=True)
    part = x.detach()[1:, ::2].t()
    seen = part.view(dtype)
    assert seen.dtype is dtype and not x.view(gw.int32).requires_grad
    assert (seen.shape, seen.stride(), seen.storage_offset()) == ((3, 3), (2, 6), 6)
    assert gw.equal(seen.view(gw.float32), part)
    seen.zero_()
    assert part.sum() == 0 and x.sum() == 15 and x._version == seen._version == 1


def test_truths_as_subscripts() -> None:
    x = gw.arange(6.0).reshape(2, 3).requires_grad_()
    assert x[True].shape == (1, 2, 3) and x[False].shape == (0, 2, 3)
    x[True].sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2
    copied = x.detach()[True]
    copied.zero_()
    assert x.sum() == 15


def test_attributes_are_copied_with_the_tensor() -> None:
    x = gw.ones(2)
    x.note = [1]
    deep, shallow, pickled = copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))
    assert deep.note == shallow.note == pickled.note == [1]
    assert deep.note is not x.note and shallow.note is x.note
    assert shallow.data_ptr() == x.data_ptr()


def test_deep_copies_share_memory_where_the_originals_do() -> None:
    table = gw.arange(6.0).reshape(2, 3)
    copied, row = copy.deepcopy([table, table[1]])
    row[0] = 9.0
    assert copied.tolist() == [[0, 1, 2], [9, 4, 5]] and table[1, 0] == 3
    assert not copied._is_view() and copied.is_leaf
    assert copy.deepcopy(gw.ones(3).expand(2, 3)).stride() == (0, 1)


def test_a_view_knows_that_it_is_one() -> None:
    x = gw.ones(4)
    assert x[1:]._is_view() and not x._is_view() and not x.detach()._is_view()


def test_conversions_want_one_element() -> None:
    for convert in (int, float, complex):
        with pytest.raises(ValueError, match="only one element"):
            convert(gw.ones(2))


def test_a_format_of_more_than_one_element_is_refused() -> None:
    assert f"{gw.tensor(1.5):.2f}" == "1.50" and f"{gw.ones(1)}" == "tensor([1.])"
    with pytest.raises(TypeError, match="format"):
        f"{gw.ones(1):.2f}"


def test_containment_takes_numbers_and_tensors() -> None:
    x = gw.arange(3)
    assert 2 in x and gw.tensor(1) in x and 5 not in x
    for other in ("a", None):
        with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
            other in x  # noqa: B015


def test_reversed_reverses_the_first_dim() -> None:
    assert reversed(gw.arange(4).reshape(2, 2)).tolist() == [[2, 3], [0, 1]]
    assert reversed(gw.tensor(1)) == 1


@pytest.mark.parametrize("difference", [
    lambda mask: 1 - mask, lambda mask: mask - 1, lambda mask: gw.ones(1) - mask,
    lambda mask: mask - mask, lambda mask: +mask,
])  # fmt: skip
def test_truth_values_have_no_sign_and_no_difference(difference: Any) -> None:
    with pytest.raises(RuntimeError, match="bool tensor"):
        difference(gw.tensor([True]))


def test_a_gradient_that_never_comes_is_warned_of() -> None:
    x = gw.ones(2, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match="not a leaf"):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None and x.grad is None


def test_gradients_are_laid_out_like_their_leaf() -> None:
    x = gw.ones(3, 2).t().requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == x.stride()
    y = gw.ones(2, 3, requires_grad=True)
    (y * 1).backward(gw.ones(3, 2).t())
    assert y.grad.stride() == (3, 1)


def test_what_was_overwritten_has_a_gradient_of_zero() -> None:
    for write in (lambda t: t.copy_(gw.ones(2)), lambda t: t.fill_(3), lambda t: t.zero_()):
        x = gw.ones(2, requires_grad=True)
        y = x * 2
        write(y)
        assert gw.autograd.grad(y.sum(), x)[0].tolist() == [0, 0]


def test_a_leaf_that_is_a_view_is_not_written() -> None:
    x = gw.zeros(4).view(2, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="view of a leaf"):
        x[0] = 1.0


def test_inference_tensors_stay_out_of_the_tape() -> None:
    with gw.inference_mode():
        made = gw.ones(2)
        assert made.is_inference() and made[0].is_inference()
    w = gw.ones(2, requires_grad=True)
    assert not w.is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        made * w
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        made.requires_grad_()
    assert (made.clone() * w).requires_grad


WRITES = {
    "add_": lambda x: x.add_(1),
    "augmented": lambda x: x.__iadd__(1),
    "assignment": lambda x: x.__setitem__(0, 1.0),
    "assignment to a view": lambda x: x.view(3, 1).__setitem__(0, 1.0),
    "zero_": lambda x: x.zero_(),
    "uniform_": lambda x: x.uniform_(),
    "bernoulli_": lambda x: x.bernoulli_(),
    "out": lambda x: gw.add(x, 1, out=x),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
    "resize_": lambda x: x.resize_(5),
    "set_": lambda x: x.set_(),
    "relu_": gw.relu_,
    "foreach": lambda x: gw._foreach_add_([x], 1),
    "compiled": gw.compile(lambda x: x.add_(1)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_inference_tensors_are_written_in_inference_mode_alone(write: Any) -> None:
    with gw.inference_mode():
        made, other = gw.ones(3), gw.ones(3)
        write(other)
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        write(made)
    assert made.tolist() == [1, 1, 1]
    assert made.data.add_(1).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="do not track version"):
        _ = made._version


def test_linear_keeps_what_a_gradient_needs() -> None:
    with gw.inference_mode():
        weight = gw.ones(2, 3, requires_grad=True)
    gw.nn.functional.linear(gw.full((4, 3), 2.0), weight).sum().backward()
    assert weight.grad.tolist() == [[8, 8, 8]] * 2


def test_the_meta_device_takes_the_shape_alone() -> None:
    x = gw.ones(2, 3).t()
    there = x.to("meta")
    assert there.is_meta and there.shape == (3, 2) and there.stride() == x.stride()
    assert gw.zeros_like(x, device="meta").is_meta
    with pytest.raises(NotImplementedError, match="no data"):
        there.to("cpu")


def test_what_is_like_a_tensor_of_the_meta_device_may_be_on_the_cpu() -> None:
    there = gw.empty(2, 3, device="meta").t()
    for made, values in [
        (gw.zeros_like(there, device="cpu"), 0), (gw.ones_like(there, device="cpu"), 1),
        (gw.full_like(there, 7, device="cpu", dtype=gw.int32), 7),
        (gw.empty_like(there, device="cpu").fill_(2), 2),
        (gw.randn_like(there, device="cpu").fill_(3), 3),
    ]:
        assert made.device.type == "cpu" and made.stride() == there.stride()
        assert made.tolist() == [[values] * 2] * 3
    assert gw.zeros_like(there).is_meta


def test_detach_forgets_the_history_on_the_meta_device() -> None:
    x = gw.ones(2, device="meta", requires_grad=True)
    assert not x.detach().requires_grad and not (x * 2).detach().requires_grad
    norm = gw.nn.BatchNorm1d(3, device="meta")
    norm(gw.ones(2, 3, device="meta"))
    assert norm.running_mean.is_leaf and not norm.running_mean.requires_grad


def test_a_tensor_of_the_meta_device_is_copied_pickled_and_written_to() -> None:
    there = gw.empty(2, 3, device="meta").t().requires_grad_()
    for twin in (copy.copy(there), copy.deepcopy(there), pickle.loads(pickle.dumps(there))):
        assert twin.is_meta and twin.shape == (3, 2) and twin.stride() == (1, 3)
        assert twin is not there and twin.requires_grad
    both = copy.deepcopy([there, there])
    assert both[0] is both[1] and both[0] is not there
    target = gw.empty(3, device="meta")
    assert target.copy_(gw.ones(3)) is target and target._version == 1
    target[0] = gw.tensor(1.0)
    with pytest.raises(RuntimeError, match="do not match"):
        target.copy_(gw.ones(4))
    for read, error in ((gw.Tensor.numpy, TypeError), (gw.Tensor.tolist, NotImplementedError)):
        with pytest.raises(error, match="meta"):
            read(target)


def test_lists_of_tensors_and_numbers_on_meta() -> None:
    there = gw.empty(2, 3, device="meta")
    joined = gw.cat([there, there])
    assert joined.is_meta and joined.shape == (4, 3)
    assert gw.stack([there, there], -1).shape == (2, 3, 2)
    assert gw.einsum("ij,kj->ik", there, there).is_meta
    assert gw.nn.LSTM(3, 4, device="meta")(there[None])[0].shape == (1, 2, 4)
    scaled = there[gw.tensor([1, 1, 0])] * gw.tensor(2.0)
    assert scaled.is_meta and scaled.shape == (3, 3)
    assert (gw.tensor(2.0) * there).is_meta and gw.where(there > 0, gw.tensor(1.0), 2.0).is_meta
    for refused in (lambda: gw.cat([there, gw.ones(2, 3)]), lambda: there * gw.ones(3)):
        with pytest.raises(RuntimeError, match="same device"):
            refused()


def test_older_keywords_of_backward_and_grad() -> None:
    x = gw.ones(2, requires_grad=True)
    gw.autograd.backward([x * 2], grad_variables=[gw.ones(2)])
    assert x.grad.tolist() == [2, 2]
    assert gw.autograd.grad((x * 3).sum(), x, only_inputs=True)[0].tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="only use `grad_tensors`"):
        gw.autograd.backward([x * 2], [gw.ones(2)], grad_variables=[gw.ones(2)])
    with pytest.raises(TypeError, match="Tensors or GradientEdges"):
        gw.autograd.grad(x.sum(), "x")


def test_operators_give_way_to_those_of_other_classes() -> None:
    class Unit:
        def __radd__(self, other: Any) -> str:
            return "radd"

        def __gt__(self, other: Any) -> str:
            return "gt"

    x: Any = gw.ones(2)
    assert x + Unit() == "radd" and (x < Unit()) == "gt"
    x += Unit()
    assert x == "radd"
    assert (1,) * gw.tensor(2) == (1, 1)
    with pytest.raises(TypeError, match="must be Tensor or number, not Unit"):
        gw.ones(2) * Unit()


def test_pythons_types_name_dtypes() -> None:
    kinds = {bool: gw.bool, int: gw.int64, float: gw.float64, complex: gw.complex128}
    for kind, dtype in kinds.items():
        assert gw.ones(2, dtype=kind).dtype is dtype and gw.ones(2).to(kind).dtype is dtype
    with pytest.raises(TypeError, match="must be dtype"):
        gw.ones(2, dtype=str)


def test_memory_as_an_object() -> None:
    x = gw.ones(2, 3)
    row = x[1]
    assert row.untyped_storage() == x.untyped_storage() != gw.ones(2, 3).untyped_storage()
    assert row.untyped_storage().nbytes() == 24 and len(row.storage()) == 6
    assert row.storage().data_ptr() == x.data_ptr() and x.storage().untyped().size() == 24
    assert x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.t())


def test_changing_the_layout_is_a_change() -> None:
    x = gw.ones(2, 3)
    x.t_().unsqueeze_(0)
    assert x._version == 2


def test_saved_values_by_name() -> None:
    x = gw.tensor([2.0], requires_grad=True)
    node = (x * 3).exp().grad_fn
    assert node._saved_result.item() == pytest.approx(math.exp(6))
    product = x * x
    assert product.grad_fn._saved_self is x and product.grad_fn._saved_other is x
    assert not hasattr(node, "_saved_nothing")
    product.backward()
    with pytest.raises(RuntimeError, match="second time"):
        getattr(product.grad_fn, "_saved_self")  # noqa: B009


def test_saved_values_may_be_changed_where_allowed() -> None:
    x = gw.tensor([2.0], requires_grad=True)
    with gw.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        square = y**2
        y.sin_()
        square.sum().backward()
    assert x.grad.item() == 4.0


def test_a_complex_number_without_imaginary_part_is_real() -> None:
    x = gw.zeros(2)
    x[0] = 2 + 0j
    assert x.tolist() == [2, 0]
    with pytest.raises(RuntimeError, match="cannot be converted"):
        x[0] = 1j


def test_a_value_of_another_dtype_is_cast_by_copies_and_masks_alone() -> None:
    mask, places = gw.tensor([True, False, True]), gw.tensor([0, 1])
    x = gw.zeros(3)
    x[0:2] = gw.tensor([1, 2])
    x[mask] = gw.tensor([5], dtype=gw.int64)
    assert x.tolist() == [5, 2, 5]
    for value in (gw.tensor(1), gw.tensor([1, 2]), gw.tensor(1.0, dtype=gw.float64)):
        with pytest.raises(RuntimeError, match="dtypes match"):
            x[places] = value
    for value in (gw.tensor(1 + 2j), gw.tensor(1e300, dtype=gw.float64)):
        with pytest.raises(RuntimeError, match="without overflow"):
            x[mask] = value
    assert x.tolist() == [5, 2, 5]


@pytest.mark.parametrize("key", [0, slice(0, 2), gw.tensor([0]), gw.tensor([True, False, True])],
                         ids=["int", "slice", "places", "mask"])  # fmt: skip
def test_an_int_beyond_int64_is_not_written_by_index(key: Any) -> None:
    x = gw.zeros(3)
    with pytest.raises(ValueError, match="int64"):
        x[key] = 2**63
    x[key] = 2.0**63
