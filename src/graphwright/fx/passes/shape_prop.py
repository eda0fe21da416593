"""`ShapeProp`: run a graph on example inputs and note the type of every value."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.runtime.tensor.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
)
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is noted of a tensor. `memory_format` is None where it has none of the known ones;
    no tensor is quantised, so `qparams` is empty."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _metadata(tensor: Tensor) -> TensorMetadata:
    formats = [each for each in (contiguous_format, channels_last, channels_last_3d)
               if tensor.is_contiguous(memory_format=each)]
    return TensorMetadata(
        tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(),
        formats[0] if formats else None, False, {})


class ShapeProp(Interpreter):
    """Notes `meta["tensor_meta"]` and `meta["type"]` on every node of a module's graph.

    `tensor_meta` is the `TensorMetadata` of a tensor, or a container with these in place of
    tensors; a node that computes no tensor has none.
    """

    def run_node(self, n: Node) -> Any:
        """The node's value, which is noted. Raises: RuntimeError if the node cannot be run."""
        try:
            result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp could not run {n.format_node()}: {error}") from error
        tensors: list[Tensor] = []

        def note(leaf: Any) -> Any:
            if not isinstance(leaf, Tensor):
                return leaf
            tensors.append(leaf)
            return _metadata(leaf)

        noted = map_leaves(result, note)
        if tensors:
            n.meta["tensor_meta"] = noted
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph on example inputs. Returns: its result."""
        return self.run(*args)
