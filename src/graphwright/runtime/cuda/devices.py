"""Which GPU is meant."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.device import device as Device


def is_available() -> bool:
    """Whether there is a driver and a GPU that can be used."""
    return _core.cuda_absence() is None


def summary() -> str:
    """The GPUs and the driver's version in one line of a report, or why there are none."""
    why = _core.cuda_absence()
    if why is not None:
        return f"none: {why}"
    found = [_core.cuda_device_facts(index) for index in range(_core.cuda_device_count())]
    version = _core.cuda_driver_version()
    names = [f"{one['name']} (compute capability {one['major']}.{one['minor']}, "
             f"{one['total_memory'] / 2**30:.1f} GiB)" for one in found]
    return f"{', '.join(names)}; the driver is of CUDA {version // 1000}.{version % 1000 // 10}"


def placed(device: Device) -> Device:
    """The device with its index, which is the current one where none is named.

    Raises RuntimeError: there is no such GPU, or this process was forked from one that used it.
    """
    if device.type != "cuda":
        return device
    if not is_available():
        raise RuntimeError(absence("cuda"))
    index = _core.cuda_current_device() if device.index is None else device.index
    count = _core.cuda_device_count()
    if index >= count:
        known = "is one" if count == 1 else f"are {count}"
        raise RuntimeError(
            f"CUDA error: invalid device ordinal: cuda:{index}, where there {known}")
    return Device("cuda", index)


def index_of(device: Any) -> int:
    """The index of the GPU that an argument `device` means: None is the current one.

    Raises RuntimeError for a device that is not there, ValueError for one that is no GPU,
    TypeError for what is no device.
    """
    if type(device) is int:
        device = Device("cuda") if device == -1 else Device("cuda", device)
    elif device is None:
        device = Device("cuda")
    else:
        device = Device(device)
    if device.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    index: int = placed(device).index       # type: ignore[assignment]
    return index
