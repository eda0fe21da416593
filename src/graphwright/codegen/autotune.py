"""`autotuned(program)`: products made the way that is fastest here, measured once for each shape.

What was measured is kept in the kernel cache, by the machine, the number of threads and the
shape's class: its sizes, and rows from 16 on rounded up to a power of two.
"""

from __future__ import annotations

import hashlib

from graphwright.codegen.cache import kernel_cache
from graphwright.codegen.program import ANY, LIBRARY, OWN, PANELS, Gemm, NativeProgram, Step
from graphwright.codegen.target import host
from graphwright.codegen.weights import factor_inputs
from graphwright.runtime import _core
from graphwright.runtime.record import replace
from graphwright.runtime.symbolic.expr import as_int
from graphwright.runtime.tensor.dtypes import float32, float64

FEW_ROWS = 16
LEAST_WORK, MOST_ELEMENTS = 1 << 15, 1 << 28
"""Multiplications from which a product is measured, and elements of a matrix up to which it is."""
GAIN = 1.05
"""How much faster another way has to be than the usual one, which is chosen by the same sums."""

Class = tuple[str, bool, bool, int, int, int, int]
"""Dtype, transposed factors, rows, columns, inner dim, batch."""


def autotuned(program: NativeProgram, packs: bool) -> NativeProgram:
    """The program with a way for each product whose sizes are known.

    packs: whether its launches keep parameters packed.
    """
    factors = factor_inputs(program) if packs else set()
    return replace(program, steps=tuple(_tuned(step, factors) for step in program.steps), texts=())


def _tuned(step: Step, factors: set[int]) -> Step:
    found = _class(step) if isinstance(step, Gemm) else None
    if found is None or not isinstance(step, Gemm):
        return step
    ways = [LIBRARY, OWN, *([PANELS] if id(step) in factors else [])]
    return replace(step, way=_fastest(found, ways))


def _class(step: Gemm) -> Class | None:
    m, n, k, batch = (as_int(size) for size in (step.m, step.n, step.k, step.batch))
    if m is None or n is None or k is None or batch is None or step.out.dtype not in (
            float32, float64):
        return None
    if m * n * k * batch < LEAST_WORK or max(m * n, m * k, n * k) * batch > MOST_ELEMENTS:
        return None
    rows = m if m < FEW_ROWS else 1 << (m - 1).bit_length()
    return step.out.dtype.name, step.transa, step.transb, rows, n, k, batch


def _fastest(product: Class, ways: list[int]) -> int:
    """What was found before, or is found now."""
    decisive = ("product", host().key(), _core.num_threads(), _core.ABI_VERSION, product, ways)
    key = hashlib.sha256(repr(decisive).encode()).hexdigest()
    cache = kernel_cache()
    known = cache.get(key, lambda payload: payload in _written(ways))
    if known is not None:
        return int(known)
    way = _measured(product, ways)
    cache.put(key, str(way).encode())
    return way


def _written(ways: list[int]) -> list[bytes]:
    return [str(way).encode() for way in (ANY, *ways)]


def _measured(product: Class, ways: list[int]) -> int:
    name, transa, transb, m, n, k, batch = product
    code = {"float32": float32, "float64": float64}[name].code

    def seconds(way: int) -> float:
        return _core.time_product(code, way, transa, transb, m, n, k, batch)
    usual = seconds(PANELS if PANELS in ways else ANY)
    times = {way: seconds(way) for way in ways}
    best = min(times, key=times.__getitem__)
    return best if times[best] * GAIN < usual else ANY
