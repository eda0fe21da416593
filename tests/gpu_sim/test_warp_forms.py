"""Instructions of a whole warp, against the positions that the PTX manual gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

from .assembled import BLOCK, elementwise, kernel, launch, thread_row, vector
from .forms import forms_of
from .ptx.values import BITS, TYPES, Array, Fault

LANE = np.arange(32)
PRODUCTS, MATRICES = forms_of("mma"), forms_of("ldmatrix", "stmatrix")
SHUFFLES, REDUCTIONS = forms_of("shfl"), forms_of("redux")


def random_words(count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


@pytest.mark.parametrize("form, delta, control", [
    (form, delta, control) for form in SHUFFLES for delta, control in (
        (1, 0x1F), (5, 0x1F), (3, 0x181F), (16, 0x1F), (2, 0x1C1F))])
def test_shuffles(form: str, delta: int, control: int) -> None:
    """With the segments that the control word makes; the manual's pseudocode."""
    control = control & ~0x1F if ".up" in form else control
    x = random_words(BLOCK)
    got, inside = elementwise(
        f"{form} %d|%z0, %a, {delta}, {control}, -1; selp.b32 %q, 1, 0, %z0;",
        [("b32", x)], ["b32", "b32"])
    segment, clamp = control >> 8 & 31, control & 31
    for lane in range(BLOCK):
        at = lane % 32
        low = at & segment
        high = low | (clamp & ~segment)
        j = {"bfly": at ^ delta, "up": at - delta, "down": at + delta,
             "idx": low | (delta & ~segment & 31)}[form.split(".")[2]]
        valid = j >= high if ".up" in form else j <= high
        assert inside[lane] == valid
        assert got[lane] == x[lane - at + (j if valid else at)]


