"""Triton kernels of kinds that the tests of generated kernels (tests/codegen/gpu) do not run."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def unary(x, y, n, FUNCTION: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = FUNCTION(tl.load(x + i, mask=i < n))
    tl.store(y + i, value.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def binary(x, z, y, n, FUNCTION: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a, b = tl.load(x + i, mask=i < n, other=1), tl.load(z + i, mask=i < n, other=1)
    tl.store(y + i, FUNCTION(a, b).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def gated(a):
    a = a.to(tl.float32)
    return tl.exp(a) * tl.sigmoid(a) + tl.erf(a)


@triton.jit
def same(a):
    return a


@triton.jit
def integer_mix(a, b):
    return ((a // b) * 3 + (a % b)) ^ ((a >> (b & 3)) | (b << (a & 1))) & ~a


@triton.jit
def float_mix(a, b):
    a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.where(a < b, a * b + a, tl.maximum(a, b) / (tl.abs(b) + 1)) - tl.minimum(a, -b)


@triton.jit
def halvings(x, y):
    """A loop whose length each program has for itself."""
    r = tl.program_id(0)
    value, count = tl.load(x + r), 0
    while value > 1.0:
        value *= 0.5
        count += 1
    tl.store(y + r, value + count)


@triton.jit
def either(x, y, n, B: tl.constexpr):
    """Programs that go different ways."""
    r = tl.program_id(0)
    i = r * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.)
    if r % 2 == 0:
        tl.store(y + i, a * 2, mask=i < n)
    else:
        tl.store(y + i, tl.sum(a, 0), mask=i < n)


@triton.jit
def normalized_rows(x, y, R, n, BR: tl.constexpr, B: tl.constexpr):
    """Layer normalisation of several rows by a program."""
    r, j = tl.program_id(0) * BR + tl.arange(0, BR), tl.arange(0, B)
    m = (r < R)[:, None] & (j < n)[None, :]
    v = tl.load(x + r[:, None] * n + j[None, :], mask=m, other=0.)
    d = tl.where(m, v - (tl.sum(v, 1) / n)[:, None], 0.)
    variance = tl.sum(d * d, 1) / n
    tl.store(y + r[:, None] * n + j[None, :], d * tl.rsqrt(variance + 1e-5)[:, None], mask=m)


@triton.jit
def row_summary(x, y, n, B: tl.constexpr):
    r, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + j, mask=j < n, other=0)
    tl.store(y + r * 4, tl.sum(v, 0).to(v.dtype))
    tl.store(y + r * 4 + 1, tl.max(v, 0))
    tl.store(y + r * 4 + 2, tl.min(v, 0))
    tl.store(y + r * 4 + 3, tl.argmax(v, 0).to(v.dtype))


@triton.jit
def added(a, b):
    return a + b


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def scans(x, y, z, n, B: tl.constexpr):
    r, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + j, mask=j < n, other=0)
    tl.store(y + r * n + j, tl.associative_scan(v, 0, added).to(v.dtype), mask=j < n)
    tl.store(z + r * n + j, tl.associative_scan(v, 0, larger, reverse=True), mask=j < n)


@triton.jit
def sorted_rows(x, y, n, B: tl.constexpr):
    r, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + j, mask=j < n, other=100)
    tl.store(y + r * n + j, tl.sort(v), mask=j < n)


@triton.jit
def histogram(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + tl.arange(0, 64), tl.histogram(tl.load(x + i), 64))


@triton.jit
def gathered_rows(x, index, y, n, D, B: tl.constexpr):
    r, j = tl.program_id(0), tl.arange(0, B)
    i = tl.load(index + r)
    tl.device_assert((i >= 0) & (i < n), "index out of range")
    tl.store(y + r * D + j, tl.load(x + i * D + j, mask=j < D), mask=j < D)


@triton.jit
def scatter_added(x, index, y, D, B: tl.constexpr):
    r, j = tl.program_id(0), tl.arange(0, B)
    i = tl.load(index + r)
    tl.atomic_add(y + i * D + j, tl.load(x + r * D + j, mask=j < D), mask=j < D, sem="relaxed")


@triton.jit
def matmul(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           G: tl.constexpr, PRECISION: tl.constexpr):
    """relu(A B) in tiles, in an order that keeps groups of rows together."""
    pid, nm, nn = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (G * nn) * G
    group = min(nm - first, G)
    pm, pn = first + (pid % (G * nn)) % group, (pid % (G * nn)) // group
    rm, rn, rk = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    pa, pb = a + rm[:, None] * lda + rk[None, :], b + rk[:, None] * ldb + rn[None, :]
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(pa, mask=(rm < M)[:, None] & (rk < K - k * BK)[None, :], other=0.)
        right = tl.load(pb, mask=(rn < N)[None, :] & (rk < K - k * BK)[:, None], other=0.)
        total = tl.dot(left, right, total, input_precision=PRECISION)
        pa += BK
        pb += BK * ldb
    total = tl.maximum(total, 0.)
    tl.store(c + rm[:, None] * ldc + rn[None, :], total.to(c.dtype.element_ty),
             mask=(rm < M)[:, None] & (rn < N)[None, :])


@triton.jit
def matmul_split(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                 SPLITS: tl.constexpr):
    """Parts of the inner dimension are added atomically."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.program_id(2) * BK + tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK * SPLITS)):
        left = tl.load(a + rm[:, None] * K + rk[None, :])
        total = tl.dot(left, tl.load(b + rk[:, None] * N + rn[None, :]), total)
        rk += BK * SPLITS
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], total, sem="relaxed")


