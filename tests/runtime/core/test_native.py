"""Kernels in C of single ops: they give what the kernels in Python give that they fall back on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import op

from ..layouts import LAYOUTS, build, lay_out, tensors_in
from ..samples import ALL, OpSamples, Sample

UNSET = {"empty", "empty_like"}     # elements that are whatever was there
OTHER_DRAWS = {"poisson"}           # few numbers come from another sampler than many
NATIVE = [e for e in ALL.values()
          if _core.Native.has(e.name) and e.name not in UNSET | OTHER_DRAWS]
SAMPLES = [
    pytest.param(entry, sample, layout, id=f"{entry.name}-{i}-{layout}")
    for entry in NATIVE
    for i, sample in enumerate(entry.samples)
    for layout in (LAYOUTS if entry.layouts else LAYOUTS[:1])
]
ROUNDED = {
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "conv1d", "conv2d"),
    *("conv3d", "adaptive_avg_pool_backward"),
    *("addbmm", "addmm", "addmv", "addr", "affine_grid_generator", "avg_pool_backward"),
    *("baddbmm", "batch_norm", "batch_norm_backward", "batch_norm_train", "bmm", "cross"),
    *("binary_cross_entropy", "group_norm"),
    *("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"),
    *("cumprod", "cumsum", "dist", "broadcast_matmul", "smooth_l1_loss"),
    *("dot", "inner", "linalg_cross", "linalg_vector_norm", "linear", "logcumsumexp", "matmul"),
    *("mm", "mv", "nanmean", "nll_loss", "norm", "p_norm", "pair_distances", "pdist", "randn"),
    *("cdist", "logspace", "multi_margin_loss", "nll_loss_backward", "polar", "renorm"),
    *("segment_reduce", "layer_norm_gradients", "group_norm_backward"),
    *("std", "std_mean", "tensordot", "var", "var_mean"),
}
"""Ops whose sums or functions may be rounded in another order."""
FACTORED = {
    *("cholesky_factor", "linalg_det", "linalg_eigvalsh", "linalg_inv", "linalg_svdvals"),
    *("lu_factors", "qr_factors", "singular_factors", "solve_matrix", "symmetric_eigen"),
}
"""Ops of matrices, which NumPy solves by other routines, some in float64."""


def _fall_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the op run on its kernel in Python."""
    kernel: Any = op(name).run
    monkeypatch.setattr(op(name), "run", kernel.fallback)


def _run(entry: OpSamples, sample: Sample, layout: str) -> Any:
    def leaf(arr: Any, values: Any) -> Any:
        return lay_out(values.astype(np.float32) if arr.kind == "float" else values, layout)

    args, kwargs = build(sample, entry.name, leaf)
    gw.manual_seed(3)
    return getattr(ops, entry.name)(*args, **kwargs)


def _tolerance(name: str) -> float:
    return 1e-6 if name in ROUNDED else 2e-5 if name in FACTORED else 0.0


