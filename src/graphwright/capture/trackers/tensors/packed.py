"""Packed sequences of lengths that Python would have to read: masked ones stand for them.

`pack_padded_sequence`, a recurrent layer and `pad_packed_sequence` around it are then operations
on the padded batch (`nn.layers.masked_steps`). A program that looks at the packed sequence in
between, or keeps it, is given a real one: the graph ends before it is packed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Unsupported
from graphwright.capture.guards.constant_tensors import KNOWN
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.nn.layers import masked_steps
from graphwright.nn.layers.rnn import RNNBase
from graphwright.nn.utils import rnn

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class MaskedVariable(VariableTracker):
    """A `PackedSequence` that is not packed: the steps of the padded batch, and the lengths."""

    def __init__(self, steps: VariableTracker, lengths: VariableTracker) -> None:
        self.steps, self.lengths = steps, lengths

    def python_type(self) -> type:
        return rnn.PackedSequence

    def parts(self) -> list[VariableTracker]:
        return [self.steps, self.lengths]

    def needed(self, why: str) -> Unsupported:
        """A break before it is packed."""
        reason = Unsupported("GB0002", f"the lengths of packed sequences {why}")
        reason.blame(self.born)
        return reason

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        raise self.needed(f"of which {name!r} is read")

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        raise self.needed("of which a part is read")

    def iterate(self, tx: Translator) -> VariableTracker:
        raise self.needed("of which the parts are read")

    def reconstruct(self, cg: Reconstructor) -> None:
        raise self.needed("that the program keeps")


def _given(names: tuple[str, ...], args: Args, kwargs: Kwargs, count: int) -> Args | None:
    """The first `count` arguments, None where they are not given as the function takes them."""
    given = dict(zip(names, args, strict=False)) | kwargs
    whole = len(args) <= len(names) and given.keys() <= set(names)
    found = [given[name] for name in names[:count] if name in given]
    return [value.realize() for value in found] if whole and len(found) == count else None


def _run(tx: Translator, function: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Run a function of the package inside of the graph."""
    return tx.plain_function(function).call(tx, args, kwargs)


def _pack(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    names = ("input", "lengths", "batch_first", "enforce_sorted")
    given = _given(names, args, kwargs, 2)
    if given is None or not all(isinstance(value, TensorVariable) for value in given):
        return _run(tx, rnn.pack_padded_sequence, args, kwargs)
    input, lengths = given
    assert isinstance(input, TensorVariable)
    assert isinstance(lengths, TensorVariable)
    if KNOWN in lengths.node.meta or input.present().fake.ndim < 3 or lengths.fake.ndim != 1:
        return _run(tx, rnn.pack_padded_sequence, args, kwargs)
    return MaskedVariable(*_run(tx, masked_steps.masked, args, kwargs).unpack(tx))


def _pad(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    given = _given(
        ("sequence", "batch_first", "padding_value", "total_length"), args, kwargs, 1)
    if given is None or not isinstance(given[0], MaskedVariable):
        return _run(tx, rnn.pad_packed_sequence, args, kwargs)
    rest = {name: value for name, value in kwargs.items() if name != "sequence"}
    parts = [*given[0].parts(), *args[1:]]
    return _run(tx, masked_steps.padded, parts, rest)


def _forward_packed(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    module, sequence, state = args
    sequence = sequence.realize()
    if not isinstance(sequence, MaskedVariable):
        return _run(tx, RNNBase._forward_packed, args, kwargs)
    steps, lengths = sequence.parts()
    if not tx.truth(_run(tx, masked_steps.can_mask, [module, steps, state], {})):
        raise sequence.needed(
            "in a layer with dropout, projections, or states of both directions that are given")
    found = _run(tx, masked_steps.forward, [module, steps, lengths, state], {})
    output, final = found.unpack(tx)
    return TupleVariable([MaskedVariable(output, lengths), final])


PACKED: dict[Any, Callable[[Translator, Args, Kwargs], VariableTracker]] = {
    rnn.pack_padded_sequence: _pack,
    rnn.pad_packed_sequence: _pad,
    RNNBase._forward_packed: _forward_packed,
}
