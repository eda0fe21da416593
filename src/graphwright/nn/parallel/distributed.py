"""`DistributedDataParallel` in a group of one process: gradients are their own average."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.distributed.group import ProcessGroup, _get_default_group, is_member
from graphwright.nn.module import Module


class DistributedDataParallel(Module):
    """Calls `module`; its parameters and buffers are `module.*`.

    Args:
        module: has a parameter that requires gradients.
        device_ids, output_device: None, as for every module on the CPU.
        process_group: where gradients are averaged; that of `init_process_group` by default.

    The others say how gradients travel, and change nothing.

    Raises:
        RuntimeError: no parameter requires gradients.
        ValueError: there is no group, or a device is given.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
    ) -> None:
        super().__init__()
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device are for modules on GPUs, "
                f"and there are none: got device_ids {device_ids}, output_device {output_device}"
            )
        is_member(process_group)
        self.module, self.dim, self.device_ids, self.output_device = module, dim, None, None
        self.process_group = process_group or _get_default_group()
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block gradients are accumulated, and not averaged over processes."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Iterator[None]:
        """Within the block processes may have different numbers of inputs; one has those it has.
        """
        yield

    def register_comm_hook(self, state: object, hook: Any) -> None:
        """Raises RuntimeError: there is no communication that a hook could change."""
        raise RuntimeError(
            "register_comm_hook: gradients do not travel between processes, of which there is one"
        )
