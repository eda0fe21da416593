"""Tiles as Triton source: what a kernel's text is, and how it is launched."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.loops import Accumulate, Const
from graphwright.codegen.triton import CannotEmit, TritonKernel, kernels, write_kernel
from graphwright.codegen.triton.names import Names
from graphwright.runtime.record import replace
from graphwright.runtime.tensor import dtypes

from .programs import program_of

F = gw.nn.functional


def written(fn: Any, *inputs: gw.Tensor, dynamic: bool = False) -> TritonKernel:
    """The one kernel of a function."""
    (kernel,) = kernels(program_of(fn, *inputs, dynamic=dynamic))
    return kernel


def body(kernel: TritonKernel) -> str:
    """A kernel's own lines."""
    head = f"def {kernel.name}({', '.join(parameters(kernel))}):\n"
    return kernel.source.partition(head)[2]


def parameters(kernel: TritonKernel) -> list[str]:
    more = ["error_ptr"] * kernel.checked + ["seed", "offset"] * kernel.random
    return [*kernel.parameters, *more, *(f"{b}: tl.constexpr" for b in kernel.blocks)]


def test_a_pointwise_kernel() -> None:
    kernel = written(lambda x: gw.exp(x), gw.ones(3000))
    assert kernel.source == """\
import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def k0_exp(arg0_ptr, out0_ptr, BLOCK_i: tl.constexpr):
    i = tl.program_id(0) * BLOCK_i + tl.arange(0, BLOCK_i)
    mask_i = i < 3000
    v1 = tl.load(arg0_ptr + i, mask=mask_i, other=0)
    v2 = libdevice.exp(v1)
    tl.store(out0_ptr + i, v2, mask=mask_i)
"""
    assert (kernel.blocks, kernel.grid, kernel.num_warps) == ({"BLOCK_i": 1024}, 3, 4)


def test_whole_blocks_need_no_mask() -> None:
    assert "mask" not in body(written(lambda x: x + 1, gw.ones(64, 1024)))
    assert "mask" not in body(written(lambda x: gw.softmax(x, -1), gw.ones(4096, 128)))


def test_a_row_is_loaded_and_computed_once() -> None:
    text = body(written(lambda x: gw.softmax(x, -1), gw.ones(4096, 100)))
    assert text.count("tl.load(") == 1 and text.count("libdevice.exp(") == 1


def test_a_long_row_is_read_in_turns() -> None:
    assert body(written(lambda x: x.argmax(-1), gw.ones(1000, 20000))) == """\
    i = tl.program_id(0)
    argmax_total = tl.full([BLOCK_r], float("-inf"), tl.float32)
    argmax_total_at = tl.full([BLOCK_r], 2147483647, tl.int32)
    for r_start in range(0, 20000, BLOCK_r):
        r = r_start + tl.arange(0, BLOCK_r)
        mask_r = r < 20000
        v1 = tl.load(arg0_ptr + 20000 * i + r, mask=mask_r, other=0)
        argmax_total, argmax_total_at = gw_first_max(argmax_total, argmax_total_at, \
tl.where(mask_r, v1, float("-inf")), tl.where(mask_r, r, 2147483647))
    _, argmax = tl.reduce((argmax_total, argmax_total_at), 0, gw_first_max)
    argmax = argmax.to(tl.int64)
    tl.store(out0_ptr + i, argmax)
"""


def test_a_checked_index_is_guarded_and_reported() -> None:
    kernel = written(lambda x, i: x[i], gw.ones(10), gw.zeros(128, dtype=gw.int64))
    assert kernel.checked
    assert """\
    ok = (t2 >= 0) & (t2 < 10)
    gw_report(tl.broadcast_to(error_ptr, [BLOCK_i]), t2, 0, (ok == 0))
    v3 = tl.load(arg0_ptr + t2, mask=ok, other=0)
""" in body(kernel)


def test_products_go_through_blocks_that_share_what_they_read() -> None:
    assert body(written(lambda x, y: x @ y, gw.ones(128, 64), gw.ones(64, 256))) == """\
    program = tl.program_id(0)
    block = program
    group = 8 * 4
    first = block // group * 8
    tall = tl.minimum(4 - first, 8)
    i = ((first + block % group % tall) * BLOCK_i + tl.arange(0, BLOCK_i))[:, None]
    j = ((block % group // tall) * BLOCK_j + tl.arange(0, BLOCK_j))[None, :]
    total = tl.zeros([BLOCK_i, BLOCK_j], tl.float32)
    for start in range(0, 64, BLOCK_r):
        inner = start + tl.arange(0, BLOCK_r)
        across = inner[None, :]
        down = inner[:, None]
        a = tl.load(arg0_ptr + 64 * i + across)
        b = tl.load(arg1_ptr + j + 256 * down)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=tl.float32)
    product = total
    tl.store(out0_ptr + 256 * i + j, product)
"""


