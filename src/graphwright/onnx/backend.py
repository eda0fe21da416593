"""The interface of `onnx.backend`: models and single nodes run on NumPy arrays.

Needs the `onnx` library. `prepare` takes `compiled=True` for models that run compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper
from onnx.backend.base import Backend, BackendRep

import graphwright as gw
from graphwright.onnx.element_types import NARROW
from graphwright.onnx.importing.loading import load
from graphwright.onnx.importing.model import OnnxModule
from graphwright.onnx.importing.tensors import from_array, to_array
from graphwright.onnx.importing.values import Narrow, as_tensor

__all__ = ["GraphwrightBackend", "Prepared", "prepare", "run_model", "run_node", "supports_device"]


class Prepared(BackendRep):
    """A loaded model that takes and returns NumPy arrays.

    Attributes:
        module: the model.
    """

    def __init__(self, module: OnnxModule, kinds: Sequence[Any], compiled: bool) -> None:
        self.module = module
        self._run = gw.compile(module) if compiled else module
        self._kinds = kinds

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs as arrays, lists of them, or None.

        Args:
            inputs: a sequence in the order of the graph's inputs, or name -> array.
        """
        if kwargs:
            raise TypeError(f"run() has no option {next(iter(kwargs))!r}")
        if isinstance(inputs, dict):
            inputs = [inputs[name] for name in self.module.input_names]
        elif isinstance(inputs, np.ndarray):
            inputs = [inputs]
        with gw.no_grad():
            results = self._run(*[_given(value) for value in inputs])
        results = results if isinstance(results, tuple) else (results,)
        return tuple([
            to_array(_narrowed(value, kind))
            for value, kind in zip(results, self._kinds, strict=True)
        ])


def _given(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_given(item) for item in value]
    return None if value is None else from_array(np.asarray(value))


def _narrowed(value: Any, kind: Any) -> Any:
    """A tensor as the element type below a byte that the graph's output has."""
    number = kind.tensor_type.elem_type
    return Narrow(as_tensor(value), number) if number in NARROW else value


class GraphwrightBackend(Backend):
    """ONNX's backend interface."""

    @classmethod
    def prepare(
        cls, model: ModelProto, device: str = "CPU", compiled: bool = False, **kwargs: Any
    ) -> Prepared:
        """Load a model.

        Raises:
            TypeError: an option that is not there.
            graphwright.onnx.InvalidModel, graphwright.onnx.UnsupportedOperators: as `load`.
        """
        if kwargs:
            raise TypeError(f"prepare() has no option {next(iter(kwargs))!r}")
        if not cls.supports_device(device):
            raise ValueError(f"no device {device!r}: there is 'CPU'")
        return Prepared(load(model), [value.type for value in model.graph.output], compiled)

    @classmethod
    def run_node(
        cls, node: NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        """The outputs of one node of the newest opset, or of `opset_version`."""
        version = kwargs.pop("opset_version", None)
        opsets = [helper.make_opsetid(node.domain, version)] if version else []
        values = [helper.make_tensor_value_info(name, 0, None) for name in node.input if name]
        results = [helper.make_tensor_value_info(name, 0, None) for name in node.output]
        graph = helper.make_graph([node], "node", values, results)
        model = helper.make_model(graph, opset_imports=opsets or None)
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on the device: "CPU"."""
        return device == "CPU"


prepare = GraphwrightBackend.prepare
run_node = GraphwrightBackend.run_node
run_model = GraphwrightBackend.run_model
supports_device = GraphwrightBackend.supports_device
