"""Asynchronous copies, mbarriers, tensor maps and wgmma, by hand-written PTX."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

from .assembled import BLOCK, HEADER, launch
from .forms import forms_of
from .ptx.values import TYPES, Array, Fault
from .ptx.wgmma import swizzle

PRODUCTS, COPIES = forms_of("wgmma.mma_async"), forms_of("cp.async.ca", "cp.async.cg")
# Forms that `COPY_TEXT`, `MAP_TEXT` and `product_text` have, but for what parametrises them.
COPY_TEXT = HEADER + """
.shared .align 16 .b8 memory[4096];
.visible .entry k(.param .u64 k_0, .param .u64 k_1) .reqntid 128 {
  .reg .b32 %t, %at, %n, %v<4>; .reg .b64 %from, %to; .reg .pred %p;
  ld.param.u64 %from, [k_0]; ld.param.u64 %to, [k_1]; mov.u32 %t, %tid.x;
  mad.wide.u32 %from, %t, 16, %from; mad.wide.u32 %to, %t, 32, %to;
  shl.b32 %at, %t, 4; mov.b32 %n, memory; add.u32 %at, %at, %n;
  setp.lt.u32 %p, %t, 100; selp.b32 %n, SIZE, 0, %p;
  FORM [%at], [%from], SIZE, %n;
  cp.async.commit_group;
  FORM [%at+2048], [%from], SIZE;
  cp.async.commit_group;
  cp.async.wait_group FIRST;
  READ
  cp.async.wait_group 0;
  bar.sync 0;
  ld.shared.b32 %v0, [%at]; ld.shared.b32 %v1, [%at+2048];
  st.global.v2.b32 [%to+8], {%v0, %v1};
  ret;
}
"""


@pytest.mark.parametrize("form", COPIES)
def test_copies_land_when_their_group_is_waited_for(form: str) -> None:
    size = 16 if ".cg" in form else 4
    x = np.random.default_rng(0).integers(0, 2**32, (BLOCK, 4), dtype=np.uint32)
    text = COPY_TEXT.replace("FORM", form).replace("SIZE", str(size))
    out = np.zeros((BLOCK, 8), np.uint32)
    launch(text.replace("FIRST", "1").replace("READ", "ld.shared.b32 %v0, [%at];"
                                              " st.global.b32 [%to], %v0;"), [x, out])
    first = np.where(np.arange(BLOCK) < 100, x[:, 0], 0)
    np.testing.assert_array_equal(out[:, 0], first)
    np.testing.assert_array_equal(out[:, 2], first)
    np.testing.assert_array_equal(out[:, 3], x[:, 0])


@pytest.mark.parametrize("first, place", [("2", "%at"), ("1", "%at+2048")])
def test_a_read_before_the_wait_is_reported(first: str, place: str) -> None:
    form = "cp.async.cg.shared.global"
    text = COPY_TEXT.replace("FORM", form).replace("SIZE", "16").replace("FIRST", first)
    text = text.replace("READ", f"ld.shared.b32 %v0, [{place}];")
    with pytest.raises(Fault, match=r"line 17: ld\.shared\.b32 %v0.*is read before it is written"):
        launch(text, [np.zeros((BLOCK, 4), np.uint32), np.zeros((BLOCK, 8), np.uint32)])


# ---- barriers ----

def test_a_barrier_by_number_waits_for_its_count_and_arrivals() -> None:
    """Warps 0 and 1 hand over to warps 2 and 3: bar.arrive does not wait, bar.sync does."""
    text = HEADER + """
