"""Texts that show tensors: f-strings, `str`, `repr`, `format`, `%`, logging and printing.

The text is made once the graph has run, so it ends no graph where it is only handed on. A function
that looks at the text ends the graph there, and so does `print`, once.
"""

# ruff: noqa: UP031 (the operator % is tested)
from __future__ import annotations

import contextlib
import dataclasses
import io
import logging
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured, check

X = gw.tensor([1.0, 2.0, 3.0])
KEPT: list[str] = []
LOGGER = logging.getLogger("tests.capture.texts")


@dataclasses.dataclass
class Pair:
    first: Any
    second: int = 3


class Described:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Described({self.value})"


class Telling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.told = ""

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        self.told = f"{y.detach()} of {self.linear.weight.shape}"
        return y * 2


def shown(value: Any) -> str:
    return f"<{value}>"


TEXTS: dict[str, Callable[[Any], Any]] = {
    "f-string": lambda y: f"{y} {y.shape} {y!r} {y!s} {y=}",
    "str": lambda y: str(y) + repr(y) + ascii(y),
    "methods": lambda y: (y.__repr__(), y.__str__(), y.__format__("")),
    "percent": lambda y: ("%s" % y, "%s and %r, %d" % (y, y, 3), "%(a)s" % {"a": y}),
    "format": lambda y: "{} {0} {k}".replace("{0} ", "").format(y, k=y),
    "number": lambda y: f"{y.sum():.3f} {y[0]:>8} " + format(y.mean(), ".2e"),
    "percent of a number": lambda y: "%.3f %d" % (y.sum(), y.sum()),
    "item": lambda y: f"{y.sum().item():.2f} {float(y[0])} " + "%.1f" % y.mean().item(),
    "bool": lambda y: f"{y > 2} {(y > 2).any()} {(y > 2).all().item()}",
    "containers": lambda y: (f"{[y, (y, 1)]}", f"{dict(a=y)}", repr({"b": [y]})),
    "own repr": lambda y: (f"{Described(y)}", f"{Pair(y)}", repr([Described(y)])),
    "callee": lambda y: shown(y) + shown(shown(y)),
    "joined": lambda y: ", ".join(str(v) for v in (y, y * 2)) + "".join([str(y)]),
    "error": lambda y: str(ValueError(f"bad {y}")),
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_handed_on_is_part_of_the_graph(make: Callable[[Any], Any]) -> None:
    def function(x: Any) -> Any:
        y = x + 1
        text = make(y)
        return y * 2, text

    captured = check(function, X, graphs=1)
    assert captured.agrees(X * 3)


def test_a_text_is_kept_where_the_program_puts_it() -> None:
    module, plain = Telling(), {"text": ""}

    def function(x: Any) -> Any:
        plain["text"] = f"{x * 2}"
        return module(x)

    captured = Captured(function)
    captured(X)
    assert plain["text"] == str(X * 2)
    assert module.told.startswith("tensor([")
    assert not captured.breaks
    assert captured.graphs == 1


def test_a_text_shows_what_the_tensor_held_then() -> None:
    """A tensor that is written afterwards is shown before: the graph ends in between."""

    def function(x: Any) -> Any:
        y = x + 1
        text = f"{y}"
        y.add_(5)
        return y, text

    captured = Captured(function)
    assert captured.agrees(X)
    assert captured.agrees(X * 2)
    assert captured.breaks == ["GB0008"]
    assert "written afterwards" in captured.record.breaks[0].detail


def test_a_text_of_an_argument_that_is_written_afterwards() -> None:
    def function(x: Any) -> Any:
        text = f"{x}"
        x.mul_(2)
        return x + 1, text

    captured = Captured(function)
    for _ in range(2):
        given = gw.ones(3)
        assert captured(given)[1] == str(gw.ones(3))
        assert gw.equal(given, gw.full((3,), 2.0))


# one break where Python looks at the text, or writes it somewhere


def printed(x: Any) -> Any:
    y = x + 1
    print(f"value {y}, sum {y.sum().item():.2f}", y)
    return y * 2


def compared(x: Any) -> Any:
    y = x + 1
    return y * 2, len(f"{y}") > 3


def as_key(x: Any) -> Any:
    y = x + 1
    return y * 2, {f"{y}": 1}


def of_a_shape_of_its_own(x: Any) -> Any:
    y = x + 1
    return y * 2, "%40s" % y


@pytest.mark.parametrize(
    ("function", "code"),
    [
        *[(printed, "GB0003"), (compared, "GB0008"), (as_key, "GB0008")],
        (of_a_shape_of_its_own, "GB0008"),
    ],
)
def test_a_text_that_is_looked_at_is_one_break(function: Callable[..., Any], code: str) -> None:
    captured = Captured(function)
    written = []
    for run in (function, captured, captured):
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            assert gw.equal(run(X)[0] if code != "GB0003" else run(X), (X + 1) * 2)
        written.append(stream.getvalue())
    assert len(set(written)) == 1
    assert captured.breaks == [code]
    assert not any(entry.fallback for entry in captured.record.breaks)


def test_the_reason_names_the_tensor() -> None:
    captured = Captured(compared)
    captured(X)
    (entry,) = captured.record.breaks
    assert entry.detail == "formatting of tensor graphwright.float32[3]"


@pytest.mark.parametrize(
    "function",
    [lambda x: f"{x + 1:.2f}", lambda x: "%d" % (x + 1), lambda x: f"{(x + 1).sum():d}"],
    ids=["a spec for several elements", "a number of several elements", "an int of a float"],
)
def test_formats_that_tensors_lack_are_pythons_errors(function: Callable[..., Any]) -> None:
    captured = Captured(function)
    for _ in range(2):
        errors = []
        for run in (function, captured):
            with pytest.raises((TypeError, ValueError, RuntimeError)) as raised:
                run(X)
            errors.append((type(raised.value), str(raised.value)))
        assert errors[0] == errors[1]


# logging


@pytest.mark.parametrize("level", [logging.INFO, logging.ERROR])
def test_log_records_show_tensors_after_the_graph(
    level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """One that is not enabled costs nothing; either way the graph goes on."""

    def function(x: Any) -> Any:
        y = x + 1
        LOGGER.info(f"in a text {y}")
        LOGGER.info("loss %.3f of %s", y.sum().item(), y)
        return y * 2

    captured = Captured(function)
    with caplog.at_level(level, LOGGER.name):
        assert captured.agrees(X)
        caplog.clear()
        captured(X)
    expected = [f"in a text {X + 1}", f"loss 9.000 of {X + 1}"]
    assert [entry.getMessage() for entry in caplog.records] == (
        expected if level == logging.INFO else [])
    assert not captured.breaks
    assert captured.graphs == 1
