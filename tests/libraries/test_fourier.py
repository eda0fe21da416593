"""Fourier transforms against NumPy's, their gradients, and spectrograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.autograd import gradcheck, gradgradcheck

NORMS = (None, "backward", "forward", "ortho")
RNG = np.random.default_rng(4)


def _tensor(shape: tuple[int, ...], real: bool = False) -> Any:
    values = RNG.standard_normal(shape)
    return gw.tensor(values if real else values + 1j * RNG.standard_normal(shape))


def _agree(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dim(name: str, norm: str | None) -> None:
    x = _tensor((3, 6), real=name in ("rfft", "ihfft"))
    transform, theirs = getattr(gw.fft, name), getattr(np.fft, name)
    for n, dim in ((None, -1), (4, 1), (9, 0), (5, -2)):
        _agree(transform(x, n, dim, norm), theirs(x.numpy(), n, dim, norm))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_dims(name: str, norm: str | None) -> None:
    x = _tensor((3, 4, 5), real=name == "rfftn")
    transform, theirs = getattr(gw.fft, name), getattr(np.fft, name)
    for s, dim in ((None, None), (None, (0, 2)), ((2, 6), (1, 2)), ((5, 3, 4), (0, 1, 2))):
        _agree(transform(x, s, dim, norm), theirs(x.numpy(), s, dim, norm))
    planes = getattr(gw.fft, name[:-1] + "2")
    _agree(planes(x, norm=norm), theirs(x.numpy(), None, (-2, -1), norm))


@pytest.mark.parametrize("name", ["hfft2", "hfftn"])
def test_hermitian_transforms_undo_each_other(name: str) -> None:
    signal = _tensor((4, 6), real=True)
    back = getattr(gw.fft, "i" + name)(signal)
    _agree(getattr(gw.fft, name)(back, (4, 6)), signal.numpy())


def test_frequencies_and_their_order() -> None:
    for n in (1, 5, 8):
        _agree(gw.fft.fftfreq(n, 0.5, dtype=gw.float64), np.fft.fftfreq(n, 0.5))
        _agree(gw.fft.rfftfreq(n, dtype=gw.float64), np.fft.rfftfreq(n))
    x = _tensor((4, 5), real=True)
    _agree(gw.fft.fftshift(x), np.fft.fftshift(x.numpy()))
    _agree(gw.fft.ifftshift(x, 1), np.fft.ifftshift(x.numpy(), 1))
    assert gw.fft.fftfreq(4).dtype is gw.float32


@pytest.mark.parametrize(
    ("given", "result"),
    [(gw.float32, gw.complex64), (gw.float64, gw.complex128), (gw.int64, gw.complex64),
     (gw.bool, gw.complex64), (gw.complex64, gw.complex64)],
)
def test_dtypes(given: Any, result: Any) -> None:
    assert gw.fft.fft(gw.ones(4).to(given)).dtype is result


GRADIENTS = {
    "fft": (gw.fft.fft, False),
    "fft_cut": (lambda x: gw.fft.fft(x, 3, norm="ortho"), False),
    "ifft2_filled": (lambda x: gw.fft.ifft2(x, (5, 6)), False),
    "rfft": (gw.fft.rfft, True),
    "rfft_odd": (lambda x: gw.fft.rfft(x, 5, norm="forward"), True),
    "rfftn": (gw.fft.rfftn, True),
    "irfft": (gw.fft.irfft, False),
    "irfft_odd": (lambda x: gw.fft.irfft(x, 5), False),
    "irfftn": (lambda x: gw.fft.irfftn(x, (3, 7)), False),
    "hfft": (gw.fft.hfft, False),
    "ihfft": (gw.fft.ihfft, True),
    "stft": (lambda x: gw.stft(x, 4, 1, return_complex=True), True),
    "istft": (lambda x: gw.istft(x.reshape(3, 4), 4, 1), False),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    function, real = GRADIENTS[name]
    x = _tensor((3, 4), real).requires_grad_()
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


@pytest.mark.parametrize("name", ["fft", "rfft", "stft"])
def test_compiled(name: str) -> None:
    function, real = GRADIENTS[name]
    x = _tensor((3, 8), real)

    def scaled(x: Any) -> Any:
        return function(x * 2) * 3

    _agree(gw.compile(scaled)(x), scaled(x).numpy())


def test_a_signal_comes_back_from_its_spectrogram() -> None:
    signal, window = _tensor((2, 40), real=True), gw.hann_window(16, dtype=gw.float64)
    spectrum = gw.stft(signal, 16, 4, window=window, return_complex=True)
    assert spectrum.shape == (2, 9, 11)
    _agree(gw.istft(spectrum, 16, 4, window=window, length=40), signal.numpy())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: gw.fft.fft(gw.ones(3), 0), RuntimeError, "data points"),
        (lambda: gw.fft.fft(gw.ones(3), dim=1), IndexError, "out of range"),
        (lambda: gw.fft.fft(gw.ones(())), IndexError, "no dimensions"),
        (lambda: gw.fft.fft(gw.ones(3), norm="other"), RuntimeError, "normalization"),
        (lambda: gw.fft.fft(gw.ones(3, dtype=gw.float16)), RuntimeError, "float16"),
        (lambda: gw.fft.fftn(gw.ones(3, 3), dim=(0, 0)), RuntimeError, "unique"),
        (lambda: gw.fft.fftn(gw.ones(3, 3), (2,), (0, 1)), RuntimeError, "same length"),
        (lambda: gw.fft.fftn(gw.ones(3), "ab"), TypeError, "ints"),
        (lambda: gw.fft.rfft(gw.ones(3) * 1j), RuntimeError, "real input"),
        (lambda: gw.stft(gw.ones(9), 4), RuntimeError, "return_complex"),
        (lambda: gw.stft(gw.ones(9), 4, 0, return_complex=True), RuntimeError, "hop_length"),
        (lambda: gw.istft(gw.ones(3, 4), 4), RuntimeError, "complex"),
        (lambda: gw.istft(gw.ones(5, 4) * 1j, 4), RuntimeError, "match n_fft"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
