"""`ExportedProgram`: a graph with its state, out of the program that it was recorded from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from graphwright.autograd.grad_mode import no_grad
from graphwright.export.calling import checker
from graphwright.export.errors import ExportError
from graphwright.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
)
from graphwright.export.ranges import RangeConstraints, ValueRanges
from graphwright.export.recording import Recording
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.python_emitter import leaves
from graphwright.ir.passes.decompose import is_primitive
from graphwright.ir.trace import trace
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


class ExportedProgram:
    """What `export` gives: a graph of ops, its state, and what its inputs and outputs are.

    Attributes:
        graph_module: the graph; its inputs are the state in the order of `graph_signature`, then
            the tensors among the arguments.
        graph_signature: what each input and output is, and what is written in place.
        state_dict: parameters, buffers and the state of optimisers, by name.
        constants: other tensors that the graph reads, by name.
        range_constraints: size symbol -> the range for which the program holds.
        example_inputs: None; examples are not kept.
    """

    example_inputs = None

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.graph_module: GraphModule = recording.module
        self.graph_signature: ExportGraphSignature = recording.signature
        self.constants = {name: recording.state[name]
                          for name in recording.signature.lifted_tensor_constants}
        self.state_dict = {name: tensor for name, tensor in recording.state.items()
                           if name not in self.constants}

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.graph_module.graph

    @property
    def constraints(self) -> RangeConstraints:
        """The ranges of sizes, and the relations between sizes that calls check."""
        return self._recording.constraints

    @property
    def range_constraints(self) -> dict[str, ValueRanges]:
        """Size symbol -> the range for which the program holds."""
        return self.constraints.ranges

    @property
    def in_spec(self) -> TreeSpec:
        """How `(args, kwargs)` are nested."""
        return self._recording.in_spec

    @property
    def out_spec(self) -> TreeSpec:
        """How the result is nested."""
        return self._recording.out_spec

    @property
    def call_spec(self) -> tuple[TreeSpec, TreeSpec]:
        """`in_spec` and `out_spec`."""
        return self.in_spec, self.out_spec

    def parameters(self) -> Any:
        """The parameters."""
        return iter([self.state_dict[name] for name in self.graph_signature.parameters])

    def named_parameters(self) -> Any:
        """Names and parameters."""
        return iter([(name, self.state_dict[name]) for name in self.graph_signature.parameters])

    def buffers(self) -> Any:
        """The buffers, and the state of optimisers."""
        return iter([self.state_dict[name] for name in self.graph_signature.buffers])

    def named_buffers(self) -> Any:
        """Names and buffers."""
        return iter([(name, self.state_dict[name]) for name in self.graph_signature.buffers])

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("an ExportedProgram is no function: call its `module()`")

    def module(self, check_guards: bool = True) -> ExportedModule:
        """A module that runs the program on its own state, eagerly or compiled.

        Args:
            check_guards: check dtypes, sizes and constants of each call's arguments.

        Returns: an `nn.Module` whose parameters and buffers are those of the program; what it
            writes in place is written to `state_dict`.
        """
        return ExportedModule(self, check_guards)

    def run_decompositions(
        self, decomp_table: dict[Any, Callable[..., Any]] | None = None
    ) -> ExportedProgram:
        """The program in primitive ops.

        Args:
            decomp_table: None: all ops that are made of others are decomposed.

        Raises:
            NotImplementedError: a table is given.
        """
        if decomp_table:
            raise NotImplementedError("run_decompositions: graphwright decomposes by its own "
                                      "rules; a table of others is not taken")
        examples = [node.meta["val"] for node in self.graph.placeholders]
        names = [node.name for node in self.graph.placeholders]
        module = trace(self.graph_module, examples, keep=is_primitive, names=names)
        for old, new in zip(self.graph.placeholders, module.graph.placeholders, strict=True):
            new.meta.setdefault("val", old.meta["val"])
        return ExportedProgram(self._recording.replaced(module))

    def __str__(self) -> str:
        ranges = ", ".join(f"{name}: {one}" for name, one in self.range_constraints.items())
        text = self.graph_module.print_readable(print_output=False)
        written = self.graph_signature.buffers_to_mutate
        return (f"ExportedProgram:\n{text}\n"
                f"Graph signature: {len(self.graph_signature.parameters)} parameters, "
                f"{len(self.graph_signature.buffers)} buffers, "
                f"{len(self.graph_signature.user_inputs)} inputs, "
                f"{len(self.graph_signature.user_outputs)} outputs, {len(written)} written\n"
                f"Range constraints: {{{ranges}}}\n")


def require_cpu(program: ExportedProgram, reason: str) -> None:
    """Raise ExportError, with the reason, for a program with tensors on GPUs."""
    for node in program.graph.nodes:
        for value in leaves((*node.args, node.meta.get("val"))):
            device = value if isinstance(value, Device) else getattr(value, "device", None)
            if device is not None and device.type == "cuda":
                raise ExportError(
                    f"'{node.name}' is on {device}, and {reason}: export the module after .cpu(), "
                    "with inputs on the CPU")


class ExportedModule(Module):
    """Runs an exported program: `forward` takes and gives what the original did.

    A program that writes parameters has its backward pass in the graph, and records no other.
    """

    def __init__(self, program: ExportedProgram, check: bool = True) -> None:
        super().__init__()
        signature = program.graph_signature
        state = {**program.state_dict, **program.constants}
        self._places: list[tuple[Module, str]] = []
        for one in signature.input_specs:
            if one.kind is not InputKind.USER_INPUT:
                name = str(one.target)
                self._places.append(self._hold(name, state[name], one.persistent is not False))
        arguments = [one.arg for one in signature.input_specs if one.kind is InputKind.USER_INPUT]
        _, keywords = program.in_spec.children_specs
        written = signature.buffers_to_mutate
        vars(self).update(      # beside the modules and tensors of the state
            _graph=program.graph_module, _check=checker(program) if check else None,
            _trains=any(name in written for name in signature.inputs_to_parameters),
            _in_spec=program.in_spec, _out_spec=program.out_spec,
            _keywords=tuple(keywords.context or ()),
            _constants=[(place, arg.value) for place, arg in enumerate(arguments)
                        if isinstance(arg, ConstantArgument)],
            _outputs=[one.arg.value if isinstance(one.arg, ConstantArgument) else _COMPUTED
                      for one in signature.output_specs])

    def _hold(self, name: str, tensor: Tensor, persistent: bool) -> tuple[Module, str]:
        """Register a tensor below the modules that its name says."""
        owner: Module = self
        *path, last = name.split(".")
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, Module())
            child = owner._modules[part]
            assert child is not None
            owner = child
        if isinstance(tensor, Parameter):
            owner.register_parameter(last, tensor)
        else:
            owner.register_buffer(last, tensor, persistent=persistent)
        return owner, last

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program. Raises RuntimeError for arguments that it does not hold for."""
        if kwargs and tuple(kwargs) != self._keywords and set(kwargs) == set(self._keywords):
            kwargs = {name: kwargs[name] for name in self._keywords}
        leaves, structure = tree_flatten((args, kwargs))
        if structure != self._in_spec:
            raise RuntimeError(f"the exported program takes arguments of the structure "
                               f"{self._in_spec}, not {structure}")
        tensors = leaves
        if self._constants:
            tensors = list(leaves)
            for place, value in reversed(self._constants):
                if _differs(tensors.pop(place), value):
                    raise RuntimeError(f"the exported program holds for {value!r} as its argument "
                                       f"{place}, not for {leaves[place]!r}")
        if self._check is not None:
            self._check(*tensors)
        state = [getattr(owner, name) for owner, name in self._places]
        if self._trains:
            with no_grad():
                given = iter(self._graph(*state, *tensors))
        else:
            given = iter(self._graph(*state, *tensors))
        results = [next(given) if one is _COMPUTED else one for one in self._outputs]
        return tree_unflatten(results, self._out_spec)


_COMPUTED = object()


def _differs(given: Any, value: Any) -> bool:
    """Whether an argument is not the constant; tensors are none, and nan is equal to nan."""
    if isinstance(given, Tensor | np.ndarray) or isinstance(value, np.ndarray):
        return isinstance(given, Tensor) or not np.array_equal(given, value)
    return bool(given != value and (given == given or value == value))
