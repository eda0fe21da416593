"""`autocast`: within it products run in 16 bits, and what needs range or precision in float32."""

from __future__ import annotations

import warnings
from typing import Any, Self

from graphwright.amp.casting import run
from graphwright.amp.state import (
    DEVICES,
    UNCACHED,
    current,
    forget_casts,
    lower_dtype,
    set_autocast,
)
from graphwright.autograd.grad_mode import ThreadMode
from graphwright.runtime.cuda.devices import is_available
from graphwright.runtime.dispatch import HOOKS
from graphwright.runtime.errors import require_kind
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType

HOOKS.autocast = run
_SUPPORTED = (dtypes.bfloat16, dtypes.float16)


class autocast(ThreadMode):
    """Automatic casts of op arguments: `with autocast("cpu"):`, or `@autocast("cpu")`.

    Args:
        device_type: "cpu" or "cuda", whose ops are cast; those of the other are as they were.
            "cuda" without a GPU is taken and switched off with a UserWarning.
        dtype: bfloat16 or float16, what products run in; by default `get_autocast_dtype`.
            Another one switches autocast off, with a UserWarning.
        enabled: False runs ops in their arguments' dtypes, also within another autocast.
        cache_enabled: whether the casts of trained leaves are kept until the region ends.

    Which op runs in which dtype: `graphwright.amp.policy`. Gradients have the dtypes of
    what they are gradients of. Backward passes should run outside. float64 and integers are
    never cast. Raises TypeError where device_type is no str, RuntimeError for an unknown one.
    """

    __slots__ = ()

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise TypeError(
                f"Expected `device_type` of type `str`, got: `{type(device_type).__name__}`"
            )
        kind = _known(device_type)
        if dtype is None:
            dtype = get_autocast_dtype(kind)
        if enabled and not is_autocast_available(kind):
            enabled = _refused(f"device_type of {kind!r} is not available here")
        if enabled and dtype not in _SUPPORTED:
            enabled = _refused(
                f"{kind.upper()} Autocast only supports dtypes of bfloat16 and float16")
        caches = not current() & UNCACHED if cache_enabled is None else cache_enabled
        mode = 0 if caches else UNCACHED
        if kind in DEVICES:
            device = DEVICES[kind]
            mode |= device.covered | (device.on if enabled else 0)
            mode |= device.other if dtype is device.other_dtype else 0
        super().__init__(mode)

    @property
    def device(self) -> str:
        """The kind of device whose ops are cast."""
        return "cuda" if self._mode & DEVICES["cuda"].covered else "cpu"

    @property
    def fast_dtype(self) -> Any:
        """What products run in."""
        return lower_dtype(self._mode, self.device)

    def _present(self) -> int:
        return current()

    def _change(self, mode: int) -> None:
        set_autocast(mode)

    def __enter__(self) -> Self:
        super().__enter__()
        return self


def _refused(why: str) -> bool:
    warnings.warn(f"autocast: {why}. Disabling autocast.", UserWarning, stacklevel=3)
    return False


_ELSEWHERE = {
    **dict.fromkeys(("hpu", "xla"), dtypes.bfloat16),
    **dict.fromkeys(("ipu", "mps", "mtia", "xpu"), dtypes.float16),
}
"""Devices of which graphwright has no tensors, and what PyTorch's autocast runs products in."""


def _known(device_type: str) -> str:
    """The kind of device that a str names. RuntimeError where it has no autocast, TypeError for
    what is no str."""
    require_kind("autocast", "device_type", device_type, str)
    kind = device_type.partition(":")[0]
    if kind in _ELSEWHERE:
        return kind
    if kind not in ("cpu", "cuda") or Device(device_type).type != kind:
        raise RuntimeError(f"User specified an unsupported autocast device_type {device_type!r}")
    return kind