def test_indices_have_32_bits_where_all_sizes_are_known_to_fit() -> None:
    assert "int64" not in body(written(lambda x: x + 1, gw.ones(1000)))
    dynamic = written(lambda x: x + 1, gw.ones(1000), dynamic=True)
    assert "i = tl.program_id(0).to(tl.int64) * BLOCK_i" in body(dynamic)
    assert dynamic.sizes == ("s0",) and dynamic.parameters[-1] == "s0"
    program = program_of(lambda x: x + 1, gw.ones(1000), dynamic=True)
    (narrow,) = kernels(program, narrow=True)
    assert "int64" not in body(narrow) and not narrow.wide
    assert [str(e) for e in program.steps[0].limited] == ["s0", "(s0 + 1023)//1024"]
    kernel = program_of(lambda x: x + 1, gw.ones(4096)).steps[0]
    large = replace(kernel, buffers=(replace(kernel.buffers[0], size=kernel.buffers[0].size * (
        1 << 20)), *kernel.buffers[1:]))
    assert ".to(tl.int64)" in write_kernel(large).source


def test_numbers_that_are_no_positions_in_memory_may_need_64_bits() -> None:
    text = body(written(lambda: gw.arange(0, 1 << 40, 1 << 30)))
    assert "v1 = (1073741824 * i.to(tl.int64)).to(tl.int64)\n" in text
    text = body(written(lambda: gw.arange(0, 1 << 20, 1 << 10)))
    assert "v1 = (1024 * i).to(tl.int64)\n" in text


def test_what_a_row_kernel_overwrites_has_been_loaded_by_all_threads() -> None:
    def function(x: Any) -> Any:
        return x.copy_(gw.softmax(x, -1))
    text = body(written(function, gw.ones(64, 100)))
    assert text.index("tl.debug_barrier()") < text.index("tl.store(arg0_ptr")


def test_random_kernels_take_seed_and_offset() -> None:
    kernel = written(lambda x: F.dropout(x, 0.5, True), gw.ones(64))
    assert kernel.random and ", seed, offset, BLOCK_i" in kernel.source


def test_the_users_lines_are_comments() -> None:
    def function(x: Any, w: Any) -> Any:
        y = x @ w
        return (y * 2).relu()
    compiled = gw.compile(function, backend="llvm")
    compiled(gw.ones(4, 4), gw.ones(4, 4))
    texts = gw.compiler.dump(compiled, ["tiles", "triton"])
    for line in ("y = x @ w", "return (y * 2).relu()"):
        assert f": {line}\n" in texts["triton"]
    assert "kernel k1_relu_mm: i in tiles of 16 (4)" in texts["tiles"]


def test_an_addition_that_memory_has_no_instruction_for_says_so() -> None:
    program = program_of(lambda x: x + 1, gw.ones(10, dtype=gw.int8))
    store = program.steps[0].body[-1]
    added = Accumulate(store.buffer, store.index, Const(1, dtypes.int8))
    with pytest.raises(CannotEmit, match="sum in memory of int8"):
        write_kernel(replace(program.steps[0], body=(added,)))


NAMES = ("p", "r", "d0", "v1", "v2", "tl", "mask_i", "BLOCK_i", "program", "range", "float",
         "kernel", "gw_nan_max", "libdevice")


def test_a_name_is_given_once() -> None:
    names = Names("sum_1")
    given = [names.buffer("x"), names.scalar("x_ptr"), names.scalar("sum_1"), names.scalar("tl"),
             names.scalar("v1"), names.temporary(), names.mask("i"), names.scalar("mask_i"),
             names.block("i"), names.scalar("BLOCK_i"), names.scalar("lambda")]
    assert given == ["x_ptr", "x_ptr_1", "sum_1_1", "tl_1", "v1", "v1_1", "mask_i", "mask_i_1",
                     "BLOCK_i", "BLOCK_i_1", "lambda_1"]
    assert names.buffer("x") == "x_ptr" and names.temporary() == "v2"
