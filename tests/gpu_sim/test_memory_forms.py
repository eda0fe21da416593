"""Loads, stores, moves, atomics, calls and carries: each form that Triton emits, by its effect."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from .assembled import BLOCK, HEADER, elementwise, kernel, launch, vector
from .forms import forms_of
from .ptx.machine import program
from .ptx.memory import GlobalMemory
from .ptx.values import BITS, TYPES, Array, Type

LOADS = [form for form in forms_of("ld") if ".param" not in form]
STORES = [form for form in forms_of("st") if ".param" not in form]
ATOMICS = forms_of("atom", "red")


def shape(form: str) -> tuple[str, str, int]:
    """The state space, the type and the number of elements of a form."""
    parts = form.split(".")
    space = next((one.split("::")[0] for one in parts if one.split("::")[0] in (
        "global", "shared", "local")), "local")
    return space, parts[-1], {"v2": 2, "v4": 4}.get(next(
        (one for one in parts if one in ("v2", "v4")), ""), 1)


def memory_text(form: str) -> str:
    """A kernel that copies k_0 to k_1: through a state space, with the form on its way."""
    space, kind, count = shape(form)
    size, loads = TYPES[kind].size, form.startswith("ld.")
    bits, step = 8 * size, size * count
    wide = max(16, bits) if kind[0] != "s" else max(32, bits)
    out = wide if loads else bits

    def elements(opcode: str, width: int, place: str, registers_last: bool) -> list[str]:
        pairs = [(f"%r{n}", f"[{place}+{n * width // 8}]") for n in range(count)]
        return [f"{opcode}.b{width} {', '.join(one[::-1] if registers_last else one)};"
                for one in pairs]

    place = "%near" if space != "global" else "%from" if loads else "%to"
    policy = ", %policy" if "L2::cache_hint" in form else ""
    some = vector("r", count)
    tested = [f"{form} {some}, [{place}]{policy};" if loads else f"{form} [{place}], {some};"]
    fetch = elements("ld.global", bits, "%from", False)
    put = elements("st.global", out, "%to", True)
    there, back = elements(f"st.{space}", bits, "%near", True), elements(
        f"ld.{space}", bits, "%near", False)
    near = (f"mov.b64 %w0, memory; mad.wide.u32 %near, %u0, {step}, %w0;" if space == "shared"
            else "mov.b64 %near, depot;")
    partner = ["bar.sync 0; xor.b32 %u0, %t, 5;" if space == "shared" else "", near]
    cast = ["cvta.local.u64 %near, %near;"] * (space == "local" and ".local" not in form)
    if space == "global":
        body = [*tested, *put] if loads else [*fetch, *tested]
    else:
        body = [*fetch, *there, *partner, *tested, *put] if loads else [
            *fetch, *cast, *tested, *partner, *back, *put]
    return kernel("\n".join([
        "createpolicy.fractional.L2::evict_first.b64 %policy, 1.0; mov.b32 %u0, %t;",
        f"mad.wide.u32 %from, %t, {step}, %p0; mad.wide.u32 %to, %t, {count * out // 8}, %p1;",
        near if space != "global" else "", *body]), 2, BLOCK * step,
        f".local .align 16 .b8 depot[64]; .reg .b{wide} %r<4>;"
        " .reg .b64 %from, %to, %near, %policy;")


@pytest.mark.parametrize("form", LOADS + STORES)
def test_loads_and_stores(form: str) -> None:
    space, kind, count = shape(form)
    size, loads = TYPES[kind].size, form.startswith("ld.")
    generator = np.random.default_rng(3)
    source = generator.integers(0, 256, BLOCK * count * size, dtype=np.uint8)
    wide = max(2, size) if kind[0] != "s" else max(4, size)
    result = np.zeros(BLOCK * count * (wide if loads else size), np.uint8)
    launch(memory_text(form), [source, result])
    values = source.view(TYPES[kind].dtype if loads else BITS[size]).reshape(BLOCK, count)
    if space == "shared":
        values = values[np.arange(BLOCK) ^ 5]
    want = values.astype(f"{TYPES[kind].dtype.kind}{wide}") if loads else values
    np.testing.assert_array_equal(result.view(want.dtype).reshape(want.shape), want)


def test_a_guard_keeps_threads_from_loading_and_storing() -> None:
    x = np.arange(256, dtype=np.uint32)
    body = ("setp.lt.u32 %z0, %a, 100; mov.b64 %w0, 0; @%z0 mov.b64 %w0, %p0; mov.b32 %d, 7;"
            " @%z0 ld.global.b32 %d, [%w0]; @!%z0 add.s32 %d, %d, 1;")
    got, = elementwise(body, [("b32", x)], ["b32"])
    np.testing.assert_array_equal(got, np.where(x < 100, 0, 8))


@pytest.mark.parametrize("body, kind, parts", [
    ("mov.b64 {%d, %q}, %a;", "b32", [0, 32]), ("mov.b64 {_, %d}, %a;", "b32", [32]),
    ("mov.b64 %w0, %a; { .reg .b32 low; mov.b64 {low, %d}, %w0; mov.b64 %w0, {%d, low}; }"
     " cvt.u32.u64 %q, %w0;", "b32", [32, 32]),
    ("cvt.u32.u64 %u0, %a; mov.b32 {%d, %q}, %u0;", "b16", [0, 16]),
])
def test_moves_take_words_to_pieces(body: str, kind: str, parts: list[int]) -> None:
    x = np.random.default_rng(0).integers(0, 2**63, 128, dtype=np.uint64)
    found = elementwise(body, [("b64", x)], [kind] * len(parts))
    for got, start in zip(found, parts, strict=True):
        np.testing.assert_array_equal(got, (x >> np.uint64(start)).astype(got.dtype))


def test_moves_put_words_together_and_copy_predicates() -> None:
    x, y = np.random.default_rng(0).integers(0, 2**32, (2, 128), dtype=np.uint32)
    got, other = elementwise(
        "mov.b64 %d, {%a, %b}; setp.lt.u32 %z0, %a, %b; mov.pred %z1, %z0; mov.pred %z2, -1;"
        "and.pred %z3, %z1, %z2; selp.b32 %q, 1, 0, %z3;",
        [("b32", x), ("b32", y)], ["b64", "b32"])
    whole = x.astype(np.uint64) | (y.astype(np.uint64) << np.uint64(32))
    np.testing.assert_array_equal(got, whole)
    np.testing.assert_array_equal(other, x < y)


CARRIES = {
    "add.cc.u32 %d, %a, %c; addc.cc.u32 %q, %b, %e; addc.u32 %r, 0, 0;": lambda x, y: x + y,
    "sub.cc.u32 %d, %a, %c; subc.cc.u32 %q, %b, %e; subc.u32 %r, 0, 0;": lambda x, y: x - y,
    "mul.lo.u32 %d, %a, %c; mul.hi.u32 %q, %a, %c; mad.lo.cc.u32 %q, %a, %e, %q;"
    "madc.hi.u32 %r, %a, %e, 0; mad.lo.cc.u32 %q, %b, %c, %q; madc.hi.cc.u32 %r, %b, %c, %r;"
    "addc.u32 %s, 0, 0; mad.lo.cc.u32 %r, %b, %e, %r; madc.hi.u32 %s, %b, %e, %s;":
        lambda x, y: x * y,
    "mul.lo.u32 %d, %a, %c; mad.lo.cc.u32 %q, %d, 1, %a; madc.lo.cc.u32 %q, %b, %c, %e;"
    "addc.u32 %r, 0, 0;":
        lambda x, y: (low := x * y & MASK) + (
            (low + (x & MASK) >> 32) + ((x >> 32) * y & MASK) + (y >> 32) << 32),
}
MASK = 0xFFFF_FFFF


@pytest.mark.parametrize("body", CARRIES)
def test_carries_make_sums_and_products_of_several_words(body: str) -> None:
    words = np.random.default_rng(1).integers(0, 2**32, (4, 256), dtype=np.uint32)
    words[:, :8] = [[MASK], [MASK], [1], [0]]
    results = "dqrs"[:4 if "%s" in body else 3]
    got = elementwise(body, [("b32", one) for one in words], ["b32"] * len(results))
    for a, b, c, e, *found in zip(*words.tolist(), *(one.tolist() for one in got), strict=True):
        value = CARRIES[body](a | b << 32, c | e << 32)
        assert found == [value >> 32 * n & MASK for n in range(len(results))]


def numbers(kind: Type, generator: np.random.Generator, size: int) -> Array:
    """Small numbers, whose sums do not round, as bit patterns."""
    if kind.half is not None:
        return numbers(kind.half, generator, 2 * size).view(kind.dtype)
    low = 0 if kind.kind in "ub" else -9
    return generator.integers(low, 9, size).astype(kind.dtype).view(BITS[kind.size])


@pytest.mark.parametrize("form", ATOMICS)
def test_atomics(form: str) -> None:
    """Threads 0, 5, 10, .. update one place, 1, 6, .. the next: the last value, and what each saw.

    Half of the places are given to several threads, in the order of the threads."""
    parts = form.split(".")
    kind, returns, shared = TYPES[parts[-1]], parts[0] == "atom", "shared" in parts
    count, size, bits = 4 if "v4" in parts else 1, kind.size, 8 * kind.size
    name = next(one for one in parts if one in (
        "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc"))
    generator = np.random.default_rng(7)
    values, first = (numbers(kind, generator, n * count) for n in (BLOCK, 5))
    target = "%near" if shared else "%to"
    text = kernel("\n".join([
        f"rem.u32 %u0, %t, 5; mad.wide.u32 %from, %t, {size * count}, %p0;",
        f"mad.wide.u32 %to, %u0, {size * count}, %p1;",
        f"mad.wide.u32 %seen, %t, {size * count}, %p2; setp.lt.u32 %z0, %t, 5;",
        *(f"ld.global.b{bits} %r{n}, [%from+{n * size}];" for n in range(count)),
        f"ld.global.b{bits} %c, [%to]; mov.b64 %near, memory;",
        f"mad.wide.u32 %near, %u0, {size}, %near; @%z0 st.shared.b{bits} [%near], %c; bar.sync 0;",
        f"{form} {vector('o', count) + ', ' if returns else ''}[{target}], "
        f"{'%c, ' if name == 'cas' else ''}{vector('r', count)}; bar.sync 0;",
        f"@%z0 ld.shared.b{bits} %c, [%near]; @%z0 st.global.b{bits} [%to], %c;" if shared else "",
        *(f"st.global.b{bits} [%seen+{n * size}], %o{n};" for n in range(count if returns else 0)),
    ]), 3, 5 * size,
        f".reg .b{max(16, bits)} %r<4>, %o<4>, %c; .reg .b64 %from, %to, %seen, %near;")
    place, seen = first.copy(), np.zeros_like(values)
    launch(text, [values.copy(), place, seen])
    want, expected = one_by_one(name, kind, values, first)
    np.testing.assert_array_equal(place, want)
    if returns:
        np.testing.assert_array_equal(seen, expected)


UPDATES: dict[str, Callable[[Array, Array, Array], Array]] = {
    "add": lambda old, new, _: old + new, "min": lambda old, new, _: np.minimum(old, new),
    "max": lambda old, new, _: np.maximum(old, new), "and": lambda old, new, _: old & new,
    "or": lambda old, new, _: old | new, "xor": lambda old, new, _: old ^ new,
    "exch": lambda old, new, _: new, "inc": lambda old, new, _: np.where(old >= new, 0, old + 1),
    "cas": lambda old, new, expected: np.where(old == expected, new, old),
}


def one_by_one(name: str, kind: Type, values: Array, first: Array) -> tuple[Array, ...]:
    """The places and what each thread saw, in the threads' order."""
    dtype = (kind.half or kind).dtype
    place, updates = (one.view(dtype).reshape(rows, -1)
                      for one, rows in ((first.copy(), 5), (values, BLOCK)))
    seen, start = np.zeros_like(updates), place.copy()
    for thread, new in enumerate(updates):
        at = thread % 5
        seen[thread] = place[at]
        place[at] = UPDATES[name](place[at], new, start[at])
    return tuple(one.reshape(-1).view(BITS[kind.size]) for one in (place, seen))


