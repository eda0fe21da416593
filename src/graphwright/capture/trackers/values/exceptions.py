"""Exceptions that the frame raises and handles itself."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import Signal, unsupported
from graphwright.capture.guards.source import ClassSource, MroSource
from graphwright.capture.guards.text import class_module
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.namespaces import lookup, mro_of, namespace_of

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_PLAIN_TEXTS = (
    BaseException.__str__, KeyError.__str__, AttributeError.__str__, NameError.__str__,
)  # fmt: skip
_LINKS = ("__cause__", "__context__", "__suppress_context__", "__traceback__")


class ExceptionVariable(VariableTracker):
    """An exception instance; `args` is None where only its type is known.

    raised_at: the step of the captured frame that raised it, if that frame handles it.
    """

    mutable = True

    def __init__(self, cls: type[BaseException], args: list[VariableTracker] | None) -> None:
        self.cls = cls
        self.args = args
        self.raised_at: int | None = None
        self.attributes: dict[str, VariableTracker] = {}
        self.raised = False

    def describe(self) -> str:
        return f"{self.cls.__name__} instance"

    def python_type(self) -> type:
        return self.cls

    def parts(self) -> Iterable[VariableTracker]:
        return [*(self.args or ()), *self.attributes.values()]

    def own(
        self, tx: Translator, name: str, *args: VariableTracker
    ) -> VariableTracker | None:
        """What a special method gives that the class has in Python; None without one."""
        tx.guard_class_member(self.cls, name)
        if not isinstance(lookup(self.cls, name), types.FunctionType):
            return None
        return tx.class_function(self.cls, name).call(tx, [self, *args], {}).realize()

    def truth(self, tx: Translator) -> bool:
        said = self.own(tx, "__bool__") or self.own(tx, "__len__")
        return said is None or tx.truth(said)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in self.attributes:
            return self.attributes[name].realize()
        if name == "__class__":
            return tx.constant_class(self.cls)
        if name == "__traceback__" and handled_exception(tx) is self:
            return TracebackVariable()
        if self.args is not None:
            known = self._builtin_attribute(tx, name)
            if known is not None:
                return known
        static = lookup(self.cls, name, absent=None)
        source = MroSource(ClassSource.of(self.cls), name)
        if isinstance(static, property) and isinstance(static.fget, types.FunctionType):
            return tx.class_function(self.cls, name, "fget").call(tx, [self], {})
        if isinstance(static, (types.FunctionType, classmethod, staticmethod)):
            return tx.bind(static, source, self, name)
        if isinstance(static, types.WrapperDescriptorType) and name == "__init__":
            return ExceptionMethod(self, name)
        if name in ("with_traceback", "add_note", "split", "subgroup", "derive"):
            return ExceptionMethod(self, name)
        if static is None or class_module(type(static)) == "builtins":
            return super().getattr(tx, name)
        return tx.output.wrap(static, source)

    def _builtin_attribute(self, tx: Translator, name: str) -> VariableTracker | None:
        assert self.args is not None
        if name == "args":
            return tx.tuple_of(self.args)
        if name == "value" and self.cls.__init__ is StopIteration.__init__:
            return self.args[0].realize() if self.args else tx.constant(None)
        if issubclass(self.cls, BaseExceptionGroup) and name in ("message", "exceptions"):
            found = self.args[("message", "exceptions").index(name)].realize()
            return found if name == "message" else tx.tuple_of(found.unpack(tx))
        if name in ("__cause__", "__suppress_context__"):
            return tx.constant(False if "suppress" in name else None)
        return None

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        custom = lookup(self.cls, "__setattr__") is not lookup(BaseException, "__setattr__")
        static = lookup(self.cls, name, absent=None)
        if custom or (static is not None and name not in _LINKS and hasattr(static, "__set__")):
            unsupported("GB0010", f"assignment to {name!r} of {self.describe()}")
        if name in _LINKS and not _may_link(name, value.python_type()):
            unsupported("GB0007", f"TypeError: {name} = {value.describe()}")
        self.attributes[name] = value

    def representation(self, tx: Translator) -> VariableTracker:
        """`repr(error)`."""
        said = self.own(tx, "__repr__")
        if said is not None:
            return said
        if self.args is None or lookup(self.cls, "__repr__") is not BaseException.__repr__:
            unsupported("GB0008", f"repr() of {self.describe()}")
        name = tx.constant_class(self.cls).getattr(tx, "__name__")
        if len(self.args) != 1:
            return tx.joined([name, tx.text(tx.tuple_of(self.args), repr)])
        return tx.joined([name, tx.constant("("), tx.text(self.args[0], repr), tx.constant(")")])

    def text(self, tx: Translator) -> VariableTracker:
        """`str(error)`."""
        text = self.own(tx, "__str__")
        if text is not None:
            if text.python_type() is not str:
                unsupported("GB0007", f"__str__ gives {text.describe()}")
            return text
        custom = lookup(self.cls, "__str__")
        if self.args is None or custom not in _PLAIN_TEXTS:
            unsupported("GB0008", f"str() of {self.describe()}")
        values = [arg.realize() for arg in self.args]
        if not values:
            return tx.constant("")
        if len(values) == 1:
            return tx.text(values[0], repr if custom is KeyError.__str__ else str)
        return tx.text(tx.tuple_of(values), str)

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.raised or self.args is None or not _built_by_args(self.cls):
            unsupported("GB0015", f"{self.describe()} is needed after the graph")
        if self.attributes:
            unsupported("GB0015", f"{self.describe()} with attributes is needed after the graph")
        cg.builder.begin_call(self.cls)
        for arg in self.args:
            cg.push(arg)
        cg.builder.end_call(len(self.args))


class ExceptionMethod(VariableTracker):
    """A builtin method of an exception, bound."""

    def __init__(self, owner: ExceptionVariable, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def describe(self) -> str:
        return f"{self.owner.cls.__name__}.{self.method}"

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.method == "__init__" and not kwargs and _init_is_plain(self.owner.cls):
            self.owner.args = args
            return tx.constant(None)
        if self.method == "with_traceback" and len(args) == 1 and args[0].is_none() and not kwargs:
            return self.owner
        unsupported("GB0004", f"call of {self.describe()}")


def _init_is_plain(cls: type) -> bool:
    inits: tuple[object, ...] = (BaseException.__init__, Exception.__init__)
    builtin = next(
        namespace_of(base)["__init__"]
        for base in mro_of(cls)
        if isinstance(namespace_of(base).get("__init__"), types.WrapperDescriptorType)
    )
    return builtin in inits or builtin.__objclass__.__name__ in _PLAIN_INITS


_PLAIN_INITS = frozenset(
    ["BaseException", "Exception", "ValueError", "TypeError", "RuntimeError", "LookupError",
     "KeyError", "IndexError", "ArithmeticError", "ZeroDivisionError", "AssertionError",
     "NotImplementedError", "OverflowError", "StopIteration", "GeneratorExit", "Warning",
     "UserWarning", "DeprecationWarning", "PendingDeprecationWarning", "FutureWarning",
     "RuntimeWarning", "ImportWarning", "UnicodeWarning", "BytesWarning", "ResourceWarning",
     "SyntaxWarning"]
)  # fmt: skip


def _built_by_args(cls: type) -> bool:
    return is_plain_exception(cls)


class TracebackVariable(VariableTracker):
    """The traceback that `__exit__` is given: it can be passed on, and nothing else."""

    def python_type(self) -> type:
        return types.TracebackType

    def truth(self, tx: Translator) -> bool:
        return True


class HandledVariable(VariableTracker):
    """What lies below an exception that the translator alone handles: Python knows nothing of it.

    A break before the handler's end would need the real exception, so it is moved to the
    instruction that raises. before: the one that was handled until then.
    """

    def __init__(
        self, exception: ExceptionVariable, before: VariableTracker | None
    ) -> None:
        self.exception = exception
        self.before = before

    def python_type(self) -> type:
        return type(None)


class CallersExceptionVariable(VariableTracker):
    """What a caller of the frame handles, if anything: it can be passed on, and nothing else."""

    def describe(self) -> str:
        return "the exception that a caller is handling"

    def has_type(self, cls: type) -> bool:
        return False

    def python_type(self) -> type:
        unsupported("GB0004", "sys.exc_info() may return an exception that a caller handles")


class Raised(Signal):
    """An exception of the user's program on its way to a handler of the frames translated."""

    def __init__(self, value: ExceptionVariable, by_python: bool = False) -> None:
        super().__init__(value.cls.__name__)
        self.value = value
        self.by_python = by_python
        value.raised = True

    def note_context(self, handled: ExceptionVariable | None) -> None:
        """Where Python itself raises, what is handled there becomes the context."""
        if self.by_python and handled is not None and handled is not self.value:
            self.value.attributes.setdefault("__context__", handled)
        self.by_python = False