.shared .align 16 .b8 memory[256];
.visible .entry k(.param .u64 k_0) .reqntid 128 {
  .reg .b32 %t, %at, %n; .reg .b64 %to; .reg .pred %p;
  ld.param.u64 %to, [k_0]; mov.u32 %t, %tid.x; and.b32 %n, %t, 63; shl.b32 %at, %n, 2;
  mov.b32 %n, memory; add.u32 %at, %at, %n; setp.lt.u32 %p, %t, 64;
  @%p bra $first;
  bar.sync 1, 128; ld.shared.b32 %n, [%at]; mad.wide.u32 %to, %t, 4, %to;
  st.global.b32 [%to], %n; bar.sync 2, 64; ret;
$first:
  st.shared.b32 [%at], %t; bar.arrive 1, 128; ret;
}"""
    out = np.zeros(BLOCK, np.uint32)
    launch(text, [out])
    np.testing.assert_array_equal(out[64:], np.arange(64))
    with pytest.raises(Fault, match="is read before it is written"):
        launch(text.replace("bar.sync 1, 128;", ""), [out])


MBARRIER = HEADER + """
.shared .align 16 .b8 memory[512];
.visible .entry k(.param .u64 k_0) .reqntid 128 {
  .reg .b32 %t, %bar, %n, %v; .reg .b64 %to, %state; .reg .pred %p, %done, %w;
  ld.param.u64 %to, [k_0]; mov.u32 %t, %tid.x; mov.b32 %bar, memory; setp.eq.u32 %p, %t, 0;
  @%p mbarrier.init.shared::cta.b64 [%bar], COUNT;
  bar.sync 0; setp.lt.u32 %w, %t, 32; @%w bra $wait;
  shl.b32 %n, %t, 2; add.u32 %n, %n, %bar; st.shared.b32 [%n], %t;
  mbarrier.arrive.shared::cta.b64 _, [%bar]; bra.uni $end;
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
  @!%done bra $wait;
  shl.b32 %n, %t, 2; add.u32 %n, %n, %bar; ld.shared.b32 %v, [%n+128];
  mad.wide.u32 %to, %t, 4, %to; st.global.b32 [%to], %v;
$end:
  bar.sync 0; @%p mbarrier.inval.shared::cta.b64 [%bar]; ret;
}"""


def test_threads_wait_for_the_arrivals_at_an_mbarrier() -> None:
    out = np.zeros(BLOCK, np.uint32)
    launch(MBARRIER.replace("COUNT", "96"), [out])
    np.testing.assert_array_equal(out[:32], np.arange(32) + 32)


def test_an_mbarrier_that_expects_more_arrivals_is_a_deadlock() -> None:
    with pytest.raises(Fault, match=r"line 14: mbarrier\.try_wait.*deadlock: all threads wait"):
        launch(MBARRIER.replace("COUNT", "97"), [np.zeros(BLOCK, np.uint32)])


def test_more_arrivals_at_once_than_an_mbarrier_expects_are_reported() -> None:
    text = MBARRIER.replace("_, [%bar]; bra.uni $end;", "_, [%bar], 96; bra.uni $end;")
    with pytest.raises(Fault, match="more arrivals at an mbarrier than the 95 that it expects"):
        launch(text.replace("COUNT", "95"), [np.zeros(BLOCK, np.uint32)])


# ---- tensor maps ----

MAP_TEXT = HEADER + """
.shared .align 1024 .b8 memory[20480];
.visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2) .reqntid 128 {
  .reg .b32 %t, %map, %tile, %bar, %x, %v, %n; .reg .b64 %from, %to, %far, %s, %g;
  .reg .pred %p, %q, %done;
  ld.param.u64 %from, [k_0]; ld.param.u64 %to, [k_1]; ld.param.u64 %far, [k_2];
  mov.u32 %t, %tid.x; mov.b32 %tile, memory;
  add.u32 %map, %tile, 16384; add.u32 %bar, %tile, 16896;
  setp.eq.u32 %p, %t, 0; setp.lt.u32 %q, %t, 32; shl.b32 %x, %t, 2; add.u32 %n, %map, %x;
  mov.b32 %v, 0; @%q st.shared.b32 [%n], %v; bar.sync 0; cvt.u64.u32 %s, %map;
  mov.b32 %v, 1;
  @%p tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%s], %from;
  @%p tensormap.replace.tile.rank.shared::cta.b1024.b32 [%s], 1;
  @%p tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s], 0, WIDTH;
  @%p tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%s], 1, 16;
  @%p tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s], 0, 100;
  @%p tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%s], 1, 50;
  mov.b64 %g, 208;
  @%p tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%s], 0, %g;
  @%p tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s], 0, %v;
  @%p tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%s], 1, %v;
  @%p tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%s], 10;
  @%p tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%s], 0;
  @%p tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%s], MODE;
  @%p tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%s], FILL;
  bar.sync 0;
  @%q tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
    [%far], [%s], 0x80;
  fence.proxy.tensormap::generic.acquire.gpu [%far], 0x80;
  @%p mbarrier.init.shared::cta.b64 [%bar], 1; fence.acq_rel.gpu; bar.sync 0;
  @%p mbarrier.arrive.expect_tx.SHARED.b64 _, [%bar], BYTES;
  mov.b32 %x, COLUMN; mov.b32 %v, ROW;
  @%p cp.async.bulk.tensor.2d.CLUSTER.global.mbarrier::complete_tx::bytes
    [%tile], [%far, {%x, %v}], [%bar];
