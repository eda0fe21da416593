"""grouped_mm: each group of rows or columns times a matrix of its own, with gradients."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops

grouped_mm = gw.nn.functional.grouped_mm

SHAPES = {
    "rows": ((8, 16), (3, 16, 24)),
    "columns": ((3, 8, 16), (16, 8)),
    "inner": ((16, 8), (8, 24)),
    "batch": ((3, 8, 16), (3, 16, 24)),
}
ENDS = ((2, 5, 8), (0, 4, 4), (2, 5, 6), (8, 8, 8), (5, 2, 8), (2, 20, 30), (2, -2, 8))
"""Among them groups that are empty, that leave a rest, overlap, and end behind the last row."""


def _values(kind: str) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES[kind]]


def _offs(ends: tuple[int, ...], library: ModuleType = gw) -> Any:
    return library.tensor(ends, dtype=library.int32)


def _expected(kind: str, a: Any, b: Any, ends: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """By NumPy's slices; zeros in no group."""
    if kind == "batch":
        return np.asarray(a @ b)
    shape = (a.shape[-2], b.shape[-1])
    out = np.zeros((len(ends), *shape) if kind == "inner" else shape)
    start = 0
    for group, end in enumerate(ends):
        if kind == "rows":
            out[start:end] = a[start:end] @ b[group]
        elif kind == "columns":
            out[:, start:end] = a[group] @ b[:, start:end]
        else:
            out[group] = a[:, start:end] @ b[start:end]
        start = end
    return out


@pytest.mark.parametrize("dtype", [gw.float32, gw.float16, gw.bfloat16], ids=str)
@pytest.mark.parametrize("kind", SHAPES)
def test_every_group_has_its_own_product(kind: str, dtype: gw.dtype) -> None:
    a, b = (gw.from_numpy(v).to(dtype) for v in _values(kind))
    compiled = gw.compile(grouped_mm, fullgraph=True)
    for ends in ENDS:
        offs = None if kind == "batch" else _offs(ends)
        want = _expected(kind, a.double().numpy(), b.double().numpy(), ends)
        for function in (grouped_mm, compiled):
            found = function(a, b, offs=offs, out_dtype=dtype)
            assert found.dtype is dtype and found.is_contiguous()
            tolerance = {gw.float32: 1e-5, gw.float16: 1e-3, gw.bfloat16: 8e-3}[dtype]
            np.testing.assert_allclose(found.double().numpy(), want, tolerance, 4 * tolerance)


def test_one_graph_serves_all_groupings() -> None:
    """What a group holds is data: no version, and no break, for each routing of tokens."""
    a, b = (gw.from_numpy(v) for v in _values("rows"))
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    def layer(a: gw.Tensor, b: gw.Tensor, offs: gw.Tensor) -> gw.Tensor:
        return grouped_mm(a, b, offs=offs) * 2

    compiled = gw.compile(layer, backend=backend, fullgraph=True)
    for ends in ENDS:
        assert compiled(a, b, _offs(ends)).equal(layer(a, b, _offs(ends)))
    assert len(graphs) == 1
    for rows in (5, 6, 7):
        few = a[:rows].contiguous()
        assert compiled(few, b, _offs((1, 4, rows))).equal(layer(few, b, _offs((1, 4, rows))))
    assert len(graphs) == 2


