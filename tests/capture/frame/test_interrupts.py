"""Ctrl-C at each step of capture: raised once, effects so far kept, the next call as ever."""

from __future__ import annotations

import _thread
import dis
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture import _eval_frame
from graphwright.capture.frame.budget import Budget
from graphwright.capture.frame.frontend import Frontend
from graphwright.capture.frame.resume import is_resume
from graphwright.capture.vm.bytecode import exception_handlers
from graphwright.capture.vm.output_graph import OutputGraph
from graphwright.face.native_backends import stage
from graphwright.runtime import _core

from ..captured import Captured, run_graph, same

X = gw.ones(3)


def native(log: list[Any]) -> None:
    log.append("native")


native.__gw_disable__ = True  # type: ignore[attr-defined]


def helper(x: Any, log: list[Any]) -> Any:
    log.append("helper")
    y = x * 2
    native(log)
    return y + 1


def broken(x: Any, log: list[Any]) -> Any:
    log.append("begin")
    y = x + 1
    for i in range(2):
        y = helper(y, log) * i
        try:
            native(log)
        finally:
            log.append(i)
    log.append("end")
    return y.sum()


class Doubled(gw.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


def stepping(x: Any) -> Any:
    """Autocast, a Function, and a gradient taken in the frame."""
    with gw.autocast("cpu", dtype=gw.bfloat16):
        y = Doubled.apply(x).tanh_()
    (grad,) = gw.autograd.grad(y.sum(), x)
    return grad + y.detach()


def check_state(captured: Any) -> None:
    """Nothing is left of the interrupted capture, and calls give what they always do."""
    assert not _eval_frame.capturing()
    assert _eval_frame.hook_installed() == 0
    assert gw.is_grad_enabled()
    for _ in range(2):
        log: list[Any] = []
        expected: list[Any] = []
        assert same(captured(X, log), broken(X, expected))
        assert log == expected


@pytest.mark.parametrize("moment", range(0, 190, 10))
def test_interrupted_at_a_step_of_capture(
    moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0
    count = Budget.count

    def interrupt(self: Budget) -> None:
        nonlocal steps
        steps += 1
        if steps == moment + 1:
            raise KeyboardInterrupt
        count(self)

    monkeypatch.setattr(Budget, "count", interrupt)
    captured = Captured(broken)
    expected: list[Any] = []
    broken(X, expected)
    log: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        captured(X, log)
    assert log == expected[: len(log)] and len(log) < len(expected)
    check_state(captured)


@pytest.mark.parametrize("setter", ["set_tracer", "set_grad_enabled", "set_modes"])
@pytest.mark.parametrize("moment", range(12))
def test_interrupted_right_after_a_mode_was_set(
    setter: str, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the `try` that would put it back: where Python looks for signals, too."""
    calls = 0
    set_mode = getattr(_core, setter)

    def interrupt(mode: Any) -> Any:
        nonlocal calls
        calls += 1
        before = set_mode(mode)
        if calls == moment + 1:
            raise KeyboardInterrupt
        return before

    monkeypatch.setattr(_core, setter, interrupt)
    captured = Captured(stepping)
    x = gw.ones(3, requires_grad=True)
    modes = _core.modes(), _core.tracer(), _core.grad_enabled()
    for _ in range(2):
        try:
            captured(x)
        except KeyboardInterrupt:
            assert calls > moment
        assert (_core.modes(), _core.tracer(), _core.grad_enabled()) == modes
    assert captured.agrees(x)


@pytest.mark.parametrize("which", range(3))
def test_interrupted_in_the_backend(which: int) -> None:
    graphs = 0

    def backend(module: Any, examples: Any) -> Any:
        nonlocal graphs
        graphs += 1
        if graphs == which + 1:
            raise KeyboardInterrupt
        return run_graph(module, examples)

    captured = Frontend(backend).compile(broken)
    with pytest.raises(KeyboardInterrupt):
        captured(X, [])
    check_state(captured)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also in a process that was told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_a_signal_while_a_resume_function_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler runs in the capture of what follows the break, and its exception goes out."""
    sent = 0
    make = OutputGraph.__init__

    def signalled(self: OutputGraph, function: Any, *rest: Any) -> None:
        nonlocal sent
        sent += 1
        if sent == 3:
            signal.raise_signal(signal.SIGINT)
        make(self, function, *rest)

    monkeypatch.setattr(OutputGraph, "__init__", signalled)
    captured = Captured(broken)
    log: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        captured(X, log)
    assert log
    check_state(captured)


class Handled:
    """A handler of signals that computes: what it was, and what it found."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight
        self.found: list[Any] = []

    def __call__(self, number: int, frame: object) -> None:
        loss = (self.weight * 2).sum() + gw.ones(2).sum()
        loss.backward()
        self.found.append((float(loss), self.weight.grad.tolist(), gw.compiler.is_compiling(),
                           signal.getsignal(number) is self))
        self.weight.grad = None


@pytest.fixture
def alarms() -> Iterator[None]:
    """What the test makes of SIGALRM ends with it."""
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarms")
def test_a_handler_in_a_capture_computes_as_outside_of_it() -> None:
    """It saves weights, say: on tensors with values, in the modes of the program."""
    handler = Handled(gw.ones(2, requires_grad=True))
    signal.signal(signal.SIGALRM, handler)

    def backend(module: Any, examples: Any) -> Any:
        with gw.no_grad():
            signal.raise_signal(signal.SIGALRM)
        return run_graph(module, examples)

    captured = Captured(broken)
    count = Budget.count
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "count",
                      lambda self: (signal.raise_signal(signal.SIGALRM), count(self)))
        captured(X, [])
    Frontend(backend).compile(stepping)(gw.ones(3, requires_grad=True))
    assert len(handler.found) > 20
    assert handler.found == [(6.0, [2.0, 2.0], False, True)] * len(handler.found)
    assert signal.getsignal(signal.SIGALRM) is handler
    check_state(captured)


@pytest.mark.usefixtures("alarms")
def test_a_handler_in_a_capture_may_put_another_in_its_place() -> None:
    seen: list[str] = []

    def first(number: int, frame: object) -> None:
        seen.append("first")
        signal.signal(signal.SIGALRM, second)

    def second(number: int, frame: object) -> None:
        seen.append("second")

    def backend(module: Any, examples: Any) -> Any:
        for _ in range(3):
            signal.raise_signal(signal.SIGALRM)
        return run_graph(module, examples)

    signal.signal(signal.SIGALRM, first)
    Frontend(backend).compile(lambda x: x + 1)(X)
    assert seen == ["first", "second", "second"]
    assert signal.getsignal(signal.SIGALRM) is second


@pytest.mark.usefixtures("alarms")
@pytest.mark.parametrize("where", ["translation", "backend", "compiler"])
def test_what_a_handler_raises_in_a_capture_goes_out_of_the_call(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no failure of capture, of which the program would hear nothing."""
    def handler(number: int, frame: object) -> None:
        raise TimeoutError

    def backend(module: Any, examples: Any) -> Any:
        if where == "backend":
            signal.raise_signal(signal.SIGALRM)
        with stage("ir"):
            signal.raise_signal(signal.SIGALRM)
        return run_graph(module, examples)

    count = Budget.count
    if where == "translation":
        monkeypatch.setattr(
            Budget, "count",
            lambda self: (signal.raise_signal(signal.SIGALRM), count(self)))
    signal.signal(signal.SIGALRM, handler)
    with pytest.raises(TimeoutError):
        Frontend(backend).compile(lambda x: x + 1)(X)
    assert signal.getsignal(signal.SIGALRM) is handler
    monkeypatch.undo()
    check_state(Captured(broken))


def test_a_lack_of_memory_is_no_bug_of_the_compiler() -> None:
    with pytest.raises(MemoryError), stage("ir"):
        raise MemoryError


class Entered:
    """Is interrupted by what enters it, without a look for signals before the block begins."""

    __enter__ = staticmethod(partial(_thread.interrupt_main))

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.log.append("left" if kind is None else kind.__name__)


def entering(x: Any, log: list[str]) -> Any:
    y = x + 1
    with Entered(log):
        y = y * 2
    return y


def going_on(x: Any, log: list[str]) -> Any:
    y = x + 1
    try:
        native(log)
        y = y * 2
    except KeyboardInterrupt:
        log.append("caught")
    finally:
        log.append("left")
    return y + 1


class OfStarts(Frontend):
    """Captures functions, and does something else with what goes on behind their breaks."""

    def __init__(self, behind: Any) -> None:
        super().__init__(run_graph)
        self.behind = behind

    def __call__(self, function: Any, code: Any, slots: Any, entries: Any = ()) -> Any:
        if is_resume(code):
            return self.behind()
        return super().__call__(function, code, slots, entries)


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("behind", [lambda: _eval_frame.RUN_NATIVELY, lambda: None, None])
def test_the_block_that_a_break_entered_is_left_when_interrupted(behind: Any) -> None:
    log: list[str] = []
    frontend = Frontend(run_graph) if behind is None else OfStarts(behind)
    with pytest.raises(KeyboardInterrupt):
        frontend.compile(entering)(X, log)
    assert log == ["KeyboardInterrupt"]


@pytest.mark.usefixtures("interrupts")
def test_the_block_is_left_where_what_follows_the_break_is_compiled() -> None:
    def function(x: Any, entered: Entered) -> Any:
        y = x + 1
        with entered:
            y = y * 2
        return y

    entered = Entered([])
    compiled = Frontend(run_graph).compile(function)
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    for _ in range(3):
        assert same(compiled(X, entered), (X + 1) * 2)
    signal.signal(signal.SIGINT, handler)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            compiled(X, entered)
    assert entered.log == ["left"] * 3 + ["KeyboardInterrupt"] * 2


def test_an_interrupted_capture_behind_a_break_is_raised_in_the_block() -> None:
    log: list[str] = []
    assert same(OfStarts(interrupted).compile(going_on)(X, log), X + 2)
    assert log == ["native", "caught", "left"]


class Block:
    """A context manager that Python code enters and leaves."""

    def __init__(self) -> None:
        self.left: list[Any] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.left.append(kind)


def writing(x: Any, block: Block, log: list[str]) -> Any:
    y = x + 1
    with block:
        native(log)
        with gw.no_grad():
            y = y * 2
            native(log)
            block.left, Block.times = [], 1
            native(log)
    return y


def writing_where_nothing_is_computed(x: Any, block: Block, log: list[str]) -> Any:
    with block, gw.no_grad():
        native(log)
        block.left, Block.times = [], 1
    native(log)
    return x + 1


class Resumed(Frontend):
    """Keeps the code that runs behind breaks."""

    def __init__(self) -> None:
        super().__init__(run_graph)
        self.codes: list[Any] = []

    def __call__(self, function: Any, code: Any, slots: Any, entries: Any = ()) -> Any:
        made = super().__call__(function, code, slots, entries)
        if is_resume(code) and getattr(made, "code", None) is not None:
            self.codes.append(made.code)
        return made


@pytest.mark.parametrize("function", [writing, writing_where_nothing_is_computed])
def test_signals_are_looked_for_inside_of_blocks_alone(function: Any) -> None:
    """Behind a break, calls and RESUME are the program's own, or lead back to the beginning."""
    frontend = Resumed()
    compiled = frontend.compile(function)
    for _ in range(2):
        compiled(X, Block(), [])
    assert frontend.codes
    for code in frontend.codes:
        covered = [range(handler.start, handler.end) for handler in exception_handlers(code)]
        looking = [inst for inst in dis.get_instructions(code)
                   if inst.opname in ("RESUME", "CALL", "CALL_KW", "CALL_FUNCTION_EX")]
        open_calls = [i.opname for i in looking if not any(i.offset in r for r in covered)]
        assert looking and open_calls == [], code


@gw.compiler.disable
def apart(x):
    return x + 10


def stores_behind_a_break(x):
    x = x + 1
    try:
        x = apart(x)
        x = x * 2
    except KeyboardInterrupt:
        return x - 1
    return x


def test_an_interrupt_while_the_rest_of_a_block_is_compiled_finds_the_locals():
    """It arrives in front of the store of what the call gave: the handler reads what was there."""
    compiled = []

    def backend(module, inputs):
        compiled.append(module)
        if len(compiled) == 2:
            raise KeyboardInterrupt
        return module

    run = gw.compile(stores_behind_a_break, backend=backend)
    assert run(gw.ones(3)).tolist() == [1.0] * 3
    assert run(gw.ones(3)).tolist() == [24.0] * 3
    assert len(compiled) == 3
