"""Complex tensors and the wide unsigned integers: values, gradients, compiled code."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

_RNG = np.random.default_rng(0)


def _complex(*shape: int) -> np.ndarray[Any, Any]:
    return np.asarray(_RNG.uniform(0.3, 1.5, shape) + 1j * _RNG.uniform(0.2, 1.2, shape))


VALUES = {
    "z": _complex(2, 3), "w": _complex(2, 3), "m": _complex(3, 2),
    "r": _RNG.uniform(0.5, 1.5, (2, 3)),
}

NAMES = """
    abs acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log10 log1p log2 neg
    reciprocal rsqrt sgn sigmoid sin sinh sqrt square tan tanh angle conj clone cumprod_0
    cumsum_0 mean norm prod std sum var
"""

EXPRESSIONS = [
    *(f"z.{n[:-2]}(0)" if n.endswith("_0") else f"z.{n}()" for n in NAMES.split()),
    "z + w", "z - w", "z * w", "z / w", "z ** w", "z ** 2", "z ** 0.5", "2 ** z", "z @ m",
    "C.mm(z, m)", "z.real", "z.imag", "r * z", "z * r", "z + r", "C.complex(r, r * 2)",
    "C.polar(r, r)", "C.view_as_real(z)", "C.view_as_complex(C.stack([r, r * 2], -1))",
    "C.view_as_real_copy(z)",
    "C.where(r > 1, z, w)", "C.cat([z, w])", "z[:, 1]", "z.prod(0)",
    "C.addcmul(z, z, w, value=1 + 2j)", "C.addcdiv(z, z, w, value=1 + 2j)", "C.lerp(z, w, 0.3)",
    "C.add(z, w, alpha=2j)", "C.sub(z, w, alpha=2j)", "C.dot(z[0], w[0])", "C.vdot(z[0], w[0])",
    "C.outer(z[0], w[0])", "C.einsum('ij,kj->ik', z, w)", "z.to(C.complex64)",
    "z.to(C.float64)", "r.to(C.complex128)", "C.linalg.vector_norm(z, 1)", "z * 2j", "1j / z",
    "r * 1j", "r + 1j", "r ** z", "r / z", "C.bmm(z[None], m[None])", "z.expand(2, 2, 3)",
    "(z * z.conj()).real", "(z.abs() ** 2).sum()", "z.masked_fill(r > 1, 1j)",
    "C.addmm(z @ m, z, m, alpha=2j, beta=1j)",
]


def _array(tensor: Any) -> np.ndarray[Any, Any]:
    plain = tensor.detach()
    if hasattr(plain, "resolve_conj"):
        plain = plain.resolve_conj()
    return np.asarray(plain.numpy())


def _run(lib: Any, text: str, compiled: bool) -> tuple[Any, list[Any]]:
    leaves = {name: lib.tensor(value) for name, value in VALUES.items()}
    for leaf in leaves.values():
        leaf.requires_grad_()
    function = eval(f"lambda z, w, m, r: {text}", {"C": lib})
    out = (gw.compile(function) if compiled else function)(*leaves.values())
    value = _array(out)
    weight = np.linspace(0.5, 1.5, value.size).reshape(value.shape)
    if np.iscomplexobj(value):
        weight = weight + 1j * weight[::-1] if weight.ndim else weight + 0.5j
    grads = lib.autograd.grad(
        out, list(leaves.values()), lib.tensor(weight.astype(value.dtype)), allow_unused=True,
        create_graph=not compiled,
    )
    found = [None if g is None else _array(g) for g in grads]
    if compiled:
        return value, found
    total = sum((g.abs() ** 2).sum() for g in grads if g is not None and g.requires_grad)
    if isinstance(total, int) or not total.requires_grad:
        return value, found
    second = lib.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return value, [*found, *(None if g is None else _array(g) for g in second)]


def _agree(got: Any, want: Any) -> None:
    if got is None or want is None:
        other = got if want is None else want
        assert other is None or not np.any(other)
        return
    assert got.dtype == want.dtype and got.shape == want.shape
    tolerance = 1e-5 if got.dtype == np.complex64 else 1e-9
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.oracle
@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_values_and_gradients_as_in_torch(text: str, compiled: bool) -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, grads = _run(gw, text, compiled)
        expected, wanted = _run(torch, text, False)
    _agree(value, expected)
    for got, want in zip(grads, wanted, strict=compiled is False):
        _agree(got, want)


@pytest.mark.parametrize("name", ["exp", "sin", "sqrt", "tanh", "square", "reciprocal", "log"])
def test_gradient_by_differences(name: str) -> None:
    """dL/dx + i dL/dy of L = Re f(z) + 2 Im f(z)."""
    z = gw.tensor(VALUES["z"]).requires_grad_()
    out = getattr(gw, name)(z)
    (grad,) = gw.autograd.grad((out.real + 2 * out.imag).sum(), [z])

    def loss(shift: complex) -> np.ndarray[Any, Any]:
        moved = getattr(gw, name)(gw.tensor(VALUES["z"] + shift)).numpy()
        return np.asarray(moved.real + 2 * moved.imag)

    step = 1e-6
    real = (loss(step) - loss(-step)) / (2 * step)
    imag = (loss(1j * step) - loss(-1j * step)) / (2 * step)
    np.testing.assert_allclose(grad.numpy(), real + 1j * imag, rtol=1e-6)


def test_creation_and_numbers() -> None:
    c = gw.tensor([1 + 2j, 3.0])
    assert c.dtype is gw.complex64 and c.is_complex() and gw.is_complex(c)
    assert c[0].item() == 1 + 2j and c.tolist() == [1 + 2j, 3 + 0j]
    assert complex(gw.tensor(2.0)) == 2 and float(c[1]) == 3.0 and bool(c[0])
    assert gw.tensor([1, 2j, True]).tolist() == [1, 2j, 1]
    assert gw.full((2,), 1j).dtype is gw.complex64
    with pytest.raises(RuntimeError, match="without overflow"):
        float(c[0])
    gw.set_default_dtype(gw.float64)
    try:
        assert gw.tensor(1j).dtype is gw.complex128
    finally:
        gw.set_default_dtype(gw.float32)


def test_printing() -> None:
    assert repr(gw.tensor([1 + 2j, 3.0])) == "tensor([1.+2.j, 3.+0.j])"
    assert repr(gw.tensor([1.5 - 2j])) == "tensor([1.5000-2.j])"
    wide = gw.tensor([1j], dtype=gw.complex128)
    assert repr(wide) == "tensor([0.+1.j], dtype=graphwright.complex128)"


def test_parts_are_views() -> None:
    c = gw.zeros(2, dtype=gw.complex64)
    c.real = gw.tensor([1.0, 2.0])
    c.imag[1] = 5.0
    assert c.tolist() == [1 + 0j, 2 + 5j]
    gw.view_as_real(c)[0, 1] = 7.0
    assert c[0].item() == 1 + 7j
    assert gw.ones(2).real.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="imag is not implemented"):
        gw.ones(2).imag  # noqa: B018
    with pytest.raises(RuntimeError, match="view_as_real"):
        gw.view_as_real(gw.ones(2))
    with pytest.raises(RuntimeError, match="last dimension of size 2"):
        gw.view_as_complex(gw.ones(3))


@pytest.mark.parametrize(
    "text",
    ["c < c", "c >= 1", "C.maximum(c, c)", "c.max()", "c.floor()", "c.round()", "C.sort(c)",
     "c // c", "c % c", "C.fmod(c, c)", "C.relu(c)", "C.sign(c)", "C.ones(2).mul_(2j)",
     "C.complex(C.ones(2, dtype=C.float64), C.ones(2))", "C.atan2(c, c)", "C.argmax(c)"],
)
def test_complex_numbers_have_no_order(text: str) -> None:
    c = gw.tensor([1 + 2j, 3.0])
    with pytest.raises(RuntimeError):
        eval(text, {"C": gw, "c": c})


def test_backward_needs_a_real_loss() -> None:
    z = gw.tensor([1j], requires_grad=True)
    with pytest.raises(RuntimeError, match="real scalar"):
        z.sum().backward()
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        z.detach().to(gw.float32)


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_wide_unsigned_integers(name: str) -> None:
    dtype = getattr(gw, name)
    u = gw.tensor([1, 2], dtype=dtype)
    assert u.dtype is dtype and u.tolist() == [1, 2] and u[1].item() == 2
    assert (u == u).tolist() == [True, True]
    assert u.float().dtype is gw.float32 and (u + gw.ones(2)).tolist() == [2.0, 3.0]
    assert gw.cat([u, u]).dtype is dtype
    assert gw.from_numpy(np.array([3], name)).dtype is dtype
    with pytest.raises(RuntimeError, match="uint16, uint32, uint64"):
        u + gw.ones(2, dtype=gw.int64)

    def f(x: gw.Tensor) -> gw.Tensor:
        return gw.cat([x, x]).float() * 2

    assert gw.compile(f)(u).tolist() == [2.0, 4.0, 2.0, 4.0]


def test_limits() -> None:
    assert gw.finfo(gw.float32).eps == np.finfo(np.float32).eps
    assert gw.finfo(gw.complex128).max == np.finfo(np.float64).max
    assert gw.finfo().bits == 32 and gw.finfo(gw.bfloat16).bits == 16
    assert gw.iinfo(gw.uint64).max == 2**64 - 1 and gw.iinfo(gw.int8).min == -128
    limits = gw.finfo(gw.float64)
    assert copy.deepcopy(limits) == pickle.loads(pickle.dumps(limits)) == limits
    with pytest.raises(AttributeError, match="cannot be set"):
        limits.eps = 1.0
    assert limits != gw.finfo() == gw.finfo(gw.float32)
    with pytest.raises(TypeError, match="floating point"):
        gw.finfo(gw.int8)
    with pytest.raises(TypeError, match="integer"):
        gw.iinfo(gw.float32)


def test_names_of_dtypes() -> None:
    assert gw.cfloat is gw.complex64 and gw.long is gw.int64 and gw.float is gw.float32
    assert gw.float32.to_complex() is gw.complex64 and gw.complex128.to_real() is gw.float64
    with pytest.raises(RuntimeError, match="no complex dtype"):
        gw.int8.to_complex()
    x = gw.ones(1)
    assert x.type() == "graphwright.FloatTensor" and x.type("torch.IntTensor").dtype is gw.int32
    assert x.short().dtype is gw.int16 and x.char().dtype is gw.int8
    assert x.byte().dtype is gw.uint8 and x.cdouble().dtype is gw.complex128


HOLOMORPHIC_AND_NOT = {
    "products": lambda x: x * x.conj() + x**3 / (x + 2),
    "magnitudes": lambda x: x.abs() + x.angle(),
    "signs": lambda x: x.sgn(),
    "functions": lambda x: x.exp() + x.sin() + x.sqrt() + x.log() + x.tanh(),
    "reductions": lambda x: x.sum(0) + x.prod(1) + x.mean(),
    "scans": lambda x: x.cumsum(0),
    "parts": lambda x: gw.view_as_real(x),
    "copied parts": lambda x: gw.view_as_real_copy(x),
    "indices": lambda x: x[[0, 2], 1:],
    "contractions": lambda x: gw.einsum("ij,kj->ik", x @ x, x),
    "linear algebra": lambda x: gw.linalg.inv(x) + gw.linalg.solve(x, x + 1) * gw.linalg.det(x),
    "transforms": lambda x: gw.fft.fft2(x),
}


@pytest.mark.parametrize("name", HOLOMORPHIC_AND_NOT)
def test_gradients_of_complex_functions(name: str) -> None:
    """First and second derivatives, by finite differences in the real and imaginary parts."""
    gw.manual_seed(0)
    x = gw.randn(3, 3, dtype=gw.complex128, requires_grad=True)
    function = HOLOMORPHIC_AND_NOT[name]
    assert gw.autograd.gradcheck(function, [x])
    assert gw.autograd.gradgradcheck(function, [x])


@pytest.mark.parametrize("compiled", [False, True])
def test_truths_of_complex_numbers(compiled: bool) -> None:
    """What is not zero is true: the imaginary part counts, and nothing is warned of."""
    x = gw.tensor([1j, 0j, 1 + 0j, complex(0, float("nan"))])
    into = [True, False, True, True]
    run = gw.compile(lambda x: x.bool()) if compiled else lambda x: x.bool()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(x).tolist() == into
        assert gw.zeros(4, dtype=gw.bool).copy_(x).tolist() == into
        truths = gw.zeros(4, dtype=gw.bool)
        truths[:] = x
        assert truths.tolist() == into


def test_a_real_tensor_is_its_own_conjugate() -> None:
    """As in PyTorch: no copy is made, and nothing is recorded."""
    for name in ("conj", "conj_physical"):
        for x in (gw.ones(3), gw.tensor([1, 2]), gw.ones(3, requires_grad=True) * 2):
            assert getattr(gw, name)(x) is x
    z = gw.tensor([1 + 2j], requires_grad=True)
    assert gw.conj_physical(z).tolist() == [1 - 2j]
    assert type(gw.conj_physical(z).grad_fn).__name__ == "ConjPhysicalBackward0"


LAYOUTS: dict[str, Callable[[gw.Tensor], gw.Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.mT,
    "permuted": lambda x: x.permute(2, 0, 1),
    "a part": lambda x: x[:, 1:, ::2],
    "repeated": lambda x: x[:, :1].expand(2, 3, 4),
    "one element": lambda x: x[0, 0, 0],
    "none": lambda x: x[:, :0],
    "many": lambda x: x.repeat(1, 1, 2000),
}


@pytest.mark.parametrize("dtype", [gw.complex64, gw.complex128], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_conjugates_keep_the_order_in_memory(layout: str, dtype: gw.dtype) -> None:
    x = LAYOUTS[layout](gw.complex(gw.randn(2, 3, 4), gw.randn(2, 3, 4)).to(dtype))
    for made in (gw.conj(x), x.conj_physical(), x.mT.adjoint() if x.ndim > 1 else x.conj()):
        np.testing.assert_array_equal(made.numpy(), x.numpy().conj())
        assert made.dtype is dtype and made.stride() == (x + 0).stride()
