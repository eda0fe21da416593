"""Mistakes in hand-written kernels: each found, with the instruction and the thread."""

from __future__ import annotations

import numpy as np
import pytest

from .assembled import BLOCK, HEADER, kernel, launch
from .ptx.values import ASSERT, ILLEGAL_ADDRESS, LAUNCH_FAILED, MISALIGNED_ADDRESS, Fault

START = """
  mad.wide.u32 %y, %t, 4, %p0; setp.lt.u32 %p, %t, 50; mov.b32 %at, memory;
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
    "a copy past the end": ("cp.async.cg.shared.global [%at], [%p0+512], 16; cp.async.wait_all;",
                            ILLEGAL_ADDRESS, r"cp\.async\.wait_all: illegal address"),
    "a matrix past the end": ("shl.b32 %v0, %t, 4; add.u32 %at, %at, %v0;"
                              " ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v0}, [%at];",
                              ILLEGAL_ADDRESS, "ldmatrix.*shared address 512 of 16 bytes"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_a_kernel(mistake: str) -> None:
    body, code, message = MISTAKES[mistake]
    text = kernel(START + body, 1, 512, ".reg .b32 %at; .reg .b64 %y; .reg .pred %p;")
    with pytest.raises(Fault, match=r"k, line 10: .*" + message) as caught:
        launch(text, [np.zeros(BLOCK, np.uint32)])
    assert caught.value.code == code


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
