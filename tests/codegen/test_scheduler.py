"""Which kernels the scheduler makes, as text, and that they are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphwright.codegen.build import build_program
from graphwright.codegen.compile import compile_graph
from graphwright.codegen.emit.lanes import all_values
from graphwright.codegen.loops import Apply, For, Kernel, LoopKind
from graphwright.codegen.lowering.graph import lower_graph as to_loops
from graphwright.ir.pipeline import lower_graph
from graphwright.ir.trace import trace
from graphwright.runtime.fake.fake_tensor import fake_like
from graphwright.runtime.ops import functions as ops

from .lowered import check, program_of, tensor, text

RNG = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def printed(fn: Any, *inputs: np.ndarray, dynamic: bool = False) -> str:
    program, _ = program_of(fn, [tensor(x) for x in inputs], dynamic)
    return text(program)


def test_pointwise_chain_is_one_flat_loop() -> None:
    def chain(x: Any) -> Any:
        return ops.mul(ops.relu(ops.add(ops.exp(x), 1.0)), x)
    assert printed(chain, np.zeros((2048, 2048), np.float32)) == """\
kernel k0_mul:
    for p in parallel(1024):
        for i0 in vector(4096):
            out0[i0 + 4096*p] = (max(0.0, (exp(arg0[i0 + 4096*p]) + 1.0)) * arg0[i0 + 4096*p])
"""


def test_small_work_stays_on_one_thread() -> None:
    assert printed(lambda x: ops.mul(ops.relu(ops.add(x, 1.0)), 2.0), normal(1000)) == """\
kernel k0_mul:
    for i0 in vector(1000):
        out0[i0] = (max(0.0, (arg0[i0] + 1.0)) * 2.0)
"""


def test_softmax_is_one_kernel() -> None:
    x = np.zeros((4096, 1024), np.float32)
    assert printed(lambda x: ops.softmax(x, 1), x) == """\
kernel k0_amax_exp_sum_div:
    for p in parallel(4096):
        amax = reduce max over j0 in vector(1024): arg0[j0 + 1024*p]
        reduce over j0 in vector(1024):
            exp_1 = exp((arg0[j0 + 1024*p] - amax))
            out0[j0 + 1024*p] = exp_1
            sum = sum exp_1
        inverse = (1.0 / sum)
        for j0 in vector(1024):
            out0[j0 + 1024*p] = (out0[j0 + 1024*p] * inverse)
"""


def test_layer_norm_is_one_kernel() -> None:
    x = np.zeros((8, 512, 1024), np.float32)
    weight = np.ones(1024, np.float32)
    found = printed(lambda x, w, b: ops.layer_norm(x, (1024,), w, b), x, weight, weight)
    assert found == """\
kernel k0_sum_rsqrt_add:
    for p in parallel(4096):
        sum = reduce sum over j0 in vector(1024): arg0[j0 + 1024*p]
        div = (sum * 0.0009765625)
        reduce over j0 in vector(1024):
            sub = (arg0[j0 + 1024*p] - div)
            sum_2 = sum sub
            sum_4 = sum (sub * sub)
        lt = (sum_4 < inf)
        div_1 = (sum_2 * 0.0009765625)
        mul_1 = (div_1 * div_1)
        mul_2 = (mul_1 * 1024.0)
        sub_1 = (sum_4 - mul_2)
        clamp = max(0.0, sub_1)
        where = where(lt, clamp, sum_4)
        div_2 = (where * 0.0009765625)
        add = (div_2 + 1e-05)
        rsqrt = rsqrt(add)
        for j0 in vector(1024):
            sub_2 = (arg0[j0 + 1024*p] - div)
            out0[j0 + 1024*p] = ((((sub_2 - div_1) * rsqrt) * arg1[j0]) + arg2[j0])
"""


def test_mlp_is_products_and_their_epilogues() -> None:
    def mlp(x: Any, w: Any, b: Any, v: Any, c: Any) -> Any:
        return ops.linear(ops.relu(ops.linear(x, w, b)), v, c)
    found = printed(mlp, normal(128, 784), normal(512, 784), normal(512), normal(10, 512),
                    normal(10))
    assert found == """\
relu = gemm(arg0, arg1.T)  # 128 x 784 x 512
kernel k1_relu:
    for p in parallel(128):
        for i0 in vector(512):
            relu[i0 + 512*p] = max(0.0, (relu[i0 + 512*p] + arg2[i0]))
