"""Fills the cache of kernels with those that the tests of ops launch.

It runs on the simulated driver with `GPU_SIM_NULL=1`, where launches do nothing, for the
architecture `GPU_SIM_ARCH`; results are not looked at.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from tests.gpu_sim.fake_driver import FakeDriver

import graphwright as gw

from . import test_single_ops as tests


def fill(most: int | None = None) -> None:
    """Compile all of them, or `most`; what refuses is refused again where the tests run."""
    os.environ["GRAPHWRIGHT_LIBCUDA"] = str(FakeDriver.shared().path)
    warnings.simplefilter("ignore")
    cases = tests.cases()[:most]
    for number, param in enumerate(cases):
        if number % 100 == 0:
            print(f"{number} of {len(cases)} samples", flush=True)
        _attempt(param.values)


def _attempt(values: Any) -> None:
    """Run a sample, whose results are wrong here."""
    entry, sample, layout, dtype = values
    inputs, fn = tests.split_arguments(entry, sample, layout, dtype)
    try:
        fn(*[tests.on_gpu(x.detach()) for x in inputs])
        gw.cuda.synchronize()
    except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError) as error:
        print(f"{entry.name}: {type(error).__name__}", flush=True)
