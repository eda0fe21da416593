"""Hooks of leaves are called in PyTorch's order: as their gradients become complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

Program = Callable[..., Any]

PROGRAMS: dict[str, tuple[Program, str]] = {
    "chain": (lambda x, a, b, c, d: d @ (c @ (b @ (a @ x))), "dcba"),
    "other chain": (lambda x, a, b, c, d: a @ (d @ (b @ (c @ x))), "adbc"),
    "sum": (lambda x, a, b, c, d: (a @ x) + (b @ x) + (c @ x) + (d @ x), "dcba"),
    "pairs": (lambda x, a, b, c, d: a * b + c * d, "cdab"),
    "used twice": (lambda x, a, b, c, d: (a + b) * (a + c) + d * a, "dcab"),
    "several results": (
        lambda x, a, b, c, d: (a @ (b @ x), b @ (c @ x), (a @ (d @ x)).sum()), "dcab"),
}


def order_of_hooks(program: Program, register: str) -> str:
    called: list[str] = []
    leaves = {name: gw.ones(3, 3, requires_grad=True) for name in "abcd"}
    for name, leaf in leaves.items():
        getattr(leaf, register)(lambda _, name=name: called.append(name))
    result = program(gw.ones(3), *leaves.values())
    parts = result if isinstance(result, tuple) else (result,)
    sum(part.sum() for part in parts).backward()
    return "".join(called)


@pytest.mark.parametrize("register", ["register_hook", "register_post_accumulate_grad_hook"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_complete_in_the_order_of_the_tape(name: str, register: str) -> None:
    program, expected = PROGRAMS[name]
    assert order_of_hooks(program, register) == expected
    assert order_of_hooks(gw.compile(program), register) == expected