out0 = gemm(relu, arg3.T)  # 128 x 512 x 10
kernel k3_add:
    for i0 in serial(128):
        for i1 in vector(10):
            out0[10*i0 + i1] = (out0[10*i0 + i1] + arg4[i1])
"""


def test_tall_columns_are_streamed_in_stages() -> None:
    assert printed(lambda x: ops.sum(x, (0,)), np.zeros((4096, 1024), np.float32)) == """\
kernel k0_sum:
    for p in parallel(16):
        for b in serial(32):
            for v in vector(1024):
                sum = reduce sum over r in serial(8): arg0[8192*b + 262144*p + 1024*r + v]
                sum_partial[1024*p + v] = where((index(b) == 0), sum, (sum_partial[1024*p + v] + sum))
    for i0 in vector(1024):
        sum = reduce sum over j0 in serial(16): sum_partial[i0 + 1024*j0]
        out0[i0] = sum
"""  # noqa: E501


def test_taller_columns_go_to_float64_once_in_256_rows() -> None:
    assert printed(lambda x: ops.sum(x, (0,)), np.zeros((16384, 1024), np.float32)) == """\
kernel k0_sum:
    for p in parallel(16):
        for b0 in serial(4):
            for b1 in serial(32):
                for v in vector(1024):
                    sum = reduce sum over r in serial(8): arg0[262144*b0 + 8192*b1 + 1048576*p + 1024*r + v]
                    sum_partial[1024*p + v] = where((index(b1) == 0), sum, (sum_partial[1024*p + v] + sum))
            for v in vector(1024):
                sum_partial_1[1024*p + v] = where((index(b0) == 0), float64(sum_partial[1024*p + v]), (sum_partial_1[1024*p + v] + float64(sum_partial[1024*p + v])))
    for i0 in vector(1024):
        sum_total = reduce sum over j0 in serial(16): sum_partial_1[i0 + 1024*j0]
        sum = float32(sum_total)
        out0[i0] = sum
"""  # noqa: E501


@pytest.mark.parametrize(("shape", "loops"), [
    ((2, 24, 4, 4), """\
kernel k0_sum:
    for i0 in serial(24):
        sum = reduce sum over j0 in serial(2), j1 in vector(16): arg0[16*i0 + 384*j0 + j1]
        out0[i0] = sum
"""),
    ((2, 24, 3, 2), """\
kernel k0_sum:
    for i0 in vector(24):
        sum = reduce sum over j0 in serial(2), j1 in serial(6): arg0[6*i0 + 144*j0 + j1]
        out0[i0] = sum
"""),
], ids=["4x4", "3x2"])
def test_axes_that_continue_in_memory_are_one_row(shape: tuple[int, ...], loops: str) -> None:
    """The images of a channel are folded along memory, unless they are a few elements small."""
    assert printed(lambda x: ops.sum(x, (0, 2, 3)), normal(*shape)) == loops


def test_whole_tensors_are_summed_in_fixed_chunks() -> None:
    assert printed(lambda x: ops.mean(x), np.zeros((4096, 1024), np.float32)) == """\
kernel k0_sum_div:
    for p in parallel(64):
        sum = reduce sum over j0 in vector(65536): arg0[j0 + 65536*p]
        sum_partial[p] = sum
    sum = reduce sum over j0 in serial(64): sum_partial[j0]
    out0[0] = (sum * 2.384185791015625e-07)
"""


ROWS = {
    "some of the rows": lambda x: ops.sum(ops.slice(x, 1, 0, 2), (2, 3)),
    "rows in another order": lambda x: ops.sum(ops.permute(x, (1, 0, 2, 3)), (2, 3)),
    "windows that overlap": lambda x: ops.avg_pool(
        ops.narrow(x[:1], 1, 0, 1), (190, 190), (10, 10), (0, 0), False, True, None),
}


@pytest.mark.parametrize("name", ROWS)
def test_few_long_rows_that_do_not_follow_one_another(name: str) -> None:
    check(ROWS[name], normal(2, 3, 200, 200), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dims", [0, None])
def test_positions_are_not_found_in_stages(dims: int | None) -> None:
    def both(x: Any) -> Any:
        return ops.amax(x, () if dims is None else (dims,)), ops.argmax(x, dims)
    x = normal(20_000, 16)
    assert printed(both, x).count("kernel") == 2
    check(both, [tensor(x)])


def test_symbolic_sizes_stay_symbols() -> None:
    assert printed(lambda x: ops.softmax(x, 1), normal(6, 9), dynamic=True) == """\
