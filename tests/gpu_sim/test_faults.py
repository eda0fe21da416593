"""Mistakes in kernels and in their launches: each found, with the instruction and the thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from .assembled import BLOCK, HEADER, launch
from .fake_driver import FakeDriver
from .ptx.machine import Program
from .ptx.memory import GlobalMemory
from .ptx.values import ASSERT, ILLEGAL_ADDRESS, LAUNCH_FAILED, MISALIGNED_ADDRESS, Fault

START = HEADER + f"""
.shared .align 16 .b8 memory[512];
.visible .entry k(.param .u64 k_0) .reqntid {BLOCK} {{
  .reg .b32 %t, %v<4>, %at; .reg .b64 %x, %y; .reg .pred %p;
  ld.param.u64 %x, [k_0]; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 50;
  mad.wide.u32 %y, %t, 4, %x; mov.b32 %at, memory;
"""
MISTAKES = {
    "past the end": ("ld.global.b32 %v0, [%y+4];", ILLEGAL_ADDRESS,
                     r"ld\.global\.b32 %v0, \[%y\+4\]: illegal address 0x\w+ of 4 bytes: byte 512 "
                     r"of an allocation of 512 bytes \(1 threads\), thread \(127, 0, 0\)"),
    "a vector past the end": ("and.b64 %y, %y, -16;"
                              " ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%y+16];",
                              ILLEGAL_ADDRESS, r"of 16 bytes: byte 512 of an allocation of 512"),
    "before the start": ("st.global.b32 [%y+-4], %t;", ILLEGAL_ADDRESS, r"thread \(0, 0, 0\)"),
    "null": ("mov.b64 %y, 16; ld.global.b32 %v0, [%y];", ILLEGAL_ADDRESS, "a null pointer"),
    "nowhere": ("mov.b64 %y, 0x123456780000; st.global.b8 [%y], %t;", ILLEGAL_ADDRESS,
                "in no allocation"),
    "misaligned": ("ld.global.b32 %v0, [%y+2];", MISALIGNED_ADDRESS,
                   r"misaligned address 0x\w+ of 4 bytes, thread \(0, 0, 0\)"),
    "a misaligned vector": ("ld.global.v2.b32 {%v0, %v1}, [%y];", MISALIGNED_ADDRESS,
                            r"of 8 bytes, thread \(1, 0, 0\)"),
    "shared past the end": ("add.u32 %at, %at, 512; st.shared.b32 [%at], %t;", ILLEGAL_ADDRESS,
                            r"shared address 512 of 4 bytes where there are 512 \(128 threads\)"),
    "shared misaligned": ("st.shared.b64 [%at+4], %y;", MISALIGNED_ADDRESS, "of 8 bytes"),
    "shared unwritten": ("@%p st.shared.b32 [%at], %t; ld.shared.b32 %v0, [%at+4];", LAUNCH_FAILED,
                         "shared address 4 is read before it is written"),
    "a barrier missed": ("@%p bra $end; bar.sync 0; $end:", LAUNCH_FAILED,
                         r"bar\.sync 0: a barrier that only 78 of 128 threads of a block reach"),
    "a barrier split": ("@%p bra $other; bar.sync 0; bra $end; $other: bar.sync 0; $end:",
                        LAUNCH_FAILED, r"bar\.sync 0: only some threads of a warp"),
    "too few at a numbered barrier": ("bar.sync 1, 160;", LAUNCH_FAILED, "only 128 of 128"),
    "half a warp": ("@%p bar.warp.sync -1;", LAUNCH_FAILED, "only some threads of a warp"),
    "a trap": ("@%p trap;", LAUNCH_FAILED, r"trap, thread \(0, 0, 0\) of block \(0, 0, 0\)"),
    "misaligned atomics": ("red.global.add.u32 [%y+1], %t;", MISALIGNED_ADDRESS, "red.global.add"),
    "atomics on unwritten memory": ("red.shared.add.u32 [%at], %t;", LAUNCH_FAILED,
                                    "is read before it is written"),
    "a copy past the end": ("cp.async.cg.shared.global [%at], [%x+512], 16; cp.async.wait_all;",
                            ILLEGAL_ADDRESS, r"cp\.async\.wait_all: illegal address"),
    "a matrix past the end": ("shl.b32 %v0, %t, 4; add.u32 %at, %at, %v0;"
                              " ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v0}, [%at];",
                              ILLEGAL_ADDRESS, "ldmatrix.*shared address 512 of 16 bytes"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_a_kernel(mistake: str) -> None:
    body, code, message = MISTAKES[mistake]
    with pytest.raises(Fault, match=r"k, line \d+: .*" + message) as caught:
        launch(START + body + "\nret; }", [np.zeros(BLOCK, np.uint32)])
    assert caught.value.code == code
    assert START.count("\n") + 1 == int(str(caught.value).split("line ")[1].split(":")[0])


def test_a_buffer_that_was_freed_is_named() -> None:
    memory = GlobalMemory()
    address = memory.add(np.zeros(BLOCK, np.uint32))
    memory.remove(address)
    with pytest.raises(Fault, match="byte 0 of a freed allocation of 512"):
        Program(START + "ld.global.b32 %v0, [%y]; ret; }").launch(
            "k", (1, 1, 1), (BLOCK, 1, 1), address.to_bytes(8, "little"), memory)


ASSERTION = HEADER + """
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,
  .param .b64 e) .noreturn;
.global .align 1 .b8 message[9] = {112, 111, 115, 105, 116, 105, 118, 101, 0};
.global .align 1 .b8 file[5] = {97, 46, 112, 121, 0};
.visible .entry k(.param .u64 k_0) .reqntid 64 {
  .reg .b32 %t, %line; .reg .b64 %m, %f; .reg .pred %p;
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 40; @%p bra $end;
  mov.b64 %m, message; cvta.global.u64 %m, %m; mov.b64 %f, file; cvta.global.u64 %f, %f;
  mov.b32 %line, 17;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
    st.param.b64 [p0], %m; st.param.b64 [p1], %f; st.param.b32 [p2], %line;
    st.param.b64 [p3], %f; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
$end:
  ret; }
"""


def test_an_assertion_that_fails_has_its_words_and_place() -> None:
    message = r"a\.py:17: assertion failed: positive, thread \(40, 0, 0\)"
    with pytest.raises(Fault, match=message) as caught:
        launch(ASSERTION, [np.zeros(1)], block=64)
    assert caught.value.code == ASSERT


# ---- planted in Triton's kernels and their launches ----

triton = pytest.importorskip("triton")


@pytest.fixture
def driver() -> Iterator[FakeDriver]:
    found = FakeDriver.shared()
    found.clear()
    yield found
    found.clear()


def planted(what: str) -> tuple[Any, tuple[int, ...], list[Any], int | None]:
    """A kernel, its grid, its arguments and its shared memory, with one mistake."""
    from . import triton_kernels as kernels
    from .compiled import Kernel, Offset

    x, y = np.ones((4, 1001), np.float32), np.zeros((4, 1001), np.float32)
    rows = {"x": "*fp32", "y": "*fp32", "n": "i32"}
    plain = Kernel(kernels.doubled_rows, rows, {"B": 1024})
    claimed = Kernel(kernels.doubled_rows, rows, {"B": 1024}, divisible="x y n")
    unmasked = Kernel(kernels.doubled_rows_without_mask, rows, {"B": 1024})
    tile = Kernel(kernels.normalized_rows, {**rows, "R": "i32"}, {"BR": 8, "B": 128})
    checked = Kernel(kernels.gathered_rows, {**rows, "index": "*i64", "D": "i32"}, {"B": 128},
                     debug=True)
    small, few = np.ones((21, 100), np.float32), np.zeros((2, 100), np.float32)
    return {
        "no mask": (unmasked, (4,), [x, y, 1001], None),
        "a row length that 16 does not divide": (claimed, (4,), [x, y, 1001], None),
        "a program too many": (plain, (5,), [x, y, 1001], None),
        "a narrower buffer": (plain, (4,), [x.astype(np.float16), y, 1001], None),
        "a null pointer": (plain, (4,), [x, 0, 1001], None),
        "a view that is not aligned": (claimed, (4,), [Offset(x, 4), y, 992], None),
        "no shared memory": (tile, (3,), [small, small.copy(), 21, 100], 0),
        "an index out of range": (checked, (2,), [small, np.array([3, 21]), few, 21, 100],
                                  None),
    }[what]


@pytest.mark.parametrize("what, message", [
    ("no mask", r"doubled_rows_without_mask, line \d+: @?.*ld\.global\S* .*illegal address"),
    ("a row length that 16 does not divide", r"line \d+: .*ld\.global\.v\d.*misaligned address"),
    ("a program too many", r"line \d+: .*ld\.global.*illegal address.*block \(4, 0, 0\)"),
    ("a narrower buffer", r"line \d+: .*ld\.global.*illegal address"),
    ("a null pointer", r"line \d+: .*st\.global.*a null pointer"),
    ("a view that is not aligned", r"line \d+: .*ld\.global\.v\d.*misaligned address"),
    ("no shared memory", r"normalized_rows, line \d+: .*shared address \d+ of \d+ bytes"),
    ("an index out of range", r"assertion failed: index out of range, thread"),
])
def test_planted_mistakes_are_found(driver: FakeDriver, what: str, message: str) -> None:
    from .session import DriverError

    kernel, grid, arguments, shared = planted(what)
    with pytest.raises(DriverError, match=message):
        kernel.run(driver, 80, grid, arguments, shared)
