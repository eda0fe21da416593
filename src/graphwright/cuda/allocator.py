"""Memory of GPUs: how much tensors have, how much is kept for the next ones."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from graphwright.cuda.presence import lacking, require
from graphwright.runtime import _core
from graphwright.runtime.cuda.devices import index_of, is_available
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

_NONE_OVERSIZE = {
    "max_split_size": -1,
    **{f"oversize_{what}.{kind}": 0 for what in ("allocations", "segments")
       for kind in ("current", "peak", "allocated", "freed")},
}


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """Figures of the allocator, in the order of their names; none without a GPU.

    `allocated_bytes.all.current` and its like: of `allocation`, `segment`, `active` and
    `inactive_split` numbers and bytes, `reserved_bytes` and `requested_bytes`; in the
    `small_pool`, the `large_pool` and `all`; the `current` and `peak` figures and the sums of what
    was `allocated` and `freed`. `num_alloc_retries` counts the flushes for want of memory,
    `num_ooms` the errors, `num_oom_rejections` the allocations beyond the share that
    `set_per_process_memory_fraction` allows. Blocks of any size are split: `max_split_size` is -1,
    and nothing is oversize.

    Args:
        device: the GPU, as a device or its index; the current one if None.
    """
    if not is_available():
        return OrderedDict()
    found = _core.cuda_memory_stats(index_of(device)) | _NONE_OVERSIZE
    return OrderedDict(sorted(found.items()))


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """`memory_stats` as dicts of dicts: `["allocated_bytes"]["all"]["current"]`."""
    return _nested(memory_stats(device))


def _nested(stats: dict[str, int]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in stats.items():
        inner, (*path, last) = nested, name.split(".")
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


def _figure(name: str, device: Any) -> int:
    return memory_stats(device).get(f"{name}_bytes.all.current", 0)


def _peak(name: str, device: Any) -> int:
    return memory_stats(device).get(f"{name}_bytes.all.peak", 0)


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors on a GPU have; 0 without one."""
    return _figure("allocated", device)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors had, since the start or `reset_peak_memory_stats`."""
    return _peak("allocated", device)


def memory_reserved(device: Any = None) -> int:
    """Bytes that were obtained from the driver, for tensors and for later ones."""
    return _figure("reserved", device)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were reserved, since the start or `reset_peak_memory_stats`."""
    return _peak("reserved", device)


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def reset_peak_memory_stats(device: Any = None) -> None:
    """Take the present figures as the greatest; without a GPU there are none."""
    if is_available():
        _core.cuda_reset_stats(index_of(device), False)


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Count anew what was allocated and freed; without a GPU there is nothing to count."""
    if is_available():
        _core.cuda_reset_stats(index_of(device), True)


def empty_cache() -> None:
    """Give memory that no tensor has back to the driver; without a GPU there is none."""
    if is_available() and _core.cuda_is_initialized():
        _core.cuda_empty_cache()


def _size(count: int) -> str:
    """`12.50 MiB`, and its like."""
    value, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{count} B" if units[0] == "B" else f"{value:.2f} {units[0]}"


_ROWS = {
    "Allocated memory": "allocated_bytes",
    "Active memory": "active_bytes",
    "Requested memory": "requested_bytes",
    "Reserved memory": "reserved_bytes",
    "Non-releasable memory": "inactive_split_bytes",
    "Allocations": "allocation",
    "Active allocations": "active",
    "Reserved segments": "segment",
    "Non-releasable parts": "inactive_split",
}
_PARTS = {"all": "", "large_pool": "  of large blocks", "small_pool": "  of small blocks"}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The allocator's figures as a table to read.

    Args:
        device: the GPU, as a device or its index; the current one if None.
        abbreviated: leave out the figures of small and large blocks alone.

    Raises AssertionError where there is no GPU.
    """
    require()
    index = index_of(device)
    stats = memory_stats(index)
    heads = ("Current", "Peak", "Allocated in all", "Freed in all")
    lines = [
        f"Memory of cuda:{index}: {stats['num_alloc_retries']} flushes for want of memory, "
        f"{stats['num_ooms']} errors",
        f"{'':24}" + "".join(f"{head:>18}" for head in heads),
    ]
    for title, name in _ROWS.items():
        for part, suffix in _PARTS.items():
            if part != "all" and abbreviated:
                continue
            keys = ("current", "peak", "allocated", "freed")
            values = [stats[f"{name}.{part}.{key}"] for key in keys]
            shown = [_size(v) if name.endswith("bytes") else str(v) for v in values]
            lines.append(f"{suffix or title:24}" + "".join(f"{text:>18}" for text in shown))
    return "\n".join(lines) + "\n"


