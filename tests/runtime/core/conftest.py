"""Native functions for the core's tests, compiled once by the system's C compiler."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import graphwright.runtime
from graphwright.runtime import _core

HEADERS = Path(graphwright.runtime.__file__).parent / "_core"

Compile = Callable[..., bytes]


@pytest.fixture(scope="session")
def compile_object(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """A function that compiles C source to the bytes of an object file."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C compiler")

    def compile_source(source: str, *flags: str) -> bytes:
        folder = tmp_path_factory.mktemp("object")
        (folder / "source.c").write_text(source)
        command = [compiler, "-O2", "-fPIC", "-c", "source.c", "-o", "source.o", f"-I{HEADERS}"]
        subprocess.run([*command, *flags], cwd=folder, check=True)
        return (folder / "source.o").read_bytes()

    return compile_source


KERNELS = r"""
#include "abi.h"
#include <stddef.h>
struct arrays { float *x, *y; };
static void relu(void *closure, int64_t begin, int64_t end) {
    struct arrays *a = closure;
    for (int64_t i = begin; i < end; i++) {
        float v = a->x[i] + 1;
        a->y[i] = (v > 0 ? v : 0) * 2;
    }
}
/* y = relu(x + 1) * 2 over sizes[0] elements; fills the arena if there is one. */
int32_t relu_run(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    struct arrays a = {ptrs[0], ptrs[1]};
    if (ptrs[2] != NULL) {
        for (int64_t i = 0; i < sizes[0]; i++) ((char *)ptrs[2])[i] = 1;
    }
    ctx->parallel_for(ctx, relu, &a, sizes[0], 64);
    return 0;
}
void relu_shapes(const int64_t *sizes, int64_t *out) {
    out[0] = sizes[0];
    out[1] = sizes[0];
    out[2] = 1;
}
int32_t relu_static(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    struct arrays a = {ptrs[0], ptrs[1]};
    (void)ctx; (void)sizes;
    relu(&a, 0, 1000);
    return 0;
}
int32_t fail(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    (void)ptrs; (void)sizes;
    ctx->error_info[0] = 7;
    ctx->error_info[1] = 3;
    ctx->error_info[2] = 0;
    return 1;
}
int32_t fail_strangely(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    (void)ctx; (void)ptrs; (void)sizes;
    return 42;
}
/* Writes [begin, end) of each chunk, in the order of begin, as pairs; nested regions inside. */
static void note(void *closure, int64_t begin, int64_t end) {
    int64_t *ends = closure;
    for (int64_t i = begin; i < end; i++) ends[i] = end;
}
static const gw_ctx *outer;
static void nested(void *closure, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        outer->parallel_for(outer, note, (int64_t *)closure + row * 100, 100, 10);
    }
}
int32_t chunks(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    ctx->parallel_for(ctx, note, ptrs[2], sizes[0], sizes[1]);
    return 0;
}
int32_t nest(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    (void)sizes;
    outer = ctx;
    ctx->parallel_for(ctx, nested, ptrs[0], 50, 1);
    return 0;
}
/* out = (seed, offset, threads) */
int32_t context(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    int64_t *out = ptrs[0];
    (void)sizes;
    out[0] = (int64_t)ctx->seed;
    out[1] = (int64_t)ctx->offset;
    out[2] = ctx->num_threads;
    return 0;
}
/* y = x @ constant, all 4 x 4 */
int32_t product(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    (void)sizes;
    return ctx->gemm(ctx, 8, 0, 0, 4, 4, 4, 1.0, ptrs[0], 4, 0, ptrs[1], 4, 0, 0.0, ptrs[2], 4,
                     0, 1, NULL);
}
int32_t increment(const gw_ctx *ctx, void **ptrs, const int64_t *sizes) {
    float *x = ptrs[0];
    (void)ctx;
    for (int64_t i = 0; i < sizes[0]; i++) x[i] += 1;
    return 0;
}
"""


@pytest.fixture(scope="session")
def kernels(compile_object: Compile) -> _core.CodeObject:
    """The functions of KERNELS, loaded."""
    return _core.load_object(compile_object(KERNELS))
