"""Kernels in C of padding, losses by class, segments, one_hot, batches of products, and draws."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import op

RNG = np.random.default_rng(0)
MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""Modes of padding, and what NumPy calls them."""


def in_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the op run on its kernel in Python."""
    kernel: Any = op(name).run
    monkeypatch.setattr(op(name), "run", kernel.fallback)


PADDED = [
    (mode, dtype)
    for mode in MODES
    for dtype in ("bool", "int16", "float32", "bfloat16", "complex128")
    if dtype != "bool" or mode == "circular"
]
"""Masks go around only; the other modes refuse them, as in PyTorch."""


@pytest.mark.parametrize(("mode", "dtype"), PADDED)
@pytest.mark.parametrize(
    ("shape", "pad"),
    [((3, 5), (1, 2)), ((2, 3, 5), (4, 0)), ((2, 3, 5), (1, 1, 2, 2)), ((3, 5), (0, 0)),
     ((1, 3, 4, 5), (3, 0, 0, 2)), ((1, 2, 3, 4, 5), (1, 1, 1, 1, 1, 1))],
)  # fmt: skip
def test_padding_by_elements(dtype: str, mode: Any, shape: Any, pad: Any) -> None:
    x = gw.arange(float(np.prod(shape))).reshape(shape).to(getattr(gw, dtype))
    widths = [(pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)][::-1]
    widths = [(0, 0)] * (len(shape) - len(widths)) + widths
    for tensor in (x, x.transpose(0, -1).contiguous().transpose(0, -1)):
        want = np.pad(x.to(gw.complex128).numpy(), widths, mode=MODES[mode])
        got = gw.nn.functional.pad(tensor, pad, mode)
        assert got.dtype is x.dtype
        assert (got.to(gw.complex128).numpy() == want).all()


@pytest.mark.parametrize("mode", MODES)
def test_padding_that_is_recorded_has_the_gradient_of_its_parts(mode: str) -> None:
    x = gw.arange(12.0).reshape(3, 4).requires_grad_()
    y = gw.nn.functional.pad(x, (2, 1), mode)
    (y * gw.arange(float(y.numel())).reshape(y.shape)).sum().backward()
    want = np.zeros(12)
    places = np.pad(np.arange(12).reshape(3, 4), ((0, 0), (2, 1)), mode=MODES[mode])
    np.add.at(want, places.reshape(-1), np.arange(places.size))
    assert x.grad.reshape(-1).tolist() == want.tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pad", [(9, 0), (0, 9), (1,), (1, 1, 1, 1, 1, 1)])
def test_padding_that_does_not_fit_is_refused(mode: str, pad: tuple[int, ...]) -> None:
    if mode == "replicate" and pad in ((9, 0), (0, 9)):
        assert gw.nn.functional.pad(gw.zeros(2, 3), pad, mode).shape == (2, 12)
        return
    with pytest.raises((RuntimeError, NotImplementedError)):
        gw.nn.functional.pad(gw.zeros(2, 3), pad, mode)


@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5), (2, 3, 2, 2)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_losses_by_class(
    shape: Any, reduction: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = gw.from_numpy(RNG.random(shape)).to(dtype)
    target = gw.from_numpy(RNG.integers(0, shape[1], (shape[0], *shape[2:])))
    weights = gw.from_numpy(RNG.random(shape[1])).to(dtype)

    def found() -> list[list[float]]:
        result = []
        for weight, ignored in itertools.product((None, weights), (-100, 1)):
            x = values.clone().requires_grad_()
            loss = ops.nll_loss(x, target, weight, ignored, reduction)
            loss.sum().backward()
            result.append([*loss.reshape(-1).tolist(), *x.grad.reshape(-1).tolist()])
        return result

    got = found()
    for name in ("nll_loss", "nll_loss_backward"):
        in_python(name, monkeypatch)
    for mine, other in zip(got, found(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-7)


def test_a_class_that_there_is_not_is_refused() -> None:
    x, weight = gw.zeros(2, 3), gw.ones(3)
    for target in (gw.tensor([0, 3]), gw.tensor([-1, 0])):
        with pytest.raises(IndexError):
            gw.nn.functional.nll_loss(x, target, weight)
    assert gw.nn.functional.nll_loss(x, gw.tensor([1, 1]), weight, ignore_index=1).isnan().item()


SEGMENTS = {
    "lengths": ([3, 0, 7], [10], [4, 6, 0]),
    "offsets": ([0, 3, 3, 10], [2, 4, 9], [0, 10]),
}


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("by", SEGMENTS)
@pytest.mark.parametrize("initial", [None, 1.5])
def test_segments(
    reduce: str, by: str, initial: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = RNG.random((10, 2, 2))
    values[4, 1] = np.nan
    tensors = [gw.from_numpy(v).to(d) for v in (values, values[:, 0, 0])
               for d in (gw.float32, gw.float64)]
    cases: list[tuple[gw.Tensor, Any]] = [(x, {by: gw.tensor(s)}) for x in tensors
                                          for s in SEGMENTS[by]]

    def found() -> list[gw.Tensor]:
        return [gw.segment_reduce(x, reduce, initial=initial, **given) for x, given in cases]

    got = found()
    in_python("segment_reduce", monkeypatch)
    for mine, other in zip(got, found(), strict=True):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("by", SEGMENTS)
def test_gradients_of_segments(reduce: str, by: str) -> None:
    x = gw.from_numpy(RNG.random((10, 2))).requires_grad_()
    for sizes in SEGMENTS[by]:
        given = {by: gw.tensor(sizes)}

        def function(data: gw.Tensor, given: Any = given) -> Any:
            return gw.segment_reduce(data, reduce, initial=1.0, **given)

        assert gw.autograd.gradcheck(function, (x,))
        assert gw.autograd.gradgradcheck(function, (x,))


@pytest.mark.parametrize("lengths", [[3, 3], [11], [-1, 11], [5, 6]])
def test_lengths_that_do_not_sum_up_are_refused(lengths: list[int]) -> None:
    with pytest.raises(RuntimeError, match="lengths"):
        gw.segment_reduce(gw.zeros(10), "sum", lengths=gw.tensor(lengths))


def test_one_hot() -> None:
    for places in ([1, 5, 7], [[0, 1], [2, 0]], [0], [*range(300), 0]):
        for classes in (-1, 300):
            got = gw.nn.functional.one_hot(gw.tensor(places), classes)
            size = int(np.max(places)) + 1 if classes < 0 else classes
            assert (got.numpy() == np.eye(size, dtype=np.int64)[places]).all()
    for places, classes in (([3], 3), ([-1], 4), ([0], 0), ([0], -2), ([1] * 400 + [-1], 300)):
        with pytest.raises(RuntimeError, match="one_hot"):
            gw.nn.functional.one_hot(gw.tensor(places), classes)
    assert gw.nn.functional.one_hot(gw.tensor([[0, 1, 2], [2, 1, 0]]).t()).is_contiguous()


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_products_of_batches_of_several_dims(dtype: Any) -> None:
    x = gw.from_numpy(RNG.random((2, 3, 4, 5))).to(dtype)
    turned = x.transpose(-1, -2)
    swapped = x.transpose(0, 1)
    pairs = [
        (x, turned), (swapped, swapped.transpose(-1, -2)), (x[:1].expand(2, 3, 4, 5), turned),
        (x[:, :1].expand(2, 3, 4, 5), turned), (x[None], turned[None]), (x[:, 1:], turned[:, 1:]),
        (x[::2], turned[::2]), (x[:, 0][:, None], turned[:, 0][:, None]),
    ]  # fmt: skip
    for a, b in pairs:
        np.testing.assert_allclose((a @ b).numpy(), a.numpy() @ b.numpy(), rtol=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2, 3, float("inf")])
def test_distances_have_the_gradient_of_their_parts(order: float) -> None:
    x, y = (gw.from_numpy(RNG.random(s)).requires_grad_() for s in ((2, 4, 3), (2, 5, 3)))
    want = ops.pair_distances(x, y, float(order), None)
    got = gw.cdist(x, y, order)
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy())
    for mine, other in zip(
        gw.autograd.grad(got.sum(), (x, y)), gw.autograd.grad(want.sum(), (x, y)), strict=True
    ):
        np.testing.assert_allclose(mine.numpy(), other.numpy())


def test_a_row_that_is_not_finite_leaves_the_distances_of_others_alone() -> None:
    x, y = (RNG.random((40, 3)) for _ in range(2))
    x[4, 1], y[7, 2] = np.nan, np.inf
    want = np.sqrt(np.square(x[:, None] - y[None]).sum(-1))
    got = gw.cdist(gw.from_numpy(x), gw.from_numpy(y))
    np.testing.assert_allclose(got.numpy(), want)


@pytest.mark.parametrize("order", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("rows", [2, 30])
def test_distances_whose_powers_float32_does_not_have(rows: int, order: float) -> None:
    """However many rows there are, and compiled: what is a float32 is a finite distance."""
    x = gw.full((rows, 3), 1e30)
    x[0] = -1e30
    want = 2e30 * 3 ** (1 / order)
    for call in (gw.cdist, gw.compile(gw.cdist)):
        got = call(x, x, order)
        assert got[0, 1].item() == pytest.approx(want, rel=1e-6)
        assert got[1, 1].item() == 0


DRAWS = {
    "rand": lambda g, d: gw.rand(3, 5, generator=g, dtype=d),
    "randn": lambda g, d: gw.randn(3, 5, generator=g, dtype=d),
    "rand_like": lambda g, d: gw.rand_like(gw.zeros(7, dtype=d), generator=g),
    "randn_like": lambda g, d: gw.randn_like(gw.zeros(7, dtype=d), generator=g),
    "uniform_": lambda g, d: gw.zeros(7, dtype=d).uniform_(-1, 3, generator=g),
    "normal_": lambda g, d: gw.zeros(7, dtype=d).normal_(1, 2, generator=g),
    "random_scaled": lambda g, d: gw.randint(-4, 9, (20,), generator=g),
    "randperm": lambda g, d: gw.randperm(30, generator=g),
    "bernoulli": lambda g, d: gw.stack([
        gw.bernoulli(gw.full((9,), 0.3, dtype=d), generator=g),
        gw.bernoulli(gw.zeros(9, dtype=d), 0.6, generator=g)]),
    "bernoulli_": lambda g, d: gw.stack([
        gw.zeros(9, dtype=d).bernoulli_(0.7, generator=g),
        gw.zeros(9, dtype=d).bernoulli_(gw.full((9,), 0.4, dtype=d), generator=g)]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_those_of_the_kernels_in_python(
    name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn() -> list[Any]:
        gw.manual_seed(3)
        stream = gw.Generator().manual_seed(5)
        found = [DRAWS[name](generator, dtype) for generator in (None, stream, stream)]
        return [*found, gw.rand(3), gw.rand(3, generator=stream)]

    got = drawn()
    in_python(name, monkeypatch)
    for mine, other in zip(got, drawn(), strict=True):
        assert mine.dtype is other.dtype
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=2e-6, atol=2e-6)


def test_chances_out_of_range_are_refused() -> None:
    for p in (-0.1, 1.5, float("nan")):
        with pytest.raises(RuntimeError):
            gw.zeros(3).bernoulli_(p)
        with pytest.raises(RuntimeError):
            gw.bernoulli(gw.full((3,), p))
    with pytest.raises((TypeError, RuntimeError, AttributeError)):
        gw.rand(3, generator="no generator")


def test_devices_by_name() -> None:
    assert gw.zeros(2, device="cpu").tolist() == [0.0, 0.0]
    assert gw.eye(2, device="cpu").tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert gw.zeros(2, device="meta").device.type == "meta"
    with pytest.raises(RuntimeError, match="device"):
        gw.zeros(2, device="nowhere")
    x = gw.zeros(2)
    assert x.cpu() is x
    assert x.to(x.device) is x
    assert x.to("cpu") is x
    assert x.to("meta").device.type == "meta"
    assert x.to(gw.float64).dtype is gw.float64


def test_gives_back_what_it_borrows() -> None:
    stream, x, places = gw.Generator(), gw.rand(4, 3), gw.tensor([0, 2, 1, 0])
    weight, lengths = gw.rand(3), gw.tensor([1, 3])
    held = (stream, x, places, weight, lengths)

    def run() -> None:
        gw.rand(3, generator=stream)
        gw.randperm(3, generator=stream)
        gw.bernoulli(x, generator=stream)
        gw.nn.functional.nll_loss(x, places, weight)
        gw.nn.functional.pad(x, (1, 1), "reflect")
        gw.nn.functional.one_hot(places)
        gw.segment_reduce(x, "sum", lengths=lengths)

    run()
    before = [sys.getrefcount(o) for o in held]
    for _ in range(50):
        run()
    assert [sys.getrefcount(o) for o in held] == before


def test_in_place_forms() -> None:
    for dtype in (gw.float32, gw.float64, gw.int64, gw.complex64):
        for name in ("index_add_", "masked_scatter_"):
            x = gw.arange(12.0).reshape(3, 4).to(dtype)
            places, rows = gw.tensor([2, 0, 2]), gw.arange(12.0).reshape(3, 4).to(dtype)
            mask = gw.tensor([True, False, True, True])
            args: Any = (0, places, rows) if name == "index_add_" else (mask, rows)
            for tensor in (x, x.t().contiguous().t()):
                want, before = getattr(tensor, name[:-1])(*args), tensor._version
                assert getattr(tensor, name)(*args) is tensor
                assert tensor.tolist() == want.tolist()
                assert tensor._version == before + 1
    with pytest.raises((RuntimeError, IndexError)):
        gw.zeros(3).index_add_(0, gw.tensor([3]), gw.ones(1))
    with pytest.raises(RuntimeError):
        gw.zeros(3).masked_scatter_(gw.ones(3, dtype=gw.bool), gw.ones(2))


@pytest.mark.parametrize("alpha", [2.7, -2.7, True, 0.4])
@pytest.mark.parametrize("dtype", [gw.int8, gw.int32, gw.int64])
def test_integers_are_added_a_whole_number_of_times(dtype: gw.dtype, alpha: float) -> None:
    x, places, rows = gw.ones(2, dtype=dtype), gw.tensor([1, 0]), gw.tensor([3, 4]).to(dtype)
    added = lambda x: x.index_add(0, places, rows, alpha=alpha)  # noqa: E731
    want = [1 + 4 * int(alpha), 1 + 3 * int(alpha)]
    assert added(x).tolist() == gw.compile(added)(x).tolist() == want
    assert x.clone().index_add_(0, places, rows, alpha=alpha).tolist() == want


def test_truths_in_place() -> None:
    mask, other = gw.tensor([True, False]), gw.tensor([True, True])
    assert mask.clone().logical_not_().tolist() == [False, True]
    assert mask.clone().logical_and_(other).tolist() == [True, False]
    assert mask.clone().eq_(other).tolist() == [True, False]
    numbers = gw.tensor([2.0, 0.0])
    assert numbers.clone().logical_not_().tolist() == [0.0, 1.0]
    assert numbers.clone().eq_(0).tolist() == [0.0, 1.0]


def test_bounds_in_place() -> None:
    nan = float("nan")
    for dtype in (gw.float32, gw.bfloat16, gw.int64):
        x = gw.tensor([-3, 0, 5]).to(dtype)
        assert x.clone().clamp_min_(0).tolist() == [0, 0, 5]
        assert x.clone().clamp_max_(1).tolist() == [-3, 0, 1]
        assert x.clone().clamp_(min=-1).tolist() == [-1, 0, 5]
        assert x.clone().clamp_(max=gw.tensor(2).to(dtype)).tolist() == [-3, 0, 2]
    assert gw.tensor([nan, 1.0]).clamp_min_(2.0).isnan().tolist() == [True, False]
    with pytest.raises(RuntimeError):
        gw.zeros(2).clamp_()
    with pytest.raises(RuntimeError):
        gw.tensor([1]).clamp_min_(0.5)


# -- slices that begin anywhere, products of few halves


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("repeats", [2, 5])
def test_repeated_slices_of_bytes_at_an_odd_address(width: int, repeats: int) -> None:
    values = RNG.integers(0, 256, size=1 + 70 * width).astype(np.uint8)
    x = gw.from_numpy(values)[1:].view(70, width)
    want = values[1:].reshape(70, width).repeat(repeats, 0)
    np.testing.assert_array_equal(x.repeat_interleave(repeats, 0).numpy(), want)


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_a_large_product_of_few_halves(dtype: Any) -> None:
    column, row = gw.arange(200.0).view(200, 1).to(dtype), gw.arange(150.0).view(1, 150).to(dtype)
    assert (column @ row == column * row).all()


@pytest.mark.parametrize("dtype", [gw.uint8, gw.bfloat16, gw.float32, gw.float64], ids=str)
@pytest.mark.parametrize("wide", [True, False])
def test_positions_that_all_lines_share(wide: bool, dtype: Any) -> None:
    x = gw.arange(40 * 700).reshape(40, 700).to(dtype)
    index = gw.from_numpy(RNG.permutation(700)).to(gw.int64 if wide else gw.int32)
    want = x.float().numpy()[:, index.numpy()]
    with_steps = gw.stack([index, index], 1)[:, 1]
    for input in (x, x.t().contiguous().t()):
        for places in (index, with_steps):
            np.testing.assert_array_equal(gw.index_select(input, 1, places).float().numpy(), want)
    added = gw.index_add(gw.zeros_like(x), 1, index, x)
    assert gw.equal(gw.index_select(added, 1, index), x)


@pytest.mark.parametrize("bad", [-1, 700])
def test_one_position_out_of_range_that_all_lines_share(bad: int) -> None:
    x, index = gw.zeros(40, 700), gw.arange(700)
    index[650] = bad
    with pytest.raises((IndexError, RuntimeError)):
        gw.index_select(x, 1, index)
    with pytest.raises((IndexError, RuntimeError)):
        x.index_add_(1, index, gw.ones(40, 700))
    assert not x.any()
