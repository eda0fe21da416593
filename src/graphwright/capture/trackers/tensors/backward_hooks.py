"""Backward hooks of modules: they run in the backward of the graph, between those of its pieces.

A call of a module that has some leads its inputs and outputs through functions that hand gradients
to the hooks. These are cuts of the graph, which Python runs in each call (see `ir.pieces`), so the
hooks are the program's own, called as eager execution calls them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import SequenceMethod, TupleVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.ir.pieces import Cut
from graphwright.nn import hooks
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class HookCut(Cut):
    """Leads tensors of one call of a module through a boundary, at its inputs or outputs.

    call: the number of the call within one run. count, places: as in `BackwardWatch.enter`.
    """

    def __init__(
        self, name: str, module: Any, call: int, count: int, places: list[int], n_inputs: int
    ) -> None:
        self.module = weakref.ref(module)
        self.call, self.count, self.places, self.n_inputs = call, count, places, n_inputs
        self.__name__ = self.__qualname__ = name
        self.__module__ = hooks.__name__

    def __call__(self, *tensors: Any) -> Any:
        return tuple([tensor.view_as(tensor) for tensor in tensors])

    def run(self, state: dict[Any, Any], *tensors: Any) -> Any:
        watch = state.get(self.call)
        if watch is None:
            module = self.module()
            watch = state[self.call] = hooks.BackwardWatch(module, *hooks.backward_hooks(module))
            watch.n_inputs = self.n_inputs
        return getattr(watch, self.__name__)(self.count, self.places, tensors)


class WatchVariable(VariableTracker):
    """The `BackwardWatch` of one call. step: when it was made."""

    def __init__(self, module: ObjectVariable, with_inputs: bool) -> None:
        self.module = module
        self.with_inputs = with_inputs
        self.n_inputs = 0

    def python_type(self) -> type:
        return hooks.BackwardWatch

    def describe(self) -> str:
        return f"a call of {self.module.cls.__name__}, which has backward hooks"

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return SequenceMethod(self, name)

    @staticmethod
    def methods() -> dict[str, Any]:
        """The methods that are interpreted, by name."""
        return {"inputs": None, "outputs": None}

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        value = args[0].realize()
        if name == "inputs":
            self.n_inputs = len(value.unpack(tx))
            return self._through(tx, "enter", value) if self.with_inputs else value
        if isinstance(value, TensorVariable):
            return self._through(tx, "leave", TupleVariable([value])).unpack(tx)[0]
        if type(value) is not TupleVariable:
            unsupported("GB0027", f"{self.describe()}, gives {value.describe()}")
        return self._through(tx, "leave", value)

    def _through(self, tx: Translator, name: str, value: VariableTracker) -> VariableTracker:
        values = [item.realize() for item in value.unpack(tx)]
        places = [i for i, item in enumerate(values)
                  if isinstance(item, TensorVariable) and item.present().fake.requires_grad]
        if not places or not _core.grad_enabled():
            return value
        if _core.levels() or tx.output.recomputed:
            what = "under vmap" if _core.levels() else "within checkpoint()"
            unsupported("GB0027", f"{self.describe()}, {what}")
        cut = HookCut(name, self.module.value, id(self), len(values), places, self.n_inputs)
        tx.output.watches.append(self)
        led = tx.output.run(tx, "call_function", cut, [values[i] for i in places], {}).unpack(tx)
        for place, tensor in zip(places, led, strict=True):
            values[place] = tensor
        return TupleVariable(values)


def _watch(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`backward_watch(module)`."""
    module = args[0].realize()
    found: Any = hooks.backward_hooks
    before, after = tx.plain_function(found).call(tx, [module], {}).unpack(tx)
    counts = [len(part.unpack(tx)) for part in (before, after)]
    if not any(counts):
        return tx.constant(None)
    if not isinstance(module, ObjectVariable) or module.source is None:
        unsupported("GB0027", f"a call of {module.describe()}, to which the frame added hooks")
    tx.guards.id_match(module.source, module.value)
    return WatchVariable(module, bool(counts[1]))


def refuse_watches(output: OutputGraph, why: str) -> None:
    """A break before the first call of a module with hooks that gradients of the graph meet."""
    if output.watches:
        watch = output.watches[0]
        reason = Unsupported("GB0027", f"{watch.describe()}, {why}")
        reason.blame(watch.born)
        raise reason


WATCHES: dict[Any, Callable[[Translator, Args, Kwargs], VariableTracker]] = {
    hooks.backward_watch: _watch,
}
