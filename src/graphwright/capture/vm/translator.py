"""The symbolic VM: runs a frame's bytecode on trackers instead of values.

`Translator` executes instructions by the table of its Python version. `InlineTranslator` runs a
called function inside of its caller's graph, `RootTranslator` the captured frame itself. What
the VM cannot do raises `Unsupported`; the root then asks for a second translation that stops
before that instruction, where the graph ends.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from graphwright.capture.effects.finalizers import check_let_go, known
from graphwright.capture.emit.native import NATIVE
from graphwright.capture.exc import (
    AttributeMissing,
    RestartTranslation,
    Signal,
    SkipFrame,
    Unsupported,
    Waypoint,
    unsupported,
)
from graphwright.capture.frame.code_owner import is_library, users_call
from graphwright.capture.frame.record import Location
from graphwright.capture.guards.source import CellSource, LocalSource, Source
from graphwright.capture.trackers.base import NULL, VariableTracker
from graphwright.capture.trackers.callables.binding import bind_arguments
from graphwright.capture.trackers.callables.functions import (
    CellVariable,
    FunctionVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.callables.generators import GeneratorVariable
from graphwright.capture.trackers.values.exceptions import (
    ExceptionVariable,
    HandledVariable,
    Raised,
    handled_exception,
    raise_in_frame,
)
from graphwright.capture.vm.allowed import is_disabled, may_inline
from graphwright.capture.vm.bytecode import PYTHON, Instruction, decode, handler_of
from graphwright.capture.vm.object_protocols import Values
from graphwright.capture.vm.output_graph import OutputGraph

Handler = Callable[["Translator", Instruction], None]
"""Runs an instruction: changes the stack and locals, or `ip` to jump."""
_DEEPEST = 60
_NOT_A_FUNCTION = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


class Translator(Values):
    """One frame being run symbolically.

    stack, locals: the frame's state; `locals` holds `CellVariable`s under the names of cells.
    names: those that a class statement defines, in its body only; lets_go: whether values that
    it releases may end at any time; shown: whether it has called `locals()`. given: the
    identities of the arguments, of which some may be known by another source. steps: how many
    instructions were run; began: how many the capture had run before.
    """

    lets_go = True
    given: frozenset[int] = frozenset()
    shown = False

    def __init__(
        self,
        output: OutputGraph,
        code: types.CodeType,
        locals_: dict[str, VariableTracker],
        parent: Translator | None,
        handlers: Mapping[str, Handler],
    ) -> None:
        self.output = output
        self.handlers = handlers
        self.code = code
        self.instructions = decode(code)
        self.locals = locals_
        self.stack: list[VariableTracker] = []
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.ip = 0
        self.steps = 0
        self.began = output.budget.steps
        self.keyword_names: tuple[str, ...] = ()
        self.returned: VariableTracker | None = None
        self.yielded: VariableTracker | None = None
        self.handled: VariableTracker | None = None
        self.names: dict[str, VariableTracker] | None = None

    # the machine

    @property
    def current(self) -> Instruction:
        """The instruction being run."""
        return self.instructions[max(self.ip - 1, 0)]

    def step(self) -> None:
        """Run one instruction."""
        inst = self.instructions[self.ip]
        handler = self.handlers.get(inst.opname)
        self.ip += 1
        self.output.budget.count()
        try:
            if handler is None:
                unsupported("GB0005", inst.opname)
            handler(self, inst)
        except AttributeMissing as reason:
            reason.note_location(self.place())
            args = [self.constant(reason.text)] if reason.text is not None else None
            missing = Raised(ExceptionVariable(AttributeError, args), by_python=True)
            missing.note_context(handled_exception(self))
            self._handle(missing, inst, reason)
        except Unsupported as reason:
            reason.note_location(self.place())
            raise
        except Raised as raised:
            raised.note_context(handled_exception(self))
            self._handle(raised, inst, raised)

    def throw(self, raised: Raised) -> None:
        """Raise an exception where the frame waits."""
        self._handle(raised, self.current, raised)

    def _handle(self, raised: Raised, inst: Instruction, otherwise: Signal) -> None:
        """Go to the handler of an exception in this frame, or pass it on to the caller's."""
        handler = handler_of(self.code, inst)
        if handler is None:
            raise otherwise
        raised.drop_frames()
        otherwise.drop_frames()
        for value in self.stack[handler.depth :]:
            check_let_go(self, value)
        del self.stack[handler.depth :]
        if handler.push_lasti:
            self.push(self.constant(inst.offset))
        self.push(raised.value)
        self.ip = handler.target

    def let_go(self, inst: Instruction) -> None:
        """Run an instruction that releases a value whose finalizer may run at any time."""
        self.lets_go = True
        self.handlers[inst.opname](self, inst)
        self.lets_go = False

    def run(self) -> VariableTracker:
        """Run to the end of the function; what it returns."""
        while self.returned is None:
            self.step()
        return self.returned

    def push(self, value: VariableTracker) -> None:
        self.stack.append(value)

    def pop(self) -> VariableTracker:
        """The top of the stack, as its real tracker."""
        return self.stack.pop().realize()

    def popn(self, count: int) -> list[VariableTracker]:
        """The `count` values on top, the lowest first."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return [value.realize() for value in values]

    def push_callable(self, value: VariableTracker, with_null: bool) -> None:
        """Push what a call finds below its arguments, in the order of this Python version."""
        if not with_null:
            self.push(value)
        elif PYTHON >= (3, 13):
            self.stack += [value, NULL]
        else:
            self.stack += [NULL, value]

    # names

    def load_local(self, name: str) -> VariableTracker:
        """A local, or the cell under that name; unseen where no tracker stands for it."""
        value = self.locals.get(name)
        if value is None:
            raise_in_frame(UnboundLocalError, [self.constant(_UNBOUND.format("local", name))])
        try:
            value = value.realize()
        except Unsupported as reason:
            reason.drop_frames()
            return value
        self.locals[name] = value
        return value

    def load_deref(self, name: str) -> VariableTracker:
        """The contents of a cell."""
        cell = self.locals.get(name)
        assert isinstance(cell, CellVariable)
        if cell.contents is None and self.parent is None and name in self.code.co_cellvars:
            # what is resumed would have a free variable there, and raise another NameError
            raise SkipFrame(Unsupported("GB0006", f"UnboundLocalError: {name!r}"))
        if cell.contents is None and name in self.code.co_cellvars:
            raise_in_frame(UnboundLocalError, [self.constant(_UNBOUND.format("local", name))])
        if cell.contents is None:
            text = f"{_UNBOUND.format('free', name)} in enclosing scope"
            raise_in_frame(NameError, [self.constant(text)], name=self.constant(name))
        cell.contents = cell.contents.realize()
        return cell.contents

    def store_deref(self, name: str, value: VariableTracker | None) -> None:
        """Change the contents of a cell."""
        cell = self.locals[name]
        assert isinstance(cell, CellVariable)
        self.side_effects.store_cell(cell, value)

    def load_global(self, name: str) -> VariableTracker:
        """A global or builtin."""
        raise NotImplementedError

    def frame_function(self) -> types.FunctionType:
        """A real function with the globals and builtins of the frame."""
        raise NotImplementedError

    def function_source(self) -> Source:
        """Where that function is found, in a frame that is inlined."""
        raise NotImplementedError

    def globals_(self) -> dict[str, Any]:
        """The real globals of the frame."""
        return self.frame_function().__globals__

    def shares_globals_with_root(self) -> bool:
        """Whether functions made here see the globals of the captured frame."""
        return self.globals_() is self.output.function.__globals__

    def super_arguments(self) -> list[VariableTracker]:
        """What `super()` without arguments means here."""
        if "__class__" not in self.locals or not self.code.co_argcount:
            unsupported("GB0007", "RuntimeError: super(): no arguments")
        owner = self.locals.get(self.code.co_varnames[0])
        if isinstance(owner, CellVariable):
            owner = owner.contents
        if owner is None:
            unsupported("GB0007", "RuntimeError: super(): arg[0] deleted")
        return [self.load_deref("__class__"), owner]

    # calls

    def call(
        self,
        function: VariableTracker,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> None:
        """Push the result of a call."""
        self.push(function.realize().call(self, args, kwargs))

    def inline(
        self,
        function: FunctionVariable,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> VariableTracker:
        """Run a Python function inside of this graph."""
        self._check_inline(function)
        bound = bind_arguments(self, function, args, kwargs)
        for name, cell in zip(function.code.co_freevars, function.cells(self), strict=True):
            bound[name] = cell
        callee = InlineTranslator(self, function, bound)
        if function.code.co_flags & inspect.CO_GENERATOR:
            made = GeneratorVariable(callee)
            self.side_effects.generators.append(made)
            return made
        return callee.run()

    def run_class_body(
        self, function: FunctionVariable, names: dict[str, VariableTracker]
    ) -> dict[str, VariableTracker]:
        """The names that a class statement defines: those given, filled."""
        self._check_inline(function)
        cells = zip(function.code.co_freevars, function.cells(self), strict=True)
        body = InlineTranslator(self, function, dict(cells))
        body.names = names
        body.run()
        return names

    def _check_inline(self, function: FunctionVariable) -> None:
        code = function.code
        if self.depth >= _DEEPEST:
            unsupported("GB0011", f"call of {function.describe()}")
        if code.co_flags & _NOT_A_FUNCTION:
            unsupported("GB0013", f"call of {function.describe()}")
        if isinstance(function, UserFunctionVariable):
            if is_disabled(function.function):
                unsupported("GB0009", f"call of {function.describe()}")
            if not may_inline(code.co_filename):
                unsupported("GB0004", f"call of {function.describe()} of a library")

    # where we are

    def location(self) -> tuple[str, int, str]:
        """File, line and text of the user's code that is running."""
        place = self._innermost()
        return place.file, place.line, place.source

    def place(self) -> Location:
        """The same, with the function's name; its call where the captured frame is a library's."""
        found = self._innermost()
        return users_call() or found if is_library(found.file) else found

    def _innermost(self) -> Location:
        frame: Translator = self
        while frame.parent is not None and is_library(frame.code.co_filename):
            frame = frame.parent
        line, file = frame.current.line, frame.code.co_filename
        return Location(file, line, frame.code.co_qualname)


