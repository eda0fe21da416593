"""Docstrings of functions: what their examples print is what they say."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

import pytest
from tests.docstrings import explained, failures

import graphwright as gw
from graphwright.runtime.ops.aliases import ALIASES
from graphwright.runtime.ops.table import TABLE


def functions_of(module: ModuleType, names: Iterable[str]) -> list[Any]:
    """The public functions of a module that are not ops, nor aliases or in-place forms of ops."""
    ops = {id(op.call) for op in TABLE.values()}
    known = {*ALIASES, *(f"{name}_" for name in TABLE)}
    own = sorted(name for name in names if name[0] != "_" and name not in known)
    found = [(name, getattr(module, name)) for name in own]
    return [
        pytest.param(value, id=f"{module.__name__}.{name}")
        for name, value in found
        if isinstance(value, FunctionType) and id(value) not in ops
    ]


FUNCTIONS = [
    *functions_of(gw, dir(gw)),
    *functions_of(gw.nn.functional, dir(gw.nn.functional)),
    *functions_of(gw.functional, gw.functional.__all__),
    *functions_of(gw.func, gw.func.__all__),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_examples_print_what_they_say(function: Any) -> None:
    assert failures(inspect.getdoc(function) or "", function.__name__) == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_all_parameters_are_explained(function: Any) -> None:
    parameters = {name for name in inspect.signature(function).parameters if name[0] != "_"}
    assert parameters - {"self"} <= explained(inspect.getdoc(function) or "")
