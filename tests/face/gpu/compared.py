"""Results of a GPU beside the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw

TOLERANCE = {gw.float64: 1e-12, gw.float32: 3e-6, gw.float16: 2e-3, gw.bfloat16: 2e-2}
"""Relative to each number, and to the greatest of the tensor."""


def tensors(result: Any) -> list[Any]:
    """The tensors of a result, in order."""
    if isinstance(result, gw.Tensor):
        return [result]
    if isinstance(result, tuple | list):
        return [tensor for part in result for tensor in tensors(part)]
    return []


def assert_same(got: Any, want: Any, places: str = "cuda") -> None:
    """Assert that results agree, in shape and dtype, integers and bools in each bit and floats
    within `TOLERANCE`; and that the first are on a GPU."""
    found, expected = tensors(got), tensors(want)
    assert len(found) == len(expected)
    if not expected:
        assert got == want
    for one, other in zip(found, expected, strict=True):
        assert one.device.type == places
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert_close(one.cpu(), other)


def assert_close(got: Any, want: Any) -> None:
    """The same of two tensors on the CPU."""
    if not (want.dtype.is_floating_point or want.dtype.is_complex):
        assert gw.equal(got, want)
        return
    part = gw.float64 if not want.dtype.is_complex else gw.complex128
    a, b = got.detach().to(part).numpy(), want.detach().to(part).numpy()
    real = {gw.complex64: gw.float32, gw.complex128: gw.float64}.get(want.dtype, want.dtype)
    tolerance = TOLERANCE.get(real, 0.3)
    scale = np.abs(b[np.isfinite(b)]).max(initial=1e-30)
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)


def on_gpu(value: Any) -> Any:
    """The tensors in a value, on the GPU with the strides they have."""
    if isinstance(value, gw.Tensor):
        return value.detach().cuda()
    return type(value)(map(on_gpu, value)) if isinstance(value, tuple | list) else value
