"""Measuring in turns: every case is run in every round, and summaries are medians."""

from __future__ import annotations

import gc

import pytest

from graphwright.report.measure import format_seconds, in_turns, summary


def test_cases_take_turns() -> None:
    order: list[str] = []
    cases = {name: lambda name=name: order.append(name) or sum(range(200_000))
             for name in ("a", "b", "c")}
    timings = in_turns(cases, seconds=0.01, least_rounds=3)
    assert list(timings) == ["a", "b", "c"]
    assert all(timing.samples >= 3 for timing in timings.values())
    rounds = len({timing.samples for timing in timings.values()})
    assert rounds == 1
    assert gc.isenabled()


def test_collection_is_switched_on_again_after_an_error() -> None:
    calls = iter([None] * 3)

    def fails() -> None:
        sum(range(200_000))
        if next(calls, "done") == "done":
            raise ValueError("the case fails")

    with pytest.raises(ValueError, match="the case fails"):
        in_turns({"fails": fails}, seconds=1)
    assert gc.isenabled()


def test_summary_is_the_median_with_quartiles() -> None:
    timing = summary([5.0, 1.0, 2.0, 4.0, 3.0], [5.0, 2.0, 1.0, 2.0, 3.0])
    assert (timing.low, timing.median, timing.high) == (1.5, 3.0, 4.5)
    assert timing.ratio == (0.75, 1.0, 2.0)
    single = summary([2.0], [4.0])
    assert single.median == single.low == 2.0 and single.ratio == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("seconds", "text"), [
    (1.5, "1.5 s"), (0.0123, "12.3 ms"), (4.56e-6, "4.56 us"), (7e-9, "7 ns"),
])
def test_seconds_are_printed_with_a_unit(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text
