"""Collectives whose results are new tensors, through which gradients pass.

The group has one process: results have the elements of what was given. ValueError is raised where
there is no group.
"""

from __future__ import annotations

from typing import Any

from graphwright.distributed import collectives
from graphwright.distributed.group import ProcessGroup, ReduceOp, is_member
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def _of_group(tensor: Tensor, group: ProcessGroup | None) -> Tensor:
    is_member(group)
    return ops.clone(tensor)


def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None
) -> Tensor:
    """The tensors of all processes, reduced."""
    return _of_group(tensor, group)


def reduce(
    tensor: Tensor,
    dst: int = 0,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
) -> Tensor:
    """The tensors of all processes, reduced in process `dst`."""
    return _of_group(tensor, group)


def broadcast(tensor: Tensor, src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """The tensor of process `src`."""
    return _of_group(tensor, group)


def all_gather(tensor: Tensor, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    return (_of_group(tensor, group),)


def gather(
    tensor: Tensor, dst: int = 0, group: ProcessGroup | None = None
) -> tuple[Tensor, ...]:
    """The tensors of all processes, in process `dst`."""
    return all_gather(tensor, group)


def scatter(tensors: Any, src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """The tensor of this process in the list of process `src`."""
    return _of_group(tensors[0], group)


def reduce_scatter(
    output: Tensor,
    input_list: Any,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
) -> Tensor:
    """The tensor of this process among those of a list, reduced; `output` has it too."""
    collectives.reduce_scatter(output, input_list, op, group)
    return _of_group(input_list[0], group)


def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: ProcessGroup | None = None
) -> tuple[Tensor, ...]:
    """Tensor i of the list of process j as result j of process i; the outputs have it too."""
    collectives.all_to_all(output_tensor_list, input_tensor_list, group)
    return tuple(_of_group(tensor, group) for tensor in input_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: ProcessGroup | None = None,
) -> Tensor:
    """As `all_to_all`, of parts of one tensor."""
    collectives.all_to_all_single(output, input, output_split_sizes, input_split_sizes, group)
    return _of_group(input, group)


def all_to_all_single_autograd(
    self: Tensor, output_split_sizes: Any, input_split_sizes: Any, group: ProcessGroup | None
) -> Tensor:
    """As `all_to_all_single`, of a new output."""
    return all_to_all_single(
        ops.empty_like(self), self, output_split_sizes, input_split_sizes, group
    )


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, once it has arrived: it has."""
    return tensor