def test_a_shuffle_by_a_number_of_each_thread() -> None:
    x, by = random_words(BLOCK), random_words(BLOCK, 1) % np.uint32(32)
    got, = elementwise("shfl.sync.idx.b32 %d, %a, %b, 31, 0xffffffff;",
                       [("b32", x), ("b32", by)], ["b32"])
    np.testing.assert_array_equal(got, x.reshape(4, 32)[np.arange(BLOCK) // 32, by])


@pytest.mark.parametrize("form", REDUCTIONS)
def test_reductions_of_a_warp(form: str) -> None:
    name, kind = form.split(".")[2:]
    x = random_words(BLOCK)
    got, = elementwise(f"mov.b32 %u0, -1; {form} %d, %a, %u0;", [(kind, x)], [kind])
    function = {"add": np.add, "min": np.minimum, "max": np.maximum, "or": np.bitwise_or,
                "and": np.bitwise_and, "xor": np.bitwise_xor}[name]
    want = function.reduce(x.view(TYPES[kind].dtype).reshape(4, 32), 1)
    np.testing.assert_array_equal(got.view(TYPES[kind].dtype),
                                  np.repeat(want.astype(TYPES[kind].dtype), 32))


def test_votes_the_active_threads_and_the_elected_one() -> None:
    x = (random_words(BLOCK) & np.uint32(1)).astype(np.uint8)
    x[32:64], x[64:96] = 0, 1
    rows = x.reshape(4, 32) != 0
    got, flags = elementwise(
        "bar.warp.sync -1; vote.sync.ballot.b32 %d, %a, -1; vote.sync.any.pred %z0, %a, -1;"
        "vote.sync.all.pred %z1, %a, 0xffffffff; elect.sync %u1|%z2, -1; activemask.b32 %u0;"
        "selp.b32 %q, 1, 0, %z0; @%z1 add.u32 %q, %q, 2; @%z2 add.u32 %q, %q, 4;"
        "setp.eq.u32 %z3, %u0, -1; @%z3 add.u32 %q, %q, 8; add.u32 %q, %q, %u1;",
        [("pred", x)], ["b32", "b32"])
    ballot = (rows * (1 << LANE)).sum(1)
    np.testing.assert_array_equal(got, np.repeat(ballot, 32))
    want = rows.any(1)[:, None] + 2 * rows.all(1)[:, None] + 4 * (LANE == 0) + 8
    np.testing.assert_array_equal(flags, want.reshape(-1))


def test_part_of_a_warp_at_a_shuffle_is_reported() -> None:
    body = ("setp.lt.u32 %z0, %a, 10; @%z0 bra $end; shfl.sync.bfly.b32 %d, %a, 1, 31, -1;"
            "$end:")
    with pytest.raises(Fault, match=r"shfl\.sync.*only some threads of a warp .*block \(0, 0"):
        elementwise(body, [("b32", np.arange(128, dtype=np.uint32))], ["b32"])


# ---- matrices ----

def positions(kind: str, operand: str, count: int) -> tuple[Array, Array]:
    """Row and column of each thread's elements of A, B or C, as the manual's tables give them."""
    group, member, i = (LANE >> 2)[:, None], (LANE % 4)[:, None], np.arange(count)
    if operand == "c":
        return group + 8 * (i // 2), member * 2 + i % 2
    per = max(4 // TYPES[kind].size, 1)
    within, register = i % per, i // per
    if operand == "a":
        return group + 8 * (register % 2), member * per + within + 4 * per * (register // 2)
    return member * per + within + 4 * per * register, group + 0 * i


@pytest.mark.parametrize("form", PRODUCTS)
def test_products_of_matrices(form: str) -> None:
    height, width, depth = (int(n) for n in re.findall(r"\d+", form.split(".")[3]))
    kinds = form.split(".")[-3:]
    generator, matrices, registers = np.random.default_rng(1), [], []
    for operand, kind, shape in zip("abc", kinds, ((height, depth), (depth, width),
                                                   (height, width)), strict=True):
        matrix = generator.integers(-3, 4, (4, *shape)).astype(TYPES[kind].dtype)
        held = positions(kind, operand, matrix[0].size // 32)
        flat = np.ascontiguousarray(matrix[:, *held]).reshape(BLOCK, -1)
        registers.append(flat.view(BITS[8 if kind == "f64" else 4]))
        matrices.append(matrix.astype(np.float64))
    shapes = [(letter, one.shape[1], one.itemsize, n)
              for n, (letter, one) in enumerate(zip("abc", registers, strict=True))]
    a, b, c = (vector(letter, count) for letter, count, _, _ in shapes)
    body = [*(thread_row(*shape, True) for shape in shapes), f"{form} {c}, {a}, {b}, {c};",
            thread_row(*shapes[2], False)]
    launch(kernel("\n".join(body), 3, registers=" ".join(
        f".reg .b{8 * size} %{letter}<8>;" for letter, _, size, _ in shapes)), registers)
    exact = matrices[0] @ matrices[1] + matrices[2]
    got = registers[2].view(TYPES[kinds[2]].dtype).reshape(4, 32, -1)
    np.testing.assert_array_equal(got, exact[:, *positions(kinds[2], "c", got.shape[2])])


@pytest.mark.parametrize("form", MATRICES)
def test_matrices_in_shared_memory(form: str) -> None:
    """Row r of matrix m is at thread 8 m + r's address; thread t holds two of row t / 4."""
    count, transposed = int(form.split(".x")[1][0]), ".trans" in form
    x = random_words(BLOCK * 4).reshape(BLOCK, 4)
    loads, every = form.startswith("ldmatrix"), vector("v", 4)
    some = "{" + ", ".join(f"%v{n}" for n in range(count)) + "}"
    body = [thread_row("v", 4, 4, 0, True),
            "shl.b32 %u0, %t, 4; mov.b32 %u1, memory; add.u32 %u1, %u1, %u0;",
            f"st.shared.v4.b32 [%u1], {every}; bar.sync 0;",
            f"{form} {some}, [%u1];" if loads else
            f"{form} [%u1], {some}; bar.sync 0; ld.shared.v4.b32 {every}, [%u1];",
            thread_row("v", 4, 4, 1, False)]
    launch(kernel("\n".join(body), 2, BLOCK * 16), [x, out := np.zeros_like(x)])
    held = np.ascontiguousarray(x).view(np.uint16).reshape(4, 32, 8)  # warp, row, column
    got = out.view(np.uint16).reshape(4, 32, 8)
    for m in range(count):
        square = (held if loads else got)[:, 8 * m:8 * m + 8]
        square = square.transpose(0, 2, 1) if transposed else square
        registers = (out if loads else x).view(np.uint16).reshape(4, 32, 8)[:, :, 2 * m:2 * m + 2]
        for half in (0, 1):
            np.testing.assert_array_equal(registers[:, :, half],
                                          square[:, LANE // 4, LANE % 4 * 2 + half])
    if not loads:
        np.testing.assert_array_equal(got[:, 8 * count:], held[:, 8 * count:])
