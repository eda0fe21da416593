"""Every public function and method has a docstring, and every class of nn and optim."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.ops.families import load_all
from graphwright.runtime.ops.table import TABLE

load_all()
SPACES = (
    gw, gw.Tensor, gw.linalg, gw.fft, gw.special, gw.nn, gw.nn.functional, gw.optim, gw.func,
    gw.utils, gw.compiler,
)  # fmt: skip
OPS = {id(op.call): op for op in TABLE.values()}


def docstring(value: Any) -> str:
    """The docstring that `value` has of its own; an op's is that of the table."""
    op = getattr(value, "__gw_op__", None) or OPS.get(id(value))
    if op is not None:
        return str(op.doc or (op.functional.doc if op.functional else ""))
    own = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
    return str(own or "")


def lacking(space: Any) -> list[str]:
    """The public names without a docstring: of functions, and in nn and optim of classes."""
    members = [(name, getattr(space, name)) for name in dir(space) if name[0] != "_"]
    with_classes = space in (gw.nn, gw.optim)
    return [
        name
        for name, value in members
        if callable(value) and not inspect.ismodule(value)
        and (with_classes or not isinstance(value, type))
        and not docstring(value).strip()
    ]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_all_have_a_docstring(space: Any) -> None:
    assert lacking(space) == []


def test_what_lacks_one_is_found() -> None:
    class Space:
        def documented(self) -> None:
            """A sentence."""

        def bare(self) -> None:
            pass

    assert lacking(Space) == ["bare"]
