"""Texts that show numbers which vary: the messages of checks do not tie a graph to one size."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..programs import sound

Pair = namedtuple("Pair", ["left", "right"])


def message(x: Any, k: float) -> Any:
    n = x.shape[0]
    gathered = f"{[n, 'é', k]} {(n,)} {({'a': n, 3: (n, n)})!a} {Pair(n, k)} {[]}"
    return x * 2, f"{x.shape} {x.shape!r} {n:>5} {n!r} {k:.3f}{'.'} {gathered}"


def checked(x: Any, k: float) -> Any:
    assert x.dim() == 2, f"expected two dimensions, got {x.shape}"
    why_not = "" if x.is_contiguous() else f"strides are {x.stride()}"
    text = f"{x.shape[0]} rows, {k}{why_not}"
    return x + 1 if isinstance(text, str) else x


def told(x: Any, k: float) -> Any:
    text = f"{x.shape[0]} rows, {k}"
    y = x + 1
    print(end="")
    return y, text


BY_PLACE, BY_NAME, PERCENT = "{1:>5} {0!r} {0:.2f} {{}}", "{n:03d}-{k}", "%5d|%-4d|%s|%r|%.3f|%%"
PERCENT_NAMES = "%(n)d of %(k)s"


def put_together(x: Any, k: float) -> Any:
    n = x.shape[0]
    plain = "n" + str(n) + "/" + ",".join([str(k), "and", str(n)])
    named = BY_NAME.format(n=n, k=k) + PERCENT_NAMES % {"n": n, "k": k}
    return x * 2, plain, BY_PLACE.format(k, n), named, PERCENT % (n, n, x.shape, n, k)


@pytest.mark.parametrize("function", [message, checked, told, put_together])
def test_one_graph_serves_all_numbers(function):
    captured = Captured(function)
    for n in (3, 4, 5, 9, 30):
        assert captured.agrees(gw.ones(n, 2), n / 7)
    assert captured.graphs <= 2, captured.record.recompiles


def test_a_program_that_looks_at_the_text_gets_a_version_of_its_own():
    captured = Captured(lambda x: x + len(f"{x.shape[0]} rows"))
    for n in (3, 4, 50, 500):
        assert captured.agrees(gw.ones(n, 2))


def test_a_format_that_numbers_do_not_have():
    captured = Captured(lambda x: (x + 1, f"{x.shape[0]:s}"))
    for n in (3, 4):
        with pytest.raises(ValueError, match="Unknown format code"):
            captured(gw.ones(n, 2))


def test_a_transformer_in_evaluation_takes_batches_of_all_sizes():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    captured = Captured(lambda x: model(x))
    with gw.no_grad():
        for batch, length in ((2, 5), (3, 7), (4, 9), (8, 12)):
            assert captured(gw.randn(batch, length, 16)).shape == (batch, length, 16)
    assert captured.graphs <= 2


class Shown:
    """A value with texts of its own."""

    def __str__(self) -> str:
        return "shown"

    def __format__(self, spec: str) -> str:
        return f"as {spec}"


FORMATS = [
    ("{} {:>4} {!r:5}", (1, "a", "b")), ("{:{}}", (1, 5)), ("{:x} {}", (Shown(), None)),
    ("{0}{0}", ("z",)), ("{{}} {}", (3,)), ("{:.2f}", (1.239,)),
    ("{} {}", (1,)), ("{0} {}", (1, 2)), ("{", (1,)), ("{a}", (1,)),
]  # fmt: skip
PERCENTS: list[tuple[str, Any]] = [
    ("%s %r", ("a", [1, "b"])), ("%5.1f", 2.25), ("%x %o", (255, 8)), ("%c", 65), ("%-5s|", "a"),
    ("%s", ((1, 2),)), ("%s", {"a": 1}), ("%s", [1, 2]), ("%d", 3.7), ("%s", Shown()),
    ("%(a)s%%", {"a": 1}), ("%s", ()), ("%d", "a"), ("%d %d", (1,)), ("%d", (1, 2)), ("%z", 1),
    ("%(a)s", {"b": 1}), ("%*d", (5, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("template", "values"), FORMATS)
def test_format_gives_what_python_gives(template: str, values: Any) -> None:
    sound(lambda x, args: (x + 1, template.format(*args)), gw.ones(2), values)


@pytest.mark.parametrize(("template", "values"), PERCENTS)
def test_percent_gives_what_python_gives(template: str, values: Any) -> None:
    sound(lambda x, args: (x + 1, template % args), gw.ones(2), values)


@pytest.mark.parametrize("parts", [[], ["a"], "abc", ["a", 1]])
def test_join_gives_what_python_gives(parts: Any) -> None:
    sound(lambda x, args: (x + 1, "-".join(args)), gw.ones(2), parts)
