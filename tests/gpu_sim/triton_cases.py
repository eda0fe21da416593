"""What `test_triton_kernels.py` runs: kernels, compiled without a device and interpreted, their
arguments, and what they compute by NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import triton
from scipy import special
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra.cuda import libdevice

from . import triton_kernels as kernels
from .ptx.machine import program
from .ptx.memory import GlobalMemory
from .ptx.values import Array

DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64,
    "fp8e4nv": ml_dtypes.float8_e4m3fn, "fp8e5": ml_dtypes.float8_e5m2,
    **{f"{kind}{8 * size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
}
EPSILON = {"fp16": 2e-3, "bf16": 1.6e-2, "fp32": 1e-6, "fp64": 1e-6}
BOTH, HOPPER = (80, 90), (90,)


@dataclass
class Kernel:
    """A Triton kernel with its signature, constants, and the arguments that 16 divides."""

    function: Any
    signature: dict[str, str]
    constants: dict[str, Any]
    divisible: str | None = None  # names; None: all pointers
    options: dict[str, Any] = field(default_factory=dict)
    built: dict[int, Any] = field(default_factory=dict)

    def compile(self, arch: int) -> Any:
        """What Triton makes of it for an architecture; its own assembler accepted the PTX."""
        if arch not in self.built:
            names = self.function.arg_names
            kinds = {**self.signature, **dict.fromkeys(self.constants, "constexpr")}
            pointers = [name for name in names if kinds[name].startswith("*")]
            chosen = pointers if self.divisible is None else self.divisible.split()
            source = ASTSource(
                fn=self.function, signature={name: kinds[name] for name in names},
                constexprs=self.constants,
                attrs={(names.index(name),): [["tt.divisibility", 16]] for name in chosen})
            self.built[arch] = triton.compile(source, target=GPUTarget("cuda", arch, 32),
                                              options=self.options)
        return self.built[arch]

    def run(self, arch: int, grid: tuple[int, ...], arguments: Sequence[Any],
            shared: int | None = None) -> None:
        """Launch it on numbers and arrays, which it may change; `(array, 4)` points behind four
        bytes of an array.

        Raises:
            Fault: it did what ends a kernel.
        """
        made, memory = self.compile(arch), GlobalMemory()
        about, text = made.metadata, program(made.asm["ptx"])
        pairs = [one if isinstance(one, tuple) else (one, 0) for one in arguments]
        values = [memory.add(one) + by if isinstance(one, np.ndarray) else one
                  for one, by in pairs]
        if about.global_scratch_size:
            values.append(memory.add(np.zeros(about.global_scratch_size * math.prod(grid),
                                              np.uint8)))
        text.launch(about.name, (*grid, 1, 1)[:3], (32 * about.num_warps, 1, 1),
                    text.pack(about.name, values), memory,
                    about.shared if shared is None else shared)


@dataclass(frozen=True)
class Buffer:
    """An argument that is an array: drawn, or an output, of zeros."""

    kind: str
    shape: tuple[int, ...]
    draw: Callable[[np.random.Generator, tuple[int, ...]], Array] | None = None

    def make(self, generator: np.random.Generator) -> Array:
        return (np.zeros(self.shape, DTYPES[self.kind]) if self.draw is None else
                self.draw(generator, self.shape).astype(DTYPES[self.kind]))


def drawn(kind: str, *shape: int, draw: Any = None) -> Buffer:
    """An input: of all integers, or of normally distributed floats."""
    if draw is None and kind[0] in "iu":
        info = np.iinfo(DTYPES[kind])
        return Buffer(kind, shape, lambda g, s: g.integers(
            info.min, info.max, s, DTYPES[kind], endpoint=True))
    return Buffer(kind, shape, draw or np.random.Generator.standard_normal)


def out(kind: str, *shape: int) -> Buffer:
    return Buffer(kind, shape)


def below(kind: str, *shape: int, top: int) -> Buffer:
    """An input of integers from 0."""
    return drawn(kind, *shape, draw=lambda g, s: g.integers(0, top, s))


@dataclass(frozen=True)
class Case:
    """A kernel, its grid, its arguments, and what the outputs of them must become.

    `expected` gets the arrays and numbers, and returns the outputs.
    """

    kernel: Kernel
    grid: tuple[int, ...]
    arguments: Sequence[Any]
    expected: Callable[..., Any]
    tolerance: float = 0.0
    archs: tuple[int, ...] = BOTH


CASES: dict[str, Case] = {}


def add(name: str, function: Any, constants: dict[str, Any], grid: tuple[int, ...],
        arguments: Sequence[Any], expected: Callable[..., Any], tolerance: float = 0.0,
        archs: tuple[int, ...] = BOTH, divisible: str | None = None,
        **options: Any) -> None:
    """Arguments are buffers and numbers, options Triton's."""
    names = [one for one in function.arg_names if one not in constants]
    signature = {name: f"*{one.kind}" if isinstance(one, Buffer) else
                 "fp32" if isinstance(one, float) else "i32"
                 for name, one in zip(names, arguments, strict=True)}
    CASES[name] = Case(Kernel(function, signature, constants, divisible, options), grid, arguments,
                       expected, tolerance, archs)


