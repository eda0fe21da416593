"""Library functions that need no break: generic functions, modes as decorators, types."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import pytest

import graphwright as gw

from .captured import Captured
from .programs import Programs, sound, whole

program = Programs()


@functools.singledispatch
def scaled(value: Any, x: Any) -> Any:
    return x + 1


@scaled.register
def _(value: int, x: Any) -> Any:
    return x * value


@scaled.register(str)
def _(value: Any, x: Any) -> Any:
    return x * len(value)


@program
def generic_functions(x: Any) -> Any:
    return scaled(3, x) + scaled("ab", x) + scaled(1.5, x) + scaled(True, x)


@program
def modes_as_decorators(x: Any) -> Any:
    @gw.no_grad()
    def double(y: Any) -> Any:
        return y * 2

    x = x.clone().requires_grad_()
    return double(x), double.__name__, (x * 2).requires_grad


@program
def types_and_devices(x: Any) -> Any:
    dtype = gw.promote_types(gw.int32, gw.get_default_dtype())
    assert gw.is_floating_point(x)
    return x.to(gw.device("cpu")) * gw.finfo(dtype).eps, gw.iinfo(gw.int8).max, dtype


@pytest.mark.parametrize("program", program.all, ids=lambda value: value.__name__)
def test_they_are_part_of_one_graph(program: Any) -> None:
    whole(program, gw.ones(2, 3))


def test_a_registration_is_noticed() -> None:
    @functools.singledispatch
    def shifted(value: Any, x: Any) -> Any:
        return x + 1

    def program(x: Any) -> Any:
        return shifted(2.5, x)

    captured = Captured(program)
    assert captured.agrees(gw.ones(2))
    shifted.register(float, lambda value, x: x + value)
    assert captured.agrees(gw.ones(2))
    shifted.register(float, lambda value, x: x - value)
    assert captured.agrees(gw.ones(2))


def test_abstract_classes_are_dispatched_natively() -> None:
    @functools.singledispatch
    def counted(value: Any, x: Any) -> Any:
        return x + 1

    @counted.register
    def _(value: Mapping, x: Any) -> Any:  # type: ignore[type-arg]
        return x * len(value)

    def program(x: Any) -> Any:
        return counted({"a": 1, "b": 2}, x) * 2

    assert sound(program, gw.ones(2)).breaks
