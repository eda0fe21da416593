"""What `test_triton_kernels.py` runs: kernels with arguments, and what they compute by NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from triton.language.extra.cuda import libdevice

from . import triton_kernels as kernels
from .compiled import Kernel, Tile
from .ptx.values import Array

DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64,
    "fp8e4nv": ml_dtypes.float8_e4m3fn, "fp8e5": ml_dtypes.float8_e5m2,
    **{f"{kind}{8 * size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
}
BOTH, HOPPER = (80, 90), (90,)


@dataclass(frozen=True)
class Case:
    """A kernel, the grid, arguments drawn by a generator, and which of them must become what.

    `expected` gets the arguments and returns the outputs, which are the last arrays of them.
    """

    kernel: Kernel
    grid: tuple[int, ...]
    arguments: Callable[[np.random.Generator], list[Any]]
    expected: Callable[..., Any]
    tolerance: float = 0.0
    archs: tuple[int, ...] = BOTH


CASES: dict[str, Case] = {}
N = 700
REGION = 256


def floats(generator: np.random.Generator, shape: Any, kind: str = "fp32") -> Array:
    return generator.standard_normal(shape).astype(DTYPES[kind])


def integers(generator: np.random.Generator, shape: Any, kind: str) -> Array:
    dtype = DTYPES[kind]
    return generator.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype,
                              endpoint=True)


def values(generator: np.random.Generator, shape: Any, kind: str) -> Array:
    if kind[0] in "iu":
        return integers(generator, shape, kind)
    return floats(generator, shape, kind)


# ---- pointwise ----

def add_unary(name: str, function: Any, source: str, target: str, draw: Callable[..., Array],
              expected: Callable[[Array], Array], tolerance: float = 0.0,
              archs: tuple[int, ...] = BOTH) -> None:
    CASES[name] = Case(
        Kernel(kernels.unary, {"x": f"*{source}", "y": f"*{target}", "n": "i32"},
               {"FUNCTION": function, "B": REGION}), (3,),
        lambda g: [draw(g), np.zeros(N, DTYPES[target]), N],
        lambda x, y, n: [expected(x)], tolerance, archs)


def add_binary(name: str, function: Any, kind: str, draw: Callable[..., tuple[Array, Array]],
               expected: Callable[[Array, Array], Array], tolerance: float = 0.0) -> None:
    CASES[name] = Case(
        Kernel(kernels.binary, {"x": f"*{kind}", "z": f"*{kind}", "y": f"*{kind}", "n": "i32"},
               {"FUNCTION": function, "B": REGION}), (3,),
        lambda g: [*draw(g), np.zeros(N, DTYPES[kind]), N],
        lambda x, z, y, n: [expected(x, z)], tolerance)


def gated(x: Array) -> Array:
    x = x.astype(np.float64)
    return np.exp(x) / (1 + np.exp(-x)) + np.vectorize(math.erf)(x)


def integer_mix(a: Array, b: Array) -> Array:
    """C's division, and shifts by little."""
    wide_a, wide_b = a.astype(object), b.astype(object)
    quotient = np.array([abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
                         for p, q in zip(wide_a, wide_b, strict=True)], object)
    rest = wide_a - quotient * wide_b
    bits = 8 * a.itemsize

    def typed(value: Any) -> Array:
        return np.array([int(v) & (2**bits - 1) for v in value], np.uint64).astype(
            f"u{a.itemsize}").view(a.dtype)
    return typed(quotient * 3 + rest) ^ (
        ((a >> (b & a.dtype.type(3))) | (b << (a & a.dtype.type(1)))) & ~a)


def float_mix(a: Array, b: Array) -> Array:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return np.where(a < b, a * b + a, np.maximum(a, b) / (np.abs(b) + 1)) - np.minimum(a, -b)


def nonzero(kind: str) -> Callable[[np.random.Generator], tuple[Array, Array]]:
    def draw(generator: np.random.Generator) -> tuple[Array, Array]:
        divisor = integers(generator, N, kind)
        return integers(generator, N, kind), np.where(divisor == 0, 7, divisor).astype(
            DTYPES[kind])
    return draw


