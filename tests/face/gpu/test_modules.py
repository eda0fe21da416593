"""Modules and functions of the libraries on a GPU, op by op: their results, gradients and buffers
are the CPU's."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

import graphwright as gw

from ...libraries.device_programs import PROGRAMS, Program
from ...nn.module_samples import SAMPLES, ModuleSample
from ...runtime.layouts import numpy_type
from ...runtime.samples import Arr
from .compared import assert_same, on_gpu, tensors

DAILY = 3
WITHOUT_KERNEL = frozenset({
    *("abs", "add", "argwhere", "cat", "complex", "conjugated", "constant_pad", "fft_c2c"),
    *("fft_c2r", "fft_r2c", "mul"),                                 # complex numbers, transforms
    *("adaptive_max_pool", "max_unpool", "resample", "resample_backward"),
    *("ctc_loss_parts", "embedding_bag_parts", "grouped_product", "index_put_", "recurrence"),
    *("matrix_exp", "qr_factors", "qr_reflections", "singular_factors", "solve_matrix"),
    "search_positions",
})
"""Ops that run on the CPU for want of a kernel."""


def made(arr: Arr, values: Any) -> Any:
    return gw.from_numpy(values.astype(numpy_type(arr, gw.float32)))


def check_module(sample: ModuleSample) -> None:
    """Assert that a forward and a backward pass are as on the CPU."""
    gw.manual_seed(0)
    here = sample.build()
    there = copy.deepcopy(here).cuda()
    assert_same(_passes(there, sample, "cuda"), _passes(here, sample, "cpu"))


def _passes(module: Any, sample: ModuleSample, device: str) -> Any:
    """The results, the gradients of what varies, and the buffers after a pass each way."""
    leaves = []

    def leaf(arr: Arr, values: Any) -> Any:
        tensor = made(arr, values).to(device)
        leaves.append(tensor.requires_grad_(arr.kind == "float" and arr.grad))
        return tensor

    args, kwargs = sample.arguments(leaf)
    gw.manual_seed(1)
    results = tensors(module(*args, **kwargs))
    roots = [result for result in results if result.requires_grad]
    cotangents = [gw.arange(root.numel(), device=device).cos().view(root.shape) for root in roots]
    gw.autograd.backward(roots, cotangents)
    of = [*leaves, *module.parameters()]
    return results, [t.grad for t in of if t.grad is not None], list(module.buffers())


def check_program(name: str, program: Program) -> None:
    """Assert that a program's results are as on the CPU."""
    here = [made(arr, arr.values(f"{name}{i}")) for i, arr in enumerate(program.inputs)]
    there = on_gpu(here)
    results = []
    for inputs in (there, here):
        gw.manual_seed(0)
        results.append(program.run(*inputs))
    assert_same(*results)


def check(case: Any) -> None:
    gw.cuda.reset_fallbacks()
    if isinstance(case, str):
        check_program(case, PROGRAMS[case])
    else:
        check_module(case)
    assert set(gw.cuda.fallbacks()) <= WITHOUT_KERNEL


CASES = [pytest.param(case, id=getattr(case, "id", case)) for case in (*SAMPLES, *PROGRAMS)]
pytestmark = pytest.mark.filterwarnings("ignore:.*has no kernel for these arguments on cuda")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_each_is_as_on_the_cpu(gpu: Any, case: Any) -> None:
    check(case)


@pytest.mark.parametrize("cases", [SAMPLES, list(PROGRAMS)], ids=["modules", "programs"])
def test_some_are_as_on_the_cpu(gpu: Any, draw: random.Random, cases: list[Any]) -> None:
    for case in draw.sample(cases, k=DAILY):
        print(getattr(case, "id", case))
        check(case)
