"""Runs in a process of its own with TRITON_INTERPRET=1: emitted kernels against eager results.

Usage: python -m tests.codegen.triton_runner CASE. Prints OK, or fails with the difference.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from graphwright.codegen.program import NativeProgram
from graphwright.codegen.triton import kernels
from graphwright.codegen.triton.compiler import jit_function

from .lowered import memory, program_of, tensor
from .triton_cases import CASES


class Argument:
    """What Triton's interpreter asks of a tensor, over a flat NumPy array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.dtype = "int8" if array.dtype == np.bool_ else array.dtype.name

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def untyped_storage(self) -> Argument:
        return self

    def cpu(self) -> Argument:
        return self

    def new_empty(self, size: int, device: str) -> Argument:
        return Argument(self.array)

    def set_(self, storage: Argument, offset: int, size: Any, stride: Any) -> None:
        pass

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def copy_(self, other: Argument) -> None:
        pass


def run(program: NativeProgram, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The program's outputs, its kernels launched one after the other."""
    sizes = dict.fromkeys((name for name, _, _ in program.symbols), 0)
    places = {b.name: a for b, a in zip(program.inputs, inputs, strict=True)}
    for kernel in kernels(program):
        for b in kernel.buffers:
            if b.name not in places:
                places[b.name] = np.zeros(b.size.evaluate(sizes), b.dtype.numpy)
        arguments = [Argument(places[b.name]) for b in kernel.buffers]
        jit_function(kernel)[(kernel.grid.evaluate(sizes),)](*arguments, **kernel.blocks)
    return [places[o.buffer.name] for o in program.outputs]


def main(name: str) -> None:
    function, arrays, tolerance = CASES[name]
    inputs = [tensor(a) for a in arrays]
    program, _ = program_of(function, inputs)
    results = run(program, [memory(x) for x in inputs])
    want = function(*inputs)
    for got, reference in zip(results, want if isinstance(want, tuple) else (want,), strict=True):
        expected = memory(reference).astype("f8")
        np.testing.assert_allclose(got.astype("f8"), expected, rtol=tolerance, atol=tolerance)
    print("OK")


if __name__ == "__main__":
    main(sys.argv[1])
