"""Functions as tiles: which kernels there are, and what each does, as text."""

from __future__ import annotations

import graphwright as gw
from graphwright.runtime.ops import functions as ops

from .programs import program_of, tiles

F = gw.nn.functional


def rows(*shape: int) -> gw.Tensor:
    return gw.zeros(shape)


def test_neighbouring_axes_are_one() -> None:
    assert tiles(lambda x, y: gw.exp(x) + y, rows(64, 100), rows(64, 100)) == """\
kernel k0_add: i in tiles of 1024 (6400)
    out0[i] = (exp(arg0[i]) + arg1[i])
"""


def test_operands_that_lie_crosswise_have_square_tiles() -> None:
    assert tiles(lambda x, y: x.t() + y, rows(100, 64), rows(64, 100)) == """\
kernel k0_add: i in tiles of 32 (100), j in tiles of 64 (64)
    out0[64*i + j] = (arg0[64*i + j] + arg1[i + 100*j])
"""


def test_short_rows_share_a_program() -> None:
    assert tiles(lambda x: gw.softmax(x, -1), rows(4096, 128)) == """\
kernel k0_amax_exp_sum_div: i in tiles of 8 (4096), r in 128 (128)
    amax = reduce max over r in vector(128): arg0[128*i + r]
    reduce over r in vector(128):
        exp = exp((arg0[128*i + r] - amax))
        sum = sum exp
    inverse = (1.0 / sum)
    for r in vector(128):
        exp_1 = exp((arg0[128*i + r] - amax))
        out0[128*i + r] = (exp_1 * inverse)
"""


def test_columns_are_read_along_their_neighbours() -> None:
    assert tiles(lambda x: x.amax(0), rows(100, 8192)) == """\
kernel k0_amax: i in tiles of 64 (8192), r in 128 (100)
    amax = reduce max over r in vector(100): arg0[i + 8192*r]
    out0[i] = amax
"""


def test_long_rows_are_read_in_turns() -> None:
    assert tiles(lambda x: x.sum(-1), rows(1000, 20000)) == """\
kernel k0_sum: i in tiles of 1 (1000), r in turns of 2048 (20000)
    sum = reduce sum over r in vector(20000): arg0[20000*i + r]
    out0[i] = sum
"""


def test_few_long_rows_are_split() -> None:
    assert tiles(lambda x: x.sum(), rows(1024, 1024)) == """\
kernel k0_sum: i in tiles of 1 (264), r in 4096 (3984)
    sum_partial_1 = reduce sum over r in vector(3984): where((index(3984*i + r) < \
index(1048576)), (arg0[3984*i + r] if (index(3984*i + r) < index(1048576)) else 0.0), 0.0)
    sum_partial[i] = sum_partial_1
kernel k1_sum: i in tiles of 1 (1), r in 512 (264)
    sum = reduce sum over r in vector(264): sum_partial[r]
    out0[0] = sum
"""


def test_the_first_greatest_of_a_split_row_is_where_it_equals_the_greatest() -> None:
    names = [k.name for k in program_of(lambda x: x.argmax(-1), rows(2, 100000)).steps]
    assert names == ["k0_argmax", "k1_argmax", "k2_argmax", "k3_argmax"]


def test_several_axes_are_folded_as_one_row() -> None:
    assert tiles(lambda x: x.mean((0, 2)), rows(16, 32, 100)) == """\
kernel k0_sum_div: i in tiles of 1 (32), r in 2048 (1600)
    sum = reduce sum over r in vector(1600): arg0[100*i + r % 100 + 3200*(r//100)]
    out0[i] = (sum / 1600.0)
"""


def test_running_sums_are_one_pass() -> None:
    assert tiles(lambda x: gw.cumsum(x, 0), rows(50, 7)) == """\
kernel k0_cumsum: i in tiles of 8 (7), r in 64 (50)
    for r in vector(50):
        cumsum = running sum of arg0[i + 7*r]
        out0[i + 7*r] = cumsum
"""


