"""Result dtypes: PyTorch's categories, over all pairs of dtypes, ranks and Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import result_dtype

ALL = [*dtypes.BY_NAME.values()]
BINARY = ("add", "mul", "div", "maximum", "pow", "eq", "lt", "atan2", "remainder", "where")


def _call(lib: Any, name: str, a: Any, b: Any) -> Any:
    if name == "where":
        return lib.where(lib.tensor([True, False]), a, b)
    return getattr(lib, name)(a, b)


def _outcome(lib: Any, name: str, a: Any, b: Any) -> str:
    """The dtype's name, or that it was refused."""
    try:
        return str(_call(lib, name, a, b).dtype).rpartition(".")[2]
    except (RuntimeError, NotImplementedError, TypeError):
        return "refused"


def _operand(lib: Any, dtype: Any, ndim: int) -> Any:
    return lib.ones((2,) * ndim, dtype=getattr(lib, dtype.name))


@pytest.mark.oracle
@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_tensors_as_in_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    for a, b, (left, right) in product(ALL, ALL, [(1, 1), (1, 0), (0, 1), (0, 0)]):
        ours = _outcome(gw, name, _operand(gw, a, left), _operand(gw, b, right))
        theirs = _outcome(torch, name, _operand(torch, a, left), _operand(torch, b, right))
        told = (name, a, left, b, right, ours, theirs)
        assert ours == theirs or theirs in ("refused", "complex32"), told


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["add", "mul", "div", "pow", "eq", "where"])
@pytest.mark.parametrize("number", [True, 3, 2.5])
def test_python_numbers_as_in_torch(name: str, number: Any) -> None:
    torch = pytest.importorskip("torch")
    for dtype, ndim in product(ALL, (0, 1)):
        ours = _outcome(gw, name, _operand(gw, dtype, ndim), number)
        theirs = _outcome(torch, name, _operand(torch, dtype, ndim), number)
        known = name != "pow" or dtype not in dtypes.FLOAT8     # where PyTorch takes 0 and 1 alone
        assert ours == theirs or theirs == "refused" or not known, (name, dtype, ndim, ours)


@pytest.mark.oracle
def test_unary_and_reductions_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    for dtype in ALL:
        for name in ("exp", "sigmoid", "abs", "sum", "prod", "amax", "argmax", "any", "cumsum"):
            args = (0,) if name == "cumsum" else ()
            try:
                theirs = getattr(_operand(torch, dtype, 1), name)(*args).dtype
            except (RuntimeError, NotImplementedError):
                continue
            ours = getattr(_operand(gw, dtype, 1), name)(*args).dtype
            assert ours.name == str(theirs).removeprefix("torch."), (name, dtype)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_round_once(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=1000).astype(np.float32) for _ in range(2))
    for name in ("add", "mul", "div"):
        ours = getattr(gw, name)(
            gw.tensor(a).to(getattr(gw, dtype)), gw.tensor(b).to(getattr(gw, dtype))
        )
        theirs = getattr(torch, name)(
            torch.tensor(a).to(getattr(torch, dtype)), torch.tensor(b).to(getattr(torch, dtype))
        )
        np.testing.assert_array_equal(ours.float().numpy(), theirs.float().numpy())
    total = gw.tensor(a).to(getattr(gw, dtype)).sum()
    expected = torch.tensor(a).to(getattr(torch, dtype)).sum()
    assert abs(total.item() - expected.item()) <= abs(expected.item()) * 1e-2


def test_default_dtype_decides_for_python_floats() -> None:
    ints = gw.arange(3)
    try:
        gw.set_default_dtype(gw.float64)
        assert (ints + 1.5).dtype is gw.float64
        assert (ints / 2).dtype is gw.float64
        assert gw.tensor([1.5]).dtype is gw.float64
        assert gw.zeros(2).dtype is gw.float64
    finally:
        gw.set_default_dtype(gw.float32)
    assert result_dtype((ints, 2.0)) is gw.float32


