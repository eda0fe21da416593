"""Every op of the table against its samples: value, gradient, dtype, shape, strides.

Values are compared with NumPy in float64 and, where installed, with PyTorch; gradients with
central differences in float64; metadata of fake tensors with that of real ones.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.fake import fake_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE, Kind, NotDifferentiable

from ..layouts import LAYOUTS, as_float64, build, lay_out, numpy_type, tensors_in
from ..samples import ALL, OpSamples, Sample

OPS = list(ALL.values())


def _cases(entries: list[OpSamples]) -> list[Any]:
    return [
        pytest.param(entry, sample, id=f"{entry.name}-{i}")
        for entry in entries
        for i, sample in enumerate(entry.samples)
    ]


def _call(entry: OpSamples, sample: Sample, leaf: Any) -> Any:
    args, kwargs = build(sample, entry.name, leaf)
    return getattr(ops, entry.name)(*args, **kwargs)


def _layouts(entry: OpSamples) -> tuple[str, ...]:
    return LAYOUTS if entry.layouts else ("contiguous",)


def _close(actual: Any, expected: Any, tolerance: float) -> None:
    got, want = as_float64(actual), as_float64(expected)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("entry", "sample"), _cases([e for e in OPS if e.reference is not None]))
def test_value_against_numpy(entry: OpSamples, sample: Sample) -> None:
    args, kwargs = build(sample, entry.name, lambda arr, values: values)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = entry.reference(*args, **kwargs)  # type: ignore[misc]
    for dtype, tolerance in ((gw.float64, 1e-12), (gw.float32, 2e-5)):
        for layout in _layouts(entry):
            actual = _call(
                entry,
                sample,
                lambda arr, values, d=dtype, lay=layout: lay_out(
                    values.astype(numpy_type(arr, d)), lay
                ),
            )
            several = isinstance(actual, tuple)
            for got, want in zip(
                actual if several else (actual,), expected if several else (expected,), strict=True
            ):
                _close(got, want, tolerance)


def _torch_function(torch: Any, entry: OpSamples) -> Any:
    if entry.torch == "":
        return None
    name = entry.torch or entry.name
    return getattr(torch, name, None) or getattr(torch.Tensor, name)


TENSOR_FIRST = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "fmod", "pow"})


def _compare(entry: OpSamples, got: Any, want: Any, tolerance: float) -> None:
    assert tuple(got.shape) == tuple(want.shape)
    assert got.dtype.name == str(want.dtype).removeprefix("torch.")
    if entry.strides and want.numel() > 0:
        layout = zip(got.stride(), want.stride(), want.shape, strict=True)
        real = [(a, b) for a, b, n in layout if n != 1]
        assert all(a == b for a, b in real), (got.stride(), want.stride(), want.shape)
    _close(got, want, tolerance)


@pytest.mark.oracle
@pytest.mark.parametrize(("entry", "sample"), _cases([e for e in OPS if e.torch != ""]))
def test_against_torch(entry: OpSamples, sample: Sample) -> None:
    torch = pytest.importorskip("torch")
    function = _torch_function(torch, entry)
    widths = [(gw.float32, 1e-5)]
    if entry.halves:
        widths += [(gw.float16, 2e-3), (gw.bfloat16, 2e-2)]
    for dtype, tolerance in widths:
        for layout in _layouts(entry):

            def ours(arr: Any, values: Any, d: Any = dtype, lay: str = layout) -> Any:
                if arr.kind != "float":
                    return lay_out(values, lay)
                return lay_out(values.astype(np.float32), lay).to(d)

            def theirs(arr: Any, values: Any, d: Any = dtype, lay: str = layout) -> Any:
                if arr.kind != "float":
                    return lay_out(values, lay, torch)
                return lay_out(values.astype(np.float32), lay, torch).to(getattr(torch, d.name))

            args, kwargs = build(sample, entry.name, theirs)
            if isinstance(args[0], float) and entry.name in TENSOR_FIRST:
                return
            want = function(*args, **kwargs)
            got = _call(entry, sample, ours)
            if not hasattr(want, "stride") and not isinstance(want, list | tuple):
                assert got == want
                continue
            for a, b in zip(tensors_in(got), tensors_in(want), strict=True):
                _compare(entry, a, b, tolerance)


def _differentiable(entry: OpSamples) -> bool:
    return entry.grad and not isinstance(TABLE[entry.name].vjp, NotDifferentiable)


def _loss(entry: OpSamples, sample: Sample, values: list[Any], weights: list[Any]) -> Any:
    given = iter(values)

    def leaf(arr: Any, own: Any) -> Any:
        return next(given) if arr.kind == "float" and arr.grad else lay_out(own, "contiguous")

    outputs = [t for t in tensors_in(_call(entry, sample, leaf)) if t.dtype.is_floating_point]
    while len(weights) < len(outputs):
        shape = outputs[len(weights)].shape
        rng = np.random.default_rng(len(weights))
        weights.append(gw.tensor(rng.uniform(0.5, 1.5, shape), dtype=gw.float64))
    total = gw.zeros((), dtype=gw.float64)
    for out, weight in zip(outputs, weights, strict=False):
        total = total + (out * weight).sum()
    return total


def _inputs(entry: OpSamples, sample: Sample, layout: str) -> list[Any]:
    found: list[Any] = []

    def leaf(arr: Any, values: Any) -> Any:
        if arr.kind == "float" and arr.grad:
            found.append(lay_out(values, layout))
        return values

    build(sample, entry.name, leaf)
    return found


def numeric_gradient(loss: Any, tensor: Any, step: float = 1e-6) -> np.ndarray[Any, Any]:
    """Central differences of `loss()` with respect to every element of a tensor."""
    result = np.zeros(tensor.shape)
    data = tensor.detach().numpy()
    for place in np.ndindex(*tensor.shape):
        kept = data[place]
        data[place] = kept + step
        above = loss().item()
        data[place] = kept - step
        below = loss().item()
        data[place] = kept
        result[place] = (above - below) / (2 * step)
    return result


@pytest.mark.parametrize(("entry", "sample"), _cases([e for e in OPS if _differentiable(e)]))
def test_gradient(entry: OpSamples, sample: Sample) -> None:
    reference: Any = ()
    for layout in _layouts(entry)[:3]:
        values = _inputs(entry, sample, layout)
        weights: list[Any] = []
        if not values:
            return
        leaves = [v.detach().requires_grad_() for v in values]
        loss = _loss(entry, sample, leaves, weights)
        grads = gw.autograd.grad(loss, leaves, allow_unused=True)
        if layout != "contiguous":
            want = [np.zeros(()) if g is None else as_float64(g) for g in reference]
        else:
            reference = grads
            loss_of = partial(_loss, entry, sample, values, weights)
            want = [numeric_gradient(loss_of, v) for v in values]
        for grad, leaf, expected in zip(grads, leaves, want, strict=True):
            if grad is None:
                assert not expected.any()
                continue
            assert grad.shape == leaf.shape and grad.dtype is leaf.dtype
            np.testing.assert_allclose(as_float64(grad), expected, rtol=2e-5, atol=2e-7)


@pytest.mark.parametrize(
    ("entry", "sample"),
    _cases([e for e in OPS if _differentiable(e) and e.double_grad]),
)
def test_double_gradient(entry: OpSamples, sample: Sample) -> None:
    values = _inputs(entry, sample, "contiguous")
    weights: list[Any] = []
    if not values or any(v.numel() == 0 for v in values):
        return

    def squared_gradients(inputs: list[Any]) -> Any:
        leaves = [v if v.requires_grad else v.detach().requires_grad_() for v in inputs]
        loss = _loss(entry, sample, leaves, weights)
        grads = gw.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
        total = gw.zeros((), dtype=gw.float64)
        for grad in grads:
            if grad is not None:
                total = total + (grad * grad * 0.5).sum()
        return total

    leaves = [v.detach().requires_grad_() for v in values]
    total = squared_gradients(leaves)
    if not total.requires_grad:
        return
    grads = gw.autograd.grad(total, leaves, allow_unused=True)
    for value, grad in zip(values, grads, strict=True):
        want = numeric_gradient(lambda: squared_gradients(values), value)
        got = np.zeros_like(want) if grad is None else as_float64(grad)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-6)


DATA_DEPENDENT = {name for name, op in TABLE.items() if "data_dependent" in op.tags}


@pytest.mark.parametrize(
    ("entry", "sample"), _cases([e for e in OPS if e.name not in DATA_DEPENDENT])
)
def test_fake_agrees_with_eager(entry: OpSamples, sample: Sample) -> None:
    for layout in _layouts(entry):

        def real(arr: Any, values: Any, lay: str = layout) -> Any:
            return lay_out(values.astype(numpy_type(arr, gw.float32)), lay)

        def pretended(arr: Any, values: Any, lay: str = layout) -> Any:
            return fake_tensor.fake_like(lay_out(values.astype(numpy_type(arr, gw.float32)), lay))

        want = tensors_in(_call(entry, sample, real))
        got = tensors_in(_call(entry, sample, pretended))
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            assert tuple(a.shape) == tuple(b.shape)
            assert a.dtype is b.dtype
            sizes = [
                (s, t) for s, t, n in zip(a.stride(), b.stride(), b.shape, strict=True) if n > 1
            ]
            assert b.numel() == 0 or all(s == t for s, t in sizes), (a.stride(), b.stride())


INPLACE = [
    op
    for op in TABLE.values()
    if op.kind is Kind.INPLACE and op.functional is not None and op.functional.name in ALL
]


@pytest.mark.parametrize("op", INPLACE, ids=lambda op: op.name)
def test_inplace_matches_functional(op: Any) -> None:
    entry = ALL[op.functional.name]
    for sample in entry.samples:
        args, kwargs = build(
            sample,
            entry.name,
            lambda arr, values: lay_out(values.astype(numpy_type(arr, gw.float32)), "contiguous"),
        )
        if not isinstance(args[0], gw.Tensor):
            continue
        want = op.functional(*args, **kwargs)
        if want.shape != args[0].shape or not gw.can_cast(want.dtype, args[0].dtype):
            with pytest.raises(RuntimeError):
                op(args[0].clone(), *args[1:], **kwargs)
            continue
        target = args[0].clone()
        version = target._version
        assert op(target, *args[1:], **kwargs) is target
        assert target._version == version + 1
        np.testing.assert_array_equal(as_float64(target), as_float64(want))


def test_every_op_is_complete() -> None:
    problems = []
    for name, op in TABLE.items():
        if op.eager is None and op.decompose is None:
            problems.append(f"{name}: neither eager kernel nor decomposition")
        composite = op.decompose is not None
        dependent = "data_dependent" in op.tags
        if op.meta is None and op.functional is None and not composite and not dependent:
            problems.append(f"{name}: no shape rule")
        if op.vjp is None and op.functional is None and not composite:
            problems.append(f"{name}: neither vjp nor not_differentiable")
    assert not problems


def test_every_op_has_samples() -> None:
    """In-place ops are covered by their functional form; nn ops by the nn tests.

    `test_complex` and `test_fourier` have those that take or give only complex numbers,
    `test_value_checks` the check that most values fail, `test_views` what a copying reshape and a
    position in a tensor are made of, `test_views_of_bytes` of other dtypes, `test_float8` products
    of scaled matrices, the tests of `codegen` what writes to views become, and
    `test_signs_of_zero` powers by numbers that vary.
    """
    of_complex = {"complex", "conjugated", "imag", "polar", "view_as_complex", "view_as_real"}
    without = {
        name
        for name, op in TABLE.items()
        if name not in ALL and op.functional is None and not name.endswith("_")
    }
    rng = {"philox_uniform", "rng_uniform"}
    checks, scaled = {"require_values"}, {"_scaled_mm"}
    views = {"_unsafe_view", "select_at", "view_dtype", "view_scatter"}
    numbers = {"pow_number"}
    of_complex |= {"view_as_complex_copy", "view_as_real_copy"}
    of_complex |= {"stft", "istft"} | {name for name in without if name.startswith("fft_")}
    nn = {name for name in without if _defined_in_nn(name)}
    assert without - checks - scaled - views - numbers - rng - nn - of_complex == set()


NN = (
    *("activations.", "indexing.embedding", "losses.", "norms.", "optim.", "products.distances"),
    *("products.grouped", "products.linear", "sequences.", "windows."),
)


def _defined_in_nn(name: str) -> bool:
    return TABLE[name].family.startswith(NN)
