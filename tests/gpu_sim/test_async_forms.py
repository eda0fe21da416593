"""Asynchronous copies, mbarriers, tensor maps and wgmma, by hand-written PTX."""

from __future__ import annotations

import re

import numpy as np
import pytest

from .assembled import BLOCK, kernel, launch, thread_row, vector
from .forms import forms_of
from .ptx.matrix import swizzle
from .ptx.values import TYPES, Fault

PRODUCTS, COPIES = forms_of("wgmma.mma_async"), forms_of("cp.async.ca", "cp.async.cg")
COPY = """
  mad.wide.u32 %w0, %t, 16, %p0; mad.wide.u32 %w1, %t, 32, %p1;
  shl.b32 %u0, %t, 4; mov.b32 %u1, memory; add.u32 %u0, %u0, %u1;
  setp.lt.u32 %z0, %t, 100; selp.b32 %u1, SIZE, 0, %z0;
  FORM [%u0], [%w0], SIZE, %u1; cp.async.commit_group;
  FORM [%u0+2048], [%w0], SIZE; cp.async.commit_group;
  cp.async.wait_group FIRST;
  READ
  cp.async.wait_group 0; bar.sync 0;
  ld.shared.b32 %v0, [%u0]; ld.shared.b32 %v1, [%u0+2048];
  st.global.v2.b32 [%w1+8], {%v0, %v1};
"""


def copy_text(form: str, size: int, first: int, read: str) -> str:
    """Two copies, a wait for all but so many, a read, and a wait for the rest."""
    body = COPY.replace("FORM", form).replace("SIZE", str(size)).replace("FIRST", str(first))
    return kernel(body.replace("READ", read), 2, 4096)


@pytest.mark.parametrize("form", COPIES)
def test_copies_land_when_their_group_is_waited_for(form: str) -> None:
    size = 16 if ".cg" in form else 4
    x = np.random.default_rng(0).integers(0, 2**32, (BLOCK, 4), dtype=np.uint32)
    out = np.zeros((BLOCK, 8), np.uint32)
    read = "ld.shared.b32 %v0, [%u0]; st.global.b32 [%w1], %v0;"
    launch(copy_text(form, size, 1, read), [x, out])
    first = np.where(np.arange(BLOCK) < 100, x[:, 0], 0)
    np.testing.assert_array_equal(out[:, 0], first)
    np.testing.assert_array_equal(out[:, 2], first)
    np.testing.assert_array_equal(out[:, 3], x[:, 0])


@pytest.mark.parametrize("first, place", [(2, "%u0"), (1, "%u0+2048")])
def test_a_read_before_the_wait_is_reported(first: int, place: str) -> None:
    text = copy_text("cp.async.cg.shared.global", 16, first, f"ld.shared.b32 %v0, [{place}];")
    with pytest.raises(Fault, match=r"line 15: ld\.shared\.b32 %v0.*is read before it is written"):
        launch(text, [np.zeros((BLOCK, 4), np.uint32), np.zeros((BLOCK, 8), np.uint32)])


# ---- barriers ----

def test_a_barrier_by_number_waits_for_its_count_and_arrivals() -> None:
    """Warps 0 and 1 hand over to warps 2 and 3: bar.arrive does not wait, bar.sync does."""
    text = kernel("""
  and.b32 %u0, %t, 63; shl.b32 %u0, %u0, 2; mov.b32 %u1, memory; add.u32 %u0, %u0, %u1;
  setp.lt.u32 %z0, %t, 64; @%z0 bra $first;
  bar.sync 1, 128; ld.shared.b32 %v0, [%u0]; mad.wide.u32 %w0, %t, 4, %p0;
  st.global.b32 [%w0], %v0; bar.sync 2, 64; ret;
$first:
  st.shared.b32 [%u0], %t; bar.arrive 1, 128;""", 1, 256)
    out = np.zeros(BLOCK, np.uint32)
    launch(text, [out])
    np.testing.assert_array_equal(out[64:], np.arange(64))
    with pytest.raises(Fault, match="is read before it is written"):
        launch(text.replace("bar.sync 1, 128;", ""), [out])


