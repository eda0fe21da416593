"""Fourier transforms, windows, and weights of the mel scale."""

from __future__ import annotations

import math
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.element_types import dtype_of
from graphwright.onnx.importing.opsets import op


@op("DFT", since=20)
def dft(
    x: Tensor, dft_length: int | None = None, axis: int = -2, *, inverse: int = 0,
    onesided: int = 0,
) -> Tensor:  # fmt: skip
    """The discrete Fourier transform along an axis; the last dim has real and imaginary parts."""
    axis = axis % x.dim()
    wide = (x if x.dtype in (gw.float32, gw.float64) else x.float()).contiguous()
    if onesided and inverse:
        length = 2 * (x.shape[axis] - 1) if dft_length is None else dft_length
        real = gw.fft.irfft(gw.view_as_complex(wide), n=length, dim=axis)
        return real.unsqueeze(-1).to(x.dtype)
    if onesided:
        result = gw.fft.rfft(wide.select(-1, 0), n=dft_length, dim=axis)
    else:
        whole = wide.squeeze(-1) if x.shape[-1] == 1 else gw.view_as_complex(wide)
        result = (gw.fft.ifft if inverse else gw.fft.fft)(whole, n=dft_length, dim=axis)
    return gw.view_as_real(result).to(x.dtype)


@op("DFT", options_of=(dft,))
def dft_of_attribute_axis(
    x: Tensor, dft_length: int | None = None, *, axis: int = 1, **options: Any
) -> Tensor:
    """DFT of version 17, whose axis is an attribute."""
    return dft(x, dft_length, axis, **options)


@op("STFT")
def stft(
    signal: Tensor, frame_step: int, window: Tensor | None = None,
    frame_length: int | None = None, *, onesided: int = 1,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of frames: (batch, frames, frequencies, 2)."""
    if frame_length is None:
        frame_length = signal.shape[1] if window is None else window.shape[0]
    frames = signal.unfold(1, frame_length, frame_step).transpose(-1, -2)
    if window is not None:
        frames = frames * window.reshape([-1, 1])
    half = bool(onesided) and signal.shape[-1] == 1
    return dft(frames, None, 2, onesided=int(half))


def _window(name: str, a: float, b: float, c: float) -> None:
    """Enter a - b cos(2 pi i / n) + c cos(4 pi i / n), n the size or, symmetric, one less."""
    @op(name)
    def compute(size: int, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
        n = size if periodic else size - 1
        angle = gw.arange(size, dtype=gw.float64) * (2 * math.pi / n)
        window = a - b * gw.cos(angle) + c * gw.cos(2 * angle)
        return window.to(dtype_of(output_datatype))


_window("HannWindow", 0.5, 0.5, 0.0)
_window("HammingWindow", 25 / 46, 21 / 46, 0.0)
_window("BlackmanWindow", 0.42, 0.5, 0.08)


@op("MelWeightMatrix")
def mel_weight_matrix(
    num_mel_bins: int, dft_length: int, sample_rate: int, lower_edge_hertz: float,
    upper_edge_hertz: float, *, output_datatype: int = 1,
) -> Tensor:  # fmt: skip
    """Triangles over frequencies, evenly spaced on the mel scale: (frequencies, bins)."""
    n_frequencies = dft_length // 2 + 1
    low, high = [
        2595 * math.log10(1 + hertz / 700) for hertz in (lower_edge_hertz, upper_edge_hertz)
    ]
    step = (high - low) / (num_mel_bins + 2)
    mels = [low + step * i for i in range(num_mel_bins + 2)]
    hertz_of = [700 * (10 ** (mel / 2595) - 1) for mel in mels]
    places = [math.floor((dft_length + 1) * hertz / sample_rate) for hertz in hertz_of]
    columns = [_triangle(places[i : i + 3], n_frequencies) for i in range(num_mel_bins)]
    return gw.tensor(columns, dtype=gw.float64).t().contiguous().to(dtype_of(output_datatype))


def _triangle(corners: list[int], count: int) -> list[float]:
    """0 but between the outer two corners, 1 at the middle one."""
    first, middle, last = corners
    row = [0.0] * count
    if middle == first and middle < count:
        row[middle] = 1.0
    for place in range(first, min(middle + 1, count)):
        if middle > first:
            row[place] = (place - first) / (middle - first)
    for place in range(middle, min(last, count)):
        if last > middle:
            row[place] = (last - place) / (last - middle)
    return row