_UNBOUND = "cannot access {} variable {!r} where it is not associated with a value"


class InlineTranslator(Translator):
    """A called function."""

    def __init__(
        self, parent: Translator, function: FunctionVariable, locals_: dict[str, VariableTracker]
    ) -> None:
        super().__init__(parent.output, function.code, locals_, parent, parent.handlers)
        self.function = function

    def run(self) -> VariableTracker:
        first = self._first_argument()
        try:
            while self.returned is None:
                self.step()
                self.steps += 1
        except Unsupported as reason:
            idle = self.output.budget.idle_since(self.began)
            reason.way.append(
                Waypoint(self.code, self.steps, self.current.offset, first, idle))
            raise
        return self.returned

    def _first_argument(self) -> int | None:
        """The identity of an object of a Python class."""
        value = self.locals.get(self.code.co_varnames[0]) if self.code.co_argcount else None
        held = known(value)
        return None if held is None else id(held)

    def load_global(self, name: str) -> VariableTracker:
        return self.function.load_global(self, name)

    def frame_function(self) -> types.FunctionType:
        if isinstance(self.function, UserFunctionVariable):
            return self.function.function
        maker: Translator = self.function.maker  # type: ignore[attr-defined]
        return maker.frame_function()

    def function_source(self) -> Source:
        if isinstance(self.function, UserFunctionVariable):
            assert self.function.source is not None
            return self.function.source
        maker: Translator = self.function.maker  # type: ignore[attr-defined]
        return maker.function_source()


