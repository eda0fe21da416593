"""Views and indexing against NumPy: same elements, shared memory, same errors as PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

BASIC: list[Any] = [
    0,
    -1,
    (1, 2),
    slice(None),
    slice(1, None),
    slice(None, -1),
    (slice(None), slice(None, None, 2)),
    (slice(None), 1),
    (Ellipsis, 1),
    (1, Ellipsis),
    (None, 1),
    (slice(None), None, slice(0, 1)),
    (0, slice(1, 3), slice(3, 1)),
    Ellipsis,
    (slice(5, 9),),
    (0, 1, 2),
]

ADVANCED: list[Any] = [
    [0, 1, 0],
    (slice(None), [0, 2]),
    ([0, 1], [1, 2]),
    ([0, 1], slice(None), [1, 3]),
    (slice(None), np.array([[0, 1], [2, 0]])),
    (np.array([True, False]),),
    (slice(None), np.array([True, False, True])),
    (1, [0, 2]),
    (None, [0, 1]),
    (Ellipsis, [0, -1]),
    (slice(None, None, 1), [1, 2], slice(0, 4, 2)),
]


def _pair() -> tuple[np.ndarray[Any, Any], Any]:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return array, gw.from_numpy(array)


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_basic_indexing_is_a_view(key: Any) -> None:
    array, tensor = _pair()
    want, got = array[key], tensor[key]
    np.testing.assert_array_equal(got.numpy(), want)
    assert tuple(got.shape) == np.shape(want)
    assert got._base is tensor
    if got.numel():
        got.fill_(-1)
        assert (array[key] == -1).all()


@pytest.mark.parametrize("key", ADVANCED, ids=str)
def test_advanced_indexing_copies(key: Any) -> None:
    array, tensor = _pair()
    want, got = array[key], tensor[key]
    np.testing.assert_array_equal(got.numpy(), want)
    assert got._base is None


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=str)
def test_assignment(key: Any) -> None:
    array, _ = _pair()
    tensor = gw.tensor(array)
    value = np.full(np.shape(array[key]), 7, np.float32)
    array = array.copy()
    array[key] = value
    tensor[key] = gw.tensor(value)
    np.testing.assert_array_equal(tensor.numpy(), array)
    array[key] = 3
    tensor[key] = 3
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_masks() -> None:
    array, tensor = _pair()
    np.testing.assert_array_equal(tensor[tensor > 5].numpy(), array[array > 5])
    tensor[tensor > 5] = 0
    assert tensor.max().item() == 5
    row = tensor[0]
    row[gw.tensor([True, False, True])] = gw.zeros(4)
    assert tensor[0, 0].sum().item() == 0


def test_true_as_index_is_everything_and_false_nothing() -> None:
    x = gw.zeros(2, 3)
    x[True] = gw.tensor(3)
    x[False] = gw.tensor(4)
    assert x.tolist() == [[3, 3, 3]] * 2 and x.dtype is gw.float32
    x[True] = gw.arange(6).reshape(2, 3)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x[True].shape == (1, 2, 3) and x[False].shape == (0, 2, 3)


def test_index_errors() -> None:
    _, tensor = _pair()
    for key in (2, (0, 3), (0, 0, -5), [0, 2], (slice(None), [3])):
        with pytest.raises(IndexError):
            tensor[key]
    with pytest.raises(IndexError, match="too many indices"):
        tensor[0, 0, 0, 0]
    with pytest.raises(IndexError, match="mask"):
        tensor[gw.tensor([True, False, True])]
    with pytest.raises(TypeError, match="only integers"):
        tensor["a"]
    with pytest.raises(ValueError, match="step"):
        tensor[::-1]
    with pytest.raises(IndexError):
        gw.tensor(1.0)[0]


def test_view_needs_compatible_strides() -> None:
    tensor = gw.arange(6).view(2, 3).t()
    with pytest.raises(RuntimeError, match=r"Use \.reshape"):
        tensor.view(6)
    assert tensor.reshape(6).tolist() == [0, 3, 1, 4, 2, 5]
    assert tensor.reshape(3, 2)._base is not None
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        tensor.reshape(4)


def test_views_share_the_version() -> None:
    base = gw.zeros(4)
    view = base.view(2, 2)[1]
    view.add_(1)
    assert base._version == view._version == 1
    assert base.tolist() == [0.0, 0.0, 1.0, 1.0]


def test_expand_and_broadcast_errors() -> None:
    with pytest.raises(RuntimeError, match="expand"):
        gw.zeros(2).expand(3)
    with pytest.raises(RuntimeError, match=r"add.*\[2, 3\].*\[2, 4\]"):
        gw.zeros(2, 3) + gw.zeros(2, 4)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        gw.zeros(2, 3) @ gw.zeros(2, 3)
    with pytest.raises(IndexError, match=r"range of \[-2, 1\]"):
        gw.zeros(2, 3).sum(2)
    with pytest.raises(RuntimeError, match="multiple times"):
        gw.zeros(2, 3).sum((0, 0))
    with pytest.raises(TypeError, match="argument 'other' must be Tensor or number, not str"):
        gw.zeros(2) + "a"  # type: ignore[operator]
    with pytest.raises(TypeError, match="argument 'input' must be Tensor, not ndarray"):
        gw.exp(np.ones(2))


def test_from_numpy_shares_memory() -> None:
    array = np.arange(6.0).reshape(2, 3)[:, ::2]
    tensor = gw.from_numpy(array)
    tensor[0, 0] = 9
    assert array[0, 0] == 9
    assert np.shares_memory(tensor.numpy(), array)
    assert tensor.numpy() is not tensor.numpy()
    with pytest.raises(ValueError, match="negative"):
        gw.from_numpy(array[::-1])


def test_numpy_outlives_the_tensor() -> None:
    array = gw.ones(100_000).numpy()
    for _ in range(10):
        gw.zeros(100_000)
    assert (array == 1).all()


@pytest.mark.oracle
def test_strides_after_chains_of_views_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    for seed in range(200):
        shapes = []
        for lib in (gw, torch):
            rng = np.random.default_rng(seed)
            t = lib.arange(120).reshape(2, 3, 4, 5)
            trail = []
            for _ in range(5):
                kind = rng.integers(7)
                dim = int(rng.integers(t.ndim))
                size = t.shape[dim]
                if kind == 0:
                    t = t.permute(tuple(int(d) for d in rng.permutation(t.ndim)))
                elif kind == 1 and size > 1:
                    t = t.narrow(dim, 1, size - 1)
                elif kind == 2:
                    t = t.unsqueeze(dim)
                elif kind == 3:
                    t = t.flatten(0, dim)
                elif kind == 4 and t.ndim > 1 and size > 0:
                    t = t.select(dim, 0)
                elif kind == 5:
                    t = t + 1
                else:
                    t = t.squeeze()
                    if t.ndim == 0:
                        t = t.reshape(1)
                trail.append((tuple(t.shape), tuple(t.stride()), t.storage_offset()))
            shapes.append((trail, t.tolist()))
        assert shapes[0] == shapes[1], seed


def test_a_reshape_that_copies_is_no_view() -> None:
    x = gw.arange(6.0).reshape(2, 3).requires_grad_()
    copied, shared = x.T.reshape(2, 3), (x * 1).T.reshape(3, 2)
    assert copied._base is None and copied.grad_fn.name() == "UnsafeViewBackward0"
    assert shared._base is not None
    copied.mul_(2)
    copied.sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2 and x[0, 1].item() == 1.0


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3, 4), (4, 5)), ((2, 2, 3, 4), (2, 2, 4, 5)), ((3, 4), (2, 2, 4, 5)), ((4,), (4, 5)),
     ((2, 3, 4), (4,)), ((4,), (2, 4, 5))],
)
def test_a_product_is_no_view(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x = gw.ones(left, requires_grad=True)
    product = x @ gw.ones(right)
    assert product._base is None
    product += 1
    assert product.grad_fn.name() == "AddBackward0"
    product.sum().backward()
    assert x.grad.sum().item() == 4 * product.numel()


def test_a_position_in_a_tensor_selects_a_view() -> None:
    x, i = gw.arange(6.0).reshape(3, 2), gw.tensor(-1)
    row = x[i]
    assert row._base is x._base and row.tolist() == [4.0, 5.0]
    row.mul_(2)
    assert x[2].tolist() == [8.0, 10.0]
    with pytest.raises(IndexError):
        x[gw.tensor(3)]


@pytest.mark.parametrize("function", [
    lambda x: x.mT.reshape(3, 2) ** 3,
    lambda x: x[gw.tensor(1)] ** 3,
], ids=["copying reshape", "position"])  # fmt: skip
def test_gradients_of_reshapes_that_copy_and_of_positions(function: Any) -> None:
    x = gw.rand(2, 3, dtype=gw.float64, requires_grad=True)
    assert gw.autograd.gradcheck(function, (x,))
    assert gw.autograd.gradgradcheck(function, (x,))


@pytest.mark.parametrize("name", ["expand_as", "reshape_as", "view_as"])
def test_a_model_of_the_shape_is_no_part_of_the_history(name: str) -> None:
    like = gw.zeros(3, requires_grad=True)
    assert not getattr(gw.ones(3), name)(like).requires_grad
    assert getattr(like * 1, name)(like).requires_grad


BY_TENSORS: list[tuple[str, Any]] = [
    ("slice", lambda x, number: x[:, number(1) : number(-1)]),
    ("slice with a step", lambda x, number: x[::number(2), number(1) :]),
    ("narrow", lambda x, number: x.narrow(1, number(1), number(2))),
    ("select", lambda x, number: x.select(1, number(2))),
    ("split", lambda x, number: x.split(number(2), 1)[0]),
    ("chunk", lambda x, number: x.chunk(number(2), 1)[1]),
    ("diagonal", lambda x, number: x.diagonal(number(1))),
    ("unfold", lambda x, number: x.unfold(1, number(3), number(1))),
    ("tril", lambda x, number: x.tril(number(1))),
    ("cat", lambda x, number: gw.cat([x, 2 * x], number(1))),
]


@pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in BY_TENSORS])
def test_numbers_may_be_tensors_also_where_gradients_flow(f: Any) -> None:
    def of(number: Any) -> tuple[gw.Tensor, gw.Tensor]:
        x = gw.arange(24.0).reshape(4, 6).requires_grad_()
        out = f(x, number)
        (out * out).sum().backward()
        assert x.grad is not None
        return out, x.grad

    for found, expected in zip(of(gw.tensor), of(int), strict=True):
        assert gw.equal(found, expected)


def test_the_gradient_of_a_diagonal_is_written_with_the_signs_of_its_zeros() -> None:
    for function in (gw.diagonal, gw.compile(gw.diagonal)):
        x = gw.ones(2, 3, requires_grad=True)
        function(x).backward(gw.tensor([-0.0, 2.0]))
        assert x.grad is not None
        assert str(x.grad.tolist()) == "[[-0.0, 0.0, 0.0], [0.0, 2.0, 0.0]]"


@pytest.mark.parametrize("key", [
    None, (None, None), (None, slice(None), None), (slice(None), None), (Ellipsis, None, None),
], ids=str)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_is_assigned_to_itself_stays(key: Any, device: str) -> None:
    """Dims of one element do not matter; of other layouts only a part would be the same."""
    x = gw.arange(6.0, device=device).reshape(2, 3)
    x[key] = x.reshape(x[key].shape)
    x[None] = x
    x[None].mul_(x)
    assert device == "meta" or x.tolist() == [[0.0, 1.0, 4.0], [9.0, 16.0, 25.0]]
    square = gw.ones(3, 3, device=device)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        square[None] = square.t()
