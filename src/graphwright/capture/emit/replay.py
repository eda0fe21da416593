"""What happens where a compiled graph fails: the frame runs again, as plain Python.

A graph stands for many of the user's operations, and what the frame did between them is written
after it. So a graph that fails must have done nothing: then the frame runs from its start, and
Python itself raises the error, at the right place, in the right `try` block, after whatever came
before it. Where it raises none, GB0022 is reported. Backends that write inputs only once
nothing can fail any more say so by an attribute `writes_last`; from others the inputs that a graph
changes are kept meanwhile. The plain run takes the failed frame's place as a continuation, so that
values end where Python ends them and tracebacks show one frame.
"""

from __future__ import annotations

import functools
import inspect
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.autograd.grad_mode import inference_mode
from graphwright.capture import _eval_frame
from graphwright.capture.emit.assembler import CodeBuilder, Label, Written
from graphwright.capture.frame.async_exceptions import came_from_outside
from graphwright.capture.guards.source import Source
from graphwright.capture.guards.tensor_data_aliases import DataSource
from graphwright.capture.trackers.values.operator_tables import BINARY
from graphwright.capture.vm.asserted_branches import Refuted
from graphwright.runtime import _core
from graphwright.runtime.tensor.generator import Generator, restore_rng, rng_states


class Kept:
    """Inputs as they were before the graph, and the generator of random numbers.

    generators: those of modules that the frame draws from. own: how many of `values` are others,
    which come first. begun: how many of the tensors behind them do not require
    gradients, as they will while the graph runs. behind: how many of the next are written where
    their versions do not show it.
    """

    def __init__(
        self, random: bool, generators: Sequence[Any], own: int, begun: int, behind: int,
        *values: Any,
    ) -> None:
        self.begun, tensors = values[own : own + begun], values[own + begun :]
        self.behind = behind
        drawn_from = (*generators, *values[:own])
        self.generators = [(generator, _state_of(generator)) for generator in drawn_from]
        self.random = rng_states() if random else None
        self.tensors = [(t, _core.with_grad_mode(False, t.clone), t._storage._version)
                        for t in tensors]
        self.histories = [_history(t) for t in tensors]

    def restore(self) -> None:
        """Undo what the graph wrote until it failed."""
        for tensor in self.begun:
            tensor.requires_grad_(False)
        if self.random is not None:
            restore_rng(self.random)
        for generator, state in self.generators:
            _set_state(generator, state)
        written = [
            index for index, (tensor, _, version) in enumerate(self.tensors)
            if index < self.behind or tensor._storage._version != version
        ]
        for index in written:
            tensor, values, _ = self.tensors[index]
            with inference_mode():      # which may write whatever there is
                tensor.detach().copy_(values)
        for index in written:           # a view's is that of its last write
            tensor, history = self.tensors[index][0], self.histories[index]
            if history is not None:
                tensor.grad_fn, tensor.output_nr = history


def _history(tensor: Any) -> tuple[Any, int] | None:
    """What made a tensor; None where autograd refuses to say, and lets no graph change it.

    That is a view made without gradients, or beside others, whose memory was written since.
    """
    try:
        return tensor.grad_fn, tensor.output_nr
    except RuntimeError:
        return None


def _state_of(generator: Any) -> Any:
    """What `_set_state` takes: numbers of few bytes, where the generator's class is known."""
    if type(generator) is Generator:
        return generator._get()
    if type(generator) is random.Random:
        words = _eval_frame.generator_state(generator)
        if words is not None:
            return words, generator.gauss_next  # type: ignore[attr-defined]
    if hasattr(generator, "bit_generator"):
        return generator.bit_generator.state
    getstate = getattr(generator, "getstate", None)
    return getstate() if getstate is not None else generator.get_state()


