"""Tensors without memory in compiled frames: their graphs run op by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

nn = gw.nn
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "conversion": lambda x, m: x.to("meta") * 2,
    "conversion of the dtype too": lambda x, m: x.to("meta", gw.float64).sum(),
    "what lies there": lambda x, m: m + 1,
    "beside one in memory": lambda x, m: (x + 1, m * 2),
    "with a number in memory": lambda x, m: m + x.sum(),
    "with one in memory": lambda x, m: x + m,
    "created": lambda x, m: gw.empty(2, 3, device="meta") + 1,
    "created like another": lambda x, m: (gw.zeros_like(x, device=m.device), m.new_ones(3)),
    "created at random": lambda x, m: gw.rand_like(m),
    "a view": lambda x, m: m.t()[0],
    "into memory": lambda x, m: m.to("cpu"),
    "in place": lambda x, m: m.add_(1),
    "copied into memory": lambda x, m: x.clone().copy_(m),
    "copied from memory": lambda x, m: m.clone().copy_(x),
    "behind a break": lambda x, m: (print(end=""), m + 1)[1],
    "a module": lambda x, m: nn.Linear(2, 2, device="meta")(m),
    "gradients": lambda x, m: gw.func.grad(lambda y: (y * y).sum())(m),
    "for each row": lambda x, m: gw.vmap(lambda row: row * 2)(m),
    "its facts": lambda x, m: (m.device, m.is_meta, m.shape, x.to(m).is_meta),
    "one of two ways": lambda x, m: x + 1 if m.is_meta else x,
    "its values": lambda x, m: m.tolist(),
    "a branch on its values": lambda x, m: 1 if m.sum() > 0 else 2,
    "positions that hold": lambda x, m: m.nonzero(),
    "another device": lambda x, m: x.to("cuda"),
}


def outcome(function: Callable[..., Any]) -> str:
    try:
        return repr(function(gw.ones(2, 2), gw.ones(2, 2, device="meta")))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("backend", ["llvm", "eager"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tensors_without_memory_stay_such(name: str, backend: str) -> None:
    compiled = gw.compile(PROGRAMS[name], backend=backend)
    for _ in range(2):
        assert outcome(compiled) == outcome(PROGRAMS[name])


def test_the_reason_names_the_device() -> None:
    text = str(gw.explain(lambda x: x.to("meta") * 2)(gw.ones(2)))
    assert "GB0020" in text
    assert "is a tensor on device 'meta'" in text


def test_the_default_device_is_that_of_the_call() -> None:
    compiled = gw.compile(lambda: gw.zeros(2), backend="llvm")
    assert compiled().tolist() == [0.0, 0.0]
    gw.set_default_device("meta")
    try:
        assert compiled().is_meta
    finally:
        gw.set_default_device("cpu")
    assert compiled().tolist() == [0.0, 0.0]
