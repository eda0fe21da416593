"""Docstrings of ops: what their examples print is what they say."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.ops.families import load_all
from graphwright.runtime.ops.table import TABLE

load_all()
DOCUMENTED = sorted(name for name, op in TABLE.items() if op.doc)
SPACE: dict[str, Any] = {"gw": gw, "nn": gw.nn, "F": gw.nn.functional}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples_print_what_they_say(name: str) -> None:
    told: list[str] = []
    examples = doctest.DocTestParser().get_doctest(TABLE[name].doc, dict(SPACE), name, None, 0)
    assert examples.examples, "an example is missing"
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples, out=told.append)
    assert told == []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_all_parameters_are_explained(name: str) -> None:
    op = TABLE[name]
    lines = [line.strip() for line in op.doc.splitlines()]
    explained = {word.strip() for line in lines for word in line.partition(":")[0].split(",")}
    assert {param.name for param in op.schema.params} <= explained