def _set_state(generator: Any, state: Any) -> None:
    if type(generator) is Generator:
        generator._set(*state)
    elif type(generator) is random.Random and type(state[0]) is bytes:
        words, generator.gauss_next = state  # type: ignore[attr-defined]
        _eval_frame.set_generator_state(generator, words)
    elif hasattr(generator, "bit_generator"):
        generator.bit_generator.state = state
    else:
        setstate = getattr(generator, "setstate", None) or generator.set_state
        setstate(state)


def undo(error: BaseException, kept: Kept | None) -> str | BaseException:
    """Make the frame ready to run again; returns the failure, which is reported to the user.

    Empty where an assumption of the graph did not hold, which is not reported. The error
    itself where it is no business of the graph: it came while the graph ran, from the handler of a
    signal or another thread, and is raised where the frame begins.

    Only the text of the error is kept: its traceback would hold on to what the frame made, often
    for ever, since it leads through frames that hold the error.
    """
    if kept is not None:
        kept.restore()
    if came_from_outside(error):
        return interruption(error)
    failure = "" if isinstance(error, Refuted) else f"{type(error).__name__}: {error}"
    raised: BaseException | None = error
    while raised is not None and raised is not sys.exc_info()[1]:
        raised.__traceback__ = None
        raised = raised.__context__
    return failure


def undo_interrupted(error: BaseException, kept: Kept | None) -> BaseException:
    """As `undo`, for an exception by another thread or a signal after the graph has run."""
    if kept is not None:
        kept.restore()
    return interruption(error)


def interruption(error: BaseException) -> BaseException:
    """The exception to raise at the frame's beginning, without this frame in its traceback.

    In other threads than the main one it is raised as it is: signals have handlers in that alone.
    """
    assert error.__traceback__ is not None
    if threading.current_thread() is threading.main_thread():
        return error.with_traceback(error.__traceback__.tb_next)
    return error


Listener = Callable[[types.CodeType, str], None]


def report_failure(
    listener: weakref.WeakMethod[Listener], code: weakref.ref[types.CodeType], failure: str
) -> None:
    """Say that a graph failed where the frame, run plainly, gave a result."""
    hears, found = listener(), code()
    if failure and hears is not None and found is not None:
        hears(found, failure)