CALL = HEADER + """
.func (.param .b64 result) twice_plus(.param .b64 a, .param .b32 b) {
  .reg .b64 %x; .reg .b32 %y; .reg .pred %p; .local .align 8 .b8 spill[16]; .reg .b64 %place;
  ld.param.b64 %x, [a]; ld.param.b32 %y, [b]; mov.b64 %place, spill;
  st.local.b64 [%place], %x; setp.lt.s32 %p, %y, 50; @%p bra $small;
  cvt.s64.s32 %x, %y; st.param.b64 [result], %x; ret;
$small:
  ld.local.b64 %x, [%place]; shl.b64 %x, %x, 1; st.param.b64 [result+0], %x; ret;
}
.visible .entry k(.param .u64 k_0, .param .u64 k_1) .reqntid 128 {
  .reg .b64 %from, %to, %x; .reg .b32 %t; .reg .pred %p;
  ld.param.u64 %from, [k_0]; ld.param.u64 %to, [k_1]; mov.u32 %t, %tid.x;
  cvta.to.global.u64 %from, %from; cvta.global.u64 %to, %to;
  mad.wide.u32 %from, %t, 8, %from; mad.wide.u32 %to, %t, 8, %to; ld.global.b64 %x, [%from];
  setp.gt.u32 %p, %t, 100; @%p bra $end;
  { .param .b64 param0; .param .b32 param1; .param .b64 retval0;
    st.param.b64 [param0], %x; st.param.b32 [param1], %t;
    call.uni (retval0), twice_plus, (param0, param1); ld.param.b64 %x, [retval0]; }
$end:
  st.global.b64 [%to], %x; ret;
}
"""


