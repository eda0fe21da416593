"""Processes that train together, after `torch.distributed`: groups of one process.

`init_process_group` makes the group whose only member is this process, and collectives leave
tensors as they are, so that programs written for several processes run in one. What makes sense
for several alone can be imported and raises when it is used.
"""

from importlib import import_module as _import_module
from typing import Any

from graphwright.distributed.absent import absent as _absent
from graphwright.distributed.collectives import (
    P2POp,
    Work,
    all_gather,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    gather,
    gather_object,
    irecv,
    isend,
    monitored_barrier,
    recv,
    recv_object_list,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    scatter_object_list,
    send,
    send_object_list,
)
from graphwright.distributed.group import (
    Backend,
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    GroupMember,
    ProcessGroup,
    ReduceOp,
    _get_default_group,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    new_group,
)

_MODULES = ("algorithms", "checkpoint", "device_mesh", "fsdp", "nn", "optim", "rpc", "tensor")
_MESH = ("DeviceMesh", "init_device_mesh")
_stores = _absent(
    "distributed",
    "is memory that processes keep together",
    "FileStore HashStore PrefixStore Store TCPStore",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_module(f"graphwright.distributed.{name}")
    if name in _MESH:
        return getattr(_import_module("graphwright.distributed.device_mesh"), name)
    return _stores(name)


__all__ = [
    "Backend", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError",
    "GroupMember", "P2POp", "ProcessGroup", "ReduceOp", "Work", "_get_default_group", "all_gather",
    "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single",
    "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "default_pg_timeout",
    "destroy_process_group", "gather", "gather_object", "get_backend", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank",
    "get_world_size", "group", "init_process_group", "irecv", "is_available",
    "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
    "isend", "monitored_barrier", "new_group", "recv", "recv_object_list", "reduce",
    "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
    "send_object_list",
]  # fmt: skip
