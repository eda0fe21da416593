"""`autograd.Function`: a call of `apply` is one node of the graph, backward included.

The node runs the user's own class, eagerly or while graphs are made of the graph. So here
forward and backward are only rehearsed: the VM runs them in a graph of their own, which is thrown
away. What the rehearsal reads becomes guards of the frame, and what it cannot run, or what has
effects, ends the graph before the call. Backward runs later than the frame: what it reads besides
its arguments may be nothing that programs change; a global that is named in capitals is constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ForeignGlobalSource, GlobalSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.functions import (
    FunctionVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.classes.classes import (
    BuiltinVariable,
    ClassVariable,
    OperationVariable,
)
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.library.python_modules import PythonModuleVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import Raised
from graphwright.capture.vm import polyfills
from graphwright.runtime import _core
from graphwright.runtime.tape.function import Function, reduces
from graphwright.runtime.tape.function_op import FunctionCall

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_UNCHANGING = (
    FunctionVariable, BuiltinVariable, OperationVariable, ClassVariable, PythonModuleVariable,
)  # fmt: skip


def apply_function(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Function.apply(cls, *inputs)`."""
    owner, *inputs = [arg.realize() for arg in args]
    if not isinstance(owner, ClassVariable) or not issubclass(owner.value, Function) or kwargs:
        unsupported("GB0004", f"call of {owner.describe()}.apply")
    if _core.levels():
        unsupported("GB0004", f"call of {owner.describe()}.apply under vmap")
    _Rehearsal(tx, owner, inputs).run()
    result = tx.output.run(tx, "call_function", FunctionCall(owner.value), inputs, {})
    tx.output.note_shared(inputs, result)
    return result


class _Rehearsal:
    """Forward and backward of one call, on stand-ins for its tensors."""

    def __init__(self, tx: Translator, owner: ClassVariable, inputs: Args) -> None:
        self.tx, self.owner, self.inputs = tx, owner, inputs
        self.fakes = [arg.fake for arg in inputs if isinstance(arg, TensorVariable)]

    def run(self) -> None:
        """Break where the call cannot be a node."""
        random = self.tx.output.fake_mode.random
        self.tx.output.fake_mode.random = False
        with self.tx.output.rehearsing() as effects:
            stand_ins = [self._stand_in(arg) for arg in self.inputs]
            needs = [_needs_gradient(arg) for arg in self.inputs]
            with self._strictly(constants=True):
                context, outputs = self._forward(stand_ins, needs)
            if _core.grad_enabled() and any(needs):
                with self._strictly(constants=False):
                    self._backward(context, outputs)
            given = set(_all_parts(self.inputs))
            if effects or any(changed in given for changed in effects.mutated):
                self._refuse("has side effects")
        for arg, used in zip(self.inputs, stand_ins, strict=True):
            if isinstance(arg, TensorVariable) and used.fake._storage._version:  # type: ignore[attr-defined]
                self._refuse("changes an argument in place")
        if self.tx.output.fake_mode.random:
            self._refuse("draws random numbers")
        self.tx.output.fake_mode.random = random

    def _refuse(self, what: str) -> None:
        unsupported("GB0004", f"{self.owner.value.__qualname__}.apply, which {what}")

    def _stand_in(self, arg: VariableTracker) -> VariableTracker:
        if not isinstance(arg, TensorVariable):
            return arg
        return self.tx.output.stand_in(arg.present().fake)

    @contextmanager
    def _strictly(self, constants: bool) -> Iterator[None]:
        """Refuse to read what the real call might find changed; exceptions end the graph."""

        def check(value: VariableTracker, source: Source) -> None:
            allowed = constants or _is_constant_by_name(source)
            if not isinstance(value, (*_UNCHANGING, *([ConstantVariable] if allowed else []))):
                self._refuse(f"reads {value.describe()}")

        self.tx.output.check_read = check
        enabled = _core.set_grad_enabled(False)
        try:
            yield
        except Raised as raised:
            self._refuse(f"raises {raised.value.cls.__name__}")
        finally:
            _core.set_grad_enabled(enabled)
            self.tx.output.check_read = None

    def _forward(self, inputs: Args, needs: list[bool]) -> tuple[VariableTracker, Args]:
        tx = self.tx
        flags = tx.tuple_of([tx.constant(need) for need in needs])
        context = tx.constant_class(polyfills.FunctionContext).call(tx, [flags], {})
        forward = self.owner.getattr(tx, "forward")
        setup = self.owner.getattr(tx, "setup_context")
        separate = not (
            isinstance(setup, UserFunctionVariable)
            and setup.function is Function.setup_context
        )
        if separate:
            result = forward.call(tx, inputs, {})
            setup.call(tx, [context, tx.tuple_of(inputs), result], {})
        else:
            result = forward.call(tx, [context, *inputs], {})
        result = result.realize()
        outputs = result.items if isinstance(result, (TupleVariable, ListVariable)) else [result]
        return context, [output.realize() for output in outputs]

    def _backward(self, context: VariableTracker, outputs: Args) -> None:
        """Backward with gradients of all outputs, and of each alone where the others are None."""
        tx = self.tx
        grads = [self._stand_in(output) for output in outputs]
        none = tx.constant(None)
        given = [grad if isinstance(grad, TensorVariable) else none for grad in grads]
        function = self.owner.getattr(tx, "backward")
        if isinstance(function, UserFunctionVariable) and _is_once(function):
            function = function.getattr(tx, "__wrapped__")
        self._check_gradients(function.call(tx, [context, *given], {}).realize())
        if tx.truth(context.getattr(tx, "materialize")) or len(given) < 2:
            return
        for position, grad in enumerate(given):
            alone = [grad if i == position else none for i in range(len(given))]
            self._check_gradients(function.call(tx, [context, *alone], {}).realize())

    def _check_gradients(self, result: VariableTracker) -> None:
        """As the tape checks them: what it would refuse is left to it."""
        several = isinstance(result, (TupleVariable, ListVariable))
        grads = [grad.realize() for grad in result.items] if several else [result]  # type: ignore[attr-defined]
        more, grads = grads[len(self.inputs) :], grads[: len(self.inputs)]
        if len(grads) < len(self.inputs) or not all(map(VariableTracker.is_none, more)):
            self._refuse("gives another number of gradients than it has arguments")
        for grad, arg in zip(grads, self.inputs, strict=True):
            if isinstance(grad, TensorVariable):
                tensor = isinstance(arg, TensorVariable)
                if tensor and not reduces(grad.fake.shape, arg.fake.shape):  # type: ignore[attr-defined]
                    self._refuse("gives a gradient of another shape than the argument's")
            elif not grad.is_none():
                self._refuse(f"gives {grad.describe()} as a gradient")


def _needs_gradient(arg: VariableTracker) -> bool:
    return isinstance(arg, TensorVariable) and arg.present().fake.requires_grad


def _is_constant_by_name(source: Source) -> bool:
    """Whether a value is a global that is named in capitals, as constants are by convention."""
    return isinstance(source, (GlobalSource, ForeignGlobalSource)) and source.variable.isupper()


def _is_once(function: UserFunctionVariable) -> bool:
    """Whether `once_differentiable` wrapped it."""
    return function.code.co_qualname == "once_differentiable.<locals>.wrapper"


def _all_parts(values: Args) -> Iterator[VariableTracker]:
    for value in values:
        yield value
        if not isinstance(value, TensorVariable):
            yield from _all_parts([part.realize() for part in value.parts()])


APPLY: Any = Function.apply.__func__  # type: ignore[attr-defined]
