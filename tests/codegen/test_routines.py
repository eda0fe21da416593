"""Calls of the runtime core's routines: one step, on operands as they lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.codegen.lowered import check, program_of, tensor, text

import graphwright as gw
import graphwright.nn.functional as F
from graphwright.codegen.program import RoutineCall
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import artifacts_of
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def floats(*shape: int, dtype: Any = np.float32) -> Tensor:
    """Numbers that are the same for the same shape."""
    return tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype))


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Any = None, causal: bool = False) -> Tensor:
    """The fused op's result alone."""
    return ops.fused_attention(q, k, v, mask, causal, 0.25)[0]


def calls(program: Any) -> list[RoutineCall]:
    """The routines that a program calls."""
    return [step for step in program.steps if isinstance(step, RoutineCall)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 3)])
def test_attention_is_one_step(lead: tuple[int, ...], dynamic: bool) -> None:
    q, k, v = floats(*lead, 5, 4), floats(*lead, 7, 4), floats(*lead, 7, 6)
    check(attention, q, k, v, dynamic=dynamic, kernels=1)


def test_what_is_around_it_is_fused_on_either_side() -> None:
    def block(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ops.mul(attention(ops.add(q, 1.0), k, v), 2.0)
    check(block, floats(2, 3, 5, 4), floats(2, 3, 7, 4), floats(2, 3, 7, 4), kernels=3)


def test_heads_that_lie_side_by_side_are_read_in_place() -> None:
    def heads(x: Tensor) -> Tensor:
        q, k, v = (ops.transpose(ops.select(x, 2, n), 1, 2) for n in range(3))
        return attention(q, k, v, causal=True)
    program = check(heads, floats(2, 9, 3, 4, 8), kernels=1)
    (call,) = calls(program)
    assert {buffer for buffer, _ in call.operands[:3]} == set(program.inputs), text(program)


def test_rows_that_lie_apart_are_copied_first() -> None:
    def turned(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return attention(q, ops.transpose(k, 1, 2), v)
    check(turned, floats(3, 5, 4), floats(3, 4, 7), floats(3, 7, 4), kernels=2)


@pytest.mark.parametrize("shape", [(5, 7), (1, 7), (2, 1, 1, 7), (3, 5, 7), (5, 1)])
def test_masks_are_shared_by_what_they_broadcast_to(shape: tuple[int, ...]) -> None:
    q, k, v = floats(2, 3, 5, 4), floats(2, 3, 7, 4), floats(2, 3, 7, 6)
    check(attention, q, k, v, floats(*shape), kernels=1 if shape[-1] == 7 else 2)
    check(attention, q, k, v, tensor(floats(*shape)._nd > -1), kernels=2)


def test_results_that_nobody_reads_are_not_written() -> None:
    q, k, v = floats(3, 5, 4), floats(3, 7, 4), floats(3, 7, 6)
    (call,) = calls(program_of(attention, [q, k, v])[0])
    assert [result is None for result in call.results] == [False, True]

    def levels(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return ops.fused_attention(q, k, v, None, False, 0.25)
    (call,) = calls(check(levels, q, k, v, kernels=1))
    assert None not in call.results


def test_the_gradient_is_one_step() -> None:
    def gradient(*args: Tensor) -> Any:
        return ops.attention_backward(*args[:4], None, *args[4:], True, 0.25)
    q, k, v = floats(2, 9, 4), floats(2, 9, 4), floats(2, 9, 6)
    out, levels = ops.fused_attention(q, k, v, None, True, 0.25)
    check(gradient, floats(2, 9, 6), q, k, v, out, levels, kernels=1)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_both_emitters_call_it(target: str) -> None:
    run = gw.compile(lambda q, k, v: attention(q, k, v) + q, backend=target)
    q = floats(2, 3, 5, 4)
    assert gw.allclose(run(q, q, q), attention(q, q, q) + q)


def test_a_kernel_follows_the_first_result_of_a_call() -> None:
    def scaled(q: Tensor, k: Tensor, v: Tensor) -> Any:
        out, levels = ops.fused_attention(q, k, v, None, False, 0.25)
        return ops.mul(out, 2.0), levels
    q, k, v = floats(64, 33, 8), floats(64, 33, 8), floats(64, 33, 8)
    assert check(scaled, q, k, v, kernels=2).chained == (1,)

    def weighed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out, levels = ops.fused_attention(q, k, v, None, False, 0.25)
        return ops.mul(out, ops.select(levels, 2, 1).unsqueeze(2))
    assert check(weighed, q, k, v, kernels=2).chained == ()


def test_a_routine_without_memory_is_a_memory_error() -> None:
    def huge(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return attention(q, ops.expand(k, (1 << 46, 1)), ops.expand(v, (1 << 46, 1)))
    one = gw.ones(1, 1)
    with pytest.raises(MemoryError):
        gw.compile(huge)(one, one, one)


def test_arguments_of_a_call_by_hand_are_checked() -> None:
    with pytest.raises(ValueError, match="there is no routine 1000"):
        _core.call_routine(1000, (), (), ())
    with pytest.raises(TypeError, match="arrays or None"):
        _core.call_routine(0, ("x",), (), ())  # type: ignore[arg-type]


def test_inputs_are_written_after_routines_that_may_fail() -> None:
    def counted(total: Tensor, q: Tensor) -> Tensor:
        total.add_(1)
        return attention(q, q, q)
    run = gw.compile(counted, fullgraph=True)
    total, q = gw.zeros(3), floats(2, 9, 4)
    assert gw.allclose(run(total, q), attention(q, q, q)) and total.tolist() == [1, 1, 1]
    artifacts = artifacts_of(compilation_of(run).record.graphs[0].graph)
    assert artifacts is not None
    (segment,) = artifacts.programs["forward"].segments
    first, *_ = segment.program.steps
    assert isinstance(first, RoutineCall), text(segment.program)

    def read(q: Tensor) -> Tensor:
        q.add_(1)
        return attention(q, q, q)
    run = gw.compile(read, fullgraph=True)
    p = q.clone()
    assert gw.allclose(run(q), read(p)) and gw.equal(p, q)


@pytest.mark.parametrize("wanted", ["100", "010", "001", "110", "101"])
def test_gradients_that_nobody_reads_are_left_out(wanted: str) -> None:
    def made() -> list[Tensor]:
        return [floats(2, 200, 8 + place).requires_grad_(flag == "1")
                if place == 2 else floats(2, 200, 8).requires_grad_(flag == "1")
                for place, flag in enumerate(wanted)]

    def loss(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).square().sum()
    eager, compiled = made(), made()
    loss(*eager).backward()
    gw.compile(loss, fullgraph=True)(*compiled).backward()
    for one, other in zip(compiled, eager, strict=True):
        gw.testing.assert_close(one.grad, other.grad)


def test_equal_products_are_followed_where_their_results_lie() -> None:
    """The same two kernels, which read the result of the product as another of their operands."""
    x, w = floats(64, 64), floats(64, 64)

    def both(x: Tensor, w: Tensor, a: Tensor, b: Tensor) -> Any:
        one, other = x @ w, (x + 1) @ w
        return (one.reshape(-1, 8) + a).tanh(), (b + other.reshape(-1, 8)).tanh()
    a, b = floats(512, 8), floats(512, 8)
    before = gw.get_num_threads()
    try:
        for threads in (1, 2, 3):
            gw.set_num_threads(threads)
            for got, want in zip(gw.compile(both)(x, w, a, b), both(x, w, a, b), strict=True):
                gw.testing.assert_close(got, want)
    finally:
        gw.set_num_threads(before)