def test_integers_wrap_around() -> None:
    top = gw.tensor([250], dtype=gw.uint8)
    assert (top + 10).tolist() == [4]
    assert (top + top).dtype is gw.uint8
    assert gw.tensor([-7]).div(2, rounding_mode="trunc").tolist() == [-3]
    assert (gw.tensor([-7]) // 2).tolist() == [-4]
    assert (gw.tensor([-7]) % 3).tolist() == [2]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        _ = gw.tensor([1]) // 0


def test_in_place_keeps_the_dtype() -> None:
    x = gw.arange(3)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x += 1.5
    x += True
    assert x.dtype is gw.int64 and x.tolist() == [1, 2, 3]
    y = gw.ones(3)
    y += gw.ones(3, dtype=gw.float64)
    assert y.dtype is gw.float32


PAIRS: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "ints": (gw.add, 1, 2),
    "an int and a float": (gw.mul, 3, 0.5),
    "a factor": (lambda a, b: gw.sub(a, b, alpha=3), 7, 2),
    "bools": (gw.add, True, True),
    "a complex number": (gw.mul, 2, 1j),
    "a quotient": (gw.true_divide, 1, 2),
    "a floor": (gw.floor_divide, -7, 2),
    "a rounded quotient": (lambda a, b: gw.div(a, b, rounding_mode="trunc"), -7.0, 2),
}


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_numbers_the_first_is_a_tensor(name: str) -> None:
    function, a, b = PAIRS[name]
    expected = function(gw.tensor(a), b)
    compiled = gw.compile(lambda x, a, b: (x, function(a, b)), fullgraph=True)
    for found in (function(a, b), compiled(gw.ones(2), a, b)[1]):
        assert found.dtype is expected.dtype and found.item() == expected.item()


def test_bool_arithmetic() -> None:
    t = gw.tensor([True, False])
    assert (t + t).dtype is gw.bool
    assert t.sum().dtype is gw.int64
    with pytest.raises(RuntimeError, match="bool"):
        _ = t - t
    with pytest.raises(RuntimeError, match="bool"):
        _ = -t
    assert (~t).tolist() == [False, True]


@pytest.mark.oracle
def test_every_pair_of_dtypes_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    for a, b in product(ALL, ALL):
        left, right = getattr(torch, a.name), getattr(torch, b.name)
        assert gw.can_cast(a, b) == torch.can_cast(left, right)
        try:
            expected = str(torch.promote_types(left, right)).removeprefix("torch.")
        except RuntimeError:
            with pytest.raises(RuntimeError, match="is not supported"):
                gw.promote_types(a, b)
            continue
        assert gw.promote_types(a, b).name == expected


@pytest.mark.oracle
@pytest.mark.parametrize("number", [True, 1, 1.5, 2j])
def test_result_type_with_numbers_as_in_torch(number: Any) -> None:
    torch = pytest.importorskip("torch")
    for dtype, ndim in product(ALL, (0, 1)):
        if dtype in dtypes.FLOAT8 and isinstance(number, complex):
            for lib in (torch, gw):
                with pytest.raises(RuntimeError, match=r"(?i)complex"):
                    lib.result_type(_operand(lib, dtype, ndim), number)
            continue
        expected = torch.result_type(_operand(torch, dtype, ndim), number)
        if expected is torch.complex32:
            continue
        ours = gw.result_type(_operand(gw, dtype, ndim), number)
        assert ours.name == str(expected).removeprefix("torch.")


# -- half types: which operands are rounded before the arithmetic, which is in float32

