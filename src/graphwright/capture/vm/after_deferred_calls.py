"""What may not follow calls that wait until the graph has run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.capture.effects.side_effects import DeferredCall
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.ir.graph.node import map_leaves
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph


def refuse_writes(output: OutputGraph, call: DeferredCall) -> None:
    """A break before a call after which the graph writes what the call may see."""
    if not call.notifies:
        return
    known = {id(fake) for fake, _ in call.versions}
    if any(fake._storage._version != version for fake, version in call.versions):
        call.refuse()
    written = [node.meta["val"] for node in output.mutated_inputs()]
    if not call.tensors and any(id(fake) not in known for fake in written):
        call.refuse()


def refuse_shared_memory(output: OutputGraph, values: tuple[Any, ...]) -> None:
    """After calls that work on tensors: operations on memory that they may see."""
    effects = output.side_effects
    seen = [node.meta["val"] for node in output.inputs]
    for stored in effects.attributes.values():
        seen += [v.fake for v in stored.values() if isinstance(v, TensorVariable)]
    storages = {id(getattr(value, "_storage", None)) for value in seen}

    def check(leaf: Any) -> Any:
        if isinstance(leaf, _core.TensorBase) and id(leaf._storage) in storages:
            effects.refuse_after_calls(tensors=True)
        return leaf

    map_leaves(values, check)
