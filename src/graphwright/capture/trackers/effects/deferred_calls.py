"""Calls that wait until the graph has run: steps of optimisers and schedules, hooks on tensors.

They run as plain Python, after everything else that the frame has done so far. So nothing that
they could notice, or that could notice them, may come after them in the frame. Where it does, the
graph ends before the first of them instead, and steps are interpreted: several of one frame are
operations of one graph. Steps that wait need fewer guards, and none on what they change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.capture.effects.side_effects import STEPS, DeferredCall
from graphwright.capture.exc import Reconsidered, unsupported
from graphwright.capture.guards.source import AttrSource
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.vm.bytecode import handler_of
from graphwright.optim import Optimizer
from graphwright.optim.lr_scheduler import LRScheduler
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.trackers.tensors.tensor import TensorVariable
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def optimizer_step(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Optimizer.step(self, ...)`: waits where it is called without a closure or hooks."""
    owner = args[0].realize()
    if not _may_wait(tx, owner, args, kwargs) or owner.value._hooks:  # type: ignore[attr-defined]
        return _interpreted(tx, Optimizer.step, args, kwargs)
    assert owner.source is not None
    tx.guards.length(AttrSource(owner.source, "_hooks"), 0)
    return _defer(tx, Optimizer.step, owner)


def zero_gradients(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Optimizer.zero_grad(self, ...)`: waits only where a step waits."""
    owner, *rest = [arg.realize() for arg in args]
    if not any(call.tensors for call in tx.side_effects.calls):
        return _interpreted(tx, Optimizer.zero_grad, [owner, *rest], kwargs)
    if not _may_wait(tx, owner, args, kwargs):
        raise Reconsidered(STEPS)
    return _defer(tx, Optimizer.zero_grad, owner)


def schedule_step(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`LRScheduler.step(self)`."""
    owner = args[0].realize()
    if not _may_wait(tx, owner, args, kwargs):
        return _interpreted(tx, LRScheduler.step, args, kwargs)
    return _defer(tx, LRScheduler.step, owner)


def _interpreted(tx: Translator, method: Any, args: Args, kwargs: Kwargs) -> VariableTracker:
    return tx.plain_function(method).call(tx, args, kwargs)


def _may_wait(tx: Translator, owner: VariableTracker, args: Args, kwargs: Kwargs) -> bool:
    """Whether a method of `owner` alone, from outside, may be called after the graph."""
    known = isinstance(owner, ObjectVariable) and owner.source is not None
    alone = len(args) == 1 and not kwargs and not _is_handled(tx)
    return known and alone and STEPS not in tx.output.state.lessons


def refuse_handlers(tx: Translator, what: str) -> None:
    """A break before a call whose exception a block of the frame could handle."""
    if _is_handled(tx):
        unsupported("GB0004", f"call of {what} in a with or try block")


def _is_handled(tx: Translator) -> bool:
    frame: Translator | None = tx
    while frame is not None:
        if handler_of(frame.code, frame.current) is not None:
            return True
        frame = frame.parent
    return False


def _defer(tx: Translator, method: Any, owner: VariableTracker) -> VariableTracker:
    """The call waits: of this very function, which a class or an object may have replaced."""
    mode, line = _core.grad_enabled(), tx.current.line
    function = tx.plain_function(method)
    call = DeferredCall(function, None, (owner,), True, mode, line, Clock.step)
    tx.side_effects.calls.append(call)
    return tx.constant(None)


class HandleVariable(VariableTracker):
    """What registering a hook returns, which exists after the graph: the frame can drop it."""

    def python_type(self) -> type:
        unsupported("GB0015", f"a use of {self.describe()}, which exists only after the graph")

    def has_type(self, cls: type) -> bool:
        return False

    def describe(self) -> str:
        return "the handle of a hook"


HOOKS = frozenset(["register_hook", "register_post_accumulate_grad_hook"])


def register_hook(
    tx: Translator, owner: TensorVariable, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """A hook on an argument of the graph, whose gradients do not flow before the frame is done."""
    if owner.source is None or not owner.present().fake.requires_grad or len(args) != 1 or kwargs:
        unsupported("GB0004", f"Tensor.{name}() changes the autograd tape")
    refuse_handlers(tx, f"Tensor.{name}")
    mode, line = _core.grad_enabled(), tx.current.line
    call = DeferredCall(owner, name, tuple(args), False, mode, line, Clock.step)
    tx.side_effects.calls.append(call)
    return HandleVariable()


def refuse_hooks(tx: Translator) -> None:
    """A break before hooks that the gradients which follow in the frame would run."""
    for call in tx.side_effects.calls:
        if call.name in HOOKS:
            call.refuse()


DEFERRED: dict[Any, Any] = {
    Optimizer.step: optimizer_step,
    Optimizer.zero_grad: zero_gradients,
    LRScheduler.step: schedule_step,
}
