"""What the processes of a group do together. The group has one: tensors stay as they are.

Each function checks its arguments, copies what is its own to where all processes' would go, and
returns None, or a `Work` that is done with `async_op`. Copies are not recorded for gradients;
those of `distributed.nn.functional` are. ValueError is raised where there is no group.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, NoReturn

from graphwright.autograd.grad_mode import no_grad
from graphwright.distributed.group import ProcessGroup, ReduceOp, is_member
from graphwright.runtime.tensor.tensor import Tensor


class Work:
    """What was asked for with `async_op`: it is done."""

    def __init__(self, result: Sequence[Tensor] = ()) -> None:
        self._result = list(result)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Return True at once."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True

    def is_success(self) -> bool:
        """True."""
        return True

    def exception(self) -> None:
        """None: it was raised, if there was one."""
        return None

    def result(self) -> list[Tensor]:
        """The tensors that were written to."""
        return self._result


def _done(async_op: bool, *written: Tensor) -> Work | None:
    return Work(written) if async_op else None


def _check(name: str, tensor: Any) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor but got "
            f"{type(tensor)} instead."
        )


def _check_op(op: Any) -> None:
    if not isinstance(op, ReduceOp):
        raise TypeError(f"expected a ReduceOp, got {type(op).__name__}")


def _check_root(function: str, rank: int | None, group_rank: int | None = None) -> None:
    root = group_rank if rank is None else rank
    if root not in (None, 0):
        raise RuntimeError(f"{function}: invalid root rank: {root}, there is rank 0 alone")


def _only(function: str, name: str, values: Any) -> Any:
    """The one tensor of a list that has one for each process."""
    if not isinstance(values, list | tuple) or len(values) != 1:
        count = len(values) if isinstance(values, list | tuple) else type(values).__name__
        raise RuntimeError(f"{function}: {name} must be a list of 1 tensor, got {count}")
    _check(name, values[0])
    return values[0]


def _write(function: str, out: Tensor, source: Tensor, flat: bool = False) -> None:
    """Copy a tensor to one of the same dtype and shape; with `flat` of the same size."""
    _check("output", out)
    _check("input", source)
    if out.dtype is not source.dtype:
        raise ValueError(
            f"Invalid usage of tensors with different dtypes: {out.dtype} and {source.dtype}"
        )
    if out.numel() != source.numel() or (not flat and out.shape != source.shape):
        raise RuntimeError(
            f"{function}: invalid tensor size: expected {tuple(source.shape)}, got "
            f"{tuple(out.shape)}"
        )
    with no_grad():
        out.copy_(source.reshape(out.shape))


def all_reduce(
    tensor: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce over all processes, in place."""
    _check("tensor", tensor)
    _check_op(op)
    is_member(group)
    return _done(async_op, tensor)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce over all processes, in place in process `dst`."""
    _check_root("reduce", dst, group_dst)
    return all_reduce(tensor, op, group, async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give all processes the tensor of process `src`, in place."""
    _check("tensor", tensor)
    _check_root("broadcast", src, group_src)
    is_member(group)
    return _done(async_op, tensor)


def all_gather(
    tensor_list: list[Tensor],
    tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Write the tensors of all processes to those of a list."""
    if is_member(group):
        _write("all_gather", _only("all_gather", "tensor_list", tensor_list), tensor)
    return _done(async_op, *tensor_list)


def all_gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Write the tensors of all processes to one, in order."""
    if is_member(group):
        _write("all_gather_into_tensor", output_tensor, input_tensor, True)
    return _done(async_op, output_tensor)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce each tensor of a list over all processes; process i gets the result of tensor i."""
    _check_op(op)
    if is_member(group):
        _write("reduce_scatter", output, _only("reduce_scatter", "input_list", input_list))
    return _done(async_op, output)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce over all processes; process i gets part i."""
    _check_op(op)
    if is_member(group):
        _write("reduce_scatter_tensor", output, input, True)
    return _done(async_op, output)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Write the tensors of all processes to those of a list in process `dst`."""
    _check("tensor", tensor)
    _check_root("gather", dst, group_dst)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return all_gather(gather_list, tensor, group, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Write tensor i of the list of process `src` in process i."""
    _check("tensor", tensor)
    _check_root("scatter", src, group_src)
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if is_member(group):
        _write("scatter", tensor, _only("scatter", "scatter_list", scatter_list))
    return _done(async_op, tensor)


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Write tensor i of process j to tensor j of process i."""
    if is_member(group):
        out = _only("all_to_all", "output_tensor_list", output_tensor_list)
        _write("all_to_all", out, _only("all_to_all", "input_tensor_list", input_tensor_list))
    return _done(async_op, *output_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """As `all_to_all`, of the parts of one tensor to those of another."""
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes and list(sizes) != [tensor.shape[0]]:
            raise RuntimeError(
                f"all_to_all_single: split sizes {list(sizes)} do not divide a first dimension of "
                f"{tensor.shape[0]} among 1 process"
            )
    if is_member(group):
        _write("all_to_all_single", output, input)
    return _done(async_op, output)


def barrier(
    group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None
) -> Work | None:
    """Wait for all processes."""
    is_member(group)
    return _done(async_op)


def monitored_barrier(
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    wait_all_ranks: bool = False,
) -> None:
    """Wait for all processes."""
    is_member(group)


# Objects: what arrives is unpickled, a copy.


def _copy(obj: Any) -> Any:
    return pickle.loads(pickle.dumps(obj))


def all_gather_object(
    object_list: list[Any], obj: Any, group: ProcessGroup | None = None
) -> None:
    """Put the objects of all processes into a list."""
    if is_member(group):
        object_list[0] = _copy(obj)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """Put the objects of all processes into a list in process `dst`."""
    _check_root("gather_object", dst, group_dst)
    if object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    all_gather_object(object_gather_list, obj, group)


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Give all processes the objects of process `src`."""
    _check_root("broadcast_object_list", src, group_src)
    is_member(group)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Put object i of the list of process `src` first into the list of process i."""
    _check_root("scatter_object_list", src, group_src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    if scatter_object_input_list is None or len(scatter_object_input_list) != 1:
        raise ValueError("source rank must provide a list of 1 object, one for each process")
    if is_member(group):
        scatter_object_output_list[0] = _copy(scatter_object_input_list[0])


# From one process to another, which there is not


def _to_itself(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        is_member(None)
        raise ValueError(
            f"{name}: there is one process, and it cannot send to or receive from itself"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises ValueError: there is no other process."
    return refuse


send, recv, isend, irecv = map(_to_itself, ("send", "recv", "isend", "irecv"))
send_object_list, recv_object_list = map(_to_itself, ("send_object_list", "recv_object_list"))
P2POp, batch_isend_irecv = map(_to_itself, ("P2POp", "batch_isend_irecv"))
