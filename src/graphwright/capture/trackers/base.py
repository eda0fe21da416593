"""`VariableTracker`: what the symbolic VM knows of one Python value.

A tracker of an immutable value never changes. A tracker of a mutable object stands for that one
object, as `is` does, and holds its contents as of the current instruction; changes go through
`SideEffects`. Nothing is ever rolled back: a graph break translates the frame again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import Source

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.trackers.values.exceptions import ExceptionVariable
    from graphwright.capture.vm.object_protocols import Values
    from graphwright.capture.vm.translator import Translator


class Clock:
    """Which instruction of the captured frame is being run; one capture at a time has it.

    made: how many trackers there have been.
    """

    step = 0
    made = 0


class VariableTracker:
    """Abstract. Whatever a subclass does not define is a graph break.

    born: the step of the captured frame in which the tracker was made. number: how many there
    were by then. namespace: of a module,
    the globals of its functions. stopped_with: of an
    iterator, the StopIteration of the user's code that ended it.
    """

    source: Source | None = None
    mutable = False
    born = 0
    number = 0
    namespace: dict[str, Any] | None = None
    stopped_with: ExceptionVariable | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls)
        made.born = Clock.step
        Clock.made += 1
        made.number = Clock.made
        return made

    def describe(self) -> str:
        """The value as messages name it."""
        where = f" {self.source}" if self.source is not None else ""
        return f"{self.python_type().__name__}{where}"

    def python_type(self) -> type:
        """The type of the value."""
        raise NotImplementedError(type(self).__name__)

    def has_type(self, cls: type) -> bool:
        """`type(value) is cls`; False where the type was not looked at."""
        return self.python_type() is cls

    def realize(self) -> VariableTracker:
        """The tracker itself; lazy ones look at their value now."""
        return self

    def release(self) -> None:
        """At the end of a capture: release what refers back to the tracker, if anything does."""

    # constants

    def is_constant(self) -> bool:
        """Whether `as_constant` gives the value."""
        return False

    def as_constant(self) -> Any:
        """The Python value; a break if it is not known."""
        unsupported("GB0008", f"the value of {self.describe()} is not a constant")

    def is_none(self) -> bool:
        """Whether the value is known to be None."""
        value = self.realize()
        return value.is_constant() and value.as_constant() is None

    # the graph

    def as_node(self, tx: Translator) -> Any:
        """The value as an argument of a graph node."""
        return self._in_graph()

    def as_example(self) -> Any:
        """The value for running an operation on fake tensors."""
        return self._in_graph()

    def _in_graph(self) -> Any:
        if self.is_constant():
            return self.as_constant()
        unsupported("GB0008", f"{self.describe()} cannot be an argument of a tensor operation")

    def in_graph(self, tx: Values, single: bool) -> VariableTracker | None:
        """A symbolic number's 0-d tensor, in float64 or (`single`) float32; None for others."""
        return None

    def has_tensor(self) -> bool:
        """Whether an operation on the value goes into the graph."""
        return any(part.has_tensor() for part in self.parts())

    # Python's protocols

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        """`value.name`."""
        unsupported("GB0008", f"attribute {name!r} of {self.describe()}")

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        """`value.name = value`."""
        unsupported("GB0008", f"assignment to attribute {name!r} of {self.describe()}")

    def delattr(self, tx: Translator, name: str) -> None:
        """`del value.name`."""
        unsupported("GB0008", f"deletion of attribute {name!r} of {self.describe()}")

    def call(
        self, tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        """`value(*args, **kwargs)`."""
        unsupported("GB0004", f"call of {self.describe()}")

    def call_method(
        self,
        tx: Translator,
        name: str,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> VariableTracker:
        """`value.name(*args, **kwargs)`."""
        return self.getattr(tx, name).call(tx, args, kwargs)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        """`value[key]`."""
        unsupported("GB0008", f"subscript of {self.describe()}")

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        """`value[key] = value`."""
        unsupported("GB0008", f"item assignment to {self.describe()}")

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        """`del value[key]`."""
        unsupported("GB0008", f"item deletion from {self.describe()}")

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        """`item in value`."""
        unsupported("GB0008", f"membership test on {self.describe()}")

    def as_index(self, tx: Translator) -> VariableTracker:
        """The value as a subscript of a tensor."""
        return self

    def length(self, tx: Translator) -> VariableTracker:
        """`len(value)`."""
        unsupported("GB0008", f"len() of {self.describe()}")

    def truth(self, tx: Translator) -> bool:
        """`bool(value)`, decided now."""
        unsupported("GB0008", f"truth value of {self.describe()}")

    def iterate(self, tx: Translator) -> VariableTracker:
        """`iter(value)`."""
        unsupported("GB0017", f"iteration over {self.describe()}")

    def next(self, tx: Translator) -> VariableTracker | None:
        """The next item of an iterator; None at its end."""
        unsupported("GB0017", f"next() of {self.describe()}")

    def ended(self) -> VariableTracker:
        """The iterator whose end was that of this one: itself, or one that it draws from."""
        return self

    def draw(self, tx: Translator) -> Iterator[VariableTracker]:
        """The items one by one: what comes of one is done before the next is asked for."""
        iterator = self.iterate(tx)
        while (item := iterator.next(tx)) is not None:
            yield item

    def length_hint(self, tx: Translator) -> VariableTracker | None:
        """`operator.length_hint(value)` where methods of the program define it; None elsewhere."""
        return None

    def draw_measured(self, tx: Translator) -> Iterator[VariableTracker]:
        """The items one by one, as `list(value)` takes them: it asks for the length hint first."""
        iterator = self.iterate(tx)
        self.length_hint(tx)
        while (item := iterator.next(tx)) is not None:
            yield item

    def unpack(self, tx: Translator) -> list[VariableTracker]:
        """All items, as `*value` gives them."""
        return list(self.draw_measured(tx))

    def unpack_iterator(self, tx: Translator) -> list[VariableTracker]:
        """All items, as `list(iter(value))` gives them."""
        return self.unpack(tx)

    def has_method(self, name: str) -> bool:
        """Whether the value is an object of a user's class that defines the method."""
        return False

    def mapping_method(self, tx: Translator, name: str) -> VariableTracker | None:
        """The attribute `keys` or `items` of a user's object, which makes it a mapping to a dict
        that is updated with it; None where it has none."""
        return None

    def hashes_by_identity(self, tx: Translator) -> bool:
        """Whether dicts and sets find the value by what object it is."""
        return False

    def as_key(self, tx: Translator) -> Any:
        """The Python value by which dicts and sets find it; a break if it is not known."""
        return self.as_constant()

    def identity_source(self) -> Source | None:
        """Where the object is read whose identity counts."""
        return self.source

    def has_identity(self) -> bool:
        """Whether code can distinguish the object from an equal one: it is then made once."""
        return self.mutable

    def is_open(self) -> bool:
        """Whether Python would run code when it drops the value."""
        return False

    # going back to Python

    def parts(self) -> Iterable[VariableTracker]:
        """The trackers that this one holds."""
        return ()

    def reconstruct(self, cg: Reconstructor) -> None:
        """Push the value where there is no source to read it from."""
        unsupported("GB0015", f"{self.describe()} is needed after the graph")


class IdVariable(VariableTracker):
    """`id(owner)`: good for being looked up, and nothing else."""

    def __init__(self, owner: VariableTracker) -> None:
        self.owner = owner

    def python_type(self) -> type:
        return int

    def describe(self) -> str:
        return f"id of {self.owner.describe()}"

    def hashes_by_identity(self, tx: Translator) -> bool:
        return True

    def identity_source(self) -> Source | None:
        return self.owner.source

    def has_tensor(self) -> bool:
        return False


class NullVariable(VariableTracker):
    """The NULL that calls keep on the stack."""

    def describe(self) -> str:
        return "NULL"

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.push_null()


NULL = NullVariable()
