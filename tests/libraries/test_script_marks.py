"""The marks of TorchScript and of PyTorch's compiler: code that carries them runs as it is."""

from __future__ import annotations

import typing
from typing import Any, Union

import pytest

import graphwright as gw

jit = gw.jit


@jit.script_if_tracing
def shifted(x: Any) -> Any:
    return x + jit.annotate(int, 3)


@jit.ignore(drop=True)
def doubled(x: Any) -> Any:
    return x * 2


def test_marked_functions_are_the_functions() -> None:
    x = gw.ones(2)
    assert jit.script(shifted) is shifted and jit.freeze(shifted) is shifted
    assert shifted(x).tolist() == [4, 4] and doubled(x).tolist() == [2, 2]
    assert not isinstance(gw.nn.ReLU(), (jit.ScriptModule, jit.ScriptFunction))
    assert not jit.is_tracing() and not jit.is_scripting()
    assert jit.fork(shifted, x).wait().tolist() == [4, 4]
    assert jit.Attribute(3, int).value == 3


def test_modules_written_for_scripts_are_modules() -> None:
    class Scaled(jit.ScriptModule):
        def __init__(self) -> None:
            super().__init__()
            self.weight = gw.nn.Parameter(gw.full((2,), 3.0))

        @jit.script_method
        def forward(self, x: Any) -> Any:
            return x * self.weight

    scaled = Scaled().eval()
    assert jit.freeze(scaled, ["weight"]) is scaled
    assert jit.optimize_for_inference(scaled, ["forward"]) is scaled
    assert [name for name, _ in scaled.named_parameters()] == ["weight"]
    for module in (scaled, gw.compile(scaled, fullgraph=True)):
        assert module(gw.ones(2)).tolist() == [3, 3]


def test_marked_functions_are_captured() -> None:
    def program(x: Any) -> Any:
        gw.compiler.cudagraph_mark_step_begin()
        if gw.compiler.is_exporting() or not jit.isinstance(x, gw.Tensor):
            return x
        inner = gw.compiler.nested_compile_region(doubled)
        return inner(shifted(x)), gw.compiler.is_dynamo_compiling()

    out, inside = gw.compile(program, fullgraph=True)(gw.ones(2))
    assert out.tolist() == [8, 8] and inside


@pytest.mark.parametrize(("value", "kind", "expected"), [
    ([1, 2], list[int], True), ([1, "a"], list[int], False), ([], list[int], True),
    ({"a": gw.ones(1)}, dict[str, gw.Tensor], True), ({"a": 1}, dict[str, gw.Tensor], False),
    ((1, 2), tuple[int, int], True), ((1, 2, 3), tuple[int, int], False),
    ((1, 2, 3), tuple[int, ...], True), ((1, 2), list[int], False), (3, (int, str), True),
    (None, int | None, True), ("a", Union[int, None], False), ([[1]], list[list[int]], True),
    ([None, 1], list[int | None], True), (True, int, True), (3, float, False),
])  # fmt: skip
def test_types_of_what_containers_hold(value: Any, kind: Any, expected: bool) -> None:
    assert jit.isinstance(value, kind) is expected


@pytest.mark.parametrize("kind", [list, dict, tuple, typing.List])  # noqa: UP006
def test_containers_need_the_types_of_what_they_hold(kind: Any) -> None:
    with pytest.raises(RuntimeError, match="without contained types"):
        jit.isinstance([1], kind)


def test_a_size_may_be_asked_for_its_class() -> None:
    assert not isinstance(gw.ones(2).shape[0], gw.SymInt)
