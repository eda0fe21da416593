"""Arguments of another kind than their parameter's: TypeError, as in PyTorch, before all else.

Tensors, bools and numbers are told apart by the schema's types; ints are the matter of
test_integer_arguments.py.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

import graphwright as gw
import graphwright.nn.functional as F

X = gw.arange(6.0).reshape(2, 3)
WHOLE = gw.arange(6).reshape(2, 3)
NUMBER = gw.tensor(0.5)
PIVOTS = gw.tensor([1, 2], dtype=gw.int32)
Call = Callable[[Any], Any]

BOOLS: dict[str, Call] = {
    "sum, keepdim": lambda v: gw.sum(X, 0, v),
    "mean, keepdim": lambda v: X.mean(0, keepdim=v),
    "amax, keepdim": lambda v: X.amax(0, v),
    "argmax, keepdim": lambda v: X.argmax(0, v),
    "max, keepdim": lambda v: X.max(0, v),
    "nanmedian, keepdim": lambda v: gw.nanmedian(X, -1, v),
    "logsumexp, keepdim": lambda v: gw.logsumexp(X, 0, v),
    "unique, sorted": lambda v: gw.unique(X, v),
    "unique_consecutive, return_inverse": lambda v: gw.unique_consecutive(X, v),
    "sort, descending": lambda v: X.sort(-1, v),
    "argsort, descending": lambda v: X.argsort(-1, v),
    "topk, largest": lambda v: X.topk(1, -1, v),
    "cholesky, upper": lambda v: gw.linalg.cholesky(gw.eye(3), upper=v),
    "lu_unpack, unpack_data": lambda v: gw.lu_unpack(gw.eye(2), PIVOTS, v),
    "poisson_nll_loss, log_input": lambda v: F.poisson_nll_loss(X, X, v),
}
NUMBERS: dict[str, Call] = {
    "leaky_relu, negative_slope": lambda v: F.leaky_relu(X, v),
    "hardshrink, lambd": lambda v: F.hardshrink(X, v),
    "softplus, beta": lambda v: F.softplus(X, v),
    "elu_, alpha": lambda v: F.elu_(X.clone(), v),
    "threshold, value": lambda v: F.threshold(X, 0.5, v),
    "nan_to_num, posinf": lambda v: X.nan_to_num(0.0, v),
    "full_like, fill_value": lambda v: gw.full_like(X, v),
    "addmm, alpha": lambda v: gw.addmm(X, X, gw.eye(3), alpha=v),
    "addcmul, value": lambda v: gw.addcmul(X, X, X, value=v),
    "addmm, beta": lambda v: gw.addmm(X, X, gw.eye(3), beta=v),
    "isclose, rtol": lambda v: gw.isclose(X, X, v),
    "histc, min": lambda v: X.histc(4, v, 5),
    "dist, p": lambda v: gw.dist(X, X, v),
}
TENSORS: dict[str, Call] = {
    "addcmul, tensor1": lambda v: gw.addcmul(X, v, X),
    "inner, other": lambda v: gw.inner(X, v),
    "lerp, end": lambda v: X.lerp(v, 0.5),
    "pairwise_distance, x2": lambda v: F.pairwise_distance(X, v),
    "mm, mat2": lambda v: gw.mm(X, v),
    "gather, index": lambda v: X.gather(0, v),
    "relu, input": lambda v: gw.relu(v),
}
LEFT_OUT: dict[str, Call] = {
    "prod, dim": lambda v: gw.prod(X, v),
    "Tensor.prod, dim": lambda v: X.prod(dim=v),
    "max, dim": lambda v: X.max(v),
    "min, dim": lambda v: gw.min(X, v),
    "median, dim": lambda v: X.median(v),
    "nanmedian, dim": lambda v: gw.nanmedian(X, dim=v),
    "squeeze, dim": lambda v: X.squeeze(v),
    "logsumexp, dim": lambda v: X.logsumexp(v),
    "cat, dim": lambda v: gw.cat((X, X), v),
    "std, unbiased": lambda v: X.std(0, v),
    "var_mean, unbiased": lambda v: gw.var_mean(X, 0, v),
    "full_like, fill_value": lambda v: gw.full_like(X, v),
    "dist, p": lambda v: X.dist(X, v),
    "pinverse, rcond": lambda v: gw.pinverse(X, v),
    "vector_norm, ord": lambda v: gw.linalg.vector_norm(X, v),
    "pairwise_distance, p": lambda v: F.pairwise_distance(X, X, v),
    "max_pool1d, kernel_size": lambda v: F.max_pool1d(X, v),
    "conv1d, stride": lambda v: F.conv1d(X, gw.ones(1, 2, 1), None, v),
    "adaptive_avg_pool1d, output_size": lambda v: F.adaptive_avg_pool1d(X, v),
    "unsqueeze, behind dim": lambda v: gw.unsqueeze(X, 0, v),
    "cumsum, behind dim": lambda v: X.cumsum(1, v),
}


def cases(table: dict[str, Call]) -> Any:
    return pytest.mark.parametrize("call", table.values(), ids=table.keys())


@pytest.mark.parametrize("value", [0, 1, 0.5, "mean", [0], X, gw.tensor(True)], ids=repr)
@cases(BOOLS)
def test_what_is_no_bool(call: Call, value: Any) -> None:
    with pytest.raises(TypeError, match="must be bool, not "):
        call(value)


@pytest.mark.parametrize("value", [False, np.bool_(False)], ids=repr)
@cases(BOOLS)
def test_what_is_a_bool(call: Call, value: Any) -> None:
    call(value)


@pytest.mark.parametrize("value", ["mean", [1], (1.0, 2.0), X, gw.float32], ids=repr)
@cases(NUMBERS)
def test_what_is_no_number(call: Call, value: Any) -> None:
    with pytest.raises(TypeError, match=r"must be (Number|float), not "):
        call(value)


@pytest.mark.parametrize("value", [1, True, np.float64(0.5), np.int64(1), NUMBER], ids=repr)
@cases(NUMBERS)
def test_what_is_a_number(call: Call, value: Any) -> None:
    call(value)


@pytest.mark.parametrize("value", [0, 0.5, True, "mean", None, [0.5]], ids=repr)
@cases(TENSORS)
def test_what_is_no_tensor(call: Call, value: Any) -> None:
    with pytest.raises(TypeError, match="must be Tensor, not "):
        call(value)


@cases(LEFT_OUT)
def test_none_is_not_the_same_as_nothing(call: Call) -> None:
    """Where PyTorch has overloads with and without a parameter, or no default."""
    for run in (call, gw.compile(call)):
        with pytest.raises(TypeError):
            run(None)


def test_left_out_or_a_value() -> None:
    for name in ("prod", "max", "min", "median", "nanmedian", "squeeze", "std", "var"):
        method = getattr(X, name)
        getattr(gw, name)(X)
        method()
        method(0)
        method(dim=1)
        method(axis=1)


@pytest.mark.parametrize("name", ["std", "var", "std_mean", "var_mean"])
def test_moments_take_a_bool_and_nothing_else_for_unbiased(name: str) -> None:
    moment = getattr(gw, name)
    for args in ((0, 1), (0, 0.5), (0, X), (True, 0), (True, True), (0, True, None)):
        with pytest.raises(TypeError):
            moment(X, *args)
    moment(X, None, True), moment(X, False), moment(X, (0, 1), False, True)


def test_a_product_is_along_one_dim() -> None:
    for dim in ([0], (0, 1), ()):
        with pytest.raises(TypeError):
            gw.prod(X, dim)


def test_the_kind_is_told_before_the_shape_and_the_dtype() -> None:
    """The first argument does not fit either."""
    for call in (lambda: gw.isclose(WHOLE, X, ()), lambda: gw.chunk(gw.tensor(1), "sum"),
                 lambda: F.hardshrink(WHOLE, [1]), lambda: gw.sum(X, 5, 0.5),
                 lambda: gw.linalg.eigvalsh(gw.ones(3), -2), lambda: X.chunk(False, -3),
                 lambda: X.split_with_sizes(3, 5), lambda: X.topk(2.0, 5),
                 lambda: F.max_pool2d(gw.ones(3), "a"), lambda: F.conv2d(X, X, None, 1.5)):
        with pytest.raises(
            TypeError, match=r"must be (float|int|Number|bool|str|.*tuple of ints), not "
        ):
            call()


def test_compiled_code_refuses_the_same() -> None:
    def summed(x: Any, keep: Any) -> Any:
        return gw.sum(x * 2, 0, keep)

    compiled = gw.compile(summed)
    assert compiled(X, True).shape == (1, 3)
    for keep in (1, 0.5, None):
        with pytest.raises(TypeError, match="'keepdim' must be bool"):
            compiled(X, keep)


@pytest.mark.parametrize("dtype", [gw.bool, gw.uint8, gw.int32, gw.float16, gw.float64])
@pytest.mark.parametrize("number", [300, -1, 1.5, True, IntEnum("Level", ["LOW"]).LOW], ids=repr)
def test_copy_takes_a_number(dtype: gw.dtype, number: Any) -> None:
    """As a tensor of it, which is cast."""
    def write(x: Any) -> Any:
        x[0].copy_(number)
        return x + 0

    expected = gw.zeros(2, dtype=dtype)
    expected[0] = gw.tensor(number).to(dtype)
    for run in (write, gw.compile(write)):
        assert gw.equal(run(gw.zeros(2, dtype=dtype)), expected)


class Level(IntEnum):
    LOW = 1


class Count(int):
    """Answers whatever it is asked for, and says that it is another number."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"asked for {name}")

    def __int__(self) -> int:
        return 7


@pytest.mark.parametrize("number", [Level.LOW, Count(1), 1j, True, np.int64(1)], ids=repr)
def test_numbers_of_all_kinds_are_compared_item_by_item(number: Any) -> None:
    x = gw.ones(2)
    same = number == 1
    for equal in (x == number, number == x, ~(x != number)):
        assert isinstance(equal, gw.Tensor) and equal.tolist() == [same, same]


def test_a_number_of_a_derived_class_is_its_value() -> None:
    """Its attributes are not asked for, nor what it would convert to."""
    x = gw.ones(2)
    assert (x * Count(3)).tolist() == [3.0, 3.0] and x.clamp(Count(2)).tolist() == [2.0, 2.0]
    assert gw.full((2,), Count(3)).tolist() == [3, 3]