EPSILON = {"fp16": 2e-3, "bf16": 1.6e-2, "fp32": 1e-6, "fp64": 1e-6}
add_unary("gated bf16", kernels.gated, "bf16", "bf16", lambda g: floats(g, N, "bf16"), gated, 8e-3)
for kind in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
    add_binary(f"integers {kind}", kernels.integer_mix, kind, nonzero(kind), integer_mix)
for kind in ("fp16", "bf16", "fp32"):
    add_binary(f"floats {kind}", kernels.float_mix, kind,
               lambda g, kind=kind: (floats(g, N, kind), floats(g, N, kind)), float_mix,
               EPSILON[kind])


def converted(source: str, target: str) -> Callable[[Array], Array]:
    """A cast as tl has it: to integers towards zero; float8 and narrow floats to nearest."""
    def expected(x: Array) -> Array:
        with np.errstate(all="ignore"):
            if target[0] in "iu":
                return x.astype(np.float64).astype(np.int64).astype(DTYPES[target]) if (
                    source[0] not in "iu") else x.astype(DTYPES[target])
            return x.astype(np.float32 if target not in ("fp64",) and source != "fp64"
                            else np.float64).astype(DTYPES[target])
    return expected


def small(kind: str) -> Callable[[np.random.Generator], Array]:
    """Numbers in the range of every type."""
    if kind[0] in "iu":
        return lambda g: g.integers(0, 100, N).astype(DTYPES[kind])
    return lambda g: (np.abs(floats(g, N, "fp64")) * 30).clip(0, 100).astype(DTYPES[kind])


for source in ("fp16", "bf16", "fp32", "fp64", "i8", "u8", "i16", "i32", "u32", "i64", "fp8e4nv",
               "fp8e5"):
    for target in ("fp16", "bf16", "fp32", "fp64", "i8", "u16", "i32", "i64", "fp8e4nv", "fp8e5"):
        float8 = [one for one in (source, target) if one.startswith("fp8")]
        exists = not float8 or (len(float8) == 1 and not {source, target} & {
            "fp64", "i8", "u8", "i16", "u16", "i32", "u32", "i64"})
        if source != target and exists:
            add_unary(f"cast {source} {target}", kernels.same, source, target, small(source),
                      converted(source, target), archs=HOPPER if float8 else BOTH)


def accurate(name: str, function: Any, expected: Callable[..., Array], low: float, high: float,
             count: int = 1) -> None:
    """A function of libdevice in both precisions, on a range and its special values."""
    def draw(generator: np.random.Generator, kind: str) -> Array:
        x = generator.uniform(low, high, N)
        x[:4] = [0.0 if low <= 0 <= high else low, low, high, (low + high) / 2]
        return x.astype(DTYPES[kind])

    for kind, tolerance in (("fp32", 3e-6), ("fp64", 1e-13)):
        if count == 1:
            add_unary(f"{name} {kind}", function, kind, kind, lambda g, k=kind: draw(g, k),
                      lambda x: expected(x.astype(np.float64)), tolerance)
        else:
            add_binary(f"{name} {kind}", function, kind,
                       lambda g, k=kind: (draw(g, k), draw(g, k)),
                       lambda x, y: expected(x.astype(np.float64), y.astype(np.float64)),
                       tolerance)