MBARRIER = kernel("""
  mov.b32 %u0, memory; setp.eq.u32 %z0, %t, 0; shl.b32 %u1, %t, 2; add.u32 %u1, %u1, %u0;
  @%z0 mbarrier.init.shared::cta.b64 [%u0], COUNT;
  bar.sync 0; setp.lt.u32 %z1, %t, 32; @%z1 bra $wait;
  st.shared.b32 [%u1], %t; mbarrier.arrive.shared::cta.b64 _, [%u0]; bra.uni $end;
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %z2, [%u0], 0;
  @!%z2 bra $wait;
  ld.shared.b32 %v0, [%u1+128]; mad.wide.u32 %w0, %t, 4, %p0; st.global.b32 [%w0], %v0;
$end:
  bar.sync 0; @%z0 mbarrier.inval.shared::cta.b64 [%u0];""", 1, 512)


def test_threads_wait_for_the_arrivals_at_an_mbarrier() -> None:
    out = np.zeros(BLOCK, np.uint32)
    launch(MBARRIER.replace("COUNT", "96"), [out])
    np.testing.assert_array_equal(out[:32], np.arange(32) + 32)


def test_an_mbarrier_that_expects_more_arrivals_is_a_deadlock() -> None:
    with pytest.raises(Fault, match=r"line 14: mbarrier\.try_wait.*deadlock: all threads wait"):
        launch(MBARRIER.replace("COUNT", "97"), [np.zeros(BLOCK, np.uint32)])


def test_more_arrivals_at_once_than_an_mbarrier_expects_are_reported() -> None:
    text = MBARRIER.replace("_, [%u0]; bra.uni", "_, [%u0], 96; bra.uni")
    with pytest.raises(Fault, match="more arrivals at an mbarrier than the 95 that it expects"):
        launch(text.replace("COUNT", "95"), [np.zeros(BLOCK, np.uint32)])


# ---- tensor maps ----

FIELDS = [("global_address", "b64", "%p0"), ("rank", "b32", "1"), ("box_dim", "b32", "0, WIDTH"),
          ("box_dim", "b32", "1, 16"), ("global_dim", "b32", "0, 100"),
          ("global_dim", "b32", "1, 50"),
          ("global_stride", "b64", "0, %pitch"), ("element_stride", "b32", "0, %one"),
          ("element_stride", "b32", "1, %one"), ("elemtype", "b32", "10"),
          ("interleave_layout", "b32", "0"), ("swizzle_mode", "b32", "MODE"),
          ("fill_mode", "b32", "FILL")]
MAP_TEXT = kernel("""
  mov.b32 %tile, memory; add.u32 %u0, %tile, 16384; add.u32 %bar, %tile, 16896;
  setp.eq.u32 %first, %t, 0; setp.lt.u32 %warp, %t, 32; shl.b32 %n, %t, 2; add.u32 %n, %u0, %n;
  mov.b32 %y, 0; @%warp st.shared.b32 [%n], %y; bar.sync 0; cvt.u64.u32 %map, %u0;
  mov.b32 %one, 1; mov.b64 %pitch, 208;
""" + "\n".join(f"@%first tensormap.replace.tile.{field}.shared::cta.b1024.{bits} [%map], {value};"
                for field, bits, value in FIELDS) + """
  bar.sync 0;
  @%warp tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
    [%p2], [%map], 0x80;
  fence.proxy.tensormap::generic.acquire.gpu [%p2], 0x80;
  @%first mbarrier.init.shared::cta.b64 [%bar], 1; fence.acq_rel.gpu; bar.sync 0;
  @%first mbarrier.arrive.expect_tx.SHARED.b64 _, [%bar], BYTES;
  mov.b32 %x, COLUMN; mov.b32 %y, ROW;
  @%first cp.async.bulk.tensor.2d.CLUSTER.global.mbarrier::complete_tx::bytes
    [%tile], [%p2, {%x, %y}], [%bar];
$wait:
  mbarrier.try_wait.parity.SHARED.b64 %z0, [%bar], 0;
  @!%z0 bra $wait;
  fence.proxy.async.shared::cta; mov.b32 %x, 0; mov.b32 %y, 16; mov.u32 %n, %t;
$copy:
  mad.lo.u32 %u0, %n, 4, %tile; ld.shared.b32 %u0, [%u0]; mad.wide.u32 %w0, %n, 4, %p1;
  st.global.b32 [%w0], %u0; add.u32 %n, %n, 128; setp.lt.u32 %z0, %n, WORDS; @%z0 bra $copy;
  bar.sync 0;
  @%first cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%p2, {%x, %y}], [%tile];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
""", 3, 20480, ".reg .b32 %tile, %bar, %x, %y, %n, %one; .reg .b64 %map, %pitch;"
    " .reg .pred %first, %warp;")


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

