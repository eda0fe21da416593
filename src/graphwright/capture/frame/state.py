"""What is remembered between the captures of one code object: which values have varied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.capture.frame.budget import MOST_STEPS
from graphwright.capture.frame.dynamic_marks import marks_of
from graphwright.capture.guards.source import (
    DerivedSource,
    InstanceAttrSource,
    ItemSource,
    LocalSource,
    Source,
)
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.places import STRIDE, integers_of


class FrameState(Record, frozen=False):
    """Per code object and front end.

    dynamic: True makes sizes symbolic from the start, False never, None once they have varied.
    sizes: and strides, by place and number of dims; None for one that has varied.
    versions: where plain Python is translated too, how many versions there may be: what varies
        is then left alone. 0: never.
    failures: how often guards failed on what was read at a place, or from there on.
    lessons: what an attempt found out for those after it: that steps of optimisers belong into
        the graph (`deferred.STEPS`), operations that are not to be decomposed (by name), and
        those that fix a number as a whole (`parts`).
    patience: how many instructions without a tensor a translation may take.
    expects_tensors: whether the present call can get hold of some (`tensorless`). tensorless:
        whether a translation found nothing in a call that could not.
    trust: whether branches of which one side only raises are taken for granted; versions that
        do so guard it. refutations: how many more calls may find it otherwise, None: any number.
    """

    dynamic: bool | None = None
    versions: int = 0
    sizes: dict[tuple[str, int], list[int | None]] = field(default_factory=dict)
    ints: dict[str, int | None] = field(default_factory=dict)
    floats: dict[str, str | None] = field(default_factory=dict)
    lengths: dict[str, int | None] = field(default_factory=dict)
    contents: dict[str, bytes | None] = field(default_factory=dict)
    failures: dict[Source, int] = field(default_factory=dict)
    lessons: set[str] = field(default_factory=set)
    captures: int = 0
    patience: int = MOST_STEPS
    expects_tensors: bool = True
    tensorless: bool = False
    refutations: int | None = None
    trust: dict[str, bool] = field(default_factory=lambda: {"holds": True})

    def note_refutation(self) -> None:
        """A call found otherwise what a graph took for granted."""
        if self.refutations is not None:
            self.refutations -= 1
            self.trust["holds"] = self.refutations > 0

    def leaves_alone(self, source: Source) -> bool:
        """Whether a lazily read value gets no guard, as guards on it have failed before.

        The second failure decides, or the first where half of the versions are used up; the last
        version fits anything.
        """
        if not self.versions:
            return False
        failures = self.failures.setdefault(source, 0)
        enough = 2 if 2 * self.captures <= self.versions else 1
        return failures >= enough or self.captures >= self.versions

    def note_failure(self, sources: Iterable[Source]) -> None:
        """A guard on these has failed."""
        for source in sources:
            place = source
            while place not in self.failures and isinstance(place, DerivedSource):
                place = place.base
            if place in self.failures:
                self.failures[place] += 1

    def dynamic_places(self, tensor: Any, source: Source) -> tuple[int, ...]:
        """The sizes and strides of an input that become symbolic in this capture.

        Strides of dense tensors follow from the sizes; those of others are their own.
        """
        values = [int(value) for _, value in integers_of(tensor)]
        rank = len(tensor.shape)
        seen = self.sizes.setdefault((source.name(), rank), list(values))
        for i, value in enumerate(values):
            if seen[i] != value:
                seen[i] = None
        marks = marks_of(tensor)
        if self.dynamic is False and not marks.dynamic:
            return ()
        all_of_them = self.dynamic is True and not _is_module_state(source)
        varies = [
            self.dynamic is not False and (all_of_them or value is None) for value in seen
        ]
        dims = tuple(
            dim
            for dim in range(rank)
            if values[dim] >= 2
            and dim not in marks.static
            and (dim in marks.dynamic or varies[dim])
        )
        if dense_order(tensor.shape, tensor.stride()) is not None:
            return dims
        steps = (d for d in range(rank) if values[rank + d] >= 2 and varies[rank + d])
        return (*dims, *(STRIDE + dim for dim in steps))

    def int_is_dynamic(self, value: int, source: Source) -> bool:
        """Whether an int becomes symbolic in this capture: one that has varied, or an argument.

        Not at once 0 and 1, which mean something to most programs.
        """
        name = source.name()
        if self.ints.setdefault(name, value) != value:
            self.ints[name] = None
        if self.dynamic is False:
            return False
        from_the_start = self.dynamic is True and isinstance(source, LocalSource)
        return (from_the_start and value not in (0, 1)) or self.ints[name] is None

    def length_is_dynamic(self, length: int, source: Source) -> bool:
        """Whether a list is not looked at as a whole: one whose length has varied."""
        name = source.name()
        if self.lengths.setdefault(name, length) != length:
            self.lengths[name] = None
        return self.dynamic is not False and not self.versions and self.lengths[name] is None

    def float_is_dynamic(self, value: float, source: Source) -> bool:
        """Whether a float argument becomes an input of the graph: one that has varied."""
        name = source.name()
        if self.floats.setdefault(name, repr(value)) != repr(value):
            self.floats[name] = None
        return self.dynamic is not False and (self.dynamic is True or self.floats[name] is None)

    def contents_vary(self, contents: bytes, source: Source) -> bool:
        """Whether what an array holds is not looked at: that of one whose contents have varied."""
        name = source.name()
        if self.contents.setdefault(name, contents) != contents:
            self.contents[name] = None
        return self.contents[name] is None

    def has_varied(self, source: Source) -> bool:
        """Whether an input is no float, or one that was another in an earlier call."""
        return self.floats.get(source.name()) is None


def _is_module_state(source: Source) -> bool:
    """Parameters and buffers keep their sizes."""
    if not isinstance(source, ItemSource):
        return False
    base = source.base
    return isinstance(base, InstanceAttrSource) and base.attr in ("_parameters", "_buffers")
