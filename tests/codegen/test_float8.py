"""float8 in compiled code: the same bits as eagerly, without eager steps, by LLVM and by C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.runtime.float8_numbers import CODES, NAMES, array_type, expected, numbers

import graphwright as gw
from graphwright.codegen.lowering.graph import needs_eager
from graphwright.codegen.target import Machine
from graphwright.runtime.tensor import dtypes

from .lowered import check, program_of, text
from .test_emit_loops import every_setting, skip_foreign
from .test_emit_scalars import evaluate

by_both = pytest.mark.parametrize("backend", ["llvm", "c"])
of_all = pytest.mark.parametrize("name", NAMES)
WITH_SIGN = NAMES[:-1]


def codes(name: str) -> gw.Tensor:
    """All 256 codes of a float8 dtype."""
    return gw.from_numpy(CODES.copy()).view(getattr(gw, name))


def raw(results: Any) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Dtypes, shapes and bytes of one result or several."""
    several = results if isinstance(results, tuple) else (results,)
    return [(r.dtype.name, tuple(r.shape), r.contiguous().numpy().tobytes()) for r in several]


def same(backend: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Assert that the one graph of the function gives the bits that it gives eagerly."""
    compiled = gw.compile(function, backend=backend, fullgraph=True, **options)
    assert raw(compiled(*args)) == raw(function(*args))
    return compiled


@every_setting
@of_all
def test_casts_of_every_machine(target: str, machine: Machine, name: str) -> None:
    skip_foreign(machine)
    kind, given = getattr(dtypes, name), numbers(name)
    rounded = evaluate("cast", [given], [dtypes.float32], kind, target, machine)
    np.testing.assert_array_equal(rounded.view(np.uint8), expected(name, given))
    every = CODES.view(array_type(name))
    wide = evaluate("cast", [every], [kind], dtypes.float32, target, machine)
    np.testing.assert_array_equal(wide.view(np.uint32), every.astype(np.float32).view(np.uint32))


@by_both
@of_all
def test_casts_as_eager(backend: str, name: str) -> None:
    kind = getattr(gw, name)
    given = gw.from_numpy(numbers(name))
    finite = gw.nan_to_num(given).clamp(-(2.0**30), 2.0**30)
    whole = same(backend, lambda x: x.to(kind), given, dynamic=True)
    assert raw(whole(given[:7])) == raw(given[:7].to(kind))         # fewer than a register holds
    assert gw.compiler.stats(whole).graphs == 1
    same(backend, lambda x: x.to(kind), given[: len(given) // 2 * 2].reshape(2, -1).t()[::3])
    sources = given.double(), given.half(), given.bfloat16(), finite.long(), finite.int()
    same(backend, lambda *xs: tuple(x.to(kind) for x in xs), *sources, finite.char(), finite > 0)
    plain = gw.nan_to_num(codes(name).float()).clamp(-100, 100).to(kind)
    wider = (gw.float64, gw.float16, gw.bfloat16, gw.bool)
    same(backend, lambda x: tuple(x.to(wide) for wide in wider), codes(name))
    narrow = (gw.int64, gw.int32, gw.int16, gw.int8, *(getattr(gw, n) for n in NAMES if n != name))
    same(backend, lambda x: tuple(x.to(wide) for wide in narrow), plain)


@by_both
@of_all
def test_elements_are_moved_as_they_are(backend: str, name: str) -> None:
    x, mask = codes(name), gw.arange(256) % 3 == 0
    places = gw.tensor([255, 0, 128, 128])
    same(
        backend,
        lambda x, mask, places: (
            x.clone(), x.reshape(16, 16).t().contiguous(), x[::3], x[places], gw.cat([x, x[:3]]),
            gw.stack([x, x], 1), gw.where(mask, x, x.flip(0)), gw.zeros_like(x).copy_(x),
            x.view(gw.uint8), (x.view(gw.uint8) ^ 1).view(x.dtype), x.roll(3),
        ),
        x, mask, places,
    )  # fmt: skip


@by_both
@of_all
def test_literals_are_rounded(backend: str, name: str) -> None:
    kind, x = getattr(gw, name), codes(name)
    same(
        backend,
        lambda x, mask: (
            gw.full((3,), 1.06, dtype=kind), gw.ones_like(x).float() * 3,
            gw.where(mask, x, 1.06).float() - 1, gw.nn.functional.pad(x, (1, 2), value=1.06),
            x == 1.06, gw.zeros(3, dtype=kind),
        ),
        x, gw.arange(256) % 2 == 0,
    )  # fmt: skip


@by_both
@pytest.mark.parametrize("name", WITH_SIGN)
def test_what_computes(backend: str, name: str) -> None:
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((2, 6, 6)).astype(np.float32)
    a, b = (gw.from_numpy(array).to(getattr(gw, name)) for array in arrays)
    same(
        backend,
        lambda a, b: (
            a * b * b, a.abs(), a == b, a.isnan(), (a @ b).float(), a.clone().mul_(b), a.any(),
            gw.nn.functional.linear(a, b, b[0]), (a * b).float() + a.float(),
        ),
        a, b,
    )  # fmt: skip


def quantised(x: gw.Tensor) -> gw.Tensor:
    return x.to(gw.float8_e4m3fn).to(gw.float32) * 2


def test_a_cast_there_and_back_is_one_kernel_that_rounds() -> None:
    program, module = program_of(quantised, [gw.ones(1024)])
    assert not needs_eager(module)
    assert text(program) == (
        "kernel k0_mul:\n"
        "    for i0 in vector(1024):\n"
        "        t1 = float8_e4m3fn(arg0[i0])\n"
        "        out0[i0] = (float32(t1) * 2.0)\n"
    )
    check(quantised, np.full(500, 1.06, np.float32), kernels=1, rtol=0, atol=0)


@by_both
def test_training_through_rounded_weights(backend: str) -> None:
    x, w = gw.randn(8, 4), gw.randn(3, 4, requires_grad=True)

    def loss(x: gw.Tensor, w: gw.Tensor) -> gw.Tensor:
        scale = w.detach().abs().amax() / 448
        rounded = (w / scale).to(gw.float8_e4m3fn).float() * scale
        return ((x @ rounded.t()) ** 2).mean()

    gradients = []
    for function in (loss, gw.compile(loss, backend=backend, fullgraph=True)):
        w.grad = None
        function(x, w).backward()
        gradients.append(w.grad)
    gw.testing.assert_close(*gradients)