kernel k0_amax_exp_sum_div:
    for p in parallel(s0):
        amax = reduce max over j0 in vector(s1): arg0[j0 + p*s1]
        reduce over j0 in vector(s1):
            exp_1 = exp((arg0[j0 + p*s1] - amax))
            out0[j0 + p*s1] = exp_1
            sum = sum exp_1
        inverse = (1.0 / sum)
        for j0 in vector(s1):
            out0[j0 + p*s1] = (out0[j0 + p*s1] * inverse)
"""


COUNTS: dict[str, tuple[Any, list[np.ndarray], int]] = {
    "softmax": (lambda x: ops.softmax(x, 1), [normal(40, 100)], 1),
    "log_softmax": (lambda x: ops.log_softmax(x, 1), [normal(40, 100)], 1),
    "layer_norm": (lambda x, w, b: ops.layer_norm(x, (100,), w, b),
                   [normal(40, 100), normal(100), normal(100)], 1),
    "layer_norm of three axes": (lambda x, w, b: ops.layer_norm(ops.add(x, x), (20,), w, b),
                                 [normal(4, 10, 20), normal(20), normal(20)], 1),
    "softmax over channels": (lambda x: ops.softmax(x, 1), [normal(2, 5, 6, 7)], 1),
    "two results of one row": (lambda x: (ops.sum(x, (1,)), ops.amax(x, (1,))),
                               [normal(40, 100)], 1),
    "two columns": (lambda x: (ops.sum(x, (0,)), ops.sum(ops.mul(x, x), (0,))),
                    [normal(600, 100)], 1),
    "normalised by its columns": (lambda x: ops.div(x, ops.sum(x, (0,), True)),
                                  [np.abs(normal(100, 40))], 1),
    "siblings": (lambda x: (ops.exp(x), ops.tanh(x)), [normal(40, 100)], 1),
    "a shared expensive value": (lambda x: (ops.mul(ops.exp(x), 2.0), ops.neg(ops.exp(x))),
                                 [normal(40, 100)], 1),
    "a reshaped reader": (lambda x: ops.sum(ops.view(ops.exp(x), (8, 5, 100)), (2,)),
                          [normal(40, 100)], 1),
    "cross_entropy": (ops.cross_entropy, [normal(40, 10), RNG.integers(0, 10, 40)], 2),
}


@pytest.mark.parametrize("name", COUNTS)
def test_kernel_counts(name: str) -> None:
    fn, inputs, kernels = COUNTS[name]
    check(fn, *inputs, kernels=kernels, rtol=1e-4, atol=1e-4)


BACKWARDS: dict[str, tuple[Any, list[np.ndarray], int]] = {
    "softmax": (lambda x: ops.softmax(x, 1), [normal(40, 100)], 1),
    "log_softmax": (lambda x: ops.log_softmax(x, 1), [normal(40, 100)], 1),
    "layer_norm": (lambda x, w, b: ops.layer_norm(x, (100,), w, b),
                   [normal(400, 100), normal(100), normal(100)], 2),
}


def backward_of(fn: Any, *inputs: np.ndarray) -> Any:
    """The program of a function's backward."""
    fakes = [fake_like(tensor(x)) for x in inputs]
    for fake in fakes:
        fake.requires_grad = True
    module = trace(lambda *a: (fn(*a),), fakes, keep=lambda op: True)
    backward = lower_graph(module, fakes, needs_grad=True).backward
    assert backward is not None
    examples = [n.meta["val"] for n in backward.graph.placeholders]
    return build_program(to_loops(backward, examples))


@pytest.mark.parametrize("name", BACKWARDS)
def test_kernel_counts_of_backwards(name: str) -> None:
    fn, inputs, kernels = BACKWARDS[name]
    program = backward_of(fn, *inputs)
    assert len(program.steps) <= kernels, text(program)


def test_a_weight_used_by_many_layers_sums_its_gradients_in_short_expressions() -> None:
    def fn(x: Any, w: Any) -> Any:
        for _ in range(60):
            x = ops.tanh(ops.matmul(x, w))
        return ops.sum(x)

    lines = text(backward_of(fn, normal(4, 8), normal(8, 8))).splitlines()
    assert max(line.count(" + ") for line in lines) < 30


