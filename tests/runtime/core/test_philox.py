"""Philox4x32-10 against an implementation in NumPy that meets Random123's known answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from graphwright.runtime import _core

Words = NDArray[np.uint32]


def philox(counter: NDArray[np.uint64], key: tuple[int, int]) -> Words:
    """Counters of shape (n, 4), words as uint64; returns the random words, (n, 4)."""
    mask = np.uint64(0xFFFFFFFF)
    x0, x1, x2, x3 = (counter[:, i].copy() for i in range(4))
    k0, k1 = (np.uint64(k) for k in key)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * x0, np.uint64(0xCD9E8D57) * x2
        x0, x1, x2, x3 = (
            (p1 >> np.uint64(32)) ^ x1 ^ k0,
            p1 & mask,
            (p0 >> np.uint64(32)) ^ x3 ^ k1,
            p0 & mask,
        )
        k0 = (k0 + np.uint64(0x9E3779B9)) & mask
        k1 = (k1 + np.uint64(0xBB67AE85)) & mask
    return np.stack([x0, x1, x2, x3], axis=1).astype(np.uint32)


def expected_words(n: int, seed: int, offset: int) -> Words:
    blocks = np.arange((n + 3) // 4, dtype=np.uint64)
    low = np.uint64(0xFFFFFFFF)
    counter = np.stack(
        [
            blocks & low,
            blocks >> np.uint64(32),
            np.full_like(blocks, offset & 0xFFFFFFFF),
            np.full_like(blocks, offset >> 32),
        ],
        axis=1,
    )
    return philox(counter, (seed & 0xFFFFFFFF, seed >> 32)).reshape(-1)[:n]


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ([0] * 4, (0, 0), [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        (
            [0xFFFFFFFF] * 4,
            (0xFFFFFFFF, 0xFFFFFFFF),
            [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
        ),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            (0xA4093822, 0x299F31D0),
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_known_answers(counter: list[int], key: tuple[int, int], answer: list[int]) -> None:
    assert philox(np.array([counter], np.uint64), key)[0].tolist() == answer


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 63, 64, 65, 1000, 70_000])
@pytest.mark.parametrize(("seed", "offset"), [(0, 0), (2**64 - 1, 2**64 - 1), (1 << 33, 5 << 31)])
def test_words(n: int, seed: int, offset: int) -> None:
    out = np.empty(n, np.uint32)
    _core.philox_words(out, seed, offset)
    np.testing.assert_array_equal(out, expected_words(n, seed, offset))


def test_uniforms_do_not_depend_on_the_threads() -> None:
    n, old = 300_001, _core.num_threads()
    expected = (expected_words(n, 7, 9) >> np.uint32(8)).astype("f") * np.float32(2**-24)
    try:
        for threads in (1, 2, 5):
            _core.set_num_threads(threads)
            out = np.empty(n, "f")
            _core.philox_uniform(out, 7, 9)
            np.testing.assert_array_equal(out, expected)
    finally:
        _core.set_num_threads(old)
    assert expected.min() >= 0 and expected.max() < 1 and abs(expected.mean() - 0.5) < 0.003


def test_the_default_generator() -> None:
    state = _core.rng_state()
    try:
        _core.manual_seed(123)
        assert _core.seed() == 123 and _core.rng_state() == (123, 0)
        assert _core.reserve_offset(3) == 0 and _core.reserve_offset(1) == 3
        _core.manual_seed(-1)
        assert _core.seed() == 2**64 - 1
        _core.set_rng_state(5, 6)
        assert _core.rng_state() == (5, 6)
    finally:
        _core.set_rng_state(*state)


def test_outputs_that_are_refused() -> None:
    for bad in (np.empty(4, "d"), np.empty((4, 4), "f").T, np.empty(8, "f")[::2]):
        with pytest.raises(ValueError, match="C-contiguous"):
            _core.philox_uniform(bad, 0, 0)
    frozen = np.zeros(4, "f")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        _core.philox_uniform(frozen, 0, 0)
