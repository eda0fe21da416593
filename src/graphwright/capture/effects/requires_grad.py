"""`requires_grad_()` of tensors from outside: weights that are frozen, inputs to differentiate by.

While such a tensor does not require gradients, operations see a detached alias of it. One that
starts so and is switched on later is noted as a lesson: translated again, the frame makes it
require gradients right before the graph, whose operations until then see the alias. What the flag
is in the end is stored with the frame's other effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import Reconsidered, Unsupported, unsupported
from graphwright.capture.guards.source import AttrSource, Source
from graphwright.capture.trackers.tensors.checkpointing import refuse_reread
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator


def record(tensor: Any) -> None:
    """What runs before the graph for each of `Recording.begun`."""
    tensor.requires_grad_(True)


_eval_frame.skip_code(record.__code__)


class Recording:
    """Which tensors from outside were switched in one frame.

    begun: those that require gradients from the graph's start on, and did not before.
    """

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.begun: list[Source] = []
        self._aliases: dict[int, tuple[TensorVariable, int]] = {}

    def begins(self, value: Any, source: Source) -> bool:
        """Whether an earlier attempt saw the frame switch a tensor's `requires_grad` on."""
        learned = _lesson(source) in self.output.state.lessons
        return learned and not value.requires_grad and _may_switch(value)

    def begin(self, owner: TensorVariable) -> None:
        """Note that the frame starts with the tensor switched off, unlike the graph."""
        owner.fake.requires_grad_(True)
        self._hide(owner)

    def switch(self, tx: Translator, owner: TensorVariable, on: bool) -> None:
        """`owner.requires_grad_(on)`."""
        if owner.present().fake.requires_grad == on:
            return
        refuse_reread(self.output, owner.present().fake)
        source = self._require_alone(tx, owner)
        if not on:
            self._hide(owner)
        elif owner.fake.requires_grad:
            owner.hidden = None
            if not self.output.real_inputs()[owner.node].requires_grad and (
                source not in self.begun
            ):
                self.begun.append(source)
        else:
            raise Reconsidered(_lesson(source))
        tx.side_effects.store_attribute(owner, "requires_grad", tx.constant(on))

    def _require_alone(self, tx: Translator, owner: TensorVariable) -> Source:
        """A break unless it is a leaf of its own, used where operations are recorded as usual."""
        real = self.output.real_inputs()[owner.node]
        if runs_apart(self.output) or owner.memory is not None:
            unsupported("GB0004", "Tensor.requires_grad_() where operations run again or apart")
        if not _may_switch(real) or owner.source is None:
            unsupported("GB0004", f"Tensor.requires_grad_() of {owner.describe()}")
        for attribute in ("grad_fn", "_base"):
            tx.guards.equals(AttrSource(owner.source, attribute), None)
        return owner.source

    def _hide(self, owner: TensorVariable) -> None:
        owner.hidden = self.output.detached(owner)
        self._aliases[id(owner.fake._storage)] = owner, owner.fake._storage._version

    def check_writes(self) -> None:
        """A break before a write that is recorded, or refused, by what the alias is not."""
        for key, (owner, version) in self._aliases.items():
            if owner.fake._storage._version != version:
                if _core.grad_enabled():
                    unsupported("GB0004", f"a write to {owner.describe()}, whose requires_grad "
                                "changes")
                self._aliases[key] = owner, owner.fake._storage._version

    def check_leaves(self, value: TensorVariable) -> None:
        """A break before a view of an alias leaves the frame."""
        if value.source is None and id(value.fake._storage) in self._aliases:
            reason = Unsupported("GB0004", "a view of a tensor whose requires_grad changes")
            reason.blame(value.born)
            raise reason


def runs_apart(output: OutputGraph) -> bool:
    """Whether operations run again later, or where the frame's own tape does not record them."""
    recorded = not (output.recomputed or output.without_history or _core.levels())
    return not recorded or output.side_effects.earlier is not None


def _lesson(source: Source) -> str:
    return f"requires_grad of {source.name()}"


def _may_switch(value: Any) -> bool:
    """Whether an existing tensor is a leaf that no view and no mode forbids to switch."""
    floats = value.dtype.is_floating_point or value.dtype.is_complex
    return floats and value.is_leaf and value._base is None and not value.is_inference()
