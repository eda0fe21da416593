"""What the inputs and outputs of an exported graph are."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

from graphwright.ir.graph.node import Node
from graphwright.runtime.record import Record


class InputKind(enum.Enum):
    """Where an input of the graph comes from."""

    USER_INPUT = "user_input"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    CONSTANT_TENSOR = "constant_tensor"


class OutputKind(enum.Enum):
    """What an output of the graph is."""

    USER_OUTPUT = "user_output"


class TensorArgument(Record):
    """A tensor, by the name of its node."""

    name: str


class ConstantArgument(Record):
    """A value that is no tensor and the same in every call."""

    name: str
    value: Any


class InputSpec(Record):
    """An input of the graph: `target` is the name of a parameter, buffer or constant."""

    kind: InputKind
    arg: TensorArgument | ConstantArgument
    target: str | None
    persistent: bool | None = None


class OutputSpec(Record):
    """An output of the graph."""

    kind: OutputKind
    arg: TensorArgument | ConstantArgument
    target: str | None = None


class ExportGraphSignature(Record):
    """The inputs of an exported graph in order, its outputs, and which inputs it writes to.

    mutated: the names of the placeholders that the graph writes in place.
    """

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]
    mutated: tuple[str, ...] = ()

    def _targets(self, kind: InputKind) -> list[str]:
        return [str(one.target) for one in self.input_specs if one.kind is kind]

    def _by_name(self, kind: InputKind) -> dict[str, str]:
        return {one.arg.name: str(one.target) for one in self.input_specs if one.kind is kind}

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters, in the order of the inputs."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> list[str]:
        """The names of the buffers, and of what optimisers hold of each parameter."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> list[str]:
        """The names of the buffers that a state_dict leaves out."""
        return [str(one.target) for one in self.input_specs
                if one.kind is InputKind.BUFFER and one.persistent is False]

    @property
    def lifted_tensor_constants(self) -> list[str]:
        """The names of the tensors that belong to no module."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def user_inputs(self) -> list[Any]:
        """The user's arguments: names of placeholders, and values that are constants."""
        return [_shown(one.arg) for one in self.input_specs if one.kind is InputKind.USER_INPUT]

    @property
    def user_outputs(self) -> list[Any]:
        """The results: names of nodes, and values that are constants."""
        return [_shown(one.arg) for one in self.output_specs]

    @property
    def inputs_to_parameters(self) -> dict[str, str]:
        """The parameter of each placeholder that is one."""
        return self._by_name(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> dict[str, str]:
        """The buffer of each placeholder that is one."""
        return self._by_name(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> dict[str, str]:
        """The constant of each placeholder that is one."""
        return self._by_name(InputKind.CONSTANT_TENSOR)

    @property
    def buffers_to_mutate(self) -> dict[str, str]:
        """The parameters, buffers and constants that are written to, by placeholder."""
        state = [one for one in self.input_specs if one.kind is not InputKind.USER_INPUT]
        return {one.arg.name: str(one.target) for one in state if one.arg.name in self.mutated}

    @property
    def user_inputs_to_mutate(self) -> list[str]:
        """The arguments that are written to."""
        return [one.arg.name for one in self.input_specs
                if one.kind is InputKind.USER_INPUT and one.arg.name in self.mutated]


def output_specs(results: Iterable[Any]) -> list[OutputSpec]:
    """The outputs of a graph whose output node has these arguments."""
    return [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(one.name) if isinstance(one, Node)
                       else ConstantArgument("", one)) for one in results]


def _shown(arg: TensorArgument | ConstantArgument) -> Any:
    return arg.name if isinstance(arg, TensorArgument) else arg.value
