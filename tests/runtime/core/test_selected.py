"""Values of few short lines with their places, in C: extrema, orders, ranks; their gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.ops.table import op
from graphwright.runtime.tensor.tensor import Tensor

Call = Callable[..., Any]
SHAPES: list[tuple[int, ...]] = [(5,), (3, 4), (2, 3, 4), (1, 6), (4, 1)]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
ALONG: dict[str, Call] = {
    "max": lambda x, dim, keep: x.max(dim, keep),
    "min": lambda x, dim, keep: x.min(dim, keep),
    "median": lambda x, dim, keep: x.median(dim, keep),
    "nanmedian": lambda x, dim, keep: x.nanmedian(dim, keep),
    "mode": lambda x, dim, keep: x.mode(dim, keep),
    "kthvalue": lambda x, dim, keep: x.kthvalue(1, dim, keep),
    "sort": lambda x, dim, keep: x.sort(dim),
    "sort down": lambda x, dim, keep: x.sort(dim, descending=True),
    "topk": lambda x, dim, keep: x.topk(1, dim),
    "topk none": lambda x, dim, keep: x.topk(0, dim),
}


def parts(name: str) -> Any:
    """What the op does where its kernel in C does not take the call."""
    run = op(name.partition(" ")[0]).run
    return run.fallback if isinstance(run, _core.Native) else run


def numbers(shape: tuple[int, ...], dtype: str) -> Any:
    random = np.random.default_rng(0)
    if dtype == "bool":
        return random.random(shape) > 0.5
    values = random.integers(0, 4, shape).astype(dtype)
    if dtype.startswith("float"):
        values[random.random(shape) < 0.2] = np.nan
    return values


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, "float32", "float64"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_the_first_of_equal_extrema(name: str, dtype: str) -> None:
    for shape in SHAPES:
        array = numbers(shape, dtype)
        searched = array.astype(np.uint8) if dtype == "bool" else array
        for dim in range(-len(shape), len(shape)):
            for keepdim in (False, True):
                found = ALONG[name](gw.from_numpy(array), dim, keepdim)
                places = getattr(np, f"arg{name}")(searched, dim, keepdims=True)
                values = np.take_along_axis(array, places, dim)
                if not keepdim:
                    places, values = places.squeeze(dim), values.squeeze(dim)
                assert type(found) is getattr(gw.return_types, name)
                np.testing.assert_array_equal(found.indices.numpy(), places)
                np.testing.assert_array_equal(found.values.numpy(), values, strict=True)
                assert found.values.is_contiguous()


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("name", list(ALONG))
def test_values_are_those_at_their_places(name: str, dtype: str) -> None:
    for shape in SHAPES:
        x = gw.from_numpy(numbers(shape, dtype))
        for dim in range(len(shape)):
            kept, found = ALONG[name](x, dim, True), ALONG[name](x, dim, False)
            assert type(kept) is getattr(gw.return_types, name.partition(" ")[0])
            np.testing.assert_array_equal(kept.values.numpy(), x.gather(dim, kept.indices).numpy())
            for wide, narrow in zip(kept, found, strict=True):
                assert narrow.ndim == x.ndim - ("sort" not in name and "topk" not in name)
                np.testing.assert_array_equal(wide.numpy().ravel(), narrow.numpy().ravel())


@pytest.mark.parametrize("name", ["max", "min", "median", "mode", "nanmedian"])
def test_as_the_parts_do(name: str) -> None:
    for shape in SHAPES:
        x = gw.from_numpy(numbers(shape, "float32"))
        for dim in range(len(shape)):
            for a, b in zip(ALONG[name](x, dim, False), parts(name)(x, dim, False), strict=True):
                np.testing.assert_array_equal(a.numpy(), b.numpy())


LARGE: list[tuple[int, ...]] = [(40, 700), (3, 50, 300), (6000, 3), (2, 33, 300), (9000,)]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_of_many_lines_side_by_side(name: str, dtype: str) -> None:
    for shape in LARGE:
        array = numbers(shape, dtype)
        for dim in range(len(shape)):
            want = getattr(np, f"arg{name}")(array, dim)
            found = ALONG[name](gw.from_numpy(array), dim, False)
            np.testing.assert_array_equal(found.indices.numpy(), want)
            values = np.take_along_axis(array, np.expand_dims(want, dim), dim).squeeze(dim)
            np.testing.assert_array_equal(found.values.numpy(), values, strict=True)
            places = getattr(gw.from_numpy(array), f"arg{name}")(dim, True)
            np.testing.assert_array_equal(places.numpy(), np.expand_dims(want, dim))


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_orders_of_many_short_lines(dtype: str) -> None:
    for shape, dim in (((4000, 3), 1), ((20, 500), 0), ((30, 24, 20), 1), ((20000, 1), 1)):
        array = numbers(shape, dtype)
        want = np.argsort(array, dim, kind="stable")
        values, places = gw.from_numpy(array).sort(dim, stable=True)
        np.testing.assert_array_equal(places.numpy(), want)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(array, want, dim))
        median = gw.from_numpy(array).nanmedian(dim).values
        np.testing.assert_array_equal(median.numpy(), parts("nanmedian")(
            gw.from_numpy(array.astype(np.float64)), dim, False).values.numpy())


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_places_of_integers_that_doubles_do_not_hold(name: str) -> None:
    x = gw.tensor([[2**53, 2**53 + 1, 2**53 + 1], [-(2**53), -(2**53) - 1, 0]])
    found = getattr(x, name)(1)
    places = found if name.startswith("arg") else found.indices
    assert places.tolist() == {"max": [1, 2], "min": [0, 1]}[name.removeprefix("arg")]


def test_of_equal_zeros_the_sign_of_the_first() -> None:
    assert gw.signbit(gw.tensor([-0.0, 0.0]).max(0).values).item()
    assert not gw.signbit(gw.tensor([0.0, -0.0]).min(0).values).item()


@pytest.mark.parametrize(
    "x",
    [gw.zeros(3, 0), gw.zeros(2, 3).T, gw.zeros(9000), gw.zeros(2, 3, dtype=gw.complex64), 3.0],
    ids=["empty", "in columns", "long", "complex", "no tensor"],
)
def test_what_the_kernels_leave_to_the_parts(x: Any) -> None:
    for name, rest in (("max", (0, False)), ("sort", (0, False, False)), ("mode", (0, False))):
        assert _core.Native(Tensor, name, lambda *args: "left")(x, *rest) == "left"


@pytest.mark.parametrize("name", ["max", "sort"])
def test_dims_that_are_not_there(name: str) -> None:
    for dim in (2, -3):
        with pytest.raises(IndexError, match="out of range"):
            ALONG[name](gw.zeros(2, 3), dim, False)


@pytest.mark.parametrize("name", ["max", "min", "mode", "kthvalue", "sort", "sort down", "topk"])
def test_gradients_go_to_the_places_of_one_node(name: str) -> None:
    x = gw.randn(2, 3, 2, dtype=gw.float64, generator=gw.Generator().manual_seed(0))
    x.requires_grad_()
    for dim in range(3):
        for keepdim in (False, True):
            found = ALONG[name](x, dim, keepdim)
            assert found.values.grad_fn.next_functions[0][0].variable is x
            assert found.indices.grad_fn is None
            values = partial(lambda dim, keep, x: ALONG[name](x, dim, keep)[0], dim, keepdim)
            assert gw.autograd.gradcheck(values, (x,))
            assert gw.autograd.gradgradcheck(values, (x,))


def test_places_that_were_written_before_backward() -> None:
    x = gw.randn(3, 4, requires_grad=True)
    found = x.max(1)
    found.indices.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        found.values.sum().backward()


def test_results_must_be_a_class_of_tuples() -> None:
    with pytest.raises(TypeError, match="class of tuples"):
        _core.Native(Tensor, "max", lambda *args: None, list)  # type: ignore[arg-type]


# -- several results into tensors of the caller's


def test_results_are_written_into_all() -> None:
    x = gw.tensor([[3.0, 1.0, 2.0]])
    values, places = gw.empty(1, 3), gw.empty(1, 3, dtype=gw.int64)
    versions = values._version, places._version
    found = gw.sort(x, out=(values, places))
    assert type(found) is gw.return_types.sort
    assert (found.values is values, found.indices is places) == (True, True)
    assert (values.tolist(), places.tolist()) == ([[1.0, 2.0, 3.0]], [[1, 2, 0]])
    assert (values._version, places._version) == (versions[0] + 1, versions[1] + 1)


def test_results_of_another_shape_or_in_columns() -> None:
    x = gw.tensor([[3.0, 1.0], [0.0, 5.0]])
    for values in (gw.empty(0), gw.empty(2, 2).T):
        found = gw.sort(x, out=(values, gw.empty(2, 2, dtype=gw.int64)))
        assert found.values is values
        assert values.tolist() == [[1.0, 3.0], [0.0, 5.0]]


def test_results_over_the_input() -> None:
    x, places = gw.tensor([3.0, 1.0, 2.0]), gw.empty(3, dtype=gw.int64)
    gw.sort(x, out=(x, places))
    assert (x.tolist(), places.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 0])


@pytest.mark.parametrize(
    ("out", "error"),
    [
        ((), TypeError), ((gw.empty(3),), TypeError), (gw.empty(3), TypeError),
        ((gw.empty(3), 3), TypeError), ((gw.empty(3), gw.empty(3)), RuntimeError),
    ],
    ids=["none", "one", "a tensor", "a number", "another dtype"],
)  # fmt: skip
def test_what_cannot_be_written(out: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        gw.sort(gw.tensor([3.0, 1.0, 2.0]), out=out)


def test_one_result_into_a_tuple() -> None:
    with pytest.raises(TypeError, match="must be Tensor"):
        gw.add(gw.ones(()), 1, out=(gw.empty(()),))
