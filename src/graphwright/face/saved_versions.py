"""The tensors of a compiled call that eager execution would have saved, and their versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any

from graphwright.ir.lowered_graph import Kept, Lowered
from graphwright.runtime import _core
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tape.node import Leading, gradient_edge
from graphwright.runtime.tape.saved import SavedTensor, SavedValues, alias_of, modified
from graphwright.runtime.tensor.tensor import Tensor


class Watch:
    """Where the tensors in `Lowered.kept` are in each call.

    made: places of results, and of inputs that the call writes; left: the other inputs.
    """

    __slots__ = ("all_made", "kept", "left", "made", "writes")

    def __init__(self, lowered: Lowered) -> None:
        self.kept = lowered.kept
        self.writes = any(kept.writes for kept in lowered.kept)
        self.made = {place: number for number, place in enumerate(lowered.made)}
        self.all_made = tuple(self.made.values())
        places = {kept.place for kept in lowered.kept if kept.place is not None}
        self.left = tuple([index for _, index in sorted(places - self.made.keys())])


class Watched:
    """What one call of a compiled forward knows of those tensors.

    Results are held as eager execution holds what it saved of them: detached.
    """

    __slots__ = ("inputs", "made", "sizes", "watch")

    def __init__(
        self, watch: Watch, inputs: SavedValues, given: Sequence[Any], outputs: Sequence[Any],
        sizes: dict[str, int],
    ) -> None:
        """inputs: `given` as saved before the call has written to them; outputs: tensors."""
        self.watch, self.inputs, self.sizes = watch, inputs, sizes
        self.made = SavedValues(tuple([
            _core.detach(Tensor, (given if kind == "input" else outputs)[index])
            for kind, index in watch.made]))

    def _saved(self, place: tuple[str, int]) -> SavedTensor:
        number = self.watch.made.get(place)
        found: SavedTensor = self.inputs[place[1]] if number is None else self.made[number]
        return found

    def _are_unchanged(self) -> bool:
        watch = self.watch
        return self.inputs.are_unchanged(watch.left) and self.made.are_unchanged(watch.all_made)

    def check(
        self, given: Sequence[bool], wanted: Sequence[bool], again: bool = False
    ) -> None:
        """Raise RuntimeError where eager execution finds a saved tensor written in place.

        Args:
            given: whether each output's gradient has come; wanted: whether each input's is asked
                for; again: whether what is written is of interest only if it is a result.
        """
        if not self.watch.writes and self._are_unchanged():
            return
        for kept in self.watch.kept:
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


class Passages:
    """The ways that gradients can go once through a compiled call: bits of numbers stand for them.

    What eager execution saved there is released then, and further gradients are refused.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.ways = lowered.passages
        self.rereads = lowered.rereads
        self.arrivals = lowered.arrivals
        self.all = (1 << len(self.ways)) - 1
        self.reusable = lowered.reusable

    def gone(self, given: Sequence[bool], wanted: Sequence[bool]) -> int:
        """Those that gradients go which are given and wanted as in `Watched.check`."""
        if all(given) and all(wanted):
            return self.all
        tangents, gradients = _as_bits(given), _as_bits(wanted)
        return _as_bits([above & tangents and below & gradients for above, below in self.ways])

    def again(self, gone: int, gradient: int) -> int:
        """Those that gradients of one of the gradients go which have gone these."""
        found = 0
        for number, behind in enumerate(self.rereads):
            if gone >> number & 1:
                found |= behind
        return found & _as_bits([below >> gradient & 1 for _, below in self.ways])

    def results(self, gone: int) -> int:
        """The tangents of outputs that gradients arrive at of gradients which went these."""
        return reduce(or_, [arrived for number, arrived in enumerate(self.arrivals)
                            if gone >> number & 1], 0)

    def end(self, closed: int) -> bool:
        """Whether no gradients can come any more."""
        return closed == self.all and not self.reusable


def _as_bits(values: Sequence[object]) -> int:
    return sum(1 << number for number, value in enumerate(values) if value)


class _Again(Leading):
    """An identity on the way to a gradient's history."""

    __slots__ = ("look",)

    checked = True

    def __init__(self, edge: tuple[Any, int], look: Callable[[], None]) -> None:
        super().__init__("CompiledBackward", [edge])
        self.look = look

    def check(self, grads: list[Any], wanted: Sequence[bool], releases: bool) -> None:
        self.look()
