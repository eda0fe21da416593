"""Context managers: those of thread modes are interpreted here, others by their methods."""

from __future__ import annotations

import contextlib
import inspect
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from graphwright.amp import state as amp
from graphwright.amp.autocast import autocast
from graphwright.autograd import grad_mode
from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.effects import locks
from graphwright.capture.vm.polyfills import under_mode
from graphwright.runtime import _core

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]

GRAD_MODES: tuple[type, ...] = (
    grad_mode.no_grad, grad_mode.enable_grad, grad_mode.set_grad_enabled, grad_mode.inference_mode,
)  # fmt: skip
MODES: tuple[type, ...] = (*GRAD_MODES, autocast)
KEPT_MODES = ("_previous", "_bits")
"""The lists of a context manager that hold what it will restore."""


@contextlib.contextmanager
def without_gradients(tx: Translator) -> Iterator[None]:
    """What the translator runs for a pass of gradients, which records nothing."""
    mode = _core.grad_enabled()
    tx.output.set_grad_mode(tx, False)
    try:
        yield
    finally:
        tx.output.set_grad_mode(tx, mode)


class ModeVariable(VariableTracker):
    """An instance of a `ThreadMode`: what it sets, and what it will restore."""

    mutable = True

    def __init__(
        self,
        cls: type,
        mode: Any,
        source: Source | None = None,
        previous: Iterable[Any] = (),
    ) -> None:
        self.cls = cls
        self.mode = mode
        self.source = source
        self.previous = list(previous)

    def present(self) -> Any:
        """The mode as it is now."""
        raise NotImplementedError

    def change(self, tx: Translator, mode: Any) -> None:
        """Change the mode, here and in the graph."""
        raise NotImplementedError

    def python_type(self) -> type:
        return self.cls

    def enter(self, tx: Translator) -> VariableTracker:
        """`__enter__`."""
        if self.cls is not grad_mode.set_grad_enabled:
            self._note_change(tx)
            self.previous.append(self.present())
        self.change(tx, self.mode)
        return tx.constant(None)

    def leave(self, tx: Translator) -> VariableTracker:
        """`__exit__` without an exception."""
        if not self.previous:
            unsupported("GB0007", f"{self.describe()} is left without being entered")
        self._note_change(tx)
        self.change(tx, self.previous.pop())
        return tx.constant(None)

    def _note_change(self, tx: Translator) -> None:
        if self.source is not None:
            tx.side_effects.mutate(self)

    def kept(self) -> tuple[tuple[Any, ...], ...]:
        """What it will restore: the contents of its lists."""
        return (tuple(self.previous),)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name == "_fresh" and self.cls is not grad_mode.set_grad_enabled:
            return type(self)(self.cls, self.mode)
        if name == "_fresh":    # the same mode, set on entry alone
            return type(self)(grad_mode.enable_grad if self.mode else grad_mode.no_grad, self.mode)
        unsupported("GB0008", f"{self.cls.__name__}.{name}()")

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return ModeMethod(self, name)

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        function = args[0].realize() if len(args) == 1 and not kwargs else None
        code = getattr(function, "code", None)
        if function is None or code is None or code.co_flags & inspect.CO_GENERATOR:
            unsupported("GB0004", f"{self.cls.__name__} used as a decorator inside of the frame")
        decorate: Any = under_mode
        return tx.plain_function(decorate).call(tx, [self, function], {})

    def reconstruct(self, cg: Reconstructor) -> None:
        self.write_entered(cg, self.cls)

    def write_entered(self, cg: Reconstructor, cls: type) -> None:
        """Write code that makes the context manager of a block without entering it again.

        The code calls no Python function: a signal handler that raises there would leave the block
        open.
        """
        builder = cg.builder
        builder.begin_call(object.__new__)
        builder.load_const(cls)
        builder.end_call(1)
        builder.load_const(self.mode)
        builder.copy(2)
        builder.store_attr("_mode")
        for name, values in zip(KEPT_MODES, self.kept(), strict=False):
            builder.build("list", 0)
            builder.load_const(values)
            builder.emit("LIST_EXTEND", 1)
            builder.copy(2)
            builder.store_attr(name)


class GradModeVariable(ModeVariable):
    """An instance of `no_grad`, `enable_grad` or `set_grad_enabled`."""

    def present(self) -> bool:
        return _core.grad_enabled()

    def change(self, tx: Translator, mode: bool) -> None:
        tx.output.set_grad_mode(tx, mode)