@triton.jit
def matmul_described(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                     PROGRAMS: tl.constexpr, SPECIALIZE: tl.constexpr):
    """A B^T with tensor descriptors made on the device, by programs that take several tiles."""
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * nn, PROGRAMS, flatten=True,
                         warp_specialize=SPECIALIZE):
        pm, pn = tile // nn, tile % nn
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            total = tl.dot(left.load([pm * BM, k * BK]), right.load([pn * BN, k * BK]).T, total)
        out.store([pm * BM, pn * BN], total.to(c.dtype.element_ty))


@triton.jit
def attention(q, k, v, o, L, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal, with a running maximum and sum."""
    pm, head = tl.program_id(0), tl.program_id(1).to(tl.int64) * L * D
    rm, rn, rd = pm * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q + head + rm[:, None] * D + rd[None, :], mask=(rm < L)[:, None], other=0.)
    high, total = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for s in range(0, min(L, (pm + 1) * BM), BN):
        inside = s + rn < L
        keys = tl.load(k + head + (s + rn)[None, :] * D + rd[:, None], mask=inside[None, :],
                       other=0.)
        scores = tl.dot(queries, keys) * (scale * 1.44269504)
        scores = tl.where(inside[None, :] & (rm[:, None] >= (s + rn)[None, :]), scores,
                          float("-inf"))
        new = tl.maximum(high, tl.max(scores, 1))
        p, shrink = tl.exp2(scores - new[:, None]), tl.exp2(high - new)
        values = tl.load(v + head + (s + rn)[:, None] * D + rd[None, :], mask=inside[:, None],
                         other=0.)
        total = total * shrink + tl.sum(p, 1)
        result = tl.dot(p.to(values.dtype), values, result * shrink[:, None])
        high = new
    tl.store(o + head + rm[:, None] * D + rd[None, :],
             (result / total[:, None]).to(o.dtype.element_ty), mask=(rm < L)[:, None])


@triton.jit
def doubled_rows(x, y, n, B: tl.constexpr, MASKED: tl.constexpr):
    r, j = tl.program_id(0), tl.arange(0, B)
    inside = (j < n) | (not MASKED)
    tl.store(y + r * n + j, tl.load(x + r * n + j, mask=inside, other=0) * 2, mask=inside)


@triton.jit
def matmul_laid_out(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                    BK: tl.constexpr, A_COLUMNS: tl.constexpr, B_COLUMNS: tl.constexpr):
    """One tile of A B in steps along K; an operand may lie in memory by columns."""
    rm, rn = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), c.dtype.element_ty)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        if A_COLUMNS:
            left = tl.load(a + k[:, None] * M + rm[None, :]).trans()
        else:
            left = tl.load(a + rm[:, None] * K + k[None, :])
        if B_COLUMNS:
            right = tl.load(b + rn[:, None] * K + k[None, :]).trans()
        else:
            right = tl.load(b + k[:, None] * N + rn[None, :])
        total = tl.dot(left, right, total, out_dtype=c.dtype.element_ty)
    tl.store(c + rm[:, None] * N + rn[None, :], total)
