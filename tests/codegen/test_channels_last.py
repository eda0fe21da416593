"""Convolutions in programs of inference: steps over channels last, nothing copied between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.codegen.lowered import check, program_of, tensor, text

import graphwright as gw
from graphwright.codegen.loop_printer import print_step
from graphwright.codegen.program import NativeProgram, RoutineCall
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def floats(*shape: int, dtype: Any = np.float32) -> Tensor:
    """Numbers that are the same for the same shape."""
    return tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype))


def conv(x: Any, weight: Any, bias: Any = None, pad: int = 1, groups: int = 1) -> Any:
    return ops.conv2d(x, weight, bias, 1, pad, 1, groups)


def convolutions(program: NativeProgram) -> list[RoutineCall]:
    return [step for step in program.steps if isinstance(step, RoutineCall)]


IMAGES, MORE = floats(2, 3, 9, 7), floats(2, 8, 9, 7)
WEIGHT, BIAS, SECOND = floats(8, 3, 3, 3), floats(8), floats(8, 8, 3, 3)
SCALE = floats(8, 1, 1)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("options", "weight", "steps"), [
    (((2, 1), (1, 2), (1, 2), 1), (5, 3, 3, 2), 3), ((1, 0, 1, 3), (6, 1, 1, 1), 3),
    ((1, 1, 1, 3), (3, 1, 3, 3), 3), ((3, 3, 2, 1), (17, 3, 5, 3), 3),
    ((2, (3, 1), 1, 1), (17, 3, 5, 3), 2),
])
def test_images_of_few_channels_are_read_as_they_lie_and_others_are_copied(
    options: Any, weight: tuple[int, ...], steps: int, dynamic: bool,
) -> None:
    outs = weight[0]
    check(lambda x, w, b: ops.conv2d(x, w, b, *options), IMAGES, floats(*weight), floats(outs),
          dynamic=dynamic, kernels=None if dynamic else steps, atol=1e-5)


def test_lines_are_images_of_one_line() -> None:
    check(lambda x, w: ops.conv1d(x, w, None, 2, 1), floats(2, 3, 9), floats(5, 3, 3), kernels=2,
          atol=1e-5)


def test_what_is_between_convolutions_is_computed_where_these_read_it() -> None:
    def block(x: Any, first: Any, bias: Any, scale: Any, second: Any) -> Any:
        y = ops.relu(ops.mul(conv(x, first, bias), scale))
        return ops.add(ops.relu(conv(y, second)), y)
    program = check(block, IMAGES, WEIGHT, BIAS, SCALE, SECOND, atol=1e-4)
    # convolution, relu, convolution; and the sum, which is written as the result lies
    assert len(program.steps) == 4, text(program)
    assert [step.routine for step in convolutions(program)] == ["convolution"] * 2


@pytest.mark.parametrize(("between", "steps"), [
    (lambda y: ops.max_pool2d(y, 3, 2, 1), 4),
    (lambda y: ops.avg_pool2d(y, 2), 4),
    (lambda y: ops.cat([y, ops.relu(y)], 1)[:, 4:12], 4),
    (lambda y: ops.mul(y, ops.sigmoid(ops.mean(y, (2, 3), True))), 5),
    (lambda y: ops.flip(y, (2,)), 3),
])
def test_other_ops_keep_the_channels_last(between: Any, steps: int) -> None:
    """Steps: both convolutions, the copy of the result, and the ops."""
    def block(x: Any, first: Any, second: Any) -> Any:
        return conv(between(conv(x, first)), second)
    program = check(block, IMAGES, WEIGHT, SECOND, atol=1e-4)
    assert len(program.steps) == steps, text(program)
    kernels = [step for step in program.steps if not isinstance(step, RoutineCall)]
    for kernel in kernels[:-1]:    # their innermost loops are over channels
        assert "vector(8)" in print_step(kernel), text(program)


@pytest.mark.parametrize("dynamic", [False, True])
def test_windows_side_by_side_are_a_product(dynamic: bool) -> None:
    for x, weight in ((MORE, floats(8, 5, 2, 3)), (floats(2, 8, 9), floats(8, 5, 4))):
        kernel = weight.shape[2:]
        check(lambda x, w, b, kernel=kernel: ops.relu(
            (ops.conv_transpose1d if len(kernel) == 1 else ops.conv_transpose2d)(x, w, b, kernel)),
            x, weight, floats(5), dynamic=dynamic, kernels=3, atol=1e-5)


def test_float64_and_windows_that_overlap_run_eagerly() -> None:
    w = floats(8, 3, 3, 3, dtype=np.float64)
    for run, x in ((lambda x: conv(x, w) * 2, floats(2, 3, 9, 7, dtype=np.float64)),
                   (lambda x: ops.conv_transpose2d(x, WEIGHT) * 2, MORE)):
        compiled = gw.compile(run)
        assert gw.allclose(compiled(x), run(x)) and gw.compiler.stats(compiled).kernels == 1


def test_training_keeps_the_convolutions_that_have_gradients() -> None:
    layer = gw.nn.Conv2d(3, 8, 3)
    compiled = gw.compile(lambda x: layer(x).relu().sum())
    compiled(IMAGES).backward()
    found = layer.weight.grad
    layer.weight.grad = None
    layer(IMAGES).relu().sum().backward()
    assert gw.allclose(found, layer.weight.grad, atol=1e-4)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_both_emitters_call_it(target: str) -> None:
    run = gw.compile(lambda x, w: conv(x, w).relu(), backend=target)
    assert gw.allclose(run(IMAGES, WEIGHT), conv(IMAGES, WEIGHT).relu(), atol=1e-5)


@pytest.mark.parametrize(("outs", "size"), [(64, 40), (24, 57), (7, 30), (1, 90)])
def test_what_follows_runs_on_blocks_of_places(outs: int, size: int) -> None:
    """The same bits whether it does or not, and with any number of threads."""
    gw.manual_seed(0)
    x, residual = gw.randn(2, 16, size, size), gw.randn(2, outs, size, size)
    first, second = gw.randn(outs, 16, 3, 3), gw.randn(outs, outs, 1, 1)

    def block(x: Any, residual: Any, first: Any, second: Any) -> Any:
        y = gw.tanh(conv(x, first)) + 1
        return gw.tanh(conv(y, second, pad=0)).mean((2, 3)), conv(gw.sigmoid(y), second, pad=0)

    inputs = [x, residual, first, second]
    program, _ = program_of(block, inputs)
    assert program.chained, text(program)
    compiled, before, results = gw.compile(block), gw.get_num_threads(), []
    for threads in (1, 2):
        gw.set_num_threads(threads)
        results.append([y.numpy() for y in compiled(*inputs)])
    gw.set_num_threads(before)
    for one, other, eager in zip(*results, block(*inputs), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, eager.numpy(), rtol=1e-3, atol=1e-4)