def test_long_chains_are_cut_but_stay_one_kernel() -> None:
    def fn(x: Any) -> Any:
        for _ in range(200):
            x = ops.add(ops.sin(x), x)
        return x
    check(fn, normal(30), kernels=None, rtol=1e-2, atol=1e-2)


def test_a_doubling_chain_does_not_explode() -> None:
    def fn(x: Any) -> Any:
        for _ in range(40):
            x = ops.add(x, x)
        return x
    assert len(text(check(fn, normal(30) * 1e-9)).splitlines()) < 200


def test_parallel_loops_are_outermost() -> None:
    program = check(lambda x: ops.softmax(ops.mul(x, 2.0), 2), normal(8, 64, 200))
    (kernel,) = program.steps
    assert isinstance(kernel, Kernel)
    (loop,) = kernel.body
    assert isinstance(loop, For)
    assert loop.kind is LoopKind.PARALLEL
    assert loop.grain >= 1


def test_overwritten_inputs_are_read_first() -> None:
    def fn(x: Any, y: Any) -> Any:
        total = ops.sum(ops.add(y, 0.5))
        ops.copy_(y, ops.neg(y))
        ops.copy_(x, ops.expand(total, (40,)))
        return total
    x, y = tensor(normal(40)), tensor(normal(40))
    before = y._nd.copy()
    module = trace(lambda *a: (fn(*a),), [fake_like(x), fake_like(y)], keep=lambda op: True)
    compiled = compile_graph(module, [fake_like(x), fake_like(y)], target="llvm")
    (total,) = compiled(x, y)
    np.testing.assert_allclose(total._nd, (before + 0.5).sum(), rtol=1e-5)
    np.testing.assert_allclose(y._nd, -before)
    np.testing.assert_allclose(x._nd, np.full(40, total._nd))


def test_inputs_that_swap_are_read_first() -> None:
    def fn(x: Any, y: Any) -> Any:
        old = ops.mul(x, 1.0)
        ops.copy_(x, y)
        ops.copy_(y, old)
        return ()
    x, y = tensor(normal(40)), tensor(normal(40))
    a, b = x._nd.copy(), y._nd.copy()
    module = trace(fn, [fake_like(x), fake_like(y)], keep=lambda op: True)
    compile_graph(module, [fake_like(x), fake_like(y)], target="llvm")(x, y)
    np.testing.assert_array_equal(x._nd, b)
    np.testing.assert_array_equal(y._nd, a)


def test_what_lies_crosswise_is_walked_in_tiles() -> None:
    x, y = np.zeros((1024, 1040), np.float32), np.zeros((1040, 1024), np.float32)
    assert printed(lambda x, y: ops.add(ops.transpose(x, 0, 1), y), x, y) == """\
kernel k0_add:
    for p in parallel(4160):
        for i0 in serial(16):
            for i1 in vector(16):
                out0[1040*i0 + i1 + 16640*(p % 64) + 16*(p//64)] = \
(arg0[1040*i0 + i1 + 16640*(p % 64) + 16*(p//64)] + \
arg1[i0 + 1024*i1 + 16*(p % 64) + 16384*(p//64)])
"""


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("shape", [(100, 120), (3, 70, 65), (65, 4, 66), (20, 33, 33)])
def test_tiles_cover_any_size(shape: tuple[int, ...], dynamic: bool) -> None:
    """Rows and columns that are no multiples of a tile, and other axes around or between."""
    other = normal(*shape[::-1])
    check(lambda x, y: ops.mul(ops.permute(x, tuple(range(len(shape)))[::-1]), y),
          tensor(normal(*shape)), tensor(other), dynamic=dynamic)


def test_folded_axes_follow_memory() -> None:
    assert printed(lambda x: ops.sum(ops.transpose(x, 0, 1)), normal(1024, 1024)) == printed(
        lambda x: ops.sum(x), normal(1024, 1024))


def test_later_passes_of_a_row_do_not_repeat_long_chains() -> None:
    def norms(count: int) -> Any:
        def run(x: Any) -> Any:
            for _ in range(count):
                y = ops.sub(x, ops.mean(x, 1, True))
                x = ops.add(ops.mul(ops.mul(y, 0.9), 1.1), 0.3)
            return x
        return run

    def operations(count: int) -> int:
        program, _ = program_of(norms(count), [tensor(normal(8, 40))])
        return sum(isinstance(v, Apply) for step in program.steps for v in all_values(step.body))

    assert operations(12) < 2.3 * operations(6)
    check(norms(12), normal(8, 40))
