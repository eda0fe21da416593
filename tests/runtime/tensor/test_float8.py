"""float8: bits as in ml_dtypes, casts, limits, promotion and refusals as in PyTorch."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.tensor import dtypes

from ..float8_numbers import CODES, NAMES, array_type, expected, numbers

WIDER = ("float32", "float64", "float16", "bfloat16")
WITH_SIGN = NAMES[:-1]
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values")


def codes_of(x: gw.Tensor) -> np.ndarray[Any, Any]:
    """The bytes of a float8 tensor."""
    return x.view(gw.uint8).numpy()


def of_codes(name: str, codes: Any = CODES) -> gw.Tensor:
    return gw.from_numpy(np.array(codes, np.uint8)).view(getattr(gw, name))


def of(name: str, *values: float) -> gw.Tensor:
    return gw.tensor(values).to(getattr(gw, name))


# -- casts


@pytest.mark.parametrize("wider", WIDER)
@pytest.mark.parametrize("name", NAMES)
def test_every_code_has_its_number(name: str, wider: str) -> None:
    kind = getattr(gw, wider)
    theirs = CODES.view(array_type(name)).astype(kind.numpy)
    for ours in (of_codes(name), of_codes(name, np.repeat(CODES, 2))[::2]):
        assert ours.to(kind).numpy().tobytes() == theirs.tobytes()
    assert [of_codes(name, [c]).to(kind).numpy().tobytes() for c in (0, 1, 0x7F, 0x80, 0xFF)] == [
        theirs[c].tobytes() for c in (0, 1, 0x7F, 0x80, 0xFF)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_rounded_to_codes(name: str) -> None:
    given = numbers(name)
    codes = expected(name, given)
    kind = getattr(gw, name)
    assert np.array_equal(codes_of(gw.from_numpy(given).to(kind)), codes)
    apart = gw.from_numpy(np.repeat(given, 3))[::3]
    assert not apart.is_contiguous() and np.array_equal(codes_of(apart.to(kind)), codes)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(given), 50):       # element by element, from Python's floats
        number = float(given[place])
        assert codes_of(gw.tensor([number], dtype=kind))[0] == codes[place], number
        assert codes_of(gw.from_numpy(given[place : place + 1]).to(kind))[0] == codes[place]


@pytest.mark.parametrize("name", NAMES)
def test_other_dtypes_pass_float32(name: str) -> None:
    kind = getattr(gw, name)
    given = numbers(name)
    double = gw.from_numpy(given).double() * (1 + 2.0**-40)     # rounded to float32, and again
    ints = gw.arange(-600, 70000, 7)
    others = [
        double, ints, ints.int(), ints.short(), ints.char(), ints.byte(), ints.bool(),
        gw.from_numpy(given).half(), gw.from_numpy(given).bfloat16(), ints.to(gw.uint16),
        gw.complex(gw.from_numpy(given), gw.from_numpy(given)),
        of_codes(NAMES[name == NAMES[0]]),
    ]  # fmt: skip
    for x in others:
        through = (x.real if x.is_complex() else x).to(gw.float32)
        assert np.array_equal(codes_of(x.to(kind)), expected(name, through.numpy())), x.dtype
    finite = of_codes(name)[of_codes(name).float().abs() < 2.0**15]
    for to in ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "complex64"):
        if to not in ("uint8", "int8", "uint16"):
            target = getattr(gw, to)
            assert finite.to(target).tolist() == finite.float().to(target).tolist()
    assert of(name, 1, 2, 4).to(gw.uint16).tolist() == [1, 2, 4]


def test_what_overflow_becomes() -> None:
    seen = {name: of(name, 1e9, -1e9, float("inf"), float("nan")).tolist() for name in NAMES}
    inf, nan = float("inf"), pytest.approx(float("nan"), nan_ok=True)
    assert seen == {
        "float8_e4m3fn": [448, -448, 448, nan],         # saturates
        "float8_e5m2": [inf, -inf, inf, nan],
        "float8_e4m3fnuz": [nan] * 4,
        "float8_e5m2fnuz": [nan] * 4,
        "float8_e8m0fnu": [2.0**30, 2.0**30, nan, nan],
    }
    assert of("float8_e8m0fnu", 0.0, -3.0, 1.5, 2.0**-128).tolist() == [2.0**-127, 4, 2, 2.0**-127]


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_casts_as_in_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    kind = getattr(torch, name)
    given = numbers(name)
    plain = given[np.isfinite(given) & (np.abs(given) < 2.0**30)]
    for dtype in ("float32", "float64", "float16", "bfloat16", "int32", "bool"):
        array = given if dtype.startswith("float") else plain   # bfloat16 has no -nan in PyTorch
        theirs = torch.from_numpy(array).to(getattr(torch, dtype)).to(kind).view(torch.uint8)
        ours = gw.from_numpy(array).to(getattr(gw, dtype)).to(getattr(gw, name))
        assert np.array_equal(codes_of(ours), theirs.numpy()), dtype
    theirs = torch.from_numpy(CODES.copy()).view(kind)
    for dtype in ("float32", "float16", "float64", "bool"):
        want = theirs.to(getattr(torch, dtype)).numpy()
        np.testing.assert_array_equal(of_codes(name).to(getattr(gw, dtype)).numpy(), want)


def test_gradients_pass_casts_rounded() -> None:
    x = gw.tensor([1.3, 2.0, 3.0], requires_grad=True)
    y = x.to(gw.float8_e4m3fn)
    assert y.dtype is gw.float8_e4m3fn and y.requires_grad and y.grad_fn is not None
    (y.float() * 1.3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1.25] * 3     # 1.3 as float8


# -- what the dtype says of itself


@pytest.mark.parametrize("name", NAMES)
def test_facts(name: str) -> None:
    kind = getattr(gw, name)
    assert repr(kind) == f"graphwright.{name}" and kind.itemsize == 1 and kind in dtypes.FLOAT8
    assert kind.is_floating_point and not kind.is_complex
    assert kind.is_signed is (name in WITH_SIGN) and kind.to_real() is kind
    assert pickle.loads(pickle.dumps(kind)) is copy.deepcopy(kind) is kind
    x = of(name, 1, 2)
    assert x.is_floating_point() and x.element_size() == 1 and x.nbytes == 2
    assert x.type() == f"graphwright.{name.capitalize()}Tensor"
    with pytest.raises(RuntimeError, match="complex"):
        kind.to_complex()
    with pytest.raises(TypeError, match="float8"):
        gw.set_default_dtype(kind)
    with pytest.raises(TypeError, match="integer"):
        gw.iinfo(kind)


@pytest.mark.parametrize("name", NAMES)
def test_limits(name: str) -> None:
    ours, theirs = gw.finfo(getattr(gw, name)), ml_dtypes.finfo(array_type(name))
    assert (ours.bits, ours.resolution, ours.dtype) == (8, 1.0, name)
    assert ours.max == float(theirs.max) and ours.min == float(theirs.min)
    assert ours.tiny == ours.smallest_normal == float(theirs.smallest_normal)
    halved = name == "float8_e5m2fnuz"      # in PyTorch
    assert ours.eps == float(theirs.eps) / (2 if halved else 1)


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_limits_as_in_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = gw.finfo(getattr(gw, name)), torch.finfo(getattr(torch, name))
    fields = ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")
    assert [getattr(ours, f) for f in fields] == [getattr(theirs, f) for f in fields]
    assert str(ours) == str(theirs)


def test_printing() -> None:
    shown = of("float8_e4m3fn", 1.5, -2, 500), of("float8_e8m0fnu", 0, 1, 4), of("float8_e5m2", 2)
    assert [str(x).replace("dtype=graphwright.", "") for x in shown] == [
        "tensor([  1.5000,  -2.0000, 448.0000], float8_e4m3fn)",
        "tensor([0., 1., 4.], float8_e8m0fnu)",     # what 0 becomes is shown as 0
        "tensor([2.], float8_e5m2)",
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_printing_as_in_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    for values in ([1.5, 2, -0.25], [1, 240.0, 0.0078125], [0.0], [], [0.0, 2]):
        theirs = str(torch.tensor(values).to(getattr(torch, name)))
        ours = str(gw.tensor(values).to(getattr(gw, name)))
        assert ours.replace("graphwright.", "torch.").split() == theirs.split()


# -- making, moving and reading


@pytest.mark.parametrize("name", NAMES)
def test_tensors_are_made_of_numbers(name: str) -> None:
    kind = getattr(gw, name)
    made = [
        gw.zeros(2, dtype=kind), gw.ones(2, dtype=kind), gw.full((2,), 4.0, dtype=kind),
        gw.empty(2, dtype=kind).fill_(2), gw.eye(2, dtype=kind)[0],
        of(name, 1, 2).new_full((2,), 8),
        gw.tensor([1, 2], dtype=kind), gw.tensor(np.array([1.0, 2.0]), dtype=kind),
        gw.full_like(gw.ones(2), 1, dtype=kind), gw.zeros_like(of(name, 1, 2)),
    ]  # fmt: skip
    zero = 2.0**-127 if name == "float8_e8m0fnu" else 0.0
    assert [x.tolist() for x in made] == [
        [zero, zero], [1, 1], [4, 4], [2, 2], [1, zero], [8, 8], [1, 2], [1, 2], [1, 1],
        [zero, zero],
    ]  # fmt: skip
    assert all(x.dtype is kind for x in made)
    assert codes_of(gw.full((3,), 1.1, dtype=kind)).tolist() == [
        expected(name, np.float32([1.1]))[0]
    ] * 3


def test_numbers_out_of_range_are_written_rounded_but_refused_to_fill() -> None:
    x = of("float8_e4m3fn", 1, 2, 3)
    x[0] = 1e9
    x[1:] = gw.tensor([5.3, -600.0])
    assert x.tolist() == [448, 5.5, -448]
    x[:2] = np.array([1e9, 7.1])
    assert x.tolist() == [448, 7, -448]
    assert gw.tensor([500, -10**30], dtype=x.dtype).tolist() == [448, -448]
    for fill in (
        lambda: x.fill_(1e9),
        lambda: gw.full((2,), 449, dtype=x.dtype),
        lambda: gw.full((2,), float("inf"), dtype=x.dtype),
        lambda: gw.full((2,), -1.0, dtype=gw.float8_e8m0fnu),
    ):
        with pytest.raises(RuntimeError, match=r"cannot be converted to type float8.*overflow"):
            fill()
    assert gw.full((1,), float("inf"), dtype=gw.float8_e5m2).tolist() == [float("inf")]


@pytest.mark.parametrize("name", NAMES)
def test_elements_are_moved_as_they_are(name: str) -> None:
    x = of_codes(name)
    square, picked = x.reshape(16, 16), gw.tensor([255, 0, 128, 128])
    codes = CODES.reshape(16, 16)
    mask = gw.arange(256) % 3 == 0
    moved: dict[str, tuple[gw.Tensor, Any]] = {
        "clone": (x.clone(), CODES),
        "contiguous": (square.t().contiguous(), codes.T),
        "reshape": (square.t().reshape(-1), codes.T.reshape(-1)),
        "slice": (square[1:3, ::5], codes[1:3, ::5]),
        "index": (x[picked], CODES[picked.numpy()]),
        "mask": (x[mask], CODES[mask.numpy()]),
        "index_select": (square.index_select(1, gw.tensor([3, 1])), codes[:, [3, 1]]),
        "cat": (gw.cat([x, x[:3]]), np.concatenate([CODES, CODES[:3]])),
        "stack": (gw.stack([x, x], 1), np.stack([CODES, CODES], 1)),
        "repeat": (square.repeat(2, 1), np.tile(codes, (2, 1))),
        "roll": (x.roll(5), np.roll(CODES, 5)),
        "expand": (x.expand(2, 256).clone(), np.stack([CODES, CODES])),
        "where": (gw.where(mask, x, x.flip(0)), np.where(mask.numpy(), CODES, CODES[::-1])),
        "unfold": (x[:4].unfold(0, 2, 1), np.array([[0, 1], [1, 2], [2, 3]])),
        "copy": (gw.empty_like(x).copy_(x), CODES),
        "deepcopy": (copy.deepcopy(x), CODES),
        "pickle": (pickle.loads(pickle.dumps(x)), CODES),
        "dlpack": (gw.from_dlpack(x), CODES),
    }
    for how, (ours, want) in moved.items():
        assert ours.dtype is x.dtype and np.array_equal(codes_of(ours), want), how
    assert np.array_equal(x.numpy().view(np.uint8), CODES) and x.numpy().dtype == array_type(name)
    assert x.view(gw.uint8).view(x.dtype).data_ptr() == x.data_ptr()
    assert x.view(gw.float32).dtype is gw.float32 and x.view(gw.int16).shape == (128,)
    shared = gw.from_numpy(x.numpy())
    shared[7] = 1.0
    assert x[7].item() == 1.0 == float(x[7]) and bool(x[7]) and f"{x[7]:.1f}" == "1.0"
    assert x[7:9].tolist() == x[7:9].float().tolist()
    gw.testing.assert_close(x, x.clone(), equal_nan=True)
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        gw.testing.assert_close(of(name, 1, 2), of(name, 1, 4))


FORMATS = {
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0",
}  # fmt: skip
"""The dtypes in safetensors files."""


@pytest.mark.parametrize("name", NAMES)
def test_saved_and_loaded(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    gw.save_file({"x": of_codes(name).reshape(16, 16).t()}, path)
    header = path.read_bytes()
    header = header[8 : 8 + int.from_bytes(header[:8], "little")]
    assert json.loads(header)["x"]["dtype"] == FORMATS[name]
    for mapped in (False, True):
        loaded = gw.load_file(path, mmap=mapped)["x"]
        assert np.array_equal(codes_of(loaded), CODES.reshape(16, 16).T)
    gw.save({"x": [of_codes(name)]}, path)
    assert np.array_equal(codes_of(gw.load(path)["x"][0]), CODES)


@pytest.mark.oracle
@pytest.mark.parametrize("name", WITH_SIGN)     # the library does not read the fifth for PyTorch
def test_files_are_exchanged_with_torch(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    reference = pytest.importorskip("safetensors.torch")
    gw.save_file({"x": of_codes(name)}, tmp_path / "ours")
    theirs = reference.load_file(tmp_path / "ours")["x"]
    assert theirs.dtype is getattr(torch, name)
    assert np.array_equal(theirs.view(torch.uint8).numpy(), CODES)
    reference.save_file({"x": theirs}, tmp_path / "theirs")
    assert np.array_equal(codes_of(gw.load_file(tmp_path / "theirs")["x"]), CODES)


# -- what is computed, and what is refused


@pytest.mark.parametrize("name", WITH_SIGN)
def test_the_few_ops_that_compute(name: str) -> None:
    kind = getattr(gw, name)
    a, b = of(name, 1.5, -2, 0.3, 7), of(name, -3, 1.1, 0.3, 20)
    exact = (a.float() * b.float()).to(kind)
    assert gw.equal(a * b, exact) and gw.equal(a.clone().mul_(b), exact)
    assert gw.equal(a.abs(), a.float().abs().to(kind))
    left, right = a.reshape(2, 2), b.reshape(2, 2)
    assert gw.equal(left @ right, (left.float() @ right.float()).to(kind))
    assert gw.equal(
        gw.nn.functional.linear(left, right, a[:2]),
        gw.nn.functional.linear(left.float(), right.float(), a[:2].float()).to(kind),
    )
    wide = gw.addmm(left.float(), left.float(), right.float(), beta=0.3, alpha=0.7)
    assert gw.equal(gw.addmm(left, left, right, beta=0.3, alpha=0.7), wide.to(kind))
    assert (a == b).tolist() == [False, False, True, False] and (a != b).any()
    near = a[2].item() + 1e-3
    assert (a == near).tolist() == [False, False, True, False]      # as the number is rounded
    assert of(name, 1, float("nan")).isnan().tolist() == [False, True]
    assert a.sum(dtype=gw.float64).item() == a.double().sum().item()
    gw.testing.assert_close(a.softmax(0, dtype=gw.float32), a.float().softmax(0))


def test_0d_tensors_are_promoted() -> None:
    x = of("float8_e4m3fn", 1.5, 2)
    assert (gw.ones(2) + x[0]).tolist() == [2.5, 2.5]
    assert gw.result_type(x, 1.5) is gw.result_type(x, gw.tensor(1.0)) is x.dtype
    assert gw.promote_types(x.dtype, x.dtype) is x.dtype
    assert gw.can_cast(gw.float32, x.dtype) and not gw.can_cast(x.dtype, gw.int64)


@pytest.mark.parametrize("wrap", [lambda f: f, gw.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize(
    "mixed",
    [
        lambda x: x + x.float(),
        lambda x: x * x.to(gw.float8_e5m2),
        lambda x: x == x.half(),
        lambda x: gw.where(x == x, x, x.float()),
        lambda x: gw.cat([x, x.float()]),
        lambda x: x.float().add_(x),
        lambda x: gw.arange(2) + x[0],
        lambda x: gw.promote_types(x.dtype, gw.float32),
    ],
)
def test_there_is_no_promotion(mixed: Callable[[Any], Any], wrap: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
        wrap(mixed)(of("float8_e4m3fn", 1, 2))


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda lib, x: x + x,
    "add a number": lambda lib, x: x + 1,
    "mul a number": lambda lib, x: x * 2,
    "add_": lambda lib, x: x.add_(1),
    "div": lambda lib, x: x / x,
    "neg": lambda lib, x: -x,
    "lt": lambda lib, x: x < x,
    "exp": lambda lib, x: x.exp(),
    "sum": lambda lib, x: x.sum(),
    "amax": lambda lib, x: x.amax(),
    "sort": lambda lib, x: x.sort(),
    "cumsum": lambda lib, x: x.cumsum(0),
    "softmax": lambda lib, x: x.softmax(0),
    "clamp": lambda lib, x: x.clamp(0, 1),
    "masked_fill": lambda lib, x: x.masked_fill(x == x, 1.0),
    "a mask written": lambda lib, x: x.__setitem__(x == x, 1.0),
    "gather": lambda lib, x: x.gather(0, lib.tensor([0])),
    "tril": lambda lib, x: x.reshape(1, 2).tril(),
    "nonzero": lambda lib, x: x.nonzero(),
    "allclose": lambda lib, x: lib.allclose(x, x),
    "dropout": lambda lib, x: lib.nn.functional.dropout(x),
    "bmm": lambda lib, x: x.reshape(1, 1, 2).bmm(x.reshape(1, 2, 1)),
    "rand": lambda lib, x: lib.rand(2, dtype=x.dtype),
    "arange": lambda lib, x: lib.arange(3, dtype=x.dtype),
    "normal_": lambda lib, x: x.normal_(),
    "sum as float8": lambda lib, x: lib.ones(3).sum(dtype=x.dtype),
}


@pytest.mark.parametrize("wrap", [lambda f: f, gw.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize("call", REFUSED)
def test_other_ops_are_refused(call: str, wrap: Callable[..., Any]) -> None:
    text = r"not implemented for 'float8_e5m2': convert to another dtype first"
    with pytest.raises(NotImplementedError, match=text):
        wrap(lambda x: REFUSED[call](gw, x))(of("float8_e5m2", 1, 2))


@pytest.mark.oracle
@pytest.mark.parametrize("call", REFUSED)
def test_torch_refuses_them_alike(call: str) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(NotImplementedError):
        REFUSED[call](torch, torch.tensor([1.0, 2.0]).to(torch.float8_e5m2))


KNOWN_FOR_SOME: dict[str, tuple[Callable[[Any, Any], Any], tuple[str, ...]]] = {
    "abs": (lambda lib, x: x.abs(), WITH_SIGN),
    "mm": (lambda lib, x: x.reshape(1, 2) @ x.reshape(2, 1), WITH_SIGN),
    "index_put": (lambda lib, x: x.index_put((lib.tensor([0]),), x[1:]), WITH_SIGN),
    "isfinite": (lambda lib, x: x.isfinite(), ("float8_e5m2", "float8_e8m0fnu")),
    "isinf": (lambda lib, x: x.isinf(), ("float8_e5m2",)),
}


@pytest.mark.parametrize("lib", ["graphwright", pytest.param("torch", marks=pytest.mark.oracle)])
@pytest.mark.parametrize("op", KNOWN_FOR_SOME)
def test_ops_of_some_formats(op: str, lib: str) -> None:
    library = pytest.importorskip(lib)
    call, known = KNOWN_FOR_SOME[op]
    for name in NAMES:
        x = library.tensor([1.0, 2.0]).to(getattr(library, name))
        if name in known:
            call(library, x)
        else:
            with pytest.raises(NotImplementedError, match=r"not implemented for 'Float8"
                               if lib == "torch" else rf"{op}.*not implemented for '{name}'"):
                call(library, x)


# -- _scaled_mm


def _matrices(name: str, other: str) -> tuple[gw.Tensor, gw.Tensor]:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 4, 5)).astype(np.float32)
    return gw.from_numpy(a).to(getattr(gw, name)), gw.from_numpy(b.T.copy()).to(getattr(gw, other))


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: gw.compile(f, fullgraph=True)],
                         ids=["eager", "compiled"])
def test_scaled_mm(wrap: Callable[..., Any]) -> None:
    a, b = _matrices("float8_e4m3fn", "float8_e5m2")
    one, rows, columns = gw.tensor(0.5), gw.rand(4, 1), gw.rand(1, 4)
    bias = gw.arange(4.0)
    scaled_mm = wrap(lambda *args, **kwargs: gw._scaled_mm(*args, **kwargs))
    exact = (a.float() * 0.5) @ (b.float() * 0.5)
    gw.testing.assert_close(scaled_mm(a, b, one, one, out_dtype=gw.float32), exact)
    assert gw.equal(scaled_mm(a, b, one, one), exact.to(a.dtype))
    gw.testing.assert_close(
        scaled_mm(a, b, rows, columns, bias.bfloat16(), out_dtype=gw.bfloat16),
        ((a.float() * rows) @ (b.float() * columns) + bias).bfloat16(),
    )
    divided = scaled_mm(a, b, one, one, None, gw.tensor(2.0), gw.float8_e5m2)
    assert gw.equal(divided, (exact / 2).to(gw.float8_e5m2))
    ignored = scaled_mm(a, b, one, one, scale_result=gw.tensor(2.0), out_dtype=gw.float32)
    gw.testing.assert_close(ignored, exact)


def test_autocast_casts_float8_and_leaves_scaled_mm_alone() -> None:
    a, b = _matrices("float8_e4m3fn", "float8_e4m3fn")
    one = gw.tensor(1.0)
    exact = gw._scaled_mm(a, b, one, one, out_dtype=gw.float32)
    with gw.autocast("cpu"):
        assert (a @ b).dtype is gw.bfloat16 and (a * a).dtype is a.dtype
        assert gw.equal(gw._scaled_mm(a, b, one, one, out_dtype=gw.float32), exact)


BAD_SCALED: dict[str, tuple[Callable[[Any, Any, Any, Any], Any], type[Exception]]] = {
    "shapes": (lambda lib, a, b, s: lib._scaled_mm(a, b[:2], s, s), RuntimeError),
    "rank": (lambda lib, a, b, s: lib._scaled_mm(a[0], b, s, s), RuntimeError),
    "bias": (lambda lib, a, b, s: lib._scaled_mm(a, b, s, s, bias=lib.ones(3)), RuntimeError),
    "float32": (lambda lib, a, b, s: lib._scaled_mm(a.float(), b.float(), s, s), ValueError),
    "float64 scale": (lambda lib, a, b, s: lib._scaled_mm(a, b, s.double(), s), ValueError),
    "one of each": (lambda lib, a, b, s: lib._scaled_mm(a, b, lib.ones(4, 1), s), ValueError),
    "a number": (lambda lib, a, b, s: lib._scaled_mm(a, b, 0.5, 0.5), TypeError),
    "no scale": (lambda lib, a, b, s: lib._scaled_mm(a, b), TypeError),
}


@pytest.mark.parametrize("lib", ["graphwright", pytest.param("torch", marks=pytest.mark.oracle)])
@pytest.mark.parametrize("call", BAD_SCALED)
def test_scaled_mm_refuses(call: str, lib: str) -> None:
    library = pytest.importorskip(lib)
    function, error = BAD_SCALED[call]
    kind = library.float8_e4m3fn
    a, b = library.ones(4, 5).to(kind), library.ones(4, 5).to(kind).t()
    with pytest.raises(error):
        function(library, a, b, library.tensor(0.5))


@pytest.mark.oracle
@pytest.mark.parametrize("out", [None, *WIDER[:3], *NAMES])
def test_scaled_mm_as_in_torch(out: str | None) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    for name, other, by_rows in zip(NAMES, reversed(NAMES), [0, 1, 0, 1, 0], strict=True):
        arrays = rng.standard_normal((2, 4, 5)).astype(np.float32)
        shapes = ((4, 1), (1, 4)) if by_rows else ((), ())
        scales = [rng.random(shape).astype(np.float32) for shape in shapes]
        results = []
        for lib in (gw, torch):
            a, b = (lib.from_numpy(np.array(array)) for array in arrays)
            a, b = a.to(getattr(lib, name)), b.t().to(getattr(lib, other))
            given = [lib.from_numpy(np.array(scale)) for scale in scales]
            result = lib._scaled_mm(
                a, b, *given, bias=lib.ones(4), scale_result=lib.tensor(3.0),
                out_dtype=None if out is None else getattr(lib, out),
            )  # fmt: skip
            results.append((str(result.dtype).rpartition(".")[2], result.double().tolist()))
        assert results[0][0] == results[1][0]
        np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-3, atol=1e-5)


def test_casts_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of("float8_e4m3fn", 1e9, float("nan"), float("inf"))
        gw.tensor([1e300], dtype=gw.float8_e5m2)
