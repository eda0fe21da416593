"""Writes the bytecode that rebuilds tracker values after the graph, and replays side effects.

All values are read or built before anything is written, since a write could change what a source
gives. New objects and cells are made empty first and filled last, so that they may form cycles.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.effects.class_templates import TemplateSource
from graphwright.capture.effects.frame_autograd import with_spent_leaf
from graphwright.capture.effects.side_effects import CachedCall, DeferredCall
from graphwright.capture.emit.assembler import CodeBuilder
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import LocalSource, Source
from graphwright.capture.trackers.base import NULL, VariableTracker
from graphwright.capture.trackers.callables.functions import CellVariable
from graphwright.capture.trackers.classes.classes import ClassVariable
from graphwright.capture.trackers.containers.container_subclasses import ContainerObjectVariable
from graphwright.capture.trackers.containers.deques import DequeVariable
from graphwright.capture.trackers.containers.dynamic_length_lists import Growing
from graphwright.capture.trackers.containers.input_iterators import (
    OutsideIterator,
    OutsideRangeIterator,
)
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.containers.sets import SetVariable
from graphwright.capture.trackers.effects.context import KEPT_MODES, ModeVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.lazy import LazyVariable
from graphwright.capture.trackers.values.operator_tables import BINARY
from graphwright.capture.vm.after_deferred_calls import refuse_writes
from graphwright.runtime import _core
from graphwright.runtime.symbolic.expr import Add, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sym

if TYPE_CHECKING:
    from graphwright.capture.effects.frame_autograd import Departure
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.ir.graph.node import Node

Load = Callable[[], None]


class Reconstructor:
    """Pushes values in the translated frame.

    outputs: the graph nodes that were asked for, with their position in the graph's result.
    made: the locals of what is read, or made by reading it, before the graph runs.
    """

    def __init__(self, builder: CodeBuilder, output: OutputGraph) -> None:
        self.builder = builder
        self.output = output
        self.outputs: dict[Node, int] = {}
        self.results = builder.temporary()
        self.made: dict[Source, str] = {}
        self._held: dict[VariableTracker, str] = {}
        self._led_to: dict[TensorVariable, set[int]] = {}
        self._open: set[VariableTracker] = set()
        self._unfilled: list[VariableTracker] = []
        self._writes: list[Load] = []
        self._positions: list[Load] = []
        self._calls: list[Load] = []

    def release(self) -> None:
        """Release all values: what writes them refers to this object."""
        self._held.clear()
        self._led_to.clear()
        self._open.clear()
        for waiting in (self._unfilled, self._writes, self._positions, self._calls):
            waiting.clear()

    # pushing

    def push(self, value: VariableTracker) -> None:
        """Push the value; an object that the frame made is built once."""
        value = _whole(settled(value))
        if value in self._held:
            self.builder.load_local(self._held[value])
        elif _reads_source(value):
            assert value.source is not None
            if value.source.makes_objects or value.source.read_first:
                self.builder.load_local(self._made_before(value.source))
            else:
                value.source.emit(self.builder)
        elif value.has_identity() and not isinstance(value, TensorVariable):
            self._push_new(value)
        else:
            self._rebuild(value)

    def _made_before(self, source: Source) -> str:
        """The local that holds the object which the graph gets, too."""
        if source not in self.made:
            self.made[source] = self.builder.temporary()
        return self.made[source]

    def _rebuild(self, value: VariableTracker) -> None:
        try:
            value.reconstruct(self)
        except Unsupported as reason:
            reason.blame(value.born)
            raise

    def _push_new(self, value: VariableTracker) -> None:
        if value in self._open:
            reason = Unsupported("GB0015", f"{value.describe()} contains itself")
            reason.blame(value.born)
            raise reason
        self._open.add(value)
        self._rebuild(value)
        self._open.discard(value)
        self._keep(value)

    def _keep(self, value: VariableTracker) -> None:
        """Remember the object on the stack: it is made once."""
        self._held[value] = name = self.builder.temporary()
        self.builder.copy(1)
        self.builder.store_local(name)

    def hold(self, value: VariableTracker) -> Load:
        """Evaluate the value now; the result pushes it later, on any of several ways.

        What is made once is made here: made where one way pushes it, the others would not have it.
        """
        value = settled(value)
        if value is NULL:
            return self.builder.push_null
        if isinstance(value, ConstantVariable) and not value.prefers_source():
            return lambda: self.builder.load_const(value.value)
        if isinstance(value.source, LocalSource):
            source: Source = value.source
            return lambda: source.emit(self.builder)
        if self._pushed_anywhere(value):
            return lambda: self.push(value)
        if value not in self._held:
            self.push(value)
            name = self.builder.temporary()
            self.builder.store_local(name)
            return lambda: self.builder.load_local(name)
        name = self._held[value]
        return lambda: self.builder.load_local(name)

    def _pushed_anywhere(self, value: VariableTracker) -> bool:
        """Whether it is asked for among the results here, and each way takes it from there."""
        if not isinstance(value, TensorVariable) or value.source is not None:
            return False
        return not self._place(value)[1].single

    def push_output(self, value: TensorVariable) -> None:
        """Push a result of the graph."""
        index, departure = self._place(value)
        if departure.finish is not None:
            self.builder.begin_call(departure.finish)
        self.builder.load_local(self.results)
        self.builder.load_const(index)
        self.builder.subscript()
        if departure.finish is not None:
            for arg in departure.args:
                self.builder.load_const(arg)
            held = [leaf for leaf in departure.leaves if leaf in self._held]
            for given in (*departure.given, *held):
                self.push(given)
            self.builder.end_call(1 + len(departure.args) + len(departure.given) + len(held))
            for leaf in departure.leaves:
                self._led_to.setdefault(leaf, set()).add(index)
        if departure.single:
            self._keep(value)
            self._link(value)

    def _link(self, leaf: TensorVariable) -> None:
        """Lead the spent histories of what was pushed before to a leaf that was just made."""
        for index in sorted(self._led_to.get(leaf, ())):
            self.builder.begin_call(with_spent_leaf)
            self.builder.load_local(self.results)
            self.builder.load_const(index)
            self.builder.subscript()
            self.builder.load_local(self._held[leaf])
            self.builder.end_call(2)
            self.builder.pop()

    def _place(self, value: TensorVariable) -> tuple[int, Departure]:
        """Ask for a tensor among the results: its position, and how it leaves the graph."""
        departure = self.output.tape.leaving(value)
        if departure.node not in self.outputs and value in self.output.side_effects.created:
            self.fill_later(value)
        return self.outputs.setdefault(departure.node, len(self.outputs)), departure

    def push_expression(self, expr: Expr) -> None:
        """Push the value of a size expression."""
        if isinstance(expr, Int):
            self.builder.load_const(expr.value)
        elif isinstance(expr, Sym):
            source = self.output.shape_env.symbol_sources[expr.name]
            assert isinstance(source, Source)
            if source.read_first:
                self.builder.load_local(self._made_before(source))
            else:
                source.emit(self.builder)
        elif isinstance(expr, (Min, Max)):
            self.builder.begin_call(min if isinstance(expr, Min) else max)
            for part in expr.args:
                self.push_expression(part)
            self.builder.end_call(len(expr.args))
        else:
            self._push_binary(expr)

    def _push_binary(self, expr: Expr) -> None:
        op = _BINARY[type(expr)]
        first, *rest = expr.args
        self.push_expression(first)
        for part in rest:
            self.push_expression(part)
            self.builder.binary(op)

    def set_iterator(self, position: int) -> None:
        """Set the position of the builtin iterator on the stack, once all is written.

        Lists refuse positions that they do not have yet.
        """
        name = self.builder.temporary()
        self.builder.copy(1)
        self.builder.store_local(name)

        load, push = self.builder.load_local, self.builder.load_const
        self._positions.append(
            lambda: self.call_method(lambda: load(name), "__setstate__", lambda: push(position))
        )

    def skip_items(self, count: int) -> None:
        """Take `count` items off the iterator on the stack."""
        if not count:
            return
        name = self.builder.temporary()
        self.builder.store_local(name)
        for _ in range(count):
            self.builder.begin_call(next)
            self.builder.load_local(name)
            self.builder.end_call(1)
            self.builder.pop()
        self.builder.load_local(name)

    def fill_later(self, value: VariableTracker) -> None:
        """Note an object whose contents are set when everything exists."""
        self._unfilled.append(value)

    def fill_now(self, value: VariableTracker) -> None:
        """Set the attributes of the new object on the stack, by which others may look for it."""
        name = self.builder.temporary()
        self.builder.store_local(name)
        for attr, given in self.output.side_effects.attributes[value].items():
            if given is not None:
                push = self.hold(given)
                self._write_attribute(lambda: self.builder.load_local(name), attr, push)
        self.builder.load_local(name)

    # side effects

    def evaluate_effects(self) -> None:
        """Evaluate everything that `write_effects` will store."""
        effects = self.output.side_effects
        effects.check_finished()
        for owner, values in effects.attributes.items():
            if owner not in effects.created:
                self._prepare_attributes(owner, values)
        for container in effects.containers():
            self._prepare_container(container)
        for cell in effects.cells:
            if cell.push_cell is not None:
                self._prepare_cell(cell)
        for name, value in effects.globals.items():
            self._prepare_global(name, value)
        for function, use in effects.caches.items():
            for made in use.calls:
                self._prepare_cached_call(function, made)
        for variable, value in effects.contexts.items():
            self._prepare_context(variable, value)
        for call in effects.calls:
            self._prepare_call(call)
        while self._unfilled:
            self._fill(self._unfilled.pop())

    def _fill(self, made: VariableTracker) -> None:
        """Prepare what a new object gets."""
        effects = self.output.side_effects
        if isinstance(made, CellVariable):
            self._prepare_cell(made)
        elif isinstance(made, ContainerObjectVariable):
            self._writes.append(made.prepare(self, self.hold(made), False))
            self._prepare_attributes(made, effects.attributes[made])
        else:
            self._prepare_attributes(made, effects.attributes[made])

    def write_effects(self) -> None:
        """Store what the frame stored."""
        for write in (*self._writes, *self._positions):
            write()

    def make_calls(self) -> None:
        """Make the calls that waited for the graph."""
        line = self.builder.line
        for write in self._calls:
            write()
        self.builder.line = line

    def _prepare_call(self, call: DeferredCall) -> None:
        if call.tensors and call.grad_mode != _core.grad_enabled():
            self.output.side_effects.refuse_after_calls()
        refuse_writes(self.output, call)
        push, args = self.hold(call.owner), [self.hold(arg) for arg in call.args]

        def write() -> None:
            self.builder.line = call.line
            self._call(push if call.name is None else self._method(push, call.name), *args)

        self._calls.append(write)

    def _prepare_cached_call(self, function: VariableTracker, call: CachedCall) -> None:
        """A call that finds what is kept, or one in which the function gives what is known."""
        given = [*call.args, *call.kwargs.values()]
        keywords = tuple(call.kwargs)
        if call.result is not None:
            given = [call.result, *given]
        pushes = [self.hold(function), *(self.hold(value) for value in given)]

        def write() -> None:
            builder = self.builder
            builder.begin_call(operator.call if call.result is None else _eval_frame.fill_cache)
            for push in pushes:
                push()
            builder.end_call(len(pushes), keywords)
            builder.pop()

        self._writes.append(write)

    def _prepare_context(self, variable: VariableTracker, value: VariableTracker) -> None:
        push, push_value = self.hold(variable), self.hold(value)
        self._writes.append(lambda: self.call_method(push, "set", push_value))

    def _prepare_attributes(
        self, owner: VariableTracker, values: dict[str, VariableTracker | None]
    ) -> None:
        effects, push_owner = self.output.side_effects, self.hold(owner)
        of_class = isinstance(owner, ClassVariable)
        write = self._write_class if of_class else self._write_attribute
        for name, value in values.items():
            if value is None and owner in effects.created:
                continue
            if (owner, name) in effects.passing:
                push_none = self.hold(ConstantVariable(None))
                self._writes.append(functools.partial(write, push_owner, name, push_none))
            push_value = self.hold(value) if value is not None else None
            self._writes.append(functools.partial(write, push_owner, name, push_value))

    def forget_gradient(self, source: Source) -> None:
        """Set the gradient of an existing tensor to None."""
        push_owner = functools.partial(source.emit, self.builder)
        self._write_attribute(push_owner, "grad", lambda: self.builder.load_const(None))

    def _write_attribute(self, push_owner: Load, name: str, push_value: Load | None) -> None:
        self.builder.begin_call(object.__setattr__ if push_value else object.__delattr__)
        push_owner()
        self.builder.load_const(name)
        if push_value is not None:
            push_value()
        self.builder.end_call(3 if push_value else 2)
        self.builder.pop()

    def _write_class(self, push_owner: Load, name: str, push_value: Load | None) -> None:
        assert push_value is not None
        self.builder.begin_call(type.__setattr__)
        push_owner()
        self.builder.load_const(name)
        push_value()
        self.builder.end_call(3)
        self.builder.pop()

    def _prepare_cell(self, cell: CellVariable) -> None:
        push_cell = self.hold(cell) if cell.push_cell is None else lambda: cell.reconstruct(self)
        if cell.contents is None:
            if cell.push_cell is not None:
                unsupported("GB0015", "del of a variable of an enclosing function")
            return
        push_value = self.hold(cell.contents)

        def write() -> None:
            push_value()
            push_cell()
            self.builder.store_attr("cell_contents")

        self._writes.append(write)

    def _prepare_global(self, name: str, value: VariableTracker | None) -> None:
        push_value = None if value is None else self.hold(value)

        def write() -> None:
            if push_value is None:
                self.builder.delete_global(name)
            else:
                push_value()
                self.builder.store_global(name)

        self._writes.append(write)

    def _prepare_container(self, container: VariableTracker) -> None:
        assert container.source is not None
        push = self.hold_source(container.source)
        owner = getattr(container, "owner", None)
        if isinstance(owner, ContainerObjectVariable):
            self._writes.append(owner.prepare(self, push, True))
        elif isinstance(container, Growing) and container.appended() is not None:
            self._prepare_growth(container, push)
        elif isinstance(container, ListVariable):
            self._prepare_list(container, push)
        elif isinstance(container, DictVariable):
            self._prepare_dict(container, push)
        elif isinstance(container, _WRITING_BACK):
            self._writes.append(container.write_back(self, push))
        elif isinstance(container, ModeVariable):
            self._prepare_mode(container, push)
        else:
            reason = Unsupported("GB0015", f"{container.describe()} was changed")
            reason.blame(self.output.side_effects.mutated[container])
            raise reason

    def hold_source(self, source: Source) -> Load:
        """Read a source now, push it later."""
        if isinstance(source, LocalSource):
            return lambda: source.emit(self.builder)
        name = self.builder.temporary()
        source.emit(self.builder)
        self.builder.store_local(name)
        return lambda: self.builder.load_local(name)

    def _prepare_list(self, container: ListVariable, push: Load) -> None:
        items = [self.hold(item) for item in container.items]

        def write() -> None:
            for item in items:
                item()
            self.builder.build("list", len(items))
            push()
            self.builder.load_const(None)
            self.builder.load_const(None)
            self.builder.build("slice", 2)
            self.builder.store_subscript()

        self._writes.append(write)

    def _prepare_growth(self, container: Growing, push: Load) -> None:
        items = [self.hold(item) for item in container.added]

        def values() -> None:
            for item in items:
                item()
            self.builder.build("tuple", len(items))

        self._writes.append(lambda: self.call_method(push, "extend", values))

    def _prepare_mode(self, manager: ModeVariable, push: Load) -> None:
        """The modes that an object made elsewhere will restore."""

        def write() -> None:
            for name, values in zip(KEPT_MODES, manager.kept(), strict=False):
                self.builder.load_const(values)
                push()
                self.builder.load_attr(name)
                self.builder.load_const(None)
                self.builder.load_const(None)
                self.builder.build("slice", 2)
                self.builder.store_subscript()

        self._writes.append(write)

    def _prepare_dict(self, container: DictVariable, push: Load) -> None:
        """Keys that went are deleted even if they came back: iterators of the dict notice."""
        new, removed = container.entries, container.removed
        old = {key: entry for key, entry in container.original.items() if key not in removed}
        keeps_order = list(old) == list(new)[: len(old)]
        changed = [
            (self.hold(entry[0]), self.hold(entry[1]))
            for key, entry in new.items()
            if not keeps_order or old.get(key) is not entry
        ]
        gone = [self.hold(container.original[key][0]) for key in removed if keeps_order]

        def write() -> None:
            if not keeps_order:
                self.call_method(push, "clear")
            for key in gone:
                push()
                key()
                self.builder.emit("DELETE_SUBSCR")
            for key, value in changed:
                value()
                push()
                key()
                self.builder.store_subscript()

        self._writes.append(write)

    def call_method(self, push: Load, name: str, *args: Load) -> None:
        """Call a method for its effect."""
        self._call(self._method(push, name), *args)

    def call_for_effect(self, function: Callable[..., Any], *args: Load) -> None:
        """Call a known function for its effect."""
        self._call(lambda: self.builder.load_const(function), *args)

    def _method(self, push: Load, name: str) -> Load:
        def method() -> None:
            push()
            self.builder.load_attr(name)

        return method

    def _call(self, function: Load, *args: Load) -> None:
        self.builder.begin_call_with(function)
        for arg in args:
            arg()
        self.builder.end_call(len(args))
        self.builder.pop()


_WRITING_BACK = (SetVariable, DequeVariable, OutsideRangeIterator, OutsideIterator)
_SYMBOLS = tuple(BINARY)
_BINARY = {
    Add: _SYMBOLS.index("+"),
    Mul: _SYMBOLS.index("*"),
    FloorDiv: _SYMBOLS.index("//"),
    Mod: _SYMBOLS.index("%"),
}


def settled(value: VariableTracker) -> VariableTracker:
    """The real tracker of a lazy one that somebody has looked at, or could look at nowhere."""
    if isinstance(value, LazyVariable):
        return value.realize() if _is_of_template(value) else value.realized() or value
    return value


def _is_of_template(value: VariableTracker) -> bool:
    """Whether a class that the frame makes holds the value."""
    return value.source is not None and isinstance(value.source.root, TemplateSource)


def _whole(value: VariableTracker) -> VariableTracker:
    """The object whose contents a tracker stands for; other trackers are their own."""
    owner = getattr(value, "owner", None)
    if isinstance(owner, ContainerObjectVariable) and owner.payload is value:
        return owner
    return value


def _reads_source(value: VariableTracker) -> bool:
    if value.source is None:
        return False
    if type(value) is TupleVariable and _is_of_template(value):
        return False
    return not isinstance(value, ConstantVariable) or value.prefers_source()