def f64(*arrays: Array) -> list[Array]:
    return [one.astype(np.float64) for one in arrays]


# ---- pointwise
N, REGION = 700, 256


def pointwise(name: str, function: Any, inputs: Sequence[Buffer], kind: str,
              expected: Callable[..., Array], tolerance: float = 0.0,
              archs: tuple[int, ...] = BOTH) -> None:
    """One array or two, and their function's."""
    add(name, kernels.unary if len(inputs) == 1 else kernels.binary,
        {"FUNCTION": function, "B": REGION}, (3,), [*inputs, out(kind, N), N],
        lambda *given: [expected(*given[:len(inputs)])], tolerance, archs)


def gated(x: Array) -> Array:
    x, = f64(x)
    return np.exp(x) / (1 + np.exp(-x)) + special.erf(x)


def integer_mix(a: Array, b: Array) -> Array:
    """C's division, and shifts by little."""
    rest = np.fmod(a, b)
    return ((a - rest) // b * a.dtype.type(3) + rest) ^ (
        ((a >> (b & a.dtype.type(3))) | (b << (a & a.dtype.type(1)))) & ~a)


def float_mix(a: Array, b: Array) -> Array:
    a, b = f64(a, b)
    return np.where(a < b, a * b + a, np.maximum(a, b) / (np.abs(b) + 1)) - np.minimum(a, -b)


pointwise("gated bf16", kernels.gated, [drawn("bf16", N)], "bf16", gated, 8e-3)
for kind in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
    nonzero = drawn(kind, N, draw=lambda g, s, k=kind: np.where(
        (v := g.integers(0, 256**DTYPES[k].itemsize - 1, s, np.uint64, endpoint=True)) == 0, 7, v))
    pointwise(f"integers {kind}", kernels.integer_mix, [drawn(kind, N), nonzero], kind,
              integer_mix)
for kind in ("fp16", "bf16", "fp32"):
    pointwise(f"floats {kind}", kernels.float_mix, [drawn(kind, N)] * 2, kind, float_mix,
              EPSILON[kind])


def cast(target: str, x: Array) -> Array:
    """To integers towards zero; float8 and narrow floats to nearest."""
    wide = np.float64 if "fp64" in (target, x.dtype) else np.float32
    return x.astype(wide).astype(DTYPES[target])


