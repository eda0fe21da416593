"""Charts: linear axes from zero, spreads, series that differ without colour, and their tables."""

from __future__ import annotations

import re

import pytest
from tests.report.pages import Parsed

from graphwright.report.charts import MARKERS, Bar, bars, lines, number_text, spans, ticks


def elements(svg: str, style: str) -> list[dict[str, str]]:
    """The elements of a class, in order."""
    return [e for e in Parsed(svg).elements if style in e.get("class", "").split()]


@pytest.mark.parametrize(("top", "whole", "expected"), [
    (1.0, False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (7.3, False, [0, 2, 4, 6, 8]),
    (3.0, True, [0, 1, 2, 3]), (0.0, False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
])
def test_ticks_are_round_and_reach_the_top(
    top: float, whole: bool, expected: list[float]
) -> None:
    assert ticks(top, whole=whole) == pytest.approx(expected)


def test_lengths_of_bars_are_in_proportion() -> None:
    chart = bars(["a", "b"], {"x": [100.0, 25.0]}, title="t", unit="s")
    first, second = (float(bar["width"]) for bar in elements(chart.svg, "gw-bar")[1:])
    assert first == pytest.approx(4 * second, rel=0.01)


def test_bars_beyond_the_end_of_the_axis_are_cut_and_marked() -> None:
    chart = bars(["a"], {"x": [2.0], "y": [500.0]}, title="t", unit="s", most=4.0)
    first, second = (float(bar["width"]) for bar in elements(chart.svg, "gw-bar")[2:])
    assert second == pytest.approx(2 * first, rel=0.01)
    assert "» 500" in chart.svg


def test_spreads_are_drawn_and_written() -> None:
    chart = bars(["a"], {"x": [(1.0, 2.0, 4.0)], "y": [None]}, title="t", unit="s")
    assert len(elements(chart.svg, "gw-whisker")) == 1
    assert chart.headers == ("t (s)", "x", "y")
    assert chart.rows == (("a", "2 (1 to 4)", ""),)


def test_lines_differ_in_marker_and_dash_besides_colour() -> None:
    chart = lines({"one": [1.0, 2.0], "two": [1.0, 2.0]}, title="t", x="step", y="loss")
    markers = {e["class"]: e["d"] for e in elements(chart.svg, "gw-marker")}
    assert markers == {"gw-marker s0": MARKERS[0], "gw-marker s1": MARKERS[1]}
    assert chart.rows == (("0", "1", "1"), ("1", "2", "2"))


def test_a_logarithmic_line_is_straight_for_powers() -> None:
    chart = lines({"x": [1.0, 10.0, 100.0]}, title="t", x="step", y="loss", log=True)
    (line,) = [e["d"] for e in elements(chart.svg, "gw-line")][1:]
    heights = [float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", line)]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)


def test_lines_leave_out_what_has_no_place() -> None:
    values = [float("nan"), 1.0, float("inf"), 0.0, 2.0]
    for log, points in ((False, 3), (True, 2)):
        chart = lines({"x": values}, title="t", x="step", y="loss", log=log)
        (line,) = [e["d"] for e in elements(chart.svg, "gw-line")][1:]
        assert line.count(" ") == points
    below = lines({"x": [-1.0, 1.0]}, title="t", x="step", y="loss")
    assert ">-1</text>" in below.svg and ">1</text>" in below.svg
    assert "gw-line" in lines({"x": []}, title="t", x="step", y="loss").svg


def test_bars_of_times_begin_and_end_where_they_say() -> None:
    chart = spans(
        [Bar("a", 0, 4, "4 ms"), Bar("b", 2, 4, "<2 ms>", depth=1, series=1)],
        title="t", unit="ms", headers=("stage", "begin", "end", "lasted"))
    first, second = elements(chart.svg, "gw-bar")
    right = [float(bar["x"]) + float(bar["width"]) for bar in (first, second)]
    assert right[0] == pytest.approx(right[1], abs=0.2)
    assert float(first["width"]) == pytest.approx(2 * float(second["width"]), abs=0.2)
    assert chart.rows[1] == ("  b", "2", "4", "<2 ms>")


def test_charts_are_the_same_from_run_to_run() -> None:
    first, second = (bars(["a"], {"x": [1.0]}, title="t", unit="s") for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("value", "text"), [(1234.6, "1,235"), (0.00123, "0.00123"), (2, "2")])
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number_text(value) == text
