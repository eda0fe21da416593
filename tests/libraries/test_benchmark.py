"""`utils.benchmark` and `utils.collect_env`."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

import graphwright as gw
from graphwright.utils.benchmark import (
    Compare,
    Measurement,
    TaskSpec,
    Timer,
    select_unit,
    trim_sigfig,
)


class Clock:
    """Each look at it is a second later, but for what `pause` adds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float = 0.001) -> None:
        self.now += seconds


def timed(statement: str = "clock.work()", **options: object) -> tuple[Timer, Clock]:
    clock = Clock()
    names = {"clock": clock}
    return Timer(statement, timer=clock, globals=names, **options), clock  # type: ignore[arg-type]


def test_a_time_is_that_of_one_run() -> None:
    timer, _ = timed()
    measured = timer.timeit(500)
    assert (measured.number_per_run, len(measured.times)) == (500, 1)
    assert measured.median == measured.mean == pytest.approx(0.001)


def test_the_setup_is_not_measured() -> None:
    timer, _ = timed("x.work()", setup="clock.work(100); x = clock")
    assert timer.timeit(10).median == pytest.approx(0.001)


def test_blocks_are_measured_until_they_have_taken_the_time() -> None:
    timer, _ = timed()
    seen: list[tuple[int, float]] = []
    measured = timer.blocked_autorange(lambda number, time: seen.append((number, time)),
                                       min_run_time=2.0)
    assert sum(measured.raw_times) >= 2.0 > sum(measured.raw_times[:-1])
    assert [time for _, time in seen] == measured.raw_times
    assert {number for number, _ in seen} == {measured.number_per_run}


def test_blocks_are_measured_until_times_agree() -> None:
    timer, _ = timed()
    assert len(timer.adaptive_autorange(min_run_time=0.001).times) == 4
    names = {"clock": None, "times": iter([0.001, 0.1] * 10_000)}
    clock = names["clock"] = Clock()  # type: ignore[assignment]
    wild = Timer("clock.work(next(times))", timer=clock, globals=names)
    assert sum(wild.adaptive_autorange(max_run_time=3.0).raw_times) >= 3.0


def test_statements_run_on_the_threads_that_are_asked_for() -> None:
    seen: list[int] = []
    before = gw.get_num_threads()
    names = {"note": lambda: seen.append(gw.get_num_threads())}
    Timer("note()", globals=names).timeit(2)
    assert set(seen) == {1} and gw.get_num_threads() == before
    seen.clear()
    Timer("note()", globals=names, num_threads=2).timeit(2)
    assert set(seen) == {2}


def test_graphwright_is_known_to_statements() -> None:
    assert Timer("graphwright.ones(2)").timeit(1).number_per_run == 1


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: Timer(len), ValueError, "only a `str` stmt is supported, but got a builtin"),
    (lambda: Timer("x", language="c++"), NotImplementedError, "only statements of Python"),
    (lambda: Timer("1").collect_callgrind(), NotImplementedError, "instructions are not counted"),
    (lambda: Timer("1").repeat(), NotImplementedError, "see blocked_autorange"),
    (lambda: Compare([1]), ValueError, "Expected an instance of `Measurement`, but got int"),
    (lambda: Timer("1 +"), SyntaxError, "invalid syntax"),
])  # fmt: skip
def test_what_is_refused(make: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def measurement(*milliseconds: float, **options: object) -> Measurement:
    task = TaskSpec("f(x)", "pass", **options)  # type: ignore[arg-type]
    return Measurement(1, [time / 1000 for time in milliseconds], task)


def test_statistics_of_a_measurement() -> None:
    made = measurement(1, 2, 3, 4, 10)
    assert (made.median, made.mean) == pytest.approx((0.003, 0.004))
    assert made.iqr == pytest.approx(0.002) and made.has_warnings
    assert measurement(1, 1, 1, 1).significant_figures == 4
    assert made.stmt == "f(x)" and made.num_threads == 1
    with pytest.raises(AttributeError, match="no attribute 'speed'"):
        _ = made.speed
    assert pickle.loads(pickle.dumps(made)).times == made.times


def test_a_measurement_prints_as_pytorchs_does() -> None:
    made = measurement(1, 2, 3, 4, 10, label="sum", sub_label="large", description="here")
    assert repr(made).splitlines()[1:] == [
        "sum: large",
        "here",
        "  Median: 3.00 ms",
        "  IQR:    2.00 ms (2.00 to 4.00)",
        "  5 measurements, 1 runs per measurement, 1 thread",
        "  WARNING: Interquartile range is 66.7% of the median measurement.",
        "           This suggests significant environmental influence.",
    ]
    one = Measurement(100, [0.1], TaskSpec("x + 1", "x = 1", num_threads=2))
    assert repr(one).splitlines()[1:] == [
        "x + 1", "setup: x = 1", "  1.00 ms", "  1 measurement, 100 runs , 2 threads"]


def test_measurements_of_a_task_are_merged() -> None:
    [merged] = Measurement.merge([measurement(1), measurement(3)])
    assert merged.median == pytest.approx(0.002)


def test_a_comparison_is_a_table() -> None:
    cells = [
        measurement(1, label="sum", sub_label="small", description="eager"),
        measurement(2.5, label="sum", sub_label="small", description="compiled"),
        measurement(40, label="sum", sub_label="large", description="eager", num_threads=2),
        measurement(7, label="other", sub_label="small", description="eager"),
    ]
    text = str(Compare(cells))
    assert text.splitlines() == [
        "[------------- sum --------------]",
        "             |  eager  |  compiled",
        "1 threads: -----------------------",
        "      small  |    1    |    2.5",
        "2 threads: -----------------------",
        "      large  |    40   |",
        "",
        "Times are in milliseconds (ms).",
        "",
        "[------ other ------]",
        "             |  eager",
        "1 threads: ----------",
        "      small  |    7",
        "",
        "Times are in milliseconds (ms).",
    ]


def test_a_comparison_trims_figures_marks_warnings_and_is_coloured_only_when_asked() -> None:
    cells = [measurement(1, 1.1, 1.9, 2.7, label="a", sub_label="x", description="d"),
             measurement(90, label="a", sub_label="y", description="d")]
    table = Compare(cells)
    assert "\033" not in str(table) and "1.5" in str(table)
    table.trim_significant_figures()
    table.highlight_warnings()
    assert "2 (! 68%)" in str(table)
    table.colorize()
    assert "\033[92m" in str(table) and "\033[31m" in str(table)


def test_units_and_figures() -> None:
    units = [select_unit(time)[0] for time in (2.0, 0.5, 3e-6, 4e-9)]
    assert units == ["s", "ms", "us", "ns"]
    assert [trim_sigfig(1234.5, 2), trim_sigfig(-0.0456, 1), trim_sigfig(0, 3)] == [
        1200.0, -0.05, 0.0]


def test_the_environment_is_printed() -> None:
    done = subprocess.run([sys.executable, "-m", "graphwright.utils.collect_env"],
                          capture_output=True, text=True, check=True)
    for name, text in (("graphwright version", re.escape(gw.__version__)), ("Threads", r"\d+"),
                       ("Backends", ".*llvm.*"), ("Kernel cache", ".+"), ("CPU cores", r"\d+ .*"),
                       (r"\[pip3\] numpy", r"\d.*")):
        assert re.search(f"^{name}: {text}$", done.stdout, re.MULTILINE), name
    assert done.stdout.splitlines()[1:] == gw.utils.collect_env.get_pretty_env_info().splitlines()
