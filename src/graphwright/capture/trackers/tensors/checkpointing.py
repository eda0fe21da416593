"""`utils.checkpoint.checkpoint` in the frame: the function is inlined, and backward recomputes it.

The operations are marked in the graph, and the compiler's backward computes them from the
arguments instead of keeping what they gave. What the function changes outside of itself would be
changed once more in Python's backward, and what it reads may have been written by then: such a
call ends the graph.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.ir.graph.node import RECOMPUTED
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator
    from graphwright.runtime.fake.fake_tensor import FakeTensor

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_MODULE = "graphwright.utils.checkpoint"
_DEFAULTS = {"determinism_check": ("default", "none"), "preserve_rng_state": (True,),
             "early_stop": (True, False)}


def handler_of_checkpoint(function: types.FunctionType) -> Any:
    """That of `checkpoint`, whose module is not imported for it."""
    if function.__module__ != _MODULE or function.__name__ != "checkpoint":
        return None
    return _checkpoint if sys.modules[_MODULE].checkpoint is function else None


def _checkpoint(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`checkpoint(function, *args, use_reentrant=..., **kwargs)`."""
    given = dict(kwargs)
    reentrant = given.pop("use_reentrant", None)
    for name, plain in _DEFAULTS.items():
        if name in given and given.pop(name).realize().as_constant() not in plain:
            unsupported("GB0024", f"call of checkpoint() with {name}")
    if reentrant is None or not args or given.keys() & {"context_fn", "debug"}:
        unsupported("GB0024", "call of function checkpoint")
    function, args = args[0].realize(), [arg.realize() for arg in args[1:]]
    if not _core.grad_enabled():
        return function.call(tx, args, given)
    nested = bool(reentrant.realize().as_constant())
    if nested and (given or not any(map(_has_gradient, args))):
        unsupported("GB0024", "call of checkpoint(), of nothing that requires gradients")
    before = written(tx.output)
    with _recomputed(tx.output, nested):
        result = function.call(tx, args, given).realize()
    if written(tx.output) != before:
        unsupported("GB0024", f"call of checkpoint(), of a function that {_change(tx, before)}")
    if nested:
        _require_new(args, result)
    return result


def _has_gradient(value: VariableTracker) -> bool:
    return isinstance(value, TensorVariable) and bool(value.present().fake.requires_grad)


@contextmanager
def _recomputed(output: OutputGraph, nested: bool) -> Iterator[None]:
    """Within the block operations are marked; `nested`: Python runs them without gradients."""
    before = output.recomputed, output.without_history
    output.recomputed, output.without_history = True, nested or output.without_history
    try:
        yield
    finally:
        output.recomputed, output.without_history = before


def written(output: OutputGraph) -> tuple[Any, ...]:
    """What changes where the frame writes to anything that was there before."""
    effects = output.side_effects
    attributes = {owner: tuple(values.items()) for owner, values in effects.attributes.items()
                  if owner not in effects.created}
    return (
        attributes, tuple(effects.globals.items()), len(effects.calls), output.seed,
        tuple(effects.contexts.items()), sum(len(use.calls) for use in effects.caches.values()),
        [cell for cell in effects.cells if cell.push_cell is not None],
        {owner: tuple(owner.parts()) for owner in effects.mutated
         if owner.source is not None or owner.born < Clock.step},
        {node: node.meta["val"]._storage._version for node in output.mutated_inputs()},
    )


def _change(tx: Translator, before: tuple[Any, ...]) -> str:
    """The first tensor that was written since; anything else is not named."""
    output = tx.output
    for node, version in written(output)[-1].items():
        if before[-1].get(node) != version:
            return f"writes to {output.inputs[node]}"
    return "changes other things"


def note_reread(output: OutputGraph, args: Iterable[VariableTracker]) -> None:
    """Remember the tensors from outside of the call that a recomputed operation reads."""
    for part in (part.realize() for arg in args for part in (arg, *arg.parts())):
        if isinstance(part, TensorVariable) and RECOMPUTED not in part.node.meta:
            fake = part.present().fake
            output.reread.setdefault(id(fake), (fake, fake._storage._version, Clock.step))


def check_reread(output: OutputGraph) -> None:
    """A break before a call of what reads a tensor again that is written after all."""
    for fake, version, step in output.reread.values():
        if fake._storage._version != version:
            reason = Unsupported(
                "GB0024", "call of checkpoint(), of a function that reads what is written later"
            )
            reason.blame(step)
            raise reason


def refuse_reread(output: OutputGraph, fake: FakeTensor) -> None:
    """A break before a call of what reads a tensor again whose `requires_grad` changes now:
    Python's backward finds that it is recorded otherwise then.
    """
    if id(fake) in output.reread:
        reason = Unsupported("GB0024", "call of checkpoint(), of a function that reads a tensor "
                             "whose requires_grad changes later")
        reason.blame(output.reread[id(fake)][2])
        raise reason


def forget_reread(output: OutputGraph) -> None:
    """The recomputation is done: from here on the tensors that it reads may be written."""
    check_reread(output)
    output.reread.clear()


def _require_new(args: Args, result: VariableTracker) -> None:
    """A break unless all results require gradients and are tensors of their own."""
    known = {id(arg.fake._storage) for arg in args if isinstance(arg, TensorVariable)}
    for part in (result, *(part.realize() for part in result.parts())):
        if not isinstance(part, TensorVariable):
            continue
        if not part.fake.requires_grad or id(part.fake._storage) in known:
            unsupported("GB0024", "call of checkpoint(), whose results are its arguments")