def product_text(form: str, count: int, tail: str) -> str:
    """A and B, laid out by the test, are copied to shared memory; D starts as what k_2 has."""
    d = vector("d", count)
    return kernel("\n".join([
        "mov.u32 %u0, %t; $copy:",
        "mad.wide.u32 %w0, %u0, 4, %p0; ld.global.b32 %u1, [%w0]; mov.b32 %u2, memory;",
        "mad.lo.u32 %u2, %u0, 4, %u2; st.shared.b32 [%u2], %u1; add.u32 %u0, %u0, 128;",
        "setp.lt.u32 %z0, %u0, 16384; @%z0 bra $copy;",
        "ld.global.b64 %w3, [%p1]; ld.global.b64 %w4, [%p1+8]; ld.global.b32 %u0, [%p1+16];",
        "setp.ne.b32 %z1, %u0, 0;", thread_row("d", count, 4, 2, True),
        "bar.sync 0; wgmma.fence.sync.aligned;", f"{form} {d}, %w3, %w4, %z1{tail};",
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
        thread_row("d", count, 4, 2, False)]), 3, 65536, f".reg .b32 %d<{count}>;")


@pytest.mark.parametrize("form", PRODUCTS)
@pytest.mark.parametrize("keep", [False, True])
def test_products_of_warp_groups(form: str, keep: bool) -> None:
    """Tiles lie in rows of 128 bytes, swizzled, eight of them behind each other."""
    columns, depth, total, kind = re.findall(r"m64n(\d+)k(\d+)\.(\w+)\.(\w+)", form)[0]
    n, k, size, sums = int(columns), int(depth), TYPES[kind].size, TYPES[total].dtype
    generator = np.random.default_rng(5)
    a, b = (generator.integers(-3, 4, (rows, k)).astype(TYPES[kind].dtype) for rows in (64, n))
    c = generator.integers(-9, 9, (64, n)).astype(sums)
    shared, descriptors = np.zeros(65536, np.uint8), []
    for matrix, start in ((a, 0), (b, 16384)):
        row, column = np.indices(matrix.shape)
        place = start + swizzle(row * 128 + column * size, 1)
        shared.view(f"u{size}")[place // size] = matrix.view(f"u{size}")
        descriptors.append((1024 + start) >> 4 | 1 << 16 | 64 << 32 | 1 << 62)
    lane, i = np.arange(128)[:, None], np.arange(n // 2)
    held = (16 * (lane // 32) + lane % 32 // 4 + 8 * (i // 2 % 2),
            lane % 4 * 2 + i % 2 + 8 * (i // 4))
    registers = np.ascontiguousarray(c[held]).view(np.uint32)
    tail = "" if kind == "s8" else ", 1, 1, 0, 0" if size == 2 else ", 1, 1"
    launch(product_text(form, registers.shape[1], tail),
           [shared, np.array([*descriptors, int(keep)], np.uint64), registers])
    exact = a.astype(np.float64) @ b.astype(np.float64).T + (c.astype(np.float64) if keep else 0)
    np.testing.assert_array_equal(registers.view(sums), exact[held])