class InferenceVariable(GradModeVariable):
    """An instance of `inference_mode`; `bits` are the modes that it will restore."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bits: list[int] = []

    def enter(self, tx: Translator) -> VariableTracker:
        super().enter(tx)
        bits = _core.modes()
        self.bits.append(bits)
        on = bits | grad_mode.INFERENCE
        _core.set_modes(bits & ~grad_mode.INFERENCE if self.mode else on)
        return tx.constant(None)

    def leave(self, tx: Translator) -> VariableTracker:
        if self.bits:
            _core.set_modes(self.bits.pop())
        return super().leave(tx)

    def kept(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(self.previous), tuple(self.bits)

    def reconstruct(self, cg: Reconstructor) -> None:
        self.write_entered(cg, grad_mode.inference_mode)


class AutocastVariable(ModeVariable):
    """An instance of `autocast`."""

    def present(self) -> int:
        return amp.current()

    def change(self, tx: Translator, mode: int) -> None:
        tx.output.set_autocast(tx, mode)

    def enter(self, tx: Translator) -> VariableTracker:
        super().enter(tx)
        return self

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("device", "fast_dtype"):
            return tx.constant(getattr(_of_mode(self.cls, self.mode), name))
        return super().getattr(tx, name)


def _of_mode(cls: type, mode: Any) -> Any:
    """A context manager of a mode, made without its constructor and not entered."""
    made: Any = object.__new__(cls)
    made._mode = mode
    return made


def set_inference(on: bool) -> None:
    """Switch inference mode, and nothing else."""
    bits = _core.modes() & ~grad_mode.INFERENCE
    _core.set_modes(bits | grad_mode.INFERENCE if on else bits)


class ModeMethod(VariableTracker):
    """`_fresh` or `__enter__`/`__exit__`, bound."""

    def __init__(
        self, owner: ModeVariable, name: str, source: Source | None = None
    ) -> None:
        self.owner = owner
        self.method = name
        self.source = source

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)

    def python_type(self) -> type:
        return types.MethodType

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.method == "__enter__":
            return self.owner.enter(tx)
        if self.method == "__exit__":
            return self.owner.leave(tx)
        return self.owner.call_method(tx, self.method, args, kwargs)


def _unbound(name: str) -> Callable[..., VariableTracker]:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner = args[0].realize() if args else None
        if not isinstance(owner, ModeVariable):
            unsupported("GB0004", f"call of a mode's {name} on something else")
        return owner.enter(tx) if name == "__enter__" else owner.leave(tx)

    return handler


MODE_FUNCTIONS: dict[Any, Callable[..., VariableTracker]] = {
    getattr(cls, name): _unbound(name) for cls in MODES for name in ("__enter__", "__exit__")
}
"""What `contextlib.ExitStack` calls: the functions of the classes, with an instance."""


def make_grad_mode(cls: type, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`no_grad()`, `enable_grad()` or `set_grad_enabled(mode)`, called in the frame."""
    if cls is grad_mode.inference_mode:
        given = [value.realize() for value in (*args, *kwargs.values())]
        if len(given) > 1 or not all(value.python_type() is bool for value in given):
            unsupported("GB0004", "inference_mode used as a decorator inside of the frame")
        return InferenceVariable(cls, not (tx.truth(given[0]) if given else True))
    if cls is not grad_mode.set_grad_enabled:
        if args or kwargs:
            unsupported("GB0004", f"{cls.__name__} used as a decorator inside of the frame")
        return GradModeVariable(cls, cls is grad_mode.enable_grad)
    (mode,) = [*args, *kwargs.values()]
    made = GradModeVariable(cls, tx.truth(mode))
    made.previous.append(_core.grad_enabled())
    tx.output.set_grad_mode(tx, made.mode)
    return made


def make_autocast(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`autocast(...)`, called in the frame; what it refuses or warns of is left to Python."""
    values = [arg.realize().as_constant() for arg in args]
    keywords = {name: value.realize().as_constant() for name, value in kwargs.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            made = autocast(*values, **keywords)
        except (TypeError, RuntimeError, UserWarning) as error:
            unsupported("GB0007", f"autocast: {error}")
    return AutocastVariable(autocast, made._mode)


def enter_context(tx: Translator, manager: VariableTracker) -> VariableTracker:
    """What `with manager as x` binds to x."""
    if isinstance(manager, ModeVariable):
        return manager.enter(tx)
    if issubclass(manager.realize().python_type(), locks.KINDS):
        return tx.constant(True)
    return _method(tx, manager, "__enter__").call(tx, [], {})


def exit_method(tx: Translator, manager: VariableTracker) -> VariableTracker:
    """The bound `__exit__`, which Python reads before it calls `__enter__`."""
    if issubclass(manager.realize().python_type(), locks.KINDS):
        return locks.take(tx, manager)
    return _method(tx, manager, "__exit__")


def _method(tx: Translator, manager: VariableTracker, name: str) -> VariableTracker:
    try:
        return manager.getattr(tx, name)
    except AttributeMissing:
        unsupported("GB0007", f"TypeError: {manager.describe()} is no context manager")


def is_mode_instance(value: Any) -> bool:
    """Whether `value` is an instance that a `ModeVariable` can stand for."""
    return type(value) in MODES


def mode_variable(value: Any, source: Source) -> ModeVariable:
    """The variable of an instance that is there already."""
    if isinstance(value, grad_mode.inference_mode):
        made = InferenceVariable(type(value), value._mode, source, value._previous)
        made.bits = list(value._bits)
        return made
    kind = AutocastVariable if type(value) is autocast else GradModeVariable
    return kind(type(value), value._mode, source, value._previous)