def add_libdevice() -> None:
    from scipy import special

    table: list[tuple[str, Callable[..., Any], float, float]] = [
        ("sin", np.sin, -30, 30), ("cos", np.cos, -30, 30), ("tan", np.tan, -1.5, 1.5),
        ("exp", np.exp, -20, 20), ("exp2", np.exp2, -20, 20), ("expm1", np.expm1, -5, 5),
        ("log", np.log, 1e-3, 50), ("log2", np.log2, 1e-3, 50), ("log10", np.log10, 1e-3, 50),
        ("log1p", np.log1p, -0.9, 50), ("sinh", np.sinh, -5, 5), ("cosh", np.cosh, -5, 5),
        ("tanh", np.tanh, -5, 5), ("asin", np.arcsin, -1, 1), ("acos", np.arccos, -1, 1),
        ("atan", np.arctan, -9, 9), ("asinh", np.arcsinh, -9, 9), ("acosh", np.arccosh, 1, 9),
        ("atanh", np.arctanh, -0.9, 0.9), ("cbrt", np.cbrt, -9, 9), ("erf", special.erf, -3, 3),
        ("erfc", special.erfc, -3, 3), ("erfinv", special.erfinv, -0.95, 0.95),
        ("erfcx", special.erfcx, -2, 9), ("lgamma", special.gammaln, 0.2, 30),
        ("tgamma", special.gamma, 0.2, 9), ("j0", special.j0, -9, 9), ("j1", special.j1, -9, 9),
        ("y0", special.y0, 0.5, 9), ("cyl_bessel_i0", special.i0, -5, 5),
        ("cyl_bessel_i1", special.i1, -5, 5), ("rint", np.rint, -9, 9), ("floor", np.floor, -9, 9),
        ("ceil", np.ceil, -9, 9), ("trunc", np.trunc, -9, 9), ("rsqrt", lambda x: x**-0.5, 0.1, 9),
        ("sqrt", np.sqrt, 0, 9), ("normcdf", special.ndtr, -3, 3),
    ]
    for name, expected, low, high in table:
        accurate(name, getattr(libdevice, name), expected, low, high)
    pairs: list[tuple[str, Callable[..., Any], float, float]] = [
            ("atan2", np.arctan2, -9, 9), ("hypot", np.hypot, -9, 9), ("fmod", np.fmod, 0.5, 9),
            ("pow", np.power, 0.1, 5), ("copysign", np.copysign, -9, 9),
            ("remainder", lambda x, y: x - np.rint(x / y) * y, 0.5, 9)]
    for name, expected, low, high in pairs:
        accurate(name, getattr(libdevice, name), expected, low, high, 2)
    for kind in ("fp32", "fp64"):
        add_binary(f"nextafter {kind}", libdevice.nextafter, kind,
                   lambda g, k=kind: (floats(g, N, k), floats(g, N, k)), np.nextafter)


def add_bits() -> None:
    for kind, width in (("i32", 32), ("i64", 64)):
        unsigned = f"u{width // 8}"
        counts: dict[str, Callable[..., Any]] = {
                "clz": lambda x, w=width, u=unsigned: np.array(
                    [w - int(v).bit_length() for v in x.view(u)]),
                "popc": lambda x, u=unsigned: np.bitwise_count(x.view(u)),
                "ffs": lambda x, u=unsigned: np.array(
                    [(int(v) & -int(v)).bit_length() for v in x.view(u)])}
        for name, expected in counts.items():
            add_unary(f"{name} {kind}", getattr(libdevice, name), kind, "i32",
                      lambda g, k=kind: integers(g, N, k), expected)
        add_binary(f"mulhi {kind}", libdevice.mulhi, kind,
                   lambda g, k=kind: (integers(g, N, k), integers(g, N, k)),
                   lambda x, y, w=width, k=kind: np.array(
                       [int(a) * int(b) >> w for a, b in zip(x, y, strict=True)]).astype(
                           DTYPES[k]))


add_libdevice()
add_bits()


# ---- control, reductions, scans, sorting ----

def add(name: str, function: Any, signature: dict[str, str], constants: dict[str, Any],
        grid: tuple[int, ...], arguments: Callable[..., list[Any]],
        expected: Callable[..., list[Array]], tolerance: float = 0.0,
        archs: tuple[int, ...] = BOTH, **options: Any) -> None:
    CASES[name] = Case(Kernel(function, signature, constants, **options), grid, arguments,
                       expected, tolerance, archs)


