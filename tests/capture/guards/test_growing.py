"""Lists and deques that grow from call to call: two graphs, as long as the frame only appends."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture


class Log:
    """What a training loop keeps."""

    def __init__(self, bound: int | None = None) -> None:
        self.values: Any = [1.5, 2.5]
        self.recent: deque[Any] = deque([0.5, 0.25], maxlen=bound)
        self.named: defaultdict[str, list[Any]] = defaultdict(list, loss=[1.0, 2.0])


def appends(x: Any, log: Log) -> Any:
    y = x * 2
    log.values.append(y.sum())
    log.recent.append(3.0)
    log.named["loss"].extend([y, len(log.named)])
    log.values += [None]
    return y


def counts(x: Any, log: Log) -> Any:
    log.values.append(2.0)
    return x * len(log.values) + len(log.recent), len(log.values), bool(log.values)


def reads(x: Any, log: Log) -> Any:
    log.values.append(x.sum())
    return x + log.values[-1] + log.values[0]


def together(program: Any, bound: int | None, calls: int = 7) -> Captured:
    """Run plainly and captured, each with a log of its own."""
    captured = Captured(program, fullgraph=True)
    plain, ours = Log(bound), Log(bound)
    for _ in range(calls):
        x = gw.ones(3)
        assert picture(captured(x, ours)) == picture(program(x, plain))
        assert picture(vars(ours)) == picture(vars(plain))
    return captured


@pytest.mark.parametrize("program", [appends, counts, reads])
def test_two_graphs_however_long(program: Any) -> None:
    assert together(program, None).graphs == 2


def test_a_full_deque_keeps_its_length() -> None:
    def mean(x: Any, log: Log) -> Any:
        log.recent.append(4.0)
        return x * sum(log.recent) / len(log.recent)

    assert together(appends, 5, calls=12).graphs == 2
    assert together(mean, 3, calls=12).graphs <= 4


def test_whoever_looks_at_all_of_it_specialises() -> None:
    def program(x: Any, log: Log) -> Any:
        log.values.append(0.5)
        total = sum(log.values) + log.values[2]
        log.values.append(total)
        log.values[0] = 7.0
        log.values.extend(log.values[:1])
        log.recent.extend(log.recent)
        return x * total, 2.5 in log.values, log.values.index(0.5)

    together(program, None, calls=5)
    together(program, 6, calls=5)


def test_a_list_that_became_shorter_than_what_was_read() -> None:
    def program(x: Any, values: list[Any]) -> Any:
        return x + values[2] + values[-2], values[-1] is values[0]

    captured = Captured(program)
    for count in (5, 6, 7, 3, 8):
        values = [gw.tensor(float(i)) for i in range(count)]
        assert picture(captured(gw.ones(1), values)) == picture(program(gw.ones(1), values))
    for short in ([], [gw.ones(1)], [gw.ones(1)] * 2):
        with pytest.raises(IndexError):
            captured(gw.ones(1), short)


def test_an_empty_list_and_others() -> None:
    def program(x: Any, values: list[Any]) -> Any:
        return x + 1 if values else x - 1

    captured = Captured(program)
    for count in (3, 4, 0, 5, 0, 1, 9):
        assert captured.agrees(gw.ones(2), [1.0] * count)
    assert captured.graphs <= 3


def test_what_is_put_behind_is_the_same_object() -> None:
    def program(x: Any, log: list[Any]) -> Any:
        made = [x]
        log.append(made)
        made.append(x + 1)
        return made, log

    captured = Captured(program)
    log: list[Any] = [0, 0]
    for _ in range(4):
        made, found = captured(gw.ones(1), log)
        assert found is log and log[-1] is made and len(made) == 2