def test_a_call_runs_a_function_with_registers_of_its_own() -> None:
    x = np.arange(1000, 1128, dtype=np.int64)
    result, lane = np.zeros_like(x), np.arange(128)
    launch(CALL, [x, result])
    called = np.where(lane < 50, 2 * x, lane)
    np.testing.assert_array_equal(result, np.where(lane > 100, x, called))


CALL_BY_ADDRESS = HEADER + """
.func (.param .b64 result) fill(.param .b64 place) {
  .reg .b64 %place, %own; .local .align 8 .b8 spill[16];
  mov.b64 %own, spill; st.local.b64 [%own], 5; st.local.b64 [%own+8], 6;
  ld.param.b64 %place, [place]; st.b64 [%place], 7;
  ld.local.b64 %own, [%own]; st.param.b64 [result], %own; ret;
}
.visible .entry k(.param .u64 k_0) .reqntid 128 {
  .reg .b64 %to, %near, %far, %x, %y; .reg .b32 %t; .local .align 8 .b8 own[16];
  ld.param.u64 %to, [k_0]; cvta.to.global.u64 %to, %to; mov.u32 %t, %tid.x;
  mad.wide.u32 %to, %t, 8, %to;
  mov.b64 %near, own; cvta.local.u64 %far, %near;
  st.local.b64 [%near], 1; st.local.b64 [%near+8], 2;
  { .param .b64 param0; .param .b64 retval0; st.param.b64 [param0], %far;
    call.uni (retval0), fill, (param0); ld.param.b64 %y, [retval0]; }
  ld.local.b64 %x, [%near]; mad.lo.s64 %y, %y, 10, %x;
  ld.local.b64 %x, [%near+8]; mad.lo.s64 %y, %y, 10, %x;
  st.global.b64 [%to], %y; ret;
}
"""


