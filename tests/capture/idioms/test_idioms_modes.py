"""`inference_mode` in the frame, and questions that device-independent code asks."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs, whole

whole_program = Programs()
broken_program = Programs()
LAYER = nn.Linear(3, 3)


@gw.inference_mode()
def inferred(x: Any) -> Any:
    return LAYER(x).relu()


@whole_program
def inside(x: Any) -> Any:
    with gw.inference_mode():
        y = LAYER(x)
        on = gw.is_inference_mode_enabled(), gw.is_grad_enabled()
    return y, on, gw.is_inference_mode_enabled(), gw.is_grad_enabled()


@whole_program
def by_a_decorator(x: Any) -> Any:
    return inferred(x)


@whole_program
def switched_off_inside(x: Any) -> Any:
    with gw.inference_mode(), gw.inference_mode(False):
        y = LAYER(x)
    return y, y.requires_grad


@whole_program
def with_constants_made_inside(x: Any) -> Any:
    with gw.inference_mode():
        scale = gw.tensor(2.0)
        return x * scale


@whole_program
def left_by_an_exception(x: Any) -> Any:
    try:
        with gw.inference_mode():
            y = x + 1
            raise ValueError
    except ValueError:
        return y, gw.is_inference_mode_enabled(), gw.is_grad_enabled()


@whole_program
def entered_by_a_stack(x: Any) -> Any:
    with contextlib.ExitStack() as stack:
        for mode in (gw.no_grad(), gw.enable_grad(), gw.no_grad()):
            stack.enter_context(mode)
        y, on = LAYER(x), gw.is_grad_enabled()
    return y, on, gw.is_grad_enabled()


@gw.set_grad_enabled(False)
def _switched_off(x: Any) -> Any:
    return LAYER(x), gw.is_grad_enabled()


@whole_program
def decorated_with_a_switch(x: Any) -> Any:
    return *_switched_off(x), gw.is_grad_enabled()


@whole_program
def left_through_a_stack_by_an_exception(x: Any) -> Any:
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(gw.autocast("cpu", dtype=gw.bfloat16))
            y = LAYER(x)
            raise ValueError(3)
    except ValueError as error:
        return y, LAYER(x), error.args, error.__traceback__ is None


@whole_program
def diagonals(x: Any) -> Any:
    return gw.zeros(7, 2).fill_diagonal_(3, wrap=True), (x * 1.0).fill_diagonal_(2.5)


@broken_program
def beside_other_operations(x: Any) -> Any:
    y = LAYER(x)
    with gw.inference_mode():
        z = y * 2
    return y, z, x + 1


@broken_program
def across_a_break(x: Any) -> Any:
    with gw.inference_mode():
        y = LAYER(x)
        if y.sum() > 100:
            y = y - 1
        y = y * 2
        on = gw.is_inference_mode_enabled()
    return y, on, gw.is_inference_mode_enabled(), gw.is_grad_enabled(), x * 2


def seen(function: Any, x: Any) -> Any:
    """The results, and which of them were made in inference mode."""
    result = function(x)
    parts = result if isinstance(result, tuple) else (result,)
    return picture(result), [p.is_inference() for p in parts if isinstance(p, gw.Tensor)]


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
@pytest.mark.parametrize(
    "program", [*whole_program.all, *broken_program.all], ids=lambda p: p.__name__
)
def test_tensors_are_marked_as_by_plain_python(program: Any, compiled: Any) -> None:
    function, x = compiled(program), gw.eye(3)
    for _ in range(2):
        assert seen(function, x)[1] == seen(program, x)[1]
        assert not gw.is_inference_mode_enabled()
    with gw.inference_mode():
        assert seen(function, x)[1] == seen(program, x)[1]


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_a_break_where_the_mode_changes_between_operations(program: Any) -> None:
    captured, x = Captured(program), gw.randn(2, 3)
    for _ in range(2):
        assert seen(captured, x) == seen(program, x)
    assert captured.breaks


def questions(x: Any) -> Any:
    first, second = gw.broadcast_tensors(x, x[:1])
    rows, columns = gw.meshgrid(gw.arange(2), gw.arange(3), indexing="ij")
    facts = (
        gw.cuda.is_available(), gw.cuda.device_count(), gw.is_signed(x), x.get_device(),
        gw.broadcast_shapes((2, 1), (3,)), gw.is_same_size(first, second), x.is_pinned(),
        gw.cuda.is_initialized(), gw.cuda.is_bf16_supported(), gw.cuda.memory_allocated(),
    )  # fmt: skip
    gw.cuda.manual_seed_all(0)
    gw.cuda.empty_cache()
    return first + second + rows * columns, gw.atleast_2d(x[0]), gw.block_diag(x, x), facts


@pytest.mark.usefixtures("no_gpu")
def test_functions_of_several_tensors_and_questions_of_devices() -> None:
    whole(questions, gw.randn(2, 3))


CACHE: dict[Any, Any] = {}


def masked(x: Any) -> Any:
    key = (x.shape[0], x.dtype)
    if key not in CACHE:
        CACHE[key] = gw.ones(x.shape[0], dtype=x.dtype)
    return x * CACHE[key][:, None]


def test_caches_by_size_and_dtype() -> None:
    captured = Captured(masked, fullgraph=True)
    for x in (gw.ones(2, 3), gw.ones(2, 3), gw.ones(2, 3, dtype=gw.float64), gw.ones(2, 3)):
        assert captured(x).tolist() == [[1.0] * 3] * 2
    assert list(CACHE) == [(2, gw.float32), (2, gw.float64)]
    assert not captured.breaks
