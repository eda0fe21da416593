"""The schedule of a graph with many rounds, from that of the graph with few of them.

Of the steps of a shortened graph (see `ir.rounds`)::

    k0  k1  k2 | k3  k1  k2 | k3  k1  k4  k5      rounds 0, 1 and 2, and what lies behind them
        -----------  -----------
          period       the next

those of a period do what those of the period before did, one round later: each has the same text,
computes nodes of the next round, and has in the place of each buffer the next round's. So further
rounds are copies of a period, each with temporaries and inputs of its own, and what comes behind
reads the values, and the inputs, of so many rounds later. That is what the whole graph would have
become, since passes, and the choice of kernels, see no further than from one round to the next;
where the steps do not follow one another in this way nothing is lengthened, and the whole graph
is lowered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from graphwright.codegen.cache_key import step_text
from graphwright.codegen.loops import Buffer, Kernel, Stmt
from graphwright.codegen.memory_plan import lifetimes, replaced
from graphwright.codegen.program import Step, step_buffers
from graphwright.codegen.scheduler.schedule import Schedule
from graphwright.ir.rounds import Removed
from graphwright.runtime.record import Record, replace

_CHAINED = "chained "
"""What the text of a step that is chained to the one before begins with."""


class Lengthened(Record):
    """A schedule with all rounds, the texts of its steps (see `cache_key.step_text`), and which of
    them are chained (see `NativeProgram`)."""

    plan: Schedule
    texts: tuple[str, ...]
    chained: tuple[int, ...]


class NotPeriodic(Exception):
    """Why the steps of one round are not those of the round before on other buffers."""


def lengthened(plan: Schedule, removed: Removed, chained: Collection[int]) -> Lengthened:
    """The schedule with the removed rounds. chained: as in `NativeProgram`.

    Raises: NotPeriodic if the rounds that are there do not show what these are.
    """
    if plan.mutated:
        raise NotPeriodic("inputs are written")
    texts = [(_CHAINED if number in chained else "") + step_text(step)
             for number, step in enumerate(plan.steps)]
    rounds = [sorted(number for number in found if number >= 0) for found in plan.rounds]
    period = sum(found[-1:] == [1] for found in rounds)
    reason = NotPeriodic("no two periods have the same steps")
    for first in _periods(plan, texts, rounds, period):
        try:
            return _Copies(plan, removed, first, period).made(texts)
        except NotPeriodic as found:
            reason = found
    raise reason


def _periods(
    plan: Schedule, texts: Sequence[str], rounds: Sequence[Sequence[int]], period: int
) -> Iterator[int]:
    """Where the first of two periods begins that differ in names and by one round alone.

    A round has as many steps as a period: no other step of it lies elsewhere. rounds: of each
    step, in order; the greatest is the one that it counts for.
    """
    alike = 0
    for place in range(len(texts) - period if period else 0):
        later = place + period
        follows = (texts[place] == texts[later] and -1 not in plan.rounds[place]
                   and [number + 1 for number in rounds[place]] == rounds[later])
        alike = alike + 1 if follows else 0
        first = place + 1 - period
        if alike >= period and _are_between(rounds, first, first + 2 * period):
            yield first


def _are_between(rounds: Sequence[Sequence[int]], first: int, end: int) -> bool:
    """Whether no step before these has to do with a later round, and none behind with an earlier
    one."""
    half = (end - first) // 2
    latest = max(found[-1] for found in rounds[first:first + half])
    earliest = min(found[0] for found in rounds[first + half:end])
    return all(not found or found[-1] <= latest for found in rounds[:first]) and all(
        not found or found[0] >= earliest for found in rounds[end:])


class _Copies:
    """Copies of the steps of one period.

    first: the number of the first of the `period` steps of the one before, which show how periods
    follow one another. following: of the buffers of that one, by name, those of the next;
    preceding: the other way round.
    """

    def __init__(self, plan: Schedule, removed: Removed, first: int, period: int) -> None:
        self.plan, self.removed = plan, removed
        self.copied, self.end = first + period, first + 2 * period
        self.first = first
        self.born = {name: life[0] for name, life in lifetimes(plan.steps).items()}
        self.touched: dict[str, set[int]] = {}
        for place, step in enumerate(plan.steps[:self.end]):
            for buffer in step_buffers(step):
                self.touched.setdefault(buffer.name, set()).update(plan.rounds[place])
        self.places = {buffer.name: place for place, buffer in enumerate(plan.inputs)}
        self.names = {*self.places, *self.born}
        self.temps = list(plan.temps)
        self.inputs = self._inputs()
        self.following: dict[str, Buffer] = {}
        self.preceding: dict[str, Buffer] = {}
        for place in range(first, self.copied):
            pairs = zip(step_buffers(plan.steps[place]), step_buffers(plan.steps[place + period]),
                        strict=True)
            for buffer, next_one in pairs:
                self._follow(buffer, next_one)
        for buffer in plan.outputs.values():
            if self.touched.get(buffer.name, {-1}) != {-1} and not self._stays(buffer):
                raise NotPeriodic(f"{buffer.name} is a result of one round")

    def made(self, texts: list[str]) -> Lengthened:
        """The schedule with copies."""
        steps = list(self.plan.steps[:self.end])
        period = steps[self.copied:]
        last = {buffer.name: buffer for step in period for buffer in step_buffers(step)}
        copied = last.values()
        for later in range(1, self.removed.rounds + 1):
            before, last = last, {}
            for buffer in copied:
                if self._is_born(buffer, self.copied, self.end):
                    last[buffer.name] = self._fresh(buffer)
            last |= {buffer.name: self._carried(buffer, before, later) for buffer in copied
                     if buffer.name not in last}
            steps += [_over(step, last, number) for number, step in enumerate(period, len(steps))]
        steps += [_over(step, self._behind(step, last), number)
                  for number, step in enumerate(self.plan.steps[self.end:], len(steps))]
        plan = replace(self.plan, steps=tuple(steps), inputs=self.inputs, temps=tuple(self.temps),
                       rounds=())
        found = [*texts[:self.end], *texts[self.copied:self.end] * self.removed.rounds,
                 *texts[self.end:]]
        return Lengthened(
            plan, tuple([text.removeprefix(_CHAINED) for text in found]),
            tuple([number for number, text in enumerate(found) if text.startswith(_CHAINED)]))

    def _inputs(self) -> tuple[Buffer, ...]:
        """Those of the whole graph, under its names."""
        like: dict[int, Buffer] = {}
        for place, buffer in enumerate(self.plan.inputs):
            found = self.removed.inputs[place]
            positions = [found] if isinstance(found, int) else self.removed.slots[found[1]]
            like |= {position: buffer for position in positions if position not in like}
            like[self.removed.position(place)] = buffer
        mine = {self.removed.position(place) for place in range(len(self.plan.inputs))}
        return tuple([
            like[position] if position in mine else _renamed(like[position], self._unique(name))
            for position, name in enumerate(self.removed.names)])

    def _follow(self, buffer: Buffer, next_one: Buffer) -> None:
        """Note that `next_one` is to the second period what `buffer` is to the first."""
        if (self.following.setdefault(buffer.name, next_one) != next_one
                or self.preceding.setdefault(next_one.name, buffer) != buffer):
            raise NotPeriodic(f"{buffer.name} or {next_one.name} stands for several buffers")
        same = buffer.name == next_one.name
        if buffer.role != next_one.role:
            fits = False
        elif buffer.role == "input":
            mine, other = [self.removed.inputs[self.places[one.name]]
                           for one in (buffer, next_one)]
            fits = same if isinstance(mine, int) else other == (mine[0] + 1, mine[1])
        elif same:
            fits = self.born[buffer.name] < self.first
        else:
            fits = buffer.role == "temp" and self.born[next_one.name] >= self.first
        if not fits:
            raise NotPeriodic(f"{buffer.name} is followed by {next_one.name}")

    def _is_born(self, buffer: Buffer, first: int, end: int) -> bool:
        return buffer.role != "input" and first <= self.born[buffer.name] < end

    def _stays(self, buffer: Buffer) -> bool:
        """Whether all rounds have the same buffer."""
        return self.following.get(buffer.name) == buffer

    def _carried(self, buffer: Buffer, before: Mapping[str, Buffer], later: int) -> Buffer:
        """What a copy has for a buffer that its round has from outside. before: the buffers of
        the copy before."""
        if buffer.role == "input":
            return self.inputs[self.removed.position(self.places[buffer.name], later)]
        if self._stays(buffer):
            return buffer
        if not self._is_born(buffer, self.first, self.copied):
            raise NotPeriodic(f"{buffer.name} is older than one period")
        return before[self.following[buffer.name].name]

    def _behind(self, step: Step, last: Mapping[str, Buffer]) -> dict[str, Buffer]:
        """What a step behind the rounds has for its buffers. last: those of the last copy."""
        found = {}
        for buffer in step_buffers(step):
            if buffer.role == "input":
                place = self.places[buffer.name]
                later = 0 if isinstance(self.removed.inputs[place], int) else self.removed.rounds
                found[buffer.name] = self.inputs[self.removed.position(place, later)]
            elif self._is_born(buffer, self.copied, self.end):
                found[buffer.name] = last[buffer.name]
            elif (self.born[buffer.name] < self.end and not self._stays(buffer)
                  and self.touched[buffer.name] != {-1}):
                raise NotPeriodic(f"{buffer.name} is read behind the rounds")
        return found

    def _fresh(self, buffer: Buffer) -> Buffer:
        if buffer.role != "temp":
            raise NotPeriodic(f"{buffer.name} is a result of one round")
        made = _renamed(buffer, self._unique(buffer.name))
        self.temps.append(made)
        return made

    def _unique(self, hint: str) -> str:
        base = name = "".join([c if c.isalnum() or c == "_" else "_" for c in hint])
        count = 0
        while name in self.names:
            count += 1
            name = f"{base}_{count}"
        self.names.add(name)
        return name


class _Moved(Kernel):
    """A kernel over other buffers than another. Its body is made when it is asked for: its code
    is the other's."""

    __slots__ = ("_buffers", "_other")

    def __init__(self, name: str, other: Kernel, buffers: Mapping[str, Buffer]) -> None:
        super().__init__(name, tuple([buffers.get(one.name, one) for one in other.buffers]), ())
        object.__delattr__(self, "body")
        self._other, self._buffers = other, buffers

    def __getattr__(self, name: str) -> tuple[Stmt, ...]:
        """The body, which is then kept."""
        if name != "body":
            raise AttributeError(name)
        moved = replaced(self._other, self._buffers)
        assert isinstance(moved, Kernel)
        object.__setattr__(self, "body", moved.body)
        return moved.body


def _renamed(buffer: Buffer, name: str) -> Buffer:
    return Buffer(name, buffer.dtype, buffer.size, buffer.role)


def _over(step: Step, buffers: Mapping[str, Buffer], number: int) -> Step:
    """The step over other buffers; a kernel is named after its number, as a schedule names it."""
    moved = {name: buffer for name, buffer in buffers.items() if buffer.name != name}
    if isinstance(step, Kernel):
        return _Moved(f"k{number}_{step.name.partition('_')[2]}", step, moved)
    return replaced(step, moved)
