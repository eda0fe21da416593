"""`warnings.catch_warnings` in the frame, and the filters that its block sets.

The filters of a block decide what becomes of the warnings in it: they are ignored, raised or
recorded by the frame. Where they leave that to the filters around, or something in the block
might warn by itself, plain Python enters the block. What is left of a block is that the registries
of what was shown before start anew.
"""

from __future__ import annotations

import re
import sys
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.effects.side_effects import DeferredCall
from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.classes.classes import BuiltinVariable
from graphwright.capture.trackers.containers.sequences import ListVariable
from graphwright.capture.trackers.values.exceptions import ExceptionVariable, Raised
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.ir.graph.node import map_leaves
from graphwright.runtime import _core
from graphwright.runtime.record import Record

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.trackers.classes.classes import Handler
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_ACTIONS = frozenset(["error", "ignore", "always", "default", "module", "once"])


class _Filter(Record):
    """An entry of `warnings.filters`, of a known action."""

    action: str
    message: re.Pattern[str] | None
    category: type[Warning]
    module: re.Pattern[str] | None
    line: int


class Block:
    """A block that the frame is in: the filters that it put before those around, the first first.

    step: when the frame entered it. log: what it records; None where it records nothing.
    """

    def __init__(self, manager: CatchWarningsVariable, outer: Block | None) -> None:
        self.manager = manager
        self.step = Clock.step
        self.filters: list[_Filter] = list(outer.filters) if outer is not None else []
        self.log = ListVariable([]) if manager.record else None
        around = outer.recording if outer is not None else None
        self.recording: ListVariable | None = self.log or around

    def set(self, entry: _Filter) -> None:
        """Put a filter before the others."""
        self.filters = [entry, *(known for known in self.filters if known != entry)]


class CatchWarningsVariable(VariableTracker):
    """`warnings.catch_warnings(...)`, which the frame made."""

    mutable = True

    def __init__(self, kwargs: Kwargs) -> None:
        self.kwargs = kwargs
        self.record = False
        self.first: Args = []
        self.entered = False

    def python_type(self) -> type:
        return warnings.catch_warnings

    def has_tensor(self) -> bool:
        return False

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in ("__enter__", "__exit__"):
            return _BlockMethod(self, name)
        return super().getattr(tx, name)

    def enter(self, tx: Translator) -> VariableTracker:
        """`__enter__`."""
        blocks = tx.side_effects.blocks
        if self.entered or tx.side_effects.earlier is not None:
            unsupported("GB0007", "RuntimeError: Cannot enter catch_warnings twice")
        self.entered = True
        block = Block(self, blocks[-1] if blocks else None)
        blocks.append(block)
        if self.first:
            simple_filter(tx, self.first, {})
        return block.log or tx.constant(None)

    def leave(self, tx: Translator) -> VariableTracker:
        """`__exit__`, which hands exceptions on."""
        blocks = tx.side_effects.blocks
        if not blocks or blocks[-1].manager is not self:
            unsupported("GB0007", "RuntimeError: catch_warnings is left without being entered")
        blocks.pop()
        function = BuiltinVariable(_begin_anew, None)
        line = _root(tx).current.line
        call = DeferredCall(
            function, None, (), False, _core.grad_enabled(), line, Clock.step, notifies=False
        )
        tx.side_effects.calls.append(call)
        return tx.constant(None)

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.entered:
            super().reconstruct(cg)
        cg.builder.begin_call(warnings.catch_warnings)
        for value in self.kwargs.values():
            cg.push(value)
        cg.builder.end_call(len(self.kwargs), tuple(self.kwargs))


class _BlockMethod(VariableTracker):
    """`__enter__` or `__exit__`, bound."""

    def __init__(self, owner: CatchWarningsVariable, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return types.MethodType

    def parts(self) -> Args:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.owner.enter(tx) if self.method == "__enter__" else self.owner.leave(tx)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)


def _unbound(name: str) -> Handler:
    """A method as `contextlib.ExitStack` calls it: the function of the class, with an instance."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner = args[0].realize() if args else None
        if not isinstance(owner, CatchWarningsVariable):
            unsupported("GB0004", f"call of catch_warnings.{name}")
        return owner.getattr(tx, name).call(tx, args[1:], kwargs)

    return handler


def _begin_anew() -> None:
    """What a block does to those behind it."""
    with warnings.catch_warnings():
        pass


_eval_frame.skip_code(_begin_anew.__code__)


def _root(tx: Translator) -> Translator:
    while tx.parent is not None:
        tx = tx.parent
    return tx


def catch_warnings(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`warnings.catch_warnings(record=, action=, category=, lineno=, append=)`."""
    if args or "module" in kwargs:
        unsupported("GB0004", "catch_warnings of another module")
    made = CatchWarningsVariable(kwargs)
    made.record = "record" in kwargs and tx.truth(kwargs["record"])
    if "action" in kwargs and not kwargs["action"].is_none():
        names = ("action", "category", "lineno", "append")
        defaults = (None, tx.constant_class(Warning), tx.constant(0), tx.constant(False))
        made.first = [
            kwargs.get(name, default)  # type: ignore[misc]
            for name, default in zip(names, defaults, strict=True)
        ]
    return made