def test_a_call_may_write_to_the_local_memory_of_its_caller() -> None:
    """5 in its own, 7 where the address leads; the caller's 2 is left alone."""
    result = np.zeros(128, np.int64)
    launch(CALL_BY_ADDRESS, [result])
    np.testing.assert_array_equal(result, np.full(128, 572))


def test_parameters_of_each_type_are_read_at_their_places() -> None:
    text = HEADER + """
.visible .entry k(.param .b8 a, .param .b32 b, .param .u64 .ptr .global .align 1 to,
  .param .align 16 .b8 blob[16]) .reqntid 32 {
  .reg .b32 %x, %y; .reg .b64 %to, %blob;
  ld.param.b64 %to, [to]; ld.param.b32 %x, [b]; st.global.b32 [%to], %x;
  ld.param.s32 %y, [blob+4]; st.global.b32 [%to+4], %y;
  mov.b32 %x, blob; cvt.u64.u32 %blob, %x; cvta.param.u64 %blob, %blob; ld.b32 %y, [%blob+8];
  st.global.b32 [%to+8], %y; ret; }"""
    memory, result, made = GlobalMemory(), np.zeros(3, np.uint32), program(text)
    block = made.pack("k", [9, 123, memory.add(result), struct.pack("<4i", 5, 6, 7, 8)])
    assert block == struct.pack("<b3xiQ4i", 9, 123, memory.bases[0], 5, 6, 7, 8)
    made.launch("k", (1, 1, 1), (32, 1, 1), block, memory)
    assert result.tolist() == [123, 6, 7]
