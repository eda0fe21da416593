"""What a frame does to generators of random numbers: all of it before the graph runs.

Before::

    def f(x, g):
        y = x + gw.rand(3, generator=g)
        g.manual_seed(7)
        return y * gw.rand(3, generator=g)

After::

    def f(x, g):
        stream0 = reserve(g, 1)
        g.manual_seed(7)
        stream1 = reserve(g, 1)
        return graph(x, stream0, stream1)

A step takes, of one generator, as many draws as the graph needs until it is seeded anew. Its seed
and offset are an argument of the graph, which is thus the same for all seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphwright.capture.guards.source import LoadWriter, Reloader, Source
from graphwright.runtime.record import Record
from graphwright.runtime.tensor.generator import Generator, reserve

if TYPE_CHECKING:
    from graphwright.capture.emit.assembler import CodeBuilder
    from graphwright.ir.graph.node import Node


class StreamSource(Source):
    """A local of the translated frame: draws of a generator, or one that the frame makes."""

    in_frame_only = True
    local: str

    def name(self) -> str:
        return self.local

    def emit(self, cg: Reloader) -> None:
        cg.load_local(f"${self.local}")

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at arguments only")


class Reserved(Record, frozen=False, eq=False):
    """Draws of a generator; `node` is their place in the graph."""

    owner: Source
    place: StreamSource
    node: Node
    count: int = 0


class Seeded(Record):
    """A generator's `manual_seed(seed)`."""

    owner: Source
    seed: int


class Made(Record):
    """`Generator()`."""

    owner: StreamSource


class Streams:
    """The steps of one frame in their order."""

    def __init__(self) -> None:
        self._steps: list[Reserved | Seeded | Made] = []

    def __len__(self) -> int:
        return len(self._steps)

    def new_source(self, kind: str) -> StreamSource:
        """A local for what the next step gives."""
        return StreamSource(f"{kind}{len(self._steps)}")

    def add(self, step: Reserved | Seeded | Made) -> None:
        """Do one thing more before the graph."""
        self._steps.append(step)

    def present(self, owner: Source) -> Reserved | None:
        """The draws to which the next one belongs; None where a step has to take them first."""
        own = [step for step in self._steps if step.owner == owner]
        return own[-1] if own and isinstance(own[-1], Reserved) else None

    def existing(self) -> Sequence[Source]:
        """The generators that were there before the frame."""
        made = [step.owner for step in self._steps if isinstance(step, Made)]
        return [s for s in dict.fromkeys(step.owner for step in self._steps) if s not in made]

    def write(self, builder: CodeBuilder) -> None:
        """Write code that seeds, makes and advances the generators before the graph runs."""
        for step in self._steps:
            if isinstance(step, Made):
                builder.begin_call(Generator)
                builder.end_call(0)
                builder.store_local(f"${step.owner.local}")
                continue
            builder.begin_call(reserve if isinstance(step, Reserved) else Generator.manual_seed)
            step.owner.emit(builder)
            builder.load_const(step.count if isinstance(step, Reserved) else step.seed)
            builder.end_call(2)
            if isinstance(step, Reserved):
                builder.store_local(f"${step.place.local}")
            else:
                builder.pop()
