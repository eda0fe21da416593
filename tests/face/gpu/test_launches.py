"""Launches of compiled graphs: one native call, and parameters as the PTX has them."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from benchmarks import launches as benchmark
from benchmarks.launches import native_call as launcher

import graphwright as gw
from graphwright.codegen.gpu.launcher import Launchers, Variant
from graphwright.runtime import _core

from ...codegen.gpu.resource_table import accesses
from ...gpu_sim.ptx.machine import program

FORMATS = {4: "<i", 8: "<q"}
F = gw.nn.functional


def values(launched: Any) -> list[int]:
    """The parameters of a launch, read where the PTX says that they are."""
    places, size = program(launched.module).entries[launched.name]
    assert len(launched.parameters) == size
    return [struct.unpack_from(FORMATS[size], launched.parameters, at)[0]
            for at, size in places.values()]


def test_parameters_are_packed_as_the_ptx_says(gpu: Any) -> None:
    compiled = gw.compile(
        lambda x, y: (x.t() * 2.15625 + y[:, None], (x + 7.15625).sum(-1)), dynamic=True)
    x, y = gw.randn(6, 40).cuda(), gw.randn(40).cuda()
    transposed, sums = compiled(x, y)
    gw.cuda.synchronize()
    assert len(gpu.launches) == gw.compiler.stats(compiled).kernels == 2
    known = {x.data_ptr(): "x", y.data_ptr(): "y", transposed.data_ptr(): "transposed",
             sums.data_ptr(): "sums", 6: "rows", 40: "columns", 0: "scratch"}
    first, second = (
        [known[value] for value in values(one)] for one in gpu.launches)
    assert {"x", "y", "transposed"} < set(first) and {"x", "sums"} < set(second)
    assert first[-2:] == second[-2:] == ["scratch", "scratch"]
    assert {"rows", "columns"} <= {*first, *second}


def test_seeds_offsets_and_error_words_are_packed(gpu: Any) -> None:
    compiled = gw.compile(lambda x, i: F.dropout(x[i] * 3.15625, 0.5))
    x, index = gw.randn(6, 4).cuda(), gw.tensor([1, 5, 2]).cuda()
    for _ in range(2):
        gw.manual_seed(77)
        gw.rand(3, device="cuda")
        out = compiled(x, index)
    gw.cuda.synchronize()
    found = values(gpu.launches[-1])
    assert {x.data_ptr(), index.data_ptr(), out.data_ptr()} <= set(found)
    assert found[-4:-2] == [77, 1]
    word = found[-5]
    assert word not in (0, x.data_ptr(), index.data_ptr(), out.data_ptr())


def test_a_call_is_one_native_call(gpu: Any) -> None:
    """Of graphs without eager ops, constants or inputs as results."""
    compiled = gw.compile(lambda x: gw.softmax(gw.softmax(x, 0), 1))
    compiled(gw.randn(4, 5).cuda())
    assert type(launcher(compiled)) is _core.CudaLauncher
    gw.cuda.synchronize()
    assert len(gpu.launches) == gw.compiler.stats(compiled).kernels == 2


def test_kernels_without_elements_are_not_launched(gpu: Any) -> None:
    compiled = gw.compile(lambda x: x * 2, dynamic=True)
    compiled(gw.ones(3, 4, device="cuda"))
    gw.cuda.synchronize()
    before = len(gpu.launches)
    out = launcher(compiled)(gw.ones(2, 5, device="cuda"))[0]
    assert gw.equal(out.cpu(), gw.full((2, 5), 2.0)) and len(gpu.launches) == before + 1
    assert launcher(compiled)(gw.empty(0, 5, device="cuda"))[0].shape == (0, 5)
    gw.cuda.synchronize()
    assert len(gpu.launches) == before + 1


def test_views_that_begin_anywhere_have_kernels_of_their_own(gpu: Any) -> None:
    compiled = gw.compile(lambda x: x * 2 + 1)
    whole = gw.randn(101).cuda()
    for first in (0, 4, 1, 4, 1):
        view = whole[first:first + 96]
        assert gw.equal(compiled(view).cpu(), whole.cpu()[first:first + 96] * 2 + 1)
    assert gw.compiler.stats(compiled).graphs == 1
    assert len({one.name for one in gpu.launches}) == 1 and len(gpu.launches) == 5


def widths(launched: Any) -> set[int]:
    """Bytes of the accesses of global memory in a kernel's PTX."""
    return {size for kind in ("ld", "st") for size in accesses(launched.module.decode(), kind)}


def test_sizes_that_are_multiples_of_16_have_kernels_of_their_own(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first and the last that was needed beside it are found natively."""
    chosen: list[Variant] = []
    choose = Launchers._variant
    monkeypatch.setattr(Launchers, "_variant", lambda self, inputs: chosen.append(
        choose(self, inputs)) or chosen[-1])
    compiled, names = gw.compile(lambda x, y: x @ y, dynamic=True), []
    for rows, inner, columns in ((32, 48, 16), (5, 48, 32), (5, 47, 16), (7, 45, 32), (7, 16, 32),
                                 (6, 45, 48), (6, 45, 47)):
        x, y = gw.randn(rows, inner), gw.randn(inner, columns)
        gw.testing.assert_close(compiled(x.cuda(), y.cuda()).cpu(), x @ y)
        (launched,) = gpu.launches[-1:]
        assert (widths(launched) == {16}) == (inner % 16 == columns % 16 == 0)
        names.append(launched.module)
    assert gw.compiler.stats(compiled).graphs == 1
    assert [sorted(variant.multiples) for variant in chosen] == [["s3"], []]
    assert names[0] == names[1] == names[4] and names[2] == names[3] == names[5]


def test_other_sizes_do_not_make_kernels(gpu: Any) -> None:
    compiled = gw.compile(lambda x: gw.softmax(x * 3.34375, -1))
    for rows in (32, 5, 48):
        x = gw.randn(rows, 24)
        gw.compiler.mark_dynamic(x, 0)
        gw.testing.assert_close(compiled(x.cuda()).cpu(), gw.softmax(x * 3.34375, -1))
    assert len({one.module for one in gpu.launches}) == 1


@pytest.mark.parametrize("wrong", [
    lambda x: (x, x), lambda x: (x.cpu(),), lambda x: (3,), lambda x: (x.to("cuda:1"),)])
def test_a_launcher_refuses_what_it_is_not_made_for(gpu: Any, wrong: Any) -> None:
    compiled = gw.compile(lambda x: x * 2)
    x = gw.ones(4, device="cuda")
    compiled(x)
    with pytest.raises((TypeError, RuntimeError), match="compiled graph"):
        launcher(compiled)(*wrong(x))
    assert gw.equal(compiled(x).cpu(), gw.full((4,), 2.0))


def test_the_benchmark_of_launches_checks_its_results(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "KERNELS", (1, 3))
    rows = benchmark.measured(gpu, seconds=0.01)
    assert [row.name for row in rows] == [
        "native call, 1 kernel", "native call, 3 kernels",
        "call of the compiled function, 1 kernel", "call of the compiled function, 3 kernels"]
    assert [row.target for row in rows] == [0.55, 0.65, 0.55, 0.65]
    assert all(row.value > 0 for row in rows)
    monkeypatch.setattr(benchmark, "KERNELS", (2,))
    monkeypatch.setattr(gw, "allclose", lambda *args: False)
    with pytest.raises(benchmark.Wrong, match="2 softmax in turn"):
        benchmark.measured(gpu)