def memory_snapshot(mempool_id: Any = None) -> list[dict[str, int]]:
    """What tensors have, on all GPUs: address, device, stream, size and requested size in bytes.

    Raises AssertionError where there is no GPU.
    """
    require()
    return [
        {"address": address, "device": device, "stream": stream, "size": size,
         "requested_size": requested}
        for device in range(_core.cuda_device_count())
        for address, size, requested, stream in _core.cuda_live_blocks(device)
    ]


class _Fractions:
    """What share of a GPU's memory this process may have, where that was set."""

    def __init__(self) -> None:
        self.by_device: dict[int, float] = {}


_FRACTIONS = _Fractions()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Allow this process a share of a GPU's memory; more is an OutOfMemoryError.

    Args:
        fraction: from 0 to 1, of all memory of the GPU.
        device: the GPU, as a device or its index; the current one if None.

    Raises:
        AssertionError: there is no GPU.
        TypeError: `fraction` is no float.
        ValueError: `fraction` is below 0 or above 1.
    """
    require()
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = index_of(device)
    total = _core.cuda_device_facts(index)["total_memory"]
    _core.cuda_set_memory_limit(index, max(1, int(total * fraction)))
    _FRACTIONS.by_device[index] = fraction


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The share that `set_per_process_memory_fraction` has set; 1.0 at first.

    Raises AssertionError where there is no GPU.
    """
    require()
    return _FRACTIONS.by_device.get(index_of(device), 1.0)


def host_memory_stats() -> OrderedDict[str, int]:
    """Figures of pinned memory of the host, in the order of their names; none without a GPU.

    Of `allocations` and `allocated_bytes`, which are all blocks that the driver gave, and of
    `active_requests` and `active_bytes`, those that tensors have or copies still use: the
    `current` and `peak` figures and the sums of what was `allocated` and `freed`. Blocks have
    sizes of powers of two. `num_host_alloc` and `num_host_free` count the driver's calls, whose
    time is not measured.
    """
    return OrderedDict(_core.pinned_stats() if is_available() else {})


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """`host_memory_stats` as dicts of dicts."""
    return _nested(host_memory_stats())


def reset_peak_host_memory_stats() -> None:
    """Take the present figures of pinned memory as the greatest."""
    _core.reset_pinned_stats(False)


def reset_accumulated_host_memory_stats() -> None:
    """Count anew what pinned memory was allocated and freed."""
    _core.reset_pinned_stats(True)


_RAW: dict[int, Any] = {}
"""Memory that other libraries were given, by its address."""


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """The address of memory for another library, until `caching_allocator_delete`.

    Args:
        size: bytes.
        device: the GPU, as a device or its index; the current one if None.
        stream: must be None: the memory is for the work of the current stream.

    Raises:
        AssertionError: there is no GPU.
        NotImplementedError: a stream is given.
        OutOfMemoryError: memory does not suffice.
    """
    require()
    if stream is not None:
        raise NotImplementedError("caching_allocator_alloc: use `with cuda.stream(...)` instead")
    memory = _core.cuda_empty(Tensor, (size,), (1,), dtypes.uint8, index_of(device))
    _RAW[memory.data_ptr()] = memory
    return memory.data_ptr()


def caching_allocator_delete(mem_ptr: int) -> None:
    """Give back what `caching_allocator_alloc` gave.

    Raises AssertionError where there is no GPU, ValueError for another address.
    """
    require()
    if _RAW.pop(mem_ptr, None) is None:
        raise ValueError(f"caching_allocator_alloc did not give the address {mem_ptr:#x}")


def get_allocator_backend() -> str:
    """"native": the allocator is graphwright's own. Raises AssertionError without a GPU."""
    require()
    return "native"


caching_allocator_enable = lacking("caching_allocator_enable")
caching_allocator_disabled = lacking("caching_allocator_disabled")
change_current_allocator = lacking("change_current_allocator")
use_mem_pool = lacking("use_mem_pool")
