"""An index out of bounds is an error, whether or not anybody reads what was looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw


def by_list(x: Any, i: Any) -> Any:
    x[[1, 0]].repeat(2, 1)
    return x * 2


def by_tensor(x: Any, i: Any) -> Any:
    x[i]
    return x * 2


def in_a_chain(x: Any, i: Any) -> Any:
    (gw.index_select(x + 1, 0, index=i) * 2).sum()
    return x * 2


def of_a_table(x: Any, i: Any) -> Any:
    gw.nn.functional.embedding(i, x)
    return x * 2


@pytest.mark.parametrize(
    "program", [by_list, by_tensor, in_a_chain, of_a_table], ids=lambda program: program.__name__
)
@pytest.mark.parametrize("recorded", [False, True])
def test_lookups_that_nobody_reads(program: Callable[..., Any], recorded: bool) -> None:
    compiled = gw.compile(program)
    i = gw.tensor([0, 1])
    for _ in range(2):
        x = gw.ones(3, 2, requires_grad=recorded)
        assert compiled(x, i).tolist() == program(x, i).tolist()
        assert compiled(x, i).requires_grad is recorded
    for rows in (1, 1):
        x = gw.ones(rows, 2, requires_grad=recorded)
        with pytest.raises(IndexError) as expected:
            program(x, i)
        with pytest.raises(IndexError) as found:
            compiled(x, i)
        assert str(found.value) == str(expected.value)
