"""Spectrograms: `stft` and `istft`, transforms of overlapping, weighted pieces of a signal."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Kind, define


def _check_window(name: str, n_fft: int, hop: int, length: int, window: Any) -> None:
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(
            f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}, n_fft={n_fft}"
        )
    if window is not None and (window.ndim != 1 or window.shape[0] != length):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={length}, but got "
            f"{describe(window)}"
        )


def _window(window: Any, length: int, n_fft: int, dtype: Any, device: Any) -> Any:
    """The weights of n_fft places: the window in their middle; ones where none is given."""
    if window is None:
        window = ops.ones((length,), dtype=dtype, device=device)
    if length == n_fft:
        return window
    before = (n_fft - length) // 2
    return ops.constant_pad_nd(window, (before, n_fft - length - before))


def _stft(
    input: Any, n_fft: int, hop_length: Any, win_length: Any, window: Any, center: bool,
    pad_mode: str, normalized: bool, onesided: Any, return_complex: Any, align_to_window: Any,
) -> Any:
    if not (input.dtype.is_floating_point or input.dtype.is_complex) or input.ndim not in (1, 2):
        raise RuntimeError(
            f"stft: expected a 1D or 2D tensor of floating point or complex values, but got "
            f"{describe(input)}"
        )
    turning = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not turning:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    length = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    signal = input if input.ndim == 2 else ops.unsqueeze(input, 0)
    if center:
        around = (n_fft // 2, n_fft // 2)
        signal = ops.squeeze(ops.pad(ops.unsqueeze(signal, 1), around, pad_mode), (1,))
    if not 0 < n_fft <= signal.shape[-1]:
        raise RuntimeError(
            f"stft: expected 0 < n_fft <= {signal.shape[-1]}, but got n_fft={n_fft} for input "
            f"{describe(input)}"
        )
    _check_window("stft", n_fft, hop, length, window)
    weights = _window(window, length, n_fft, input.dtype, input.device)
    frames = ops.mul(ops.unfold(signal, 1, n_fft, hop), weights)
    norm = "ortho" if normalized else None
    half = not turning if onesided is None else onesided
    if half and turning:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    spectrum = ops.fft_rfft(frames, norm=norm) if half else ops.fft_fft(frames, norm=norm)
    spectrum = ops.transpose(spectrum, 1, 2)
    if input.ndim == 1:
        spectrum = ops.squeeze(spectrum, (0,))
    return spectrum if return_complex else ops.view_as_real(spectrum)


define(
    "stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, "
    'Tensor? window=None, bool center=True, str pad_mode="reflect", bool normalized=False, '
    "object onesided=None, object return_complex=None, object align_to_window=None)",
    Kind.COMPOSITE,
    decompose=_stft,
    doc="""Short-time Fourier transform: spectra of overlapping, weighted frames of a signal.

    `out[f, t] = sum_n window[n] * x[t * hop_length + n] * exp(-2 pi i f n / n_fft)`.

    Args:
        input: floating point or complex, `(L,)` or `(N, L)`.
        n_fft: the length of a frame.
        hop_length: the distance between frames; `n_fft // 4` if None.
        win_length: the length of the window, in the middle of the frame; `n_fft` if None.
        window: weights, `(win_length,)`; ones if None.
        center: pad `n_fft // 2` elements at both ends, so that frame t is centred at `t *
            hop_length`.
        pad_mode: how `center` pads, as for `F.pad`.
        normalized: divide by `sqrt(n_fft)`.
        onesided: only the `n_fft // 2 + 1` frequencies from 0; the default for real signals
            and windows.
        return_complex: return complex numbers; pairs of real ones in a last dim if False. Must
            be given for real signals.
        align_to_window: not used.

    Returns: a tensor of shape `(*, frequencies, frames)`.

    Raises:
        RuntimeError: sizes do not fit the signal, or `onesided` is asked of a complex one.

    Example:
        >>> gw.stft(gw.ones(100), n_fft=20, return_complex=True).shape
        graphwright.Size([11, 21])
    """,
)


def _overlapped(frames: Any, hop: int) -> Any:
    """[N, places, frames]: frames added up, each `hop` places after the one before."""
    size, count = frames.shape[1], frames.shape[2]
    total = size + hop * (count - 1)
    starts = ops.mul(ops.arange(count, device=frames.device), hop)
    places = ops.add(ops.unsqueeze(ops.arange(size, device=frames.device), -1), starts)
    flat = ops.reshape(frames, (frames.shape[0], size * count))
    empty = ops.zeros((frames.shape[0], total), dtype=frames.dtype, device=frames.device)
    return ops.index_add(empty, 1, ops.reshape(places, (size * count,)), flat)


def _check_spectrum(input: Any, n_fft: int, half: bool) -> None:
    if not input.dtype.is_complex:
        raise RuntimeError(
            f"istft requires a complex-valued input tensor matching the output from stft with "
            f"return_complex=True, but got {describe(input)}"
        )
    if input.ndim not in (2, 3) or not input.numel():
        raise RuntimeError(
            f"istft: expected a tensor with 2 or 3 dimensions that is not empty, got "
            f"{describe(input)}"
        )
    rows = n_fft // 2 + 1 if half else n_fft
    if input.shape[-2] != rows:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match n_fft ({n_fft}) with onesided={half}: {rows}, but got {describe(input)}"
        )


def _istft(
    input: Any, n_fft: int, hop_length: Any, win_length: Any, window: Any, center: bool,
    normalized: bool, onesided: Any, length: Any, return_complex: bool,
) -> Any:
    size = n_fft if win_length is None else win_length
    hop = n_fft // 4 if hop_length is None else hop_length
    half = onesided
    if half is None:
        half = not input.dtype.is_complex or input.shape[-2] != n_fft
    _check_spectrum(input, n_fft, half)
    _check_window("istft", n_fft, hop, size, window)
    if return_complex and half:
        raise RuntimeError("cannot have onesided output if window or input is complex")
    real = input.dtype.to_real()
    weights = _window(window, size, n_fft, real, input.device)
    spectrum = input if input.ndim == 3 else ops.unsqueeze(input, 0)
    spectrum, norm = ops.transpose(spectrum, 1, 2), "ortho" if normalized else None
    if return_complex:
        frames = ops.fft_ifft(spectrum, norm=norm)
    else:
        frames = ops.fft_irfft(spectrum, n_fft, norm=norm)
    weighted = ops.transpose(ops.mul(frames, weights), 1, 2)
    squares = ops.unsqueeze(ops.unsqueeze(ops.mul(weights, weights), 0), -1)
    envelope = _overlapped(ops.expand(squares, (1, n_fft, weighted.shape[2])), hop)
    return _cut(_overlapped(weighted, hop), envelope, n_fft, center, length, input.ndim)


def _cut(
    signal: Any, envelope: Any, n_fft: int, center: bool, length: Any, ndim: int
) -> Any:
    """The part that is asked for, divided by what the windows sum up to."""
    start = n_fft // 2 if center else 0
    end = signal.shape[1] - start
    if length is not None:
        end = start + length
    stop = min(end, signal.shape[1])
    signal, envelope = ops.slice(signal, 1, start, stop), ops.slice(envelope, 1, start, stop)
    if not envelope.is_fake and not bool(ops.all(ops.gt(ops.abs(envelope), 1e-11))):
        raise RuntimeError("istft: window overlap add min: 0; the windows leave places out")
    signal = ops.div(signal, envelope)
    if end > stop:
        signal = ops.constant_pad_nd(signal, (0, end - stop))
    return ops.squeeze(signal, (0,)) if ndim == 2 else signal


define(
    "istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, bool normalized=False, object onesided=None, "
    "int? length=None, bool return_complex=False)",
    Kind.COMPOSITE,
    decompose=_istft,
    doc="""Signal whose short-time Fourier transform is `input`: the inverse of `stft`.

    Frames are added up where they overlap, and divided by the sum of the squared windows
    (Griffin and Lim, 1984).

    Args:
        input: complex, `(frequencies, frames)` or `(N, frequencies, frames)`.
        n_fft: the length of a frame.
        hop_length: the distance between frames; `n_fft // 4` if None.
        win_length: the length of the window; `n_fft` if None.
        window: weights, `(win_length,)`; ones if None.
        center: `stft` padded the signal, so that `n_fft // 2` elements are cut off at both
            ends.
        normalized: `stft` divided by `sqrt(n_fft)`.
        onesided: `input` has the `n_fft // 2 + 1` frequencies from 0; if None, unless it has
            `n_fft`.
        length: the length of the result, cut or filled up with zeros; all if None.
        return_complex: return a complex signal, which needs all frequencies.

    Returns: a tensor of shape `(L,)` or `(N, L)`.

    Raises:
        RuntimeError: the frequencies do not fit `n_fft`, or the windows leave an element out.

    Example:
        >>> spectrum = gw.stft(gw.ones(100), n_fft=20, return_complex=True)
        >>> gw.istft(spectrum, n_fft=20).shape
        graphwright.Size([100])
    """,
)