def is_autocast_available(device_type: str) -> bool:
    """Whether ops on this kind of device can be cast: on the CPU, and on a GPU where one is."""
    kind = _known(device_type)
    return kind == "cpu" or (kind == "cuda" and is_available())


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Whether ops on a kind of device are cast, on this thread now.

    Args:
        device_type: the kind of device, such as "cpu".

    Raises:
        RuntimeError: there is no such kind of device.

    Example:
        >>> gw.is_autocast_enabled("cpu")
        False
    """
    kind = _known(device_type)
    return kind in DEVICES and bool(current() & DEVICES[kind].on)


def get_autocast_dtype(device_type: str) -> Any:
    """Dtype that autocast runs products in: unless set otherwise bfloat16, on GPUs float16.

    Args:
        device_type: the kind of device, such as "cpu".

    Returns: a dtype.

    Raises:
        RuntimeError: there is no such kind of device.

    Example:
        >>> gw.get_autocast_dtype("cpu")
        graphwright.bfloat16
    """
    kind = _known(device_type)
    return lower_dtype(current(), kind) if kind in DEVICES else _ELSEWHERE[kind]


def is_autocast_cache_enabled() -> bool:
    """Whether autocast keeps the casts of leaves that require gradients.

    Example:
        >>> gw.is_autocast_cache_enabled()
        True
    """
    return not current() & UNCACHED


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast on or off for this thread.

    Args:
        device_type: the kind of device, such as "cpu"; a bool alone is about GPUs.
        enabled: on or off.

    Raises:
        RuntimeError: a kind of device without autocast.

    Example:
        >>> gw.set_autocast_enabled("cpu", False)
    """
    alone = enabled is None and isinstance(device_type, bool)
    kind: Any = "cuda" if alone else device_type
    wanted: Any = device_type if alone else enabled
    require_kind("set_autocast_enabled", "device_type", kind, str)
    require_kind("set_autocast_enabled", "enabled", wanted, bool)
    if is_autocast_available(kind):
        _set_bit(DEVICES[_known(kind)].on, wanted)
    elif wanted:
        raise RuntimeError(f"autocast is not available for device_type {kind!r}")


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the default dtype of `autocast` for this thread.

    Args:
        device_type: the kind of device, such as "cpu".
        dtype: bfloat16 or float16.

    Raises:
        RuntimeError: another dtype, or a kind of device without autocast.

    Example:
        >>> gw.set_autocast_dtype("cpu", gw.bfloat16)
    """
    require_kind("set_autocast_dtype", "device_type", device_type, str)
    require_kind("set_autocast_dtype", "dtype", dtype, DType)
    if dtype not in _SUPPORTED or not is_autocast_available(device_type):
        raise RuntimeError(f"autocast of {device_type!r} to {dtype} is not supported")
    device = DEVICES[_known(device_type)]
    _set_bit(device.other, dtype is device.other_dtype)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether autocast keeps the casts of leaves that require gradients.

    Args:
        enabled: keep them, unless an `autocast` says otherwise.

    Example:
        >>> gw.set_autocast_cache_enabled(True)
    """
    require_kind("set_autocast_cache_enabled", "enabled", enabled, bool)
    _set_bit(UNCACHED, not enabled)


def clear_autocast_cache() -> None:
    """Drop the casts that autocast keeps on this thread.

    Example:
        >>> gw.clear_autocast_cache()
    """
    forget_casts()


FACTS = (
    get_autocast_dtype, is_autocast_available, is_autocast_cache_enabled, is_autocast_enabled,
)
"""Functions that only read autocast's state."""


def _set_bit(bit: int, on: bool) -> None:
    set_autocast(current() & ~bit | (bit if on else 0))


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`, under its older name.

    Example:
        >>> gw.is_autocast_cpu_enabled()
        False
    """
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> Any:
    """`get_autocast_dtype("cpu")`, under its older name.

    Example:
        >>> gw.get_autocast_cpu_dtype()
        graphwright.bfloat16
    """
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """`get_autocast_dtype("cuda")`, under its older name.

    Example:
        >>> gw.get_autocast_gpu_dtype()
        graphwright.float16
    """
    return get_autocast_dtype("cuda")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`, under its older name.

    Args:
        enabled: on or off.

    Example:
        >>> gw.set_autocast_cpu_enabled(False)
    """
    set_autocast_enabled("cpu", enabled)


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype("cpu", dtype)`, under its older name.

    Args:
        dtype: bfloat16 or float16.

    Example:
        >>> gw.set_autocast_cpu_dtype(gw.bfloat16)
    """
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype("cuda", dtype)`, under its older name.

    Args:
        dtype: bfloat16 or float16.

    Raises:
        RuntimeError: another dtype, or there is no GPU.

    Example:
        >>> gw.set_autocast_gpu_dtype(gw.int64)
        Traceback (most recent call last):
        RuntimeError: autocast of 'cuda' to graphwright.int64 is not supported
    """
    set_autocast_dtype("cuda", dtype)
