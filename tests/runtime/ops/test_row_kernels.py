"""Kernels over rows: gradients of norms, half precision, bags, repeated rows; large enough for
several blocks and threads, against the same in float64 or by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops

F = gw.nn.functional


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape)


def whole(low: int, high: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(low, high, shape)


@pytest.fixture
def threads() -> Iterator[list[int]]:
    """Numbers of threads to compare; the number of before comes back."""
    before = gw.get_num_threads()
    yield [1, 2, 5]
    gw.set_num_threads(before)


def gradients(function: Any, arrays: list[Any], seed: Any, dtype: Any) -> list[Any]:
    """The gradients of all arrays, weighted by `seed`."""
    leaves = [gw.tensor(a, dtype=dtype, requires_grad=True) for a in arrays]
    return list(gw.autograd.grad(function(*leaves), leaves, gw.tensor(seed, dtype=dtype)))


NORMS = {
    "layer": (lambda x, w, b: F.layer_norm(x, (130,), w, b), (700, 130), (130,)),
    "layer of two dims": (lambda x, w, b: F.layer_norm(x, (5, 7), w, b), (90, 5, 7), (5, 7)),
    "layer transposed": (lambda x, w, b: F.layer_norm(x.mT, (90,), w, b), (3, 90, 70), (90,)),
    "group": (lambda x, w, b: F.group_norm(x, 3, w, b), (5, 6, 33, 17), (6,)),
    "group of single places": (lambda x, w, b: F.group_norm(x, 2, w, b), (40, 6), (6,)),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("dtype", [gw.float32, gw.bfloat16])
def test_gradients_of_norms_agree_with_those_in_float64(name: str, dtype: Any) -> None:
    function, shape, affine = NORMS[name]
    arrays = [gw.tensor(a, dtype=dtype).double().numpy()
              for a in (normal(*shape), normal(*affine, seed=1), normal(*affine, seed=2))]
    seed = normal(*(reversed(shape[1:]) if "transposed" in name else shape[1:]), seed=3)
    seed = np.broadcast_to(seed, (shape[0], *seed.shape))
    seed = gw.tensor(seed.copy(), dtype=dtype).double().numpy()
    exact = gradients(function, arrays, seed, gw.float64)
    found = gradients(function, arrays, seed, dtype)
    close = 2e-5 if dtype is gw.float32 else 2e-2
    for got, want in zip(found, exact, strict=True):
        largest = float(want.abs().max())
        np.testing.assert_allclose(got.double().numpy(), want.numpy(), close, close * largest)


@pytest.mark.parametrize("name", ["layer", "group"])
def test_gradients_of_norms_are_the_same_for_any_number_of_threads(
    name: str, threads: list[int]
) -> None:
    function, shape, affine = NORMS[name]
    arrays = [normal(*shape), normal(*affine, seed=1), normal(*affine, seed=2)]
    seed = normal(*shape, seed=3)
    results = []
    for count in threads:
        gw.set_num_threads(count)
        results.append(gradients(function, arrays, seed, gw.float32))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("shape", [(4, 3, 6), (2, 3, 4, 5), (1, 3, 1, 4), (90, 133, 3, 2)])
@pytest.mark.parametrize("affected", ["input", "gradient", "both"])
def test_gradients_of_batch_norm_do_not_depend_on_layouts(
    shape: tuple[int, ...], affected: str
) -> None:
    def swapped(t: Any) -> Any:
        return t.movedim(1, -1).contiguous().movedim(-1, 1)

    x, seed = (gw.tensor(normal(*shape, seed=k)) for k in range(2))
    affine = [gw.tensor(normal(shape[1], seed=k), requires_grad=True) for k in (2, 3)]
    results = []
    for changes in (False, True):
        leaf = x.clone() if not changes or affected == "gradient" else swapped(x)
        grad = seed if not changes or affected == "input" else swapped(seed)
        leaf.requires_grad_()
        out = F.batch_norm(leaf, None, None, *affine, training=True)
        results.append((out.detach(), *gw.autograd.grad(out, [leaf, *affine], grad)))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_batch_norm_of_rows_is_the_same_for_any_number_of_threads(
    dtype: Any, threads: list[int]
) -> None:
    x, seed = (gw.tensor(normal(1000, 133, seed=k), dtype=dtype) for k in range(2))
    x.requires_grad_()
    results = []
    for count in threads:
        gw.set_num_threads(count)
        out = F.batch_norm(x, None, None, training=True)
        results.append((out.detach(), *gw.autograd.grad(out, [x], seed)))
    centred = x.detach().double() - x.detach().double().mean(0)
    exact = centred / (centred.square().mean(0) + 1e-5).sqrt()
    np.testing.assert_allclose(results[0][0].double().numpy(), exact.numpy(), 1e-5, 1e-5)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("shape", [(3, 5000), (5000, 3), (1, 1), (20, 70)])
@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_softmax_of_half_precision_is_that_of_float32_rounded_once(
    shape: tuple[int, int], dtype: Any
) -> None:
    x, grad = (gw.tensor(normal(*shape, seed=k), dtype=dtype) for k in range(2))
    for function in (gw.softmax, gw.log_softmax):
        wide = x.float().requires_grad_()
        narrow = x.clone().requires_grad_()
        want, got = function(wide, 1), function(narrow, 1)
        np.testing.assert_array_equal(got.detach().float().numpy(),
                                      want.detach().to(dtype).float().numpy())
        slope = gw.autograd.grad(got, narrow, grad)[0]
        exact = gw.autograd.grad(function(wide, 1), wide, grad.float())[0]
        np.testing.assert_allclose(slope.float().numpy(), exact.numpy(), 3e-2, 3e-2)


@pytest.mark.parametrize("shape", [(3, 5000), (5000, 3), (1, 1), (20, 70)])
@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
@pytest.mark.parametrize("affine", ["", "weight", "bias", "weight bias"])
def test_layer_norm_of_half_precision_is_that_of_float32_rounded_once(
    shape: tuple[int, int], dtype: Any, affine: str
) -> None:
    x = gw.tensor(normal(*shape), dtype=dtype)
    weight, bias = (gw.tensor(normal(shape[1], seed=k), dtype=dtype) for k in (1, 2))
    given = (weight if "weight" in affine else None, bias if "bias" in affine else None)
    wide = [t if t is None else t.float() for t in given]
    for call in (F.layer_norm, lambda *args: ops.native_layer_norm(*args, 1e-5)):
        got, want = call(x, shape[1:], *given), call(x.float(), shape[1:], *wide)
        got, want = (r if isinstance(r, tuple) else (r,) for r in (got, want))
        assert [t.dtype for t in got] == [dtype, gw.float32, gw.float32][: len(got)]
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a.float().numpy(), b.to(a.dtype).float().numpy())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_of_classes_take_half_precision(reduction: str) -> None:
    x, target = gw.tensor(normal(50, 9), dtype=gw.bfloat16), gw.tensor(whole(0, 9, 50))
    weight = gw.tensor(np.linspace(0.5, 2, 9), dtype=gw.bfloat16)
    options: dict[str, Any] = {"weight": weight, "ignore_index": 4, "reduction": reduction}
    narrow, wide = x.clone().requires_grad_(), x.float().requires_grad_()
    got = F.nll_loss(narrow, target, **options)
    want = F.nll_loss(wide, target, **{**options, "weight": weight.float()})
    assert got.dtype is gw.bfloat16
    np.testing.assert_array_equal(got.detach().float().numpy(),
                                  want.detach().bfloat16().float().numpy())
    slopes = [gw.autograd.grad(r, t, gw.ones_like(r))[0] for r, t in ((got, narrow), (want, wide))]
    np.testing.assert_array_equal(slopes[0].float().numpy(), slopes[1].bfloat16().float().numpy())


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("integers", [gw.int64, gw.int32])
def test_bags_of_rows(mode: str, integers: Any) -> None:
    table, places = normal(100, 33).astype(np.float32), whole(0, 100, 3000)
    starts = np.sort(whole(0, 3001, 400))
    starts[0] = 0
    got = F.embedding_bag(gw.tensor(places, dtype=integers), gw.tensor(table),
                          gw.tensor(starts, dtype=integers), mode=mode, padding_idx=7).numpy()
    for bag, (begin, end) in enumerate(zip(starts, [*starts[1:], 3000], strict=True)):
        rows = [table[p] for p in places[begin:end] if p != 7] or [np.zeros(33)]
        np.testing.assert_allclose(got[bag], getattr(np, mode)(rows, axis=0), 1e-5, 1e-5)


@pytest.mark.parametrize("bad", [-1, 100])
def test_bags_refuse_indices_that_are_no_rows(bad: int) -> None:
    places = gw.zeros(4000, dtype=gw.int64)
    places[3999] = bad
    with pytest.raises(RuntimeError, match=f"found idx to be {bad}"):
        F.embedding_bag(places.view(1000, 4), gw.ones(100, 3))


@pytest.mark.parametrize("dtype", [gw.bool, gw.int16, gw.float32, gw.int64, gw.complex128])
@pytest.mark.parametrize("repeats", [1, 2, 3, 4, 5, 8])
def test_repeated_elements_and_slices(dtype: Any, repeats: int) -> None:
    x = gw.tensor(whole(0, 9, 300, 40)).to(dtype)
    for dim in (None, 0, 1):
        expected = np.repeat(x.numpy(), repeats, dim)
        np.testing.assert_array_equal(x.repeat_interleave(repeats, dim).numpy(), expected)


@pytest.mark.parametrize(("left", "right"), [
    ((40, 30), (20, 30)), ((3, 40, 30), (20, 30)), ((30,), (70, 90)), ((0, 3), (400, 500)),
    ((70000,), (3,)),
])
def test_kron_of_large_tensors(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = (whole(-5, 5, *shape) for shape in (left, right))
    got = gw.kron(gw.tensor(a), gw.tensor(b))
    np.testing.assert_array_equal(got.numpy(), np.kron(a, b))
    assert got.is_contiguous()


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_products_of_half_precision_are_those_of_float32(dtype: Any) -> None:
    a, b = (gw.tensor(normal(70, 70, seed=k), dtype=dtype) for k in range(2))
    for x in (a, a.T, a[::2], a[:, ::2].T, a[:0]):
        for y in (b, b.T, b[:, ::3]):
            if x.shape[1] == y.shape[0]:
                want = (x.float() @ y.float()).numpy()
                np.testing.assert_allclose((x @ y).float().numpy(), want, 2.0**-8, 1e-5)


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 7), (2, 70, 3, 4), (300, 70), (1, 3, 2, 2, 2)])
@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize("last", [False, True])
def test_batch_norm_with_given_statistics(shape: tuple[int, ...], dtype: Any, last: bool) -> None:
    x = gw.tensor(normal(*shape), dtype=dtype)
    x = x.movedim(1, -1).contiguous().movedim(-1, 1) if last else x
    mean, weight, bias = (gw.tensor(normal(shape[1], seed=k), dtype=dtype) for k in (1, 2, 3))
    per_channel = (shape[1],) + (1,) * (len(shape) - 2)
    for affine in ((None, None), (weight, None), (weight, bias)):
        got = F.batch_norm(x, mean, mean.square(), *affine)
        want = (x - mean.view(per_channel)) / (mean.square() + 1e-5).sqrt().view(per_channel)
        for value, apply in zip(affine, (gw.mul, gw.add), strict=True):
            want = want if value is None else apply(want, value.view(per_channel))
        assert got.stride() == want.stride()
        np.testing.assert_allclose(got.numpy(), want.numpy(), 1e-3, 1e-4)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 16, 31, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_running_sums_along_rows(size: int, dtype: Any) -> None:
    for rows in (1, 4, 7):
        values = whole(-9, 9, rows, size).astype(dtype)
        got = gw.from_numpy(values).cumsum(1).numpy()
        np.testing.assert_array_equal(got, values.cumsum(1))
    if dtype is not np.int64:
        values[0, size // 2] = np.inf
        got = gw.from_numpy(values).cumsum(1).numpy()
        np.testing.assert_array_equal(got, values.cumsum(1))


@pytest.mark.parametrize("shape", [(40, 6), (5, 6, 33), (4, 6, 9, 7)])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_by_given_statistics_is_one_node(shape: tuple[int, ...], affine: bool) -> None:
    """The gradients are those of its parts."""
    mean, variance = gw.tensor(normal(6)), gw.tensor(normal(6) ** 2 + 0.1)
    arrays = [normal(*shape), normal(6, seed=1), normal(6, seed=2)][: 3 if affine else 1]
    wide = (1, 6) + (1,) * (len(shape) - 2)

    def parts(x: Any, *given: Any) -> Any:
        out = (x - mean.view(wide)) * (variance.view(wide) + 1e-5).rsqrt()
        return out * given[0].view(wide) + given[1].view(wide) if given else out

    def whole(x: Any, *given: Any) -> Any:
        out = F.batch_norm(x, mean, variance, *given)
        assert type(out.grad_fn).__name__ == "NativeBatchNormBackward0"
        return out

    seed = normal(*shape, seed=3)
    for a, b in zip(*(gradients(f, arrays, seed, gw.float64) for f in (whole, parts)),
                    strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-9, 1e-9)


def test_statistics_that_are_given_take_no_gradient() -> None:
    """As in PyTorch, also where nothing else needs one."""
    statistics = gw.zeros(3, requires_grad=True), gw.ones(3)
    with pytest.raises(RuntimeError, match="with respect to argument 'running_mean'"):
        F.batch_norm(gw.ones(2, 3), *statistics)
    with gw.no_grad():
        assert F.batch_norm(gw.ones(2, 3), *statistics).shape == (2, 3)
