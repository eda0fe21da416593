"""Gradient hooks that `backward()` in the frame calls: they run as code of the frame.

A pass ends at each tensor of the frame that has hooks. They are called with its gradient, and
another pass goes on from there with their results, latest tensors first, as the engine does it.
Hooks of leaves run as soon as their gradients are complete. Gradients that flow after the frame
would find no hooks: whatever has such a history does not leave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphwright.capture.effects.frame_autograd import is_forbidden
from graphwright.capture.effects.requires_grad import runs_apart
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import AttrSource
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.effects.context import without_gradients
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.runtime import _core
from graphwright.runtime.record import Record
from graphwright.runtime.tape.engine import MOVED
from graphwright.runtime.tape.node import gradient_edge
from graphwright.runtime.tape.partial import Reached, gradients_until, leaves_reached

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]


class Hook(Record):
    """A hook on a tensor that the frame made; `function` None: its gradient is kept.

    edge: the output of the tape's node that the tensor was. step: when it was registered.
    """

    owner: TensorVariable
    edge: Any
    function: VariableTracker | None
    step: int

    def refuse(self, what: str) -> None:
        """A break before the hook is registered."""
        reason = Unsupported("GB0004", f"a hook on {self.owner.describe()}, {what}")
        reason.blame(self.step)
        raise reason


def hook_made(tx: Translator, owner: TensorVariable, function: VariableTracker | None) -> None:
    """`owner.register_hook(function)`, or `owner.retain_grad()`, of a tensor of the frame."""
    forbidden = is_forbidden(owner.fake) or owner.fake.is_leaf
    if forbidden or runs_apart(tx.output):
        unsupported("GB0004", "a hook changes the autograd tape")
    if function is None:
        if is_retained(tx, owner):
            return
        tx.side_effects.track_new(owner)
    tx.output.tape.hooks.append(Hook(owner, gradient_edge(owner.fake), function, Clock.step))


def is_retained(tx: Translator, owner: TensorVariable) -> bool:
    """Whether the frame has called its `retain_grad()`."""
    return any(hook.owner is owner and hook.function is None for hook in tx.output.tape.hooks)


def is_frozen(leaf: TensorVariable) -> bool:
    """Whether a leaf does not require gradients any more."""
    return not leaf.present().fake.requires_grad


def require_recorded(leaves: Sequence[TensorVariable]) -> None:
    """A break before a pass to a leaf that was frozen after its use, which gets no gradient, and
    to one that has got a history then, which is an error.
    """
    if not all(leaf.fake.is_leaf for leaf in leaves):
        unsupported("GB0007", f"RuntimeError: {MOVED}")
    if any(map(is_frozen, leaves)):
        unsupported("GB0004", "backward() to tensors whose requires_grad was switched off")


def hooks_of_leaf(tx: Translator, leaf: TensorVariable, name: str) -> Args:
    """What a leaf's `AutogradExtra` has under a name, with guards."""
    if leaf.source is None:
        return []
    extra = tx.output.real_inputs()[leaf.node]._autograd
    if extra is None:
        return []
    state = tx.output.wrap(extra, AttrSource(leaf.source, "_extra"))
    hooks = state.getattr(tx, name).realize()
    return list(hooks.call_method(tx, "values", [], {}).unpack(tx))


def gradients_by_hooks(
    tx: Translator, roots: Sequence[TensorVariable], leaves: Sequence[TensorVariable],
    grads: Sequence[VariableTracker], retain: bool,
) -> Iterator[tuple[TensorVariable, VariableTracker]]:
    """The leaves in the engine's order, each with its gradient as soon as the hooks on what is
    above it have run; the other hooks run as the rest is asked for.
    """
    passes = _Passes(tx, leaves)
    reached = _reached(tx, roots, grads)
    passes.go(roots, grads)
    known = {id(leaf.fake): leaf for leaf in leaves}
    for fake, latest in reached.leaves_in_order:
        passes.go_on_to(latest)
        leaf = known.get(id(fake))
        if leaf in passes.found:
            yield leaf, passes.found[leaf]
    passes.go_on_to(0)
    if not retain:
        reached.release()