def test_a_long_scan_is_split() -> None:
    text = tiles(lambda x: gw.cumsum(x, 0), rows(40960))
    assert text == """\
kernel k0_cumsum: i in tiles of 1 (10), r in 4096 (4096)
    cumsum_totals_1 = reduce sum over r in vector(4096): arg0[4096*i + r]
    cumsum_totals[i] = cumsum_totals_1
kernel k1_cumsum: i in tiles of 1 (1), r in 16 (10)
    for r in vector(10):
        cumsum_until_1 = running sum of cumsum_totals[r]
        cumsum_until[r] = cumsum_until_1
kernel k2_cumsum: i in tiles of 1 (10), r in 4096 (4096)
    for r in vector(4096):
        cumsum_inner_1 = running sum of arg0[4096*i + r]
        cumsum_inner[4096*i + r] = cumsum_inner_1
kernel k3_cumsum: i in tiles of 1024 (40960)
    out0[i] = ((cumsum_until[i//4096 - 1] if (index(i//4096) > 0) else 0.0) + cumsum_inner[i])
"""


def test_products_have_what_reads_them_as_epilogue() -> None:
    text = tiles(lambda x, w, b: F.relu(F.linear(x, w, b)), rows(50, 48), rows(80, 48), rows(80))
    assert text == """\
kernel k1_relu_mm: i in tiles of 32 (50), j in tiles of 64 (80)
    product = sum over r in turns of 16 (48): arg0[48*i + r] * arg1[48*j + r]
    out0[80*i + j] = max(0.0, (product + arg2[j]))
"""


def test_a_product_with_two_readers_is_stored() -> None:
    text = tiles(lambda x, y: ((p := x @ y).relu(), p.sum(-1)), rows(64, 64), rows(64, 64))
    assert "    mm[64*i + j] = product\n" in text


def test_indices_are_checked_where_they_are_used() -> None:
    text = tiles(lambda x, i: x[i] + 1, rows(10, 4), gw.zeros(6, dtype=gw.int64))
    assert text == """\
kernel k0_add: i in tiles of 32 (24)
    t1 = arg1[i//4]
    t2 = where((t1 < 0), (t1 + 10), t1)
    check 0 <= t2 < 10
    out0[i] = (arg0[4*t2 + i % 4] + 1.0)
"""


def test_the_last_of_several_writes_wins() -> None:
    index = gw.zeros(5, dtype=gw.int64)
    text = tiles(lambda x, v: x.index_put((index,), v), rows(3), rows(5))
    assert "index_put_last1[t2] max= int32(index(i))\n" in text
    assert "out0[i] = where((index_put_at1 >= 0), (arg1[index_put_at1]" in text


def test_sums_of_small_integers_are_made_in_wider_ones() -> None:
    index = gw.zeros(5, dtype=gw.int64)
    text = tiles(lambda x, v: x.index_put((index,), v, accumulate=True),
                 gw.zeros(3, dtype=gw.int8), gw.zeros(5, dtype=gw.int8))
    assert "index_put_sum1[t2] += int32(arg1[i])\n" in text


def test_dynamic_sizes_are_symbols() -> None:
    text = tiles(lambda x: gw.softmax(x, -1), rows(6, 10), dynamic=True)
    assert text.startswith(
        "kernel k0_amax_exp_sum_div: i in tiles of 1 (s0), r in turns of 2048 (s1)\n")


def test_a_long_softmax_finds_maximum_and_sum_in_one_pass() -> None:
    assert tiles(lambda x: gw.softmax(x, -1), rows(1000, 20000)) == """\
kernel k0_amax_exp_sum_div: i in tiles of 1 (1000), r in turns of 2048 (20000)
    reduce over r in vector(20000):
        amax = max arg0[20000*i + r]
        sum = sumexp arg0[20000*i + r]
    inverse = (1.0 / sum)
    for r in vector(20000):
        exp_1 = exp((arg0[20000*i + r] - amax))
        out0[20000*i + r] = (exp_1 * inverse)
"""


def test_attention_is_one_kernel_over_operands_where_they_are() -> None:
    text = tiles(lambda q, k, v: ops.fused_attention(
        q.transpose(1, 2), k.transpose(1, 2) * 2, v.transpose(1, 2), None, True, 0.125)[0],
        rows(2, 50, 4, 64), rows(2, 70, 4, 64), rows(2, 70, 4, 64))
    assert text == """\
kernel k0_attention: p in tiles of 1 (8), i in tiles of 32 (50), j in tiles of 64 (64)
    attention = attention over r in turns of 32 (70), d in 64 (64), scale 0.125, causal:
        query = arg0[d + 256*i + 64*(p % 4) + 12800*(p//4)]
        key = (arg1[d + 256*r + 64*(p % 4) + 17920*(p//4)] * 2.0)
        value = arg2[j + 256*r + 64*(p % 4) + 17920*(p//4)]
    out0[64*i + j + 3200*p] = attention
"""