$wait:
  mbarrier.try_wait.parity.SHARED.b64 %done, [%bar], 0;
  @!%done bra $wait;
  fence.proxy.async.shared::cta; mov.b32 %x, 0; mov.b32 %v, 16; mov.u32 %n, %t;
$copy:
  mad.lo.u32 %map, %n, 4, %tile; ld.shared.b32 %map, [%map]; mad.wide.u32 %g, %n, 4, %to;
  st.global.b32 [%g], %map; add.u32 %n, %n, 128; setp.lt.u32 %done, %n, WORDS; @%done bra $copy;
  bar.sync 0;
  @%p cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%far, {%x, %v}], [%tile];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
  ret;
}
"""


@pytest.mark.parametrize("width, mode, fill, cluster", [
    (64, 3, 0, False), (32, 2, 0, True), (16, 1, 1, False), (64, 0, 1, False)])
def test_a_box_is_copied_in_and_out(width: int, mode: int, fill: int, cluster: bool) -> None:
    """A box at the edge of a 50 x 100 matrix of 16-bit numbers, swizzled; stored elsewhere."""
    x = np.random.default_rng(1).integers(0, 2**16, (50, 104), dtype=np.uint16)
    before, row, column = x.copy(), 41, 80
    text = MAP_TEXT
    for name, value in (("WIDTH", width), ("MODE", mode), ("FILL", fill), ("ROW", row),
                        ("COLUMN", column), ("BYTES", width * 32), ("WORDS", width * 8),
                        ("CLUSTER", "shared::cluster" if cluster else "shared::cta"),
                        ("SHARED", "shared" if cluster else "shared::cta")):
        text = text.replace(name, str(value))
    out = np.zeros(width * 16, np.uint16)
    launch(text, [x, out, np.zeros(128, np.uint8)])
    box = np.full((16, width), 0xFFFF if fill else 0, np.uint16)
    inside = before[row:50, column:min(column + width, 100)]
    box[:inside.shape[0], :inside.shape[1]] = inside
    place = swizzle(np.arange(width * 16) * 2, {3: 1, 2: 2, 1: 3, 0: 0}[mode]) // 2
    np.testing.assert_array_equal(out[place].reshape(16, width), box)
    before[16:32, :width] = box
    np.testing.assert_array_equal(x, before)


def test_swizzled_rows_are_those_of_the_manual() -> None:
    """Of 128 bytes: chunk c of row r is at c ^ r; of 64: at c ^ (r / 2); of 32: at c ^ (r / 4)."""
    for mode, width, rows in ((1, 128, 1), (2, 64, 2), (3, 32, 4)):
        for row in range(8):
            for chunk in range(width // 16):
                at = int(swizzle(np.array([row * width + chunk * 16]), mode)[0])
                assert at == row * width + (chunk ^ row // rows % (width // 16)) * 16


# ---- wgmma ----

NUMBERS = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "tf32": np.float32, "s8": np.int8,
           "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "f32": np.float32,
           "s32": np.int32}


def product_text(form: str, count: int, word: int, tail: str) -> str:
    """A and B, laid out by the test, are copied to shared memory; D starts as what k_2 has."""
    names = [f"%d{n}" for n in range(count)]
    return "\n".join([
        HEADER, ".extern .shared .align 1024 .b8 memory[];",
        ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2) .reqntid 128 {",
        f".reg .b32 %d<{count}>, %n, %t, %at; .reg .b64 %p<4>, %a, %b; .reg .pred %p, %keep;",
        "ld.param.u64 %p0, [k_0]; ld.param.u64 %p1, [k_1]; ld.param.u64 %p2, [k_2];",
        "mov.u32 %t, %tid.x; mov.u32 %n, %t;", "$copy:",
        "mad.wide.u32 %p3, %n, 4, %p0; ld.global.b32 %at, [%p3]; mov.b32 %d0, memory;",
        "mad.lo.u32 %d0, %n, 4, %d0; st.shared.b32 [%d0], %at; add.u32 %n, %n, 128;",
        "setp.lt.u32 %p, %n, 16384; @%p bra $copy;",
        "ld.global.b64 %a, [%p1]; ld.global.b64 %b, [%p1+8]; ld.global.b32 %n, [%p1+16];",
        f"setp.ne.b32 %keep, %n, 0; mad.wide.u32 %p2, %t, {4 * count}, %p2;",
        *(f"ld.global.b32 {name}, [%p2+{4 * n}];" for n, name in enumerate(names)),
        "bar.sync 0; wgmma.fence.sync.aligned;",
        f"{form} {{{', '.join(names)}}}, %a, %b, %keep{tail};",
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
        *(f"st.global.b32 [%p2+{4 * n}], {name};" for n, name in enumerate(names)), "ret; }"])


def laid_out(matrix: Array, width: int, mode: int) -> tuple[Array, int, int]:
    """A tile `[rows, depth]` in rows of `width` bytes, swizzled: bytes, leading and stride."""
    size = matrix.itemsize
    rows, depth = matrix.shape
    data = np.zeros(rows * width, np.uint8)
    row, column = np.meshgrid(np.arange(rows), np.arange(depth), indexing="ij")
    place = swizzle(row * width + column * size, mode)
    data.view(f"u{size}")[place // size] = matrix.view(f"u{size}")
    return data, 16, 8 * width


@pytest.mark.parametrize("form", PRODUCTS)
@pytest.mark.parametrize("keep", [False, True])
def test_products_of_warp_groups(form: str, keep: bool) -> None:
    columns, depth, total, kind = re.findall(r"m64n(\d+)k(\d+)\.(\w+)\.(\w+)", form)[0]
    n, k, size = int(columns), int(depth), TYPES[kind].size
    generator = np.random.default_rng(5)
    a, b = (generator.integers(-3, 4, (rows, k)).astype(NUMBERS[kind]) for rows in (64, n))
    c = generator.integers(-9, 9, (64, n)).astype(NUMBERS[total])
    shared, descriptors = np.zeros(65536, np.uint8), []
    for matrix, start in ((a, 0), (b, 16384)):
        data, leading, stride = laid_out(matrix, 128, 1)
        shared[start:start + len(data)] = data
        descriptors.append((1024 + start) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 62)
    lane, elements = np.arange(128), n // 2
    row = [16 * (lane // 32) + lane % 32 // 4 + 8 * (i // 2 % 2) for i in range(elements)]
    column = [lane % 4 * 2 + i % 2 + 8 * (i // 4) for i in range(elements)]
    held = np.stack([c[r, q] for r, q in zip(row, column, strict=True)], 1)
    registers = np.ascontiguousarray(held).view(np.uint32).copy()
    tail = "" if kind == "s8" else ", 1, 1, 0, 0" if size == 2 else ", 1, 1"
    text = product_text(form, registers.shape[1], 4, tail)
    control = np.array([*descriptors, int(keep)], np.uint64)
    launch(text, [shared, control, registers], shared=65536)
    exact = a.astype(np.float64) @ b.astype(np.float64).T + (c.astype(np.float64) if keep else 0)
    got = registers.view(NUMBERS[total]).reshape(128, elements)
    for i in range(elements):
        np.testing.assert_array_equal(got[:, i], exact[row[i], column[i]])