def _reached(
    tx: Translator, roots: Sequence[TensorVariable], grads: Sequence[VariableTracker]
) -> Reached:
    """A pass over the fake tensors, which makes no node of the graph.

    A break where the pass fails: on a history that another pass has released.
    """
    previous = _core.set_tracer(tx.output.fake_mode)
    try:
        examples = [grad.as_example() for grad in grads]
        return leaves_reached([root.fake for root in roots], examples)
    except RuntimeError as error:
        unsupported("GB0007", f"RuntimeError: {error}")
    finally:
        _core.set_tracer(previous)


class _Passes:
    """The passes of one `backward()`: what leaves, and tensors with hooks, have got so far.

    groups: the hooks of one tensor each, in the order in which the engine calls them.
    """

    def __init__(self, tx: Translator, leaves: Sequence[TensorVariable]) -> None:
        self.tx, self.leaves = tx, leaves
        self.found: dict[TensorVariable, VariableTracker] = {}
        by_place: dict[tuple[int, int], list[Hook]] = {}
        for hook in tx.output.tape.hooks:
            fake = hook.owner.fake
            if is_forbidden(fake) or gradient_edge(fake) != hook.edge:
                hook.refuse("which was written in place since")
            by_place.setdefault((-hook.edge[0].sequence, hook.edge[1]), []).append(hook)
        self.groups = [by_place[place] for place in sorted(by_place)]
        self._ends = [group[0].owner for group in self.groups]

    def go(self, starts: Sequence[TensorVariable], grads: Sequence[VariableTracker]) -> None:
        """Gradients flow to the leaves, and to the tensors with hooks that are left."""
        tx = self.tx
        require_recorded(self.leaves)
        targets = [*self.leaves, *self._ends]
        parts = [tx.tuple_of(list(part)) for part in (starts, self.leaves, self._ends, grads)]
        found = tx.output.run(tx, "call_function", gradients_until, parts, {}).unpack(tx)
        for target, grad in zip(targets, found, strict=True):
            if isinstance(grad, TensorVariable):
                before = self.found.get(target)
                self.found[target] = grad if before is None else tx.output.run(
                    tx, "call_method", "add", [before, grad], {})

    def go_on_to(self, latest: int) -> None:
        """Run the hooks that the engine calls before it has passed the node of that number."""
        while self.groups and self.groups[0][0].edge[0].sequence >= latest:
            self._go_on(self.groups.pop(0))

    def _go_on(self, group: list[Hook]) -> None:
        """Run the hooks of a tensor, if its gradient has come, and go on from it."""
        owner = self._ends.pop(0)
        grad = self.found.pop(owner, None)
        if grad is None:
            return
        for hook in sorted(group, key=lambda hook: hook.function is None):
            if hook.function is None:
                keep(self.tx, owner, grad)
            else:
                grad = hooked(self.tx, hook.function, grad)
        self.go([owner], [grad])


def hooked(
    tx: Translator, function: VariableTracker, grad: VariableTracker
) -> VariableTracker:
    """The gradient after a hook."""
    assert isinstance(grad, TensorVariable)
    version = grad.fake._storage._version
    changed = _quietly(tx, function, grad)
    if grad.fake._storage._version != version:
        unsupported("GB0004", "a hook that writes to the gradient")
    if isinstance(changed, ConstantVariable) and changed.value is None:
        return grad
    if not isinstance(changed, TensorVariable) or changed.fake.shape != grad.fake.shape:
        unsupported("GB0007", f"a hook returns {changed.describe()}")
    return changed


def run_afterwards(tx: Translator, leaf: TensorVariable) -> None:
    """The hooks that `register_post_accumulate_grad_hook` has put on a leaf."""
    for function in hooks_of_leaf(tx, leaf, "accumulate_hooks"):
        _quietly(tx, function, leaf)


def _quietly(tx: Translator, function: VariableTracker, value: VariableTracker) -> VariableTracker:
    """Call a hook as a pass does, without gradients."""
    with without_gradients(tx):
        return function.realize().call(tx, [value], {}).realize()


def keep(tx: Translator, owner: TensorVariable, grad: VariableTracker) -> None:
    """Add to the `.grad` of a tensor that retains it."""
    before = tx.side_effects.attribute(owner, "grad")
    before = before.realize() if before is not None else None
    with without_gradients(tx):
        if isinstance(before, TensorVariable):
            kept = tx.output.run(tx, "call_method", "add", [before, grad], {})
        else:
            kept = tx.output.run(tx, "call_method", "clone", [grad], {})
    tx.side_effects.store_attribute(owner, "grad", kept)