HALVES = ("float16", "bfloat16")
ROUNDED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, x, s: x + s,
    "add_": lambda m, x, s: x.clone().add_(s),
    "sub": lambda m, x, s: x - s,
    "rsub": lambda m, x, s: s - x,
    "pow": lambda m, x, s: m.pow(x, s),
    "pow of a number": lambda m, x, s: m.pow(s, x),
    "fmod": lambda m, x, s: m.fmod(x, s),
    "remainder": lambda m, x, s: m.remainder(x, s),
    "floor_divide by x": lambda m, x, s: m.floor_divide(s, x),
    "eq": lambda m, x, s: x == s,
    "lt": lambda m, x, s: x < s,
    "ge": lambda m, x, s: x >= s,
    "where": lambda m, x, s: m.where(x > 0, x, s),
    "clamp": lambda m, x, s: m.clamp(x, s, None),
}
EXACT: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mul": lambda m, x, s: x * s,
    "mul_": lambda m, x, s: x.clone().mul_(s),
    "rmul": lambda m, x, s: s * x if isinstance(s, float) else x * s,
    "div": lambda m, x, s: x / s,
    "floor_divide": lambda m, x, s: x // s,
    "div and trunc": lambda m, x, s: m.div(x, s, rounding_mode="trunc"),
}
OF_TENSORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "atan2": lambda m, x, s: m.atan2(x, s),
    "hypot": lambda m, x, s: m.hypot(x, s),
    "logaddexp": lambda m, x, s: m.logaddexp(x, s),
    "fmax": lambda m, x, s: m.fmax(x, s),
    "maximum": lambda m, x, s: m.maximum(x, s),
    "copysign": lambda m, x, s: m.copysign(x, s),
    "addcmul": lambda m, x, s: m.addcmul(x, x.flip(0), s),
    "addcdiv": lambda m, x, s: m.addcdiv(x, x.flip(0), s),
    "lerp": lambda m, x, s: m.lerp(x, x.flip(0), s),
    "division of a tensor without dims": lambda m, x, s: m.div(s, x),
}
OPERANDS: dict[str, Callable[[Any], Any]] = {
    "number": lambda m: 0.3,
    "without dims": lambda m: m.tensor(0.3),
    "of float64": lambda m: m.tensor(0.3, dtype=m.float64),
}


def _halves(m: Any, dtype: str) -> Any:
    values = (np.random.default_rng(0).standard_normal(501) * 3).astype(np.float32)
    return m.tensor([*values.tolist(), 0.3]).to(getattr(m, dtype))


def _differing(ours: Any, theirs: Any) -> int:
    left, right = ours.double().numpy(), theirs.double().numpy()
    return int((~((left == right) | (np.isnan(left) & np.isnan(right)))).sum())


def _all_of(functions: Any, way: str) -> Callable[[Any, Any], list[Any]]:
    """What each function gives for two operands, computed eagerly or by one compiled function."""

    def run(x: Any, s: Any) -> list[Any]:
        return [f(gw, x, s) for f in functions]

    return run if way == "eager" else gw.compile(run, backend=way, fullgraph=True)


@pytest.mark.parametrize("way", ["eager", "llvm", "c"])
@pytest.mark.parametrize("dtype", HALVES)
def test_operands_are_rounded_to_half_types_first(dtype: str, way: str) -> None:
    x = _halves(gw, dtype)
    for kind, operand in OPERANDS.items():
        functions = ROUNDED if kind == "number" else ROUNDED | OF_TENSORS
        results = _all_of([*functions.values()], way)(x, operand(gw))
        for name, ours in zip(functions, results, strict=True):
            repeated = functions[name](gw, x, gw.full_like(x, 0.3))
            assert _differing(ours, repeated) <= (way != "eager"), (name, kind)


@pytest.mark.parametrize("way", ["eager", "llvm", "c"])
@pytest.mark.parametrize("dtype", HALVES)
def test_factors_and_divisors_are_not_rounded_to_half_types(dtype: str, way: str) -> None:
    x = _halves(gw, dtype)
    for kind, operand in OPERANDS.items():
        results = _all_of([*EXACT.values()], way)(x, operand(gw))
        for (name, f), ours in zip(EXACT.items(), results, strict=True):
            wide = f(gw, x.float(), gw.full(x.shape, 0.3)).to(x.dtype)
            assert _differing(ours, wide) == 0, (name, kind)


@pytest.mark.parametrize("way", ["eager", "llvm"])
def test_integers_are_rounded_to_half_types(way: str) -> None:
    def f(x: Any, count: Any) -> Any:
        return x + count, x * count

    run = f if way == "eager" else gw.compile(f, fullgraph=True)
    x, count = gw.ones(2, dtype=gw.bfloat16), gw.tensor([257, 259])
    assert [t.tolist() for t in run(x, count)] == [[256, 260], [256, 260]]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", HALVES)
def test_operands_of_half_types_as_in_torch(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    for name, f in (ROUNDED | EXACT | OF_TENSORS).items():
        for kind, operand in OPERANDS.items():
            if name in OF_TENSORS and kind == "number":
                continue
            ours = f(gw, _halves(gw, dtype), operand(gw))
            theirs = f(torch, _halves(torch, dtype), operand(torch))
            assert _differing(ours, theirs) == 0, (name, kind)
