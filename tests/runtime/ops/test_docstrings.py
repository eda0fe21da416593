"""Docstrings of ops: what their examples print is what they say."""

from __future__ import annotations

import pytest
from tests.docstrings import explained, failures

from graphwright.runtime.ops.families import load_all
from graphwright.runtime.ops.table import TABLE

load_all()
DOCUMENTED = sorted(name for name, op in TABLE.items() if op.doc)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples_print_what_they_say(name: str) -> None:
    assert failures(TABLE[name].doc, name) == []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_all_parameters_are_explained(name: str) -> None:
    op = TABLE[name]
    assert {param.name for param in op.schema.params} <= explained(op.doc)
