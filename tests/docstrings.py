"""What tests of docstrings share: the examples that are run, the parameters that are named."""

from __future__ import annotations

import doctest
from typing import Any

import graphwright as gw

SPACE: dict[str, Any] = {"gw": gw, "nn": gw.nn, "F": gw.nn.functional}


def failures(doc: str, name: str) -> list[str]:
    """What the examples of a docstring print otherwise than it says; it must have one.

    Numbers that they draw are drawn again after them.
    """
    told: list[str] = []
    state = gw.get_rng_state()
    examples = doctest.DocTestParser().get_doctest(doc, dict(SPACE), name, None, 0)
    assert examples.examples, "an example is missing"
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples, out=told.append)
    gw.set_rng_state(state)
    return told


def explained(doc: str) -> set[str]:
    """The names before a colon: all parameters that are explained, among others."""
    lines = [line.strip() for line in doc.splitlines()]
    return {word.strip() for line in lines for word in line.partition(":")[0].split(",")}
