"""Which groups have to run before which."""

from __future__ import annotations

from collections.abc import Collection


class Precedence:
    """An order of numbered groups: `before` has all that is before a group, `direct` what it
    waits for itself.

    Sets of groups are ints, group n being bit n: graphs have thousands of groups, and what is
    before one is most of them.
    """

    __slots__ = ("before", "direct")

    def __init__(self) -> None:
        self.before: dict[int, int] = {}
        self.direct: dict[int, int] = {}

    def add(self, group: int, needs: Collection[int]) -> None:
        """Let these groups run before another, which may be new."""
        direct = earlier = 0
        for number in needs:
            direct |= 1 << number
            earlier |= self.before[number]
        earlier = (earlier | direct) & ~(1 << group)
        if group in self.before:
            for number, known in self.before.items():
                if known >> group & 1:
                    self.before[number] = known | earlier
        self.before[group] = self.before.get(group, 0) | earlier
        self.direct[group] = (self.direct.get(group, 0) | direct) & ~(1 << group)

    def has_after(self, earlier: int, groups: Collection[int]) -> bool:
        """Whether one of the groups has to run after `earlier`."""
        return any(self.before[group] >> earlier & 1 for group in groups)

    def is_apart(self, earlier: int, later: int) -> bool:
        """Whether a third group has to run between two: one that the later waits for."""
        return self.has_after(earlier, members(self.direct[later]))

    def merge(self, earlier: int, later: int) -> None:
        """Let `earlier` be both groups."""
        one, two = 1 << earlier, 1 << later
        both = one | two
        self.before[earlier] = before = (self.before[earlier] | self.before.pop(later)) & ~both
        self.direct[earlier] = (self.direct[earlier] | self.direct.pop(later)) & ~both
        for number, known in self.before.items():
            if known & both:
                self.before[number] = (known | before | one) & ~two
        for number, known in self.direct.items():
            if known & two:
                self.direct[number] = (known | one) & ~two


def members(groups: int) -> list[int]:
    """The numbers of the groups in a set, in ascending order."""
    found: list[int] = []
    while groups:
        least = groups & -groups
        found.append(least.bit_length() - 1)
        groups ^= least
    return found