def _filtering(names: tuple[str, ...]) -> Handler:
    """The handler of a function that sets a filter, which has parameters of these names."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        block = _innermost(tx)
        if len(args) > len(names) or not set(kwargs) <= set(names):
            unsupported("GB0007", "TypeError: arguments of a filter of warnings")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        values = {name: _value(value) for name, value in given.items()}
        category = values.get("category", Warning)
        line = values.get("lineno", 0)
        if values.get("append") or values.get("action") not in _ACTIONS:
            unsupported("GB0004", "a filter of warnings behind the others")
        if not (isinstance(category, type) and issubclass(category, Warning)):
            unsupported("GB0007", "AssertionError: category must be a Warning subclass")
        if type(category) is not type or type(line) is not int or line < 0:
            unsupported("GB0007", "AssertionError: lineno must be an int >= 0")
        message = _pattern(values.get("message", ""), re.IGNORECASE)
        module = _pattern(values.get("module", ""), 0)
        block.set(_Filter(values["action"], message, category, module, line))
        return tx.constant(None)

    return handler


def _value(value: VariableTracker) -> Any:
    value = value.realize()
    return value.as_constant()


def _pattern(text: Any, flags: int) -> re.Pattern[str] | None:
    if type(text) is not str:
        unsupported("GB0007", "AssertionError: message must be a string")
    try:
        return re.compile(text, flags) if text else None
    except re.error as error:
        unsupported("GB0007", f"re.error: {error}")


simple_filter = _filtering(("action", "category", "lineno", "append"))
_NAMES = ("action", "message", "category", "module", "lineno", "append")


def _innermost(tx: Translator) -> Block:
    """The block that the frame is in."""
    if not tx.side_effects.blocks:
        unsupported("GB0004", "a change of the filters of warnings")
    return tx.side_effects.blocks[-1]


def _reset(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`warnings.resetwarnings()`: those around no longer count, but what is shown by default."""
    _innermost(tx).filters.clear()
    return tx.constant(None)


def warn_in_block(
    tx: Translator,
    message: VariableTracker,
    category: type[Warning],
    place: Callable[[], tuple[str, int, str]],
) -> VariableTracker:
    """`warnings.warn(message, category)` where a block may say what becomes of it.

    place: gives the file, line and module that the warning is of, or a break.
    """
    block = _innermost(tx)
    fitting = (f.action for f in block.filters if _fits(f, message, category, place))
    action = next(fitting, None)
    if action == "ignore":
        return tx.constant(None)
    given = message
    if not isinstance(message, ExceptionVariable):
        given = tx.constant_class(category).call(tx, [message], {})
    if not isinstance(given, ExceptionVariable):
        unsupported("GB0004", f"warnings.warn of a {category.__name__}")
    if action == "error":
        raise Raised(given, by_python=True)
    if action != "always" or block.recording is None:
        unsupported("GB0004", "call of warnings.warn whose warning is shown, in a block")
    file, line, _ = place()
    details = {
        "message": given, "category": tx.constant_class(category), "filename": tx.constant(file),
        "lineno": tx.constant(line), "_category_name": tx.constant(category.__name__),
        **dict.fromkeys(("file", "line", "source"), tx.constant(None)),
    }  # fmt: skip
    kind = warnings.WarningMessage
    made = ObjectVariable(kind, None, None, tx.constant_class(kind).source)
    tx.side_effects.track_new(made)
    for name in _DETAILS:
        tx.side_effects.store_attribute(made, name, details[name])
    block.recording.call_method(tx, "append", [made], {})
    return tx.constant(None)


_DETAILS = (
    *("message", "category", "filename", "lineno", "file", "line", "source", "_category_name"),
)
"""The attributes of a `WarningMessage`, in the order in which it stores them."""


def _text(message: VariableTracker) -> str:
    """What `str(message)` gives."""
    if message.is_constant() and type(message.as_constant()) is str:
        return str(message.as_constant())
    if isinstance(message, ExceptionVariable):
        args = message.args or []
        known = args[0].realize() if len(args) == 1 else None
        plain = message.cls.__str__ is BaseException.__str__
        if known is not None and plain and known.python_type() is str and known.is_constant():
            return str(known.as_constant())
    unsupported("GB0004", "call of warnings.warn with other than a text")


def _fits(
    entry: _Filter,
    message: VariableTracker,
    category: type[Warning],
    place: Callable[[], tuple[str, int, str]],
) -> bool:
    if entry.message is not None and entry.message.match(_text(message)) is None:
        return False
    if not issubclass(category, entry.category):
        return False
    if entry.module is None and not entry.line:
        return True
    _, line, module = place()
    named = entry.module is None or entry.module.match(module) is not None
    return named and entry.line in (0, line)


def run_in_block(run: Callable[..., Any]) -> Callable[..., Any]:
    """What runs an operation on fake tensors that must not warn, nor when the graph runs it."""

    def check(leaf: Any) -> Any:
        if isinstance(leaf, _core.TensorBase) and leaf.dtype.is_complex:
            unsupported("GB0003", "an operation on complex numbers, which may warn")
        return leaf

    def checked(*args: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                result = run(*args)
            except Warning:
                unsupported("GB0003", "a call that warns")
        map_leaves((args, result), check)
        return result

    return checked


def refuse_reads(module: types.ModuleType, name: str, blocks: list[Block]) -> None:
    """A break before something reads what a block of the frame has in place of the real."""
    if blocks and module is sys.modules.get("warnings") and name in _CHANGED:
        unsupported("GB0008", f"warnings.{name} in a block of the frame")


_CHANGED = frozenset(["filters", "showwarning", "_showwarning_orig", "_showwarnmsg_impl"])
WARNING_FILTERS: dict[Any, Handler] = {
    warnings.catch_warnings: catch_warnings,
    **{getattr(warnings.catch_warnings, n): _unbound(n) for n in ("__enter__", "__exit__")},
    warnings.simplefilter: simple_filter,
    warnings.filterwarnings: _filtering(_NAMES),
    warnings.resetwarnings: _reset,
}
