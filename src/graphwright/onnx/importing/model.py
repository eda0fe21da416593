"""The module that a loaded model becomes."""

from __future__ import annotations

from typing import Any

from graphwright import nn
from graphwright.compiler import is_compiling
from graphwright.onnx.element_types import DTYPES
from graphwright.onnx.errors import InvalidModel
from graphwright.onnx.importing.blocks import failed_step
from graphwright.onnx.importing.steps import REFUSALS, Graph
from graphwright.onnx.importing.values import as_tensor
from graphwright.runtime.tensor.tensor import Tensor


class OnnxModule(nn.Module):
    """A model read from an ONNX file.

    Attributes:
        input_names: of the graph's inputs, in the order in which a call takes them.
        output_names: of its outputs.
    """

    def __init__(
        self, graph: Graph, inputs: list[tuple[str, Any]], constants: dict[str, Any],
        trained: set[str], passing: set[str],
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_names = [name for name, _ in inputs]
        self.output_names = list(graph.outputs)
        self._graph = graph
        self._dtypes = [_declared(kind) for _, kind in inputs]
        self._held: list[tuple[str, nn.Module, str]] = []
        self._others: dict[str, Any] = {}
        for name, value in constants.items():
            if not isinstance(value, Tensor):
                self._others[name] = value
                continue
            owner, last = self._place(name)
            if name in trained:
                owner.register_parameter(last, nn.Parameter(value))
            else:
                owner.register_buffer(last, value, persistent=name not in passing)
            self._held.append((name, owner, last))

    def _place(self, name: str) -> tuple[nn.Module, str]:
        """The submodule and the attribute for a tensor: "a.b.weight" is `weight` of `a.b`."""
        parts = name.split(".")
        owner: nn.Module = self
        if all(parts):
            for part in parts[:-1]:
                inner = owner._modules.get(part)
                if inner is None:
                    if hasattr(owner, part):
                        return self, self._free(name)
                    inner = nn.Module()
                    owner.add_module(part, inner)
                owner = inner
            if not hasattr(owner, parts[-1]):
                return owner, parts[-1]
        return self, self._free(name)

    def _free(self, name: str) -> str:
        """An attribute's name made of `name` that the module does not have yet."""
        free = name.replace(".", "_") or "_"
        while hasattr(self, free):
            free += "_"
        return free

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The outputs for the inputs in the graph's order; further ones by name.

        Raises:
            TypeError: an input is missing, of another dtype, or unknown.
            InvalidModel: a node refuses its inputs, whose shapes do not fit the graph.
        """
        if is_compiling():
            return self._outputs(inputs, named)
        try:
            return self._outputs(inputs, named)
        except REFUSALS as error:
            title = failed_step(error)
            if title is None or isinstance(error, InvalidModel):
                raise
            raise InvalidModel(f"node {title}: {error}") from error

    def _outputs(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
        values: dict[str, Any] = {**self._others}
        for name, owner, attribute in self._held:
            values[name] = getattr(owner, attribute)
        if len(inputs) + len(named) != len(self.input_names) or named:
            inputs = self._by_name(inputs, named)
        for name, dtype, value in zip(self.input_names, self._dtypes, inputs, strict=True):
            if isinstance(value, Tensor) and dtype is not None and value.dtype != dtype:
                raise TypeError(f"input {name!r} is {value.dtype}, the model's is {dtype}")
            values[name] = value
        results = [given(value) for value in self._graph.run(values)]
        return results[0] if len(results) == 1 else tuple(results)

    def _by_name(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """All inputs in order."""
        found = dict(zip(self.input_names, inputs, strict=False))
        if len(inputs) > len(self.input_names):
            raise TypeError(f"{len(inputs)} inputs, the model has {len(self.input_names)}")
        for name, value in named.items():
            if name not in self.input_names or name in found:
                raise TypeError(f"the model has no further input {name!r}")
            found[name] = value
        missing = [name for name in self.input_names if name not in found]
        if missing:
            raise TypeError(f"inputs are missing: {', '.join(missing)}")
        return tuple([found[name] for name in self.input_names])

    def extra_repr(self) -> str:
        """What the model takes and returns."""
        return f"{', '.join(self.input_names)} -> {', '.join(self.output_names)}"


def given(value: Any) -> Any:
    """A result as the caller gets it: sizes and narrow values as tensors."""
    if isinstance(value, list):
        return [given(item) for item in value]
    return as_tensor(value)


def _declared(kind: Any) -> Any:
    """The dtype that an input has to have; None where it is no tensor, or of no such type."""
    if not kind.HasField("tensor_type"):
        return None
    return DTYPES.get(kind.tensor_type.elem_type)