for source in ("fp16", "bf16", "fp32", "fp64", "i8", "u8", "i16", "i32", "u32", "i64", "fp8e4nv",
               "fp8e5"):
    for target in ("fp16", "bf16", "fp32", "fp64", "i8", "u16", "i32", "i64", "fp8e4nv", "fp8e5"):
        float8 = [one for one in (source, target) if one.startswith("fp8")]
        others = {source, target} - {"fp16", "bf16", "fp32"} - set(float8)
        if source != target and (not float8 or (len(float8) == 1 and not others)):
            pointwise(f"cast {source} {target}", kernels.same, [drawn(
                source, N, draw=lambda g, s: g.uniform(0, 100, s))], target,
                partial(cast, target), archs=HOPPER if float8 else BOTH)

LIBDEVICE: list[tuple[str, Callable[..., Any], float, float]] = [
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
    ("sqrt", np.sqrt, 0, 9), ("normcdf", special.ndtr, -3, 3), ("atan2", np.arctan2, -9, 9),
    ("hypot", np.hypot, -9, 9), ("fmod", np.fmod, 0.5, 9), ("pow", np.power, 0.1, 5),
    ("copysign", np.copysign, -9, 9), ("remainder", lambda x, y: x - np.rint(x / y) * y, 0.5, 9),
]
TWO = ("atan2", "hypot", "fmod", "pow", "copysign", "remainder")


def within(low: float, high: float, generator: np.random.Generator,
           shape: tuple[int, ...]) -> Array:
    """Numbers of a range, and its ends, middle and zero."""
    x = generator.uniform(low, high, shape)
    x[:4] = [0.0 if low <= 0 <= high else low, low, high, (low + high) / 2]
    return x


for name, expected, low, high in LIBDEVICE:
    for kind, tolerance in (("fp32", 3e-6), ("fp64", 1e-13)):
        pointwise(f"{name} {kind}", getattr(libdevice, name),
                  [drawn(kind, N, draw=partial(within, low, high))] * (1 + (name in TWO)), kind,
                  lambda *x, e=expected: e(*f64(*x)), tolerance)
for kind in ("fp32", "fp64"):
    pointwise(f"nextafter {kind}", libdevice.nextafter, [drawn(kind, N)] * 2, kind, np.nextafter)


# ---- control, reductions, scans, sorting
add("halvings", kernels.halvings, {}, (5,),
    [drawn("fp32", 5, draw=lambda g, s: np.array([0.5, 3, 100, 1.5, 70000])), out("fp32", 5)],
    lambda x, y: [x / 2.0 ** (count := np.array([0, 2, 7, 1, 17])) + count], 1e-6)
add("either", kernels.either, {"B": 256}, (4,), [drawn("fp32", 1000), out("fp32", 1000), 1000],
    lambda x, y, n: [np.concatenate([part * 2 if r % 2 == 0 else np.full(len(part), part.sum())
                                     for r, part in enumerate(np.split(x, [256, 512, 768]))])],
    1e-5)
add("normalized rows", kernels.normalized_rows, {"BR": 8, "B": 128}, (3,),
    [drawn("fp32", 21, 100), out("fp32", 21, 100), 21, 100],
    lambda x, *_: [(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)], 1e-5)


def padded(x: Array) -> Array:
    return np.pad(x, ((0, 0), (0, 56)))


def summary(x: Array, *_: Any) -> list[Array]:
    total = x.sum(1) if x.dtype.kind in "iu" else f64(x)[0].sum(1)
    rows = total, padded(x).max(1), padded(x).min(1), padded(x).argmax(1)
    return [np.stack([one.astype(x.dtype) for one in rows], 1)]


for kind in ("fp32", "fp64", "fp16", "bf16", "i32", "u32", "i64", "i16", "u8"):
    for warps in (1, 4):
        add(f"row summary {kind} {warps}", kernels.row_summary, {"B": 256}, (3,),
            [drawn(kind, 3, 200), out(kind, 3, 4), 200], summary, EPSILON.get(kind, 0) * 10,
            divisible="", num_warps=warps)
