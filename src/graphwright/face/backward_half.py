"""`BackwardHalf`: the compiled backward of a graph, by the gradients of all results or of some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.face.gradient_layouts import GradientLayouts
from graphwright.ir.joint.joint import ByResults
from graphwright.ir.lowered_graph import Lowered, Saved
from graphwright.runtime.locks import Lock

Compile = Callable[[str, Lowered], Callable[..., Any]]


class SavedPlaces:
    """Where what the backward takes comes from: inputs, outputs and sizes, put in order.

    inputs: positions among the forward's; made: among the outputs that the node saves; sizes:
    expressions over the forward's symbols.
    """

    __slots__ = ("_order", "inputs", "made", "sizes")

    def __init__(self, saved: Sequence[Saved], outputs: Sequence[int]) -> None:
        """outputs: which outputs of the forward the node saves, in order."""
        kinds: dict[str, list[Saved]] = {"input": [], "output": [], "size": []}
        for value in saved:
            kinds[value.kind].append(value)
        self.inputs = tuple([value.index for value in kinds["input"]])
        self.made = tuple([outputs.index(value.index) for value in kinds["output"]])
        self.sizes = [value.size.expr for value in kinds["size"] if value.size is not None]
        grouped = [value for group in kinds.values() for value in group]
        places = {id(value): place for place, value in enumerate(grouped)}
        self._order = [places[id(value)] for value in saved]

    def ordered(self, inputs: Sequence[Any], made: Sequence[Any], sizes: dict[str, int]
                ) -> list[Any]:
        """The backward's arguments before the tangents."""
        values = [*inputs, *made, *[size.evaluate(sizes) for size in self.sizes]]
        return [values[place] for place in self._order]


class BackwardHalf:
    """What computes the gradients of the inputs from those of given results.

    numbers: the positions of these among all results that require grad; is_compiled: False where
    the joint graph has to run op by op (see `ir.joint.absent_gradients`).
    """

    def __init__(
        self, name: str, lowered: Lowered, numbers: Sequence[int], outputs: Sequence[int],
        compile_: Compile,
    ) -> None:
        """name: in dumps and logs; outputs: as in `SavedPlaces`."""
        self.name = name
        self.lowered = lowered
        self.numbers = tuple(numbers)
        self.is_compiled = lowered.has_backward
        self.saved = SavedPlaces(lowered.saved, outputs)
        self.gradients = GradientLayouts(lowered)
        self._compile = compile_
        self._backward: Callable[..., Any] | None = None
        self._lock = Lock()

    @property
    def backward(self) -> Callable[..., Any]:
        """The native function, compiled when it is first needed."""
        return self._backward or self._compiled()

    def _compiled(self) -> Callable[..., Any]:
        with self._lock.now:
            if self._backward is None:
                self._backward = self._compile(self.name, self.lowered)
            return self._backward

    def op_by_op(self, edges: dict[int, tuple[Any, int]]) -> Callable[..., Any]:
        """A function of the forward's inputs and the gradients, run by eager ops.

        edges: see `ByResults`.
        """
        joint = self.gradients.replayed
        if joint is None:
            assert self.lowered.joint is not None
            return self.lowered.joint
        return ByResults(joint, edges).run if edges else joint
