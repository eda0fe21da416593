"""Loops, folds, memory and checks, by LLVM and by C, for three widths of SIMD registers."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest

from graphwright.codegen.emit.index import MOST_TERMS
from graphwright.codegen.emit.native import c_text, llvm_text
from graphwright.codegen.loops import (
    Accumulate,
    Check,
    Const,
    Fold,
    For,
    IndexOf,
    Let,
    Load,
    Local,
    LoopKind,
    Philox,
    Reduce,
    Store,
)
from graphwright.codegen.program import NativeProgram
from graphwright.codegen.target import Machine, host
from graphwright.runtime.symbolic.expr import Int, Sym, ceildiv, minimum
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import bool_, float32, float64, int32, int64, uint8

from .native_support import (
    NativeError,
    axis,
    buffer,
    elementwise,
    load,
    op,
    program,
    run,
)

AVX2 = frozenset(("avx", "avx2", "fma", "f16c", "sse4_1", "sse4_2", "ssse3"))
BASELINE = Machine("x86_64", frozenset(), 128)
MACHINES = {"host": host(), "avx2": Machine("x86_64", AVX2, 256), "sse2": BASELINE}
SETTINGS = [
    pytest.param(target, machine, id=f"{target}-{name}")
    for target in ("llvm", "c") for name, machine in MACHINES.items()
]
every_setting = pytest.mark.parametrize(("target", "machine"), SETTINGS)
V, S, P = LoopKind.VECTOR, LoopKind.SERIAL, LoopKind.PARALLEL
RNG = np.random.default_rng(0)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("f4")


def skip_foreign(machine: Machine) -> None:
    if not machine.features <= host().features:
        pytest.skip("this CPU lacks the features")


@every_setting
@pytest.mark.parametrize("count", [1, 3, 16, 17, 64, 100, 257])
def test_pointwise_of_any_length(target: str, machine: Machine, count: int) -> None:
    skip_foreign(machine)
    x, y = buffer("x", float32, count), buffer("y", float32, count)
    prog = elementwise(
        count, lambda i: op("max", op("mul", load(x, i), load(y, i)), Const(-0.5, float32)),
        [x, y], float32)
    a, b = f32(count), f32(count)
    a[0] = np.nan
    (out,) = run(prog, [a, b], target=target, machine=machine)
    np.testing.assert_array_equal(out, np.maximum(a * b, np.float32(-0.5)))


@every_setting
def test_symbolic_size_serves_every_size(target: str, machine: Machine) -> None:
    skip_foreign(machine)
    n = Sym("s0", 2)
    x, out = buffer("x", float32, n), buffer("out", float32, n, "output")
    block = axis("b", ceildiv(n, 64))
    inner = axis("i", minimum(64, n - block.symbol * 64))
    where = block.symbol * 64 + inner.symbol
    body = For(block, P, (For(inner, V, (
        Store(out, where, op("add", load(x, where), Const(1.0, float32))),)),))
    prog = program([body], [x], [out], (("s0", 0, 0),))
    for size in (2, 63, 64, 65, 1000):
        a = f32(size)
        (got,) = run(prog, [a], [size], target=target, machine=machine)
        np.testing.assert_array_equal(got, a + 1)


def in_blocks(size: int) -> NativeProgram:
    """x + 1 and the sum of x, in blocks of 64 of which the last one may be shorter."""
    x, out = buffer("x", float32, size), buffer("out", float32, size, "output")
    sums = buffer("sums", float32, -(-size // 64), "output")
    block = axis("b", -(-size // 64))
    inner = axis("i", minimum(64, size - block.symbol * 64))
    where = block.symbol * 64 + inner.symbol
    body = For(block, P, (
        Reduce((inner,), V, (Fold("total", "sum", load(x, where)),)),
        Store(sums, block.symbol, Local("total", float32)),
        For(inner, V, (Store(out, where, op("add", load(x, where), Const(1.0, float32))),)),
    ))
    return program([body], [x], [out, sums])


@every_setting
@pytest.mark.parametrize("size", [64, 100, 160, 161])
def test_blocks_of_which_the_last_is_shorter(target: str, machine: Machine, size: int) -> None:
    skip_foreign(machine)
    a = f32(size)
    got, sums = run(in_blocks(size), [a], target=target, machine=machine)
    np.testing.assert_array_equal(got, a + 1)
    want = [a[i : i + 64].astype("f8").sum() for i in range(0, size, 64)]
    np.testing.assert_allclose(sums, want, rtol=1e-4, atol=1e-5)


def test_nothing_is_left_of_blocks_that_are_whole_vectors() -> None:
    """A masked remainder is code that is never run, and as long as the loop itself."""
    machine = Machine("x86_64", AVX2, 256)
    assert "llvm.masked" not in llvm_text(in_blocks(160), machine)
    assert "llvm.masked" in llvm_text(in_blocks(161), machine)


@pytest.mark.parametrize(("step", "lanes"), [(1, 32), (4, 32), (5, 8)])
def test_lanes_far_apart_fill_one_register(step: int, lanes: int) -> None:
    """Columns are summed several registers abreast where their vectors are read as such."""
    x, out = buffer("x", float32, 640 * 5 + 50), buffer("out", float32, 640, "output")
    i, j = axis("i", 640), axis("j", 10)
    body = For(i, V, (
        Reduce((j,), S, (Fold("total", "sum", load(x, i.symbol * step + j.symbol)),)),
        Store(out, i.symbol, Local("total", float32))))
    prog = program([body], [x], [out])
    assert f"phi <{lanes} x float>" in llvm_text(prog, Machine("x86_64", AVX2, 256))
    a = f32(640 * 5 + 50)
    (got,) = run(prog, [a])
    want = [a[n * step : n * step + 10].astype("f8").sum() for n in range(640)]
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@every_setting
@pytest.mark.parametrize("columns", [1, 5, 10, 16, 37, 64, 130])
def test_softmax_rows(target: str, machine: Machine, columns: int) -> None:
    skip_foreign(machine)
    rows = 5
    x, y = buffer("x", float32, rows * columns), buffer("y", float32, rows * columns, "output")
    r, j = axis("r", rows), axis("j", columns)
    at = r.symbol * columns + j.symbol
    shifted = op("exp", op("sub", load(x, at), Local("m", float32)))
    body = For(r, P, (
        Reduce((j,), V, (Fold("m", "max", load(x, at)),)),
        Reduce((j,), V, (Fold("s", "sum", Local("e", float32)),),
               (Let("e", shifted), Store(y, at, Local("e", float32)))),
        For(j, V, (Store(y, at, op("div", load(y, at), Local("s", float32))),)),
    ))
    a = f32(rows, columns) * 10
    (got,) = run(program([body], [x], [y]), [a], target=target, machine=machine)
    want = np.exp(a - a.max(1, keepdims=True), dtype="f8")
    want /= want.sum(1, keepdims=True)
    np.testing.assert_allclose(got.reshape(rows, columns), want, rtol=2e-6, atol=1e-9)


FOLDS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min,
    "argmax": np.argmax, "argmin": np.argmin,
}


@every_setting
@pytest.mark.parametrize("kind", [V, S])
@pytest.mark.parametrize("dtype", [float32, float64, int64, uint8])
def test_folds(target: str, machine: Machine, kind: LoopKind, dtype: dtypes.dtype) -> None:
    skip_foreign(machine)
    shape = (3, 45)
    a = (RNG.standard_normal(shape) * 3 + (5 if dtype is uint8 else 0)).astype(dtype.numpy)
    a[a == 0] = 1
    x = buffer("x", dtype, a.size)
    i, j = axis("i", shape[0]), axis("j", shape[1])
    value = load(x, i.symbol * shape[1] + j.symbol)
    folds = tuple(Fold(name, name, value) for name in FOLDS)
    outs = [buffer("o" + name, int64 if "arg" in name else dtype, 1, "output") for name in FOLDS]
    body = [Reduce((i, j), kind, folds)] + [
        Store(out, Int(0), Local(name, out.dtype)) for name, out in zip(FOLDS, outs, strict=True)]
    got = run(program(body, [x], outs), [a], target=target, machine=machine)
    with np.errstate(all="ignore"):
        for (name, function), result in zip(FOLDS.items(), got, strict=True):
            kwargs = {"dtype": a.dtype} if name in ("sum", "prod") else {}
            np.testing.assert_allclose(result[0], function(a, **kwargs), rtol=1e-5, err_msg=name)


@every_setting
@pytest.mark.parametrize("count", [70, 331])
def test_folds_propagate_nan_and_keep_first_positions(
    target: str, machine: Machine, count: int,
) -> None:
    """In one vector at a time and in several whose extremes meet at the end."""
    skip_foreign(machine)
    x = buffer("x", float32, count)
    i = axis("i", count)
    folds = tuple(Fold(n, n, load(x, i.symbol)) for n in ("max", "min", "argmax", "argmin"))
    outs = [buffer("o" + f.name, int64 if "arg" in f.name else float32, 1, "output")
            for f in folds]
    body = [Reduce((i,), V, folds)] + [
        Store(o, Int(0), Local(f.name, o.dtype)) for f, o in zip(folds, outs, strict=True)]
    prog = program(body, [x], outs)
    for places in ([], [69], [3, 40], [0], [17, 18], [count - 1], [33, 16], [65, 48]):
        a = RNG.integers(0, 3, count).astype("f4")
        a[places] = np.nan
        top, low, first_top, first_low = run(prog, [a], target=target, machine=machine)
        np.testing.assert_array_equal(top[0], a.max())
        np.testing.assert_array_equal(low[0], a.min())
        assert first_top[0] == a.argmax()
        assert first_low[0] == a.argmin()
    a = np.full(count, -np.inf, "f4")
    assert run(prog, [a], target=target, machine=machine)[2][0] == 0


@every_setting
def test_any_all_and_comparisons(target: str, machine: Machine) -> None:
    skip_foreign(machine)
    count = 45
    x = buffer("x", float32, count)
    flags = buffer("flags", bool_, count, "output")
    outs = [flags, buffer("oany", bool_, 1, "output"), buffer("oall", bool_, 1, "output")]
    i = axis("i", count)
    positive = op("gt", load(x, i.symbol), Const(0.0, float32))
    body = [
        Reduce((i,), V, (Fold("any", "any", positive), Fold("all", "all", positive))),
        Store(outs[1], Int(0), Local("any", bool_)), Store(outs[2], Int(0), Local("all", bool_)),
        For(i, V, (Store(flags, i.symbol, op("not", positive)),)),
    ]
    prog = program(body, [x], outs)
    for a in (np.ones(count, "f4"), -np.ones(count, "f4"), f32(count)):
        got, some, every = run(prog, [a], target=target, machine=machine)
        np.testing.assert_array_equal(got, ~(a > 0))
        assert (some[0], every[0]) == ((a > 0).any(), (a > 0).all())


@every_setting
def test_columns_and_serial_fold_in_lanes(target: str, machine: Machine) -> None:
    skip_foreign(machine)
    rows, columns = 9, 83
    x, z = buffer("x", float32, rows * columns), buffer("z", float32, columns, "output")
    v, k = axis("v", columns), axis("k", rows)
    body = For(v, V, (
        Reduce((k,), S, (Fold("s", "sum", load(x, k.symbol * columns + v.symbol)),)),
        Store(z, v.symbol, Local("s", float32)),
    ))
    a = f32(rows, columns)
    (got,) = run(program([body], [x], [z]), [a], target=target, machine=machine)
    np.testing.assert_allclose(got, a.sum(0), rtol=1e-5, atol=1e-6)


@every_setting
def test_strides_gathers_and_scatters(target: str, machine: Machine) -> None:
    skip_foreign(machine)
    rows, columns = 7, 21
    x, y = buffer("x", float32, rows * columns), buffer("y", float32, rows * columns, "output")
    index = buffer("index", int64, columns)
    r, c = axis("r", rows), axis("c", columns)
    chosen = Sym("chosen")
    body = For(r, P, (For(c, V, (
        Let("chosen", load(index, c.symbol)),
        Store(y, c.symbol * rows + r.symbol, op(
            "add", load(x, r.symbol * columns + chosen), load(x, c.symbol // 4))),
    )),))
    a, order = f32(rows, columns), RNG.permutation(columns)
    (got,) = run(program([body], [x, index], [y]), [a, order], target=target, machine=machine)
    want = (a[:, order] + a.ravel()[np.arange(columns) // 4]).T
    np.testing.assert_array_equal(got.reshape(columns, rows), want)


def beside_no_memory(values: np.ndarray) -> np.ndarray:
    """A copy after whose end nothing is mapped: a load from there ends the process."""
    size = -(-values.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, size + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None)
    assert libc.mprotect(ctypes.c_void_p(address + size), mmap.PAGESIZE, 0) == 0
    copy = np.frombuffer(pages, values.dtype, values.size, size - values.nbytes)
    copy[:] = values
    return copy


@every_setting
@pytest.mark.parametrize("step", [-3, -1, 2, 4])
@pytest.mark.parametrize("dtype", [bool_, float32], ids=str)
def test_near_strides_read_and_write_between_the_ends_only(
    target: str, machine: Machine, step: int, dtype: dtypes.dtype
) -> None:
    skip_foreign(machine)
    count = 83
    span = abs(step) * (count - 1) + 1
    start = 0 if step > 0 else span - 1
    x, y = buffer("x", dtype, span), buffer("y", dtype, count, "output")
    z = buffer("z", dtype, span, "output")
    i = axis("i", count)
    where = i.symbol * step + start
    body = For(i, V, (Store(y, i.symbol, load(x, where)), Store(z, where, load(x, i.symbol))))
    values = RNG.integers(0, 2 if dtype is bool_ else 100, span).astype(dtype.numpy)
    source = beside_no_memory(values)
    picked, spread = run(program([body], [x], [y, z]), [source], target=target, machine=machine)
    np.testing.assert_array_equal(picked, values[start::step][:count])
    want = np.full(span * dtype.itemsize, 0xA5, "u1").view(dtype.numpy)
    want[np.arange(count) * step + start] = values[:count]
    np.testing.assert_array_equal(spread.view("u1"), want.view("u1"))


@every_setting
def test_masked_loads_and_stores_touch_nothing_else(target: str, machine: Machine) -> None:
    """A padded row: loads outside the (exactly page-sized) input would be unmapped memory."""
    skip_foreign(machine)
    count, pad = 40, 3
    x = buffer("x", float32, count)
    out = buffer("out", float32, count + 2 * pad, "output")
    i = axis("i", count + 2 * pad)
    position = IndexOf(i.symbol - pad, int64)
    inside = op("and", op("ge", position, Const(0, int64)),
                op("lt", position, Const(count, int64)))
    body = [
        For(i, V, (Store(out, i.symbol, Const(9.0, float32)),)),
        For(i, V, (Store(out, i.symbol, Load(x, i.symbol - pad, inside, Const(7.0, float32)),
                         op("ne", position, Const(5, int64))),)),
    ]
    a = f32(count)
    (got,) = run(program(body, [x], [out]), [a], target=target, machine=machine)
    want = np.full(count + 2 * pad, 7, "f4")
    want[pad:-pad] = a
    want[5 + pad] = 9
    np.testing.assert_array_equal(got, want)


@every_setting
@pytest.mark.parametrize("kind", [P, V, S])
def test_check_reports_value_bound_and_message(
    target: str, machine: Machine, kind: LoopKind,
) -> None:
    skip_foreign(machine)
    count, bound = 33, 10
    index, x = buffer("index", int64, count), buffer("x", float32, bound)
    out = buffer("out", float32, count, "output")
    i = axis("i", count)
    body = For(i, kind, (
        Let("k", load(index, i.symbol)),
        Check(Local("k", int64), Int(bound), "index out of range"),
        Store(out, i.symbol, load(x, Sym("k"))),
    ))
    prog = program([body], [index, x], [out], messages=("other", "index out of range"))
    good, a = RNG.integers(0, bound, count), f32(bound)
    (got,) = run(prog, [good, a], target=target, machine=machine)
    np.testing.assert_array_equal(got, a[good])
    for wrong in (bound, -1, 1 << 40):
        bad = good.copy()
        bad[20] = wrong
        with pytest.raises(NativeError) as caught:
            run(prog, [bad, a], target=target, machine=machine)
        assert caught.value.args == (wrong, bound, 1)


@every_setting
def test_accumulate(target: str, machine: Machine) -> None:
    skip_foreign(machine)
    count, bins = 50, 6
    index, x = buffer("index", int64, count), buffer("x", float32, count)
    out = buffer("out", float32, bins, "output")
    i, k = axis("i", count), axis("k", bins)
    body = [
        For(k, V, (Store(out, k.symbol, Const(0.0, float32)),)),
        For(i, S, (Let("where", load(index, i.symbol)),
                   Accumulate(out, Sym("where"), load(x, i.symbol)))),
    ]
    where, a = RNG.integers(0, bins, count), f32(count)
    (got,) = run(program(body, [index, x], [out]), [where, a], target=target, machine=machine)
    want = np.zeros(bins, "f4")
    np.add.at(want, where, a)
    np.testing.assert_allclose(got, want, rtol=1e-5)


@every_setting
def test_in_place_chain_reads_before_it_writes(target: str, machine: Machine) -> None:
    skip_foreign(machine)
    count = 19
    x, t = buffer("x", float32, count), buffer("t", float32, count, "temp")
    out = buffer("out", float32, count, "output")
    i = axis("i", count)
    here = load(t, i.symbol)
    body = [
        For(i, V, (Store(t, i.symbol, load(x, i.symbol)),)),
        For(i, V, (Store(t, i.symbol, op("mul", here, here)),
                   Store(out, i.symbol, op("add", here, load(x, i.symbol))))),
    ]
    a = f32(count)
    (got,) = run(program(body, [x], [out], temps=[(t, 0)]), [a], target=target, machine=machine)
    np.testing.assert_array_equal(got, a * a + a)


def philox(seed: int, offset: int, count: int) -> np.ndarray:
    """Philox4x32-10 in plain Python integers."""
    words = []
    for block in range((count + 3) // 4):
        c = [block & 0xFFFFFFFF, block >> 32, offset & 0xFFFFFFFF, offset >> 32]
        k0, k1 = seed & 0xFFFFFFFF, seed >> 32
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(p1 >> 32) ^ c[1] ^ k0, p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k1, p0 & 0xFFFFFFFF]
            k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
        words += c
    return (np.array(words[:count], "u4") >> 8).astype("f4") * np.float32(2.0**-24)


@every_setting
@pytest.mark.parametrize("step", [1, 3])
def test_philox(target: str, machine: Machine, step: int) -> None:
    skip_foreign(machine)
    rows, columns = 3, 37
    out = buffer("out", float32, rows * columns, "output")
    r, c = axis("r", rows), axis("c", columns)
    at = r.symbol * columns + c.symbol
    body = For(r, P, (For(c, V, (Store(out, at, Philox(2, at * step, float32)),)),))
    prog = program([body], [], [out], rng_ops=3)
    (got,) = run(prog, [], target=target, machine=machine, seed=(7 << 40) + 5, offset=11)
    want = philox((7 << 40) + 5, 13, rows * columns * step)[::step]
    np.testing.assert_array_equal(got, want)


@every_setting
@pytest.mark.parametrize("shift", [0, -3, (1 << 31) - 30, 1 << 31, -(1 << 31), -(1 << 40)])
def test_comparisons_of_indices_are_exact_beyond_32_bits(
    target: str, machine: Machine, shift: int,
) -> None:
    """Sums and differences of rows, columns, numbers and locals, some of which fit no int32."""
    skip_foreign(machine)
    rows, columns = 5, 43
    out = buffer("out", bool_, rows * columns, "output")
    r, c = axis("r", rows), axis("c", columns)
    row, column = Local("row", int64), IndexOf(c.symbol, int64)
    moved = op("add", op("sub", column, row), Const(shift, int64))
    body = For(r, P, (
        Let("row", IndexOf(r.symbol + shift, int64)),
        For(c, V, (Store(out, r.symbol * columns + c.symbol,
                         op("le", moved, Const(20, int64), dtype=bool_)),))))
    (got,) = run(program([body], [], [out]), [], target=target, machine=machine)
    i, j = np.indices((rows, columns), "i8")
    np.testing.assert_array_equal(got, (j - (i + shift) + shift <= 20).ravel())


@every_setting
def test_operations_on_bytes(target: str, machine: Machine) -> None:
    """As many lanes as a register has bytes, and what is left."""
    skip_foreign(machine)
    for count in (5, 64, 201):
        a = RNG.integers(0, 256, count).astype("u1")
        flags = RNG.random(count) < 0.5
        x, m = buffer("x", uint8, count), buffer("m", bool_, count)
        out = buffer("out", uint8, count, "output")
        i = axis("i", count)
        value = op("where", op("not", load(m, i.symbol)), op("add", load(x, i.symbol),
                   Const(200, uint8)), op("cast", load(m, i.symbol), dtype=uint8), dtype=uint8)
        prog = program([For(i, V, (Store(out, i.symbol, value),))], [x, m], [out])
        (got,) = run(prog, [a, flags], target=target, machine=machine)
        np.testing.assert_array_equal(got, np.where(~flags, a + np.uint8(200), flags))


@every_setting
def test_mixed_dtypes_in_one_loop(target: str, machine: Machine) -> None:
    skip_foreign(machine)
    count = 53
    x, k = buffer("x", float32, count), buffer("k", int32, count)
    d, m = buffer("d", float64, count), buffer("m", bool_, count)
    i = axis("i", count)

    def value(i: Sym) -> object:
        total = op("add", op("cast", load(x, i), dtype=float64), load(d, i))
        total = op("mul", total, op("cast", load(k, i), dtype=float64))
        return op("where", load(m, i), total, op("cast", IndexOf(i, int64), dtype=float64))

    a, b, c = f32(count), RNG.integers(-9, 9, count).astype("i4"), RNG.standard_normal(count)
    flags = RNG.random(count) < 0.5
    prog = elementwise(count, value, [x, k, d, m], float64)
    (got,) = run(prog, [a, b, c, flags], target=target, machine=machine)
    assert i.extent == count
    np.testing.assert_array_equal(got, np.where(flags, (a.astype("f8") + c) * b, np.arange(count)))


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_chain_of_thousands_of_operations(target: str) -> None:
    """Deeper than Python's recursion limit."""
    count, depth = 20, 3000
    x = buffer("x", float32, count)

    def value(i: Sym) -> object:
        total = load(x, i)
        for step in range(depth):
            total = op("add" if step % 2 else "sub", total, Const(1.0, float32))
        return total

    a = RNG.integers(-9, 9, count).astype("f4")
    (got,) = run(elementwise(count, value, [x], float32), [a], target=target)
    np.testing.assert_array_equal(got, a)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_long_sums_of_sizes_are_hidden_from_llvm(target: str) -> None:
    """Its loop strength reduction would try every way to split them."""
    count = MOST_TERMS + 1
    sizes = [Sym(f"s{n}") for n in range(count)]
    prog = elementwise(
        4, lambda i: IndexOf(i + sum(sizes[1:], start=sizes[0]), int64), [], int64,
        tuple((size.name, 0, n) for n, size in enumerate(sizes)))
    (got,) = run(prog, [], list(range(count)), target=target)
    np.testing.assert_array_equal(got, np.arange(4) + sum(range(count)))
    assert 'asm ""' in llvm_text(prog)


def test_text_is_the_same_in_every_run() -> None:
    x = buffer("x", float32, 100)

    def make() -> object:
        return elementwise(100, lambda i: op("tanh", load(x, i)), [x], float32)

    assert llvm_text(make()) == llvm_text(make())
    assert c_text(make()) == c_text(make())