for kind in ("fp32", "fp64", "i32", "i64", "u32", "i16"):
    add(f"scans {kind}", kernels.scans, {"B": 256}, (3,),
        [drawn(kind, 3, 200), out(kind, 3, 200), out(kind, 3, 200), 200],
        lambda x, *_: [x.cumsum(1, dtype=x.dtype), np.maximum.accumulate(
            padded(x)[:, ::-1], 1)[:, ::-1][:, :200]],
        EPSILON.get(kind, 0) * 10, divisible="")
    add(f"sorted rows {kind}", kernels.sorted_rows, {"B": 64}, (3,),
        [drawn(kind, 3, 50) if kind[0] == "f" else below(kind, 3, 50, top=90), out(kind, 3, 50),
         50], lambda x, *_: [np.sort(x, 1)], divisible="")
add("histogram", kernels.histogram, {"B": 512}, (1,),
    [below("i32", 512, top=64), out("i32", 64), 512], lambda x, *_: [np.bincount(x, minlength=64)])

# ---- indices, atomics
add("gathered rows", kernels.gathered_rows, {"B": 128}, (7,),
    [drawn("fp32", 50, 100), below("i64", 7, top=50), out("fp32", 7, 100), 50, 100],
    lambda x, index, *_: [x[index]], debug=True)


def scattered(x: Array, index: Array, y: Array, D: int) -> list[Array]:
    result = np.zeros((5, 100))
    np.add.at(result, index, f64(x)[0])
    return [result]


for kind, tolerance in (("fp32", 1e-6), ("bf16", 2e-2), ("fp16", 3e-3)):
    add(f"scatter added {kind}", kernels.scatter_added, {"B": 128}, (7,),
        [drawn(kind, 7, 100), below("i64", 7, top=5), out(kind, 5, 100), 100], scattered,
        tolerance)


# ---- products

def product(a: Array, b: Array, *_: Any) -> list[Array]:
    return [np.matmul(*f64(a, b))]


def product_turned(a: Array, b: Array, *_: Any) -> list[Array]:
    return product(a, b.T)


for name, kind, to, (M, N_, K), tile, precision, tolerance, archs, warps in (
        ("bf16", "bf16", "bf16", (128, 96, 80), (64, 64, 32), "ieee", 4e-3, BOTH, 4),
        ("fp16", "fp16", "fp16", (128, 96, 80), (64, 64, 32), "ieee", 1e-3, BOTH, 4),
        ("bf16 ragged", "bf16", "fp32", (100, 72, 48), (64, 64, 32), "ieee", 1e-5, BOTH, 4),
        ("bf16 large tiles", "bf16", "bf16", (256, 256, 128), (128, 128, 64), "ieee", 4e-3, BOTH,
         4),
        ("bf16 eight warps", "bf16", "bf16", (128, 128, 64), (128, 128, 64), "ieee", 4e-3, BOTH,
         8),
        ("tf32", "fp32", "fp32", (128, 64, 64), (64, 64, 32), "tf32", 1e-3, BOTH, 4),
        ("tf32x3", "fp32", "fp32", (128, 64, 64), (64, 64, 32), "tf32x3", 1e-6, BOTH, 4),
        ("ieee", "fp32", "fp32", (64, 64, 48), (32, 32, 16), "ieee", 1e-6, BOTH, 4),
        ("float8", "fp8e4nv", "bf16", (64, 64, 128), (64, 64, 64), "ieee", 4e-3, HOPPER, 4)):
    add(f"matmul {name}", kernels.matmul,
        dict(zip(("BM", "BN", "BK"), tile, strict=True), G=8, PRECISION=precision),
        (math.ceil(M / tile[0]) * math.ceil(N_ / tile[1]),),
        [drawn(kind, M, K), drawn(kind, K, N_), out(to, M, N_), M, N_, K, K, N_, N_],
        lambda a, b, *_: [np.maximum(product(a, b)[0], 0)], tolerance, archs,
        divisible="a b c K lda ldb ldc", num_warps=warps)


