"""Docstrings of Tensor's methods that are no ops: all have one; examples print what they say."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from tests.docstrings import failures

import graphwright as gw

HOME = "graphwright.runtime.tensor."


def _own() -> dict[str, str]:
    """The docstrings of public methods and properties that are defined beside Tensor."""
    found = {}
    for name in dir(gw.Tensor):
        member: Any = inspect.getattr_static(gw.Tensor, name)
        home = getattr(getattr(member, "fget", member), "__module__", None) or ""
        if not name.startswith("_") and home.startswith(HOME):
            found[name] = inspect.getdoc(member) or ""
    return found


DOCUMENTED = _own()


def test_all_have_one() -> None:
    assert len(DOCUMENTED) > 60
    assert [name for name, doc in DOCUMENTED.items() if not doc] == []


@pytest.mark.parametrize("name", [name for name, doc in DOCUMENTED.items() if ">>>" in doc])
def test_examples_print_what_they_say(name: str) -> None:
    assert failures(DOCUMENTED[name], name) == []
