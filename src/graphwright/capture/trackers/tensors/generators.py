"""`Generator`s of random numbers: arguments, attributes, or made in the frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.capture.effects.rng_reservations import Made, Reserved, Seeded
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.runtime.batching import boundary
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.generator import (
    DefaultGenerator,
    Generator,
    ReservedDraws,
    checked_seed,
)

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.object_protocols import Values
    from graphwright.capture.vm.translator import Translator
    from graphwright.ir.graph.node import Node

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class GeneratorVariable(ObjectVariable):
    """A `Generator` itself, no subclass. What it draws is reserved before the graph runs."""

    def __init__(self, value: Generator | None, source: Source) -> None:
        super().__init__(Generator, value, source)
        self.place = source

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "manual_seed":
            return _ManualSeed(self)
        if self.value is not None:
            return super().getattr(tx, name)
        if name == "device":
            return tx.constant(Device("cpu"))
        unsupported("GB0004", f"{name!r} of a generator that the frame made")

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        unsupported("GB0008", f"assignment to attribute {name!r} of {self.describe()}")

    def drawing(self, tx: Values) -> Drawing:
        """What stands for the generator in one operation."""
        _check_draws(tx)
        streams, graph = tx.output.streams, tx.output.graph
        step = streams.present(self.place)
        if step is None:
            source = streams.new_source("stream")
            step = Reserved(self.place, source, tx.output.place_input(source))
            streams.add(step)
        node = graph.call_function(ReservedDraws, (step.node, step.count))
        example = ReservedDraws(step.node.meta["val"], step.count)
        node.meta.update(val=example, stack=tx.location())  # type: ignore[attr-defined]
        return Drawing(node, example, step)

    def reconstruct(self, cg: Reconstructor) -> None:
        self.place.emit(cg.builder)


class Drawing(VariableTracker):
    """The draws that one operation takes of a generator; `example` counts them."""

    def __init__(self, node: Node, example: ReservedDraws, step: Reserved) -> None:
        self.node = node
        self.example = example
        self.step = step

    def python_type(self) -> type:
        return ReservedDraws

    def as_node(self, tx: Translator) -> Any:
        return self.node

    def as_example(self) -> Any:
        return self.example

    def has_tensor(self) -> bool:
        return False

    def finish(self) -> None:
        """The operation has taken what it needs."""
        self.step.count = self.example.index


def with_drawings(
    tx: Values, args: Args, kwargs: Kwargs
) -> tuple[Args, Kwargs, list[Drawing]]:
    """The arguments of an operation with what stands for generators in it."""
    if not any(_is_generator(value) for value in (*args, *kwargs.values())):
        return args, kwargs, []
    args = [_drawing(tx, arg) for arg in args]
    kwargs = {key: _drawing(tx, value) for key, value in kwargs.items()}
    return args, kwargs, [v for v in (*args, *kwargs.values()) if isinstance(v, Drawing)]


def _is_generator(value: VariableTracker) -> bool:
    return value.has_type(Generator)


def _drawing(tx: Values, value: VariableTracker) -> VariableTracker:
    if not _is_generator(value):
        return value
    value = value.realize()
    assert isinstance(value, GeneratorVariable)
    return value.drawing(tx)


class DefaultGeneratorVariable(ObjectVariable):
    """The default generator, which operations use where none is named."""

    def __init__(self, value: DefaultGenerator, source: Source) -> None:
        super().__init__(DefaultGenerator, value, source)

    def as_node(self, tx: Translator) -> Any:
        return None

    def as_example(self) -> Any:
        return None


class _ManualSeed(VariableTracker):
    """`generator.manual_seed`."""

    def __init__(self, owner: GeneratorVariable) -> None:
        self.owner = owner

    def python_type(self) -> type:
        return type(Generator().manual_seed)

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        _check_draws(tx)
        if len(args) + len(kwargs) != 1 or kwargs.keys() - {"seed"}:
            unsupported("GB0007", "TypeError: manual_seed() takes one argument, the seed")
        seed = (*args, *kwargs.values())[0].realize().as_constant()
        try:
            checked = checked_seed(seed)
        except (TypeError, RuntimeError) as error:
            unsupported("GB0007", f"{type(error).__name__}: {error}")
        tx.output.streams.add(Seeded(self.owner.place, checked))
        return self.owner

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr("manual_seed")


def make_generator(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`Generator(device="cpu")`."""
    _check_draws(tx)
    given = [value.realize().as_constant() for value in (*args, *kwargs.values())]
    if len(given) > 1 or kwargs.keys() - {"device"}:
        unsupported("GB0007", "TypeError: Generator() takes the device only")
    if given and str(given[0]) != "cpu":
        unsupported("GB0007", f"RuntimeError: Generator(): a generator on {given[0]}")
    source = tx.output.streams.new_source("generator")
    tx.output.streams.add(Made(source))
    return GeneratorVariable(None, source)


def _check_draws(tx: Any) -> None:
    """A break where what the frame does to a generator cannot be done before the graph."""
    output = tx.output
    output.side_effects.refuse_after_calls()
    again = output.recomputed or output.side_effects.earlier is not None
    if again or output.check_read is not None or boundary.depth():
        unsupported("GB0019", "numbers of a generator, within a function that may run again")
