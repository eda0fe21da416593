"""Which GPUs there are, what they are like, and which one is in use."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from graphwright.cuda.presence import lacking, require
from graphwright.runtime import _core
from graphwright.runtime.cuda.devices import index_of, is_available
from graphwright.runtime.tensor.device import device as Device

has_half = has_magma = False


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return is_available() and _core.cuda_is_initialized()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the GPU knows bfloat16: all that are supported do."""
    return is_available()


def is_tf32_supported() -> bool:
    """Whether the GPU knows TF32: all that are supported do."""
    return is_available()


def device_count() -> int:
    """How many GPUs tensors can be on."""
    return _core.cuda_device_count()


def get_arch_list() -> list[str]:
    """The GPU architectures that there are kernels for from the start: none."""
    return []


def get_gencode_flags() -> str:
    """The flags with which kernels were compiled: there are none from the start."""
    return ""


def init() -> None:
    """Have the GPU ready. Raises AssertionError where there is none, RuntimeError in a fork."""
    require()
    _core.cuda_memory_info(_core.cuda_current_device())


def current_device() -> int:
    """The index of the GPU that this thread uses. Raises AssertionError where there is none."""
    require()
    return _core.cuda_current_device()


def set_device(device: Any) -> None:
    """Use another GPU in this thread.

    Args:
        device: the GPU, as a device or its index; a negative index changes nothing.

    Raises:
        AssertionError: there is no GPU.
        RuntimeError: there is none of that index.
    """
    require()
    if not (isinstance(device, int) and device < 0):
        _core.cuda_set_device(index_of(device))


class DeviceProperties:
    """What a GPU is like, by the names of PyTorch.

    name, major, minor, total_memory (bytes), multi_processor_count, warp_size, uuid and further
    sizes of the hardware.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    uuid: UUID

    def __init__(self, facts: dict[str, Any]) -> None:
        vars(self).update(facts)
        self.uuid, self.gcnArchName = UUID(bytes=facts["uuid"]), self.name

    def __repr__(self) -> str:
        return (
            f"DeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count})"
        )


def get_device_properties(device: Any = None) -> DeviceProperties:
    """What a GPU is like.

    Args:
        device: the GPU, as a device or its index; the current one if None.

    Raises:
        AssertionError: there is no GPU.
        RuntimeError: there is none of that index.
    """
    require()
    return DeviceProperties(_core.cuda_device_facts(index_of(device)))


def get_device_name(device: Any = None) -> str:
    """The name of a GPU; as `get_device_properties`."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU: (9, 0) of an H100; as `get_device_properties`."""
    found = get_device_properties(device)
    return found.major, found.minor


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of a GPU, for all processes; as `get_device_properties`."""
    require()
    return _core.cuda_memory_info(index_of(device))


def device_memory_used(device: Any = None) -> int:
    """Bytes of a GPU that processes use; as `get_device_properties`."""
    free, total = mem_get_info(device)
    return total - free


def synchronize(device: Any = None) -> None:
    """Wait for all that a GPU has to do; without one there is nothing to wait for.

    Args:
        device: the GPU, as a device or its index; the current one if None.

    Raises:
        RuntimeError: work that was waited for has failed, or there is no such GPU.
    """
    if is_available():
        _core.cuda_synchronize(index_of(device))


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one GPU reads the other's memory itself; as `get_device_properties`."""
    require()
    return _core.cuda_can_access_peer(index_of(device), index_of(peer_device))


def ipc_collect() -> None:
    """Without effect: no memory of GPUs is shared with other processes.

    Raises AssertionError where there is no GPU.
    """
    require()


def get_sync_debug_mode() -> int:
    """0: waiting for the GPU is not reported. Raises AssertionError where there is none."""
    require()
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Raises NotImplementedError unless the mode is 0 or "default"; AssertionError without a GPU.
    """
    require()
    if debug_mode not in (0, "default"):
        raise NotImplementedError("set_sync_debug_mode: waiting for the GPU is not reported")


def device_of_tensor(tensor: Any) -> Device | None:
    """The GPU that a tensor lies on, or None."""
    return tensor.device if getattr(tensor, "is_cuda", False) else None


class cudaStatus:
    """Results of CUDA's runtime that programs compare with."""

    SUCCESS = 0
    ERROR_NOT_READY = 34


class CudaError(RuntimeError):
    """An error of CUDA's runtime, by its number."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error ({code})")


class DeferredCudaCallError(Exception):
    """An error of a call that was put off until the GPU was in use; none is put off here."""


def check_error(res: int) -> None:
    """Raises CudaError unless a result of CUDA's runtime is 0, success."""
    if res != cudaStatus.SUCCESS:
        raise CudaError(res)


cudart = lacking("cudart")
current_blas_handle = lacking("current_blas_handle")
current_solver_handle = lacking("current_solver_handle")
list_gpu_processes = lacking("list_gpu_processes")
memory_usage = lacking("memory_usage")
utilization = lacking("utilization")
temperature = lacking("temperature")
power_draw = lacking("power_draw")
clock_rate = lacking("clock_rate")
graph_pool_handle = lacking("graph_pool_handle")
make_graphed_callables = lacking("make_graphed_callables")
