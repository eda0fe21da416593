"""Numbers that vary are refused where the operation refuses them, however it is taken apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

F = gw.nn.functional
LONE = gw.tensor(1.5)
FEW = gw.tensor([[1.0, -2.0, 3.0]])
INF = float("inf")


def outcome(function: Callable[..., Any], x: gw.Tensor, value: Any) -> str:
    try:
        result = function(x, value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    results = result if isinstance(result, tuple) else (result,)
    return repr([(r.dtype, r.stride(), r.tolist()) for r in results])


def check(function: Callable[..., Any], x: gw.Tensor, values: tuple[Any, ...]) -> None:
    compiled = gw.compile(function, backend="llvm")
    for value in values:
        assert outcome(compiled, x, value) == outcome(function, x, value), value


OF_DIMS: dict[str, Callable[[Any, Any], Any]] = {
    "softmax": lambda x, dim: gw.softmax(x, dim),
    "log_softmax": lambda x, dim: F.log_softmax(x, dim),
    "logsumexp": lambda x, dim: gw.logsumexp(x, dim),
    "flatten": lambda x, dim: gw.flatten(x, dim),
    "unsqueeze": lambda x, dim: gw.unsqueeze_copy(x, dim),
    "std": lambda x, dim: gw.std(x, dim, correction=0),
    "quantile": lambda x, dim: gw.quantile(x, 0.3, dim),
    "nansum": lambda x, dim: gw.nansum(x, dim),
    "median": lambda x, dim: gw.median(x, dim),
}


@pytest.mark.parametrize("x", [LONE, FEW], ids=["no dims", "two dims"])
@pytest.mark.parametrize("name", OF_DIMS)
def test_dims_are_those_of_the_tensor(name: str, x: gw.Tensor) -> None:
    check(OF_DIMS[name], x, (0, -1, 1, 2, -2, -3, 0))


OF_FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "hardshrink": lambda x, s: F.hardshrink(x, s),
    "softshrink": lambda x, s: F.softshrink(x, s),
    "elu": lambda x, s: F.elu(x, s),
    "celu": lambda x, s: F.celu(x, s),
    "softplus": lambda x, s: F.softplus(x, s),
    "leaky_relu": lambda x, s: F.leaky_relu(x, s),
}


@pytest.mark.parametrize("dtype", [gw.int64, gw.uint8, gw.bool], ids=str)
@pytest.mark.parametrize("name", OF_FLOATS)
def test_dtypes_that_are_refused_stay_so(name: str, dtype: gw.dtype) -> None:
    check(OF_FLOATS[name], FEW.abs().to(dtype), (0.25, 0.5, 0.125))


IN_RANGE: dict[str, Callable[[Any, Any], Any]] = {
    **OF_FLOATS,
    "logit": lambda x, s: gw.logit(x, s),
    "clamp": lambda x, s: gw.clamp(x, s),
    "clamp_": lambda x, s: x.clone().clamp_(max=s),
    "clamp_min": lambda x, s: x.clamp_min(s),
    "where": lambda x, s: gw.where(x > 0, x, s),
    "alpha": lambda x, s: gw.add(x, x, alpha=s),
    "lerp": lambda x, s: gw.lerp(x, x + 1, s),
    "addcmul": lambda x, s: gw.addcmul(x, x, x, value=s),
    "pow": lambda x, s: x**s,
    "normalize": lambda x, s: F.normalize(x, eps=s),
}


@pytest.mark.parametrize("dtype", [gw.float16, gw.float32, gw.int64], ids=str)
@pytest.mark.parametrize("name", IN_RANGE)
def test_numbers_that_the_dtype_does_not_hold_are_refused(name: str, dtype: gw.dtype) -> None:
    compiled = gw.compile(IN_RANGE[name], backend="llvm")
    x = gw.tensor([[1, 0, 3]]).to(dtype)
    for value in (0.25, 0.5, 1e6, -1e39, INF, 0.125):
        plain, fast = (outcome(f, x, value) for f in (IN_RANGE[name], compiled))
        if "Error" in plain:
            assert fast == plain, value
        else:
            assert gw.allclose(compiled(x, value), IN_RANGE[name](x, value), equal_nan=True), value


OF_WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "diff": lambda x, n: gw.diff(x, n),
    "cross_entropy": lambda x, n: F.cross_entropy(x, gw.tensor([1]), ignore_index=n),
    "channel_shuffle": lambda x, n: F.channel_shuffle(x[None, ..., None], n),
    "chunk": lambda x, n: gw.chunk(x, n),
    "softmax": lambda x, n: gw.softmax(x, n),
}


@pytest.mark.parametrize("name", OF_WHOLE)
def test_floats_are_no_ints(name: str) -> None:
    check(OF_WHOLE[name], FEW, (1, 1.5, 2.5, 0, 1))


def test_an_operator_in_place_on_a_number_gives_a_tensor() -> None:
    def f(x: gw.Tensor, number: Any) -> Any:
        number *= x
        number **= x
        return number

    compiled = gw.compile(f, backend="llvm", fullgraph=True)
    for number in (0.5, 1.5, 0.25):
        assert gw.allclose(compiled(FEW, number), f(FEW, number), equal_nan=True)


@pytest.mark.parametrize("name", ["power", "power of what is read", "isin"])
def test_results_are_contiguous_where_they_are_eagerly(name: str) -> None:
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "power": lambda x, s: s**x,
        "power of what is read": lambda x, s: gw.tensor(int(s)).item() ** x,
        "isin": lambda x, s: gw.isin(x, s),
    }
    check(functions[name], FEW.expand(2, 3).t(), (2.0, 1.0, 4.0))


IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "leaky_relu_": lambda x, s: F.leaky_relu_(x, s),
    "a function of leaky_relu": lambda x, s: F.leaky_relu(x, s, inplace=True),
    "pow_": lambda x, s: x.pow_(s),
    "pow_ of the class": lambda x, s: gw.Tensor.pow_(x, s),
    "addcmul_ of the class": lambda x, s: gw.Tensor.addcmul_(x, x, x, value=s),
    "add_ of the class": lambda x, s: gw.Tensor.add_(x, x, alpha=s),
    "clamp_": lambda x, s: x.clamp_(s),
    "lerp_": lambda x, s: x.lerp_(x + 1, s),
    "elu": lambda x, s: F.elu(x, s, inplace=True),
    "threshold": lambda x, s: F.threshold_(x, s, 2.0),
    "masked_fill_": lambda x, s: x.masked_fill_(x > 0, s),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_written_in_place_is_the_tensor_itself(name: str) -> None:
    compiled = gw.compile(IN_PLACE[name], backend="llvm")
    for value in (0.25, 0.5, 2.0, 0.125):
        x, y = FEW.clone(), FEW.clone()
        assert compiled(x, value) is x
        IN_PLACE[name](y, value)
        assert gw.allclose(x, y, equal_nan=True), value


@pytest.mark.parametrize("name", IN_PLACE)
def test_leaves_that_require_gradients_are_not_written(name: str) -> None:
    compiled = gw.compile(IN_PLACE[name], backend="llvm")
    for value in (0.25, 0.5, 0.125):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            compiled(FEW.clone().requires_grad_(), value)


OF_GRADIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "celu": lambda x, s: F.celu(x, s),
    "softplus": lambda x, s: F.softplus(x, s),
    "logit": lambda x, s: gw.logit(x, s),
    "pinv": lambda x, s: gw.linalg.pinv(gw.outer(x.nan_to_num(), x.nan_to_num()), s),
}


@pytest.mark.parametrize("name", OF_GRADIENTS)
def test_gradients_are_those_of_the_operation_as_a_whole(name: str) -> None:
    """Which are its own at nan, and where it is cut off."""
    compiled = gw.compile(OF_GRADIENTS[name], backend="llvm")
    for value in (0.25, 0.5, 0.0, 0.125):
        results = []
        for function in (OF_GRADIENTS[name], compiled):
            x = gw.tensor([float("nan"), 0.5, -2.0, 0.75], requires_grad=True)
            if name == "celu" and not value:
                continue
            (gradient,) = gw.autograd.grad(function(x, value).nan_to_num().sum(), x)
            results.append(gradient)
        if results:
            assert gw.allclose(results[0], results[1], equal_nan=True, atol=1e-5), value


def test_what_has_no_derivative_has_none_for_other_numbers() -> None:
    compiled = gw.compile(lambda x, s: gw.floor_divide(x, s), backend="llvm")
    for value in (2.0, 0.5, 3.0):
        with pytest.raises(RuntimeError, match="derivative for floor_divide"):
            compiled(FEW.clone().requires_grad_(), value).sum().backward()
