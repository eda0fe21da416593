"""Numbers made: ranges, spaced by powers, complex ones of their parts, drawn by a generator."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import graphwright as gw


@pytest.mark.parametrize(("dtype", "least"), [(gw.float32, 1e-6), (gw.float64, 1e-14)])
@pytest.mark.parametrize(
    "args", [(0, 2, 5, 10.0), (-1, 3, 1, 2.0), (2, -2, 7, 2.5), (0, 1, 0, 10.0)]
)
def test_logspace_has_powers_of_evenly_spaced_numbers(
    args: tuple[float, float, int, float], dtype: gw.dtype, least: float
) -> None:
    start, end, steps, base = args
    want = np.logspace(start, end, steps, base=base)
    out = gw.logspace(start, end, steps, base, dtype=dtype)
    assert out.dtype is dtype
    np.testing.assert_allclose(out.numpy(), want, rtol=least)


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize(
    "args", [(0, 0, 1), (0, 7), (-3, 300_000), (0.1, 20_000.5, 0.1), (5, -70_000, -0.7),
             (1e300, 1e300, 1), (2**40, 2**40 + 200_000, 3)], ids=str
)
def test_ranges_of_floats_are_rounded_once(args: tuple[float, ...], dtype: gw.dtype) -> None:
    start, end, step = (*args, 1)[:3]
    length = int(np.ceil((end - start) / step))
    want = start + np.arange(length, dtype=np.float64) * step
    out = gw.arange(*args, dtype=dtype)
    assert out.dtype is dtype
    np.testing.assert_array_equal(out.numpy(), want.astype(out.numpy().dtype))


@pytest.mark.parametrize("tensors", [False, True], ids=["numbers", "tensors"])
def test_ends_of_integers_have_no_fraction(tensors: bool) -> None:
    ends = (gw.tensor(0.5), gw.tensor(3.2)) if tensors else (0.5, 3.2)
    assert gw.logspace(*ends, 4, dtype=gw.int64).tolist() == [1, 10, 100, 1000]
    assert gw.linspace(*ends, 4, dtype=gw.int64).tolist() == [0, 1, 2, 3]
    assert gw.linspace(-1, 4, 6, dtype=gw.uint8).tolist() == [255, 204, 154, 104, 54, 4]


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_complex_numbers_of_parts_and_of_sizes_and_angles(dtype: gw.dtype) -> None:
    a, b = gw.randn(3, 4, dtype=dtype), gw.randn(3, 4, dtype=dtype)
    plain, turned = gw.complex(a, b), gw.complex(a.T, b.T)
    np.testing.assert_array_equal(plain.numpy(), a.numpy() + 1j * b.numpy())
    np.testing.assert_array_equal(turned.numpy(), plain.numpy().T)
    want = a.double().numpy() * np.exp(1j * b.double().numpy())
    np.testing.assert_allclose(gw.polar(a, b).numpy(), want, rtol=1e-5)
    assert gw.complex(a, b[0]).shape == (3, 4)


def test_integers_are_drawn_within_their_bounds() -> None:
    drawn = gw.randint(-2, 3, (200,))
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}
    assert gw.randint(4, (2, 0)).shape == (2, 0)
    assert gw.randint(1, (3,)).tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError):
        gw.randint(3, 3, (1,))


def test_a_copy_of_a_generator_goes_on_at_the_same_place() -> None:
    source = gw.Generator().manual_seed(7)
    gw.rand(2, generator=source)
    others = (copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source)))
    want = gw.randn(5, generator=source)
    for other in others:
        assert gw.equal(gw.randn(5, generator=other), want)
    assert copy.deepcopy(gw.default_generator) is gw.default_generator


class _Counting(gw.Generator):
    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    def draw(self, count: int = 1) -> tuple[int, int]:
        self.taken += count
        return super().draw(count)


def test_a_subclass_decides_what_is_drawn() -> None:
    counting = _Counting()
    counting.manual_seed(7)
    first = gw.rand(3, generator=counting)
    assert counting.taken == 1
    assert gw.equal(first, gw.rand(3, generator=gw.Generator().manual_seed(7)))
    with pytest.raises(TypeError, match="generator"):
        gw.rand(3, generator=5)