F32 = {"x": "*fp32", "y": "*fp32"}
add("halvings", kernels.halvings, F32, {}, (5,),
    lambda g: [np.array([0.5, 3, 100, 1.5, 70000], np.float32), np.zeros(5, np.float32)],
    lambda x, y: [x / 2.0 ** (count := np.array([0, 2, 7, 1, 17])) + count], 1e-6)
add("either", kernels.either, {**F32, "n": "i32"}, {"B": 256}, (4,),
    lambda g: [floats(g, 1000), np.zeros(1000, np.float32), 1000],
    lambda x, y, n: [np.concatenate([part * 2 if r % 2 == 0 else np.full(len(part), part.sum())
                                     for r, part in enumerate(np.split(x, [256, 512, 768]))])],
    1e-5)


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


add("softmax", kernels.softmax, {**F32, "n": "i32", "stride": "i32"}, {"B": 1024}, (3,),
    lambda g: [floats(g, (3, 2512)), np.zeros((3, 2512), np.float32), 2512, 2512],
    lambda x, y, n, stride: [softmax(x)], 1e-5, divisible="x y stride")
add("normalized rows", kernels.normalized_rows, {**F32, "R": "i32", "n": "i32"},
    {"BR": 8, "B": 128}, (3,),
    lambda g: [floats(g, (21, 100)), np.zeros((21, 100), np.float32), 21, 100],
    lambda x, y, R, n: [(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)],
    1e-5)
add("column sums", kernels.column_sums, {**F32, "R": "i32", "n": "i32"}, {"BR": 16, "B": 64},
    (3,), lambda g: [floats(g, (100, 130)), np.zeros(130, np.float32), 100, 130],
    lambda x, y, R, n: [x.sum(0)], 1e-5)


def summary(x: Array, y: Array, n: int) -> list[Array]:
    padded = np.pad(x, ((0, 0), (0, 56)))
    total = x.astype(np.float64).sum(1) if x.dtype.kind not in "iu" else x.sum(1)
    return [np.stack([total.astype(x.dtype), padded.max(1), padded.min(1),
                      padded.argmax(1).astype(x.dtype)], 1)]


for kind in ("fp32", "fp64", "fp16", "bf16", "i32", "u32", "i64", "i16", "u8"):
    for warps in (1, 4):
        add(f"row summary {kind} {warps}", kernels.row_summary,
            {"x": f"*{kind}", "y": f"*{kind}", "n": "i32"}, {"B": 256}, (3,),
            lambda g, k=kind: [values(g, (3, 200), k), np.zeros((3, 4), DTYPES[k]), 200], summary,
            EPSILON.get(kind, 0) * 10, divisible="", warps=warps)
for kind in ("fp32", "fp64", "i32", "i64", "u32", "i16"):
    add(f"scans {kind}", kernels.scans,
        {"x": f"*{kind}", "y": f"*{kind}", "z": f"*{kind}", "n": "i32"}, {"B": 256}, (3,),
        lambda g, k=kind: [values(g, (3, 200), k), np.zeros((3, 200), DTYPES[k]),
                           np.zeros((3, 200), DTYPES[k]), 200],
        lambda x, y, z, n: [x.cumsum(1, dtype=x.dtype), np.maximum.accumulate(
            np.pad(x, ((0, 0), (0, 56)))[:, ::-1], 1)[:, ::-1][:, :200]],
        EPSILON.get(kind, 0) * 10, divisible="")
    add(f"sorted rows {kind}", kernels.sorted_rows,
        {"x": f"*{kind}", "y": f"*{kind}", "n": "i32"}, {"B": 64}, (3,),
        lambda g, k=kind: [(values(g, (3, 50), k) % 90 if k[0] in "iu" else floats(g, (3, 50), k)),
                           np.zeros((3, 50), DTYPES[k]), 50],
        lambda x, y, n: [np.sort(x, 1)], divisible="")