@pytest.mark.parametrize("shapes", [
    ((5, 3), (2, 3, 7)), ((2, 5, 3), (3, 7)), ((5, 7), (7, 2)), ((4, 0), (2, 0, 3)),
    ((0, 3), (2, 3, 4)), ((4, 3), (2, 3, 0)), ((1, 3), (2, 3, 1)),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("swapped", [False, True], ids=["by rows", "by columns"])
def test_no_size_or_layout_is_refused(shapes: Any, swapped: bool) -> None:
    rng = np.random.default_rng(1)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    a, b = (gw.from_numpy(v.swapaxes(-1, -2).copy()).mT if swapped else gw.from_numpy(v)
            for v in values)
    kind = {(2, 3): "rows", (3, 2): "columns", (2, 2): "inner"}[a.ndim, b.ndim]
    found = grouped_mm(a, b, offs=_offs((2, 4)))
    np.testing.assert_allclose(found.numpy(), _expected(kind, *values, (2, 4)), 1e-5, 1e-5)


@pytest.mark.parametrize("shapes", [
    ((4, 3), (3, 3, 2)), ((3, 2, 3), (3, 4)), ((2, 4), (4, 3)), ((2, 2, 3), (2, 3, 4)),
], ids=SHAPES)  # fmt: skip
def test_gradients(shapes: Any) -> None:
    """In float64, which only the op behind the function takes; the last element is in no group."""
    rng = np.random.default_rng(2)
    a, b = (gw.from_numpy(rng.standard_normal(shape)).requires_grad_() for shape in shapes)

    def product(a: gw.Tensor, b: gw.Tensor) -> gw.Tensor:
        offs = None if a.ndim == b.ndim == 3 else _offs((1, 1, 3))
        return ops.grouped_product(a, b, offs)

    assert gw.autograd.gradcheck(product, (a, b))
    assert gw.autograd.gradgradcheck(product, (a, b))


def test_only_what_a_gradient_needs_is_kept() -> None:
    """An operand without gradient's partner may be overwritten before backward."""
    a, b = (gw.from_numpy(v) for v in _values("rows"))
    out = grouped_mm(a, b.requires_grad_(), offs=_offs(ENDS[0]))
    with gw.no_grad():
        b.zero_()
    out.sum().backward()
    assert b.grad is not None and b.grad.ne(0).any()


def test_an_expert_layer_trains_alike_when_compiled() -> None:
    """Weights as models keep them, [experts, out, in]; one expert has no token."""
    a, b = (gw.from_numpy(v) for v in _values("rows"))
    found = []
    for wrap in (lambda f: f, lambda f: gw.compile(f, fullgraph=True)):
        x, weight = a.clone().requires_grad_(), b.mT.contiguous().requires_grad_()
        layer = wrap(lambda x, w, offs: grouped_mm(x.sigmoid(), w.mT, offs=offs).tanh().square())
        layer(x, weight, _offs((0, 5, 8))).sum().backward()
        assert x.grad is not None and weight.grad is not None
        assert weight.grad.is_contiguous() and not weight.grad[0].any()
        found.append((x.grad, weight.grad))
    for eager, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(compiled.numpy(), eager.numpy(), 1e-5, 1e-6)


def _with_gradients(
    library: ModuleType, kind: str, dtype: str, transposed: tuple[bool, bool], wrap: Any
) -> list[Any]:
    """The product, gradients of its mean square, and, where `wrap` is None, of theirs."""
    leaves = []
    for values, swapped in zip(_values(kind), transposed, strict=True):
        own = library.from_numpy(values.swapaxes(-1, -2).copy() if swapped else values)
        own = (own.mT if swapped else own).to(getattr(library, dtype))
        leaves.append(own.detach().requires_grad_())
    offs = None if kind == "batch" else _offs((2, 5, 8), library)
    product = library.nn.functional.grouped_mm
    out = (wrap or (lambda f: f))(lambda a, b: product(a, b, offs=offs))(*leaves)
    grads = library.autograd.grad(out.float().square().mean(), leaves, create_graph=wrap is None)
    if wrap is not None:
        return [out, *grads]
    total = sum(grad.float().square().sum() for grad in grads)
    return [out, *grads, *library.autograd.grad(total, leaves)]


@pytest.mark.oracle
@pytest.mark.parametrize("wrap", [None, gw.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("kind", SHAPES)
def test_against_torch(kind: str, dtype: str, wrap: Any) -> None:
    torch = pytest.importorskip("torch")
    tolerance = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}[dtype]
    for transposed in itertools.product((False, True), repeat=2):
        got = _with_gradients(gw, kind, dtype, transposed, wrap)
        want = _with_gradients(torch, kind, dtype, transposed, None)
        for ours, theirs in zip(got, want, strict=False):
            expected = theirs.detach().double().numpy()
            assert ours.stride() == theirs.stride()
            assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
            scale = tolerance * abs(expected).max()
            np.testing.assert_allclose(ours.detach().double().numpy(), expected, 0, scale)


@pytest.mark.oracle
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_any_ends_mean_what_they_mean_in_torch(ends: tuple[int, ...]) -> None:
    """Of a sum over groups all is defined there; rows in none hold what memory held."""
    torch = pytest.importorskip("torch")
    a, b = _values("inner")
    want = torch.nn.functional.grouped_mm(
        torch.from_numpy(a), torch.from_numpy(b), offs=_offs(ends, torch)
    )
    found = grouped_mm(gw.from_numpy(a), gw.from_numpy(b), offs=_offs(ends))
    np.testing.assert_allclose(found.numpy(), want.numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize("kind", SHAPES)
def test_autocast_leaves_it_alone(kind: str) -> None:
    a, b = (gw.from_numpy(v) for v in _values(kind))
    offs = None if kind == "batch" else _offs(ENDS[0])
    for function in (grouped_mm, gw.compile(grouped_mm, fullgraph=True)):
        with gw.autocast("cpu", dtype=gw.bfloat16):
            assert function(a, b, offs=offs).dtype is gw.float32


@pytest.mark.parametrize("dtype", [gw.float64, gw.int64, gw.bool, gw.complex64], ids=str)
def test_dtypes_without_a_kernel(dtype: gw.dtype) -> None:
    a, b = (gw.ones(shape) for shape in SHAPES["batch"])
    with pytest.raises(RuntimeError, match="mat_a to be Float32, BFloat16 or Float16"):
        grouped_mm(a.to(dtype), b.to(dtype))
    with pytest.raises(RuntimeError, match="mat_b to be Float32, BFloat16 or Float16"):
        grouped_mm(a, b.to(dtype))


def test_operands_have_one_dtype() -> None:
    a, b = (gw.ones(shape) for shape in SHAPES["batch"])
    with pytest.raises(RuntimeError, match="same dtype"):
        grouped_mm(a, b.half())


def test_options_are_keywords() -> None:
    a, b = (gw.from_numpy(v) for v in _values("rows"))
    with pytest.raises(TypeError, match="positional"):
        grouped_mm(a, b, _offs(ENDS[0]))
