"""Calls that wait until the graph has run: steps of optimisers and schedules, logging.

They run as plain Python, after everything else that the frame has done so far. So nothing that
they could notice, or that could notice them, may come after them in the frame: where it does, the
graph ends before the first of them instead.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from graphwright.capture.bytecode import handler_of
from graphwright.capture.exc import unsupported
from graphwright.capture.side_effects import DeferredCall
from graphwright.capture.source import AttrSource
from graphwright.capture.variables.base import Clock, VariableTracker
from graphwright.capture.variables.constant import ConstantVariable
from graphwright.capture.variables.objects import ObjectVariable
from graphwright.runtime import _core
from graphwright.runtime.optim import Optimizer
from graphwright.runtime.optim.lr_scheduler import LRScheduler

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

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
    return _defer(tx, owner, "step", [], tensors=True)


def zero_gradients(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Optimizer.zero_grad(self, ...)`: waits only where a step waits."""
    owner, *rest = [arg.realize() for arg in args]
    if not any(call.tensors for call in tx.side_effects.calls):
        function: Any = Optimizer.zero_grad
        return tx.plain_function(function).call(tx, [owner, *rest], kwargs)
    _require_plain(owner, Optimizer, args, kwargs)
    return _defer(tx, owner, "zero_grad", [], tensors=True)


def schedule_step(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`LRScheduler.step(self)`."""
    owner = args[0].realize()
    _require_plain(owner, LRScheduler, args, kwargs)
    return _defer(tx, owner, "step", [], tensors=True)


def _require_plain(owner: VariableTracker, cls: type, args: Args, kwargs: Kwargs) -> None:
    known = isinstance(owner, ObjectVariable) and issubclass(owner.cls, cls)
    if not known or owner.source is None or len(args) > 1 or kwargs:
        unsupported("GB0004", f"call of {owner.describe()}.step")


def logging_method(name: str) -> Any:
    """A method of `logging.Logger` on texts and numbers, called by the captured function itself.

    Called by another function, the record would name the wrong one.
    """

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner, *values = [arg.realize() for arg in args]
        known = isinstance(owner, ObjectVariable) and owner.cls is logging.Logger
        if not known or owner.source is None or kwargs or tx.parent is not None:
            unsupported("GB0004", f"call of Logger.{name}")
        if not all(isinstance(value, ConstantVariable) for value in values):
            unsupported("GB0004", f"Logger.{name} with other than texts and numbers")
        return _defer(tx, owner, name, values, tensors=False)

    return handler


def _defer(
    tx: Translator, owner: VariableTracker, name: str, args: Args, tensors: bool
) -> VariableTracker:
    frame: Translator | None = tx
    while frame is not None and tensors:
        if handler_of(frame.code, frame.current) is not None:
            unsupported("GB0004", f"call of {owner.describe()}.{name} in a with or try block")
        frame = frame.parent
    call = DeferredCall(
        owner, name, tuple(args), tensors, _core.grad_enabled(), tx.current.line, Clock.step
    )
    tx.output.defer(call)
    return tx.constant(None)


DEFERRED: dict[Any, Any] = {
    Optimizer.step: optimizer_step,
    Optimizer.zero_grad: zero_gradients,
    LRScheduler.step: schedule_step,
    **{
        getattr(logging.Logger, name): logging_method(name)
        for name in ("debug", "info", "warning", "error", "critical", "log")
    },
}