def _same(got: Any, want: Any, tolerance: float = 0.0) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.numel() == 0 or got.stride() == want.stride()
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("entry", "sample", "layout"), SAMPLES)
def test_gives_what_the_kernel_in_python_gives(
    entry: OpSamples, sample: Sample, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    got = tensors_in(_run(entry, sample, layout))
    _fall_back(entry.name, monkeypatch)
    want = tensors_in(_run(entry, sample, layout))
    for mine, other in zip(got, want, strict=True):
        _same(mine, other, _tolerance(entry.name))


@pytest.mark.parametrize(
    "name", ["argsort", "topk_positions", "kth_position", "median_position", "mode_position"]
)
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("flag", [False, True])
def test_orders_with_ties_and_nans(
    name: str, dim: int, flag: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(0).integers(0, 5, (4, 6, 5)).astype(np.float32)
    values[values == 4] = np.nan
    x = gw.from_numpy(values)
    args = {"argsort": (dim, flag, True), "topk_positions": (3, dim, flag),
            "kth_position": (2, dim), "median_position": (dim, flag),
            "mode_position": (dim,)}[name]
    got = getattr(ops, name)(x, *args)
    _fall_back(name, monkeypatch)
    want = getattr(ops, name)(x, *args)
    mine, other = (ops.gather(x, dim, places).numpy() for places in (got, want))
    np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("name", ["argsort", "kth_position", "median_position", "mode_position",
                                  "renorm"])
def test_a_dim_of_size_one_may_have_any_stride(name: str) -> None:
    x = gw.tensor([3.0, 1.0, 2.0]).as_strided((3, 1), (1, 0))
    args = {"argsort": (1, False, True), "kth_position": (1, 1), "median_position": (1, False),
            "mode_position": (1,), "renorm": (2, 1, 100.0)}[name]
    expected = x if name == "renorm" else gw.zeros(3, 1)
    assert getattr(ops, name)(x, *args).tolist() == expected.tolist()
    assert gw.unique(x, dim=1).tolist() == x.tolist()
    assert gw.unique_consecutive(x, dim=1).tolist() == x.tolist()


def test_random_numbers_are_those_of_the_kernels_in_python(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw() -> list[Any]:
        gw.manual_seed(5)
        filled = [gw.empty(7).uniform_(-1, 3), gw.empty(7).normal_(1, 2)]
        made = [gw.rand(3, 5), gw.randn(3, 5), gw.randint(-4, 9, (20,)), gw.randperm(30)]
        return [*made, *filled, gw.rand(2)]

    got = draw()
    for name in ("rand", "randn", "random_scaled", "randperm", "uniform_", "normal_"):
        _fall_back(name, monkeypatch)
    for mine, other in zip(got, draw(), strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=2e-6, atol=2e-6)


def test_an_argument_that_was_not_given_leaves_a_call_plain() -> None:
    x = gw.arange(6)
    for args in ((x, 5, ..., None), (5, (3,), ..., None), (x, (..., 1))):
        assert _core.dispatch_flags(args) == 0


LIKE = [(2, 3, 4), (2, 0, 4), (), (1, 5)]


@pytest.mark.parametrize("shape", LIKE)
@pytest.mark.parametrize("layout", ["contiguous", "reversed", "expanded"])
@pytest.mark.parametrize("dtype", [gw.float32, gw.int64, gw.bool, gw.float16])
def test_copies_in_the_layout_of_another_tensor(
    shape: tuple[int, ...], layout: str, dtype: gw.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    like = {
        "contiguous": gw.zeros(shape),
        "reversed": gw.zeros(shape[::-1]).permute(tuple(reversed(range(len(shape))))),
        "expanded": gw.zeros(()).expand(shape),
    }[layout]
    sources = [gw.arange(like.numel()).reshape(shape).to(dtype), gw.ones((), dtype=dtype)]
    for src in (sources[0], sources[1].expand(shape), sources[1]):
        with monkeypatch.context() as patch:
            kernel: Any = op("copy").run
            got = ops.copy(like, src)
            patch.setattr(op("copy"), "run", kernel.fallback)
            _same(got, ops.copy(like, src))


KEYS = [
    0, -1, (0, 1), (slice(None), 1), slice(1, 3), (slice(1, 3), slice(0, 4, 2)), None, ...,
    (..., 0), (0, ...), (None, 1, None), (slice(2, 1),), (),
    (1, ..., None, 2),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_subscripts_that_are_views(key: Any) -> None:
    array = np.arange(60.0).reshape(4, 3, 5)
    x = gw.from_numpy(array)
    view = x[key]
    np.testing.assert_array_equal(view.numpy(), array[key])
    assert view._storage is x._storage
    x[key] = 7.0
    assert (array[key] == 7.0).all()


PICKS = [
    ((0, 2),), (slice(None), (1, 0)), ((0, 1), (2, 1)), ((0, 1), slice(None), (3, 4)),
    ((3, -1), 1), (slice(1, 3), (0, 2)), (((0, 1), (2, 3)),), (..., (4, 0, 0)),
]  # fmt: skip


@pytest.mark.parametrize("key", PICKS, ids=repr)
def test_subscripts_by_positions(key: tuple[Any, ...]) -> None:
    array = np.arange(60.0).reshape(4, 3, 5)
    as_tensors = tuple(gw.tensor(k) if isinstance(k, tuple) else k for k in key)
    as_arrays = tuple(np.array(k) if isinstance(k, tuple) else k for k in key)
    x = gw.from_numpy(array)
    np.testing.assert_array_equal(x[as_tensors].numpy(), array[as_arrays])
    x[as_tensors] = -1.0
    assert (array[as_arrays] == -1.0).all()


@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 3, 5)])
def test_subscripts_by_a_mask(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    array, mask = rng.random((4, 3, 5)), rng.random(shape) < 0.5
    np.testing.assert_array_equal(gw.from_numpy(array)[gw.from_numpy(mask)].numpy(), array[mask])


def test_a_position_out_of_range_is_refused() -> None:
    x, far = gw.zeros(3, 3), gw.tensor([3])
    for call in (lambda: x[far], lambda: x[:, far], lambda: gw.gather(x, 0, far.expand(1, 1)),
                 lambda: gw.index_select(x, 0, far)):
        with pytest.raises(IndexError):
            call()


def test_gradients_pass_through_subscripts() -> None:
    x = gw.zeros(3, 4).requires_grad_()
    (x[1, 1:3].sum() + 2 * x[gw.tensor([0, 0])].sum()).backward()
    expected = np.zeros((3, 4))
    expected[1, 1:3], expected[0] = 1, 4
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_writing_counts_as_a_change() -> None:
    x = gw.zeros(3)
    version = x._version
    for write in (lambda: x.fill_(1), lambda: x.zero_(), lambda: x.uniform_(),
                  lambda: x.normal_(), lambda: x.scatter_add_(0, gw.tensor([1]), gw.ones(1))):
        write()
        version += 1
        assert x._version == version


def test_a_step_of_an_optimiser_by_other_than_numbers() -> None:
    """The first that is none is told, and nothing is asked of those behind it."""
    class Asked:
        def __float__(self) -> float:
            raise AssertionError("asked")

    tensors = [gw.ones(3) for _ in range(5)]
    with pytest.raises(TypeError, match="must be real number, not str"):
        _core.rule_step("adagrad", *tensors, (0.1, "a", Asked()), 0.0, False)
    assert tensors[0].tolist() == [1.0, 1.0, 1.0]
