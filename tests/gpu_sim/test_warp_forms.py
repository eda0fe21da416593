"""Instructions of a whole warp, against the positions that the PTX manual gives."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from .assembled import BLOCK, HEADER, elementwise, launch
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

def register_text(form: str, counts: tuple[int, ...], words: tuple[int, ...], tail: str) -> str:
    """Each thread loads its registers of A, B, C, runs the form, stores D."""
    letters = "xyzw"[:len(counts)]
    lines = [HEADER, ".visible .entry k(" + ", ".join(
        f".param .u64 k_{n}" for n in range(len(counts) + 1)) + f") .reqntid {BLOCK} {{",
        f".reg .b64 %p<{len(counts) + 1}>; .reg .b32 %t; .reg .b{8 * words[-1]} %d<8>;"]
    names = []
    for n, (letter, count, size) in enumerate(zip(letters, counts, words, strict=True)):
        lines += [f".reg .b{8 * size} %{letter}<8>; ld.param.u64 %p{n}, [k_{n}];",
                  f"mov.u32 %t, %tid.x; mad.wide.u32 %p{n}, %t, {count * size}, %p{n};",
                  *(f"ld.global.b{8 * size} %{letter}{m}, [%p{n}+{m * size}];"
                    for m in range(count))]
        names.append("{" + ", ".join(f"%{letter}{m}" for m in range(count)) + "}")
    last, count, size = len(counts), counts[-1], words[-1]
    result = "{" + ", ".join(f"%d{m}" for m in range(count)) + "}"
    return "\n".join([
        *lines, f"{form} {result}, {', '.join(names)};{tail}",
        f"ld.param.u64 %p{last}, [k_{last}]; mad.wide.u32 %p{last}, %t, {count * size}, %p{last};",
        *(f"st.global.b{8 * size} [%p{last}+{m * size}], %d{m};" for m in range(count)),
        "ret; }"])


def positions(kind: str, operand: str, element: int) -> tuple[Array, Array]:
    """Row and column of a thread's element i of A, B or C, as the manual's tables give them."""
    group, member, i = LANE >> 2, LANE % 4, element
    if operand == "c":
        return group + 8 * (i // 2), member * 2 + i % 2
    per = {"f16": 2, "bf16": 2, "s8": 4, "e4m3": 4}.get(kind, 1)
    within, register = i % per, i // per
    if operand == "a":
        return group + 8 * (register % 2), member * per + within + 4 * per * (register // 2)
    return member * per + within + 4 * per * register, group


def numbers(kind: str, size: tuple[int, ...], seed: int) -> Array:
    """Small integers, exact in every type and sum."""
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32,
             "e4m3": ml_dtypes.float8_e4m3fn}.get(kind, TYPES[kind].dtype)
    return np.random.default_rng(seed).integers(-3, 4, size).astype(dtype)


@pytest.mark.parametrize("form", PRODUCTS)
def test_products_of_matrices(form: str) -> None:
    parts = form.split(".")
    rows, columns, depth = (int(n) for n in parts[3].replace("m", "").replace(
        "n", " ").replace("k", " ").split())
    left, right, total = parts[-3:]
    matrices = {"a": numbers(left, (4, rows, depth), 1),
                "b": numbers(right, (4, depth, columns), 2),
                "c": numbers(total, (4, rows, columns), 3)}
    registers, counts, words = [], [], []
    for operand, kind in zip("abc", (left, right, total), strict=True):
        matrix = matrices[operand]
        elements = matrix[0].size // 32
        picked = np.stack([matrix[:, *positions(kind, operand, n)] for n in range(elements)], -1)
        flat = np.ascontiguousarray(picked).reshape(BLOCK, elements)
        word = 8 if kind == "f64" else 4
        registers.append(flat.view(np.uint8).reshape(BLOCK, -1).view(BITS[word]))
        counts.append(registers[-1].shape[1])
        words.append(word)
    out = np.zeros_like(registers[2])
    launch(register_text(form, tuple(counts), tuple(words), ""), [*registers, out])
    exact = (matrices["a"].astype(np.float64) @ matrices["b"].astype(np.float64)
             + matrices["c"].astype(np.float64))
    got = out.view(matrices["c"].dtype).reshape(4, 32, -1)
    for n in range(got.shape[2]):
        np.testing.assert_array_equal(got[:, :, n], exact[:, *positions(total, "c", n)])


@pytest.mark.parametrize("form", MATRICES)
def test_matrices_in_shared_memory(form: str) -> None:
    """Row r of matrix m is at thread 8 m + r's address; thread t holds two of row t / 4."""
    count, transposed = int(form.split(".x")[1][0]), ".trans" in form
    x = random_words(BLOCK * 4).reshape(BLOCK, 4)
    loads = form.startswith("ldmatrix")
    vector = "{" + ", ".join(f"%v{n}" for n in range(count)) + "}"
    rows = "shl.b32 %u0, %t, 4; mov.b32 %u1, memory; add.u32 %u1, %u1, %u0;"
    fetch = "mad.wide.u32 %w0, %t, 16, %p0; ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%w0];"
    put = "mad.wide.u32 %w0, %t, 16, %p1; st.global.v4.b32 [%w0], {%v0, %v1, %v2, %v3};"
    near = "st.shared.v4.b32 [%u1], {%v0, %v1, %v2, %v3};"
    back = "ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%u1];"
    tested = (f"{near} bar.sync 0; {form} {vector}, [%u1]; {put}" if loads else
              f"{near} bar.sync 0; {form} [%u1], {vector}; bar.sync 0; {back} {put}")
    text = "\n".join([
        HEADER, f".shared .align 128 .b8 memory[{BLOCK * 16}];",
        f".visible .entry k(.param .u64 k_0, .param .u64 k_1) .reqntid {BLOCK} {{",
        ".reg .b32 %v<4>, %u<2>, %t; .reg .b64 %p<2>, %w0; mov.u32 %t, %tid.x;",
        "ld.param.u64 %p0, [k_0]; ld.param.u64 %p1, [k_1];", rows, fetch, tested, "ret; }"])
    out = np.zeros_like(x)
    launch(text, [x, out])
    halves = np.ascontiguousarray(x).view(np.uint16).reshape(4, 32, 8)  # warp, row, column
    for m in range(count):
        square = halves[:, 8 * m:8 * m + 8]
        if loads:
            square = square.transpose(0, 2, 1) if transposed else square
            want = square[:, LANE // 4, LANE % 4 * 2].astype(np.uint32) | (
                square[:, LANE // 4, LANE % 4 * 2 + 1].astype(np.uint32) << 16)
            np.testing.assert_array_equal(out.reshape(4, 32, 4)[:, :, m], want)
        else:
            words = x.reshape(4, 32, 4)[:, :, m]
            want = np.zeros((4, 8, 8), np.uint16)
            for half, by in enumerate((0, 16)):
                want[:, LANE // 4, LANE % 4 * 2 + half] = words >> by & 0xFFFF
            want = want.transpose(0, 2, 1) if transposed else want
            got = out.view(np.uint16).reshape(4, 32, 8)[:, 8 * m:8 * m + 8]
            np.testing.assert_array_equal(got, want)
    if not loads:
        np.testing.assert_array_equal(out.reshape(4, 32, 4)[:, 8 * count:],
                                      x.reshape(4, 32, 4)[:, 8 * count:])