class RootTranslator(Translator):
    """The captured frame.

    stop: the break that an earlier translation found. last_native: the last step so far whose
    instruction could run between two graphs.
    """

    def __init__(
        self,
        output: OutputGraph,
        code: types.CodeType,
        slots: dict[str, Any],
        stop: RestartTranslation | None,
        handlers: Mapping[str, Handler],
    ) -> None:
        lazy: dict[str, VariableTracker] = {
            name: output.wrap_lazily(value, LocalSource(name)) for name, value in slots.items()
        }
        super().__init__(output, code, lazy, None, handlers)
        self.lets_go = False
        self.given = frozenset(id(value) for value in slots.values() if value is not None)
        self.stop = stop
        self.last_native = -1
        closure = output.function.__closure__ or ()
        for name, cell in zip(code.co_freevars, closure, strict=True):
            self.locals[name] = output.cell(cell, CellSource(name), _push_free_cell(name))

    def load_global(self, name: str) -> VariableTracker:
        return self.output.root_global(name)

    def frame_function(self) -> types.FunctionType:
        return self.output.function

    def run_to_break(self) -> Instruction | None:
        """Run to the return (None) or to the instruction before which the graph ends."""
        while self.returned is None:
            inst = self.instructions[self.ip]
            if self.stop is not None and self._is_to_stop(self.stop, inst):
                self._check_blocks(self.stop.reason)
                self.stop.reached = True
                if self.stop.reason.lacking is not None:
                    self.output.guards.missing(self.stop.reason.lacking)
                self.ip += 1
                self.stop.reason.note_location(self.place())
                self.ip -= 1
                return inst
            self.output.budget.begin_step(self.steps)
            try:
                self._step_and_let_go(inst)
            except Unsupported as reason:
                cut = self._cut_before()
                if reason.cut_at is not None:
                    cut = min(cut, reason.cut_at)
                self._check_blocks(reason, cut)
                raise RestartTranslation(cut, reason) from reason
            except Raised as raised:
                unhandled = Unsupported("GB0006", f"{raised.value.cls.__name__} is raised")
                unhandled.note_location(self.place())
                raise RestartTranslation(self._cut_before(raised), unhandled) from raised
            native = inst.opname in NATIVE
            if native:
                self.last_native = self.steps
            self.output.budget.end_step(self.steps, native)
            self.steps += 1
        self._check_blocks(Unsupported("GB0004", "catch_warnings that is not left"))
        return None

    def _is_to_stop(self, stop: RestartTranslation, inst: Instruction) -> bool:
        return self.steps == stop.step and stop.offset in (None, inst.offset)

    def _check_blocks(self, reason: Unsupported, cut: int | None = None) -> None:
        """A break before the blocks that the frame is in, which are no more than known here."""
        entered = self.side_effects.entered()
        if entered is not None and (cut is None or entered < cut):
            raise RestartTranslation(entered, reason)

    def _step_and_let_go(self, inst: Instruction) -> None:
        """Run one instruction; what it takes from the stack may end with it."""
        if inst.opname not in NATIVE:
            return self.step()
        taken = [
            value for value in self.stack
            if isinstance(value.source, LocalSource)
            and self.locals.get(value.source.local) is not value
        ]
        self.step()
        if taken:
            kept = {value.source for value in (*self.stack, *self.locals.values())}
            for value in taken:
                if value.source not in kept:
                    check_let_go(self, value)
        return None

    def _handle(self, raised: Raised, inst: Instruction, otherwise: Signal) -> None:
        super()._handle(raised, inst, otherwise)
        if raised.value.raised_at is None:
            raised.value.raised_at = self.steps

    def _cut_before(self, raised: Raised | None = None) -> int:
        """The step before which a break is possible: not while an exception is handled."""
        open_ = [value.exception for value in self.stack if isinstance(value, HandledVariable)]
        if raised is not None:
            open_.append(raised.value)
        steps = [value.raised_at for value in open_ if value.raised_at is not None]
        return min(steps, default=self.steps)

    def release(self) -> None:
        """Release the user's objects, which must not live until the next garbage collection."""
        self.locals.clear()
        self.stack.clear()
        self.output.release()

    def check_handlers(self) -> None:
        """Refuse a break while an exception is handled that Python knows nothing of."""
        step = self._cut_before()
        if step < self.steps:
            reason = Unsupported("GB0015", "an exception is being handled")
            reason.blame(step)
            raise reason


def _push_free_cell(name: str) -> Any:
    return lambda cg: cg.builder.load_closure(name)
