"""What a node keeps for its vjp: saved tensors, checked by version, and metadata."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops.spec import TensorSpec

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors "
    "after they have already been freed). Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved tensors after "
    "calling backward."
)


class SavedTensor:
    """A tensor and the version at which it was saved.

    An output is saved as a detached alias: holding the output itself would close a cycle
    through its own grad_fn. Unpacking gives the alias that grad_fn back.
    """

    __slots__ = ("is_output", "tensor", "version")

    def __init__(self, tensor: Any, is_output: bool = False) -> None:
        self.tensor = tensor
        self.version = tensor._version
        self.is_output = is_output

    def unpack(self, node: Any, output_nr: int = 0) -> Any:
        """The tensor. Raises RuntimeError where it was changed in place since."""
        tensor = self.tensor
        if tensor._version != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: [{tensor.dtype} {list(tensor.shape)}], which is output "
                f"{output_nr} of {node.name}, is at version {tensor._version}; expected version "
                f"{self.version} instead."
            )
        if self.is_output and _core.grad_enabled() and tensor.grad_fn is None:
            if not tensor.dtype.is_floating_point:
                return tensor
            tensor = _core.detach(type(tensor), tensor)
            tensor.grad_fn, tensor.output_nr = node, output_nr
        return tensor


def metadata(tensor: Any) -> TensorSpec:
    """Shape, strides, dtype and device, without the data."""
    return TensorSpec(tensor.shape, tensor.stride(), tensor.dtype, tensor.device)
