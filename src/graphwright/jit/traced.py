"""`jit.trace`: the graph of the operations that one call runs, as a function or a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.trace import trace as record
from graphwright.jit.marks import ScriptModule, no_script, tracing
from graphwright.nn import Module
from graphwright.nn.utils.stateless import functional_call
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import fake_like
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


class Recorded:
    """The graph of one call: its inputs are the tensors of `state` and those of the example.

    Sizes of the example other than 0 and 1 are symbolic, and what the call assumed of them is
    checked when the graph runs. Numbers in the arguments are constants.
    """

    def __init__(
        self, function: Callable[..., Any], state: dict[str, Tensor], args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        leaves, self.structure = tree_flatten((args, kwargs))
        self.constants = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        self.examples = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        self.state_names = list(state)
        self.result = TreeSpec(None)
        self.env = ShapeEnv()
        fakes = [fake_like(tensor) for tensor in state.values()]
        fakes += [fake_like(tensor, self.env, range(tensor.ndim)) for tensor in self.examples]
        names = [name.replace(".", "_") for name in state]
        names += [f"input_{index}" for index in range(len(self.examples))]
        self.shapes = [[size if type(size) is int else str(size) for size in fake.shape]
                       for fake in fakes[len(state):]]

        def run(*values: Tensor) -> list[Any]:
            given = dict(zip(state, values, strict=False))
            args, kwargs = self._arguments(values[len(given):])
            if isinstance(function, Module):
                made = functional_call(function, given, args, kwargs)
            else:
                made = function(*args, **kwargs)
            outputs, self.result = tree_flatten(made)
            return outputs

        with tracing():
            try:
                self.module: GraphModule = record(run, fakes, keep=lambda op: True, names=names)
            except DataDependent as error:
                raise RuntimeError(
                    f"jit.trace: the function decides by the values of tensors: {error}. "
                    "torch.compile(function) runs such code"
                ) from error

    def _arguments(self, tensors: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = iter(tensors)
        leaves = [next(given) if leaf is None else leaf for leaf in self.constants]
        arguments: tuple[tuple[Any, ...], dict[str, Any]] = tree_unflatten(leaves, self.structure)
        return arguments

    def __call__(self, state: Sequence[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
                 ) -> Any:
        """Run the graph. Raises RuntimeError for arguments that the trace does not hold for."""
        leaves, structure = tree_flatten((args, kwargs))
        if structure != self.structure:
            raise RuntimeError("this trace takes arguments of the structure of its example, "
                               f"{self.structure}, not of {structure}")
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        constants = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        if constants != self.constants:
            raise RuntimeError(f"this trace holds for the arguments {self.constants} that are no "
                               f"tensors (None: a tensor), not for {constants}")
        self._check(tensors)
        return tree_unflatten(self.module(*state, *tensors), self.result)

    def _check(self, tensors: list[Tensor]) -> None:
        sizes: dict[str, int] = {}
        for number, (tensor, shape) in enumerate(zip(tensors, self.shapes, strict=True)):
            own = tuple(tensor.shape)
            if len(own) != len(shape) or any(
                type(size) is int and size != real for size, real in zip(shape, own, strict=True)
            ):
                raise RuntimeError(f"this trace takes a tensor of the sizes {shape} as its input "
                                   f"{number}, not of {list(own)}")
            sizes.update((str(size), real) for size, real in zip(shape, own, strict=True))
        for relation in self.env.guards:
            if not relation.holds(sizes):
                raise RuntimeError(f"this trace holds only for sizes with {relation}, where its "
                                   f"inputs have the sizes {self.shapes}; they have "
                                   f"{[list(tensor.shape) for tensor in tensors]}")


class ScriptFunction:
    """What `trace` makes of a function: a call runs the recorded graph."""

    def __init__(self, recorded: Recorded, name: str) -> None:
        self._recorded = recorded
        self.name = self.__name__ = self.qualified_name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._recorded((), args, kwargs)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._recorded.module.graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The graph as Python source."""
        return self._recorded.module.code

    save = no_script


class TopLevelTracedModule(ScriptModule):
    """What `trace` makes of a module: it shares parameters, buffers and submodules with it."""

    def __init__(self, module: Module, recorded: Recorded) -> None:
        super().__init__()
        state = self.__dict__
        for name in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
            state[name] = module.__dict__[name]
        state["training"] = module.training
        state["original_name"] = type(module).__name__
        state["_recorded"] = recorded

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        recorded: Recorded = self.__dict__["_recorded"]
        state = _state_of(self)
        return recorded([state[name] for name in recorded.state_names], args, kwargs)

    @property
    def graph(self) -> Graph:
        """The graph, whose first inputs are the parameters and buffers."""
        return self.__dict__["_recorded"].module.graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The graph as Python source."""
        return self.__dict__["_recorded"].module.code

    save = no_script


def _state_of(module: Module) -> dict[str, Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def trace(
    func: Any,
    example_inputs: Any = None,
    *unused: Any,
    example_kwarg_inputs: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Record what a function or a module does with an example.

    Args:
        func: a function of tensors, and of lists, tuples and dicts of them, or an `nn.Module`.
        example_inputs: its arguments; a tensor for one.
        example_kwarg_inputs: its keyword arguments.
        options: PyTorch's others (`strict`, `check_trace`, ...), without effect.

    Returns:
        A callable with `graph` and `code` that runs the recorded operations: a
        `TopLevelTracedModule`, which shares the module's weights and has its `training` mode for
        good, or a `ScriptFunction`. It holds for inputs of other sizes where the example's sizes
        decided nothing, and raises RuntimeError elsewhere.

    Raises:
        RuntimeError: the function asks for the values of a tensor.
        TypeError: `func` cannot be called.
    """
    if not callable(func):
        raise TypeError(f"jit.trace takes a function or a module, not {type(func).__name__}")
    args = (example_inputs,) if isinstance(example_inputs, Tensor | dict) else (
        tuple(example_inputs or ()))
    state = _state_of(func) if isinstance(func, Module) else {}
    recorded = Recorded(func, state, args, example_kwarg_inputs or {})
    if isinstance(func, Module):
        return TopLevelTracedModule(func, recorded)
    return ScriptFunction(recorded, getattr(func, "__name__", type(func).__name__))