add("top eight", kernels.top_eight, {**F32, "n": "i32"}, {"B": 128}, (3,),
    lambda g: [floats(g, (3, 100)), np.zeros((3, 8), np.float32), 100],
    lambda x, y, n: [-np.sort(-x, 1)[:, :8]], divisible="")
add("histogram", kernels.histogram, {"x": "*i32", "y": "*i32", "n": "i32"}, {"B": 512}, (1,),
    lambda g: [g.integers(0, 64, 512).astype(np.int32), np.zeros(64, np.int32), 512],
    lambda x, y, n: [np.bincount(x, minlength=64)])

# ---- indices, atomics, random numbers ----
add("gathered rows", kernels.gathered_rows,
    {"x": "*fp32", "index": "*i64", "y": "*fp32", "n": "i32", "D": "i32"}, {"B": 128}, (7,),
    lambda g: [floats(g, (50, 100)), g.integers(0, 50, 7), np.zeros((7, 100), np.float32), 50,
               100],
    lambda x, index, y, n, D: [x[index]], debug=True)


def scattered(x: Array, index: Array, y: Array, D: int) -> list[Array]:
    result = np.zeros(y.shape, np.float64)
    np.add.at(result, index, x.astype(np.float64))
    return [result]


for kind, tolerance in (("fp32", 1e-6), ("bf16", 2e-2), ("fp16", 3e-3)):
    add(f"scatter added {kind}", kernels.scatter_added,
        {"x": f"*{kind}", "index": "*i64", "y": f"*{kind}", "D": "i32"}, {"B": 128}, (7,),
        lambda g, k=kind: [floats(g, (7, 100), k), g.integers(0, 5, 7),
                           np.zeros((5, 100), DTYPES[k]), 100], scattered, tolerance)
add("largest", kernels.largest, {"x": "*i32", "y": "*i32", "n": "i32"}, {"B": 1024}, (3,),
    lambda g: [g.integers(-99, 99, 3000).astype(np.int32), np.full(1, -1000, np.int32), 3000],
    lambda x, y, n: [x.max(keepdims=True)])
add("transposed", kernels.transposed, {**F32, "R": "i32", "C": "i32"}, {"BR": 32, "BC": 32},
    (2, 3), lambda g: [floats(g, (50, 70)), np.zeros((70, 50), np.float32), 50, 70],
    lambda x, y, R, C: [x.T])


def normal(y: Array, seed: int, n: int) -> list[Array]:
    """Philox4x32-10 of (i, 0, 0, 0) and the seed, then Box and Muller."""
    counter = np.zeros((4, n), np.uint64)
    counter[0] = np.arange(n)
    low = np.uint64(0xFFFF_FFFF)
    keys = [np.uint64(seed & 0xFFFF_FFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = np.stack([(second >> np.uint64(32)) ^ counter[1] ^ keys[0], second & low,
                            (first >> np.uint64(32)) ^ counter[3] ^ keys[1], first & low])
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & low, (keys[1] + np.uint64(0xBB67AE85)) & low]
    def uniform(bits: Array) -> Array:
        signed = bits.astype(np.uint32).view(np.int32)
        return np.where(signed < 0, -signed.astype(np.int64) - 1, signed) * 4.6566127342e-10
    u = np.maximum(uniform(counter[0]), 1e-7)
    return [np.sqrt(-2 * np.log(u)) * np.cos(2 * math.pi * uniform(counter[1]))]


add("normal numbers", kernels.normal_numbers, {"y": "*fp32", "seed": "i64", "n": "i32"},
    {"B": 1024}, (2,), lambda g: [np.zeros(1500, np.float32), 1234567890123, 1500], normal, 2e-4)


# ---- products ----

def add_matmul(name: str, kind: str, out: str, sizes: tuple[int, int, int],
               tile: tuple[int, int, int], precision: str, tolerance: float,
               archs: tuple[int, ...] = BOTH, warps: int = 4) -> None:
    M, N_, K = sizes
    strides = {"lda": "i32", "ldb": "i32", "ldc": "i32"}
    add(name, kernels.matmul,
        {"a": f"*{kind}", "b": f"*{kind}", "c": f"*{out}", "M": "i32", "N": "i32", "K": "i32",
         **strides},
        dict(zip(("BM", "BN", "BK"), tile, strict=True), G=8, PRECISION=precision),
        (math.ceil(M / tile[0]) * math.ceil(N_ / tile[1]),),
        lambda g: [floats(g, (M, K), kind), floats(g, (K, N_), kind),
                   np.zeros((M, N_), DTYPES[out]), M, N_, K, K, N_, N_],
        lambda a, b, c, *rest: [np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)],
        tolerance, archs, divisible="a b c K lda ldb ldc", warps=warps)