def laid_out(kind: str, to: str, tile: tuple[int, int, int], turned: tuple[bool, bool],
             archs: tuple[int, ...], warps: int = 4, steps: int = 2) -> None:
    """Tiles whose rows in shared memory have each width and swizzle, from either layout."""
    rows, columns, step = tile
    shapes = (rows, steps * step), (steps * step, columns)
    a, b = (drawn(kind, *(shape[::-1] if by_columns else shape))
            for shape, by_columns in zip(shapes, turned, strict=True))
    add(f"laid out {kind} {rows} {columns} {step} {turned} {warps}", kernels.matmul_laid_out,
        {"M": rows, "N": columns, "K": steps * step, "BK": step, "A_COLUMNS": turned[0],
         "B_COLUMNS": turned[1]}, (1,), [a, b, out(to, rows, columns)],
        lambda a, b, c: product(*(one.T if by_columns else one for one, by_columns in zip(
            (a, b), turned, strict=True))),
        {"fp32": 2e-3, "i8": 0.0, "fp64": 1e-13}.get(kind, 1e-5), archs, num_warps=warps)


for tile in ((64, 64, 16), (64, 32, 32), (64, 8, 32), (128, 256, 64)):
    for turned in ((False, False), (False, True), (True, False), (True, True)):
        laid_out("bf16", "fp32", tile, turned, BOTH, 8 if tile[0] == 128 else 4)
        if tile[1] in (8, 32):
            laid_out("fp32", "fp32", tile, turned, BOTH)
            laid_out("fp8e4nv", "fp32", tile, turned, HOPPER)
for kind, to in (("i8", "i32"), ("fp64", "fp64"), ("fp8e5", "fp32"), ("bf16", "fp32")):
    for warps in (4, 8):
        laid_out(kind, to, (64, 64, 64), (False, True), HOPPER if kind == "fp8e5" else BOTH,
                 warps, 1)
add("matmul split", kernels.matmul_split, {"BM": 32, "BN": 32, "BK": 32, "SPLITS": 4}, (1, 2, 4),
    [drawn("fp16", 32, 256), drawn("fp16", 256, 64), out("fp32", 32, 64), 32, 64, 256], product,
    1e-5, divisible="a b c N K")
for name, (M, N_, K), tile, programs, specialize, warps, archs in (
        ("", (128, 128, 96), (64, 64, 64), 4, False, 4, BOTH),
        (" ragged", (200, 328, 192), (128, 256, 64), 2, False, 8, HOPPER),
        (" specialized", (200, 328, 192), (128, 128, 64), 132, True, 4, HOPPER)):
    add(f"matmul described{name}", kernels.matmul_described,
        {**dict(zip(("BM", "BN", "BK"), tile, strict=True)), "PROGRAMS": programs,
         "SPECIALIZE": specialize},
        (min(programs, math.ceil(M / tile[0]) * math.ceil(N_ / tile[1])),),
        [drawn("bf16", M, K), drawn("bf16", N_, K), out("bf16", M, N_), M, N_, K], product_turned,
        4e-3, archs, divisible="a b c K N", num_warps=warps)


def attended(q: Array, k: Array, v: Array, o: Array, L: int, scale: float) -> list[Array]:
    q, k, v = f64(q, k, v)
    scores = np.where(np.tril(np.ones((L, L), bool)), q @ k.transpose(0, 2, 1) * scale, -np.inf)
    return [special.softmax(scores, -1) @ v]


for kind, shape, rows, warps, tolerance in (
        ("bf16", (2, 150, 64), 64, 4, 1e-2), ("fp16", (1, 200, 128), 128, 8, 2e-3)):
    heads, length, depth = shape
    add(f"attention {kind}", kernels.attention, {"D": depth, "BM": rows, "BN": 64},
        (math.ceil(length / rows), heads),
        [*[drawn(kind, *shape)] * 3, out(kind, *shape), length, depth**-0.5], attended, tolerance,
        num_warps=warps)
