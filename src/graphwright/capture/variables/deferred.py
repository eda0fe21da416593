"""Calls that wait until the graph has run: steps of optimisers and schedules, hooks on tensors.

They run as plain Python, after everything else that the frame has done so far. So nothing that
they could notice, or that could notice them, may come after them in the frame: where it does, the
graph ends before the first of them instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.capture.bytecode import handler_of
from graphwright.capture.exc import unsupported
from graphwright.capture.side_effects import DeferredCall
from graphwright.capture.source import AttrSource
from graphwright.capture.variables.base import Clock, VariableTracker
from graphwright.capture.variables.objects import ObjectVariable
from graphwright.runtime import _core
from graphwright.runtime.optim import Optimizer
from graphwright.runtime.optim.lr_scheduler import LRScheduler

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator
    from graphwright.capture.variables.tensor import TensorVariable

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def optimizer_step(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Optimizer.step(self)`, of optimisers without hooks."""
    owner = args[0].realize()
    _require_plain(owner, Optimizer, args, kwargs)
    assert owner.source is not None
    tx.guards.length(AttrSource(owner.source, "_hooks"), 0)
    if owner.value._hooks:  # type: ignore[attr-defined]
        unsupported("GB0004", "a step of an optimiser with hooks")
    return _defer(tx, owner, "step")


def zero_gradients(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Optimizer.zero_grad(self, ...)`: waits only where a step waits."""
    owner, *rest = [arg.realize() for arg in args]
    if not any(call.tensors for call in tx.side_effects.calls):
        function: Any = Optimizer.zero_grad
        return tx.plain_function(function).call(tx, [owner, *rest], kwargs)
    _require_plain(owner, Optimizer, args, kwargs)
    return _defer(tx, owner, "zero_grad")


def schedule_step(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`LRScheduler.step(self)`."""
    owner = args[0].realize()
    _require_plain(owner, LRScheduler, args, kwargs)
    return _defer(tx, owner, "step")


def _require_plain(owner: VariableTracker, cls: type, args: Args, kwargs: Kwargs) -> None:
    known = isinstance(owner, ObjectVariable) and issubclass(owner.cls, cls)
    if not known or owner.source is None or len(args) > 1 or kwargs:
        unsupported("GB0004", f"call of {owner.describe()}.step")


def refuse_handlers(tx: Translator, what: str) -> None:
    """A break before a call whose exception a block of the frame could handle."""
    frame: Translator | None = tx
    while frame is not None:
        if handler_of(frame.code, frame.current) is not None:
            unsupported("GB0004", f"call of {what} in a with or try block")
        frame = frame.parent


def _defer(tx: Translator, owner: VariableTracker, name: str) -> VariableTracker:
    refuse_handlers(tx, f"{owner.describe()}.{name}")
    mode, line = _core.grad_enabled(), tx.current.line
    call = DeferredCall(owner, name, (), True, mode, line, Clock.step)
    tx.side_effects.calls.append(call)
    return tx.constant(None)


class HandleVariable(VariableTracker):
    """What registering a hook returns, which exists after the graph: it can be let go of."""

    def python_type(self) -> type:
        unsupported("GB0015", f"{self.describe()} is needed in the frame")

    def has_type(self, cls: type) -> bool:
        return False

    def describe(self) -> str:
        return "the handle of a hook"


HOOKS = frozenset(["register_hook", "register_post_accumulate_grad_hook"])


def register_hook(
    tx: Translator, owner: TensorVariable, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """A hook on an argument of the graph, whose gradients do not flow before the frame is done.

    Of a tensor that the frame makes the graph has no node on the tape of its own.
    """
    if owner.source is None or not owner.fake.requires_grad or len(args) != 1 or kwargs:
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