add_matmul("matmul bf16", "bf16", "bf16", (128, 96, 80), (64, 64, 32), "ieee", 4e-3)
add_matmul("matmul fp16", "fp16", "fp16", (128, 96, 80), (64, 64, 32), "ieee", 1e-3)
add_matmul("matmul bf16 ragged", "bf16", "fp32", (100, 72, 48), (64, 64, 32), "ieee", 1e-5)
add_matmul("matmul bf16 large tiles", "bf16", "bf16", (256, 256, 128), (128, 128, 64), "ieee",
           4e-3)
add_matmul("matmul bf16 eight warps", "bf16", "bf16", (128, 128, 64), (128, 128, 64), "ieee", 4e-3,
           warps=8)
add_matmul("matmul tf32", "fp32", "fp32", (128, 64, 64), (64, 64, 32), "tf32", 1e-3)
add_matmul("matmul tf32x3", "fp32", "fp32", (128, 64, 64), (64, 64, 32), "tf32x3", 1e-6)
add_matmul("matmul ieee", "fp32", "fp32", (64, 64, 48), (32, 32, 16), "ieee", 1e-6)
add_matmul("matmul float8", "fp8e4nv", "bf16", (64, 64, 128), (64, 64, 64), "ieee", 4e-3, HOPPER)

for kind, out in (("i8", "i32"), ("fp64", "fp64"), ("fp8e5", "fp32"), ("bf16", "fp32")):
    for warps in (4, 8):
        add(f"square product {kind} {warps}", kernels.square_product,
            {"a": f"*{kind}", "b": f"*{kind}", "c": f"*{out}"}, {"S": 64}, (1,),
            lambda g, k=kind, o=out: [*((integers if k == "i8" else floats)(g, (64, 64), k)
                                        for _ in range(2)), np.zeros((64, 64), DTYPES[o])],
            lambda a, b, c: [a.astype(np.float64) @ b.astype(np.float64).T],
            {"i8": 0.0, "fp64": 1e-13}.get(kind, 1e-6), HOPPER if "8" in kind[2:] else BOTH,
            warps=warps)
def add_laid_out(kind: str, tile: tuple[int, int, int], by_columns: tuple[bool, bool],
                 archs: tuple[int, ...]) -> None:
    """Tiles whose rows in shared memory have each width and swizzle, from either layout."""
    rows, columns, step = tile
    shapes = (rows, 2 * step), (2 * step, columns)

    def arguments(generator: np.random.Generator) -> list[Any]:
        placed = [floats(generator, shape[::-1] if turned else shape, kind)
                  for shape, turned in zip(shapes, by_columns, strict=True)]
        return [*placed, np.zeros((rows, columns), np.float32)]

    def expected(a: Array, b: Array, c: Array) -> list[Array]:
        a, b = (one.T if turned else one for one, turned in zip((a, b), by_columns, strict=True))
        return [a.astype(np.float64) @ b.astype(np.float64)]

    turned = "".join("rc"[one] for one in by_columns)
    add(f"laid out {kind} {rows} {columns} {step} {turned}", kernels.matmul_laid_out,
        {"a": f"*{kind}", "b": f"*{kind}", "c": "*fp32"},
        {"M": rows, "N": columns, "K": 2 * step, "BK": step, "A_COLUMNS": by_columns[0],
         "B_COLUMNS": by_columns[1]}, (1,), arguments, expected,
        2e-3 if kind == "fp32" else 1e-5, archs, warps=8 if rows == 128 else 4)