def raise_in_frame(
    cls: type[BaseException],
    args: list[VariableTracker] | None = None,
    **attributes: VariableTracker,
) -> NoReturn:
    """Python would raise an exception of this type here."""
    error = ExceptionVariable(cls, args)
    error.attributes.update(attributes)
    raise Raised(error, by_python=True)


def item_of(
    tx: Translator, iterator: VariableTracker, function: VariableTracker, args: Args
) -> VariableTracker | None:
    """The next item of an iterator that calls `function`; None where that raises StopIteration."""
    try:
        return function.call(tx, args, {})
    except Raised as raised:
        if not issubclass(raised.value.cls, StopIteration):
            raise
        raised.drop_frames()
        iterator.stopped_with = raised.value
        return None


def is_plain_exception(cls: type) -> bool:
    """Whether making an instance runs no Python code."""
    if not issubclass(cls, BaseException) or type(cls) is not type:
        return False
    return not any(
        hasattr(namespace_of(base).get(name), "__code__")
        for base in mro_of(cls)
        for name in ("__init__", "__new__")
    )


def make_exception(
    tx: Translator, cls: type[BaseException], args: Args, kwargs: Kwargs
) -> ExceptionVariable | None:
    """An instance of an exception class; None where its making is not modelled."""
    if issubclass(cls, BaseExceptionGroup):
        return _make_group(cls, args, kwargs)
    if not _takes_anything(cls, len(args)):
        return None
    made = ExceptionVariable(cls, args)
    new = lookup(cls, "__new__")
    if isinstance(new, staticmethod) or type(cls) is not type:
        return None
    if is_plain_exception(cls):
        return made if not kwargs else None
    init = lookup(cls, "__init__")
    if not isinstance(init, types.FunctionType):
        return None
    source = MroSource(ClassSource.of(cls), "__init__")
    tx.output.wrap(init, source).call(tx, [made, *args], kwargs)
    return made


