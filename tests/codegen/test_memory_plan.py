"""Where temporaries live, and when a kernel works in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.codegen.loops import Buffer
from graphwright.codegen.memory_plan import Space, lifetimes
from graphwright.codegen.program import NativeProgram, step_buffers
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.symbolic.expr import as_int

from .lowered import check, program_of, tensor

RNG = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def assert_sound(program: NativeProgram) -> None:
    """Buffers that are alive together do not overlap, and all fit into where they are; results
    are alive to the end."""
    lives = lifetimes(program.steps, program.chained)
    ends = {("arena", 0): as_int(program.arena_bytes)}
    for number, output in enumerate(program.outputs):
        ends["output", number] = bytes_of(output.buffer)
        lives[output.buffer.name] = (lives[output.buffer.name][0], len(program.steps))
    placed = {}
    for step in program.steps:
        for buffer in step_buffers(step):
            slot = program.slots[buffer.name]
            if slot.kind != "input":
                start = 0 if slot.offset is None else as_int(slot.offset)
                assert start is not None and start % 64 == 0
                placed[buffer.name] = (slot.kind, slot.index), start, start + bytes_of(buffer)
    for name, (place, start, end) in placed.items():
        assert end <= ends[place]
        for other, (elsewhere, first, last) in placed.items():
            together = lives[name][0] <= lives[other][1] and lives[other][0] <= lives[name][1]
            apart = not together or place != elsewhere or end <= first or last <= start
            assert name == other or apart


def bytes_of(buffer: Buffer) -> int:
    size = as_int(buffer.size)
    assert size is not None
    return size * buffer.dtype.itemsize


def products(x: Any) -> Any:
    for _ in range(6):
        x = ops.mm(ops.tanh(x), x)
    return x


def test_dead_temporaries_share_memory() -> None:
    program = check(products, normal(32, 32) * 0.1, rtol=1e-3)
    assert_sound(program)
    assert as_int(program.arena_bytes) <= 3 * 32 * 32 * 4


def test_results_are_never_in_the_arena() -> None:
    program, _ = program_of(products, [tensor(normal(32, 32))])
    assert all(program.slots[o.buffer.name].kind == "output" for o in program.outputs)


def test_an_epilogue_works_in_place() -> None:
    program = check(lambda x, b: ops.relu(ops.add(ops.mm(x, x), b)), normal(32, 32), normal(32),
                    rtol=1e-4, atol=1e-5)
    assert as_int(program.arena_bytes) == 0


def test_a_row_is_kept_in_the_result_that_follows_it() -> None:
    program = check(lambda x: ops.softmax(x, 1), normal(50, 60))
    assert as_int(program.arena_bytes) == 0


def test_a_result_lends_its_memory_until_it_is_written() -> None:
    """Both temporaries have ended when the result, which is larger than either, is begun."""

    def squares(x: Any, wide: Any) -> Any:
        return ops.mm(ops.mm(ops.tanh(x), ops.tanh(x)), wide)

    program = check(squares, normal(160, 160) * 0.1, normal(160, 320), rtol=1e-3, atol=1e-4)
    lent = [name for name, slot in program.slots.items()
            if slot.kind == "output" and slot.offset is not None]
    assert_sound(program)
    assert len(lent) == 1 and as_int(program.arena_bytes) == 160 * 160 * 4


def test_what_is_read_while_a_result_is_written_lies_elsewhere() -> None:
    program = check(lambda x: ops.mm(ops.tanh(x), x), normal(160, 160) * 0.1, rtol=1e-3, atol=1e-4)
    assert_sound(program)
    assert as_int(program.arena_bytes) == 160 * 160 * 4


def test_no_donation_where_the_reader_is_shifted() -> None:
    def fn(x: Any) -> Any:
        y = ops.mm(x, x)
        return ops.add(y, ops.transpose(y, 0, 1)), ops.add(y[:, 1:], y[:, :-1])
    assert_sound(check(fn, normal(8, 8), rtol=1e-4, atol=1e-5))


def test_symbolic_arenas_are_reused_too() -> None:
    """Each product, its factors, and what follows it block by block are alive together."""
    program = check(products, normal(16, 16) * 0.1, dynamic=True, rtol=1e-3)
    assert program.arena_bytes.evaluate({"s0": 16, "s1": 16}) <= 4 * 16 * 16 * 4 + 64


def test_a_result_that_is_a_part_of_a_temporary_does_not_hold_all_of_it() -> None:
    """`whole` is larger than the result, whose buffer must not be used for it."""

    def parts(x: Any) -> Any:
        whole = ops.cat([x, ops.mul(x, 2)], 1)
        return whole[:, :4], ops.sum(whole, (1,))

    x = tensor(normal(3, 4, 5))
    check(parts, x)


def test_the_lowest_offset_that_is_free_while_a_buffer_lives() -> None:
    space, placed = Space(), list[tuple[int, int, int, int]]()
    for longest in (3, 40, 200, 900):
        for _ in range(60):
            size, born = int(RNG.integers(1, 9)), int(RNG.integers(0, 1000))
            dead = born + int(RNG.integers(0, longest))
            used = {byte for start, end, first, last in placed
                    if first <= dead and born <= last for byte in range(start, end)}
            lowest = next(offset for offset in range(len(used) * size + 1)
                          if used.isdisjoint(range(offset, offset + size)))
            assert space.take(size, (born, dead)) == lowest
            placed.append((lowest, lowest + size, born, dead))
    assert space.used == max(end for _, end, _, _ in placed)


def test_no_offset_where_the_room_is_taken() -> None:
    space = Space(8)
    assert [space.take(6, (0, 5)), space.take(4, (5, 6)), space.take(4, (6, 70))] == [0, None, 0]
