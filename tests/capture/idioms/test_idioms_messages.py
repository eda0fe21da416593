"""Warnings and log records of captured functions: the same, from the same lines, in order."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured

QUIET = logging.getLogger("graphwright.tests.quiet")
QUIET.setLevel(logging.WARNING)
SEEN: list[Any] = []


def plain(x: Any) -> Any:
    warnings.warn("once", stacklevel=1)
    y = x * 2
    warnings.warn("twice", DeprecationWarning, stacklevel=1)
    return y + 1


def helper(x: Any, level: int) -> Any:
    warnings.warn(f"level {level}", RuntimeWarning, stacklevel=level)
    return x * 2


def of_a_helper(x: Any) -> Any:
    return helper(x, 1) + helper(x, 2)


def of_the_caller(x: Any) -> Any:
    x = helper(x, 3)
    warnings.warn("caller", stacklevel=2)
    return x


def after_a_write(x: Any) -> Any:
    SEEN.append(x.shape[0])
    warnings.warn("written", stacklevel=1)
    return x + 1


def recorded(function: Any, x: Any, action: str) -> Any:
    """The warnings of three calls, and the results or the error."""
    globals().pop("__warningregistry__", None)
    results = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        for _ in range(3):
            try:
                results.append(function(x).tolist())
            except Warning as error:
                results.append((type(error), str(error)))
    return [(str(w.message), w.category, w.filename, w.lineno) for w in found], results


@pytest.mark.parametrize("action", ["always", "default", "once", "error", "ignore"])
@pytest.mark.parametrize("program", [plain, of_a_helper, of_the_caller, after_a_write])
def test_warnings_are_those_of_plain_python(program: Any, action: str) -> None:
    x = gw.ones(2, 3)
    expected = recorded(program, x, action)
    captured = Captured(program, fullgraph=True)
    assert recorded(captured.compiled, x, action) == expected


def written_behind(x: Any) -> Any:
    warnings.warn("first", stacklevel=1)
    SEEN.append(x.shape[0])
    return x + 1


def changed_behind(x: Any) -> Any:
    warnings.warn("first", stacklevel=1)
    x += 1
    return x


def handled(x: Any) -> Any:
    try:
        warnings.warn("an error", stacklevel=1)
    except UserWarning:
        return x - 1
    return x + 1


@pytest.mark.parametrize("program", [written_behind, changed_behind, handled])
def test_what_a_warning_that_is_an_error_prevents_waits_behind_it(program: Any) -> None:
    outcomes = []
    captured = Captured(program)
    for function in (program, captured):
        SEEN.clear()
        x = gw.ones(2)
        outcomes.append((recorded(function, x, "error"), x.tolist(), list(SEEN)))
    assert outcomes[0] == outcomes[1]
    assert captured.breaks[0] == "GB0004"


# logging


def silent(x: Any, seen: list[int]) -> Any:
    QUIET.debug("x is %s", x)
    seen.append(1)
    if QUIET.isEnabledFor(logging.INFO):
        seen.append(2)
    logging.getLogger("graphwright.tests.quiet").info("mean %f", x.mean(), extra={"a": 1})
    x += 1
    return x


def test_levels_that_are_off_cost_nothing_and_are_guarded(caplog: Any) -> None:
    captured = Captured(silent)
    for level, expected in ((logging.WARNING, []), (logging.DEBUG, ["DEBUG", "INFO"])):
        with caplog.at_level(level, QUIET.name):
            caplog.clear()
            seen: list[int] = []
            assert captured(gw.ones(2), seen).tolist() == [2.0, 2.0]
            assert [record.levelname for record in caplog.records] == expected
            assert seen == [1, 2][: 1 + bool(expected)]
        if not expected:
            assert not captured.breaks


def told(x: Any) -> Any:
    y = x * 2
    QUIET.warning("%s of %s", y.sum(), tuple(x.shape))
    logging.warning("root %d", x.ndim)
    return y


def changed_after(x: Any) -> Any:
    y = x * 2
    QUIET.warning("%s", y)
    y += 1
    return y


@pytest.mark.parametrize(("program", "breaks"), [(told, 0), (changed_after, 1)])
def test_records_hold_what_there_was(program: Any, breaks: int, caplog: Any) -> None:
    captured = Captured(program)
    messages = []
    for function in (program, captured):
        caplog.clear()
        function(gw.ones(2, 3))
        messages.append([(r.getMessage(), r.lineno, r.funcName) for r in caplog.records])
    assert messages[0] == messages[1] != []
    assert len(captured.breaks) == breaks


def made(x: Any) -> Any:
    logging.getLogger("graphwright.tests.made.here").debug("nothing")
    return x + 1


def test_a_logger_is_made_by_plain_python_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no logger holds handlers, the end of whose streams could be seen."""
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr(logging.Logger, "manager", logging.Manager(logging.root))
    captured = Captured(made)
    for _ in range(3):
        assert captured(gw.ones(2)).tolist() == [2.0, 2.0]
    assert captured.breaks == ["GB0004"]
    assert logging.getLogger("graphwright.tests.made").getChild("here").name.endswith("here")