_CHECKED = (UnicodeEncodeError, UnicodeDecodeError, UnicodeTranslateError)


def _takes_anything(cls: type[BaseException], n_args: int) -> bool:
    """Whether Python makes an instance of that very class of any arguments, and keeps them all.

    An OSError becomes another by its number, a SyntaxError looks into the second argument.
    """
    if issubclass(cls, (OSError, SyntaxError)):
        return n_args < 2
    return not issubclass(cls, _CHECKED)


def _make_group(
    cls: type[BaseExceptionGroup[Any]], args: Args, kwargs: Kwargs
) -> ExceptionVariable | None:
    """A group of a title and exceptions; None where Python refuses it, or other code makes it."""
    if kwargs or len(args) != 2 or not is_plain_exception(cls):
        return None
    title, found = [arg.realize() for arg in args]
    if not title.has_type(str) or not (found.has_type(list) or found.has_type(tuple)):
        return None
    parts = [part.realize() for part in found.parts()]
    kinds = [part.cls for part in parts if isinstance(part, ExceptionVariable)]
    if not kinds or len(kinds) != len(parts):
        return None
    nests_all = all(issubclass(kind, Exception) for kind in kinds)
    if issubclass(cls, Exception) and not nests_all:
        return None
    if cls is BaseExceptionGroup and nests_all:
        cls = ExceptionGroup
    return ExceptionVariable(cls, args)


def handled_exception(tx: Translator) -> ExceptionVariable | None:
    """The exception that some running frame is handling."""
    frame: Translator | None = tx
    while frame is not None:
        if isinstance(frame.handled, ExceptionVariable):
            return frame.handled
        frame = frame.parent
    return None


def raised_by(tx: Translator, value: VariableTracker) -> ExceptionVariable:
    """What `raise value` raises."""
    if isinstance(value, ExceptionVariable):
        return value
    cls = getattr(value, "value", None)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        made = value.call(tx, [], {})
        if isinstance(made, ExceptionVariable):
            return made
    unsupported("GB0006", f"raise {value.describe()}")


def stopped_by(tx: Translator, stop: ExceptionVariable) -> ExceptionVariable:
    """The RuntimeError that a StopIteration becomes when it leaves a generator."""
    made = ExceptionVariable(RuntimeError, [tx.constant("generator raised StopIteration")])
    made.attributes["__cause__"] = made.attributes["__context__"] = stop
    return made


def _may_link(name: str, kind: type) -> bool:
    """Whether an exception takes a value of that type for its cause, context or traceback."""
    if name == "__suppress_context__":
        return kind is bool
    right = types.TracebackType if name == "__traceback__" else BaseException
    return kind is type(None) or issubclass(kind, right)