class Replay:
    """Writes the code around the call of a graph, and what runs where it fails."""

    def __init__(
        self, builder: CodeBuilder, code: types.CodeType, listener: Listener | None
    ) -> None:
        self.builder = builder
        self.code = code
        self.listener = listener
        self.handler, self.interrupted = Label(), Label()
        self.kept: str | None = None

    def keep(
        self, random: bool, generators: Sequence[Any], tensors: Sequence[Source],
        begun: Sequence[Source] = (), own: Sequence[Source] = (),
    ) -> None:
        """Keep what the graph may change before it fails; `begun`: as in `Recording`."""
        if not (random or generators or own or tensors or begun):
            return
        self.kept = self.builder.temporary()
        self.builder.begin_call(Kept)
        self.builder.load_const(random)
        self.builder.load_const(tuple(generators))
        behind = [source for source in tensors if isinstance(source, DataSource)]
        for count in map(len, (own, begun, behind)):
            self.builder.load_const(count)
        kept = (*own, *begun, *behind, *(source for source in tensors if source not in behind))
        for source in kept:
            source.emit(self.builder)
        self.builder.end_call(5 + len(kept))
        self.builder.store_local(self.kept)

    def look_for_signals(self) -> None:
        """What came while the graph ran is raised here, where it is no failure of the graph.

        The calls so far do not look; a RESUME does, wherever it stands.
        """
        self.builder.begin_try(self.interrupted)
        self.builder.emit("RESUME", 0)
        self.builder.end_try()

    def write(self) -> None:
        """The handlers: the exception is on the stack."""
        self._write_handler(self.handler, undo)
        self._write_handler(self.interrupted, undo_interrupted)

    def _write_handler(self, label: Label, undoing: Callable[..., Any]) -> None:
        builder, error = self.builder, self.builder.temporary()
        builder.mark(label)
        builder.store_local(error)
        builder.begin_call(undoing)
        builder.load_local(error)
        if self.kept is None:
            builder.load_const(None)
        else:
            builder.load_local(self.kept)
        builder.end_call(2)
        failure = builder.temporary()
        builder.store_local(failure)
        self._go_on_plainly(failure)

    def protect_beginning(self) -> None:
        """What the RESUME raises is raised where the plain frame begins.

        That of a frame that goes on behind a graph break is in the blocks that it goes on in.
        """
        builder, error, handler = self.builder, self.builder.temporary(), Label()
        at = next(i for i, inst in enumerate(builder.instructions)
                  if isinstance(inst, Written) and inst.name == "RESUME")
        resume, *tail = builder.instructions[at:]
        del builder.instructions[at:]
        builder.begin_try(handler)
        builder.instructions.append(resume)
        builder.end_try()
        builder.instructions += tail
        builder.mark(handler)
        builder.store_local(error)
        builder.begin_call(interruption)
        builder.load_local(error)
        builder.end_call(1)
        builder.store_local(error)
        self._go_on_plainly(error)

    def _go_on_plainly(self, failure: str) -> None:
        """Return the continuation: this frame, and what it holds, is gone when that begins."""
        builder, names = self.builder, self.code.co_varnames
        n_positional = self.code.co_argcount
        keywords = names[n_positional : n_positional + self.code.co_kwonlyargcount]
        has_rest = bool(self.code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
        unchecked, builder.unchecked = builder.unchecked, builder.unchecked and not has_rest
        builder.begin_call(_eval_frame.plainly)
        builder.load_const(self._teller())
        builder.load_local(failure)
        self._push_function()
        for name in names[:n_positional]:
            builder.load_local(name)
        if has_rest:
            self._end_call_with_rest(n_positional, keywords)
        else:
            for name in keywords:
                builder.load_local(name)
            builder.end_call(3 + n_positional + len(keywords), keywords)
        builder.unchecked = unchecked
        builder.return_value()

    def _teller(self) -> Callable[[str], None] | None:
        if self.listener is None:
            return None
        listener = weakref.WeakMethod(self.listener)
        return functools.partial(report_failure, listener, weakref.ref(self.code))

    def _end_call_with_rest(self, n_positional: int, keywords: tuple[str, ...]) -> None:
        """`*args` and `**kwargs` are locals that follow the other arguments."""
        code, builder = self.code, self.builder
        slot = n_positional + len(keywords)
        builder.build("tuple", 3 + n_positional)
        if code.co_flags & inspect.CO_VARARGS:
            builder.load_local(code.co_varnames[slot])
            builder.binary(_ADD)
            slot += 1
        for name in keywords:
            builder.load_const(name)
            builder.load_local(name)
        builder.build("map", len(keywords))
        if code.co_flags & inspect.CO_VARKEYWORDS:
            builder.load_local(code.co_varnames[slot])
            builder.binary(_JOIN)
        builder.emit("CALL_FUNCTION_EX", 1)

    def _push_function(self) -> None:
        builder, names = self.builder, self.code.co_freevars
        builder.begin_call(_plain_function)
        builder.load_const(weakref.ref(self.code))
        builder.make_function(_here.__code__, False)
        for name in names:
            builder.load_closure(name)
        builder.build("tuple", len(names))
        builder.end_call(3)


def _plain_function(
    code: weakref.ref[types.CodeType],
    here: types.FunctionType,
    closure: tuple[types.CellType, ...],
) -> types.FunctionType:
    """A function of `code` for the plain run; `code` is weak, as the compiled code has it."""
    found = code()
    assert found is not None
    return types.FunctionType(found, here.__globals__, found.co_name, None, closure)


def _here() -> None:
    """Made again in the running frame, it has that frame's globals."""


_ADD, _JOIN = (tuple(BINARY).index(symbol) for symbol in ("+", "|"))
