"""The tensors of a compiled call that eager execution would have saved, and their versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphwright.ir.lowered import Kept, Lowered
from graphwright.runtime import _core
from graphwright.runtime.autograd.node import Leading, gradient_edge
from graphwright.runtime.autograd.saved import SavedTensor, alias_of, modified
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import Tensor


class Watched:
    """What one call of a compiled forward knows of the tensors in `Lowered.kept`.

    Results are held as eager execution holds what it saved of them: detached.
    """

    __slots__ = ("inputs", "lowered", "sizes", "tensors")

    def __init__(
        self, lowered: Lowered, inputs: Sequence[Any], outputs: Sequence[Any],
        sizes: dict[str, int],
    ) -> None:
        """inputs: as saved before the call has written to them; outputs: tensors."""
        self.lowered, self.inputs, self.sizes = lowered, inputs, sizes
        self.tensors: dict[tuple[str, int], SavedTensor] = {}
        for kind, index in lowered.made:
            tensor = inputs[index].tensor if kind == "input" else outputs[index]
            self.tensors[kind, index] = SavedTensor(_core.detach(Tensor, tensor))

    def _saved(self, place: tuple[str, int]) -> SavedTensor:
        found: SavedTensor = self.tensors.get(place) or self.inputs[place[1]]
        return found

    def check(
        self, given: Sequence[bool], wanted: Sequence[bool], again: bool = False
    ) -> None:
        """Raise RuntimeError where eager execution finds a saved tensor written in place.

        Args:
            given: whether each output's gradient has come; wanted: whether each input's is asked
                for; again: whether what is written is of interest only if it is a result.
        """
        for kept in self.lowered.kept:
            writes = kept.writes
            if kept.place is not None and (not again or kept.place[0] == "output"):
                saved = self._saved(kept.place)
                writes += saved.tensor._version - saved.version
            if (writes and any(given[number] for number in kept.tangents)
                    and any(wanted[number] for number in kept.gradients)):
                raise RuntimeError(self._refusal(kept, writes))

    def _refusal(self, kept: Kept, writes: int) -> str:
        version, maker = kept.version + writes - kept.writes, kept.maker
        if kept.place is not None and kept.place[0] == "input":
            tensor = self._saved(kept.place).tensor
            version = tensor._version
            if maker is None and tensor.grad_fn is not None:
                maker = tensor.grad_fn.name(), tensor.output_nr
        shape = [n.expr.evaluate(self.sizes) if type(n) is SymInt else n for n in kept.shape]
        return modified(f"{kept.dtype} {shape}", maker, version, version - writes, kept.saver)

    def follow(self, gradients: Sequence[Any], given: Sequence[bool]) -> list[Any]:
        """Gradients whose own gradients are refused where a result was written in place.

        They are computed from the inputs again, so their history knows nothing of the results.
        """
        followed: list[Any] = []
        for number, gradient in enumerate(gradients):
            edge = None if gradient is None else gradient_edge(gradient)
            if edge is not None:
                wanted = [other == number for other in range(len(gradients))]
                node = _Again(edge, partial(self.check, given, wanted, again=True))
                gradient = node.attach(alias_of(gradient))
            followed.append(gradient)
        return followed


class _Again(Leading):
    """An identity on the way to a gradient's history."""

    __slots__ = ("look",)

    checked = True

    def __init__(self, edge: tuple[Any, int], look: Callable[[], None]) -> None:
        super().__init__("CompiledBackward", [edge])
        self.look = look

    def check(self, grads: list[Any], wanted: Sequence[bool]) -> None:
        self.look()