for tile in ((64, 64, 16), (64, 32, 32), (64, 8, 32), (128, 256, 64)):
    for by_columns in ((False, False), (False, True), (True, False), (True, True)):
        add_laid_out("bf16", tile, by_columns, BOTH)
        if tile[1] in (8, 32):
            add_laid_out("fp32", tile, by_columns, BOTH)
            add_laid_out("fp8e4nv", tile, by_columns, HOPPER)
add("matmul split", kernels.matmul_split,
    {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
    {"BM": 32, "BN": 32, "BK": 32, "SPLITS": 4}, (1, 2, 4),
    lambda g: [floats(g, (32, 256), "fp16"), floats(g, (256, 64), "fp16"),
               np.zeros((32, 64), np.float32), 32, 64, 256],
    lambda a, b, c, *rest: [a.astype(np.float64) @ b.astype(np.float64)], 1e-5,
    divisible="a b c N K")
BF16 = {"a": "*bf16", "b": "*bf16", "c": "*bf16", "M": "i32", "N": "i32", "K": "i32"}
for name, sizes, tile, programs, special, warps, archs in (
        ("", (128, 128, 96), (64, 64, 64), 4, False, 4, BOTH),
        (" ragged", (200, 328, 192), (128, 256, 64), 2, False, 8, HOPPER),
        (" specialized", (200, 328, 192), (128, 128, 64), 132, True, 4, HOPPER)):
    add(f"matmul described{name}", kernels.matmul_described, BF16,
        {**dict(zip(("BM", "BN", "BK"), tile, strict=True)), "PROGRAMS": programs,
         "SPECIALIZE": special},
        (min(programs, math.ceil(sizes[0] / tile[0]) * math.ceil(sizes[1] / tile[1])),),
        lambda g, s=sizes: [floats(g, (s[0], s[2]), "bf16"), floats(g, (s[1], s[2]), "bf16"),
                            np.zeros((s[0], s[1]), DTYPES["bf16"]), *s],
        lambda a, b, c, *rest: [a.astype(np.float64) @ b.astype(np.float64).T], 4e-3, archs,
        divisible="a b c K N", warps=warps)
add("matmul tiled", kernels.matmul_tiled,
    {name: "tensordesc<bf16[64,64]>" for name in "abc"} | {n: "i32" for n in "MNK"},
    {"BM": 64, "BN": 64, "BK": 64}, (2, 2),
    lambda g: [Tile(floats(g, (100, 192), "bf16"), (64, 64)),
               Tile(floats(g, (120, 192), "bf16"), (64, 64)),
               Tile(np.zeros((100, 120), DTYPES["bf16"]), (64, 64)), 100, 120, 192],
    lambda a, b, c, *rest: [a.array.astype(np.float64) @ b.array.astype(np.float64).T], 4e-3,
    HOPPER, divisible="")


def attended(q: Array, k: Array, v: Array, o: Array, L: int, scale: float) -> list[Array]:
    scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) * scale
    scores = np.where(np.tril(np.ones((L, L), bool)), scores, -np.inf)
    return [softmax(scores) @ v.astype(np.float64)]


for kind, heads, length, depth, rows, warps, tolerance in (
        ("bf16", 2, 150, 64, 64, 4, 1e-2), ("fp16", 1, 200, 128, 128, 8, 2e-3)):
    add(f"attention {kind}", kernels.attention,
        {**{name: f"*{kind}" for name in "qkvo"}, "L": "i32", "scale": "fp32"},
        {"D": depth, "BM": rows, "BN": 64}, (math.ceil(length / rows), heads),
        lambda g, k=kind, s=(heads, length, depth): [
            *(floats(g, s, k) for _ in range(3)), np.zeros(s, DTYPES[k]), s[1], s[2]**-0.5],
        attended, tolerance, warps=warps)
