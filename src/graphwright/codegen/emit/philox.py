"""Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, SC'11)."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.regs import Reg

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10


def _words(b: Builder, block: Reg, seed: Reg, offset: Reg) -> list[Reg]:
    """The four random words of counter (block, offset) under key `seed`."""
    c0, c1 = block.to("i32"), block.lshr(32).to("i32")
    c2, c3 = offset.to("i32"), offset.lshr(32).to("i32")
    k0, k1 = seed.to("i32"), seed.lshr(32).to("i32")
    for _ in range(_ROUNDS):
        high0, low0 = b.binary("umulhi", c0, _M0), c0 * _M0
        high1, low1 = b.binary("umulhi", c2, _M1), c2 * _M1
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + _W0, k1 + _W1
    return [c0, c1, c2, c3]


def _uniform(word: Reg) -> Reg:
    """(word >> 8) * 2^-24."""
    return word.lshr(8).to("f32") * 2.0**-24


def uniform(b: Builder, index: Reg, seed: Reg, offset: Reg) -> Reg:
    """Float32 number `index` in [0, 1), each lane by itself."""
    words = _words(b, index.lshr(2), seed, offset)
    which = index.to("i32") & 3
    first = b.select(which.eq(0), words[0], words[1])
    second = b.select(which.eq(2), words[2], words[3])
    return _uniform(b.select(which < 2, first, second))


def uniform_run(b: Builder, first: Reg, lanes: int, seed: Reg, offset: Reg) -> Reg:
    """Numbers first .. first+lanes: one counter gives four of them, through memory.

    A run that starts within a group of four ends in one group more.
    """
    count = max(2, lanes // 4)
    group, skipped = first.lshr(2), first & 3
    words = _words(b, group + b.iota(count), seed, offset)
    buffer = b.local_array("i32", 4 * count + 4)
    b.store(buffer, b.const(0, "i64"), b.interleave(words), None)
    if lanes > 4 * count - 3:
        branch = b.open_branch(skipped.ne(0))
        for i, word in enumerate(_words(b, group + count, seed, offset)):
            b.store(buffer, b.const(4 * count + i, "i64"), word, None)
        b.close_branch(branch)
    return _uniform(b.load(buffer, skipped, lanes, None, None, False))
